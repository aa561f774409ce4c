"""Lists, dicts and the tensors in them that are one object on some paths only.

Assigning to items of tensors is followed exactly. A list or dict that another may be is
read freely; once one of them is changed, reading the other is refused.
"""

from collections.abc import Callable
from typing import Any

import pytest

import gtape as gt

EXACT: list[Any] = []
REFUSED: list[Any] = []
TENSORS: list[Any] = []


def among(programs: list[Any]) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        programs.append(function)
        return function

    return add


def plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.numpy().tolist() if gt.is_tensor(value) else value


def scalar(value: float) -> Any:
    return gt.constant(value, gt.float64)


def vector(x: Any) -> Any:
    return x * gt.ones([2], gt.float64)


class State:
    u: Any


@among(REFUSED)
def written_under_the_new_name(c: Any, x: Any) -> Any:
    a = [x]
    b = a
    if c:
        b = [x * 2]
    b[0] = x * 7
    return a[0], b[0]


@among(REFUSED)
def written_under_the_old_name(c: Any, x: Any) -> Any:
    a = [x]
    b = a
    if c:
        b = [x * 2]
    a[0] = x * 7
    return a[0], b[0]


@among(REFUSED)
def a_dict(c: Any, x: Any) -> Any:
    a = {"k": x}
    b = a
    if c:
        b = {"k": x * 2}
    b["k"] = x * 7
    return a["k"]


@among(EXACT)
def nobody_reads_the_old_one(c: Any, x: Any) -> Any:
    b = [x]
    if c:
        b = [x * 2]
    b[0] = b[0] * 7
    return b[0]


@among(EXACT)
def one_of_two(c: Any, x: Any) -> Any:
    b = {"u": x}
    d = {"u": x * 3}
    a = b if c else d
    a["u"] = a["u"] * 5
    return a["u"]


@among(REFUSED)
def one_of_two_read_after(c: Any, x: Any) -> Any:
    b = {"u": x}
    d = {"u": x * 3}
    a = b if c else d
    a["u"] = a["u"] * 5
    return a["u"], d["u"]


@among(EXACT)
def both_names_made_on_both_paths(c: Any, x: Any) -> Any:
    if c:
        a = [x]
        b = a
    else:
        a = [x * 2]
        b = a
    a[0] = x * 9
    return a[0], b[0]


@among(REFUSED)
def both_names_on_one_path(c: Any, x: Any) -> Any:
    if c:
        a = [x]
        b = a
    else:
        a = [x * 2]
        b = [x * 3]
    a[0] = x * 9
    return a[0], b[0]


@among(EXACT)
def lists_of_their_own(c: Any, x: Any) -> Any:
    if c:
        a = [x]
        b = [x]
    else:
        a = [x * 2]
        b = [x * 3]
    a[0] = x * 9
    return a[0], b[0]


@among(REFUSED)
def after_a_loop(c: Any, x: Any) -> Any:
    a = [x]
    s = a
    for _ in gt.range(gt.cast(x, gt.int32)):
        s = [s[0] * 2.0]
    s[0] = s[0] + 1.0
    return a[0], s[0]


@among(REFUSED)
def swapped_by_a_loop(c: Any, x: Any) -> Any:
    a = [x]
    s = [x * 3]
    for _ in gt.range(gt.cast(x, gt.int32)):
        a, s = s, a
    s[0] = s[0] + 1.0
    return a[0]


@among(REFUSED)
def swapped_and_written_in_a_loop(c: Any, x: Any) -> Any:
    a = [x]
    s = [x * 3]
    for _ in gt.range(gt.cast(x, gt.int32)):
        a, s = s, a
        a[0] = a[0] * 2.0
    return a[0] + s[0]


@among(EXACT)
def a_tensor_in_a_dict(c: Any, x: Any) -> Any:
    t = x + 0.0 * gt.ones([2], gt.float64)
    d = {"a": t}
    if c:
        d["a"] = d["a"] * 2.0
    d["a"][0] = 50.0
    return t, d["a"]


@among(REFUSED)
def the_length(c: Any, x: Any) -> Any:
    b = []
    a = b
    if c:
        b = []
    b.append(x)
    return len(a)


@among(REFUSED)
def whether_a_key_is_there(c: Any, x: Any) -> Any:
    b = {}
    a = b
    if c:
        b = {}
    b["q"] = x
    return "q" in a


@among(REFUSED)
def the_values(c: Any, x: Any) -> Any:
    b = {"q": x}
    a = b
    if c:
        b = {"q": x * 2}
    b["q"] = x * 8
    return sum(a.values())


@among(REFUSED)
def the_sum(c: Any, x: Any) -> Any:
    b = [x]
    a = b
    if c:
        b = [x * 2]
    b[0] = x * 8
    return sum(a), a


@among(REFUSED)
def returned(c: Any, x: Any) -> Any:
    b = [x]
    a = b
    if c:
        b = [x * 2]
    b[0] = x * 8
    return a


@among(REFUSED)
def unpacked(c: Any, x: Any) -> Any:
    b = [x]
    a = b
    if c:
        b = [x * 2]
    b[0] = x * 8
    (q,) = a
    return q * 2


