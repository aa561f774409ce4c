"""Variables of a program: what branches give, and what loops carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.jit.codegen.body import Scalar, load, memory_type, store
from gtape.jit.codegen.loops import local
from gtape.jit.graph.ir import Value

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region


class Loaded:
    """What a variable holds, as the operand of a region.

    Args:
        shape: Its shape.
        number: The number, if it is one.
        pointer: The address, if not.
    """

    def __init__(
        self, shape: Any, number: Scalar | None, pointer: ir.Value | None
    ) -> None:
        self.shape = shape
        self.number = number
        self.pointer = pointer


class Box:
    """A variable of the program: a number, or the address of an array.

    Args:
        b: Where to emit.
        value: A value of the graph that it is like.
    """

    def __init__(self, b: ir.IRBuilder, value: Any) -> None:
        self.value = value
        kind = memory_type(value.dtype)
        self._slot = local(b, kind.as_pointer() if value.ndim else kind)

    def put(self, b: ir.IRBuilder, region: Region, atom: Any) -> None:
        """Emit that it holds a value of a region."""
        if self.value.ndim:
            self.point(b, region.pointer_of(atom))
        else:
            store(b, region.number_of(atom), self._slot, self.value.dtype)

    def point(self, b: ir.IRBuilder, pointer: ir.Value) -> None:
        """Emit that it holds an address."""
        b.store(b.bitcast(pointer, self._slot.type.pointee), self._slot)

    def loaded(self, b: ir.IRBuilder, shape: Any) -> Loaded:
        """Return what it holds, as an array of a shape or a number."""
        if self.value.ndim:
            return Loaded(shape, None, b.load(self._slot))
        return Loaded(shape, load(b, self._slot, self.value.dtype), None)

    def take(self, b: ir.IRBuilder, region: Region, value: Value) -> None:
        """Emit that a value of a region is what it holds."""
        if value.ndim:
            region.alias(value, b.load(self._slot))
        else:
            region.give(value, load(b, self._slot, value.dtype))
