"""Inverses and linear systems: inv, solve, triangular_solve.

Also what every factorization needs: checks of square matrices, wide arithmetic for half
precision, triangles, and errors that say which matrix of a batch is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import Kind, NumpyDType, as_dtype
from gtape.errors import DTypeError, LinalgError, ShapeError
from gtape.lazy import scipy_linalg
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike, check_rank, require_flag
from gtape.ops.diagonal import tril, triu
from gtape.ops.linalg import broadcast_batch, lifted, matmul
from gtape.ops.math import conj
from gtape.ops.precision import through_float32
from gtape.ops.shaping import expand_dims, matrix_transpose, squeeze
from gtape.primitive import Primitive, inexact
from gtape.spec import TensorSpec

# --- What the factorizations share ----------------------------------------------------


def check_square(name: str, x: Any, argument: str = "the matrix") -> None:
    """Require matrices with as many rows as columns.

    Raises:
        ShapeError: If they are not.
    """
    check_rank(name, x, 2, argument)
    rows, columns = x.shape[-2:]
    if rows != columns and rows is not None and columns is not None:
        raise ShapeError(
            f"{name}: {argument} must be square, got shape {tuple(x.shape)}",
            "For other matrices use gt.linalg.lstsq, pinv, qr or svd",
        )


def square_spec(name: str) -> Callable[..., TensorSpec]:
    """Return the shape rule of an operation from square matrices to the like."""

    def spec(x: TensorSpec) -> TensorSpec:
        check_square(name, x)
        return x

    return spec


def check_system(name: str, matrix: Any, rhs: Any) -> tuple[Any, ...]:
    """Return the shape of the solution of a linear system.

    Raises:
        ShapeError: If the matrix is not square, or the right-hand side does not fit it.
    """
    check_square(name, matrix)
    check_rank(name, rhs, 2, "the right-hand side")
    check_rows(name, matrix, rhs)
    batch = broadcast_batch(name, matrix.shape, rhs.shape)
    return (*batch, *rhs.shape[-2:])


def check_rows(name: str, matrix: Any, rhs: Any) -> None:
    """Require a right-hand side with a row for each row of the matrix.

    Raises:
        ShapeError: If it has more or less.
    """
    rows, other = matrix.shape[-2], rhs.shape[-2]
    if rows != other and rows is not None and other is not None:
        raise ShapeError(
            f"{name}: a matrix of shape {tuple(matrix.shape)} and a right-hand side of "
            f"shape {tuple(rhs.shape)} differ in rows, {rows} against {other}",
            "Give one row of the right-hand side for each row of the matrix",
        )


def system_spec(name: str) -> Callable[..., TensorSpec]:
    """Return the shape rule of the solution of a linear system."""

    def spec(matrix: TensorSpec, rhs: TensorSpec, **attrs: Any) -> TensorSpec:
        return rhs.with_shape(check_system(name, matrix, rhs))

    return spec


def real_matrices(name: str, kinds: tuple[Kind, ...]) -> tuple[NumpyDType, ...]:
    """Promote all operands to one real floating-point dtype."""
    d = inexact(name, kinds)[0]
    if d.kind == "c":
        raise DTypeError(
            f"{name}: complex matrices are not supported, got {as_dtype(d)}",
            "Write the matrix in its real form, [[re, -im], [im, re]]",
        )
    return (d,) * len(kinds)


def factored(
    name: str, fault: str, hint: str, compute: Callable[[Any], Any], x: Any
) -> Any:
    """Return compute(x), or say which matrix of the batch it fails for.

    Args:
        name: The operation.
        fault: What is wrong with the matrix, such as "is singular".
        hint: What to do.
        compute: NumPy's computation.
        x: The matrices.

    Raises:
        LinalgError: If the computation fails.
    """
    try:
        return compute(x)
    except np.linalg.LinAlgError:
        raise LinalgError(
            f"{name}: the matrix{_place(compute, x)} {fault}", hint
        ) from None


def _place(compute: Callable[[Any], Any], x: Any) -> str:
    for place in np.ndindex(x.shape[:-2]) if x.ndim > 2 else ():
        try:
            compute(x[place])
        except np.linalg.LinAlgError:
            return f" at batch index {place}"
    return ""


SINGULAR = ("is singular", "Check the matrix, or use gt.linalg.pinv or lstsq")
NOT_FINITE = (
    "could not be decomposed: the iteration did not converge",
    "Check the matrix for NaN and inf",
)


# --- Inverse --------------------------------------------------------------------------


def _inv_forward(x: Any) -> Any:
    check_square("inv", x)
    return factored("inv", *SINGULAR, np.linalg.inv, x)


def _inv_vjp(g: Any, out: Any, _x: Any) -> tuple[Any, ...]:
    # d inv(A) = -inv(A) dA inv(A)
    across = matrix_transpose(out)
    return (-matmul(matmul(across, g), across),)


_inv = Primitive(
    "inv",
    forward=through_float32(_inv_forward),
    spec=square_spec("inv"),
    vjp=_inv_vjp,
    lowering=Custom("inv"),
    operands=inexact,
)


def inv(input: TensorLike, adjoint: bool = False) -> Tensor:
    """Return the inverses of square matrices.

    Args:
        input: A tensor of shape [..., n, n], real or complex.
        adjoint: Whether the conjugate transpose is inverted.

    Raises:
        LinalgError: If a matrix is singular.
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.inv([[2., 0.], [0., 4.]]).numpy()
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)
    """
    flip = require_flag("inv", "adjoint", adjoint)
    out = apply(_inv, input)
    return conj(matrix_transpose(out)) if flip else out


# --- Linear systems -------------------------------------------------------------------


def _solve_forward(matrix: Any, rhs: Any, *, transposed: bool) -> Any:
    check_system("solve", matrix, rhs)
    matrix = np.swapaxes(matrix, -1, -2) if transposed else matrix
    try:
        return np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError:
        factored("solve", *SINGULAR, np.linalg.inv, matrix)
        raise


def _solve_vjp(
    g: Any, out: Any, matrix: Any, _rhs: Any, *, transposed: bool
) -> tuple[Any, ...]:
    # A X = B: d X = inv(A) (dB - dA X), so the cotangent of B is needed for that of A.
    back = apply(_solve, matrix, g, transposed=not transposed)
    return lambda: _outer_of_system(back, out, transposed), back


def _outer_of_system(back: Any, out: Any, transposed: bool) -> Any:
    if transposed:
        return -matmul(out, matrix_transpose(back))
    return -matmul(back, matrix_transpose(out))


_solve = Primitive(
    "solve",
    forward=through_float32(_solve_forward),
    spec=system_spec("solve"),
    vjp=_solve_vjp,
    lowering=Custom("solve"),
    operands=inexact,
)


def with_vector(
    name: str, matrix: TensorLike, rhs: TensorLike, primitive: Primitive | None = None
) -> tuple[Sequence[Tensor], Callable[[Tensor], Tensor]]:
    """Return a system with a matrix on its right, and the way back for a vector.

    Args:
        name: The function, for messages.
        matrix: The matrix of the system.
        rhs: What stands on its right.
        primitive: Whose rule for dtypes holds; by default that of `solve`.
    """
    matrix, rhs = lifted(name, primitive or _solve, matrix, rhs)
    if rhs.ndim != 1:
        return (matrix, rhs), lambda out: out
    return (matrix, expand_dims(rhs, -1)), lambda out: squeeze(out, -1)


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False) -> Tensor:
    """Return x with matrix @ x = rhs.

    Args:
        matrix: A tensor of shape [..., n, n], real or complex.
        rhs: A tensor of shape [..., n, k], or one vector of shape [n]. The leading axes
            broadcast.
        adjoint: Whether the conjugate transpose of the matrix is used.

    Raises:
        LinalgError: If a matrix is singular.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.solve([[2., 0.], [0., 4.]], [1., 1.]).numpy()
        array([0.5 , 0.25], dtype=float32)
    """
    (matrix, rhs), back = with_vector("solve", matrix, rhs)
    flip = require_flag("solve", "adjoint", adjoint)
    matrix = conj(matrix) if flip else matrix
    return back(apply(_solve, matrix, rhs, transposed=flip))


def _triangular_forward(matrix: Any, rhs: Any, *, lower: bool, transposed: bool) -> Any:
    shape = check_system("triangular_solve", matrix, rhs)
    if 0 in shape:
        return np.zeros(shape, rhs.dtype)
    (trtrs,) = scipy_linalg.get_lapack_funcs(("trtrs",), dtype=matrix.dtype)
    rows, batch = shape[-2], shape[:-2]

    def one(a: Any, b: Any, place: tuple[int, ...]) -> Any:
        # LAPACK counts along columns: the transpose costs nothing.
        x, info = trtrs(a.T, b, lower=not lower, trans=not transposed)
        if info > 0:
            place_ = f" at batch index {place}" if place else ""
            raise LinalgError(
                f"triangular_solve: the matrix{place_} is singular: element "
                f"{info - 1} of its diagonal is 0",
                SINGULAR[1],
            )
        return x

    if matrix.ndim == 2:  # all right-hand sides are columns of one system
        columns = np.moveaxis(rhs, -2, 0)
        flat = one(matrix, columns.reshape(rows, -1), ())
        return np.moveaxis(flat.reshape(columns.shape), 0, -2)
    matrix = np.broadcast_to(matrix, (*batch, rows, rows))
    rhs = np.broadcast_to(rhs, shape)
    out = np.empty(shape, rhs.dtype)
    for place in np.ndindex(batch):
        out[place] = one(matrix[place], rhs[place], place)
    return out


def _triangular_vjp(
    g: Any, out: Any, matrix: Any, _rhs: Any, *, lower: bool, transposed: bool
) -> tuple[Any, ...]:
    back = apply(_triangular, matrix, g, lower=lower, transposed=not transposed)

    def of_matrix() -> Any:
        full = _outer_of_system(back, out, transposed)
        return tril(full) if lower else triu(full)

    return of_matrix, back


_triangular = Primitive(
    "triangular_solve",
    forward=through_float32(_triangular_forward),
    spec=system_spec("triangular_solve"),
    vjp=_triangular_vjp,
    lowering=Custom("triangular_solve"),
    operands=inexact,
)


def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False
) -> Tensor:
    """Return x with matrix @ x = rhs, for a triangular matrix.

    Args:
        matrix: A tensor of shape [..., n, n]; the other triangle is not read.
        rhs: A tensor of shape [..., n, k], or one vector of shape [n]. The leading axes
            broadcast.
        lower: Whether the lower triangle is used, else the upper one.
        adjoint: Whether the conjugate transpose of the matrix is used.

    Raises:
        LinalgError: If there is a zero on the diagonal.
        ShapeError: If the shapes do not fit.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.triangular_solve([[2., 0.], [1., 1.]], [2., 3.]).numpy()
        array([1., 2.], dtype=float32)
    """
    pair, back = with_vector("triangular_solve", matrix, rhs)
    matrix, rhs = pair
    lower = require_flag("triangular_solve", "lower", lower)
    flip = require_flag("triangular_solve", "adjoint", adjoint)
    matrix = conj(matrix) if flip else matrix
    return back(apply(_triangular, matrix, rhs, lower=lower, transposed=flip))
