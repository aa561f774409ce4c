"""Every error and warning, each also a builtin one, and the user's place in the source.

A message has three parts, one sentence each: what was wrong, with the values in it;
where, as the user's file and line; what to do.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextvars import ContextVar
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
"""The folder of gtape: code outside it is the user's."""

Mark = tuple[CodeType, int]
"""A place in running code: what `mark()` takes in a fraction of a microsecond."""


class Origin(NamedTuple):
    """The user's place in the source: file, line and function."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


def mark() -> Mark:
    """Return the innermost place outside gtape on the call stack, unresolved."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PACKAGE):
        back = frame.f_back
        if back is None:
            break
        frame = back
    return frame.f_code, frame.f_lasti


def resolve(place: Mark) -> Origin:
    """Return the file, line and function of a place taken by `mark()`."""
    code, instruction = place
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
            break
    return Origin(code.co_filename, line, code.co_name)


def origin() -> Origin:
    """Return the user's file, line and function, now."""
    return resolve(mark())


class GtapeError(Exception):
    """The base of every gtape error: what was wrong, where, and what to do.

    Args:
        what: One sentence that names the operation and the values.
        hint: One sentence that says what to do.
        at: The user's place; by default the innermost frame outside gtape.
    """

    placed = False  # whether its place is right, wherever it is raised

    def __init__(self, what: str, hint: str = "", at: Origin | None = None) -> None:
        # Arrays in it are written on one line.
        self.what = " ".join(what.split()).rstrip(".")
        self.hint = hint.rstrip(".")
        self.origin = at if at is not None else origin()
        super().__init__(what, hint, self.origin)

    def __str__(self) -> str:
        text = f"{self.what}. At {self.origin}."
        end = "" if self.hint.endswith("?") else "."
        return f"{text} {self.hint}{end}" if self.hint else text

    def reworded(self, what: str) -> GtapeError:
        """Return an error of the same class and place with another first sentence."""
        contents = {**vars(self), "what": " ".join(what.split()).rstrip(".")}
        return _restored(type(self), (what, self.hint, self.origin), contents)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, vars(self))


def _restored(
    kind: type[GtapeError], args: tuple[Any, ...], contents: dict[str, Any]
) -> GtapeError:
    """Return a pickled or copied error, whatever its class takes to be made."""
    error = GtapeError.__new__(kind, *args)
    vars(error).update(contents)
    return error


class said_by:
    """Lets errors of a block's inner operations name the one that the user called.

    A trace keeps it beside these operations, for the errors of later runs.

    Args:
        name: The operation called.
        *inner: The names that may stand first in the messages.
    """

    __slots__ = ("_around", "_inner", "_name")

    def __init__(self, name: str, *inner: str) -> None:
        self._name = name
        self._inner = inner
        self._around: tuple[said_by, ...] = ()

    def __enter__(self) -> None:
        self._around = _sayings.get()
        _sayings.set((*self._around, self))

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        _sayings.set(self._around)
        if isinstance(error, GtapeError):
            said = self.said(error)
            if said is not error:
                raise said from None

    def said(self, error: GtapeError) -> GtapeError:
        """Return an error of the block as the operation called says it."""
        for other in self._inner:
            rest = error.what.removeprefix(other)
            if rest[:1] in (":", " ") and rest != error.what:
                return error.reworded(self._name + rest)
        return error


_sayings: ContextVar[tuple[said_by, ...]] = ContextVar("sayings", default=())


def sayings() -> tuple[said_by, ...]:
    """Return the blocks of `said_by` that the code is in, the outermost first."""
    return _sayings.get()


class ShapeError(GtapeError, ValueError):
    """Shapes or axes do not fit the operation or each other."""


class DTypeError(GtapeError, TypeError):
    """A dtype does not fit the operation, or a value does not fit a dtype."""


class RangeError(DTypeError, ValueError):
    """A number lies outside the range of a dtype."""


class ArgumentError(GtapeError, ValueError):
    """An argument has a value that the operation cannot use."""


class ArgumentTypeError(GtapeError, TypeError):
    """An argument is of a kind that the operation cannot use."""


class IndexRangeError(GtapeError, IndexError):
    """An index lies outside its axis."""


class DivisionError(GtapeError, ZeroDivisionError):
    """An integer was divided by zero."""


class AttributeMissingError(GtapeError, AttributeError):
    """An attribute that the object does not have."""


class LinalgError(GtapeError, np.linalg.LinAlgError):
    """A matrix has no such factorization, inverse or solution."""


class NumericsError(GtapeError, ArithmeticError):
    """`check_numerics` met a NaN or an infinity."""


class CheckError(GtapeError, AssertionError):
    """A `gt.debugging.assert_*` check failed."""


class TensorMemoryError(GtapeError, MemoryError):
    """A result would not fit into memory."""


class TapeError(GtapeError, RuntimeError):
    """A tape was used in a way its state does not allow."""


class TapeStateError(TapeError, ValueError):
    """A tape is recording where it must not, or is not where it must."""


class WatchError(ArgumentTypeError, ValueError):
    """A tape was asked to watch something that is no tensor or variable."""


class GradientError(GtapeError, ValueError):
    """A gradient was asked for that does not exist or cannot be computed rightly."""


class AssignError(GtapeError, RuntimeError):
    """A variable was changed by a statement that would rebind its name instead."""


class ConversionError(GtapeError, SyntaxError):
    """Python source that `function` cannot convert."""


class TracingError(GtapeError, TypeError):
    """A program did something while traced that a graph cannot hold."""


class UnboundNameError(GtapeError, UnboundLocalError):
    """A local name was read on a path that gave it no value."""


class GraphError(GtapeError, AssertionError):
    """A graph broke an invariant: a fault of gtape."""


class CompileError(GtapeError, RuntimeError):
    """A graph could not be compiled."""


class GradientCheckError(GtapeError, AssertionError):
    """`testing.check_grads` found a gradient that central differences contradict."""


class GradientWarning(UserWarning):
    """A gradient is missing where the user most likely wanted one."""


class RetraceWarning(UserWarning):
    """A function is traced again and again: calls differ in what a trace depends on."""


class CompilationWarning(UserWarning):
    """A function is interpreted, since it could not be compiled: a fault of gtape."""


_warned: set[tuple[str, int, str]] = set()


def warn_once(message: str, category: type[Warning] = GradientWarning) -> None:
    """Warn at the user's line, once for each line and message."""
    place = origin()
    key = (place.file, place.line, message)
    if key in _warned:
        return
    _warned.add(key)
    warnings.warn_explicit(message, category, place.file, place.line)
