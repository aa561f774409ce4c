"""What nodes are to fusion: how their results are computed, and what that reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gtape.jit.graph.ir import Literal, Node, Op, Value
from gtape.jit.schedule.plan import Plan
from gtape.lowering import Gather, Map, Reindex
from gtape.scalar import Call, Tree

EXPENSIVE = frozenset(
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
        "erfinv",
        "lgamma",
        "digamma",
        "polygamma",
        "pow",
        "cbrt",
        "atan2",
        "hypot",
        "floordiv",
        "mod",
    ]
)
"""Words of the scalar vocabulary that are stored sooner than computed twice."""


def is_inline(node: Node) -> bool:
    """Return whether each element of a node's result is computed for itself."""
    return isinstance(node, Op) and isinstance(
        node.primitive.lowering, (Map, Reindex, Gather)
    )


def is_reshape(node: Node) -> bool:
    """Return whether a node changes the shape alone: its elements keep their order."""
    return isinstance(node, Op) and node.primitive.name == "reshape"


REFUSED = {"floordiv": "==", "mod": "==", "pow": "<"}
"""Operations that refuse an integer operand y that stands so to zero."""


def may_fail(node: Node) -> bool:
    """Return whether an element may be refused, such as for an index out of range."""
    assert isinstance(node, Op)
    refused = node.primitive.name in REFUSED and node.inputs[1].dtype.kind in "iu"
    return refused or isinstance(node.primitive.lowering, Gather)


def is_product(node: Node) -> bool:
    """Return whether a node is a matrix product."""
    return isinstance(node, Op) and node.primitive.name == "matmul"


def factor_of(atom: Any, makers: Mapping[Any, Node]) -> tuple[Any, bool]:
    """Return the matrix that a factor of a product is, and whether it is transposed."""
    node = makers.get(atom)
    if isinstance(node, Op) and node.primitive.name == "transpose":
        rank = len(node.attrs["perm"])
        if tuple(node.attrs["perm"]) == (*range(rank - 2), rank - 1, rank - 2):
            return node.inputs[0], True
    return atom, False


def words_of(tree: Tree) -> list[str]:
    """Return the words of an expression."""
    if not isinstance(tree, Call):
        return []
    return [tree.function, *[w for part in tree.operands for w in words_of(part)]]


class Reads(NamedTuple):
    """What a kernel reads: values in memory, numbers, and arrays that are known."""

    arrays: list[Value]
    numbers: list[Value]
    literals: list[Literal]
    inside: list[Op]  # the operations that it computes


def reads_of(plan: Plan, roots: Iterable[Any], own: Iterable[Value] = ()) -> Reads:
    """Return what the computation of values reads.

    Args:
        plan: The plan around it.
        roots: The values that a kernel stores, and those it folds.
        own: Those that it stores itself.
    """
    mine = set(own)
    seen: dict[Any, None] = {}
    reads = Reads([], [], [], [])
    waiting = list(roots)
    while waiting:
        atom = waiting.pop()
        if atom in seen:
            continue
        seen[atom] = None
        if isinstance(atom, Literal):
            if atom.ndim:
                reads.literals.append(atom)
            continue
        node = plan.makers.get(atom)
        if atom.ndim == 0:
            reads.numbers.append(atom)
        elif (
            node is None
            or not is_inline(node)
            or (atom in plan.stored and atom not in mine)
        ):
            reads.arrays.append(atom)
        else:
            reads.inside.append(node)
            waiting += node.inputs
    return reads
