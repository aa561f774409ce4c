"""Records of gtape/ops/logic.py."""

from functools import partial

import numpy as np

import gtape as gt
from tests.ops.harness import ANY, BOOL, INTS, NUMBERS, REALS, Record, bools, ints, real

Plain = partial(Record, order=0, elementwise=True)
BOTH = (real((3, 4), -2, 2), real((3, 4), -2, 2))
WHOLE = (*INTS, *BOOL)

RECORDS = [
    Plain("equal", gt.equal, np.equal, BOTH, dtypes=ANY),
    Plain("not_equal", gt.not_equal, np.not_equal, BOTH, dtypes=ANY),
    Plain("less", gt.less, np.less, BOTH, dtypes=REALS),
    Plain("less_equal", gt.less_equal, np.less_equal, BOTH, dtypes=REALS),
    Plain("greater", gt.greater, np.greater, BOTH, dtypes=REALS),
    Plain("greater_equal", gt.greater_equal, np.greater_equal, BOTH, dtypes=REALS),
    *[
        Plain(
            name,
            getattr(gt, name),
            getattr(np, name),
            (bools((3, 4)), bools((3, 4))),
            dtypes=BOOL,
        )
        for name in ("logical_and", "logical_or", "logical_xor")
    ],
    Plain("logical_not", gt.logical_not, np.logical_not, (bools(),), dtypes=BOOL),
    *[
        Plain(
            name,
            getattr(gt, name),
            getattr(np, name),
            (real((3, 4), -120, 120), real((3, 4), -120, 120)),
            dtypes=WHOLE,
        )
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ],
    Plain("invert", gt.invert, np.invert, (real((3, 4), -120, 120),), dtypes=WHOLE),
    *[
        Plain(
            name,
            getattr(gt, name),
            getattr(np, name),
            (real((3, 4), -120, 120), real((3, 4), 0, 6)),
            dtypes=INTS,
        )
        for name in ("left_shift", "right_shift")
    ],
    *[
        Plain(
            name,
            getattr(gt, name),
            getattr(np, name),
            (ints((2, 3), -120, 120, "int8"), ints((2, 3), 0, 40, "int8")),
            name="past-the-width",
            dtypes=("int8",),
        )
        for name in ("left_shift", "right_shift")
    ],
    Plain("is_nan", gt.is_nan, np.isnan, (real(),), dtypes=NUMBERS),
    Plain("is_inf", gt.is_inf, np.isinf, (real(),), dtypes=NUMBERS),
    Plain("is_finite", gt.is_finite, np.isfinite, (real(),), dtypes=NUMBERS),
]
