"""Random programs with control flow, as source text, and functions made of it.

A program has the arguments x, y (scalars), v (three numbers) and n (a plain integer).
All values stay within small bounds, so that derivatives do not explode.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis.strategies as st
import numpy as np

import gtape as gt

SCALARS = ("a", "b", "c", "d")
ARRAYS = ("w", "u")
MOST_STATEMENTS = 14
MOST_TRIPS = 3
BOUNDED = ("gt.sin", "gt.tanh", "gt.cos")


def with_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names else (*names, name)


@dataclass
class Scope:
    """What may be read at a place of the program, and which jumps it may hold."""

    scalars: tuple[str, ...] = ("x", "y")
    arrays: tuple[str, ...] = ("v",)
    writable: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    loop: bool = False
    returns: bool = True
    depth: int = 0
    ended: bool = False

    def with_scalar(self, name: str) -> None:
        self.scalars = with_name(self.scalars, name)

    def with_array(self, name: str) -> None:
        self.arrays = with_name(self.arrays, name)
        self.writable = with_name(self.writable, name)

    def inner(self, **changes: Any) -> Scope:
        return replace(self, depth=self.depth + 1, ended=False, **changes)

    def join(self, *branches: Scope) -> None:
        """Keep what every branch that reaches this place has set."""
        reaching = [branch for branch in branches if not branch.ended]
        if not reaching:
            self.ended = True
            return
        for kind in ("scalars", "arrays", "writable", "functions"):
            names = getattr(reaching[0], kind)
            kept = [
                name
                for name in names
                if all(name in getattr(b, kind) for b in reaching)
            ]
            setattr(self, kind, tuple(kept))


@dataclass
class Writer:
    """Writes one program: draws statements until the budget is used up."""

    draw: st.DrawFn
    aliases: bool
    lines: list[str] = field(default_factory=list)
    left: int = MOST_STATEMENTS
    made: int = 0

    # --- Drawing ----------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def number(self) -> str:
        # No round numbers: comparisons with them could meet a tie.
        return self.pick("0.37", "0.713", "1.19", "-0.241", "-0.83")

    def fresh(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def line(self, scope: Scope, text: str) -> None:
        self.lines.append("    " * (scope.depth + 1) + text)

    # --- Expressions ------------------------------------------------------------------
    # Each has a tensor in it, since NumPy and Python numbers alone would be float32.

    def leaf(self, scope: Scope) -> str:
        kind = self.pick("scalar", "scalar", "scalar", "item", "sum")
        if kind == "scalar":
            return self.pick(*scope.scalars)
        array = self.pick(*scope.arrays)
        return (
            f"{array}[{self.index(scope)}]"
            if kind == "item"
            else (f"gt.reduce_sum({array})")
        )

    def index(self, scope: Scope) -> str:
        if scope.indices and self.chance():
            i = self.pick(*scope.indices)
            return self.pick(i, f"({i} + 1) % 3", f"2 - {i}")
        return self.pick("0", "1", "2", "-1")

    def expression(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.chance():
            return self.leaf(scope)
        kinds = ["binary", "scaled", "unary", "extreme", "choice"]
        kinds += ["counted", *["call"] * bool(scope.functions)]
        kind = self.pick(*kinds)
        one = self.expression(scope, depth - 1)
        if kind == "unary":
            return f"{self.pick(*BOUNDED, 'gt.exp')}(gt.sin({one}))"
        if kind == "scaled":
            return f"({one} {self.pick('+', '-', '*')} {self.number()})"
        if kind == "counted":
            return f"({one} + 0.1 * {self.pick(*scope.indices, 'n')})"
        if kind == "call":
            return f"{self.pick(*scope.functions)}({one})"
        two = self.expression(scope, depth - 1)
        if kind == "extreme":
            return f"{self.pick('min', 'max')}({one}, {two})"
        if kind == "choice":
            return f"({one} if {self.condition(scope, 0)} else {two})"
        return f"({one} {self.pick('+', '-', '*')} {two})"

    def bounded(self, scope: Scope) -> str:
        return f"{self.pick(*BOUNDED)}({self.expression(scope)})"

    def condition(self, scope: Scope, depth: int = 1) -> str:
        kinds = ["number"] * 3 + ["pair", "count"] + ["index"] * bool(scope.indices)
        kinds += ["and", "or", "not", "chain"] * (depth > 0)
        kind = self.pick(*kinds)
        if kind == "number":
            return f"{self.leaf(scope)} {self.pick('<', '>')} {self.number()}"
        if kind == "pair":
            one, two = self.leaf(scope), self.leaf(scope)
            return f"{one} {self.pick('<', '>=')} 0.9 * {two} + 0.0731"
        if kind == "count":
            return self.pick("n > 1", "n == 2", "n in (0, 3)", "n % 2 == 1")
        if kind == "index":
            return f"{self.pick(*scope.indices)} {self.pick('==', '<', '!=')} 1"
        one = self.condition(scope, depth - 1)
        if kind == "not":
            return f"not {one}"
        if kind == "chain":
            return f"-0.713 < {self.leaf(scope)} < {self.pick('0.37', '1.19')}"
        return f"({one} {kind} {self.condition(scope, depth - 1)})"

    # --- Statements -------------------------------------------------------------------

    def block(self, scope: Scope, least: int = 1) -> None:
        """Write statements until one jumps away, the budget ends, or by chance."""
        count = self.draw(st.integers(least, 4))
        written = 0
        while (
            written < count and not scope.ended and (self.left > 0 or written < least)
        ):
            self.left -= 1
            written += 1
            self.statement(scope)

    def statement(self, scope: Scope) -> None:
        simple = [self.assign, self.augment, self.swap, self.array, self.item]
        kinds: list[Callable[[Scope], None]] = [*simple, self.item]
        if self.aliases and scope.writable:
            kinds.append(self.alias)
        if scope.depth < 3 and self.left > 0:
            kinds += [self.branch, self.branch, self.loop, self.loop, self.while_loop]
            kinds += [self.function, self.appended, self.generator, self.guarded]
        if scope.loop and scope.depth > 1:
            kinds += [self.jump, self.jump]
        if scope.returns and scope.depth > 0:
            kinds.append(self.early_return)
        self.pick(*kinds)(scope)

    def assign(self, scope: Scope) -> None:
        name = self.pick(*SCALARS)
        self.line(scope, f"{name} = {self.bounded(scope)}")
        scope.with_scalar(name)

    def changeable(self, scope: Scope) -> list[str]:
        return [s for s in scope.scalars if s in (*SCALARS, "x", "y")]

    def augment(self, scope: Scope) -> None:
        name = self.pick(*self.changeable(scope))
        one = self.expression(scope)
        operation = self.pick(
            f"+= gt.sin({one})", f"-= gt.tanh({one})", f"*= gt.cos({one})"
        )
        self.line(scope, f"{name} {operation}")

    def swap(self, scope: Scope) -> None:
        names = self.changeable(scope)
        one, two = self.pick(*names), self.pick(*names)
        if one == two:
            self.augment(scope)
        else:
            new = self.pick(one, self.bounded(scope))
            self.line(scope, f"{one}, {two} = {two}, {new}")

    def array(self, scope: Scope) -> None:
        name, other = self.pick(*ARRAYS), self.pick(*scope.arrays)
        one = self.expression(scope, 1)
        value = self.pick(
            f"{other} * 1.0",
            f"gt.sin({other} + {one})",
            f"gt.tanh({other} * {one})",
            f"gt.where({other} > 0.0731, gt.cos({other}), {one} + {other})",
        )
        self.line(scope, f"{name} = {value}")
        scope.with_array(name)

    def item(self, scope: Scope) -> None:
        if not scope.writable:
            self.array(scope)
            return
        name, index = self.pick(*scope.writable), self.index(scope)
        value = self.bounded(scope)
        operation = self.pick("=", "=", "+=", "*=")
        self.line(scope, f"{name}[{index}] {operation} {value}")

    def alias(self, scope: Scope) -> None:
        name, other = self.pick(*ARRAYS), self.pick(*scope.writable)
        self.line(scope, f"{name} = {other}")
        scope.with_array(name)

    def branch(self, scope: Scope) -> None:
        branches = []
        words = ["if", *["elif"] * self.pick(0, 0, 1)]
        for word in words:
            self.line(scope, f"{word} {self.condition(scope)}:")
            branches.append(scope.inner())
            self.block(branches[-1])
        if self.chance():
            self.line(scope, "else:")
            branches.append(scope.inner())
            self.block(branches[-1])
        else:
            branches.append(replace(scope))
        scope.join(*branches)

    def loop(self, scope: Scope) -> None:
        i, t = self.fresh("i"), self.fresh("t")
        array = self.pick(*scope.arrays)
        head, indices, scalars = self.pick(
            (f"for {i} in range({self.pick(1, 2, 3)}):", (i,), ()),
            (f"for {i} in range(n):", (i,), ()),
            (f"for {t} in {array}:", (), (t,)),
            (f"for {i}, {t} in enumerate({array}):", (i,), (t,)),
            (f"for {i} in range(2, -1, -1):", (i,), ()),
        )
        self.line(scope, head)
        indices, scalars = scope.indices + indices, scope.scalars + scalars
        inner = scope.inner(loop=True, indices=indices, scalars=scalars)
        self.block(inner)
        if self.pick(False, False, True):
            # After a break the else is left out: nothing set in it may be relied on.
            self.line(scope, "else:")
            self.block(scope.inner())

    def while_loop(self, scope: Scope) -> None:
        k = self.fresh("k")
        limit = self.pick("2", "n", "n + 1", str(MOST_TRIPS))
        self.line(scope, f"{k} = 0")
        form = self.pick("count", "test", "break")
        inner = scope.inner(loop=True)
        if form == "break":
            self.line(scope, "while True:")
            self.line(inner, f"if {k} >= {limit}:")
            self.line(inner.inner(), "break")
        elif form == "count":
            self.line(scope, f"while {k} < {limit}:")
        else:
            self.line(scope, f"while {k} < {limit} and {self.condition(scope, 0)}:")
        self.line(inner, f"{k} += 1")
        self.block(inner)

    def jump(self, scope: Scope) -> None:
        self.line(scope, self.pick("continue", "break"))
        scope.ended = True

    def early_return(self, scope: Scope) -> None:
        self.line(scope, f"return {self.bounded(scope)} * x")
        scope.ended = True

    def function(self, scope: Scope) -> None:
        """Write a nested function of a scalar, which may change a name outside."""
        name, t = self.fresh("f"), self.fresh("t")
        self.line(scope, f"def {name}({t}):")
        changed = [s for s in scope.scalars if s in SCALARS]
        body = scope.inner(
            scalars=(t, *scope.scalars), loop=False, returns=False, indices=()
        )
        if changed and self.chance():
            target = self.pick(*changed)
            self.line(body, f"nonlocal {target}")
            self.line(body, f"{target} = {self.bounded(body)}")
        if self.chance():
            self.line(body, f"if {self.condition(body, 0)}:")
            self.line(body.inner(), f"return {self.bounded(body)}")
        self.line(body, f"return {self.bounded(body)}")
        scope.functions += (name,)

    def appended(self, scope: Scope) -> None:
        """Write a list that grows by one element in every trip, and its sum."""
        parts, i = self.fresh("parts"), self.fresh("i")
        self.line(scope, f"{parts} = [{self.expression(scope, 1)}]")
        self.line(scope, f"for {i} in range({self.pick('2', '3', 'n')}):")
        inner = scope.inner(indices=(*scope.indices, i), loop=False, returns=False)
        for _ in range(self.pick(0, 1, 2)):
            self.pick(self.assign, self.augment, self.item)(inner)
        self.line(inner, f"{parts}.append({self.bounded(inner)})")
        name = self.pick(*SCALARS)
        self.line(scope, f"{name} = gt.sin(sum({parts}))")
        scope.with_scalar(name)

    def generator(self, scope: Scope) -> None:
        name, t = self.pick(*SCALARS), self.fresh("t")
        inner = replace(scope, scalars=(t, *scope.scalars), functions=())
        test = f" if {t} > 0.0731" if self.chance() else ""
        array = self.pick(*scope.arrays)
        one = self.expression(inner, 1)
        self.line(
            scope, f"{name} = gt.sin(sum((gt.sin({one}) for {t} in {array}{test}), x))"
        )
        scope.with_scalar(name)

    def guarded(self, scope: Scope) -> None:
        """Write a name that is set and read under the same flag only."""
        flag, name = self.fresh("flag"), self.fresh("s")
        self.line(scope, f"{flag} = {self.condition(scope, 0)}")
        self.line(scope, f"if {flag}:")
        self.line(scope.inner(), f"{name} = {self.bounded(scope)}")
        self.pick(self.assign, self.augment, self.item)(scope)
        target = self.pick(*self.changeable(scope))
        self.line(scope, f"if {flag}:")
        self.line(scope.inner(), f"{target} += gt.sin({name} * {self.leaf(scope)})")

    def finish(self, scope: Scope) -> None:
        if scope.ended:
            return
        terms = [
            f"gt.sin({1.0 + 0.3 * k:.1f} * {s})" for k, s in enumerate(scope.scalars)
        ]
        terms += [f"gt.reduce_sum({array} * {array})" for array in scope.arrays]
        self.line(scope, f"return {' + '.join(terms)}")


@st.composite
def programs(draw: st.DrawFn, aliases: bool = False) -> str:
    """Draw the source of a program.

    Args:
        draw: Given by hypothesis.
        aliases: Whether an array may get a second name, through which writes are seen.
    """
    writer, scope = Writer(draw, aliases), Scope()
    while not scope.ended and writer.left > 0:
        before = writer.left
        writer.block(scope)
        if writer.left == before or writer.chance():
            break
    writer.finish(scope)
    return "\n".join(["def program(x, y, v, n):", *writer.lines, ""])


@st.composite
def arguments(draw: st.DrawFn) -> tuple[Any, ...]:
    """Draw arguments for a program: x, y, v and n."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x, y = rng.uniform(-1.3, 1.3, 2)
    count = draw(st.integers(0, MOST_TRIPS))
    return np.float64(x), np.float64(y), rng.uniform(-1.1, 1.1, 3), count


def compile_program(source: str) -> Callable[..., Any]:
    """Return the function `program` of a source that inspect.getsource finds again."""
    name = f"<program {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    # Without a time of change, linecache does not look for a file.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"gt": gt, "__name__": "tests.jit.generated"}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["program"]
    return function
