"""Sorting, and the greatest elements.

An element becomes an unsigned integer of the same order, in whose lower half its place
stands where places are wanted: no two such numbers are equal, so that every way to sort
them is stable. Few are sorted by insertion, many byte by byte from the lowest on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.jit.codegen.axes import Along, Emitter, Span, along, over_rows
from gtape.jit.codegen.body import Scalar, load, store
from gtape.jit.codegen.frame import NO_MEMORY, POINTER
from gtape.jit.codegen.index import I64, Int, add, as_value, mul
from gtape.jit.codegen.loops import local, loop
from gtape.jit.codegen.scalars import bits_of, of_bits, register_type
from gtape.jit.graph.ir import Op

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

I8 = ir.IntType(8)
_INT32, _INT64 = as_numpy_dtype("int32"), as_numpy_dtype("int64")
_FEW = 32  # so many are sorted by insertion
_STACK = 4096  # bytes that a row may take there
_BYTES = 256  # different ones

# --- Numbers of the order of elements -------------------------------------------------


def key_of(b: ir.IRBuilder, x: Scalar, distinct: bool) -> ir.Value:
    """Return an unsigned integer of the order of a value, NaN last.

    Args:
        b: Where to.
        x: The value.
        distinct: Whether -0.0 comes before 0.0; else they are equal.
    """
    dtype, value = x.dtype, x.value
    if dtype.kind == "b":
        return b.zext(value, I8)
    kind = ir.IntType(8 * dtype.itemsize)
    sign = kind(1 << (kind.width - 1))
    if dtype.kind in "iu":
        return b.xor(value, sign) if dtype.kind == "i" else value
    if not distinct:
        value = b.fadd(value, value.type(0.0))  # makes -0.0 to 0.0
    bits = bits_of(b, value, dtype)
    # Those below zero grow downward, so all their bits are turned.
    turned = b.or_(b.ashr(bits, kind(kind.width - 1)), sign)
    nan = kind(_nan(dtype) ^ (1 << (kind.width - 1)))
    odd = b.fcmp_unordered("uno", value, value)
    return b.select(odd, nan, b.xor(bits, turned))


def _nan(dtype: NumpyDType) -> int:
    """Return the bits of a quiet NaN without a sign."""
    raw = np.array(np.nan, dtype).view(f"u{dtype.itemsize}")
    return int(raw) & ~(1 << (8 * dtype.itemsize - 1))


def _value(b: ir.IRBuilder, key: ir.Value, dtype: NumpyDType) -> Scalar:
    """Return the value of a key."""
    if dtype.kind == "b":
        return Scalar(dtype, b.trunc(key, register_type(dtype)))
    sign = key.type(1 << (key.type.width - 1))
    if dtype.kind in "iu":
        return Scalar(dtype, b.xor(key, sign) if dtype.kind == "i" else key)
    turned = b.or_(b.not_(b.ashr(key, key.type(key.type.width - 1))), sign)
    return Scalar(dtype, of_bits(b, b.xor(key, turned), dtype))


class _Coder:
    """Makes elements to numbers to sort, and back.

    Args:
        dtype: The dtype of the elements.
        placed: Whether the numbers hold the places of the elements.
        descending: Whether the greatest comes first.
    """

    def __init__(self, dtype: NumpyDType, placed: bool, descending: bool) -> None:
        self._dtype, self._placed, self._descending = dtype, placed, descending
        width = 8 * dtype.itemsize
        self.low = max(width, 32) if placed else 0  # bits of the place
        self.kind = ir.IntType(2 * self.low if placed else width)
        self.digits = dtype.itemsize  # bytes above the place that tell the order

    def encode(self, b: ir.IRBuilder, x: Scalar, i: Int) -> ir.Value:
        """Return the number of an element at a place."""
        key = key_of(b, x, not self._placed)
        if self._descending:
            key = b.not_(key)
        if not self._placed:
            return key
        key = b.shl(b.zext(key, self.kind), self.kind(self.low))
        place: Any = self.kind(i) if isinstance(i, int) else i
        if place.type.width < self.kind.width:
            place = b.zext(place, self.kind)
        return b.or_(key, place)

    def decode(self, b: ir.IRBuilder, number: ir.Value) -> Scalar:
        """Return the place in a number as an integer, or the element."""
        if self._placed:
            dtype = _INT32 if self.low == 32 else _INT64
            return Scalar(dtype, b.trunc(number, register_type(dtype)))
        key = b.not_(number) if self._descending else number
        return _value(b, key, self._dtype)


# --- Sorting unsigned integers --------------------------------------------------------


@contextlib.contextmanager
def endless(b: ir.IRBuilder) -> Iterator[ir.Block]:
    """Emit a loop without an end of its own; branch to what is yielded to leave it."""
    head, after = b.append_basic_block(), b.append_basic_block()
    b.branch(head)
    b.position_at_end(head)
    yield after
    b.branch(head)
    b.position_at_end(after)


def leave(b: ir.IRBuilder, done: ir.Value, after: ir.Block) -> None:
    """Emit that a loop is left where a bool says so."""
    inside = b.append_basic_block()
    b.cbranch(done, after, inside)
    b.position_at_end(inside)


def _insert(b: ir.IRBuilder, numbers: ir.Value, x: ir.Value, place: Int) -> None:
    """Emit that a number is put in order among the sorted ones before a place."""
    slot = local(b, I64)
    b.store(as_value(place), slot)
    with endless(b) as after:
        j = b.load(slot)
        leave(b, b.icmp_signed("<=", j, I64(0)), after)
        before = b.load(b.gep(numbers, [b.sub(j, I64(1))]))
        leave(b, b.icmp_unsigned("<=", before, x), after)
        b.store(before, b.gep(numbers, [j]))
        b.store(b.sub(j, I64(1)), slot)
    b.store(x, b.gep(numbers, [b.load(slot)]))


def _sorter(region: Region, coder: _Coder) -> ir.Function:
    """Return the function that sorts: (numbers, as much memory, count) -> nothing."""
    module = region.code.frame.module
    first = coder.low // 8
    name = f"gtape_sort_{coder.kind.width}_{first}_{coder.digits}"
    found = module.globals.get(name)
    if found is not None:
        return found
    pointer = coder.kind.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, I64])
    function = ir.Function(module, kind, name=name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    numbers, other, count = function.args
    for parameter in (numbers, other):
        parameter.add_attribute("noalias")
    b = ir.IRBuilder(function.append_basic_block())
    few = b.icmp_signed("<=", count, I64(_FEW))
    with b.if_else(few) as (yes, no):
        with yes, loop(b, b.sub(count, I64(1))) as k:
            i = b.add(as_value(k), I64(1))
            _insert(b, numbers, b.load(b.gep(numbers, [i])), i)
        with no:
            _by_bytes(region, b, (numbers, other, count), first, coder.digits)
    b.ret_void()
    return function


def _by_bytes(
    region: Region, b: ir.IRBuilder, given: Any, first: int, digits: int
) -> None:
    """Emit the sorting of many numbers, by some of their bytes."""
    numbers, other, count = given
    size = numbers.type.pointee.width // 8

    def byte(numbers: ir.Value, i: Int, place: Int) -> ir.Value:
        raw = b.bitcast(numbers, POINTER)  # the lowest byte comes first
        return b.zext(
            b.load(b.gep(raw, [as_value(add(b, mul(b, i, size), place))])), I64
        )

    counts = local(b, I64, digits * _BYTES)
    with loop(b, digits * _BYTES) as k:
        b.store(I64(0), b.gep(counts, [as_value(k)]))
    with loop(b, count) as i:
        for digit in range(digits):
            slot = byte(numbers, i, first + digit)
            at = b.gep(counts, [b.add(slot, I64(digit * _BYTES))])
            b.store(b.add(b.load(at), I64(1)), at)
    source, target = local(b, numbers.type), local(b, numbers.type)
    b.store(numbers, source)
    b.store(other, target)
    with loop(b, digits) as digit:
        row = b.gep(counts, [as_value(mul(b, digit, _BYTES))])
        place = add(b, digit, first)
        x, y = b.load(source), b.load(target)
        same = b.load(b.gep(row, [byte(x, 0, place)]))
        with b.if_then(b.icmp_signed("<", same, count)):  # else all have one byte
            _distribute(b, x, y, count, row, lambda i: byte(x, i, place))
            b.store(y, source)
            b.store(x, target)
    last = b.load(source)
    with b.if_then(b.icmp_unsigned("!=", last, numbers)):
        region.code.frame.copy(b, numbers, last, b.mul(count, I64(size)))


def _distribute(
    b: ir.IRBuilder, x: ir.Value, y: ir.Value, count: ir.Value, row: ir.Value, byte: Any
) -> None:
    """Emit that numbers go to where the counts of a byte say, in their order."""
    total = local(b, I64)
    b.store(I64(0), total)
    with loop(b, _BYTES) as k:
        at, before = b.gep(row, [as_value(k)]), b.load(total)
        b.store(b.add(before, b.load(at)), total)
        b.store(before, at)
    with loop(b, count) as i:
        at = b.gep(row, [byte(i)])
        to = b.load(at)
        b.store(b.add(to, I64(1)), at)
        b.store(b.load(b.gep(x, [as_value(i)])), b.gep(y, [to]))


# --- Sort -----------------------------------------------------------------------------


@contextlib.contextmanager
def _scratch(
    region: Region, b: ir.IRBuilder, span: Span, coder: _Coder, size: Int
) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Give a thread memory for the numbers of a row, twice."""
    width = coder.kind.width // 8
    if isinstance(size, int) and size * width <= _STACK:
        yield local(b, coder.kind, max(size, 1)), local(b, coder.kind, max(size, 1))
        return
    frame = region.code.frame
    need = b.mul(as_value(size), I64(2 * width))
    need = b.and_(b.add(need, I64(127)), I64(-64))
    memory = b.call(
        frame.library("aligned_alloc", POINTER, [I64, I64]), [I64(64), need]
    )
    none = b.icmp_unsigned("==", memory, POINTER(None))
    with b.if_then(none, likely=False):
        b.store(I64(NO_MEMORY), span.flag)
        b.ret_void()
    numbers = b.bitcast(memory, coder.kind.as_pointer())
    yield numbers, b.gep(numbers, [as_value(size)])
    b.call(frame.library("free", ir.VoidType(), [POINTER]), [memory])


