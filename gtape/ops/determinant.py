"""Determinants (of singular matrices too), their logarithm; the matrix exponential."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import LinalgError
from gtape.lazy import scipy_linalg
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike
from gtape.ops.diagonal import trace
from gtape.ops.linalg import matmul
from gtape.ops.precision import through_float32
from gtape.ops.shaping import expand_dims, matrix_transpose
from gtape.ops.slicing import concat, strided_slice
from gtape.ops.solving import (
    NOT_FINITE,
    check_square,
    factored,
    inv,
    real_matrices,
    square_spec,
)
from gtape.primitive import Primitive, inexact
from gtape.spec import TensorSpec

# --- Determinant ----------------------------------------------------------------------


def _det_spec(x: TensorSpec) -> TensorSpec:
    check_square("det", x)
    return x.with_shape(x.shape[:-2])


def _det_forward(x: Any) -> Any:
    check_square("det", x)
    return np.linalg.det(x)


_det = Primitive(
    "det",
    forward=through_float32(_det_forward),
    spec=_det_spec,
    vjp=lambda g, _out, x: (expand_dims(g, (-2, -1)) * apply(_cofactor, x),),
    lowering=Custom("det"),
    operands=inexact,
)


def det(input: TensorLike) -> Tensor:
    """Return the determinants of square matrices.

    The gradient is the matrix of cofactors, which needs no inverse: gradients of first
    and second order are right for singular matrices too.

    Args:
        input: A tensor of shape [..., n, n], real or complex.

    Raises:
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.det([[2., 1.], [1., 4.]]).numpy()
        np.float32(7.0)
    """
    return apply(_det, input)


def _decomposed(x: Any) -> tuple[Any, Any, Any, Any]:
    """Return u, s, v and e with x = u @ diag(s) @ v and det(x) = e * prod(s)."""
    u, s, v = factored("det: gradient", *NOT_FINITE, np.linalg.svd, x)
    unit = np.linalg.det(u) * np.linalg.det(v)
    return u, s, v, (unit / np.abs(unit))[..., None, None]


def _products_without(s: Any) -> Any:
    """Return for each element of the last axis the product of the others."""
    # From both sides and without a division, so that zeros are allowed.
    ones = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], axis=-1), axis=-1)
    return (before * after[..., ::-1]).astype(s.dtype)


def _cofactor_forward(x: Any) -> Any:
    if x.size == 0:
        return x
    try:
        inverse = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return _cofactor_by_svd(x)
    determinant = np.asarray(np.linalg.det(x))[..., None, None]
    out = determinant * np.swapaxes(inverse, -1, -2)
    # The product of the norms is the condition number, by which errors grow.
    norms = [np.abs(a).sum(axis=-1).max(axis=-1) for a in (x, inverse)]
    good = (norms[0] * norms[1] < 1e3) & np.isfinite(out).all(axis=(-2, -1))
    if not np.all(good):
        out[~good] = _cofactor_by_svd(x[~good])
    return out


def _cofactor_by_svd(x: Any) -> Any:
    # The cofactors of a product are the product of the cofactors, and those of a
    # unitary matrix u are det(u) * conj(u).
    u, s, v, unit = _decomposed(x)
    return unit * np.matmul(np.conj(u) * _products_without(s)[..., None, :], np.conj(v))


_cofactor: Primitive = Primitive(
    "cofactor",
    forward=through_float32(_cofactor_forward),
    spec=square_spec("det"),
    vjp=lambda g, _out, x: (apply(_cofactor_derivative, x, g),),
    lowering=Custom("cofactor"),
    operands=inexact,
)


def _cofactor_derivative_forward(x: Any, h: Any) -> Any:
    # For a diagonal matrix s the second derivative of det has only the entries
    # d2 / ds_ii ds_kk = p_ik and d2 / ds_ik ds_ki = -p_ik, with p_ik the product of the
    # diagonal without s_i and s_k; u and v carry it over to any matrix.
    if x.size == 0:
        return h
    u, s, v, unit = _decomposed(x)
    here = np.eye(s.shape[-1], dtype=bool)
    p = _products_without(np.where(here, s.dtype.type(1), s[..., None, :]))
    p = np.where(here, s.dtype.type(0), p)
    h = np.matmul(np.conj(np.swapaxes(u, -1, -2)), h)
    h = np.matmul(h, np.conj(np.swapaxes(v, -1, -2)))
    diagonal = np.diagonal(h, axis1=-2, axis2=-1)
    inside = np.where(here, np.matmul(p, diagonal[..., None]), -p * h.swapaxes(-1, -2))
    return unit * np.matmul(np.matmul(np.conj(u), inside), np.conj(v))


def _cofactor_derivative_vjp(g: Any, _out: Any, x: Any, h: Any) -> tuple[Any, ...]:
    def third() -> Any:
        # Only here an inverse b is used: d3 det is a polynomial in b, times det.
        b = inv(x)
        bg, bh = matmul(b, g), matmul(b, h)
        tg, th, tgh = [
            expand_dims(trace(p), (-2, -1)) for p in (bg, bh, matmul(bg, bh))
        ]
        bgb, bhb = matmul(bg, b), matmul(bh, b)
        both = matmul(bgb, matmul(h, b)) + matmul(bhb, matmul(g, b))
        total = b * (tg * th - tgh) - bgb * th - bhb * tg + both
        return expand_dims(det(x), (-2, -1)) * matrix_transpose(total)

    return third, lambda: apply(_cofactor_derivative, x, g)


def _same_as_first(x: TensorSpec, h: TensorSpec) -> TensorSpec:
    check_square("det", x)
    return x


_cofactor_derivative: Primitive = Primitive(
    "cofactor_derivative",
    forward=through_float32(_cofactor_derivative_forward),
    spec=_same_as_first,
    vjp=_cofactor_derivative_vjp,
    lowering=Custom("cofactor_derivative"),
    operands=inexact,
)

# --- Its logarithm --------------------------------------------------------------------


def _slogdet_spec(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_square("slogdet", x)
    out = x.with_shape(x.shape[:-2])
    return out, out


def _slogdet_forward(x: Any) -> tuple[Any, Any]:
    check_square("slogdet", x)
    sign, logarithm = np.linalg.slogdet(x)
    return sign, logarithm


def _slogdet_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    if g[1] is None:  # the sign is constant almost everywhere
        return (None,)
    return (lambda: expand_dims(g[1], (-2, -1)) * matrix_transpose(inv(x)),)


_slogdet = Primitive(
    "slogdet",
    forward=through_float32(_slogdet_forward),
    spec=_slogdet_spec,
    vjp=_slogdet_vjp,
    lowering=Custom("slogdet"),
    operands=real_matrices,
    multiple=True,
)


def slogdet(input: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the sign of the determinant and the logarithm of its absolute value.

    Where the determinant itself would overflow, the logarithm does not. There is no
    gradient through the sign.

    Args:
        input: A real tensor of shape [..., n, n]. Of a singular matrix the sign is 0
            and the logarithm -inf, and its gradient is an error.

    Raises:
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> sign, logarithm = gt.linalg.slogdet([[0., 1.], [1., 0.]])
        >>> float(sign), float(logarithm)
        (-1.0, 0.0)
    """
    sign, logarithm = apply(_slogdet, input)
    return sign, logarithm


