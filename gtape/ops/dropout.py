"""Dropout: random elements become zero, the others grow to keep the mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.ops import distributions
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_shape,
    convert,
    numpy_dtype_of,
    renamed,
)
from gtape.ops.generator import global_key
from gtape.ops.known import settled
from gtape.ops.linear import cast, where
from gtape.primitive import floating
from gtape.spec import broadcast_shapes


def dropout(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: Sequence[int | None] | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return x with elements set to 0 at random, and the others divided by 1 - rate.

    The gradient takes the same way: it is 0 where x was dropped. With rate 0 the result
    is x itself.

    Source: Srivastava et al., Dropout (2014).

    Args:
        x: A floating-point tensor.
        rate: The probability of being dropped, from 0 to below 1.
        noise_shape: The shape of the random choice, which broadcasts to that of x: the
            elements along an axis of size 1 are dropped together. `None` stands for the
            size of x.
        seed: Begins a random sequence of its own.

    Raises:
        ArgumentError: If the rate is not in [0, 1).
        DTypeError: If x is not floating-point.
        ShapeError: If the noise shape does not broadcast to that of x.

    Example:
        >>> import gtape as gt
        >>> y = gt.nn.dropout(gt.ones([100]), 0.5)
        >>> sorted(set(y.numpy().tolist()))
        [0.0, 2.0]
    """
    x = convert(x)
    floating("dropout", (numpy_dtype_of(x),))
    noise = _noise_shape(noise_shape, tuple(x.shape))
    keep = _kept(rate, x)
    if keep is None:
        return renamed(x)
    mask = distributions.bernoulli("dropout", global_key("dropout", seed), noise, keep)
    return where(mask, x / keep, 0.0)


def _kept(rate: Any, x: Tensor) -> Any:
    """Return the probability of being kept, or `None` where that is sure."""
    if isinstance(rate, (str, bytes, bool)) or rate is None:
        raise ArgumentTypeError(f"dropout: rate {rate!r} is not a number", "Use 0.5")
    if isinstance(settled(rate), (int, float, np.floating)):
        if not 0 <= rate < 1:
            raise ArgumentError(
                f"dropout: rate {rate} is not in [0, 1)",
                "It is the probability of being dropped",
            )
        return 1 - float(rate) if rate else None
    share = convert(rate)
    if share.ndim:
        raise ShapeError(
            f"dropout: the rate has shape {tuple(share.shape)}", "Give a scalar"
        )
    return 1 - cast(share, x.dtype)


def _noise_shape(noise_shape: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    if noise_shape is None:
        return shape
    given: Any = noise_shape
    if isinstance(noise_shape, (list, tuple)) and len(noise_shape) == len(shape):
        given = [d if n is None else n for n, d in zip(noise_shape, shape, strict=True)]
    found = as_shape("dropout: noise_shape", given)
    if broadcast_shapes("dropout: noise_shape", found, shape) != shape:
        raise ShapeError(
            f"dropout: noise_shape {found} does not broadcast to x of shape {shape}",
            "Give 1 or the size of x for each axis",
        )
    return found