@among(EXACT)
def a_dict_set_anew(c: Any, x: Any) -> Any:
    s = {"x": x, "t": x * 0.0}
    for _ in gt.range(3):
        if c:
            s = {"x": x * 5, "t": x * 0.0}
        s["x"] = s["x"] * 1.5
        s["t"] = s["t"] + 1.0
    return s["x"] + s["t"]


@among(EXACT)
def a_list_set_anew(c: Any, x: Any) -> Any:
    s = [x, x * 0.0]
    for _ in gt.range(3):
        if c:
            s = [x * 5, x * 0.0]
        s[0] = s[0] * 1.5
        s[1] = s[1] + 1.0
    return s[0] + s[1]


@among(TENSORS)
def an_entry_set_and_written_in_a_loop(n: Any, x: Any) -> Any:
    t = vector(x)
    d = {"a": t}
    for _ in gt.range(n):
        d["a"][0] = d["a"][0] * 1.5
        d["a"] = d["a"] * 2.0
    d["a"][1] = 7.0
    return t, d["a"]


@among(TENSORS)
def entries_swapped(n: Any, x: Any) -> Any:
    t = vector(x)
    d = {"a": t, "b": vector(x)}
    i = 0
    while i < n:
        d["a"], d["b"] = d["b"], d["a"] * 2.0
        i = i + 1
    return t, d["a"], d["b"]


@among(TENSORS)
def a_dict_made_anew(n: Any, x: Any) -> Any:
    t = vector(x)
    d = {"a": t}
    s = t
    i = 0
    while i < n:
        d = {"a": d["a"] * 2.0}
        i = i + 1
    d["a"][1] = 7.0
    return t, d["a"], s


@among(TENSORS)
def an_entry_of_a_list_on_some_trips(n: Any, x: Any) -> Any:
    t = vector(x)
    d = [t]
    i = 0
    while i < n:
        if i > 1:
            d[0] = d[0] * 2.0
        i = i + 1
    d[0][1] = 7.0
    return t, d[0]


@among(TENSORS)
def an_entry_of_a_list_on_one_path(n: Any, x: Any) -> Any:
    t = vector(x)
    d = [t]
    if n > 1:
        d[0] = d[0] * 2.0
    d[0][1] = 7.0
    return t, d[0]


@among(TENSORS)
def an_entry_that_is_another(n: Any, x: Any) -> Any:
    t = vector(x)
    d = [t, vector(x)]
    if n > 1:
        d[0] = d[1]
    d[0][1] = 7.0
    return t, d[0], d[1]


@among(TENSORS)
def an_attribute_in_a_loop(n: Any, x: Any) -> Any:
    t = vector(x)
    o = State()
    o.u = t
    for _ in gt.range(n):
        o.u[0] = o.u[0] * 1.5
        o.u = o.u * 2.0
    o.u[1] = 7.0
    return t, o.u


@among(TENSORS)
def an_attribute_on_one_path(n: Any, x: Any) -> Any:
    t = vector(x)
    o = State()
    o.u = t
    if n > 1:
        o.u = o.u * 3
    o.u[1] = 7.0
    return t, o.u


@among(TENSORS)
def written_behind_a_new_dict(n: Any, x: Any) -> Any:
    t = vector(x)
    s = {"u": t, "k": 0.0 * x}
    for _ in gt.range(n):
        s = {"u": s["u"] * 2.0, "k": s["k"] + 1.0}
        s["u"][0] = s["k"]
    return t, s["u"], s["k"]


@among(TENSORS)
def written_before_a_new_dict(n: Any, x: Any) -> Any:
    t = vector(x)
    s = {"u": t, "k": 0.0 * x}
    for _ in gt.range(n):
        s["u"][0] = s["k"] + 5.0
        s = {"u": s["u"] * 2.0, "k": s["k"] + 1.0}
    return t, s["u"], s["k"]


def ids(programs: list[Any]) -> list[str]:
    return [program.__name__ for program in programs]


@pytest.mark.parametrize("program", EXACT, ids=ids(EXACT))
@pytest.mark.parametrize("condition", [True, False])
def test_changes_that_nobody_else_sees(program: Any, condition: bool) -> None:
    args = gt.constant(condition), scalar(2.0)
    assert plain(gt.function(program)(*args)) == plain(program(*args))


@pytest.mark.parametrize("program", REFUSED, ids=ids(REFUSED))
def test_reading_what_was_changed_under_another_name(program: Any) -> None:
    with pytest.raises(
        gt.errors.TracingError, match="stands for it on some paths only"
    ):
        gt.function(program)(gt.constant(True), scalar(2.0))


@pytest.mark.parametrize("program", TENSORS, ids=ids(TENSORS))
@pytest.mark.parametrize("trips", [0, 1, 2, 7])
@pytest.mark.parametrize("traced", [True, False])
def test_tensors_in_containers(program: Any, trips: int, traced: bool) -> None:
    n = gt.constant(trips) if traced else trips
    assert plain(gt.function(program)(n, scalar(2.0))) == plain(
        program(gt.constant(trips), scalar(2.0))
    )
