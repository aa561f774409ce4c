import numpy as np

from gtape.ops.padding import pad
from tests.ops.harness import ANY, Record, real

RECORDS = [
    Record(
        "pad",
        lambda x, paddings, mode: pad(x, paddings, mode),
        lambda x, paddings, mode: np.pad(x, paddings, mode.lower()),
        (real((4, 3)),),
        attrs=tuple(
            {"paddings": paddings, "mode": mode}
            for mode in ("CONSTANT", "REFLECT", "SYMMETRIC")
            for paddings in ([[1, 2], [0, 1]], [[0, 0], [2, 2]])
        ),
        dtypes=ANY,
        composed=True,
    ),
    Record(
        "pad",
        lambda x: pad(x, [[1, 0], [2, 3]], constant_values=3),
        lambda x: np.pad(x, [[1, 0], [2, 3]], constant_values=3),
        (real((2, 3)),),
        name="with",
        composed=True,
    ),
]
