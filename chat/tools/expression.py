"""What people write for a sum, read into plain Python arithmetic.

- `×` `·` `÷` `−` `^` `²` `π` and full-width characters are the signs they look like
- `2,340` is a number; inside a function's brackets a comma separates its arguments
- `17.5%` is 17.5/100 and `17.5% of 2,340` a product; `%` before a number, a name or a
  bracket is the remainder: `7%4` is 3
- a final `=` or `= ?` is dropped

Only numbers, names, operators and brackets get through: no text, no attributes, no lists.
"""

import re
from dataclasses import dataclass

from chat.protocol.errors import ToolFailure
from chat.protocol.reasons import reason

_SIGNS = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    "×": "*",
    "·": "*",
    "⋅": "*",
    "∗": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "—": "-",
    "、": ",",
    "。": ".",
    "π": " pi ",
    "τ": " tau ",
    "²": "**2",
    "³": "**3",
    "\u3000": " ",
}
_TRANSLATION = str.maketrans(_SIGNS)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])")
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|//|[-+*/%^(),])"
)
_AMBIGUOUS = re.compile(r",0\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def read(text: str) -> str:
    """The Python expression that a written sum stands for."""
    plain = re.sub(r"=\s*\??\s*$", "", text.translate(_TRANSLATION)).strip()
    if not plain:
        raise ToolFailure("the expression is empty", reason("expression_empty"))
    tokens = _tokens(plain)
    return " ".join(_percentages(tokens))


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    calls: list[bool] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        in_call = bool(calls) and calls[-1]
        if in_call and _AMBIGUOUS.match(text, at):
            why = reason("thousands_in_function")
            raise ToolFailure("inside a function write 1000, not 1,000", why)
        token, at = _token(text, at, in_call)
        if token.text == "(":
            calls.append(bool(tokens) and tokens[-1].kind == "name" and tokens[-1].text != "of")
        elif token.text == ")" and calls:
            calls.pop()
        tokens.append(token)
    return tokens


def _token(text: str, at: int, in_call: bool) -> tuple[_Token, int]:
    if not in_call and (whole := _THOUSANDS.match(text, at)):
        return _Token("number", whole[0].replace(",", "")), whole.end()
    found = _TOKEN.match(text, at)
    if found is None:
        why = reason("unexpected_character", character=text[at])
        raise ToolFailure(f"unexpected character {text[at]!r}", why)
    if found[0] == "," and not in_call:
        raise ToolFailure(
            "a comma goes between groups of three digits or arguments of a function",
            reason("misplaced_comma"),
        )
    shown = "**" if found[0] == "^" else found[0]
    return _Token(str(found.lastgroup), shown), found.end()


def _percentages(tokens: list[_Token]) -> list[str]:
    """`%` after a number becomes a division by 100 of just that number."""
    written: list[str] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.text == "%" and _is_percent(following):
            start = _operand(written)
            if following is not None and following.text == "of":
                _refuse_unclear(written[:start])
            written[start:] = ["(", *written[start:], "/", "100", ")"]
        elif token.text == "of":
            if not written or written[-1] != ")" or tokens[index - 1].text != "%":
                why = reason("of_without_percentage")
                raise ToolFailure("'of' follows a percentage, as in 17.5% of 2340", why)
            written.append("*")
        else:
            written.append(token.text)
    return written


def _is_percent(following: _Token | None) -> bool:
    if following is None or following.text == "of":
        return True
    return following.kind == "sign" and following.text != "("


def _refuse_unclear(before: list[str]) -> None:
    if before and before[-1] in ("/", "//", "%", "**"):
        why = reason("unclear_percentage", sign=before[-1])
        raise ToolFailure(f"put brackets around the percentage after {before[-1]}", why)


def _operand(written: list[str]) -> int:
    """Where the number, name, call or bracket that ends here begins."""
    start = len(written) - 1
    if start < 0:
        why = reason("percentage_without_number")
        raise ToolFailure("a percentage needs a number before the %", why)
    if written[start] != ")":
        return start
    depth = 0
    for index in range(start, -1, -1):
        depth += {")": 1, "(": -1}.get(written[index], 0)
        if depth == 0:
            called = index > 0 and written[index - 1].isidentifier()
            return index - 1 if called else index
    raise ToolFailure("a bracket is not opened", reason("bracket_not_opened"))
