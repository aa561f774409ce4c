"""Records of gtape/ops/scattering.py."""

import numpy as np

import gtape as gt
from tests.ops.harness import NUMBERS, REALS, Record, fixed, ints, real

REPEATED = fixed(np.array([[2], [0], [2], [3]], np.int32))


def _key(indices):
    return tuple(np.moveaxis(indices, -1, 0))


def _scatter_nd(updates, indices, shape):
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, _key(indices), updates)
    return out


def _tensor(write):
    def reference(x, updates, indices):
        out = np.array(x)
        write(out, _key(indices), updates)
        return out

    return reference


def _put(out, key, value):
    out[key] = value


def _call(how):
    scatter = getattr(gt, f"tensor_scatter_nd_{how}")
    return lambda x, updates, indices: scatter(x, indices, updates)


def _clear(x, updates, indices):
    rows = np.sort(np.concatenate([x[2][None], updates[[0, 2]]]), axis=0)
    return (
        np.diff(rows, axis=0),
        x[0] - updates[1],
        x[3] - updates[3],
    )


WRITES = {
    "add": (np.add.at, NUMBERS, None),
    "sub": (np.subtract.at, NUMBERS, None),
    "update": (_put, NUMBERS, None),
    "max": (np.maximum.at, REALS, _clear),
    "min": (np.minimum.at, REALS, _clear),
}

RECORDS = [
    Record(
        "scatter_nd",
        lambda updates, i, shape: gt.scatter_nd(i, updates, shape),
        _scatter_nd,
        (real((4, 2)), REPEATED),
        attrs=({"shape": (5, 2)},),
        dtypes=NUMBERS,
        composed=True,
    ),
    Record(
        "scatter_nd",
        lambda updates, i, shape: gt.scatter_nd(i, updates, shape),
        _scatter_nd,
        (real((2, 3)), ints((2, 3, 2), 0, 3)),
        attrs=({"shape": (3, 4)},),
        name="two-axes",
        composed=True,
    ),
    Record(
        "scatter_nd",
        lambda updates, i, shape: gt.scatter_nd(i, updates, shape),
        lambda updates, i, shape: updates.sum(0),
        (real((2, 3)), fixed(np.zeros((2, 0), np.int32))),
        attrs=({"shape": (3,)},),
        name="the-whole",
        composed=True,
    ),
    *[
        Record(
            f"tensor_scatter_nd_{how}",
            _call(how),
            _tensor(write),
            (real((4, 2)), real((4, 2)), REPEATED),
            dtypes=dtypes,
            kinks=kinks,
            composed=True,
        )
        for how, (write, dtypes, kinks) in WRITES.items()
    ],
    Record(
        "tensor_scatter_nd_update",
        _call("update"),
        lambda x, updates, i: updates[-1],
        (real((3,)), real((2, 3)), fixed(np.zeros((2, 0), np.int32))),
        name="the-whole",
        composed=True,
    ),
]
