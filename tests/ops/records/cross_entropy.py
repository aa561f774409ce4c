import numpy as np
import scipy.special

from gtape.ops.cross_entropy import (
    l2_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tests.ops.harness import WIDE, Record, ints, positive, real


def sparse(logits, labels):
    if logits.size == 0:
        return np.zeros(labels.shape)
    logs = scipy.special.log_softmax(logits, axis=-1)
    return -np.take_along_axis(logs, labels[..., None].astype(int), -1)[..., 0]


def dense(labels, logits, axis=-1):
    return -np.sum(labels * scipy.special.log_softmax(logits, axis=axis), axis=axis)


def sigmoid(labels, logits):
    return np.logaddexp(0, logits) - labels * logits


RECORDS = [
    *[
        Record(
            "sparse_softmax_cross_entropy",
            lambda logits, labels: sparse_softmax_cross_entropy_with_logits(
                labels, logits
            ),
            sparse,
            (real((*shape, 5), -4, 4), ints(shape, 0, 5, dtype)),
            name="x".join(["labels", *map(str, shape)]) + f"-{dtype}",
        )
        for shape, dtype in (
            ((4,), "int32"),
            ((), "int64"),
            ((2, 3), "uint8"),
            ((0,), "int32"),
        )
    ],
    Record(
        "softmax_cross_entropy_with_logits",
        softmax_cross_entropy_with_logits,
        dense,
        (positive((3, 4)), real((3, 4), -4, 4)),
        attrs=({}, {"axis": 0}, {"axis": -2}),
        composed=True,
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "sigmoid_cross_entropy",
        sigmoid_cross_entropy_with_logits,
        sigmoid,
        (positive((3, 4), 0, 1), real((3, 4), -4, 4)),
        rtol={"float16": 2e-2, "bfloat16": 1e-1},
    ),
    Record(
        "l2_loss",
        l2_loss,
        lambda t: np.sum(t * t) / 2,
        (real((2, 3)),),
        composed=True,
        dtypes=WIDE,
    ),
]
