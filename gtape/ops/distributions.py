"""Distributions: arguments for the draws, and what follows a draw, for all their faces.

The functions take the name they are called by, for messages, and a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, NumpyDType, as_dtype, as_numpy_dtype, default_float
from gtape.errors import ArgumentError, DTypeError, ShapeError
from gtape.ops import draws
from gtape.ops.common import (
    Tensor,
    TensorLike,
    as_int,
    as_shape,
    convert,
    integer_dtype,
    numpy_dtype_of,
)
from gtape.ops.creation import check_memory, given
from gtape.ops.draws import Shape
from gtape.ops.extrema import maximum
from gtape.ops.indices import index
from gtape.primitive import Primitive, floating
from gtape.spec import broadcast_shapes

ShapeLike = Sequence[int] | int

_SMALLEST = {"float16": 2.0**-14, "float64": 2.0**-1022}  # normal; others: 2**-126

# --- Arguments ------------------------------------------------------------------------


def _float_dtype(name: str, dtype: DTypeLike | None) -> NumpyDType:
    found = as_dtype(default_float() if dtype is None else dtype)
    if not found.is_floating:
        raise DTypeError(
            f"{name}: dtype {found} is not a floating-point dtype",
            "Use float16, bfloat16, float32 or float64",
        )
    return found.dtype


def sizes(name: str, shape: ShapeLike, dtype: NumpyDType) -> Shape:
    """Return the shape of a draw, if there is memory for it."""
    found = as_shape(name, shape)
    check_memory(name, found, dtype)
    return found


def _parameter(
    name: str, argument: str, value: TensorLike, dtype: NumpyDType, shape: Shape
) -> Tensor:
    """Return a parameter of a distribution, which broadcasts to the shape drawn."""
    return _fitting(name, argument, given(f"{name}: {argument}", value, dtype), shape)


def _fitting(name: str, argument: str, x: Tensor, shape: Shape) -> Tensor:
    """Return a parameter if it broadcasts to the shape drawn.

    Raises:
        ShapeError: If it does not.
    """
    if broadcast_shapes(f"{name}: {argument}", x.shape, shape) != shape:
        raise ShapeError(
            f"{name}: {argument} of shape {tuple(x.shape)} does not broadcast to the "
            f"shape {shape} that is drawn",
            "Its elements would share one random number: draw the larger shape",
        )
    return x


def _is(value: Any, number: int) -> bool:
    """Return whether a value is a Python number equal to a given one."""
    return type(value) in (int, float) and bool(value == number)


# --- Distributions --------------------------------------------------------------------


def uniform(
    name: str,
    key: Tensor,
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike | None,
) -> Tensor:
    """Draw numbers from minval (included) to maxval (left out), of any real dtype."""
    if dtype is not None and as_dtype(dtype).is_integer:
        if maxval is None:
            raise ArgumentError(
                f"{name}: integers of dtype {as_dtype(dtype)} need a maxval",
                "Give maxval, which is left out",
            )
        return integers(name, key, shape, minval, maxval, dtype)
    target = _float_dtype(name, dtype)
    size = sizes(name, shape, target)
    out = apply(draws.uniform, key, shape=size, dtype=target)
    if _is(minval, 0) and (maxval is None or _is(maxval, 1)):
        return out
    low = _parameter(name, "minval", minval, target, size)
    high = _parameter(name, "maxval", 1 if maxval is None else maxval, target, size)
    return low + out * (high - low)


def integers(
    name: str,
    key: Tensor,
    shape: ShapeLike,
    minval: TensorLike,
    maxval: TensorLike,
    dtype: DTypeLike,
) -> Tensor:
    """Draw integers from minval to maxval - 1."""
    target = integer_dtype(name, "dtype", dtype)
    size = sizes(name, shape, target)
    bounds = [_parameter(name, "minval", minval, target, size)]
    if type(maxval) is not int or maxval != int(np.iinfo(target).max) + 1:
        bounds.append(_parameter(name, "maxval", maxval, target, size))
    return apply(draws.integers, key, *bounds, shape=size, dtype=target)


def _located(
    name: str,
    primitive: Primitive,
    key: Tensor,
    shape: ShapeLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike | None,
) -> Tensor:
    """Draw standard numbers, stretched by stddev and moved by mean."""
    target = _float_dtype(name, dtype)
    size = sizes(name, shape, target)
    out = apply(primitive, key, shape=size, dtype=target)
    if not _is(stddev, 1):
        out = out * _parameter(name, "stddev", stddev, target, size)
    if not _is(mean, 0):
        out = out + _parameter(name, "mean", mean, target, size)
    return out


def normal(
    name: str,
    key: Tensor,
    shape: ShapeLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike | None,
) -> Tensor:
    """Draw normal numbers."""
    return _located(name, draws.normal, key, shape, mean, stddev, dtype)


def truncated_normal(
    name: str,
    key: Tensor,
    shape: ShapeLike,
    mean: TensorLike,
    stddev: TensorLike,
    dtype: DTypeLike | None,
) -> Tensor:
    """Draw normal numbers given that they lie within two stddev of the mean."""
    return _located(name, draws.truncated_normal, key, shape, mean, stddev, dtype)


def bernoulli(name: str, key: Tensor, shape: ShapeLike, p: TensorLike) -> Tensor:
    """Draw bools that are true with probability p."""
    if type(p) in (bool, int, float) and not 0 <= p <= 1:
        raise ArgumentError(f"{name}: p {p} is not a probability", "Use 0 to 1")
    size = sizes(name, shape, np.dtype(np.bool_))
    wide = as_numpy_dtype("float64")
    chance = convert(p, wide)
    if not as_dtype(chance.dtype).is_floating:
        chance = given(f"{name}: p", p, wide)
    return apply(draws.bernoulli, key, _fitting(name, "p", chance, size), shape=size)


def categorical(
    name: str, key: Tensor, logits: TensorLike, num_samples: int, dtype: DTypeLike
) -> Tensor:
    """Draw classes from the softmax of logits along the last axis."""
    target = integer_dtype(name, "dtype", dtype)
    scores = convert(logits, default_float())
    floating(name, (numpy_dtype_of(scores),))
    if not scores.ndim:
        raise ShapeError(
            f"{name}: the logits are a scalar", "Give one logit for each class"
        )
    [count] = as_shape(f"{name}: num_samples", as_int(name, "num_samples", num_samples))
    sizes(name, (*scores.shape[:-1], count), target)
    return apply(draws.categorical, key, scores, num_samples=count, dtype=target)


def gamma(
    name: str,
    key: Tensor,
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None,
    dtype: DTypeLike | None,
    each: bool = True,
) -> Tensor:
    """Draw gamma numbers: `shape` for each element of the parameters, or in all."""
    target = _float_dtype(name, dtype)
    a = given(f"{name}: alpha", alpha, target)
    b = None if beta is None else given(f"{name}: beta", beta, target)
    size = as_shape(name, shape)
    if each:
        inner = a.shape if b is None else broadcast_shapes(name, a.shape, b.shape)
        size = (*size, *inner)
    sizes(name, size, target)
    out = apply(draws.gamma, key, _fitting(name, "alpha", a, size), shape=size)
    if b is None:
        return out
    # As the draw itself: never so small that its logarithm is infinite.
    least = _SMALLEST.get(as_dtype(target).name, 2.0**-126)
    return maximum(out / _fitting(name, "beta", b, size), least)


def permutation(name: str, key: Tensor, size: int) -> Tensor:
    """Draw an order of the numbers from 0 to size - 1."""
    [count] = sizes(name, as_int(name, "size", size), np.dtype(np.int64))
    return apply(draws.permutation, key, size=count)


def shuffle(name: str, key: Tensor, value: TensorLike) -> Tensor:
    """Return a tensor with its rows in a random order."""
    x = convert(value)
    if not x.ndim:
        raise ShapeError(f"{name}: a scalar has no rows", "Give a tensor with an axis")
    return index(x, (permutation(name, key, x.shape[0]),), (0,))
