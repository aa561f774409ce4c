"""`if`, `while`, `for` and the other statements as calls of hooks.

The blocks become functions, and so do the two that take and give their state.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from gtape.jit.syntax.comprehensions import Comprehensions
from gtape.jit.syntax.nodes import (
    TestedFor,
    assign,
    constant,
    function,
    hook,
    hook_itself,
    load,
    placed,
    split_docstring,
    statements,
    store,
    tuple_of,
    undefine,
)
from gtape.jit.syntax.scopes import Names

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.MatMult: "@=",
    ast.Div: "/=",
    ast.FloorDiv: "//=",
    ast.Mod: "%=",
    ast.Pow: "**=",
    ast.LShift: "<<=",
    ast.RShift: ">>=",
    ast.BitAnd: "&=",
    ast.BitOr: "|=",
    ast.BitXor: "^=",
}


class Statements(Comprehensions):
    """Converts a function whose jumps are gone and whose scopes are analysed."""

    def body(self, node: ast.FunctionDef) -> None:
        """Convert the body of a function in place; its scope is the present one."""
        text, rest = split_docstring(node.body)
        start = statements(self.undefined(), node)
        declared = [one for one in rest if isinstance(one, ast.Global | ast.Nonlocal)]
        others = [one for one in rest if one not in declared]
        node.body = [*text, *declared, *start, *self.block(others)] or [ast.Pass()]

    # Blocks and their state.

    def _function(
        self,
        word: str,
        bound: Sequence[ast.AST],
        body: Sequence[ast.stmt],
        item: str = "",
    ) -> tuple[ast.expr, ast.stmt]:
        """Return the name and the definition of a generated function."""
        name = self.numbers.name(word)
        # Generated names that only one function binds are its own variables.
        names = {one for one in Names(bound).bound if self._is_variable(one)}
        full = [*self.declared(names), *body]
        return load(name), function(name, full, [item] if item else [])

    def _is_variable(self, name: str) -> bool:
        scope = self.scope.function
        return scope.owner(name) is not None or name in scope.globals | scope.nonlocals

    def _state(self, node: ast.stmt) -> tuple[list[ast.expr], list[ast.stmt]]:
        """Return the last arguments of a block's hook and the functions for them."""
        live = self.scope.function.states[node]
        names = (*live, *self.scope.function.dead.get(node, ()))
        outside = [name for name in names if self.scope.owner(name) is None]
        get_name, set_name = self.numbers.name("get"), self.numbers.name("set")
        stand_in = {name: self.numbers.name("outer") for name in outside}
        get_body: list[ast.stmt] = []
        set_body: list[ast.stmt] = []
        for name, other in stand_in.items():
            # It may be unbound, and no mark may be left in it.
            mark = hook("undefined", constant(name))
            none = ast.ExceptHandler(load("NameError"), None, [assign(other, mark)])
            read: ast.stmt = assign(other, load(name))
            get_body.append(ast.Try([read], [none], [], []))
            test = ast.Compare(_type_of(load(other)), [ast.Is()], [_type_of(mark)])
            passed = ast.ExceptHandler(load("NameError"), None, [ast.Pass()])
            delete: ast.stmt = ast.Delete([ast.Name(name, ast.Del())])
            unbind = ast.Try([delete], [passed], [], [])
            set_body.append(ast.If(test, [unbind], [assign(name, load(other))]))
        values = [load(stand_in.get(name, name)) for name in names]
        get_body = [*self.declared(outside), *get_body, ast.Return(tuple_of(values))]
        targets = [store(stand_in.get(name, name)) for name in names]
        if names:
            take = ast.Assign([ast.Tuple([*targets], ast.Store())], load("gt__state"))
            set_body = [*self.declared(names), take, *set_body]
        arguments = [
            load(get_name),
            load(set_name),
            tuple_of(constant(name) for name in live),
        ]
        return arguments, [
            function(get_name, get_body),
            function(set_name, set_body, ["gt__state"]),
        ]

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """Convert an `if`."""
        test = self.visit(node.test)
        state, functions = self._state(node)
        then, define_then = self._function("then", node.body, self.block(node.body))
        orelse, define_orelse = self._function(
            "else", node.orelse, self.block(node.orelse)
        )
        call = hook("if_stmt", test, then, orelse, *state)
        return [define_then, define_orelse, *functions, ast.Expr(call)]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """Convert a `while`."""
        before, result = self.hoisted(node.test)
        done = placed(ast.Return(result), node.test)
        test, define_test = self._function("test", [node.test], [*before, done])
        state, functions = self._state(node)
        body, define_body = self._function("body", node.body, self.block(node.body))
        call = hook("while_stmt", test, body, *state)
        return [define_test, define_body, *functions, ast.Expr(call)]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """Convert a `for`."""
        iterable = self.visit(node.iter)
        item = self.numbers.name("item")
        kept, self.before = self.before, []
        binding = self.bind(node.target, load(item))
        binding, self.before = [*self.before, *binding], kept
        target, define_target = self._function("assign", [node.target], binding, item)
        body, define_body = self._function("body", node.body, self.block(node.body))
        functions = [define_target, define_body]
        test: ast.expr = constant(None)
        if isinstance(node, TestedFor):
            before, result = self.hoisted(node.test)
            done = ast.Return(result)
            test, define_test = self._function("test", [node.test], [*before, done])
            functions.append(define_test)
        state, state_functions = self._state(node)
        call = hook("for_stmt", iterable, target, body, test, *state)
        return [*functions, *state_functions, ast.Expr(call)]

    visit_TestedFor = visit_For

    # Statements that stay in place.

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Convert a function in place."""
        node.decorator_list = self.all(node.decorator_list)
        before, _ = self._defaults(node.args)
        self.before += before
        kept, self.scope = self.scope, self.scopes[node]
        self.body(node)
        self.scope = kept
        # The innermost decorator is applied first.
        node.decorator_list.append(placed(hook_itself("nested_function"), node))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Convert what Python evaluates around a class; leave its body alone."""
        node.decorator_list = self.all(node.decorator_list)
        node.bases = self.all(node.bases)
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        reader = _ClassBody(self, node)
        node.body = [reader.visit(statement) for statement in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """Convert an assignment."""
        value = self.visit(node.value)
        simple = len(node.targets) == 1 and _needs_no_value(node.targets[0])
        if simple:
            return self.bind(node.targets[0], value)
        done, name = self.held(value)
        for target in node.targets:
            done += self.bind(target, placed(load(name), node.value))
        return done

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        """Convert an augmented assignment."""
        sign = constant(_OPERATORS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old = placed(self.read(target.id, target), target)
            value = self.visit(node.value)
            return [ast.Assign([target], hook("augmented", sign, old, value))]
        place = self.visit(target.value)
        if isinstance(target, ast.Attribute):
            name = constant(target.attr)
            call = hook("aug_attr", place, name, sign, self.thunk(node.value))
        else:
            key = self.key(target.slice)
            call = hook("aug_item", place, key, sign, self.thunk(node.value))
        return [ast.Expr(call)]

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        """Convert a `del`."""
        return [one for target in node.targets for one in self.delete(target)]

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        """Convert an `assert`."""
        if not __debug__:
            return [ast.Pass()]
        message = constant(None) if node.msg is None else self.thunk(node.msg)
        return [ast.Expr(hook("assert_", self.visit(node.test), message))]

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        """Convert a `raise`."""
        if node.exc is None:
            return [node]
        cause = constant(None) if node.cause is None else self.thunk(node.cause)
        return [ast.Expr(hook("raise_", self.thunk(node.exc), cause))]

    def visit_With(self, node: ast.With) -> ast.With:
        """Convert a `with` in place."""
        item = node.items[0]
        manager = hook("context", self.visit(item.context_expr))
        target = item.optional_vars
        before: list[ast.stmt] = []
        if target is not None and not isinstance(target, ast.Name):
            name = self.numbers.name("entered")
            kept, self.before = self.before, []
            before = self.bind(target, placed(load(name), target))
            before, self.before = [*self.before, *before], kept
            target = placed(store(name), target)
        new = ast.With([ast.withitem(manager, target)], [])
        new.body = [*before, *self.block(node.body)]
        return placed(new, node)

    def _try(self, node: ast.Try | ast.TryStar) -> ast.stmt:
        body = self.block(node.body)
        if node.handlers:
            guarded = ast.With([ast.withitem(hook("trying"), None)], body)
            body = [placed(guarded, node)]
        node.body = body
        for handler in node.handlers:
            self._handler(handler)
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        return node

    visit_Try = _try
    visit_TryStar = _try

    def _handler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            node.type = self.visit(node.type)
        node.body = self.block(node.body)
        if node.name:
            # Python unbinds the name at the end; here it gets its mark.
            caught = self.numbers.name("caught")
            start = assign(node.name, load(caught))
            whole = ast.Try(node.body, [], [], [undefine(node.name)])
            node.name = caught
            node.body = statements([start, whole], node)

    def visit_Match(self, node: ast.Match) -> ast.Match:
        """Convert a `match` that chooses a number."""
        node.subject = self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                case.guard = self.visit(case.guard)
            case.body = self.block(case.body)
        return node


def _type_of(value: ast.expr) -> ast.expr:
    """Return `value.__class__`."""
    return ast.Attribute(value, "__class__", ast.Load())


def _needs_no_value(target: ast.expr) -> bool:
    """Whether nothing of a target is evaluated, so that its value may come first."""
    if isinstance(target, ast.Tuple | ast.List):
        # Taken apart before any of its parts is bound.
        return True
    return isinstance(target, ast.Name)


class _ClassBody(ast.NodeTransformer):
    """Checks the reads of variables that may be undefined; leaves the rest alone."""

    def __init__(self, outside: Statements, node: ast.ClassDef) -> None:
        self._outside = outside
        inner = (part for part in ast.walk(node) if part is not node)
        self._own = {
            getattr(part, "arg", getattr(part, "name", None)) for part in inner
        } | {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
        }

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self._own or not isinstance(node.ctx, ast.Load):
            return node
        scope = self._outside.scope
        owner = scope.owner(node.id)
        if owner is None or not owner.is_fragile(node.id):
            return node
        return placed(hook("load_free", load(node.id)), node)
