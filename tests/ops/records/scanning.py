"""Records of gtape/ops/scanning.py."""

import numpy as np

from gtape.ops.scanning import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    linear_recurrence,
)
from tests.ops.harness import NUMBERS, REALS, Record, fixed, positive, real

WAYS = (
    {"axis": 0},
    {"axis": -1, "exclusive": True},
    {"axis": 1, "reverse": True},
    {"axis": 1, "exclusive": True, "reverse": True},
)
ENDS = ({"axis": 0}, {"axis": -1, "reverse": True})


def scan(ufunc, start):
    """Return the scan by a ufunc as its definition says it."""

    def reference(x, axis=0, exclusive=False, reverse=False):
        rows = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1]
        out = ufunc.accumulate(rows, axis=0, dtype=x.dtype)
        if exclusive and len(out):
            out = np.concatenate([np.full_like(out[:1], start), out[:-1]])
        return np.moveaxis(out[:: -1 if reverse else 1], 0, axis)

    return reference


def recurrence(a, b, axis, reverse=False):
    a, b = (np.moveaxis(x, axis, 0)[:: -1 if reverse else 1] for x in (a, b))
    rows = list(b[:1])
    for p, q in zip(a[1:], b[1:], strict=True):
        rows.append(q + p * rows[-1])
    out = np.array(rows).reshape(b.shape)
    return np.moveaxis(out[:: -1 if reverse else 1], 0, axis)


RECORDS = [
    Record(
        "cumsum",
        cumsum,
        scan(np.add, 0),
        (real((3, 4)),),
        attrs=WAYS,
        dtypes=NUMBERS,
    ),
    Record(
        "cumsum",
        cumsum,
        scan(np.add, 0),
        (real((2, 0, 3)),),
        name="empty",
        attrs=({"axis": 0, "exclusive": True}, {"axis": 1, "exclusive": True}),
    ),
    Record(
        "cumprod",
        cumprod,
        scan(np.multiply, 1),
        (real((3, 4)),),
        attrs=WAYS,
        dtypes=NUMBERS,
    ),
    Record(
        "cumprod",
        cumprod,
        scan(np.multiply, 1),
        (fixed([[2.0, 0.0, 3.0, -1.5], [0.5, 0.0, 0.0, 4.0]]),),
        name="zeros",
        attrs=WAYS,
    ),
    Record(
        "cumprod",
        cumprod,
        scan(np.multiply, 1),
        (positive((0, 2)),),
        name="empty",
        attrs=({"axis": 0}, {"axis": 1, "exclusive": True}),
    ),
    Record(
        "linear_recurrence",
        linear_recurrence,
        recurrence,
        (real((3, 4)), real((3, 4))),
        attrs=({"axis": 0}, {"axis": 1, "reverse": True}),
        dtypes=NUMBERS,
        atol=1e-2,
    ),
    Record(
        "linear_recurrence",
        linear_recurrence,
        recurrence,
        (real((2, 40, 2), -1, 1), real((2, 40, 2), -1, 1)),
        name="broad",
        attrs=({"axis": 0}, {"axis": 0, "reverse": True}),
        dtypes=("float64", "float32"),
    ),
    Record(
        "cummax",
        cummax,
        scan(np.maximum, 0),
        (real((3, 5)),),
        attrs=ENDS,
        dtypes=REALS,
        kinks=lambda x, axis, reverse=False: _differences(x, axis),
    ),
    Record(
        "cummin",
        cummin,
        scan(np.minimum, 0),
        (real((3, 5)),),
        attrs=ENDS,
        dtypes=REALS,
        kinks=lambda x, axis, reverse=False: _differences(x, axis),
    ),
]


def _differences(x, axis):
    """All differences of two elements along an axis."""
    if x.dtype.kind in "iu":
        return np.ones(1)
    rows = np.moveaxis(x, axis, 0)
    first, second = np.triu_indices(len(rows), 1)
    return rows[first] - rows[second]
