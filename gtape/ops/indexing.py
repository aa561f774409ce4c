"""NumPy indexing, and functional assignment to indices, both with gradients.

Integers, slices, `...` and new axes become a strided slice and a reshape; integer arrays and
masks become the primitive `index`, whose transpose adds up what repeated indices read.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape import dispatch
from gtape.dispatch import apply
from gtape.errors import ArgumentTypeError, IndexRangeError, ShapeError
from gtape.lowering import Gather, Scatter
from gtape.ops.common import Tensor, TensorLike, convert
from gtape.ops.linear import broadcast_to, where
from gtape.ops.shaping import reshape, transpose
from gtape.ops.slicing import strided_slice
from gtape.primitive import Primitive, indexed
from gtape.spec import TensorSpec, broadcast_shapes

# --- Primitives: integer arrays at some axes ---------------------------------------------
#
# index(x, *indices, axes) reads x at the broadcast integer arrays on `axes`, which are adjacent
# and in order; the axes of the index arrays stand in their place.


def _key(indices: Sequence[Any], axes: tuple[int, ...]) -> tuple[Any, ...]:
    return (builtins.slice(None),) * axes[0] + tuple(indices)


def _index_spec(
    x: TensorSpec, *indices: TensorSpec, axes: tuple[int, ...]
) -> TensorSpec:
    block = broadcast_shapes("index", *[i.shape for i in indices])
    return x.with_shape(x.shape[: axes[0]] + block + x.shape[axes[-1] + 1 :])


_index = Primitive(
    "index",
    forward=lambda x, *indices, axes: x[_key(indices, axes)],
    spec=_index_spec,
    vjp=lambda g, _out, _x, *indices, axes: (
        index_add(g, indices, axes, _x.shape),
        *[None] * len(indices),
    ),
    lowering=Gather(),
    operands=indexed,
)


def index(x: Tensor, indices: Sequence[Any], axes: tuple[int, ...]) -> Tensor:
    """Return x read at integer arrays on adjacent axes; the indices must be in range."""
    return apply(_index, x, *indices, axes=tuple(axes))


def _index_add_forward(g: Any, *indices: Any, axes: Any, shape: Any) -> Any:
    out = np.zeros(shape, g.dtype)
    if g.dtype.kind == "V":  # ufunc.at has no loop for bfloat16
        wide = np.zeros(shape, np.float32)
        np.add.at(wide, _key(indices, axes), g.astype(np.float32))
        return wide.astype(g.dtype)
    np.add.at(out, _key(indices, axes), g)
    return out


_index_add = Primitive(
    "index_add",
    forward=_index_add_forward,
    spec=lambda g, *indices, axes, shape: g.with_shape(shape),
    vjp=lambda g, _out, _g, *indices, axes, shape: (
        index(g, indices, axes),
        *[None] * len(indices),
    ),
    lowering=Scatter("acc + x"),
    operands=indexed,
)


def index_add(
    g: Tensor, indices: Sequence[Any], axes: tuple[int, ...], shape: Sequence[int]
) -> Tensor:
    """Return zeros of a shape with g added at the indices: the transpose of `index`."""
    return apply(_index_add, g, *indices, axes=tuple(axes), shape=tuple(shape))


# --- From a NumPy index to primitives ----------------------------------------------------


class Plan(NamedTuple):
    """An index, taken apart: a strided slice, a reshape, then integer arrays."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    shape: tuple[int, ...]  # after the slice: integers dropped, new axes in
    axes: tuple[int, ...]  # where in `shape` the integer arrays stand
    arrays: tuple[Any, ...]
    front: bool  # NumPy puts the index axes first when the arrays are not adjacent


def _entries(name: str, index: Any, rank: int) -> list[Any]:
    """Return one entry per axis, with the ellipsis spelled out and masks as integer arrays."""
    items = list(index) if isinstance(index, tuple) else [index]
    out: list[Any] = []
    for item in items:
        out += _normalize(item)
    used = sum(1 for e in out if e is not None and e is not Ellipsis)
    dots = sum(1 for e in out if e is Ellipsis)
    if dots > 1:
        raise IndexRangeError(
            f"{name}: more than one ellipsis in the index", "Keep one"
        )
    if used > rank:
        raise IndexRangeError(
            f"{name}: {used} indices for a tensor of rank {rank}", "Use fewer"
        )
    fill = [builtins.slice(None)] * (rank - used)
    if dots == 0:
        return out + fill
    place = next(i for i, e in enumerate(out) if e is Ellipsis)
    return out[:place] + fill + out[place + 1 :]


