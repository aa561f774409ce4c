"""Reading and writing at integer arrays: the primitives under indexing, gather and scatter.

All take integer arrays that broadcast to one block, for adjacent axes of a tensor x. A selection
has the block in the place of these axes: x.shape[:first] + block + x.shape[last + 1:].
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import NumpyDType, as_dtype, as_numpy_dtype, concrete, promote
from gtape.errors import DTypeError, IndexRangeError, ShapeError
from gtape.lowering import Custom, Gather, Scatter
from gtape.ops.common import Tensor
from gtape.ops.linear import broadcast_to, where
from gtape.ops.shaping import reshape
from gtape.primitive import Primitive, indexed, real
from gtape.spec import TensorSpec, broadcast_shapes

Indices = Sequence[Any]
Axes = tuple[int, ...]

# --- Out of range ------------------------------------------------------------------------


class OutsideError(IndexRangeError):
    """An index outside its axis; who knows what the user wrote says it again by `renamed`."""

    def __init__(
        self, name: str, axis: int, operand: int, value: int, size: int, wrap: bool
    ) -> None:
        self.operand, self.value, self.size, self.wrap = operand, value, size, wrap
        low = -size if wrap else 0
        hint = f"Use {low} to {size - 1}" if size else "The axis is empty"
        if -size <= value < 0:
            hint += f": {name} does not count from the end as x[i] does"
        super().__init__(
            f"{name}: index {value} is out of range for axis {axis} of size {size}",
            hint,
        )

    def renamed(self, name: str, axes: Sequence[int]) -> OutsideError:
        """Return the error as the user's operation says it, with the axis of each operand."""
        return OutsideError(
            name, axes[self.operand], self.operand, self.value, self.size, self.wrap
        )


def _refuse(indices: Indices, sizes: Sequence[int], axes: Axes, wrap: bool) -> None:
    """Raise the error for the first index that is out of range."""
    for operand, (i, size) in enumerate(zip(indices, sizes, strict=True)):
        bad = (i < (-size if wrap else 0)) | (i >= size)
        if bad.any():
            value = int(np.asarray(i)[bad].flat[0])
            raise OutsideError("index", axes[operand], operand, value, size, wrap)
    broadcast_shapes("index", *[i.shape for i in indices])


class _Rows(NamedTuple):
    """A tensor x with the indexed axes as one, and the places in it that are written."""

    places: Any  # of the block, a contiguous vector: NumPy then writes in its order
    before: tuple[int, ...]
    count: int
    after: tuple[int, ...]

    def key(self) -> tuple[Any, ...]:
        return (*[builtins.slice(None)] * len(self.before), self.places)

    def of(self, x: Any) -> Any:
        return x.reshape(*self.before, self.count, *self.after)

    def elements(self) -> Any:
        """The place of each element of the selection in the flat x."""
        out = self.places
        if self.after:
            inner = math.prod(self.after)
            out = out[:, None] * inner + np.arange(inner)
        if self.before:
            step = self.count * math.prod(self.after)
            starts = np.arange(math.prod(self.before)) * step
            out = starts.reshape(-1, *[1] * out.ndim) + out
        return out.reshape(-1)


def _rows(shape: Sequence[int], indices: Indices, axes: Axes, wrap: bool) -> _Rows:
    sizes = tuple(shape[axes[0] : axes[-1] + 1])
    places: Any = 0
    for i, size in zip(indices, sizes, strict=True):
        if i.size and (int(i.min()) < (-size if wrap else 0) or int(i.max()) >= size):
            _refuse(indices, sizes, axes, wrap)
        i = i.astype(np.intp, copy=False)
        if wrap:
            i = np.where(i < 0, i + size, i)
        places = places * size + i
    return _Rows(
        np.ascontiguousarray(places).reshape(-1),
        tuple(shape[: axes[0]]),
        math.prod(sizes),
        tuple(shape[axes[-1] + 1 :]),
    )


def _selection(shape: Sequence[Any], indices: Indices, axes: Axes) -> tuple[Any, ...]:
    block = broadcast_shapes("index", *[i.shape for i in indices])
    return (*shape[: axes[0]], *block, *shape[axes[-1] + 1 :])


# --- Reading, and its transpose ----------------------------------------------------------


def _index_forward(x: Any, *indices: Any, axes: Axes, wrap: bool) -> Any:
    sizes = x.shape[axes[0] : axes[-1] + 1]
    if not wrap and any([i.size and i.min() < 0 for i in indices]):
        _refuse(indices, sizes, axes, wrap)
    try:
        if len(indices) == 1:
            return x.take(indices[0], axes[0])
        return x[(*[builtins.slice(None)] * axes[0], *indices)]
    except IndexError:
        _refuse(indices, sizes, axes, wrap)
        raise


