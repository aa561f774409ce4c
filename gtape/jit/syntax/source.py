"""From a function to its syntax tree, and from a converted tree to a function.

A `def` is parsed on its own, a lambda with its whole file, which tells its place.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import linecache
import threading
import tokenize
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gtape.errors import ConversionError, Origin
from gtape.jit.syntax.mangling import mangle
from gtape.jit.syntax.nodes import (
    HOOKS,
    SLICE,
    THUNK,
    assign,
    constant,
    function,
    placed,
)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FACTORY = "gt__factory"
_FUNCTION = "gt__function"
_LAMBDA = "gt__lambda"
_OPTIMIZED = 0x1  # CO_OPTIMIZED: set for functions, not for class bodies
_FUTURE = __future__.annotations.compiler_flag
_PARSING = threading.RLock()  # garbage collected meanwhile may run code that parses
_ATTEMPTS = 100


class Place(NamedTuple):
    """A definition in a parsed file and the name of the class around it."""

    node: Definition
    inside: str | None


@dataclass(frozen=True)
class Template:
    """A converted code object, from which functions with any closure are made."""

    code: types.CodeType

    def bind(self, original: types.FunctionType, hooks: object) -> Callable[..., Any]:
        """Return the converted function that shares the cells of the original."""
        cells = dict(
            zip(original.__code__.co_freevars, original.__closure__ or (), strict=True)
        )
        cells[HOOKS] = types.CellType(hooks)
        cells[SLICE] = types.CellType(slice)
        new = types.FunctionType(
            self.code,
            original.__globals__,
            original.__name__,
            original.__defaults__,
            tuple(cells[name] for name in self.code.co_freevars),
        )
        new.__kwdefaults__ = original.__kwdefaults__
        new.__annotations__ = original.__annotations__
        new.__dict__.update(original.__dict__)
        new.__qualname__ = original.__qualname__
        new.__module__ = original.__module__
        new.__doc__ = original.__doc__
        return new


def parse(original: types.FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return a copy of a function's tree, without decorators, defaults, annotations.

    A lambda becomes a function with one return. Private names are mangled.

    Raises:
        ConversionError: The source is not available, or does not fit.
    """
    code = original.__code__
    place = _find(code, original.__globals__)
    node = copy.deepcopy(place.node)
    if isinstance(node, ast.Lambda):
        result = placed(ast.Return(node.body), node.body)
        lambda_ = function(_FUNCTION, [result])
        lambda_.args = node.args
        node = placed(lambda_, node)
    node.name = _FUNCTION
    node.decorator_list = []
    node.returns = None
    # The new function gets the evaluated defaults; their number lies in the tree.
    node.args.defaults = [placed(constant(None), node) for _ in node.args.defaults]
    node.args.kw_defaults = [
        value and placed(constant(None), node) for value in node.args.kw_defaults
    ]
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return mangle(node, place.inside) if place.inside else node


def _find(code: types.CodeType, module: dict[str, Any]) -> Place:
    """Return the definition that a code object was compiled from."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, module)
    at = Origin(code.co_filename, code.co_firstlineno, code.co_name)
    hint = "define it in a file or pass autograph=False"
    if not lines:
        what = f"source of {code.co_qualname} is not available"
        raise ConversionError(what, hint, at)
    alone = _alone(lines, code)
    if alone is not None:
        return alone
    try:
        places = _places("".join(lines)).get(code.co_firstlineno, ())
    except SyntaxError:
        places = ()
    found = [place for place in places if _fits(place.node, code)]
    if len(found) > 1:
        found = [place for place in found if _positions(place.node) == _used(code)]
    if len(found) == 1:
        return found[0]
    if found or len(places) > 1:
        what = f"several functions stand where {code.co_qualname} begins"
        raise ConversionError(what, "put each of them on a line of its own", at)
    what = f"source of {code.co_qualname} is not available: its file has changed"
    raise ConversionError(what, f"import it again, {hint}", at)


def _alone(lines: Sequence[str], code: types.CodeType) -> Place | None:
    """Return a `def` parsed on its own: sooner, and also where not all is Python.

    Returns `None` where it cannot be told what the code was compiled from.
    """
    first = code.co_firstlineno
    if code.co_name == "<lambda>" or not 0 < first <= len(lines):
        return None
    try:
        block = inspect.getblock(lines[first - 1 :])
        # Under an `if`, lines keep their columns and strings their spaces.
        indented = bool(block) and block[0][:1].isspace()
        text = "".join(["if 1:\n", *block] if indented else block)
        tree = parsed(text)
    except (SyntaxError, IndexError, tokenize.TokenError):
        return None
    body = tree.body[0].body if indented else tree.body  # type: ignore[attr-defined]
    if len(body) != 1 or not isinstance(
        body[0], ast.FunctionDef | ast.AsyncFunctionDef
    ):
        return None
    node = body[0]
    start = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    if start != (2 if indented else 1) or not _fits(node, code):
        return None
    ast.increment_lineno(tree, first - start)
    *_, around, _ = ["<locals>", *code.co_qualname.split(".")]
    return Place(node, None if around == "<locals>" else around)


def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a text, one thread at a time.

    CPython 3.11 and 3.12 count the depth of the trees of all threads in one place,
    and raise SystemError when another thread has changed it (gh-106905). The lock
    keeps gtape's threads apart; parsing again is for threads that are not gtape's.

    Args:
        text: The source of a module.

    Raises:
        SyntaxError: The text is not Python.
    """
    with _PARSING:
        for _ in range(_ATTEMPTS - 1):
            try:
                return ast.parse(text)
            except SystemError:
                continue
        return ast.parse(text)


