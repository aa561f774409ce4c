"""`Hooks`: the names under which converted code finds what stands in this package."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.eager import EagerTensor
from gtape.errors import ArgumentError, GtapeError, TracingError
from gtape.jit.hooks import branches, comprehensions, effects, fors, loops, operators
from gtape.jit.hooks.calls import call
from gtape.jit.hooks.captures import (
    note_attribute,
    note_contents,
    note_entry,
    read_attribute,
    read_entry,
)
from gtape.jit.hooks.functions import TENSORS
from gtape.jit.hooks.reads import note_attributes, note_parts, note_reads
from gtape.jit.hooks.sequences import Traced, as_traced
from gtape.jit.hooks.users import by_method, is_users, nested_function
from gtape.jit.tracing.kinds import UNCERTAIN, Clash, Maybe, Undefined
from gtape.jit.tracing.number import TracedNumber
from gtape.jit.tracing.packing import read, whole
from gtape.jit.tracing.region import (
    MISSING,
    AttributeLocation,
    EntryLocation,
    ListLocation,
    Location,
)
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Tracer, is_tracing
from gtape.ops import logic
from gtape.ops.discrete import reduce_any
from gtape.sizes import is_size
from gtape.variable import Variable

Thunk = Callable[[], Any]


def touch(location: Location) -> None:
    """Note that a place outside of local names is about to be written."""
    here = dispatch.interpreter()
    if isinstance(here, Tracer):
        here.region.touch(location)
        here.trace.written.add(location.key)


class Hooks:
    """What converted code calls, all of it."""

    if_stmt = staticmethod(branches.if_stmt)
    if_exp = staticmethod(branches.choose)
    while_stmt = staticmethod(loops.while_stmt)
    for_stmt = staticmethod(fors.for_stmt)
    nested_function = staticmethod(nested_function)
    undefined = staticmethod(Undefined)
    assert_ = staticmethod(effects.assert_)
    raise_ = staticmethod(effects.raise_)
    trying = staticmethod(effects.trying)
    fstring = staticmethod(effects.fstring)
    element = staticmethod(comprehensions.Element)
    nested = staticmethod(comprehensions.Nested)
    made = staticmethod(comprehensions.made)
    binary = staticmethod(operators.binary)
    unary = staticmethod(operators.unary)
    context = staticmethod(operators.context)

    # --- Names ------------------------------------------------------------------------

    @staticmethod
    def load(value: Any) -> Any:
        """Return what a name holds, where it may hold nothing."""
        if not isinstance(value, UNCERTAIN):
            return value
        name = getattr(value, "name", "")
        if isinstance(value, Undefined) and name.startswith("gt__"):
            return value
        return effects.there(value, Undefined(name).error)

    load_free = load

    @staticmethod
    def result(value: Any) -> Any:
        """Return what a function with several returns has returned."""
        if isinstance(value, Undefined):
            return None
        if isinstance(value, Maybe):
            return value.value
        return read(value)

    # --- Conditions -------------------------------------------------------------------

    @staticmethod
    def and_(*thunks: Thunk) -> Any:
        """Return the first value that is not true, or the last one."""
        return _short(thunks, True)

    @staticmethod
    def or_(*thunks: Thunk) -> Any:
        """Return the first value that is true, or the last one."""
        return _short(thunks, False)

    @staticmethod
    def not_(value: Any) -> Any:
        """Return whether a value is not true."""
        known = branches.truth(value)
        return not known if type(known) is bool else logic.logical_not(known)

    @staticmethod
    def compare(left: Any, *rest: tuple[str, Thunk]) -> Any:
        """Return a chained comparison; what follows a false one is not looked at."""
        (op, thunk), *others = rest
        right = thunk()
        found = _compared(op, left, right)
        if not others:
            return found
        return _short((lambda: found, lambda: Hooks.compare(right, *others)), True)

    @staticmethod
    def in_(value: Any, container: Any) -> Any:
        """Return whether a container holds a value."""
        if not is_tracing():
            return value in container
        return _contained(value, container)

    @staticmethod
    def not_in(value: Any, container: Any) -> Any:
        """Return whether a container does not hold a value."""
        return Hooks.not_(Hooks.in_(value, container))

    # --- Calls ------------------------------------------------------------------------

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call something."""
        return call(self, function, *args, **kwargs)

    @staticmethod
    def comprehension(kind: str, iterable: Any, function: Any) -> Any:
        """Return a list, set, dict or generator."""
        note_parts(whole(iterable))
        return comprehensions.comprehension(kind, iterable, function)

    # --- Attributes -------------------------------------------------------------------

    def attr(self, owner: Any, name: str) -> Any:
        """Return an attribute; the user's properties are converted."""
        if not is_tracing():
            return getattr(owner, name)
        found = getattr(type(owner), name, None)
        if isinstance(found, property) and is_users(found.fget):
            return call(self, found.fget, owner)
        value = getattr(owner, name)
        if isinstance(owner, np.ndarray):
            note_attributes(owner, name)
        elif name == "__dict__":
            note_reads(owner)
        if isinstance(value, UNCERTAIN):
            note_attribute(owner, name, value)
            return effects.there(value, effects.no_attribute(owner, name))
        return read_attribute(owner, name, value)

    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute; what the user's properties do is converted."""
        found = getattr(type(owner), name, None) if is_tracing() else None
        if isinstance(found, property) and is_users(found.fset):
            call(self, found.fset, owner, value)
            return
        touch(AttributeLocation(owner, name))
        setattr(owner, name, value)

    @staticmethod
    def del_attr(owner: Any, name: str) -> None:
        """Delete an attribute."""
        touch(AttributeLocation(owner, name))
        delattr(owner, name)

    def aug_attr(self, owner: Any, name: str, op: str, value: Thunk) -> None:
        """Change an attribute in place."""
        before = self.attr(owner, name)
        self.set_attr(owner, name, self.augmented(op, before, value()))

    # --- Items ------------------------------------------------------------------------

    @staticmethod
    def item(owner: Any, key: Any) -> Any:
        """Return an item."""
        if not is_tracing():
            return owner[key]
        here = dispatch.interpreter()
        assert isinstance(here, Tracer)
        if type(owner) is list:
            here.region.look_at(owner)
        if isinstance(owner, TENSORS):
            return owner[_index(key)]
        if isinstance(owner, (list, tuple)) and _is_late(key):
            return _of_list(owner, key)
        if type(owner) not in (list, tuple, dict, str):
            found = by_method(owner, "__getitem__", key)
            if found is not NotImplemented:
                return found
            note_reads(owner)
        value = owner[key]
        if isinstance(value, UNCERTAIN):
            return effects.there(value, lambda _: KeyError(key))
        if isinstance(owner, (list, tuple, dict)) and not isinstance(key, slice):
            return read_entry(owner, key, value)
        return value

    @staticmethod
    def set_item(owner: Any, key: Any, value: Any) -> None:
        """Put an item somewhere."""
        if by_method(owner, "__setitem__", key, value) is not NotImplemented:
            return
        if type(owner) is list:
            if _is_late(key):
                raise TracingError(
                    "an item of a Python list is set at a traced index",
                    "Use a tensor: gt.stack(list) before the loop",
                )
            touch(ListLocation(owner))
        elif isinstance(owner, dict):
            touch(EntryLocation(owner, key))
        elif isinstance(owner, EagerTensor) and is_tracing():
            raise TracingError(
                "an item of a tensor from outside of the function is set",
                "Make it an argument, or a gt.Variable",
            )
        effects.refuse_change(owner)
        owner[_index(key) if isinstance(owner, TENSORS) else key] = value

    @staticmethod
    def del_item(owner: Any, key: Any) -> None:
        """Delete an item."""
        if by_method(owner, "__delitem__", key) is not NotImplemented:
            return
        if type(owner) is list:
            touch(ListLocation(owner))
        elif isinstance(owner, dict):
            touch(EntryLocation(owner, key))
        effects.refuse_change(owner)
        del owner[key]

    def aug_item(self, owner: Any, key: Any, op: str, value: Thunk) -> None:
        """Change an item in place."""
        before = self.item(owner, key)
        self.set_item(owner, key, self.augmented(op, before, value()))

    @staticmethod
    def augmented(op: str, before: Any, value: Any) -> Any:
        """Return what an augmented assignment gives to its target."""
        if type(before) is list:
            touch(ListLocation(before))
        effects.refuse_change(before)
        return operators.augmented(op, before, value)

    # --- Structures -------------------------------------------------------------------

    @staticmethod
    def unpack(value: Any, before: int, starred: bool, after: int) -> Any:
        """Return a value as a sequence that has as many items as there are targets."""
        if not is_tracing() or not isinstance(value, (Traced, *TENSORS)):
            note_parts(whole(value))
            return value
        items = as_traced(value)
        assert items is not None
        count = items.length
        if is_size(count) and not starred:
            count = before + after if count == before + after else int(count)
        if type(count) is not int:
            raise TracingError(
                "a sequence whose length is known only when the function runs is "
                "unpacked",
                "Index it",
            )
        wanted = before + after
        if count < wanted or (count > wanted and not starred):
            more = "at least " if starred else ""
            few = "not enough" if count < wanted else "too many"
            raise ArgumentError(
                f"{few} values to unpack (expected {more}{wanted}, got {count})",
                "Give as many names as the tensor has rows",
            )
        return [items.at(i) for i in range(count)]

    @staticmethod
    def is_sequence(value: Any, length: int, starred: bool) -> bool:
        """Return whether a value matches a sequence pattern of a length."""
        if isinstance(value, TENSORS):
            if value.ndim == 0:
                return False
            count = value.shape[0]
        elif (
            isinstance(value, (str, bytes, bytearray))
            or not (hasattr(value, "__len__") and hasattr(value, "__getitem__"))
            or isinstance(value, (dict, set))
        ):
            return False
        else:
            count = len(value)
        return bool(count >= length if starred else count == length)


