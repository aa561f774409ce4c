"""What a trace reads of the world outside: it holds as long as that stays the same.

Globals and free variables of the functions that run, plain attributes and entries of
objects from outside: each is noted with its value, and looked at again on every call.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import PACKAGE
from gtape.jit.hooks.changing import changes, number_at
from gtape.jit.hooks.guards import (
    MOST_GUARDED,
    PLAIN,
    Capture,
    Contents,
    Read,
    Written,
    is_same,
)
from gtape.jit.tracing.region import MISSING
from gtape.jit.tracing.tracer import Trace, Tracer
from gtape.variable import Variable

_ARRAYS = (EagerTensor, Variable, np.ndarray, np.generic)
_CONTAINERS = (list, dict, set)
_CHANGING = ("random", "numpy.random", "time", "datetime", "secrets", "uuid")
"""Modules whose functions give something else each time."""


def _trace() -> Trace | None:
    found = dispatch.interpreter()
    return found.trace if isinstance(found, Tracer) else None


# --- Functions ------------------------------------------------------------------------


class _Names(NamedTuple):
    """The globals that code, and the code in it, reads and writes."""

    read: frozenset[str]
    written: frozenset[str]


@functools.lru_cache(maxsize=4096)
def _globals_of(code: types.CodeType) -> _Names:
    read, written = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(step.argval)
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            written.add(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _globals_of(constant)
            read |= inner.read
            written |= inner.written
    return _Names(frozenset(read), frozenset(written))


def note_function(function: Any) -> None:
    """Note the globals, free variables and defaults that a function may read."""
    trace = _trace()
    if trace is None or not isinstance(function, types.FunctionType):
        return
    if ("function", id(function)) in trace.captures:
        return
    key = ("function", id(function))
    name = function.__name__

    def defaults() -> Any:
        return function.__defaults__

    _note(trace, key, f"the defaults of {name}", defaults, function.__defaults__)
    for value in (function.__defaults__ or ()) + tuple(
        (function.__kwdefaults__ or {}).values()
    ):
        note_outer(value)
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if name != "__class__":
            _note_cell(trace, name, cell)
    if code not in trace.noted:
        trace.noted.add(code)
        _note_globals(trace, _globals_of(code), function.__globals__)


def _note_cell(trace: Trace, name: str, cell: Any) -> None:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING

    key, value = ("cell", id(cell), name), read()
    place = f"the free variable {name!r}"
    region = trace.root.region
    # If the function assigns to it, what stands there is restored at the end.
    own = dispatch.interpreter() is trace.root and ("free", id(cell)) in region.log
    if own and key not in trace.captures and changes(trace, key, value):
        cell.cell_contents = number_at(trace, key, place, value, read)
        trace.captures[key] = Written(key, place, read, value)
        return
    _note(trace, key, place, read, value)


def _note_globals(trace: Trace, found: _Names, names: dict[str, Any]) -> None:
    for name in found.read | found.written:
        value = names.get(name, MISSING)
        if isinstance(value, types.ModuleType):
            continue
        _note_changing(trace, name, value)
        if value is MISSING and name not in found.written:
            continue  # one of Python's own

        def read(name: str = name) -> Any:
            return names.get(name, MISSING)

        def write(value: Any, name: str = name) -> None:
            if value is MISSING:
                names.pop(name, None)
            else:
                names[name] = value

        key = ("global", id(names), name)
        place = f"the global {name!r}"
        writer = write if name in found.written else None
        here = dispatch.interpreter() is trace.root and key not in trace.captures
        if here and writer is not None and changes(trace, key, value):
            names[name] = number_at(trace, key, place, value, read)
            trace.captures[key] = Written(key, place, read, value, write)
        else:
            _note(trace, key, place, read, value, writer)


def _note_changing(trace: Trace, name: str, function: Any) -> None:
    """Say of a function that Python calls while tracing that it is called once."""
    if not callable(function) or isinstance(function, type):
        return
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    home = getattr(function, "__module__", None) or kind.__module__
    if any(f"{home}.".startswith(f"{module}.") for module in _CHANGING):
        trace.note(
            f"{home}.{name} is called once per trace, not on every call; gt.random "
            "gives new numbers each time"
        )


# --- Objects --------------------------------------------------------------------------


def _note(
    trace: Trace,
    key: Any,
    place: str,
    read: Read,
    value: Any,
    write: Callable[[Any], None] | None = None,
) -> None:
    found = trace.captures.get(key)
    if found is None:
        trace.captures[key] = Capture(key, place, read, value, write)
        note_outer(value)
    elif found.write is None:
        found.write = write


def note_outer(value: Any) -> None:
    """Note an object that was there before the trace, and what it holds."""
    trace = _trace()
    if trace is None or id(value) in trace.outer:
        return
    if isinstance(value, (*PLAIN, types.ModuleType)):
        return
    trace.outer[id(value)] = value
    kind = type(value)
    if kind not in (list, dict, tuple, set) or _is_made(value):
        return
    if kind is not tuple:
        key = ("inside", id(value))
        trace.captures[key] = Contents(value, key, MOST_GUARDED)
    if kind is not set and len(value) <= MOST_GUARDED:
        for entry in value.values() if kind is dict else value:
            note_outer(entry)


def note_own(value: Any) -> None:
    """Note an object that a trace is called with: nobody else changes its copy."""
    trace = _trace()
    if trace is not None and not isinstance(value, (*PLAIN, types.ModuleType)):
        trace.outer[id(value)] = value


def _is_made(value: Any) -> bool:
    """Return whether the trace has made a container itself."""
    region: Any = dispatch.interpreter().region  # type: ignore[attr-defined]
    while region is not None:
        if id(value) in region.made:
            return True
        region = region.around
    return False


def lasting(trace: Trace) -> list[Capture]:
    """Return what has to stay for a trace to hold, at its end."""
    lists: set[int] = set()
    entries: dict[int, set[Any]] = {}
    inputs = [slot.owner.key for slot in trace.slots if slot.kind == "number"]
    for key in (*trace.written, *trace.root.region.log, *inputs):
        if key[0] == "entry":
            entries.setdefault(key[1], set()).add(key[2])
        elif key[0] == "list":
            lists.add(key[1])
    found = []
    for capture in trace.captures.values():
        if isinstance(capture, Contents) and capture.key[0] == "inside":
            place = id(capture.owner)
            if place in entries:
                capture.leave_out(frozenset(entries[place]))
            # What code of others has changed, it has changed while tracing, once.
            if place in lists or not capture.holds():
                continue
        found.append(capture)
    return found


def note_attribute(owner: Any, name: str, value: Any) -> None:
    """Note an attribute that is read of an object from outside."""
    trace = _trace()
    if trace is None or isinstance(owner, _ARRAYS):
        return
    _note_changing(trace, name, value)
    if isinstance(owner, types.ModuleType):
        if not _is_users(owner.__name__) or isinstance(value, types.ModuleType):
            return
    elif id(owner) not in trace.outer:
        return
    if _is_ours(getattr(type(owner), name, None)):
        return  # a property of gtape's notes itself what it stands on
    method = isinstance(value, types.MethodType) and value.__self__ is owner
    if method and not _is_users(value.__func__.__module__ or ""):
        return
    key = ("attribute", id(owner), name)
    if key in trace.captures or key in trace.written:
        return

    def read() -> Any:
        return getattr(owner, name, MISSING)

    if not (method or _is_stored(owner, name)):
        again = read()
        if again is not value and not is_same(again, value):
            return  # a property makes it anew each time
    text = f"attribute {name!r} of a {type(owner).__name__}"
    if isinstance(owner, type | types.ModuleType):
        text = f"attribute {name!r} of {owner.__name__}"
    _note(trace, key, text, read, value)


def read_attribute(owner: Any, name: str, value: Any) -> Any:
    """Note an attribute that is read, and return it: traced, if it often changes."""
    trace = _trace()
    key = ("attribute", id(owner), name)
    if trace is None or key in trace.written or not changes(trace, key, value):
        note_attribute(owner, name, value)
        return value
    place = f"attribute {name!r} of a {type(owner).__name__}"
    return number_at(trace, key, place, value, lambda: getattr(owner, name, MISSING))


def read_entry(owner: Any, entry: Any, value: Any) -> Any:
    """Note an entry that is read, and return it in the same way."""
    trace = _trace()
    if trace is not None and type(owner) is dict and type(value) in (int, float):
        key = ("entry", id(owner), entry)
        if key not in trace.written and changes(trace, key, value):
            place = f"entry {entry!r} of a dict"
            return number_at(
                trace, key, place, value, lambda: owner.get(entry, MISSING)
            )
    note_entry(owner, entry, value)
    return value


def _is_stored(owner: Any, name: str) -> bool:
    """Return whether an attribute is what a dict holds, and no code makes it."""
    if name in getattr(owner, "__dict__", ()):
        return True
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    for kind in kinds:
        if name in vars(kind):
            return not hasattr(type(vars(kind)[name]), "__get__")
    return False


def _is_ours(found: Any) -> bool:
    """Return whether an attribute of a class is a property that gtape defines."""
    getter = getattr(found, "fget", None)
    code = getattr(getter, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def _is_users(module: str) -> bool:
    """Return whether a module is of the user's code, by its name."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names and root != "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not (file.startswith(PACKAGE) or "site-packages" in file)


