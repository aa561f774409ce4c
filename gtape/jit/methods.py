"""Functions as methods: each object has traces of its own, which die with it."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

_KEY = "__gtape_functions__"


class _Own(dict[int, Any]):
    """The functions of an object, by the function in its class.

    A copy of the object begins without any: its traces would be the other's.
    """

    def __copy__(self) -> _Own:
        return _Own()

    def __deepcopy__(self, memo: Any) -> _Own:
        return _Own()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Own, ()


def of_owner(owner: Any, function: Any, make: Callable[[], Any]) -> Any:
    """Return the function of an object, made at the first time.

    Args:
        owner: The object, or a class.
        function: The function in its class.
        make: Returns the object's own.
    """
    attributes = getattr(owner, "__dict__", None)
    if type(attributes) is not dict:  # a class, or an object with slots
        return types.MethodType(function, owner)
    functions = attributes.get(_KEY)
    if functions is None:
        functions = attributes.setdefault(_KEY, _Own())
    found = functions.get(id(function))
    if found is None or found.python_function.__self__ is not owner:
        # `copy.copy` copies the attributes, and with them the functions of another.
        if found is not None:
            functions = attributes[_KEY] = _Own()
        found = functions.setdefault(id(function), make())
    return found
