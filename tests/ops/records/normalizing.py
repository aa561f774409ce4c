import numpy as np

from gtape.ops.normalizing import (
    batch_normalization,
    clip_by_global_norm,
    clip_by_norm,
    global_norm,
    l2_normalize,
    layer_normalization,
    moments,
)
from tests.ops.harness import FLOATS, WIDE, Record, positive, real

LOOSE = {"float16": 3e-2, "bfloat16": 2e-1}


def as_tuple(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def reference_moments(x, axes, keepdims=False):
    axes = as_tuple(axes)
    return np.mean(x, axes, keepdims=keepdims), np.var(x, axes, keepdims=keepdims)


def reference_batch(x, mean, variance, offset, scale):
    return (x - mean) / np.sqrt(variance + 0.01) * scale + offset


def reference_layer(x, gamma, beta, axis=-1, epsilon=1e-3):
    axes = as_tuple(axis)
    mean, variance = reference_moments(x, axes, True)
    shape = [
        d if i in np.atleast_1d(axes) % x.ndim else 1 for i, d in enumerate(x.shape)
    ]
    normal = (x - mean) / np.sqrt(variance + epsilon)
    return normal * gamma.reshape(shape) + beta.reshape(shape)


def square_norm(x, axis):
    return np.sum(np.abs(x) ** 2, axis=as_tuple(axis), keepdims=True)


def reference_l2(x, axis=None):
    return x / np.sqrt(np.maximum(square_norm(x, axis), 1e-12))


def reference_clip(x, clip_norm, axes=None):
    return x * clip_norm / np.maximum(np.sqrt(square_norm(x, axes)), clip_norm)


def reference_global(x, y):
    return np.sqrt(np.sum(x * x) + np.sum(y * y))


RECORDS = [
    Record(
        "moments",
        moments,
        reference_moments,
        (real((2, 3, 2)),),
        attrs=({"axes": [0]}, {"axes": [0, 2], "keepdims": True}, {"axes": None}),
        dtypes=(*FLOATS, "complex128"),
        composed=True,
        rtol=LOOSE,
    ),
    Record(
        "batch_normalization",
        lambda x, mean, variance, offset, scale: batch_normalization(
            x, mean, variance, offset, scale, 0.01
        ),
        reference_batch,
        (real((4, 3)), real((3,)), positive((3,)), real((3,)), positive((3,))),
        composed=True,
        rtol={"float16": 5e-2, "bfloat16": 3e-1},
    ),
    *[
        Record(
            "layer_normalization",
            layer_normalization,
            reference_layer,
            (real((2, 4, 3)), positive(shape), real(shape)),
            attrs=attrs,
            name="-".join(map(str, shape)),
            composed=True,
            rtol={"float16": 5e-2, "bfloat16": 3e-1},
        )
        for shape, attrs in (
            ((3,), ({}, {"axis": 2, "epsilon": 0.1})),
            ((4,), ({"axis": 1},)),
            ((4, 3), ({"axis": [1, 2]}, {"axis": (-1, -2)})),
        )
    ],
    Record(
        "l2_normalize",
        l2_normalize,
        reference_l2,
        (real((3, 4)),),
        attrs=({}, {"axis": 1}, {"axis": [0, 1]}),
        dtypes=(*FLOATS, "complex128"),
        composed=True,
    ),
    Record(
        "clip_by_norm",
        clip_by_norm,
        reference_clip,
        (real((3, 4)),),
        attrs=(
            {"clip_norm": 1.0},
            {"clip_norm": 100.0},
            {"clip_norm": 0.5, "axes": 1},
            {"clip_norm": 0.5, "axes": [0, 1]},
        ),
        composed=True,
    ),
    Record(
        "global_norm",
        lambda x, y: global_norm([x, None, y]),
        reference_global,
        (real((3,)), real((2, 2))),
        composed=True,
    ),
    Record(
        "clip_by_global_norm",
        lambda x, y: clip_by_global_norm([x, y], 1.5),
        lambda x, y: [
            *[t * 1.5 / max(reference_global(x, y), 1.5) for t in (x, y)],
            reference_global(x, y),
        ],
        (real((3,)), real((2, 2))),
        dtypes=WIDE,
        composed=True,
    ),
]
