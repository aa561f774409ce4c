"""Functions over the rows of tensors, or over blocks of their columns.

They stand beside the program's own function, so that several threads can share them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from llvmlite import ir

from gtape.jit.codegen.index import I64, Int, add, as_value, floordiv, mul
from gtape.jit.codegen.loops import loop
from gtape.jit.codegen.spans import call_in_spans
from gtape.jit.graph.ir import Op
from gtape.sizes import same_size

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

Emitter = Callable[["Region", ir.IRBuilder, Op], None]

LANES = 64
"""So many columns are computed side by side."""


class Span(NamedTuple):
    """What the function of a loop over rows has.

    Args:
        pointers: The addresses that it was given.
        lengths: The lengths that it was given.
        flag: Where it notes a failure.
        begin: The first row.
        end: The row behind the last one.
    """

    pointers: list[Any]
    lengths: list[Int]
    flag: Any
    begin: Any
    end: Any

    @contextlib.contextmanager
    def rows(self, b: ir.IRBuilder) -> Iterator[Int]:
        """Emit the loop over the rows."""
        with loop(b, b.sub(self.end, self.begin)) as k:
            yield add(b, self.begin, k)

    def at(self, b: ir.IRBuilder, place: int, index: Int) -> ir.Value:
        """Return the address of an element."""
        return b.gep(self.pointers[place], [as_value(index)])


def over_rows(
    region: Region,
    b: ir.IRBuilder,
    pointers: Sequence[ir.Value],
    lengths: Sequence[Int],
    rows: Int,
    each: Int,
    cost: float,
    emit: Callable[[ir.IRBuilder, Span], None],
) -> None:
    """Emit a function over rows and its call, over threads where that is worth it.

    Args:
        region: Where it is called.
        b: Where it is called.
        pointers: The addresses that it gets; what it writes has only one.
        lengths: The lengths that it gets.
        rows: How many rows there are.
        each: How many elements a row has, about.
        cost: The nanoseconds that an element takes, about.
        emit: Emits its body.
    """
    unknown = [n for n in lengths if not isinstance(n, int)]
    flag = region.code.frame.flag
    given = [*pointers, *unknown, flag]
    kind = ir.FunctionType(ir.VoidType(), [*[v.type for v in given], I64, I64])
    function = ir.Function(b.module, kind, name=region.code.name())
    function.linkage = "internal"
    for parameter in function.args[: len(pointers)]:
        parameter.add_attribute("noalias")
    inside = ir.IRBuilder(function.append_basic_block())
    passed = iter(function.args[len(pointers) :])
    span = Span(
        list(function.args[: len(pointers)]),
        [n if isinstance(n, int) else next(passed) for n in lengths],
        *passed,
    )
    emit(inside, span)
    inside.ret_void()
    elements = mul(b, rows, each)
    threads = region.code.frame.threads(b)
    call_in_spans(b, function, given, rows, elements, cost, threads)


class Along(NamedTuple):
    """A tensor as a stack of matrices: an axis, and what stands before and behind."""

    before: Int
    size: Int
    after: Int

    @property
    def is_last(self) -> bool:
        """Return whether the elements along the axis stand one behind the other."""
        return isinstance(self.after, int) and self.after == 1


def along(region: Region, b: ir.IRBuilder, shape: Sequence[Any], axis: int) -> Along:
    """Return the lengths before, along and behind an axis."""
    axis %= len(shape)
    sizes = region.sizes
    before, after = sizes.product(b, shape[:axis]), sizes.product(b, shape[axis + 1 :])
    return Along(before, sizes.of(b, shape[axis]), after)


def guarded(
    region: Region, b: ir.IRBuilder, rows: Int, pairs: Sequence[tuple[Any, Any]]
) -> Int:
    """Return the number of rows, 0 where lengths differ, and emit that this fails."""
    for one, other in pairs:
        if same_size(one, other):
            continue
        x, y = as_value(region.sizes.of(b, one)), as_value(region.sizes.of(b, other))
        differ = b.icmp_signed("!=", x, y)
        region.code.frame.fail(b, differ)
        rows = b.select(differ, I64(0), as_value(rows))
    return rows


def over_columns(
    region: Region,
    b: ir.IRBuilder,
    pointers: Sequence[ir.Value],
    shape: Along,
    cost: float,
    emit: Callable[[ir.IRBuilder, Span, Int, Int, Int, Int], None],
    rows: Callable[[Int], Int] = lambda rows: rows,
) -> None:
    """Emit a function over blocks of columns, and its call.

    Args:
        region: Where it is called.
        b: Where it is called.
        pointers: The addresses that it gets; what it writes has only one.
        shape: The tensor; a column runs along the axis.
        cost: The nanoseconds that an element takes, about.
        emit: Emits its body, from the place of the first element, the number of
            columns, their length, and the step from one element to the next.
        rows: Returns the number of blocks to take, given that there is.
    """
    blocks = floordiv(b, add(b, shape.after, LANES - 1), LANES)

    def body(b: ir.IRBuilder, span: Span) -> None:
        size, after, blocks = span.lengths
        with span.rows(b) as unit:
            first, width = unit, after
            column: Int = 0
            if not (isinstance(after, int) and after <= LANES):
                first = b.sdiv(unit, as_value(blocks))
                column = mul(b, b.srem(unit, as_value(blocks)), LANES)
                width = at_most(b, b.sub(as_value(after), column), LANES)
            start = add(b, mul(b, mul(b, first, size), after), column)
            emit(b, span, start, width, size, after)

    count = rows(mul(b, shape.before, blocks))
    each = mul(b, shape.size, LANES if blocks != 1 else shape.after)
    lengths = [shape.size, shape.after, blocks]
    over_rows(region, b, pointers, lengths, count, each, cost, body)


def at_most(b: ir.IRBuilder, number: ir.Value, most: int) -> ir.Value:
    """Return the smaller one of two numbers."""
    return b.select(b.icmp_signed("<", number, I64(most)), number, I64(most))
