"""Records of gtape/ops/distributions.py: parameters and their gradients."""

from gtape import philox
from gtape.ops import random
from gtape.ops.dropout import dropout
from tests.ops.harness import FLOATS, WIDE, Record, positive, real

SEED = [5, 2]


def dropped(x, rate, noise_shape):
    random.get_global_generator().reset(5)
    return dropout(x, rate, noise_shape)


def dropped_reference(x, rate, noise_shape):
    keep = philox.bernoulli(5, 0, noise_shape or x.shape, 1 - rate)
    return keep * x / (1 - rate)


def located(name, draw, standard):
    """Distributions with a mean and a deviation."""
    return Record(
        name,
        lambda mean, stddev: draw((2, 3), SEED, mean, stddev, mean.dtype),
        lambda mean, stddev: mean + stddev * standard(*SEED, (2, 3), "float64"),
        (real((3,)), positive((2, 1))),
        dtypes=("float64",),
        composed=True,
    )


RECORDS = [
    located("stateless_normal", random.stateless_normal, philox.normal),
    located(
        "stateless_truncated_normal",
        random.stateless_truncated_normal,
        philox.truncated_normal,
    ),
    Record(
        "stateless_uniform",
        lambda low, high: random.stateless_uniform((2, 3), SEED, low, high, low.dtype),
        lambda low, high: low + (high - low) * philox.uniform01(*SEED, (2, 3), "f8"),
        (real((3,), -2.0, 0.0), positive((2, 1))),
        dtypes=("float64",),
        composed=True,
    ),
    Record(
        "stateless_gamma",
        lambda beta: random.stateless_gamma((2, 3), SEED, 1.5, beta, beta.dtype),
        lambda beta: philox.gamma(*SEED, (2, 3), 1.5, "f8") / beta,
        (positive((3,)),),
        dtypes=WIDE,
        composed=True,
    ),
    Record(
        "stateless_shuffle",
        lambda x: random.stateless_shuffle(x, SEED),
        lambda x: x[philox.permutation(*SEED, len(x))],
        (real((5, 2)),),
        dtypes=(*FLOATS, "int32"),
        composed=True,
    ),
    Record(
        "dropout",
        dropped,
        dropped_reference,
        (real((4, 3)),),
        attrs=(
            {"rate": 0.4, "noise_shape": None},
            {"rate": 0.5, "noise_shape": (4, 1)},
            {"rate": 0.0, "noise_shape": None},
        ),
        composed=True,
    ),
]
