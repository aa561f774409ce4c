"""The four functions of TensorFlow 1's eager mode: gradients of calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from gtape import dispatch, nest
from gtape.errors import ArgumentError
from gtape.ops.common import name_of
from gtape.tape import GradientTape
from gtape.transforms import own_arguments
from gtape.variable import Variable


def _parameters(f: Callable[..., Any], params: Any, count: int) -> list[int]:
    """Return the positions that names or positions stand for."""
    if params is None:
        return list(range(count))
    chosen: list[Any]
    chosen = [params] if isinstance(params, (str, int)) else list(params)
    if all(isinstance(p, int) for p in chosen):
        for p in chosen:
            if not 0 <= p < count:
                raise ArgumentError(
                    f"gradients_function: there is no argument {p}, the call has "
                    f"{count}",
                    "Count positional arguments from 0",
                )
        return chosen
    if not all(isinstance(p, str) for p in chosen):
        raise ArgumentError(
            f"gradients_function: params {params!r} mixes names and positions",
            "Use all names or all positions",
        )
    name = name_of("gradients_function", f)
    names = list(inspect.signature(f).parameters)
    for p in chosen:
        if p not in names:
            raise ArgumentError(
                f"gradients_function: {name} has no parameter {p!r}",
                f"Its parameters are {', '.join(names)}",
            )
    return [names.index(p) for p in chosen]


def value_and_gradients_function(
    f: Callable[..., Any], params: Any = None
) -> Callable[..., Any]:
    """Return a function that gives the value of f and its gradients by the arguments.

    Args:
        f: A function of positional tensors.
        params: Names or positions of the arguments; all of them by default.

    Returns:
        A function whose result is (value, list of gradients), `None` for an argument
        that is not used. Its keyword `dy` is the cotangent of the value.

    Raises:
        ArgumentError: If params are wrong, or when called with keyword arguments, or if
            f returns `None`.

    Example:
        >>> import gtape as gt
        >>> v, (ga, gb) = gt.value_and_gradients_function(lambda a, b: a * b)(2.0, 3.0)
        >>> float(v), float(ga), float(gb)
        (6.0, 3.0, 2.0)
    """
    name = name_of("gradients_function", f)

    @functools.wraps(f)
    def wrapper(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        if kwargs:
            raise ArgumentError(
                f"{name}: keyword arguments {sorted(kwargs)} are not differentiated",
                "Give positional arguments",
            )
        positions = _parameters(f, params, len(args))
        inputs, sources = own_arguments(name, args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            value = dispatch.invoke(f, *inputs)
        if value is None or any(leaf is None for leaf in nest.flatten(value)):
            raise ArgumentError(
                f"{name} returns None, which has no gradient", "Return a tensor"
            )
        return value, tape.gradient(value, sources, output_gradients=dy)

    return wrapper


def gradients_function(f: Callable[..., Any], params: Any = None) -> Callable[..., Any]:
    """Return a function that gives the gradients of f by the arguments, as a list.

    Args:
        f: A function of positional tensors.
        params: Names or positions of the arguments; all of them by default.

    Example:
        >>> import gtape as gt
        >>> ga, gb = gt.gradients_function(lambda a, b: a * b)(2.0, 3.0)
        >>> float(ga), float(gb)
        (3.0, 2.0)
    """
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def wrapper(*args: Any, dy: Any = None, **kwargs: Any) -> list[Any]:
        gradients: list[Any] = both(*args, dy=dy, **kwargs)[1]
        return gradients

    return wrapper


def implicit_value_and_gradients(
    f: Callable[..., Any], keep_unused: bool = False
) -> Callable[..., Any]:
    """Return a function that gives f and its gradients by the variables it uses.

    Args:
        f: A function that reads trainable variables.
        keep_unused: Whether variables that were read but on which the result does not
            depend are listed too, with `None`.

    Returns:
        A function whose result is (value, list of (gradient, variable) pairs), the
        variables in order of creation.

    Raises:
        ArgumentError: When called, if no trainable variable was read.

    Example:
        >>> import gtape as gt
        >>> w = gt.Variable(2.0)
        >>> value, [(g, v)] = gt.implicit_value_and_gradients(lambda x: w * x)(5.0)
        >>> float(value), float(g), v is w
        (10.0, 5.0, True)
    """
    name = name_of("implicit_gradients", f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Variable]]]:
        with GradientTape() as tape:
            value = dispatch.invoke(f, *args, **kwargs)
        if value is None:
            raise ArgumentError(
                f"{name} returns None, which has no gradient", "Return a tensor"
            )
        variables = tape.watched_variables()
        if not variables:
            raise ArgumentError(
                f"{name}: no trainable variable was read while it ran",
                "Use variables with trainable=True, or gradients_function for "
                "arguments",
            )
        found = tape.gradient(value, list(variables))
        pairs = list(zip(found, variables, strict=True))
        return value, [p for p in pairs if keep_unused or p[0] is not None]

    return wrapper


def implicit_gradients(
    f: Callable[..., Any], keep_unused: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradients of f by the variables it uses.

    Args:
        f: A function that reads trainable variables.
        keep_unused: Whether variables on which the result does not depend are listed
            too.

    Example:
        >>> import gtape as gt
        >>> w = gt.Variable(2.0)
        >>> [(g, v)] = gt.implicit_gradients(lambda x: w * x)(5.0)
        >>> float(g), v is w
        (5.0, True)
    """
    both = implicit_value_and_gradients(f, keep_unused)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        pairs: list[tuple[Any, Variable]] = both(*args, **kwargs)[1]
        return pairs

    return wrapper
