"""Formulas: what people write is drawn, and what would take too long is shown as it was written."""

import pytest

from chat.rendering.formulas import formula

ORDINARY = [
    r"x \in [0,1) \cup (2,3] \cup [4,5)" * 8,
    r"]0,1[ \cup ]2,3[" * 20,
    r"f(x)=\begin{cases}(1&x\\(2&y\end{cases}" * 4,
    r"\begin{aligned}f(x)&=(a+b)^2\\&=g\bigl(h(a)+h(b)\bigr)\end{aligned}" * 12,
    r"\left(\frac{(a)}{(b)}\right)^2 + \sqrt[3]{(x)}(\alpha)(\beta)" * 12,
    r"\displaystyle\sum\limits_{i=1}^{n} f(i) = \color{red}{\mathbf{F}(n)}" * 6,
    r"\{x \mid \lfloor x\rfloor > 0\} \not\subset \langle a,b\rangle" * 12,
    r"\ket{\psi_1}\bra{\hat{x}} \equiv a \pmod{n} \text{ (see Schr\"odinger)}" * 6,
    r"P\left(A \middle| B\right) = \binom{n}{k} \operatorname*{argmax}_x (x)" * 12,
    r"\begin{array}{c|c}(a)&[b]\\\hline c!&d\%\end{array}" * 12,
    r"((((((((((x",
]
# Delimiters that stay open, in plain sight or not, and commands that could hide some.
TOO_MUCH = [
    "(" * 40,
    "([{\\langle" * 8,
    r"({)a}" * 22,
    r"(\frac a)" * 22,
    r"(\sqrt[)]a" * 22,
    "(" * 22 + r"\over" + ")" * 22,
    r"\newcommand{\a}{(}\a\a",
    r"\def\a#1{\a{#1#1}}\a{a}",
]


@pytest.mark.parametrize("source", ORDINARY)
def test_what_people_write_is_drawn(source: str) -> None:
    assert formula(source, False).startswith("<math")


@pytest.mark.parametrize("source", TOO_MUCH)
def test_what_would_take_too_long_is_shown_as_it_was_written(source: str) -> None:
    assert formula(source, False).startswith('<code class="source">$')
