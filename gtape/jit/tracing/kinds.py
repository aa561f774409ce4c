"""What a Python value is to a trace, and how two merge and become tensors.

Where paths of a program meet, a name may hold a tensor on one and a number on another,
or nothing at all. `kind_of` says what a value is, `join` what it is after paths met,
`pack` turns it into symbols, and `unpack` makes a value of symbols again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape.dtypes import NumpyDType, as_dtype, as_numpy_dtype, concrete, promote
from gtape.eager import EagerTensor
from gtape.errors import Origin, UnboundNameError
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.region import MISSING
from gtape.jit.tracing.symbol import Symbol
from gtape.sizes import is_size, same_size
from gtape.variable import Variable

BOOL = as_dtype("bool").dtype


class Undefined:
    """Stands for a local name that has no value.

    Args:
        name: The name.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def error(self, at: Origin | None = None) -> UnboundNameError:
        """Return Python's error for reading the name."""
        return UnboundNameError(
            f"local variable {self.name!r} is read before it is set",
            "Give it a value on every path that leads here",
            at,
        )


class Maybe:
    """A value that is there on some paths only.

    Args:
        value: The value, if it is.
        defined: A bool symbol: whether it is.
        name: How messages say it.
    """

    __slots__ = ("defined", "name", "value")

    def __init__(self, value: Any, defined: Any, name: str = "a value") -> None:
        self.value = value
        self.defined = defined
        self.name = name


_ONE_KIND = "Give it values of one kind and rank on all paths, or test a Python value"


class Clash:
    """Values that no tensor can stand for; an error if somebody reads them.

    Args:
        what: What they are.
        way_out: What to do.
    """

    __slots__ = ("way_out", "what")

    def __init__(self, what: str, way_out: str = _ONE_KIND) -> None:
        self.what = what
        self.way_out = way_out


UNCERTAIN = (Undefined, Maybe, Clash)
"""What names and places hold where paths have left different things."""


class Static(NamedTuple):
    """A Python value that is the same on all paths."""

    value: Any


class Number(NamedTuple):
    """A Python int or float that depends on the path."""

    kind: type
    sources: frozenset[Any] | None


class Array(NamedTuple):
    """A tensor; a size that is `None` depends on the path."""

    dtype: NumpyDType
    shape: tuple[Any, ...]


class Sequences(NamedTuple):
    """A list, tuple or dict of values."""

    sample: Any  # gives the type and the keys
    kinds: tuple[Any, ...]


class Absent(NamedTuple):
    """A name without a value."""

    mark: Undefined


class Optional(NamedTuple):
    """What is there on some paths only."""

    kind: Any


class Clashing(NamedTuple):
    """Values that do not merge."""

    what: str
    way_out: str = _ONE_KIND


Kind: TypeAlias = "Static | Number | Array | Sequences | Absent | Optional | Clashing"


# --- What a value is ------------------------------------------------------------------


def kind_of(value: Any) -> Kind:
    """Return what a value is to a trace."""
    if isinstance(value, Symbol):
        return Array(value._value.dtype, tuple(value._value.shape))
    if isinstance(value, TracedNumber):
        return Number(value.kind, value.sources)
    if is_size(value):
        return Number(int, frozenset())
    if isinstance(value, EagerTensor):
        array = value._array
        return Array(as_numpy_dtype(array.dtype), tuple(array.shape))
    if isinstance(value, Undefined):
        return Absent(value)
    if value is MISSING:
        return Absent(Undefined("an attribute"))
    if isinstance(value, Maybe):
        return Optional(kind_of(value.value))
    if isinstance(value, Clash):
        return Clashing(value.what, value.way_out)
    if type(value) in (list, tuple) or hasattr(value, "_fields"):
        return Sequences(value, tuple([kind_of(v) for v in value]))
    if type(value) is dict:
        return Sequences(value, tuple([kind_of(v) for v in value.values()]))
    return Static(value)


def _is_plain_number(value: Any) -> bool:
    return type(value) in (bool, int, float) or isinstance(value, np.generic)


def _numeric(kind: Kind) -> Number | Array | None:
    """Return a static number as what it is beside others that are not static."""
    if not isinstance(kind, Static):
        return kind if isinstance(kind, (Number, Array)) else None
    value = kind.value
    if type(value) is bool:
        return Array(BOOL, ())
    if type(value) in (int, float):
        return Number(type(value), frozenset())
    if isinstance(value, Variable):
        value = value._tensor._array
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcV":
        return Array(as_numpy_dtype(value.dtype), tuple(value.shape))
    return None


# --- What two values are together -----------------------------------------------------


