"""`backprop`, the only reverse pass in the library, and the record it walks.

A record keeps an entry for each operation that depends on something watched: which values went
in and came out, by number, and of their contents only what the reverse rule reads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from gtape import dispatch
from gtape.dispatch import ARRAYS, next_key
from gtape.errors import Mark, ShapeError, mark, resolve
from gtape.lowering import Map
from gtape.ops.linear import cast, sum_to_shape, where
from gtape.ops.logic import equal, is_nan, logical_and
from gtape.ops.math import conj, real_part
from gtape.primitive import Primitive

KEEP_BYTES = 256
"""Values up to this size are kept whole: a stand-in for their shape would cost as much."""


class Shell:
    """The shape and dtype of a value whose contents a reverse rule does not read."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class Link(NamedTuple):
    """One operation of a record without its contents: what `explain` needs later."""

    primitive: Primitive
    in_keys: tuple[int, ...]
    out_keys: Any  # an int, or a tuple of ints where the primitive has several results
    kind: str  # of the dtype of the result; of the first one where there are several
    place: Mark


class Contents(NamedTuple):
    """What the reverse rule of an operation reads."""

    inputs: tuple[Any, ...]  # arrays (symbols' values while tracing), or shells
    out: Any  # an array or shell, or a tuple of them
    attrs: dict[str, Any]


_link = partial(tuple.__new__, Link)
_contents = partial(tuple.__new__, Contents)


