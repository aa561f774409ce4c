"""How arguments are told apart: leaves, their kinds, and what they were before."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gtape.dtypes import DType, as_numpy_dtype
from gtape.eager import EagerTensor
from gtape.errors import ArgumentTypeError, TracingError
from gtape.jit.results import refilled
from gtape.spec import TensorSpec
from gtape.variable import Variable

_BY_VALUE = (
    bool,
    int,  # of more than 64 bits
    str,
    bytes,
    type(None),
    complex,
    range,
    DType,
    enum.Enum,
    np.dtype,
    type(Ellipsis),
)


class Leaf(NamedTuple):
    """One entry of the arguments.

    Args:
        kind: "tensor", "variable", "int", "float", "value", "object" or "spec".
        key: What of it is part of the signature, sizes left out.
        shape: Its sizes.
        value: The entry itself.
        name: How messages say it.
    """

    kind: str
    key: Any
    shape: tuple[Any, ...]
    value: Any
    name: str


def leaf_of(value: Any, name: str, seen: dict[int, int]) -> Leaf:
    """Return an entry of the arguments as a leaf.

    Args:
        value: The entry.
        name: How messages say it.
        seen: The variables met so far, with their places: aliases matter.
    """
    kind = type(value)
    if kind is EagerTensor or isinstance(value, EagerTensor):
        array = value._array
        key: Any = ("tensor", array.dtype, len(array.shape))
        return Leaf("tensor", key, array.shape, value, name)
    if isinstance(value, Variable):
        return _variable(value, name, seen)
    if kind is int and -(2**63) <= value < 2**63:
        return Leaf("int", ("int",), (), value, name)
    if kind is float:
        return Leaf("float", ("float",), (), value, name)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcV":
        key = ("tensor", as_numpy_dtype(value.dtype), len(value.shape))
        return Leaf("tensor", key, value.shape, value, name)
    if isinstance(value, TensorSpec):
        key = ("tensor", value.dtype.dtype, len(value.shape))
        return Leaf("spec", key, tuple(value.shape), value, name)
    if isinstance(value, _BY_VALUE):
        return Leaf("value", ("value", kind, value), (), value, name)
    return Leaf("object", _object_key(value), (), value, name)


def _variable(value: Variable, name: str, seen: dict[int, int]) -> Leaf:
    array = value._tensor._array
    place = seen.setdefault(id(value), len(seen))
    open_shape = None if value._shape is None else tuple(value._shape)
    kind = (value.trainable, open_shape, id(value.constraint))
    key = ("variable", array.dtype, len(array.shape), place, kind)
    return Leaf("variable", key, array.shape, value, name)


def _object_key(value: Any) -> Any:
    """Return what tells an object from others: its identity, with few exceptions."""
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        # A new object each time it is looked up.
        function = getattr(value, "__func__", value.__name__)
        return ("method", id(value.__self__), function)
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    if isinstance(value, (set, frozenset)) and all(
        isinstance(entry, (*_BY_VALUE, float)) for entry in value
    ):
        return (type(value), frozenset([(type(entry), entry) for entry in value]))
    return ("object", id(value))


class Bound(NamedTuple):
    """Arguments taken apart.

    Args:
        structure: The arguments, positional and by keyword.
        leaves: The leaves, left to right.
        key: What of them tells signatures apart, sizes left out.
    """

    structure: Any
    leaves: list[Leaf]
    key: Any


def flattened(structure: Any, name: str, leaves: list[tuple[str, Any]]) -> Any:
    """Return the structure's key, and add its leaves with their names."""
    kind = type(structure)
    if kind is tuple or kind is list:
        rows = [flattened(v, f"{name}[{i}]", leaves) for i, v in enumerate(structure)]
        return (kind, *rows)
    if isinstance(structure, Mapping):
        rows = [
            (k, flattened(structure[k], f"{name}[{k!r}]", leaves))
            for k in sorted(structure, key=_order)
        ]
        return (kind, *rows)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        pairs = zip(structure._fields, structure, strict=True)
        rows = [flattened(v, f"{name}.{f}", leaves) for f, v in pairs]
        return (kind, *rows)
    leaves.append((name, structure))
    return None


def _order(key: Any) -> tuple[str, str]:
    return type(key).__name__, repr(key)


