"""Records of gtape/ops/indexing.py."""

import numpy as np

from gtape.dispatch import apply
from gtape.ops.indexing import getitem, with_item
from gtape.primitive import registry
from tests.ops.harness import ANY, NUMBERS, Record, real

MASK = np.array([[True, False, True], [False, False, True]])
KEYS = (
    (-1,),
    (None, 1, None, (None, None, -1)),
    ((1, None, None), (None, None, 2)),
    ((None, None, -2), (2, 0, -1)),
    ((2, 1, None), None),
    (1, 2),
    ((-100, 100, 1), None, -2),
)


def _numpy(key):
    return tuple([slice(*e) if isinstance(e, tuple) else e for e in key])


def _place(g, key, shape):
    out = np.zeros(shape, g.dtype)
    out[_numpy(key)] = g
    return out


def _with_item(x, value, key):
    out = np.array(x)
    out[key] = value
    return out


RECORDS = [
    Record(
        "select",
        lambda x, key: getitem(x, _numpy(key)),
        lambda x, key: x[_numpy(key)],
        (real((2, 3)),),
        attrs=tuple([{"key": key} for key in KEYS]),
        dtypes=ANY,
    ),
    Record(
        "select",
        lambda x, key: getitem(x, _numpy(key)),
        lambda x, key: x[_numpy(key)],
        (real(()),),
        attrs=({"key": ()}, {"key": (None, None)}),
        name="scalar",
    ),
    *[
        Record(
            "place",
            lambda g, key=key: apply(registry()["place"], g, key=key, shape=(2, 3)),
            lambda g, key=key: _place(g, key, (2, 3)),
            (real(np.zeros((2, 3))[_numpy(key)].shape),),
            dtypes=NUMBERS,
            name=str(number),
        )
        for number, key in enumerate(KEYS)
    ],
    *[
        Record(
            "update",
            lambda x, value, key=key: with_item(x, _numpy(key), value),
            lambda x, value, key=key: _with_item(x, value, _numpy(key)),
            (real((2, 3)), real(np.zeros((2, 3))[_numpy(key)].shape)),
            dtypes=ANY,
            name=str(number),
        )
        for number, key in enumerate(KEYS)
    ],
    Record(
        "update",
        lambda x, value: with_item(x, ..., value),
        lambda x, value: value,
        (real(()), real(())),
        name="scalar",
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
            ("integer-and-list", (0, None, [2, 2])),
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
            ("list-and-slice", ([1, 0], slice(None, None, -2)), (2, 1)),
            ("apart", ([1, 1], None, [2, 2]), (2, 1)),
            ("integer-and-list", (0, None, [2, 1]), (2, 1)),
        )
    ],
]
