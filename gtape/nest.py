"""Flattens nested lists, tuples, dicts and named tuples, and rebuilds them.

Everything else is a leaf, `None` included. Dict entries are visited in insertion order;
a second structure is matched to the first by key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gtape.errors import ArgumentError, ArgumentTypeError


def is_nested(value: object) -> bool:
    """Return whether the value is a list, tuple or mapping."""
    return isinstance(value, (list, tuple, Mapping))


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of a nested structure, left to right.

    Example:
        >>> from gtape.nest import flatten
        >>> flatten({"a": [1, (2, 3)], "b": 4})
        [1, 2, 3, 4]
    """
    if not isinstance(structure, (list, tuple, Mapping)):
        return [structure]
    out: list[Any] = []
    for value in _children(structure):
        if isinstance(value, (list, tuple, Mapping)):
            out += flatten(value)
        else:
            out.append(value)
    return out


def pack(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return a copy of the structure with its leaves taken from the iterator.

    Example:
        >>> from gtape.nest import pack
        >>> pack([0, {"k": 0}], iter("ab"))
        ['a', {'k': 'b'}]
    """
    if isinstance(structure, Mapping):
        filled = {k: pack(v, leaves) for k, v in structure.items()}
        kind: Any = type(structure)
        return filled if kind is dict else kind(filled)
    if isinstance(structure, tuple):
        values = [pack(v, leaves) for v in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*values)
        return tuple(values)
    if isinstance(structure, list):
        return [pack(v, leaves) for v in structure]
    return next(leaves)


def map_structure(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Return the structure with the function applied to each leaf.

    Args:
        function: Called with one leaf of each structure.
        structure: The nested structure that gives the form.
        *others: Structures of the same form.

    Raises:
        ArgumentError: If a structure has another form.

    Example:
        >>> from gtape.nest import map_structure
        >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
        [11, (22,)]
    """
    columns = [flatten(structure)]
    columns += [flatten_like(structure, other, "map_structure") for other in others]
    return pack(structure, iter([function(*row) for row in zip(*columns, strict=True)]))


def flatten_like(structure: Any, other: Any, name: str) -> list[Any]:
    """Return the leaves of `other`, matched to the leaves of `structure`.

    A leaf of `structure` takes whatever stands in its place, so a list given for a
    tensor stays one leaf.

    Args:
        structure: The nested structure that gives the form.
        other: A structure of that form.
        name: What the error message calls `other`.

    Raises:
        ArgumentError: If `other` has another form.
    """
    if not isinstance(structure, (list, tuple, Mapping)):
        return [other]
    if isinstance(structure, Mapping):
        if not isinstance(other, Mapping) or structure.keys() != other.keys():
            got = f"{[*other]}" if isinstance(other, Mapping) else type(other).__name__
            raise ArgumentError(
                f"{name}: expected a dict with the keys {list(structure)}, got {got}",
                "Give it the same structure",
            )
        pairs = [(structure[k], other[k]) for k in structure]
    else:
        if not isinstance(other, (list, tuple)) or len(structure) != len(other):
            sequence = isinstance(other, (list, tuple))
            got = f"{len(other)}" if sequence else type(other).__name__
            raise ArgumentError(
                f"{name}: expected a sequence of {len(structure)} entries, got {got}",
                "Give it the same structure",
            )
        pairs = list(zip(structure, other, strict=True))
    return [leaf for s, o in pairs for leaf in flatten_like(s, o, name)]


def _children(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return list(structure.values())
    if isinstance(structure, (list, tuple)):
        return list(structure)
    raise ArgumentTypeError(
        f"{structure!r} is not a nested structure", "Give a list, tuple or dict"
    )
