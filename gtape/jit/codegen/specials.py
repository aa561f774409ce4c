"""Functions that C libraries lack: inverse error, digamma, polygamma, integer powers.

All floating-point ones compute in float64. Those with loops become functions of the
module, written once; the others are instructions in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.scalars import BOOL, DOUBLE, intrinsic
from gtape.jit.codegen.vecmath import VectorMath

Step = Callable[[Sequence[Any]], Any]

_FLOAT64 = as_numpy_dtype("float64")


def real(value: float) -> Any:
    """Return a float64 constant."""
    return ir.Constant(DOUBLE, value)


def polynomial(builder: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """Emit the value of a polynomial at x, from its coefficients, lowest first."""
    *others, highest = coefficients
    out = real(highest)
    for coefficient in reversed(others):
        out = intrinsic(builder, "llvm.fmuladd", out, x, real(coefficient))
    return out


# --- The inverse of the error function ------------------------------------------------

# M. J. Wichura, Algorithm AS 241: The percentage points of the normal distribution,
# Applied Statistics 37 (1988): numerator and denominator around the middle, in the
# tails, and far out in them.
_MIDDLE = (
    (
        *(3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3),
        *(1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4),
        *(3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2),
        *(5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4),
        *(2.8729085735721942674e4, 5.2264952788528545610e3),
    ),
)
_TAIL = (
    (
        *(1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0),
        *(
            3.64784832476320460504e0,
            1.27045825245236838258e0,
            2.41780725177450611770e-1,
        ),
        *(2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187e0, 1.67638483018380384940e0),
        *(6.89767334985100004550e-1, 1.48103976427480074590e-1),
        *(1.51986665636164571966e-2, 5.47593808499534494600e-4),
        1.05075007164441684324e-9,
    ),
)
_FAR = (
    (
        *(6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0),
        *(2.96560571828504891230e-1, 2.65321895265761230930e-2),
        *(1.24266094738807843860e-3, 2.71155556874348757815e-5),
        2.01033439929228813265e-7,
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1),
        *(1.48753612908506148525e-2, 7.86869131145613259100e-4),
        *(1.84631831751005468180e-5, 1.42151175831644588870e-7),
        2.04426310338993978564e-15,
    ),
)


def erfinv(builder: Any, vector: VectorMath, y: Any) -> Any:
    """Emit the inverse of erf at y: a percentage point of the normal distribution."""

    def ratio(x: Any, both: tuple[Sequence[float], Sequence[float]]) -> Any:
        return builder.fdiv(*[polynomial(builder, x, part) for part in both])

    size = intrinsic(builder, "llvm.fabs", y)
    half = builder.fmul(size, real(0.5))
    square = builder.fmul(half, half)
    middle = ratio(builder.fsub(real(0.180625), square), _MIDDLE)
    middle = builder.fmul(half, middle)
    # Exact where the tails need it; beyond 1 the logarithm gives NaN.
    rest = builder.fmul(builder.fsub(real(1.0), size), real(0.5))
    depth = builder.fneg(vector.call(builder, "log", _FLOAT64, [rest]))
    root = intrinsic(builder, "llvm.sqrt", depth)
    tail = ratio(builder.fsub(root, real(1.6)), _TAIL)
    far = ratio(builder.fsub(root, real(5.0)), _FAR)
    out = builder.select(builder.fcmp_ordered("<=", root, real(5.0)), tail, far)
    central = builder.fcmp_ordered("<=", half, real(0.425))
    out = builder.select(central, middle, out)
    out = builder.fmul(out, real(math.sqrt(0.5)))
    end = builder.fcmp_ordered("==", size, real(1.0))
    out = builder.select(end, real(math.inf), out)
    return intrinsic(builder, "llvm.copysign", out, y)


# --- Functions of the module ----------------------------------------------------------


def _function(
    module: Any, name: str, kinds: Sequence[Any], write: Callable[..., Any]
) -> Any:
    """Return an internal function of a module, written if it has none of the name."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(kinds[0], kinds), name)
        found.linkage = "internal"
        found.attributes.add("nounwind")
        builder = ir.IRBuilder(found.append_basic_block("entry"))
        builder.ret(write(builder, *found.args))
    return found


