"""Sizes: polynomials of unknowns, and comparisons that are decided or noted."""

import math
import operator
import random
from typing import Any

import numpy as np
import pytest

from gtape.atoms import Owner
from gtape.sizes import (
    Rounded,
    Size,
    Unknown,
    is_size,
    same_shape,
    same_size,
    size_of_unknown,
    value_of,
)


class Notes(Owner):
    """An owner that decides by the hints, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str, bool]] = []
        self.numbers: list[str] = []

    def decide(self, relation: str, left: Any, right: Any) -> bool:
        a, b = [x.hint() if is_size(x) else x for x in (left, right)]
        holds = a == b if relation == "==" else a < b
        self.asked.append((relation, str(left), str(right), holds))
        return holds

    def number(self, size: Any) -> int:
        self.numbers.append(str(size))
        return int(size.hint())

    def tensor(self, size: Any) -> float:
        return float(size.hint())


@pytest.fixture
def owner() -> Notes:
    return Notes()


@pytest.fixture
def n(owner: Notes) -> Any:
    return size_of_unknown(Unknown("n", owner, 5, 2))


@pytest.fixture
def m(owner: Notes) -> Any:
    return size_of_unknown(Unknown("m", owner, 7))


# --- Arithmetic -----------------------------------------------------------------------

FORMULAS = [
    lambda n, m: n + m,
    lambda n, m: 3 + n - m,
    lambda n, m: 3 - n,
    lambda n, m: -n + 2 * m,
    lambda n, m: +n,
    lambda n, m: n * m * n,
    lambda n, m: (n + 1) * (m - 2),
    lambda n, m: n * 0,
    lambda n, m: (n + m) ** 3,
    lambda n, m: n**0,
    lambda n, m: n // 2,
    lambda n, m: (4 * n + 6) // 2,
    lambda n, m: (n + 1) // -2,
    lambda n, m: n % 3,
    lambda n, m: (6 * n + 5) % 3,
    lambda n, m: (n - m) % 4,
    lambda n, m: (n * m) // n,
    lambda n, m: (n * m) % n,
    lambda n, m: (n + m) // n,
    lambda n, m: 17 // n,
    lambda n, m: 17 % n,
    lambda n, m: n // n + n % n,
    lambda n, m: divmod(n + m, 4)[0] * 4 + divmod(n + m, 4)[1],
    lambda n, m: (n // 2) % 3,
    lambda n, m: abs(n),
    lambda n, m: abs(-n),
    lambda n, m: round(n) + math.floor(n) + math.ceil(n) + math.trunc(n),
    lambda n, m: n + np.int64(3) * m - np.int32(1),
    lambda n, m: math.prod([n, 2, m]),
    lambda n, m: sum([n, m, 1]),
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_have_the_values_of_ints(formula: Any) -> None:
    a, b = Unknown("n", Notes(), 5, 2), Unknown("m", Notes(), 7)
    found = formula(size_of_unknown(a), size_of_unknown(b))
    for x, y in ((5, 7), (2, 0), (3, 11), (12, 5)):
        assert value_of(found, {a: x, b: y}) == formula(x, y)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (lambda n, m: n, "n"),
        (lambda n, m: n + m, "n+m"),
        (lambda n, m: n - m - 1, "n-1*m-1"),
        (lambda n, m: 2 * n * m + 3, "2*n*m+3"),
        (lambda n, m: m * n * n, "n*n*m"),
        (lambda n, m: -n, "-1*n"),
        (lambda n, m: (n + 3) // 2, "((n+3) // (2))"),
        (lambda n, m: (2 * n + 3) // 2, "n+1"),
        (lambda n, m: (3 * n + m) % 3, "((m) % (3))"),
    ],
)
def test_printing(formula: Any, text: str, n: Any, m: Any) -> None:
    assert str(formula(n, m)) == text


@pytest.mark.parametrize(
    ("formula", "number"),
    [
        (lambda n, m: n - n, 0),
        (lambda n, m: n + 3 - n, 3),
        (lambda n, m: 0 * n, 0),
        (lambda n, m: n // n, 1),
        (lambda n, m: 3 * n % 3, 0),
        (lambda n, m: (n * m) % m, 0),
        (lambda n, m: (6 * n + 5) % 3, 2),
    ],
)
def test_what_is_a_number_becomes_one(
    formula: Any, number: int, n: Any, m: Any
) -> None:
    found = formula(n, m)
    assert type(found) is int
    assert found == number


def test_the_same_expression_is_the_same_size(n: Any, m: Any, owner: Notes) -> None:
    assert same_size((n + m) * 2, 2 * m + n + n)
    assert same_size((n + 1) // 2, (1 + n) // 2)
    assert not same_size(n, m)
    assert not same_size(n, 5)
    assert same_size(5, 5)
    assert same_shape((n, 3, n * m), [n, 3, m * n])
    assert not same_shape((n, 3), (n,))
    assert hash((n + m) * 2) == hash(2 * m + 2 * n)
    assert hash((n + 1) // 2) == hash((1 + n) // 2)
    assert owner.asked == []


def test_sizes_are_keys_of_dicts(n: Any, m: Any) -> None:
    table = {n: "n", n * m: "nm"}
    assert table[n] == "n"
    assert table[m * n] == "nm"


def test_what_a_size_is(n: Any, m: Any) -> None:
    assert n.unknown is not None
    assert n.unknown.name == "n"
    for expression in (n + 1, 2 * n, n * m, n // 2, n * n):
        assert expression.unknown is None
    found = ((n + m) // 2 * 3).unknowns()
    assert sorted(str(u) for u in found) == ["m", "n"]
    assert is_size(n)
    assert not is_size(3)
    assert (n * m + 1).hint() == 36


def test_a_size_of_which_nothing_is_known_has_no_hint() -> None:
    trips = size_of_unknown(Unknown("trips", Notes()))
    assert trips.hint() is None
    assert (trips // 2 + 1).hint() is None


def test_division_by_zero(n: Any) -> None:
    for divide in (operator.floordiv, operator.mod):
        with pytest.raises(ZeroDivisionError):
            divide(n, 0)


def test_what_is_no_integer_goes_on_as_a_traced_number(n: Any) -> None:
    assert n * 0.5 == 2.5
    assert 0.5 + n == 5.5
    assert n - 0.5 == 4.5
    assert 5.5 - n == 0.5
    assert n / 2 == 2.5
    assert 10 / n == 2.0
    assert n**0.5 == 5**0.5
    assert 2.0**n == 32.0
    assert n // 2.0 == 2.0
    assert np.float64(2.0) * n == 10.0
    assert (np.array([1.0, 2.0]) * n).tolist() == [5.0, 10.0]
    assert n * 1j == 5j


@pytest.mark.parametrize("operation", [operator.add, operator.mul, operator.floordiv])
def test_what_is_no_number_is_refused(operation: Any, n: Any) -> None:
    for other in (None, {1}):
        with pytest.raises(TypeError):
            operation(n, other)


# --- Comparisons ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        (lambda n, m: n == 1, False),
        (lambda n, m: n != 0, True),
        (lambda n, m: n >= 2, True),
        (lambda n, m: n > 1, True),
        (lambda n, m: n < 0, False),
        (lambda n, m: m >= 0, True),
        (lambda n, m: m < 0, False),
        (lambda n, m: m == -1, False),
        (lambda n, m: n + 1 > n, True),
        (lambda n, m: n < n, False),
        (lambda n, m: n == n, True),
        (lambda n, m: n * m + 1 > 0, True),
        (lambda n, m: n + m > m, True),
        (lambda n, m: m % 3 >= 0, True),
        (lambda n, m: (m + 4) // 2 >= 2, True),
        (lambda n, m: (m - 9) % 4 < 0, False),
        (lambda n, m: (m - 9) % 4 < 4, True),
        (lambda n, m: (7 - m) // 2 < 4, True),
        (lambda n, m: (1 - m % 2) // 2 >= 1, False),
        (lambda n, m: 2 * ((m - 9) % 4) > 6, False),
        (lambda n, m: n - m % 2 > 0, True),
        (lambda n, m: bool(n), True),
        (lambda n, m: -n < 0, True),
        (lambda n, m: n > 1.5, True),
        (lambda n, m: n < math.inf, True),
        (lambda n, m: n >= math.inf, False),
        (lambda n, m: n > -math.inf, True),
        (lambda n, m: n > math.nan, False),
        (lambda n, m: n <= math.nan, False),
        (lambda n, m: n == 2.5, False),
        (lambda n, m: n != 2.5, True),
    ],
)
def test_what_is_known_is_decided_without_a_note(
    relation: Any, holds: bool, n: Any, m: Any, owner: Notes
) -> None:
    assert relation(n, m) is holds
    assert owner.asked == []


@pytest.mark.parametrize(
    ("relation", "asked"),
    [
        (lambda n, m: n == 5, ("==", "n", "5", True)),
        (lambda n, m: n != m, ("==", "n", "m", False)),
        (lambda n, m: n == 5.0, ("==", "n", "5", True)),
        (lambda n, m: n < m, ("<", "n", "m", True)),
        (lambda n, m: n >= m, ("<", "n", "m", True)),
        (lambda n, m: n > 4, ("<", "4", "n", True)),
        (lambda n, m: n <= 5, ("<", "5", "n", False)),
        (lambda n, m: n > 4.5, ("<", "4", "n", True)),
        (lambda n, m: n >= 4.5, ("<", "n", "5", False)),
        (lambda n, m: n < 5.5, ("<", "n", "6", True)),
        (lambda n, m: n <= 5.5, ("<", "5", "n", False)),
        (lambda n, m: bool(m), ("==", "m", "0", False)),
        (lambda n, m: n - m == 0, ("==", "n-1*m", "0", False)),
        (lambda n, m: n // 2 == 2, ("==", "((n) // (2))", "2", True)),
        (lambda n, m: max(n, m) == m, ("<", "n", "m", True)),
    ],
)
def test_what_is_not_known_is_noted(
    relation: Any, asked: tuple[str, str, str, bool], n: Any, m: Any, owner: Notes
) -> None:
    ints = {"n": 5, "m": 7}
    assert bool(relation(n, m)) is bool(relation(ints["n"], ints["m"]))
    assert owner.asked == [asked]


def test_no_bound_is_taken_from_two_negative_factors(owner: Notes) -> None:
    n = size_of_unknown(Unknown("n", owner, 3))
    product = ((n - 7) // 2) * ((n - 9) // 2 + n)
    assert not product > 0
    assert owner.asked == [("<", "0", str(product), False)]


def drawn(rng: random.Random, depth: int, atoms: list[Any]) -> Any:
    """Return a random formula of sizes."""
    if depth == 0:
        return rng.choice([*atoms, rng.randint(-4, 6)])
    x = drawn(rng, depth - 1, atoms)
    how = rng.choice("+-*/%n")
    if how == "n":
        return -x
    if how in "/%":
        divisor = rng.choice([1, 2, 3, 5, -2])
        return x // divisor if how == "/" else x % divisor
    y = drawn(rng, depth - 1, atoms)
    return x + y if how == "+" else x - y if how == "-" else x * y


def test_bounds_hold_for_all_values() -> None:
    rng = random.Random(7)
    unknowns = [Unknown("a", least=2), Unknown("b"), Unknown("c", least=1)]
    atoms = [size_of_unknown(u) for u in unknowns]
    bounded = 0
    for _ in range(3000):
        size = drawn(rng, rng.randint(1, 4), atoms)
        if not is_size(size):
            continue
        bounded += size.least > -math.inf
        for _ in range(4):
            values = {u: rng.randint(u.least, 9) for u in unknowns}
            assert size.least <= size.value(values) <= -(-size).least
    assert bounded > 300


def test_a_size_is_no_string(n: Any) -> None:
    assert (n == "n") is False
    assert n != "n"
    with pytest.raises(TypeError):
        _ = n < "n"


def test_a_size_as_a_number_is_noted(n: Any, owner: Notes) -> None:
    assert int(n) == 5
    assert float(n + 1) == 6.0
    assert list(range(n)) == [0, 1, 2, 3, 4]
    assert np.zeros(n).shape == (5,)
    assert set(owner.numbers) == {"n", "n+1"}


def test_a_size_of_no_trace_decides_nothing() -> None:
    n = size_of_unknown(Unknown("n", least=2))
    assert n != 1
    with pytest.raises(ValueError, match="n-5 belongs to no trace"):
        _ = n == 5


def test_unknowns_are_ordered_by_age_in_products() -> None:
    a, b = (size_of_unknown(Unknown(name)) for name in "ba")
    assert str(b * a) == str(a * b) == "b*a"


def test_roundings_compare_by_expression() -> None:
    n = size_of_unknown(Unknown("n"))
    rounded = Rounded("//", n + 1, 2)
    assert rounded == Rounded("//", 1 + n, 2)
    assert rounded != Rounded("%", n + 1, 2)
    assert rounded != Rounded("//", n, 2)
    assert hash(rounded) == hash(Rounded("//", 1 + n, 2))
    assert rounded != "text"
    assert isinstance(n, Size)
