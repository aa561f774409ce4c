"""Random integers between bounds: a product of random bits and the span, cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, load, memory_type
from gtape.jit.codegen.index import I64, Int, NotCompiledError, add, as_value
from gtape.jit.codegen.loops import local, loop, loops
from gtape.jit.codegen.parameters import Parameter, emit_draw, joint, put
from gtape.jit.codegen.philox import CHUNK, MASK, Chunk, Draw
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_UINT64 = as_numpy_dtype("uint64")
_I1, _I128 = ir.IntType(1), ir.IntType(128)


def _draw(dtype: NumpyDType, bounds: Sequence[Parameter]) -> Draw:
    """Return the draw of integers of a dtype between bounds like these."""
    wide = dtype.itemsize == 8
    last = (int(np.iinfo(dtype).max) + 1) % 2**64

    def ends(
        b: ir.IRBuilder, given: Sequence[ir.Value], at: Int
    ) -> tuple[ir.Value, ir.Value]:
        numbers = [
            load(b, b.gep(p, [I64(0) if own.is_one else as_value(at)]), own.dtype)
            for p, own in zip(given, bounds, strict=True)
        ]
        low, *high = [cast(b, number, _UINT64).value for number in numbers]
        end = high[0] if high else I64(last)
        return low, b.sub(end, low)

    def narrow(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        *own, out, _ = given
        with loop(b, chunk.count) as i:
            at = add(b, chunk.start, i)
            low, span = ends(b, own, at)
            value = _scaled(b, chunk.bits(b, True, i), span)
            put(b, Scalar(_UINT64, b.add(low, value)), out, at, dtype)

    def broad(b: ir.IRBuilder, chunk: Chunk, given: Sequence[ir.Value]) -> None:
        *own, out, more = given
        lower = local(b, I64, CHUNK)

        def fill(two: bool) -> None:
            with loop(b, chunk.count) as i:
                at = add(b, chunk.start, i)
                low, span = ends(b, own, at)
                bits = chunk.bits(b, True, i)
                value = _high(b, bits, span)
                if two:
                    rest = b.load(b.gep(lower, [as_value(i)]))
                    value = _refined(b, value, bits, rest, span)
                put(b, Scalar(_UINT64, b.add(low, value)), out, at, dtype)

        with b.if_else(more) as (yes, no):
            with yes:
                chunk.key.draw(b, lower, chunk.block, chunk.count, 1)
                fill(True)
            with no:
                fill(False)

    parts = [f"{p.dtype.name}_{'one' if p.is_one else 'each'}" for p in bounds]
    name = "_".join(["gtape_integers", dtype.name, *parts])
    kinds = [memory_type(d).as_pointer() for d in (*[p.dtype for p in bounds], dtype)]
    return Draw(name, [*kinds, _I1], 2, 2.0, broad if wide else narrow)


def _scaled(b: ir.IRBuilder, bits: ir.Value, span: ir.Value) -> ir.Value:
    """Return bits * span >> 64 of a span up to 2**32, in products of 32 bits."""
    short = b.and_(span, I64(MASK))
    lower, upper = b.and_(bits, I64(MASK)), b.lshr(bits, I64(32))
    carry = b.lshr(b.mul(lower, short), I64(32))
    found = b.lshr(b.add(b.mul(upper, short), carry), I64(32))
    whole = b.icmp_unsigned("==", short, I64(0))  # the span is 2**32
    return b.select(whole, upper, found)


def _high(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Return the upper half of a product."""
    product = b.mul(b.zext(x, _I128), b.zext(y, _I128))
    return b.trunc(b.lshr(product, _I128(64)), I64)


def _refined(
    b: ir.IRBuilder, value: ir.Value, bits: ir.Value, rest: ir.Value, span: ir.Value
) -> ir.Value:
    """Return what 128 bits give in place of 64, where the span is above 2**32."""
    partial = b.mul(bits, span)
    total = b.add(partial, _high(b, rest, span))
    carry = b.icmp_unsigned("<", total, partial)
    carry = b.and_(carry, b.icmp_unsigned(">", span, I64(1 << 32)))
    # A span of 0 stands for all 2**64 numbers.
    everything = b.icmp_unsigned("==", span, I64(0))
    return b.select(everything, bits, b.add(value, b.zext(carry, I64)))


def _checked(
    region: Region, b: ir.IRBuilder, bounds: Sequence[Parameter], dtype: NumpyDType
) -> ir.Value:
    """Emit that the lower bounds are below the upper ones, and all in a dtype.

    Returns:
        Whether a range is wider than 2**32.
    """
    low, *high = bounds
    info = np.iinfo(dtype)
    shape = joint(low.shape, high[0].shape) if high else low.shape
    bad, wide = local(b, _I1), local(b, _I1)
    for slot in (bad, wide):
        b.store(_I1(0), slot)

    def exact(bound: Parameter, places: Sequence[Int]) -> ir.Value:
        found = bound.at(b, shape, places).value
        return (b.sext if bound.dtype.kind == "i" else b.zext)(found, _I128)

    with loops(b, [region.sizes.of(b, d) for d in shape]) as places:
        begin = exact(low, places)
        end = exact(high[0], places) if high else _I128(int(info.max) + 1)
        wrong = b.or_(
            b.icmp_signed(">=", begin, end),
            b.icmp_signed("<", begin, _I128(int(info.min))),
        )
        above = b.icmp_signed(">", end, _I128(int(info.max) + 1))
        b.store(b.or_(b.load(bad), b.or_(wrong, above)), bad)
        large = b.icmp_signed(">", b.sub(end, begin), _I128(1 << 32))
        b.store(b.or_(b.load(wide), large), wide)
    region.code.frame.fail(b, b.load(bad))
    return b.load(wide)


def integers(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a draw of integers."""
    [value] = node.outputs
    bounds = [Parameter(region, b, atom) for atom in node.inputs[1:]]
    if any(bound.dtype.kind not in "iu" for bound in bounds):
        raise NotCompiledError(f"random integers between {bounds[0].dtype}")
    wide = _checked(region, b, bounds, value.dtype)
    spread = [bound.spread(b, value.shape) for bound in bounds]
    emit_draw(region, b, node, _draw(value.dtype, bounds), spread, [wide])
