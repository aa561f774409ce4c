"""What code that is not converted reads of the world outside.

Such code may read anything of an object that it gets. So all of it is noted, and when
some of it changes, the trace no longer holds.
"""

from __future__ import annotations

import types
from collections import deque
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.jit.hooks.captures import note_contents, note_outer, note_setting
from gtape.jit.hooks.guards import PLAIN
from gtape.jit.tracing.region import MISSING
from gtape.jit.tracing.tracer import Trace, Tracer

_DEEP = 4  # objects in objects
_CONTAINERS = (list, tuple, dict, set, deque)
_CODE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
)
_METADATA = frozenset(
    ["dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides"]
)


def note_reads(value: Any, deep: int = _DEEP) -> None:
    """Note all that code which is not converted may read of an object from outside."""
    if type(value) in PLAIN or isinstance(value, _CODE):
        return
    here = dispatch.interpreter()
    if not isinstance(here, Tracer) or not deep:
        return
    trace = here.trace
    if isinstance(value, np.ndarray):
        if _is_outer(trace, value):
            note_array(value)
        return
    if id(value) not in trace.outer:
        return
    if isinstance(value, _CONTAINERS):
        note_contents(value)
        entries = value.values() if isinstance(value, dict) else value
        for entry in list(entries):
            note_reads(entry, deep - 1)
    elif not type(value).__module__.startswith("gtape."):
        for name in _names(value):
            held = getattr(value, name, MISSING)
            _note_attribute(trace, value, name)
            note_outer(held)
            note_reads(held, deep - 1)


def note_parts(value: Any) -> None:
    """Note what running over an object from outside reads: its entries as objects."""
    if type(value) in (list, tuple, dict, set):
        note_contents(value)
    else:
        note_reads(value)


def note_attributes(array: np.ndarray[Any, Any], name: str) -> None:
    """Note what an attribute or method of an array from outside reads."""
    if name not in _METADATA:
        note_reads(array)


def note_array(array: np.ndarray[Any, Any]) -> None:
    """Note what a NumPy array holds, whose numbers Python needs."""
    kept = array.copy()
    inexact = array.dtype.kind in "fc"

    def read() -> Any:
        return kept if np.array_equal(array, kept, equal_nan=inexact) else array

    text = "what a NumPy array holds that is no operand"
    note_setting(("contents", id(array)), text, read)


def _is_outer(trace: Trace, array: Any) -> bool:
    """Return whether an array, or what it is a view of, was there before the trace."""
    while isinstance(array, np.ndarray):
        if id(array) in trace.outer:
            return True
        array = array.base
    return False


def _names(value: Any) -> list[str]:
    """Return the attributes that an object stores."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    names = [n for s in slots for n in ((s,) if isinstance(s, str) else s)]
    return [*getattr(value, "__dict__", ()), *[n for n in names if n[:2] != "__"]]


def _note_attribute(trace: Trace, owner: Any, name: str) -> None:
    if ("attribute", id(owner), name) in trace.written:
        return

    def read() -> Any:
        return getattr(owner, name, MISSING)

    text = f"attribute {name!r} of a {type(owner).__name__}"
    note_setting(("native", id(owner), name), text, read)
