"""Rewrites some statements and expressions in terms of simpler ones.

`match`, annotated assignments, `with` of several managers, declarations, and operands
that bind names under a condition: what comes after meets none of these.
"""

from __future__ import annotations

import ast
from typing import Any

from gtape.jit.syntax import matching
from gtape.jit.syntax.nodes import (
    Numbers,
    assign,
    constant,
    inline,
    load,
    negated,
    placed,
    split_docstring,
    statements,
)
from gtape.jit.syntax.scopes import Names


class Desugar(ast.NodeTransformer):
    """Rewrites a function and those inside it.

    Attributes:
        bound: The names that each function binds, dead code included.
    """

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self.bound: dict[ast.AST, frozenset[str]] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Note what a function binds, and move its declarations to the front."""
        names = Names(node.body)
        self.generic_visit(node)
        self.bound[node] = frozenset(names.bound)
        # Declarations hold for the whole function, wherever they stand.
        text, rest = split_docstring(node.body)
        declared: list[ast.stmt] = []
        if names.globals:
            declared.append(ast.Global(sorted(names.globals)))
        if names.nonlocals:
            declared.append(ast.Nonlocal(sorted(names.nonlocals)))
        node.body = [*text, *statements(declared, node), *rest]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave classes as they are."""
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt:
        """Drop a declaration, which has moved."""
        return placed(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Drop the annotation of a variable."""
        # Inside functions Python does not evaluate the annotation.
        if node.value is None:
            return placed(ast.Pass(), node)
        return self.visit(placed(ast.Assign([node.target], node.value), node))

    def visit_With(self, node: ast.With) -> ast.stmt:
        """Nest several managers."""
        self.generic_visit(node)
        *outer, last = node.items
        node.items = [last]
        for item in reversed(outer):
            node = placed(ast.With([item], [node]), node)
        return node

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        """Make a chain of `if`s."""
        new: list[ast.stmt] = []
        for statement in matching.lower(node, self._numbers):
            if isinstance(statement, ast.Match):
                # The numbered one stays; its guards may hold what is rewritten here.
                new.append(self.generic_visit(statement))  # type: ignore[arg-type]
                continue
            result = self.visit(statement)
            new += result if isinstance(result, list) else [result]
        return new

    def visit_While(self, node: ast.While) -> Any:
        """Move a test that binds names into the body."""
        if not _binds(node.test):
            return self.generic_visit(node)
        # The names are bound by each test, the last one included, and the body reads
        # them: so the test becomes a part of the body.
        more = self._numbers.name("more")
        ended = placed(assign(more, constant(False)), node.test)
        trip = placed(ast.If(node.test, node.body, [ended]), node.test)
        loop = placed(ast.While(load(more), [trip], node.orelse), node)
        start = placed(assign(more, constant(True)), node.test)
        return [start, self.generic_visit(loop)]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Make `and`, `or` with operands that bind names statements."""
        self.generic_visit(node)
        first, *others = node.values
        if not any(_binds(other) for other in others):
            return node
        value = self._numbers.name("value")
        body: list[ast.stmt] = []
        for operand in reversed(node.values):
            run = placed(assign(value, operand), operand)
            body = [run, *body]
            if operand is not first:
                test: ast.expr = load(value)
                if isinstance(node.op, ast.Or):
                    test = negated(test)
                body = [placed(ast.If(test, body, []), operand)]
        return placed(inline(body, load(value)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Make a conditional expression that binds names a statement."""
        self.generic_visit(node)
        if not _binds(node.body) and not _binds(node.orelse):
            return node
        value = self._numbers.name("value")
        choice = ast.If(
            node.test,
            [placed(assign(value, node.body), node.body)],
            [placed(assign(value, node.orelse), node.orelse)],
        )
        choice = placed(choice, node)
        return placed(inline([choice], load(value)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Make a chained comparison that binds names statements."""
        self.generic_visit(node)
        if not any(_binds(operand) for operand in node.comparators[1:]):
            return node
        value = self._numbers.name("value")
        names = [self._numbers.name("operand") for _ in range(len(node.ops) + 1)]
        operands = [node.left, *node.comparators]
        body: list[ast.stmt] = []
        for i in reversed(range(len(node.ops))):
            one = ast.Compare(load(names[i]), [node.ops[i]], [load(names[i + 1])])
            evaluated = placed(assign(names[i + 1], operands[i + 1]), operands[i + 1])
            body = [evaluated, placed(assign(value, one), node), *body]
            if i:
                body = [placed(ast.If(load(value), body, []), node)]
        start = placed(assign(names[0], node.left), node.left)
        return placed(inline([start, *body], load(value)), node)


def _binds(expression: ast.expr) -> bool:
    """Whether an expression binds a name of the function that it stands in."""
    return bool(Names([expression]).bound)
