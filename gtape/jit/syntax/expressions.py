"""Expressions become calls of hooks; what may not be evaluated becomes a thunk."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from gtape.jit.syntax.nodes import (
    SLICE,
    Inline,
    Numbers,
    constant,
    defaults,
    function,
    hook,
    load,
    nameless,
    placed,
    statements,
    tuple_of,
    undefine,
)
from gtape.jit.syntax.scopes import Names, Scope, Scopes

NATIVE = frozenset({"dir", "eval", "exec", "globals", "locals", "super", "vars"})
"""Builtins that look at the frame of their caller."""

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
"""The operators between two values."""

_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


class Expressions(ast.NodeTransformer):
    """Converts expressions.

    Args:
        scopes: The analysed scopes of the function.
        function: The function.
        numbers: The source of generated names.
        in_class: Whether `__class__` can be read.
    """

    def __init__(
        self,
        scopes: Scopes,
        function: ast.FunctionDef,
        numbers: Numbers,
        in_class: bool,
    ) -> None:
        self.scopes = scopes
        self.scope: Scope = scopes[function]
        self.numbers = numbers
        self.in_class = in_class
        # Generated definitions to stand before the present statement.
        self.before: list[ast.stmt] = []

    def visit(self, node: ast.AST) -> Any:
        """Convert a node; the result has its place."""
        new = super().visit(node)
        if isinstance(new, list):
            return statements(new, _head(node))
        return placed(new, node) if isinstance(new, ast.AST) else new

    def all(self, nodes: Iterable[ast.expr]) -> list[ast.expr]:
        """Convert expressions that are evaluated one after the other."""
        return [self.visit(node) for node in nodes]

    # Names.

    def read(self, name: str, node: ast.Name) -> ast.expr:
        """Return the expression that reads a variable where a node stands."""
        check = self.scope.read(node)
        return hook(check, load(name)) if check else load(name)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Check variables that may be undefined."""
        return self.read(node.id, node) if isinstance(node.ctx, ast.Load) else node

    def declared(self, names: Iterable[str]) -> list[ast.stmt]:
        """Return the declarations of names that a generated function binds."""
        known = self.scope.function.globals
        names = sorted(names)
        outside = [name for name in names if name in known]
        inside = [name for name in names if name not in known]
        done: list[ast.stmt] = [ast.Global(outside)] if outside else []
        return [*done, ast.Nonlocal(inside)] if inside else done

    # Thunks.

    def thunk(self, node: ast.expr) -> ast.expr:
        """Return a function of no arguments that evaluates an expression."""
        bound = Names([node]).bound
        body, new = self.hoisted(node)
        if not body and not bound:
            return placed(nameless(new), node)
        name = self.numbers.name("thunk")
        done = ast.Return(new)
        define = function(name, [*self.declared(bound), *body, done])
        self.before.append(placed(define, node))
        return placed(load(name), node)

    def hoisted(self, node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Convert an expression; return the definitions that it needs before it."""
        kept, self.before = self.before, []
        new: ast.expr = self.visit(node)
        body, self.before = self.before, kept
        return body, new

    # Containers.

    def _display(self, node: ast.List | ast.Dict | ast.Set) -> ast.expr:
        """Note a container that begins to be here."""
        self.generic_visit(node)
        if isinstance(node, ast.List) and not isinstance(node.ctx, ast.Load):
            return node
        return hook("made", node)

    visit_List = _display
    visit_Dict = _display
    visit_Set = _display

    # Operators.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Convert `and`, `or`."""
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return hook(name, *(self.thunk(value) for value in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Convert `not`, and operators on one value."""
        if isinstance(node.op, ast.Not):
            return hook("not_", self.visit(node.operand))
        if isinstance(node.operand, ast.Constant):
            return node
        return hook("unary", constant(_UNARY[type(node.op)]), self.visit(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Convert an operator: classes may say what it does."""
        symbol = constant(BINARY[type(node.op)])
        return hook("binary", symbol, self.visit(node.left), self.visit(node.right))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Convert a conditional expression."""
        test = self.visit(node.test)
        return hook("if_exp", test, self.thunk(node.body), self.thunk(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Convert comparisons."""
        if len(node.ops) > 1:
            left = self.visit(node.left)
            pairs = [
                tuple_of([constant(_OPERATORS[type(op)]), self.thunk(right)])
                for op, right in zip(node.ops, node.comparators, strict=True)
            ]
            return hook("compare", left, *pairs)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            name = "in_" if isinstance(node.ops[0], ast.In) else "not_in"
            return hook(name, self.visit(node.left), self.visit(node.comparators[0]))
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return self.generic_visit(node)  # type: ignore[return-value]
        symbol = constant(_OPERATORS[type(node.ops[0])])
        right = node.comparators[0]
        return hook("binary", symbol, self.visit(node.left), self.visit(right))

    # Calls, attributes, items.

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Convert a call."""
        of_object = isinstance(node.func, ast.Name) and node.func.id == "vars"
        if self._native(node.func) and not (of_object and node.args):
            node.args = self.all(node.args)
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
            return self._super(node)
        call = hook("call", self.visit(node.func), *self.all(node.args))
        call.keywords = [self.visit(keyword) for keyword in node.keywords]
        return call

    def _native(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            # A hook, put there by an earlier step.
            return isinstance(node.value, ast.Name) and node.value.id == "gt__"
        named = isinstance(node, ast.Name) and node.id in NATIVE
        return named and self.scope.owner(node.id) is None  # type: ignore[attr-defined]

    def _super(self, node: ast.Call) -> ast.Call:
        """Spell `super()` out: in a generated function it would find no `self`."""
        function = self.scope.function
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        if is_super and not node.args and self.in_class and function.parameters:
            node.args = [load("__class__"), load(function.parameters[0])]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Convert the read of an attribute."""
        if self._native(node):
            return node
        if isinstance(node.value, ast.Call) and self._native(node.value.func):
            node.value = self.visit(node.value)
            return node
        return hook("attr", self.visit(node.value), constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Convert the read of an item."""
        if isinstance(node.value, ast.Call | ast.List) and not hasattr(node, "lineno"):
            # Of an unpacked value, put there by an earlier step.
            node.value = self.visit(node.value)
            return node
        return hook("item", self.visit(node.value), self.key(node.slice))

    def key(self, node: ast.expr) -> ast.expr:
        """Return the expression of a key, in which slices are objects."""
        if isinstance(node, ast.Tuple):
            items = [self.key(item) for item in node.elts]
            return placed(tuple_of(items), node)
        if isinstance(node, ast.Slice):
            parts = [
                self.visit(part) if part is not None else constant(None)
                for part in (node.lower, node.upper, node.step)
            ]
            return placed(ast.Call(load(SLICE), parts, []), node)
        return self.visit(node)  # type: ignore[no-any-return]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Convert an f-string."""
        return hook("fstring", *(self._part(part) for part in node.values))

    def _part(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.FormattedValue):
            return node
        letter = chr(node.conversion) if node.conversion >= 0 else None
        form: ast.expr = constant(None)
        if isinstance(node.format_spec, ast.JoinedStr):
            parts = node.format_spec.values
            form = self.visit(node.format_spec)
            if all(isinstance(part, ast.Constant) for part in parts):
                texts = [part.value for part in parts]  # type: ignore[attr-defined]
                form = constant("".join(map(str, texts)))
        return tuple_of([self.visit(node.value), constant(letter), form])

    # Functions inside.

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Convert a lambda in place."""
        # Defaults belong to the outside, like the moment of their evaluation.
        bound = Names(defaults(node.args)).bound
        body, _ = self._defaults(node.args)
        kept, self.scope = self.scope, self.scopes[node]
        inner, result = self.hoisted(node.body)
        inner = [*self.undefined(), *inner]
        self.scope = kept
        if not inner and not body:
            node.body = result
            return hook("nested_function", node)
        name = self.numbers.name("lambda")
        make = self.numbers.name("make")
        lambda_ = function(name, [*inner, placed(ast.Return(result), node.body)])
        lambda_.args = node.args
        wrapped = ast.Return(hook("nested_function", load(name)))
        maker = function(make, [*self.declared(bound), *body, lambda_, wrapped])
        self.before.append(placed(maker, node))
        return ast.Call(load(make), [], [])

    def _defaults(self, node: ast.arguments) -> tuple[list[ast.stmt], ast.arguments]:
        kept, self.before = self.before, []
        node.defaults = self.all(node.defaults)
        node.kw_defaults = [value and self.visit(value) for value in node.kw_defaults]
        body, self.before = self.before, kept
        return body, node

    def undefined(self) -> list[ast.stmt]:
        """Return the statements that make the variables of a scope undefined."""
        return [undefine(name) for name in sorted(self.scope.initial)]

    def visit_Inline(self, node: Inline) -> ast.expr:
        """Make a function of statements that stand in an expression, and call it."""
        name = self.numbers.name("inline")
        bound = Names(node.body).bound
        body = self.block(node.body)
        result = self.visit(node.result)
        define = function(name, [*self.declared(bound), *body, ast.Return(result)])
        self.before.append(placed(define, node))
        return ast.Call(load(name), [], [])

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Convert statements, each with the definitions that it needs before it."""
        kept, done = self.before, []
        for statement in body:
            self.before = []
            new = self.visit(statement)
            done += [*self.before, *(new if isinstance(new, list) else [new])]
        self.before = kept
        return done


def _head(node: ast.AST) -> ast.AST:
    """Return the part of a statement that its own work stands for."""
    for field in ("test", "iter"):
        part = getattr(node, field, None)
        if part is not None and isinstance(node, ast.If | ast.While | ast.For):
            return part  # type: ignore[no-any-return]
    return node
