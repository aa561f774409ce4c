"""Forwards through a function: which reads may meet a name that is not yet bound."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from gtape.jit.syntax.nodes import Comprehension, Inline, TestedFor, defaults
from gtape.jit.syntax.scopes import Names, Scope, Scopes


def find_undefined(function: ast.FunctionDef, scopes: Scopes) -> None:
    """Set `maybe`, `initial` and `defined_outside` of a function's scopes.

    Initial are the variables that generated functions bind, so that they are cells
    with a value, and those that they read before they are surely bound.
    """
    _Definite(scopes, scopes[function], frozenset()).run()
    for scope in scopes.values():
        for names in (*scope.states.values(), *scope.dead.values()):
            for name in names:
                owner = scope.owner(name)
                if owner is not None and name not in owner.parameters:
                    owner.initial.add(name)
        for names in scope.states.values():
            for name in names:
                owner = scope.owner(name)
                if owner is not None:
                    owner.merged.add(name)


class _Definite(ast.NodeVisitor):
    """The names that are surely bound at the present point of one scope."""

    def __init__(self, scopes: Scopes, scope: Scope, outside: frozenset[str]) -> None:
        self._scopes = scopes
        self._scope = scope
        self._defined = set(scope.parameters)
        # Whether the present code will stand in a generated function.
        self._generated = False
        scope.defined_outside = outside - scope.locals

    def run(self) -> None:
        """Go through the scope, which is a function or lambda."""
        body = self._scope.node.body  # type: ignore[union-attr]
        if isinstance(body, list):
            self._block(body)
        else:
            self._bound_in([body])
            self.visit(body)

    def _define(self, names: Iterable[str]) -> None:
        self._defined |= {name for name in names if self._scope.owner(name)}

    def _bound_in(self, nodes: Sequence[ast.AST]) -> None:
        """Make what generated functions bind initial."""
        function = self._scope.function
        own = Names(nodes).bound & function.locals
        function.initial |= own - set(function.parameters)

    # Statements.

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def _ways(self, *ways: Sequence[ast.stmt]) -> None:
        """Go through blocks of which one runs."""
        start = self._defined
        ends = []
        for way in ways:
            self._defined = set(start)
            self._block(way)
            if not _leaves(way):
                ends.append(self._defined)
        self._defined = set.intersection(*ends) if ends else start

    def visit_If(self, node: ast.If) -> None:
        self._statement_expressions(node.test)
        kept, self._generated = self._generated, True
        self._bound_in([*node.body, *node.orelse])
        self._ways(node.body, node.orelse)
        self._generated = kept

    def visit_While(self, node: ast.While) -> None:
        kept, self._generated = self._generated, True
        self._bound_in([node.test, *node.body])
        self._defined -= Names(node.body).deleted
        self.visit(node.test)
        self._ways(node.body, [])
        self._generated = kept

    def visit_For(self, node: ast.For) -> None:
        self._statement_expressions(node.iter)
        kept, self._generated = self._generated, True
        self._bound_in([node.target, *node.body])
        self._defined -= Names(node.body).deleted
        start = set(self._defined)
        self.visit(node.target)
        self._block(node.body)
        if isinstance(node, TestedFor):
            self.visit(node.test)
        self._defined = start
        self._generated = kept

    visit_TestedFor = visit_For

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self._statement_expressions(item.context_expr)
            start = set(self._defined)
            if item.optional_vars is not None:
                self.visit(item.optional_vars)
        self._block(node.body)
        # The manager may end an exception from anywhere in the body.
        self._defined = start - Names(node.body).deleted

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        start = self._defined
        caught = start - Names(node.body).deleted
        self._defined = set(start)
        self._block(node.body)
        self._block(node.orelse)
        ends = [] if _leaves([*node.body, *node.orelse]) else [self._defined]
        for handler in node.handlers:
            self._defined = set(caught)
            if handler.type is not None:
                self.visit(handler.type)
            if handler.name:
                self._define([handler.name])
            self._block(handler.body)
            if handler.name:
                self._defined.discard(handler.name)
            if not _leaves(handler.body):
                ends.append(self._defined)
        after = set.intersection(*ends) if ends else caught
        self._defined = caught - Names([*node.handlers, *node.orelse]).deleted
        before = set(self._defined)
        self._block(node.finalbody)
        gone = Names(node.finalbody).deleted
        self._defined = (after | (self._defined - before)) - gone

    visit_Try = _try
    visit_TryStar = _try

    def visit_Match(self, node: ast.Match) -> None:
        # Only the choice of a case: what the patterns bind may stay unbound.
        self._statement_expressions(node.subject)
        start = set(self._defined)
        for case in node.cases:
            self._define(Names([case.pattern]).bound)
            self._thunk(case)
            self._defined = set(start)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._statement_expressions(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(ast.Name(node.target.id, ast.Load()), node.target)
            self._statement_expressions(node.value)
            self._define([node.target.id])
        else:
            self.visit(node.target)
            self._bound_in([node.value])
            self._thunk(node.value)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.visit(target)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._define(Names([node]).bound)

    visit_Import = _import
    visit_ImportFrom = _import

    def _statement_expressions(self, *nodes: ast.expr) -> None:
        for node in nodes:
            self.visit(node)

    # Functions inside.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *defaults(node.args)):
            self.visit(part)
        self._inside(node)
        self._define([node.name])

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in defaults(node.args):
            self.visit(part)
        self._inside(node)

    def _inside(self, node: ast.FunctionDef | ast.Lambda) -> None:
        _Definite(self._scopes, self._scopes[node], self._lasting()).run()

    def _lasting(self) -> frozenset[str]:
        """Return the names that will be bound whenever code inside runs."""
        outside = self._scope.defined_outside
        return outside | (self._defined - self._scope.deleted)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._define([node.name])

    def _comprehension(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        self._bound_in([node])
        inner = _Definite(self._scopes, self._scopes[node], self._lasting())
        inner.inside(node)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def inside(self, node: Comprehension) -> None:
        """Go through a comprehension, in the order of evaluation."""
        for i, generator in enumerate(node.generators):
            if i:
                self.visit(generator.iter)
            self.visit(generator.target)
            for test in generator.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)

    # Expressions.

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._define([node.id])
            return
        self._read(node, node)
        if isinstance(node.ctx, ast.Del):
            self._defined.discard(node.id)

    def _read(self, node: ast.Name, mark: ast.Name) -> None:
        scope = self._scope
        if node.id in self._defined or scope.owner(node.id) is not scope:
            return
        scope.maybe.add(mark)
        if self._generated and node.id not in scope.parameters:
            scope.initial.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bound_in([node])
        self._define([node.target.id])

    def _thunk(self, *nodes: ast.AST) -> None:
        """Go through code that may run, in a generated function."""
        start, kept = set(self._defined), self._generated
        self._generated = True
        for node in nodes:
            self.visit(node)
        self._defined, self._generated = start, kept

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for value in node.values:
            self._thunk(value)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._thunk(node.body)
        self._thunk(node.orelse)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        if len(node.ops) == 1:
            self.visit(node.comparators[0])
        else:
            self._thunk(*node.comparators)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)
        if node.msg is not None:
            self._thunk(node.msg)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._thunk(*(part for part in (node.exc, node.cause) if part is not None))

    def visit_Inline(self, node: Inline) -> None:
        kept, self._generated = self._generated, True
        self._bound_in(node.body)
        self._block(node.body)
        self.visit(node.result)
        self._generated = kept


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether control surely does not get to the end of a block."""
    # A traced `raise` is no such way out: the graph goes on behind it.
    return any(isinstance(statement, ast.Return) for statement in body)
