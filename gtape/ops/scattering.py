"""scatter: tensors with values added or written at positions that stand in another.

Indices count from the front only: a negative one is out of range, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.errors import ShapeError, said_by
from gtape.ops.common import Tensor, TensorLike, as_shape, convert
from gtape.ops.gathering import columns_of, integers
from gtape.ops.index_write import fitting, index_write
from gtape.ops.indexing import getitem
from gtape.ops.indices import INDEXING, index_add
from gtape.ops.linear import broadcast_to, reduce_sum


def _columns(name: str, indices: Any, updates: Any, shape: Sequence[int]) -> list[Any]:
    """Return the indices, one array for each axis, if the updates fit them."""
    places = integers(name, indices)
    columns = columns_of(name, places, len(shape))
    selection = (*places.shape[:-1], *shape[len(columns) :])
    if tuple(updates.shape) != selection:
        raise ShapeError(
            f"{name}: updates of shape {tuple(updates.shape)} for indices of shape "
            f"{tuple(places.shape)} into shape {tuple(shape)}",
            f"They need the shape {selection}",
        )
    return columns


def _sum_at(name: str, indices: Any, updates: Any, shape: Sequence[int]) -> Tensor:
    """Return zeros of a shape with updates added at positions."""
    columns = _columns(name, indices, updates, shape)
    if not columns:  # every update is for the whole
        return reduce_sum(updates, axis=range(updates.ndim - len(shape)))
    with said_by(name, *INDEXING):
        return index_add(updates, columns, range(len(columns)), shape, wrap=False)


def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: Sequence[int]
) -> Tensor:
    """Return zeros of a shape with updates added at given positions; duplicates add up.

    Args:
        indices: An integer tensor; along its last axis stand the positions in the first
            axes of the result.
        updates: A tensor of shape indices.shape[:-1] + shape[indices.shape[-1]:].
        shape: The shape of the result.

    Raises:
        IndexRangeError: If an index is negative or too large.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.scatter_nd([[0], [2], [0]], [1., 2., 3.], [4]).numpy()
        array([4., 0., 2., 0.], dtype=float32)
    """
    return _sum_at(
        "scatter_nd", indices, convert(updates), as_shape("scatter_nd", shape)
    )


def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike
) -> Tensor:
    """Return a tensor with updates added at given positions; duplicates add up.

    Args:
        tensor: A tensor.
        indices: An integer tensor; along its last axis stand the positions in the first
            axes of the tensor.
        updates: What is written, of the tensor's dtype and of shape
            indices.shape[:-1] + tensor.shape[indices.shape[-1]:].

    Raises:
        IndexRangeError: If an index is negative or too large.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.tensor_scatter_nd_add([1., 2., 3.], [[0], [0]], [10., 20.]).numpy()
        array([31.,  2.,  3.], dtype=float32)
    """
    name, x = "tensor_scatter_nd_add", convert(tensor)
    return x + _sum_at(name, indices, fitting(name, x, updates), x.shape)


def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike
) -> Tensor:
    """Return a tensor with updates subtracted at given positions; duplicates add up.

    Args and errors are those of `tensor_scatter_nd_add`.

    Example:
        >>> import gtape as gt
        >>> gt.tensor_scatter_nd_sub([1., 2., 3.], [[1]], [10.]).numpy()
        array([ 1., -8.,  3.], dtype=float32)
    """
    name, x = "tensor_scatter_nd_sub", convert(tensor)
    return x - _sum_at(name, indices, fitting(name, x, updates), x.shape)


def _write(how: str, name: str, tensor: Any, indices: Any, updates: Any) -> Tensor:
    x = convert(tensor)
    updates = fitting(name, x, updates)
    columns = _columns(name, indices, updates, x.shape)
    if not columns:  # every update is for the whole: the one row of a tensor of rows
        block = tuple(updates.shape[: updates.ndim - x.ndim])
        rows = getitem(x, None)
        places = broadcast_to(np.int32(0), block)
        return getitem(index_write(how, rows, updates, [places], [0], wrap=False), 0)
    with said_by(name, *INDEXING):
        return index_write(how, x, updates, columns, range(len(columns)), wrap=False)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike
) -> Tensor:
    """Return a tensor with the elements or slices at given positions replaced.

    Of duplicates the last update stays, and only it has a gradient.

    Args and errors are those of `tensor_scatter_nd_add`.

    Example:
        >>> import gtape as gt
        >>> gt.tensor_scatter_nd_update([1., 2., 3.], [[0], [2]], [8., 9.]).numpy()
        array([8., 2., 9.], dtype=float32)
    """
    return _write("put", "tensor_scatter_nd_update", tensor, indices, updates)


def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike
) -> Tensor:
    """Return a tensor with elements at given positions raised to the updates.

    The gradient goes to the greatest; of a tie to the tensor, then to the first update.

    Args and errors are those of `tensor_scatter_nd_add`.

    Example:
        >>> import gtape as gt
        >>> gt.tensor_scatter_nd_max([1., 2., 3.], [[0], [2]], [8., 0.]).numpy()
        array([8., 2., 3.], dtype=float32)
    """
    return _write("max", "tensor_scatter_nd_max", tensor, indices, updates)


def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike
) -> Tensor:
    """Return a tensor with elements at given positions lowered to the updates.

    The gradient goes to the least; of a tie to the tensor, then to the first update.

    Args and errors are those of `tensor_scatter_nd_add`.

    Example:
        >>> import gtape as gt
        >>> gt.tensor_scatter_nd_min([1., 2., 3.], [[0], [2]], [8., 0.]).numpy()
        array([1., 2., 0.], dtype=float32)
    """
    return _write("min", "tensor_scatter_nd_min", tensor, indices, updates)
