"""`Executable`: a compiled graph, its memory between calls, and its calls."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from gtape.config import settings
from gtape.errors import TensorMemoryError
from gtape.jit.backend.cpu import compiled, host
from gtape.jit.codegen.body import Body, memory_type, store
from gtape.jit.codegen.frame import DONE, NO_MEMORY, POINTER, STOPPED, UNFIT, Frame
from gtape.jit.codegen.index import I64, Decision, NotCompiledError, Sizes, as_value
from gtape.jit.codegen.program import Code, Region
from gtape.jit.graph.ir import Graph, Literal, Value
from gtape.jit.schedule.fuse import plan_of
from gtape.jit.schedule.plan import Plan
from gtape.sizes import Size, Unknown, value_of

_ENTRY = "gtape_entry"


class Executable:
    """A graph as machine code.

    Args:
        graph: The graph.
        results: How many of its outputs are results, which calls may give memory to
            again; the others are kept by tapes, and freed with these.

    Raises:
        NotCompiledError: If it has something that is not compiled.
    """

    def __init__(self, graph: Graph, results: int = 0) -> None:
        self._graph = graph
        if not host().has_halves and _has_halves(graph):
            raise NotCompiledError("float16 is not compiled for this processor")
        self.plan: Plan = plan_of(graph)
        self._literals = _arrays(self.plan)
        self._lengths = _shown(graph)
        self._decisions: list[Decision] = []
        self._outs = [
            _Out(out, self._lengths, place < results)
            for place, out in enumerate(graph.outputs)
        ]
        self._reported = sum([1 + out.rank for out in self._outs if out.is_grown])
        module, slots = self._module()
        self._slots = slots
        self._compiled = compiled(module, _ENTRY)
        self._call = self._compiled.call
        self._memory = threading.local()
        self._constants = tuple(
            [np.require(a.array, requirements=["C", "A"]) for a in self._literals]
        )
        self._is_plain = all(out.is_small for out in self._outs)
        self._shapes = [(out.shape, out.dtype) for out in self._outs]

    # --- Code -------------------------------------------------------------------------

    def _module(self) -> tuple[ir.Module, int]:
        graph = self._graph
        module = ir.Module(name="gtape")
        frame = Frame(module, "gtape_program")
        frame.function.linkage = "internal"
        b = frame.builder
        code = Code(frame, Body(module, host().vector, contract=False))
        pointers: dict[Value, Any] = {}
        numbers: dict[Value, Any] = {}
        lengths: dict[Unknown, Any] = {}
        place = 0
        for value in graph.inputs:
            item = frame.item(place)
            place += 1
            if not value.ndim:
                numbers[value] = frame.number(item, value.dtype)
                continue
            pointers[value] = frame.array(item, value.dtype)
            for axis, dim in enumerate(value.shape):
                if type(dim) is Size and dim.unknown is not None:
                    lengths.setdefault(dim.unknown, frame.length(item, axis))
        for literal in self._literals:
            code.literals[literal] = frame.array(frame.item(place), literal.dtype)
            place += 1
        results: list[Any] = []
        for out, how in zip(graph.outputs, self._outs, strict=True):
            if how.is_grown:
                results.append(None)
                continue
            data = frame.data(frame.item(place))
            results.append(b.bitcast(data, memory_type(out.dtype).as_pointer()))
            place += 1
        report = b.bitcast(frame.data(frame.item(place)), I64.as_pointer())
        frame.use_table(frame.item(place + 1))
        targets: dict[Value, Any] = {}
        for out, result in zip(graph.outputs, results, strict=True):
            if result is None or not isinstance(out, Value) or not out.ndim:
                continue
            if out not in pointers:
                targets.setdefault(out, result)
        sizes = Sizes(lengths, self._decisions)
        region = Region(code, self.plan, sizes, pointers, numbers, targets)
        region.emit(b)
        said = 0
        for out, result in zip(graph.outputs, results, strict=True):
            if result is None:
                address = b.ptrtoint(region.pointer(out), I64)
                dims = [region.sizes.of(b, d) for d in out.shape]
                for number in (address, *dims):
                    b.store(as_value(number), b.gep(report, [I64(said)]))
                    said += 1
            elif not out.ndim:
                store(b, region.number(out), result, out.dtype)
            elif region.pointer(out) is not result:
                held = region.pointer(out)
                frame.copy(b, result, held, region.bytes_of(b, out))
        frame.finish()
        _entry(module, frame)
        return module, frame.slots

    # --- Calls ------------------------------------------------------------------------

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...] | None:
        """Return the outputs of a call, `None` where the program cannot compute them.

        Raises:
            MemoryError: If memory runs out.
        """
        try:
            table = self._memory.table
        except AttributeError:
            table = self._memory.table = _Table(self._slots)
        if table.threads != settings.num_threads:
            table.use(settings.num_threads)
        if self._is_plain and not self._decisions:
            outs = [np.empty(shape, dtype) for shape, dtype in self._shapes]
            rest = (*self._constants, *outs, _NOTHING, table.array)
            if self._call((*arrays, *rest)) == DONE:
                return tuple([out if out.ndim else out[()] for out in outs])
        return self._run(arrays, table)

    def _run(self, arrays: Sequence[Any], table: _Table) -> tuple[Any, ...] | None:
        sizes: dict[Unknown, int] = {}
        for unknown, (place, axis) in self._lengths.items():
            sizes[unknown] = arrays[place].shape[axis]
        for decision in self._decisions:
            if not decision.holds_for(sizes):
                return None
        outs = [out.empty(sizes, table.kept) for out in self._outs if not out.is_grown]
        report = _NOTHING if not self._reported else np.empty(self._reported, np.int64)
        rest = (*self._constants, *outs, report, table.array)
        status = self._call((*arrays, *rest))
        if status == UNFIT:
            tidy = [
                np.require(a, requirements=["C", "A"]) if a.ndim else a for a in arrays
            ]
            status = self._call((*tidy, *rest))
        if status == NO_MEMORY:
            raise TensorMemoryError(
                "a function needs more memory than there is", "Use less at once"
            )
        if status != DONE:
            return None
        if self._reported:
            outs = _with_grown(self._outs, outs, report.tolist())
        return tuple([out if out.ndim else out[()] for out in outs])

    def code(self) -> str:
        """Return the optimized LLVM code."""
        return str(host().optimized(self._module()[0]))


class _Out:
    """A result.

    Args:
        atom: What it is in the graph.
        lengths: The sizes that are known before the program runs.
        returns: Whether memory of earlier calls may be given again.
    """

    def __init__(
        self, atom: Any, lengths: Mapping[Unknown, Any], returns: bool
    ) -> None:
        self._returns = returns
        self.shape = tuple(atom.shape)
        self.dtype = atom.dtype
        self.rank = len(self.shape)
        open_sizes = [d for d in self.shape if type(d) is Size]
        self._is_fixed = not open_sizes
        count = math.prod(self.shape) if self._is_fixed else 0
        self.is_small = self._is_fixed and count * self.dtype.itemsize < _LARGE
        self.is_grown = any(not d.unknowns() <= lengths.keys() for d in open_sizes)

    def empty(self, sizes: Mapping[Unknown, int], kept: dict[_Out, list[Any]]) -> Any:
        """Return an array for it.

        Args:
            sizes: The sizes of the call.
            kept: The large results of calls before. Those that nobody else holds any
                more are given again: new memory would cost a fault for each page.
        """
        shape = self.shape
        if not self._is_fixed:
            shape = tuple([value_of(d, sizes) for d in shape])
        if self.is_small or not self._returns:
            return np.empty(shape, self.dtype)
        before = kept.setdefault(self, [])
        for array in before:
            if sys.getrefcount(array) == _OURS and array.shape == shape:
                return array
        array = np.empty(shape, self.dtype)
        if _LARGE <= array.nbytes <= _LARGEST:
            before.append(array)
            del before[:-_KEPT]
        return array


def _with_grown(
    how: Sequence[_Out], outs: Sequence[Any], report: Sequence[int]
) -> list[Any]:
    """Return all results; those whose size the program has found are copied."""
    found, given, said = [], iter(outs), iter(report)
    for out in how:
        if not out.is_grown:
            found.append(next(given))
            continue
        address = next(said)
        array = np.empty([next(said) for _ in out.shape], out.dtype)
        ctypes.memmove(array.ctypes.data, address, array.nbytes)
        found.append(array)
    return found


_LARGE, _LARGEST = 1 << 17, 1 << 28
"""Results of so many bytes, at least and at most, are kept to be given again."""

_KEPT = 2  # one that the caller still holds, and one for the next call
_OURS = 3  # references: the list, the loop, the argument

_NOTHING = np.empty(0, np.int64)


class _Table:
    """Memory that a program keeps between the calls of a thread.

    Args:
        rows: How many pieces.
    """

    def __init__(self, rows: int) -> None:
        self.array = np.zeros((rows, 2), np.int64)
        self.threads: int | None = 0
        self.kept: dict[_Out, list[Any]] = {}
        self._free = _FREE

    def use(self, threads: int | None) -> None:
        """Set the number of threads; `None` for as many as there are processors."""
        self.threads = threads
        self.array[0, 0] = _processors() if threads is None else threads

    def __del__(self) -> None:
        for address in self.array[1:, 0].tolist():
            if address:
                self._free(address)


def _processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


_FREE = ctypes.CDLL(None).free
_FREE.argtypes = [ctypes.c_void_p]
_FREE.restype = None


def _entry(module: ir.Module, frame: Frame) -> None:
    """Emit what Python calls: it leaves the interpreter to others meanwhile."""
    function = ir.Function(
        module, ir.FunctionType(POINTER, [POINTER, POINTER]), name=_ENTRY
    )
    b = ir.IRBuilder(function.append_basic_block())
    save = frame.library("PyEval_SaveThread", POINTER, [])
    restore = frame.library("PyEval_RestoreThread", ir.VoidType(), [POINTER])
    number = frame.library("PyLong_FromLongLong", POINTER, [I64])
    state = b.call(save, [])
    status = b.call(frame.function, [function.args[1]])
    b.call(restore, [state])
    with b.if_then(b.icmp_signed("==", status, I64(STOPPED)), likely=False):
        b.ret(POINTER(None))  # the exception of the signal is set
    b.ret(b.call(number, [status]))


def _arrays(plan: Plan) -> list[Literal]:
    """Return the arrays of rank 1 or more that a plan knows."""
    found: dict[Literal, None] = {}

    def walk(graph: Graph) -> None:
        atoms = [a for node in graph.nodes for a in node.inputs]
        for atom in (*atoms, *graph.outputs):
            if isinstance(atom, Literal) and atom.ndim:
                found[atom] = None
        for node in graph.nodes:
            for region in node.regions:
                walk(region)

    walk(plan.graph)
    return list(found)


def _has_halves(graph: Graph) -> bool:
    """Return whether a graph computes with float16."""
    values = [*graph.inputs, *[v for node in graph.nodes for v in node.outputs]]
    inner = [region for node in graph.nodes for region in node.regions]
    return any(v.dtype.name == "float16" for v in values) or any(
        map(_has_halves, inner)
    )


def _shown(graph: Graph) -> dict[Unknown, tuple[int, int]]:
    """Return which axis of which input each unknown size is."""
    found: dict[Unknown, tuple[int, int]] = {}
    for place, value in enumerate(graph.inputs):
        for axis, dim in enumerate(value.shape):
            if type(dim) is Size and dim.unknown is not None:
                found.setdefault(dim.unknown, (place, axis))
    return found
