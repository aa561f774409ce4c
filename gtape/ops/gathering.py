"""gather and its relatives: slices of a tensor at positions that stand in another.

The indices of `gather` and `gather_nd` count from the front only: a negative one is out
of range, as in TensorFlow. Repeated indices add up in gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dtypes import as_dtype
from gtape.errors import DTypeError, ShapeError, said_by
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    convert,
    normalize_axis,
    numpy_dtype_of,
)
from gtape.ops.creation import made, positions
from gtape.ops.indexing import getitem
from gtape.ops.indices import INDEXING, index, on_outside
from gtape.ops.linear import broadcast_to
from gtape.ops.shaping import transpose


def integers(name: str, indices: TensorLike) -> Tensor:
    """Return indices as an integer tensor; an empty list is one."""
    tensor = convert(indices)
    if isinstance(indices, (list, tuple)) and 0 in tensor.shape:
        return made(np.zeros(tensor.shape, np.int32))
    if tensor.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: indices must be integers, got {as_dtype(numpy_dtype_of(tensor))}",
            "Cast them to gt.int32 or gt.int64",
        )
    return tensor


# --- Gather ---------------------------------------------------------------------------


def gather(
    params: TensorLike,
    indices: TensorLike,
    axis: int | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Return the slices of a tensor at given positions along one axis.

    Args:
        params: A tensor of rank 1 or more.
        indices: Positions along the axis, an integer tensor whose shape takes the place
            of the axis. Negative ones are refused; x[i] would count them from the end.
        axis: The axis to read along; by default the first after the batch axes.
        batch_dims: How many leading axes params and indices have in common.

    Raises:
        IndexRangeError: If an index is negative or too large.
        ShapeError: If params has no such axis, or the batch axes differ.

    Example:
        >>> import gtape as gt
        >>> gt.gather([10, 20, 30], [2, 0, 2]).numpy()
        array([30, 10, 30], dtype=int32)
    """
    x, places = convert(params), integers("gather", indices)
    batch = _batch_dims("gather", x, places, batch_dims)
    along = batch if axis is None else axis
    along = normalize_axis("gather", along, x.ndim)
    if along < batch:
        raise ShapeError(
            f"gather: axis {along} is one of the {batch} batch axes",
            "Give an axis from batch_dims on",
        )
    arrays = [positions(x.shape[b], b, places.ndim) for b in range(batch)]
    if along != batch:  # `index` needs the axes side by side
        others = [a for a in range(batch, x.ndim) if a != along]
        x = transpose(x, [*range(batch), along, *others]) if batch else x
    at = tuple(range(batch + 1)) if batch else (along,)
    with on_outside(lambda error: error.renamed("gather", [*range(batch), along])):
        out = index(x, [*arrays, places], at, wrap=False)
    if along == batch or not batch:
        return out
    # The axes of the indices stand before those between the batch and the axis.
    first, last = batch, places.ndim
    between = range(last, last + along - batch)
    order = [
        *range(first),
        *between,
        *range(first, last),
        *range(between.stop, out.ndim),
    ]
    return transpose(out, order)


def _batch_dims(name: str, x: Any, places: Any, batch_dims: Any) -> int:
    batch = as_int(name, "batch_dims", batch_dims)
    if not -places.ndim <= batch <= places.ndim:
        raise ShapeError(
            f"{name}: batch_dims {batch} for indices of shape {tuple(places.shape)}",
            "Give as many as the tensors have in common",
        )
    batch = batch + places.ndim if batch < 0 else batch
    if tuple(x.shape[:batch]) != tuple(places.shape[:batch]):
        raise ShapeError(
            f"{name}: params of shape {tuple(x.shape)} and indices of shape "
            f"{tuple(places.shape)} differ in their first {batch} axes",
            "Make the batch axes equal",
        )
    return batch


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int) -> Tensor:
    """Return out[..., i, ...] = x[..., indices[..., i, ...], ...] along one axis.

    Args:
        x: A tensor.
        indices: Positions along the axis, of the rank of x; their other sizes are those
            of x, or 1. Negative ones count from the end, as in NumPy.
        axis: The axis to read along.

    Raises:
        IndexRangeError: If an index is out of range.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.take_along_axis([[3, 1], [5, 9]], [[1], [0]], axis=1).numpy()
        array([[1],
               [5]], dtype=int32)
    """
    x, places = convert(x), integers("take_along_axis", indices)
    along = normalize_axis("take_along_axis", axis, x.ndim)
    if places.ndim != x.ndim or any(
        d not in (1, n)
        for i, (d, n) in enumerate(zip(places.shape, x.shape, strict=True))
        if i != along
    ):
        raise ShapeError(
            f"take_along_axis: indices of shape {tuple(places.shape)} for a tensor of "
            f"shape {tuple(x.shape)} and axis {along}",
            "Make the other sizes equal, or 1",
        )
    arrays = [
        places if i == along else positions(n, i, x.ndim) for i, n in enumerate(x.shape)
    ]
    with said_by("take_along_axis", *INDEXING):
        return index(x, arrays, range(x.ndim))


