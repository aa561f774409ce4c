"""The primitives of random numbers, each a function of a key, and keys from seeds.

A key is a uint64 tensor [seed, counter]. It is an operand like any other, so a compiled
program can be given a new one for each run; the same key gives the same numbers.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from gtape import philox
from gtape.dispatch import apply
from gtape.dtypes import NumpyDType, as_dtype
from gtape.errors import ArgumentError, ArgumentTypeError, GradientError, ShapeError
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike, as_int, convert, numpy_dtype_of
from gtape.ops.creation import made
from gtape.ops.linear import cast
from gtape.ops.slicing import stack
from gtape.primitive import Primitive
from gtape.sizes import is_size
from gtape.spec import TensorSpec, broadcast_shapes

Shape = tuple[int, ...]

# --- Keys -----------------------------------------------------------------------------


def seed_number(name: str, seed: Any) -> int:
    """Return a seed as a number from 0 to 2**64 - 1; negative ones count from the end.

    Raises:
        ArgumentTypeError: If it is not an integer.
        ArgumentError: If it has more than 64 bits.
    """
    number = as_int(name, "seed", seed)
    if not -(2**63) <= number < 2**64:
        raise ArgumentError(
            f"{name}: seed {number} has more than 64 bits",
            "Use a number from -2**63 to 2**64 - 1",
        )
    return number % 2**64


def key_of(seed: int, counter: int) -> Tensor:
    """Return the key of two Python ints."""
    return made(np.array([seed, counter], np.uint64))


def key_from(name: str, seed: TensorLike) -> Tensor:
    """Return the key of a stateless draw: a for a seed is that of the pair [a, 0].

    Raises:
        ArgumentTypeError: If the seed is not made of integers.
        ShapeError: If it is neither one number nor a pair.
    """
    if not hasattr(seed, "dtype"):
        numbers = list(seed) if isinstance(seed, (list, tuple)) else [seed]
        if any(map(_is_traced, numbers)):
            seed = convert(seed, np.int64)
        elif not any(hasattr(number, "dtype") for number in numbers):
            if isinstance(seed, (list, tuple)) and len(numbers) != 2:
                raise _no_key(name, f"has {len(numbers)} numbers")
            first, *second = [seed_number(name, number) for number in numbers]
            return key_of(first, *second or [0])
    x = convert(seed)
    if numpy_dtype_of(x).kind not in "iu":
        raise ArgumentTypeError(
            f"{name}: the seed is of {as_dtype(x.dtype)}", "Use integers"
        )
    if tuple(x.shape) not in ((), (2,)):
        raise _no_key(name, f"has shape {tuple(x.shape)}")
    x = cast(x, np.uint64)
    return x if x.ndim else stack([x, made(np.zeros((), np.uint64))])


def _is_traced(number: Any) -> bool:
    """Return whether a Python number is known only when a traced function runs."""
    return is_size(number) or hasattr(number, "pin")


def _no_key(name: str, fault: str) -> ShapeError:
    return ShapeError(f"{name}: the seed {fault}", "Give one integer, or a pair [a, b]")


def _state(key: Any) -> tuple[int, int]:
    return int(key[0]), int(key[1])


# --- Primitives -----------------------------------------------------------------------


def _standard(name: str, draw: Any) -> Primitive:
    """Declare a distribution without parameters, floating-point."""
    return Primitive(
        name,
        forward=lambda key, *, shape, dtype: draw(*_state(key), shape, dtype)[()],
        spec=lambda key, *, shape, dtype: TensorSpec(shape, dtype),
        vjp=None,
        lowering=Custom(name),
    )


uniform = _standard("random_uniform", philox.uniform01)
normal = _standard("random_normal", philox.normal)
truncated_normal = _standard("random_truncated_normal", philox.truncated_normal)


def _integers_forward(
    key: Any, low: Any, *high: Any, shape: Shape, dtype: NumpyDType
) -> Any:
    # Without a third operand the draw goes up to the dtype's last number: the end of
    # the range is then one that the dtype cannot hold.
    end = high[0] if high else int(np.iinfo(dtype).max) + 1
    below = np.less(low, end)
    if not np.all(below):
        at = np.unravel_index(int(np.argmin(below)), below.shape)
        first, last = (np.broadcast_to(v, below.shape)[at] for v in (low, end))
        raise ArgumentError(
            f"random integers: minval {first} is not below maxval {last}",
            "The numbers are drawn from minval to maxval - 1",
        )
    return philox.randint(*_state(key), shape, low, end, dtype)[()]


integers = Primitive(
    "random_integers",
    forward=_integers_forward,
    spec=lambda key, *bounds, shape, dtype: TensorSpec(shape, dtype),
    vjp=None,
    lowering=Custom("random_integers"),
)

bernoulli = Primitive(
    "random_bernoulli",
    forward=lambda key, p, *, shape: philox.bernoulli(*_state(key), shape, p)[()],
    spec=lambda key, p, *, shape: TensorSpec(shape, "bool"),
    vjp=None,
    lowering=Custom("random_bernoulli"),
    why="a coin that was thrown does not change with its probability",
)


def _categorical_forward(
    key: Any, logits: Any, *, num_samples: int, dtype: NumpyDType
) -> Any:
    try:
        out = philox.categorical(*_state(key), logits, num_samples)
    except ValueError:
        raise ArgumentError(
            "random.categorical: the largest logit of a row is not finite",
            "Give each row a finite logit, and none that is NaN or inf",
        ) from None
    return out.astype(dtype, copy=False)


categorical = Primitive(
    "random_categorical",
    forward=_categorical_forward,
    spec=lambda key, logits, *, num_samples, dtype: TensorSpec(
        (*logits.shape[:-1], num_samples), dtype
    ),
    vjp=None,
    lowering=Custom("random_categorical"),
    why="a class that was drawn does not change with the logits",
)

permutation = Primitive(
    "random_permutation",
    forward=lambda key, *, size: philox.permutation(*_state(key), size),
    spec=lambda key, *, size: TensorSpec((size,), "int64"),
    vjp=None,
    lowering=Custom("random_permutation"),
)


def _no_second_derivative() -> NoReturn:
    raise GradientError(
        "random.gamma has no second derivative by alpha",
        "Stop the first one with gt.stop_gradient where it is used",
    )


_gamma_sample_gradient = Primitive(
    "gamma_sample_gradient",
    forward=lambda alpha, sample: philox.gamma_sample_gradient(alpha, sample)[()],
    spec=lambda alpha, sample: TensorSpec(
        broadcast_shapes("gamma_sample_gradient", alpha.shape, sample.shape),
        sample.dtype,
    ),
    # Refused aloud: a `None` here would make it a constant, and Hessians wrong.
    vjp=lambda _g, _out, _alpha, _sample: (
        _no_second_derivative,
        _no_second_derivative,
    ),
    lowering=Custom("gamma_sample_gradient"),
)


def gamma_sample_gradient(alpha: TensorLike, sample: TensorLike) -> Tensor:
    """Return how a gamma sample changes with alpha, its quantile being held.

    Source: Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients (2018).
    """
    return apply(_gamma_sample_gradient, alpha, sample)


gamma = Primitive(
    "random_gamma",
    forward=lambda key, alpha, *, shape: philox.gamma(
        *_state(key), shape, alpha, alpha.dtype
    )[()],
    spec=lambda key, alpha, *, shape: TensorSpec(shape, alpha.dtype),
    vjp=lambda g, out, _key, alpha, *, shape: (
        None,
        lambda: g * gamma_sample_gradient(alpha, out),
    ),
    lowering=Custom("random_gamma"),
)
