"""`TracedNumber`: a Python int or float that is known only when the function runs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from gtape import dispatch
from gtape.dtypes import as_dtype
from gtape.errors import ArgumentTypeError, TracingError
from gtape.interpreter import EagerInterpreter
from gtape.jit.graph.ir import Literal
from gtape.jit.tracing.symbol import Symbol
from gtape.ops import arithmetic, linear, logic, rounding
from gtape.ops.math import abs as absolute
from gtape.ops.traced import PYTHON
from gtape.sizes import is_size

INT64 = as_dtype("int64").dtype
FLOAT64 = as_dtype("float64").dtype


class Pin(BaseException):
    """Python needs the very number: what it comes from must be a constant instead.

    Not an `Exception`, so that no handler of the user's takes it.

    Args:
        sources: What the number depends on: arguments by position, and loops.
        number: The number that was asked for, or the variable whose name was.
    """

    def __init__(self, sources: frozenset[Any], number: Any) -> None:
        self.sources = sources
        self.number = number


class TracedNumber:
    """A Python number of a function that is being traced, with Python's arithmetic.

    Beside tensors it adapts to their dtype, as Python numbers do.

    Args:
        kind: int or float.
        symbol: An int64 or float64 scalar.
        sources: The arguments and loops it depends on, by which it can be pinned;
            `None` if it depends on tensors, too.
    """

    __slots__ = ("kind", "sources", "symbol")

    __array_ufunc__ = None  # NumPy arrays leave it to the operators below

    def __init__(
        self, kind: type, symbol: Symbol, sources: frozenset[Any] | None
    ) -> None:
        self.kind = kind
        self.symbol = symbol
        self.sources = sources

    def pin(self, what: str = "the number") -> NoReturn:
        """Ask for the trace to start again with this number as a constant.

        Raises:
            TracingError: If it comes from tensors, and nobody can know it, or if no
                function is being traced.
        """
        if isinstance(dispatch.interpreter(), EagerInterpreter):
            raise TracingError(
                f"a traced {self.kind.__name__} is used outside the function that "
                "traces it",
                "Return it from the function",
            )
        if not self.sources:
            raise TracingError(
                f"Python needs {what} of a traced {self.kind.__name__}, which is known "
                "only when the function runs",
                "Index tensors with it, not lists, and keep it out of shapes",
            )
        raise Pin(self.sources, self)

    # --- As a number ------------------------------------------------------------------

    def __index__(self) -> int:
        self.pin()

    def __int__(self) -> int:
        self.pin()

    def __float__(self) -> float:
        self.pin()

    def __bool__(self) -> bool:
        self.pin("the truth")

    def __hash__(self) -> int:
        self.pin()

    def __format__(self, spec: str) -> str:
        self.pin("the text")

    def __str__(self) -> str:
        self.pin("the text")

    def __repr__(self) -> str:
        return f"<a traced {self.kind.__name__}>"

    @property
    def real(self) -> TracedNumber:
        """The number itself."""
        return self

    # --- Arithmetic -------------------------------------------------------------------

    def __neg__(self) -> TracedNumber:
        if self.kind is int:
            return self._like(dispatch.apply(PYTHON["negative"], self.symbol))
        return self._like(arithmetic.negative(self.symbol))

    def __pos__(self) -> TracedNumber:
        return self

    def __abs__(self) -> TracedNumber:
        if self.kind is int:
            return self._like(dispatch.apply(PYTHON["abs"], self.symbol))
        return self._like(absolute(self.symbol))

    def __invert__(self) -> TracedNumber:
        if self.kind is float:
            raise ArgumentTypeError("~: a float has no bits", "Use int(x)")
        out: TracedNumber = _computed("subtract", arithmetic.subtract, (-1, self))
        return out

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            if self.kind is int:
                return self
            out = dispatch.apply(PYTHON["round"], self.symbol)
            return TracedNumber(int, out, self.sources)
        known = type(digits) is TracedNumber or is_size(digits)
        places = as_number(digits if known else operator.index(digits))
        if places.kind is float:
            raise ArgumentTypeError("round: the digits are a float", "Use int(x)")
        out = dispatch.apply(PYTHON["round_to"], self.symbol, places.symbol)
        return TracedNumber(self.kind, out, together(self, places))

    def __getattr__(self, name: str) -> Any:
        # Its own slots are missing only while it is copied.
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        if hasattr(self.kind, name):
            self.pin(name)
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    def __trunc__(self) -> TracedNumber:
        return truncated(self)

    def __floor__(self) -> TracedNumber:
        return truncated(self._like(rounding.floor(self.symbol)))

    def __ceil__(self) -> TracedNumber:
        return truncated(self._like(rounding.ceil(self.symbol)))

    def _like(self, symbol: Any) -> TracedNumber:
        return TracedNumber(self.kind, symbol, self.sources)

    def __eq__(self, other: object) -> Any:
        return _compared(logic.equal, self, other)

    def __ne__(self, other: object) -> Any:
        return _compared(logic.not_equal, self, other)

    def __lt__(self, other: Any) -> Any:
        return _compared(logic.less, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared(logic.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(logic.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(logic.greater_equal, self, other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


_ON_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")


def _operators() -> None:
    """Give the class its two-operand operators."""
    for name, short in (
        ("add", "add"),
        ("subtract", "sub"),
        ("multiply", "mul"),
        ("divide", "truediv"),
        ("floordiv", "floordiv"),
        ("mod", "mod"),
        ("pow", "pow"),
        ("bitwise_and", "and"),
        ("bitwise_or", "or"),
        ("bitwise_xor", "xor"),
        ("left_shift", "lshift"),
        ("right_shift", "rshift"),
    ):
        tensors = getattr(logic if name in _ON_BITS else arithmetic, name)
        setattr(TracedNumber, f"__{short}__", _operator(name, tensors, False))
        setattr(TracedNumber, f"__r{short}__", _operator(name, tensors, True))


def _operator(
    name: str, tensors: Callable[..., Any], reflected: bool
) -> Callable[..., Any]:
    def operator(self: TracedNumber, other: Any) -> Any:
        pair = (other, self) if reflected else (self, other)
        if not is_number(other):
            if isinstance(other, (np.ndarray, np.generic, complex)):
                return tensors(*pair)
            if isinstance(other, (str, bytes, dict, set, type(None))):
                kinds = [x.kind if x is self else type(x) for x in pair]
                raise ArgumentTypeError(
                    f"{name}: unsupported operands of types {kinds[0].__name__} and "
                    f"{kinds[1].__name__}",
                    "Convert one of them",
                )
            return NotImplemented
        return _computed(name, tensors, pair)

    return operator


def is_number(value: Any) -> bool:
    """Return whether a value is a Python int or float, traced or not."""
    return type(value) is TracedNumber or type(value) in (int, float) or is_size(value)


def as_number(value: Any) -> TracedNumber:
    """Return a Python number as a traced one."""
    if type(value) is TracedNumber:
        return value
    if is_size(value):
        number: TracedNumber = value.owner.tensor(value)
        return number
    kind = float if isinstance(value, float) else int
    dtype = FLOAT64 if kind is float else INT64
    if kind is int and not -(2**63) <= value < 2**63:
        raise TracingError(
            f"the Python int {value} beside a traced one has more than 64 bits",
            "Use a float",
        )
    literal = Literal(dtype.type(value))
    return TracedNumber(kind, Symbol(literal), frozenset())


def _computed(name: str, tensors: Callable[..., Any], pair: Sequence[Any]) -> Any:
    x, y = as_number(pair[0]), as_number(pair[1])
    sources = together(x, y)
    whole = x.kind is int and y.kind is int
    if name in _ON_BITS and not whole:
        raise ArgumentTypeError(f"{name}: a float has no bits", "Use int(x)")
    if name == "pow" and whole:
        exponent = pair[1]
        if type(exponent) is not int:
            # Whether the result is an int depends on the sign of the exponent.
            y.pin("the exponent")
        whole = exponent >= 0
    kind = int if whole and name != "divide" else float
    if not (whole and name != "divide"):
        x, y = as_float(x), as_float(y)
    exact = kind is int or name in ("divide", "floordiv", "mod", "pow")
    out = (
        dispatch.apply(PYTHON[name], x.symbol, y.symbol)
        if exact
        else tensors(x.symbol, y.symbol)
    )
    return TracedNumber(kind, out, sources)


def together(*numbers: TracedNumber) -> frozenset[Any] | None:
    """Return what several numbers depend on."""
    found: frozenset[Any] = frozenset()
    for number in numbers:
        if number.sources is None:
            return None
        found |= number.sources
    return found


def as_float(number: TracedNumber) -> TracedNumber:
    """Return a traced number as a float."""
    if number.kind is float:
        return number
    return TracedNumber(float, linear.cast(number.symbol, FLOAT64), number.sources)


def truncated(number: TracedNumber) -> TracedNumber:
    """Return a traced number as an int, rounded towards zero."""
    if number.kind is int:
        return number
    out = dispatch.apply(PYTHON["truncate"], number.symbol)
    return TracedNumber(int, out, number.sources)


def _compared(compare: Callable[..., Any], x: TracedNumber, y: Any) -> Any:
    if isinstance(y, float) and math.isinf(y) and x.kind is int:
        x = as_float(x)
    if not is_number(y):
        if y is None or isinstance(y, (str, bytes, list, tuple, dict)):
            return NotImplemented
        return compare(x, y)
    y = as_number(y)
    sources = together(x, y)
    if x.kind is y.kind:
        out = compare(x.symbol, y.symbol)
    elif _has_few_digits(x) or _has_few_digits(y):
        out = compare(as_float(x).symbol, as_float(y).symbol)
    else:  # as floats two numbers may be equal that are not
        out = dispatch.apply(PYTHON[compare.__name__], x.symbol, y.symbol)
    return Truth(out._value, out._key, out._home, sources)


def _has_few_digits(number: TracedNumber) -> bool:
    """Return whether a number is known to be one of which all neighbors are floats."""
    known = number.symbol._value
    return isinstance(known, Literal) and abs(float(known.array)) < 2.0**53


class Truth(Symbol):
    """The truth of a comparison of Python numbers, which can be pinned like these."""

    __slots__ = ("sources",)

    def __init__(
        self, value: Any, key: int, home: Any, sources: frozenset[Any] | None
    ) -> None:
        super().__init__(value, key, home)
        self.sources = sources

    def __bool__(self) -> bool:
        if not self.sources or isinstance(self._value, Literal):
            return super().__bool__()
        raise Pin(self.sources, TracedNumber(int, self, self.sources))


_operators()
