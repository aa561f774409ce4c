"""Loops over threads: a range of indices in spans, which threads take one by one.

Threads are made for a loop and end with it, so nothing stays behind that a fork, or
another library's threads, could meet. Only loops of a good part of a millisecond are
worth it. What a span gives does not depend on who takes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from gtape.jit.codegen.index import I64, Int, as_value
from gtape.jit.codegen.loops import local

WORTH = 200_000
"""Nanoseconds of work that are worth a second thread."""

_EACH = 4  # spans for each thread, so that a slow one holds nobody up
_MOST = 64  # threads
_STEP = 64  # elements: two threads never write to one line of the cache
_POINTER = ir.IntType(8).as_pointer()
_I32 = ir.IntType(32)


def call_in_spans(
    b: ir.IRBuilder,
    function: ir.Function,
    given: Sequence[ir.Value],
    count: Int,
    elements: Int,
    cost: float,
    threads: ir.Value,
) -> None:
    """Emit the call of a function of a range, over threads where that is worth it.

    Args:
        b: Where to.
        function: (*given, begin, end) -> nothing.
        given: Its arguments.
        count: The end of the whole range.
        elements: How many elements the range stands for.
        cost: The nanoseconds that an element takes on one thread, about.
        threads: The number of threads.
    """
    total = as_value(count)
    if isinstance(elements, int) and elements * cost < WORTH:
        b.call(function, [*given, I64(0), total])
        return
    least = max(int(WORTH / max(cost, 0.01)), 1)
    several = b.icmp_signed(">", threads, I64(1))
    large = b.icmp_signed(">=", as_value(elements), I64(least))
    with b.if_else(b.and_(several, large), likely=False) as (yes, no):
        with no:
            b.call(function, [*given, I64(0), total])
        with yes:
            step = _STEP if count is elements else 1
            _spread(b, function, given, total, threads, step)


def _spread(
    b: ir.IRBuilder,
    function: ir.Function,
    given: Sequence[ir.Value],
    total: ir.Value,
    threads: ir.Value,
    step: int,
) -> None:
    threads = b.select(b.icmp_signed("<", threads, I64(_MOST)), threads, I64(_MOST))
    spans = b.mul(threads, I64(_EACH))
    span = b.sdiv(b.add(total, b.sub(spans, I64(1))), spans)
    span = b.and_(b.add(span, I64(step - 1)), I64(-step))
    # The next place, the end, the size of a span, then the arguments.
    kind = ir.LiteralStructType([I64, I64, I64, *[v.type for v in given]])
    task = local(b, kind)
    for place, value in enumerate((I64(0), total, span, *given)):
        b.store(value, b.gep(task, [_I32(0), _I32(place)], inbounds=True))
    start = _worker(b.module, function, kind)
    address = b.bitcast(task, _POINTER)
    ids = local(b, I64, _MOST)
    made = local(b, I64)
    b.store(I64(0), made)
    create = _declared(
        b.module,
        "pthread_create",
        _I32,
        [I64.as_pointer(), _POINTER, _POINTER, _POINTER],
    )
    join = _declared(b.module, "pthread_join", _I32, [I64, _POINTER])
    head, body, after = [b.append_basic_block() for _ in range(3)]
    b.branch(head)
    b.position_at_end(head)
    more = b.icmp_signed("<", b.load(made), b.sub(threads, I64(1)))
    b.cbranch(more, body, after)
    b.position_at_end(body)
    i = b.load(made)
    status = b.call(
        create,
        [b.gep(ids, [i]), _POINTER(None), b.bitcast(start, _POINTER), address],
    )
    # Without another thread those that are there do the work.
    b.store(b.add(i, I64(1)), made)
    failed = b.icmp_signed("!=", status, _I32(0))
    with b.if_then(failed, likely=False):
        b.store(i, made)
    b.cbranch(failed, after, head)
    b.position_at_end(after)
    b.call(start, [address])
    head, body, after = [b.append_basic_block() for _ in range(3)]
    b.branch(head)
    b.position_at_end(head)
    b.cbranch(b.icmp_signed(">", b.load(made), I64(0)), body, after)
    b.position_at_end(body)
    left = b.sub(b.load(made), I64(1))
    b.store(left, made)
    b.call(join, [b.load(b.gep(ids, [left])), _POINTER(None)])
    b.branch(head)
    b.position_at_end(after)


def _worker(
    module: ir.Module, function: ir.Function, kind: ir.LiteralStructType
) -> ir.Function:
    """Return what a thread does: it takes spans until there is none left."""
    worker = ir.Function(
        module, ir.FunctionType(_POINTER, [_POINTER]), name=f"{function.name}_spans"
    )
    worker.linkage = "internal"
    b = ir.IRBuilder(worker.append_basic_block())
    task = b.bitcast(worker.args[0], kind.as_pointer())

    def field(place: int) -> ir.Value:
        return b.gep(task, [_I32(0), _I32(place)], inbounds=True)

    total, span = b.load(field(1)), b.load(field(2))
    given = [b.load(field(3 + k)) for k in range(len(kind.elements) - 3)]
    head, body, after = [b.append_basic_block() for _ in range(3)]
    b.branch(head)
    b.position_at_end(head)
    begin = b.atomic_rmw("add", field(0), span, "monotonic")
    b.cbranch(b.icmp_signed("<", begin, total), body, after)
    b.position_at_end(body)
    end = b.add(begin, span)
    end = b.select(b.icmp_signed("<", end, total), end, total)
    b.call(function, [*given, begin, end])
    b.branch(head)
    b.position_at_end(after)
    b.ret(_POINTER(None))
    return worker


def _declared(
    module: ir.Module, name: str, out: ir.Type, kinds: list[ir.Type]
) -> ir.Function:
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(out, kinds), name=name)
    return found
