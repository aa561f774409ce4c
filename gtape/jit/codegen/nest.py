"""The CPU frame of a kernel: loop nests around the expressions of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from gtape.jit.codegen.body import Body, Scalar, cast, memory_type, store
from gtape.jit.codegen.evaluate import Evaluator, Memory
from gtape.jit.codegen.folding import BLOCK, Accumulator
from gtape.jit.codegen.index import I64, Int, Place, Sizes, add, as_value, mul
from gtape.jit.codegen.loops import local, loop, loops
from gtape.jit.codegen.spans import call_in_spans
from gtape.jit.graph.ir import Literal, Op, Value
from gtape.jit.schedule.nodes import EXPENSIVE, Reads, is_reshape, reads_of, words_of
from gtape.jit.schedule.plan import Kernel, Plan
from gtape.lowering import Map
from gtape.scalar import Call, Name, Tree
from gtape.sizes import same_shape

I1 = ir.IntType(1)
_LANES = 64  # elements of a result whose folds run side by side


class KernelCode:
    """The LLVM function of a kernel.

    Args:
        body: Emits scalar expressions.
        plan: The plan around the kernel.
        kernel: The kernel.
        numbers: The types in registers of the numbers around it.
        sizes: The unknown lengths around it.
        name: The function's name.

    The function takes the addresses of what it reads and writes, the numbers, the
    lengths and an address where it notes that an index was out of range.
    """

    def __init__(
        self,
        body: Body,
        plan: Plan,
        kernel: Kernel,
        numbers: Callable[[Value], Scalar],
        sizes: Sizes,
        name: str,
    ) -> None:
        self._body = body
        self._kernel = kernel
        self._plan = plan
        self.reads: Reads = reads_of(
            plan, [*kernel.stores, *[f.inputs[0] for f in kernel.folds]], kernel.stores
        )
        self.results: list[Value] = [f.outputs[0] for f in kernel.folds]
        self.unknowns = [u for u, n in sizes.known.items() if not isinstance(n, int)]
        self.numbers = list(self.reads.numbers)
        kinds = [memory_type(v.dtype).as_pointer() for v in self._pointed()]
        kinds += [numbers(n).value.type for n in self.numbers]
        kinds += [I64 for _ in self.unknowns]
        kinds.append(I64.as_pointer())
        if not kernel.folds:
            kinds += [I64, I64]  # the range of indices
        module = body.module
        self.function = ir.Function(
            module, ir.FunctionType(ir.VoidType(), kinds), name=name
        )
        self.function.linkage = "internal"
        for parameter in self.function.args[: len(self._pointed())]:
            parameter.add_attribute("noalias")
        self._emit(numbers, sizes)

    def _pointed(self) -> list[Any]:
        """Return what is given by its address."""
        stores = [*self._kernel.stores, *self.results]
        return [*self.reads.arrays, *self.reads.literals, *stores]

    def call(
        self,
        b: ir.IRBuilder,
        pointer: Callable[[Any], ir.Value],
        number: Callable[[Value], Scalar],
        sizes: Sizes,
        flag: ir.Value,
        threads: ir.Value,
    ) -> None:
        """Emit a call of the function, over threads where that is worth it."""
        given = [pointer(v) for v in self._pointed()]
        given += [number(n).value for n in self.numbers]
        given += [as_value(sizes.known[u]) for u in self.unknowns]
        given.append(flag)
        if self._kernel.folds:
            b.call(self.function, given)
            return
        space = self._kernel.space
        elements = count = sizes.product(b, space)
        if not self._is_flat():
            count = sizes.of(b, space[0])
        cost = cost_of(self.reads.inside)
        call_in_spans(b, self.function, given, count, elements, cost, threads)

    # --- Inside -----------------------------------------------------------------------

    def _emit(self, numbers: Callable[[Value], Scalar], sizes: Sizes) -> None:
        args = list(self.function.args)
        pointed = self._pointed()
        b = ir.IRBuilder(self.function.append_basic_block())
        pointers = dict(zip(pointed, args, strict=False))
        rest = args[len(pointed) :]
        known = {
            n: Scalar(numbers(n).dtype, value)
            for n, value in zip(self.numbers, rest, strict=False)
        }
        lengths = dict(sizes.known)
        lengths |= dict(zip(self.unknowns, rest[len(self.numbers) :], strict=False))
        self._sizes = Sizes(lengths, sizes.noted)
        self._bad = local(b, I1)
        b.store(I1(0), self._bad)
        loads = {v: p for v, p in pointers.items() if isinstance(v, Value)}
        for value in (*self._kernel.stores, *self.results):
            loads.pop(value, None)
        literal: Callable[[Literal], ir.Value] = pointers.__getitem__
        memory = Memory(self._plan, loads, known, self._sizes, literal)
        self._pointers = pointers
        self._read = Evaluator(self._body, memory, self._kernel.stores, self._fail)
        if self._kernel.folds:
            self._fold(b)
        else:
            self._map(b)
        with b.if_then(b.load(self._bad), likely=False):
            b.store(I64(1), rest[len(self.numbers) + len(self.unknowns)])
        b.ret_void()

    def _fail(self, b: ir.IRBuilder, outside: ir.Value) -> None:
        b.store(b.or_(b.load(self._bad), outside), self._bad)

    def _space(self, b: ir.IRBuilder) -> list[Int]:
        return [self._sizes.of(b, dim) for dim in self._kernel.space]

    def _write(self, b: ir.IRBuilder, place: Place) -> None:
        """Emit the values that are stored at a place."""
        for value in self._kernel.stores:
            found = self._read.at(b, value, place)
            position = place.position(b, self._sizes, value.shape)
            address = b.gep(self._pointers[value], [as_value(position)])
            store(b, found, address, value.dtype)

    def _map(self, b: ir.IRBuilder) -> None:
        begin, end = self.function.args[-2:]
        with loop(b, b.sub(end, begin)) as k:
            first = add(b, begin, k)
            if self._is_flat():
                self._write(b, Place(flat=first))
                return
            with loops(b, self._space(b)[1:]) as places:
                self._write(b, Place((first, *places)))

    def _is_flat(self) -> bool:
        """Return whether all is read in the order in which it lies in memory."""
        space = self._kernel.space
        for node in self.reads.inside:
            lowering = node.primitive.lowering
            if is_reshape(node):
                continue
            if not isinstance(lowering, Map) or _counts(lowering.tree, node):
                return False
            shape = tuple(node.outputs[0].shape)
            for atom in node.inputs:
                whole = not atom.ndim or same_shape(tuple(atom.shape), shape)
                if not whole and not _is_uniform(atom):
                    return False
        return bool(space)

    # --- Folds ------------------------------------------------------------------------

    def _fold(self, b: ir.IRBuilder) -> None:
        kernel = self._kernel
        space = self._space(b)
        axes = sorted(kernel.axes)
        kept = [k for k in range(len(space)) if k not in axes]
        count: Int = 1
        for axis in axes:
            count = mul(b, count, space[axis])
        if not kept and self._is_flat():
            accumulators = self._accumulators(b, 1)
            self._rows(b, accumulators, [], count, lambda _, i: Place(flat=i))
            self._finish(b, accumulators, count, Place(()))
        elif not axes or not kept or axes[-1] == len(space) - 1:
            self._fold_rows(b, space, axes, kept, count)
        else:
            self._fold_columns(b, space, axes, kept, count)

    def _accumulators(self, b: ir.IRBuilder, lanes: int) -> list[Accumulator]:
        return [Accumulator(b, self._body, f, lanes) for f in self._kernel.folds]

    def _fold_rows(
        self,
        b: ir.IRBuilder,
        space: Sequence[Int],
        axes: Sequence[int],
        kept: Sequence[int],
        count: Int,
    ) -> None:
        """Emit folds whose last axis is the last of the space."""
        accumulators = self._accumulators(b, 1)
        with loops(b, [space[k] for k in kept]) as outer:
            self._read.forget()
            place = dict(zip(kept, outer, strict=True))
            before, last = list(axes[:-1]), axes[-1] if axes else -1

            def at(inner: Sequence[Int], i: Int) -> Place:
                found = {**place, **dict(zip(before, inner, strict=True)), last: i}
                return Place(tuple([found[k] for k in range(len(space))]))

            self._rows(
                b,
                accumulators,
                [space[a] for a in before],
                space[last] if axes else 1,
                at,
            )
            self._read.forget()
            self._finish(b, accumulators, count, Place(tuple(outer)))

    def _rows(
        self,
        b: ir.IRBuilder,
        accumulators: Sequence[Accumulator],
        before: Sequence[Int],
        length: Int,
        at: Callable[..., Place],
    ) -> None:
        """Emit the loops of folds, the last in blocks."""
        for accumulator in accumulators:
            accumulator.begin(b)
        with loops(b, before) as inner:
            row: Int = 0
            for i, size in zip(inner, before, strict=True):
                row = add(b, mul(b, row, size), i)
            row = mul(b, row, length)
            blocks: Int = 1
            if not isinstance(length, int) or length > BLOCK:
                total = as_value(length)
                blocks = b.sdiv(b.add(total, I64(BLOCK - 1)), I64(BLOCK))
            with loop(b, blocks) as block:
                first = mul(b, block, BLOCK)
                size = _smaller(b, length, first)
                for accumulator in accumulators:
                    accumulator.begin_block(b)
                with loop(b, size) as k:
                    self._read.forget()
                    i = add(b, first, k)
                    place = at(inner, i)
                    self._take(b, accumulators, place, add(b, row, i), 0)
                self._read.forget()
                for accumulator in accumulators:
                    accumulator.end_block(b)

    def _take(
        self,
        b: ir.IRBuilder,
        accumulators: Sequence[Accumulator],
        place: Place,
        j: Int,
        lane: Int,
    ) -> None:
        self._write(b, place)
        for accumulator in accumulators:
            [atom] = accumulator.node.inputs
            accumulator.step(b, self._read.at(b, atom, place), j, lane)

    def _fold_columns(
        self,
        b: ir.IRBuilder,
        space: Sequence[Int],
        axes: Sequence[int],
        kept: Sequence[int],
        count: Int,
    ) -> None:
        """Emit folds over other axes than the last: many elements side by side."""
        *others, last = kept
        accumulators = self._accumulators(b, _LANES)
        columns = as_value(space[last])
        blocks = b.sdiv(b.add(columns, I64(_LANES - 1)), I64(_LANES))
        with loops(b, [*[space[k] for k in others], blocks]) as outer:
            first = mul(b, outer[-1], _LANES)
            place = dict(zip(others, outer[:-1], strict=True))
            width = _smaller(b, columns, first, _LANES)
            with loop(b, width) as lane:
                for accumulator in accumulators:
                    accumulator.begin(b, lane)
            with loops(b, [space[a] for a in axes]) as inner:
                j: Int = 0
                for i, axis in zip(inner, axes, strict=True):
                    j = add(b, mul(b, j, space[axis]), i)
                found = {**place, **dict(zip(axes, inner, strict=True))}
                with loop(b, width) as lane:
                    self._read.forget()
                    found[last] = add(b, first, lane)
                    whole = Place(tuple([found[k] for k in range(len(space))]))
                    self._take(b, accumulators, whole, j, lane)
            with loop(b, width) as lane:
                self._read.forget()
                at = {**place, last: add(b, first, lane)}
                result = Place(tuple([at[k] for k in kept]))
                self._finish(b, accumulators, count, result, lane)
            self._read.forget()

    def _finish(
        self,
        b: ir.IRBuilder,
        accumulators: Sequence[Accumulator],
        count: Int,
        place: Place,
        lane: Int = 0,
    ) -> None:
        """Emit the results of folds."""
        for accumulator in accumulators:
            [value] = accumulator.node.outputs
            found = accumulator.finish(b, count, lane)
            position = place.position(b, self._sizes, value.shape) if value.ndim else 0
            address = b.gep(self._pointers[value], [as_value(position)])
            store(b, cast(b, found, value.dtype), address, value.dtype)


_CHEAP, _DEAR = 0.15, 1.2  # nanoseconds of a word, in vectors of float32


def cost_of(nodes: Sequence[Op]) -> float:
    """Return about how many nanoseconds an element of a kernel takes."""
    cost = 0.0
    for node in nodes:
        lowering = node.primitive.lowering
        if isinstance(lowering, Map):
            wide = node.outputs[0].dtype.itemsize / 4
            for word in words_of(lowering.tree):
                cost += wide * (_DEAR if word in EXPENSIVE else _CHEAP)
        else:
            cost += _CHEAP
    return cost


def _smaller(b: ir.IRBuilder, length: Int, first: Int, most: int = BLOCK) -> Int:
    """Return how many numbers a block has that begins at a place."""
    if isinstance(length, int) and isinstance(first, int):
        return min(length - first, most)
    left = b.sub(as_value(length), as_value(first))
    return b.select(b.icmp_signed("<", left, I64(most)), left, I64(most))


def _counts(tree: Tree, node: Op) -> bool:
    """Return whether an expression names the index, of a tensor of rank 2 or more."""
    if isinstance(tree, Name):
        index = tree.name[:1] == "i" and tree.name[1:].isdigit()
        return index and node.outputs[0].ndim > 1
    return isinstance(tree, Call) and any(_counts(t, node) for t in tree.operands)


def _is_uniform(atom: Any) -> bool:
    if not isinstance(atom, Literal):
        return False
    first = atom.array.reshape(-1)[:1]
    return bool(atom.array.size and (atom.array == first).all())
