"""Linear algebra, as `gt.linalg`: products, factorizations, solutions."""

from __future__ import annotations

from gtape.ops.contraction import dot, inner, tensordot
from gtape.ops.creation import eye
from gtape.ops.determinant import det, expm, slogdet
from gtape.ops.diagonal import band_part, diag, diag_part, set_diag, trace, tril, triu
from gtape.ops.einsum import einsum
from gtape.ops.factorization import (
    cholesky,
    cholesky_solve,
    logdet,
    lstsq,
    pinv,
    qr,
)
from gtape.ops.linalg import kron, matmul, matvec, outer, vecdot
from gtape.ops.norm import matrix_norm, norm
from gtape.ops.normalizing import global_norm, l2_normalize
from gtape.ops.shaping import matrix_transpose
from gtape.ops.solving import inv, solve, triangular_solve
from gtape.ops.spectral import eigh, eigvalsh, svd

__all__ = [
    "band_part",
    "cholesky",
    "cholesky_solve",
    "det",
    "diag",
    "diag_part",
    "dot",
    "eigh",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inner",
    "inv",
    "kron",
    "l2_normalize",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_transpose",
    "matvec",
    "norm",
    "outer",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensordot",
    "trace",
    "triangular_solve",
    "tril",
    "triu",
    "vecdot",
]