_index = Primitive(
    "index",
    forward=_index_forward,
    spec=lambda x, *indices, axes, wrap: x.with_shape(
        _selection(x.shape, indices, axes)
    ),
    vjp=lambda g, _out, _x, *indices, axes, wrap: (
        index_add(g, indices, axes, _x.shape, wrap),
        *[None] * len(indices),
    ),
    lowering=Gather(),
    operands=indexed,
)


def index(x: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True) -> Tensor:
    """Return x read at integer arrays on adjacent axes.

    Args:
        x: A tensor.
        indices: An integer array for each axis.
        axes: Adjacent axes, in order, counted from the front.
        wrap: Whether negative indices count from the end; otherwise they are out of range.

    Raises:
        IndexRangeError: If an index is out of range.
    """
    return apply(_index, x, *indices, axes=tuple(axes), wrap=wrap)


def _at(ufunc: Any, out: Any, value: Any, rows: _Rows) -> Any:
    """Return a contiguous `out` with value combined into it, in place."""
    ufunc.at(out.reshape(-1), rows.elements(), np.ravel(value))
    return out


def _index_add_forward(
    g: Any, *indices: Any, axes: Axes, shape: Sequence[int], wrap: bool
) -> Any:
    rows = _rows(shape, indices, axes, wrap)
    # Many small numbers may meet at one place, where 16 bits would lose them.
    narrow = g.dtype.kind == "V" or g.dtype == np.float16
    dtype = np.dtype(np.float32) if narrow else g.dtype
    out = _at(np.add, np.zeros(shape, dtype), g.astype(dtype, copy=False), rows)
    return out.astype(g.dtype, copy=False)


_index_add = Primitive(
    "index_add",
    forward=_index_add_forward,
    spec=lambda g, *indices, axes, shape, wrap: g.with_shape(shape),
    vjp=lambda g, _out, _g, *indices, axes, shape, wrap: (
        index(g, indices, axes, wrap),
        *[None] * len(indices),
    ),
    lowering=Scatter("acc + x"),
    operands=indexed,
)


def index_add(
    g: Tensor,
    indices: Indices,
    axes: Sequence[int],
    shape: Sequence[int],
    wrap: bool = True,
) -> Tensor:
    """Return zeros of a shape with the selection g added at the indices: `index` transposed."""
    return apply(
        _index_add, g, *indices, axes=tuple(axes), shape=tuple(shape), wrap=wrap
    )


# --- Who writes last, or first -----------------------------------------------------------


def _writers_forward(
    among: Any,
    *indices: Any,
    axes: Axes,
    shape: Sequence[int],
    wrap: bool,
    last: bool,
) -> Any:
    chosen = np.flatnonzero(among)
    places = _rows(shape, indices, axes, wrap).elements()[chosen]
    order = np.arange(chosen.size)
    writer = np.empty(math.prod(shape), np.intp)
    # Of what is assigned to one place NumPy keeps the last, if the vector is contiguous.
    if last:
        writer[places] = order
    else:
        writer[np.ascontiguousarray(places[::-1])] = np.ascontiguousarray(order[::-1])
    out = np.zeros(among.size, np.bool_)
    out[chosen] = writer[places] == order
    return out.reshape(among.shape)


_writers = Primitive(
    "writers",
    forward=_writers_forward,
    spec=lambda among, *indices, axes, shape, wrap, last: among,
    vjp=None,
    lowering=Custom("writers"),
    operands=indexed,
)


def writers(
    among: Tensor,
    indices: Indices,
    axes: Sequence[int],
    shape: Sequence[int],
    wrap: bool = True,
    last: bool = False,
) -> Tensor:
    """Return, for a selection, which element is the first (or last) at its place.

    Args:
        among: A bool selection: the elements that take part.
        indices: An integer array for each axis.
        axes: Adjacent axes, in order.
        shape: The shape of the tensor that the selection is of.
        wrap: Whether negative indices count from the end.
        last: Whether to give the last one.
    """
    return apply(
        _writers,
        among,
        *indices,
        axes=tuple(axes),
        shape=tuple(shape),
        wrap=wrap,
        last=last,
    )


# --- Writing -----------------------------------------------------------------------------


def assigned(name: str, kinds: Any) -> tuple[NumpyDType, ...]:
    """A tensor, a value that takes the tensor's dtype, then integer indices."""
    x, value, *indices = kinds
    d = concrete(x)
    if concrete(promote(x, value)) != d:
        raise DTypeError(
            f"{name}: a value of {as_dtype(concrete(value))} does not fit {as_dtype(d)}",
            "Cast one of them",
        )
    return (d, d, *indexed(name, (x, *indices))[1:])


def _ordered(name: str, kinds: Any) -> tuple[NumpyDType, ...]:
    real(name, kinds[:2])
    return assigned(name, kinds)


