"""`backprop`: the only reverse pass in the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np

from gtape import dispatch
from gtape.errors import GradientError, ShapeError, resolve
from gtape.ops.linear import cast, sum_to_shape, where
from gtape.ops.logic import equal, is_nan, logical_and
from gtape.ops.math import conj, real_part
from gtape.ops.traced import mask_nan
from gtape.record import LINK, SCALAR_KINDS, Entry, Record, Shell

Wrap: TypeAlias = "Callable[[Any, int], Any]"


def downstream(entries: Sequence[Entry], sources: set[int]) -> set[int]:
    """Return the keys of the sources and of what depends on them differentiably."""
    reached = set(sources)
    for entry in entries:
        if reached.isdisjoint(entry[1]) or entry[0].vjp is None:
            continue
        out_keys = entry[2]
        if type(out_keys) is not int:
            reached.update(out_keys)
        elif entry[3] in "fcV":  # the kind of the result's dtype
            reached.add(out_keys)
    return reached


def backprop(
    record: Record,
    cotangents: dict[int, Any],
    sources: set[int],
    wrap: Wrap | None,
    consume: bool = False,
) -> None:
    """Pull cotangents back through a record, in place: from the targets to the sources.

    Args:
        record: What ran. It may go on recording: the pass itself, for instance.
        cotangents: The cotangent of each target by key; afterwards of each source
            reached.
        sources: The keys wanted; only what is between them and the targets is computed.
        wrap: Makes an operand of a kept value and its key, where the pass is to be
            recorded or traced; `None` to compute on bare arrays.
        consume: Whether the record's values are freed on the way.
    """
    entries = record.entries
    reached = downstream(entries, sources)
    for i in range(len(entries) - 1, -1, -1):
        entry = entries[i]
        primitive, in_keys, out_keys, kind, _, _, inputs, out, attrs = entry
        g = _taken(cotangents, out_keys, sources)
        vjp = primitive.vjp
        if g is None or vjp is None or reached.isdisjoint(in_keys):
            continue
        if consume:
            entries[i] = entry[LINK]
        values: Sequence[Any] = inputs
        if wrap is not None:
            values, out = _wrapped(wrap, entry)
        conjugate = kind == "c" and not primitive.multiple
        if conjugate:
            g = conj(g)
        pulled = vjp(g, out, *values, **attrs)
        if len(pulled) != len(in_keys):  # zip's own check takes six times as long
            _refuse(entry, len(pulled))
        for key, x, c in zip(in_keys, inputs, pulled):  # noqa: B905 (checked above)
            scalar = type(x) in SCALAR_KINDS
            if key not in reached or not (scalar or x.dtype.kind in "fcV"):
                continue
            if type(c) is FunctionType:
                c = c()
            if c is None:
                record.refused.add((out_keys, key))
                continue
            if scalar and type(c) is type(x):  # it fits, and nothing is complex
                if c != c and primitive.pointwise and g == 0:
                    c = type(c)(0)
            else:
                if primitive.pointwise and c is not g:
                    c = _masked(c, g)
                if c.shape != x.shape or c.dtype != x.dtype or kind == "c":
                    c = _fitted(c, x, conjugate, entry)
                elif x.dtype.kind == "c":
                    c = conj(c)
            before = cotangents.get(key)
            cotangents[key] = c if before is None else before + c


def _refuse(entry: Entry, count: int) -> None:
    """Refuse a rule that returned another number of gradients than of operands."""
    raise GradientError(
        f"the rule of {entry[0].name} returned {count} gradients for "
        f"{len(entry[1])} operands",
        "Return one for each operand, None where there is none",
        at=resolve(entry[4:6]),
    )


def _taken(cotangents: dict[int, Any], keys: Any, sources: set[int]) -> Any:
    """Return the cotangent of a result, which is used up unless it is of a source."""
    if type(keys) is int:
        if keys in sources:
            return cotangents.get(keys)
        return cotangents.pop(keys, None)
    found = tuple([_taken(cotangents, k, sources) for k in keys])
    return None if all(c is None for c in found) else found


def _wrapped(wrap: Wrap, entry: Entry) -> tuple[Sequence[Any], Any]:
    """Return kept values as operands of the current interpreter."""
    primitive, in_keys, out_keys, _, _, _, inputs, out, _ = entry
    if primitive.multiple:
        return _open(wrap, inputs, in_keys), tuple(_open(wrap, out, out_keys))
    return _open(wrap, inputs, in_keys), _open(wrap, (out,), (out_keys,))[0]


def _open(wrap: Wrap, kept: Sequence[Any], keys: Sequence[int]) -> list[Any]:
    pairs = zip(kept, keys, strict=True)
    return [
        value if value is None or type(value) is Shell else wrap(value, key)
        for value, key in pairs
    ]


def _masked(c: Any, g: Any) -> Any:
    """Return c, but zero where g is zero and c is NaN.

    So 0 * inf = 0: an operand that a mask leaves out contributes nothing, whatever its
    value.
    """
    if isinstance(c, np.generic):
        return c if c == c or g != 0 else c.dtype.type(0)
    value = c if isinstance(c, np.ndarray) else c._array
    if not isinstance(value, np.ndarray | np.generic):
        return mask_nan(c, g)  # of a trace or a batch: who knows
    if not _holds_nan(value):
        return c
    return where(logical_and(is_nan(c), equal(g, 0)), 0.0, c)


def _holds_nan(array: Any) -> bool:
    """Return whether an element of a bare array is NaN."""
    if array.dtype.char in "fd":
        # A sum of squares is NaN only if one of them is; this reads the array once.
        flat = np.reshape(array, -1)
        total = flat.dot(flat)
        return bool(total != total)
    return bool(np.isnan(array).any())


def _fitted(c: Any, x: Any, conjugate: bool, entry: Entry) -> Any:
    """Return a cotangent with the shape and dtype of the input it belongs to."""
    shape, wanted = c.shape, x.shape
    if shape != wanted:
        lead = len(shape) - len(wanted)
        tail = tuple(shape)[lead:] if lead >= 0 else ()
        if lead < 0 or any(d not in (1, n) for d, n in zip(wanted, tail, strict=True)):
            raise ShapeError(
                f"the gradient of {entry[0].name} has shape {tuple(shape)} for an "
                f"input of shape {tuple(wanted)}",
                "Return a gradient of the input's shape",
                at=resolve(entry[4:6]),
            )
        c = sum_to_shape(c, wanted)
    if c.dtype.kind == "c":
        if conjugate or x.dtype.kind == "c":
            c = conj(c)
        if x.dtype.kind != "c":
            c = real_part(c)
    return c if c.dtype == x.dtype else cast(c, x.dtype)


def pull_back(
    record: Record,
    passes: Sequence[dict[int, Any]],
    sources: set[int],
    consume: bool = False,
) -> None:
    """Run a reverse pass for each dict of cotangents, in place.

    If somebody records or traces, the passes run through the current interpreter and
    are seen by them. Otherwise they run on bare arrays, which costs no tensors and no
    records.
    """
    interpreter, recorders = dispatch.state()
    if recorders or record.on_tensors or not interpreter.on_arrays:
        for cotangents in passes:
            backprop(record, cotangents, sources, interpreter.wrap, consume)
    else:
        dispatch.on_arrays(_pull_back_arrays, record, passes, sources, consume)


def _pull_back_arrays(
    record: Record, passes: Sequence[dict[int, Any]], sources: set[int], consume: bool
) -> None:
    for cotangents in passes:
        for key, value in cotangents.items():
            cotangents[key] = value._array
        backprop(record, cotangents, sources, None, consume)
