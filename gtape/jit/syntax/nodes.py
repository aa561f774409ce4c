"""Small builders of syntax nodes, and the two kinds of node that Python lacks.

Built nodes have no place; whoever puts them into a tree copies one of the user's.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

HOOKS = "gt__"
"""The reserved name under which converted code sees the hooks."""

SLICE = "gt__slice"
"""The reserved name of the builtin `slice`, which a user may have shadowed."""

THUNK = "gt__thunk"
"""The parameter that marks generated lambdas."""

RESERVED = HOOKS

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_Node = TypeVar("_Node", bound=ast.AST)


class Inline(ast.expr):
    """Statements that run where an expression stands; `result` is its value."""

    _fields: ClassVar[tuple[str, ...]] = ("body", "result")
    body: list[ast.stmt]
    result: ast.expr


class TestedFor(ast.For):
    """A `for` that asks `test` after each trip whether it goes on."""

    _fields: ClassVar[tuple[str, ...]] = (*ast.For._fields, "test")
    test: ast.expr


class Returned(ast.Return):
    """A return whose value stands in its variable already."""


class Numbers:
    """Names that no other generated name of the same conversion has."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def name(self, word: str) -> str:
        """Return a new reserved name that holds a word."""
        return f"{RESERVED}{word}_{next(self._count)}"


def load(name: str) -> ast.Name:
    """Return the expression that reads a name."""
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    """Return the target that binds a name."""
    return ast.Name(name, ast.Store())


def constant(value: Any) -> ast.Constant:
    """Return a literal."""
    return ast.Constant(value)


def tuple_of(items: Iterable[ast.expr]) -> ast.Tuple:
    """Return the expression of a tuple."""
    return ast.Tuple(list(items), ast.Load())


def hook(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the call of a hook."""
    return ast.Call(hook_itself(name), list(arguments), [])


def hook_itself(name: str) -> ast.Attribute:
    """Return the expression that reads a hook."""
    return ast.Attribute(load(HOOKS), name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    """Return the statement that binds one name."""
    return ast.Assign([store(name)], value)


def undefine(name: str) -> ast.Assign:
    """Return the statement that makes a name undefined."""
    return assign(name, hook("undefined", constant(name)))


def negated(test: ast.expr) -> ast.UnaryOp:
    """Return `not test`."""
    return ast.UnaryOp(ast.Not(), test)


def all_of(tests: Sequence[ast.expr]) -> ast.expr:
    """Return the conjunction of tests, of which there is at least one."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def no_arguments() -> ast.arguments:
    """Return an empty list of parameters."""
    return ast.arguments([], [], None, [], [], None, [])


def nameless(body: ast.expr) -> ast.Lambda:
    """Return a generated function without a name and parameters."""
    arguments = no_arguments()
    # By this parameter, always empty, `source` tells it from a lambda of the user's.
    arguments.vararg = ast.arg(THUNK)
    return ast.Lambda(arguments, body)


def function(
    name: str, body: Sequence[ast.stmt], parameters: Sequence[str] = ()
) -> ast.FunctionDef:
    """Return the definition of a generated function."""
    arguments = no_arguments()
    arguments.args = [ast.arg(parameter) for parameter in parameters]
    return ast.FunctionDef(name, arguments, list(body) or [ast.Pass()], [])


def inline(body: Sequence[ast.stmt], result: ast.expr) -> Inline:
    """Return the expression that runs statements and then gives a result."""
    new = Inline()
    new.body = list(body)
    new.result = result
    return new


def tested(loop: ast.For, test: ast.expr) -> TestedFor:
    """Return a loop that asks a test after each trip."""
    new = TestedFor(loop.target, loop.iter, loop.body, [])
    new.test = test
    return new


def placed(new: _Node, old: ast.AST) -> _Node:
    """Give a node and all below it that have none the place of another node."""
    place = {
        field: getattr(old, field)
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset")
        if hasattr(old, field)
    }
    _place(new, place)
    return new


def _place(node: ast.AST, place: dict[str, Any]) -> None:
    if "lineno" in node._attributes:
        if hasattr(node, "lineno"):
            # A node of the user's: all below it has its place.
            return
        for field, value in place.items():
            setattr(node, field, value)
        if isinstance(node, ast.Attribute) and place:
            # Python gives a call of a method the line where the name of that ends.
            node.end_lineno = place["lineno"]
            node.end_col_offset = place["col_offset"]
    for child in ast.iter_child_nodes(node):
        _place(child, place)


def statements(nodes: Iterable[_Node], old: ast.AST) -> list[_Node]:
    """Place several nodes like another one."""
    return [placed(node, old) for node in nodes]


def defaults(arguments: ast.arguments) -> Iterator[ast.expr]:
    """Iterate over the default values of parameters, in the order of evaluation."""
    yield from arguments.defaults
    yield from (value for value in arguments.kw_defaults if value is not None)


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of parameters, the first positional one first."""
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found += arguments.kwonlyargs
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return [argument.arg for argument in found]


def split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the docstring of a body, if there is one, and the rest."""
    match body:
        case [ast.Expr(ast.Constant(str())), *_]:
            return body[:1], body[1:]
    return [], body
