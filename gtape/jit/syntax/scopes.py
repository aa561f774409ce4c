"""Who owns a name: functions, lambdas, comprehensions and their variables.

`Names` tells what some nodes bind; `scopes` gives the tree of scopes of a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Literal

from gtape.jit.syntax.nodes import (
    COMPREHENSIONS,
    Comprehension,
    defaults,
    parameters,
)


class Names(ast.NodeVisitor):
    """The names that nodes bind in the scope they stand in.

    Attributes:
        bound: All of them: assigned, deleted, imported, defined, captured.
        deleted: Those that may become undefined again.
        globals: Those declared global.
        nonlocals: Those declared nonlocal.
        calls: Whether the nodes call anything.
        changed: Those whose methods that change a list are called.
    """

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.bound: set[str] = set()
        self.deleted: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.calls = False
        self.changed: set[str] = set()
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Note an assigned or deleted name."""
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.deleted.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Note a defined function; its body is another scope."""
        self.bound.add(node.name)
        for part in (*node.decorator_list, *defaults(node.args)):
            self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Note a defined class; its body is another scope."""
        self.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Pass the body, which is another scope."""
        for part in defaults(node.args):
            self.visit(part)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Pass the target, which is a variable of the comprehension."""
        for part in (node.iter, *node.ifs):
            self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        """Note that there is a call."""
        self.calls = True
        match node.func:
            case ast.Attribute(ast.Name(name), "append" | "extend"):
                self.changed.add(name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        """Note an imported name."""
        self.bound.add(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Note the name of a caught exception."""
        if node.name:
            self.bound.add(node.name)
            self.deleted.add(node.name)
        self.generic_visit(node)

    def _pattern(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            self.bound.add(name)
        self.generic_visit(node)

    visit_MatchAs = _pattern
    visit_MatchStar = _pattern
    visit_MatchMapping = _pattern

    def visit_Global(self, node: ast.Global) -> None:
        """Note a declaration."""
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Note a declaration."""
        self.nonlocals.update(node.names)


class Scope:
    """A function, lambda or comprehension and its variables.

    Attributes:
        node: The syntax node.
        parent: The scope around it, within the converted function.
        locals: Its own variables, parameters included.
        parameters: Those that the caller binds.
        globals: Names declared global.
        nonlocals: Names declared nonlocal.
        deleted: Variables that may become undefined again.
        captured: Variables that functions inside it read or bind.
        rebound: Variables that functions inside it bind.
        initial: Variables that start as undefined marks.
        merged: Variables of the state of some block: where paths have met, they may
            hold what nobody can use.
        defined_outside: Variables of outer scopes that are surely defined.
        maybe: Its own reads of variables that may be undefined.
        states: The names of the state of each block statement.
        dead: For each `if`, the names that it binds and nobody reads behind it.
    """

    def __init__(
        self,
        node: ast.FunctionDef | ast.Lambda | Comprehension,
        parent: Scope | None,
        dead: frozenset[str] = frozenset(),
    ) -> None:
        self.node = node
        self.parent = parent
        self.parameters: tuple[str, ...] = ()
        if isinstance(node, COMPREHENSIONS):
            targets = Names(generator.target for generator in node.generators)
            names, bound = Names(()), targets.bound
        else:
            body = node.body if isinstance(node.body, list) else [node.body]
            self.parameters = tuple(parameters(node.args))
            names = Names(body)
            bound = names.bound | dead
        self.globals = names.globals
        self.nonlocals = names.nonlocals
        outside = self.globals | self.nonlocals
        self.locals = (bound | set(self.parameters)) - outside
        self.deleted = names.deleted - outside
        self.captured: set[str] = set()
        self.rebound: set[str] = set()
        # Bound by dead code alone, which is gone: local nevertheless.
        self.initial = self.locals - names.bound - set(self.parameters)
        if self.is_comprehension:
            self.initial = set(self.locals)
        self.merged: set[str] = set()
        self.defined_outside: frozenset[str] = frozenset()
        self.maybe: set[ast.Name] = set()
        self.states: dict[ast.stmt, tuple[str, ...]] = {}
        self.dead: dict[ast.stmt, tuple[str, ...]] = {}

    @property
    def is_comprehension(self) -> bool:
        """Whether it is the scope of a comprehension or generator expression."""
        return isinstance(self.node, COMPREHENSIONS)

    @property
    def function(self) -> Scope:
        """The function or lambda whose code this is."""
        scope = self
        while scope.is_comprehension and scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """Return the scope whose variable a name means; None if it lies outside."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.locals:
                return scope
            if name in scope.globals:
                return None
            scope = scope.parent
        return None

    def is_fragile(self, name: str) -> bool:
        """Whether a variable of this scope may hold an undefined mark."""
        return name in self.initial or name in self.deleted

    def rebindable(self) -> set[str]:
        """Return the variables in sight that a call may bind."""
        found: set[str] = set()
        scope: Scope | None = self
        while scope is not None:
            found |= {name for name in scope.rebound if self.owner(name) is scope}
            scope = scope.parent
        return found

    def read(self, node: ast.Name) -> Literal["load", "load_free"] | None:
        """Return the hook that a read of a name needs, if any."""
        owner = self.owner(node.id)
        if owner is None:
            return None
        if node.id in owner.merged:
            return "load" if owner is self else "load_free"
        if not owner.is_fragile(node.id):
            return None
        if owner is self:
            return "load" if node in self.maybe else None
        return None if node.id in self.defined_outside else "load_free"


Scopes = dict[ast.AST, Scope]


def scopes(function: ast.FunctionDef, dead: Mapping[ast.AST, frozenset[str]]) -> Scopes:
    """Return the scope of a function and of all that stand inside it, by node.

    Args:
        function: The function.
        dead: Names that functions bind in code which has been removed.
    """
    builder = _Builder(dead)
    builder.enter(function, [*function.body])
    return builder.scopes


class _Builder(ast.NodeVisitor):
    def __init__(self, dead: Mapping[ast.AST, frozenset[str]]) -> None:
        self.scopes: Scopes = {}
        self._dead = dead
        self._scope: Scope | None = None

    def enter(
        self,
        node: ast.FunctionDef | ast.Lambda | Comprehension,
        inside: Iterable[ast.AST],
    ) -> None:
        """Make the scope of a node and visit what stands inside it."""
        outer = self._scope
        self._scope = Scope(node, outer, self._dead.get(node, frozenset()))
        self.scopes[node] = self._scope
        for name in self._scope.nonlocals:
            owner = outer.owner(name) if outer else None
            if owner is not None:
                owner.captured.add(name)
                owner.rebound.add(name)
        for part in inside:
            self.visit(part)
        self._scope = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *defaults(node.args)):
            self.visit(part)
        self.enter(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in defaults(node.args):
            self.visit(part)
        self.enter(node, [node.body])

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        results = (
            [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        )
        self.enter(node, [first.target, *first.ifs, *others, *results])

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        # Whatever its methods mention may be read or bound whenever they are called.
        for inner in ast.walk(ast.Module(node.body, [])):
            if isinstance(inner, ast.Name):
                self._captured(inner.id)
            elif isinstance(inner, ast.Nonlocal):
                for name in inner.names:
                    self._captured(name, rebound=True)

    def _captured(self, name: str, rebound: bool = False) -> None:
        owner = self._scope.owner(name) if self._scope else None
        if owner is not None:
            owner.captured.add(name)
            if rebound:
                owner.rebound.add(name)

    def visit_Name(self, node: ast.Name) -> None:
        scope = self._scope
        if scope is None:
            return
        owner = scope.owner(node.id)
        # A list comprehension is over before anything else happens; what it reads is
        # not captured.
        while scope is not owner and isinstance(
            scope.node, ast.ListComp | ast.SetComp | ast.DictComp
        ):
            if scope.parent is None:
                break
            scope = scope.parent
        if owner is not None and owner is not scope:
            owner.captured.add(node.id)