def note_entry(owner: Any, entry: Any, value: Any) -> None:
    """Note an entry that is read of a list or dict from outside, or that is missing."""
    trace = _trace()
    if trace is None or id(owner) not in trace.outer:
        return
    if isinstance(owner, tuple):
        note_outer(value)
        return
    try:
        key = ("entry", id(owner), entry)
        if key in trace.captures or key in trace.written:
            return
    except TypeError:
        return
    if ("list", id(owner)) in trace.written:
        note_outer(value)
        return

    def read() -> Any:
        try:
            return owner[entry]
        except (KeyError, IndexError, TypeError):
            return MISSING

    _note(trace, key, f"entry {entry!r} of a {type(owner).__name__}", read, value)


def note_contents(owner: Any) -> None:
    """Note all entries of a list, tuple, set or dict from outside that is run over."""
    trace = _trace()
    if trace is None or id(owner) not in trace.outer:
        return
    if isinstance(owner, tuple):
        for value in owner:
            note_outer(value)
    key = ("contents", id(owner))
    if key in trace.captures or ("list", id(owner)) in trace.written:
        return
    if isinstance(owner, (*_CONTAINERS, deque)):
        trace.captures[key] = Contents(owner, key)
        for value in owner.values() if isinstance(owner, dict) else owner:
            note_outer(value)


