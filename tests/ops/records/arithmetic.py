"""Records of gtape/ops/arithmetic.py."""

import numpy as np

import gtape as gt
from gtape.ops.arithmetic import log_or_zero
from tests.ops.harness import (
    FLOATS,
    INEXACT,
    INTS,
    NUMBERS,
    REALS,
    WIDE,
    Record,
    fixed,
    ints,
    positive,
    real,
)

BOTH = (real(), real())


def away_from_zero(shape=(2, 3)):
    return positive(shape, 0.5, 3.0)


def _between(x, low, high):
    return np.minimum(np.maximum(x, low), high)


RECORDS = [
    Record("add", gt.add, np.add, BOTH, dtypes=NUMBERS, elementwise=True),
    Record(
        "subtract", gt.subtract, np.subtract, BOTH, dtypes=NUMBERS, elementwise=True
    ),
    Record(
        "multiply", gt.multiply, np.multiply, BOTH, dtypes=NUMBERS, elementwise=True
    ),
    Record("multiply", lambda x: x * x, np.square, (real(),), name="with-itself"),
    Record(
        "divide",
        gt.divide,
        np.divide,
        (real(), away_from_zero()),
        dtypes=INEXACT,
        elementwise=True,
    ),
    Record(
        "divide",
        gt.divide,
        lambda x, y: np.divide(x, y, dtype=np.float64),
        (real(), real((2, 3), 1, 5)),
        name="integers",
        dtypes=INTS,
        order=0,
    ),
    Record(
        "floordiv",
        gt.floordiv,
        np.floor_divide,
        (real((2, 3), -7, 7), real((2, 3), 1, 4)),
        dtypes=("float64", "float32", *INTS),
        order=0,
        kinks=lambda x, y: np.remainder(x / y + 0.5, 1) - 0.5,
        elementwise=True,
    ),
    Record(
        "mod",
        gt.mod,
        np.remainder,
        (real((2, 3), -7, 7), real((2, 3), 1, 4)),
        dtypes=("float64", "float32", *INTS),
        kinks=lambda x, y: np.remainder(x / y + 0.5, 1) - 0.5,
        elementwise=True,
    ),
    Record(
        "mod",
        gt.mod,
        np.remainder,
        (real((2, 3), -7, 7), real((2, 3), -4, -1)),
        name="negative",
        dtypes=("float64", "int32"),
        kinks=lambda x, y: np.remainder(x / y + 0.5, 1) - 0.5,
    ),
    Record(
        "pow",
        gt.pow,
        np.power,
        (positive(), real()),
        dtypes=INEXACT,
        elementwise=True,
    ),
    Record(
        "pow",
        gt.pow,
        np.power,
        (real((2, 3), -4, 4), real((2, 3), 0, 4)),
        name="integers",
        dtypes=("int32", "int64", "int8", "uint8"),
        order=0,
        elementwise=True,
    ),
    Record(
        "pow",
        lambda x: gt.pow(x, 3),
        lambda x: x**3,
        (real(),),
        name="cube",
        dtypes=NUMBERS,
    ),
    Record(
        "pow",
        lambda x, y: gt.pow(x, gt.stop_gradient(y)),
        np.power,
        (fixed([-1.5, 0.0, 2.0, -0.5, 3.0]), fixed([3.0, 2.0, 0.0, 2.0, 1.0])),
        name="whole-exponents",
        wrt=(0,),
    ),
    Record("square", gt.square, np.square, (real(),), dtypes=NUMBERS, elementwise=True),
    Record(
        "real_log_or_zero",
        log_or_zero,
        lambda x: np.where((x > 0) | np.isnan(x), np.log(x), 0),
        (real(),),
        kinks=lambda x: x,
        elementwise=True,
    ),
    Record(
        "complex_log_or_zero",
        log_or_zero,
        lambda x: np.where(x == 0, 0, np.log(np.where(x == 0, 1, x))),
        (fixed([1 + 2j, -2 + 0.5j, -1j, -0.5 - 2j]),),
        dtypes=WIDE,
    ),
    Record(
        "complex_log_or_zero",
        log_or_zero,
        lambda x: np.zeros_like(x),
        (fixed([0j]),),
        name="zero",
        dtypes=WIDE,
        order=0,
    ),
    Record(
        "reciprocal",
        gt.reciprocal,
        np.reciprocal,
        (away_from_zero(),),
        dtypes=INEXACT,
        elementwise=True,
    ),
    Record(
        "divide_no_nan",
        gt.divide_no_nan,
        lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)),
        (real(), away_from_zero()),
        dtypes=INEXACT,
        elementwise=True,
    ),
    Record(
        "multiply_no_nan",
        gt.multiply_no_nan,
        lambda x, y: np.where(y == 0, 0, x * y),
        (real(), away_from_zero()),
        dtypes=INEXACT,
        elementwise=True,
    ),
    Record(
        "negative",
        gt.negative,
        np.negative,
        (real(),),
        dtypes=NUMBERS,
        elementwise=True,
    ),
    Record(
        "sign", gt.sign, np.sign, (real(),), dtypes=NUMBERS, order=0, elementwise=True
    ),
    Record(
        "maximum",
        gt.maximum,
        np.maximum,
        BOTH,
        dtypes=REALS,
        kinks=lambda x, y: x - y,
        elementwise=True,
    ),
    Record(
        "minimum",
        gt.minimum,
        np.minimum,
        BOTH,
        dtypes=REALS,
        kinks=lambda x, y: x - y,
        elementwise=True,
    ),
    Record(
        "clip_by_value",
        lambda x: gt.clip_by_value(x, -1.0, 0.5),
        lambda x: np.clip(x, -1.0, 0.5),
        (real(),),
        dtypes=FLOATS,
        kinks=lambda x: (x + 1, x - 0.5),
        elementwise=True,
        composed=True,
    ),
    Record(
        "clip_by_value",
        gt.clip_by_value,
        _between,
        (real(), positive((3,), -1, -0.5), positive((2, 1), 0.5, 1)),
        name="tensors",
        kinks=lambda x, low, high: (x - low, x - high),
        composed=True,
    ),
    Record(
        "clip_by_value",
        lambda x: gt.clip_by_value(x, -2, 3),
        lambda x: np.clip(x, -2, 3),
        (ints(),),
        name="integers",
        order=0,
        composed=True,
    ),
]