def _normalize(item: Any) -> list[Any]:
    """Return an entry of an index as ints, slices, None, Ellipsis or integer arrays."""
    if item is None or item is Ellipsis or isinstance(item, builtins.slice):
        return [item]
    if type(item) is int:
        return [item]
    if isinstance(item, (bool, np.bool_, float, str, bytes)):
        raise ArgumentTypeError(
            f"index: {item!r} is not an index",
            "Use integers, slices, ..., None, integer arrays or bool masks",
        )
    if isinstance(item, (list, tuple)) and len(item) == 0:
        return [np.zeros(0, np.int64)]
    value = convert(item)
    kind = value.dtype.kind
    if kind == "b":
        if value.ndim == 0:
            raise ArgumentTypeError(
                "index: a scalar bool is not an index", "Use gt.where"
            )
        return [
            _Mask(n, value.shape[i]) for i, n in enumerate(np.nonzero(_numpy(value)))
        ]
    if kind not in "iu":
        raise ArgumentTypeError(
            f"index: a tensor of {value.dtype} is not an index", "Cast it to an integer"
        )
    if value.ndim == 0:
        return [int(_numpy(value))]
    return [_numpy(value)]


class _Mask(np.ndarray):  # type: ignore[type-arg]
    """The places of a bool mask on one axis, with the size the mask had there."""

    size_of_mask: int

    def __new__(cls, places: Any, size: int) -> _Mask:
        out = places.view(cls)
        out.size_of_mask = size
        return out  # type: ignore[no-any-return]


def _numpy(value: Any) -> Any:
    return getattr(value, "_array", value)


def _plan(name: str, key: Any, shape: Sequence[int]) -> Plan:
    entries = _entries(name, key, len(shape))
    starts, sizes, steps, kept = [], [], [], []
    arrays: list[tuple[int, Any]] = []
    mixed = any(isinstance(e, np.ndarray) for e in entries)
    axis = 0
    for entry in entries:
        if entry is None:
            kept.append(1)
            continue
        size = shape[axis]
        if isinstance(entry, builtins.slice):
            start, count, step = _slice_bounds(entry, size)
            kept.append(count)
        elif isinstance(entry, int) and not mixed:
            start, count, step = _checked(name, entry, axis, size), 1, 1
        else:  # beside integer arrays a plain integer broadcasts with them
            start, count, step = 0, size, 1
            arrays.append((len(kept), _checked_array(name, entry, axis, size)))
            kept.append(size)
        starts.append(start)
        sizes.append(count)
        steps.append(step)
        axis += 1
    places = tuple(a for a, _ in arrays)
    front = bool(places) and places != tuple(range(places[0], places[0] + len(places)))
    indices = tuple(i for _, i in arrays)
    if indices:
        broadcast_shapes(name, *[i.shape for i in indices])
    return Plan(
        tuple(starts), tuple(sizes), tuple(steps), tuple(kept), places, indices, front
    )


def _slice_bounds(entry: builtins.slice, size: int) -> tuple[int, int, int]:
    try:
        start, stop, step = entry.indices(size)
    except TypeError:
        raise ArgumentTypeError(
            f"index: {entry!r} has bounds that are not integers", "Use integers"
        ) from None
    except ValueError:
        raise IndexRangeError(
            "index: a slice step is zero", "Use another step"
        ) from None
    return start, len(range(start, stop, step)), step


def _checked(name: str, i: int, axis: int, size: int) -> int:
    if not -size <= i < size:
        raise IndexRangeError(
            f"{name}: index {i} is out of range for axis {axis} of size {size}",
            f"Use {-size} to {size - 1}" if size else "The axis is empty",
        )
    return i % size