def columns_of(name: str, places: Any, rank: int) -> list[Any]:
    """Return the last axis of indices as one array for each axis they index."""
    if places.ndim == 0:
        raise ShapeError(
            f"{name}: indices must have rank 1 or more, got a scalar",
            "Give a list of positions, each a list with one entry for each axis",
        )
    depth = places.shape[-1]
    if depth > rank:
        raise ShapeError(
            f"{name}: indices of shape {tuple(places.shape)} name {depth} axes of a "
            f"tensor that has {rank}",
            "Their last axis has one entry for each axis indexed",
        )
    return [getitem(places, (..., i)) for i in range(depth)]


def gather_nd(params: TensorLike, indices: TensorLike, batch_dims: int = 0) -> Tensor:
    """Return the elements or slices of a tensor at given positions.

    Args:
        params: A tensor.
        indices: An integer tensor; along its last axis stand the positions in the first
            axes of params after the batch axes.
        batch_dims: How many leading axes params and indices have in common.

    Returns:
        A tensor of shape indices.shape[:-1] + the axes of params that are not indexed.

    Raises:
        IndexRangeError: If an index is negative or too large.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
        array([2, 3], dtype=int32)
    """
    x, places = convert(params), integers("gather_nd", indices)
    batch = _batch_dims("gather_nd", x, places, batch_dims)
    columns = columns_of("gather_nd", places, x.ndim - batch)
    block = tuple(places.shape[:-1])
    if batch > len(block):
        raise ShapeError(
            f"gather_nd: {batch} batch axes in indices of shape {tuple(places.shape)}",
            "The last axis of the indices is no batch axis",
        )
    arrays = [positions(x.shape[b], b, len(block)) for b in range(batch)] + columns
    if not arrays:
        return broadcast_to(x, (*block, *x.shape))
    if not columns:  # only batch axes: the block comes from nowhere else
        arrays[0] = broadcast_to(arrays[0], block)
    with said_by("gather_nd", *INDEXING):
        return index(x, arrays, range(len(arrays)), wrap=False)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, axis: int | None = None
) -> Tensor:
    """Return the elements or slices of a tensor where a mask is true.

    Args:
        tensor: A tensor.
        mask: A bool tensor of rank 1 or more, with the sizes of the axes it masks.
        axis: The first axis it masks; 0 by default.

    Raises:
        ShapeError: If the mask is a scalar or its sizes differ.
        DTypeError: If the mask is not bool.

    Example:
        >>> import gtape as gt
        >>> gt.boolean_mask([1, 2, 3], [True, False, True]).numpy()
        array([1, 3], dtype=int32)
    """
    x, mask = convert(tensor), convert(mask)
    if mask.dtype.kind != "b":
        raise DTypeError(
            f"boolean_mask: a mask of {as_dtype(numpy_dtype_of(mask))}",
            "Compare first, such as x > 0",
        )
    if mask.ndim == 0:
        raise ShapeError(
            "boolean_mask: the mask is a scalar", "Give it the axes it masks"
        )
    first = 0 if axis is None else normalize_axis("boolean_mask", axis, x.ndim)
    masked = tuple(x.shape[first : first + mask.ndim])
    if masked != tuple(mask.shape):
        raise ShapeError(
            f"boolean_mask: a mask of shape {tuple(mask.shape)} for axes of sizes "
            f"{masked} from axis {first} on",
            "Give the mask the sizes of the axes",
        )
    return getitem(x, (*[slice(None)] * first, mask))
