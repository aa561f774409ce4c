"""Python functions to Python functions in which control flow calls hooks.

The first picture of the compiler: user function -> converted function.
"""

from __future__ import annotations

import ast
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from gtape.errors import ConversionError
from gtape.jit.syntax import fence, source
from gtape.jit.syntax.definite import find_undefined
from gtape.jit.syntax.desugar import Desugar
from gtape.jit.syntax.jumps import Lower
from gtape.jit.syntax.liveness import find_states
from gtape.jit.syntax.nodes import Numbers
from gtape.jit.syntax.scopes import scopes
from gtape.jit.syntax.source import Template
from gtape.jit.syntax.statements import Statements

__all__ = ["convert", "converted_source"]


def convert(function: Callable[..., Any], hooks: object) -> Callable[..., Any]:
    """Return a function that does what another does, through hooks.

    Args:
        function: A plain Python function or lambda whose source is available.
        hooks: The object whose methods the converted code calls for control flow,
            calls, attributes and items.

    Raises:
        ConversionError: Its source is not available or cannot be converted.
    """
    if not isinstance(function, types.FunctionType):
        what = f"only Python functions can be converted, not {function!r}"
        raise ConversionError(
            what, "pass a function, a method's `__func__` or a lambda"
        )
    return _templates.get(function).bind(function, hooks)


def converted_source(function: types.FunctionType) -> str:
    """Return the text of the converted function, for people."""
    return ast.unparse(_tree(function))


def _tree(function: types.FunctionType) -> ast.FunctionDef:
    """Return the converted syntax tree of a function."""
    code = function.__code__
    parsed = source.parse(function)
    node = fence.check(parsed, code.co_filename, code.co_name)
    numbers = Numbers()
    desugar = Desugar(numbers)
    node = Lower(numbers).visit_FunctionDef(desugar.visit_FunctionDef(node))
    known = scopes(node, desugar.bound)
    for scope in known.values():
        if not scope.is_comprehension:
            find_states(scope)
    find_undefined(node, known)
    in_class = "__class__" in code.co_freevars
    Statements(known, node, numbers, in_class).body(node)
    return ast.fix_missing_locations(node)


class _Templates:
    """The converted code of each code object, for as long as that lives."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # By identity: code objects of different files may compare equal.
        self._known: dict[int, tuple[weakref.ref[types.CodeType], Template]] = {}

    def get(self, function: types.FunctionType) -> Template:
        code = function.__code__
        key = id(code)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known[0]() is code:
                return known[1]
        # Outside of the lock: two threads may do the same work, and agree.
        template = source.build(_tree(function), code)
        with self._lock:
            self._known[key] = (weakref.ref(code, self._forget(key)), template)
        return template

    def _forget(self, key: int) -> Callable[[weakref.ref[types.CodeType]], None]:
        def forget(gone: weakref.ref[types.CodeType]) -> None:
            with self._lock:
                known = self._known.get(key)
                if known is not None and known[0] is gone:
                    del self._known[key]

        return forget


_templates = _Templates()
