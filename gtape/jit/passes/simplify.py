"""Graph -> Graph by small rules of algebra, each exact: not a bit of a result changes.

A rule gives an atom for an operation, or another operation in its place. Whatever it
gives must have the spec of what it replaces, else it is not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from gtape.jit.graph.ir import Atom, Cond, Graph, Literal, Node, Op, Value
from gtape.jit.graph.rewrite import (
    Instead,
    in_regions,
    replaced,
    same_spec,
    swapped,
)
from gtape.jit.passes.arithmetic import ARITHMETIC
from gtape.jit.passes.arrangement import ARRANGEMENT
from gtape.jit.passes.known import Made, constant, made_by

Result: TypeAlias = "Atom | Op | None"
Rule: TypeAlias = "Callable[[Op, Made], Result]"


def simplify(graph: Graph) -> Graph:
    """Return a graph with simpler operations that give the same bits.

    Args:
        graph: The graph.
    """
    made: dict[Value, Op] = {}

    def step(node: Node) -> Instead | None:
        if not isinstance(node, Op):
            new = in_regions(node, simplify)
            instead = _passed_through(new) if isinstance(new, Cond) else None
            if instead is None and new is not node:
                instead = Instead([new], new.outputs)
            return instead
        copies = _copies(node)
        if copies is not None:
            return Instead([], copies)
        found, change = node, None
        # A rule may make way for another; each makes the graph smaller or cheaper.
        for _ in range(4):
            result = _simpler(found, made)
            if isinstance(result, (Value, Literal)):
                return Instead([], [result])
            if result is None:
                break
            found = change = result
        made.update(dict.fromkeys(found.outputs, found))
        return None if change is None else Instead([change], node.outputs)

    return replaced(graph, step)


def _simpler(node: Op, made: Made) -> Result:
    """Return what the first rule that applies puts in the place of an operation."""
    [*values] = node.outputs
    if len(values) != 1:
        return None
    for rule in RULES.get(node.primitive.name, ()):
        result = rule(node, made)
        if isinstance(result, Op):
            return replace(result, outputs=node.outputs, origin=node.origin)
        if result is not None and same_spec(result.spec, values[0].spec):
            return result
    return None


# --- Copies ---------------------------------------------------------------------------


def _copies(node: Op) -> tuple[Atom, ...] | None:
    """Return the operands that the outputs of an operation are, if that is all."""
    name = node.primitive.name
    if name in ("identity", "stop_gradient"):
        found = node.inputs
    elif name == "custom_gradient":
        found = node.inputs[: len(node.outputs)]
    elif name == "custom_rule":  # its inputs are (*tensors, *outputs, *captures)
        start = node.attrs["tensors"]
        found = node.inputs[start : start + node.attrs["outputs"]]
    elif name == "reread":
        found = node.inputs[:1]
    else:
        return None
    pairs = zip(found, node.outputs, strict=False)
    fits = all(same_spec(atom.spec, value.spec) for atom, value in pairs)
    return found if fits and len(found) == len(node.outputs) else None


def _passed_through(node: Cond) -> Instead | None:
    """Return a branching whose results that are the same operand are that operand."""
    table: list[Atom] = list(node.outputs)
    inner = dict(zip(node.then.inputs, node.inputs[1:], strict=True))
    other = dict(zip(node.orelse.inputs, node.inputs[1:], strict=True))
    for i, value in enumerate(node.outputs):
        # Constants that are the same are one after `cse` only by their bits.
        [a] = swapped([node.then.outputs[i]], {**inner})
        [b] = swapped([node.orelse.outputs[i]], {**other})
        outside = a in node.inputs[1:] or isinstance(a, Literal)
        if outside and _same_atom(a, b) and same_spec(a.spec, value.spec):
            table[i] = a
    if all(a is b for a, b in zip(table, node.outputs, strict=True)):
        return None
    return Instead([node], table)


def _same_atom(a: Atom, b: Atom) -> bool:
    if a is b:
        return True
    if not (isinstance(a, Literal) and isinstance(b, Literal)):
        return False
    x, y = a.array, b.array
    alike = (x.dtype, x.shape) == (y.dtype, y.shape)
    return alike and (x is y or bool(x.tobytes() == y.tobytes()))


# --- Choices and masks ----------------------------------------------------------------


def _where(node: Op, made: Made) -> Result:
    """The operand that is chosen everywhere; or whichever, if they are one."""
    condition, x, y = node.inputs
    if x is y:
        return x
    known = constant(condition)
    return None if known is None else (x if known else y)


def _where_not(node: Op, made: Made) -> Result:
    """A choice by `not c` is one by c, the other way round."""
    inner = made_by(node.inputs[0], made, "logical_not")
    if inner is None:
        return None
    _, x, y = node.inputs
    return replace(node, inputs=(inner.inputs[0], y, x))


def _logical_not(node: Op, made: Made) -> Result:
    """Not not c is c."""
    inner = made_by(node.inputs[0], made, "logical_not")
    return None if inner is None else inner.inputs[0]


def _idempotent(node: Op, made: Made) -> Result:
    """Both, either and the greater of x and x are x."""
    x, y = node.inputs
    return x if x is y else None


def _logical_and(node: Op, made: Made) -> Result:
    """True and x is x, False and x is False."""
    return _by_constant(node, True)


def _logical_or(node: Op, made: Made) -> Result:
    """False or x is x, True or x is True."""
    return _by_constant(node, False)


def _by_constant(node: Op, neutral: bool) -> Result:
    for atom, other in (node.inputs, node.inputs[::-1]):
        known = constant(atom)
        if known is not None:
            return other if bool(known) == neutral else atom
    return None


def _mask_nan(node: Op, made: Made) -> Result:
    """Masked by itself, x is x: where it is NaN it is not zero. Twice is once."""
    c, g = node.inputs
    if c is g:
        return c
    inner = made_by(c, made, "mask_nan")
    if inner is not None and inner.inputs[1] is g:
        return c
    known: Any = constant(c)
    return c if known is not None and known == known else None


CHOICE: dict[str, tuple[Rule, ...]] = {
    "where": (_where, _where_not),
    "logical_not": (_logical_not,),
    "logical_and": (_idempotent, _logical_and),
    "logical_or": (_idempotent, _logical_or),
    "maximum": (_idempotent,),
    "minimum": (_idempotent,),
    "mask_nan": (_mask_nan,),
}

RULES: dict[str, tuple[Rule, ...]] = {
    name: (
        *ARITHMETIC.get(name, ()),
        *CHOICE.get(name, ()),
        *ARRANGEMENT.get(name, ()),
    )
    for name in {*ARITHMETIC, *CHOICE, *ARRANGEMENT}
}
"""The rules for each operation, in the order in which they are tried."""
