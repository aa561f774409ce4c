"""Calls: the user's functions are converted, too, those of others are not."""

from __future__ import annotations

import collections
import dis
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.errors import PACKAGE, ConversionError, Origin, TracingError
from gtape.jit.control.structure import tracer
from gtape.jit.graph.rewrite import has_effect
from gtape.jit.hooks.branches import choose
from gtape.jit.hooks.captures import (
    note_attribute,
    note_call,
    note_function,
    note_outer,
)
from gtape.jit.hooks.comprehensions import append, made
from gtape.jit.hooks.effects import exception_of, print_, refuse_change, there
from gtape.jit.hooks.functions import on_traced
from gtape.jit.hooks.reads import note_reads
from gtape.jit.hooks.users import (
    foreign,
    is_converted,
    is_users,
    nested_function,
    users_method,
)
from gtape.jit.syntax import convert
from gtape.jit.tracing.kinds import Maybe
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.packing import whole
from gtape.jit.tracing.region import (
    MISSING,
    Diverged,
    EntryLocation,
    FreeLocation,
    ListLocation,
)
from gtape.jit.tracing.tracer import Tracer, is_tracing

Function = Callable[..., Any]

_CHANGES = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "intersection_update",
        "move_to_end",
        "pop",
        "popitem",
        "popleft",
        "remove",
        "reverse",
        "rotate",
        "setdefault",
        "sort",
        "subtract",
        "symmetric_difference_update",
        "update",
    ]
)
"""The methods that change what the standard library's containers hold."""

_SPECIAL: dict[Any, str] = {
    abs: "__abs__",
    bool: "__bool__",
    complex: "__complex__",
    divmod: "__divmod__",
    float: "__float__",
    int: "__int__",
    len: "__len__",
    round: "__round__",
}
"""What Python calls of the user's classes."""

_HARMLESS = frozenset([callable, delattr, getattr, hasattr, id, isinstance, setattr])
"""What reads nothing of an object, or notes itself what it does."""

_DEEP = 8  # so many calls of one function are a recursion


def converted(function: Any, hooks: Any, root: bool = False) -> Any:
    """Return a function of the user's converted; one that cannot be, as it is.

    Args:
        function: The function.
        hooks: What the converted code calls.
        root: Whether it is the function that is traced, which must be converted.
    """
    note_function(function)
    try:
        out = convert(function, hooks)
    except ConversionError:
        if root:
            raise
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(
            function
        ):
            return function
        if is_from_text(function):
            return function
        raise
    return nested_function(out)


def is_from_text(function: Any) -> bool:
    """Return whether other code made a function from text, as it does named tuples."""
    return function.__code__.co_filename.startswith("<") and not (
        function.__code__.co_filename.startswith(("<ipython", "<stdin", "<doctest"))
    )


