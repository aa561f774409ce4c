"""What is known of a value before a traced function runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtape import dispatch
from gtape.errors import ArgumentError
from gtape.lowering import Custom
from gtape.primitive import Primitive
from gtape.sizes import Size, same_size
from gtape.spec import TensorSpec

_DEPTH = 4  # operations that are looked through to see that two tensors are equal
_MOST = 64  # elements of an integer tensor that is followed back


def known_array(x: Any) -> Any:
    """Return the array of a tensor, `None` where it is known only at run time."""
    value = getattr(x, "_array", x)
    value = getattr(value, "array", value)  # a constant of a trace
    return value if isinstance(value, (np.ndarray, np.generic)) else None


def settled(value: Any) -> Any:
    """Return a Python number that decides what is computed.

    In a trace one that may change from call to call becomes a constant: the trace
    begins again, and holds for this number only.
    """
    pin = getattr(value, "pin", None)
    return value if pin is None else pin()


def open_size() -> Any:
    """Return a size that depends on values: unknown in a trace, `None` elsewhere."""
    trace = getattr(dispatch.interpreter(), "trace", None)
    return None if trace is None else trace.unknown("k")


def once(primitive: Primitive, x: Any, **attrs: Any) -> Any:
    """Return an operation on a tensor, the same result for the same tensor in a trace.

    So a size that depends on its values has one name, and equals itself.
    """
    interpreter: Any = dispatch.interpreter()
    builder = getattr(interpreter, "builder", None)
    if builder is not None and hasattr(x, "_value"):
        atom = builder.atom(x._value, x._key)
        while builder is not None:
            found = _earlier(builder, primitive, atom, attrs)
            if found is not None:
                return interpreter.wrap(found, dispatch.UNFOLLOWED)
            atom = _outside(builder, atom)
            builder = builder.parent
    return dispatch.apply(primitive, x, **attrs)


def _earlier(builder: Any, primitive: Primitive, atom: Any, attrs: Any) -> Any:
    """Return what an operation gave in a region, `None` if it has not been there."""
    for node in reversed(builder.nodes):
        same = getattr(node, "primitive", None) is primitive
        if same and _alike(node.attrs, attrs):
            makers = {out: n for n in builder.nodes for out in n.outputs}
            if _equal(node.inputs[0], atom, makers, _DEPTH):
                return node.outputs[0]
    return None


def _equal(a: Any, b: Any, makers: dict[Any, Any], depth: int) -> bool:
    """Return whether two atoms are one, or made by the same operations."""
    if a is b:
        return True
    x, y = getattr(a, "array", None), getattr(b, "array", None)
    if x is not None and y is not None:
        return bool(x.dtype == y.dtype and x.shape == y.shape == () and x == y)
    m: Any = makers.get(a)
    n: Any = makers.get(b)
    if not (hasattr(m, "primitive") and hasattr(n, "primitive")):
        return False
    primitive = m.primitive
    if primitive is not n.primitive:
        return False
    if depth == 0 or primitive.effect or primitive.multiple:
        return False
    if len(m.inputs) != len(n.inputs):
        return False
    pairs = zip(m.inputs, n.inputs, strict=True)
    return _alike(m.attrs, n.attrs) and all(
        _equal(p, q, makers, depth - 1) for p, q in pairs
    )


def _alike(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in b)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    plain = a is None or isinstance(a, (int, str, Size, np.dtype))
    return same_size(a, b) if plain else a is b


def _outside(builder: Any, atom: Any) -> Any:
    """Return what stands around a region for an atom of it."""
    for (outer, _), inner in builder.captures.items():
        if inner is atom:
            return outer
    return atom


# --- Integers that become sizes -------------------------------------------------------


def _below_forward(count: Any) -> Any:
    if count < 0:
        raise ArgumentError(
            f"a size or bound of {count}, which was computed, is negative",
            "Compute 0 or more",
        )
    return np.arange(count, dtype=np.int64)


_below = Primitive(
    "positions_below",
    forward=_below_forward,
    spec=lambda count: TensorSpec((open_size(),), "int64"),
    vjp=None,
    lowering=Custom("positions_below"),
    why="it counts",
)


def sizes_of(value: Any) -> Any:
    """Return traced integers as sizes, also those that depend on data.

    Lists and tuples are gone through; anything else is returned as it is.
    """
    value = integers_of(value)
    if type(value) in (list, tuple):
        return type(value)([sizes_of(v) for v in value])
    traced = traced_integer(value)
    if traced is None:
        return value
    if traced.ndim == 1 and type(traced.shape[0]) is int:
        return [sizes_of(v) for v in traced]
    # A vector of that length, so that the trace has a size for it.
    return value if traced.ndim else once(_below, traced).shape[0]


def traced_integer(value: Any) -> Any:
    """Return a tensor of integers that is known only at run time, `None` for others.

    A Python number that depends on tensors is one, too; one that may be made a constant
    is not.
    """
    if getattr(dispatch.interpreter(), "builder", None) is None:
        return None
    if hasattr(value, "pin"):
        return value.symbol if value.sources is None and value.kind is int else None
    traced = hasattr(value, "_value") and value._value.dtype.kind in "iu"
    return value if traced else None


# --- Integers that follow from sizes --------------------------------------------------

_FORWARD = frozenset(
    (
        *("add", "subtract", "multiply", "negative"),
        *("select", "slice", "concat", "reshape", "transpose", "broadcast_to"),
        *("identity", "stop_gradient"),
    )
)
"""Operations whose NumPy computation works on arrays of sizes, too."""

_FOLDS = {"reduce_sum": np.add, "reduce_prod": np.multiply}


def integers_of(value: Any) -> Any:
    """Return what traced integer tensors are, as ints and sizes, where that follows.

    So `gt.shape(x)[0]` is as good as `x.shape[0]`. Lists and tuples are gone through;
    anything else is returned as it is.
    """
    kind = type(value)
    if kind is int or value is None:
        return value
    if kind is list or kind is tuple:
        return kind([integers_of(v) for v in value])
    builder = getattr(dispatch.interpreter(), "builder", None)
    symbol = getattr(value, "symbol", value)  # of a traced Python number
    atom = getattr(symbol, "_value", None)
    if builder is None or atom is None or not hasattr(atom, "spec"):
        return value
    found = _Finder(builder).find(atom)
    if found is None:
        return value
    return found.tolist() if isinstance(found, np.ndarray) else found


class _Finder:
    """Computes traced integers of the sizes that they are made of."""

    def __init__(self, builder: Any) -> None:
        self._nodes: dict[Any, Any] = {}  # the operation that gives each value
        self._outer: dict[Any, Any] = {}  # what the inputs of a region stand for
        while builder is not None:
            for node in builder.nodes:
                self._nodes.update(dict.fromkeys(node.outputs, node))
            for (outer, _), inner in builder.captures.items():
                self._outer[inner] = outer
            builder = builder.parent

    def find(self, atom: Any) -> Any:
        """Return an array of ints and sizes, or `None` where it is of other things."""
        shape = atom.shape
        if atom.dtype.kind not in "iu" or any(type(d) is not int for d in shape):
            return None
        if np.prod(shape, dtype=int) > _MOST:
            return None
        array = getattr(atom, "array", None)
        if array is not None:
            return array.astype(object) if shape else int(array)
        atom = self._outer.get(atom, atom)
        node: Any = self._nodes.get(atom)
        primitive = getattr(node, "primitive", None)
        if primitive is None:
            return self.find(atom) if atom in self._outer else None
        if primitive.name == "size":
            return node.attrs["size"]
        operands = [self.find(x) for x in node.inputs]
        if any(x is None for x in operands):
            return None
        if primitive.name in ("cast", "python_fit"):
            return operands[0]
        arrays = [np.asarray(x, object) for x in operands]
        if primitive.name in _FOLDS:
            fold = _FOLDS[primitive.name]
            out = fold.reduce(arrays[0], axis=node.attrs["axes"], dtype=object)
        elif primitive.name in _FORWARD:
            out = primitive.forward(*arrays, **node.attrs)
        else:
            return None
        return out.item() if isinstance(out, np.ndarray) and not out.ndim else out
