"""Searching: where values belong, which elements are not zero, and which differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, NumpyDType, as_dtype
from gtape.errors import ArgumentError, DTypeError, ShapeError
from gtape.lowering import Custom
from gtape.ops import keys, linear
from gtape.ops.common import Tensor, TensorLike, check_rank, convert, one_of
from gtape.ops.known import once, open_size
from gtape.ops.sorting import POSITIONS, comparable
from gtape.primitive import Primitive, ordered
from gtape.spec import TensorSpec

# --- Searching ------------------------------------------------------------------------


def _search_forward(sequence: Any, values: Any, *, side: Any) -> Any:
    sequence, values = comparable(sequence), comparable(values)
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side).astype(np.int32)
    out = np.empty(values.shape, np.int32)
    for row in np.ndindex(sequence.shape[:-1]):
        out[row] = np.searchsorted(sequence[row], values[row], side)
    return out


_search = Primitive(
    "searchsorted",
    forward=_search_forward,
    spec=lambda sequence, values, *, side: values.with_dtype("int32"),
    vjp=None,
    lowering=Custom("searchsorted"),
    operands=ordered,
    why=POSITIONS,
)


def _integer(name: str, argument: str, dtype: DTypeLike) -> NumpyDType:
    """Return the dtype that positions are wanted in.

    Raises:
        DTypeError: If it is not an integer dtype.
    """
    target = as_dtype(dtype)
    if not target.is_integer:
        raise DTypeError(
            f"{name}: {argument} {target} is not an integer dtype",
            "Use int32 or int64",
        )
    return target.dtype


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = "int32",
) -> Tensor:
    """Return where values belong in an ascending sequence.

    Args:
        sorted_sequence: A tensor that ascends along its last axis; this is not checked.
        values: What to look for: of any shape for a sequence of rank 1, else with the
            leading sizes of the sequence.
        side: "left" for the first position that keeps the order, "right" for the last.
        out_type: The integer dtype of the result.

    Raises:
        ShapeError: If the leading sizes differ.
        ArgumentError: If the side is another word.

    Example:
        >>> import gtape as gt
        >>> gt.searchsorted([1., 3., 5.], [0., 3., 9.]).numpy()
        array([0, 1, 3], dtype=int32)
    """
    sequence, values = convert(sorted_sequence), convert(values)
    side = one_of("searchsorted", "side", side, ("left", "right"))
    check_rank("searchsorted", sequence, 1, "the sequence")
    leading = tuple(sequence.shape[:-1])
    if leading and (
        values.ndim != sequence.ndim or tuple(values.shape[:-1]) != leading
    ):
        raise ShapeError(
            f"searchsorted: a sequence of shape {tuple(sequence.shape)} and values of "
            f"shape {tuple(values.shape)}",
            "Make all sizes but the last equal, or give a sequence of rank 1",
        )
    dtype = _integer("searchsorted", "out_type", out_type)
    return linear.cast(apply(_search, sequence, values, side=side), dtype)


# --- Places and different elements ----------------------------------------------------


def argwhere(x: TensorLike) -> Tensor:
    """Return the positions of the elements that are not zero or false, one in each row.

    This is TensorFlow's `where` with one argument.

    Args:
        x: A tensor of any shape.

    Returns:
        An int64 matrix with a column for each axis of x, in the order of the elements.

    Example:
        >>> import gtape as gt
        >>> gt.argwhere([[False, True], [True, False]]).numpy()
        array([[0, 1],
               [1, 0]])
    """
    return once(keys.argwhere, convert(x))


def where(condition: TensorLike, x: TensorLike = None, y: TensorLike = None) -> Tensor:
    """Return x where the condition holds, else y; of a condition alone, its places.

    No gradient enters the operand that is not chosen, whatever its value.

    Args:
        condition: A bool tensor.
        x: The values where it is true.
        y: The values where it is false. The three broadcast.

    Returns:
        A tensor of the common shape; without x and y the int64 indices of the true
        elements, one row each, as `argwhere`.

    Raises:
        ArgumentError: If only one of x and y is given.

    Example:
        >>> import gtape as gt
        >>> gt.where([True, False], [1., 2.], 0.).numpy()
        array([1., 0.], dtype=float32)
        >>> gt.where([True, False, True]).numpy()
        array([[0],
               [2]])
    """
    if x is None and y is None:
        return argwhere(condition)
    if x is None or y is None:
        raise ArgumentError(
            "where: both x and y are needed, or none of them",
            "For the places of the true elements give the condition alone",
        )
    return linear.where(condition, x, y)


def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """Return the positions of the elements that are not zero or false, as an index.

    Args:
        x: A tensor of rank 1 or more.

    Returns:
        An int64 vector for each axis, as NumPy's `nonzero`, so that x[nonzero(x)] gives
        the elements.

    Raises:
        ShapeError: If x is a scalar.

    Example:
        >>> import gtape as gt
        >>> [i.numpy().tolist() for i in gt.nonzero([[0., 5.], [7., 0.]])]
        [[0, 1], [1, 0]]
    """
    x = convert(x)
    check_rank("nonzero", x, 1)
    places = argwhere(x)
    return tuple([places[:, axis] for axis in range(x.ndim)])


class Unique(NamedTuple):
    """The different elements of a vector, and which of them each element is."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The different elements of a vector, which of them each element is, and counts."""

    y: Tensor
    idx: Tensor
    count: Tensor


