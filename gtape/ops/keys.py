"""What a NumPy index says: a basic key of ints and slices, then integer arrays.

A basic key can be an attribute of a primitive; the integer arrays become its operands.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape.errors import ArgumentTypeError, IndexRangeError
from gtape.ops.common import convert
from gtape.ops.indices import OutsideError

Entry: TypeAlias = "int | tuple[int | None, int | None, int | None] | None"
Key: TypeAlias = "tuple[Entry, ...]"
"""An index that can be an attribute: ints, (start, stop, step), None for new axes."""

FULL = (None, None, None)


# --- Basic keys -----------------------------------------------------------------------


def native(key: Key) -> tuple[Any, ...]:
    """Return the key as NumPy takes it."""
    return tuple([builtins.slice(*e) if type(e) is tuple else e for e in key])


class Taken(NamedTuple):
    """What a key takes from one axis of a tensor."""

    start: int
    size: Any
    step: int
    out: int  # the axis of the selection, or -1 where an integer drops it

    def read(self) -> str:
        """The place that an element of the selection comes from."""
        return (
            str(self.start)
            if self.out < 0
            else f"{self.start} + i{self.out} * {self.step}"
        )

    def back(self, i: str) -> str:
        """The place in the selection for a place i of the axis."""
        return f"{self._away(i)} // {abs(self.step)}"

    def taken(self, i: str) -> str:
        """Whether the key takes a place i of the axis."""
        if self.out < 0:
            return f"{i} == {self.start}"
        away, step = self._away(i), abs(self.step)
        whole = f"{away} % {step} == 0"
        return f"({away} >= 0 and ({whole} and {away} // {step} < {self.size}))"

    def _away(self, i: str) -> str:
        return f"({i} - {self.start})" if self.step > 0 else f"({self.start} - {i})"


def extents(
    name: str, key: Key, shape: Sequence[Any]
) -> tuple[list[Taken], tuple[Any, ...]]:
    """Return what a key takes from each axis, and the shape of the selection.

    Raises:
        IndexRangeError: If it does not fit the shape, naming axis, value and size.
    """
    used = sum([e is not None for e in key])
    if used > len(shape):
        raise IndexRangeError(
            f"{name}: {used} indices for a tensor of rank {len(shape)}", "Use fewer"
        )
    axes: list[Taken] = []
    out: list[Any] = []
    for entry in (*key, *[FULL] * (len(shape) - used)):
        if entry is None:
            out.append(1)
            continue
        size = tuple(shape)[len(axes)]
        if isinstance(entry, tuple):
            start, count, step = (0, None, 1)
            if size is not None or entry != FULL:
                start, count, step = _bounds(name, entry, size)
            axes.append(Taken(start, count, step, len(out)))
            out.append(count)
        elif not -size <= entry < size:
            raise OutsideError(name, len(axes), 0, entry, size, wrap=True)
        else:
            axes.append(Taken(entry % size, 1, 1, -1))
    return axes, tuple(out)


def _bounds(name: str, entry: tuple[Any, ...], size: int) -> tuple[int, int, int]:
    if entry[2] == 0:
        raise IndexRangeError(f"{name}: a slice step is zero", "Use another step")
    start, stop, step = builtins.slice(*entry).indices(size)
    return start, len(range(start, stop, step)), step


# --- From a NumPy index to keys and integer arrays ------------------------------------


def basic_key(key: Any) -> Key | None:
    """Return a key made of ints and slices of ints: the common case, quickly."""
    kind = type(key)
    if kind is int:
        return (key,)
    out = []
    for entry in key if kind is tuple else (key,):
        kind = type(entry)
        if kind is builtins.slice:
            bounds = (entry.start, entry.stop, entry.step)
            for bound in bounds:
                if bound is not None and type(bound) is not int:
                    return None
            out.append(bounds)
        elif kind is int or entry is None:
            out.append(entry)
        else:
            return None
    return tuple(out)


class Plan(NamedTuple):
    """An index, taken apart: a basic key, then integer arrays."""

    key: Key
    rank: int  # of what the key selects
    axes: tuple[int, ...]  # where in that the integer arrays stand
    arrays: tuple[Any, ...]
    sources: tuple[int, ...]  # the axis of the tensor that each of them indexes
    adjacent: bool  # whether they stand side by side; if not, their axes come first

    @property
    def order(self) -> list[int]:
        """The axes of what the key selects, with those of the arrays first."""
        return [*self.axes, *[i for i in range(self.rank) if i not in self.axes]]


def take_apart(name: str, key: Any, shape: Sequence[Any]) -> Plan:
    """Return what an index of a tensor of a shape says."""
    entries = _entries(name, key, len(shape))
    mixed = any(_is_array(e) for e in entries)
    basic: list[Entry] = []
    axes, arrays, sources, places = [], [], [], []
    axis = rank = 0
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            continue
        if mixed and (type(entry) is int or _is_array(entry)):
            # Beside integer arrays a plain integer broadcasts with them.
            if isinstance(entry, _Mask):
                entry.check(name, axis, shape[axis])
            if type(entry) is int and not -shape[axis] <= entry < shape[axis]:
                raise OutsideError(name, axis, 0, entry, shape[axis], wrap=True)
            axes.append(rank)
            arrays.append(np.intp(entry) if type(entry) is int else entry)
            sources.append(axis)
            places.append(place)
            entry = FULL
        basic.append(entry)
        axis += entry is not None
        rank += type(entry) is not int
    if all(e == FULL for e in basic) and arrays:
        basic = []  # the whole tensor
    adjacent = not places or places[-1] - places[0] == len(places) - 1
    return Plan(
        tuple(basic), rank, tuple(axes), tuple(arrays), tuple(sources), adjacent
    )


def _is_array(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or type(entry) in (int, tuple))


def _entries(name: str, key: Any, rank: int) -> list[Any]:
    """Return an entry for each axis, what an ellipsis stands for after the ellipsis.

    Even one that stands for nothing keeps integer arrays apart.
    """
    out: list[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        out += _normalize(name, item)
    used = sum([e is not None and e is not Ellipsis for e in out])
    dots = [i for i, e in enumerate(out) if e is Ellipsis]
    if len(dots) > 1:
        raise IndexRangeError(
            f"{name}: more than one ellipsis in the index", "Keep one"
        )
    if used > rank:
        raise IndexRangeError(
            f"{name}: {used} indices for a tensor of rank {rank}", "Use fewer"
        )
    place = dots[0] + 1 if dots else len(out)
    return out[:place] + [FULL] * (rank - used) + out[place:]


def _normalize(name: str, item: Any) -> list[Any]:
    """Return an entry as ints, slice triples, None, Ellipsis or integer arrays."""
    if item is None or item is Ellipsis or type(item) is int:
        return [item]
    if isinstance(item, builtins.slice):
        return [tuple([_bound(name, i) for i in (item.start, item.stop, item.step)])]
    if isinstance(item, np.integer):
        return [int(item)]
    if isinstance(item, (bool, np.bool_, float, complex, str, bytes, dict, set)):
        raise ArgumentTypeError(
            f"{name}: {item!r} of type {type(item).__name__} is not an index",
            "Use integers, slices, ..., None, integer arrays or bool masks",
        )
    value = convert(item)
    array: Any = getattr(value, "_array", value)
    if isinstance(item, (list, tuple)) and 0 in value.shape:
        return [np.zeros(value.shape, np.intp)]  # an empty list has no kind
    if value.dtype.kind == "b":
        if value.ndim == 0:
            raise ArgumentTypeError(
                f"{name}: a scalar bool is not an index", "Use gt.where"
            )
        return [
            _Mask.of(n, d) for n, d in zip(np.nonzero(array), array.shape, strict=True)
        ]
    if value.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"{name}: a tensor of {value.dtype} is not an index",
            "Cast it to an integer",
        )
    known = isinstance(array, (np.generic, np.ndarray))
    return [int(array)] if known and not value.ndim else [value]


def _bound(name: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: {value!r} is not a bound of a slice", "Use integers"
        ) from None


class _Mask(np.ndarray):  # type: ignore[type-arg,unused-ignore]
    """The places of a bool mask on one axis, with the size the mask had there."""

    size_of_mask: int

    @classmethod
    def of(cls, places: Any, size: int) -> _Mask:
        out: _Mask = places.view(cls)
        out.size_of_mask = size
        return out

    def check(self, name: str, axis: int, size: int) -> None:
        if self.size_of_mask != size:
            raise IndexRangeError(
                f"{name}: a mask of size {self.size_of_mask} for axis {axis} of size "
                f"{size}",
                "Give the mask the sizes of the axes it selects from",
            )
