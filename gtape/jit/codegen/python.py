"""The arithmetic of Python's numbers: 64 bits, and what does not fit fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import Body, Operand, Scalar, cast
from gtape.jit.codegen.index import I64
from gtape.jit.codegen.loops import local, loop
from gtape.scalar import Tree, parse

Fail = Callable[[ir.Value], None]
Emit = Callable[..., Scalar]

I1, DOUBLE = ir.IntType(1), ir.DoubleType()
INT64, FLOAT64, BOOL = [as_numpy_dtype(n) for n in ("int64", "float64", "bool")]
_LEAST = I64(-(2**63))
_EXACT = 2**53  # up to here all ints are floats


def emitted(
    body: Body, b: ir.IRBuilder, tree: Tree, names: Mapping[str, Operand]
) -> Scalar:
    """Return an expression of values that are known only when the program runs."""
    found = body.emit(b, tree, names)
    assert isinstance(found, Scalar)
    return found


def _is_int(*numbers: Scalar) -> bool:
    return all(n.dtype.kind == "i" for n in numbers)


def _overflowing(name: str) -> Emit:
    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        if not _is_int(*xs):
            x, y = [n.value for n in xs]
            return Scalar(FLOAT64, getattr(b, f"f{name}")(x, y))
        out = getattr(b, f"s{name}_with_overflow")(xs[0].value, xs[1].value)
        fail(b.extract_value(out, 1))
        return Scalar(INT64, b.extract_value(out, 0))

    return emit


def _exact(b: ir.IRBuilder, x: Scalar, fail: Fail) -> ir.Value:
    """Return a number as a float; an int of more than 53 bits fails."""
    if x.dtype.kind != "i":
        return cast(b, x, FLOAT64).value
    wide = b.or_(
        b.icmp_signed(">", x.value, I64(_EXACT)),
        b.icmp_signed("<", x.value, I64(-_EXACT)),
    )
    fail(wide)
    return b.sitofp(x.value, DOUBLE)


def _divide(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    x, y = [_exact(b, n, fail) for n in xs]
    fail(b.fcmp_ordered("==", y, DOUBLE(0.0)))
    return Scalar(FLOAT64, b.fdiv(x, y))


def _rounded(word: str) -> Emit:
    tree = parse(f"x {word} y")

    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        x, y = xs
        if _is_int(*xs):
            fail(b.icmp_signed("==", y.value, I64(0)))
            least = b.icmp_signed("==", x.value, _LEAST)
            fail(b.and_(least, b.icmp_signed("==", y.value, I64(-1))))
        else:
            fail(b.fcmp_ordered("==", y.value, DOUBLE(0.0)))
        found = emitted(body, b, tree, {"x": x, "y": y})
        return found

    return emit


def _pow(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    x, y = xs
    if _is_int(*xs):
        return Scalar(INT64, _int_pow(b, x.value, y.value, fail))
    found = emitted(body, b, parse("x ** y"), {"x": x, "y": y})
    value = found.value
    # Python raises where NumPy gives infinity, or NaN for a complex result.
    strange = b.fcmp_unordered("!=", b.fsub(value, value), DOUBLE(0.0))
    plain = b.and_(_is_finite(b, x.value), _is_finite(b, y.value))
    fail(b.and_(strange, plain))
    return found


def _int_pow(b: ir.IRBuilder, x: ir.Value, y: ir.Value, fail: Fail) -> ir.Value:
    """Return an int to a power; what leaves 64 bits fails."""
    fail(b.icmp_signed("<", y, I64(0)))
    # Of -1, 0 and 1 the parity of a large exponent tells all; others overflow sooner.
    large = b.icmp_signed(">", y, I64(64))
    count = b.select(large, b.add(I64(64), b.and_(y, I64(1))), y)
    total = local(b, I64)
    b.store(I64(1), total)
    bad = local(b, I1)
    b.store(I1(0), bad)
    with loop(b, count):
        out = b.smul_with_overflow(b.load(total), x)
        b.store(b.or_(b.load(bad), b.extract_value(out, 1)), bad)
        b.store(b.extract_value(out, 0), total)
    fail(b.load(bad))
    return b.load(total)


def _is_finite(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    return b.fcmp_ordered("==", b.fsub(x, x), DOUBLE(0.0))


def _signed(word: str) -> Emit:
    tree = parse(word)

    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        [x] = xs
        if _is_int(x):
            fail(b.icmp_signed("==", x.value, _LEAST))
        found = emitted(body, b, tree, {"x": x})
        return found

    return emit


def _bits(name: str) -> Emit:
    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        return Scalar(INT64, getattr(b, name)(xs[0].value, xs[1].value))

    return emit


def _left_shift(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    x, count = [n.value for n in xs]
    outside = b.icmp_unsigned(">", count, I64(62))
    fail(outside)
    count = b.select(outside, I64(0), count)
    out = b.shl(x, count)
    fail(b.icmp_signed("!=", b.ashr(out, count), x))
    return Scalar(INT64, out)


def _right_shift(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    x, count = [n.value for n in xs]
    fail(b.icmp_signed("<", count, I64(0)))
    most = b.select(b.icmp_unsigned(">", count, I64(63)), I64(63), count)
    return Scalar(INT64, b.ashr(x, most))


def _to_int(word: str) -> Emit:
    tree = parse(f"{word}(x)")

    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        [x] = xs
        if _is_int(x):
            return x
        found = emitted(body, b, tree, {"x": x})
        inside = b.and_(
            b.fcmp_ordered(">=", found.value, DOUBLE(-(2.0**63))),
            b.fcmp_ordered("<", found.value, DOUBLE(2.0**63)),
        )
        fail(b.not_(inside))
        value = b.select(inside, found.value, DOUBLE(0.0))
        return Scalar(INT64, b.fptosi(value, I64))

    return emit


def _compared(word: str) -> Emit:
    tree = parse(f"x {word} y")

    def emit(
        b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
    ) -> Scalar:
        x, y = xs
        if x.dtype.kind != y.dtype.kind:
            x, y = [Scalar(FLOAT64, _exact(b, n, fail)) for n in xs]
        found = emitted(body, b, tree, {"x": x, "y": y})
        return found

    return emit


def _trips(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    start, limit, delta = xs
    names = {"s": start, "e": limit, "d": delta}
    # A third of the range is left free, so that no difference overflows.
    if _is_int(*xs):
        for n in xs:
            fail(b.icmp_signed(">", n.value, I64(2**61)))
            fail(b.icmp_signed("<", n.value, I64(-(2**61))))
        away = emitted(
            body, b, parse("d == 0 or (e - s if d > 0 else s - e) < 0"), names
        )
        fail(away.value)
        step = b.select(away.value, I64(1), delta.value)
        found = emitted(
            body, b, parse("-((s - e) // d)"), {**names, "d": Scalar(INT64, step)}
        )
        return Scalar(INT64, found.value)
    away = emitted(body, b, parse("d == 0 or (e - s) * d < 0"), names)
    fail(away.value)
    count = emitted(body, b, parse("ceil((e - s) / d)"), names)
    inside = b.and_(
        b.fcmp_ordered(">=", count.value, DOUBLE(0.0)),
        b.fcmp_ordered("<", count.value, DOUBLE(2.0**62)),
    )
    fail(b.not_(inside))
    return Scalar(INT64, b.fptosi(b.select(inside, count.value, DOUBLE(0.0)), I64))


def _fit(
    b: ir.IRBuilder, xs: Sequence[Scalar], dtype: Any, fail: Fail, body: Body
) -> Scalar:
    [x] = xs
    out = cast(b, x, dtype)
    back = cast(b, out, INT64)
    fail(b.icmp_signed("!=", back.value, x.value))
    if dtype.kind == "u":
        fail(b.icmp_signed("<", x.value, I64(0)))
    return out


PYTHON: dict[str, Emit] = {
    "python_add": _overflowing("add"),
    "python_subtract": _overflowing("sub"),
    "python_multiply": _overflowing("mul"),
    "python_divide": _divide,
    "python_floordiv": _rounded("//"),
    "python_mod": _rounded("%"),
    "python_pow": _pow,
    "python_negative": _signed("-x"),
    "python_abs": _signed("abs(x)"),
    "python_bitwise_and": _bits("and_"),
    "python_bitwise_or": _bits("or_"),
    "python_bitwise_xor": _bits("xor"),
    "python_left_shift": _left_shift,
    "python_right_shift": _right_shift,
    "python_truncate": _to_int("trunc"),
    "python_round": _to_int("round"),
    "python_equal": _compared("=="),
    "python_not_equal": _compared("!="),
    "python_less": _compared("<"),
    "python_less_equal": _compared("<="),
    "python_greater": _compared(">"),
    "python_greater_equal": _compared(">="),
    "python_trips": _trips,
    "python_fit": _fit,
}
"""(builder, numbers, dtype of the result, fail, body) -> result."""
