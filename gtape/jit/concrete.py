"""`Concrete`: a function traced for one signature: what it takes, holds and gives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.dtypes import as_dtype
from gtape.eager import EagerTensor
from gtape.jit.arguments import Arguments, Choice, StandIn, pattern_of
from gtape.jit.gradient import Program, run_program
from gtape.jit.hooks.captures import lasting
from gtape.jit.results import Packer, filled
from gtape.jit.signature import Bound, Leaf, as_array
from gtape.jit.tracing.state import Slot, check_guard
from gtape.jit.tracing.tracer import Trace
from gtape.jit.writes import Writes
from gtape.sizes import is_size
from gtape.spec import TensorSpec
from gtape.variable import Variable

Read = Callable[[Bound], EagerTensor]


class Concrete:
    """A function traced for one signature.

    Args:
        name: The function's name.
        trace: The trace, at its end.
        bound: The arguments of the call that was traced.
        shapes: Their sizes; those that may differ from call to call are unknown.
        arguments: What the function was called with.
        choice: How the arguments were treated.
        out: What the function returned.
        reason: Why it was traced.
        optimize: Whether to run the passes.
        compiled: Whether to compile the graph.
    """

    def __init__(
        self,
        name: str,
        trace: Trace,
        bound: Bound,
        shapes: Sequence[tuple[Any, ...]],
        arguments: Arguments,
        choice: Choice,
        out: Any,
        reason: str,
        optimize: bool,
        compiled: bool,
    ) -> None:
        self.name = name
        self.reason = reason
        self.notes = trace.notes
        # As text: comparing sizes would decide something.
        self.guards = list({f"{g[:3]}": g for g in trace.guards}.values())
        self.created = list(trace.created)
        self.leaves = [leaf._replace(value=_kept(leaf)) for leaf in bound.leaves]
        self.shapes = list(shapes)
        packer = Packer()
        with trace.root.tracing():
            self.plan = packer.planned(out, name)
            count = len(packer.symbols)
            self.writes = Writes(trace, packer, arguments)
            cells = [c for c in trace.cells.values() if c.current is not c.entry]
            final = [cell.current for cell in cells]
            # Before arguments that were assigned to by item are again what they were.
            atoms = [trace.root.atom(s) for s in (*packer.symbols, *final)]
            trace.root.region.restore()
        self._first_cell = len(packer.symbols)
        graph = trace.root.builder.close(atoms)
        services = trace.services
        self.program = Program(graph, count, name, services, optimize, compiled)
        self.captures = lasting(trace)
        self._outer = list(trace.outer.values())  # guards go by their identity
        self._places = arguments.places
        self._targets = [_found(cell.owner, self._places) for cell in cells]
        states = [c.owner for c in trace.cells.values() if hasattr(c.owner, "turn")]
        self._states = sorted(states, key=id)  # one order for all, or threads may hang
        self._connect(trace, arguments)
        self._note_identities(bound, choice)
        # Unknown sizes keep the trace alive, but need not keep what it was made of.
        trace.values.clear()
        trace.root.region.made.clear()
        trace.root.region.log.clear()

    def _connect(self, trace: Trace, arguments: Arguments) -> None:
        """Note where each call finds the inputs of the graph."""
        self.slots = _ordered(trace, self.program)
        read = trace.root.region.variables
        self.argument_places = list(arguments.inputs)
        self.other_reads = [_slot(s, arguments.places, read) for s in self.slots]
        self._reads = [_argument(i) for i in arguments.inputs] + self.other_reads
        outer = [s for s in self.slots if not isinstance(s.owner, StandIn)]
        self.variables = [s.owner for s in outer if s.kind == "variable"]
        self.captured = [s.owner for s in outer if s.kind != "number"]
        self._specs = [
            (s.owner, s.value.spec.shape)
            for s in self.slots
            if s.kind == "array" or getattr(s.owner, "_shape", None) is not None
        ]

    def _note_identities(self, bound: Bound, choice: Choice) -> None:
        """Note which arguments have to be the same object as others."""
        self.pins = choice.pins
        self.held = {i: bound.leaves[i].value for i in choice.held}
        given = any(leaf.kind == "variable" for leaf in bound.leaves)
        captured = {id(v) for v in self.variables} if given else set()
        self._captured = captured - {id(v) for v in self.held.values()}
        self._pattern = pattern_of(bound) if self.writes.into_arguments else None

    # --- Fitting ----------------------------------------------------------------------

    def fits(self, bound: Bound) -> bool:
        """Return whether a call with the same key may use this trace."""
        sizes: dict[Any, int] = {}
        for mine, leaf in zip(self.shapes, bound.leaves, strict=True):
            if mine is not leaf.shape and not _bind(mine, leaf.shape, sizes):
                return False
        if self.held and not self.same_variables(bound):
            return False
        if self._captured and self.captured_as_argument(bound):
            return False
        if self._pattern is not None and pattern_of(bound) != self._pattern:
            return False
        return not self.guards or all(check_guard(g, sizes) for g in self.guards)

    def other_sizes(self, bound: Bound) -> str | None:
        """Return in words what would be decided otherwise for the sizes of a call."""
        sizes: dict[Any, int] = {}
        for mine, leaf in zip(self.shapes, bound.leaves, strict=True):
            if not _bind(mine, leaf.shape, sizes):
                return "sizes that were equal differ"
        for guard in self.guards:
            if not check_guard(guard, sizes):
                what = f"whether {guard.left} {guard.relation} {guard.right}"
                if guard.relation == "number":
                    what = f"that the size {guard.left} is {guard.right}"
                return f"it was decided {what} (at {guard.origin})"
        return None

    def same_variables(self, bound: Bound) -> bool:
        """Return whether the variables are those that the trace has asked for."""
        return all(bound.leaves[i].value is v for i, v in self.held.items())

    def captured_as_argument(self, bound: Bound) -> bool:
        """Return whether a variable is now an argument that was only captured."""
        return any(
            leaf.kind == "variable" and id(leaf.value) in self._captured
            for leaf in bound.leaves
        )

    def captured_places(self, bound: Bound) -> frozenset[int]:
        """Return the variables among the arguments that came in another way, too."""
        outer = {id(thing) for thing in (*self.variables, *self._outer)}
        return frozenset(
            i
            for i, leaf in enumerate(bound.leaves)
            if leaf.kind == "variable" and id(leaf.value) in outer
        )

    def shares(self) -> bool:
        """Return whether the trace writes into arguments of which two are the same."""
        pattern = self._pattern
        return pattern is not None and len(set(pattern)) < len(pattern)

    def other_numbers(self) -> set[Any]:
        """Return the places outside where another number stands now."""
        return {c.key for c in self.captures if c.is_other_number()}

    def broken(self) -> str | None:
        """Return what has changed in the world outside in words, if anything has."""
        for capture in self.captures:
            if not capture.holds():
                return capture.said()
        for owner, shape in self._specs:
            array = owner._tensor._array if isinstance(owner, Variable) else owner
            if array.shape != shape:
                name = getattr(owner, "name", "an array")
                return f"{name} had shape {tuple(shape)}, has {array.shape}"
        return None

    # --- Running ----------------------------------------------------------------------

    def run(self, bound: Bound) -> Any:
        """Run the graph, write what it writes, and return the result."""
        # Whoever draws from the same generators waits: no number is drawn twice.
        with contextlib.ExitStack() as turns:
            for state in self._states:
                turns.enter_context(state.turn)
            inputs = [read(bound) for read in self._reads]
            outs = run_program(self.program, inputs)
            result = filled(self.plan, outs)
            self.assign(bound, outs)
        for effect in self.writes.effects:
            effect.run(bound, outs)
        return result

    def assign(self, bound: Bound, outs: Sequence[Any]) -> None:
        """Give variables and random states what a run of the graph has made of them."""
        targets = zip(self._targets, outs[self._first_cell :], strict=True)
        for find, value in targets:
            _write(find(bound), value)

    @property
    def assigns(self) -> bool:
        """Whether a call assigns to variables or random states."""
        return bool(self._targets)

    @property
    def is_plain(self) -> bool:
        """Whether all that a call does beside its result is to assign variables."""
        given = any(leaf.kind != "tensor" for leaf in self.leaves)
        fixed = not (given or self.held or self._states or self.writes.effects)
        variable = all(isinstance(s.owner, Variable) for s in self.slots)
        return fixed and not self._specs and not self.created and variable

    def states(self, bound: Bound) -> list[Any]:
        """Return the variables and random states that a call reads or assigns."""
        slots = [s for s in self.slots if s.kind in ("variable", "state")]
        return [find(bound) for find in [_found(s.owner, self._places) for s in slots]]

    def signature(self) -> str:
        """Return the arguments in words."""
        return ", ".join(
            f"{leaf.name}: {_said(leaf, shape)}"
            for leaf, shape in zip(self.leaves, self.shapes, strict=True)
        )

    def __repr__(self) -> str:
        return f"<concrete function {self.name}({self.signature()})>"


def _bind(
    dims: Sequence[Any], lengths: Sequence[int | None], sizes: dict[Any, int]
) -> bool:
    """Return whether lengths fit a shape, and note those of its unknown sizes."""
    for dim, length in zip(dims, lengths, strict=True):
        if not is_size(dim):
            if dim != length:
                return False
        elif length is not None and (
            length < dim.unknown.least
            or sizes.setdefault(dim.unknown, length) != length
        ):
            return False
    return True


def _kept(leaf: Leaf) -> Any:
    """Return what a trace keeps of an argument: objects stay alive, arrays do not."""
    return None if leaf.kind in ("tensor", "variable", "spec") else leaf.value


def _ordered(trace: Trace, program: Program) -> list[Slot]:
    """Return the inputs beside the arguments, in the order of the graph's."""
    order = {value: i for i, value in enumerate(program.graph.inputs)}
    return sorted(trace.slots, key=lambda slot: order[slot.value])


