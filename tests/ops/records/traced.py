"""Records of gtape/ops/traced.py."""

import operator

import numpy as np

from gtape.dispatch import apply
from gtape.ops.traced import (
    PYTHON,
    call_host,
    fitted,
    mask_nan,
    next_state,
    reread,
    size_tensor,
)
from tests.ops.harness import FLOATS, Record, fixed, positive, real

NUMBERS = ("float64", "int64")
INT64 = np.dtype(np.int64)


def python(name, function, *inputs, **more):
    """Python numbers: whatever Python makes of them."""

    def call(*xs):
        return apply(PYTHON[name], *xs)

    def reference(*xs):
        return np.asarray(function(*[x.item() for x in xs]))

    more = {"dtypes": NUMBERS} | more
    return Record(f"python_{name}", call, reference, inputs, order=0, **more)


def _seen(x):
    assert isinstance(x, (np.ndarray, np.generic))


def _called(x):
    call_host(_seen, x)
    return x


ANY, ABOVE = real((), -40.0, 40.0), positive((), 1.6, 9.0)

RECORDS = [
    Record(
        "size",
        lambda: size_tensor(5, INT64),
        lambda: np.int64(5),
        (),
        name="as-a-tensor",
        order=0,
    ),
    python("add", operator.add, ANY, ANY),
    python("subtract", operator.sub, ANY, ANY),
    python("multiply", operator.mul, ANY, ANY),
    python("divide", operator.truediv, ANY, ABOVE),
    python("floordiv", operator.floordiv, ANY, ABOVE),
    python("mod", operator.mod, ANY, ABOVE),
    python("pow", operator.pow, ABOVE, ABOVE),
    python("negative", operator.neg, ANY),
    python("abs", abs, ANY),
    python("bitwise_and", operator.and_, ANY, ANY, dtypes=("int64",)),
    python("bitwise_or", operator.or_, ANY, ANY, dtypes=("int64",)),
    python("bitwise_xor", operator.xor, ANY, ANY, dtypes=("int64",)),
    python("left_shift", operator.lshift, ANY, ABOVE, dtypes=("int64",)),
    python("right_shift", operator.rshift, ANY, ABOVE, dtypes=("int64",)),
    python("round_to", round, ANY, fixed(np.int64(-1))),
    Record(
        "python_fit",
        lambda n: fitted(n, np.dtype(np.int8)),
        lambda n: n.astype(np.int8),
        (real((), -100.0, 100.0),),
        dtypes=("int64",),
        order=0,
    ),
    python("truncate", int, ANY, dtypes=("float64",)),
    python("round", round, ANY, dtypes=("float64",)),
    *[
        python(name, getattr(operator, short), ANY, ANY)
        for name, short in (
            ("equal", "eq"),
            ("not_equal", "ne"),
            ("less", "lt"),
            ("less_equal", "le"),
            ("greater", "gt"),
            ("greater_equal", "ge"),
        )
    ],
    python(
        "trips",
        lambda start, limit, delta: len(np.arange(start, limit, delta)),
        real((), -9.0, -1.0),
        ABOVE,
        ABOVE,
    ),
    Record(
        "mask_nan",
        mask_nan,
        lambda c, g: np.where(np.isnan(c) & (g == 0), 0.0, c + 0.0 * np.zeros(g.shape)),
        (real((2, 3)), real((2, 3))),
        dtypes=FLOATS,
        elementwise=True,
    ),
    Record(
        "reread",
        reread,
        lambda value, source: value,
        (real((2, 3)), real((2, 3))),
        order=0,
    ),
    Record("host", _called, lambda x: x, (real((2, 3)),), order=0),
    Record(
        "next_state",
        next_state,
        lambda key: key + np.array([0, 1], np.uint64),
        (fixed(np.array([7, 2**64 - 1], np.uint64)),),
        order=0,
    ),
]
