"""`Plan`: a graph as steps over memory: kernels, library calls, branches and loops.

A value of rank 0 stands in a register. Of the others some are stored, and the rest is
computed wherever a kernel reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gtape.jit.graph.ir import Cond, For, Graph, Op, Value, While

Dims: TypeAlias = "tuple[Any, ...]"


@dataclass(frozen=True, eq=False, slots=True)
class Register:
    """An operation on numbers.

    Args:
        node: The operation; its result has rank 0.
    """

    node: Op


@dataclass(eq=False, slots=True)
class Kernel:
    """Loops over one space of indices.

    Args:
        space: The sizes of its axes.
        axes: The axes that folds run over; none without folds.
        stores: The values that it writes, each of the shape of the space.
        folds: The folds of values over its space.
    """

    space: Dims
    axes: tuple[int, ...] = ()
    stores: list[Value] = field(default_factory=list)
    folds: list[Op] = field(default_factory=list)


@dataclass(frozen=True, eq=False, slots=True)
class LibraryCall:
    """An operation that a library, or code written by hand, computes.

    Args:
        node: The operation.
    """

    node: Op


@dataclass(frozen=True, eq=False, slots=True)
class Branch:
    """A choice of which the taken side runs.

    Args:
        node: The node.
        then: What runs where the predicate holds.
        orelse: What runs where it does not.
    """

    node: Cond
    then: Plan
    orelse: Plan


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """A loop.

    Args:
        node: The node.
        test: What tells whether there is another trip; `None` for a counted loop.
        body: A trip.
    """

    node: While | For
    test: Plan | None
    body: Plan


Step: TypeAlias = "Register | Kernel | LibraryCall | Branch | Loop"


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """What runs for a graph.

    Args:
        graph: The graph.
        steps: In order of execution.
        stored: The values in memory that kernels and library calls write.
        makers: The node that gives each value.
    """

    graph: Graph
    steps: tuple[Step, ...]
    stored: frozenset[Value]
    makers: dict[Value, Any]

    def walk(self) -> Iterator[Step]:
        """Yield all steps, those inside a step after it."""
        for step in self.steps:
            yield step
            if isinstance(step, Branch):
                yield from step.then.walk()
                yield from step.orelse.walk()
            elif isinstance(step, Loop):
                if step.test is not None:
                    yield from step.test.walk()
                yield from step.body.walk()
