"""Loops and local memory in LLVM functions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from llvmlite import ir

from gtape.jit.codegen.index import I64, Int, as_value


@contextlib.contextmanager
def loop(b: ir.IRBuilder, count: Int) -> Iterator[Int]:
    """Emit a loop; what is emitted inside is its body.

    Args:
        b: Where to; behind the loop afterwards.
        count: The number of trips.

    Yields:
        The number of the trip.
    """
    if isinstance(count, int) and count == 1:
        yield 0
        return
    before, head, after = b.block, b.append_basic_block(), b.append_basic_block()
    total = as_value(count)
    b.cbranch(b.icmp_signed(">", total, I64(0)), head, after)
    b.position_at_end(head)
    i = b.phi(I64)
    i.add_incoming(I64(0), before)
    yield i
    following = b.add(i, I64(1), flags=("nsw", "nuw"))
    i.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, total), head, after)
    b.position_at_end(after)


@contextlib.contextmanager
def loops(b: ir.IRBuilder, counts: Sequence[Int]) -> Iterator[tuple[Int, ...]]:
    """Emit loops in loops, the last one inside all others."""
    with contextlib.ExitStack() as stack:
        yield tuple([stack.enter_context(loop(b, count)) for count in counts])


def local(b: ir.IRBuilder, kind: ir.Type, count: int = 1) -> ir.Value:
    """Return the address of memory of the function, in its first block.

    There it is given once, also where it is asked for in a loop.
    """
    with b.goto_entry_block():
        return b.alloca(kind, size=count if count > 1 else None)
