"""Reductions to bools, counts and places; none has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.dtypes import DTypeLike, NumpyDType
from gtape.errors import ShapeError
from gtape.lowering import Fold
from gtape.ops.common import (
    Axis,
    Tensor,
    TensorLike,
    convert,
    integer_dtype,
    normalize_axes,
    normalize_axis,
)
from gtape.ops.linear import cast, reduce_sum
from gtape.ops.logic import not_equal
from gtape.ops.reduction import keep_axes, reduced, without_axes_spec
from gtape.primitive import Primitive, boolean, ordered

# --- Logic ----------------------------------------------------------------------------


def _logical(name: str, ufunc: np.ufunc, start: str, combine: str) -> Primitive:
    return Primitive(
        name,
        forward=lambda x, *, axes: ufunc.reduce(x, axis=axes),
        spec=without_axes_spec,
        vjp=None,
        lowering=Fold(identity=(start,), combine=(combine,)),
        operands=boolean,
        why="a logical result has no gradient",
    )


_reduce_any = _logical("reduce_any", np.logical_or, "False", "acc or x")
_reduce_all = _logical("reduce_all", np.logical_and, "True", "acc and x")


def reduce_any(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return whether any element is true, over the given axes; of none: False.

    Args:
        input_tensor: A bool tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is not bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_any([[True, False], [False, False]], axis=1).numpy()
        array([ True, False])
    """
    return reduced(_reduce_any, convert(input_tensor), axis, keepdims)


def reduce_all(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """Return whether all elements are true, over the given axes; of none: True.

    Args:
        input_tensor: A bool tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.

    Raises:
        DTypeError: If input_tensor is not bool.

    Example:
        >>> import gtape as gt
        >>> gt.reduce_all([[True, False], [True, True]], axis=1).numpy()
        array([False,  True])
    """
    return reduced(_reduce_all, convert(input_tensor), axis, keepdims)


def count_nonzero(
    input: TensorLike,
    axis: Axis = None,
    keepdims: bool = False,
    dtype: DTypeLike = "int64",
) -> Tensor:
    """Return the number of elements that are not zero, or True, over the given axes.

    Args:
        input: A tensor.
        axis: The axes; all of them by default.
        keepdims: Whether the axes stay, with size 1.
        dtype: The dtype of the counts.

    Example:
        >>> import gtape as gt
        >>> gt.count_nonzero([[0., 1.], [2., 3.]], axis=1).numpy()
        array([1, 2])
    """
    x = convert(input)
    nonzero = x if x.dtype.kind == "b" else not_equal(x, 0)
    axes = normalize_axes("count_nonzero", axis, x.ndim)
    out = cast(reduce_sum(cast(nonzero, "int64"), axes), dtype)
    return keep_axes("count_nonzero", out, axes, keepdims)


# --- Places of extrema ----------------------------------------------------------------


def _argument(
    name: str, function: Callable[..., Any], start: str, beats: str
) -> Primitive:
    def forward(x: Any, *, axes: tuple[int, ...], dtype: NumpyDType) -> Any:
        return function(x, axis=axes[0]).astype(dtype)

    taken = f"(x {beats} acc0 or isnan(x)) and not isnan(acc0)"
    return Primitive(
        name,
        forward=forward,
        spec=lambda x, *, axes, dtype: x.without_axes(axes).with_dtype(dtype),
        vjp=None,
        lowering=Fold(
            identity=(start, "0"),
            combine=(f"x if {taken} else acc0", f"j if {taken} else acc1"),
            finish="acc1",
        ),
        operands=ordered,
        why="the place of an extremum is an integer, which has no gradient",
    )


_argmax = _argument("argmax", np.argmax, "lowest", ">")
_argmin = _argument("argmin", np.argmin, "highest", "<")


def _place(
    primitive: Primitive, x: TensorLike, axis: int | None, dtype: DTypeLike
) -> Tensor:
    name = primitive.name
    x = convert(x)
    place = normalize_axis(name, 0 if axis is None else axis, x.ndim)
    target = integer_dtype(name, "output_type", dtype)
    if x.shape[place] == 0:
        raise ShapeError(
            f"{name}: axis {place} of shape {tuple(x.shape)} is empty",
            "Give at least one element to choose from",
        )
    return apply(primitive, x, axes=(place,), dtype=target)


def argmax(
    input: TensorLike, axis: int | None = None, output_type: DTypeLike = "int64"
) -> Tensor:
    """Return the place of the greatest element along an axis, the first one of equals.

    A NaN counts as the greatest. There is no gradient.

    Args:
        input: A tensor of real numbers or bools.
        axis: The axis; the first one by default.
        output_type: The integer dtype of the result.

    Raises:
        ShapeError: If input has no such axis, or it is empty.

    Example:
        >>> import gtape as gt
        >>> gt.argmax([[1., 5.], [3., 4.]], axis=1).numpy()
        array([1, 1])
    """
    return _place(_argmax, input, axis, output_type)


def argmin(
    input: TensorLike, axis: int | None = None, output_type: DTypeLike = "int64"
) -> Tensor:
    """Return the place of the least element along an axis, the first one of equals.

    A NaN counts as the least. There is no gradient.

    Args:
        input: A tensor of real numbers or bools.
        axis: The axis; the first one by default.
        output_type: The integer dtype of the result.

    Raises:
        ShapeError: If input has no such axis, or it is empty.

    Example:
        >>> import gtape as gt
        >>> gt.argmin([[1., 5.], [3., 4.]], axis=1).numpy()
        array([0, 0])
    """
    return _place(_argmin, input, axis, output_type)
