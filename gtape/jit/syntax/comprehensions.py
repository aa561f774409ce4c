"""Comprehensions and generator expressions as calls of hooks.

Each becomes a function, called where it stands, that holds the variables of its
targets: as in Python, functions made by different trips share them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gtape.jit.syntax.nodes import (
    Comprehension,
    constant,
    function,
    hook,
    load,
    placed,
    tuple_of,
)
from gtape.jit.syntax.scopes import Names
from gtape.jit.syntax.targets import Targets

_KINDS: dict[type[ast.expr], str] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
}


class Comprehensions(Targets):
    """Converts comprehensions as well."""

    def _comprehension(self, node: Comprehension) -> ast.expr:
        first = self.visit(node.generators[0].iter)
        name = self.numbers.name("comprehension")
        iterable = self.numbers.name("iterable")
        kept, self.scope = self.scope, self.scopes[node]
        trip = self._trip(node, node.generators)
        call = hook(
            "comprehension", constant(_KINDS[type(node)]), load(iterable), load(trip[0])
        )
        body = [*self.undefined(), trip[1], ast.Return(call)]
        self.scope = kept
        self.before.append(placed(function(name, body, [iterable]), node))
        return ast.Call(load(name), [first], [])

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def _trip(
        self, node: Comprehension, generators: Sequence[ast.comprehension]
    ) -> tuple[str, ast.FunctionDef]:
        """Return the function of one item of a `for`, and its name."""
        first, *others = generators
        name = self.numbers.name("trip")
        item = self.numbers.name("item")
        kept, self.before = self.before, []
        bound = Names([first.target]).bound
        bind = self.bind(first.target, load(item))
        tests = [self.thunk(test) for test in first.ifs]
        conditions = tuple_of(tests)
        inner: list[ast.stmt] = []
        if others:
            iterable = self.thunk(others[0].iter)
            next_name, next_trip = self._trip(node, others)
            inner = [next_trip]
            result = hook("nested", conditions, iterable, load(next_name))
        else:
            result = hook("element", conditions, self._element(node))
        inner = [*self.before, *inner]
        self.before = kept
        done = placed(ast.Return(result), node)
        body = [ast.Nonlocal(sorted(bound))] if bound else []
        return name, placed(function(name, [*body, *bind, *inner, done], [item]), node)

    def _element(self, node: Comprehension) -> ast.expr:
        if not isinstance(node, ast.DictComp):
            return self.thunk(node.elt)
        pair = placed(tuple_of([node.key, node.value]), node.key)
        return self.thunk(pair)
