"""Records of gtape/ops/shaping.py."""

import numpy as np

import gtape as gt
from tests.ops.harness import ANY, Record, real

RECORDS = [
    Record(
        "reshape",
        gt.reshape,
        np.reshape,
        (real((2, 3, 2)),),
        attrs=({"shape": (3, 4)}, {"shape": (12,)}, {"shape": (2, -1, 1, 6)}),
        dtypes=ANY,
    ),
    Record(
        "reshape", gt.reshape, np.reshape, (real(()),), ({"shape": (1, 1)},), "scalar"
    ),
    Record(
        "reshape",
        gt.reshape,
        np.reshape,
        (real((1, 1)),),
        ({"shape": ()},),
        "to-scalar",
    ),
    Record(
        "reshape",
        gt.reshape,
        np.reshape,
        (real((0, 3)),),
        ({"shape": (3, 0)}, {"shape": (0,)}),
        "empty",
    ),
    Record(
        "expand_dims",
        gt.expand_dims,
        np.expand_dims,
        (real((2, 3)),),
        attrs=({"axis": 0}, {"axis": -1}, {"axis": (0, 2)}),
        composed=True,
    ),
    Record(
        "squeeze",
        gt.squeeze,
        np.squeeze,
        (real((1, 2, 1)),),
        attrs=({}, {"axis": 0}, {"axis": (0, -1)}),
        composed=True,
    ),
    Record(
        "transpose",
        gt.transpose,
        lambda x, perm=None: np.transpose(x, perm),
        (real((2, 3, 4)),),
        attrs=({}, {"perm": (1, 2, 0)}, {"perm": (0, 2, 1)}, {"perm": (-1, 0, 1)}),
        dtypes=ANY,
    ),
    Record("transpose", gt.transpose, np.transpose, (real(()),), name="scalar"),
    Record("transpose", gt.transpose, np.transpose, (real((0, 2)),), name="empty"),
    Record(
        "matrix_transpose",
        gt.matrix_transpose,
        lambda x: np.swapaxes(x, -1, -2),
        (real((2, 3, 2)),),
        composed=True,
    ),
    Record(
        "swapaxes",
        gt.swapaxes,
        np.swapaxes,
        (real((2, 3, 4)),),
        attrs=({"axis1": 0, "axis2": -1}, {"axis1": 1, "axis2": 1}),
        composed=True,
    ),
]
