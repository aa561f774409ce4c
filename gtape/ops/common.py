"""What every file of operations uses: conversion, axes, elementwise declarations."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from gtape import dispatch
from gtape.dispatch import bottom, get_state
from gtape.dtypes import DTypeLike, NumpyDType, as_dtype, as_numpy_dtype
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GraphError,
    ShapeError,
    TracingError,
)
from gtape.lowering import Map
from gtape.ops.known import integers_of, settled, sizes_of
from gtape.primitive import OperandRule, Primitive, VjpRule, as_is
from gtape.scalar import type_of
from gtape.sizes import is_size
from gtape.spec import TensorSpec, broadcast_shapes
from gtape.spec import as_shape as plain_shape

P = ParamSpec("P")
R = TypeVar("R")

Tensor: TypeAlias = Any
"""A value of the current interpreter. (The class of that name stands further down.)"""
TensorLike: TypeAlias = Any
"""A tensor, variable, NumPy array, Python number, or nested list of these."""
Axis: TypeAlias = "int | Sequence[int] | None"

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {}
"""The operation that stands for each NumPy ufunc, for `Tensor.__array_ufunc__`."""

# On NumPy scalars the operators are ten times as fast as the ufuncs, and equal in
# value.
_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.negative: operator.neg,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}


def convert(value: TensorLike, dtype: DTypeLike | None = None) -> Tensor:
    """Return anything tensor-like as a value of the current interpreter.

    Args:
        value: A tensor, variable, NumPy array, Python number or nested list.
        dtype: The dtype that Python numbers and lists take.
    """
    wanted = None if dtype is None else as_numpy_dtype(dtype)
    return dispatch.interpreter().convert(value, wanted)


def renamed(x: Tensor) -> Tensor:
    """Return a tensor as the result of an operation that has nothing to do.

    Assigning to items of the result must leave the operand alone.
    """
    return copy.copy(x) if hasattr(x, "_key") else x


def elementwise(
    forward: Callable[..., Any],
    expr: str,
    vjp: VjpRule | None,
    operands: OperandRule,
    dtype: DTypeLike | None = None,
    why: str | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make an empty, documented function an elementwise operation.

    The function's name, parameters and docstring become the operation's.

    Args:
        forward: The NumPy computation.
        expr: The scalar expression over the parameter names.
        vjp: The reverse rule, `None` where there is no gradient.
        operands: How the dtypes of the operands adapt.
        dtype: The dtype of the result, where the expression does not give it.
        why: Where there is no vjp: why not.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__name__.lstrip("_")  # as messages say it
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount]
        lowering = Map(expr)  # the tests parse it and hold its names against these
        primitive = Primitive(
            name,
            forward=_OPERATORS.get(forward, forward),
            on_large=forward,
            spec=_elementwise_spec(name, lowering, parameters, dtype),
            vjp=vjp,
            lowering=lowering,
            operands=operands,
            **({} if why is None else {"why": why}),  # type: ignore[arg-type]
        )
        wrapper = _wrapper(primitive, parameters)
        functools.update_wrapper(wrapper, function)
        if isinstance(forward, np.ufunc):
            UFUNCS[forward] = wrapper
        return wrapper

    return declare


def _wrapper(primitive: Primitive, parameters: tuple[str, ...]) -> Callable[..., Any]:
    """Return the public function: positional parameters of the declared names."""
    if len(parameters) == 1 and parameters[0] == "x":

        def unary(x: TensorLike) -> Tensor:
            interpreter, recorders = get_state() or bottom[0]
            return interpreter.one(primitive, x, recorders)

        return unary
    if parameters == ("x", "y"):

        def binary(x: TensorLike, y: TensorLike) -> Tensor:
            interpreter, recorders = get_state() or bottom[0]
            return interpreter.two(primitive, x, y, recorders)

        return binary
    raise GraphError(f"{primitive.name}: elementwise parameters are (x) or (x, y)")


def _elementwise_spec(
    name: str, lowering: Map, parameters: tuple[str, ...], dtype: DTypeLike | None
) -> Callable[..., TensorSpec]:
    def spec(*specs: TensorSpec) -> TensorSpec:
        shape = broadcast_shapes(name, *[s.shape for s in specs])
        if dtype is not None:
            return TensorSpec(shape, dtype)
        types = {p: s.dtype.dtype for p, s in zip(parameters, specs, strict=True)}
        return TensorSpec(shape, type_of(lowering.tree, types))

    return spec


def same_spec(x: TensorSpec, *others: TensorSpec, **attrs: Any) -> TensorSpec:
    """The spec of a result that is like the first operand."""
    return x


# --- Axes and other arguments ---------------------------------------------------------


def fixed(value: Any) -> Any:
    """Return a value whose numbers are wanted now: a trace holds while they stay."""
    if isinstance(value, np.ndarray):
        traced = dispatch.services()
        if traced is not None:
            traced.depends_on_array(value)
    return value


def as_shape(name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape given as an int or a sequence of ints as a tuple.

    Raises:
        ArgumentTypeError: If an entry is not an integer.
        ShapeError: If a size is negative.
    """
    return plain_shape(name, sizes_of(fixed(shape)))