class Record:
    """What a tape has seen: operations that depend on a known value, in order.

    Links and contents are parallel lists, so that a used tape can drop the contents at once and
    still explain itself.
    """

    __slots__ = ("contents", "known", "links", "named")

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.contents: list[Contents] = []
        self.known: set[int] = set()
        self.named: dict[
            int, int
        ] = {}  # the old key of values that came in from elsewhere

    def add(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> bool:
        """Add an operation if it depends on something known; return whether it does."""
        keys = tuple([x._key for x in inputs])
        if self.known.isdisjoint(keys):
            return False
        if min(keys) < 0:
            keys = self.name(inputs)
        keep_out, keep_inputs, keep_rest = primitive.keeps
        values = [x._array for x in inputs]
        for i, value in enumerate(values):
            if value.nbytes > KEEP_BYTES:
                keep = keep_inputs[i] if i < len(keep_inputs) else keep_rest
                if not keep:
                    values[i] = Shell(value.shape, value.dtype)
        out_keys = self.number(out)
        if primitive.multiple:
            self.known.update(out_keys)
            kept = tuple([_kept(o._array, keep_out) for o in out])
            kind = kept[0].dtype.kind
        else:
            self.known.add(out_keys)
            kept = _kept(out._array, keep_out)
            kind = kept.dtype.kind
        self.links.append(_link((primitive, keys, out_keys, kind, mark())))
        self.contents.append(_contents((tuple(values), kept, attrs)))
        return True

    def name(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Number the inputs that came in from elsewhere, so that they can be told apart."""
        for x in inputs:
            if x._key < 0:
                before, x._key = x._key, next_key()
                self.named[x._key] = before
        return tuple([x._key for x in inputs])

    def number(self, out: Any) -> Any:
        """Return the key of a result, or the keys of several, new ones where there are none."""
        if isinstance(out, tuple):
            return tuple([self.number(o) for o in out])
        if out._key <= 0:
            out._key = next_key()
        return out._key

    def drop_contents(self) -> None:
        """Free all values."""
        self.contents = []

    @property
    def complete(self) -> bool:
        """Whether the contents are still there."""
        return len(self.contents) == len(self.links)


def _kept(value: Any, keep: bool) -> Any:
    if keep or value.nbytes <= KEEP_BYTES:
        return value
    return Shell(value.shape, value.dtype)


def downstream(links: Sequence[Link], sources: set[int]) -> set[int]:
    """Return the keys of all values that depend differentiably on the sources, these included."""
    reached = set(sources)
    for primitive, in_keys, out_keys, kind, _ in links:
        if reached.isdisjoint(in_keys) or primitive.vjp is None:
            continue
        if type(out_keys) is not int:
            reached.update(out_keys)
        elif kind in "fcV":
            reached.add(out_keys)
    return reached


def backprop(
    record: Record,
    cotangents: dict[int, Any],
    sources: set[int],
    wrap: Callable[[Any, int], Any] | None,
) -> None:
    """Pull cotangents back through a record, in place: from the targets to the sources.

    Args:
        record: What ran.
        cotangents: The cotangent of each target by key; afterwards that of each source reached.
        sources: The keys wanted; only what lies between them and the targets is computed.
        wrap: Makes an operand of a kept value and its key, where the pass is to be recorded or
            traced; `None` to compute on bare arrays.
    """
    links, contents = (
        record.links[:],
        record.contents[:],
    )  # a persistent tape may go on recording
    reached = downstream(links, sources)
    for i in range(len(links) - 1, -1, -1):
        primitive, in_keys, out_keys, _, place = links[i]
        if primitive.multiple:
            g: Any = tuple([_taken(cotangents, k, sources) for k in out_keys])
            if all(c is None for c in g):
                continue
        else:
            g = cotangents.get(out_keys)
            if g is None:
                continue
            if out_keys not in sources:
                del cotangents[out_keys]
        if primitive.vjp is None or reached.isdisjoint(in_keys):
            continue
        _pull(links[i], contents[i], g, cotangents, reached, wrap)


def _taken(cotangents: dict[int, Any], key: int, sources: set[int]) -> Any:
    return cotangents.get(key) if key in sources else cotangents.pop(key, None)


def _pull(
    link: Link,
    contents: Contents,
    g: Any,
    cotangents: dict[int, Any],
    reached: set[int],
    wrap: Callable[[Any, int], Any] | None,
) -> None:
    """Apply one reverse rule and add its cotangents to those of the inputs."""
    primitive, in_keys, out_keys, _, place = link
    inputs, out, attrs = contents
    values: Sequence[Any] = inputs
    if wrap is not None:
        values = [_wrapped(wrap, v, k) for v, k in zip(inputs, in_keys, strict=True)]
        if primitive.multiple:
            out = tuple(
                [_wrapped(wrap, o, k) for o, k in zip(out, out_keys, strict=True)]
            )
        else:
            out = _wrapped(wrap, out, out_keys)
    complex_out = not primitive.multiple and g.dtype.kind == "c"
    if complex_out:
        g = conj(g)
    assert primitive.vjp is not None
    pulled = primitive.vjp(g, out, *values, **attrs)
    pointwise = type(primitive.lowering) is Map
    for key, x, c in zip(in_keys, inputs, pulled, strict=True):
        if c is None or key not in reached or x.dtype.kind not in "fcV":
            continue
        if type(c) is FunctionType:
            c = c()
            if c is None:
                continue
        if pointwise and c is not g:
            c = _masked(c, g)
        c = _fitted(c, x, complex_out, primitive, place)
        before = cotangents.get(key)
        cotangents[key] = c if before is None else before + c


def _wrapped(wrap: Callable[[Any, int], Any], value: Any, key: int) -> Any:
    return value if type(value) is Shell else wrap(value, key)


def _masked(c: Any, g: Any) -> Any:
    """Return a cotangent that is zero where g is zero, even if the local derivative is not finite.

    So 0 * inf = 0: an operand that a mask leaves out contributes nothing, whatever its value.
    """
    if isinstance(c, np.generic):
        return c if c == c or g != 0 else c.dtype.type(0)
    value = getattr(c, "_array", c)
    if isinstance(value, (np.ndarray, np.generic)) and not np.isnan(value).any():
        return c
    return where(logical_and(is_nan(c), equal(g, 0)), 0.0, c)


def _fitted(c: Any, x: Any, conjugate: bool, primitive: Primitive, place: Mark) -> Any:
    """Return a cotangent with the shape and dtype of the input it belongs to."""
    if c.shape != x.shape:
        if c.ndim < x.ndim or any(
            d not in (1, n)
            for d, n in zip(x.shape, c.shape[c.ndim - x.ndim :], strict=True)
        ):
            raise ShapeError(
                f"the gradient of {primitive.name} has shape {tuple(c.shape)} for an input of "
                f"shape {tuple(x.shape)}",
                "Return a gradient of the input's shape",
                at=resolve(place),
            )
        c = sum_to_shape(c, x.shape)
    kind = c.dtype.kind
    if kind == "c":
        if conjugate or x.dtype.kind == "c":
            c = conj(c)
        if x.dtype.kind != "c":
            c = real_part(c)
    return c if c.dtype == x.dtype else cast(c, x.dtype)


@contextlib.contextmanager
def backward_mode() -> Iterator[Callable[[Any, int], Any] | None]:
    """Run the block as a backward pass; give the wrapper of kept values, or None for arrays.

    If somebody records or traces, the pass runs through the current interpreter and is seen by
    them. Otherwise it runs on bare arrays, which costs no tensors and no records.
    """
    interpreter = dispatch.interpreter()
    if dispatch.recorders() or not getattr(interpreter, "on_arrays", False):
        yield interpreter.wrap
    else:
        with np.errstate(all="ignore"), dispatch.running(ARRAYS):
            yield None
