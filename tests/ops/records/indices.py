"""Records of gtape/ops/indices.py."""

import numpy as np

from gtape.ops.indices import index, index_add
from tests.ops.harness import ANY, NUMBERS, Record, ints, real

AT = ints((2, 3), 0, 4)
BACK = ints((5,), -4, 4)


def _index(x, *indices, axes):
    return x[(slice(None),) * axes[0] + indices]


def _index_add(g, *indices, axes, shape):
    out = np.zeros(shape, g.dtype)
    np.add.at(out, (slice(None),) * axes[0] + indices, g)
    return out


RECORDS = [
    Record(
        "index",
        lambda x, i, axes: index(x, (i,), axes),
        _index,
        (real((4, 4)), AT),
        attrs=({"axes": (0,)}, {"axes": (1,)}),
        dtypes=ANY,
    ),
    Record(
        "index",
        lambda x, i, axes: index(x, (i,), axes),
        _index,
        (real((3, 4, 2)), BACK),
        attrs=({"axes": (1,)},),
        name="from-the-end",
    ),
    Record(
        "index",
        lambda x, i, axes: index(x, (i,), axes, wrap=False),
        _index,
        (real((4, 2)), ints((3,), 0, 4, "uint8")),
        attrs=({"axes": (0,)},),
        name="from-the-front",
    ),
    Record(
        "index",
        lambda x, i, j, axes: index(x, (i, j), axes),
        _index,
        (real((4, 4, 2)), ints((3, 1), 0, 4), ints((2,), 0, 2, "int64")),
        attrs=({"axes": (0, 1)}, {"axes": (1, 2)}),
        name="two",
    ),
    Record(
        "index",
        lambda x, i, axes: index(x, (i,), axes),
        _index,
        (real((4, 2)), ints((), 0, 4)),
        attrs=({"axes": (0,)},),
        name="scalar",
    ),
    Record(
        "index",
        lambda x, i, axes: index(x, (i,), axes),
        _index,
        (real((4, 2)), ints((0,), 0, 4)),
        attrs=({"axes": (0,)},),
        name="empty",
    ),
    Record(
        "index_add",
        lambda g, i, axes, shape: index_add(g, (i,), axes, shape),
        _index_add,
        (real((5, 2)), ints((5,), 0, 3)),
        attrs=({"axes": (0,), "shape": (4, 2)},),
        dtypes=NUMBERS,
    ),
    Record(
        "index_add",
        lambda g, i, axes, shape: index_add(g, (i,), axes, shape),
        _index_add,
        (real((5,)), BACK),
        attrs=({"axes": (0,), "shape": (4,)},),
        name="vector",
    ),
    Record(
        "index_add",
        lambda g, i, axes, shape: index_add(g, (i,), axes, shape, wrap=False),
        _index_add,
        (real((2, 5, 3)), ints((5,), 0, 3)),
        attrs=({"axes": (1,), "shape": (2, 4, 3)},),
        name="middle",
    ),
    Record(
        "index_add",
        lambda g, i, axes, shape: index_add(g, (i,), axes, shape),
        _index_add,
        (real((0, 2)), ints((0,), 0, 3)),
        attrs=({"axes": (0,), "shape": (4, 2)},),
        name="empty",
    ),
    Record(
        "index_add",
        lambda g, i, j, axes, shape: index_add(g, (i, j), axes, shape),
        _index_add,
        (real((2, 3, 2)), ints((3, 1), 0, 3), ints((2,), 0, 4)),
        attrs=({"axes": (1, 2), "shape": (2, 3, 4)},),
        name="two",
    ),
]