def _short(thunks: tuple[Thunk, ...], both: bool) -> Any:
    """Return `and` (both) or `or` of thunks."""
    first, *rest = thunks
    value = first()
    if not rest:
        return value
    known = branches.truth(value)
    if type(known) is bool:
        return _short(tuple(rest), both) if known is both else value

    def more() -> Any:
        return _short(tuple(rest), both)

    def this() -> Any:
        return value

    return (
        branches.choose(known, more, this)
        if both
        else branches.choose(known, this, more)
    )


def _compared(op: str, left: Any, right: Any) -> Any:
    if op == "in":
        return Hooks.in_(left, right)
    if op == "not in":
        return Hooks.not_in(left, right)
    if op in ("is", "is not"):
        return (left is right) is (op == "is")
    return operators.binary(op, left, right)


def _contained(value: Any, container: Any) -> Any:
    late = isinstance(value, (Symbol, TracedNumber, Variable, EagerTensor))
    if isinstance(container, TENSORS):
        return reduce_any(dispatch.interpreter().convert(container) == value)
    if isinstance(container, (list, tuple, set, range)):
        entries = list(container)
        if late or any(isinstance(e, (Symbol, TracedNumber)) for e in entries):
            return comprehensions.reduced(
                entries, False, lambda found, x: _either(found, x == value), None
            )
        note_contents(container)
        return value in container
    if isinstance(container, dict):
        entry = container.get(value, MISSING)
        if type(entry) is Clash:
            read(entry)
        note_entry(container, value, entry)
        return entry.defined if type(entry) is Maybe else entry is not MISSING
    if (found := by_method(container, "__contains__", value)) is not NotImplemented:
        return branches.truth(found)
    note_reads(container)
    return value in container


def _either(found: Any, more: Any) -> Any:
    return _short((lambda: found, lambda: more), False)


def _is_late(key: Any) -> bool:
    return isinstance(key, (Symbol, TracedNumber, EagerTensor, Variable))


def _index(key: Any) -> Any:
    """Return an index with traced numbers as tensors."""
    if isinstance(key, TracedNumber):
        return key.symbol
    if isinstance(key, tuple):
        return tuple([_index(k) for k in key])
    return key


def _of_list(owner: Any, key: Any) -> Any:
    """Return an item of a Python list at a traced index."""
    if isinstance(key, TracedNumber):
        return owner[key]  # asks for the number, if anybody can know it
    if key.ndim:
        operator.index(key)  # refuses
    try:
        return dispatch.interpreter().convert(list(owner))[key]
    except GtapeError:
        raise TracingError(
            "the number that a list is indexed with is a traced tensor, known only "
            "when the function runs, and what the list holds makes no tensor",
            "Index it with a Python int, or make a tensor of it with gt.stack",
        ) from None


HOOKS = Hooks()