@functools.lru_cache(maxsize=16)
def _places(text: str) -> dict[int, tuple[Place, ...]]:
    """Return the definitions of a file by their first line."""
    found: dict[int, tuple[Place, ...]] = {}
    for place in _definitions(parsed(text), None):
        node = place.node
        line = node.lineno
        if not isinstance(node, ast.Lambda) and node.decorator_list:
            line = node.decorator_list[0].lineno
        found[line] = (*found.get(line, ()), place)
    return found


def _definitions(node: ast.AST, inside: str | None) -> Iterator[Place]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield Place(child, inside)
        yield from _definitions(
            child, child.name if isinstance(child, ast.ClassDef) else inside
        )


def _fits(node: Definition, code: types.CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    given = node.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args)]
    kept = code.co_varnames[: code.co_argcount]
    return name == code.co_name and all(
        one == other or other.endswith(one)  # a private name is longer in the code
        for one, other in zip(names, kept, strict=False)
    )


def _positions(node: Definition) -> set[tuple[int | None, ...]]:
    """Return the positions of a definition's instructions, had it stood alone."""
    alone: ast.Module | ast.Expression
    if isinstance(node, ast.Lambda):
        alone = ast.Expression(node)
        compiled = compile(alone, "<one>", "eval", dont_inherit=True)
    else:
        alone = ast.Module([node], [])
        compiled = compile(alone, "<one>", "exec", dont_inherit=True)
    for inner in compiled.co_consts:
        if isinstance(inner, types.CodeType) and inner.co_name != "<genexpr>":
            return _used(inner)
    return set()


def _used(code: types.CodeType) -> set[tuple[int | None, ...]]:
    # Instructions that set a frame up stand in column 0 or have no column.
    return {place for place in code.co_positions() if place[3]}


def build(node: ast.stmt, original: types.CodeType) -> Template:
    """Compile a converted tree."""
    outside = (*original.co_freevars, HOOKS, SLICE)
    # A function around it, so that the compiler takes these names for closure cells.
    factory = function(
        _FACTORY, [*(assign(name, constant(None)) for name in outside), node]
    )
    module = ast.Module([placed(factory, node)], [])
    flags = original.co_flags & _FUTURE
    compiled = compile(
        module, original.co_filename, "exec", flags=flags, dont_inherit=True
    )
    code = _inner(_inner(compiled, _FACTORY), _FUNCTION)
    return Template(_renamed(code, original.co_name, original.co_qualname))


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType) and inner.co_name == name:
            return inner
    raise AssertionError(name)


def _renamed(code: types.CodeType, name: str, path: str) -> types.CodeType:
    """Return code in which generated functions bear their user function's name."""
    prefix = f"{path}.<locals>." if code.co_flags & _OPTIMIZED else f"{path}."
    constants: list[object] = []
    for inner in code.co_consts:
        if not isinstance(inner, types.CodeType):
            # A class body holds its own path as a constant.
            constants.append(path if inner == code.co_qualname else inner)
        elif inner.co_name.startswith(_LAMBDA):
            constants.append(_renamed(inner, "<lambda>", f"{prefix}<lambda>"))
        elif inner.co_name.startswith(HOOKS) or THUNK in inner.co_varnames[:1]:
            constants.append(_renamed(inner, name, path))
        else:
            own = inner.co_name
            constants.append(_renamed(inner, own, prefix + own))
    return code.replace(co_name=name, co_qualname=path, co_consts=tuple(constants))
