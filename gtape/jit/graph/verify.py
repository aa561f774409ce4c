"""The invariants of a graph; a violation names the node and the user's line.

A pass that breaks one is at fault, not the user: tests verify after each pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from gtape.dtypes import bool_, int64
from gtape.errors import DTypeError, GraphError, GtapeError
from gtape.jit.graph.attrs import changed_sizes, same_dims
from gtape.jit.graph.ir import (
    NOWHERE,
    Atom,
    Cond,
    For,
    Graph,
    Literal,
    Node,
    Op,
    Value,
    While,
)
from gtape.sizes import Size, Unknown
from gtape.spec import TensorShape, TensorSpec

_BOOL = TensorSpec((), bool_)
_COUNT = TensorSpec((), int64)


def verify(graph: Graph) -> None:
    """Require that a graph keeps every invariant.

    Args:
        graph: The graph; its regions are verified, too.

    Raises:
        GraphError: If it does not, naming the node.
    """
    _Verifier().graph(graph, set())


class _Verifier:
    """Goes through a graph in order of execution."""

    def __init__(self) -> None:
        self.homes: dict[Value, Graph] = {}  # where each value is defined
        self.bare: dict[Unknown, Unknown] = {}  # unknowns that belong to no trace

    def graph(self, graph: Graph, unknowns: set[Unknown]) -> None:
        """Verify a graph; `unknowns` are those that the graph around it knows."""
        known: set[Value] = set()
        unknowns = set(unknowns)
        for value in graph.inputs:
            self._define(graph, value, known, unknowns, None)
        for node in graph.nodes:
            self._reads(node.inputs, known, node)
            self._node(node, unknowns)
            for value in node.outputs:
                self._define(graph, value, known, unknowns, node)
        self._reads(graph.outputs, known, None)

    def _define(
        self,
        graph: Graph,
        value: Value,
        known: set[Value],
        unknowns: set[Unknown],
        node: Node | None,
    ) -> None:
        if not isinstance(value, Value):
            _fail(node, f"defines {value!r}, which is no value")
        # One region may stand under two nodes; its values are then met twice.
        if value in known or self.homes.setdefault(value, graph) is not graph:
            _fail(node, f"defines a value of {value.spec} that is defined already")
        known.add(value)
        unknowns |= _unknowns(value.spec)

    def _reads(
        self, atoms: Sequence[Atom], known: set[Value], node: Node | None
    ) -> None:
        for i, atom in enumerate(atoms):
            if isinstance(atom, Literal):
                try:
                    _ = atom.spec
                except DTypeError as error:
                    _fail(node, f"reads a constant of no dtype of gtape: {error.what}")
            elif not isinstance(atom, Value):
                _fail(node, f"reads {atom!r}, which is neither value nor literal")
            elif atom not in known:
                what = "of another graph" if atom in self.homes else "defined nowhere"
                _fail(node, f"reads a value of {atom.spec} as input {i}, {what} before")

    def _node(self, node: Node, unknowns: set[Unknown]) -> None:
        if isinstance(node, Op):
            self._op(node)
        elif isinstance(node, Cond):
            self._cond(node, unknowns)
        elif isinstance(node, While):
            self._while(node, unknowns)
        elif isinstance(node, For):
            self._for(node, unknowns)
        else:
            _fail(node, "is no kind of node")
        for region in node.regions:
            self.graph(region, unknowns)

    # --- Operations -------------------------------------------------------------------

    def _op(self, node: Op) -> None:
        for value in node.attrs.values():
            if isinstance(value, Graph):
                self.graph(value, set())  # a rule is a function of its own
        specs = [self._bare(atom.spec) for atom in node.inputs]
        try:
            out = node.primitive.spec(*specs, **changed_sizes(node.attrs, self._own))
        except GtapeError as error:
            _fail(node, f"does not take its inputs: {error.what}")
        except ValueError as error:
            if "belongs to no trace" in str(error):
                return  # the rule wants to know a size: not for us to say
            raise
        wanted = tuple(out) if node.primitive.multiple else (out,)
        _count(node, "outputs", node.outputs, len(wanted))
        for i, (value, spec) in enumerate(zip(node.outputs, wanted, strict=True)):
            found = self._bare(value.spec)
            # Sizes that the shape rule leaves open may be anything.
            shape = [
                f if w is None else w
                for f, w in zip(found.shape, spec.shape, strict=False)
            ]
            if found.dtype != spec.dtype or len(spec.shape) != len(found.shape):
                _fail(node, f"has output {i} of {value.spec}, not {spec}")
            if not same_dims(found.shape, shape):
                _fail(node, f"has output {i} of {value.spec}, not {spec}")

    def _own(self, unknown: Unknown) -> Unknown:
        """Return an unknown that notes no guards, in the place of one."""
        if unknown not in self.bare:
            self.bare[unknown] = Unknown(unknown.name, least=unknown.least)
        return self.bare[unknown]

    def _bare(self, spec: TensorSpec) -> TensorSpec:
        shape = changed_sizes({"shape": tuple(spec.shape)}, self._own)["shape"]
        return TensorSpec(TensorShape(shape), spec.dtype)

    # --- Control flow -----------------------------------------------------------------

    def _cond(self, node: Cond, unknowns: set[Unknown]) -> None:
        if not node.inputs:
            _fail(node, "has no predicate")
        _fits(node, "the predicate", node.inputs[0].spec, _BOOL)
        operands = node.inputs[1:]
        for name, branch in (("then", node.then), ("else", node.orelse)):
            _count(node, f"inputs of its {name}", branch.inputs, len(operands))
            _count(node, f"outputs of its {name}", branch.outputs, len(node.outputs))
            for i, (inner, atom) in enumerate(
                zip(branch.inputs, operands, strict=True)
            ):
                _fits(node, f"input {i} of its {name}", inner.spec, atom.spec)
            pairs = zip(node.outputs, branch.outputs, strict=True)
            for i, (value, atom) in enumerate(pairs):
                what = f"output {i} against that of its {name}"
                fresh = _fresh(value.spec, unknowns)
                _fits(node, what, value.spec, atom.spec, fresh)

    def _while(self, node: While, unknowns: set[Unknown]) -> None:
        self._carry(node, node.inputs, node.body.inputs, unknowns)
        _count(node, "inputs of its test", node.test.inputs, len(node.inputs))
        pairs = zip(node.test.inputs, node.body.inputs, strict=True)
        for i, (inner, value) in enumerate(pairs):
            fresh = _fresh(inner.spec, unknowns) | _fresh(value.spec, unknowns)
            what = f"input {i} of its test"
            _fits(node, what, inner.spec, value.spec, fresh)
        _count(node, "outputs of its test", node.test.outputs, 1)
        _fits(node, "what its test gives", node.test.outputs[0].spec, _BOOL)
        stacks = len(node.body.outputs) - node.carried
        limited = node.limit is not None
        ends = node.carried + stacks
        _count(node, "outputs", node.outputs, ends + 1 + limited)
        for value in node.outputs[ends:]:
            _fits(node, "the number of trips or the stride", value.spec, _COUNT)
        self._results(node, unknowns)

    def _for(self, node: For, unknowns: set[Unknown]) -> None:
        if not node.inputs or not node.body.inputs:
            _fail(node, "has no number of trips")
        _fits(node, "the number of trips", node.inputs[0].spec, _COUNT)
        _fits(node, "the index of its body", node.body.inputs[0].spec, _COUNT)
        self._carry(node, node.inputs[1:], node.body.inputs[1:], unknowns)
        stacks = len(node.body.outputs) - node.carried
        limited = node.limit is not None
        if limited and node.reverse:
            _fail(node, "goes in reverse and has a limit")
        ends = node.carried + stacks
        _count(node, "outputs", node.outputs, ends + limited)
        for value in node.outputs[ends:]:
            _fits(node, "the stride", value.spec, _COUNT)
        self._results(node, unknowns)

    def _carry(
        self,
        node: While | For,
        operands: Sequence[Atom],
        inputs: Sequence[Value],
        unknowns: set[Unknown],
    ) -> None:
        """Verify the carry and the invariants: outside, and where a trip begins."""
        _count(node, "inputs of its body", inputs, len(operands))
        if not 0 <= node.carried <= min(len(inputs), len(node.body.outputs)):
            _fail(node, f"carries {node.carried} of {len(inputs)} values")
        for i, (inner, atom) in enumerate(zip(inputs, operands, strict=True)):
            carried = i < node.carried
            name = f"carry {i}" if carried else f"invariant {i - node.carried}"
            # The sizes of a carry that have names of their own in the body may be
            # others in each trip.
            fresh = _fresh(inner.spec, unknowns) if carried else frozenset()
            what = f"{name} at the start of a trip"
            _fits(node, what, inner.spec, atom.spec, fresh)
            if carried:
                end = node.body.outputs[i].spec
                what = f"{name} at the end of a trip"
                _fits(node, what, end, inner.spec, fresh)

    def _results(self, node: While | For, unknowns: set[Unknown]) -> None:
        """Verify the last carry and the stacks against what the body gives."""
        for i, atom in enumerate(node.body.outputs):
            value = node.outputs[i]
            fresh, spec = _fresh(value.spec, unknowns), value.spec
            what = f"the last carry {i}"
            if i >= node.carried:
                what = f"stack {i - node.carried}"
                if not spec.shape:
                    _fail(node, f"has {what} of {spec}, without an axis of trips")
                spec = spec.with_shape(tuple(spec.shape)[1:])
            _fits(node, what, spec, atom.spec, fresh)


# --- Comparisons ----------------------------------------------------------------------


def _unknowns(spec: TensorSpec) -> set[Unknown]:
    dims = [d for d in tuple(spec.shape) if type(d) is Size]
    return set().union(*[d.unknowns() for d in dims])


def _fresh(spec: TensorSpec, known: set[Unknown]) -> frozenset[int]:
    """Return the axes of which nobody knew the size before: counted from the back."""
    rank = len(spec.shape)
    return frozenset(
        i - rank
        for i, d in enumerate(tuple(spec.shape))
        if type(d) is Size and d.unknown is not None and d.unknown not in known
    )


def _fits(
    node: Node,
    what: str,
    found: TensorSpec,
    wanted: TensorSpec,
    free: Iterable[int] = (),
) -> None:
    """Require a spec of a node; `free` are axes, from the back, of any size."""
    rank = len(wanted.shape)
    a, b = list(found.shape), list(wanted.shape)
    for axis in free:
        if len(a) == rank and -axis <= rank:
            a[axis] = b[axis] = None
    if found.dtype != wanted.dtype or not same_dims(a, b):
        _fail(node, f"has {what} of {found}, not {wanted}")


def _count(node: Node, what: str, items: Sequence[Any], wanted: int) -> None:
    if len(items) != wanted:
        _fail(node, f"has {len(items)} {what}, not {wanted}")


def _fail(node: Node | None, what: str) -> NoReturn:
    if node is None:
        raise GraphError(f"verify: a graph {what}", _HINT, NOWHERE)
    name = node.primitive.name if isinstance(node, Op) else type(node).__name__.lower()
    raise GraphError(f"verify: {name} {what}", _HINT, node.origin)


_HINT = "This is a fault of gtape; please report it with the program"
