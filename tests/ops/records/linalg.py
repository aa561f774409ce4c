"""Records of gtape/ops/linalg.py."""

import numpy as np

from gtape.ops.linalg import kron, matmul, matvec, outer, vecdot
from tests.ops.harness import INEXACT, NUMBERS, Record, cplx, real


def _matvec(a, b, transpose_a=False):
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    return np.matvec(a, b) if hasattr(np, "matvec") else (a @ b[..., None])[..., 0]


RECORDS = [
    Record("matmul", matmul, np.matmul, (real((2, 3)), real((3, 4))), dtypes=NUMBERS),
    Record(
        "matmul",
        matmul,
        np.matmul,
        (real((2, 1, 2, 3)), real((2, 3, 1))),
        name="batch",
        dtypes=INEXACT,
    ),
    Record(
        "matmul", matmul, np.matmul, (real((3, 2)), real((2, 2, 4))), name="broadcast"
    ),
    Record(
        "matmul",
        matmul,
        np.matmul,
        (real((2, 3, 2, 4)), real((4, 3))),
        name="one matrix for the batch",
        dtypes=INEXACT,
    ),
    Record("matmul", matmul, np.matmul, (real((2, 0)), real((0, 3))), name="empty"),
    Record(
        "matmul",
        lambda a, b: matmul(a, b, transpose_a=True, adjoint_b=True),
        lambda a, b: a.T @ b.conj().T,
        (cplx((3, 2)), cplx((4, 3))),
        name="flipped",
    ),
    Record(
        "matmul",
        lambda x: matmul(x, x),
        lambda x: x @ x,
        (real((3, 3)),),
        name="square",
    ),
    Record(
        "matvec",
        matvec,
        _matvec,
        (real((2, 3, 3)), real((3,))),
        attrs=({}, {"transpose_a": True}),
        dtypes=INEXACT,
        composed=True,
    ),
    Record(
        "vecdot",
        vecdot,
        lambda x, y: (x.conj() * y).sum(-1),
        (real((2, 3)), real((3,))),
        dtypes=INEXACT,
        composed=True,
    ),
    Record(
        "outer",
        outer,
        np.outer,
        (real((2,)), real((3,))),
        dtypes=NUMBERS,
        composed=True,
    ),
    Record(
        "kron",
        kron,
        np.kron,
        (real((2, 3)), real((2,))),
        dtypes=INEXACT,
        composed=True,
    ),
]
