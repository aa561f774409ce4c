"""Matrix products: matmul and what is made of it, outer and Kronecker products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.dispatch import apply
from gtape.errors import ArgumentError, ShapeError, said_by
from gtape.lowering import Contract
from gtape.ops.arithmetic import multiply
from gtape.ops.common import (
    Tensor,
    TensorLike,
    check_rank,
    convert,
    normalize_axis,
    require_flag,
)
from gtape.ops.linear import reduce_sum
from gtape.ops.math import conj
from gtape.ops.precision import is_half
from gtape.ops.shaping import expand_dims, matrix_transpose, reshape, squeeze
from gtape.primitive import Primitive, number
from gtape.spec import Dim, TensorSpec, broadcast_shapes


def broadcast_batch(name: str, x: Sequence[Dim], y: Sequence[Dim]) -> tuple[Dim, ...]:
    """Return what the axes before the matrices broadcast to, given two whole shapes.

    Raises:
        ShapeError: If two sizes differ and neither is 1.
    """
    try:
        return broadcast_shapes(name, x[:-2], y[:-2])
    except ShapeError as error:
        raise error.reworded(
            f"{name}: shapes {tuple(x)} and {tuple(y)} do not broadcast in the axes "
            "before the matrices"
        ) from None


def _matmul_spec(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    if x.rank < 2 or y.rank < 2:
        raise ShapeError(
            f"matmul: shapes {x.shape} @ {y.shape}: both operands need rank 2 or more",
            "Use gt.matvec or gt.tensordot for vectors",
        )
    inner, other = x.shape[-1], y.shape[-2]
    if inner is not None and other is not None and inner != other:
        raise ShapeError(
            f"matmul: inner sizes differ, {x.shape} @ {y.shape}",
            "Transpose an operand or fix the width",
        )
    batch = broadcast_batch("matmul", x.shape, y.shape)
    return TensorSpec((*batch, x.shape[-2], y.shape[-1]), x.dtype)


def _matmul_forward(x: Any, y: Any) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        _matmul_spec(TensorSpec(x.shape, x.dtype), TensorSpec(y.shape, y.dtype))
    if is_half(x.dtype):
        wide = _matmul_forward(x.astype(np.float32), y.astype(np.float32))
        return wide.astype(x.dtype)
    if x.ndim > 2 and y.ndim == 2 and x.flags.c_contiguous and x.size:
        # One large product in place of one for each matrix.
        flat = np.matmul(x.reshape(-1, x.shape[-1]), y)
        return flat.reshape(*x.shape[:-1], y.shape[-1])
    return np.matmul(x, y)


def _matmul_vjp(g: Any, _out: Any, x: Any, y: Any) -> tuple[Any, ...]:
    def right() -> Any:
        if x.ndim > 2 and y.ndim == 2 and None not in x.shape:
            # One matrix for the whole batch: the sum over the batch is part of the
            # product.
            return apply(_matmul, matrix_transpose(_as_rows(x)), _as_rows(g))
        return apply(_matmul, matrix_transpose(x), g)

    return lambda: apply(_matmul, g, matrix_transpose(y)), right


def _as_rows(x: Any) -> Any:
    return reshape(x, [math.prod(x.shape[:-1]), x.shape[-1]])


_matmul = Primitive(
    "matmul",
    forward=_matmul_forward,
    spec=_matmul_spec,
    vjp=_matmul_vjp,
    lowering=Contract("matmul"),
    operands=number,
)


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:
    """Return the matrix product of the last two axes; the axes before them broadcast.

    Args:
        a: A tensor of shape [..., n, k].
        b: A tensor of shape [..., k, m].
        transpose_a: Whether a is transposed first.
        transpose_b: Whether b is transposed first.
        adjoint_a: Whether a is transposed and conjugated first.
        adjoint_b: Whether b is transposed and conjugated first.

    Raises:
        ShapeError: If the inner sizes differ, or an operand is a vector.

    Example:
        >>> import gtape as gt
        >>> gt.matmul([[1., 2.]], [[3.], [4.]]).numpy()
        array([[11.]], dtype=float32)
    """
    if transpose_a or adjoint_a:
        a = _flipped("matmul", a, transpose_a, adjoint_a)
    if transpose_b or adjoint_b:
        b = _flipped("matmul", b, transpose_b, adjoint_b)
    return apply(_matmul, a, b)


def _flipped(name: str, x: TensorLike, transpose: bool, adjoint: bool) -> Tensor:
    require_flag(name, "transpose", transpose)
    require_flag(name, "adjoint", adjoint)
    if transpose and adjoint:
        raise ArgumentError(
            f"{name}: an operand is both transposed and adjoint",
            "Give one of the two: adjoint also conjugates",
        )
    x = convert(x)
    check_rank(name, x, 2, "a transposed operand")
    out = matrix_transpose(x)
    return conj(out) if adjoint else out


def lifted(name: str, primitive: Primitive, *operands: TensorLike) -> Sequence[Tensor]:
    """Return operands as `primitive` would take them: tensors, with the dtypes adapted.

    For functions that look at the shapes of operands before they run the primitive.

    Args:
        name: The function, for messages.
        primitive: Whose rule for dtypes holds.
        *operands: Anything tensor-like.
    """
    with said_by(name, primitive.name):
        return dispatch.interpreter().lift(primitive, operands)


def as_factors(name: str, *operands: TensorLike) -> Sequence[Tensor]:
    """Return the operands of a product as tensors of one dtype.

    Args:
        name: The function, for messages.
        *operands: Anything tensor-like.
    """
    return lifted(name, _matmul, *operands)


def matvec(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False
) -> Tensor:
    """Return the product of matrices and vectors; the axes before them broadcast.

    Args:
        a: A tensor of shape [..., n, k].
        b: A tensor of shape [..., k].
        transpose_a: Whether a is transposed first.
        adjoint_a: Whether a is transposed and conjugated first.

    Raises:
        ShapeError: If the sizes differ, or a is no matrix, or b no vector.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.matvec([[1., 2.], [3., 4.]], [1., 1.]).numpy()
        array([3., 7.], dtype=float32)
    """
    a, b = as_factors("matvec", a, b)
    check_rank("matvec", a, 2, "a")
    check_rank("matvec", b, 1, "b")
    if transpose_a or adjoint_a:
        a = _flipped("matvec", a, transpose_a, adjoint_a)
    inner, other = a.shape[-1], b.shape[-1]
    if inner != other and inner is not None and other is not None:
        raise ShapeError(
            f"matvec: a matrix of shape {tuple(a.shape)} and a vector of shape "
            f"{tuple(b.shape)} differ in size, {inner} against {other}",
            "Transpose the matrix with transpose_a=True, or fix the length",
        )
    with said_by("matvec", "matmul"):
        return squeeze(apply(_matmul, a, expand_dims(b, -1)), -1)


def vecdot(x: TensorLike, y: TensorLike, axis: int = -1) -> Tensor:
    """Return the inner products of vectors along an axis; the other axes broadcast.

    Args:
        x: A tensor; if complex, it is conjugated.
        y: A tensor of the same size along the axis.
        axis: The axis of the vectors, counted from the end (in both tensors).

    Raises:
        ShapeError: If the sizes along the axis differ, or an operand is a scalar.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.vecdot([[1., 2.], [3., 4.]], [1., 1.]).numpy()
        array([3., 7.], dtype=float32)
    """
    x, y = as_factors("vecdot", x, y)
    least = min(x.ndim, y.ndim)
    place = normalize_axis("vecdot", axis, least) - least
    if x.shape[place] != y.shape[place]:
        raise ShapeError(
            f"vecdot: shapes {tuple(x.shape)} and {tuple(y.shape)} differ along axis "
            f"{place}, {x.shape[place]} against {y.shape[place]}",
            "Give vectors of one length",
        )
    return reduce_sum(multiply(conj(x), y), axis=place)


def outer(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the products of all elements of x with all elements of y, as a matrix.

    Args:
        x: A tensor; one that is no vector is flattened.
        y: A tensor; one that is no vector is flattened.

    Example:
        >>> import gtape as gt
        >>> gt.outer([1., 2.], [3., 4.]).numpy()
        array([[3., 4.],
               [6., 8.]], dtype=float32)
    """
    x, y = as_factors("outer", x, y)
    return multiply(reshape(x, [-1, 1]), reshape(y, [1, -1]))


def kron(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the Kronecker product: y once for each element of x, multiplied by it.

    Args:
        x: A tensor of any rank.
        y: A tensor of any rank; the lower rank is filled up with axes of size 1 first.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.kron([[1., 2.]], [[1.], [10.]]).numpy()
        array([[ 1.,  2.],
               [10., 20.]], dtype=float32)
    """
    x, y = as_factors("kron", x, y)
    rank = max(x.ndim, y.ndim)
    left = (1,) * (rank - x.ndim) + tuple(x.shape)
    right = (1,) * (rank - y.ndim) + tuple(y.shape)
    blocks = multiply(
        reshape(x, [size for d in left for size in (d, 1)]),
        reshape(y, [size for d in right for size in (1, d)]),
    )
    return reshape(blocks, [a * b for a, b in zip(left, right, strict=True)])