def _checked_array(name: str, entry: Any, axis: int, size: int) -> Any:
    if isinstance(entry, _Mask):
        if entry.size_of_mask != size:
            raise IndexRangeError(
                f"{name}: a mask of size {entry.size_of_mask} for axis {axis} of size {size}",
                "Give the mask the sizes of the axes it selects from",
            )
        return np.asarray(entry)
    return checked_indices(name, np.asarray(entry), axis, size)


def checked_indices(name: str, entry: Any, axis: int, size: int) -> Any:
    """Return integer indices counted from the front.

    Raises:
        IndexRangeError: If one is out of range, naming axis, value and size.
    """
    bad = (entry < -size) | (entry >= size)
    if bad.any():
        _checked(name, int(entry[bad].flat[0] if entry.ndim else entry), axis, size)
    return np.where(entry < 0, entry + size, entry).astype(np.intp)


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
    x = convert(x)
    plan = _plan("index", key, x.shape)
    out = _basic(x, plan)
    if not plan.axes:
        return out
    out, axes = _adjacent(out, plan)
    return index(out, plan.arrays, axes)


def _basic(x: Tensor, plan: Plan) -> Tensor:
    if plan.sizes != x.shape or any(s != 1 for s in plan.steps):
        x = strided_slice(x, plan.starts, plan.sizes, plan.steps)
    elif x.shape == plan.shape:
        # The whole tensor: still a new value, so that t[:] is not t.
        x = strided_slice(x, plan.starts, plan.sizes, plan.steps)
    return x if x.shape == plan.shape else reshape(x, plan.shape)


def _adjacent(x: Tensor, plan: Plan) -> tuple[Tensor, tuple[int, ...]]:
    if not plan.front:
        return x, plan.axes
    rest = [i for i in range(len(plan.shape)) if i not in plan.axes]
    return transpose(x, [*plan.axes, *rest]), tuple(range(len(plan.axes)))


# --- Functional assignment ---------------------------------------------------------------


def with_item(x: TensorLike, key: Any, value: TensorLike) -> Tensor:
    """Return x with x[key] = value, as a new tensor.

    Where an index is repeated the last value stays, and only that one has a gradient.

    Args:
        x: A tensor.
        key: Anything that indexes it.
        value: What to put there; it is broadcast.

    Raises:
        ShapeError: If the value does not broadcast to the place.
        IndexRangeError: If an index is out of range.
    """
    x = convert(x)
    value = convert(value, x.dtype)
    # Positions tell which element of x each element of the selection is.
    count = int(np.prod(x.shape, dtype=np.int64))
    with dispatch.running(dispatch.ARRAYS):
        positions = getitem(np.arange(count).reshape(x.shape), key)
    if broadcast_shapes("assign", value.shape, positions.shape) != positions.shape:
        raise ShapeError(
            f"assign: a value of shape {tuple(value.shape)} does not broadcast to the "
            f"selection of shape {tuple(positions.shape)}",
            "Give a value of the selection's shape, or one that broadcasts to it",
        )
    flat = reshape(broadcast_to(value, positions.shape), [positions.size])
    return reshape(put(reshape(x, [count]), positions.reshape(-1), flat), x.shape)


def _put_forward(x: Any, places: Any, value: Any) -> Any:
    out = np.array(x)
    out[places] = value
    return out


def _put_vjp(g: Any, _out: Any, _x: Any, places: Any, _value: Any) -> tuple[Any, ...]:
    def base() -> Any:
        return put(g, places, np.zeros(places.shape, g.dtype))

    def values() -> Any:
        order = np.arange(places.size)
        last = np.empty(_x.shape, np.intp)
        last[_numpy(places)] = order
        return where(last[_numpy(places)] == order, index(g, (places,), (0,)), 0.0)

    return base, None, values


def _put_operands(name: str, kinds: Any) -> Any:
    x, places, value = kinds
    return (*indexed(name, (x, places)), indexed(name, (value,))[0])


_put = Primitive(
    "put",
    forward=_put_forward,
    spec=lambda x, places, value: x,
    vjp=_put_vjp,
    lowering=Scatter("x"),
    operands=_put_operands,
)


def put(x: Tensor, places: Any, value: Tensor) -> Tensor:
    """Return the vector x with x[places] = value; of repeated places the last one stays."""
    return apply(_put, x, places, value)
