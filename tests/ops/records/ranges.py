import numpy as np

from gtape.ops.ranges import linspace, meshgrid, one_hot, range
from tests.ops.harness import FLOATS, INEXACT, NUMBERS, Record, ints, real


def _coded(indices, on, off):
    return np.where(indices[..., None] == np.arange(4), on, off)


RECORDS = [
    Record(
        "range",
        range,
        lambda start, limit, delta: np.arange(start, limit, delta),
        (),
        attrs=(
            {"start": 0, "limit": 5, "delta": 1},
            {"start": 7, "limit": -3, "delta": -2},
            {"start": 0.5, "limit": 3.0, "delta": 0.5},
        ),
        composed=True,
    ),
    Record(
        "linspace",
        linspace,
        np.linspace,
        (real((2, 3)), real((3,))),
        attrs=(
            {"num": 5},
            {"num": 4, "axis": 1},
            {"num": 2, "axis": -1},
            {"num": 1},
            {"num": 0},
        ),
        dtypes=INEXACT,
        atol=0.02,
        name="loose",
        composed=True,
    ),
    Record(
        "linspace",
        linspace,
        np.linspace,
        (real(()), real(())),
        attrs=({"num": 7},),
        dtypes=("float64",),
        composed=True,
    ),
    Record(
        "one_hot",
        lambda indices: one_hot(indices, 4),
        lambda indices: _coded(indices, 1.0, 0.0),
        (ints((2, 3), -2, 6),),
        order=0,
        composed=True,
    ),
    Record(
        "one_hot",
        lambda indices, on, off: one_hot(indices, 4, on, off),
        _coded,
        (ints((2, 3), -2, 6), real(()), real(())),
        dtypes=FLOATS,
        name="values",
        composed=True,
    ),
    Record(
        "meshgrid",
        meshgrid,
        np.meshgrid,
        (real((3,)), real((2,)), real(())),
        attrs=({"indexing": "xy"}, {"indexing": "ij"}),
        dtypes=NUMBERS,
        composed=True,
    ),
]
