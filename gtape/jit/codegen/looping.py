"""Loops of a program: what they carry, and the stacks of what they keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import Scalar, memory_type, store
from gtape.jit.codegen.boxes import Box
from gtape.jit.codegen.index import I64, Int, NotCompiledError, Sizes, as_value
from gtape.jit.codegen.loops import local
from gtape.jit.graph.ir import For, Value
from gtape.jit.schedule.plan import Kernel, LibraryCall, Loop
from gtape.sizes import Size, Unknown, same_shape

if TYPE_CHECKING:
    from gtape.jit.codegen.program import Region

_INT64 = as_numpy_dtype("int64")


def unknown_of(value: Any, axis: int) -> Unknown | None:
    """Return the unknown that an axis of a value is, if it is one."""
    dim = value.shape[axis]
    return dim.unknown if type(dim) is Size else None


class LoopCode:
    """A loop.

    Args:
        region: The region around it.
        step: The loop.
    """

    def __init__(self, region: Region, step: Loop) -> None:
        self._around = region
        self._step = step
        node = step.node
        if node.limit is not None:
            raise NotCompiledError("a loop that saves every k-th trip")
        self._first = 1 if step.test is None else 0
        self._carried = node.carried
        self._fixed = node.inputs[self._first + node.carried :]
        self._entry = node.inputs[self._first : self._first + node.carried]

    def emit(self, b: ir.IRBuilder) -> None:
        """Emit the loop."""
        around, step = self._around, self._step
        node, body = step.node, step.body.graph
        frame = around.code.frame
        boxes = around.boxes(b, body.inputs[self._first : self._first + self._carried])
        trip = local(b, I64)
        b.store(I64(0), trip)
        self._check(body)
        spares = []
        for box, atom, value in zip(boxes, self._entry, node.outputs, strict=False):
            box.put(b, around, atom)
            sizes = Sizes(around.sizes.known, around.sizes.noted)
            around.bind(b, sizes, box.value, atom)
            count = sizes.product(b, box.value.shape)
            spares.append(
                [frame.memory(b, value.dtype, count) for _ in range(2)]
                if value.ndim
                else []
            )
        total = None
        if step.test is None:
            total = around.number(node.inputs[0]).value
        stacks = [
            StackCode(b, around, out, total) for out in body.outputs[self._carried :]
        ]
        head = b.append_basic_block()
        inside = b.append_basic_block()
        after = b.append_basic_block()
        b.branch(head)
        b.position_at_end(head)
        i = b.load(trip)
        going = b.icmp_signed("==", b.load(frame.flag), I64(0))
        loaded = [
            box.loaded(b, atom.shape)
            for box, atom in zip(boxes, self._entry, strict=True)
        ]
        operands = [*loaded, *self._fixed]
        if step.test is None:
            more = b.icmp_signed("<", i, total)
        else:
            asked = around.inner(b, step.test, operands, {})
            asked.emit(b)
            more = asked.number(step.test.graph.outputs[0]).value
        b.cbranch(b.and_(more, going), inside, after)
        b.position_at_end(inside)
        index = i
        if isinstance(node, For) and node.reverse:
            index = b.sub(b.sub(total, I64(1)), i)
        self._trip(b, boxes, spares, stacks, operands, index)
        b.store(b.add(i, I64(1), flags=("nsw", "nuw")), trip)
        frame.poll(b)
        b.branch(head)
        b.position_at_end(after)
        self._leave(b, boxes, stacks, i)

    def _check(self, body: Any) -> None:
        """Refuse carries whose sizes change from trip to trip."""
        for value, out in zip(
            body.inputs[self._first :], body.outputs[: self._carried], strict=False
        ):
            if not same_shape(tuple(value.shape), tuple(out.shape)):
                raise NotCompiledError(
                    "a loop that changes the shape of what it carries"
                )

    def _trip(
        self,
        b: ir.IRBuilder,
        boxes: Sequence[Box],
        spares: Sequence[Sequence[ir.Value]],
        stacks: Sequence[StackCode],
        operands: Sequence[Any],
        index: ir.Value,
    ) -> None:
        """Emit a trip: what it carries on goes to the memory that is not read now."""
        plan = self._step.body
        outs = plan.graph.outputs
        made = set(plan.stored) | {
            v for step in plan.steps for v in _written(step) if v.ndim
        }
        targets: dict[Value, ir.Value] = {}
        goals: list[ir.Value | None] = []
        for k, box in enumerate(boxes):
            goal = None
            if box.value.ndim:
                now = operands[k].pointer
                one, two = spares[k]
                goal = b.select(b.icmp_unsigned("==", now, one), two, one)
            goals.append(goal)
        for stack in stacks:
            goals.append(stack.row(b, index))
        for out, goal in zip(outs, goals, strict=True):
            if goal is not None and out.ndim and out in made and out not in targets:
                targets[out] = goal
        first = [Scalar(_INT64, index)] if self._first else []
        region = self._around.inner(b, plan, operands, targets, first)
        region.emit(b)
        frame = region.code.frame
        for out, goal in zip(outs, goals, strict=True):
            if out.ndim and (out not in targets or targets[out] is not goal):
                frame.copy(b, goal, region.pointer(out), region.bytes_of(b, out))
            elif not out.ndim and goal is not None:
                store(b, region.number(out), goal, out.dtype)
        numbers = [
            None if box.value.ndim else region.number(out)
            for box, out in zip(boxes, outs, strict=False)
        ]
        for box, out, goal, number in zip(boxes, outs, goals, numbers, strict=False):
            if number is None:
                box.point(b, goal)
            else:
                box.put(b, region, out)

    def _leave(
        self,
        b: ir.IRBuilder,
        boxes: Sequence[Box],
        stacks: Sequence[StackCode],
        trips: ir.Value,
    ) -> None:
        """Emit what stands behind the loop."""
        around, node = self._around, self._step.node
        rows: Int = trips
        for box, value, atom in zip(boxes, node.outputs, self._entry, strict=False):
            around.bind(b, around.sizes, value, atom)
            box.take(b, around, value)
        rest = node.outputs[self._carried :]
        for stack, value in zip(stacks, rest, strict=False):
            unknown = unknown_of(value, 0)
            if unknown is not None:
                around.sizes.known.setdefault(unknown, rows)
            around.alias(value, stack.pointer(b))
        if self._step.test is not None:
            around.give(rest[len(stacks)], Scalar(_INT64, trips))


def _written(step: Any) -> Sequence[Value]:
    """Return what a step writes to the memory that it is told."""
    if isinstance(step, Kernel):
        return [f.outputs[0] for f in step.folds]
    return step.node.outputs if isinstance(step, LibraryCall) else ()


class StackCode:
    """What a loop keeps of each trip.

    Args:
        b: Where to emit.
        region: The region around the loop.
        out: What a trip gives.
        total: The number of trips, `None` where only the loop's end tells.
    """

    def __init__(
        self, b: ir.IRBuilder, region: Region, out: Any, total: ir.Value | None
    ) -> None:
        self._frame = region.code.frame
        self._kind = memory_type(out.dtype).as_pointer()
        self._grows = total is None
        self._row = as_value(region.bytes_of(b, out))
        self._entry = self._frame.entry(b)
        rows = I64(16) if total is None else total
        self._frame.ensure(b, self._entry, b.mul(rows, self._row), False)

    def _address(self, b: ir.IRBuilder) -> ir.Value:
        kind = ir.IntType(8).as_pointer().as_pointer()
        return b.load(b.bitcast(self._entry, kind))

    def row(self, b: ir.IRBuilder, index: ir.Value) -> ir.Value:
        """Return the address of a row; there is room for it."""
        start = b.mul(index, self._row)
        if self._grows:
            need = b.add(start, self._row)
            size = b.load(b.bitcast(b.gep(self._entry, [I64(8)]), I64.as_pointer()))
            with b.if_then(b.icmp_signed("<", size, need), likely=False):
                self._frame.ensure(b, self._entry, b.mul(need, I64(2)), True)
        return b.bitcast(b.gep(self._address(b), [start]), self._kind)

    def pointer(self, b: ir.IRBuilder) -> ir.Value:
        """Return the address of the first row."""
        return b.bitcast(self._address(b), self._kind)
