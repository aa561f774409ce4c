"""Writing at integer arrays: a selection of a tensor replaced, raised or lowered."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import NumpyDType, as_dtype, as_numpy_dtype, concrete, promote
from gtape.errors import DTypeError, ShapeError
from gtape.lowering import Custom, Scatter
from gtape.ops.common import Tensor, TensorLike, convert, numpy_dtype_of
from gtape.ops.indices import (
    Axes,
    Indices,
    Rows,
    combine_at,
    index,
    rows_of,
    selection_of,
)
from gtape.ops.linear import broadcast_to, cast, where
from gtape.ops.shaping import reshape
from gtape.primitive import Primitive, indexed, real
from gtape.spec import TensorSpec, broadcast_shapes

# --- Who writes last, or first --------------------------------------------------------


def _writers_forward(
    among: Any,
    *indices: Any,
    axes: Axes,
    shape: Sequence[int],
    wrap: bool,
    last: bool,
) -> Any:
    chosen = np.flatnonzero(among)
    places = rows_of(shape, indices, axes, wrap).elements()[chosen]
    order = np.arange(chosen.size)
    writer = np.empty(math.prod(shape), np.intp)
    # Of what is assigned to one place NumPy keeps the last, if the vectors are
    # contiguous: others it may walk backwards.
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


# --- Writing --------------------------------------------------------------------------


def assigned(name: str, kinds: Any) -> tuple[NumpyDType, ...]:
    """A tensor, a value that takes the tensor's dtype, then integer indices."""
    x, value, *indices = kinds
    d = concrete(x)
    if concrete(promote(x, value)) != d:
        raise DTypeError(
            f"{name}: a value of {as_dtype(concrete(value))} does not fit "
            f"{as_dtype(d)}",
            "Cast one of them",
        )
    return (d, d, *indexed(name, (x, *indices))[1:])


def of_dtype(value: Any, dtype: NumpyDType) -> Any:
    """Return a NumPy array of the kind of a dtype in that dtype; others as they are."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == dtype.kind:
        return value.astype(dtype, copy=False)
    return value


def fitting(name: str, x: Tensor, value: TensorLike) -> Tensor:
    """Return what is to be written to x as a tensor of its dtype.

    A NumPy array of the kind of x is cast, like one that is assigned to a variable.

    Raises:
        DTypeError: If the dtype does not fit.
    """
    dtype = numpy_dtype_of(x)
    tensor = convert(of_dtype(value, dtype), dtype)
    assigned(name, (dtype, numpy_dtype_of(tensor)))
    return cast(tensor, dtype)


def _ordered(name: str, kinds: Any) -> tuple[NumpyDType, ...]:
    real(name, kinds[:2])
    return assigned(name, kinds)


def _written(
    forward: Callable[[Any, Any, Rows], Any],
) -> Callable[..., Any]:
    """Return the forward computation for what a kind of writing does to a copy of x."""

    def write(x: Any, value: Any, *indices: Any, axes: Axes, wrap: bool) -> Any:
        selection = selection_of(x.shape, indices, axes)
        if value.shape != selection:
            _wrong_shape(value.shape, selection)
        rows = rows_of(x.shape, indices, axes, wrap)
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
    selection = selection_of(x.shape, indices, axes)
    if not value.shape.is_compatible_with(selection):
        _wrong_shape(value.shape, selection)
    return x


def _put(out: Any, value: Any, rows: Rows) -> Any:
    places = (*rows.before, rows.places.size, *rows.after)
    rows.of(out)[rows.key()] = value.reshape(places)
    return out


def _index_put_vjp(
    g: Any, _out: Any, _x: Any, _value: Any, *indices: Any, axes: Axes, wrap: bool
) -> tuple[Any, ...]:
    def base() -> Any:
        zero = as_numpy_dtype(g.dtype).type(0)
        zeros = broadcast_to(zero, _value.shape)
        return index_write("put", g, zeros, indices, axes, wrap)

    def values() -> Any:
        block: Any = broadcast_shapes("index", *[i.shape for i in indices])
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


def _extreme(name: str, ufunc: np.ufunc, combine: str) -> Primitive:
    return Primitive(
        name,
        forward=_written(functools.partial(combine_at, ufunc)),
        spec=_written_spec,
        vjp=_extreme_vjp,
        lowering=Scatter(combine),
        operands=_ordered,
    )


_index_max = _extreme("index_max", np.maximum, "maximum(acc, x)")
_index_min = _extreme("index_min", np.minimum, "minimum(acc, x)")

_index_multiply = Primitive(
    "index_multiply",
    forward=_written(functools.partial(combine_at, np.multiply)),
    spec=_written_spec,
    vjp=None,
    lowering=Scatter("acc * x"),
    operands=assigned,
    why="only assignments to variables use it, through which no gradient flows",
)


_WRITES = {
    "put": _index_put,
    "max": _index_max,
    "min": _index_min,
    "multiply": _index_multiply,
}


def index_write(
    how: str,
    x: Tensor,
    value: Tensor,
    indices: Indices,
    axes: Sequence[int],
    wrap: bool = True,
) -> Tensor:
    """Return x with a selection written at integer arrays on adjacent axes.

    Args:
        how: "put" replaces; of repeated places the last one stays. "max" and "min" keep
            the greatest or least; the gradient of a tie goes to x, then to the first
            element of value. "multiply" has no gradient.
        x: A tensor.
        value: What to write, of the selection's shape.
        indices: An integer array for each axis.
        axes: Adjacent axes, in order, counted from the front.
        wrap: Whether negative indices count from the end; otherwise they are out of
            range.

    Raises:
        IndexRangeError: If an index is out of range.
        ShapeError: If the value has another shape than the selection.
    """
    return apply(_WRITES[how], x, value, *indices, axes=tuple(axes), wrap=wrap)
