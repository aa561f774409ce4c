"""Gradients by a rule of the user's: `custom_gradient` and its relatives."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from gtape import dispatch, nest
from gtape.batching import NeedsValue
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
from gtape.ops.math import conj
from gtape.ops.states import Script
from gtape.primitive import Primitive
from gtape.tape import GradientTape
from gtape.tensor import Tensor
from gtape.variable import Variable
from gtape.vectorize import BatchInterpreter

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")

_MUTABLE = (Tensor, np.ndarray)


def _run_rule(g: Any, out: Any, *inputs: Any, rule: Any) -> Any:
    # The tape conjugates what rules return, since those of operations are written as
    # for real numbers; a user's rule returns the gradient itself.
    return [None if c is None else conj(c) for c in rule(g, out, inputs)]


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
    """A recorder that only notes which variables are read, and their values then."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}  # the trainable ones
        self.values: dict[int, tuple[Variable, Any]] = {}

    def record(self, primitive: Any, inputs: Any, out: Any, attrs: Any) -> None:
        """Nothing: operations are for the tapes."""

    def read(self, variable: Variable) -> None:
        """Note the variable, and its value if it is the first time."""
        if variable.trainable:
            self.variables[variable._key] = variable
        self.values.setdefault(variable._key, (variable, variable._tensor))

    def left(self, key: int) -> None:
        """Nothing."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Note a variable that has not been read: its value does not matter."""
        self.values.setdefault(variable._key, (variable, variable._tensor))

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Give the block the values that were read; afterwards, all is as before."""
        now = [(variable, variable._tensor) for variable, _ in self.values.values()]
        for variable, value in self.values.values():
            variable._tensor = value
        try:
            yield
        finally:
            for variable, value in now:
                variable._tensor = value


def _split(args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the leaves of arguments with tensors of their own, and these alone.

    Raises:
        NeedsValue: In a batch: the user's rules are for one element.
    """
    if isinstance(dispatch.interpreter(), BatchInterpreter):
        raise NeedsValue
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
        if _is_input(leaf):
            # The function may assign to items of its argument, too.
            tensors.append(copy.copy(leaf))
    return leaves, tensors


def _captured(
    reads: _Reads, given: Sequence[Any], watching: Sequence[Any] = ()
) -> list[Variable]:
    """Return the variables read that are no arguments, in order of creation.

    Args:
        reads: What was read; the trainable variables count.
        given: The arguments.
        watching: Recorders, of which some may watch other variables, too.
    """
    found = dict(reads.variables)
    for key, (variable, _) in reads.values.items():
        if any(_follows(recorder, key) for recorder in watching):
            found[key] = variable
    keys = {v._key for v in given if isinstance(v, Variable)}
    return [v for k, v in sorted(found.items()) if k not in keys]


def _noting(*reads: _Reads) -> contextlib.AbstractContextManager[None]:
    return dispatch.running(dispatch.interpreter(), reads)


def _follows(recorder: Any, key: int) -> bool:
    """Return whether a tape or a forward accumulator follows a value."""
    followed: Any = getattr(recorder, "known", getattr(recorder, "by_key", ()))
    return key in followed


def _record(tensors: list[Any], outputs: list[Any], rule: Any) -> list[Any]:
    """Tell the tapes that tensors became outputs by a rule; return these as new."""
    fresh = tuple(
        [EagerTensor(dispatch.interpreter().convert(o)._array) for o in outputs]
    )
    inputs = [dispatch.interpreter().convert(t) for t in tensors]
    if inputs:
        dispatch.record(_custom, inputs, fresh, {"rule": rule})
    return list(fresh)


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

    return wrapper


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


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
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
        named = nest.flatten(kwargs)
        named = [copy.copy(x) if isinstance(x, _MUTABLE) else x for x in named]
        tensors += [copy.copy(x) for x in named if isinstance(x, Tensor)]
        # Now, since the function may assign to a variable that is an argument.
        tensors = [dispatch.interpreter().convert(x) for x in tensors]
        reads = _Reads()
        script = Script()  # random numbers must come out the same again
        given = [list(args), kwargs]
        inner, options = nest.pack(given, iter([*leaves, *named]))
        # A function around this one restores what both read.
        around = [r for r in dispatch.recorders() if isinstance(r, _Reads)]
        with _noting(*around, reads), script.written():
            outputs = f(*inner, **options)
        variables = _captured(reads, (), dispatch.recorders())

        def rule(g: Sequence[Any], out: Sequence[Any], inputs: Sequence[Any]) -> Any:
            # Each argument is a source of its own, even if a tensor stands twice.
            own = [identity(x) for x in inputs[: len(tensors)]]
            sources = [*own, *variables]
            with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
                tape.watch([s for s in sources if s.dtype.is_differentiable])
                values = iter([copy.copy(x) for x in own])
                again = [next(values) if _is_input(x) else x for x in leaves]
                again += [next(values) if isinstance(x, Tensor) else x for x in named]
                inner, options = nest.pack(given, iter(again))
                with script.played(), reads.restored():
                    out_again = f(*inner, **options)
                redone = nest.flatten(out_again)
            pairs = [(r, c) for r, c in zip(redone, g, strict=True) if c is not None]
            targets, seeds = [r for r, _ in pairs], [c for _, c in pairs]
            return tape.gradient(targets, sources, output_gradients=seeds)

        fresh = _record([*tensors, *variables], nest.flatten(outputs), rule)
        return nest.pack(outputs, iter(fresh))

    return wrapper


def _is_input(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, Variable))


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
        [leaf], _ = _split([x])
        value = identity(leaf)
        with dispatch.running(dispatch.interpreter(), ()):
            out = dispatch.interpreter().convert(f(value, *args, **kwargs))
        if tuple(out.shape) != tuple(value.shape):
            raise ArgumentError(
                f"grad_pass_through: {name} changed the shape "
                f"{tuple(value.shape)} to {tuple(out.shape)}",
                "The identity's gradient needs equal shapes",
            )
        [fresh] = _record([value], [out], lambda g, out, inputs: [g[0]])
        return fresh

    return wrapper  # type: ignore[return-value]  # keeps the name of f's argument
