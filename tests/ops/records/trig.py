import numpy as np

from gtape.ops import trig
from tests.ops.harness import INEXACT, Record, fixed, positive, real


def unary(call, reference, low=-2.0, high=2.0, **settings):
    settings = {"dtypes": INEXACT, "elementwise": True} | settings
    name = call.__name__
    return Record(name, call, reference, (real((2, 3), low, high),), **settings)


RECORDS = [
    unary(trig.sin, np.sin),
    unary(trig.cos, np.cos),
    unary(trig.tan, np.tan, -1.2, 1.2),
    unary(trig.asin, np.arcsin, -0.8, 0.8),
    unary(trig.acos, np.arccos, -0.8, 0.8),
    unary(trig.atan, np.arctan, -0.8, 0.8),
    unary(trig.sinh, np.sinh),
    unary(trig.cosh, np.cosh),
    unary(trig.tanh, np.tanh),
    unary(trig.asinh, np.arcsinh, -0.8, 0.8),
    unary(trig.acosh, np.arccosh, 1.3, 3.0),
    unary(trig.atanh, np.arctanh, -0.7, 0.7),
    unary(trig.tanh_slope, lambda x: np.cosh(x) ** -2, dtypes=INEXACT[:4]),
    Record(
        "atan2",
        trig.atan2,
        np.arctan2,
        (positive((2, 3)), real((2, 3))),
        elementwise=True,
    ),
    Record(
        "atan2",
        trig.atan2,
        np.arctan2,
        (real((4, 1)), fixed([-1.5, 0.5, 1.0])),
        name="all quadrants",
        kinks=lambda y, x: y + 0 * x,
    ),
]
