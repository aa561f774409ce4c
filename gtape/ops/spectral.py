"""Singular values and vectors, eigenvalues and eigenvectors.

Where values are equal the vectors that belong to them can be any basis of their space.
What depends on the space alone has a gradient; the rules leave out what depends on the
choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import GradientError
from gtape.lowering import Custom
from gtape.ops.common import (
    Tensor,
    TensorLike,
    check_rank,
    require_flag,
)
from gtape.ops.diagonal import diag, tril
from gtape.ops.extrema import maximum
from gtape.ops.factorization import least
from gtape.ops.linalg import matmul
from gtape.ops.linear import where
from gtape.ops.math import abs
from gtape.ops.precision import through_float32
from gtape.ops.shaping import expand_dims, matrix_transpose
from gtape.ops.slicing import block
from gtape.ops.solving import NOT_FINITE, check_square, factored, real_matrices
from gtape.primitive import Primitive
from gtape.spec import TensorSpec

# --- Singular values ------------------------------------------------------------------


def _svd_spec(x: TensorSpec, *, full_matrices: bool) -> tuple[TensorSpec, ...]:
    check_rank("svd", x, 2)
    *batch, rows, columns = x.shape
    k = least(rows, columns)
    left, right = (rows, columns) if full_matrices else (k, k)
    shapes = ((*batch, k), (*batch, rows, left), (*batch, columns, right))
    return tuple(x.with_shape(shape) for shape in shapes)


def _svd_forward(x: Any, *, full_matrices: bool) -> tuple[Any, Any, Any]:
    check_rank("svd", x, 2)
    u, s, vh = factored(
        "svd", *NOT_FINITE, lambda a: np.linalg.svd(a, full_matrices), x
    )
    return s, u, np.swapaxes(vh, -1, -2)


def _svd_vjp(g: Any, out: Any, x: Any, *, full_matrices: bool) -> tuple[Any, ...]:
    # Townsend, "Differentiating the singular value decomposition" (2016).
    (gs, gu, gv), (s, u, v) = g, out
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    if full_matrices and rows != columns:
        if (gu if rows > columns else gv) is not None:
            raise GradientError(
                f"svd: with full_matrices the last {max(rows, columns) - k} columns of "
                f"{'u' if rows > columns else 'v'} are arbitrary for shape "
                f"{tuple(x.shape)}, so it has no gradient",
                "Use full_matrices=False",
            )
        s, u, v = svd(x)
        gu = None if gu is None else block(gu, -1, 0, k)
        gv = None if gv is None else block(gv, -1, 0, k)
    ut, vt = matrix_transpose(u), matrix_transpose(v)
    across, down = expand_dims(s, -2), expand_dims(s, -1)
    core: Any = 0.0
    if gu is not None or gv is not None:
        # 1 / (s_j**2 - s_i**2), with 0 for values that are equal up to rounding.
        gaps = _inverse_gaps(s) * _inverse(across + down, s)
    if gu is not None:
        core = core + gaps * _twice_antisymmetric(matmul(ut, gu)) * across
    if gv is not None:
        core = core + down * (gaps * _twice_antisymmetric(matmul(vt, gv)))
    if gs is not None:
        core = core + diag(gs)
    total = matmul(matmul(u, core), vt)
    if gu is not None and rows > k:
        outside = gu - matmul(u, matmul(ut, gu))
        total = total + matmul(outside * _inverse(across, s), vt)
    if gv is not None and columns > k:
        outside = gv - matmul(v, matmul(vt, gv))
        total = total + matmul(u * _inverse(across, s), matrix_transpose(outside))
    return (total,)


def _twice_antisymmetric(x: Any) -> Any:
    return x - matrix_transpose(x)


def _inverse_gaps(values: Any) -> Any:
    """Return 1 / (values_j - values_i) for row i and column j.

    It is 0 for values that are equal up to rounding. The vectors that belong to them
    can be any basis of their space, and what depends on the space alone has no part
    there.
    """
    return _inverse(expand_dims(values, -2) - expand_dims(values, -1), values)


def _inverse(x: Any, values: Any) -> Any:
    """Return 1 / x, and 0 where x is 0 up to the rounding of sorted values."""
    count = values.shape[-1]
    if count == 0:
        return x
    eps = as_dtype(values.dtype).eps
    ends = block(values, -1, 0, 1), block(values, -1, count - 1, 1)
    limit = expand_dims(maximum(abs(ends[0]), abs(ends[1])) * (count * eps), -1)
    apart = abs(x) > limit
    return where(apart, 1.0 / where(apart, x, 1.0), 0.0)


_svd = Primitive(
    "svd",
    forward=through_float32(_svd_forward),
    spec=_svd_spec,
    vjp=_svd_vjp,
    lowering=Custom("svd"),
    operands=real_matrices,
    multiple=True,
)


def _svdvals_spec(x: TensorSpec) -> TensorSpec:
    check_rank("svd", x, 2)
    return x.with_shape((*x.shape[:-2], least(*x.shape[-2:])))


def _svdvals_forward(x: Any) -> Any:
    check_rank("svd", x, 2)
    return factored("svd", *NOT_FINITE, np.linalg.svdvals, x)


def _svdvals_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    _, u, v = svd(x)
    return (matmul(u * expand_dims(g, -2), matrix_transpose(v)),)


_svdvals = Primitive(
    "svdvals",
    forward=through_float32(_svdvals_forward),
    spec=_svdvals_spec,
    vjp=_svdvals_vjp,
    lowering=Custom("svdvals"),
    operands=real_matrices,
)


def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True
) -> Any:
    """Return s, u and v with u @ diag(s) @ transpose(v) = tensor.

    The gradient through u and v leaves out what would mix the vectors of equal singular
    values; a function of s alone has a finite gradient for all matrices.

    Args:
        tensor: A real tensor of shape [..., n, m].
        full_matrices: Whether u is [n, n] and v [m, m]; by default they have min(n, m)
            columns.
        compute_uv: Whether u and v are wanted; otherwise s alone is returned.

    Returns:
        s, in descending order, u, and v (not its transpose, which NumPy returns).

    Raises:
        LinalgError: If a matrix holds NaN or inf.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.svd([[3., 0.], [0., 4.]], compute_uv=False).numpy()
        array([4., 3.], dtype=float32)
    """
    full = require_flag("svd", "full_matrices", full_matrices)
    if not require_flag("svd", "compute_uv", compute_uv):
        return apply(_svdvals, tensor)
    return apply(_svd, tensor, full_matrices=full)


# --- Eigenvalues ----------------------------------------------------------------------


def _eigh_spec(x: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    check_square("eigh", x)
    return x.with_shape(x.shape[:-1]), x


def _eigh_forward(x: Any) -> tuple[Any, Any]:
    check_square("eigh", x)
    w, v = factored("eigh", *NOT_FINITE, np.linalg.eigh, x)
    return w, v


def _eigh_vjp(g: Any, out: Any, _x: Any) -> tuple[Any, ...]:
    # Giles (2008), section 3.1.
    (gw, gv), (w, v) = g, out
    vt = matrix_transpose(v)
    core: Any = 0.0
    if gv is not None:
        core = core + _inverse_gaps(w) * (0.5 * _twice_antisymmetric(matmul(vt, gv)))
    if gw is not None:
        core = core + diag(gw)
    return (_on_lower_triangle(matmul(matmul(v, core), vt)),)


def _on_lower_triangle(x: Any) -> Any:
    """Return a symmetric cotangent as that of the lower triangle alone."""
    return tril(x) + tril(x, -1)


_eigh = Primitive(
    "eigh",
    forward=through_float32(_eigh_forward),
    spec=_eigh_spec,
    vjp=_eigh_vjp,
    lowering=Custom("eigh"),
    operands=real_matrices,
    multiple=True,
)


def _eigvalsh_forward(x: Any) -> Any:
    check_square("eigh", x)
    return factored("eigh", *NOT_FINITE, np.linalg.eigvalsh, x)


def _eigvalsh_vjp(g: Any, _out: Any, x: Any) -> tuple[Any, ...]:
    _, v = eigh(x)
    return (_on_lower_triangle(matmul(v * expand_dims(g, -2), matrix_transpose(v))),)


_eigvalsh = Primitive(
    "eigvalsh",
    forward=through_float32(_eigvalsh_forward),
    spec=lambda x: _eigh_spec(x)[0],
    vjp=_eigvalsh_vjp,
    lowering=Custom("eigvalsh"),
    operands=real_matrices,
)


def eigh(tensor: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues w and eigenvectors v of symmetric matrices.

    tensor @ v = v @ diag(w). Only the lower triangle is read, and only it gets a
    gradient. Through v it leaves out what would mix the vectors of equal eigenvalues; a
    function of w alone has a finite gradient for all matrices.

    Args:
        tensor: A real tensor of shape [..., n, n].

    Returns:
        w, in ascending order, and v, whose columns are the vectors.

    Raises:
        LinalgError: If the iteration does not converge, as with NaN and inf.
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> w, v = gt.linalg.eigh([[2., 0.], [0., 1.]])
        >>> w.numpy()
        array([1., 2.], dtype=float32)
    """
    w, v = apply(_eigh, tensor)
    return w, v


def eigvalsh(tensor: TensorLike) -> Tensor:
    """Return the eigenvalues of symmetric matrices, in ascending order.

    Args:
        tensor: A real tensor of shape [..., n, n]; only the lower triangle is read.

    Raises:
        LinalgError: If the iteration does not converge, as with NaN and inf.
        ShapeError: If the matrices are not square.

    Example:
        >>> import gtape as gt
        >>> gt.linalg.eigvalsh([[2., 0.], [0., 1.]]).numpy()
        array([1., 2.], dtype=float32)
    """
    return apply(_eigvalsh, tensor)
