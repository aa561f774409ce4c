"""Python numbers of the world outside that change from call to call.

At first a number is a constant of the trace. When it has changed, the function is
traced again with the number as an input, which each call reads anew; so a counter or a
rate that is an attribute costs two traces, not one for each value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gtape.jit.hooks.guards import Capture, Read
from gtape.jit.tracing.number import FLOAT64, INT64, TracedNumber
from gtape.jit.tracing.state import CONSTANT, Slot
from gtape.jit.tracing.symbol import Symbol
from gtape.jit.tracing.tracer import Trace
from gtape.spec import TensorSpec


class ChangingNumber(NamedTuple):
    """A Python number that each call reads again.

    Args:
        key: What tells its place from others.
        read: Returns it.
    """

    key: Any
    read: Read


def changes(trace: Trace, key: Any, value: Any) -> bool:
    """Return whether a trace takes what stands at a place as an input."""
    places = getattr(trace.services, "changing", ())
    return bool(places) and key in places and _is_number(value)


def number_at(
    trace: Trace, key: Any, place: str, value: Any, read: Read
) -> TracedNumber:
    """Return a number outside as an input of the graph.

    Args:
        trace: The trace.
        key: What tells the place from others.
        place: How `explain` says it.
        value: What stands there now.
        read: Returns what stands there.
    """
    kind = type(value)

    def same_kind() -> bool:
        now = read()
        return type(now) is kind and _is_number(now)

    guard = ("type", *key)
    if guard not in trace.captures:
        name = f"whether {place} is a Python {kind.__name__}"
        trace.captures[guard] = Capture(guard, name, same_kind, True)
        trace.note(f"{place} changes from call to call, and each call reads it")
    for slot in trace.slots:
        if slot.kind == "number" and slot.owner.key == key:
            found = slot.value
            break
    else:
        spec = TensorSpec((), INT64 if kind is int else FLOAT64)
        found = trace.root.builder.add_input(spec)
        trace.slots.append(Slot("number", ChangingNumber(key, read), found))
    return TracedNumber(kind, Symbol(found, CONSTANT), frozenset((key,)))


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and -(2**63) <= value < 2**63)
