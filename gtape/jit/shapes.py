"""Which sizes of the arguments a trace leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtape.jit.signature import Leaf, flattened
from gtape.jit.tracing.tracer import Trace
from gtape.sizes import is_size
from gtape.spec import TensorSpec

Shape = tuple[Any, ...]


def generalized(
    trace: Trace,
    leaves: Sequence[Leaf],
    earlier: Sequence[Sequence[Shape]],
    signature: Sequence[Any] | None,
) -> list[Shape]:
    """Return the shapes to trace with: sizes that have changed become unknown.

    Axes whose sizes have always been equal stay equal. A size of 0 or 1 is never left
    open, since it may broadcast.

    Args:
        trace: The trace that the unknowns belong to.
        leaves: The arguments of the call.
        earlier: The shapes of earlier traces with the same key.
        signature: The input signature, if there is one; its open sizes are unknown from
            the first trace on.
    """
    asked = _asked(signature, leaves)
    names: dict[Any, Any] = {}
    out = []
    for i, leaf in enumerate(leaves):
        if leaf.kind not in ("tensor", "spec"):
            out.append(tuple(leaf.shape))
            continue
        dims: list[Any] = []
        for axis, size in enumerate(leaf.shape):
            before = [shapes[i][axis] for shapes in earlier]
            if (i, axis) in asked or size is None:
                dims.append(trace.unknown("n", size))
            elif size < 2 or not any(is_size(b) or b != size for b in before):
                dims.append(size)
            else:
                # Sizes that were equal in all calls are one unknown.
                key = (size, tuple([str(b) for b in before]))
                if key not in names:
                    names[key] = trace.unknown("n", size, 2)
                dims.append(names[key])
        out.append(tuple(dims))
    return out


def _asked(
    signature: Sequence[Any] | None, leaves: Sequence[Leaf]
) -> set[tuple[int, int]]:
    """Return the axes that an input signature leaves open."""
    if signature is None:
        return set()
    entries: list[tuple[str, Any]] = []
    for spec in signature:
        flattened(spec, "", entries)
    # Parameters behind those of the signature have their defaults.
    return {
        (i, axis)
        for i, (_, spec) in enumerate(entries[: len(leaves)])
        if isinstance(spec, TensorSpec)
        for axis, size in enumerate(spec.shape)
        if size is None
    }
