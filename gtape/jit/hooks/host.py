"""What code of gtape asks of a trace, such as an optimizer that reads its rate.

That code is not converted, so that it must say what it reads: a number that the graph
takes as an input, or a value whose change makes the trace void.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gtape.errors import ArgumentTypeError
from gtape.jit.control.structure import tracer
from gtape.jit.hooks.captures import note_outer, note_setting
from gtape.jit.hooks.changing import number_at
from gtape.jit.hooks.reads import note_array
from gtape.jit.tracing.number import FLOAT64, INT64, TracedNumber
from gtape.jit.tracing.region import MISSING
from gtape.jit.tracing.symbol import Symbol
from gtape.ops import indexing, linear
from gtape.ops.common import convert


class SlicedSymbol(Symbol):
    """The elements v[i] of a variable, which can be assigned to, in a trace."""

    __slots__ = ("_place", "_variable")

    def __init__(self, symbol: Symbol, variable: Any, place: Any) -> None:
        super().__init__(symbol._value, symbol._key, symbol._home)
        self._variable = variable
        self._place = place

    def assign(self, value: Any) -> Any:
        """Put a value at this place of the variable; it is broadcast."""
        variable = self._variable
        return variable.assign(indexing.with_item(variable, self._place, value))


class HostServices:
    """The numbers and guards that code of gtape asks a trace for."""

    @staticmethod
    def host_number(owner: Any, name: str) -> Any:
        """Return an attribute that is a float as an input of the graph.

        What the function itself has set stays what it is.
        """
        trace = tracer().trace
        key, value = ("attribute", id(owner), name), getattr(owner, name)
        if key in trace.written:
            return value
        text = f"attribute {name!r} of {type(owner).__name__}"
        return number_at(trace, key, text, value, lambda: getattr(owner, name))

    @staticmethod
    def sliced(symbol: Symbol, variable: Any, place: Any) -> Symbol:
        """Return elements of a variable, to which the function may assign."""
        return SlicedSymbol(symbol, variable, place)

    @staticmethod
    def depends(owner: Any, name: str) -> None:
        """Note an attribute: when it changes, the trace no longer holds."""
        note_outer(owner)
        text = f"attribute {name!r} of {type(owner).__name__}"
        key = ("attribute", id(owner), name)
        note_setting(key, text, lambda: getattr(owner, name, MISSING))

    @staticmethod
    def depends_on(owner: Any, place: str, read: Callable[[], Any]) -> None:
        """Note what a function returns: when that is another object, the same.

        Args:
            owner: What it is read of.
            place: How `explain` says it.
            read: The function.
        """
        note_setting(("setting", id(owner), place), place, read)

    @staticmethod
    def depends_on_array(array: Any) -> None:
        """Note what a NumPy array holds, whose numbers Python needs."""
        note_array(array)

    @staticmethod
    def as_python(what: str, value: Any) -> Any:
        """Return a real scalar as a Python number that is known at run time.

        Raises:
            ArgumentTypeError: If it is something else.
        """
        if type(value) in (int, float, TracedNumber):
            return value
        scalar = convert(value)
        kind = scalar.dtype.kind
        if scalar.ndim or kind not in "iufV":
            raise ArgumentTypeError(
                f"{what} has shape {tuple(scalar.shape)} and dtype {scalar.dtype}",
                "Use a real scalar",
            )
        whole = kind in "iu"
        symbol = linear.cast(scalar, INT64 if whole else FLOAT64)
        return TracedNumber(int if whole else float, symbol, None)
