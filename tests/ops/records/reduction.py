"""Records of gtape/ops/reduction.py."""

import numpy as np

from gtape.ops.reduction import reduce_max, reduce_mean, reduce_min, reduce_prod
from tests.ops.harness import INEXACT, INTS, NUMBERS, REALS, Record, fixed, real

AXES = (
    {"axis": None},
    {"axis": 1},
    {"axis": (0, -1)},
    {"axis": [2], "keepdims": True},
    {"axis": ()},
)


def over(function, **fixed):
    """Return a NumPy reduction that takes axes as a list, too."""

    def reference(x, axis=None, keepdims=False):
        axis = tuple(axis) if isinstance(axis, list) else axis
        return function(x, axis=axis, keepdims=keepdims, **fixed)

    return reference


def integer_mean(x, axis=None, keepdims=False):
    return np.trunc(over(np.mean)(x.astype(float), axis, keepdims)).astype(x.dtype)


def product(x, axis=None, keepdims=False):
    return over(np.prod, dtype=x.dtype)(x, axis, keepdims)


def gaps(x, **attrs):
    """The differences of all pairs of elements."""
    flat = x.ravel().astype(float) if x.dtype.kind not in "c" else x.ravel()
    first, second = np.triu_indices(flat.size, 1)
    return flat[first] - flat[second] if x.dtype.kind == "f" else np.ones(1)


RECORDS = [
    Record(
        "reduce_mean",
        reduce_mean,
        over(np.mean),
        (real((2, 3, 2)),),
        attrs=AXES,
        dtypes=INEXACT,
    ),
    Record(
        "reduce_mean",
        reduce_mean,
        integer_mean,
        (real((2, 3, 2), -20, 20),),
        name="integers",
        attrs=AXES,
        dtypes=INTS,
        order=0,
    ),
    Record("reduce_mean", reduce_mean, np.mean, (real(()),), name="scalar"),
    Record(
        "reduce_prod",
        reduce_prod,
        product,
        (real((2, 3, 2)),),
        attrs=AXES,
        dtypes=NUMBERS,
        atol=1e-2,
    ),
    Record(
        "reduce_prod",
        reduce_prod,
        product,
        (fixed([[2.0, 0.0, 3.0], [0.0, 0.0, -4.0], [1.5, 2.0, 0.5]]),),
        name="zeros",
        attrs=({"axis": 0}, {"axis": 1}, {"axis": None}),
    ),
    Record(
        "reduce_prod",
        reduce_prod,
        product,
        (real((2, 0)),),
        name="empty",
        attrs=({"axis": None}, {"axis": 0}, {"axis": 1}),
    ),
    Record("reduce_prod", reduce_prod, np.prod, (real(()),), name="scalar"),
    Record(
        "reduce_max",
        reduce_max,
        over(np.max),
        (real((2, 3, 2)),),
        attrs=AXES,
        dtypes=REALS,
        kinks=gaps,
    ),
    Record(
        "reduce_max",
        reduce_max,
        over(np.max, initial=-np.inf),
        (real((2, 0)),),
        name="empty",
        attrs=({"axis": None}, {"axis": 0}, {"axis": 1}),
        order=0,
    ),
    Record(
        "reduce_min",
        reduce_min,
        over(np.min),
        (real((2, 3, 2)),),
        attrs=AXES,
        dtypes=REALS,
        kinks=gaps,
    ),
    Record(
        "reduce_min",
        reduce_min,
        over(np.min, initial=np.inf),
        (real((2, 0)),),
        name="empty",
        attrs=({"axis": None}, {"axis": 0}, {"axis": 1}),
        order=0,
    ),
]
