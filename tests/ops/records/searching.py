"""Records of gtape/ops/searching.py."""

import numpy as np

from gtape.ops.searching import (
    argwhere,
    nonzero,
    searchsorted,
    unique,
    unique_with_counts,
)
from tests.ops.harness import ANY, FLOATS, REALS, Record, bools, ints, real


def _ascending(rng):
    return np.sort(rng.uniform(-2, 2, (5,))), rng.uniform(-3, 3, (2, 3))


def _rows(rng):
    return np.sort(rng.uniform(-2, 2, (3, 5)), -1), rng.uniform(-3, 3, (3, 2))


def _search(sequence, values, side):
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    pairs = zip(sequence, values, strict=True)
    return np.stack([np.searchsorted(s, v, side) for s, v in pairs])


def _unique(x):
    y = list(dict.fromkeys(x.tolist()))
    idx = [y.index(e) for e in x.tolist()]
    return np.array(y, x.dtype), np.array(idx), np.bincount(idx)


SIDES = ({"side": "left"}, {"side": "right"})

RECORDS = [
    Record(
        "searchsorted",
        searchsorted,
        _search,
        _ascending,
        attrs=SIDES,
        dtypes=FLOATS,
        order=0,
    ),
    Record(
        "searchsorted",
        searchsorted,
        _search,
        _rows,
        attrs=SIDES,
        name="rows",
        order=0,
    ),
    Record(
        "argwhere",
        argwhere,
        np.argwhere,
        (real((3, 4), -1, 1),),
        dtypes=REALS,
        order=0,
    ),
    Record("argwhere", argwhere, np.argwhere, (bools(()),), name="scalar", order=0),
    Record(
        "nonzero",
        nonzero,
        np.nonzero,
        (ints((3, 4), -1, 2),),
        order=0,
        composed=True,
    ),
    Record(
        "unique",
        unique_with_counts,
        _unique,
        (ints((9,), 0, 4),),
        order=0,
    ),
    Record(
        "unique",
        unique_with_counts,
        _unique,
        (real((4,)),),
        name="different",
        dtypes=ANY,
        order=0,
    ),
    Record(
        "unique",
        unique,
        lambda x: _unique(x)[:2],
        (ints((0,)),),
        name="empty",
        order=0,
    ),
]
