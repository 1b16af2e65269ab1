"""A11: the calculator counts right, reads what people write, and cannot be made to work hard."""

import tracemalloc

import pytest

from chat.protocol.displays import SumDisplay
from chat.protocol.errors import ToolFailure
from chat.protocol.interfaces import ToolContext
from chat.tools import registry
from chat.tools.calculator import evaluate, shown
from tests.support.measuring import ratio

RIGHT = {
    "(17.5% of 2,340) + 12": "421.5",
    "17.5%": "0.175",
    "6/50%": "12",
    "2^50%": "1.41421356237",
    "sqrt(16)%": "0.04",
    "(5+5)% of 3": "0.3",
    "50% of (20% of 100)": "10",
    "10% of 5^2": "2.5",
    "100 - 20% of 50": "90",
    "10% + 5": "5.1",
    "7%4": "3",
    "7 % (2+2)": "3",
    "17 % e": "0.690309029246",
    "0.1+0.2": "0.3",
    "1/3": "0.333333333333",
    "2^10": "1024",
    "-2^2": "-4",
    "2**0.5": "1.41421356237",
    "2^-2": "0.25",
    "7//2": "3",
    "+5 - -3": "8",
    "（3＋4）×5": "35",
    "9÷3−1": "2",
    "5² + 2³": "33",
    "2*π": "6.28318530718",
    "1,234,567.50 * 2": "2469135",
    "1+2=": "3",
    "1+2 = ?": "3",
    "max(1,234)": "234",
    "max((1,234), 5)": "1234",
    "min(3, 2) + pow(2, 10)": "1026",
    "sqrt(2)^2": "2",
    "log(8, 2)": "3",
    "ln(e)": "1",
    "round(2.345, 1)": "2.3",
    "round(1234, -2)": "1200",
    "round(2.6)": "3",
    "floor(2.7) + ceil(2.1)": "5",
    "factorial(20)": "2432902008176640000",
    "comb(5, 2) + perm(5, 2)": "30",
    "comb(5.0, 2)": "10",
    "gcd(12, 18) + lcm(4, 6)": "18",
    "hypot(3, 4) + atan2(0, 1)": "5",
    "degrees(pi)": "180",
    "10^30": "1" + "0" * 30,
    "1e20 * 1.5": "1.5e+20",
    "2.0 * 3": "6",
    "0 * -1.5": "0",
    "0^0": "1",
    ".5 + 1.": "1.5",
    "1e3": "1000",
}

WRONG = {
    "1/0": "division by zero",
    "7 % 0": "division by zero",
    "0^-1": "division by zero",
    "x+1": "unknown name 'x'",
    "foo(1)": "unknown function 'foo'",
    "sqrt": "unknown name 'sqrt'",
    "pi(1)": "unknown function 'pi'",
    "": "the expression is empty",
    "=": "the expression is empty",
    "1+": "the expression cannot be read",
    "(1": "the expression cannot be read",
    "2 340": "the expression cannot be read",
    "2pi": "the expression cannot be read",
    "0x10": "the expression cannot be read",
    "1_000": "the expression cannot be read",
    "3(4)": "write every * out",
    "1,5": "comma",
    "1,00,000": "comma",
    "min(1,000, 2)": "write 1000",
    "100/20% of 50": "brackets around the percentage",
    "5 of 3": "'of' follows a percentage",
    "%": "needs a number before",
    "1+2)% of 3": "a bracket is not opened",
    "sqrt(-1)": "not defined",
    "log(0)": "not defined",
    "factorial(-1)": "not defined",
    "(-8)**0.5": "not a real number",
    "sqrt()": "wrong number or kind of arguments",
    "sqrt(1, 2)": "wrong number or kind of arguments",
    "gcd(1.5, 2)": "wrong number or kind of arguments",
    "factorial(2.5)": "2.5 is not a whole number",
    "1e308*10": "too large",
    "1e999": "too large",
    "exp(1000)": "too large",
    "10.0^400": "too large",
    "round(1, 99)": "at most 15 digits",
    "True+1": "not a real number",
}

