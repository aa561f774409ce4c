"""Lists, dicts and sets outside: what they hold is looked at on every call."""

import pytest

import gtape as gt

ONE = gt.constant(1.0)


class Unit:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


units = [Unit(2.0), Unit(3.0)]
table = {"a": Unit(2.0), "b": Unit(3.0)}
members = {1}


def run_over(x):
    for unit in units:
        x = unit(x)
    return x


def run_over_pairs(x):
    for _, unit in table.items():
        x = unit(x)
    return x


def by_comprehension(x):
    return sum([unit(x) for unit in units])


def by_get(x):
    unit = table.get("c")
    return x if unit is None else unit(x)


def starred(x):
    first, *rest = units
    return first(x) * len(rest)


CONTAINERS = {
    "for": (run_over, 6.0, 60.0),
    "for over pairs": (run_over_pairs, 6.0, 60.0),
    "enumerate": (lambda x: x * sum(i + u.k for i, u in enumerate(units)), 6.0, 18.0),
    "comprehension": (by_comprehension, 5.0, 15.0),
    "generator": (lambda x: sum(unit(x) for unit in units), 5.0, 15.0),
    "length": (lambda x: x * len(units), 2.0, 3.0),
    "last": (lambda x: units[-1](x), 3.0, 10.0),
    "get": (by_get, 1.0, 10.0),
    "truth of get": (lambda x: x * 9.0 if table.get("c") else x, 1.0, 9.0),
    "starred": (starred, 2.0, 4.0),
    "values": (lambda x: sum(unit(x) for unit in table.values()), 5.0, 15.0),
    "membership": (lambda x: x * 2.0 if 2 in members else x, 1.0, 2.0),
    "length of a set": (lambda x: x * len(members), 1.0, 2.0),
    "sorted": (lambda x: x * sorted(units, key=lambda u: -u.k)[0].k, 3.0, 10.0),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_new_entry_is_seen(name):
    function, before, after = CONTAINERS[name]
    f = gt.function(function)
    assert [float(f(ONE)) for _ in range(2)] == [before] * 2
    assert f.trace_count == 1
    units.append(Unit(10.0))
    table["c"] = Unit(10.0)
    members.add(2)
    try:
        assert float(f(ONE)) == after
    finally:
        units.pop()
        del table["c"]
        members.discard(2)
    assert float(f(ONE)) == before
    assert f.trace_count == 2


def test_what_the_function_writes_itself_does_not_retrace_it():
    log, seen = [], {"first": 1.0}

    @gt.function
    def f(x):
        log.append(x)
        seen["last"] = x
        return x * seen.get("first", 0.0)

    assert [float(f(ONE)) for _ in range(4)] == [1.0] * 4
    assert f.trace_count == 1
    assert len(log) == 4
    seen["first"] = 3.0
    assert float(f(ONE)) == 3.0


def test_large_lists_are_not_looked_through():
    numbers = [1.0] * 100_000
    f = gt.function(lambda x: x * numbers[5] * len(numbers))
    assert float(f(ONE)) == 100_000.0
    numbers[7] = 5.0
    f(ONE)
    assert f.trace_count == 1
    numbers[5] = 2.0
    assert float(f(ONE)) == 200_000.0
    numbers.append(0.0)
    assert float(f(ONE)) == 200_002.0


def test_the_length_of_a_list_that_is_written():
    log = []

    @gt.function
    def f(x):
        if len(log) < 3:
            log.append(x)
            return x * 2.0
        return x

    assert [float(f(ONE)) for _ in range(5)] == [2.0, 2.0, 2.0, 1.0, 1.0]
    assert len(log) == 3


class Place:
    """An object without attributes."""


LOOKED_UP = {
    "hasattr": (lambda p, x: x * 2.0 if hasattr(p, "k") else x, [1.0, 2.0, 2.0]),
    "getattr": (lambda p, x: x * getattr(p, "k", 5.0), [5.0, 7.0, 8.0]),
    "vars": (lambda p, x: x * sum(vars(p).values()), [0.0, 7.0, 8.0]),
}


@pytest.mark.parametrize("name", LOOKED_UP)
def test_attributes_that_are_looked_up_by_name(name):
    function, expected = LOOKED_UP[name]
    place = Place()
    f = gt.function(lambda x: function(place, x))
    found = [float(f(ONE)), float(f(ONE))]
    place.k = 7.0
    found.append(float(f(ONE)))
    place.k = 8.0
    found.append(float(f(ONE)))
    assert found == [expected[0], *expected]
