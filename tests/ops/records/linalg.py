"""Records of gtape/ops/linalg.py."""

import numpy as np

from gtape.ops.linalg import matmul
from tests.ops.harness import INEXACT, NUMBERS, Record, cplx, real

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
]
