"""What an optimizer is given: numbers in a range, pairs of gradient and variable."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gtape import nest
from gtape.dtypes import NumpyDType
from gtape.eager import EagerTensor
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    ShapeError,
    warn_once,
)
from gtape.indexed_slices import IndexedSlices
from gtape.ops.common import convert
from gtape.spec import TensorShape
from gtape.variable import Variable

_FLOAT32 = np.dtype(np.float32)


def in_range(owner: Any, argument: str, value: Any, interval: str) -> float:
    """Return a hyperparameter as a float.

    Args:
        owner: The optimizer, whose name the message tells.
        argument: The name of the argument.
        value: A number, or a scalar tensor.
        interval: What is allowed, as in mathematics: "[0, 1)", "(0, inf)".

    Raises:
        ArgumentTypeError: If it is not a number.
        ArgumentError: If it lies outside.
    """
    number = as_number(f"{owner.name}: {argument}", value)
    low, high = [float(bound) for bound in interval[1:-1].split(",")]
    above = number > low or (number == low and interval[0] == "[")
    below = number < high or (number == high and interval[-1] == "]")
    if not (above and below and math.isfinite(number)):
        raise ArgumentError(
            f"{owner.name}: {argument} is {number}", f"It must lie in {interval}"
        )
    return number


def as_number(what: str, value: Any) -> float:
    """Return a number, or a scalar tensor, as a float.

    Raises:
        ArgumentTypeError: If it is neither.
    """
    if type(value) is float:
        return value
    wrong = isinstance(value, (bool, np.bool_, str, bytes, complex))
    if not wrong and getattr(value, "ndim", 0) == 0:
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise ArgumentTypeError(
        f"{what} is {value!r} of type {type(value).__name__}", "Use a number"
    )


def takes_argument(function: Callable[..., Any]) -> bool:
    """Return whether a schedule wants the step: whether it cannot be called without."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions do not tell
        return True
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return any(p.kind in positional and p.default is p.empty for p in parameters)


def check_config(name: str, kind: type, config: Any) -> None:
    """Require a dict of arguments that make an optimizer.

    Raises:
        ArgumentTypeError: If it is no dict, or an argument is unknown.
    """
    if not isinstance(config, dict):
        raise ArgumentTypeError(
            f"{name}: {config!r} is not a dict", "Give what get_config returned"
        )
    known = list(inspect.signature(kind).parameters)
    for key in config:
        if key not in known:
            raise ArgumentTypeError(
                f"{name}: there is no argument {key!r}",
                f"The arguments are {', '.join(known)}",
            )


def pairs_of(grads_and_variables: Iterable[Any]) -> list[tuple[Any, Variable]]:
    """Return the pairs of a gradient and a variable, those without a gradient left out.

    Raises:
        ArgumentTypeError: If something is no such pair.
        GradientError: If no gradient is left, or a variable stands there twice.
    """
    if not hasattr(grads_and_variables, "__iter__"):
        raise ArgumentTypeError(
            f"apply_gradients: {grads_and_variables!r} is not a list of pairs",
            "Give zip(gradients, variables)",
        )
    pairs = [_pair(entry) for entry in grads_and_variables]
    if not pairs:
        raise GradientError(
            "apply_gradients: there are no gradients: the list of pairs is empty",
            "A zip can be read only once: make a list of it, or a new one each time",
        )
    if len({variable._key for _, variable in pairs}) < len(pairs):
        seen: set[int] = set()
        for _, variable in pairs:
            if variable._key in seen:
                break
            seen.add(variable._key)
        raise GradientError(
            f"apply_gradients: {variable.name} stands there twice",
            "Give each variable once, with the sum of its gradients",
        )
    without = [variable.name for gradient, variable in pairs if gradient is None]
    if not without:
        return pairs
    names = ", ".join(without)
    if len(without) == len(pairs):
        raise GradientError(
            f"apply_gradients: the gradients of all variables are None: {names}",
            "tape.explain(loss, variable) says why",
        )
    warn_once(
        f"apply_gradients: there is no gradient for {names}, which stays as it is. "
        "tape.explain(loss, variable) says why."
    )
    return [pair for pair in pairs if pair[0] is not None]


def variables_of(name: str, structure: Any) -> list[Variable]:
    """Return the variables of a nested structure.

    Raises:
        ArgumentTypeError: If a leaf is something else.
    """
    leaves = nest.flatten(structure)
    for leaf in leaves:
        if not isinstance(leaf, Variable):
            raise ArgumentTypeError(
                f"{name}: {leaf!r} of type {type(leaf).__name__} is not a variable",
                "Give a list of variables",
            )
    return leaves


def _pair(entry: Any) -> tuple[Any, Variable]:
    if isinstance(entry, (tuple, list)) and len(entry) == 2:
        gradient, variable = entry
        if isinstance(variable, Variable):
            return gradient, variable
        swapped = isinstance(gradient, Variable)
        raise ArgumentTypeError(
            f"apply_gradients: the second of a pair is a {type(variable).__name__}, "
            "not a variable",
            "The gradient comes first: (gradient, variable)"
            if swapped
            else "Only a gt.Variable can be changed",
        )
    raise ArgumentTypeError(
        f"apply_gradients: an entry of type {type(entry).__name__} is not a pair",
        "Give zip(gradients, variables)",
    )


def gradient_for(variable: Variable, value: Any) -> Any:
    """Return a gradient as a tensor that fits its variable; slices are added up.

    Raises:
        DTypeError: If the variable is not of a real floating-point dtype, or the
            gradient is bool or complex.
        ShapeError: If the shapes differ.
    """
    current = variable._tensor._array
    mine = current.dtype
    if type(value) is EagerTensor and mine.kind == "f":
        array = value._array
        if array.dtype == mine and array.shape == current.shape:
            return value  # nearly always
    if mine.kind not in "fV":
        raise DTypeError(
            f"apply_gradients: {variable.name} is {variable.dtype}, and optimizers "
            "change variables of real floating-point dtypes",
            "Write 1.0 for 1, or leave the variable out",
        )
    if isinstance(value, IndexedSlices) and value.dense_shape is None:
        value = IndexedSlices(value.values, value.indices, current.shape)
    gradient = convert(value, mine)
    kind = gradient.dtype.kind
    if kind not in "fViu":
        raise DTypeError(
            f"apply_gradients: a gradient of {gradient.dtype} for {variable.name} of "
            f"{variable.dtype}",
            "Give a real one",
        )
    if not TensorShape(current.shape).is_compatible_with(gradient.shape):
        raise ShapeError(
            f"apply_gradients: a gradient of shape {tuple(gradient.shape)} for "
            f"{variable.name} of shape {current.shape}",
            "Give a gradient of the variable's shape",
        )
    return gradient


def wide(dtype: NumpyDType) -> NumpyDType:
    """Return the dtype in which a rule computes: float32 for the half-width ones.

    In float16 the square of a gradient of 1e-4 would already be zero.
    """
    return _FLOAT32 if dtype.itemsize < 4 else dtype
