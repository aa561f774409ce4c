"""Binding values to targets, and deleting targets."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gtape.jit.syntax.expressions import Expressions
from gtape.jit.syntax.nodes import (
    assign,
    constant,
    hook,
    load,
    placed,
    statements,
    store,
    undefine,
)


class Targets(Expressions):
    """Converts expressions and the targets of assignments."""

    def bind(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that bind a target.

        Args:
            target: A target as the user wrote it.
            value: A converted expression; for attributes and items, which Python
                evaluates after the value, one without effects.
        """
        return statements(self._bind(target, value), target)

    def _bind(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Attribute():
                place = self.visit(target.value)
                set_attr = hook("set_attr", place, constant(target.attr), value)
                return [ast.Expr(set_attr)]
            case ast.Subscript():
                place = self.visit(target.value)
                return [
                    ast.Expr(hook("set_item", place, self.key(target.slice), value))
                ]
            case ast.Tuple() | ast.List():
                return self._unpack(target.elts, value)
            case ast.Starred():
                return self._bind(target.value, value)
        return [ast.Assign([target], value)]

    def _unpack(self, parts: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt]:
        stars = [i for i, part in enumerate(parts) if isinstance(part, ast.Starred)]
        before = stars[0] if stars else len(parts)
        after = len(parts) - before - len(stars)
        form = (constant(before), constant(bool(stars)), constant(after))
        names: list[ast.expr] = []
        behind: list[ast.stmt] = []
        for part in parts:
            inner = part.value if isinstance(part, ast.Starred) else part
            new: ast.expr = inner
            if not isinstance(inner, ast.Name):
                # Python binds from left to right, after the value is taken apart.
                name = self.numbers.name("part")
                new = placed(store(name), inner)
                behind += self.bind(inner, placed(load(name), inner))
            elif behind:
                name = self.numbers.name("part")
                new = placed(store(name), inner)
                behind += self.bind(inner, placed(load(name), inner))
            starred = isinstance(part, ast.Starred)
            names.append(ast.Starred(new, ast.Store()) if starred else new)
        whole = ast.Tuple(names, ast.Store())
        return [ast.Assign([whole], hook("unpack", value, *form)), *behind]

    def held(self, value: ast.expr) -> tuple[list[ast.stmt], str]:
        """Return the statement that keeps a converted value, and the name for it."""
        name = self.numbers.name("held")
        return [placed(assign(name, value), value)], name

    def delete(self, target: ast.expr) -> list[ast.stmt]:
        """Return the statements that delete a target."""
        match target:
            case ast.Name(name):
                if self.scope.owner(name) is None:
                    return [ast.Delete([target])]
                check = self.read(name, target)
                done: list[ast.stmt] = []
                if isinstance(check, ast.Call):
                    done.append(ast.Expr(check))
                return statements([*done, undefine(name)], target)
            case ast.Attribute():
                place = self.visit(target.value)
                del_attr = hook("del_attr", place, constant(target.attr))
                return statements([ast.Expr(del_attr)], target)
            case ast.Subscript():
                place = self.visit(target.value)
                del_item = hook("del_item", place, self.key(target.slice))
                return statements([ast.Expr(del_item)], target)
            case ast.Tuple(parts) | ast.List(parts):
                return [one for part in parts for one in self.delete(part)]
        return [ast.Delete([target])]
