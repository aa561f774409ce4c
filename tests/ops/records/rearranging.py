import numpy as np

from gtape.ops.rearranging import repeat, reverse, roll, split, tile, unstack
from tests.ops.harness import ANY, INEXACT, Record, real

RECORDS = [
    Record(
        "roll",
        roll,
        np.roll,
        (real((3, 4)),),
        attrs=(
            {"shift": 1, "axis": 0},
            {"shift": -6, "axis": -1},
            {"shift": (2, 5), "axis": (1, 0)},
            {"shift": (1, 2), "axis": (1, 1)},
        ),
        dtypes=ANY,
    ),
    Record(
        "roll",
        roll,
        np.roll,
        (real((0, 2)),),
        attrs=({"shift": 1, "axis": 0}, {"shift": (1, 1), "axis": (0, 1)}),
        name="empty",
    ),
    Record(
        "unstack",
        unstack,
        lambda x, axis: list(np.moveaxis(x, axis, 0)),
        (real((2, 3)),),
        attrs=({"axis": 0}, {"axis": -1}),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "split",
        split,
        lambda x, num_or_size_splits, axis: np.split(x, 2, axis),
        (real((4, 2)),),
        attrs=(
            {"num_or_size_splits": 2, "axis": 0},
            {"num_or_size_splits": [1, -1], "axis": 1},
        ),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "tile",
        lambda x, multiples: tile(x, multiples),
        lambda x, multiples: np.tile(x, multiples),
        (real((2, 3)),),
        attrs=({"multiples": (2, 1)}, {"multiples": (3, 2)}, {"multiples": (0, 1)}),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "repeat",
        repeat,
        np.repeat,
        (real((2, 3)),),
        attrs=(
            {"repeats": 2, "axis": 0},
            {"repeats": [2, 0, 1], "axis": 1},
            {"repeats": 3, "axis": None},
            {"repeats": [1, 0, 2, 0, 3, 1], "axis": None},
        ),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "reverse",
        reverse,
        np.flip,
        (real((2, 3, 2)),),
        attrs=({"axis": [0]}, {"axis": [2, 1]}, {"axis": -2}),
        dtypes=INEXACT,
        composed=True,
    ),
]
