"""Sorting, and the greatest elements: positions, and values by them.

NaN counts as greater than every number. Equal elements keep their order, in both
directions. Positions have no gradient; sorted values have that of the permutation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ArgumentError, ShapeError, said_by
from gtape.lowering import Custom
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    check_rank,
    convert,
    normalize_axis,
    one_of,
)
from gtape.ops.gathering import gather, integers, take_along_axis
from gtape.ops.linear import cast, reduce_sum
from gtape.ops.logic import is_finite
from gtape.ops.shaping import expand_dims
from gtape.primitive import Primitive, ordered
from gtape.spec import TensorSpec

_DIRECTIONS = ("ASCENDING", "DESCENDING")
POSITIONS = "its result is positions, which are integers"


def comparable(x: Any) -> Any:
    """Return an array that NumPy sorts with NaN last: it does not so for bfloat16."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


# --- Sort -----------------------------------------------------------------------------


def _argsort_forward(x: Any, *, axis: int, descending: bool) -> Any:
    x = comparable(x)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable").astype(np.int32)
    # The reverse of a stable order of the reversed elements is stable again.
    order = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return (x.shape[axis] - 1 - np.flip(order, axis)).astype(np.int32)


_argsort = Primitive(
    "argsort",
    forward=_argsort_forward,
    spec=lambda x, *, axis, descending: x.with_dtype("int32"),
    vjp=None,
    lowering=Custom("argsort"),
    operands=ordered,
    why=POSITIONS,
)


def _sort_forward(x: Any, *, axis: int, descending: bool) -> Any:
    out = np.sort(comparable(x), axis=axis).astype(x.dtype, copy=False)
    return np.flip(out, axis) if descending else out


def _sort_vjp(
    g: Any, _out: Any, x: Any, *, axis: int, descending: bool
) -> tuple[Any, ...]:
    order = apply(_argsort, x, axis=axis, descending=descending)
    rank = apply(_argsort, order, axis=axis, descending=False)
    return (take_along_axis(g, rank, axis),)


_sort = Primitive(
    "sort",
    forward=_sort_forward,
    spec=lambda x, *, axis, descending: x,
    vjp=_sort_vjp,
    lowering=Custom("sort"),
    operands=ordered,
)


def sort(values: TensorLike, axis: int = -1, direction: str = "ASCENDING") -> Tensor:
    """Return the elements sorted along an axis.

    Args:
        values: A tensor of rank 1 or more, not complex. NaN counts as the greatest.
        axis: The axis to sort along.
        direction: "ASCENDING" or "DESCENDING".

    Raises:
        ShapeError: If the tensor has no such axis.
        ArgumentError: If the direction is another word.
        DTypeError: If the dtype is complex.

    Example:
        >>> import gtape as gt
        >>> gt.sort([3., 1., 2.], direction="DESCENDING").numpy()
        array([3., 2., 1.], dtype=float32)
    """
    x = convert(values)
    descending = one_of("sort", "direction", direction, _DIRECTIONS) == "DESCENDING"
    along = normalize_axis("sort", axis, x.ndim)
    return apply(_sort, x, axis=along, descending=descending)


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
) -> Tensor:
    """Return the positions that sort a tensor along an axis, as int32.

    Args:
        values: A tensor of rank 1 or more, not complex. NaN counts as the greatest.
        axis: The axis to sort along.
        direction: "ASCENDING" or "DESCENDING".
        stable: Whether equal elements keep their order. They always do.

    Raises:
        ShapeError: If the tensor has no such axis.
        ArgumentError: If the direction is another word.
        DTypeError: If the dtype is complex.

    Example:
        >>> import gtape as gt
        >>> gt.argsort([3., 1., 2.]).numpy()
        array([1, 2, 0], dtype=int32)
    """
    x = convert(values)
    descending = one_of("argsort", "direction", direction, _DIRECTIONS) == "DESCENDING"
    along = normalize_axis("argsort", axis, x.ndim)
    return apply(_argsort, x, axis=along, descending=descending)