def _loop(builder: Any, starts: Sequence[Any], test: Step, step: Step) -> list[Any]:
    """Emit a loop over values, and return what they are when the test fails."""
    before, function = builder.block, builder.function
    head, body, end = (function.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    values = [builder.phi(start.type) for start in starts]
    builder.cbranch(test(values), body, end)
    builder.position_at_end(body)
    following = step(values)
    for value, start, new in zip(values, starts, following, strict=True):
        value.add_incoming(start, before)
        value.add_incoming(new, builder.block)
    builder.branch(head)
    builder.position_at_end(end)
    return values


def integer_power(builder: Any, x: Any, y: Any) -> Any:
    """Emit x to the power y by squaring; all are integers of one type."""
    kind = x.type

    def write(inner: Any, base: Any, exponent: Any) -> Any:
        zero, one = ir.Constant(kind, 0), ir.Constant(kind, 1)

        def step(values: Sequence[Any]) -> Any:
            out, factor, left = values
            odd = inner.trunc(left, BOOL) if kind.width > 1 else left
            out = inner.select(odd, inner.mul(out, factor), out)
            return out, inner.mul(factor, factor), inner.lshr(left, one)

        def test(values: Sequence[Any]) -> Any:
            return inner.icmp_unsigned("!=", values[2], zero)

        return _loop(inner, [one, base, exponent], test, step)[0]

    name = f"gt_integer_power_{kind.width}"
    return builder.call(_function(builder.module, name, [kind] * 2, write), [x, y])


# --- Digamma --------------------------------------------------------------------------

# digamma(x) / (x - root) over x - 1.5, for x from 1 to 2: interpolated at the zeros of
# a Chebyshev polynomial, from 60 digits. The root is the sum of two numbers.
_ROOT = (1.4616321449683622, 9.549995429965697e-17)
_BY_ROOT = (
    *(0.9510558760318328, -0.4236274212814573, 0.24054248424078478),
    *(-0.14840492305485808, 0.09498872445354183, -0.06192213319072707),
    *(0.0407608338843387, -0.026975800029253667, 0.017907250563619775),
    *(-0.011908146513976738, 0.007926972735646359, -0.005280903066090605),
    *(0.0035187504361950134, -0.002337552647103118, 0.0015580749137213761),
    *(-0.0010776863967234226, 0.0007184107969046378, -0.00035476352053371977),
    *(0.00023650171719339814, -0.0003783907897248858, 0.0002522590506964885),
)
# The coefficients of x**-2, x**-4, ... (Abramowitz and Stegun, 6.3.18).
_SERIES = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)


def digamma(builder: Any, vector: VectorMath, x: Any) -> Any:
    """Emit the derivative of the logarithm of the gamma function at x."""

    def write(inner: Any, at: Any) -> Any:
        return _digamma(inner, vector, at)

    function = _function(builder.module, "gt_digamma", [DOUBLE], write)
    return builder.call(function, [x])


def _digamma(builder: Any, vector: VectorMath, x: Any) -> Any:
    """Write the function: by recurrence to 1 to 2, by a series from 12, by reflection.

    No step subtracts numbers of like size, except the last on the negative axis.
    """
    zero, one = real(0.0), real(1.0)
    negative = builder.fcmp_ordered("<", x, zero)
    at = builder.select(negative, builder.fsub(one, x), x)
    small = builder.fcmp_ordered("<", at, one)
    moved = builder.select(small, builder.fadd(at, one), at)
    start = builder.select(small, builder.fdiv(real(-1.0), at), zero)
    large = builder.fcmp_ordered(">=", moved, real(12.0))

    def test(values: Sequence[Any]) -> Any:
        over = builder.fcmp_ordered(">", values[0], real(2.0))
        return builder.and_(over, builder.not_(large))

    def step(values: Sequence[Any]) -> Any:
        less = builder.fsub(values[0], one)
        return less, builder.fadd(values[1], builder.fdiv(one, less))

    low, total = _loop(builder, [moved, start], test, step)
    factor = polynomial(builder, builder.fsub(low, real(1.5)), _BY_ROOT)
    off = builder.fsub(builder.fsub(low, real(_ROOT[0])), real(_ROOT[1]))
    near = builder.fadd(builder.fmul(off, factor), total)

    inverse = builder.fdiv(one, at)
    square = builder.fmul(inverse, inverse)
    series = builder.fmul(polynomial(builder, square, _SERIES), square)
    series = builder.fsub(series, builder.fmul(real(0.5), inverse))
    logarithm = vector.call(builder, "log", _FLOAT64, [at])
    out = builder.select(large, builder.fadd(logarithm, series), near)

    # Only the distance to the next integer counts for the tangent, and it is exact.
    part = builder.fsub(x, intrinsic(builder, "llvm.rint", x))
    angle = builder.fmul(part, real(math.pi))
    tangent = vector.call(builder, "tan", _FLOAT64, [angle])
    mirrored = builder.fsub(out, builder.fdiv(real(math.pi), tangent))
    pole = builder.fcmp_ordered("==", part, zero)
    mirrored = builder.select(pole, real(math.nan), mirrored)
    out = builder.select(negative, mirrored, out)
    above = builder.fcmp_ordered("==", x, real(math.inf))
    out = builder.select(above, x, out)
    end = intrinsic(builder, "llvm.copysign", real(math.inf), builder.fneg(x))
    return builder.select(builder.fcmp_ordered("==", x, zero), end, out)


