"""The graph: pure tensors, nodes in order of execution, closed regions.

Everything is frozen and compared by identity. A pass is a function from Graph to Graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from gtape.dtypes import NumpyDType, as_dtype
from gtape.errors import Origin, said_by
from gtape.jit.graph.printer import print_graph
from gtape.jit.graph.reader import Makers, read_graph
from gtape.primitive import Primitive
from gtape.spec import TensorSpec

NOWHERE = Origin("<graph>", 0, "graph")
"""The origin of nodes that no user's line stands behind."""


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """A tensor inside a graph: defined once, by a graph input or by one node."""

    spec: TensorSpec

    nbytes: ClassVar[int] = 0  # recorders keep it whole

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of the axes."""
        return self.spec.shape

    @property
    def dtype(self) -> NumpyDType:
        """The dtype of the elements, as arrays say it."""
        return self.spec.dtype.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.spec.shape)


@dataclass(frozen=True, eq=False, slots=True)
class Literal:
    """A constant known while tracing; its array must not change."""

    array: Any

    nbytes: ClassVar[int] = 0

    @property
    def spec(self) -> TensorSpec:
        """The shape and dtype."""
        return TensorSpec(self.array.shape, as_dtype(self.array.dtype))

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of the axes."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> NumpyDType:
        """The dtype of the elements."""
        return as_dtype(self.array.dtype).dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.array.shape)


Atom: TypeAlias = "Value | Literal"


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Node:
    """A step: outputs are computed from inputs."""

    inputs: tuple[Atom, ...]
    outputs: tuple[Value, ...]
    origin: Origin = NOWHERE

    @property
    def regions(self) -> tuple[Graph, ...]:
        """The graphs inside."""
        return ()


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Op(Node):
    """outputs = primitive(*inputs, **attrs); its errors are said by others, in turn."""

    primitive: Primitive
    attrs: dict[str, Any] = field(default_factory=dict)
    sayings: tuple[said_by, ...] = ()


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Cond(Node):
    """A choice: inputs = (predicate, *operands), both branches take the operands."""

    then: Graph
    orelse: Graph

    @property
    def regions(self) -> tuple[Graph, ...]:
        """The two branches."""
        return self.then, self.orelse


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class While(Node):
    """A loop with a test before each trip.

    inputs = (*carry, *invariants); test: (*carry, *invariants) -> (bool,); body:
    (*carry, *invariants) -> (*carry, *stacked); outputs = (*carry, *stacked with a
    leading axis that counts the trips, trips).
    """

    test: Graph
    body: Graph
    carried: int
    limit: int | None = None  # most bytes of the stacks; they then keep every k-th trip

    @property
    def regions(self) -> tuple[Graph, ...]:
        """The test and the body."""
        return self.test, self.body


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class For(Node):
    """A loop with a known number of trips.

    inputs = (trips, *carry, *invariants); body: (i, *carry, *invariants) -> (*carry,
    *stacked); outputs = (*carry, *stacked with leading axis trips). In reverse, i runs
    from trips - 1 to 0, and what trip i gives stands at i of the stacks.
    """

    body: Graph
    carried: int
    reverse: bool = False
    limit: int | None = None

    @property
    def regions(self) -> tuple[Graph, ...]:
        """The body."""
        return (self.body,)


@dataclass(frozen=True, eq=False, slots=True)
class Graph:
    """A closed function of tensors: nodes use its inputs and each other only.

    Sizes of its inputs that are unknowns are bound by the arrays it is called with; in
    a region the unknowns of the graph around it are known, too.
    """

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Atom, ...]

    def walk(self) -> Iterator[Node]:
        """Yield all nodes, those of regions after the node that holds them."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    def __str__(self) -> str:
        return print_graph(self)

    @classmethod
    def parse(cls, text: str, constants: dict[str, Any] | None = None) -> Graph:
        """Return the graph that a text says.

        Args:
            text: What `str(graph)` gives.
            constants: The large arrays, by the names that the text has for them.
        """
        make = Makers(cls, Value, Literal, Op, Cond, While, For)
        graph: Graph = read_graph(text, constants, make)
        return graph
