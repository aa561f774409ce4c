"""Derivatives as functions of functions: grad, vjp, hvp, jacobian, hessian ..."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gtape import dispatch, nest
from gtape.dispatch import next_key
from gtape.errors import ArgumentError, ArgumentTypeError, GradientError
from gtape.forward import check_primals, jvp, own_primal
from gtape.ops.common import name_of
from gtape.tape import GradientTape
from gtape.tensor import Tensor
from gtape.variable import Variable

Argnums: TypeAlias = "int | Sequence[int]"


def own_arguments(
    name: str, args: Sequence[Any], positions: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Return the arguments, chosen ones as sources of their own; and these alone.

    The function gets tensors that share keys with the sources: it may assign to items
    of its arguments, and the gradient is by what it was given.
    """
    out = list(args)
    chosen = []
    for i in positions:
        if not -len(args) <= i < len(args):
            raise ArgumentError(
                f"{name}: there is no argument {i}, the call has {len(args)}",
                "Count positional arguments from 0",
            )
        source = own_primal(args[i])
        out[i] = nest.map_structure(shared, source)
        chosen.append(source)
    return out, chosen


def shared(source: Any) -> Any:
    """Return a tensor of the same value and key; assigning to its items is its own."""
    if not hasattr(source, "_key"):
        return source
    if source._key <= 0:
        source._key = next_key()
    return copy.copy(source)


def _positions(name: str, argnums: Argnums) -> tuple[int, ...]:
    numbers = tuple(argnums) if hasattr(argnums, "__iter__") else (argnums,)
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise ArgumentTypeError(
            f"{name}: argnums must be integers, got {argnums!r}",
            "Count positional arguments from 0",
        )
    return numbers


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
    name_of("grad", f)
    positions = _positions("grad", argnums)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        inputs, sources = own_arguments("grad", args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            out = dispatch.invoke(f, *inputs, **kwargs)
            if has_aux and not (isinstance(out, (tuple, list)) and len(out) == 2):
                raise ArgumentTypeError(
                    f"grad: has_aux is True, and the function returned {out!r}, not a "
                    "pair",
                    "Return (value, more)",
                )
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
    name_of("vjp", f)
    inputs, sources = own_arguments("vjp", primals, range(len(primals)))
    with GradientTape(True, watch_accessed_variables=False) as tape:
        tape.watch(sources)
        value = dispatch.invoke(f, *inputs)

    def pull(cotangent: Any) -> tuple[Any, ...]:
        found = tape.gradient(
            value, sources, output_gradients=cotangent, unconnected_gradients="zero"
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
    check_primals("hvp", primals, vectors)
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
    name_of("jacobian", f)
    positions = _positions("jacobian", argnums)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inputs, sources = own_arguments("jacobian", args, positions)
        with GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            value = dispatch.invoke(f, *inputs, **kwargs)
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