# --- Polygamma ------------------------------------------------------------------------

# The even Bernoulli numbers from the second, over their factorials.
_BERNOULLI = tuple(
    b / math.factorial(2 * k)
    for k, b in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510), 1
    )
)


def polygamma(builder: Any, vector: VectorMath, order: Any, x: Any) -> Any:
    """Emit the derivative of this order of digamma at x."""

    def write(inner: Any, n: Any, at: Any) -> Any:
        return _polygamma(inner, vector, n, at)

    function = _function(builder.module, "gt_polygamma", [DOUBLE] * 2, write)
    return builder.call(function, [order, x])


def _polygamma(builder: Any, vector: VectorMath, order: Any, x: Any) -> Any:
    """Write the function: a factorial times the zeta function of Hurwitz.

    Abramowitz and Stegun, 6.4.10. The sum over the terms from a negative x on is that
    over the terms above 0 and those below, both sums from positive numbers.
    """
    zero, one = real(0.0), real(1.0)

    def zeta(at: Any) -> Any:
        def write(inner: Any, s: Any, a: Any) -> Any:
            return _zeta(inner, vector, s, a)

        function = _function(builder.module, "gt_zeta", [DOUBLE] * 2, write)
        return builder.call(function, [exponent, at])

    exponent = builder.fadd(order, one)
    halved = _half(builder, order)
    odd = builder.fcmp_ordered("!=", halved, intrinsic(builder, "llvm.floor", halved))
    sign = builder.select(odd, one, real(-1.0))
    negative = builder.fcmp_ordered("<", x, zero)
    below = builder.fsub(x, intrinsic(builder, "llvm.floor", x))
    above = builder.fsub(intrinsic(builder, "llvm.ceil", x), x)
    total = zeta(builder.select(negative, below, x))
    # Most calls are for positive numbers: then both of these are the same, and cheap.
    first = builder.select(negative, above, real(math.inf))
    last = builder.select(negative, builder.fsub(one, x), real(math.inf))
    mirrored = builder.fmul(sign, builder.fsub(zeta(first), zeta(last)))
    total = builder.fadd(total, builder.select(negative, mirrored, zero))
    whole = builder.fcmp_ordered("==", intrinsic(builder, "llvm.floor", x), x)
    not_above = builder.fcmp_ordered("<=", x, zero)
    pole = builder.and_(whole, not_above)
    total = builder.select(pole, real(math.inf), total)
    factorial = vector.call(builder, "tgamma", _FLOAT64, [exponent])
    out = builder.fmul(builder.fmul(sign, factorial), total)
    first_order = digamma(builder, vector, x)
    out = builder.select(builder.fcmp_ordered("==", order, zero), first_order, out)
    integer = builder.fcmp_ordered("==", intrinsic(builder, "llvm.floor", order), order)
    valid = builder.and_(integer, builder.fcmp_ordered(">=", order, zero))
    return builder.select(valid, out, real(math.nan))


def _half(builder: Any, value: Any) -> Any:
    return builder.fmul(value, real(0.5))


def _zeta(builder: Any, vector: VectorMath, s: Any, x: Any) -> Any:
    """Write the sum of (x + k)**-s over k, by Euler and Maclaurin, for x above 0."""
    one = real(1.0)
    minus = builder.fneg(s)
    # High orders overflow; they must not take long for that.
    moderate = builder.fcmp_ordered("<", s, real(400.0))
    bounded = builder.select(moderate, s, real(400.0))
    enough = builder.fadd(real(15.0), _half(builder, bounded))

    def power(base: Any, exponent: Any) -> Any:
        return vector.call(builder, "pow", _FLOAT64, [base, exponent])

    def test(values: Sequence[Any]) -> Any:
        return builder.fcmp_ordered("<", values[0], enough)

    def step(values: Sequence[Any]) -> Any:
        at, total = values
        return builder.fadd(at, one), builder.fadd(total, power(at, minus))

    at, total = _loop(builder, [x, real(0.0)], test, step)
    term = power(at, minus)
    integral = builder.fdiv(builder.fmul(term, at), builder.fsub(s, one))
    tail = builder.fadd(integral, _half(builder, term))
    # Each further term is the one before times two factors of s * (s + 1) * ... and
    # 1 / at twice.
    inverse = builder.fdiv(one, at)
    rising = builder.fmul(builder.fmul(term, s), inverse)
    for k, number in enumerate(_BERNOULLI, 1):
        tail = builder.fadd(tail, builder.fmul(real(number), rising))
        for more in (2 * k - 1, 2 * k):
            ratio = builder.fmul(builder.fadd(s, real(float(more))), inverse)
            rising = builder.fmul(rising, ratio)
    out = builder.fadd(total, tail)
    infinite = builder.fcmp_ordered("==", at, real(math.inf))
    return builder.select(infinite, real(0.0), out)
