import numpy as np

from gtape.ops.diagonal import (
    band_part,
    diag,
    diag_part,
    set_diag,
    trace,
    tril,
    triu,
)
from tests.ops.harness import ANY, NUMBERS, Record, real


def _diag(x, k):
    rows = [np.diag(row, k) for row in x.reshape(-1, x.shape[-1])]
    return np.reshape(rows, (*x.shape[:-1], *rows[0].shape))


def _set_diag(x, new, k):
    rows, columns = np.nonzero(np.eye(*x.shape[-2:], k))
    out = np.array(x)
    out[..., rows, columns] = new
    return out


def _band(x, num_lower, num_upper):
    rows, columns = x.shape[-2:]
    below = rows if num_lower < 0 else num_lower
    above = columns if num_upper < 0 else num_upper
    return np.triu(np.tril(x, above), -below)


_OFFSETS = tuple({"k": k} for k in (0, 1, -1, 2, -2))

RECORDS = [
    Record(
        "diag", diag, _diag, (real((2, 3)),), attrs=_OFFSETS, dtypes=ANY, composed=True
    ),
    Record(
        "diag_part",
        diag_part,
        lambda x, k: np.diagonal(x, k, -2, -1),
        (real((2, 3, 4)),),
        attrs=_OFFSETS,
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "set_diag",
        lambda x, new: set_diag(x, new, k=1),
        lambda x, new: _set_diag(x, new, 1),
        (real((2, 3, 4)), real((3,))),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "band_part",
        band_part,
        _band,
        (real((2, 3, 4)),),
        attrs=tuple(
            {"num_lower": a, "num_upper": b}
            for a, b in ((0, 0), (1, -1), (-1, 2), (5, 5), (-1, -1))
        ),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "triu",
        triu,
        np.triu,
        (real((2, 3, 4)),),
        attrs=_OFFSETS,
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "tril",
        tril,
        np.tril,
        (real((2, 3, 4)),),
        attrs=_OFFSETS,
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "trace",
        trace,
        lambda x: np.trace(x, axis1=-2, axis2=-1),
        (real((2, 3, 4)),),
        dtypes=NUMBERS,
        composed=True,
    ),
]
