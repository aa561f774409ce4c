import itertools

import numpy as np

from gtape.dispatch import apply
from gtape.ops.convolution import conv1d, conv2d, conv2d_transpose, depthwise_conv2d
from gtape.ops.convolving import convolution_filter, convolution_input
from gtape.ops.windows import Windows
from tests.ops.harness import NUMBERS, Record, real


def same(sizes, window, strides, dilations):
    """Padding as TensorFlow documents it."""
    for n, k, s, d in zip(sizes, window, strides, dilations, strict=True):
        missing = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        yield missing // 2, missing - missing // 2


def convolved(x, w, strides, padding, dilations):
    """Return a convolution as its definition says it, one window after the other."""
    rank, window = w.ndim - 2, w.shape[:-2]
    if padding == "SAME":
        padding = list(same(x.shape[1:-1], window, strides, dilations))
    elif padding == "VALID":
        padding = [(0, 0)] * rank
    x = np.pad(x, [(0, 0), *padding, (0, 0)])
    counts = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(x.shape[1:-1], window, strides, dilations, strict=True)
    ]
    y = np.zeros((x.shape[0], *counts, w.shape[-1]), np.result_type(x, w))
    groups = x.shape[-1] // w.shape[-2]
    for at in itertools.product(*map(range, counts)):
        for place in itertools.product(*map(range, window)):
            where = tuple(
                i * s + k * d
                for i, s, k, d in zip(at, strides, place, dilations, strict=True)
            )
            under = np.split(x[(slice(None), *where)], groups, axis=-1)
            parts = np.split(w[place], groups, axis=-1)
            y[(slice(None), *at)] += np.concatenate(
                [a @ b for a, b in zip(under, parts, strict=True)], axis=-1
            )
    return y


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def reference1(x, w, stride, padding, dilations=1):
    return convolved(x, w, (stride,), padding, (dilations,))


def reference2(x, w, strides, padding, dilations=1):
    return convolved(x, w, pair(strides), padding, pair(dilations))


def channels_first(x, w, strides, padding):
    y = reference2(np.moveaxis(x, 1, -1), w, strides, padding)
    return np.moveaxis(y, -1, 1)


def depthwise(x, w, strides, padding, dilations=1):
    w = w.reshape(*w.shape[:2], 1, -1)
    return reference2(x, w, strides, padding, dilations)


def transposed(convolve, shape):
    """Return the transpose of a linear function of tensors of a shape, as a matrix."""
    ones = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    rows = np.stack([convolve(one) for one in ones])

    def apply_to(g):
        return np.tensordot(rows, g, g.ndim).reshape(shape)

    return apply_to


def reference_transpose(g, w, output_shape, strides, padding="SAME"):
    return transposed(lambda x: reference2(x, w, strides, padding), output_shape)(g)


WINDOWS = Windows((2, 3), (2, 1), ((1, 0), (1, 2)), (1, 2))
FORM = {"strides": (2, 1), "padding": ((1, 0), (1, 2)), "dilations": (1, 2)}


def reference_filter(x, g):
    shape = (2, 3, x.shape[-1] // 2, g.shape[-1])
    return transposed(lambda w: convolved(x, w, **FORM), shape)(g)


def reference_input(g, w):
    shape = (g.shape[0], 4, 5, 2 * w.shape[-2])
    return transposed(lambda x: convolved(x, w, **FORM), shape)(g)


FORMS = (
    {"strides": 1, "padding": "SAME"},
    {"strides": 1, "padding": "VALID"},
    {"strides": (2, 1), "padding": "SAME"},
    {"strides": 3, "padding": "VALID"},
    {"strides": 1, "padding": "SAME", "dilations": 2},
    {"strides": (1, 2), "padding": "VALID", "dilations": (2, 1)},
    {"strides": 2, "padding": [(0, 2), (3, 1)]},
    {"strides": 1, "padding": [(3, 0), (0, 4)]},
)

RECORDS = [
    Record(
        "convolution",
        conv2d,
        reference2,
        (real((2, 4, 5, 2)), real((2, 3, 2, 3))),
        attrs=FORMS,
        dtypes=NUMBERS,
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "convolution",
        conv2d,
        reference2,
        (real((1, 4, 3, 4)), real((3, 2, 2, 6))),
        attrs=FORMS[:4],
        name="groups",
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "convolution",
        conv2d,
        reference2,
        (real((0, 4, 3, 2)), real((3, 2, 2, 1))),
        attrs=FORMS[:3],
        name="empty",
        order=1,
    ),
    Record(
        "convolution",
        lambda x, w, **attrs: conv2d(x, w, **attrs, data_format="NCHW"),
        channels_first,
        (real((2, 2, 4, 3)), real((2, 2, 2, 3))),
        attrs=FORMS[:3],
        name="channels-first",
        dtypes=("float64", "float32"),
    ),
    Record(
        "convolution",
        conv1d,
        reference1,
        (real((2, 6, 2)), real((3, 2, 3))),
        attrs=(
            {"stride": 1, "padding": "SAME"},
            {"stride": 2, "padding": "VALID"},
            {"stride": 1, "padding": [(0, 3)], "dilations": 2},
        ),
        name="1d",
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "convolution",
        depthwise_conv2d,
        depthwise,
        (real((1, 4, 3, 2)), real((2, 3, 2, 2))),
        attrs=FORMS[:6],
        name="depthwise",
        dtypes=("float64", "float32"),
    ),
    Record(
        "convolution_filter",
        lambda x, g: apply(convolution_filter, x, g, windows=WINDOWS, groups=2),
        reference_filter,
        (real((2, 4, 5, 4)), real((2, 2, 4, 2))),
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "convolution_input",
        lambda g, w: apply(
            convolution_input, g, w, windows=WINDOWS, groups=2, sizes=(4, 5)
        ),
        reference_input,
        (real((2, 2, 4, 2)), real((2, 3, 2, 2))),
        rtol={"float16": 3e-2, "bfloat16": 2e-1},
    ),
    Record(
        "convolution_input",
        conv2d_transpose,
        reference_transpose,
        (real((1, 2, 3, 2)), real((3, 2, 1, 2))),
        attrs=(
            {"output_shape": (1, 4, 5, 1), "strides": 2},
            {"output_shape": (1, 2, 3, 1), "strides": 1},
            {"output_shape": (1, 4, 4, 1), "strides": 1, "padding": "VALID"},
            {"output_shape": (1, 6, 7, 1), "strides": (3, 3), "padding": "SAME"},
        ),
        name="transpose",
        dtypes=("float64", "float32"),
    ),
]
