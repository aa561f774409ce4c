"""Norms of vectors, and of matrices by their elements or their singular values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.errors import ArgumentError, ShapeError, said_by
from gtape.ops.arithmetic import pow as power
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    as_ints,
    check_rank,
    normalize_axes,
)
from gtape.ops.indexing import getitem
from gtape.ops.known import settled
from gtape.ops.linear import reduce_sum, stop_gradient, where
from gtape.ops.logic import equal, is_finite, logical_and
from gtape.ops.math import abs as absolute
from gtape.ops.norms import reduce_euclidean_norm
from gtape.ops.precision import as_inexact
from gtape.ops.reduction import keep_axes, reduce_max
from gtape.ops.shaping import expand_dims, transpose
from gtape.ops.spectral import svd


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the norm of vectors or matrices, a real number for each.

    The gradient of a Euclidean norm at zero is zero.

    Args:
        tensor: A floating-point or complex tensor.
        ord: For vectors "euclidean" or 2, 1, inf, or a positive p for
            sum(abs(x) ** p) ** (1 / p). For matrices "fro" or "euclidean", 1 for the
            greatest column sum, inf for the greatest row sum, 2 for the greatest
            singular value, -2 for the least, "nuc" for their sum.
        axis: One axis for vectors, a pair (rows, columns) for matrices; by default all
            elements are one vector.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        ArgumentError: If there is no such norm.
        DTypeError: If the tensor is integer or bool, or complex for a norm made of
            singular values.

    Example:
        >>> import gtape as gt
        >>> gt.norm([[3., 4.], [0., 5.]], axis=1).numpy()
        array([5., 5.], dtype=float32)
        >>> gt.norm([[3., 0.], [0., -7.]], ord=2, axis=(0, 1)).numpy()
        np.float32(7.0)
    """
    x = as_inexact("norm", tensor)
    axes = () if axis is None else as_ints("norm", "axis", axis)
    if axis is not None and len(axes) not in (1, 2):
        raise ArgumentError(
            f"norm: axis {axis!r} is neither one axis nor a pair",
            "Give an int for vectors, two for matrices, or None for all elements",
        )
    places = normalize_axes("norm", axis, x.ndim)
    if len(axes) == 2:
        rows, columns = [a % x.ndim for a in axes]
        out = _of_matrices("norm", x, _matrix_order("norm", ord), rows, columns)
    else:
        out = _of_vectors(x, _vector_order(ord), places)
    return keep_axes("norm", out, places, keepdims)


def matrix_norm(
    x: TensorLike, ord: float | str = "fro", keepdims: bool = False
) -> Tensor:
    """Return a norm of each matrix.

    Args:
        x: A floating-point tensor of shape [..., n, m]; complex too, but not for the
            norms made of singular values.
        ord: "fro" for the root of the sum of squares, 2 for the greatest singular
            value, -2 for the least, "nuc" for their sum, 1 for the greatest column sum,
            inf for the greatest row sum.
        keepdims: Whether the last two axes stay, with size 1.

    Raises:
        ArgumentError: If there is no such norm.
        ShapeError: If x is no matrix.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.matrix_norm([[3., 0.], [0., 4.]], ord="nuc").numpy()
        np.float32(7.0)
    """
    order = _matrix_order("matrix_norm", ord)
    x = as_inexact("matrix_norm", x)
    check_rank("matrix_norm", x, 2)
    axes = (x.ndim - 2, x.ndim - 1)
    out = _of_matrices("matrix_norm", x, order, *axes)
    return keep_axes("matrix_norm", out, axes, keepdims)


# --- Vectors --------------------------------------------------------------------------


def _vector_order(ord: Any) -> float:
    """Return the order of a norm of vectors as a number.

    Raises:
        ArgumentError: If there is no such norm.
    """
    if isinstance(ord, str) and ord in ("euclidean", "fro"):
        return 2
    if _is_number(ord) and ord > 0:
        return float(ord)
    raise ArgumentError(
        f"norm: ord {ord!r} is no norm of vectors",
        "Use 'euclidean', 1, 2, inf or another positive number",
    )


def _is_number(ord: Any) -> bool:
    number = isinstance(settled(ord), (int, float, np.integer, np.floating))
    return number and ord is not True


def _of_vectors(x: Tensor, p: float, axes: tuple[int, ...]) -> Tensor:
    if p == 2:
        return reduce_euclidean_norm(x, axes)
    sizes = absolute(x)
    if p == 1:
        return reduce_sum(sizes, axes)
    if p == math.inf:
        return _greatest(sizes, axes)
    top = stop_gradient(reduce_max(sizes, axes))
    top = where(logical_and(is_finite(top), top > 0), top, 1.0)
    total = reduce_sum(power(sizes / expand_dims(top, axes), p), axes)
    # At zero the root is steep: its gradient stays out.
    zero = equal(total, 0)
    root = power(where(zero, 1.0, total), 1 / p)
    return where(zero, 0.0, root * top)


def _greatest(sizes: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the maximum of sizes that are not negative: 0, not -inf, if of none."""
    empty = 0 in [sizes.shape[i] for i in axes]
    return (reduce_sum if empty else reduce_max)(sizes, axes)


# --- Matrices -------------------------------------------------------------------------


def _matrix_order(name: str, ord: Any) -> float | str:
    """Return the order of a norm of matrices: "fro", "nuc", 1, inf, 2 or -2.

    Raises:
        ArgumentError: If there is no such norm.
    """
    if isinstance(ord, str) and ord in ("euclidean", "fro", "nuc"):
        return "nuc" if ord == "nuc" else "fro"
    if _is_number(ord) and ord in (1, 2, -2, math.inf):
        return float(ord)
    raise ArgumentError(
        f"{name}: ord {ord!r} is no norm of matrices",
        "Use 'fro', 'nuc', 1, 2, -2 or inf",
    )


def _of_matrices(
    name: str, x: Tensor, order: float | str, rows: int, columns: int
) -> Tensor:
    if order == "fro":
        return reduce_euclidean_norm(x, (rows, columns))
    if order in (1, math.inf):
        summed, other = (rows, columns) if order == 1 else (columns, rows)
        sums = reduce_sum(absolute(x), summed)
        return _greatest(sums, (other - (summed < other),))
    rest = [i for i in range(x.ndim) if i not in (rows, columns)]
    with said_by(name, "svdvals"):
        values = svd(transpose(x, [*rest, rows, columns]), compute_uv=False)
    if order == "nuc":
        return reduce_sum(values, axis=-1)
    if values.shape[-1] == 0:
        raise ShapeError(
            f"{name}: a matrix of shape {tuple(x.shape)} has no singular values",
            "Give it at least one row and one column",
        )
    return getitem(values, (..., 0 if order == 2 else -1))
