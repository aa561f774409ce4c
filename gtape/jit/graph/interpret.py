"""Runs a graph with the forward functions of its primitives: the oracle.

What the compiler makes of a graph is compared with what this file makes of it, so it is
plain, and checks what it gets against the specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gtape.dispatch import on_arrays
from gtape.errors import (
    DTypeError,
    GraphError,
    GtapeError,
    Origin,
    ShapeError,
    TensorMemoryError,
)
from gtape.errors import origin as here
from gtape.jit.graph.attrs import resolve
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
from gtape.jit.graph.stacks import Stacks
from gtape.lowering import Custom
from gtape.primitive import Primitive
from gtape.sizes import Size, Unknown, value_of
from gtape.spec import TensorSpec

Sizes = dict[Unknown, int]
_FAULT = "This is a fault of gtape; please report it with the program"


def interpret(
    graph: Graph, arrays: Sequence[Any], sizes: Sizes | None = None
) -> tuple[Any, ...]:
    """Return what a graph computes, as arrays; those of rank 0 may be NumPy scalars.

    Args:
        graph: The graph.
        arrays: An array for each of its inputs.
        sizes: The lengths of unknowns that no array shows.

    Raises:
        GraphError: If an array does not fit the spec of its value.
        GtapeError: If an operation refuses its operands, at the line of its node.
    """
    known = dict(sizes or {})
    out: tuple[Any, ...] = on_arrays(
        _run_graph, graph, list(arrays), known, NOWHERE, ()
    )
    return out


def _run_graph(
    graph: Graph,
    arrays: Sequence[Any],
    sizes: Sizes,
    origin: Origin,
    rebound: Iterable[int],
) -> tuple[Any, ...]:
    """Run a graph; `sizes` is its own and is added to.

    Args:
        graph: The graph.
        arrays: An array for each input.
        sizes: The lengths that the graph around it knows, a copy.
        origin: The place of the node that holds the graph.
        rebound: The inputs whose axes may have another length in each trip.
    """
    if len(arrays) != len(graph.inputs):
        text = f"{len(arrays)} arrays for the {len(graph.inputs)} inputs of a graph"
        raise GraphError(text, _FAULT, origin)
    for i in rebound:
        for dim in graph.inputs[i].shape:
            if type(dim) is Size and dim.unknown is not None:
                sizes.pop(dim.unknown, None)
    pairs = list(zip(graph.inputs, arrays, strict=True))
    for value, array in pairs:
        _bind(value.spec, array, sizes)
    for i, (value, array) in enumerate(pairs):
        _check(f"input {i} of a graph", value.spec, array, sizes, origin)
    known: dict[Value, Any] = dict(pairs)
    for node in graph.nodes:
        inputs = [_read(known, atom, node) for atom in node.inputs]
        for value, array in zip(
            node.outputs, _run_node(node, inputs, sizes), strict=True
        ):
            known[value] = array
    return tuple([_read(known, atom, None) for atom in graph.outputs])


def _read(known: dict[Value, Any], atom: Atom, node: Node | None) -> Any:
    if isinstance(atom, Literal):
        return atom.array
    try:
        return known[atom]
    except KeyError:
        where = NOWHERE if node is None else node.origin
        who = "an output of a graph" if node is None else _name(node)
        text = f"{who} reads a value that is not defined"
        raise GraphError(text, _FAULT, where) from None


def _run_node(node: Node, inputs: list[Any], sizes: Sizes) -> tuple[Any, ...]:
    if isinstance(node, Op):
        out = _run_op(node, inputs, sizes)
    elif isinstance(node, Cond):
        branch = node.then if bool(inputs[0]) else node.orelse
        out = _run_graph(branch, inputs[1:], {**sizes}, node.origin, ())
    elif isinstance(node, While):
        out = _run_while(node, inputs, sizes)
    elif isinstance(node, For):
        out = _run_for(node, inputs, sizes)
    else:
        raise GraphError(f"{node!r} is no kind of node", _FAULT, node.origin)
    if len(out) != len(node.outputs):
        text = f"{_name(node)} gives {len(out)} arrays for {len(node.outputs)} values"
        raise GraphError(text, _FAULT, node.origin)
    for value, array in zip(node.outputs, out, strict=True):
        _bind(value.spec, array, sizes)
        _check(_name(node), value.spec, array, sizes, node.origin)
    return out


# --- Operations -----------------------------------------------------------------------


def _run_op(node: Op, inputs: list[Any], sizes: Sizes) -> tuple[Any, ...]:
    primitive = node.primitive
    try:
        attrs = resolve(node.attrs, sizes)
    except KeyError as error:
        text = f"{primitive.name}: the size {error.args[0]} has no length yet"
        raise GraphError(text, _FAULT, node.origin) from None
    try:
        out = primitive.forward(*inputs, **attrs)
    except Exception as error:
        _explain(node, inputs, attrs, error)
    return tuple(out) if primitive.multiple else (out,)


def _explain(
    node: Op, inputs: list[Any], attrs: dict[str, Any], error: Exception
) -> None:
    """Say in gtape's words, at the user's line, why an operation has failed."""
    primitive = node.primitive
    try:
        if runs_user_code(primitive) and (
            not isinstance(error, GtapeError) or error.origin != here()
        ):
            raise error  # the user's own, or one that knows a better place
        found = _in_words(primitive, inputs, attrs, error)
        if found is None:
            raise error
        for saying in reversed(node.sayings):
            found = saying.said(found)
        cause = None if isinstance(error, GtapeError) else error
        raise _moved(found, node.origin) from cause
    finally:
        del error  # its traceback holds this frame: a cycle, and the arrays with it


def _in_words(
    primitive: Primitive, inputs: list[Any], attrs: dict[str, Any], error: Exception
) -> GtapeError | None:
    """Return what an operation says of NumPy's error, or `None` for another one."""
    if isinstance(error, GtapeError):
        return error
    specs = [TensorSpec(x.shape, x.dtype) for x in inputs]
    try:
        out = primitive.spec(*specs, **attrs)
    except GtapeError as better:
        return better
    said = f"{primitive.name}({', '.join([str(s) for s in specs])})"
    if isinstance(error, MemoryError):
        text = f"{said}: the result, {out}, is too large"
        return TensorMemoryError(text, "Use less at once")
    if isinstance(error, TypeError):
        return DTypeError(f"{said}: {error}", "Check the dtypes of the operands")
    if isinstance(error, ValueError):
        return ShapeError(f"{said}: {error}", "Check the shapes of the operands")
    return None


