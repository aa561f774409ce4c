"""The state of a generator, and the keys of draws, which can be played again."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

from gtape import dispatch
from gtape.errors import TracingError
from gtape.ops.common import Tensor
from gtape.ops.draws import key_of


class State:
    """The seed and the counter of a generator: all that its numbers depend on.

    Args:
        seed: A number from 0 to 2**64 - 1.
        counter: How often the generator has drawn.
    """

    __slots__ = ("counter", "seed", "turn")

    def __init__(self, seed: int, counter: int = 0) -> None:
        self.turn = threading.RLock()  # who draws holds it
        self.seed = seed
        self.counter = counter

    def advance(self) -> tuple[int, int]:
        """Return seed and counter for one draw, and count it; safe among threads."""
        with self.turn:
            found = self.seed, self.counter
            self.counter = (self.counter + 1) % 2**64
        return found

    def reset(self, seed: int, counter: int = 0) -> None:
        """Begin anew."""
        with self.turn:
            self.seed, self.counter = seed, counter

    def begin(self, seed: int, counter: int = 0) -> None:
        """Begin anew; in a trace, whenever the function comes by."""
        interpreter: Any = dispatch.interpreter()
        if hasattr(interpreter, "draw"):
            cell = interpreter.trace.cell(self)
            interpreter.region.touch(cell)
            cell.write(key_of(seed, counter))
        else:
            self.reset(seed, counter)


def need_numbers(what: str, hint: str) -> None:
    """Refuse in a trace what needs the numbers of a state.

    Raises:
        TracingError: In a trace: they are known only when it runs.
    """
    if hasattr(dispatch.interpreter(), "draw"):
        raise TracingError(
            f"{what}: the state of a generator is known only when the function runs",
            hint,
        )


class Script:
    """The keys that a computation draws, so that it can be run again with the same.

    A script inside another takes its keys through that one.
    """

    __slots__ = ("_outer", "keys")

    def __init__(self) -> None:
        self._outer: Script | None = None
        self.keys: list[Tensor] = []

    @contextlib.contextmanager
    def written(self) -> Iterator[None]:
        """Note the keys that the block draws."""
        self._outer = _script.get()
        token = _script.set(self)
        try:
            yield
        finally:
            _script.reset(token)

    @contextlib.contextmanager
    def played(self) -> Iterator[None]:
        """Give the block the keys that were noted, in their order."""
        again = Script()
        again._outer = _Player(self.keys)
        token = _script.set(again)
        try:
            yield
        finally:
            _script.reset(token)

    def next(self, state: State) -> Tensor:
        """Return the key of the next draw."""
        key = _fresh_key(state) if self._outer is None else self._outer.next(state)
        self.keys.append(key)
        return key


class _Player(Script):
    """A script that only gives what another has noted."""

    __slots__ = ("_left",)

    def __init__(self, keys: list[Tensor]) -> None:
        super().__init__()
        self._left = iter(keys)

    def next(self, state: State) -> Tensor:
        """Return the next key noted; a new one where the computation draws more."""
        key = next(self._left, None)
        return _fresh_key(state) if key is None else key


_script: contextvars.ContextVar[Script | None] = contextvars.ContextVar(
    "gtape_keys", default=None
)


def next_key(state: State) -> Tensor:
    """Return the key of the next draw: the one place where a state advances for one."""
    script = _script.get()
    return _fresh_key(state) if script is None else script.next(state)


def _fresh_key(state: State) -> Tensor:
    """Return a new key; in a batch, one for each element."""
    interpreter = dispatch.interpreter()
    draw = getattr(interpreter, "draw", None)
    if draw is not None:  # a trace, in which the state is a value like any other
        return draw(state)
    for_each = getattr(interpreter, "for_each", None)
    if for_each is None:
        return key_of(*state.advance())
    return for_each(lambda: _fresh_key(state))
