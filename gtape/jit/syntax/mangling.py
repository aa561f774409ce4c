"""Private names of classes: `__x` inside `class A` is `_A__x`.

Converted code is compiled outside of the class, and names in it become strings, so
they are spelled out first.
"""

from __future__ import annotations

import ast
from typing import TypeVar

_Tree = TypeVar("_Tree", bound=ast.AST)


def mangle(tree: _Tree, inside: str) -> _Tree:
    """Spell out the private names of a tree that stands in a class."""
    stripped = inside.lstrip("_")
    # Python leaves the names alone in a class that is called by underscores only.
    return _Mangle(stripped).visit(tree) if stripped else tree


class _Mangle(ast.NodeTransformer):
    def __init__(self, inside: str) -> None:
        self._prefix = f"_{inside}"

    def _new(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return self._prefix + name if private and "." not in name else name

    def generic_visit(self, node: ast.AST) -> ast.AST:
        # The fields that hold names, over all kinds of node.
        for field in ("id", "attr", "arg", "name", "asname", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str) and not isinstance(node, ast.alias):
                setattr(node, field, self._new(value))
        return super().generic_visit(node)

    def visit_alias(self, node: ast.alias) -> ast.alias:
        bound = node.asname or node.name
        if self._new(bound) != bound:
            node.asname = self._new(bound)
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        node.names = [self._new(name) for name in node.names]
        return node

    visit_Nonlocal = visit_Global

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.name = self._new(node.name)
        # The compiler mangles what is inside, by the name of that class.
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        return node
