"""Random small graphs on scalars and vectors, with branches and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import gtape  # noqa: F401  (declares the primitives)
from gtape.jit.graph.ir import Atom, Cond, For, Graph, Literal, Node, Op, Value, While
from gtape.primitive import registry
from gtape.spec import TensorSpec

SCALAR = TensorSpec((), "float64")
VECTOR = TensorSpec((3,), "float64")
BOOL = TensorSpec((), "bool")
COUNT = TensorSpec((), "int64")

_UNARY = ["sin", "negative", "abs", "tanh", "identity", "square", "floor"]
_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "pow"]
_COMPARE = ["less", "greater_equal", "equal"]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.25, float("inf"), float("nan")]


class Maker:
    """Appends random nodes to a graph."""

    def __init__(self, draw: Any, inputs: tuple[Value, ...]) -> None:
        self.draw = draw
        self.inputs = inputs
        self.nodes: list[Node] = []
        self.known: list[Value] = list(inputs)

    def atom(self, spec: TensorSpec) -> Atom:
        values = [v for v in self.known if v.spec == spec]
        if values and self.draw(st.integers(0, 3)):
            return values[-1 - self.draw(st.integers(0, len(values) - 1))]
        number = self.draw(st.sampled_from(NUMBERS))
        if spec.dtype == "bool":
            return Literal(np.bool_(number > 0))
        if spec.dtype == "int64":
            return Literal(np.int64(self.draw(st.integers(0, 3))))
        return Literal(np.full(tuple(spec.shape), number)[()])

    def op(self, name: str, inputs: tuple[Atom, ...], **attrs: Any) -> Value:
        primitive = registry()[name]
        out = Value(primitive.spec(*[a.spec for a in inputs], **attrs))
        self.nodes.append(
            Op(inputs=inputs, outputs=(out,), primitive=primitive, attrs=attrs)
        )
        self.known.append(out)
        return out

    def add(self, kind: Any, inputs: Any, specs: Any, **parts: Any) -> None:
        outputs = tuple([Value(spec) for spec in specs])
        self.nodes.append(kind(inputs=tuple(inputs), outputs=outputs, **parts))
        self.known += outputs

    def node(self, depth: int) -> None:
        kind = self.draw(st.integers(0, 9 if depth else 5))
        spec = self.draw(st.sampled_from([SCALAR, SCALAR, VECTOR]))
        if kind <= 1:
            self.op(self.draw(st.sampled_from(_UNARY)), (self.atom(spec),))
        elif kind <= 3:
            other = self.draw(st.sampled_from([SCALAR, VECTOR]))
            pair = (self.atom(spec), self.atom(other))
            self.op(self.draw(st.sampled_from(_BINARY)), pair)
        elif kind == 4:
            self.arrange()
        elif kind == 5:
            pair = (self.atom(SCALAR), self.atom(SCALAR))
            self.op(self.draw(st.sampled_from(_COMPARE)), pair)
        elif kind <= 7:
            self.cond(depth)
        elif kind == 8:
            self.loop(depth)
        else:
            self.while_loop(depth)

    def arrange(self) -> None:
        which = self.draw(st.integers(0, 3))
        if which == 0:
            self.op("reduce_sum", (self.atom(VECTOR),), axes=(0,))
        elif which == 1:
            self.op("broadcast_to", (self.atom(SCALAR),), shape=(3,))
        elif which == 2:
            self.op("reshape", (self.atom(VECTOR),), shape=(3,))
        else:
            chosen = (self.atom(BOOL), self.atom(VECTOR), self.atom(SCALAR))
            self.op("where", chosen)

    def region(
        self, specs: list[TensorSpec], ends: list[TensorSpec], depth: int
    ) -> Graph:
        maker = Maker(self.draw, tuple([Value(spec) for spec in specs]))
        return maker.graph(ends, depth - 1, 3)

    def graph(self, ends: list[TensorSpec], depth: int, most: int) -> Graph:
        for _ in range(self.draw(st.integers(0, most))):
            self.node(depth)
        outputs = tuple([self.atom(spec) for spec in ends])
        return Graph(self.inputs, tuple(self.nodes), outputs)

    def specs(self, most: int) -> list[TensorSpec]:
        return self.draw(st.lists(st.sampled_from([SCALAR, VECTOR]), max_size=most))

    def cond(self, depth: int) -> None:
        inside, outside = self.specs(3), self.specs(2)
        predicate, operands = self.atom(BOOL), [self.atom(s) for s in inside]
        then, orelse = [self.region(inside, outside, depth) for _ in range(2)]
        self.add(Cond, [predicate, *operands], outside, then=then, orelse=orelse)

    def loop(self, depth: int) -> None:
        carry, fixed, rows = self.specs(2), self.specs(2), self.specs(1)
        trips = self.draw(st.integers(0, 3))
        operands = [self.atom(s) for s in (*carry, *fixed)]
        body = self.region([COUNT, *carry, *fixed], [*carry, *rows], depth)
        stacks = [TensorSpec((trips, *s.shape), s.dtype) for s in rows]
        reverse = self.draw(st.booleans())
        inputs = [Literal(np.int64(trips)), *operands]
        parts = {"body": body, "carried": len(carry), "reverse": reverse}
        self.add(For, inputs, [*carry, *stacks], **parts)

    def while_loop(self, depth: int) -> None:
        """A loop with a counter in front, so that it ends."""
        carry, fixed = [SCALAR, *self.specs(2)], self.specs(2)
        operands = [self.atom(s) for s in (*carry[1:], *fixed)]
        start = Literal(np.float64(self.draw(st.integers(0, 3))))
        test = Maker(self.draw, tuple([Value(s) for s in (*carry, *fixed)]))
        goes = test.op("greater", (test.inputs[0], Literal(np.float64(0))))
        condition = Graph(test.inputs, tuple(test.nodes), (goes,))
        maker = Maker(self.draw, tuple([Value(s) for s in (*carry, *fixed)]))
        less = maker.op("subtract", (maker.inputs[0], Literal(np.float64(1))))
        rest = maker.graph(carry[1:], depth - 1, 3)
        body = Graph(rest.inputs, rest.nodes, (less, *rest.outputs))
        specs = [*carry, COUNT]
        parts = {"test": condition, "body": body, "carried": len(carry)}
        self.add(While, [start, *operands], specs, **parts)


@st.composite
def graphs(draw: Any) -> Graph:
    """Return a graph of two scalars, a vector and a bool, without unknown sizes."""
    inputs = tuple([Value(s) for s in (SCALAR, SCALAR, VECTOR, BOOL)])
    maker = Maker(draw, inputs)
    made = maker.graph([], depth=3, most=8)
    # Whatever has been made last is returned, so that little of it is dead.
    return Graph(inputs, made.nodes, tuple(maker.known[-4:]))


ARGUMENTS = [
    (np.float64(0.3), np.float64(-1.7), np.array([0.5, -0.0, 2.0]), np.True_),
    (np.float64(-0.0), np.float64(np.inf), np.array([1.0, np.nan, -3.0]), np.False_),
]