BOMBS = [
    "9**9**9",
    "9^9^9^9",
    "9**4000000",
    "9**3999999*9**3999999",
    "10**4000000//3**2000000",
    "isqrt(10**4000000)",
    "(9**4000000)**2",
    "(2**12999)*(2**12999)",
    "2**13000",
    "1<<10**9",
    '"a"*10**9',
    "[1]*10**9",
    "[[0]*100000]*100000",
    "sum([[0]*100000]*1000,[])",
    "[x for x in range(10**9)]",
    "factorial(10**6)",
    "factorial(1e300)",
    "factorial(factorial(1000))",
    "comb(10**6,5*10**5)",
    "perm(10**6,10**6)",
    "pow(9,9**9)",
    "pow(9,9,10**999999)",
    "round(5,-10**9)",
    "round(1e308*10)",
    "sum(range(10**10))",
    "lcm(10**3000+1,10**3000+3,10**3000+7,10**3000+9)",
    "lcm(" + ",".join(f"{n}**{int(12_900 / n.bit_length())}" for n in range(51, 97)) + ")",
    "2**12999*2**12999*2**12999",
    '"a".ljust(10**9)',
    "'a'.zfill(900000000)",
    "b'a'.ljust(900000000)",
    '"%0999999999d" % 5',
    "'%0900000000d' % 1",
    '(2).to_bytes(10**9,"big")',
    'f"{1:999999999}"',
    "(1).__class__",
    "(1).real",
    "().__class__.__bases__[0].__subclasses__()",
    "__import__('os')",
    "lambda: 1",
    "(lambda: 1)()",
    "a=5",
    "1;2",
    "1 if 1 else 2",
    "1 and 2",
    "1 < 2",
    "not 1",
    "~1",
    "5 | 3",
    "5 @ 3",
    "1j",
    "True + 1",
    "None",
    "{1: 2}",
    "{1}",
    "[1][0]",
    "abs(*[1])",
    "round(number=1)",
    "rand()",
    "str(1)",
    "int('9' * 9)",
    "open('/etc/passwd')",
    "(" * 499,
    "(" * 240 + "1" + ")" * 240,
    "-" * 499 + "1",
    "1" + "+1" * 249,
    "9" * 500 + "**9",
    "1" + "**1" * 160,
    "1%" * 200,
    "1e999",
    "1e308*1e308",
    "1" * 501,
    "0.1" * 10_000_000,
    "1,000" * 100_000,
]


@pytest.mark.parametrize(("expression", "result"), RIGHT.items())
def test_it_counts_right(expression: str, result: str) -> None:
    assert shown(evaluate(expression)) == result


@pytest.mark.parametrize(("expression", "reason"), WRONG.items())
def test_it_says_why_it_cannot(expression: str, reason: str) -> None:
    with pytest.raises(ToolFailure) as refused:
        evaluate(expression)
    assert reason in str(refused.value)


# So many times one plus one, which takes some forty microseconds.
AT_ONCE = 500


def refused(expression: str) -> None:
    with pytest.raises(ToolFailure):
        evaluate(expression)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:40])
def test_a_bomb_is_refused_at_once_and_costs_nothing(bomb: str) -> None:
    """A11; the list of everything known to hang or fill a simpleeval with its defaults."""
    tracemalloc.start()
    try:
        refused(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ratio(lambda: refused(bomb), lambda: evaluate("1+1"), AT_ONCE) <= AT_ONCE
    assert peak < 5_000_000


@pytest.mark.parametrize("expression", ["2**12999", "factorial(1000)", "-(10**3900)"])
def test_the_largest_that_is_allowed_is_exact_and_quick(expression: str) -> None:
    assert shown(evaluate(expression)).lstrip("-").isdigit()
    assert ratio(lambda: shown(evaluate(expression)), lambda: evaluate("1+1"), AT_ONCE) <= AT_ONCE


async def test_the_tool_gives_a_sum_to_show(context: ToolContext) -> None:
    """B4"""
    result = await registry.toolbox(["calculator"]).run(
        "calculator", {"expression": " 17.5% of 2,340 "}, context
    )
    assert (result.text, result.is_error) == ("409.5", False)
    assert result.display == SumDisplay(expression="17.5% of 2,340", result="409.5")
    assert result.title == "17.5% of 2,340"


async def test_the_tool_gives_errors_back_to_the_model(context: ToolContext) -> None:
    box = registry.toolbox(["calculator"])
    result = await box.run("calculator", {"expression": "1/0"}, context)
    assert (result.text, result.is_error) == ("division by zero", True)
