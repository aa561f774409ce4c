import itertools

import numpy as np

from gtape.dispatch import apply
from gtape.ops.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    max_pool,
    max_pool1d,
    max_pool2d,
)
from gtape.ops.pools import _avg_spread, _max_pick, _max_place, _max_spread
from gtape.ops.windows import Windows
from tests.ops.harness import REALS, Record, ints, real
from tests.ops.records.convolution import same, transposed


def distinct(shape):
    """Return a draw of numbers none of which lies near another."""

    def draw(rng):
        numbers = rng.permutation(int(np.prod(shape)))
        return (numbers.reshape(shape) * 0.25 - 3,)

    return draw


def pooled(reduce, x, ksize, strides, padding):
    """Return a fold of each window, one after the other, without the padding."""
    rank = x.ndim - 2
    ksize = ksize if isinstance(ksize, tuple) else (ksize,) * rank
    strides = strides if isinstance(strides, tuple) else (strides,) * rank
    sizes = x.shape[1:-1]
    if padding == "SAME":
        padding = list(same(sizes, ksize, strides, (1,) * rank))
    elif padding == "VALID":
        padding = [(0, 0)] * rank
    counts = [
        (n + low + high - k) // s + 1
        for n, k, s, (low, high) in zip(sizes, ksize, strides, padding, strict=True)
    ]
    y = np.zeros((x.shape[0], *counts, x.shape[-1]), x.dtype)
    for at in itertools.product(*map(range, counts)):
        window = tuple(
            slice(max(i * s - low, 0), i * s - low + k)
            for i, k, s, (low, _) in zip(at, ksize, strides, padding, strict=True)
        )
        block = x[(slice(None), *window)]
        y[(slice(None), *at)] = reduce(block, axis=tuple(range(1, rank + 1)))
    return y


def maximum(x, ksize, strides, padding):
    return pooled(np.max, x, ksize, strides, padding)


def mean(x, ksize, strides, padding):
    return pooled(np.mean, x, ksize, strides, padding)


FORMS = (
    {"ksize": 2, "strides": 2, "padding": "VALID"},
    {"ksize": 2, "strides": 2, "padding": "SAME"},
    {"ksize": 3, "strides": 1, "padding": "SAME"},
    {"ksize": (1, 3), "strides": (2, 2), "padding": "VALID"},
    {"ksize": (3, 2), "strides": (2, 3), "padding": [(2, 0), (1, 1)]},
)
FORMS1 = (
    {"ksize": 2, "strides": 2, "padding": "SAME"},
    {"ksize": 3, "strides": 1, "padding": "VALID"},
)
WINDOWS = Windows((2, 3), (2, 1), ((1, 0), (1, 1)), (1, 1))
SIZES = (3, 4)
AS_ATTRS = {"ksize": (2, 3), "strides": (2, 1), "padding": [(1, 0), (1, 1)]}


def spread_of_mean(g):
    return transposed(lambda x: mean(x, **AS_ATTRS), (1, *SIZES, 2))(g)


def place(x, out):
    """Return the places of maxima, counted row by row in the window."""
    x = np.pad(x, ((0, 0), (1, 0), (1, 1), (0, 0)), constant_values=-np.inf)
    found = np.zeros(out.shape, np.int32)
    for n, i, j, c in np.ndindex(*out.shape):
        found[n, i, j, c] = np.argmax(x[n, 2 * i : 2 * i + 2, j : j + 3, c])
    return found


def places():
    """Return a draw of places that lie in the image."""
    return ints((1, 2, 4, 2), 4, 5)  # the middle of the second row


def picked(h, found):
    return np.stack([h[:, i] for i in (0, 2)], axis=1)[:, :, [0, 1, 2, 3]]


def unpicked(g, found):
    out = np.zeros((1, *SIZES, 2))
    out[:, [0, 2]] = g
    return out


RECORDS = [
    *[
        Record(
            name,
            call,
            reference,
            distinct(shape),
            attrs=attrs,
            name="x".join(map(str, shape)) + call.__name__[8:],
            dtypes=REALS
            if name == "max_pool" and shape == (2, 4, 5, 2)
            else ("float64", "float32", "float16", "bfloat16"),
            rtol={"float16": 2e-2, "bfloat16": 1e-1},
        )
        for name, reference, calls in (
            ("max_pool", maximum, (max_pool, max_pool1d, max_pool2d)),
            ("avg_pool", mean, (avg_pool, avg_pool1d, avg_pool2d)),
        )
        for call, shape, attrs in (
            (calls[2], (2, 4, 5, 2), FORMS),
            (calls[0], (1, 4, 3, 1), FORMS[:4]),
            (calls[0], (1, 2, 3, 2, 1), FORMS1[:1]),
            (calls[1], (2, 5, 2), FORMS1),
            (calls[2], (0, 4, 5, 2), FORMS[:2]),
        )
    ],
    Record(
        "avg_pool_spread",
        lambda g: apply(_avg_spread, g, windows=WINDOWS, sizes=SIZES),
        spread_of_mean,
        (real((1, 2, 4, 2)),),
        rtol={"float16": 2e-2, "bfloat16": 1e-1},
    ),
    Record(
        "max_pool_place",
        lambda x, out: apply(_max_place, x, out, windows=WINDOWS),
        place,
        lambda rng: (
            x := distinct((1, *SIZES, 2))(rng)[0],
            maximum(x, **AS_ATTRS),
        ),
        order=0,
    ),
    Record(
        "max_pool_pick",
        lambda h, found: apply(_max_pick, h, found, windows=WINDOWS),
        picked,
        (real((1, *SIZES, 2)), places()),
    ),
    Record(
        "max_pool_spread",
        lambda g, found: apply(_max_spread, g, found, windows=WINDOWS, sizes=SIZES),
        unpicked,
        (real((1, 2, 4, 2)), places()),
    ),
]
