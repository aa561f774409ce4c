"""Records of gtape/ops/contraction.py."""

import numpy as np

from gtape.ops.contraction import dot, inner, tensordot
from tests.ops.harness import INEXACT, Record, real

RECORDS = [
    Record(
        "tensordot",
        tensordot,
        np.tensordot,
        (real((2, 3, 2)), real((3, 2, 2))),
        attrs=({"axes": 0}, {"axes": [[1, 0], [0, 1]]}),
        dtypes=INEXACT,
        composed=True,
    ),
    Record(
        "tensordot",
        tensordot,
        np.tensordot,
        (real((2, 3)), real((3, 2, 2))),
        attrs=({"axes": 1}, {"axes": [1, 0]}, {"axes": [[-1], [-3]]}),
        name="last with first",
        composed=True,
    ),
    Record(
        "dot",
        dot,
        np.dot,
        (real((2, 3)), real((2, 3, 2))),
        dtypes=INEXACT,
        composed=True,
    ),
    Record(
        "inner",
        inner,
        np.inner,
        (real((2, 3)), real((2, 2, 3))),
        dtypes=INEXACT,
        composed=True,
    ),
]
