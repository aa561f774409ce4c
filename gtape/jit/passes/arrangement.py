"""Rules of `simplify` for what only moves elements: reshape, transpose, slice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from gtape.jit.graph.attrs import same_dims
from gtape.jit.graph.ir import Atom, Op
from gtape.jit.passes.known import Made, made_by

Result: TypeAlias = "Atom | Op | None"
_FULL = (None, None, None)  # the entry of a key that takes a whole axis


def _once(node: Op, made: Made) -> Result:
    """The last shape says all, whatever shapes came before."""
    inner = made_by(node.inputs[0], made, node.primitive.name)
    return None if inner is None else replace(node, inputs=inner.inputs)


def _reshape(node: Op, made: Made) -> Result:
    """A reshape to the shape that the tensor has is nothing."""
    x = node.inputs[0]
    return x if same_dims(tuple(x.shape), node.attrs["shape"]) else None


def _transpose(node: Op, made: Made) -> Result:
    """Axes in their order are no transpose; two transposes are one."""
    x, perm = node.inputs[0], tuple(node.attrs["perm"])
    if perm == tuple(range(len(perm))):
        return x
    inner = made_by(x, made, "transpose")
    if inner is None:
        return None
    both = tuple([inner.attrs["perm"][p] for p in perm])
    return replace(node, inputs=inner.inputs, attrs={"perm": both})


def _slice(node: Op, made: Made) -> Result:
    """A slice from the first to the last element is the tensor."""
    starts, steps = node.attrs["starts"], node.attrs["steps"]
    zeros, ones = [0] * len(starts), [1] * len(steps)
    whole = same_dims(starts, zeros) and same_dims(steps, ones)
    return node.inputs[0] if whole else None  # its spec says the rest


def _select(node: Op, made: Made) -> Result:
    """A key of full slices takes the tensor."""
    full = all(type(e) is tuple and _is_full(e) for e in node.attrs["key"])
    return node.inputs[0] if full else None


def _is_full(entry: tuple[object, ...]) -> bool:
    """Return whether an entry of a key takes its axis as it is."""
    return all(a is b for a, b in zip(entry, _FULL, strict=True))


def _concat(node: Op, made: Made) -> Result:
    """A single part is the whole."""
    return node.inputs[0] if len(node.inputs) == 1 else None


def _fold(node: Op, made: Made) -> Result:
    """A product or extreme over no axes is what it is of; so is a sum of integers.

    A sum of floats begins with 0.0, which -0.0 does not survive.
    """
    x = node.inputs[0]
    if tuple(node.attrs["axes"]):
        return None
    is_sum = node.primitive.name == "reduce_sum"
    return None if is_sum and x.dtype.kind not in "iu" else x


def _unspread(node: Op, made: Made) -> Result:
    """An elementwise operation spreads its operands itself.

    Another operand must have the shape of the result, so that this stays.
    """
    shape = tuple(node.outputs[0].spec.shape)
    whole = [same_dims(tuple(atom.shape), shape) for atom in node.inputs]
    for i, atom in enumerate(node.inputs):
        inner = made_by(atom, made, "broadcast_to")
        others = any(whole[:i]) or any(whole[i + 1 :])
        if inner is not None and others:
            inputs = (*node.inputs[:i], inner.inputs[0], *node.inputs[i + 1 :])
            return replace(node, inputs=inputs)
    return None


Rule: TypeAlias = "Callable[[Op, Made], Result]"

_SPREADING = (
    *("add", "subtract", "multiply", "divide", "pow", "maximum", "minimum", "where"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "multiply_no_nan", "divide_no_nan"),
)

ARRANGEMENT: dict[str, tuple[Rule, ...]] = {
    "reshape": (_reshape, _once),
    "broadcast_to": (_reshape, _once),
    "transpose": (_transpose,),
    "slice": (_slice,),
    "select": (_select,),
    "concat": (_concat,),
    **{
        f"reduce_{kind}": (_fold,)
        for kind in ("sum", "prod", "max", "min", "any", "all")
    },
    **dict.fromkeys(_SPREADING, (_unspread,)),
}
