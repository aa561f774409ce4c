"""Records of gtape/ops/norms.py and norm.py."""

import math

import numpy as np

from gtape.ops.norm import norm
from gtape.ops.norms import reduce_euclidean_norm, reduce_std, reduce_variance
from tests.ops.harness import COMPLEX, FLOATS, INEXACT, Record, fixed, real
from tests.ops.records.reduction import AXES, gaps, over

_VECTORS = tuple(
    {"ord": p, "axis": axis, "keepdims": p == 3}
    for p in (1, 2, "euclidean", 3, 1.5)
    for axis in (1, None)
)
_MATRICES = tuple(
    {"ord": p, "axis": (0, 2), "keepdims": keepdims}
    for p in ("fro", 1)
    for keepdims in (False, True)
)


def euclidean(x, axis=None, keepdims=False):
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))


def vector_norm(x, ord, axis, keepdims):
    return np.linalg.vector_norm(
        x, ord=2 if ord == "euclidean" else ord, axis=axis, keepdims=keepdims
    )


RECORDS = [
    Record(
        "reduce_euclidean_norm",
        reduce_euclidean_norm,
        over(euclidean),
        (real((2, 3, 2)),),
        attrs=AXES[:-1],
        dtypes=INEXACT,
    ),
    Record(
        "reduce_euclidean_norm",
        reduce_euclidean_norm,
        lambda x, axis: np.apply_along_axis(lambda row: math.hypot(*row), axis, x),
        (fixed([[0.0, 0.0], [1e-300, 1e-300], [1e300, -1e300], [np.inf, np.inf]]),),
        name="extreme",
        attrs=({"axis": 1}, {"axis": 0}),
        dtypes=("float64",),
        order=0,
    ),
    Record(
        "reduce_variance",
        reduce_variance,
        over(np.var),
        (real((2, 3, 2)),),
        attrs=AXES,
        dtypes=INEXACT,
        composed=True,
        atol=1e-2,
    ),
    Record(
        "reduce_std",
        reduce_std,
        over(np.std),
        (real((2, 3, 2)),),
        attrs=AXES[:-1],
        dtypes=INEXACT,
        composed=True,
        atol=1e-2,
    ),
    Record(
        "norm",
        norm,
        vector_norm,
        (real((2, 3, 2)),),
        attrs=_VECTORS,
        dtypes=(*FLOATS, *COMPLEX),
        composed=True,
        kinks=lambda x, **attrs: np.abs(x),
        rtol={"float32": 3e-5},
    ),
    Record(
        "norm",
        norm,
        np.linalg.norm,
        (real((2, 3, 2)),),
        name="matrices",
        attrs=_MATRICES,
        composed=True,
        kinks=lambda x, **attrs: (np.abs(x), gaps(np.abs(x).sum(0))),
    ),
    Record(
        "norm",
        norm,
        np.linalg.norm,
        (real((2, 3, 2)),),
        name="rows",
        attrs=({"ord": np.inf, "axis": (0, 2)}, {"ord": np.inf, "axis": (-1, 0)}),
        composed=True,
        kinks=lambda x, **attrs: (
            np.abs(x),
            gaps(np.abs(x).sum(0)),
            gaps(np.abs(x).sum(2)),
        ),
    ),
]
