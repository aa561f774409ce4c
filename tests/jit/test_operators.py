"""Operators of the user's classes: their methods are converted like functions."""

from __future__ import annotations

from typing import Any

import pytest

import gtape as gt


class Interval:
    """Numbers from a bound to another; each operation branches on tensors."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low = low
        self.high = high

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __radd__(self, other: Any) -> Interval:
        return Interval(other + self.low, other + self.high)

    def __mul__(self, factor: Any) -> Interval:
        if isinstance(factor, Interval):
            return NotImplemented
        low, high = self.low, self.high
        if factor < 0.0:
            low, high = high, low
        return Interval(low * factor, high * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Interval:
        return self * -1.0

    def __lt__(self, other: Any) -> Any:
        return self.high < other

    def __iadd__(self, step: Any) -> Interval:
        if step > 0.0:
            self.high = self.high + step
        else:
            self.low = self.low + step
        return self

    def __getitem__(self, place: Any) -> Any:
        return self.low if place < 0.5 else self.high

    def __setitem__(self, place: Any, value: Any) -> None:
        if place < 0.5:
            self.low = value
        else:
            self.high = value

    def __contains__(self, x: Any) -> Any:
        return (x >= self.low) and (x <= self.high)

    def __bool__(self) -> Any:
        return self.high > self.low

    def __abs__(self) -> Any:
        return self.high - self.low if self.high > self.low else self.low - self.high

    def __enter__(self) -> Any:
        return self.high if self.high > 0.0 else self.low

    def __exit__(self, *error: object) -> None:
        self.low = self.low - 1.0


def add(a: Interval, t: Any) -> Any:
    b = a + Interval(t, t * t)
    return b.low * b.high


def reflected(a: Interval, t: Any) -> Any:
    b = 2.0 + a
    return b.low * b.high * t


def multiply(a: Interval, t: Any) -> Any:
    b = a * t
    return b.low - 3.0 * b.high


def reflected_of_a_tensor(a: Interval, t: Any) -> Any:
    b = 1.5 * a
    return b.low * t - 3.0 * b.high


def negative(a: Interval, t: Any) -> Any:
    return (-a).low * t


def compared(a: Interval, t: Any) -> Any:
    return t * 2.0 if a < t else t * 3.0


def in_place(a: Interval, t: Any) -> Any:
    a += t
    return a.low * a.high


def items(a: Interval, t: Any) -> Any:
    a[t] = a[t] * 5.0
    return a.low * a.high


def contained(a: Interval, t: Any) -> Any:
    return t * 2.0 if t in a else t * 3.0


def truth(a: Interval, t: Any) -> Any:
    a.low = a.low + t
    return t * 2.0 if a else t * 3.0


def absolute(a: Interval, t: Any) -> Any:
    return abs(a * t)


def managed(a: Interval, t: Any) -> Any:
    with a as x:
        y = x * t
    return y + a.low


PROGRAMS = [
    *(add, reflected, multiply, reflected_of_a_tensor, negative, compared, in_place),
    *(items, contained, absolute, managed),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("t", [-1.5, 0.25, 2.0])
def test_methods_are_converted(program: Any, t: float) -> None:
    def f(x: Any) -> Any:
        return program(Interval(x * 0.5, x + 1.0), x)

    x = gt.constant(t, gt.float64)
    value, slope = gt.function(gt.value_and_grad(f))(x)
    wanted, wanted_slope = gt.value_and_grad(f)(x)
    assert float(value) == pytest.approx(float(wanted), rel=1e-12)
    assert float(slope) == pytest.approx(float(wanted_slope), rel=1e-12)


@pytest.mark.parametrize(("t", "wanted"), [(-1.0, -2.0), (2.5, 7.5)])
def test_truth_by_a_tensor(t: float, wanted: float) -> None:
    def f(x: Any) -> Any:
        return truth(Interval(0.0 * x, 1.0 + 0.0 * x), x)

    assert float(gt.function(f)(gt.constant(t, gt.float64))) == wanted


class Base:
    def __add__(self, other: Any) -> str:
        return "base"

    def __radd__(self, other: Any) -> str:
        return "base, reflected"


class Derived(Base):
    def __radd__(self, other: Any) -> str:
        return "derived, reflected"


class Other:
    def __radd__(self, other: Any) -> str:
        return "other, reflected"


class Refusing:
    def __add__(self, other: Any) -> Any:
        return NotImplemented


@pytest.mark.parametrize(
    ("a", "b"),
    [(Base, Derived), (Derived, Base), (Base, Base), (Refusing, Other), (Base, Other)],
)
def test_which_method_is_asked(a: Any, b: Any) -> None:
    heard: list[str] = []

    @gt.function
    def f(x: Any) -> Any:
        heard.append(a() + b())
        return x

    f(gt.constant(1.0))
    assert heard == [a() + b()]


def test_operands_that_refuse() -> None:
    @gt.function
    def f(x: Any) -> Any:
        return Refusing() + Refusing()

    with pytest.raises(TypeError, match="unsupported operand"):
        f(gt.constant(1.0))
