"""Gradients by a rule of the user's: `custom_gradient` and its relatives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

from gtape import dispatch, nest
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    ShapeError,
)
from gtape.forward import zeros_for
from gtape.ops.common import name_of
from gtape.ops.linear import identity
from gtape.recompute import recompute_grad as recompute_grad
from gtape.rules import Reads, record_rule, split_arguments
from gtape.variable import Variable

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")


def custom_gradient(
    f: Callable[P, tuple[R, Callable[..., Any]]],
) -> Callable[P, R]:
    """Decorate a function that brings its own gradient.

    The function returns (outputs, grad_fn). grad_fn takes an upstream gradient for each
    output and returns a gradient (or `None`) for each positional tensor argument, of
    its shape. Keyword arguments are not differentiated. If the function reads trainable
    variables, grad_fn takes `variables=None` and returns (gradients, their gradients).

    Args:
        f: The function.

    Raises:
        ArgumentTypeError: If the function returns no pair.
        GradientError: When the gradient is taken, if there are too few or too many
            gradients.
        ShapeError: When the gradient is taken, if one has another shape than its
            argument.

    Example:
        >>> import gtape as gt
        >>> @gt.custom_gradient
        ... def clipped(x):
        ...     return x * 1.0, lambda upstream: gt.clip_by_value(upstream, -1.0, 1.0)
        >>> x = gt.Variable(3.0)
        >>> with gt.GradientTape() as tape:
        ...     y = clipped(x) * 10.0
        >>> tape.gradient(y, x).numpy()
        np.float32(1.0)
    """
    name = name_of("custom_gradient", f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, tensors = split_arguments(args)
        reads = Reads()
        # The tapes see the body too: what grad_fn captures from it counts at second
        # order.
        dispatch.push_recorder(reads)
        try:
            given = nest.pack(list(args), iter(leaves))
            result = dispatch.invoke(f, *given, **kwargs)
        finally:
            dispatch.pop_recorder(reads)
        outputs, grad_fn = _checked_pair(name, result)
        variables = reads.captured((*tensors, *nest.flatten(kwargs)))
        rule = functools.partial(_call_rule, name, grad_fn, len(tensors), variables)
        fresh = record_rule([*tensors, *variables], nest.flatten(outputs), rule)
        return nest.pack(outputs, iter(fresh))

    return wrapper


def _checked_pair(name: str, result: Any) -> tuple[Any, Callable[..., Any]]:
    pair = isinstance(result, (tuple, list)) and len(result) == 2
    if not pair or not callable(result[1]):
        raise ArgumentTypeError(
            f"custom_gradient: {name} must return a pair (outputs, grad_fn)",
            "Return the outputs and a function of the upstream gradients",
        )
    return result[0], result[1]


def _call_rule(
    name: str,
    grad_fn: Callable[..., Any],
    count: int,
    variables: list[Variable],
    g: Sequence[Any],
    out: Sequence[Any],
    inputs: Sequence[Any],
) -> list[Any]:
    """Ask the user's grad_fn for gradients and check what it returns."""
    upstream = [zeros_for(o) if c is None else c for c, o in zip(g, out, strict=True)]
    of_variables: Any = []
    if variables:
        if not _takes_variables(grad_fn):
            raise ArgumentTypeError(
                f"custom_gradient: {name} reads the variables "
                f"{[v.name for v in variables]}, so "
                "its grad_fn must accept the keyword argument 'variables'",
                "Write grad_fn(*upstream, variables=None) and return (gradients, one "
                "for each "
                "variable)",
            )
        pair = dispatch.invoke(grad_fn, *upstream, variables=variables)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentTypeError(
                f"custom_gradient: {name} reads the variables "
                f"{[v.name for v in variables]}, so its grad_fn must return a pair",
                "Return (gradients, one for each variable)",
            )
        gradients, of_variables = pair
    else:
        gradients = dispatch.invoke(grad_fn, *upstream)
    found = (
        nest.flatten(gradients)
        if count != 1 or nest.is_nested(gradients)
        else [gradients]
    )
    of_variables = nest.flatten(of_variables)
    for got, want, what in (
        (found, count, "gradients"),
        (of_variables, len(variables), "variable gradients"),
    ):
        if len(got) != want:
            raise GradientError(
                f"custom_gradient: the grad_fn of {name} was expected to return {want} "
                f"{what}, "
                f"but returned {len(got)} instead",
                "Return one for each positional tensor argument, None for no gradient",
            )
    return [
        None if c is None else _checked(name, c, x)
        for c, x in zip([*found, *of_variables], inputs, strict=True)
    ]


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters.values()
    return any(
        p.name == "variables" or p.kind is inspect.Parameter.VAR_KEYWORD
        for p in parameters
    )


def _checked(name: str, c: Any, x: Any) -> Any:
    c = dispatch.interpreter().convert(c, x.dtype.dtype)
    if tuple(c.shape) != tuple(x.shape):
        raise ShapeError(
            f"custom_gradient: the grad_fn of {name} returned a gradient of shape "
            f"{tuple(c.shape)} for an argument of shape {tuple(x.shape)}",
            "Return a gradient of the argument's shape",
        )
    if not c.dtype.is_differentiable:
        raise DTypeError(
            f"custom_gradient: the grad_fn of {name} returned a gradient of {c.dtype}",
            "Return floats",
        )
    return c


def grad_pass_through(f: F) -> F:
    """Decorate a function to have the gradient of the identity (straight-through).

    Args:
        f: A function of one tensor that keeps its shape.

    Raises:
        ArgumentError: If the result has another shape than the argument.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(1.6)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.grad_pass_through(gt.round)(x) * 3.0
        >>> tape.gradient(y, x).numpy()
        np.float32(3.0)
    """
    name = name_of("grad_pass_through", f)

    @functools.wraps(f)
    def wrapper(x: Any, *args: Any, **kwargs: Any) -> Any:
        [leaf], _ = split_arguments([x])
        value = identity(leaf)
        with dispatch.running(dispatch.interpreter(), ()):
            result = dispatch.invoke(f, value, *args, **kwargs)
            out = dispatch.interpreter().convert(result)
        if tuple(out.shape) != tuple(value.shape):
            raise ArgumentError(
                f"grad_pass_through: {name} changed the shape "
                f"{tuple(value.shape)} to {tuple(out.shape)}",
                "The identity's gradient needs equal shapes",
            )
        [fresh] = record_rule([value], [out], lambda g, out, inputs: [g[0]])
        return fresh

    return cast("F", wrapper)  # f's own type keeps the name of its argument
