"""The maximum and the mean of each window, and their transposes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import as_dtype, as_numpy_dtype
from gtape.jit.codegen.body import Scalar, cast, constant, load, store
from gtape.jit.codegen.index import I64, Int, NotCompiledError, add, as_value, mul, sub
from gtape.jit.codegen.loops import loop
from gtape.jit.codegen.python import emitted
from gtape.jit.codegen.scalars import is_half
from gtape.jit.codegen.sliding import Sliding, Window, divided, zeroed
from gtape.jit.graph.ir import Op
from gtape.scalar import Tree, parse

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT64, _FLOAT64 = as_numpy_dtype("int64"), as_numpy_dtype("float64")


class _Pool:
    """The code of an operation on windows.

    Args:
        region: Where it is computed.
        b: Where to emit.
        node: The operation.
        x: The tensor below the windows.
        y: A tensor with a row for each window.
    """

    def __init__(
        self, region: Region, b: ir.IRBuilder, node: Op, x: Any, y: Any
    ) -> None:
        self.region = region
        self.node = node
        [self.value] = node.outputs
        self.dtype = self.value.dtype
        self.slide = Sliding(region, b, node.attrs["windows"], x, y)
        self.to = region.place(b, self.value)
        # What a window gives is gathered apart from all tensors: a loop over memory
        # that may be that of its operands asks each time whether it is.
        self.row = region.code.frame.memory(b, self.dtype, self.slide.channels)

    def read(self, b: ir.IRBuilder, operand: int, place: Int) -> Scalar:
        """Return an element of an operand."""
        atom = self.node.inputs[operand]
        return load(b, b.gep(self.region.pointer(atom), [as_value(place)]), atom.dtype)

    def address(self, b: ir.IRBuilder, place: Int) -> ir.Value:
        """Return the address of an element of the result."""
        return b.gep(self.to, [as_value(place)])

    def clear(self, b: ir.IRBuilder) -> None:
        """Emit that the result becomes zero."""
        zeroed(b, self.to, self.region.bytes_of(b, self.value))

    @contextlib.contextmanager
    def each_element(
        self, b: ir.IRBuilder, window: Window, held: Sequence[tuple[Int, Int]]
    ) -> Iterator[tuple[Int, Int]]:
        """Emit a loop over what a window holds; give its place in x, and the channel.

        Args:
            b: Where to.
            window: The window.
            held: Its places that are no padding.
        """
        with (
            self.slide.each_place(b, window, held) as (_, x_row),
            loop(b, self.slide.channels) as c,
        ):
            yield add(b, x_row, c), c

    @contextlib.contextmanager
    def each_result(
        self, b: ir.IRBuilder, backward: bool = False
    ) -> Iterator[tuple[Window, Int, Int]]:
        """Emit a loop over windows and channels; give the place in y between them.

        Args:
            b: Where to.
            backward: Whether the last window comes first.
        """
        channels = self.slide.channels
        with (
            self.slide.each_window(b, backward) as (row, window),
            loop(b, channels) as c,
        ):
            yield window, add(b, mul(b, row, channels), c), c

    def compute(self, b: ir.IRBuilder, tree: Tree, **names: Scalar) -> Scalar:
        """Return the value of an expression, as an element of the result."""
        found = emitted(self.region.code.body, b, tree, names)
        return cast(b, found, self.dtype)

    def fold(
        self, b: ir.IRBuilder, window: Window, held: Any, start: Scalar, tree: Tree
    ) -> None:
        """Emit that the row becomes a fold of a window's elements.

        Args:
            b: Where to.
            window: The window.
            held: Its places that are no padding.
            start: What the fold begins with.
            tree: The expression of the fold, over acc and x.
        """
        with loop(b, self.slide.channels) as c:
            store(b, start, b.gep(self.row, [as_value(c)]), self.dtype)
        with self.each_element(b, window, held) as (x_at, c):
            address = b.gep(self.row, [as_value(c)])
            names = {"acc": load(b, address, self.dtype), "x": self.read(b, 0, x_at)}
            store(b, self.compute(b, tree, **names), address, self.dtype)

    def finish(self, b: ir.IRBuilder, place: Int) -> None:
        """Emit that the row goes to a place of the result."""
        size = mul(b, self.slide.channels, self.dtype.itemsize)
        to = self.address(b, place)
        self.region.code.frame.copy(b, to, self.row, as_value(size))

    def update(self, b: ir.IRBuilder, place: Int, tree: Tree, x: Scalar) -> None:
        """Emit that an element of the result becomes an expression of it and x."""
        address = self.address(b, place)
        acc = load(b, address, self.dtype)
        store(b, self.compute(b, tree, acc=acc, x=x), address, self.dtype)


def _refuse(node: Op, halves: bool) -> None:
    """Refuse complex numbers, and half precision where it is added up.

    Raises:
        NotCompiledError: If it is so.
    """
    for value in (*node.inputs, *node.outputs):
        if value.dtype.kind == "c" or (halves and is_half(value.dtype)):
            raise NotCompiledError(f"{node.primitive.name} is not compiled")


# --- Means ----------------------------------------------------------------------------


def _number(b: ir.IRBuilder, pool: _Pool, held: Any) -> Scalar:
    """Return how many elements a window holds, as the forward does: axis by axis."""
    total = constant(pool.dtype, 1)
    for _, count in reversed(held):
        part = cast(b, Scalar(_INT64, as_value(count)), pool.dtype)
        total = pool.compute(b, parse("x * y"), x=part, y=total)
    return total


def _mean(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the mean of each window."""
    _refuse(node, halves=True)
    pool = _Pool(region, b, node, node.inputs[0], node.outputs[0])
    slide = pool.slide
    with slide.each_window(b) as (row, window):
        held = slide.held(b, window)
        pool.fold(b, window, held, constant(pool.dtype, 0), parse("acc + x"))
        number = _number(b, pool, held)
        with loop(b, slide.channels) as c:
            total = load(b, b.gep(pool.row, [as_value(c)]), pool.dtype)
            mean = pool.compute(b, parse("x / y"), x=total, y=number)
            to = pool.address(b, add(b, mul(b, row, slide.channels), c))
            store(b, mean, to, pool.dtype)


