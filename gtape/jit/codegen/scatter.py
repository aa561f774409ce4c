"""Writes to places that integer tensors say, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, constant, load, store
from gtape.jit.codegen.index import I64, Int, add, as_value, mul
from gtape.jit.codegen.loops import loop, loops
from gtape.jit.codegen.python import emitted
from gtape.jit.graph.ir import Op
from gtape.lowering import Scatter
from gtape.scalar import parse
from gtape.sizes import same_size

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT64 = as_numpy_dtype("int64")


def scatter(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a scatter: a copy of the base, then a loop over what is written."""
    [value] = node.outputs
    lowering = node.primitive.lowering
    assert isinstance(lowering, Scatter)
    attrs = node.attrs
    if "shape" in attrs:  # into zeros
        data, *indices = node.inputs
        out = region.place(b, value)
        with loop(b, region.sizes.product(b, value.shape)) as i:
            zero = constant(value.dtype, 0)
            store(b, zero, b.gep(out, [as_value(i)]), value.dtype)
    else:
        base, data, *indices = node.inputs
        out = region.place(b, value)
        size = region.bytes_of(b, value)
        region.code.frame.copy(b, out, region.pointer(base), as_value(size))
    axes = tuple(attrs.get("axes", (0,)))
    wrap = attrs.get("wrap", False)
    _write(region, b, lowering.combine, out, (value, data, indices), axes, wrap)


def _write(
    region: Region,
    b: ir.IRBuilder,
    combine: str,
    out: ir.Value,
    operands: tuple[Any, Any, list[Any]],
    axes: tuple[int, ...],
    wrap: bool,
) -> None:
    value, data, indices = operands
    sizes, frame = region.sizes, region.code.frame
    tree = parse(combine)
    first, count = axes[0], len(axes)
    block = data.ndim - (value.ndim - count)
    shape = tuple(data.shape)[first : first + block]
    source = region.pointer(data) if data.ndim else None
    lengths = [sizes.of(b, d) for d in data.shape]
    with loops(b, lengths) as places:
        inner = places[first : first + block]
        found: list[Int] = []
        for axis, atom in zip(axes, indices, strict=True):
            index = _index(region, b, atom, shape, inner)
            size = as_value(sizes.of(b, value.shape[axis]))
            if wrap:
                below = b.icmp_signed("<", index, I64(0))
                index = b.select(below, b.add(index, size), index)
            outside = b.icmp_unsigned(">=", index, size)
            frame.fail(b, outside)
            found.append(b.select(outside, I64(0), index))
        at = [*places[:first], *found, *places[first + block :]]
        if source is None:
            x = region.number(data)
        else:
            x = load(
                b, b.gep(source, [as_value(_flat(b, places, lengths))]), data.dtype
            )
        ends = [sizes.of(b, d) for d in value.shape]
        # Of a tensor without elements nothing may be touched.
        some = as_value(sizes.product(b, value.shape))
        with b.if_then(b.icmp_signed(">", some, I64(0))):
            address = b.gep(out, [as_value(_flat(b, at, ends))])
            before = load(b, address, value.dtype)
            names = {"acc": before, "x": cast(b, x, value.dtype)}
            new = emitted(region.code.body, b, tree, names)
            store(b, cast(b, new, value.dtype), address, value.dtype)


def _flat(b: ir.IRBuilder, places: Any, lengths: Any) -> Int:
    total: Int = 0
    for i, length in zip(places, lengths, strict=True):
        total = add(b, mul(b, total, length), i)
    return total


def _index(
    region: Region, b: ir.IRBuilder, atom: Any, shape: tuple[Any, ...], places: Any
) -> ir.Value:
    """Return an index, of a tensor that is broadcast to a shape."""
    if not atom.ndim:
        return cast(b, region.number(atom), _INT64).value
    extra = len(shape) - atom.ndim
    own = [
        0 if same_size(d, 1) and not same_size(w, 1) else i
        for d, w, i in zip(atom.shape, shape[extra:], places[extra:], strict=True)
    ]
    lengths = [region.sizes.of(b, d) for d in atom.shape]
    address = b.gep(region.pointer(atom), [as_value(_flat(b, own, lengths))])
    found: Scalar = cast(b, load(b, address, atom.dtype), _INT64)
    return found.value
