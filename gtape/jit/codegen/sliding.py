"""Windows that slide over the middle axes of a tensor, as LLVM integers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from llvmlite import ir

from gtape.jit.codegen.index import I64, Int, add, as_value, mul, sub
from gtape.jit.codegen.loops import loop, loops

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region


class Window(NamedTuple):
    """One window.

    Args:
        image: Its place on the first axis.
        starts: Where it begins on each axis, perhaps in the padding.
    """

    image: Int
    starts: tuple[Int, ...]


class Sliding:
    """Windows on x: [n, *sizes, channels]; with them goes y: [n, *counts, features].

    Args:
        region: Where they are used.
        b: Where to emit what all windows share.
        windows: The attribute of the operation.
        x: The tensor below the windows.
        y: The tensor with a row for each window.
    """

    def __init__(
        self, region: Region, b: ir.IRBuilder, windows: Any, x: Any, y: Any
    ) -> None:
        def lengths(dims: Sequence[Any]) -> list[Int]:
            return [region.sizes.of(b, dim) for dim in dims]

        self.size = lengths(windows.size)
        self.strides = lengths(windows.strides)
        self.dilations = lengths(windows.dilations)
        self._low = lengths([low for low, _ in windows.padding])
        self._high = lengths([high for _, high in windows.padding])
        self.sizes = lengths(x.shape[1:-1])
        self.counts = lengths(y.shape[1:-1])
        self.channels = region.sizes.of(b, x.shape[-1])
        self.features = region.sizes.of(b, y.shape[-1])
        self.rows = region.sizes.product(b, y.shape[:-1])
        self.places: Int = 1
        for size in self.size:
            self.places = mul(b, self.places, size)

    def padded(self, axis: int) -> bool:
        """Return whether windows may lie in the padding of an axis."""
        low, high = self._low[axis], self._high[axis]
        return not (isinstance(low, int) and isinstance(high, int) and low == high == 0)

    @property
    def is_plain(self) -> bool:
        """Whether each element is a window."""
        ones = (*self.size, *self.strides)
        if any(self.padded(axis) for axis in range(len(self.size))):
            return False
        return all(isinstance(n, int) and n == 1 for n in ones)

    def window(self, b: ir.IRBuilder, row: Int) -> Window:
        """Return a window by its number."""
        starts: list[Int] = []
        parts = zip(self.counts, self.strides, self._low, strict=True)
        for count, stride, low in reversed(list(parts)):
            row, place = divided(b, row, count)
            starts.append(sub(b, mul(b, place, stride), low))
        return Window(row, tuple(reversed(starts)))

    def is_whole(self, b: ir.IRBuilder, window: Window) -> ir.Value | None:
        """Return whether no place of a window is padding; `None` for surely."""
        whole = None
        for axis, start in enumerate(window.starts):
            if not self.padded(axis):
                continue
            reach = mul(b, sub(b, self.size[axis], 1), self.dilations[axis])
            end = as_value(add(b, start, reach))
            before = b.icmp_signed(">=", as_value(start), I64(0))
            behind = b.icmp_signed("<", end, as_value(self.sizes[axis]))
            inside = b.and_(before, behind)
            whole = inside if whole is None else b.and_(whole, inside)
        return whole

    def held(self, b: ir.IRBuilder, window: Window) -> list[tuple[Int, Int]]:
        """Return for each axis the first place that is no padding, and their number."""
        found: list[tuple[Int, Int]] = []
        for axis, start in enumerate(window.starts):
            size, step = self.size[axis], self.dilations[axis]
            if not self.padded(axis):
                found.append((0, size))
                continue
            before = sub(b, 0, start)
            behind = sub(b, self.sizes[axis], start)
            if not (isinstance(step, int) and step == 1):
                # Both are rounded up; a division that cuts off does it for what is
                # below zero too, which is no place anyway.
                over = sub(b, step, 1)
                before, behind = [
                    b.sdiv(as_value(add(b, n, over)), as_value(step))
                    for n in (before, behind)
                ]
            first = bounded(b, before, 0, size)
            found.append((first, sub(b, bounded(b, behind, first, size), first)))
        return found

    def offset(self, b: ir.IRBuilder, window: Window, places: Sequence[Int]) -> Int:
        """Return where in x the channels at a place of a window begin."""
        total = window.image
        for axis, place in enumerate(places):
            at = add(b, window.starts[axis], mul(b, place, self.dilations[axis]))
            total = add(b, mul(b, total, self.sizes[axis]), at)
        return mul(b, total, self.channels)

    def place(self, b: ir.IRBuilder, places: Sequence[Int]) -> Int:
        """Return the number of a place in the window."""
        total: Int = 0
        for place, size in zip(places, self.size, strict=True):
            total = add(b, mul(b, total, size), place)
        return total

    @contextlib.contextmanager
    def each_place(
        self, b: ir.IRBuilder, window: Window, held: Sequence[tuple[Int, Int]]
    ) -> Iterator[tuple[Int, Int]]:
        """Emit a loop over the places of a window that are no padding.

        Args:
            b: Where to.
            window: The window.
            held: What `held` returns.

        Yields:
            The number of the place, and where its channels begin in x.
        """
        with loops(b, [count for _, count in held]) as trips:
            places = [add(b, h[0], t) for t, h in zip(trips, held, strict=True)]
            yield self.place(b, places), self.offset(b, window, places)

    @contextlib.contextmanager
    def each_window(
        self, b: ir.IRBuilder, backward: bool = False
    ) -> Iterator[tuple[Int, Window]]:
        """Emit a loop over all windows.

        Args:
            b: Where to.
            backward: Whether the last window comes first.

        Yields:
            The number of the window, and the window.
        """
        with loop(b, self.rows) as trip:
            row = sub(b, sub(b, self.rows, 1), trip) if backward else trip
            yield row, self.window(b, row)


def divided(b: ir.IRBuilder, x: Int, y: Int) -> tuple[Int, Int]:
    """Return the quotient and the rest of numbers that are not negative."""
    if isinstance(y, int) and y == 1:
        return x, 0
    if isinstance(x, int) and isinstance(y, int) and y:
        return divmod(x, y)
    x, y = as_value(x), as_value(y)
    quotient = b.udiv(x, y)
    return quotient, b.sub(x, b.mul(quotient, y))


def bounded(b: ir.IRBuilder, x: Int, low: Int, high: Int) -> Int:
    """Return a number, or the end of the range that is next to it."""
    if isinstance(x, int) and isinstance(low, int) and isinstance(high, int):
        return max(min(x, high), low)
    x, low, high = as_value(x), as_value(low), as_value(high)
    x = b.select(b.icmp_signed("<", x, high), x, high)
    return b.select(b.icmp_signed(">", x, low), x, low)


def zeroed(b: ir.IRBuilder, to: ir.Value, size: Int) -> None:
    """Emit that bytes become zero."""
    byte = ir.IntType(8)
    kinds = [byte.as_pointer(), I64]
    function = b.module.declare_intrinsic("llvm.memset", kinds)
    to = b.bitcast(to, byte.as_pointer())
    b.call(function, [to, byte(0), as_value(size), ir.IntType(1)(0)])
