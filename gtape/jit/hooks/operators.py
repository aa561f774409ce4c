"""Python's operators: what the user's classes say of them is converted."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import TracingError
from gtape.jit.hooks.reads import note_reads
from gtape.jit.hooks.users import by_method, users_method
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import is_tracing
from gtape.sizes import Size
from gtape.variable import Variable

_KNOWN = frozenset(
    [
        *(bool, int, float, complex, str, bytes, list, tuple, dict, set, type(None)),
        *(Symbol, TracedNumber, EagerTensor, Size, Variable),
    ]
)
"""Types without methods of the user's."""

_NAMES = {
    "+": ("add", "radd"),
    "-": ("sub", "rsub"),
    "*": ("mul", "rmul"),
    "/": ("truediv", "rtruediv"),
    "//": ("floordiv", "rfloordiv"),
    "%": ("mod", "rmod"),
    "**": ("pow", "rpow"),
    "@": ("matmul", "rmatmul"),
    "&": ("and", "rand"),
    "|": ("or", "ror"),
    "^": ("xor", "rxor"),
    "<<": ("lshift", "rlshift"),
    ">>": ("rshift", "rrshift"),
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}
_BINARY: dict[str, tuple[Any, str, str]] = {
    symbol: (getattr(operator, f"__{name}__"), f"__{name}__", f"__{reflected}__")
    for symbol, (name, reflected) in _NAMES.items()
}
_INPLACE: dict[str, tuple[Any, str]] = {
    f"{symbol}=": (getattr(operator, f"__i{name}__"), f"__i{name}__")
    for symbol, (name, reflected) in _NAMES.items()
    if reflected[0] == "r"
}
_UNARY: dict[str, tuple[Any, str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}


def binary(symbol: str, a: Any, b: Any) -> Any:
    """Return the result of an operator between two values."""
    function, name, reflected = _BINARY[symbol]
    if (type(a) in _KNOWN and type(b) in _KNOWN) or not is_tracing():
        return function(a, b)
    ways = [(a, name, b)]
    if type(a) is not type(b):
        ways.append((b, reflected, a))
        mine, other = [getattr(type(x), reflected, None) for x in (a, b)]
        if issubclass(type(b), type(a)) and mine is not other:
            ways.reverse()  # as Python does for classes derived from others
    if any(users_method(x, way) for x, way, _ in ways):
        for x, way, y in ways:
            method = getattr(type(x), way, None)
            out = NotImplemented if method is None else dispatch.invoke(method, x, y)
            if out is not NotImplemented:
                return out
    elif not isinstance(a, _TRACED) and not isinstance(b, _TRACED):
        note_array_of(a)
        note_array_of(b)
    return function(a, b)


_TRACED = (Symbol, TracedNumber, EagerTensor, Variable)


def note_array_of(value: Any) -> None:
    """Note that Python computes with the numbers of a NumPy array, if it is one."""
    if isinstance(value, np.ndarray):
        note_reads(value)


def unary(symbol: str, x: Any) -> Any:
    """Return the result of an operator on a value."""
    function, name = _UNARY[symbol]
    if type(x) not in _KNOWN and is_tracing():
        out = by_method(x, name)
        if out is not NotImplemented:
            return out
        note_array_of(x)
    return function(x)


def augmented(symbol: str, before: Any, value: Any) -> Any:
    """Return what an augmented assignment gives to its target."""
    function, name = _INPLACE[symbol]
    if (type(before) in _KNOWN and type(value) in _KNOWN) or not is_tracing():
        return function(before, value)
    out = by_method(before, name, value)
    if out is not NotImplemented:
        return out
    if getattr(type(before), name, None) is None:
        return binary(symbol[:-1], before, value)
    return function(before, value)


class Context:
    """A context manager of the user's class, whose methods are converted.

    Args:
        manager: The object.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return dispatch.invoke(type(self._manager).__enter__, self._manager)

    def __exit__(self, *error: Any) -> Any:
        out = dispatch.invoke(type(self._manager).__exit__, self._manager, *error)
        if isinstance(out, _TRACED):
            raise TracingError(
                "whether __exit__ takes an exception is known only when the function "
                "runs",
                "Return a Python bool",
            )
        return out


def context(manager: Any) -> Any:
    """Return what a `with` statement enters."""
    if is_tracing() and users_method(manager, "__exit__"):
        return Context(manager)
    return manager
