"""Refuses what cannot be converted: names the construct, the line and the way out."""

from __future__ import annotations

import ast

from gtape.errors import ConversionError, Origin
from gtape.jit.syntax.nodes import RESERVED

_OUT = "or decorate it with do_not_convert"


def check(
    function: ast.FunctionDef | ast.AsyncFunctionDef, file: str, name: str
) -> ast.FunctionDef:
    """Return a function if all of it can be converted.

    Args:
        function: The parsed function.
        file: The user's file, for the message.
        name: The user's name of the function, for the message.

    Raises:
        ConversionError: Some construct cannot be converted.
    """
    fence = _Fence(file, name)
    if isinstance(function, ast.AsyncFunctionDef):
        raise fence.error(
            function,
            f"{name} is an async function",
            "make it a plain function: a graph waits for nothing",
        )
    fence.inside(function)
    return function


class _Fence(ast.NodeVisitor):
    def __init__(self, file: str, name: str) -> None:
        self._file = file
        self._name = name
        self._outside: set[str] = set()
        self._in_finally = False
        self._in_loop = False

    def error(self, node: ast.AST, what: str, hint: str) -> ConversionError:
        line = getattr(node, "lineno", 0)
        return ConversionError(what, hint, Origin(self._file, line, self._name))

    def inside(self, node: ast.FunctionDef) -> None:
        """Check the body of a function, whose jumps and declarations are its own."""
        kept = self._outside, self._in_finally, self._in_loop
        self._outside, self._in_finally, self._in_loop = set(), False, False
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)
        self._outside, self._in_finally, self._in_loop = kept

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._reserved(node, node.name)
        self.inside(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        # Its body is left as it is.
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        hint = f"make it a plain function {_OUT}"
        raise self.error(node, f"`async def {node.name}` cannot be converted", hint)

    def _async(self, node: ast.AST, text: str = "") -> None:
        words = {"AsyncFor": "async for", "AsyncWith": "async with", "Await": "await"}
        text = text or words[type(node).__name__]
        hint = "await outside of the function and pass the value to it"
        raise self.error(node, f"`{text}` cannot be converted", hint)

    visit_Await = _async
    visit_AsyncFor = _async
    visit_AsyncWith = _async

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._async(node.target, "async for")
        self.generic_visit(node)

    def _generator(self, node: ast.AST) -> None:
        word = "yield" if isinstance(node, ast.Yield) else "yield from"
        hint = f"return a list or a tensor, {_OUT}"
        raise self.error(node, f"`{word}` makes a generator, no result", hint)

    visit_Yield = _generator
    visit_YieldFrom = _generator

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._outside.update(node.names)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self._outside:
                raise self.error(
                    node,
                    f"`del {target.id}` deletes a variable of an outer function",
                    "assign None to it",
                )
        self.generic_visit(node)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        for part in (*node.body, *node.handlers, *node.orelse):
            self.visit(part)
        kept = self._in_finally, self._in_loop
        self._in_finally, self._in_loop = True, False
        for part in node.finalbody:
            self.visit(part)
        self._in_finally, self._in_loop = kept

    visit_Try = _try
    visit_TryStar = _try

    def _loop(self, node: ast.For | ast.While) -> None:
        kept = self._in_loop
        self._in_loop = True
        self.generic_visit(node)
        self._in_loop = kept

    visit_For = _loop
    visit_While = _loop

    def _jump(self, node: ast.AST) -> None:
        # A jump out of `finally` would swallow the exception under way.
        word = type(node).__name__.lower()
        if self._in_finally and (word == "return" or not self._in_loop):
            hint = f"put the `{word}` behind the try statement"
            raise self.error(node, f"`{word}` inside `finally`", hint)
        self.generic_visit(node)

    visit_Return = _jump
    visit_Break = _jump
    visit_Continue = _jump

    def _reserved(self, node: ast.AST, name: str) -> None:
        if name.startswith(RESERVED):
            hint = "choose another name"
            raise self.error(node, f"names with {RESERVED} are reserved: {name}", hint)

    def visit_Name(self, node: ast.Name) -> None:
        self._reserved(node, node.id)

    def visit_arg(self, node: ast.arg) -> None:
        self._reserved(node, node.arg)