def _sorted(
    region: Region, b: ir.IRBuilder, node: Op, coder: _Coder, shape: Along, kept: Int
) -> None:
    """Emit that a tensor is sorted along an axis, and what of it is kept."""
    [atom], [value] = node.inputs, node.outputs
    pointers = [region.pointer(atom), region.place(b, value)]
    sorter = _sorter(region, coder)

    def emit(b: ir.IRBuilder, span: Span) -> None:
        size, step, kept = span.lengths
        with (
            _scratch(region, b, span, coder, size) as (numbers, other),
            span.rows(b) as row,
        ):
            outer, column = row, as_value(0)
            if not (isinstance(step, int) and step == 1):
                outer = b.sdiv(row, as_value(step))
                column = b.srem(row, as_value(step))

            def at(place: int, i: Int, length: Int) -> ir.Value:
                line = add(b, mul(b, outer, length), i)
                return span.at(b, place, add(b, mul(b, line, step), column))

            with loop(b, size) as i:
                x = load(b, at(0, i, size), atom.dtype)
                b.store(coder.encode(b, x, i), b.gep(numbers, [as_value(i)]))
            b.call(sorter, [numbers, other, as_value(size)])
            with loop(b, kept) as i:
                found = b.load(b.gep(numbers, [as_value(i)]))
                store(b, coder.decode(b, found), at(1, i, kept), value.dtype)

    rows = mul(b, shape.before, shape.after)
    rows = _enough(region, b, rows, kept, shape.size)
    lengths = [shape.size, shape.after, kept]
    over_rows(region, b, pointers, lengths, rows, shape.size, 20.0, emit)


