"""Records of gtape/ops/slicing.py."""

import numpy as np

import gtape as gt
from gtape.ops.slicing import embed, strided_slice
from tests.ops.harness import ANY, NUMBERS, Record, real


def _slices(starts, sizes, steps):
    """Positions on each axis, for np.ix_."""
    return np.ix_(
        *[
            start + step * np.arange(size)
            for start, size, step in zip(starts, sizes, steps, strict=True)
        ]
    )


def _embed(x, shape, starts, steps, fill=0):
    out = np.full(shape, fill, x.dtype)
    out[_slices(starts, x.shape, steps)] = x
    return out


RECORDS = [
    Record(
        "slice",
        strided_slice,
        lambda x, starts, sizes, steps: x[_slices(starts, sizes, steps)],
        (real((5, 4)),),
        attrs=(
            {"starts": (1, 0), "sizes": (3, 4), "steps": (1, 1)},
            {"starts": (0, 3), "sizes": (3, 2), "steps": (2, -2)},
            {"starts": (4, 3), "sizes": (5, 4), "steps": (-1, -1)},
            {"starts": (4, 0), "sizes": (2, 1), "steps": (-3, 1)},
            {"starts": (4, 2), "sizes": (0, 2), "steps": (-1, 1)},
            {"starts": (5, 2), "sizes": (0, 0), "steps": (1, 1)},
        ),
        dtypes=ANY,
    ),
    Record(
        "slice",
        strided_slice,
        lambda x, starts, sizes, steps: x,
        (real(()),),
        attrs=({"starts": (), "sizes": (), "steps": ()},),
        name="scalar",
    ),
    Record(
        "slice",
        gt.slice,
        lambda x, begin, size: x[
            tuple(
                np.s_[b : b + s if s >= 0 else None]
                for b, s in zip(begin, size, strict=True)
            )
        ],
        (real((5, 4)),),
        name="public",
        attrs=({"begin": (1, 2), "size": (3, -1)}, {"begin": (5, 0), "size": (-1, 0)}),
    ),
    Record(
        "embed",
        embed,
        _embed,
        (real((2, 3)),),
        attrs=(
            {"shape": (4, 5), "starts": (1, 2), "steps": (1, 1)},
            {"shape": (4, 5), "starts": (0, 0), "steps": (3, 2)},
            {"shape": (4, 7), "starts": (3, 6), "steps": (-2, -3)},
            {"shape": (2, 3), "starts": (0, 0), "steps": (1, 1)},
            {"shape": (3, 3), "starts": (1, 0), "steps": (1, 1), "fill": 7},
        ),
        dtypes=NUMBERS,
    ),
    Record(
        "embed",
        embed,
        _embed,
        (real((0, 2)),),
        attrs=({"shape": (3, 4), "starts": (0, 1), "steps": (-1, 2)},),
        name="empty",
    ),
    Record(
        "embed",
        embed,
        lambda x, shape, starts, steps: x,
        (real(()),),
        attrs=({"shape": (), "starts": (), "steps": ()},),
        name="scalar",
    ),
    Record(
        "concat",
        lambda *xs, axis: gt.concat(xs, axis),
        lambda *xs, axis: np.concatenate(xs, axis),
        (real((2, 3)), real((2, 1)), real((2, 0))),
        attrs=({"axis": 1}, {"axis": -1}),
        dtypes=ANY,
    ),
    Record(
        "concat",
        lambda *xs, axis: gt.concat(xs, axis),
        lambda *xs, axis: np.concatenate(xs, axis),
        (real((2, 3, 2)), real((1, 3, 2))),
        attrs=({"axis": 0},),
        name="first",
    ),
    Record(
        "concat",
        lambda x: gt.concat([x, x * 2.0, x], 0),
        lambda x: np.concatenate([x, x * 2, x]),
        (real((2, 2)),),
        name="repeated",
    ),
    Record(
        "stack",
        lambda *xs, axis: gt.stack(xs, axis),
        lambda *xs, axis: np.stack(xs, axis),
        (real((2, 3)), real((2, 3))),
        attrs=({"axis": 0}, {"axis": 1}, {"axis": -1}),
        composed=True,
    ),
    Record(
        "stack",
        lambda *xs: gt.stack(xs),
        lambda *xs: np.stack(xs),
        (real(()), real(())),
        name="scalars",
        composed=True,
    ),
]
