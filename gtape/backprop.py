"""`backprop`, the only reverse pass in the library, and the record it walks.

A record keeps an entry for each operation that depends on something watched: which
values went in and came out, by number, and of their contents only what the reverse rule
reads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape import dispatch
from gtape.dispatch import next_key
from gtape.errors import PACKAGE, Mark, ShapeError, mark, resolve
from gtape.ops.linear import cast, sum_to_shape, where
from gtape.ops.logic import equal, is_nan, logical_and
from gtape.ops.math import conj, real_part
from gtape.primitive import Primitive

Wrap: TypeAlias = "Callable[[Any, int], Any]"
_getframe = sys._getframe

MOST_ASIDE = 100_000
"""How many operations that depend on nothing watched are noted, for `explain`."""

KEEP_BYTES = 256
"""Values up to this size are kept whole: a stand-in would cost as much."""


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
    kind: str  # of the dtype of the result; a letter for each where there are several
    place: Mark


class Note(NamedTuple):
    """A value that left for NumPy, or was given to a variable."""

    value_key: int
    number: int  # one of the keys, of which larger ones are later
    place: Mark
    variable_key: int = 0
    name: str = ""


# The fields of Link, and (inputs, out, attrs), as plain tuples: making a named one
# takes as long as the whole rest of recording.
_Link: TypeAlias = "tuple[Primitive, tuple[int, ...], Any, str, Mark]"
_Contents: TypeAlias = "tuple[tuple[Any, ...], Any, dict[str, Any]]"


class Record:
    """What a tape has seen: the recorder that `dispatch.apply` talks to.

    Links and contents are parallel lists, so that a used tape can drop the contents at
    once and still explain itself. Operations that depend on nothing watched leave a
    link aside, without contents, up to a number.

    Args:
        watch_accessed: Whether trainable variables are watched when they are read.
    """

    __slots__ = (
        "aside",
        "assignments",
        "contents",
        "known",
        "links",
        "named",
        "on_tensors",
        "parted",
        "refused",
        "thread",
        "unwatched",
        "variables",
        "watch_accessed",
    )

    def __init__(self, watch_accessed: bool) -> None:
        self.watch_accessed = watch_accessed
        self.links: list[_Link] = []
        self.contents: list[_Contents] = []
        self.known: set[int] = set()
        self.variables: dict[int, Any] = {}
        self.named: dict[int, int] = {}  # the old keys of values from elsewhere
        self.aside: list[_Link] = []
        self.parted: list[Note] = []
        self.unwatched: set[int] = set()  # the keys of variables that were read
        self.refused: set[tuple[Any, int]] = set()  # (out_keys, in_key) without a rule
        self.assignments: list[Note] = []
        self.on_tensors = False
        self.thread = threading.get_ident()

    def record(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> None:
        """Note an operation: whole if it depends on something known, else its link."""
        keys = tuple([x._key for x in inputs])
        if self.known.isdisjoint(keys):
            self._aside(primitive, inputs, out)
            return
        if primitive.multiple or primitive.on_tensors:
            self._record_several(primitive, inputs, out, attrs)
            return
        for key in keys:
            if key < 0:
                keys = self._name(inputs)
                break
        values = [x._array for x in inputs]
        if not primitive.keeps_inputs:
            _shed(primitive, values)
        result = out._array
        kind = result.dtype.kind
        if not primitive.keeps[0] and result.nbytes > KEEP_BYTES:
            result = Shell(result.shape, result.dtype)
        key = out._key
        if key <= 0:
            key = out._key = next_key()
        self.known.add(key)
        # From the caller of the operation's own function on, look for the user.
        frame = _getframe(3)
        while frame.f_code.co_filename.startswith(PACKAGE):
            frame = frame.f_back or _getframe(0)
        self.links.append((primitive, keys, key, kind, (frame.f_code, frame.f_lasti)))
        self.contents.append((tuple(values), result, attrs))

    def _record_several(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> None:
        """Note an operation with several results, or one whose rule is the user's."""
        keys = self._name(inputs)
        values = [x._array for x in inputs]
        _shed(primitive, values)
        out_keys = self._number(out)
        keep_out = primitive.keeps[0]
        if primitive.multiple:
            self.known.update(out_keys)
            kept: Any = tuple([_kept(o._array, keep_out) for o in out])
        else:
            self.known.add(out_keys)
            kept = _kept(out._array, keep_out)
        self.on_tensors |= primitive.on_tensors
        self.links.append((primitive, keys, out_keys, _kind(out), mark()))
        self.contents.append((tuple(values), kept, attrs))

    def _name(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Number the inputs that came in from elsewhere, to tell them apart."""
        for x in inputs:
            if x._key < 0:
                before, x._key = x._key, next_key()
                self.named[x._key] = before
        return tuple([x._key for x in inputs])

    def _number(self, out: Any) -> Any:
        """Return the key of a result, or the keys of several, made if need be."""
        if isinstance(out, tuple):
            return tuple([self._number(o) for o in out])
        if out._key <= 0:
            out._key = next_key()
        return out._key

    def _aside(self, primitive: Primitive, inputs: Sequence[Any], out: Any) -> None:
        """Note an operation that depends on nothing watched."""
        if len(self.aside) < MOST_ASIDE:
            keys, out_keys = self._name(inputs), self._number(out)
            self.aside.append((primitive, keys, out_keys, _kind(out), mark()))

    def read(self, variable: Any) -> None:
        """Watch a variable that is read."""
        key = variable._key
        if self.watch_accessed and variable._trainable:
            self.known.add(key)
            self.variables[key] = variable
        else:
            self.unwatched.add(key)

    def left(self, key: int) -> None:
        """Note that a value has left for NumPy."""
        if len(self.parted) < MOST_ASIDE:
            self.parted.append(Note(key, next_key(), mark()))

    def assigned(self, variable: Any, value: Any) -> None:
        """Note that a variable has been given a value."""
        if len(self.assignments) < MOST_ASIDE:
            note = Note(value._key, next_key(), mark(), variable._key, variable.name)
            self.assignments.append(note)

    def drop_contents(self) -> None:
        """Free all values."""
        self.contents = []


def _shed(primitive: Primitive, values: list[Any]) -> None:
    """Put shells in the place of large inputs that the reverse rule does not read."""
    _, keep_inputs, keep_rest = primitive.keeps
    for i, value in enumerate(values):
        if value.nbytes > KEEP_BYTES:
            keep = keep_inputs[i] if i < len(keep_inputs) else keep_rest
            if not keep:
                values[i] = Shell(value.shape, value.dtype)


def _kind(out: Any) -> str:
    results = out if type(out) is tuple else (out,)
    return "".join([r._array.dtype.kind for r in results])


def _kept(value: Any, keep: bool) -> Any:
    if keep or value.nbytes <= KEEP_BYTES:
        return value
    return Shell(value.shape, value.dtype)


def downstream(links: Sequence[_Link], sources: set[int]) -> set[int]:
    """Return the keys of the sources and of what depends on them differentiably."""
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
    wrap: Wrap | None,
) -> None:
    """Pull cotangents back through a record, in place: from the targets to the sources.

    Args:
        record: What ran.
        cotangents: The cotangent of each target by key; afterwards of each source
            reached.
        sources: The keys wanted; only what is between them and the targets is computed.
        wrap: Makes an operand of a kept value and its key, where the pass is to be
            recorded or traced; `None` to compute on bare arrays.
    """
    links, contents = record.links, record.contents
    if wrap is not None:  # the pass may be recorded by the very tape
        links, contents = links[:], contents[:]
    reached = downstream(links, sources)
    for i in range(len(links) - 1, -1, -1):
        primitive, in_keys, out_keys, kind, place = links[i]
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
        vjp = primitive.vjp
        if vjp is None or reached.isdisjoint(in_keys):
            continue
        inputs, out, attrs = contents[i]
        values: Sequence[Any] = inputs
        if wrap is not None:
            values, out = _wrapped(wrap, links[i], inputs, out)
        conjugate = kind == "c" and not primitive.multiple
        if conjugate:
            g = conj(g)
        pulled = vjp(g, out, *values, **attrs)
        pointwise = primitive.pointwise
        for key, x, c in zip(in_keys, inputs, pulled):  # noqa: B905 (checked for custom rules)
            if key not in reached or x.dtype.kind not in "fcV":
                continue
            if type(c) is FunctionType:
                c = c()
            if c is None:
                record.refused.add((out_keys, key))
                continue
            if pointwise and c is not g:
                c = _masked(c, g)
            if c.shape != x.shape or c.dtype != x.dtype or conjugate or kind == "c":
                c = _fitted(c, x, conjugate, primitive, place)
            elif x.dtype.kind == "c":
                c = conj(c)
            before = cotangents.get(key)
            cotangents[key] = c if before is None else before + c


def _taken(cotangents: dict[int, Any], key: int, sources: set[int]) -> Any:
    return cotangents.get(key) if key in sources else cotangents.pop(key, None)


def _wrapped(
    wrap: Wrap, link: _Link, inputs: Sequence[Any], out: Any
) -> tuple[Sequence[Any], Any]:
    """Return kept values as operands of the current interpreter."""
    primitive, in_keys, out_keys, _, _ = link
    if primitive.multiple:
        return _open(wrap, inputs, in_keys), tuple(_open(wrap, out, out_keys))
    return _open(wrap, inputs, in_keys), _open(wrap, (out,), (out_keys,))[0]


def _open(wrap: Wrap, kept: Sequence[Any], keys: Sequence[int]) -> list[Any]:
    pairs = zip(kept, keys, strict=True)
    return [value if type(value) is Shell else wrap(value, k) for value, k in pairs]


def _masked(c: Any, g: Any) -> Any:
    """Return c, but zero where g is zero and c is NaN.

    So 0 * inf = 0: an operand that a mask leaves out contributes nothing, whatever its
    value.
    """
    if isinstance(c, np.generic):
        return c if c == c or g != 0 else c.dtype.type(0)
    value = getattr(c, "_array", c)
    if isinstance(value, (np.ndarray, np.generic)) and not np.isnan(value).any():
        return c
    return where(logical_and(is_nan(c), equal(g, 0)), 0.0, c)


def _fitted(c: Any, x: Any, conjugate: bool, primitive: Primitive, place: Mark) -> Any:
    """Return a cotangent with the shape and dtype of the input it belongs to."""
    shape, wanted = c.shape, x.shape
    if shape != wanted:
        lead = len(shape) - len(wanted)
        tail = tuple(shape)[lead:] if lead >= 0 else ()
        if lead < 0 or any(d not in (1, n) for d, n in zip(wanted, tail, strict=True)):
            raise ShapeError(
                f"the gradient of {primitive.name} has shape {tuple(shape)} for an "
                f"input of shape {tuple(wanted)}",
                "Return a gradient of the input's shape",
                at=resolve(place),
            )
        c = sum_to_shape(c, wanted)
    if c.dtype.kind == "c":
        if conjugate or x.dtype.kind == "c":
            c = conj(c)
        if x.dtype.kind != "c":
            c = real_part(c)
    return c if c.dtype == x.dtype else cast(c, x.dtype)


def pull_back(
    record: Record, passes: Sequence[dict[int, Any]], sources: set[int]
) -> None:
    """Run a reverse pass for each dict of cotangents, in place.

    If somebody records or traces, the passes run through the current interpreter and
    are seen by them. Otherwise they run on bare arrays, which costs no tensors and no
    records.
    """
    interpreter, recorders = dispatch.state()
    if recorders or record.on_tensors or not interpreter.on_arrays:
        for cotangents in passes:
            backprop(record, cotangents, sources, interpreter.wrap)
    else:
        dispatch.on_arrays(_pull_back_arrays, record, passes, sources)


def _pull_back_arrays(
    record: Record, passes: Sequence[dict[int, Any]], sources: set[int]
) -> None:
    for cotangents in passes:
        for key, value in cotangents.items():
            cotangents[key] = value._array
        backprop(record, cotangents, sources, None)
