"""The one door: `apply` runs a primitive and tells the tapes.

An interpreter gives operands their meaning: tensors on arrays (eager, the bottom), bare
arrays (the backward pass of a first-order gradient), elements of a batch. A recorder
watches what runs: tapes and forward accumulators. Both belong to one thread of control.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from gtape.errors import TapeError
from gtape.primitive import Primitive

Operand: TypeAlias = Any
"""A value of the current interpreter, or anything it can lift to one."""


class Interpreter(Protocol):
    """What `apply` needs to run a primitive on some kind of values."""

    on_arrays: bool
    """Whether a backward pass that nobody records may run on bare arrays."""

    def lift(self, primitive: Primitive, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the operands as values of this interpreter, dtypes adapted."""

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Return the primitive's result, a tuple where it has several."""

    def one(self, primitive: Primitive, x: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for one operand and no attributes."""

    def two(self, primitive: Primitive, x: Any, y: Any, recorders: Recorders) -> Any:
        """Lift, run and tell, for two operands and no attributes."""

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return anything that stands for a tensor as a value of this interpreter.

        Args:
            value: A tensor, variable, NumPy array, Python number or nested list.
            dtype: The dtype of a tensor beside it, to which Python numbers adapt.
            exact: Whether Python numbers and NumPy arrays take precisely the dtype.
        """

    def constant(self, array: Any) -> Any:
        """Return an array that nobody will change as a value of this interpreter."""

    def read(self, variable: Any) -> Any:
        """Return the value of a variable."""

    def assign(self, variable: Any, value: Any) -> None:
        """Give a variable a value."""

    def wrap(self, value: Any, key: int) -> Any:
        """Return what a recorder kept as an operand again."""


class Recorder(Protocol):
    """Something that wants to know what runs: a tape, a forward accumulator."""

    def record(
        self,
        primitive: Primitive,
        inputs: Sequence[Any],
        out: Any,
        attrs: dict[str, Any],
    ) -> None:
        """Note that out = primitive(*inputs, **attrs) has run."""

    def read(self, variable: Any) -> None:
        """Note that a variable's value has been read."""

    def left(self, key: int) -> None:
        """Note that a value has left for NumPy."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Note that a variable has been given a value."""


Recorders: TypeAlias = "tuple[Recorder, ...]"
State: TypeAlias = "tuple[Interpreter, Recorders]"


_ARRAY = (np.ndarray, np.generic)


class ArrayInterpreter:
    """Runs primitives on bare NumPy values, unrecorded: inside a backward pass."""

    on_arrays = False  # it is one already

    def lift(self, primitive: Primitive, operands: Sequence[Any]) -> Sequence[Any]:
        """Return the operands: NumPy's own rules hold inside reverse rules."""
        return operands

    def run(
        self, primitive: Primitive, inputs: Sequence[Any], attrs: dict[str, Any]
    ) -> Any:
        """Return the primitive's forward computation."""
        return primitive.forward(*inputs, **attrs)

    def one(self, primitive: Primitive, x: Any, recorders: Recorders) -> Any:
        """Return the primitive's forward computation."""
        return primitive.forward(x)

    def two(self, primitive: Primitive, x: Any, y: Any, recorders: Recorders) -> Any:
        """Return the primitive's forward computation."""
        return primitive.forward(x, y)

    def convert(self, value: Any, dtype: Any = None, exact: bool = False) -> Any:
        """Return the value as an array."""
        if isinstance(value, _ARRAY) and not exact:
            return value
        return np.asarray(value, dtype=dtype)[()]

    def constant(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def read(self, variable: Any) -> Any:
        """Return the array of a variable."""
        return variable._tensor._array

    def assign(self, variable: Any, value: Any) -> None:
        """Refuse: a reverse rule has no effects."""
        raise TapeError("a reverse rule assigned to a variable", "Assign elsewhere")

    def wrap(self, value: Any, key: int) -> Any:
        """Return the value itself."""
        return value


ARRAYS: Interpreter = ArrayInterpreter()

# The eager interpreter stands beside Tensor, further down; it takes its seat when it is
# imported.
bottom: list[State] = [(ARRAYS, ())]
_state: contextvars.ContextVar[State | None] = contextvars.ContextVar(
    "gtape", default=None
)
get_state = _state.get

next_key: Callable[[], int] = itertools.count(1).__next__
"""Gives each value that a recorder follows a number of its own."""

UNFOLLOWED = -1
"""The key of a value that an operation made and that no recorder follows."""

following = [0]  # how many recorders are active, in all threads


def apply(primitive: Primitive, *operands: Operand, **attrs: Any) -> Any:
    """Run a primitive through the current interpreter, and tell the active recorders.

    Args:
        primitive: The operation.
        *operands: Its tensors, or what can be lifted to them.
        **attrs: Its static facts, such as axes.
    """
    interpreter, recorders = get_state() or bottom[0]
    inputs = interpreter.lift(primitive, operands)
    out = interpreter.run(primitive, inputs, attrs)
    if recorders:
        for recorder in recorders:
            recorder.record(primitive, inputs, out, attrs)
    elif following[0] and interpreter is not ARRAYS:
        sign(out)
    return out


NO_ATTRS: dict[str, Any] = {}


def apply_one(primitive: Primitive, x: Operand) -> Any:
    """The same for one operand and no attributes, where the time of a call counts."""
    interpreter, recorders = get_state() or bottom[0]
    return interpreter.one(primitive, x, recorders)


def apply_two(primitive: Primitive, x: Operand, y: Operand) -> Any:
    """The same for two operands and no attributes, where the time of a call counts."""
    interpreter, recorders = get_state() or bottom[0]
    return interpreter.two(primitive, x, y, recorders)


def tell(
    recorders: Recorders,
    primitive: Primitive,
    inputs: Sequence[Any],
    out: Any,
    attrs: dict[str, Any],
) -> Any:
    """Tell the recorders of an operation, and return its result."""
    for recorder in recorders:
        recorder.record(primitive, inputs, out, attrs)
    if following[0] and not recorders:
        sign(out)
    return out


def sign(out: Any) -> None:
    """Sign a value with its thread, for the `explain` of another thread's tape."""
    for value in out if isinstance(out, tuple) else (out,):
        if value._key == UNFOLLOWED:
            value._key = -threading.get_ident()


def record(
    primitive: Primitive, inputs: Sequence[Any], out: Any, attrs: dict[str, Any]
) -> None:
    """Tell the active recorders of something that ran outside `apply`."""
    for recorder in recorders():
        recorder.record(primitive, inputs, out, attrs)


def seat_bottom(interpreter: Interpreter) -> None:
    """Make an interpreter the bottom of the stack."""
    bottom[0] = (interpreter, ())


def state() -> State:
    """Return the current interpreter and the active recorders, outermost first."""
    return get_state() or bottom[0]


def interpreter() -> Interpreter:
    """Return the current interpreter."""
    return (get_state() or bottom[0])[0]


def recorders() -> tuple[Recorder, ...]:
    """Return the active recorders, outermost first."""
    return (get_state() or bottom[0])[1]


def push_recorder(recorder: Recorder) -> None:
    """Make a recorder active, in this thread of control."""
    current, active = get_state() or bottom[0]
    _state.set((current, (*active, recorder)))
    following[0] += 1


def pop_recorder(recorder: Recorder) -> None:
    """Make a recorder inactive, in whatever order they were made active."""
    current, active = get_state() or bottom[0]
    if active and active[-1] is recorder:
        rest = active[:-1]
    else:
        rest = tuple([r for r in active if r is not recorder])
    _state.set((current, rest))
    following[0] -= 1


def invoke(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of the user's: in a trace, with its control flow converted."""
    call = getattr(interpreter(), "invoke", None)
    if call is None:
        return function(*args, **kwargs)
    return call(function, *args, **kwargs)


def services() -> Any:
    """Return what a trace offers to operations; `None` where nothing is traced."""
    return getattr(interpreter(), "services", None)


@contextlib.contextmanager
def running(
    interpreter: Interpreter, recorders: tuple[Recorder, ...] = ()
) -> Iterator[None]:
    """Run the block under an interpreter and exactly the given recorders."""
    before = get_state()
    _state.set((interpreter, recorders))
    try:
        yield
    finally:
        _state.set(before)


class _Quiet(threading.local):
    """A context per thread for computations on bare arrays.

    In it NumPy gives inf and NaN without a warning, and the interpreter is that of
    arrays. Entering `np.errstate` for each operation would cost more than the
    operation; running it in a prepared context costs 20 ns and leaves the user's own
    settings alone.
    """

    def __init__(self) -> None:
        self.run = _quiet_context().run


def _quiet_context() -> contextvars.Context:
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    context.run(_state.set, (ARRAYS, ()))
    return context


_quiet = _Quiet()

run_quietly = _quiet_context().run
"""Runs a function in a context that all threads share.

Finding a thread's own context takes half as long as a product of scalars. But where
another thread is in this one, there is a RuntimeError, and `on_arrays` must do it.
"""


def on_arrays(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a computation on bare arrays, without floating-point warnings."""
    try:
        return _quiet.run(function, *args, **kwargs)
    except RuntimeError as error:
        # A signal handler or finalizer that computes in the middle of a computation
        # finds the context already entered.
        if "already entered" not in str(error):
            raise
        with np.errstate(all="ignore"), running(ARRAYS):
            return function(*args, **kwargs)
