"""The seven lowering kinds: what loop a primitive is, and its scalar expression.

Data only: the compiler reads it, and fusion asks for the kind, never for the name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gtape.scalar import Tree, parse


class Map(NamedTuple):
    """out[i] = expr(a[i], b[i], ...), with broadcasting.

    Names in the expression are the operands, the attributes, and i0, i1, ... for the
    index.
    """

    expr: str

    @property
    def tree(self) -> Tree:
        """The expression, parsed when it is first asked for."""
        return parse(self.expr)


class View:
    """Where an element of a reindexed tensor comes from.

    Args:
        operand: Which operand is read; a scalar tree over i0, i1, ... picks it where
            there are several, each piece valid on its own range.
        index: One scalar expression over i0, i1, ... for each axis of the operand.
        valid: A scalar expression: whether the element is read at all, else `fill`.
        fill: The value where not valid.
    """

    __slots__ = ("fill", "index", "operand", "valid")

    def __init__(
        self,
        index: tuple[str, ...],
        operand: int = 0,
        valid: str = "True",
        fill: float = 0.0,
    ) -> None:
        self.index = index
        self.operand = operand
        self.valid = valid
        self.fill = fill


class Reindex(NamedTuple):
    """out[i] = a[index(i)], or a fill where not valid.

    Args:
        views: From the operand specs and the attributes, the pieces of the output. The
            first piece that is valid at an index gives the element.
    """

    views: Callable[..., tuple[View, ...]]


class Fold(NamedTuple):
    """out[i] = finish(fold over j of combine(acc, a[i, j])), over the attribute `axes`.

    Args:
        identity: The start of each accumulator; "lowest" and "highest" stand for the
            ends of the dtype's range.
        combine: The new value of each accumulator, over acc (acc0, acc1, ... where
            there are several), x and the position j along the folded axes.
        finish: The result, over the accumulators and the count n.
    """

    identity: tuple[str, ...]
    combine: tuple[str, ...]
    finish: str = "acc"


class Gather:
    """out[i] = a[index(i)], the index on `axes` read from integer operands.

    Like a reindexing it can be folded into the load of its reader; unlike one it reads
    memory to know where.
    """


class Scatter(NamedTuple):
    """out = base; then out[index[i]] = combine(out[index[i]], a[i]), for i in order.

    The index on the attribute `axes` is read from integer operands.

    Args:
        combine: The new element, over acc and x.
    """

    combine: str


class Contract(NamedTuple):
    """The matrix-product family.

    Args:
        kind: "matmul" or "convolution": which library call or loop nest serves it.
    """

    kind: str


class Custom(NamedTuple):
    """A hand-written emitter for each target.

    Args:
        emitter: Its name in the emitter tables of the targets.
    """

    emitter: str


Lowering: TypeAlias = "Map | Reindex | Fold | Gather | Scatter | Contract | Custom"
