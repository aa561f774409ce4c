"""Backwards through a function: which names are read after a block, so its state."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from gtape.jit.syntax.nodes import (
    RESERVED,
    Comprehension,
    Inline,
    TestedFor,
    defaults,
)
from gtape.jit.syntax.scopes import Names, Scope


def find_states(scope: Scope) -> None:
    """Set `scope.states`: for each block, the names bound in it that are live.

    A name is live if it may be read later, before it is bound again. What functions
    inside read, and what belongs to outer scopes, counts as always live.
    """
    body = scope.node.body if isinstance(scope.node, ast.FunctionDef) else []
    liveness = _Liveness(scope)
    liveness.block(body, set())
    # Inside expressions everything counts as live: they hold few blocks, if any.
    for inline in _inlines(scope.node):
        liveness.block(inline.body, Names(inline.body).bound)


def _inlines(node: ast.AST) -> Iterable[Inline]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Inline):
            yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _inlines(child)
        elif isinstance(child, ast.FunctionDef | ast.Lambda):
            outer = [*defaults(child.args), *getattr(child, "decorator_list", ())]
            yield from _inlines(ast.Module(outer, []))


class _Liveness:
    """Sets of names that are live before statements, given those live after them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._rebindable = scope.rebindable()
        # Live where an exception may lead to, around the present statement.
        self._caught: set[str] = set()

    def block(self, body: Sequence[ast.stmt], after: set[str]) -> set[str]:
        live = after | self._caught
        for statement in reversed(body):
            live = self._statement(statement, live) | self._caught
        return live

    def _state(self, node: ast.stmt, inside: Sequence[ast.AST], live: set[str]) -> None:
        names = Names(inside)
        bound = names.bound | (self._rebindable if names.calls else set())
        scope = self._scope
        if isinstance(node, ast.If):
            changed: set[str] = set()
        else:  # a list that a loop appends to becomes another value behind it
            changed = {name for name in names.changed if scope.owner(name) is scope}
        kept = {
            name
            for name in bound | changed
            if name in live or name in scope.captured or scope.owner(name) is not scope
        }
        scope.states[node] = tuple(sorted(kept))
        if isinstance(node, ast.If):
            # Where both branches run, the second must not see what the first bound.
            scope.dead[node] = tuple(sorted(bound - kept))

    def _statement(self, node: ast.stmt, after: set[str]) -> set[str]:
        match node:
            case ast.If():
                self._state(node, [*node.body, *node.orelse], after)
                ways = self.block(node.body, after) | self.block(node.orelse, after)
                return ways | reads(node.test)
            case ast.While():
                return self._loop(node, after)
            case ast.For():
                return self._loop(node, after) | reads(node.iter)
            case ast.With():
                return self._with(node, after)
            case ast.Try() | ast.TryStar():
                return self._try(node, after)
            case ast.Return() | ast.Raise():
                return reads(node)
            case ast.Assign():
                plain = {one.id for one in _leaves(node.targets)}
                return (after - plain) | reads(node)
            case ast.FunctionDef() | ast.ClassDef():
                return (after - {node.name}) | reads(node)
            case ast.AugAssign(ast.Name(name)):
                return after | {name} | reads(node)
            case ast.Delete():
                return after | Names([node]).deleted | reads(node)
        return after | reads(node)

    def _loop(self, node: ast.While | ast.For, after: set[str]) -> set[str]:
        targets: set[str] = set()
        bound: list[ast.AST] = [*node.body]
        asked: set[str] = set()
        if isinstance(node, ast.While):
            asked = reads(node.test)
            bound.append(node.test)
        else:
            targets = {one.id for one in _leaves([node.target])}
            asked = reads(node.target)
            bound.append(node.target)
        head = after | asked
        while True:
            behind = head | reads(node.test) if isinstance(node, TestedFor) else head
            wider = head | (self.block(node.body, behind) - targets)
            if wider == head:
                break
            head = wider
        self._state(node, bound, behind)
        return head

    def _with(self, node: ast.With, after: set[str]) -> set[str]:
        # The manager may end an exception, and control goes on behind it.
        kept, self._caught = self._caught, self._caught | after
        live = self.block(node.body, after)
        self._caught = kept
        for item in node.items:
            if item.optional_vars is not None:
                live -= {one.id for one in _leaves([item.optional_vars])}
                live |= reads(item.optional_vars)
        return live | after | reads(*(item.context_expr for item in node.items))

    def _try(self, node: ast.Try | ast.TryStar, after: set[str]) -> set[str]:
        end = self.block(node.finalbody, after)
        kept = self._caught
        if node.finalbody:
            self._caught = self._caught | end
        handled: set[str] = set()
        for handler in node.handlers:
            live = self.block(handler.body, end)
            if handler.name:
                live = live - {handler.name}
            handled |= live | (reads(handler.type) if handler.type else set())
        orelse = self.block(node.orelse, end)
        self._caught = self._caught | handled
        live = self.block(node.body, orelse)
        self._caught = kept
        return live


def _leaves(targets: Iterable[ast.expr]) -> Iterable[ast.Name]:
    """Iterate over the plain names among targets."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target
        elif isinstance(target, ast.Tuple | ast.List):
            yield from _leaves(target.elts)
        elif isinstance(target, ast.Starred):
            yield from _leaves([target.value])


def reads(*nodes: ast.AST) -> set[str]:
    """Return the names that nodes read in the scope they stand in.

    What functions inside them read is not among these: it is captured.
    """
    reader = _Reads()
    for node in nodes:
        reader.visit(node)
    return reader.names


class _Reads(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_Inline(self, node: Inline) -> None:
        inner = _Reads()
        inner.generic_visit(node)
        # Its own variables are bound before they are read.
        own = Names(node.body).bound
        self.names |= {
            name
            for name in inner.names
            if name not in own or not name.startswith(RESERVED)
        }

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        for part in (*getattr(node, "decorator_list", ()), *defaults(node.args)):
            self.visit(part)

    visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                self.names.add(inner.id)

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        inner = _Reads()
        for part in ast.iter_child_nodes(node):
            if part is not first:
                inner.visit(part)
        for part in first.ifs:
            inner.visit(part)
        targets = Names(one.target for one in (first, *others)).bound
        self.names |= inner.names - targets
        self.visit(first.iter)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension
