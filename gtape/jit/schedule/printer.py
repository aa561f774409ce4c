"""A plan as text for people: what runs, over what, and how much memory it moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gtape.jit.graph.ir import For, Op
from gtape.jit.schedule.nodes import reads_of
from gtape.jit.schedule.plan import Branch, Kernel, LibraryCall, Loop, Plan, Register
from gtape.sizes import Size

_INDENT = "  "


def printed(plan: Plan) -> str:
    """Return a plan as text, a line a step, with the user's lines behind it."""
    return "\n".join(_lines(plan, ""))


def _lines(plan: Plan, indent: str) -> Iterator[str]:
    numbers: list[Op] = []
    for step in plan.steps:
        if isinstance(step, Register):
            numbers.append(step.node)
            continue
        if numbers:
            yield indent + _numbers(numbers)
            numbers = []
        if isinstance(step, Kernel):
            yield indent + _kernel(plan, step)
        elif isinstance(step, LibraryCall):
            specs = ", ".join([str(v.spec) for v in step.node.outputs])
            name = step.node.primitive.name
            yield f"{indent}call {name} -> {specs}{_at([step.node])}"
        elif isinstance(step, Branch):
            yield f"{indent}if{_at([step.node])}"
            yield from _lines(step.then, indent + _INDENT)
            yield f"{indent}else"
            yield from _lines(step.orelse, indent + _INDENT)
        else:
            yield from _loop(step, indent)
    if numbers:
        yield indent + _numbers(numbers)


def _loop(step: Loop, indent: str) -> Iterator[str]:
    word = "for" if isinstance(step.node, For) else "while"
    stacks = len(step.body.graph.outputs) - step.node.carried
    kept = f", keeps {stacks} values of each trip" if stacks else ""
    yield f"{indent}{word}, carries {step.node.carried}{kept}{_at([step.node])}"
    if step.test is not None:
        yield from _lines(step.test, f"{indent}{_INDENT}? ")
    yield from _lines(step.body, indent + _INDENT)


def _numbers(nodes: list[Op]) -> str:
    count = len(nodes)
    return f"numbers: {count} operation{'s' if count > 1 else ''}{_at(nodes)}"


def _kernel(plan: Plan, kernel: Kernel) -> str:
    folded = [f.inputs[0] for f in kernel.folds]
    reads = reads_of(plan, [*kernel.stores, *folded], kernel.stores)
    writes = [*kernel.stores, *[f.outputs[0] for f in kernel.folds]]
    moved = [_bytes(v) for v in (*reads.arrays, *reads.literals, *writes)]
    space = ", ".join(map(str, kernel.space))
    folds = "".join([f", {f.primitive.name} over {kernel.axes}" for f in kernel.folds])
    known = None if None in moved else sum([m for m in moved if m is not None])
    size = "" if known is None else f", {known} bytes"
    return (
        f"kernel over [{space}]: {len(reads.inside)} operations, reads "
        f"{len(reads.arrays) + len(reads.literals)}, writes {len(writes)}{folds}{size}"
        f"{_at([*reads.inside, *kernel.folds])}"
    )


def _bytes(value: Any) -> int | None:
    """Return the size of a value, `None` if it depends on the call."""
    total: int = value.dtype.itemsize
    for dim in value.shape:
        if type(dim) is Size:
            return None
        total *= int(dim)
    return total


def _at(nodes: list[Any]) -> str:
    """Return the user's lines that stand behind nodes."""
    lines = sorted({n.origin.line for n in nodes if n.origin.line})
    if not lines:
        return ""
    few = ", ".join(map(str, lines[:8])) + (", ..." if len(lines) > 8 else "")
    return f"  # line{'s' if len(lines) > 1 else ''} {few}"
