"""Records of gtape/ops/factorization.py."""

import numpy as np

from gtape.ops.factorization import cholesky, cholesky_solve, logdet, lstsq, pinv, qr
from gtape.ops.shaping import matrix_transpose
from tests.ops.harness import WIDE, Record, real
from tests.ops.records.solving import regular


def symmetric(x):
    return 0.5 * (x + matrix_transpose(x))


def positive_definite(rng, *shape):
    a = rng.uniform(-1, 1, shape)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])


def _lstsq(a, b, l2_regularizer=0.0):
    if l2_regularizer:
        inside = a.T @ a + l2_regularizer * np.eye(a.shape[-1])
        return np.linalg.solve(inside, a.T @ b)
    return np.linalg.lstsq(a, b)[0]


RECORDS = [
    # The gradient is that of a symmetric matrix, so only symmetric changes are checked.
    Record(
        "cholesky",
        lambda x: cholesky(symmetric(x)),
        np.linalg.cholesky,
        lambda rng: (positive_definite(rng, 2, 3, 3),),
    ),
    Record(
        "cholesky_solve",
        cholesky_solve,
        lambda c, b: np.linalg.solve(np.tril(c) @ np.tril(c).T, b),
        lambda rng: (regular(rng, 3, 3), rng.uniform(-1, 1, (3, 2))),
        composed=True,
    ),
    Record(
        "logdet",
        lambda x: logdet(symmetric(x)),
        lambda x: np.linalg.slogdet(x)[1],
        lambda rng: (positive_definite(rng, 2, 3, 3),),
        composed=True,
    ),
    *[
        Record(
            "qr",
            qr,
            lambda x: tuple(np.linalg.qr(x)),
            lambda rng, shape=shape: (
                rng.uniform(-0.3, 0.3, shape) + np.eye(*shape[-2:]),
            ),
            name=name,
        )
        for name, shape in {
            "square": (3, 3),
            "tall": (2, 4, 2),
            "wide": (2, 2, 4),
        }.items()
    ],
    Record("pinv", pinv, np.linalg.pinv, (real((2, 4, 2)),), dtypes=WIDE, rtol=1e-4),
    Record(
        "pinv",
        pinv,
        np.linalg.pinv,
        lambda rng: (rng.uniform(-0.3, 0.3, (2, 4)) + np.eye(2, 4),),
        name="wide",
    ),
    Record(
        "lstsq",
        lstsq,
        _lstsq,
        lambda rng: (
            rng.uniform(-0.3, 0.3, (4, 2)) + np.eye(4, 2),
            rng.uniform(-1, 1, (4, 3)),
        ),
        attrs=({}, {"l2_regularizer": 0.5}),
        composed=True,
    ),
    Record(
        "lstsq",
        lstsq,
        _lstsq,
        lambda rng: (
            rng.uniform(-0.3, 0.3, (2, 4)) + np.eye(2, 4),
            rng.uniform(-1, 1, (2,)),
        ),
        attrs=({}, {"l2_regularizer": 0.5}),
        name="wide",
        composed=True,
    ),
]