# --- Inputs of the graph --------------------------------------------------------------


def _argument(place: int) -> Read:
    def read(bound: Bound) -> EagerTensor:
        leaf = bound.leaves[place]
        if isinstance(leaf.value, EagerTensor):
            return leaf.value
        return EagerTensor(as_array(leaf))

    return read


def _slot(slot: Slot, places: dict[int, int], read: dict[int, Any]) -> Read:
    """Return what reads an input that is no argument in itself."""
    owner = slot.owner
    if slot.kind == "variable":
        find = _found(owner, places)
        if owner._key not in read:  # it is assigned only: tapes do not watch it
            return lambda bound: find(bound)._tensor
        return _variable(find)
    if slot.kind == "tensor":
        return lambda _: owner
    if slot.kind == "number":
        scalar = slot.value.dtype.type
        return lambda _: EagerTensor(scalar(owner.read()))
    if slot.kind == "array":
        dtype = slot.value.dtype  # an array may have its bytes in another order
        return lambda _: EagerTensor(np.array(owner, dtype))
    return lambda _: EagerTensor(np.array([owner.seed, owner.counter], np.uint64))


def _variable(find: Callable[[Bound], Any]) -> Read:
    def read(bound: Bound) -> EagerTensor:
        tensor: EagerTensor = find(bound).__gtape_tensor__()
        return tensor

    return read


def _found(owner: Any, places: dict[int, int]) -> Callable[[Bound], Any]:
    """Return what finds the variable that a slot or cell belongs to, in a call."""
    if isinstance(owner, StandIn):
        place = places[id(owner)]
        return lambda bound: bound.leaves[place].value
    return lambda _: owner


# --- What the graph assigns -----------------------------------------------------------


def _write(owner: Any, value: EagerTensor) -> None:
    if isinstance(owner, Variable):
        dispatch.interpreter().assign(owner, value)
        for recorder in dispatch.recorders():
            recorder.assigned(owner, value)
    else:
        seed, counter = value._array.tolist()
        owner.reset(seed, counter)


def _said(leaf: Leaf, shape: Sequence[Any]) -> str:
    if leaf.kind in ("tensor", "spec", "variable"):
        spec = TensorSpec(shape, as_dtype(leaf.key[1]))
        return f"{'variable ' if leaf.kind == 'variable' else ''}{spec}"
    if leaf.kind in ("int", "float"):
        return leaf.kind
    return repr(leaf.value)
