"""NumPy indexing, and functional assignment to indices, both with gradients.

Integers, slices and new axes are one primitive, `select`, and are written by another, `update`;
integer arrays and masks go on to `index` and `index_put`.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ArgumentTypeError, IndexRangeError, ShapeError
from gtape.lowering import Reindex, View
from gtape.ops.common import Tensor, TensorLike, convert, numpy_dtype_of
from gtape.ops.indices import OutsideError, assigned, index, index_put
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import transpose
from gtape.primitive import Primitive
from gtape.spec import TensorSpec, broadcast_shapes

Entry: TypeAlias = "int | tuple[int | None, int | None, int | None] | None"
Key: TypeAlias = "tuple[Entry, ...]"
"""A basic index that can be an attribute: ints, (start, stop, step), and None for new axes."""

_FULL = (None, None, None)


# --- Basic keys --------------------------------------------------------------------------


def _native(key: Key) -> tuple[Any, ...]:
    """Return the key as NumPy takes it."""
    return tuple([builtins.slice(*e) if type(e) is tuple else e for e in key])


class _Axis(NamedTuple):
    """What a key takes from one axis of a tensor."""

    start: int
    size: Any
    step: int
    out: int  # the axis of the selection, or -1 where an integer drops it

    def read(self) -> str:
        """The place that an element of the selection comes from."""
        return str(self.start) if self.out < 0 else f"{self.start} + i{self.out} * {self.step}"

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


def _taken(
    name: str, key: Key, shape: Sequence[Any]
) -> tuple[list[_Axis], tuple[Any, ...]]:
    """Return what a key takes from each axis, and the shape of the selection.

    Raises:
        IndexRangeError: If it does not fit the shape, naming the axis, the value and the size.
    """
    used = sum([e is not None for e in key])
    if used > len(shape):
        raise IndexRangeError(
            f"{name}: {used} indices for a tensor of rank {len(shape)}", "Use fewer"
        )
    axes: list[_Axis] = []
    out: list[Any] = []
    for entry in (*key, *[_FULL] * (len(shape) - used)):
        if entry is None:
            out.append(1)
            continue
        size = tuple(shape)[len(axes)]
        if type(entry) is tuple:
            start, count, step = (0, None, 1)
            if size is not None or entry != _FULL:
                start, count, step = _bounds(name, entry, size)
            axes.append(_Axis(start, count, step, len(out)))
            out.append(count)
        elif not -size <= entry < size:
            raise OutsideError(name, len(axes), 0, entry, size, wrap=True)
        else:
            axes.append(_Axis(entry % size, 1, 1, -1))
    return axes, tuple(out)


def _bounds(name: str, entry: tuple[Any, ...], size: int) -> tuple[int, int, int]:
    if entry[2] == 0:
        raise IndexRangeError(f"{name}: a slice step is zero", "Use another step")
    start, stop, step = builtins.slice(*entry).indices(size)
    return start, len(range(start, stop, step)), step


# --- Primitives --------------------------------------------------------------------------


def _select_views(x: TensorSpec, *, key: Key) -> tuple[View, ...]:
    axes, _ = _taken("index", key, x.shape)
    return (View(tuple([axis.read() for axis in axes])),)


_select = Primitive(
    "select",
    forward=lambda x, *, key: x[_native(key)],
    spec=lambda x, *, key: x.with_shape(_taken("index", key, x.shape)[1]),
    vjp=lambda g, _out, _x, *, key: (
        apply(_place, g, key=key, shape=tuple(_x.shape)),
    ),
    lowering=Reindex(_select_views),
)


def _back_view(
    value: TensorSpec, key: Key, shape: Sequence[Any], operand: int
) -> View:
    """Return where, in a value that stands at a key, an element of the whole comes from."""
    axes, selection = _taken("index", key, shape)
    index, valid = ["0"] * len(selection), "True"
    for i, axis in enumerate(axes):
        valid = f"{valid} and {axis.taken(f'i{i}')}"
        if axis.out >= 0:
            index[axis.out] = axis.back(f"i{i}")
    index = index[len(selection) - value.rank :]
    index = ["0" if d == 1 else i for d, i in zip(value.shape, index, strict=True)]
    return View(tuple(index), operand=operand, valid=valid)


def _place_forward(g: Any, *, key: Key, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, g.dtype)
    out[_native(key)] = g
    return out if shape else out[()]


_place = Primitive(
    "place",
    forward=_place_forward,
    spec=lambda g, *, key, shape: g.with_shape(shape),
    vjp=lambda g, _out, _g, *, key, shape: (apply(_select, g, key=key),),
    lowering=Reindex(lambda g, *, key, shape: (_back_view(g, key, shape, 0),)),
)


def _update_forward(x: Any, value: Any, *, key: Key) -> Any:
    out = np.array(x)
    native = _native(key)
    if value.ndim > out[native].ndim:  # NumPy would take it if the first sizes are 1
        raise ValueError
    out[native] = value
    return out if out.ndim else out[()]


def _update_spec(x: TensorSpec, value: TensorSpec, *, key: Key) -> TensorSpec:
    selection = _taken("assign", key, x.shape)[1]
    _check_broadcasts(value.shape, selection)
    return x


def _check_broadcasts(shape: Sequence[Any], selection: tuple[Any, ...]) -> None:
    if broadcast_shapes("assign", shape, selection) != selection:
        raise ShapeError(
            f"assign: a value of shape {tuple(shape)} does not broadcast to the "
            f"selection of shape {selection}",
            "Give a value of the selection's shape, or one that broadcasts to it",
        )


def _update_views(x: TensorSpec, value: TensorSpec, *, key: Key) -> tuple[View, ...]:
    whole = tuple([f"i{axis}" for axis in range(x.rank)])
    return _back_view(value, key, x.shape, 1), View(whole)


_update = Primitive(
    "update",
    forward=_update_forward,
    spec=_update_spec,
    vjp=lambda g, _out, _x, _value, *, key: (
        lambda: apply(_update, g, numpy_dtype_of(g).type(0), key=key),
        lambda: apply(_select, g, key=key),  # the tape sums it to the value's shape
    ),
    lowering=Reindex(_update_views),
    operands=assigned,
)


# --- From a NumPy index to keys and integer arrays ---------------------------------------


def _plain(key: Any) -> Key | None:
    """Return a key made of ints and slices of ints as an attribute: the common case, quickly."""
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


class _Plan(NamedTuple):
    """An index, taken apart: a basic key, then integer arrays."""

    key: Key
    rank: int  # of what the key selects
    axes: tuple[int, ...]  # where in that the integer arrays stand
    arrays: tuple[Any, ...]
    sources: tuple[int, ...]  # the axis of the tensor that each of them indexes

    @property
    def adjacent(self) -> bool:
        """Whether the arrays stand side by side; if not, NumPy puts their axes first."""
        return self.axes == tuple(range(self.axes[0], self.axes[-1] + 1))

    @property
    def order(self) -> list[int]:
        """The axes of what the key selects, with those of the arrays first."""
        return [*self.axes, *[i for i in range(self.rank) if i not in self.axes]]


def _plan(name: str, key: Any, shape: Sequence[Any]) -> _Plan:
    entries = _entries(name, key, len(shape))
    mixed = any([_is_array(e) for e in entries])
    basic: list[Entry] = []
    axes, arrays, sources = [], [], []
    axis = rank = 0
    for entry in entries:
        if mixed and (type(entry) is int or _is_array(entry)):
            # Beside integer arrays a plain integer broadcasts with them.
            if isinstance(entry, _Mask):
                entry.check(name, axis, shape[axis])
            axes.append(rank)
            arrays.append(np.intp(entry) if type(entry) is int else entry)
            sources.append(axis)
            entry = _FULL
        basic.append(entry)
        axis += entry is not None
        rank += type(entry) is not int
    if all([e == _FULL for e in basic]) and arrays:
        basic = []  # the whole tensor
    return _Plan(tuple(basic), rank, tuple(axes), tuple(arrays), tuple(sources))


def _is_array(entry: Any) -> bool:
    return not (entry is None or entry is Ellipsis or type(entry) in (int, tuple))


def _entries(name: str, key: Any, rank: int) -> list[Any]:
    """Return an entry for each axis: the ellipsis spelled out, masks as integer arrays."""
    out: list[Any] = []
    for item in key if isinstance(key, tuple) else (key,):
        out += _normalize(item)
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
    fill = [_FULL] * (rank - used)
    if not dots:
        return out + fill
    return out[: dots[0]] + fill + out[dots[0] + 1 :]


def _normalize(item: Any) -> list[Any]:
    """Return an entry of an index as ints, slice triples, None, Ellipsis or integer arrays."""
    if item is None or item is Ellipsis or type(item) is int:
        return [item]
    if isinstance(item, builtins.slice):
        return [(_bound(item.start), _bound(item.stop), _bound(item.step))]
    if isinstance(item, np.integer):
        return [int(item)]
    if isinstance(item, (bool, np.bool_, float, complex, str, bytes)):
        raise ArgumentTypeError(
            f"index: {item!r} is not an index",
            "Use integers, slices, ..., None, integer arrays or bool masks",
        )
    value = convert(item)
    array = getattr(value, "_array", value)
    if isinstance(item, (list, tuple)) and 0 in value.shape:
        return [np.zeros(value.shape, np.intp)]  # an empty list has no kind
    if value.dtype.kind == "b":
        if value.ndim == 0:
            raise ArgumentTypeError(
                "index: a scalar bool is not an index", "Use gt.where"
            )
        return [_Mask.of(n, d) for n, d in zip(np.nonzero(array), array.shape, strict=True)]
    if value.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"index: a tensor of {value.dtype} is not an index", "Cast it to an integer"
        )
    return [int(array)] if isinstance(array, np.generic) or not value.ndim else [value]


def _bound(value: Any) -> int | None:
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"index: {value!r} is not a bound of a slice", "Use integers"
        ) from None


class _Mask(np.ndarray):  # type: ignore[type-arg]
    """The places of a bool mask on one axis, with the size the mask had there."""

    size_of_mask: int

    @classmethod
    def of(cls, places: Any, size: int) -> _Mask:
        out = places.view(cls)
        out.size_of_mask = size
        return out  # type: ignore[no-any-return]

    def check(self, name: str, axis: int, size: int) -> None:
        if self.size_of_mask != size:
            raise IndexRangeError(
                f"{name}: a mask of size {self.size_of_mask} for axis {axis} of size {size}",
                "Give the mask the sizes of the axes it selects from",
            )


# --- Reading and writing -----------------------------------------------------------------


def getitem(x: TensorLike, key: Any) -> Tensor:
    """Return x[key] as NumPy does, for every kind of index.

    Args:
        x: A tensor.
        key: Integers, slices, `...`, `None`, integer arrays, bool masks, or a tuple of these.

    Raises:
        IndexRangeError: If an index is out of range, naming the axis, the value and the size.

    Example:
        >>> import gtape as gt
        >>> gt.constant([1, 2, 3])[::-1].numpy()
        array([3, 2, 1], dtype=int32)
    """
    plain = _plain(key)
    if plain is not None:
        return apply(_select, x, key=plain)
    x = convert(x)
    plan = _plan("index", key, x.shape)
    if plan.key or not plan.axes:
        x = apply(_select, x, key=plan.key)
    if not plan.axes:
        return x
    axes = plan.axes
    if not plan.adjacent:
        x, axes = transpose(x, plan.order), range(len(axes))
    try:
        return index(x, plan.arrays, axes)
    except OutsideError as error:
        raise error.renamed("index", plan.sources) from None


def with_item(x: TensorLike, key: Any, value: TensorLike) -> Tensor:
    """Return x with x[key] = value, as a new tensor.

    Where an index is repeated the last value stays, and only that one has a gradient.

    Args:
        x: A tensor.
        key: Anything that indexes it.
        value: What to put there; it is broadcast. A NumPy array takes the dtype of x if it is of
            the same kind.

    Raises:
        ShapeError: If the value does not broadcast to the place.
        IndexRangeError: If an index is out of range.
        DTypeError: If the value does not fit the dtype of x.
    """
    x = convert(x)
    dtype = numpy_dtype_of(x)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == dtype.kind:
        value = value.astype(dtype, copy=False)
    plain = _plain(key)
    if plain is None:
        plan = _plan("assign", key, x.shape)
        if plan.axes:
            return _with_items(x, plan, convert(value, dtype))
        plain = plan.key
    return apply(_update, x, value, key=plain)


def _with_items(x: Tensor, plan: _Plan, value: Tensor) -> Tensor:
    part, axes = x, plan.axes
    if plan.key:
        part = apply(_select, x, key=plan.key)
    if not plan.adjacent:
        part, axes = transpose(part, plan.order), tuple(range(len(axes)))
    block = broadcast_shapes("assign", *[i.shape for i in plan.arrays])
    selection = (*part.shape[: axes[0]], *block, *part.shape[axes[-1] + 1 :])
    _check_broadcasts(value.shape, selection)
    if value.shape != selection:
        value = broadcast_to(value, selection)
    try:
        part = index_put(part, value, plan.arrays, axes)
    except OutsideError as error:
        raise error.renamed("assign", plan.sources) from None
    if not plan.adjacent:
        order = plan.order
        part = transpose(part, sorted(range(plan.rank), key=order.__getitem__))
    return apply(_update, x, part, key=plan.key) if plan.key else part
