"""Records of gtape/ops/sorting.py."""

import numpy as np

import gtape as gt
from tests.ops.harness import ANY, REALS, Record, ints, real

ORDERED = tuple(d for d in ANY if not d.startswith("complex"))
DIRECTIONS = ("ASCENDING", "DESCENDING")
VARIANTS = tuple(
    {"axis": axis, "direction": d} for axis in (-1, 0, 1) for d in DIRECTIONS
)


def _sort(x, axis, direction):
    out = np.sort(x, axis)
    return out if direction == "ASCENDING" else np.flip(out, axis)


def _argsort(x, axis, direction):
    x = x if direction == "ASCENDING" else -x.astype(np.float64)
    return np.argsort(x, axis, kind="stable")


def _top_k(x, k):
    order = np.argsort(-x.astype(np.float64), -1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


def _gaps(x, axis=-1, direction="", k=0):
    return np.diff(np.sort(x, axis), axis=axis)


RECORDS = [
    Record(
        "sort",
        gt.sort,
        _sort,
        (real((2, 3, 2)),),
        attrs=VARIANTS,
        dtypes=ORDERED,
        kinks=_gaps,
    ),
    Record("sort", gt.sort, lambda x: x, (real((0,)),), name="empty"),
    Record(
        "argsort",
        gt.argsort,
        _argsort,
        (real((2, 3, 2)),),
        attrs=VARIANTS,
        dtypes=ORDERED,
        order=0,
    ),
    Record(
        "argsort",
        gt.argsort,
        _argsort,
        (ints((3, 7), 0, 3),),
        attrs=VARIANTS[:4],
        name="ties",
        order=0,
    ),
    Record(
        "top_k_indices",
        lambda x, k: gt.top_k(x, k),
        _top_k,
        (real((2, 4)),),
        attrs=({"k": 2}, {"k": 4}, {"k": 0}),
        dtypes=REALS,
        kinks=_gaps,
    ),
    Record(
        "top_k_indices",
        lambda x, k: gt.top_k(x, k),
        _top_k,
        (ints((3, 2, 60), 0, 8),),
        attrs=({"k": 1}, {"k": 5}, {"k": 7}),
        dtypes=("float64",),
        name="of-many",
        order=0,
    ),
    Record(
        "in_top_k",
        lambda x, i, k: gt.in_top_k(i, x, k),
        lambda x, i, k: (x > x[np.arange(5), i, None]).sum(1) < k,
        (real((5, 4)), ints((5,), 0, 4)),
        attrs=({"k": 1}, {"k": 3}, {"k": 0}),
        order=0,
        composed=True,
    ),
]
