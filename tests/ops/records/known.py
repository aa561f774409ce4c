"""Records of gtape/ops/known.py."""

import numpy as np

from gtape.dispatch import apply
from gtape.primitive import registry
from tests.ops.harness import Record, fixed

RECORDS = [
    Record(
        "positions_below",
        lambda count: apply(registry()["positions_below"], count),
        np.arange,
        (fixed(np.int32(4)),),
        order=0,
    ),
]
