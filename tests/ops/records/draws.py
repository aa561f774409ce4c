"""Records of gtape/ops/draws.py: each draw against Philox itself."""

import numpy as np

from gtape import philox
from gtape.dispatch import apply
from gtape.dtypes import as_numpy_dtype
from gtape.ops import draws
from tests.ops.harness import FLOATS, Record, ints, positive, real

KEY = ints((2,), 0, 10**6, "uint64")
SHAPES = ((2, 3), (), (0, 2), (9,))


def standard(primitive, draw):
    """A distribution without parameters, in each dtype."""
    return Record(
        primitive.name,
        lambda key, shape, dtype: apply(
            primitive, key, shape=shape, dtype=as_numpy_dtype(dtype)
        ),
        lambda key, shape, dtype: draw(*key, shape, as_numpy_dtype(dtype)),
        (KEY,),
        attrs=tuple([{"shape": s, "dtype": d} for s in SHAPES for d in FLOATS]),
        dtypes=("float64",),
        order=0,
    )


def integers(key, *bounds, dtype):
    return apply(draws.integers, key, *bounds, shape=(2, 3), dtype=np.dtype(dtype))


RECORDS = [
    standard(draws.uniform, philox.uniform01),
    standard(draws.normal, philox.normal),
    standard(draws.truncated_normal, philox.truncated_normal),
    Record(
        "random_integers",
        integers,
        lambda key, low, high, dtype: philox.randint(*key, (2, 3), low, high, dtype),
        (KEY, ints((3,), -9, 0), ints((2, 1), 1, 99)),
        attrs=({"dtype": "int32"}, {"dtype": "int8"}),
        dtypes=("float64",),
        order=0,
    ),
    Record(
        "random_integers",
        integers,
        lambda key, low, dtype: philox.randint(*key, (2, 3), low, 2**64, dtype),
        (KEY, ints((3,), 0, 9, "uint64")),
        attrs=({"dtype": "uint64"},),
        name="to-the-end",
        dtypes=("float64",),
        order=0,
    ),
    Record(
        "random_bernoulli",
        lambda key, p: apply(draws.bernoulli, key, p, shape=(2, 3)),
        lambda key, p: philox.bernoulli(*key, (2, 3), p),
        (KEY, real((3,), 0.0, 1.0)),
        order=0,
    ),
    Record(
        "random_categorical",
        lambda key, logits, dtype: apply(
            draws.categorical, key, logits, num_samples=5, dtype=np.dtype(dtype)
        ),
        lambda key, logits, dtype: philox.categorical(*key, logits, 5),
        (KEY, real((2, 3, 4))),
        attrs=({"dtype": "int64"}, {"dtype": "int32"}),
        order=0,
    ),
    Record(
        "random_permutation",
        lambda key, size: apply(draws.permutation, key, size=size),
        lambda key, size: philox.permutation(*key, size),
        (KEY,),
        attrs=({"size": 7}, {"size": 0}),
        dtypes=("float64",),
        order=0,
    ),
    # Differences by alpha say nothing here: the sampler that runs takes other ways for
    # other alphas. What the gradients are is tested in test_random.py.
    Record(
        "random_gamma",
        lambda key, alpha, shape: apply(draws.gamma, key, alpha, shape=shape),
        lambda key, alpha, shape: philox.gamma(*key, shape, alpha, np.float64),
        (KEY, positive((3,), 0.3, 5.0)),
        attrs=({"shape": (2, 3)}, {"shape": (3,)}, {"shape": (0, 3)}),
        order=1,
        wrt=(),
    ),
    Record(
        "gamma_sample_gradient",
        draws.gamma_sample_gradient,
        philox.gamma_sample_gradient,
        (positive((2, 3), 0.5, 5.0), positive((2, 3), 0.5, 5.0)),
        order=1,
        wrt=(),
    ),
]
