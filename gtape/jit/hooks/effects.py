"""What happens when the function runs: assertions, exceptions, printing."""

from __future__ import annotations

import builtins
import contextlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gtape import dispatch, nest
from gtape.eager import EagerTensor
from gtape.errors import (
    AttributeMissingError,
    GtapeError,
    Origin,
    TracingError,
    origin,
)
from gtape.jit.hooks.branches import traced_if, truth
from gtape.jit.tracing.kinds import Maybe, Undefined
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.packing import read
from gtape.jit.tracing.region import Diverged
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer, is_tracing
from gtape.ops import logic
from gtape.ops.traced import call_host
from gtape.tensor import Tensor
from gtape.variable import Variable

Thunk = Callable[[], Any]
_PYTHON = object()
_UNFOLLOWED = (np.ndarray, set, bytearray, deque, OrderedDict, defaultdict, Counter)


class Text:
    """A text that holds values known only when the function runs.

    Args:
        parts: Strings, and (value, conversion, format) for what is written into them.
    """

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __add__(self, other: Any) -> Text:
        return Text((*self.parts, *_parts(other)))

    def __radd__(self, other: Any) -> Text:
        return Text((*_parts(other), *self.parts))

    def __str__(self) -> str:
        for part in self.parts:
            number = part[0] if isinstance(part, tuple) else part
            if isinstance(number, TracedNumber) and number.sources:
                number.pin("the text")
        raise TracingError(
            "Python needs a text that holds a traced value, which is known only when "
            "the function runs",
            "Use it in print, raise or assert",
        )

    def __format__(self, spec: str) -> str:
        return str(self)


def _parts(value: Any) -> tuple[Any, ...]:
    return value.parts if isinstance(value, Text) else (value,)


def is_late(value: Any) -> bool:
    """Return whether the text of a value is known only when the function runs."""
    if isinstance(value, (list, tuple, dict)):
        return any(is_late(v) for v in nest.flatten(value))
    if isinstance(value, (Symbol, TracedNumber, Text, LateException)):
        return True
    return is_tracing() and isinstance(value, EagerTensor)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def _formatted(value: Any, conversion: str | None, spec: str | None) -> str:
    """Return a value as an f-string writes it."""
    if conversion:
        value = _CONVERSIONS[conversion](value)
    return format(value, spec or "")


class VariableText:
    """A variable as it was when the program came by, to be printed."""

    def __init__(self, variable: Variable, array: Any) -> None:
        self._text = variable._described(np.array(array)[()])

    def __repr__(self) -> str:
        return self._text


