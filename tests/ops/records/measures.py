import numpy as np

from gtape.ops.measures import ensure_shape, rank, shape, size
from tests.ops.harness import Record, real

_ONE = {"inputs": (real((2, 3)),), "composed": True}

RECORDS = [
    Record("shape", shape, lambda x: np.array(x.shape), order=0, **_ONE),
    Record("rank", rank, np.ndim, order=0, **_ONE),
    Record("size", size, np.size, order=0, **_ONE),
    Record("ensure_shape", lambda x: ensure_shape(x, (None, 3)), lambda x: x, **_ONE),
]
