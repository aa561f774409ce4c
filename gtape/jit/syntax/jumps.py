"""`break`, `continue` and early `return` become structure where it can say them.

What follows an `if` that jumps moves to the branch that does not. Only jumps out of a
loop, `with` or `try`, and out of nested branches, set flags.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

from gtape.jit.syntax.nodes import (
    Numbers,
    Returned,
    all_of,
    assign,
    constant,
    hook,
    load,
    negated,
    placed,
    split_docstring,
    statements,
    tested,
)

Jump = ast.Return | ast.Break | ast.Continue
_Kind = type[ast.stmt]
_Part = TypeVar("_Part", ast.stmt, ast.ExceptHandler)

VALUE = "gt__value"
"""The variable of the value that a function with early returns gives."""

_SMALL = 80
"""Up to so many nodes, statements are copied rather than guarded by a flag."""

_SIMPLE = (
    ast.Assign,
    ast.AugAssign,
    ast.Expr,
    ast.Pass,
    ast.Raise,
    ast.Return,
    ast.Break,
    ast.Continue,
)


class Lower(ast.NodeTransformer):
    """Lowers the jumps of a function and of those inside it."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave classes as they are."""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Lower the jumps of a function, those inside it first."""
        self.generic_visit(node)
        *others, last = node.body
        early = ast.Return in _kinds(others) or (
            not isinstance(last, ast.Return) and ast.Return in _kinds([last])
        )
        if not early:
            node.body = self.block(node.body, _Frame("native", self._numbers))
            return node
        text, body = split_docstring(node.body)
        if not always_jumps(body):
            body = [*body, placed(ast.Return(constant(None)), body[-1])]
        frame = _Frame("function", self._numbers)
        start = placed(assign(VALUE, hook("undefined", constant("return value"))), node)
        final = placed(ast.Return(hook("result", load(VALUE))), _last_return(body))
        node.body = [
            *text,
            start,
            *self.block(body, frame),
            final,
        ]
        return node

    def block(self, body: Sequence[ast.stmt], frame: _Frame) -> list[ast.stmt]:
        """Return statements without jumps, where a frame tells what a jump means."""
        done: list[ast.stmt] = []
        for i, statement in enumerate(body):
            rest = body[i + 1 :]
            if isinstance(statement, Jump):
                return [*done, *frame.jump(statement)]
            if isinstance(statement, ast.If) and _kinds([statement]):
                return [*done, *self._if(statement, rest, frame)]
            if isinstance(statement, ast.While | ast.For):
                return [*done, *self._loop(statement, rest, frame)]
            if _kinds([statement]):
                return [*done, *self._guard(statement, rest, frame)]
            done.append(self._within(statement, frame))
        return done

    def _within(self, statement: _Part, frame: _Frame) -> _Part:
        """Lower the blocks inside a statement."""
        for field in ("body", "orelse", "finalbody"):
            part = getattr(statement, field, None)
            if part and not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                setattr(statement, field, self.block(part, frame) or [_nothing(part)])
        for handler in getattr(statement, "handlers", ()):
            self._within(handler, frame)
        return statement

    def _if(
        self, node: ast.If, rest: Sequence[ast.stmt], frame: _Frame
    ) -> list[ast.stmt]:
        if rest and always_jumps(node.body):
            node.orelse += [] if always_jumps(node.orelse) else rest
        elif rest and always_jumps(node.orelse):
            node.body += rest
        elif rest and _small(rest):
            node.body += copy.deepcopy(rest)
            node.orelse += rest
        elif rest:
            return self._guard(node, rest, frame)
        then = self.block(node.body, frame)
        orelse = self.block(node.orelse, frame)
        if not then and orelse:
            return [placed(ast.If(negated(node.test), orelse, []), node)]
        node.body = then or [_nothing(node.body)]
        node.orelse = orelse
        return [node]

    def _guard(
        self, node: ast.stmt, rest: Sequence[ast.stmt], frame: _Frame
    ) -> list[ast.stmt]:
        """Lower a statement whose jumps set flags that are looked at behind it."""
        kinds = _kinds([node])
        surely = always_jumps([node])
        skipping = False
        if isinstance(node, ast.Try | ast.TryStar):
            if always_jumps(node.body):
                node.orelse = []
            skipping = bool(node.orelse and _kinds(node.body))
        flags = skipping or not surely or len(kinds) > 1
        inner = _Frame("guard", self._numbers, flags)
        if isinstance(node, ast.Try | ast.TryStar):
            node.body = self.block(node.body, inner) or [_nothing(node.body)]
            if node.orelse and inner.flags:
                # A jump out of the body skips the else clause as well.
                tests = [negated(load(flag)) for flag in inner.flags.values()]
                unless = ast.If(all_of(tests), node.orelse, [])
                node.orelse = [placed(unless, node.orelse[0])]
            node.orelse = self.block(node.orelse, inner)
            for handler in node.handlers:
                self._within(handler, inner)
            node.finalbody = self.block(node.finalbody, frame)
        else:
            self._within(node, inner)
        behind = inner.behind(node, kinds, surely)
        rest = behind if surely else [*behind, *rest]
        return [*inner.start(node), node, *self.block(rest, frame)]

    def _loop(
        self, node: ast.While | ast.For, rest: Sequence[ast.stmt], frame: _Frame
    ) -> list[ast.stmt]:
        kinds = _kinds(node.body)
        endless = always_jumps([node])
        inner = _Frame("loop", self._numbers)
        node.body = self.block(node.body, inner) or [_nothing(node.body)]
        stops = [negated(load(flag)) for flag in inner.flags.values()]
        orelse, node.orelse = node.orelse, []
        loop: ast.stmt = node
        if stops and isinstance(node, ast.While):
            tests = stops if _is_true(node.test) else [*stops, node.test]
            node.test = placed(all_of(tests), node.test)
        elif stops and isinstance(node, ast.For):
            loop = placed(tested(node, all_of(stops)), node)
        behind = inner.behind(node, kinds - {ast.Break, ast.Continue}, endless)
        if orelse and ast.Break in inner.flags:
            test = negated(load(inner.flags[ast.Break]))
            orelse = [placed(ast.If(test, orelse, []), orelse[0])]
        if not endless:
            behind = [*behind, *orelse, *rest]
        return [*inner.start(node), loop, *self.block(behind, frame)]


class _Frame:
    """What jumps mean inside a function, a loop or a guarded statement.

    Attributes:
        flags: The flag that each kind of jump sets, of those that were met.
    """

    def __init__(
        self,
        kind: Literal["native", "function", "loop", "guard"],
        numbers: Numbers,
        flags: bool = True,
    ) -> None:
        self._kind = kind
        self._numbers = numbers
        self._flagged = flags
        self.flags: dict[_Kind, str] = {}

    def jump(self, node: Jump) -> list[ast.stmt]:
        """Return the statements that stand for a jump."""
        kind = _kind(node)
        if self._kind == "native" or (
            self._kind == "loop" and isinstance(node, ast.Continue)
        ):
            return [] if isinstance(node, ast.Continue) else [node]
        done: list[ast.stmt] = []
        if isinstance(node, ast.Return) and not isinstance(node, Returned):
            done.append(assign(VALUE, node.value or constant(None)))
        if self._kind != "function" and self._flagged:
            words = {ast.Return: "returned", ast.Break: "broke"}
            if kind not in self.flags:
                self.flags[kind] = self._numbers.name(words.get(kind, "continued"))
            done.append(assign(self.flags[kind], constant(True)))
        return statements(done, node)

    def start(self, node: ast.stmt) -> list[ast.stmt]:
        """Return the statements that reset the flags."""
        flags = self.flags.values()
        return statements([assign(flag, constant(False)) for flag in flags], node)

    def behind(self, node: ast.stmt, kinds: set[_Kind], surely: bool) -> list[ast.stmt]:
        """Return the statements that go on with the jumps, where the flags say so.

        Args:
            node: The statement that the jumps leave.
            kinds: The kinds of these jumps.
            surely: Whether there is no other way behind it.
        """
        done: list[ast.stmt] = []
        for kind in sorted(kinds, key=lambda kind: kind.__name__, reverse=True):
            jump: ast.stmt = Returned(None) if kind is ast.Return else kind()
            if surely and kind is min(kinds, key=lambda kind: kind.__name__):
                done.append(jump)
            elif kind in self.flags:
                done.append(ast.If(load(self.flags[kind]), [jump], []))
        return statements(done, node)


def always_jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether control never gets to the end of a block."""
    return any(_always(statement) for statement in body)