# --- Exponential ----------------------------------------------------------------------


def _expm_forward(x: Any) -> Any:
    check_square("expm", x)
    if not np.isfinite(x).all():
        raise LinalgError("expm: the matrix holds NaN or inf", "Check the matrix")
    return scipy_linalg.expm(x) if x.size else x


def _expm_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    # The exponential of [[A, E], [0, A]] holds the derivative of expm at A along E in
    # its upper right corner: Al-Mohy and Higham, "Computing the Frechet derivative of
    # the matrix exponential, with an application to condition number estimation", SIAM
    # J. Matrix Anal. Appl. 30 (2009). The adjoint of that derivative is the derivative
    # at the transpose.
    across = matrix_transpose(x)
    zero = across * 0
    block = concat(
        [concat([across, g], axis=-1), concat([zero, across], axis=-1)], axis=-2
    )
    out = apply(_expm, block)
    starts = [0] * (x.ndim - 1) + [x.shape[-1]]
    return (strided_slice(out, starts, tuple(x.shape), [1] * x.ndim),)


_expm = Primitive(
    "expm",
    forward=through_float32(_expm_forward),
    spec=square_spec("expm"),
    vjp=_expm_vjp,
    lowering=Custom("expm"),
    operands=inexact,
)


def expm(input: TensorLike) -> Tensor:
    """Return the exponentials of square matrices, the sum of x**k / k!.

    Args:
        input: A tensor of shape [..., n, n], real or complex.

    Raises:
        LinalgError: If a matrix holds NaN or inf.
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.expm([[0., 1.], [0., 0.]]).numpy()
        array([[1., 1.],
               [0., 1.]], dtype=float32)
    """
    return apply(_expm, input)
