"""The scalar vocabulary in plain Python: what every target must compute.

One function per word, from `math` and `cmath`, with NumPy's results for NaN,
infinities, zeros and integers. No word raises.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gtape.scalar import Const, Name, Tree, parse, type_of

INF, NAN = math.inf, math.nan


def evaluate(
    tree: Tree, values: Mapping[str, Any], types: Mapping[str, Any] | None = None
) -> Any:
    """Return the value of an expression.

    Args:
        tree: The expression.
        values: A Python number for each name.
        types: The dtype of each name. With it integers wrap around as in these dtypes;
            without they are Python's.
    """
    if isinstance(tree, Const):
        return tree.value
    if isinstance(tree, Name):
        return values[tree.name]
    if tree.function == "select":
        test, body, orelse = tree.operands
        return evaluate(body if evaluate(test, values) else orelse, values, types)
    operands = [evaluate(operand, values, types) for operand in tree.operands]
    out = WORDS[tree.function](*operands)
    return out if types is None else wrapped(out, type_of(tree, types))


def evaluate_index(source: str, values: Mapping[str, int]) -> Any:
    """Return the value of an index expression or condition."""
    return evaluate(_parsed(source), values)


@functools.cache
def _parsed(source: str) -> Tree:
    return parse(source)


def wrapped(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as a dtype holds it, integers modulo their range."""
    if dtype.kind in "iu" and isinstance(value, int):
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        if dtype.kind == "i" and value >= 1 << (bits - 1):
            value -= 1 << bits
    return value


# --- Numbers --------------------------------------------------------------------------


def _is_complex(*values: Any) -> bool:
    return any(isinstance(v, complex) for v in values)


def _is_int(*values: Any) -> bool:
    return all(isinstance(v, int) for v in values)


def isnan(x: Any) -> bool:
    return x != x


def isinf(x: Any) -> bool:
    return cmath.isinf(x)


def isfinite(x: Any) -> bool:
    return cmath.isfinite(x)


def real_function(
    f: Callable[..., Any], poles: Mapping[Any, float] | None = None
) -> Callable[..., Any]:
    """Return a function of `math` that gives NaN and infinities and never raises."""

    def inner(*xs: Any) -> Any:
        if any(isnan(x) for x in xs):
            return NAN
        if poles and xs[0] in poles:
            return poles[xs[0]]
        try:
            return f(*xs)
        except ValueError:
            return NAN
        except OverflowError:
            return INF

    return inner


def numeric(
    f: Callable[..., Any],
    g: Callable[..., Any] | None = None,
    poles: Mapping[Any, float] | None = None,
) -> Callable[..., Any]:
    """Return a function of real numbers that is `g` on complex ones."""
    on_reals = real_function(f, poles)

    def inner(x: Any) -> Any:
        if not _is_complex(x):
            return on_reals(x)
        assert g is not None
        try:
            return g(x)
        except (ValueError, OverflowError, ZeroDivisionError):
            return complex(NAN, NAN)

    return inner


def div(x: Any, y: Any) -> Any:
    if y != 0:
        return x / y
    if _is_complex(x, y):
        return complex(NAN, NAN)
    if x == 0 or isnan(x):
        return NAN
    return math.copysign(INF, x) * math.copysign(1.0, y)


def floordiv(x: Any, y: Any) -> Any:
    if _is_int(x, y):
        return x // y
    if y == 0:
        return div(x, y)
    if isinf(x):
        return NAN
    return x // y


def mod(x: Any, y: Any) -> Any:
    if _is_int(x, y):
        return x % y
    return NAN if y == 0 or isnan(x) or isnan(y) or isinf(x) else x % y


def power(x: Any, y: Any) -> Any:
    if _is_int(x, y):
        return x**y
    if _is_complex(x, y):
        try:
            return complex(x) ** y
        except ZeroDivisionError:
            return complex(NAN, NAN)
    if x == 0 and y < 0:
        odd = float(y).is_integer() and y % 2 == 1
        return math.copysign(INF, x) if odd else INF
    try:
        return math.pow(x, y)
    except ValueError:
        return NAN
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF


def sign(x: Any) -> Any:
    if isnan(x):
        return x
    if _is_complex(x):
        return x / abs(x) if x else x
    return type(x)((x > 0) - (x < 0))


def minimum(x: Any, y: Any) -> Any:
    return x if isnan(x) or x <= y else y


def maximum(x: Any, y: Any) -> Any:
    return x if isnan(x) or x >= y else y


def rounding(f: Callable[[float], int]) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return float(f(x)) if isinstance(x, float) and math.isfinite(x) else x

    return inner


def shl(x: int, y: int) -> int:
    return x << y if 0 <= y < 64 else 0


def shr(x: int, y: int) -> int:
    return x >> (y if 0 <= y < 64 else 64)


def bit_not(x: int) -> int:
    return not x if isinstance(x, bool) else ~x


def exp2(x: float) -> float:
    return math.ldexp(1.0, int(x)) if float(x).is_integer() else 2.0**x