class Late:
    """Values that are passed to the host: tensors, and what stands around them."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self.tensors: list[Any] = []
        self._plan = self._planned(values)

    def _planned(self, value: Any) -> Callable[[list[Any]], Any]:
        """Return a function that makes the value of the arrays of a run."""
        if isinstance(value, Text):
            plans = [self._part(p) for p in value.parts]
            return lambda arrays: "".join([p(arrays) for p in plans])
        if type(value) in (list, tuple):
            rows = [self._planned(v) for v in value]
            return lambda arrays: type(value)([r(arrays) for r in rows])
        if type(value) is dict:
            pairs = {k: self._planned(v) for k, v in value.items()}
            return lambda arrays: {k: p(arrays) for k, p in pairs.items()}
        if isinstance(value, LateException):
            parts = self._planned(value.parts())

            def made(arrays: list[Any]) -> Any:
                kind, args, kwargs, attributes = parts(arrays)
                error = kind(*args, **kwargs)
                vars(error).update(attributes)
                return error

            return made
        if isinstance(value, TracedNumber):
            place = len(self.tensors)
            self.tensors.append(value.symbol)
            return lambda arrays: arrays[place].item()
        if isinstance(value, Variable):
            place = len(self.tensors)
            self.tensors.append(dispatch.interpreter().convert(value))
            return lambda arrays: VariableText(value, arrays[place])
        if isinstance(value, Tensor) and not isinstance(value, type):
            place = len(self.tensors)
            self.tensors.append(value)
            return lambda arrays: EagerTensor(np.array(arrays[place])[()])
        return lambda arrays: value

    def _part(self, part: Any) -> Callable[[list[Any]], str]:
        if isinstance(part, str):
            return lambda arrays: part
        value, conversion, spec = part if isinstance(part, tuple) else (part, None, "")
        plan = self._planned(value)
        return lambda arrays: _formatted(plan(arrays), conversion, spec)

    def now(self, arrays: Any) -> Any:
        """Return the values in a run."""
        return self._plan(list(arrays))


def at_run_time(values: Any, function: Callable[..., None], *first: Any) -> None:
    """Call a function with values when the program comes by.

    Args:
        values: What it is called with; traced values in it are filled in.
        function: The function: (the arrays of `first`, the values) -> None.
        *first: Symbols.
    """
    late = Late(values)
    count = len(first)

    def host(*arrays: Any) -> None:
        function(*arrays[:count], late.now(arrays[count:]))

    with dispatch.running(dispatch.interpreter(), ()):
        call_host(host, *first, *late.tensors)


def fstring(*parts: Any) -> Any:
    """Return a formatted text, at once or when the function runs."""
    if not any(isinstance(p, tuple) and is_late(p[0]) for p in parts):
        out = []
        for part in parts:
            if isinstance(part, str):
                out.append(part)
                continue
            out.append(_formatted(*part))
        return "".join(out)
    return Text(parts)


def print_(*values: Any, **options: Any) -> None:
    """Print values, when the function runs where they are known only then."""
    if not is_tracing():
        builtins.print(*values, **options)
        return
    # In their place among what is printed at run time, the others are, too.
    at_run_time(values, lambda now: builtins.print(*now, **options))


# --- Exceptions -----------------------------------------------------------------------


class LateException:
    """An exception that is made when the function runs.

    Args:
        kind: Its class.
        values: The arguments of the class, and those by keyword.
    """

    def __init__(self, kind: type, *values: Any) -> None:
        self.gt__kind = kind
        self.gt__values = values
        self.args = values[0]

    def add_note(self, note: Any) -> None:
        """Note something, as with an exception that is there."""
        vars(self).setdefault("__notes__", []).append(note)

    def parts(self) -> list[Any]:
        """Return the class, its arguments, and the attributes that were set later."""
        own = ("gt__kind", "gt__values", "args")
        more = {k: v for k, v in vars(self).items() if k not in own}
        return [self.gt__kind, *self.gt__values, more]


def exception_of(kind: type[BaseException], args: Any, kwargs: Any) -> Any:
    """Return an exception: made now, or later if it holds what is known later."""
    if is_late([args, kwargs]):
        return LateException(kind, args, kwargs)
    return kind(*args, **kwargs)


def raise_(exception: Thunk, cause: Thunk | None) -> None:
    """Raise an exception: now, or when the function takes this path."""
    error = exception()
    reason: Any = _PYTHON if cause is None else cause()
    interpreter = dispatch.interpreter()
    inside = isinstance(interpreter, Tracer) and interpreter.around is not None
    if not inside and not is_late([error, reason]):
        if reason is _PYTHON:
            raise error
        raise error from reason
    assert isinstance(interpreter, Tracer)
    place = origin()

    def host(now: Any) -> None:
        error, reason = now
        made = error() if isinstance(error, type) else error
        add_place(made, place)
        made.__traceback__ = None  # it may be the object of the run before
        if reason is _PYTHON:
            raise made
        raise made from reason

    at_run_time((error, reason), host)
    refuse_in_try(interpreter)
    raise Diverged


def add_place(error: BaseException, place: Origin) -> None:
    """Note the user's place on an error that is not gtape's own, once."""
    note = f"At {place}."
    if not isinstance(error, GtapeError) and note not in getattr(
        error, "__notes__", ()
    ):
        error.add_note(note)


def assert_(test: Any, message: Thunk | None) -> None:
    """Require a condition: now, or when the function runs."""
    known = truth(test)
    if known is True:
        return

    def fail() -> None:
        values = () if message is None else (message(),)
        raise_(lambda: exception_of(AssertionError, values, {}), None)

    if known is False:
        fail()
    traced_if(logic.logical_not(known), fail, lambda: None, tuple, lambda _: None, ())


def there(value: Any, error: Callable[[Origin], BaseException]) -> Any:
    """Return what stands at a place that is empty on some paths, or on all.

    Args:
        value: What stands there.
        error: Returns the error for finding nothing, given the user's place; it is
            raised when the function runs.
    """
    place = origin()
    if isinstance(value, Undefined):
        raise error(place)
    if not isinstance(value, Maybe):
        return read(value)

    def host(defined: Any, now: Any) -> None:
        if not defined:
            missing = error(place)
            add_place(missing, place)
            raise missing

    at_run_time((), host, value.defined)
    here = dispatch.interpreter()
    assert isinstance(here, Tracer)
    refuse_in_try(here)
    return value.value


def no_attribute(owner: Any, name: str) -> Callable[[Origin], BaseException]:
    """Return what makes Python's error for an attribute that is missing."""
    return lambda at: AttributeMissingError(
        f"{type(owner).__name__!r} object has no attribute {name!r}",
        "Set it on every path that leads here",
        at,
    )


def refuse_change(owner: Any) -> None:
    """Refuse to change what a trace does not follow where that would show.

    Raises:
        TracingError: In a branch or loop that is traced; for an array from outside of
            the function anywhere.
    """
    here = dispatch.interpreter()
    if not isinstance(here, Tracer):
        return
    if isinstance(owner, np.ndarray) and id(owner) in here.trace.outer:
        raise TracingError(
            "an item of a NumPy array from outside of the function is set",
            "Use a gt.Variable, or return what is to be set",
        )
    if here.around is None:
        return
    if isinstance(owner, _UNFOLLOWED) and id(owner) not in here.region.made:
        raise TracingError(
            f"a {type(owner).__name__} is changed in a branch or loop that is traced",
            "Use a list or dict, or a tensor and assign to its items",
        )


# --- try ------------------------------------------------------------------------------


@contextlib.contextmanager
def trying() -> Iterator[None]:
    """Mark a block whose exceptions somebody handles."""
    interpreter = dispatch.interpreter()
    if not isinstance(interpreter, Tracer):
        yield
        return
    interpreter.region.tries += 1
    try:
        yield
    finally:
        interpreter.region.tries -= 1


def refuse_in_try(interpreter: Tracer) -> None:
    """Refuse what would raise at run time where a handler waits for it.

    Raises:
        TracingError: In a try with handlers.
    """
    region: Any = interpreter.region
    while region is not None:
        if region.tries:
            raise TracingError(
                "a raise, an assert or a name that is there on some paths only stands "
                "in a try with handlers, which take no errors of the run",
                "Test the condition instead, and let the exception pass",
            )
        region = region.around
