"""Gradients by a rule of the user's: `custom_gradient` and its relatives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gtape import dispatch, nest
from gtape.eager import EagerTensor
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    GradientError,
    ShapeError,
)
from gtape.forward import zeros_for
from gtape.lowering import Custom
from gtape.ops.common import name_of
from gtape.ops.linear import identity
from gtape.ops.states import Script
from gtape.primitive import Primitive
from gtape.tape import GradientTape
from gtape.tensor import Tensor
from gtape.variable import Variable

F = TypeVar("F", bound=Callable[..., Any])


def _run_rule(g: Any, out: Any, *inputs: Any, rule: Any) -> Any:
    return rule(g, out, inputs)


_custom = Primitive(
    "custom_gradient",
    forward=lambda *inputs, rule: inputs,
    spec=lambda *inputs, rule: inputs,
    vjp=_run_rule,
    lowering=Custom("call"),
    multiple=True,
    on_tensors=True,
)


class _Reads:
    """A recorder that only notes which trainable variables are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def record(self, primitive: Any, inputs: Any, out: Any, attrs: Any) -> None:
        """Nothing: operations are for the tapes."""

    def read(self, variable: Variable) -> None:
        """Note the variable."""
        if variable.trainable:
            self.variables[variable._key] = variable

    def left(self, key: int) -> None:
        """Nothing."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Nothing."""


def _split(args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the leaves of arguments with tensors of their own, and these alone."""
    leaves, tensors = [], []
    for leaf in nest.flatten(list(args)):
        if isinstance(leaf, Tensor):
            # A shell of its own: assigning to an item of the argument later changes
            # nothing.
            leaf = EagerTensor(leaf._array, leaf._key)
        elif (
            isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool)
        ) or (hasattr(leaf, "dtype") and not isinstance(leaf, Variable)):
            leaf = dispatch.interpreter().convert(leaf)
        leaves.append(leaf)
        if isinstance(leaf, (Tensor, Variable)):
            tensors.append(leaf)
    return leaves, tensors


def _captured(reads: _Reads, given: Sequence[Any]) -> list[Variable]:
    """Return the variables read that are no arguments, in order of creation."""
    keys = {v._key for v in given if isinstance(v, Variable)}
    return [v for k, v in sorted(reads.variables.items()) if k not in keys]


def _record(tensors: list[Any], outputs: list[Any], rule: Any) -> list[Any]:
    """Tell the tapes that tensors became outputs by a rule; return these as new."""
    fresh = tuple(
        [EagerTensor(dispatch.interpreter().convert(o)._array) for o in outputs]
    )
    inputs = [dispatch.interpreter().convert(t) for t in tensors]
    if inputs:
        dispatch.record(_custom, inputs, fresh, {"rule": rule})
    return list(fresh)


def custom_gradient(f: F) -> F:
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
        leaves, tensors = _split(args)
        reads = _Reads()
        # The tapes see the body too: what grad_fn captures from it counts at second
        # order.
        dispatch.push_recorder(reads)
        try:
            result = f(*nest.pack(list(args), iter(leaves)), **kwargs)
        finally:
            dispatch.pop_recorder(reads)
        if (
            not isinstance(result, (tuple, list))
            or len(result) != 2
            or not callable(result[1])
        ):
            raise ArgumentTypeError(
                f"custom_gradient: {name} must return a pair (outputs, grad_fn)",
                "Return the outputs and a function of the upstream gradients",
            )
        outputs, grad_fn = result
        variables = _captured(reads, (*tensors, *nest.flatten(kwargs)))
        rule = functools.partial(_call_rule, name, grad_fn, len(tensors), variables)
        fresh = _record([*tensors, *variables], nest.flatten(outputs), rule)
        return nest.pack(outputs, iter(fresh))

    return wrapper  # type: ignore[return-value]


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
        pair = grad_fn(*upstream, variables=variables)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ArgumentTypeError(
                f"custom_gradient: {name} reads the variables "
                f"{[v.name for v in variables]}, so its grad_fn must return a pair",
                "Return (gradients, one for each variable)",
            )
        gradients, of_variables = pair
    else:
        gradients = grad_fn(*upstream)
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


def recompute_grad(f: F) -> F:
    """Decorate a function to compute its intermediate values again for gradients.

    It saves memory for the time of one more evaluation.

    Args:
        f: A function of tensors that may read variables. Its random numbers come out
            the same again; nothing else may change between the evaluations.

    Example:
        >>> import gtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.recompute_grad(lambda v: v * v * v)(x)
        >>> tape.gradient(y, x).numpy()
        np.float32(12.0)
    """
    name_of("recompute_grad", f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, tensors = _split(args)
        reads = _Reads()
        script = Script()  # random numbers must come out the same again
        with dispatch.running(dispatch.interpreter(), (reads,)), script.written():
            outputs = f(*nest.pack(list(args), iter(leaves)), **kwargs)
        variables = _captured(reads, (*tensors, *nest.flatten(kwargs)))

        def rule(
            g: Sequence[Any], out: Sequence[Any], inputs: Sequence[Any]
        ) -> list[Any]:
            values = iter(inputs)
            again = [
                next(values) if isinstance(leaf, (Tensor, Variable)) else leaf
                for leaf in leaves
            ]
            with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
                sources = [x for x in again if isinstance(x, Tensor)] + list(variables)
                tape.watch([s for s in sources if s.dtype.is_differentiable])
                with script.played():
                    out_again = f(*nest.pack(list(args), iter(again)), **kwargs)
                redone = nest.flatten(out_again)
            pairs = [(r, c) for r, c in zip(redone, g, strict=True) if c is not None]
            targets, seeds = [r for r, _ in pairs], [c for _, c in pairs]
            return tape.gradient(targets, sources, output_gradients=seeds)  # type: ignore[no-any-return]

        fresh = _record([*tensors, *variables], nest.flatten(outputs), rule)
        return nest.pack(outputs, iter(fresh))

    return wrapper  # type: ignore[return-value]


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
        value = identity(x)
        with dispatch.running(dispatch.interpreter(), ()):
            out = dispatch.interpreter().convert(f(value, *args, **kwargs))
        if tuple(out.shape) != tuple(value.shape):
            raise ArgumentError(
                f"grad_pass_through: {name} changed the shape "
                f"{tuple(value.shape)} to "
                f"{tuple(out.shape)}",
                "The identity's gradient needs equal shapes",
            )
        [fresh] = _record([value], [out], lambda g, out, inputs: [g[0]])
        return fresh

    return wrapper  # type: ignore[return-value]
