"""Records of gtape/ops/determinant.py."""

import numpy as np
from scipy.linalg import expm as scipy_expm

from gtape.dispatch import apply
from gtape.ops.determinant import det, expm, slogdet
from gtape.primitive import registry
from tests.ops.harness import COMPLEX, INEXACT, WIDE, Record, fixed, real
from tests.ops.records.solving import regular, regular_complex

SINGULAR = {
    "rank 2": [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]],
    "rank 1": [[3.0, 1, 2], [6, 2, 4], [9, 3, 6]],
    "zero": [[0.0, 0], [0, 0]],
}


def cofactors(x):
    """The signed determinants of what is left without a row and a column."""
    n = x.shape[-1]
    out = np.empty(x.shape, x.dtype)
    for i in range(n):
        for j in range(n):
            rest = np.delete(np.delete(x, i, -2), j, -1)
            out[..., i, j] = (-1) ** (i + j) * np.linalg.det(rest)
    return out


def cofactor(x):
    return apply(registry()["cofactor"], x)


def cofactor_derivative(x, h):
    return apply(registry()["cofactor_derivative"], x, h)


def cofactor_change(x, h):
    step = 1e-3  # of a polynomial of low degree
    ahead, back = cofactors(x + step * h), cofactors(x - step * h)
    twice = cofactors(x + 2 * step * h) - cofactors(x - 2 * step * h)
    return (8 * (ahead - back) - twice) / (12 * step)


RECORDS = [
    Record("det", det, np.linalg.det, lambda rng: (regular(rng, 2, 3, 3),)),
    Record("det", det, np.linalg.det, (real((1, 1)),), name="one", dtypes=INEXACT),
    Record(
        "det", det, np.linalg.det, (fixed(np.zeros((2, 0, 0))),), name="empty", order=0
    ),
    Record("cofactor", cofactor, cofactors, lambda rng: (regular(rng, 2, 3, 3),)),
    Record(
        "cofactor_derivative",
        cofactor_derivative,
        cofactor_change,
        (real((3, 3)), real((3, 3))),
        dtypes=WIDE,
        rtol={"float64": 1e-8, "float32": 1e-3},
    ),
    *[
        record
        for name, matrix in SINGULAR.items()
        for record in (
            Record(
                "det",
                det,
                np.linalg.det,
                (fixed(matrix),),
                name=name,
                dtypes=WIDE,
                rtol={"float32": 1e-4},
            ),
            Record(
                "cofactor",
                cofactor,
                cofactors,
                (fixed(matrix),),
                name=name,
                dtypes=WIDE,
                order=1,
                rtol={"float32": 1e-4},
            ),
        )
    ],
    Record(
        "det",
        det,
        np.linalg.det,
        lambda rng: (regular_complex(rng, 2, 3, 3),),
        name="complex",
        dtypes=COMPLEX,
    ),
    Record(
        "slogdet",
        lambda x: slogdet(x)[1],
        lambda x: np.linalg.slogdet(x)[1],
        lambda rng: (regular(rng, 2, 3, 3),),
    ),
    Record(
        "slogdet",
        slogdet,
        lambda x: tuple(np.linalg.slogdet(x)),
        lambda rng: (regular(rng, 2, 3, 3)[:, [1, 0, 2]],),
        name="both",
        order=0,
    ),
    Record(
        "expm", expm, scipy_expm, (real((2, 3, 3), -1, 1),), dtypes=INEXACT, rtol=1e-11
    ),
    Record("expm", expm, scipy_expm, (fixed(np.zeros((2, 2))),), name="zero"),
]
