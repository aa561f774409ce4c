"""Values of the joined paths as symbols, and symbols as values again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gtape import dispatch
from gtape.dtypes import NumpyDType
from gtape.errors import TracingError
from gtape.jit.graph.ir import Literal
from gtape.jit.tracing.kinds import (
    BOOL,
    Absent,
    Array,
    Clash,
    Clashing,
    Kind,
    Maybe,
    Number,
    Optional,
    Sequences,
    Static,
    Undefined,
)
from gtape.jit.tracing.number import FLOAT64, INT64, TracedNumber, as_float, as_number
from gtape.jit.tracing.region import MISSING
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace
from gtape.ops import linear


def pack(value: Any, kind: Kind) -> list[Symbol]:
    """Return the symbols that stand for a value of (or below) a kind.

    A value that is not there gives zeros: nobody will read them.
    """
    if isinstance(kind, (Static, Clashing, Absent)):
        return []
    if isinstance(kind, Optional):
        return _pack_optional(value, kind)
    if isinstance(kind, Sequences):
        children = value.values() if isinstance(value, Mapping) else value
        there = type(value) is type(kind.sample)
        entries = list(children) if there else [MISSING] * len(kind.kinds)
        return [s for v, k in zip(entries, kind.kinds, strict=True) for s in pack(v, k)]
    if value is MISSING:
        return [_placeholder(kind)]
    if isinstance(kind, Number):
        if isinstance(value, Symbol):  # a bool
            dtype = INT64 if kind.kind is int else FLOAT64
            return [linear.cast(value, dtype)]
        number = as_number(int(value) if type(value) is bool else value)
        return [as_float(number).symbol if kind.kind is float else number.symbol]
    symbol = dispatch.interpreter().convert(value, kind.dtype)
    return [linear.cast(symbol, kind.dtype)]


def _placeholder(kind: Number | Array) -> Symbol:
    constant = dispatch.interpreter().constant
    if isinstance(kind, Number):
        return constant((INT64 if kind.kind is int else FLOAT64).type(0))  # type: ignore[no-any-return]
    zero = constant(kind.dtype.type(0))
    shape = [0 if d is None else d for d in kind.shape]
    return linear.broadcast_to(zero, shape) if shape else zero  # type: ignore[no-any-return]


def _pack_optional(value: Any, kind: Optional) -> list[Symbol]:
    convert = dispatch.interpreter().convert
    if isinstance(value, Maybe):
        return [convert(value.defined), *pack(value.value, kind.kind)]
    if isinstance(value, Undefined) or value is MISSING:
        return [convert(False), *pack(MISSING, kind.kind)]
    return [convert(True), *pack(value, kind.kind)]


def unpack(kind: Kind, symbols: Iterator[Symbol]) -> Any:
    """Return a value of a kind, made of symbols."""
    if isinstance(kind, Static):
        return kind.value
    if isinstance(kind, Absent):
        return kind.mark
    if isinstance(kind, Clashing):
        return Clash(kind.what, kind.way_out)
    if isinstance(kind, Optional):
        defined = next(symbols)
        value = unpack(kind.kind, symbols)
        if isinstance(defined._value, Literal):
            return value if bool(defined._value.array) else Undefined("a name")
        return Maybe(value, defined)
    if isinstance(kind, Sequences):
        sample = kind.sample
        values = [unpack(k, symbols) for k in kind.kinds]
        if isinstance(sample, Mapping):
            return dict(zip(sample, values, strict=True))
        if hasattr(sample, "_fields"):
            return type(sample)(*values)
        return type(sample)(values)
    if isinstance(kind, Number):
        return TracedNumber(kind.kind, next(symbols), kind.sources)
    return next(symbols)


def inputs_for(kind: Kind, trace: Trace, make: Any) -> Any:
    """Return a value of a kind made of new inputs of a region.

    Args:
        kind: The kind; sizes that are `None` become unknown.
        trace: Gives the unknowns their names.
        make: (dtype, shape) -> symbol.
    """

    def symbols() -> Iterator[Symbol]:
        for dtype, shape in leaves(kind):
            dims = [trace.unknown("m") if d is None else d for d in shape]
            yield make(dtype, tuple(dims))

    return unpack(kind, symbols())


def leaves(kind: Kind) -> list[tuple[NumpyDType, tuple[Any, ...]]]:
    """Return the dtype and shape of each symbol that stands for a kind."""
    if isinstance(kind, Array):
        return [(kind.dtype, kind.shape)]
    if isinstance(kind, Number):
        return [(INT64 if kind.kind is int else FLOAT64, ())]
    if isinstance(kind, Optional):
        return [(BOOL, ()), *leaves(kind.kind)]
    if isinstance(kind, Sequences):
        return [leaf for k in kind.kinds for leaf in leaves(k)]
    return []


def read(value: Any) -> Any:
    """Return a name's value where it is read, one that is there on all paths.

    Raises:
        UnboundNameError: If it has none.
        TracingError: If what it holds differs between paths beyond what a tensor can.
    """
    if isinstance(value, Undefined):
        raise value.error()
    if isinstance(value, Clash):
        raise TracingError(value.what, value.way_out)
    if isinstance(value, Maybe):
        raise TracingError(
            f"{value.name} is there on some paths and not on others",
            "Give it a value on all paths",
        )
    return value


def whole(container: Any) -> Any:
    """Return a container, all of which is wanted.

    Raises:
        TracingError: If a dict has an entry on some paths only, or entries differ
            between paths beyond what a tensor can.
    """
    values: Any = ()
    if type(container) in (list, dict):
        values = container if type(container) is list else container.values()
    for value in values:
        if isinstance(value, Clash):
            read(value)
    for key, value in container.items() if type(container) is dict else ():
        if isinstance(value, (Maybe, Undefined)):
            raise TracingError(
                f"a dict has the entry {key!r} on some paths and not on others",
                "Set it on all paths, or read it alone, with d[key] or d.get(key)",
            )
    return container


def named(value: Any, name: str) -> Any:
    """Return a value that may be missing under the name that messages say."""
    if isinstance(value, Maybe):
        value.name = name
    elif isinstance(value, Undefined):
        return Undefined(name)
    return value
