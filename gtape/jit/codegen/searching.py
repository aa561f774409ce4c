"""Where values belong in sorted sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.axes import Emitter, Span, along, guarded, over_rows
from gtape.jit.codegen.body import Scalar, load, memory_type, store
from gtape.jit.codegen.index import I64, Int, add, as_value, mul
from gtape.jit.codegen.loops import local
from gtape.jit.codegen.sorting import endless, key_of, leave
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT32 = as_numpy_dtype("int32")


def _search(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a binary search for each value."""
    sequence, values = node.inputs
    [value] = node.outputs
    shape = along(region, b, sequence.shape, -1)
    each: Int = region.sizes.product(b, values.shape)
    rows: Int = each
    if sequence.ndim > 1:
        each = region.sizes.of(b, values.shape[-1])
        pairs = list(zip(sequence.shape[:-1], values.shape[:-1], strict=True))
        rows = guarded(region, b, mul(b, shape.before, each), pairs)
    if values.ndim:
        looked, out = region.pointer(values), region.place(b, value)
    else:
        looked, out = local(b, memory_type(values.dtype)), local(b, ir.IntType(32))
        store(b, region.number(values), looked, values.dtype)
    # Positions in a row that ties belong to: before them, or behind.
    relation = "<" if node.attrs["side"] == "left" else "<="

    def emit(b: ir.IRBuilder, span: Span) -> None:
        size, each = span.lengths
        low, left = local(b, I64), local(b, I64)
        with span.rows(b) as i:
            start: Int = 0
            if sequence.ndim > 1:
                start = mul(b, b.sdiv(i, as_value(each)), size)
            key = key_of(b, load(b, span.at(b, 1, i), values.dtype), False)
            b.store(I64(0), low)
            b.store(as_value(size), left)
            with endless(b) as after:
                rest = b.load(left)
                leave(b, b.icmp_signed("<=", rest, I64(0)), after)
                half = b.lshr(rest, I64(1))
                middle = b.add(b.load(low), half)
                at = span.at(b, 0, add(b, start, middle))
                found = key_of(b, load(b, at, sequence.dtype), False)
                above = b.icmp_unsigned(relation, found, key)
                further = b.add(middle, I64(1))
                b.store(b.select(above, further, b.load(low)), low)
                rest = b.sub(b.sub(rest, half), I64(1))
                b.store(b.select(above, rest, half), left)
            position = b.trunc(b.load(low), ir.IntType(32))
            store(b, Scalar(_INT32, position), span.at(b, 2, i), value.dtype)

    pointers = [region.pointer(sequence), looked, out]
    over_rows(region, b, pointers, [shape.size, each], rows, 1, 30.0, emit)
    if not values.ndim:
        region.give(value, load(b, out, value.dtype))


SEARCHING: dict[str, Emitter] = {"searchsorted": _search}
"""What emits the code of searching, by the name in its lowering."""
