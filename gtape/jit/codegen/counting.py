"""Vectors whose length is a number of the run: what gives a loop its trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, store
from gtape.jit.codegen.index import I64, as_value
from gtape.jit.codegen.loops import loop
from gtape.jit.graph.ir import Op, Value
from gtape.sizes import Size

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT64 = as_numpy_dtype("int64")


def _count(region: Region, b: ir.IRBuilder, value: Value, length: ir.Value) -> None:
    """Emit 0, 1, ... below a length, which is what the size of the vector is called."""
    [dim] = value.shape
    if type(dim) is Size and dim.unknown is not None:
        region.sizes.known[dim.unknown] = length
    if not _is_read(region, value):
        return  # mostly only the length is
    out = region.place(b, value)
    with loop(b, length) as i:
        number = Scalar(_INT64, as_value(i))
        store(b, number, b.gep(out, [as_value(i)]), value.dtype)


def _is_read(region: Region, value: Value) -> bool:
    graph = region.plan.graph
    return value in graph.outputs or any(value in node.inputs for node in graph.nodes)


def _positions_below(region: Region, b: ir.IRBuilder, node: Op) -> None:
    n = cast(b, region.number(node.inputs[0]), _INT64).value
    below = b.icmp_signed("<", n, I64(0))
    region.code.frame.fail(b, below)
    _count(region, b, node.outputs[0], b.select(below, I64(0), n))


def _bound_in_axis(region: Region, b: ir.IRBuilder, node: Op) -> None:
    n = cast(b, region.number(node.inputs[0]), _INT64).value
    size = as_value(region.sizes.of(b, node.attrs["size"]))
    below = b.icmp_signed("<", n, I64(0))
    n = b.select(below, b.add(n, size), n)
    n = b.select(b.icmp_signed("<", n, I64(0)), I64(0), n)
    n = b.select(b.icmp_signed(">", n, size), size, n)
    _count(region, b, node.outputs[0], n)


COUNTING = {"positions_below": _positions_below, "bound_in_axis": _bound_in_axis}
"""What emits them, by the name in their lowering."""
