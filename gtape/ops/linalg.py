"""Matrix products: matmul and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import ShapeError
from gtape.lowering import Contract
from gtape.ops.common import Tensor, TensorLike, check_rank, convert
from gtape.ops.math import conj
from gtape.ops.shaping import matrix_transpose
from gtape.primitive import Primitive, number
from gtape.spec import TensorSpec, broadcast_shapes


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
    batch = broadcast_shapes("matmul", x.shape[:-2], y.shape[:-2])
    return TensorSpec((*batch, x.shape[-2], y.shape[-1]), x.dtype)


def _matmul_forward(x: Any, y: Any) -> Any:
    if x.ndim < 2 or y.ndim < 2:
        _matmul_spec(TensorSpec(x.shape, x.dtype), TensorSpec(y.shape, y.dtype))
    if x.dtype.kind == "V":  # bfloat16 has no matrix product of its own
        return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    return np.matmul(x, y)


_matmul = Primitive(
    "matmul",
    forward=_matmul_forward,
    spec=_matmul_spec,
    vjp=lambda g, _out, x, y: (
        lambda: apply(_matmul, g, matrix_transpose(y)),
        lambda: apply(_matmul, matrix_transpose(x), g),
    ),
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
        a = _flipped(a, adjoint_a)
    if transpose_b or adjoint_b:
        b = _flipped(b, adjoint_b)
    return apply(_matmul, a, b)


def _flipped(x: TensorLike, conjugate: bool) -> Tensor:
    x = convert(x)
    check_rank("matmul", x, 2, "a transposed operand")
    out = matrix_transpose(x)
    return conj(out) if conjugate else out
