"""Derivatives as functions of functions: grad, vjp, hvp, jacobian, hessian ..."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gtape import nest
from gtape.errors import ArgumentError, ArgumentTypeError, GradientError
from gtape.forward import jvp, own_primal
from gtape.tape import GradientTape
from gtape.tensor import Tensor
from gtape.variable import Variable

Argnums: TypeAlias = "int | Sequence[int]"


def _own_arguments(
    name: str, args: Sequence[Any], positions: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Return the arguments, chosen ones as sources of their own; and these alone."""
    out = list(args)
    for i in positions:
        if not -len(args) <= i < len(args):
            raise ArgumentError(
                f"{name}: there is no argument {i}, the call has {len(args)}",
                "Count positional arguments from 0",
            )
        out[i] = own_primal(args[i])
    return out, [out[i] for i in positions]


def _positions(name: str, argnums: Argnums) -> tuple[int, ...]:
    single = isinstance(argnums, int)
    numbers = (argnums,) if single else tuple(argnums)  # type: ignore[arg-type]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise ArgumentTypeError(f"{name}: argnums must be integers, got {argnums!r}", "Count positional arguments from 0")
    return numbers  # type: ignore[return-value]


def _check_scalar(name: str, value: Any) -> None:
    if not isinstance(value, (Tensor, Variable)):
        raise ArgumentTypeError(
            f"{name}: the function returned {value!r}, not a tensor",
            "Return a scalar tensor",
        )
    if tuple(value.shape) != ():
        raise GradientError(
            f"{name}: the function returned a tensor of shape {tuple(value.shape)}",
            "Return a scalar, or use gt.jacobian or gt.vjp",
        )


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the value of f and its gradient by chosen arguments.

    Args:
        f: A function that returns a scalar tensor; with has_aux a pair of it and more.
        argnums: The positions of the arguments, each a tensor or a nested structure.
        has_aux: Whether f returns (value, more).

    Raises:
        GradientError: When called, if the value is not a scalar.

    Example:
        >>> import gtape as gt
        >>> value, gradient = gt.value_and_grad(lambda x: x * x)(3.0)
        >>> float(value), float(gradient)
        (9.0, 6.0)
    """
    positions = _positions("value_and_grad", argnums)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        inputs, sources = _own_arguments("grad", args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            out = f(*inputs, **kwargs)
            value = out[0] if has_aux else out
        _check_scalar("grad", value)
        gradients = tape.gradient(value, sources, unconnected_gradients="zero")
        return out, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return wrapper


def grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of f by chosen arguments.

    Args:
        f: A function that returns a scalar tensor; with has_aux a pair of it and more.
        argnums: The positions of the arguments, each a tensor or a nested structure.
        has_aux: Whether f returns (value, more); the result is then (gradient, more).

    Raises:
        GradientError: When called, if the value is not a scalar.

    Example:
        >>> import gtape as gt
        >>> float(gt.grad(gt.grad(lambda x: x * x * x))(2.0))
        12.0
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        out, gradients = both(*args, **kwargs)
        return (gradients, out[1]) if has_aux else gradients

    return wrapper


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return f(*primals) and the function that pulls cotangents back to the primals.

    Args:
        f: A function of tensors that returns a tensor or a nested structure.
        *primals: Its arguments.

    Returns:
        The value, and a function of a cotangent in the value's structure that returns a
        tuple with one gradient for each primal. It may be called more than once.

    Example:
        >>> import gtape as gt
        >>> y, pull = gt.vjp(lambda a, b: a * b, 2.0, 3.0)
        >>> [float(g) for g in pull(1.0)]
        [3.0, 2.0]
    """
    inputs = [own_primal(p) for p in primals]
    with GradientTape(True, watch_accessed_variables=False) as tape:
        tape.watch(inputs)
        value = f(*inputs)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        found = tape.gradient(
            value, inputs, output_gradients=cotangent, unconnected_gradients="zero"
        )
        return tuple(found)

    return value, pull


def hvp(
    f: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the product of the Hessian of f with vectors, forward over reverse.

    Args:
        f: A function of tensors that returns a scalar.
        primals: Its arguments, a tuple or list.
        vectors: A vector for each, of the same structure, shapes and dtypes.

    Returns:
        A tuple with one product for each argument.

    Example:
        >>> import gtape as gt
        >>> f = lambda x: gt.reduce_sum(x * x * x)
        >>> [product] = gt.hvp(f, ([1.0, 2.0],), ([1.0, 0.0],))
        >>> product.numpy()
        array([6., 0.], dtype=float32)
    """
    gradients = grad(f, tuple(range(len(primals))))
    _, products = jvp(gradients, primals, vectors)
    return tuple(products)


def jacobian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that gives the derivatives of the elements of f by an argument.

    Args:
        f: A function of tensors that returns one tensor.
        argnums: The positions of the arguments.

    Returns:
        A function whose result has the shape value.shape + argument.shape.

    Example:
        >>> import gtape as gt
        >>> gt.jacobian(lambda v: v * v)([1.0, 2.0]).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
    """
    positions = _positions("jacobian", argnums)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inputs, sources = _own_arguments("jacobian", args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            value = f(*inputs, **kwargs)
        found = tape.jacobian(value, sources, unconnected_gradients="zero")
        return found[0] if isinstance(argnums, int) else tuple(found)

    return wrapper


def hessian(f: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]:
    """Return a function that gives the matrix of second derivatives by one argument.

    Args:
        f: A function of tensors that returns a scalar.
        argnum: The position of the argument, one tensor.

    Returns:
        A function whose result has the shape argument.shape + argument.shape.

    Example:
        >>> import gtape as gt
        >>> gt.hessian(lambda v: gt.reduce_sum(v * v * v))([1.0, 2.0]).numpy()
        array([[ 6.,  0.],
               [ 0., 12.]], dtype=float32)
    """
    return jacobian(grad(f, argnum), argnum)


# --- The four functions of TensorFlow 1's eager mode ----------------------------------


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
    names = list(inspect.signature(f).parameters)
    for p in chosen:
        if p not in names:
            raise ArgumentError(
                f"gradients_function: {f.__name__} has no parameter {p!r}",
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

    @functools.wraps(f)
    def wrapper(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        if kwargs:
            raise ArgumentError(
                f"{f.__name__}: keyword arguments {sorted(kwargs)} are not "
                "differentiated",
                "Give positional arguments",
            )
        positions = _parameters(f, params, len(args))
        inputs, sources = _own_arguments(f.__name__, args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            value = f(*inputs)
        if value is None or any(leaf is None for leaf in nest.flatten(value)):
            raise ArgumentError(
                f"{f.__name__} returns None, which has no gradient", "Return a tensor"
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
        return both(*args, dy=dy, **kwargs)[1]  # type: ignore[no-any-return]

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

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Variable]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ArgumentError(
                f"{f.__name__} returns None, which has no gradient", "Return a tensor"
            )
        variables = tape.watched_variables()
        if not variables:
            raise ArgumentError(
                f"{f.__name__}: no trainable variable was read while it ran",
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
        return both(*args, **kwargs)[1]  # type: ignore[no-any-return]

    return wrapper
