"""What a NumPy index says: a basic key of ints and slices, then integer arrays.

A basic key can be an attribute of a primitive; the integer arrays become its operands.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape.errors import ArgumentTypeError, IndexRangeError, TracingError
from gtape.lowering import Custom
from gtape.ops.common import convert
from gtape.ops.creation import made
from gtape.ops.indices import OutsideError
from gtape.ops.known import (
    integers_of,
    known_array,
    once,
    open_size,
    traced_integer,
)
from gtape.ops.shaping import reshape
from gtape.ops.slicing import block
from gtape.primitive import Primitive
from gtape.sizes import Size, is_open, is_size
from gtape.spec import TensorSpec

Entry: TypeAlias = "int | tuple[int | None, int | None, int | None] | None"
Key: TypeAlias = "tuple[Entry, ...]"
"""An index that can be an attribute: ints, (start, stop, step), None for new axes."""

FULL = (None, None, None)

_INTS = (int, Size)


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
            else f"({self.start}) + i{self.out} * {self.step}"
        )

    def back(self, i: str) -> str:
        """The place in the selection for a place i of the axis."""
        return f"{self._away(i)} // {abs(self.step)}"

    def taken(self, i: str) -> str:
        """Whether the key takes a place i of the axis."""
        if self.out < 0:
            return f"{i} == ({self.start})"
        away, step = self._away(i), abs(self.step)
        whole = f"{away} % {step} == 0"
        return f"({away} >= 0 and ({whole} and {away} // {step} < ({self.size})))"

    def _away(self, i: str) -> str:
        return f"({i} - ({self.start}))" if self.step > 0 else f"(({self.start}) - {i})"


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
        elif not (is_open(size) or -size <= entry < size):
            raise OutsideError(name, len(axes), 0, entry, size, wrap=True)
        else:
            axes.append(Taken(entry + size if entry < 0 else entry, 1, 1, -1))
    return axes, tuple(out)


def _bounds(name: str, entry: tuple[Any, ...], size: int) -> tuple[int, int, int]:
    """Return the first place of a slice, the number of places, and the step."""
    if entry[2] == 0:
        raise IndexRangeError(f"{name}: a slice step is zero", "Use another step")
    if entry == FULL:
        return 0, size, 1
    if not any(map(is_size, (*entry, size))):
        start, stop, step = builtins.slice(*entry).indices(size)
        return start, len(range(start, stop, step)), step
    step = 1 if entry[2] is None else operator.index(entry[2])
    if any(map(is_open, (*entry[:2], size))):
        return 0, _open_count(entry[0], entry[1], step, size), step
    ends = (0, size) if step > 0 else (size - 1, -1)
    start, stop = [
        end if bound is None else _within(bound, min(ends), max(ends), size)
        for bound, end in zip(entry[:2], ends, strict=True)
    ]
    way = stop - start if step > 0 else start - stop
    return start, (way + abs(step) - 1) // abs(step) if way >= 0 else 0, step


def _open_count(start: Any, stop: Any, step: int, size: Any) -> Any:
    """Return the number of places of a slice with bounds that depend on data."""
    if step == 1 and start in (None, 0) and is_open(stop):
        return stop  # it lies in the axis
    if step == 1 and stop is None and is_open(start):
        return size - start
    return open_size()  # who knows, before it runs


def _within(bound: int, low: int, high: int, size: int) -> int:
    """Return a bound of a slice as a place from low to high."""
    place = bound + size if bound < 0 else bound
    return low if place < low else high if place > high else place


# --- From a NumPy index to keys and integer arrays ------------------------------------


def basic_key(key: Any) -> Key | None:
    """Return a key made of ints and slices of ints: the common case, quickly."""
    kind = type(key)
    if kind in _INTS:
        return (key,)
    out = []
    for entry in key if kind is tuple else (key,):
        kind = type(entry)
        if kind is builtins.slice:
            bounds = (entry.start, entry.stop, entry.step)
            for bound in bounds:
                if bound is not None and type(bound) not in _INTS:
                    return None
            out.append(bounds)
        elif kind in _INTS or entry is None:
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
        if mixed and (type(entry) in _INTS or _is_array(entry)):
            # Beside integer arrays a plain integer broadcasts with them.
            axes.append(rank)
            arrays.append(_array_of(name, entry, axis, shape[axis]))
            sources.append(axis)
            places.append(place)
            entry = FULL
        if type(entry) is tuple and any(type(bound) is _Late for bound in entry):
            entry = tuple([_placed(bound, shape[axis]) for bound in entry])
        basic.append(entry)
        axis += entry is not None
        rank += type(entry) not in _INTS
    if all(e == FULL for e in basic) and arrays:
        basic = []  # the whole tensor
    adjacent = not places or places[-1] - places[0] == len(places) - 1
    return Plan(
        tuple(basic), rank, tuple(axes), tuple(arrays), tuple(sources), adjacent
    )


def _is_array(entry: Any) -> bool:
    known = (*_INTS, tuple)
    return not (entry is None or entry is Ellipsis or type(entry) in known)


def _array_of(name: str, entry: Any, axis: int, size: Any) -> Any:
    """Return an entry that stands beside integer arrays as one of them."""
    if type(entry) in _INTS:
        if not (is_open(size) or -size <= entry < size):
            raise OutsideError(name, axis, 0, entry, size, wrap=True)
        return np.intp(entry) if type(entry) is int else entry
    if not isinstance(entry, _Mask):
        return entry
    if entry.size != size:
        raise IndexRangeError(
            f"{name}: a mask of size {entry.size} for axis {axis} of size {size}",
            "Give the mask the sizes of the axes it selects from",
        )
    return entry.places


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
    if item is None or item is Ellipsis or type(item) in _INTS:
        return [item]
    if isinstance(item, builtins.slice):
        step = None if item.step is None else _integer(name, item.step)
        return [(_bound(name, item.start), _bound(name, item.stop), step)]
    if isinstance(item, np.integer):
        return [int(item)]
    if isinstance(item, (bool, np.bool_, float, complex, str, bytes, dict, set)):
        raise ArgumentTypeError(
            f"{name}: {item!r} of type {type(item).__name__} is not an index",
            "Use integers, slices, ..., None, integer arrays or bool masks",
        )
    value = convert(item)
    if isinstance(item, (list, tuple)) and 0 in value.shape:
        return [made(np.zeros(value.shape, np.intp))]  # an empty list has no kind
    if value.dtype.kind == "b":
        if value.ndim == 0:
            raise ArgumentTypeError(
                f"{name}: a scalar bool is not an index", "Use gt.where"
            )
        pairs = zip(_places_of(value), value.shape, strict=True)
        return [_Mask(places, size) for places, size in pairs]
    if value.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"{name}: a tensor of {value.dtype} is not an index",
            "Cast it to an integer",
        )
    array = None if value.ndim else known_array(value)
    return [value] if array is None else [int(array)]


def _bound(name: str, value: Any) -> Any:
    value = integers_of(value)
    if value is None or is_size(value):
        return value
    late = traced_integer(value)
    if late is not None and late.ndim == 0:
        return _Late(late)
    return _integer(name, value)


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TracingError as error:
        raise error.reworded(f"{name}: {error.what}") from None
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: {value!r} is not a bound of a slice", "Use integers"
        ) from None


argwhere = Primitive(
    "argwhere",
    forward=lambda x: np.argwhere(x).astype(np.int64, copy=False),
    spec=lambda x: TensorSpec((open_size(), x.rank), "int64"),
    vjp=None,
    lowering=Custom("argwhere"),
    why="its result is positions, which are integers",
)


class _Late(NamedTuple):
    """A bound of a slice that is known only at run time, an integer scalar."""

    value: Any


def _bound_forward(n: Any, *, size: int) -> Any:
    return np.arange(min(max(n + size if n < 0 else n, 0), size))


_bound_in_axis = Primitive(
    "bound_in_axis",
    forward=_bound_forward,
    spec=lambda n, *, size: TensorSpec((open_size(),), "int64"),
    vjp=None,
    lowering=Custom("bound_in_axis"),
    why="it counts",
)


def _placed(bound: Any, size: Any) -> Any:
    """Return a bound as a place in an axis: a late one as a size of the trace."""
    if type(bound) is not _Late:
        return bound
    # A vector of that length, so that the trace has a size for it.
    return once(_bound_in_axis, bound.value, size=size).shape[0]


class _Mask(NamedTuple):
    """The places of a bool mask on one axis, and the size the mask has there."""

    places: Any
    size: Any


def _places_of(mask: Any) -> list[Any]:
    """Return the places where a mask is true, as an array for each of its axes."""
    array = known_array(mask)
    if array is not None:
        return [made(places) for places in np.nonzero(array)]
    rows = once(argwhere, mask)
    count = rows.shape[0]
    return [reshape(block(rows, 1, axis, 1), [count]) for axis in range(mask.ndim)]
