"""Records of gtape/ops/discrete.py."""

import numpy as np

from gtape.ops.discrete import argmax, argmin, count_nonzero, reduce_all, reduce_any
from tests.ops.harness import ANY, BOOL, REALS, Record, bools, fixed, real
from tests.ops.records.reduction import AXES, over

NAN = np.nan
ALONG = ({"axis": 1}, {"axis": -1, "output_type": "int32"}, {"axis": None})


def place(function):
    def reference(x, axis, output_type="int64"):
        return function(x, axis=axis or 0)

    return reference


RECORDS = [
    *[
        Record(
            name, call, over(f), (bools((2, 3, 2)),), attrs=AXES, dtypes=BOOL, order=0
        )
        for name, call, f in (
            ("reduce_any", reduce_any, np.any),
            ("reduce_all", reduce_all, np.all),
        )
    ],
    *[
        Record(
            name,
            call,
            place(f),
            (real((3, 4, 2), -3, 3),),
            attrs=ALONG,
            dtypes=(*REALS, *BOOL),
            order=0,
        )
        for name, call, f in (
            ("argmax", argmax, np.argmax),
            ("argmin", argmin, np.argmin),
        )
    ],
    *[
        Record(
            name,
            call,
            place(f),
            (fixed([[1, NAN, 3, NAN], [-np.inf] * 4, [np.inf] * 4, [2, 5, 5, 1]]),),
            name="specials",
            attrs=({"axis": 1},),
            order=0,
        )
        for name, call, f in (
            ("argmax", argmax, np.argmax),
            ("argmin", argmin, np.argmin),
        )
    ],
    Record(
        "count_nonzero",
        count_nonzero,
        over(np.count_nonzero),
        (real((2, 3, 2), -1, 2),),
        attrs=AXES[:-1],
        dtypes=ANY,
        composed=True,
        order=0,
    ),
]