def _written(
    forward: Callable[[Any, Any, _Rows], Any],
) -> Callable[..., Any]:
    """Return the forward computation for what a kind of writing does to a copy of x."""

    def write(x: Any, value: Any, *indices: Any, axes: Axes, wrap: bool) -> Any:
        selection = _selection(x.shape, indices, axes)
        if value.shape != selection:
            _wrong_shape(value.shape, selection)
        rows = _rows(x.shape, indices, axes, wrap)
        return forward(np.array(x, order="C"), value, rows)

    return write


def _wrong_shape(shape: Sequence[Any], selection: Sequence[Any]) -> None:
    raise ShapeError(
        f"index: a value of shape {tuple(shape)} for a selection of shape {selection}",
        "Give a value of the selection's shape",
    )


def _written_spec(
    x: TensorSpec, value: TensorSpec, *indices: TensorSpec, axes: Axes, wrap: bool
) -> TensorSpec:
    selection = _selection(x.shape, indices, axes)
    if not value.shape.is_compatible_with(selection):
        _wrong_shape(value.shape, selection)
    return x


def _put(out: Any, value: Any, rows: _Rows) -> Any:
    places = (*rows.before, rows.places.size, *rows.after)
    rows.of(out)[rows.key()] = value.reshape(places)
    return out


def _index_put_vjp(
    g: Any, _out: Any, _x: Any, _value: Any, *indices: Any, axes: Axes, wrap: bool
) -> tuple[Any, ...]:
    def base() -> Any:
        zero = as_numpy_dtype(g.dtype).type(0)
        return index_put(g, broadcast_to(zero, _value.shape), indices, axes, wrap)

    def values() -> Any:
        block = broadcast_shapes("index", *[i.shape for i in indices])
        sizes = _x.shape[axes[0] : axes[-1] + 1]
        own = tuple(range(len(sizes)))
        everyone = broadcast_to(np.True_, block)
        stays = writers(everyone, indices, own, sizes, wrap, last=True)
        rest = _x.ndim - axes[-1] - 1
        stays = reshape(stays, (*block, *[1] * rest))
        return where(stays, index(g, indices, axes, wrap), 0.0)

    return base, values, *[None] * len(indices)


_index_put = Primitive(
    "index_put",
    forward=_written(_put),
    spec=_written_spec,
    vjp=_index_put_vjp,
    lowering=Scatter("x"),
    operands=assigned,
)


def _hit(x: Any, extreme: Any) -> Any:
    return (x == extreme) | (x != x)


def _extreme_vjp(
    g: Any, out: Any, x: Any, value: Any, *indices: Any, axes: Axes, wrap: bool
) -> tuple[Any, ...]:
    def values() -> Any:
        extreme = index(out, indices, axes, wrap)
        base = index(x, indices, axes, wrap)
        ahead = _hit(value, extreme) & ~_hit(base, extreme)
        wins = writers(ahead, indices, axes, x.shape, wrap)
        return where(wins, index(g, indices, axes, wrap), 0.0)

    return lambda: where(_hit(x, out), g, 0.0), values, *[None] * len(indices)


_index_max = Primitive(
    "index_max",
    forward=_written(lambda out, value, rows: _at(np.maximum, out, value, rows)),
    spec=_written_spec,
    vjp=_extreme_vjp,
    lowering=Scatter("maximum(acc, x)"),
    operands=_ordered,
)

_index_min = Primitive(
    "index_min",
    forward=_written(lambda out, value, rows: _at(np.minimum, out, value, rows)),
    spec=_written_spec,
    vjp=_extreme_vjp,
    lowering=Scatter("minimum(acc, x)"),
    operands=_ordered,
)

_index_multiply = Primitive(
    "index_multiply",
    forward=_written(lambda out, value, rows: _at(np.multiply, out, value, rows)),
    spec=_written_spec,
    vjp=None,
    lowering=Scatter("acc * x"),
    operands=assigned,
    why="only assignments to variables use it, through which no gradient flows",
)


def index_put(
    x: Tensor, value: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True
) -> Tensor:
    """Return x with a selection replaced by value; of repeated places the last one stays."""
    return apply(_index_put, x, value, *indices, axes=tuple(axes), wrap=wrap)


def index_max(
    x: Tensor, value: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True
) -> Tensor:
    """Return x with each element of a selection raised to value where that is greater.

    The gradient of a tie goes to x, then to the first element of value.
    """
    return apply(_index_max, x, value, *indices, axes=tuple(axes), wrap=wrap)


def index_min(
    x: Tensor, value: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True
) -> Tensor:
    """Return x with each element of a selection lowered to value where that is less.

    The gradient of a tie goes to x, then to the first element of value.
    """
    return apply(_index_min, x, value, *indices, axes=tuple(axes), wrap=wrap)


def index_multiply(
    x: Tensor, value: Tensor, indices: Indices, axes: Sequence[int], wrap: bool = True
) -> Tensor:
    """Return x with each element of a selection multiplied by value."""
    return apply(_index_multiply, x, value, *indices, axes=tuple(axes), wrap=wrap)
