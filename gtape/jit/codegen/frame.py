"""What a program stands on: its arguments, its memory, its failures.

A program takes one tuple of NumPy arrays and scalars, reads their addresses and lengths
from the objects themselves, and returns a status.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from gtape.dtypes import NumpyDType
from gtape.jit.codegen.body import Scalar, load, memory_type
from gtape.jit.codegen.index import I64, Int, as_value, mul
from gtape.jit.codegen.loops import local
from gtape.jit.codegen.polling import Poll

I8 = ir.IntType(8)
POINTER = I8.as_pointer()

DONE, FAILED, UNFIT, NO_MEMORY, STOPPED = range(5)
"""What a program returns: that it is done; that an operation cannot be computed here;
that an argument does not lie in memory as wanted; that memory has run out; that a
signal has stopped it, whose exception is set."""

_HEADER = object.__basicsize__  # where the first field of an object stands
_WORD = 8
_ITEMS = tuple.__basicsize__
_DATA, _LENGTHS, _FLAGS = _HEADER, _HEADER + 2 * _WORD, _HEADER + 6 * _WORD
_TIDY = 0x0001 | 0x0100  # NumPy's flags: rows one behind the other, and aligned

NDARRAY_TYPE = "gtape_ndarray_type"
"""The symbol of the type object of NumPy arrays."""

_SMALL = 2048
"""Up to so many bytes an array stands on the stack."""

_ALIGNED = 64


class Frame:
    """The function of a program, and what stands in its first blocks.

    Args:
        module: The module.
        name: The function's name.
    """

    def __init__(self, module: ir.Module, name: str) -> None:
        self.module = module
        kind = ir.FunctionType(I64, [POINTER])
        self.function = ir.Function(module, kind, name=name)
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.flag = local(self.builder, I64)
        self.builder.store(I64(DONE), self.flag)
        self.slots = 1  # the first row of the table holds settings
        self._poll = Poll(self.builder)
        self._table: ir.Value | None = None

    # --- Arguments --------------------------------------------------------------------

    def _field(self, address: ir.Value, offset: int, kind: ir.Type) -> ir.Value:
        b = self.builder
        return b.load(b.bitcast(b.gep(address, [I64(offset)]), kind.as_pointer()))

    def item(self, place: int) -> ir.Value:
        """Return the address of an object of the tuple."""
        return self._field(self.function.args[0], _ITEMS + place * _WORD, POINTER)

    def array(self, item: ir.Value, dtype: NumpyDType) -> ir.Value:
        """Return the address of the elements of an array, and see that it is tidy."""
        b = self.builder
        flags = self._field(item, _FLAGS, ir.IntType(32))
        bad = b.icmp_unsigned("!=", b.and_(flags, flags.type(_TIDY)), flags.type(_TIDY))
        with b.if_then(bad, likely=False):
            b.ret(I64(UNFIT))
        data = self._field(item, _DATA, POINTER)
        return b.bitcast(data, memory_type(dtype).as_pointer())

    def data(self, item: ir.Value) -> ir.Value:
        """Return the address of the elements of an array that is ours."""
        return self._field(item, _DATA, POINTER)

    def number(self, item: ir.Value, dtype: NumpyDType) -> Scalar:
        """Return the number in an array of rank 0, or in a NumPy scalar."""
        b = self.builder
        found = self.module.globals.get(NDARRAY_TYPE)
        if found is None:
            found = ir.GlobalVariable(self.module, I8, NDARRAY_TYPE)
        kind = self._field(item, _HEADER - _WORD, POINTER)
        is_array = b.icmp_unsigned("==", kind, found)
        data = self._field(item, _DATA, POINTER)
        inside = b.gep(item, [I64(_DATA)])
        address = b.select(is_array, data, inside)
        return load(b, b.bitcast(address, memory_type(dtype).as_pointer()), dtype)

    def length(self, item: ir.Value, axis: int) -> ir.Value:
        """Return the length of an axis of an array."""
        lengths = self._field(item, _LENGTHS, POINTER)
        return self._field(lengths, axis * _WORD, I64)

    def use_table(self, item: ir.Value) -> None:
        """Say which array holds the memory that is kept between calls."""
        self._table = self._field(item, _DATA, POINTER)

    # --- Memory -----------------------------------------------------------------------

    def memory(self, b: ir.IRBuilder, dtype: NumpyDType, count: Int) -> ir.Value:
        """Return the address of memory for so many elements, the same on every trip."""
        kind = memory_type(dtype)
        if isinstance(count, int) and count * dtype.itemsize <= _SMALL:
            small = local(b, kind, max(count, 1))
            small.align = _ALIGNED
            return small
        entry = self.entry(b)
        need = as_value(mul(b, count, dtype.itemsize))
        self.ensure(b, entry, need, False)
        address = b.load(b.bitcast(entry, POINTER.as_pointer()))
        return b.bitcast(address, kind.as_pointer())

    def threads(self, b: ir.IRBuilder) -> ir.Value:
        """Return the number of threads."""
        assert self._table is not None
        return b.load(b.bitcast(self._table, I64.as_pointer()))

    def entry(self, b: ir.IRBuilder) -> ir.Value:
        """Return the address of a new row of the table: an address, and a size."""
        assert self._table is not None
        row = b.gep(self._table, [I64(2 * _WORD * self.slots)])
        self.slots += 1
        return row

    def ensure(
        self, b: ir.IRBuilder, entry: ir.Value, need: ir.Value, keep: bool
    ) -> None:
        """Emit that a row of the table has memory of a size.

        Args:
            b: Where to.
            entry: The address of the row.
            need: The bytes.
            keep: Whether what is there stays.
        """
        size = b.bitcast(b.gep(entry, [I64(_WORD)]), I64.as_pointer())
        with b.if_then(b.icmp_signed("<", b.load(size), need), likely=False):
            bad = b.call(self._grow(), [entry, need, ir.IntType(1)(keep)])
            with b.if_then(bad, likely=False):
                b.ret(I64(NO_MEMORY))

    def _grow(self) -> ir.Function:
        """Return the function that gives a row of the table more memory."""
        name = "gtape_grow"
        found = self.module.globals.get(name)
        if found is not None:
            return found
        bit = ir.IntType(1)
        function = ir.Function(
            self.module, ir.FunctionType(bit, [POINTER, I64, bit]), name=name
        )
        function.linkage = "internal"
        function.attributes.add("noinline")
        entry, need, keep = function.args
        b = ir.IRBuilder(function.append_basic_block())
        place = b.bitcast(entry, POINTER.as_pointer())
        size = b.bitcast(b.gep(entry, [I64(_WORD)]), I64.as_pointer())
        old, before = b.load(place), b.load(size)
        wanted = b.and_(b.add(need, I64(_ALIGNED - 1)), I64(-_ALIGNED))
        new = b.call(
            self.library("aligned_alloc", POINTER, [I64, I64]), [I64(_ALIGNED), wanted]
        )
        none = b.icmp_unsigned("==", new, POINTER(None))
        with b.if_then(none, likely=False):
            b.ret(bit(1))
        with b.if_then(keep):
            self.copy(b, new, old, before)
        b.call(self.library("free", ir.VoidType(), [POINTER]), [old])
        b.store(new, place)
        b.store(wanted, size)
        b.ret(bit(0))
        return function

    def library(self, name: str, out: ir.Type, kinds: list[ir.Type]) -> ir.Function:
        """Return the declaration of a function of the C library."""
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(out, kinds), name=name)
        return found

    def copy(
        self, b: ir.IRBuilder, to: ir.Value, source: ir.Value, size: ir.Value
    ) -> None:
        """Emit a copy of bytes."""
        function = self.module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, I64])
        b.call(
            function,
            [
                b.bitcast(to, POINTER),
                b.bitcast(source, POINTER),
                as_value(size),
                ir.IntType(1)(0),
            ],
        )

    # --- Failures ---------------------------------------------------------------------

    def poll(self, b: ir.IRBuilder) -> None:
        """Emit a look whether somebody wants to stop the loop around."""
        stop = self._poll.emit(b)
        b.store(b.select(stop, I64(STOPPED), b.load(self.flag)), self.flag)

    def fail(self, b: ir.IRBuilder, bad: ir.Value) -> None:
        """Emit that the program has failed where a bool says so."""
        b.store(b.select(bad, I64(FAILED), b.load(self.flag)), self.flag)

    def finish(self) -> None:
        """Emit the end."""
        self.builder.ret(self.builder.load(self.flag))


def addresses() -> dict[str, int]:
    """Return the symbols that every program needs."""
    return {NDARRAY_TYPE: id(np.ndarray)}
