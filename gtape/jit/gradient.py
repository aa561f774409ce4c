"""`Program`: a graph that can be run and differentiated; one entry on a tape."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from gtape import dispatch
from gtape.batching import NeedsValue
from gtape.eager import EagerTensor
from gtape.errors import CompilationWarning, DTypeError, warn_once
from gtape.interpreter import EagerInterpreter
from gtape.jit.backend.executable import Executable
from gtape.jit.codegen.index import NotCompiledError
from gtape.jit.control.pull import STRUCTURES
from gtape.jit.control.structure import as_rule, is_float
from gtape.jit.graph.interpret import interpret
from gtape.jit.graph.ir import Graph
from gtape.jit.graph.replay import replay
from gtape.jit.graph.rewrite import used_values
from gtape.jit.passes import optimise
from gtape.jit.reverse import Reverse, reverse_of
from gtape.jit.tracing.state import Services, check_guard
from gtape.jit.tracing.tracer import Tracer
from gtape.lowering import Custom
from gtape.primitive import Primitive, only_recorded
from gtape.sizes import Unknown, is_size

Mask = tuple[bool, ...]


class Program:
    """A graph as something to run.

    Args:
        graph: As it was traced: its gradients are taken of it.
        results: How many of its outputs are results; the rest are new states.
        name: The function's name.
        services: What its traces need.
        optimised: Whether to run the graph after the passes, or as it is.
        compiled: Whether to compile it, if it holds nothing that is not compiled;
            otherwise it is interpreted.
    """

    def __init__(
        self,
        graph: Graph,
        results: int,
        name: str,
        services: Services,
        optimised: bool = True,
        compiled: bool = True,
    ) -> None:
        self.services = services
        self.compiled = compiled
        self._executable: Executable | None = None
        self._is_asked = not compiled  # whether it is settled what runs it
        self.graph = graph
        self.results = results
        self.name = name
        self.call = Call(name)
        self._optimised: Graph | None = None if optimised else graph
        self._reverses: dict[Any, list[Passes]] = {}
        self._used: frozenset[int] | None = None
        self._lock = threading.RLock()
        self.why_not = ""  # what is not compiled in it, if that is known
        # Of which results a gradient is likely wanted: all, until somebody has asked.
        floats = [is_float(out) for out in graph.outputs[:results]]
        self.expected: Mask = (*floats, *[False] * (len(graph.outputs) - results))

    @property
    def optimised(self) -> Graph:
        """The graph after the passes."""
        if self._optimised is None:
            with self._lock:
                if self._optimised is None:
                    self._optimised = optimise(self.graph)
        return self._optimised

    @property
    def used(self) -> frozenset[int]:
        """The inputs whose values are read."""
        if self._used is None:
            read = used_values(self.graph)  # of the passes some leave gradients aside
            places = [i for i, v in enumerate(self.graph.inputs) if v in read]
            self._used = frozenset(places)
        return self._used

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs, as arrays."""
        if not self._is_asked:
            self._compile()
        if self._executable is not None:
            outs = self._executable.run(arrays)
            if outs is not None:
                return outs
            # It met what it cannot compute, such as an index out of range: the
            # interpreter can, or knows the error.
        return interpret(self.optimised, arrays)

    def _compile(self) -> None:
        """Compile the graph, if it holds only what is compiled."""
        with self._lock:
            if not self._is_asked:
                try:
                    self._executable = Executable(self.optimised, self.results)
                except (NotCompiledError, DTypeError) as error:
                    self.why_not = error.what
                except Exception as error:
                    # The interpreter computes the same, only slower.
                    self.why_not = f"{type(error).__name__}: {error}"
                    warn_once(
                        f"{self.name} could not be compiled ({self.why_not}) and is "
                        "interpreted; please report it with the program",
                        CompilationWarning,
                    )
                self._is_asked = True

    def passes(
        self, mask: Mask, wanted: tuple[int, ...], sizes: dict[Unknown, int]
    ) -> Passes:
        """Return the programs of the reverse pass.

        Args:
            mask: Whether there is a cotangent, for each output.
            wanted: The inputs of which cotangents are wanted.
            sizes: The sizes of this call.
        """
        with self._lock:
            variants = self._reverses.setdefault((mask, wanted), [])
            for found in variants:
                if all(check_guard(g, sizes) for g in found.reverse.guards):
                    return found
            reverse = reverse_of(
                self.graph, mask, wanted, sizes, self.name, self.services
            )
            variants.append(Passes(self, mask, reverse))
            return variants[-1]


