"""The CPU program of a plan: its steps, one after the other, in one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from gtape.jit.codegen.body import Body, Scalar, constant, load, memory_type
from gtape.jit.codegen.boxes import Box, Loaded
from gtape.jit.codegen.calls import EMITTERS
from gtape.jit.codegen.evaluate import Evaluator, Memory
from gtape.jit.codegen.frame import Frame
from gtape.jit.codegen.index import (
    Int,
    NotCompiledError,
    Place,
    Sizes,
    mul,
)
from gtape.jit.codegen.looping import LoopCode
from gtape.jit.codegen.loops import local
from gtape.jit.codegen.nest import KernelCode
from gtape.jit.graph.ir import Literal, Op, Value
from gtape.jit.schedule.plan import (
    Branch,
    Kernel,
    LibraryCall,
    Loop,
    Plan,
    Register,
)
from gtape.lowering import Contract, Custom, Scatter
from gtape.sizes import Size


class Code:
    """What all regions of a program share.

    Args:
        frame: Its function.
        body: Emits scalar expressions.
    """

    def __init__(self, frame: Frame, body: Body) -> None:
        self.frame = frame
        self.body = body
        self.literals: dict[Literal, ir.Value] = {}
        self.branches = 0  # around what is emitted
        self._kernels = 0

    def name(self) -> str:
        """Return the name of a new kernel."""
        self._kernels += 1
        return f"kernel_{self._kernels}"


class Region:
    """The code of one graph: of the function, a branch, or a trip of a loop.

    Args:
        code: The program's.
        plan: The graph's plan.
        sizes: The lengths of unknowns.
        pointers: The addresses of its inputs in memory.
        numbers: Its inputs of rank 0.
        targets: Where values are to be stored, of those that the plan stores.
    """

    def __init__(
        self,
        code: Code,
        plan: Plan,
        sizes: Sizes,
        pointers: Mapping[Value, ir.Value],
        numbers: Mapping[Value, Scalar],
        targets: Mapping[Value, ir.Value],
    ) -> None:
        self.code = code
        self.plan = plan
        self.sizes = Sizes(sizes.known, sizes.noted)
        self._pointers = dict(pointers)
        self._numbers = dict(numbers)
        self._targets = targets

    # --- Values -----------------------------------------------------------------------

    def number(self, atom: Any) -> Scalar:
        """Return a value of rank 0."""
        if isinstance(atom, Literal):
            return constant(atom.dtype, atom.array[()])
        return self._numbers[atom]

    def pointer(self, atom: Any) -> ir.Value:
        """Return the address of a value in memory."""
        if isinstance(atom, Literal):
            found = self.code.literals.get(atom)
            if found is None:
                raise NotCompiledError("an array that no argument holds")
            return found
        return self._pointers[atom]

    def give(self, value: Value, number: Scalar) -> None:
        """Note the result of rank 0 of a step."""
        self._numbers[value] = number

    def place(self, b: ir.IRBuilder, value: Value) -> ir.Value:
        """Return where a result in memory is to be written, and note it."""
        found = self._targets.get(value)
        if found is None:
            count = self.sizes.product(b, value.shape)
            found = self.code.frame.memory(b, value.dtype, count)
        self._pointers[value] = found
        return found

    def alias(self, value: Value, pointer: ir.Value) -> None:
        """Note where a result stands already."""
        self._pointers[value] = pointer

    def bytes_of(self, b: ir.IRBuilder, value: Any) -> Int:
        """Return the size of a value in memory."""
        return mul(b, self.sizes.product(b, value.shape), value.dtype.itemsize)

    # --- Steps ------------------------------------------------------------------------

    def emit(self, b: ir.IRBuilder) -> None:
        """Emit all steps."""
        for step in self.plan.steps:
            if isinstance(step, Register):
                self._register(b, step.node)
            elif isinstance(step, Kernel):
                self._kernel(b, step)
            elif isinstance(step, LibraryCall):
                self._call(b, step.node)
            elif isinstance(step, Branch):
                self._branch(b, step)
            else:
                assert isinstance(step, Loop)
                LoopCode(self, step).emit(b)

    def _register(self, b: ir.IRBuilder, node: Op) -> None:
        [value] = node.outputs
        memory = Memory(
            self.plan, self._pointers, self._numbers, self.sizes, self.pointer
        )
        read = Evaluator(self.code.body, memory, (), self.code.frame.fail)
        self._numbers[value] = read.at(b, value, Place(()))

    def _kernel(self, b: ir.IRBuilder, kernel: Kernel) -> None:
        code = KernelCode(
            self.code.body,
            self.plan,
            kernel,
            self.number,
            self.sizes,
            self.code.name(),
        )
        loose: dict[Value, ir.Value] = {}
        for value in (*kernel.stores, *code.results):
            if value.ndim:
                self.place(b, value)
            else:
                loose[value] = local(b, memory_type(value.dtype))

        def pointer(atom: Any) -> ir.Value:
            return loose[atom] if atom in loose else self.pointer(atom)

        frame = self.code.frame
        code.call(b, pointer, self.number, self.sizes, frame.flag, frame.threads(b))
        for value, address in loose.items():
            self._numbers[value] = load(b, address, value.dtype)

    def _call(self, b: ir.IRBuilder, node: Op) -> None:
        lowering = node.primitive.lowering
        name = "scatter" if isinstance(lowering, Scatter) else ""
        if isinstance(lowering, Contract):
            name = lowering.kind
        elif isinstance(lowering, Custom):
            name = lowering.emitter
        emitter = EMITTERS.get(name)
        if emitter is None:
            raise NotCompiledError(f"{node.primitive.name} is not compiled")
        emitter(self, b, node)

    def _branch(self, b: ir.IRBuilder, step: Branch) -> None:
        node = step.node
        predicate = self.number(node.inputs[0]).value
        boxes = self.boxes(b, node.outputs)
        self.code.branches += 1
        with b.if_else(predicate) as sides:
            for side, plan in zip(sides, (step.then, step.orelse), strict=True):
                with side:
                    region = self.inner(b, plan, node.inputs[1:], {})
                    region.emit(b)
                    for box, out in zip(boxes, plan.graph.outputs, strict=True):
                        box.put(b, region, out)
        self.code.branches -= 1
        for box, value in zip(boxes, node.outputs, strict=True):
            box.take(b, self, value)

    # --- Regions inside ---------------------------------------------------------------

    def inner(
        self,
        b: ir.IRBuilder,
        plan: Plan,
        operands: Sequence[Any],
        targets: Mapping[Value, ir.Value],
        first: Sequence[Scalar] = (),
    ) -> Region:
        """Return a region whose inputs are values of this one.

        Args:
            b: Where to emit.
            plan: The region's plan.
            operands: What its inputs are, behind the first.
            targets: Where values are to be stored.
            first: Numbers for the first inputs.
        """
        inputs = plan.graph.inputs
        numbers = dict(zip(inputs, first, strict=False))
        region = Region(self.code, plan, self.sizes, {}, numbers, targets)
        for value, atom in zip(inputs[len(first) :], operands, strict=True):
            self.bind(b, region.sizes, value, atom)
            if value.ndim:
                region._pointers[value] = self.pointer_of(atom)
            else:
                region._numbers[value] = self.number_of(atom)
        return region

    def pointer_of(self, atom: Any) -> ir.Value:
        """Return the address of an operand; that of a box as it is."""
        return atom.pointer if isinstance(atom, Loaded) else self.pointer(atom)

    def number_of(self, atom: Any) -> Scalar:
        """Return an operand of rank 0."""
        if isinstance(atom, Loaded):
            assert atom.number is not None
            return atom.number
        return self.number(atom)

    def bind(self, b: ir.IRBuilder, sizes: Sizes, value: Value, atom: Any) -> None:
        """Give unknown sizes of an input the lengths that its operand has."""
        for dim, other in zip(value.shape, atom.shape, strict=True):
            unknown = dim.unknown if type(dim) is Size else None
            if unknown is not None and unknown not in sizes.known:
                sizes.known[unknown] = self.sizes.of(b, other)

    def boxes(self, b: ir.IRBuilder, values: Iterable[Value]) -> list[Box]:
        """Return variables for what regions give."""
        return [Box(b, value) for value in values]