def note_call(function: Any, args: Sequence[Any]) -> None:
    """Note what a function of Python's is about to read of objects from outside."""
    if function is getattr or function is hasattr:
        if len(args) > 1 and isinstance(args[1], str):
            note_attribute(args[0], args[1], getattr(args[0], args[1], MISSING))
        return
    if not isinstance(function, (types.BuiltinFunctionType, type)):
        return
    trace = _trace()
    owner = args[0] if function is next and args else getattr(function, "__self__", 0)
    if trace and id(owner) in trace.outer and type(owner) not in _CONTAINERS:
        what = f"{function.__name__} of a {type(owner).__name__}"
        trace.note(f"{what} from outside is called once per trace, not on every call")
    for arg in args:
        if function is vars:
            note_setting(("vars", id(arg)), "an attribute", partial(tuple, vars(arg)))
            for name, value in list(vars(arg).items()):
                note_attribute(arg, name, value)
        elif type(arg) not in _CONTAINERS:
            continue
        elif function is not len:
            note_contents(arg)
        elif trace is not None and id(arg) in trace.outer:
            note_setting(("length", id(arg)), "a length", partial(len, arg))


def note_setting(key: Any, place: str, read: Read) -> None:
    """Note what code of gtape reads of the world outside, such as an option."""
    trace = _trace()
    if trace is not None and key not in trace.written:
        _note(trace, key, place, read, read())