def cbrt(x: float) -> float:
    return math.cbrt(x)


def _log_ratio(base: float) -> Callable[[complex], complex]:
    return lambda z: cmath.log(z) / math.log(base)


# --- Special functions ----------------------------------------------------------------


def erfinv(y: float) -> float:
    """By bisection of erf, or of erfc towards the ends, then Newton's steps."""
    if abs(y) >= 1:
        return math.copysign(INF, y) if abs(y) == 1 else NAN
    low, high = 0.0, 6.0
    target = 1 - abs(y)
    for _ in range(60):
        middle = (low + high) / 2
        if math.erfc(middle) > target:
            low = middle
        else:
            high = middle
    x = low
    for _ in range(3):
        x += (math.erfc(x) - target) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return math.copysign(x, y)


def digamma(x: float) -> float:
    """By the recurrence up to 12, then the asymptotic series."""
    if x == 0:
        return math.copysign(INF, -x)
    if math.isinf(x):
        return x if x > 0 else NAN
    if x < 0:
        if x == math.floor(x):
            return NAN
        return digamma(1 - x) - math.pi / math.tan(math.pi * x)
    out = 0.0
    while x < 12:
        out -= 1 / x
        x += 1
    bernoulli = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
    series = sum(c / x ** (2 * k) for k, c in enumerate(bernoulli, 1))
    return out + math.log(x) - 1 / (2 * x) - series


def polygamma(n: float, x: float) -> float:
    """By Euler and Maclaurin's sum of the Hurwitz zeta function, for x above 0."""
    if n == 0:
        return digamma(x)
    if isnan(x) or x < 0 or n < 0 or n != int(n):
        return NAN
    order = int(n)
    factor = (-1) ** (order + 1) * math.factorial(order)
    if x == 0:
        return math.copysign(INF, factor)
    if math.isinf(x):
        return 0.0
    s, total = order + 1, 0.0
    while x < 20:
        total += x**-s
        x += 1
    total += x ** (1 - s) / (s - 1) + x**-s / 2
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
    rising = float(s)
    for k, b in enumerate(bernoulli, 1):
        total += b / math.factorial(2 * k) * rising * x ** (1 - s - 2 * k)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    return factor * total


def lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return INF
    return math.lgamma(x)


_ENDS = {INF: INF, -INF: -INF}

WORDS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": div,
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
    "neg": lambda x: -x,
    "abs": abs,
    "sign": sign,
    "sqrt": numeric(math.sqrt, cmath.sqrt),
    "rsqrt": lambda x: div(1.0, WORDS["sqrt"](x)),
    "cbrt": numeric(cbrt),
    "exp": numeric(math.exp, cmath.exp),
    "exp2": numeric(exp2, lambda z: cmath.exp(z * math.log(2)), {INF: INF, -INF: 0.0}),
    "expm1": numeric(math.expm1, lambda z: cmath.exp(z) - 1),
    "log": numeric(math.log, cmath.log, {0: -INF}),
    "log2": numeric(math.log2, _log_ratio(2), {0: -INF}),
    "log10": numeric(math.log10, _log_ratio(10), {0: -INF}),
    "log1p": numeric(math.log1p, lambda z: cmath.log(1 + z), {-1: -INF}),
    "sin": numeric(math.sin, cmath.sin),
    "cos": numeric(math.cos, cmath.cos),
    "tan": numeric(math.tan, cmath.tan),
    "asin": numeric(math.asin, cmath.asin),
    "acos": numeric(math.acos, cmath.acos),
    "atan": numeric(math.atan, cmath.atan),
    "sinh": numeric(math.sinh, cmath.sinh, _ENDS),
    "cosh": numeric(math.cosh, cmath.cosh),
    "tanh": numeric(math.tanh, cmath.tanh),
    "asinh": numeric(math.asinh, cmath.asinh),
    "acosh": numeric(math.acosh, cmath.acosh),
    "atanh": numeric(math.atanh, cmath.atanh, {1: INF, -1: -INF}),
    "erf": numeric(math.erf),
    "erfc": numeric(math.erfc),
    "erfinv": numeric(erfinv),
    "lgamma": numeric(lgamma),
    "digamma": numeric(digamma),
    "polygamma": real_function(polygamma),
    "floor": rounding(math.floor),
    "ceil": rounding(math.ceil),
    "round": rounding(round),
    "trunc": rounding(math.trunc),
    "complex": complex,
    "conj": lambda x: x.conjugate(),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "angle": lambda x: NAN if isnan(x) else cmath.phase(x),
    "atan2": real_function(math.atan2),
    "hypot": math.hypot,
    "minimum": minimum,
    "maximum": maximum,
    "copysign": lambda x, y: math.copysign(x, y),
    "nextafter": math.nextafter,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
    "logical_not": lambda x: not x,
    "bit_and": lambda x, y: x & y,
    "bit_or": lambda x, y: x | y,
    "bit_xor": lambda x, y: x ^ y,
    "bit_not": bit_not,
    "shl": shl,
    "shr": shr,
    "select": lambda test, x, y: x if test else y,
}