def call(hooks: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call something in a trace."""
    if not is_tracing():
        return function(*args, **kwargs)
    kind = type(function)
    if kind is types.BuiltinFunctionType or kind is type:
        note_call(function, args)
        name = _SPECIAL.get(function)
        if name is not None and args and users_method(args[0], name):
            return call(hooks, getattr(type(args[0]), name), *args)
        special = on_traced(function)
        if special is not None:
            return special(*args, **kwargs)
        if function is print:
            return print_(*args, **kwargs)
        if function in (getattr, hasattr, setattr, delattr) and len(args) > 1:
            return _reflected(hooks, function, *args)
    if kind is types.BuiltinFunctionType or kind is types.BuiltinMethodType:
        owner = function.__self__
        if type(owner) in (list, dict):
            return _of_container(owner, function, args, kwargs)
        if function.__name__ in _CHANGES:
            refuse_change(owner)
        if function not in _HARMLESS:
            _note_opaque(owner, args, kwargs)
    if kind is types.MethodType:
        inner = function.__func__
        if is_users(inner):
            return _run(hooks, inner, (function.__self__, *args), kwargs)
        if not _is_ours(inner):
            _note_opaque(function.__self__, args, kwargs)
        return function(*args, **kwargs)
    if kind is types.FunctionType:
        if is_users(function):
            return _run(hooks, function, args, kwargs)
        if is_converted(function):
            _touch_free(function)
        elif getattr(function, "__gtape_as_is__", False):
            note_function(function)
        elif not _is_ours(function):
            _note_opaque(None, args, kwargs)
        return function(*args, **kwargs)
    if kind is functools.partial:
        for held in (function.args, *function.keywords.values()):
            note_outer(held)
        merged = {**function.keywords, **kwargs}
        return call(hooks, function.func, *function.args, *args, **merged)
    if isinstance(function, type):
        return _made(hooks, function, args, kwargs)
    method = getattr(kind, "__call__", None)  # noqa: B004 (its function is wanted)
    if is_users(method):
        note_outer(function)
        return _run(hooks, method, (function, *args), kwargs)
    if not type(function).__module__.startswith("gtape."):
        _note_opaque(function, args, kwargs)
    out = function(*args, **kwargs)
    if type(out) is np.ndarray and out.base is None and all(out is not a for a in args):
        made(out)
    return out


def _is_ours(function: Any) -> bool:
    """Return whether a function is gtape's, which says itself what it reads."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def _note_opaque(owner: Any, args: Any, kwargs: Any) -> None:
    """Note what code that is not converted may read."""
    for value in (owner, *args, *kwargs.values()):
        note_reads(value)


def call_root(hooks: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Call the function that is traced, whoever's it is."""
    if type(function) is types.FunctionType and not (
        function.__code__.co_filename.startswith(PACKAGE)
        or function.__code__.co_filename.startswith("<frozen")
    ):
        try:
            return _run(hooks, function, args, kwargs, True)
        except Diverged:
            here = dispatch.interpreter()
            assert isinstance(here, Tracer)
            if any(map(has_effect, here.builder.nodes)):
                return None  # no run comes so far: it raises before
            raise TracingError(
                "a gradient rule raises an error that is known only when the function "
                "runs",
                "Check its tensors in the function that the rule belongs to",
            ) from None
    return call(hooks, function, *args, **kwargs)


def _made(hooks: Any, kind: Any, args: Any, kwargs: Any) -> Any:
    """Return a new object of a class; the user's __init__ is converted."""
    special = on_traced(kind)
    if special is not None:
        return made(special(*args, **kwargs))
    if issubclass(kind, BaseException):
        return exception_of(kind, args, kwargs)
    init = kind.__init__
    plain = type(kind).__call__ is type.__call__
    if not (plain and is_users(init) and kind.__new__ is object.__new__):
        return made(kind(*args, **kwargs))
    out = made(kind.__new__(kind))
    _run(hooks, init, (out, *args), kwargs)
    return out


def _reflected(hooks: Any, function: Any, owner: Any, name: str, *rest: Any) -> Any:
    """Return what getattr, hasattr, setattr or delattr do, as the syntax does it."""
    if function is setattr:
        return hooks.set_attr(owner, name, *rest)
    if function is delattr:
        return hooks.del_attr(owner, name)
    found = getattr(owner, name, MISSING)
    if function is hasattr:
        if type(found) is not Maybe:
            note_attribute(owner, name, found)
        return found.defined if type(found) is Maybe else found is not MISSING
    if rest and type(found) is Maybe:
        return choose(found.defined, lambda: found.value, lambda: rest[0])
    if rest and found is MISSING:
        note_attribute(owner, name, found)
        return rest[0]
    return hooks.attr(owner, name)


def _of_entry(owner: dict[Any, Any], name: str, key: Any, *rest: Any) -> Any:
    """Return what get, pop or setdefault of a dict return of an uncertain entry."""
    found = owner[key]
    if name == "pop":
        owner.pop(key)
    if name == "pop" and not rest:
        return there(found, lambda _: KeyError(key))
    other = rest[0] if rest else None
    out = choose(found.defined, lambda: found.value, lambda: other)
    if name == "setdefault":
        owner[key] = out
    return out


def _of_container(owner: Any, method: Any, args: Any, kwargs: Any) -> Any:
    """Call a method of a list or dict, and note what it changes."""
    here = dispatch.interpreter()
    assert isinstance(here, Tracer)
    name = method.__name__
    if type(owner) is list:
        if name == "append":
            return append(owner, *args)
        if name in ("extend", "insert", "pop", "remove", "clear", "reverse", "sort"):
            here.region.touch(ListLocation(owner))
        if name != "extend":
            here.region.look_at(owner)
    elif name in ("get", "setdefault", "pop") and args:
        if name != "get":
            here.region.touch(EntryLocation(owner, args[0]))
        if type(owner.get(args[0])) is Maybe:
            return _of_entry(owner, name, *args)
    elif name == "update":
        for key in dict(*args, **kwargs):
            here.region.touch(EntryLocation(owner, key))
    elif name in ("clear", "popitem"):
        for key in owner:
            here.region.touch(EntryLocation(owner, key))
    elif name in ("items", "keys", "values", "copy"):
        whole(owner)
    note_outer(owner)
    return method(*args, **kwargs)


def _run(hooks: Any, function: Any, args: Any, kwargs: Any, root: bool = False) -> Any:
    """Call a function of the user's in the trace."""
    trace = tracer().trace
    code = function.__code__
    depth = trace.depths.get(code, 0)
    if depth:
        _check_recursion(args)
    trace.depths[code] = depth + 1
    _touch_free(function)
    try:
        return converted(function, hooks, root)(*args, **kwargs)
    except RecursionError as error:
        place = None if depth else _recursion(error)
        if place is None:
            raise
        name, at = place
        raise TracingError(
            f"{name} calls itself, or others that call it, without an end that is "
            "known while tracing",
            "Let a Python int end the recursion, or write a loop",
            at,
        ) from None
    finally:
        trace.depths[code] = depth


def _recursion(error: RecursionError) -> tuple[str, Origin] | None:
    """Return the user's function that goes on calling itself, and where it does."""
    steps = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(foreign()):
            steps.append((code, trace.tb_lineno))
        trace = trace.tb_next
    counts = collections.Counter([code for code, _ in steps])
    most = max(counts.values(), default=0)
    if most < _DEEP:
        return None  # it is not the user's code that is so deep
    first = next(code for code, _ in steps if counts[code] >= most - 1)
    again = [i for i, (code, _) in enumerate(steps) if code is first][1]
    caller, line = steps[again - 1]
    return first.co_name, Origin(caller.co_filename, line, caller.co_name)


def _touch_free(function: Any) -> None:
    """Note the free variables that a function may assign to."""
    here = dispatch.interpreter()
    if function.__closure__ is None or not isinstance(here, Tracer):
        return
    code = function.__code__
    names = _assigned(code)
    for name, cell in zip(code.co_freevars, function.__closure__, strict=True):
        if name in names:
            here.region.touch(FreeLocation(cell, name))


@functools.lru_cache(maxsize=4096)
def _assigned(code: types.CodeType) -> frozenset[str]:
    """Return the free variables that code, or code in it, assigns to."""
    found = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _assigned(constant)
    return frozenset(found & set(code.co_freevars))


def _check_recursion(args: Any) -> None:
    """See that recursion ends: numbers that may decide on its end become constants."""
    for value in args:
        if isinstance(value, TracedNumber) and value.sources:
            value.pin("how deep the recursion goes")
