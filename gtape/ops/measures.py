"""The shape, rank and size of a tensor as tensors, and a check of its shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape.dtypes import DTypeLike, as_dtype
from gtape.errors import ArgumentTypeError, RangeError, ShapeError
from gtape.ops.common import Tensor, TensorLike, as_int, integer_dtype, renamed
from gtape.ops.creation import given, made
from gtape.ops.linear import cast
from gtape.ops.slicing import stack
from gtape.sizes import is_size
from gtape.spec import Dim, TensorSpec


def shape(input: TensorLike, out_type: DTypeLike = "int32") -> Tensor:
    """Return the sizes of the axes of a tensor as a vector.

    Args:
        input: A tensor.
        out_type: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> gt.shape([[1, 2, 3], [4, 5, 6]]).numpy()
        array([2, 3], dtype=int32)
    """
    x = given("shape", input)
    return _measured("shape", list(x.shape), out_type)


def rank(input: TensorLike) -> Tensor:
    """Return the number of axes of a tensor as an int32 scalar.

    Example:
        >>> import gtape as gt
        >>> gt.rank([[1, 2, 3], [4, 5, 6]]).numpy()
        np.int32(2)
    """
    return made(np.int32(given("rank", input).ndim))


def size(input: TensorLike, out_type: DTypeLike = "int32") -> Tensor:
    """Return the number of elements of a tensor as a scalar.

    Args:
        input: A tensor.
        out_type: An integer dtype.

    Example:
        >>> import gtape as gt
        >>> gt.size([[1, 2, 3], [4, 5, 6]]).numpy()
        np.int32(6)
    """
    x = given("size", input)
    return _measured("size", math.prod(x.shape), out_type)


def _measured(name: str, value: Any, out_type: DTypeLike) -> Tensor:
    target = integer_dtype(name, "out_type", out_type)
    if is_size(value):
        return cast(value, target)
    if isinstance(value, list) and any(map(is_size, value)):
        return stack([cast(size, target) for size in value])
    try:
        return made(np.array(value, dtype=target))
    except OverflowError:
        raise RangeError(
            f"{name}: {value} is out of the range of {as_dtype(target)}",
            "Use out_type=gt.int64",
        ) from None


def ensure_shape(x: TensorLike, shape: Sequence[Dim]) -> Tensor:
    """Return a tensor as it is, if it has a shape.

    Args:
        x: A tensor.
        shape: The sizes it must have; `None` for any size.

    Raises:
        ShapeError: If it has another one.

    Example:
        >>> import gtape as gt
        >>> gt.ensure_shape([1, 2, 3], [None]).numpy()
        array([1, 2, 3], dtype=int32)
    """
    tensor = given("ensure_shape", x)
    if isinstance(shape, (str, bytes)) or not hasattr(shape, "__iter__"):
        raise ArgumentTypeError(
            f"ensure_shape: {shape!r} is not a shape", "Give a list of sizes or None"
        )
    wanted = tuple(
        None if d is None else as_int("ensure_shape", "size", d) for d in shape
    )
    if not TensorSpec(wanted).shape.is_compatible_with(tuple(tensor.shape)):
        raise ShapeError(
            f"ensure_shape: a tensor of shape {tuple(tensor.shape)}, not {wanted}",
            "Reshape it, or mend what made it",
        )
    return renamed(tensor)
