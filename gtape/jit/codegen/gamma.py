"""Random gamma numbers.

Source: Marsaglia and Tsang, A Simple Method for Generating Gamma Variables (2000). Most
numbers are accepted at the first attempt, which all elements of a chunk make together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llvmlite import ir

from gtape import philox
from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, load, memory_type
from gtape.jit.codegen.index import I64, Int, add, as_value, mul
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.parameters import Parameter, emit_draw, put
from gtape.jit.codegen.philox import CHUNK, Chunk, Draw
from gtape.jit.codegen.scalars import fabs, intrinsic
from gtape.jit.codegen.series import Series
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_FLOAT64 = as_numpy_dtype("float64")
_I1, _DOUBLE = ir.IntType(1), ir.DoubleType()
_COUNT = CHUNK // 2  # elements of a chunk: each takes a block


def gamma(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a draw of gamma numbers."""
    [value] = node.outputs
    alpha = Parameter(region, b, node.inputs[1])
    pointer = alpha.spread(b, value.shape)
    emit_draw(region, b, node, _draw(value.dtype, alpha), [pointer])


def _draw(dtype: NumpyDType, alpha: Parameter) -> Draw:
    def write(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        series = Series(b, 8)
        safe, made = (local(b, _DOUBLE, _COUNT) for _ in range(2))
        kept = local(b, ir.IntType(8), _COUNT)
        more = local(b, I64, CHUNK)
        one = series.number(1)
        with loop(b, chunk.count) as i:
            place = I64(0) if alpha.is_one else add(b, chunk.start, i)
            a = cast(b, load(b, b.gep(given[0], [place]), alpha.dtype), _FLOAT64).value
            valid = _is_valid(b, series, a)
            b.store(b.select(valid, a, one), b.gep(safe, [as_value(i)]))
        chunk.key.draw(b, more, chunk.block, mul(b, chunk.count, 2), 1)
        with loop(b, chunk.count) as i:
            a = b.load(b.gep(safe, [as_value(i)]))
            good, x = _attempt(b, series, more, i, a)
            b.store(x, b.gep(made, [as_value(i)]))
            b.store(b.zext(good, kept.type.pointee), b.gep(kept, [as_value(i)]))
        _retry(b, series, chunk, safe, made, kept)
        with loop(b, chunk.count) as i:
            at = add(b, chunk.start, i)
            place = I64(0) if alpha.is_one else at
            a = cast(b, load(b, b.gep(given[0], [place]), alpha.dtype), _FLOAT64).value
            x = b.load(b.gep(made, [as_value(i)]))
            # An alpha below 1: that of alpha + 1, times u**(1 / alpha).
            own = b.load(b.gep(safe, [as_value(i)]))
            u = series.unit(chunk.bits(b, True, mul(b, i, 2)))
            boosted = b.fmul(x, series.exp(b.fdiv(series.log(u), own)))
            x = b.select(b.fcmp_ordered("<", own, one), boosted, x)
            least = series.number(2.0 ** philox._FLOATS[dtype.name][1])
            x = b.select(b.fcmp_ordered(">", x, least), x, least)
            x = b.select(_is_valid(b, series, a), x, series.number(math.nan))
            put(b, Scalar(_FLOAT64, x), given[1], at, dtype)

    kinds = [memory_type(d).as_pointer() for d in (alpha.dtype, dtype)]
    name = f"gtape_gamma_{dtype.name}_{'one' if alpha.is_one else 'each'}"
    return Draw(name, kinds, 4, 20.0, write)


def _is_valid(b: ir.IRBuilder, series: Series, a: ir.Value) -> ir.Value:
    above = b.fcmp_ordered(">", a, series.number(0))
    return b.and_(above, b.fcmp_ordered("<", a, series.number(math.inf)))


def _attempt(
    b: ir.IRBuilder, series: Series, longs: ir.Value, i: Int, safe: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Return whether an attempt is good, and the number that it gives.

    Args:
        b: Where to.
        series: The functions of float64.
        longs: The address of blocks.
        i: The number of the block.
        safe: Alpha.
    """
    number = series.number
    one = number(1)
    small = b.fcmp_ordered("<", safe, one)
    alpha = b.fadd(safe, b.select(small, one, number(0)))
    d = b.fsub(alpha, number(1 / 3))
    c = b.fdiv(one, b.fmul(number(3), intrinsic(b, "llvm.sqrt", d)))
    at = b.gep(longs, [as_value(mul(b, i, 2))])
    first, second = b.load(at), b.load(b.gep(at, [I64(1)]))
    square = b.fmul(series.log(series.unit(first)), number(-2))
    cos, _ = series.turn(b.shl(second, I64(32)))
    t = b.fmul(b.fmul(intrinsic(b, "llvm.sqrt", square), cos), c)
    # See gtape.philox for the test.
    square = b.fmul(t, t)
    cubed = b.fmul(b.fmul(square, t), number(1 / 3))
    terms = b.fadd(b.fsub(t, b.fmul(square, number(0.5))), cubed)
    v = b.fadd(one, t)
    rest = b.fsub(series.log(v), terms)
    tail = b.fmul(b.fmul(square, square), series.horner(t, philox._TAIL))
    near = b.fcmp_ordered("<", fabs(b, t), number(0.125))
    rest = b.select(near, tail, rest)
    word = b.uitofp(b.lshr(second, I64(32)), _DOUBLE)
    u = b.fmul(b.fadd(word, number(0.5)), number(2.0**-32))
    limit = b.fmul(b.fmul(number(3), d), rest)
    good = b.fcmp_ordered("<", series.log(u), limit)
    good = b.and_(b.fcmp_ordered(">", t, number(-1)), good)
    moved = b.fmul(d, b.fmul(b.fmul(v, v), v))
    return good, b.select(good, moved, d)


def _retry(
    b: ir.IRBuilder,
    series: Series,
    chunk: Chunk,
    safe: ir.Value,
    made: ir.Value,
    kept: ir.Value,
) -> None:
    """Emit further attempts for the elements whose first one was not good."""
    block = local(b, I64, 2)
    tried = local(b, I64)
    with loop(b, chunk.count) as i:
        good = b.trunc(b.load(b.gep(kept, [as_value(i)])), _I1)
        with b.if_then(b.not_(good), likely=False):
            a = b.load(b.gep(safe, [as_value(i)]))
            b.store(I64(1), tried)
            again, after = b.append_basic_block(), b.append_basic_block()
            b.branch(again)
            b.position_at_end(again)
            attempt = b.add(b.load(tried), I64(1))
            b.store(attempt, tried)
            chunk.key.draw(b, block, add(b, chunk.block, i), 2, attempt)
            found, x = _attempt(b, series, block, 0, a)
            b.store(x, b.gep(made, [as_value(i)]))
            left = b.icmp_signed("<", attempt, I64(philox._GAMMA_ATTEMPTS))
            b.cbranch(b.and_(b.not_(found), left), again, after)
            b.position_at_end(after)
