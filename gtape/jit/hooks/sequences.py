"""Sequences whose items are made from their position: what traced loops run over."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    RangeError,
    TracingError,
)
from gtape.jit.tracing.number import (
    INT64,
    TracedNumber,
    as_number,
    is_number,
    together,
    truncated,
)
from gtape.jit.tracing.symbol import Symbol
from gtape.ops import extrema, linear
from gtape.sizes import is_at_least, is_size, same_size
from gtape.variable import Variable

MOST = 2**63 - 1
"""The largest number of trips."""


class Traced(ABC):
    """A sequence in a trace.

    Args:
        length: The number of items: an int, a `Size` or a traced int.
    """

    def __init__(self, length: Any) -> None:
        self.length = length

    @property
    def is_static(self) -> bool:
        """Whether Python could run over it, too."""
        return type(self.length) is int

    @property
    def sources(self) -> frozenset[Any] | None:
        """What the number of a trip depends on."""
        return self.length.sources if type(self.length) is TracedNumber else frozenset()

    @abstractmethod
    def at(self, i: Any) -> Any:
        """Return the item at a position, an int or a traced int."""

    def iterate(self, start: int = 0) -> Iterator[Any]:
        """Return the items from a position on."""
        return (self.at(i) for i in range(start, self.length))

    def after(self, count: int) -> Traced:
        """Return the sequence without its first items."""
        return After(self, count) if count else self

    def __iter__(self) -> Iterator[Any]:
        if not self.is_static:
            raise TracingError(
                f"{self!r} has a number of items that is known only when the function "
                "runs",
                "Run over it in a for statement of code that gt.function converts",
            )
        return self.iterate()

    def __len__(self) -> int:
        return int(self.length)

    def __getitem__(self, i: Any) -> Any:
        return self.at(i)

    def __repr__(self) -> str:
        return f"a traced {type(self).__name__.lower()}"


class Range(Traced):
    """The numbers from start to stop.

    Args:
        start: The first, an int or a traced int.
        stop: What comes after the last.
        step: The distance.
    """

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        super().__init__(_count(start, stop, step))
        self._start = start
        self._step = step

    def at(self, i: Any) -> Any:
        """Return start + i * step."""
        offset = i if type(self._step) is int and self._step == 1 else i * self._step
        return (
            offset
            if type(self._start) is int and self._start == 0
            else (self._start + offset)
        )

    @property
    def sources(self) -> frozenset[Any] | None:
        """What the number of a trip depends on."""
        parts = [self.length, self._start, self._step]
        return together(*[as_number(p) for p in parts if type(p) is TracedNumber])


def _count(start: Any, stop: Any, step: Any) -> Any:
    """Return how many numbers a range has."""
    if all(type(p) is int for p in (start, stop, step)):
        count = max(0, -((start - stop) // step)) if step else 0
        if count > MOST:
            raise RangeError(
                f"range: {count} numbers are more than a traced loop can count",
                "Use a while statement",
            )
        return count
    if type(step) is not int:
        as_number(step).pin("the step of a range")
    if step == 0:
        raise ArgumentError("range: the step is zero", "Use another")
    span = stop - start if step > 0 else start - stop
    width = abs(step)
    count = span if width == 1 else (span + (width - 1)) // width
    if type(count) is int:
        return max(count, 0)
    if is_size(count):
        if is_at_least(count, 0):
            return count
        count = as_number(count)
    zero = as_number(0)
    raw = extrema.maximum(count.symbol, zero.symbol)
    return TracedNumber(int, raw, count.sources)


class Rows(Traced):
    """The rows of a tensor."""

    def __init__(self, tensor: Any) -> None:
        if tensor.ndim == 0:
            raise ArgumentTypeError(
                "a scalar tensor cannot be iterated over", "Use the tensor itself"
            )
        super().__init__(tensor.shape[0])
        self._tensor = tensor

    def at(self, i: Any) -> Any:
        """Return a row."""
        return self._tensor[i.symbol if type(i) is TracedNumber else i]


class After(Traced):
    """A sequence without its first items."""

    def __init__(self, items: Traced, count: int) -> None:
        super().__init__(items.length - count)
        self._items = items
        self._count = count

    def at(self, i: Any) -> Any:
        """Return an item, counted from the first one left."""
        return self._items.at(i + self._count)

    @property
    def sources(self) -> frozenset[Any] | None:
        """What the number of a trip depends on."""
        return self._items.sources


class Enumerate(Traced):
    """Pairs of a number and an item."""

    def __init__(self, items: Traced, start: Any) -> None:
        super().__init__(items.length)
        self._items = items
        self._start = start

    def at(self, i: Any) -> Any:
        """Return a number and an item."""
        number = i if type(self._start) is int and self._start == 0 else i + self._start
        return number, self._items.at(i)


class Zip(Traced):
    """Tuples of an item of each sequence, as many as the shortest has."""

    def __init__(self, parts: Sequence[Traced]) -> None:
        super().__init__(_shortest([p.length for p in parts]))
        self._parts = parts

    def at(self, i: Any) -> Any:
        """Return an item of each sequence."""
        return tuple([part.at(i) for part in self._parts])


class Reversed(Traced):
    """A sequence from its end."""

    def __init__(self, items: Traced) -> None:
        super().__init__(items.length)
        self._items = items

    def at(self, i: Any) -> Any:
        """Return an item, counted from the last one."""
        return self._items.at(self.length - 1 - i)


class Mapped(Traced):
    """What a function gives for the items of sequences."""

    def __init__(self, function: Callable[..., Any], parts: Traced) -> None:
        super().__init__(parts.length)
        self._function = function
        self._parts = parts

    def at(self, i: Any) -> Any:
        """Return the value of the function."""
        return self._function(*self._parts.at(i))


def _shortest(lengths: Sequence[Any]) -> Any:
    first = lengths[0]
    if all(type(n) is int for n in lengths):
        return min(lengths)
    if all(
        same_size(n, first) for n in lengths if type(n) is not TracedNumber
    ) and not any(type(n) is TracedNumber for n in lengths):
        return first
    numbers = [as_number(n) for n in lengths]
    out = numbers[0].symbol
    for number in numbers[1:]:
        out = extrema.minimum(out, number.symbol)
    return TracedNumber(int, out, together(*numbers))


def as_traced(iterable: Any) -> Traced | None:
    """Return what a traced loop can run over, `None` for Python's own iterables."""
    if isinstance(iterable, Traced):
        return iterable
    if type(iterable) is range:
        return Range(iterable.start, iterable.stop, iterable.step)
    if isinstance(iterable, (Symbol, EagerTensor, Variable)):
        # As it is now: what the loop assigns to its items is not run over.
        return Rows(dispatch.interpreter().convert(iterable).__copy__())
    return None


def traced_int(what: str, value: Any) -> Any:
    """Return an argument of `range` as an int or a traced int."""
    if is_number(value):
        return value
    if isinstance(value, (Symbol, EagerTensor, Variable)):
        symbol = dispatch.interpreter().convert(value)
        if symbol.ndim or symbol.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"{what}: a tensor of shape {tuple(symbol.shape)} and dtype "
                f"{symbol.dtype} is no integer",
                "Use an integer scalar",
            )
        return TracedNumber(int, linear.cast(symbol, INT64), None)
    return operator.index(value)


def ranged(*args: Any) -> Any:
    """Return what `range` returns, or a traced range."""
    numbers = [traced_int("range", a) for a in args]
    if all(type(n) is int for n in numbers):
        return range(*numbers)
    for number in numbers:
        if type(number) is TracedNumber and number.kind is float:
            raise ArgumentTypeError(
                "range: a float is no integer", "Use int(x), or an integer"
            )
    if len(numbers) == 1:
        return Range(0, numbers[0], 1)
    start, stop, *step = numbers
    return Range(start, stop, step[0] if step else 1)


__all__ = ["Traced", "as_traced", "ranged", "truncated"]