def _unique_forward(x: Any) -> Any:
    _, first, inverse, counts = np.unique(
        comparable(x), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # as they first occur, not as they are sorted
    rank = np.argsort(order)
    return (
        x[first[order]],
        rank[inverse.reshape(-1)].astype(np.int32),
        counts[order].astype(np.int32),
    )


def _unique_spec(x: TensorSpec) -> tuple[TensorSpec, ...]:
    count = (open_size(),)
    return x.with_shape(count), x.with_dtype("int32"), TensorSpec(count, "int32")


_unique = Primitive(
    "unique",
    forward=_unique_forward,
    spec=_unique_spec,
    vjp=None,
    lowering=Custom("unique"),
    multiple=True,
    why="of equal elements it is arbitrary which one the result is taken from",
)


def _different(name: str, x: TensorLike, out_idx: DTypeLike) -> Any:
    x, dtype = convert(x), _integer(name, "out_idx", out_idx)
    if x.ndim != 1:
        raise ShapeError(
            f"{name}: a tensor of shape {tuple(x.shape)} is not a vector",
            "Reshape it: gt.reshape(x, -1)",
        )
    y, idx, count = apply(_unique, x)
    return y, linear.cast(idx, dtype), linear.cast(count, dtype)


def unique(x: TensorLike, out_idx: DTypeLike = "int32") -> Unique:
    """Return the different elements of a vector, in the order of first occurrence.

    There is no gradient; to have one, gather the elements at positions of your own. All
    NaN count as equal.

    Args:
        x: A vector.
        out_idx: The integer dtype of idx.

    Returns:
        A named tuple: y, the different elements, and idx: y[idx] is x.

    Raises:
        ShapeError: If x is not a vector.

    Example:
        >>> import gtape as gt
        >>> y, idx = gt.unique([4, 2, 4])
        >>> y.numpy(), idx.numpy()
        (array([4, 2], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    y, idx, _ = _different("unique", x, out_idx)
    return Unique(y, idx)


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = "int32") -> UniqueWithCounts:
    """Return the different elements of a vector, and how often each occurs.

    Args:
        x: A vector.
        out_idx: The integer dtype of idx and count.

    Returns:
        A named tuple: y and idx as those of `unique`, and count.

    Raises:
        ShapeError: If x is not a vector.

    Example:
        >>> import gtape as gt
        >>> gt.unique_with_counts([4, 2, 4]).count.numpy()
        array([2, 1], dtype=int32)
    """
    return UniqueWithCounts(*_different("unique_with_counts", x, out_idx))
