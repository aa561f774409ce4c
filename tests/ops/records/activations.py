import numpy as np
import scipy.special

from gtape.ops import activations
from tests.ops.harness import FLOATS, REALS, Record, real


def unary(call, reference, primitive="", **settings):
    name = primitive or call.__name__
    settings = {"elementwise": True} | settings
    return Record(name, call, reference, (real((2, 3), -4.0, 4.0),), **settings)


def at_zero(x, **_):
    return x


def bounds(*at):
    return lambda x: tuple(x - a for a in at)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def tanh_gelu(x):
    return activations.gelu(x, approximate=True)


def mish(x):
    return x * np.tanh(np.logaddexp(x, 0))


SLOPES = ({}, {"alpha": 0.0}, {"alpha": 0.3}, {"alpha": 1.5})

RECORDS = [
    unary(activations.relu, lambda x: np.maximum(x, 0), dtypes=REALS, kinks=at_zero),
    unary(
        activations.relu6, lambda x: np.clip(x, 0, 6), dtypes=REALS, kinks=bounds(0, 6)
    ),
    Record(
        "where_positive",
        activations.where_positive,
        lambda x, y: np.where(y > 0, x, 0),
        (real((2, 3)), real((2, 3))),
        dtypes=REALS,
        kinks=lambda x, y: y,
        wrt=(0,),
        elementwise=True,
    ),
    unary(
        activations.hard_sigmoid,
        lambda x: np.clip(x + 3, 0, 6) / 6,
        kinks=bounds(-3, 3),
    ),
    unary(
        activations.leaky_relu,
        lambda x, alpha=0.2: np.where(x > 0, x, alpha * x),
        attrs=SLOPES,
        kinks=at_zero,
    ),
    unary(activations.elu, elu, attrs=SLOPES, kinks=at_zero),
    unary(
        activations.selu,
        lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772),
        kinks=at_zero,
    ),
    unary(activations.gelu, lambda x: x * scipy.special.ndtr(x)),
    # 1 + tanh cancels below 0, which shows in the reference, not in the operation.
    unary(tanh_gelu, gelu_tanh, "gelu_tanh", atol=1e-12, dtypes=FLOATS[:1]),
    unary(tanh_gelu, gelu_tanh, "gelu_tanh", name="narrow", dtypes=FLOATS[1:]),
    unary(activations.silu, lambda x: x * scipy.special.expit(x)),
    unary(
        activations.silu,
        lambda x, beta: x * scipy.special.expit(beta * x),
        "silu",
        name="beta",
        attrs=({"beta": 2.0}, {"beta": -0.5}),
        composed=True,
    ),
    unary(activations.mish, mish),
]
