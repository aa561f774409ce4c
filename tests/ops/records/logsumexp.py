"""Records of gtape/ops/logsumexp.py."""

import numpy as np
from scipy.special import logsumexp

from gtape.ops.logsumexp import (
    cumulative_logsumexp,
    exp_difference,
    reduce_logsumexp,
)
from tests.ops.harness import FLOATS, Record, fixed, real
from tests.ops.records.reduction import AXES, over
from tests.ops.records.scanning import WAYS, scan

INF = np.inf


def difference(x, y):
    same = np.isinf(x) & (x == y)
    return np.where(same, x > 0, np.exp(x - np.where(same, 0, y)))


RECORDS = [
    Record(
        "exp_difference",
        exp_difference,
        difference,
        (real(), real()),
        elementwise=True,
        atol=1e-2,
    ),
    Record(
        "reduce_logsumexp",
        reduce_logsumexp,
        over(logsumexp),
        (real((2, 3, 2)),),
        attrs=AXES[:-1],
        dtypes=FLOATS,
    ),
    Record("reduce_logsumexp", reduce_logsumexp, None, (real(()),), name="scalar"),
    Record(
        "reduce_logsumexp",
        reduce_logsumexp,
        over(logsumexp),
        (fixed([[-INF, -INF], [INF, 1.0], [INF, INF], [-INF, 2.0], [np.nan, 0.0]]),),
        name="infinite",
        attrs=({"axis": 1}, {"axis": 0}),
        order=0,
    ),
    Record(
        "cumulative_logsumexp",
        cumulative_logsumexp,
        scan(np.logaddexp, -INF),
        (real((3, 4)),),
        attrs=(WAYS[0], WAYS[2]),
    ),
    Record(
        "cumulative_logsumexp",
        cumulative_logsumexp,
        scan(np.logaddexp, -INF),
        (real((3, 4)),),
        name="exclusive",
        attrs=(WAYS[1], WAYS[3]),
        order=0,
    ),
]
