"""Python's built-in functions on traced values."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import ArgumentError, DTypeError, TracingError
from gtape.jit.hooks.branches import choose, truth
from gtape.jit.hooks.comprehensions import Generator, reduced
from gtape.jit.hooks.reads import note_parts, note_reads
from gtape.jit.hooks.sequences import (
    Enumerate,
    Mapped,
    Reversed,
    Traced,
    Zip,
    as_traced,
    ranged,
)
from gtape.jit.tracing.kinds import Undefined
from gtape.jit.tracing.number import TracedNumber, as_float, is_number, truncated
from gtape.jit.tracing.packing import whole
from gtape.jit.tracing.symbol import Symbol
from gtape.ops import extrema, linear, logic
from gtape.ops.reduction import reduce_max, reduce_min
from gtape.sizes import Size, same_size
from gtape.variable import Variable

Function = Callable[..., Any]
TENSORS = (Symbol, EagerTensor, Variable)


def is_traced(value: Any) -> bool:
    """Return whether a value is one that is known only when the function runs."""
    return isinstance(value, (*TENSORS, TracedNumber, Traced, Size))


def _length(x: Any) -> Any:
    if isinstance(x, TENSORS):
        if x.ndim == 0:
            return builtins.len(x)  # refuses
        return x.shape[0]
    if isinstance(x, Traced):
        return x.length
    if type(x) not in (list, tuple, dict, set, str):
        note_reads(x)
    return builtins.len(whole(x))


def _enumerate(items: Any, start: Any = 0) -> Any:
    traced = _sequence(items)
    if traced is None:
        return enumerate(items, start)
    return Enumerate(traced, start)


def _sequence(items: Any) -> Traced | None:
    """Return a sequence that only a trace can run over, or tensors."""
    if isinstance(items, (Traced, *TENSORS)):
        return as_traced(items)
    note_parts(whole(items))
    return None


def _zip(*parts: Any, strict: bool = False) -> Any:
    if not any(_sequence(p) is not None for p in parts):
        return zip(*parts, strict=strict)
    traced = [as_traced(p) for p in parts]
    known = [t for t in traced if t is not None]
    if len(known) == len(parts):
        if strict:
            _check_lengths(known)
        return Zip(known)
    if all(t.is_static for t in known):
        rows = [
            p if t is None else t.iterate()
            for p, t in builtins.zip(parts, traced, strict=True)
        ]
        return zip(*rows, strict=strict)
    raise TracingError(
        "zip of a Python sequence with one whose length is known only when the "
        "function runs",
        "Make a tensor of the Python sequence",
    )


def _check_lengths(parts: Sequence[Traced]) -> None:
    """Require one length, as `zip` does where it is strict."""
    first = parts[0].length
    for part in parts[1:]:
        if part.length is first:
            continue
        for length in (first, part.length):
            if type(length) is TracedNumber:
                length.pin("the length")
        if not same_size(first, part.length):
            raise ArgumentError(
                f"zip: lengths {first} and {part.length}, where strict asks for one",
                "Make them equal, or drop strict",
            )


def _reversed(items: Any) -> Any:
    traced = _sequence(items)
    return builtins.reversed(items) if traced is None else Reversed(traced)


def _map(function: Function, *parts: Any) -> Any:
    called = functools.partial(dispatch.invoke, function)
    zipped = _zip(*parts)
    if isinstance(zipped, Traced):
        return Mapped(called, zipped)
    return builtins.map(called, *parts)


def _reduce(function: Function, items: Any, *initial: Any) -> Any:
    called = functools.partial(dispatch.invoke, function)
    return functools.reduce(called, items, *initial)


def _sum(items: Any, start: Any = 0) -> Any:
    if isinstance(items, Generator) or _sequence(items) is not None:
        return reduced(items, start, lambda total, x: total + x, None)
    return builtins.sum(items, start)


def _any(items: Any) -> Any:
    return _quantified(items, True)


def _all(items: Any) -> Any:
    return _quantified(items, False)


def _quantified(items: Any, wanted: bool) -> Any:
    """Return whether one item is true, or all are; what follows is not looked at."""

    def combine(found: Any, x: Any) -> Any:
        return truth(x() if callable(x) else x)

    def stop(found: Any) -> Any:
        known = truth(found)
        if type(known) is bool:
            return known is wanted
        return known if wanted else logic.logical_not(known)

    return reduced(items, not wanted, combine, stop)


def _extreme(name: str, pick: Function, of_tensor: Function) -> Function:
    plain = getattr(builtins, name)
    function = getattr(extrema, f"{name}imum")

    def better(x: Any, y: Any) -> Any:
        """Return y if it is better than x: Python keeps the first of equals."""
        if is_number(x) and is_number(y):
            return choose(pick(y, x), lambda: y, lambda: x)
        return function(x, y)

    def extreme(*args: Any, **options: Any) -> Any:
        if options.get("key") is not None:
            key = functools.partial(dispatch.invoke, options["key"])
            if not options.keys() <= {"key"}:
                return plain(*args, **options)
            values = args if len(args) > 1 else list(args[0])

            def first(a: Any, b: Any) -> Any:
                return choose(pick(key(b), key(a)), lambda: b, lambda: a)

            return functools.reduce(first, values) if values else plain(values)
        if len(args) > 1:
            if any(is_traced(a) for a in args):
                return functools.reduce(better, args)
            return plain(*args, **options)
        if not args:
            return plain()  # refuses
        [items] = args
        if isinstance(items, TENSORS) and items.ndim == 1 and not options:
            return of_tensor(items)
        if isinstance(items, Generator) or _sequence(items) is not None:
            start = options.get("default", Undefined(name))
            return reduced(items, start, better, None, name)
        values = builtins.list(items)
        if any(is_traced(v) for v in values):
            return functools.reduce(better, values)
        return plain(values, **options)

    return extreme


def _int(x: Any = 0, *base: Any) -> Any:
    if base or not is_traced(x):
        return builtins.int(x, *base)
    if isinstance(x, Size):
        return x
    if isinstance(x, TracedNumber):
        return truncated(x)
    symbol = _scalar("int", x)
    if symbol.dtype.kind in "iub":
        return TracedNumber(builtins.int, linear.cast(symbol, "int64"), None)
    return truncated(TracedNumber(builtins.float, linear.cast(symbol, "float64"), None))


def _float(x: Any = 0.0) -> Any:
    if not is_traced(x):
        return builtins.float(x)
    if isinstance(x, Size):
        x = x.owner.tensor(x)
    if isinstance(x, TracedNumber):
        return as_float(x)
    return TracedNumber(
        builtins.float,
        linear.cast(linear.stop_gradient(_scalar("float", x)), "float64"),
        None,
    )


def _scalar(name: str, x: Any) -> Any:
    symbol = dispatch.interpreter().convert(x)
    if symbol.dtype.is_complex:
        raise DTypeError(
            f"{name}: a {symbol.dtype} tensor is no real number", "Use gt.real"
        )
    if symbol.ndim:
        raise ArgumentError(
            f"{name}: a tensor of shape {tuple(symbol.shape)} is no number",
            "Index it first",
        )
    return symbol


def _bool(x: Any = False) -> Any:
    return truth(x)


def _isinstance(x: Any, kinds: Any) -> bool:
    if isinstance(x, TracedNumber):
        return issubclass(x.kind, kinds)
    if isinstance(x, Size):
        return issubclass(builtins.int, kinds)
    return builtins.isinstance(x, kinds)


def _list(items: Any = ()) -> Any:
    return [*_static("list", items)]


def _tuple(items: Any = ()) -> Any:
    return (*_static("tuple", items),)


def _static(name: str, items: Any) -> Any:
    if isinstance(items, Generator):
        return items.listed()
    traced = _sequence(items)
    if traced is None:
        return whole(items)
    if not traced.is_static:
        if type(traced.length) is TracedNumber:
            traced.length.pin("the length")
        raise TracingError(
            f"{name}() of a sequence whose length is known only when the function runs",
            "Use the tensor itself",
        )
    return traced.iterate()


def _sorted(items: Any, **options: Any) -> Any:
    values = [*_static("sorted", items)]
    if any(is_traced(v) for v in values):
        raise TracingError(
            "sorted() of traced values: their order is known only when the function "
            "runs",
            "Use gt.sort of a tensor",
        )
    return builtins.sorted(values, **options)


_BY_FUNCTION: dict[Any, Function] = {
    builtins.len: _length,
    builtins.range: ranged,
    builtins.enumerate: _enumerate,
    builtins.zip: _zip,
    builtins.reversed: _reversed,
    builtins.map: _map,
    builtins.sum: _sum,
    builtins.any: _any,
    builtins.all: _all,
    builtins.max: _extreme("max", lambda a, b: a > b, reduce_max),
    builtins.min: _extreme("min", lambda a, b: a < b, reduce_min),
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.isinstance: _isinstance,
    builtins.list: _list,
    builtins.tuple: _tuple,
    builtins.sorted: _sorted,
    functools.reduce: _reduce,
}


def on_traced(function: Any) -> Function | None:
    """Return what stands for one of Python's functions in a trace, if anything does."""
    try:
        return _BY_FUNCTION.get(function)
    except TypeError:  # it has no hash
        return None


__all__ = ["TENSORS", "is_traced", "on_traced"]
