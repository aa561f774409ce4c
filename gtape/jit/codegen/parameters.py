"""The parameters of random draws, broadcast to what is drawn, and their emission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import NumpyDType
from gtape.jit.codegen.body import Scalar, load, memory_type, store
from gtape.jit.codegen.index import Int, add, as_value, is_one, mul
from gtape.jit.codegen.loops import local, loops
from gtape.jit.codegen.philox import Draw
from gtape.jit.graph.ir import Op
from gtape.sizes import same_shape

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region


def put(
    b: ir.IRBuilder, number: Scalar, out: ir.Value, at: Int, dtype: NumpyDType
) -> None:
    """Emit that an element of an array is set."""
    store(b, number, b.gep(out, [as_value(at)]), dtype)


class Parameter:
    """A parameter of a distribution.

    Args:
        region: The region.
        b: Where to emit.
        atom: The parameter.
    """

    def __init__(self, region: Region, b: ir.IRBuilder, atom: Any) -> None:
        self._region = region
        self._atom = atom
        self.dtype: NumpyDType = atom.dtype
        self.is_one = all(map(is_one, atom.shape))
        if atom.ndim:
            self.pointer = region.pointer(atom)
        else:
            self.pointer = local(b, memory_type(atom.dtype))
            store(b, region.number(atom), self.pointer, atom.dtype)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its own shape."""
        return tuple(self._atom.shape)

    def at(
        self, b: ir.IRBuilder, shape: Sequence[Any], places: Sequence[Int]
    ) -> Scalar:
        """Return its element at a place of the shape that it is broadcast to."""
        flat: Int = 0
        extra = len(shape) - len(self.shape)
        for dim, wide, i in zip(self.shape, shape[extra:], places[extra:], strict=True):
            own = 0 if is_one(dim) and not is_one(wide) else i
            flat = add(b, mul(b, flat, self._region.sizes.of(b, dim)), own)
        return load(b, b.gep(self.pointer, [as_value(flat)]), self.dtype)

    def spread(self, b: ir.IRBuilder, shape: Sequence[Any]) -> ir.Value:
        """Return the address of its elements in a shape; of its one if it has one."""
        if self.is_one or same_shape(self.shape, shape):
            return self.pointer
        sizes, frame = self._region.sizes, self._region.code.frame
        memory = frame.memory(b, self.dtype, sizes.product(b, shape))
        lengths = [sizes.of(b, d) for d in shape]
        with loops(b, lengths) as places:
            flat: Int = 0
            for length, i in zip(lengths, places, strict=True):
                flat = add(b, mul(b, flat, length), i)
            put(b, self.at(b, shape, places), memory, flat, self.dtype)
        return memory


def joint(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, ...]:
    """Return the shape that two broadcast to."""
    rank = max(len(x), len(y))
    x, y = ((*[1] * (rank - len(s)), *s) for s in (x, y))
    return tuple([e if is_one(d) else d for d, e in zip(x, y, strict=True)])


def emit_draw(
    region: Region,
    b: ir.IRBuilder,
    node: Op,
    draw: Draw,
    before: Sequence[ir.Value] = (),
    after: Sequence[ir.Value] = (),
) -> None:
    """Emit a draw, whose arguments stand around the address of the result."""
    [value] = node.outputs
    kind = memory_type(value.dtype)
    out = region.place(b, value) if value.ndim else local(b, kind)
    key = region.pointer(node.inputs[0])
    count = region.sizes.product(b, value.shape)
    threads = region.code.frame.threads(b)
    draw.call(b, key, [*before, out, *after], count, threads)
    if not value.ndim:
        region.give(value, load(b, out, value.dtype))
