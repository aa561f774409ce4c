"""Contractions of two tensors named by axes: tensordot, and NumPy's dot and inner.

A contraction is one batched matrix product (or a product with broadcasting, where
nothing is summed), so that gradients of every order follow from matmul's.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, TypeAlias

from gtape.errors import ArgumentError, ShapeError
from gtape.ops.arithmetic import multiply
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    as_ints,
    normalize_axis,
)
from gtape.ops.linalg import as_factors, matmul
from gtape.ops.linear import reduce_sum
from gtape.ops.shaping import reshape, squeeze, transpose

Label: TypeAlias = "str | int"
"""The name of an axis: a letter, or a negative int for an axis under an ellipsis."""
Labels: TypeAlias = "tuple[Label, ...]"

# --- One pair -------------------------------------------------------------------------


def contract_pair(
    x: Tensor, xs: Labels, y: Tensor, ys: Labels, kept: Collection[Label]
) -> tuple[Tensor, Labels]:
    """Return a product summed over the labels not kept, and the labels it has.

    An axis of size 1 broadcasts against one of another size with the same label.
    """
    x, xs = _without_ones(x, xs, y, ys)
    y, ys = _without_ones(y, ys, x, xs)
    x, xs = sum_labels(x, xs, {*kept, *ys})
    y, ys = sum_labels(y, ys, {*kept, *xs})
    batch = tuple(i for i in xs if i in ys and i in kept)
    inner = tuple(i for i in xs if i in ys and i not in kept)
    left = tuple(i for i in xs if i not in ys)
    right = tuple(i for i in ys if i not in xs)
    out = (*batch, *left, *right)
    if not inner:
        x = arrange(x, xs, batch + left)
        y = arrange(y, ys, batch + right)
        if left and right:
            x = reshape(x, [*x.shape, *[1] * len(right)])
            sizes = y.shape
            y = reshape(
                y, [*sizes[: len(batch)], *[1] * len(left), *sizes[len(batch) :]]
            )
        elif left:
            y = reshape(y, [*y.shape, *[1] * len(left)])
        elif right:
            x = reshape(x, [*x.shape, *[1] * len(right)])
        return multiply(x, y), out
    x = arrange(x, xs, batch + left + inner)
    y = arrange(y, ys, batch + inner + right)
    n, b, k = len(batch), len(batch) + len(left), len(batch) + len(inner)
    sizes = (*x.shape[:b], *y.shape[k:])
    product = matmul(
        _grouped(x, n, b, tuple(x.shape)), _grouped(y, n, k, tuple(y.shape))
    )
    return (product if product.shape == sizes else reshape(product, sizes)), out


def _grouped(x: Tensor, first: int, second: int, shape: tuple[int, ...]) -> Tensor:
    """Return x as matrices: rows from the first place on, columns from the second."""
    if second - first == 1 and len(shape) - second == 1:
        return x
    rows, columns = math.prod(shape[first:second]), math.prod(shape[second:])
    return reshape(x, [*shape[:first], rows, columns])


def _without_ones(
    x: Tensor, xs: Labels, y: Tensor, ys: Labels
) -> tuple[Tensor, Labels]:
    gone = [
        axis
        for axis, label in enumerate(xs)
        if x.shape[axis] == 1 and label in ys and y.shape[ys.index(label)] != 1
    ]
    if not gone:
        return x, xs
    return squeeze(x, gone), tuple(i for a, i in enumerate(xs) if a not in gone)


def sum_labels(
    x: Tensor, labels: Labels, kept: Collection[Label]
) -> tuple[Tensor, Labels]:
    """Return x summed over the labels not kept, and its labels."""
    axes = [axis for axis, label in enumerate(labels) if label not in kept]
    if not axes:
        return x, labels
    return reduce_sum(x, axes), tuple(i for i in labels if i in kept)


def arrange(x: Tensor, labels: Labels, order: Labels) -> Tensor:
    """Return x with its axes in the order of the labels given."""
    if labels == order:
        return x
    return transpose(x, [labels.index(label) for label in order])


# --- tensordot, dot, inner ------------------------------------------------------------


def tensordot(a: TensorLike, b: TensorLike, axes: Any) -> Tensor:
    """Return the sum of products of a and b over pairs of axes.

    The other axes of a come first in the result, then the other axes of b.

    Args:
        a: A tensor.
        b: A tensor.
        axes: An int n for the last n axes of a with the first n of b; or two lists, of
            axes of a and of the axes of b they are paired with.

    Raises:
        ShapeError: If paired axes differ in size, or do not exist.

    Example:
        >>> import gtape as gt
        >>> gt.tensordot([[1., 2.], [3., 4.]], [1., 10.], axes=1).numpy()
        array([21., 43.], dtype=float32)
    """
    a, b = as_factors("tensordot", a, b)
    left, right = _paired_axes(axes, a.ndim, b.ndim)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ShapeError(
                f"tensordot: axis {i} of shape {tuple(a.shape)} and axis {j} of shape "
                f"{tuple(b.shape)} differ in size, {a.shape[i]} against {b.shape[j]}",
                "Pair axes of equal size",
            )
    xs = tuple(range(a.ndim))
    ys = tuple(
        left[right.index(j)] if j in right else a.ndim + j for j in range(b.ndim)
    )
    return contract_pair(a, xs, b, ys, {*xs, *ys}.difference(left))[0]


def _paired_axes(
    axes: Any, rank_a: int, rank_b: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pair = None if isinstance(axes, (str, bytes)) else _as_pair(axes)
    if pair is None:
        count = as_int("tensordot", "axes", axes)
        if not 0 <= count <= min(rank_a, rank_b):
            raise ShapeError(
                f"tensordot: {count} axes of tensors of rank {rank_a} and {rank_b}",
                f"Use 0 to {min(rank_a, rank_b)}, or name the axes",
            )
        return tuple(range(rank_a - count, rank_a)), tuple(range(count))
    left, right = [
        tuple(
            normalize_axis("tensordot", axis, rank, f"axis of {argument}")
            for axis in as_ints("tensordot", f"axes of {argument}", named)
        )
        for named, rank, argument in zip(pair, (rank_a, rank_b), "ab", strict=True)
    ]
    if (
        len(left) != len(right)
        or len({*left}) != len(left)
        or len({*right}) != len(right)
    ):
        raise ShapeError(
            f"tensordot: axes {axes!r} do not pair each axis of a with one of b",
            "Give two lists of the same length, each axis once",
        )
    return left, right


def _as_pair(axes: Any) -> list[Any] | None:
    if not hasattr(axes, "__len__") or getattr(axes, "ndim", 1) == 0:
        return None
    if len(axes) != 2:
        raise ArgumentError(
            f"tensordot: axes {axes!r} are not two lists",
            "Give an int, or [axes of a, axes of b]",
        )
    return list(axes)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return NumPy's dot: the sum over the last axis of a and the last but one of b.

    Of a vector b the only axis is taken; a scalar multiplies. For batches of matrices
    use `matmul`, whose leading axes broadcast.

    Raises:
        ShapeError: If the sizes differ.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.dot([1., 2.], [3., 4.]).numpy()
        np.float32(11.0)
    """
    a, b = as_factors("dot", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    place = max(b.ndim - 2, 0)
    _check_sizes("dot", a, a.ndim - 1, b, place)
    return tensordot(a, b, [[a.ndim - 1], [place]])


def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the sum of products over the last axes of a and b; a scalar multiplies.

    Raises:
        ShapeError: If the sizes of the last axes differ.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.inner([[1., 2.], [3., 4.]], [1., 10.]).numpy()
        array([21., 43.], dtype=float32)
    """
    a, b = as_factors("inner", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return multiply(a, b)
    _check_sizes("inner", a, a.ndim - 1, b, b.ndim - 1)
    return tensordot(a, b, [[a.ndim - 1], [b.ndim - 1]])


def _check_sizes(name: str, a: Tensor, i: int, b: Tensor, j: int) -> None:
    if a.shape[i] != b.shape[j]:
        raise ShapeError(
            f"{name}: shapes {tuple(a.shape)} and {tuple(b.shape)} differ in the "
            f"summed size, {a.shape[i]} against {b.shape[j]}",
            "Transpose an operand or fix the size",
        )
