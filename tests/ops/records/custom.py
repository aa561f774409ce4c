"""Records of gtape/custom.py."""

import numpy as np

import gtape as gt
from tests.ops.harness import Record, positive, real


@gt.custom_gradient
def _exponential(x):
    y = gt.exp(x)
    return y, lambda g: g * y


@gt.custom_gradient
def _product_and_sum(x, y):
    return (x * y, x + y), lambda g, h: (g * y + h, g * x + h)


RECORDS = [
    Record("custom_gradient", _exponential, np.exp, (real(),)),
    Record(
        "custom_gradient",
        _product_and_sum,
        lambda x, y: (x * y, x + y),
        (real(), real()),
        name="two",
    ),
    Record(
        "recompute_grad",
        gt.recompute_grad(lambda x: gt.log(x) * x),
        lambda x: np.log(x) * x,
        (positive(),),
        composed=True,
    ),
]
