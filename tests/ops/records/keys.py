"""Records of gtape/ops/keys.py; that of `argwhere` is among those of searching."""

import numpy as np

from gtape.dispatch import apply
from gtape.primitive import registry
from tests.ops.harness import Record, fixed

RECORDS = [
    Record(
        "bound_in_axis",
        lambda n, size: apply(registry()["bound_in_axis"], n, size=size),
        lambda n, size: np.arange(size)[: slice(n).indices(size)[1]],
        (fixed(np.int32(bound)),),
        attrs=({"size": 5}, {"size": 2}, {"size": 0}),
        name=str(bound),
        order=0,
    )
    for bound in (3, 0, -2, -9)
]