def as_int(name: str, argument: str, value: Any) -> int:
    """Return an argument as a Python int.

    Raises:
        ArgumentTypeError: If it is not an integer.
    """
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(
            f"{name}: {argument} must be an integer, got {value!r}",
            "Give an int, not a bool",
        )
    value = integers_of(value)
    if is_size(value):
        return value  # type: ignore[no-any-return]  # it stands for an int in a trace
    try:
        return operator.index(fixed(value))
    except TracingError as error:
        raise error.reworded(f"{name}: {argument}: {error.what}") from None
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: {argument} must be an integer, got {value!r}",
            "Give an int, or int(x)",
        ) from None


def as_ints(name: str, argument: str, value: Any) -> tuple[int, ...]:
    """Return an int, or a sequence of ints, as a tuple.

    Raises:
        ArgumentTypeError: If an entry is not an integer.
    """
    if hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0:
        return (as_int(name, argument, value),)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise ArgumentTypeError(
            f"{name}: {argument} must be an integer or a list of integers, got "
            f"{value!r}",
            "Give an int, or a list of ints",
        )
    return tuple([as_int(name, argument, v) for v in integers_of(fixed(value))])


def as_count(name: str, argument: str, value: Any) -> int:
    """Return an argument as a Python int of zero or more.

    Raises:
        ArgumentTypeError: If it is not an integer.
        ArgumentError: If it is negative.
    """
    count = as_int(name, argument, value)
    if count < 0:
        raise ArgumentError(f"{name}: {argument} {count} is negative", "Give 0 or more")
    return count


def integer_dtype(name: str, argument: str, dtype: DTypeLike) -> NumpyDType:
    """Return an integer dtype.

    Raises:
        DTypeError: If it is of another kind.
    """
    found = as_dtype(dtype)
    if not found.is_integer:
        raise DTypeError(
            f"{name}: {argument} {found} is not an integer dtype", "Use int64 or int32"
        )
    return found.dtype


def vector_shape(size: int, axis: int, rank: int) -> list[int]:
    """Return the shape of a vector that lies along one axis of a tensor of a rank."""
    return [size if i == axis else 1 for i in range(rank)]


def normalize_axis(name: str, axis: Any, rank: int, argument: str = "axis") -> int:
    """Return an axis counted from the front.

    Raises:
        ShapeError: If the tensor has no such axis.
    """
    i = as_int(name, argument, axis)
    if not -rank <= i < rank:
        allowed = f"from {-rank} to {rank - 1}" if rank else "none: it is a scalar"
        raise ShapeError(
            f"{name}: {argument} {i} of a tensor of rank {rank}",
            f"The axes are {allowed}",
        )
    return i % rank


def normalize_axes(name: str, axis: Axis, rank: int) -> tuple[int, ...]:
    """Return axes counted from the front, in order; all of them for `None`.

    Raises:
        ShapeError: If the tensor has no such axis, or one is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    axes = sorted(normalize_axis(name, a, rank) for a in as_ints(name, "axis", axis))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name}: axis {axis!r} names an axis twice", "Name each once")
    return tuple(axes)


def check_rank(name: str, x: Any, least: int, argument: str = "the tensor") -> None:
    """Require a least number of axes.

    Raises:
        ShapeError: If there are fewer.
    """
    if x.ndim < least:
        raise ShapeError(
            f"{name}: {argument} must have rank {least} or more, got shape "
            f"{tuple(x.shape)}",
            "Add axes with gt.reshape or x[None]",
        )


def require_flag(name: str, argument: str, value: Any) -> bool:
    """Return a flag as a bool; 0 and 1 are flags too.

    Raises:
        ArgumentTypeError: If it is anything else.
    """
    value = settled(value)
    if isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise ArgumentTypeError(
        f"{name}: {argument} must be True or False, got {value!r}", "Give a bool"
    )


def name_of(owner: str, value: Any) -> str:
    """Return the name of a function, for messages.

    Raises:
        ArgumentTypeError: If it is nothing that can be called.
    """
    if not callable(value):
        raise ArgumentTypeError(
            f"{owner}: {value!r} of type {type(value).__name__} is not a function",
            "Give a function",
        )
    return getattr(value, "__name__", type(value).__name__)


def one_of(name: str, argument: str, value: Any, allowed: Sequence[str]) -> str:
    """Return a word if it is one of those allowed, whatever its case.

    Raises:
        ArgumentError: If it is not.
    """
    if isinstance(value, str):
        for word in allowed:
            if word.lower() == value.lower():
                return word
    raise ArgumentError(
        f"{name}: {argument} {value!r} is unknown", f"Use one of {', '.join(allowed)}"
    )


def numpy_dtype_of(x: Any) -> NumpyDType:
    """Return the NumPy dtype of a tensor, array or spec."""
    return as_numpy_dtype(x.dtype)


__all__ = [
    "UFUNCS",
    "Axis",
    "Tensor",
    "TensorLike",
    "as_count",
    "as_int",
    "as_ints",
    "as_shape",
    "as_is",
    "check_rank",
    "convert",
    "elementwise",
    "fixed",
    "integer_dtype",
    "name_of",
    "normalize_axes",
    "normalize_axis",
    "numpy_dtype_of",
    "one_of",
    "require_flag",
    "same_spec",
    "vector_shape",
]
