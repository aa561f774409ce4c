"""Cholesky and QR decompositions, pseudo-inverses and least squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import ArgumentError, GradientError, said_by
from gtape.lowering import Custom
from gtape.ops.arithmetic import multiply
from gtape.ops.common import (
    Tensor,
    TensorLike,
    check_rank,
    numpy_dtype_of,
    require_flag,
)
from gtape.ops.creation import eye
from gtape.ops.diagonal import diag_part, tril
from gtape.ops.known import settled
from gtape.ops.linalg import lifted, matmul
from gtape.ops.linear import reduce_sum
from gtape.ops.math import log
from gtape.ops.precision import through_float32
from gtape.ops.shaping import matrix_transpose
from gtape.ops.slicing import block, concat
from gtape.ops.solving import (
    NOT_FINITE,
    check_rows,
    check_square,
    factored,
    real_matrices,
    square_spec,
    triangular_solve,
    with_vector,
)
from gtape.primitive import Primitive
from gtape.spec import TensorSpec

# --- Cholesky -------------------------------------------------------------------------


def _cholesky_forward(x: Any) -> Any:
    check_square("cholesky", x)
    return factored(
        "cholesky",
        "is not positive definite",
        "Add a multiple of the identity, or use gt.linalg.eigh",
        np.linalg.cholesky,
        x,
    )


def _cholesky_vjp(g: Any, out: Any, _x: Any) -> tuple[Any, ...]:
    # Murray, "Differentiation of the Cholesky decomposition" (2016): the cotangent is
    # the symmetric part of L^-T phi(L^T g) L^-1, where phi takes the lower triangle and
    # halves the diagonal.
    p = matmul(matrix_transpose(out), g)
    p = 0.5 * (tril(p) + tril(p, -1))
    left = triangular_solve(out, p, adjoint=True)
    both = triangular_solve(out, matrix_transpose(left), adjoint=True)
    return (0.5 * (both + matrix_transpose(both)),)


_cholesky = Primitive(
    "cholesky",
    forward=through_float32(_cholesky_forward),
    spec=square_spec("cholesky"),
    vjp=_cholesky_vjp,
    lowering=Custom("cholesky"),
    operands=real_matrices,
)


def cholesky(input: TensorLike) -> Tensor:
    """Return the lower triangular matrices L with L @ transpose(L) = input.

    Only the lower triangle is read. The gradient is symmetric: half of it belongs to
    each triangle.

    Args:
        input: A real tensor of shape [..., n, n], symmetric and positive definite.

    Raises:
        LinalgError: If a matrix is not positive definite.
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.cholesky([[4., 2.], [2., 10.]]).numpy()
        array([[2., 0.],
               [1., 3.]], dtype=float32)
    """
    return apply(_cholesky, input)


def cholesky_solve(chol: TensorLike, rhs: TensorLike) -> Tensor:
    """Return x with A @ x = rhs, given the Cholesky factor of A.

    Args:
        chol: A tensor of shape [..., n, n], as `cholesky` gives it.
        rhs: A tensor of shape [..., n, k], or one vector of shape [n].

    Raises:
        LinalgError: If there is a zero on the diagonal of the factor.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.cholesky_solve([[2., 0.], [1., 3.]], [4., 11.]).numpy()
        array([0.5, 1. ], dtype=float32)
    """
    (chol, rhs), back = with_vector("cholesky_solve", chol, rhs)
    with said_by("cholesky_solve", "triangular_solve"):
        below = triangular_solve(chol, rhs)
        return back(triangular_solve(chol, below, adjoint=True))


def logdet(matrix: TensorLike) -> Tensor:
    """Return the logarithms of the determinants of positive definite matrices.

    Args:
        matrix: A real tensor of shape [..., n, n], symmetric. For any other use
            `slogdet`.

    Raises:
        LinalgError: If a matrix is not positive definite.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.logdet([[1., 0.], [0., 1.]]).numpy()
        np.float32(0.0)
    """
    with said_by("logdet", "cholesky"):
        factor = cholesky(matrix)
    return 2 * reduce_sum(log(diag_part(factor)), axis=-1)


# --- QR -------------------------------------------------------------------------------


def _qr_spec(x: TensorSpec, *, full_matrices: bool) -> tuple[TensorSpec, TensorSpec]:
    check_rank("qr", x, 2)
    *batch, rows, columns = x.shape
    inner = rows if full_matrices else least(rows, columns)
    return x.with_shape((*batch, rows, inner)), x.with_shape((*batch, inner, columns))


def least(rows: Any, columns: Any) -> Any:
    """Return the smaller of two sizes, `None` where one is unknown."""
    return None if rows is None or columns is None else min(rows, columns)


def _qr_forward(x: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    check_rank("qr", x, 2)
    q, r = np.linalg.qr(x, "complete" if full_matrices else "reduced")
    return q, r


def _qr_vjp(g: Any, out: Any, x: Any, *, full_matrices: bool) -> tuple[Any, ...]:
    (gq, gr), (q, r) = g, out
    rows, columns = x.shape[-2:]
    if full_matrices and rows > columns:
        if gq is not None:
            raise GradientError(
                f"qr: with full_matrices the last {rows - columns} columns of q are "
                f"arbitrary for shape {tuple(x.shape)}, so q has no gradient",
                "Use full_matrices=False",
            )
        (q, r), gr = qr(x), block(gr, -2, 0, columns)
    if rows >= columns:
        return (lambda: _tall_qr(q, r, gq, gr),)
    # Of a wide matrix [X, Y] with X square, X = q u and Y = q v: Roberts and Roberts,
    # "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and
    # deep matrices and their software implementation" (2020).
    rest = columns - rows
    u, v = block(r, -1, 0, rows), block(r, -1, rows, rest)
    gu = gv = None
    if gr is not None:
        gu, gv = block(gr, -1, 0, rows), block(gr, -1, rows, rest)
        through = matmul(matmul(q, v), matrix_transpose(gv))
        gq = through if gq is None else gq + through
    gx = _tall_qr(q, u, gq, gu)
    gy = matmul(q, v * 0 if gv is None else gv)
    return (concat([gx, gy], axis=-1),)


def _tall_qr(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    """The cotangent of a matrix with at least as many rows as columns.

    Walter and Lehmann, "Algorithmic differentiation of linear algebra functions with
    application in optimum experimental design" (2010).
    """
    m = 0
    if gr is not None:
        m = m + matmul(r, matrix_transpose(gr))
    if gq is not None:
        m = m - matmul(matrix_transpose(gq), q)
    symmetric = tril(m) + matrix_transpose(tril(m, -1))
    b = matmul(q, symmetric)
    if gq is not None:
        b = b + gq
    return matrix_transpose(triangular_solve(r, matrix_transpose(b), lower=False))


_qr = Primitive(
    "qr",
    forward=through_float32(_qr_forward),
    spec=_qr_spec,
    vjp=_qr_vjp,
    lowering=Custom("qr"),
    operands=real_matrices,
    multiple=True,
)


def qr(input: TensorLike, full_matrices: bool = False) -> tuple[Tensor, Tensor]:
    """Return q with orthonormal columns and upper triangular r, with q @ r = input.

    The gradient needs matrices whose first min(n, m) columns are independent.

    Args:
        input: A real tensor of shape [..., n, m].
        full_matrices: Whether q is [n, n] and r [n, m]; by default q is [n, min(n, m)]
            and r [min(n, m), m].

    Raises:
        ShapeError: If the tensor is no matrix.

    Example:
        >>> import gtape as gt
        >>> q, r = gt.linalg.qr([[3., 1.], [4., 2.]])
        >>> (q @ r).numpy().round(4)
        array([[3., 1.],
               [4., 2.]], dtype=float32)
    """
    full = require_flag("qr", "full_matrices", full_matrices)
    q, r = apply(_qr, input, full_matrices=full)
    return q, r


# --- Pseudo-inverse -------------------------------------------------------------------


def _pinv_spec(x: TensorSpec, *, rcond: float | None) -> TensorSpec:
    check_rank("pinv", x, 2)
    return x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


def _pinv_forward(x: Any, *, rcond: float | None) -> Any:
    check_rank("pinv", x, 2)
    if rcond is None:
        rcond = 10 * max(*x.shape[-2:], 1) * as_dtype(x.dtype).eps
    return factored("pinv", *NOT_FINITE, lambda a: np.linalg.pinv(a, rcond), x)


def _pinv_vjp(g: Any, out: Any, x: Any, *, rcond: float | None) -> tuple[Any, ...]:
    # Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least
    # squares problems whose variables separate", SIAM J. Numer. Anal. 10 (1973), for
    # constant rank: dP = -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P.
    across, back = matrix_transpose(out), matrix_transpose(g)
    pp = matmul(matmul(back, out), across)
    qq = matmul(across, matmul(out, back))
    total = -matmul(matmul(across, g), across)
    total = total + pp - matmul(x, matmul(out, pp))
    return (total + qq - matmul(matmul(qq, out), x),)


_pinv = Primitive(
    "pinv",
    forward=through_float32(_pinv_forward),
    spec=_pinv_spec,
    vjp=_pinv_vjp,
    lowering=Custom("pinv"),
    operands=real_matrices,
)


def pinv(a: TensorLike, rcond: float | None = None) -> Tensor:
    """Return the Moore-Penrose pseudo-inverses of matrices.

    The gradient is that along changes which keep the rank (Golub and Pereyra, 1973);
    elsewhere the pseudo-inverse jumps.

    Args:
        a: A real tensor of shape [..., n, m].
        rcond: Singular values up to this part of the largest count as zero; by default
            10 * max(n, m) times the resolution of the dtype.

    Raises:
        ArgumentError: If rcond is negative.
        LinalgError: If a matrix holds NaN or inf.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.pinv([[2., 0.], [0., 0.]]).numpy()
        array([[0.5, 0. ],
               [0. , 0. ]], dtype=float32)
    """
    (a,) = lifted("pinv", _pinv, a)
    check_rank("pinv", a, 2)
    rcond = settled(rcond)
    if rcond is not None and not (isinstance(rcond, (int, float)) and rcond >= 0):
        raise ArgumentError(
            f"pinv: rcond {rcond!r} is no part of the largest singular value",
            "Give a number from zero up",
        )
    return apply(_pinv, a, rcond=None if rcond is None else float(rcond))


# --- Least squares -------------------------------------------------------------------


def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0
) -> Tensor:
    """Return the x that makes the sum of squares of matrix @ x - rhs least.

    Of several the smallest one is returned. Without a regularizer it is found by the
    pseudo-inverse, so matrices of any shape and rank are allowed, and gradients are
    those of `pinv`.

    Args:
        matrix: A real tensor of shape [..., n, m].
        rhs: A tensor of shape [..., n, k], or one vector of shape [n]. The leading axes
            broadcast.
        l2_regularizer: The weight of the sum of squares of x in what is made least.

    Raises:
        ArgumentError: If the weight is a negative number.
        LinalgError: If a matrix holds NaN or inf.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.lstsq([[1.], [1.]], [1., 3.]).numpy().round(4)
        array([2.], dtype=float32)
    """
    (matrix, rhs), back = with_vector("lstsq", matrix, rhs, _cholesky)
    check_rank("lstsq", matrix, 2, "the matrix")
    check_rank("lstsq", rhs, 2, "the right-hand side")
    check_rows("lstsq", matrix, rhs)
    if isinstance(settled(l2_regularizer), (int, float)):
        if l2_regularizer == 0:
            with said_by("lstsq", "pinv"):
                inverse = pinv(matrix)
            return back(matmul(inverse, rhs))
        if not 0 < l2_regularizer < math.inf:
            raise ArgumentError(
                f"lstsq: l2_regularizer {l2_regularizer!r} is no weight",
                "Give a number from zero up",
            )
    across = matrix_transpose(matrix)
    wide = matrix.shape[-2] < matrix.shape[-1]
    square = matmul(matrix, across) if wide else matmul(across, matrix)
    ones = eye(square.shape[-1], dtype=numpy_dtype_of(square))
    chol = cholesky(square + multiply(l2_regularizer, ones))
    if wide:
        return back(matmul(across, cholesky_solve(chol, rhs)))
    return back(cholesky_solve(chol, matmul(across, rhs)))
