"""Records of gtape/ops/gathering.py."""

import numpy as np

import gtape as gt
from tests.ops.harness import ANY, Record, fixed, ints, real

MASK = np.array([[True, False, True], [False, False, True]])


def _take(x, i, axis=0, batch_dims=0):
    """TensorFlow's gather, one element of the batch at a time."""
    if batch_dims == 0:
        return np.take(x, i, axis)
    return np.stack(
        [_take(a, b, axis - 1, batch_dims - 1) for a, b in zip(x, i, strict=True)]
    )


def _take_nd(x, i, batch_dims=0):
    if batch_dims:
        return np.stack(
            [_take_nd(a, b, batch_dims - 1) for a, b in zip(x, i, strict=True)]
        )
    out = [x[tuple(row)] for row in i.reshape(-1, i.shape[-1])]
    depth = i.shape[-1]
    return np.array(out, x.dtype).reshape(*i.shape[:-1], *x.shape[depth:])


RECORDS = [
    Record(
        "gather",
        gt.gather,
        _take,
        (real((3, 2, 4)), ints((2, 3), 0, 2)),
        attrs=({"axis": 0}, {"axis": 1}, {"axis": -1}),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "gather",
        gt.gather,
        _take,
        (real((2, 3, 4, 5)), ints((2, 3, 2), 0, 3)),
        attrs=(
            {"axis": 1, "batch_dims": 1},
            {"axis": 2, "batch_dims": 1},
            {"axis": 3, "batch_dims": 1},
            {"axis": 2, "batch_dims": 2},
            {"axis": 3, "batch_dims": 2},
        ),
        name="batched",
        composed=True,
    ),
    Record(
        "gather",
        gt.gather,
        _take,
        (real((3, 2)), ints((), 0, 3, "int64")),
        name="scalar",
        composed=True,
    ),
    Record(
        "gather",
        gt.gather,
        _take,
        (real((3, 2)), ints((0,), 0, 3)),
        name="nothing",
        composed=True,
    ),
    Record(
        "take_along_axis",
        gt.take_along_axis,
        lambda x, i, axis: np.take_along_axis(x, i.astype(np.int64), axis),
        (real((3, 2, 2)), ints((3, 1, 2), -2, 2)),
        attrs=({"axis": 1},),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "gather_nd",
        gt.gather_nd,
        _take_nd,
        (real((3, 2, 4)), ints((5, 2), 0, 2)),
        composed=True,
    ),
    Record(
        "gather_nd",
        gt.gather_nd,
        _take_nd,
        (real((3, 4, 4)), ints((3, 5, 1), 0, 3)),
        attrs=({"batch_dims": 1}, {"batch_dims": 0}),
        name="batched",
        composed=True,
    ),
    Record(
        "gather_nd",
        gt.gather_nd,
        lambda x, i: np.stack([x, x]),
        (real((3, 2)), fixed(np.zeros((2, 0), np.int32))),
        name="the-whole",
        composed=True,
    ),
    Record(
        "boolean_mask",
        lambda x, axis: gt.boolean_mask(x, MASK, axis),
        lambda x, axis: x[(slice(None),) * (axis or 0) + (MASK,)],
        (real((2, 3, 2)),),
        attrs=({"axis": None}, {"axis": 0}),
        composed=True,
    ),
    Record(
        "boolean_mask",
        lambda x, axis: gt.boolean_mask(x, MASK, axis),
        lambda x, axis: x[:, MASK],
        (real((2, 2, 3)),),
        attrs=({"axis": 1}, {"axis": -2}),
        name="axis",
        composed=True,
    ),
]
