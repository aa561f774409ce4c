"""Records of gtape/ops/linear.py."""

import numpy as np

import gtape as gt
from gtape.ops.math import real_part
from tests.ops.harness import ANY, INEXACT, NUMBERS, Record, bools, cplx, real

RECORDS = [
    Record(
        "broadcast_to",
        gt.broadcast_to,
        np.broadcast_to,
        (real((3, 1)),),
        attrs=({"shape": (2, 3, 4)}, {"shape": (3, 1)}, {"shape": (3, 0)}),
        dtypes=ANY,
    ),
    Record(
        "broadcast_to",
        gt.broadcast_to,
        np.broadcast_to,
        (real(()),),
        name="scalar",
        attrs=({"shape": (2, 2)}, {"shape": ()}),
    ),
    Record(
        "reduce_sum",
        gt.reduce_sum,
        lambda x, axis, keepdims=False: np.sum(
            x, axis=axis, keepdims=keepdims, dtype=x.dtype
        ),
        (real((2, 3, 2)),),
        attrs=(
            {"axis": None},
            {"axis": 1},
            {"axis": (0, -1)},
            {"axis": 2, "keepdims": True},
            {"axis": ()},
        ),
        dtypes=NUMBERS,
    ),
    Record(
        "reduce_sum",
        gt.reduce_sum,
        np.sum,
        (real((2, 0, 3)),),
        name="empty",
        attrs=({"axis": 1}, {"axis": 0}, {"axis": None}),
    ),
    Record("reduce_sum", gt.reduce_sum, np.sum, (real(()),), name="scalar"),
    Record(
        "cast",
        gt.cast,
        lambda x, dtype: x.astype(dtype),
        (real((2, 3)),),
        attrs=({"dtype": "float64"}, {"dtype": "complex128"}),
        dtypes=("float32", "float16", "bfloat16", "int32", "uint8", "bool"),
        order=0,
    ),
    Record(
        "cast",
        gt.cast,
        lambda x, dtype: x.astype(dtype),
        (real((2, 3)),),
        name="to-complex",
        attrs=({"dtype": "complex128"},),
        dtypes=("float64",),
        elementwise=True,
        specials=False,
    ),
    Record(
        "cast",
        gt.cast,
        lambda x, dtype: x.real.astype(dtype),
        (cplx((2, 3)),),
        name="from-complex",
        attrs=({"dtype": "float64"},),
        dtypes=("float64",),
    ),
    Record(
        "cast",
        gt.cast,
        lambda x, dtype: np.trunc(x).astype(dtype),
        (real((2, 3), -100, 100),),
        name="to-int",
        attrs=({"dtype": "int32"}, {"dtype": "int8"}),
        order=0,
    ),
    Record("identity", gt.identity, np.array, (real(),), dtypes=ANY, elementwise=True),
    Record(
        "stop_gradient",
        gt.stop_gradient,
        np.array,
        (real(),),
        dtypes=ANY,
        order=0,
        elementwise=True,
    ),
    Record(
        "where",
        gt.where,
        np.where,
        (bools(), real(), real()),
        dtypes=ANY,
        elementwise=True,
    ),
    Record(
        "where",
        lambda x: gt.where(x > 0, gt.sqrt(gt.maximum(x, 0.0)), 0.0),
        lambda x: np.sqrt(np.maximum(x, 0)),
        (real(),),
        name="mask",
        kinks=lambda x: x,
    ),
    Record(
        "where",
        lambda x, y: gt.where(real_part(x) > 0, x, y),
        lambda x, y: np.where(np.real(x) > 0, x, y),
        (real(), real((3,))),
        name="computed",
        dtypes=INEXACT,
        kinks=lambda x, y: np.real(x),
    ),
]
