"""Records of gtape/ops/indexing.py."""

import numpy as np

from gtape.ops.indexing import getitem, with_item
from gtape.ops.indices import index, index_add
from tests.ops.harness import ANY, NUMBERS, Record, ints, real

AT = ints((2, 3), 0, 4)
MASK = np.array([[True, False, True], [False, False, True]])


def _index(x, *indices, axes):
    return x[(slice(None),) * axes[0] + indices]


def _index_add(g, *indices, axes, shape):
    out = np.zeros(shape, g.dtype)
    np.add.at(out, (slice(None),) * axes[0] + indices, g)
    return out


def _with_item(x, value, key):
    out = np.array(x)
    out[key] = value
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
        lambda g, i, j, axes, shape: index_add(g, (i, j), axes, shape),
        _index_add,
        (real((2, 3, 2)), ints((3, 1), 0, 3), ints((2,), 0, 4)),
        attrs=({"axes": (1, 2), "shape": (2, 3, 4)},),
        name="two",
    ),
    *[
        Record(
            "getitem",
            lambda x, key=key: getitem(x, key),
            lambda x, key=key: x[key],
            (real((2, 3)),),
            name=name,
            composed=True,
        )
        for name, key in (
            ("integer", -1),
            ("slice", (slice(None, None, -1), slice(0, 3, 2))),
            ("new-axis", (None, ..., 1, None)),
            ("list", [1, 0, 1]),
            ("lists", ([1, 0], [2, 2])),
            ("apart", ([1, 0], None, [2, 2])),
            ("mask", MASK),
            ("mask-of-rows", np.array([False, True])),
            ("nothing", np.zeros((2, 3), bool)),
            ("all", ...),
        )
    ],
    *[
        Record(
            "with_item",
            lambda x, value, key=key: with_item(x, key, value),
            lambda x, value, key=key: _with_item(x, value, key),
            (real((2, 3)), real(shape)),
            name=name,
            composed=True,
        )
        for name, key, shape in (
            ("row", 1, (3,)),
            ("block", (slice(None), slice(0, 3, 2)), (2, 1)),
            ("repeated", ([1, 1, 0], [2, 2, 0]), (3,)),
            ("mask", MASK, ()),
        )
    ],
]