def rebuilt(structure: Any, values: Iterator[Any], made: list[Any]) -> Any:
    """Return a copy of the structure with its leaves taken from an iterator.

    Args:
        structure: Nested lists, tuples and dicts.
        values: The leaves.
        made: Takes the copies of lists and dicts, in the order of `containers`.
    """
    kind = type(structure)
    if kind is tuple:
        return tuple([rebuilt(v, values, made) for v in structure])
    if kind is list:
        out: list[Any] = []
        made.append(out)
        out += [rebuilt(v, values, made) for v in structure]
        return out
    if isinstance(structure, Mapping):
        place = len(made)
        made.append(None)
        keys = sorted(structure, key=_order)
        found = {k: rebuilt(structure[k], values, made) for k in keys}
        entries = {k: found[k] for k in structure}
        made[place] = entries if kind is dict else refilled(structure, entries)
        return made[place]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return kind(*[rebuilt(v, values, made) for v in structure])
    return next(values)


def containers(structure: Any) -> Iterator[Any]:
    """Yield the lists and dicts in a structure, each before what it holds."""
    if isinstance(structure, Mapping):
        yield structure
        for k in sorted(structure, key=_order):
            yield from containers(structure[k])
    elif type(structure) in (list, tuple) or hasattr(structure, "_fields"):
        if type(structure) is list:
            yield structure
        for value in structure:
            yield from containers(value)


class Binder:
    """Binds the arguments of calls to the parameters of a function.

    Args:
        function: The function.
        name: Its name, for messages.
    """

    def __init__(self, function: Any, name: str) -> None:
        self._name = name
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        self._quick = self._plain_names()

    def _plain_names(self) -> tuple[str, ...] | None:
        """Return the names of the parameters, if all are plain and have no default."""
        if self.signature is None:
            return None
        kinds = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        parameters = self.signature.parameters.values()
        if all(p.kind in kinds and p.default is p.empty for p in parameters):
            return tuple(self.signature.parameters)
        return None

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Return positional and keyword arguments, the same for the same call.

        Raises:
            ArgumentTypeError: If they do not fit the parameters.
        """
        if self._quick is not None and not kwargs and len(args) == len(self._quick):
            return tuple(args), {}
        if self.signature is None:
            return tuple(args), kwargs
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{self._name}: {error}", "Check the call"
            ) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def names(self, args: Sequence[Any]) -> Sequence[str]:
        """Return the names of positional arguments."""
        if self._quick is not None:
            return self._quick
        if self.signature is None:
            return [f"argument {i}" for i in range(len(args))]
        out: list[str] = []
        for p in self.signature.parameters.values():
            if p.kind is inspect.Parameter.VAR_POSITIONAL:
                out += [f"{p.name}[{i}]" for i in range(len(args) - len(out))]
            elif p.kind is not inspect.Parameter.KEYWORD_ONLY:
                out.append(p.name)
        return out[: len(args)]

    def taken_apart(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
        """Return a call's arguments as leaves and a key.

        Raises:
            ArgumentTypeError: If they do not fit the parameters, or a key of a dict has
                no hash.
        """
        args, kwargs = self.bind(args, kwargs)
        found: list[tuple[str, Any]] = []
        shape = []
        try:
            for name, value in zip(self.names(args), args, strict=True):
                shape.append(flattened(value, name, found))
            for name in sorted(kwargs):
                shape.append((name, flattened(kwargs[name], name, found)))
        except RecursionError:
            raise ArgumentTypeError(
                f"{self._name}: an argument is a list, tuple or dict that holds itself",
                "Use containers that end, or an object of a class of your own",
            ) from None
        seen: dict[int, int] = {}
        leaves = [leaf_of(value, name, seen) for name, value in found]
        key = (len(args), tuple(shape), tuple([leaf.key for leaf in leaves]))
        structure = (tuple(args), {name: kwargs[name] for name in sorted(kwargs)})
        try:
            hash(key)
        except TypeError:
            raise ArgumentTypeError(
                f"{self._name}: an argument has a key or value without a hash",
                "Use strings or numbers as keys of dicts",
            ) from None
        return Bound(structure, leaves, key)


def as_array(leaf: Leaf) -> Any:
    """Return the array that a leaf is when the function runs.

    Raises:
        TracingError: If it is a spec.
    """
    value = leaf.value
    if leaf.kind == "tensor":
        if isinstance(value, EagerTensor):
            return value._array
        # A copy: the caller may change his array while a result or a tape holds it.
        return np.array(value, dtype=as_numpy_dtype(value.dtype), subok=False)[()]
    if leaf.kind == "variable":
        return value._tensor._array
    if leaf.kind == "int":
        return np.int64(value)
    if leaf.kind == "float":
        return np.float64(value)
    raise TracingError(f"{leaf.name} has no value", "Call the function with values")


def pinned(value: Any) -> Any:
    """Return what tells numbers apart that are part of the signature by value."""
    # As text, minus zero is another number than zero, and NaN equals itself.
    return value.hex() if type(value) is float else value
