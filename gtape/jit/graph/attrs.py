"""Attributes of nodes: their sizes as numbers, a key to compare them by, their text."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from gtape.dtypes import DType
from gtape.jit.graph.text import Writer
from gtape.sizes import Integer, Rounded, Size, Unknown, size_of_unknown, value_of

Attrs: TypeAlias = "dict[str, Any]"

_PLAIN = (int, str, bytes, bool, type(None), type(Ellipsis))


# --- Sizes ----------------------------------------------------------------------------


def has_size(value: Any) -> bool:
    """Return whether a value is a size, or a nest of tuples and such that holds one."""
    if type(value) is Size:
        return True
    if isinstance(value, (tuple, list)):
        return any(has_size(v) for v in value)
    if isinstance(value, dict):
        return any(has_size(v) for v in value.values())
    if isinstance(value, slice):
        return has_size((value.start, value.stop, value.step))
    return False


def resolve(attrs: Attrs, sizes: Mapping[Unknown, int]) -> Attrs:
    """Return attributes with the number that each size is in a call.

    Args:
        attrs: The attributes; returned themselves if they hold no size.
        sizes: The length that each unknown has.

    Raises:
        KeyError: If a size depends on an unknown that has no length.
    """
    if not attrs or not has_size(attrs):
        return attrs
    return {n: _mapped(v, lambda size: value_of(size, sizes)) for n, v in attrs.items()}


def changed_sizes(
    attrs: Attrs, change: Callable[[Unknown], Unknown | Integer]
) -> Attrs:
    """Return attributes with other unknowns in their sizes.

    Args:
        attrs: The attributes; returned themselves if they hold no size.
        change: What stands in the place of an unknown.
    """
    if not attrs or not has_size(attrs):
        return attrs

    def size(value: Any) -> Any:
        if type(value) is not Size:
            return value
        total: Any = 0
        for monomial, coefficient in value.terms:
            total = total + coefficient * math.prod([atom(a) for a in monomial])
        return total

    def atom(value: Unknown | Rounded) -> Any:
        if isinstance(value, Unknown):
            found = change(value)
            return size_of_unknown(found) if isinstance(found, Unknown) else found
        left, right = size(value.left), size(value.right)
        return left // right if value.relation == "//" else left % right

    return {name: _mapped(value, size) for name, value in attrs.items()}


def _mapped(value: Any, change: Callable[[Size], Any]) -> Any:
    if type(value) is Size:
        return change(value)
    if not has_size(value):
        return value
    if isinstance(value, dict):
        return {k: _mapped(v, change) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(*_mapped((value.start, value.stop, value.step), change))
    made = [_mapped(v, change) for v in value]
    # A named tuple is made of its fields one by one, other tuples of a sequence.
    make = getattr(type(value), "_make", type(value))
    return make(made)


# --- Keys -----------------------------------------------------------------------------


class _Same:
    """An object that equals only itself, kept alive so that its id stays its own."""

    __slots__ = ("what",)

    def __init__(self, what: Any) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and other.what is self.what

    def __hash__(self) -> int:
        return id(self.what)


def key_of(attrs: Attrs) -> Hashable:
    """Return a key that is equal for attributes that mean the same.

    Sizes compare by expression, floats by their bits (any NaN equals any NaN), numbers
    of different types differ, and arrays and objects equal only themselves.

    Args:
        attrs: The attributes of a node.
    """
    if not attrs:
        return ()
    return tuple([(name, _key(attrs[name])) for name in sorted(attrs)])


def _key(value: Any) -> Hashable:
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, _bits(value)
    if kind is complex:
        return kind, _bits(value.real), _bits(value.imag)
    if kind is Size:
        return kind, size_key(value)
    if isinstance(value, (tuple, list)):
        return kind, tuple([_key(v) for v in value])
    if kind is dict:
        return kind, tuple([(_key(k), _key(v)) for k, v in value.items()])
    if kind is slice:
        return kind, _key((value.start, value.stop, value.step))
    if isinstance(value, np.generic):
        return kind, _scalar_bits(value)
    if isinstance(value, (np.dtype, DType, type)):
        # The type says which face of the dtype it is: they all equal each other.
        return kind, value
    return _Same(value)


def _bits(number: float) -> Hashable:
    # The sign of zero counts; the sign and payload of a NaN do not.
    return "nan" if number != number else struct.pack("<d", number)


def _scalar_bits(value: Any) -> Hashable:
    return "nan" if value.dtype.kind in "fV" and value != value else value.tobytes()


def size_key(size: Integer | None) -> Hashable:
    """Return a key that is equal for sizes that are the same expression.

    Unlike `==` of sizes it decides nothing, also where roundings stand in them.
    """
    if type(size) is not Size:
        return size
    return tuple(
        [
            (coefficient, tuple([_atom_key(atom) for atom in monomial]))
            for monomial, coefficient in size.terms
        ]
    )


def _atom_key(atom: Unknown | Rounded) -> Hashable:
    if isinstance(atom, Unknown):
        return atom
    return atom.relation, size_key(atom.left), size_key(atom.right)


def same_dims(a: Iterable[Any], b: Iterable[Any]) -> bool:
    """Return whether two shapes are the same expressions."""
    return [*map(size_key, a)] == [*map(size_key, b)]


def unknowns_in(value: Any) -> set[Unknown]:
    """Return the unknowns of all sizes in a value."""
    if type(value) is Size:
        return value.unknowns()
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if not isinstance(value, (tuple, list)) or not has_size(value):
        return set()
    return set().union(*[unknowns_in(v) for v in value])


# --- Text -----------------------------------------------------------------------------


def printed(attrs: Attrs) -> str:
    """Return attributes as printed graphs show them, such as `{axes=(0,)}`."""
    return Writer().attrs(attrs)
