"""Comprehensions, generator expressions, and what folds them: loops in disguise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gtape.dispatch import interpreter
from gtape.errors import TracingError
from gtape.jit.hooks.branches import choose, if_stmt, truth
from gtape.jit.hooks.effects import at_run_time
from gtape.jit.hooks.fors import for_stmt
from gtape.jit.hooks.sequences import as_traced
from gtape.jit.tracing.kinds import Maybe, Undefined
from gtape.jit.tracing.number import Truth
from gtape.jit.tracing.region import ListLocation
from gtape.jit.tracing.tracer import Tracer, is_tracing
from gtape.ops import logic

Thunk = Callable[[], Any]


class Element:
    """What the innermost clause of a comprehension gives for an item."""

    def __init__(self, conditions: tuple[Thunk, ...], value: Thunk) -> None:
        self.conditions = conditions
        self.value = value


class Nested:
    """A further clause of a comprehension."""

    def __init__(
        self,
        conditions: tuple[Thunk, ...],
        iterable: Thunk,
        function: Callable[[Any], Any],
    ) -> None:
        self.conditions = conditions
        self.iterable = iterable
        self.function = function


class Generator:
    """A generator expression: it runs when somebody takes its items."""

    def __init__(self, iterable: Any, function: Callable[[Any], Any]) -> None:
        self._iterable = iterable
        self._function = function
        self._items: Iterator[Any] | None = None

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            self._items = _items(self._iterable, self._function)
        return next(self._items)

    def each(
        self, use: Callable[[Thunk], None], test: Thunk | None, state: Any
    ) -> None:
        """Call a function with each element, as a loop."""
        _each(self._iterable, self._function, use, test, state)

    def listed(self) -> Any:
        """Return the elements as a list, or as a tensor where they are traced."""
        return comprehension("list", self._iterable, self._function)


def _items(iterable: Any, function: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield the elements, where everything that decides on them is known."""
    for item in iterable:
        clause = function(item)
        if not _holds(clause.conditions):
            continue
        if isinstance(clause, Nested):
            yield from _items(clause.iterable(), clause.function)
        else:
            yield clause.value()


def _holds(conditions: tuple[Thunk, ...]) -> bool:
    for condition in conditions:
        known = truth(condition())
        if isinstance(known, Truth):
            known = bool(known)  # asks for the numbers, if anybody can know them
        if type(known) is not bool:
            raise TracingError(
                "the condition of a comprehension is traced, so the number of its "
                "items is known only when the function runs",
                "Use gt.where, or sum, min, max, any or all of a generator expression",
            )
        if not known:
            return False
    return True


class _State:
    """The names of a loop that no source code has."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> tuple[Any, ...]:
        return (self.value,)

    def set(self, values: tuple[Any, ...]) -> None:
        (self.value,) = values


def _each(
    iterable: Any,
    function: Callable[[Any], Any],
    use: Callable[[Thunk], None],
    test: Thunk | None,
    state: _State,
) -> None:
    """Call a function with a thunk of each element, as loops and branches."""
    item: list[Any] = [None]

    def assign(value: Any) -> None:
        item[0] = value

    def body() -> None:
        clause = function(item[0])

        def step(conditions: tuple[Thunk, ...]) -> None:
            if conditions:
                first, *rest = conditions
                if_stmt(
                    first(),
                    lambda: step(tuple(rest)),
                    lambda: None,
                    state.get,
                    state.set,
                    ("the result",),
                )
            elif isinstance(clause, Nested):
                _each(clause.iterable(), clause.function, use, test, state)
            else:
                use(clause.value)

        step(clause.conditions)

    for_stmt(iterable, assign, body, test, state.get, state.set, ("the result",))


def comprehension(kind: str, iterable: Any, function: Callable[[Any], Any]) -> Any:
    """Return a list, set or dict of the elements, or a generator of them."""
    if kind == "generator":
        return Generator(iterable, function)
    if kind == "set":
        return set(_items(iterable, function))
    if kind == "dict":
        return dict(_items(iterable, function))
    traced = as_traced(iterable) if is_tracing() else None
    if traced is None:
        return list(_items(iterable, function))
    out: list[Any] = []
    state = _State(out)
    made(out)

    def use(value: Thunk) -> None:
        append(out, value())

    def refusing(item: Any) -> Any:
        clause = function(item)
        return clause if _holds(clause.conditions) else Element((lambda: False,), _none)

    _each(iterable, refusing, use, None, state)
    return state.value


def _none() -> None:
    return None


def append(items: list[Any], value: Any) -> None:
    """Append to a list, and note it."""
    here = interpreter()
    if isinstance(here, Tracer):
        here.region.touch(ListLocation(items))
    items.append(value)


def made(value: Any) -> Any:
    """Note a container that begins to be in this region."""
    here = interpreter()
    if isinstance(here, Tracer):
        here.region.make(value)
    return value


def reduced(
    items: Any,
    start: Any,
    combine: Callable[[Any, Any], Any],
    stop: Callable[[Any], Any] | None,
    name: str = "",
) -> Any:
    """Return the items folded from left to right.

    Args:
        items: A generator expression, a traced sequence or a Python iterable.
        start: The value before the first item; `Undefined` where there is none.
        combine: (what was found so far, an item) -> the same.
        stop: What was found -> whether the rest does not matter.
        name: What messages call the function.
    """
    state = _State(start)

    def use(value: Thunk) -> None:
        found, item = state.value, value()
        if isinstance(found, Undefined):
            state.value = item
        elif isinstance(found, Maybe):
            state.value = choose(
                found.defined, lambda: combine(found.value, item), lambda: item
            )
        else:
            state.value = combine(found, item)

    def going() -> Any:
        assert stop is not None
        known = stop(state.value)
        return not known if type(known) is bool else logic.logical_not(known)

    test = None if stop is None else going
    if isinstance(items, Generator):
        items.each(use, test, state)
    else:
        _each(items, lambda item: Element((), lambda: item), use, test, state)
    return _result(state.value, name)


def _result(found: Any, name: str) -> Any:
    text = f"{name}() iterable argument is empty"
    if isinstance(found, Undefined):
        raise ValueError(text)
    if isinstance(found, Maybe):

        def host(there: Any, now: Any) -> None:
            if not there:
                raise ValueError(text)

        at_run_time((), host, found.defined)
        return found.value
    return found