def join(a: Kind, b: Kind, name: str = "a value") -> Kind:
    """Return what a value is where a path that made it a meets one that made it b."""
    if isinstance(a, Clashing) or isinstance(b, Clashing):
        return a if isinstance(a, Clashing) else b
    if isinstance(a, Absent) or isinstance(b, Absent):
        if isinstance(a, Absent) and isinstance(b, Absent):
            return a
        other = b if isinstance(a, Absent) else a
        return other if isinstance(other, Optional) else Optional(other)
    if isinstance(a, Optional) or isinstance(b, Optional):
        a = a.kind if isinstance(a, Optional) else a
        b = b.kind if isinstance(b, Optional) else b
        return Optional(join(a, b, name))
    if isinstance(a, Static) and isinstance(b, Static) and same_static(a, b):
        return a
    if isinstance(a, Sequences) and isinstance(b, Sequences):
        return _join_sequences(a, b, name)
    x, y = _numeric(a), _numeric(b)
    if x is None or y is None:
        return Clashing(f"{name} is {_said(a)} on one path and {_said(b)} on another")
    return _join_numeric(x, y, name)


def same_static(a: Static, b: Static) -> bool:
    """Return whether two Python values are the same."""
    x, y = a.value, b.value
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    plain = (bool, int, float, complex, str, bytes, type(None), range, slice)
    if isinstance(x, float) and x != x and y != y:
        return True
    return isinstance(x, plain) and x == y and str(x) == str(y)


def _join_sequences(a: Sequences, b: Sequences, name: str) -> Kind:
    x, y = a.sample, b.sample
    same = type(x) is type(y) and len(a.kinds) == len(b.kinds)
    if same and isinstance(x, Mapping):
        same = list(x) == list(y)
    if not same:
        return Clashing(f"{name} is {_said(a)} on one path and {_said(b)} on another")
    kinds = [
        join(p, q, f"an entry of {name}") for p, q in zip(a.kinds, b.kinds, strict=True)
    ]
    for kind in kinds:
        if isinstance(kind, Clashing):
            return kind
    return Sequences(x, tuple(kinds))


def _join_numeric(x: Number | Array, y: Number | Array, name: str) -> Kind:
    if isinstance(x, Number) and isinstance(y, Number):
        kind = float if float in (x.kind, y.kind) else int
        sources = (
            None if x.sources is None or y.sources is None else x.sources | y.sources
        )
        return Number(kind, sources)
    shapes = [k.shape if isinstance(k, Array) else () for k in (x, y)]
    kinds = [k.dtype if isinstance(k, Array) else k.kind for k in (x, y)]
    numbers = [isinstance(k, Number) for k in (x, y)]
    if BOOL in kinds and kinds[0] is not kinds[1]:
        if any(numbers) and () in shapes:
            weak = kinds[0] if numbers[0] else kinds[1]
            return Number(float if weak is float else int, None)
        return Clashing(f"{name} is {_said(x)} on one path and {_said(y)} on another")
    dtype = concrete(promote(kinds[0], kinds[1]))
    if len(shapes[0]) != len(shapes[1]):
        return Clashing(
            f"{name} is {_said(x)} on one path and {_said(y)} on another: the ranks "
            "differ"
        )
    dims = [p if same_size(p, q) else None for p, q in zip(*shapes, strict=True)]
    return Array(dtype, tuple(dims))


def same_kind(a: Kind, b: Kind) -> bool:
    """Return whether two kinds are the same: a loop need not be traced again."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Static):
        return same_static(a, b)  # type: ignore[arg-type]
    if isinstance(a, Array):
        assert isinstance(b, Array)
        same = a.dtype == b.dtype and len(a.shape) == len(b.shape)
        return same and all(
            (p is None and q is None)
            or (p is not None and q is not None and same_size(p, q))
            for p, q in zip(a.shape, b.shape, strict=True)
        )
    if isinstance(a, Sequences):
        assert isinstance(b, Sequences)
        return len(a.kinds) == len(b.kinds) and all(
            same_kind(p, q) for p, q in zip(a.kinds, b.kinds, strict=True)
        )
    if isinstance(a, Optional):
        assert isinstance(b, Optional)
        return same_kind(a.kind, b.kind)
    if isinstance(a, Number):
        assert isinstance(b, Number)
        return a.kind is b.kind and a.sources == b.sources
    return True


def _said(kind: Any) -> str:
    """Return a kind as messages say it."""
    if isinstance(kind, Static):
        value = kind.value
        if value is None or isinstance(value, (bool, int, float, str)):
            return repr(value)
        if value is MISSING:
            return "missing"
        return f"an object of type {type(value).__name__}"
    if isinstance(kind, Number):
        return f"a Python {kind.kind.__name__}"
    if isinstance(kind, Array):
        sizes = ", ".join("?" if d is None else str(d) for d in kind.shape)
        return f"a tensor of shape ({sizes}) and dtype {as_dtype(kind.dtype)}"
    if isinstance(kind, Sequences):
        count = len(kind.kinds)
        entries = "1 entry" if count == 1 else f"{count} entries"
        return f"a {type(kind.sample).__name__} of {entries}"
    return "undefined"
