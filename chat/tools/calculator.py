"""The calculator: numbers only, and never more work than a moment's.

simpleeval's defaults can hang a process or take a gigabyte with twenty characters, and big
integers hold the interpreter lock, so no time-out would help. Hence nothing but numbers gets
in, every number stays under a size, and powers are refused before they are computed.
"""

import ast
import math
import operator
from collections.abc import Callable
from typing import Annotated, Any

import simpleeval

from chat.protocol.displays import SumDisplay
from chat.protocol.errors import ToolFailure
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolResult
from chat.protocol.reasons import reason
from chat.tools.expression import read
from chat.tools.registry import tool

Number = int | float

MAX_LENGTH = 500
MAX_NODES = 200
MAX_BITS = 13_000  # fewer than the 4,300 digits that Python agrees to print
MAX_COUNT = 1_000
MAX_DIGITS = 15
_NODES = (ast.Expression, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call, ast.Constant, ast.Load)
_SIGNS = (ast.operator, ast.unaryop)


def _too_large() -> ToolFailure:
    return ToolFailure("the result is too large", reason("number_too_large"))


def _not_real() -> ToolFailure:
    return ToolFailure("the result is not a real number", reason("number_not_real"))


def _number(value: Any) -> Number:
    if type(value) not in (int, float):
        raise _not_real()
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise _too_large()
    elif not math.isfinite(value):
        raise _too_large() if math.isinf(value) else _not_real()
    return value  # type: ignore[no-any-return]


def _checked(function: Callable[..., Any]) -> Callable[..., Number]:
    return lambda *numbers: _number(function(*numbers))


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0 and abs(base) > 1:
        _refuse_bits((abs(base).bit_length() - 1) * exponent)
    return _number(base**exponent)


def _refuse_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise _too_large()


def _counted(function: Callable[..., int]) -> Callable[..., Number]:
    def count(*numbers: Number) -> Number:
        if any(abs(number) > MAX_COUNT for number in numbers):
            name = function.__name__
            raise ToolFailure(
                f"{name} takes numbers up to {MAX_COUNT}",
                reason("function_limit", function=name, limit=MAX_COUNT),
            )
        return _number(function(*(_whole(number) for number in numbers)))

    return count


def _whole(number: Number) -> int:
    if isinstance(number, float) and not number.is_integer():
        written = f"{number:g}"
        raise ToolFailure(
            f"{written} is not a whole number", reason("number_not_whole", number=written)
        )
    return int(number)


def _lcm(*numbers: int) -> int:
    _refuse_bits(sum(number.bit_length() for number in numbers))
    return math.lcm(*numbers)


def _round(number: Number, digits: Number = 0) -> Number:
    if abs(digits) > MAX_DIGITS:
        raise ToolFailure(
            f"round takes at most {MAX_DIGITS} digits", reason("round_digits", limit=MAX_DIGITS)
        )
    return _number(round(number, _whole(digits)) if digits else round(number))


_OPERATORS: dict[type[ast.AST], Callable[..., Number]] = {
    ast.Add: _checked(operator.add),
    ast.Sub: _checked(operator.sub),
    ast.Mult: _checked(operator.mul),
    ast.Div: _checked(operator.truediv),
    ast.FloorDiv: _checked(operator.floordiv),
    ast.Mod: _checked(operator.mod),
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}

_PLAIN = (
    "sqrt cbrt isqrt exp expm1 log log2 log10 log1p floor ceil trunc sin cos tan asin acos atan "
    "atan2 sinh cosh tanh asinh acosh atanh degrees radians hypot gcd"
)
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    **{name: _checked(getattr(math, name)) for name in _PLAIN.split()},
    **{name: _counted(getattr(math, name)) for name in ("factorial", "comb", "perm")},
    "ln": _checked(math.log),
    "lcm": _checked(_lcm),
    "abs": _checked(abs),
    "min": _checked(lambda *numbers: min(numbers)),
    "max": _checked(lambda *numbers: max(numbers)),
    "pow": _power,
    "round": _round,
}
_NAMES: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}


def evaluate(expression: str) -> Number:
    """What the expression comes to; every refusal is a `ToolFailure` with its reason."""
    if len(expression) > MAX_LENGTH:
        raise ToolFailure(
            f"the expression is longer than {MAX_LENGTH} characters",
            reason("expression_too_long", limit=MAX_LENGTH),
        )
    plain = read(expression)
    try:
        tree = ast.parse(plain, mode="eval")
        _refuse_strange(tree)
        return _number(_evaluator().eval(plain, previously_parsed=tree.body))
    except ZeroDivisionError:
        raise ToolFailure("division by zero", reason("division_by_zero")) from None
    except OverflowError:
        raise _too_large() from None
    except ValueError:
        why = reason("function_undefined")
        raise ToolFailure("a function is not defined for this number", why) from None
    except TypeError:
        why = reason("function_arguments")
        raise ToolFailure("a function has the wrong number or kind of arguments", why) from None
    except (SyntaxError, RecursionError, MemoryError, simpleeval.InvalidExpression):
        why = reason("expression_unreadable")
        raise ToolFailure("the expression cannot be read", why) from None


def _evaluator() -> Any:
    evaluator = simpleeval.SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=_NAMES)
    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES if kind in evaluator.nodes}
    return evaluator


def _refuse_strange(tree: ast.Expression) -> None:
    """Numbers, our names, our functions: anything else stops before it is evaluated."""
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        why = reason("expression_too_complicated")
        raise ToolFailure("the expression is too complicated", why)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name):
            _refuse_unknown(node.id, call=id(node) in called)
        elif id(node) in called or not isinstance(node, _NODES + _SIGNS):
            why = reason("expression_not_arithmetic")
            raise ToolFailure("the expression is not arithmetic; write every * out", why)
        elif isinstance(node, ast.Constant):
            _number(node.value)


def _refuse_unknown(name: str, *, call: bool) -> None:
    if call and name not in _FUNCTIONS:
        raise ToolFailure(f"unknown function {name!r}", reason("unknown_function", name=name))
    if not call and name not in _NAMES:
        raise ToolFailure(f"unknown name {name!r}", reason("unknown_name", name=name))


def shown(number: Number) -> str:
    """Whole numbers exactly, others to 12 digits, so that 0.1 + 0.2 is 0.3."""
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        number = int(number)
    return str(number) if isinstance(number, int) else f"{number:.12g}"


def _gist(arguments: JsonObject) -> str:
    return str(arguments["expression"])


@tool(name="calculator", icon="calc", timeout=5, gist=_gist, effects=False)
def calculator(
    expression: Annotated[str, "What to calculate, e.g. (17.5% of 2,340) + sqrt(2)^3"],
) -> ToolResult:
    """Calculate an arithmetic expression exactly. Use it for every calculation.

    Operators + - * / // ^ and % (remainder: 7%4; percentage: 17.5% or 17.5% of 2,340), brackets,
    pi, e, tau, and sqrt, cbrt, log, ln, log2, log10, exp, sin, cos, tan, asin, acos, atan, atan2,
    degrees, radians, hypot, floor, ceil, round, abs, min, max, pow, factorial, comb, perm, gcd,
    lcm. Angles are in radians.
    """
    result = shown(evaluate(expression))
    return ToolResult(result, display=SumDisplay(expression=expression.strip(), result=result))
