"""Which functions are the user's: they are converted, those of others are not."""

from __future__ import annotations

import functools
import sysconfig
import types
import weakref
from typing import Any

from gtape import dispatch
from gtape.errors import PACKAGE

_converted: weakref.WeakSet[Any] = weakref.WeakSet()


@functools.cache
def foreign() -> tuple[str, ...]:
    """Return the folders of code that is not the user's."""
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {paths[name] for name in names if name in paths}
    return (PACKAGE, *[f"{f}/" for f in folders], "<frozen")


def is_users(function: Any) -> bool:
    """Return whether a function is of the user's code, and not converted yet."""
    if not isinstance(function, types.FunctionType) or function in _converted:
        return False
    if getattr(function, "__gtape_as_is__", False):
        return False
    return not function.__code__.co_filename.startswith(foreign())


def is_converted(function: Any) -> bool:
    """Return whether a function is one that has been converted."""
    return function in _converted


def nested_function(function: Any) -> Any:
    """Note a function whose code has been converted with that around it."""
    _converted.add(function)
    return function


def users_method(value: Any, name: str) -> Any:
    """Return the method of the user's by which Python does something with an object.

    Args:
        value: The object.
        name: The special name of the method, such as `__add__`.

    Returns:
        A function of the object and the other operands; `None` if it is not the user's.
    """
    found = getattr(type(value), name, None)
    return found if is_users(found) else None


def by_method(value: Any, name: str, *args: Any) -> Any:
    """Return what the user's method returns; `NotImplemented` if there is none."""
    method = users_method(value, name)
    return NotImplemented if method is None else dispatch.invoke(method, value, *args)
