"""NumPy's protocols: which calls on tensors are recorded, and which leave the tape."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape.ops.common import UFUNCS, convert
from gtape.ops.numpy_functions import FUNCTIONS, NotRecordable


def ufunc(function: np.ufunc, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """Return a ufunc of operands some of which are tensors.

    A plain call with an equivalent operation is recorded and gives a Tensor. Everything
    else (`out=`, `where=`, `reduce`, ufuncs without an equivalent) is NumPy's and
    leaves the tape.
    """
    operation = UFUNCS.get(function)
    if operation is not None and method == "__call__" and not kwargs:
        return operation(*inputs)
    arrays = [_plain(x) for x in inputs]
    return getattr(function, method)(
        *arrays, **{k: _plain(v) for k, v in kwargs.items()}
    )


def function(called: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Return a NumPy function of arguments some of which are tensors.

    With an equivalent operation and arguments it knows, the call is recorded and gives
    a Tensor; else it is NumPy's, on the values, and leaves the tape.
    """
    operation = FUNCTIONS.get(called)
    if operation is not None and _accepts(operation, args, kwargs):
        try:
            return operation(*args, **kwargs)
        except NotRecordable:
            pass
    args = tuple(_plain(a) for a in args)
    return called(*args, **{k: _plain(v) for k, v in kwargs.items()})


def _accepts(operation: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> bool:
    try:
        inspect.signature(operation).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """Return a value with NumPy arrays in the place of tensors."""
    if type(value) in (list, tuple):
        return type(value)(_plain(v) for v in value)
    if hasattr(value, "_key") or hasattr(value, "__gtape_tensor__"):
        return np.asarray(convert(value))
    return value