def _always(node: ast.stmt) -> bool:
    match node:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.If():
            return always_jumps(node.body) and always_jumps(node.orelse)
        case ast.While():
            return _is_true(node.test) and ast.Break not in _kinds(node.body)
        case ast.Try() | ast.TryStar():
            ways = [[*node.body, *node.orelse], *(one.body for one in node.handlers)]
            return all(always_jumps(way) for way in ways)
    return False


def _kind(node: Jump) -> _Kind:
    return ast.Return if isinstance(node, ast.Return) else type(node)


def _kinds(body: Sequence[ast.AST]) -> set[_Kind]:
    """Return the kinds of jump that lead out of a block."""
    return {_kind(jump) for jump in _jumps(body)}


def _jumps(body: Sequence[ast.AST]) -> Iterator[Jump]:
    for node in body:
        if isinstance(node, Jump):
            yield node
        elif isinstance(node, ast.While | ast.For):
            yield from (jump for jump in _jumps(node.body) if _kind(jump) is ast.Return)
            yield from _jumps(node.orelse)
        elif isinstance(node, ast.stmt | ast.ExceptHandler) and not isinstance(
            node, ast.FunctionDef | ast.ClassDef
        ):
            yield from _jumps(list(ast.iter_child_nodes(node)))


def _last_return(body: Sequence[ast.stmt]) -> ast.stmt:
    return [jump for jump in _jumps(body) if isinstance(jump, ast.Return)][-1]


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _small(body: Sequence[ast.stmt]) -> bool:
    if not all(isinstance(statement, _SIMPLE) for statement in body):
        return False
    return sum(1 for statement in body for _ in ast.walk(statement)) <= _SMALL


def _nothing(body: Sequence[ast.stmt]) -> ast.stmt:
    return placed(ast.Pass(), body[0])