def _enough(region: Region, b: ir.IRBuilder, rows: Int, kept: Int, size: Int) -> Int:
    """Return the number of rows, 0 where more is kept than there is: this fails."""
    if isinstance(kept, int) and isinstance(size, int) and kept <= size:
        return rows
    if kept is size:
        return rows
    bad = b.icmp_signed(">", as_value(kept), as_value(size))
    region.code.frame.fail(b, bad)
    return b.select(bad, I64(0), as_value(rows))


def _sort(placed: bool) -> Emitter:
    def emitter(region: Region, b: ir.IRBuilder, node: Op) -> None:
        [atom] = node.inputs
        # The order of segments is one of a vector, and has no attributes.
        coder = _Coder(atom.dtype, placed, node.attrs.get("descending", False))
        shape = along(region, b, atom.shape, node.attrs.get("axis", 0))
        _sorted(region, b, node, coder, shape, shape.size)

    return emitter


# --- The greatest ---------------------------------------------------------------------


def _greatest(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit a search for the k greatest: few are kept in order on the way."""
    [atom], [value] = node.inputs, node.outputs
    coder = _Coder(atom.dtype, True, True)
    shape = along(region, b, atom.shape, -1)
    kept = region.sizes.of(b, value.shape[-1])
    if not (isinstance(kept, int) and kept <= _FEW):
        _sorted(region, b, node, coder, shape, kept)
        return
    pointers = [region.pointer(atom), region.place(b, value)]

    def emit(b: ir.IRBuilder, span: Span) -> None:
        [size] = span.lengths
        numbers = local(b, coder.kind, max(kept, 1))
        with span.rows(b) as row:
            start = mul(b, row, size)
            with loop(b, kept) as k:  # behind all others
                b.store(coder.kind(-1), b.gep(numbers, [as_value(k)]))
            with loop(b, size if kept else 0) as i:
                x = load(b, span.at(b, 0, add(b, start, i)), atom.dtype)
                found = coder.encode(b, x, i)
                last = b.load(b.gep(numbers, [I64(kept - 1)]))
                with b.if_then(b.icmp_unsigned("<", found, last)):
                    _insert(b, numbers, found, kept - 1)
            with loop(b, kept) as k:
                found = coder.decode(b, b.load(b.gep(numbers, [as_value(k)])))
                to = span.at(b, 1, add(b, mul(b, row, kept), k))
                store(b, found, to, value.dtype)

    rows = _enough(region, b, shape.before, kept, shape.size)
    over_rows(region, b, pointers, [shape.size], rows, shape.size, 3.0, emit)


SORTING: dict[str, Emitter] = {
    "sort": _sort(False),
    "argsort": _sort(True),
    "top_k_indices": _greatest,
}
"""What emits the code of sorting, by the name in their lowering."""
