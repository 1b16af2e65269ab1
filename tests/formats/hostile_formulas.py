r"""Formulas made to hurt, as a program: what it looks for is a process that hangs or dies.

    python -m tests.formats.hostile_formulas

For each it prints one line of JSON before it begins, and one of what it has cost and come to.
"""

import json
import resource
import threading
import time

from chat.rendering.formulas import formula

MEMORY = 1 << 30
SIZES = (10, 60, 400, 3999, 200_000)
OPENERS = [
    "(", "[", "\\{", "\\lbrace ", "\\lbrack ", "\\langle ", "\\lfloor ", "\\lceil ", "\\llbracket ",
    "\\lgroup ", "\\lvert ", "\\lVert ", "\\bigl(", "\\Bigl [", "\\biggl\\{", "\\Biggl|", "⟨", "⌊",
    "\\mathopen(", "(a", "(,", "(1", "(\\ ", "(_a", "(^2", "{(}", "((\\sqrt{)}", "({)a}", "(^)",
    "(\\sqrt[)]a", "(\\frac a)", "(\\left.)\\right.", "\\overbrace(", "\\overset a(", "(%)\n",
    "\\bra\\sqrt ", "\\bra{\\left(}", "\\pmod\\hat ", "(\\pmod{\\over})", "\\let\\a(\\a\\a\\a",
]  # fmt: skip
UNITS = [
    *OPENERS,
    "x", "x_", "^", "{", "}", "\\frac{a}{", "\\frac", "\\sqrt{", "\\left(", "\\left(\\right)", "&",
    "\\\\", "\\begin{matrix}", "\\begin{matrix}a&b\\\\c\\end{matrix}", "\\text{a}", "\\sin", "()",
    "\\def\\a{\\a\\a}\\a", "\\def\\a#1{\\a{#1#1}}\\a{a}", "|a", "]a,b[", "\\bra{a}",
    "\\newcommand{\\a}{bb}\\a", "\\hat", "'", "\\over ", "\\color{red}", "\\%",
]  # fmt: skip
WHOLE = [
    ")" * 22 + "(" * 22,
    "(" * 22 + "\\over " + ")" * 22,
    "(" * 22 + "\\displaystyle " + ")" * 22,
    "(" * 22 + "\\color{red}" + ")" * 22,
    "\\begin{matrix}" + "(" * 22 + "&" + ")" * 22 + "\\end{matrix}",
    "\\def\\a{" + "\\sin" * 800 + "}" + "\\a" * 250,
]


def sources() -> list[str]:
    repeated = [(unit * (size // len(unit) + 1))[:size] for unit in UNITS for size in SIZES]
    return repeated + WHOLE


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for source in sources():
        print(json.dumps({"begun": source[:80], "size": len(source)}), flush=True)
        spent = []
        for _ in range(3):
            began = time.thread_time()
            made = formula.__wrapped__(source, True)
            spent.append(time.thread_time() - began)
        told = {"seconds": min(spent), "length": len(made), "drawn": made.startswith("<math")}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    # A thread, with the stack that the threads of the server have.
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