# --- The greatest ---------------------------------------------------------------------


class TopK(NamedTuple):
    """The greatest elements along the last axis, and their positions."""

    values: Tensor
    indices: Tensor


def _greatest_forward(x: Any, *, k: int) -> Any:
    x = comparable(x)
    size = x.shape[-1]
    if 8 * k >= size or k == 0 or x.size == 0:
        return _argsort_forward(x, axis=-1, descending=True)[..., :k]
    # Sort only the k elements that come into question: those above the least of them,
    # and of those equal to it the first ones.
    least = np.partition(x, size - k, axis=-1)[..., size - k, None]
    odd, nan = x != x, least != least
    above = np.where(nan, False, (x > least) | odd)
    level = np.where(nan, odd, x == least)
    missing = k - above.sum(-1, keepdims=True)
    chosen = above | (level & (np.cumsum(level, axis=-1) <= missing))
    places = np.nonzero(chosen)[-1].reshape(*x.shape[:-1], k)
    among = np.take_along_axis(x, places, -1)
    order = _argsort_forward(among, axis=-1, descending=True)
    return np.take_along_axis(places, order, -1).astype(np.int32)


_greatest = Primitive(
    "top_k_indices",
    forward=_greatest_forward,
    spec=lambda x, *, k: TensorSpec((*x.shape[:-1], k), "int32"),
    vjp=None,
    lowering=Custom("top_k_indices"),
    operands=ordered,
    why=POSITIONS,
)


def top_k(input: TensorLike, k: int = 1, sorted: bool = True) -> TopK:
    """Return the k greatest elements along the last axis, and their positions.

    Args:
        input: A tensor of rank 1 or more, not complex. NaN counts as the greatest.
        k: How many.
        sorted: Whether the greatest comes first. It always does; of equal elements the
            one with the lower position comes first.

    Returns:
        A named tuple: values, and indices as int32.

    Raises:
        ArgumentError: If k is negative, or more than the elements along the axis.
        ShapeError: If the input is a scalar.

    Example:
        >>> import gtape as gt
        >>> values, indices = gt.top_k([3., 1., 2.], k=2)
        >>> values.numpy(), indices.numpy()
        (array([3., 2.], dtype=float32), array([0, 2], dtype=int32))
    """
    x = convert(input)
    check_rank("top_k", x, 1, "the input")
    count, size = as_int("top_k", "k", k), x.shape[-1]
    if not 0 <= count <= size:
        raise ArgumentError(
            f"top_k: k {count} of {size} elements along the last axis",
            f"Use 0 to {size}",
        )
    indices = apply(_greatest, x, k=count)
    return TopK(take_along_axis(x, indices, -1), indices)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: int) -> Tensor:
    """Return for each row whether the target class is among the k greatest predictions.

    A class that ties with the last of them is among them; one whose prediction is not
    finite is not.

    Args:
        targets: Class numbers, an integer vector.
        predictions: A matrix: a row of predictions for each target.
        k: How many.

    Raises:
        ShapeError: If the shapes do not fit.
        IndexRangeError: If a target is not a class.

    Example:
        >>> import gtape as gt
        >>> gt.in_top_k([0, 1], [[0.9, 0.1], [0.9, 0.1]], k=1).numpy()
        array([ True, False])
    """
    classes, x = integers("in_top_k", targets), convert(predictions)
    count = as_int("in_top_k", "k", k)
    if x.ndim != 2 or tuple(classes.shape) != tuple(x.shape[:1]):
        raise ShapeError(
            f"in_top_k: targets of shape {tuple(classes.shape)} and predictions of "
            f"shape {tuple(x.shape)}",
            "Give a vector of classes, and a matrix with a row for each",
        )
    with said_by("in_top_k", "gather"):
        target = gather(x, expand_dims(classes, 1), batch_dims=1)
    greater = reduce_sum(cast(x > target, "int32"), axis=1)
    return (greater < count) & is_finite(target[:, 0])