def _mean_spread(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the transpose of the mean: windows give their elements equal parts."""
    _refuse(node, halves=True)
    pool = _Pool(region, b, node, node.outputs[0], node.inputs[0])
    slide, dtype = pool.slide, pool.dtype
    pool.clear(b)
    # Backward, each element gets its parts in the order of the forward.
    with slide.each_window(b, backward=True) as (row, window):
        held = slide.held(b, window)
        number = _number(b, pool, held)
        with loop(b, slide.channels) as c:
            g = pool.read(b, 0, add(b, mul(b, row, slide.channels), c))
            part = pool.compute(b, parse("x / y"), x=g, y=number)
            store(b, part, b.gep(pool.row, [as_value(c)]), dtype)
        with pool.each_element(b, window, held) as (x_at, c):
            part = load(b, b.gep(pool.row, [as_value(c)]), dtype)
            pool.update(b, x_at, parse("acc + x"), part)


# --- Maxima ---------------------------------------------------------------------------


def _max(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the maximum of each window."""
    _refuse(node, halves=False)
    pool = _Pool(region, b, node, node.inputs[0], node.outputs[0])
    slide, dtype = pool.slide, pool.dtype
    lowest = as_dtype(dtype).min if dtype.kind in "iu" else float("-inf")
    with slide.each_window(b) as (row, window):
        held = slide.held(b, window)
        tree = parse("maximum(acc, x)")
        pool.fold(b, window, held, constant(dtype, lowest), tree)
        pool.finish(b, mul(b, row, slide.channels))


def _max_place(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the first place of each window that is not below the maximum.

    If all are, which a maximum of something else may have, it is the last one.
    """
    _refuse(node, halves=False)
    pool = _Pool(region, b, node, node.inputs[0], node.inputs[1])
    slide, dtype = pool.slide, pool.dtype
    last = Scalar(_INT64, as_value(sub(b, slide.places, 1)))
    # As floats, which LLVM does not take for a reduction over the places: it would
    # gather the elements of many windows for it.
    scores = region.code.frame.memory(b, _FLOAT64, slide.channels)
    tree = parse("minimum(acc, last if x < y else k)")
    with slide.each_window(b) as (row, window):
        held = slide.held(b, window)
        to = mul(b, row, slide.channels)
        with loop(b, slide.channels) as c:
            store(b, last, b.gep(scores, [as_value(c)]), _FLOAT64)
        with slide.each_place(b, window, held) as (place, x_row):
            names = {"last": cast(b, last, _FLOAT64)}
            names["k"] = cast(b, Scalar(_INT64, as_value(place)), _FLOAT64)
            with loop(b, slide.channels) as c:
                names["x"] = pool.read(b, 0, add(b, x_row, c))
                names["y"] = pool.read(b, 1, add(b, to, c))
                address = b.gep(scores, [as_value(c)])
                names["acc"] = load(b, address, _FLOAT64)
                found = emitted(region.code.body, b, tree, names)
                store(b, found, address, _FLOAT64)
        with loop(b, slide.channels) as c:
            found = load(b, b.gep(scores, [as_value(c)]), _FLOAT64)
            store(b, found, pool.address(b, add(b, to, c)), dtype)


def _found(
    b: ir.IRBuilder, pool: _Pool, window: Window, place: Scalar
) -> tuple[ir.Value, Int]:
    """Return whether a window has a place in x, and where its channels begin there."""
    slide = pool.slide
    number = cast(b, place, _INT64).value
    inside = b.icmp_unsigned("<", number, as_value(slide.places))
    places: list[Int] = []
    rest: Int = b.select(inside, number, I64(0))
    for size in reversed(slide.size[1:]):
        rest, digit = divided(b, rest, size)
        places.append(digit)
    places = [rest, *reversed(places)]
    for axis, digit in enumerate(places):
        if slide.padded(axis):
            step = mul(b, digit, slide.dilations[axis])
            at = as_value(add(b, window.starts[axis], step))
            within = b.icmp_unsigned("<", at, as_value(slide.sizes[axis]))
            inside = b.and_(inside, within)
    return inside, slide.offset(b, window, places)


def _max_pick(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the elements at a place of each window."""
    _refuse(node, halves=False)
    pool = _Pool(region, b, node, node.inputs[0], node.inputs[1])
    slide, dtype = pool.slide, pool.dtype
    pool.clear(b)
    with slide.each_window(b) as (row, window), loop(b, slide.channels) as c:
        at = add(b, mul(b, row, slide.channels), c)
        inside, x_row = _found(b, pool, window, pool.read(b, 1, at))
        with b.if_then(inside):
            x = pool.read(b, 0, add(b, x_row, c))
            store(b, x, pool.address(b, at), dtype)


def _max_spread(region: Region, b: ir.IRBuilder, node: Op) -> None:
    """Emit the transpose of the picking: each row goes to a place of its window."""
    _refuse(node, halves=True)
    pool = _Pool(region, b, node, node.outputs[0], node.inputs[0])
    if pool.dtype.kind == "b":
        raise NotCompiledError(f"{node.primitive.name} is not compiled")
    pool.clear(b)
    # Backward, each element gets its parts in the order of the forward.
    with pool.each_result(b, backward=True) as (window, at, c):
        inside, x_row = _found(b, pool, window, pool.read(b, 1, at))
        with b.if_then(inside):
            g = pool.read(b, 0, at)
            pool.update(b, add(b, x_row, c), parse("acc + x"), g)


POOLING = {
    "avg_pool": _mean,
    "avg_pool_spread": _mean_spread,
    "max_pool": _max,
    "max_pool_place": _max_place,
    "max_pool_pick": _max_pick,
    "max_pool_spread": _max_spread,
}
"""What emits the code of an operation, by the name in its lowering."""
