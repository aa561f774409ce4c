"""Half precision: float16 and bfloat16 are stored so and computed in float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.dtypes import DTypeLike, as_numpy_dtype, default_float
from gtape.ops.common import Tensor, TensorLike, convert, numpy_dtype_of
from gtape.ops.linear import cast
from gtape.primitive import inexact


def is_half(dtype: DTypeLike) -> bool:
    """Return whether a dtype is float16 or bfloat16."""
    numpy_dtype = as_numpy_dtype(dtype)
    return numpy_dtype.itemsize == 2 and numpy_dtype.kind in "fV"


def wide(x: Any) -> Any:
    """Return an array of half precision as float32, to add it up; others as is."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def widened(x: Tensor) -> Tensor:
    """Return a tensor of half precision as float32; others as they are."""
    return cast(x, "float32") if is_half(x.dtype) else x


def convert_inexact(x: TensorLike) -> Tensor:
    """Return x as a tensor; Python integers become floats, integer tensors stay."""
    out = convert(x)
    if out.dtype.kind in "iu" and not hasattr(x, "dtype"):
        out = convert(x, default_float())
    return out


def as_inexact(name: str, x: TensorLike) -> Tensor:
    """Return x as a floating-point or complex tensor; Python integers become floats.

    Raises:
        DTypeError: If it is a tensor of another dtype.
    """
    out = convert_inexact(x)
    if out.dtype.kind in "biu":
        inexact(name, (numpy_dtype_of(out),))  # refuses it
    return out


def through_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a computation that takes float16 and bfloat16 operands through float32.

    In steps of their own they would round, and overflow, at each one; and BLAS and
    LAPACK do not know them.
    """

    @functools.wraps(forward)
    def run(*arrays: Any, **attrs: Any) -> Any:
        dtype = arrays[0].dtype
        if not is_half(dtype):
            return forward(*arrays, **attrs)
        out = forward(*[x.astype(np.float32) for x in arrays], **attrs)
        if isinstance(out, tuple):
            return tuple([o.astype(dtype) for o in out])
        return out.astype(dtype)

    return run
