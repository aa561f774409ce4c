"""`Record`: what a tape has seen, the recorder that `dispatch.apply` talks to.

It keeps an entry for each operation that depends on something watched: which values
went in and came out, by number, and of their contents only what the reverse rule reads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape.dispatch import next_key
from gtape.errors import PACKAGE, Mark, mark
from gtape.primitive import Primitive

MOST_ASIDE = 100_000
"""How many operations that depend on nothing watched are noted, for `explain`."""

KEEP_BYTES = 256
"""Values up to this size are kept whole: a stand-in would cost as much."""


_users: set[str] = set()  # files outside of gtape that have called it
_getframe = sys._getframe
ndarray = np.ndarray

# Asking a NumPy scalar for its type is several times as fast as for its dtype.
SCALAR_KINDS = {np.float32: "f", np.float64: "f", np.float16: "f"}


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
    code: CodeType  # where the user called it: the code and the instruction in it
    instruction: int

    @property
    def place(self) -> Mark:
        """The user's place in the source, unresolved."""
        return self.code, self.instruction


class Note(NamedTuple):
    """A value that left for NumPy, or was given to a variable."""

    value_key: int
    number: int  # one of the keys, of which larger ones are later
    place: Mark
    variable_key: int = 0
    name: str = ""


LINK = slice(6)

# The fields of Link, then inputs, out and attrs as long as they are kept: a plain
# tuple, since making a named one takes as long as the whole rest of recording.
Entry: TypeAlias = "tuple[Any, ...]"


class Record:
    """What a tape has seen: the recorder that `dispatch.apply` talks to.

    A used tape frees the contents of its entries and keeps the links, so that it can
    still explain itself. Operations that depend on nothing watched leave a link aside,
    up to a number.

    Args:
        watch_accessed: Whether trainable variables are watched when they are read.
    """

    __slots__ = (
        "aside",
        "assignments",
        "known",
        "entries",
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
        self.entries: list[Entry] = []
        self.known: set[int] = set()
        self.variables: dict[int, Any] = {}
        self.named: dict[int, int] = {}  # the old keys of values from elsewhere
        self.aside: list[Entry] = []
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
        known = self.known
        keys: tuple[int, ...]
        values: tuple[Any, ...]
        if len(inputs) == 2:  # by far the most frequent case, written out
            x, y = inputs
            a, b = keys = x._key, y._key
            if a not in known and b not in known:
                self._aside(primitive, inputs, out)
                return
            values = x._array, y._array
            named = a >= 0 and b >= 0
        else:
            keys = tuple([x._key for x in inputs])
            if known.isdisjoint(keys):
                self._aside(primitive, inputs, out)
                return
            values = tuple([x._array for x in inputs])
            named = min(keys) >= 0
        if not primitive.plain:
            self._record_several(primitive, inputs, out, attrs)
            return
        if not named:
            keys = self._name(inputs)
        result = out._array
        kind = None if type(result) is ndarray else SCALAR_KINDS.get(type(result))
        if kind is None or not primitive.pointwise:  # else all are scalars
            kind = result.dtype.kind
            if not primitive.keeps_inputs:
                values = _shed(primitive, values)
        if not primitive.keeps_out:
            result = None  # no rule asks a result that it does not keep for its shape
        key = out._key
        if key <= 0:
            key = out._key = next_key()
        known.add(key)
        # The caller of the operation's own function is the user, or calls for him.
        frame = _getframe(3)
        code = frame.f_code
        instruction = frame.f_lasti
        if code.co_filename not in _users:
            code, instruction = _user(frame)
        self.entries.append(
            (primitive, keys, key, kind, code, instruction, values, result, attrs)
        )

    def _record_several(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> None:
        """Note an operation with several results, or one whose rule is the user's."""
        keys = self._name(inputs)
        values = _shed(primitive, [x._array for x in inputs])
        out_keys = self._number(out)
        if primitive.multiple:
            self.known.update(out_keys)
            kept: Any = tuple([o._array if primitive.keeps_out else None for o in out])
        else:
            self.known.add(out_keys)
            kept = out._array if primitive.keeps_out else None
        self.on_tensors |= primitive.on_tensors
        link = (primitive, keys, out_keys, _kind(out), *mark())
        self.entries.append((*link, values, kept, attrs))

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
            self.aside.append((primitive, keys, out_keys, _kind(out), *mark()))

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
        self.entries = [entry[LINK] for entry in self.entries]


def _user(frame: FrameType | None) -> Mark:
    """Return the innermost place outside gtape, and remember its file."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE):
            _users.add(name)
            return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return mark()


def _shed(primitive: Primitive, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return inputs with shells for large ones that the reverse rule does not read."""
    _, keep_inputs, keep_rest = primitive.keeps
    kept = list(values)
    for i, value in enumerate(values):
        if value.nbytes > KEEP_BYTES:
            keep = keep_inputs[i] if i < len(keep_inputs) else keep_rest
            if not keep:
                kept[i] = Shell(value.shape, value.dtype)
    return tuple(kept)


def _kind(out: Any) -> str:
    results = out if type(out) is tuple else (out,)
    return "".join([r._array.dtype.kind for r in results])
