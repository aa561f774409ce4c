"""Records of gtape/ops/index_write.py."""

import numpy as np

from gtape.ops.index_write import index_write, writers
from tests.ops.harness import ANY, NUMBERS, REALS, Record, bools, fixed, ints, real

REPEATED = fixed(np.array([2, 0, 2, 1], np.int32))


def _write(how):
    def call(x, value, *indices, axes):
        return index_write(how, x, value, indices, axes)

    return call


def _reference(write):
    def reference(x, value, *indices, axes):
        out = np.array(x)
        key = (slice(None),) * axes[0] + indices
        write(out, key, value)
        return out

    return reference


def _put(out, key, value):
    out[key] = value


def _at(ufunc):
    return lambda out, key, value: ufunc.at(out, key, value)


def _apart(x, value, i, axes):
    """How far the rivals for each place are from each other."""
    rows = np.moveaxis(x, axes[0], 0), np.moveaxis(value, axes[0], 0)
    return tuple(
        np.array(
            [
                abs(a - b)
                for k, a in enumerate([rows[0][p], *rows[1][i == p]])
                for b in [rows[0][p], *rows[1][i == p]][:k]
            ]
            or [1.0]
        )
        for p in range(rows[0].shape[0])
    )


def _first(among, i, axes, shape, last):
    rows = np.moveaxis(among, axes[0], 0)
    out = np.zeros_like(rows)
    order = range(len(i))
    for column in np.ndindex(rows.shape[1:]):
        seen = set()
        for k in reversed(order) if last else order:
            if rows[(k, *column)] and i[k] not in seen:
                seen.add(i[k])
                out[(k, *column)] = True
    return np.moveaxis(out, 0, axes[0])


def _records(how, write, **kwargs):
    name = f"index_{how}"
    return [
        Record(
            name,
            _write(how),
            _reference(write),
            (real((3, 2)), real((4, 2)), REPEATED),
            attrs=({"axes": (0,)},),
            **kwargs,
        ),
        Record(
            name,
            _write(how),
            _reference(write),
            (real((2, 3, 2)), real((2, 4, 2)), REPEATED),
            attrs=({"axes": (1,)},),
            name="middle",
            **kwargs,
        ),
        Record(
            name,
            _write(how),
            _reference(write),
            (real((4, 3)), real((2, 3)), ints((2, 1), -4, 4), ints((3,), 0, 3)),
            attrs=({"axes": (0, 1)},),
            name="two",
            **{**kwargs, "order": 0, "kinks": None},
        ),
        Record(
            name,
            _write(how),
            _reference(write),
            (real((3, 2)), real((0, 2)), ints((0,), 0, 3)),
            attrs=({"axes": (0,)},),
            name="empty",
            **{**kwargs, "kinks": None},
        ),
    ]


RECORDS = [
    *_records("put", _put, dtypes=ANY),
    *_records("max", _at(np.maximum), dtypes=REALS, kinks=_apart),
    *_records("min", _at(np.minimum), dtypes=REALS, kinks=_apart),
    *_records("multiply", _at(np.multiply), dtypes=NUMBERS, order=0),
    Record(
        "writers",
        lambda among, i, axes, shape, last: writers(
            among, (i,), axes, shape, last=last
        ),
        _first,
        (bools((2, 4, 3)), REPEATED),
        attrs=(
            {"axes": (1,), "shape": (2, 3, 3), "last": False},
            {"axes": (1,), "shape": (2, 3, 3), "last": True},
        ),
        dtypes=("float64",),
        order=0,
    ),
]