class Passes:
    """The programs of a reverse pass, each made when it is needed.

    Args:
        program: What is differentiated.
        mask: Whether there is a cotangent, for each output.
        reverse: The pass.
    """

    def __init__(self, program: Program, mask: Mask, reverse: Reverse) -> None:
        self.mask = mask
        self.reverse = reverse
        self._outputs = len(program.graph.outputs)
        count, name = len(reverse.reached), f"the gradient of {program.name}"

        def made(graph: Graph, results: int, name: str) -> Program:
            return Program(
                graph, results, name, program.services, True, program.compiled
            )

        self._forward = made(reverse.forward, program.results, program.name)
        self.backward = made(reverse.backward, count, name)
        self.whole = made(reverse.whole, count, name)

    def forward(self, arrays: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the outputs, and the residuals."""
        outs = self._forward.run(arrays)
        return outs[: self._outputs], outs[self._outputs :]


class Saved(NamedTuple):
    """What a call has kept for its reverse pass."""

    passes: Passes
    residuals: Sequence[Any]


def sizes_of(graph: Graph, arrays: Sequence[Any]) -> dict[Unknown, int]:
    """Return what the unknown sizes of a graph are for arrays."""
    found: dict[Unknown, int] = {}
    for value, array in zip(graph.inputs, arrays, strict=False):
        for dim, size in zip(value.spec.shape, array.shape, strict=True):
            if is_size(dim) and dim.unknown is not None:
                found[dim.unknown] = size
    return found


# --- As an operation ------------------------------------------------------------------


def _vjp(
    g: Sequence[Any],
    _out: Sequence[Any],
    *inputs: Any,
    program: Program,
    wanted: tuple[int, ...],
    saved: Saved | None,
) -> list[Any]:
    mask = tuple([c is not None for c in g])
    given = [c for c in g if c is not None]
    interpreter, recorders = dispatch.state()
    if saved is not None and saved.passes.mask != mask:
        saved = None
        if not recorders:
            program.expected = mask
    if saved is None or recorders or isinstance(interpreter, Tracer):
        # Somebody may want derivatives of the pass: they are by the inputs, through the
        # residuals, too, and of the graph as it was before the passes.
        sizes = sizes_of(program.graph, [x._array for x in inputs])
        passes = program.passes(mask, wanted, sizes)
        found = run_program(passes.whole, [*inputs, *given])
    else:
        passes = saved.passes
        residuals = [EagerTensor(array) for array in saved.residuals]
        found = run_program(passes.backward, [*inputs, *given, *residuals])
    pulled: list[Any] = [None] * len(inputs)
    for i, c in zip(passes.reverse.reached, found, strict=True):
        pulled[i] = as_rule(c)
    return pulled


class Call(Primitive):
    """A call of a program, as tapes see it.

    Args:
        name: The function's name.
    """

    __slots__ = ()
    listed = False

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            forward=only_recorded,
            spec=only_recorded,
            vjp=_vjp,
            lowering=Custom("call"),
            multiple=True,
            on_tensors=True,
        )


def run_program(program: Program, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Run a program on values of the current interpreter, and tell the recorders.

    Raises:
        NeedsValue: In a batch, if there are branches or loops: its elements then run
            one by one.
    """
    interpreter, recorders = dispatch.state()
    if not isinstance(interpreter, EagerInterpreter):
        if not isinstance(interpreter, Tracer) and _has_regions(program.graph):
            raise NeedsValue
        return tuple(replay(program.graph, inputs, STRUCTURES))
    tensors = [interpreter.convert(x) for x in inputs]
    arrays = [x._array for x in tensors]
    places = followed(recorders, tensors) if recorders else ()
    wanted = tuple([i for i in places if is_float(program.graph.inputs[i])])
    saved = None
    if wanted and any(program.expected):
        sizes = sizes_of(program.graph, arrays)
        passes = program.passes(program.expected, wanted, sizes)
        results, residuals = passes.forward(arrays)
        saved = Saved(passes, residuals)
    else:
        results = program.run(arrays)
    outs = tuple([EagerTensor(a, dispatch.UNFOLLOWED) for a in results])
    if recorders and outs:
        attrs = {"program": program, "wanted": wanted, "saved": saved}
        dispatch.record(program.call, _read(program, tensors), outs, attrs)
    return outs


def _read(program: Program, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
    """Return the operands, as constants where their values are not read."""
    used = program.used
    return [x if i in used else EagerTensor(x._array, 0) for i, x in enumerate(tensors)]


def _has_regions(graph: Graph) -> bool:
    return any(node.regions for node in graph.nodes)


def followed(recorders: Sequence[Any], values: Sequence[Any]) -> Sequence[int]:
    """Return the values that a recorder follows: only their gradients can be wanted."""
    found: set[int] = set()
    for recorder in recorders:
        known = getattr(recorder, "known", getattr(recorder, "by_key", None))
        if known is None:
            return range(len(values))
        found.update(i for i, x in enumerate(values) if x._key in known)
    return sorted(found)