def runs_user_code(primitive: Primitive) -> bool:
    """Return whether a primitive calls the user's Python: its errors are the user's."""
    lowering = primitive.lowering
    called = isinstance(lowering, Custom) and lowering.emitter in ("call", "host")
    return called or bool(getattr(primitive, "effect", False))


def _moved(error: GtapeError, place: Origin) -> GtapeError:
    """Return an error of the same class and words at another place."""
    out = error.reworded(error.what)
    out.origin = place
    out.args = (error.what, error.hint, place)
    return out


# --- Loops ----------------------------------------------------------------------------


def _run_while(node: While, inputs: list[Any], sizes: Sizes) -> tuple[Any, ...]:
    carry, fixed = inputs[: node.carried], inputs[node.carried :]
    moving = range(node.carried)
    stacks = Stacks(len(node.body.outputs) - node.carried, node.limit)
    trips = 0
    while bool(
        _run_graph(node.test, [*carry, *fixed], {**sizes}, node.origin, moving)[0]
    ):
        out = _run_graph(node.body, [*carry, *fixed], {**sizes}, node.origin, moving)
        carry = list(out[: node.carried])
        stacks.add(trips, out[node.carried :])
        trips += 1
    stacked = _stacked(node, node.body, stacks, sizes)
    stride = () if node.limit is None else (np.int64(stacks.stride),)
    return (*carry, *stacked, np.int64(trips), *stride)


def _run_for(node: For, inputs: list[Any], sizes: Sizes) -> tuple[Any, ...]:
    trips = int(inputs[0])
    carry, fixed = inputs[1 : 1 + node.carried], inputs[1 + node.carried :]
    stacks = Stacks(len(node.body.outputs) - node.carried, node.limit)
    for i in reversed(range(trips)) if node.reverse else range(trips):
        out = _run_graph(
            node.body,
            [np.int64(i), *carry, *fixed],
            {**sizes},
            node.origin,
            range(1, 1 + node.carried),
        )
        carry = list(out[: node.carried])
        stacks.add(i, out[node.carried :])
    stacked = _stacked(node, node.body, stacks, sizes, node.reverse)
    stride = () if node.limit is None else (np.int64(stacks.stride),)
    return (*carry, *stacked, *stride)


def _stacked(
    node: While | For, body: Graph, stacks: Stacks, sizes: Sizes, reverse: bool = False
) -> list[Any]:
    """Return the stacks of a loop as arrays; after no trip their specs say the rest."""
    out = []
    for k, rows in enumerate(stacks.rows):
        value = node.outputs[node.carried + k]
        if rows:
            try:
                out.append(np.stack(rows[::-1] if reverse else rows))
            except ValueError as error:
                text = f"{_name(node)}: the rows of stack {k} differ: {error}"
                raise GraphError(text, _FAULT, node.origin) from None
        else:
            rest = [_length(dim, sizes) for dim in value.shape[1:]]
            out.append(np.empty((0, *rest), body.outputs[node.carried + k].dtype))
    return out


def _length(dim: Any, sizes: Sizes) -> int:
    """Return the length of an axis, 0 where it is not known."""
    if dim is None:
        return 0
    try:
        return value_of(dim, sizes)
    except KeyError:
        return 0


# --- Specs ----------------------------------------------------------------------------


def _bind(spec: TensorSpec, array: Any, sizes: Sizes) -> None:
    """Give unknowns that are axes of a value the lengths that its array has."""
    for dim, length in zip(spec.shape, np.shape(array), strict=False):
        if type(dim) is Size and dim.unknown is not None:
            sizes.setdefault(dim.unknown, length)


def _check(
    who: str, spec: TensorSpec, array: Any, sizes: Sizes, origin: Origin
) -> None:
    """Require that an array has the dtype and the sizes of a spec."""
    found = getattr(array, "dtype", None)
    if found is None or found != spec.dtype.dtype:  # None equals float64 for NumPy
        found = type(array).__name__ if found is None else found
        text = f"{who}: an array of {found} for a value of {spec}"
        raise GraphError(text, _FAULT, origin)
    fits = len(array.shape) == len(spec.shape)
    for dim, length in zip(spec.shape, array.shape, strict=False):
        try:
            fits = fits and (dim is None or value_of(dim, sizes) == length)
        except KeyError:
            continue  # an unknown that no axis has shown
    if not fits:
        names = {u for d in spec.shape if type(d) is Size for u in d.unknowns()}
        lengths = [f"{u} = {sizes[u]}" for u in sizes if u in names]
        given = f" where {', '.join(lengths)}" if lengths else ""
        text = f"{who}: an array of shape {array.shape} for a value of {spec}{given}"
        raise GraphError(text, _FAULT, origin)


def _name(node: Node) -> str:
    return node.primitive.name if isinstance(node, Op) else type(node).__name__.lower()
