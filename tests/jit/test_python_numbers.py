"""Python numbers in traces: each operation gives what Python gives."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError, RangeError

INTS = (5, -7, 0, 1, -1, 1234, 2**62)

OF_ONE = {
    "~": operator.invert,
    "-": operator.neg,
    "abs": abs,
    "& 1": lambda n: n & 1,
    "12 &": lambda n: 12 & n,
    "|": lambda n: n | 9,
    "^": lambda n: 6 ^ n,
    ">>": lambda n: n >> 2,
    "0 >>": lambda n: -9 >> (n & 3),
    "<<": lambda n: (n & 15) << 3,
    "1 <<": lambda n: 1 << (n & 7),
    "round, 2": lambda n: round(n, 2),
    "round, -2": lambda n: round(n, -2),
    "round, n": lambda n: round(n & 1023, -(n & 3)),
    "bit_length": lambda n: n.bit_length(),
    "conjugate": lambda n: n.conjugate(),
    "imag": lambda n: n.imag,
    "isinstance of a union": lambda n: isinstance(n, int | str) + 1,
    "isinstance of a nest": lambda n: isinstance(n, (str, (float, int))) + 1,
    "list(range)": lambda n: sum(list(range(n & 7))),
}


@pytest.mark.parametrize("n", INTS)
@pytest.mark.parametrize("name", OF_ONE)
def test_ints(name: str, n: int) -> None:
    f = OF_ONE[name]

    def shown(n: int) -> Any:
        return gt.convert_to_tensor(f(n), dtype="int64")

    assert int(gt.function(shown)(n)) == f(n)


@pytest.mark.parametrize("digits", [-1, 0, 1, 2, 15, 310])
@pytest.mark.parametrize("x", [1.115, 2.675, -0.5, 1234.5, 1.5])
def test_floats_are_rounded_as_python_does(x: float, digits: int) -> None:
    f = gt.function(lambda x, d: gt.convert_to_tensor(round(x, d), dtype="float64"))
    assert float(f(x, digits)) == round(x, digits)


def test_loops_over_bits() -> None:
    def mixed(x: Any, n: int) -> Any:
        for i in range(n):
            x = x * 2.0 if i & 1 else x + 1.0
        return x

    f = gt.function(mixed)
    for n in (0, 1, 2, 7, 40):
        x = gt.constant(0.5, dtype="float64")
        value, slope = gt.value_and_grad(lambda x, n=n: f(x, n))(x)
        assert float(value) == float(mixed(x, n))
        assert float(slope) == 2.0 ** (n // 2)


@pytest.mark.parametrize("f", [operator.neg, abs, lambda n: n << 1, lambda n: n - 1])
def test_what_has_more_than_64_bits_is_refused(f: Any) -> None:
    with pytest.raises(RangeError, match="too large for 64 bits"):
        gt.function(lambda n: gt.convert_to_tensor(f(n), dtype="int64"))(-(2**63))


def test_wrong_numbers() -> None:
    with pytest.raises(ArgumentTypeError, match="a float has no bits"):
        gt.function(lambda x: x & 1)(2.5)
    with pytest.raises(ArgumentTypeError, match="a float has no bits"):
        gt.function(lambda x: ~x)(2.5)
    with pytest.raises(ArgumentTypeError, match="round: the digits are a float"):
        gt.function(lambda x, d: round(x, d))(2.5, 1.5)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'size_'"):
        gt.function(lambda n: n.size_)(2)
    with pytest.raises(ArgumentError, match="negative shift count"):
        gt.function(lambda n: 1 << n)(-1)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf, 3e30])
def test_int_of_tensors_that_have_none(x: float) -> None:
    f = gt.function(lambda x: int(x))
    with pytest.raises((ArgumentError, RangeError), match="truncate: "):
        f(gt.constant(x))


def test_int_of_tensors() -> None:
    f = gt.function(lambda x: gt.convert_to_tensor(int(x), dtype="int64"))
    for x in (3.7, -3.7, True, np.int64(2**62)):
        assert int(f(gt.constant(np.asarray(x)))) == int(x)


@pytest.mark.parametrize("kind", [int, float])
def test_complex_tensors_are_no_numbers(kind: type) -> None:
    for f in (lambda x: kind(x), gt.function(lambda x: kind(x))):
        with pytest.raises(gt.errors.DTypeError, match=f"{kind.__name__}: "):
            f(gt.constant(2.0 + 1.0j))


def test_zip_that_is_strict() -> None:
    def dot(x: Any, y: Any) -> Any:
        total = 0.0
        for a, b in zip(x, y, strict=True):
            total = total + a * b
        return total

    f = gt.function(dot)
    three, two = gt.constant([1.0, 2.0, 3.0]), gt.constant([4.0, 5.0])
    for run in (dot, f):
        assert float(run(three, three)) == 14.0
        assert float(run(two, two)) == 41.0
        with pytest.raises(ValueError, match="zip"):
            run(three, two)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_numbers_beside_integer_tensors_must_fit(dtype: str) -> None:
    f = gt.function(lambda x, n: x * (n + 1 - 1))
    one = gt.constant(1, dtype=dtype)
    info = np.iinfo(dtype)
    for n in {max(int(info.min), -(2**62)), min(int(info.max), 2**62), 0, 7}:
        assert int(f(one, n)) == n
    for n in (int(info.min) - 1, int(info.max) + 1):
        if -(2**62) < n < 2**62:
            with pytest.raises(RangeError, match=f"{n} is out of the range of {dtype}"):
                f(one, n)


def test_an_int_and_a_float_compare_exactly() -> None:
    def f(n: Any, y: float) -> Any:
        k = 1
        for _ in gt.range(n):
            k = k * 2
        k = k + 1
        return [k == y, k > y, k <= y, y < k, k == y + 2.0, k == 33.0]

    for trips in (5, 53):
        for y in (2.0**53, 33.0, float("inf")):
            wanted = f(gt.constant(trips), y)
            found = gt.function(f)(gt.constant(trips), y)
            assert [bool(v) for v in found] == wanted


def test_numbers_beside_what_is_none() -> None:
    @gt.function
    def f(n: Any) -> Any:
        k = 0
        for _ in gt.range(n):
            k = k + 1
        return k + "a"

    with pytest.raises(TypeError, match="add: unsupported operands of types int and"):
        f(gt.constant(3))
