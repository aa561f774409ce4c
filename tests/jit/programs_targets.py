"""Programs with rarer targets, iterables, containers and ways out of a block."""

# Branches are written out, and builtins used, on purpose.
# ruff: noqa: C417, B020, B023
from __future__ import annotations

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted, row, rows, with_tensor_count

TARGETS = Corpus("targets")

CASE = Cases((0.7,), (-0.4,), (1.6,))
PAIR = Cases((0.7, 1.2), (-0.4, 0.3), (1.3, -0.8), (-1.1, -0.5))
ONE = counted((0.7,), (0.9,), (-0.4,))
TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))


class Cell:
    """A place for a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Point(NamedTuple):
    """Two coordinates."""

    x: Any
    y: Any

    def turned(self) -> Point:
        return Point(self.y, -self.x)


@dataclass
class Body:
    """A place and a speed."""

    place: Any
    speed: Any = 0.5

    def move(self, h: Any) -> None:
        self.place += h * self.speed
        if self.place > 1.0:
            self.speed = -0.9 * self.speed


@TARGETS.add(rows((0.7,), (-0.4,)))
def attribute_as_a_loop_target(xs: Any, y: Any) -> Any:
    cell = Cell(y)
    for cell.value in xs:
        y = gt.sin(y + cell.value)
    return y * cell.value


@TARGETS.add(rows((0.7,), (-0.4,)))
def item_as_a_loop_target(xs: Any, y: Any) -> Any:
    parts = [y, y * 2.0]
    for i, parts[1] in enumerate(xs):
        parts[0] = gt.tanh(parts[0] + parts[1] * i)
    return parts[0] * parts[1]


@TARGETS.add(PAIR)
def attribute_and_item_in_a_tuple_target(x: Any, y: Any) -> Any:
    cell, parts = Cell(x), [y, x * y]
    cell.value, parts[0], z = parts[1], cell.value, gt.sin(x)
    if z > 0.0:
        parts[1], cell.value = cell.value * z, parts[0]
    return cell.value * parts[0] + parts[1] * z


@TARGETS.add(PAIR)
def with_as_an_attribute(x: Any, y: Any) -> Any:
    cell = Cell(x)
    with contextlib.nullcontext(y) as cell.value:
        if cell.value > 0.0:
            cell.value = cell.value * x
    return gt.sin(cell.value) * cell.value


@TARGETS.add(PAIR)
def deleted_items_and_attributes(x: Any, y: Any) -> Any:
    parts = {"a": x, "b": y, "c": x * y}
    cell = Cell(x)
    del parts["b"]
    z = gt.sin(cell.value)
    del cell.value
    cell.value = z * y
    if y > 0.0:
        cell.value = cell.value + parts["c"]
    return sum(parts.values()) * cell.value * len(parts)


@TARGETS.add(TWO)
def named_tuples_as_state(n: int, x: Any, y: Any) -> Any:
    point = Point(x, y)
    for _ in range(n):
        if point.x > point.y:
            point = point.turned()
        point = Point(gt.sin(point.x) + 0.2, point.y * 0.9)
    return point.x * point.y


@TARGETS.add(TWO)
def replaced_named_tuples(n: int, x: Any, y: Any) -> Any:
    point = Point(x, y)
    for i in range(n):
        point = point._replace(x=gt.cos(point.y + 0.1 * i))
        px, py = point
        point = Point(py, px * 0.8)
    return point.x * point.y + point.x


@TARGETS.add(counted((0.7, 0.4), (0.2, 0.8)))
def data_class_with_methods(n: int, x: Any, speed: Any) -> Any:
    body = Body(x, speed)
    other = Body(speed)
    for _ in range(n):
        body.move(0.1)
        other.move(0.03 * body.place)
    return body.place * gt.sin(other.place) + body.speed


@TARGETS.add(TWO)
def nested_containers_as_state(n: int, x: Any, y: Any) -> Any:
    state = {"a": [x, y], "b": {"c": (x * y, 1)}}
    for _ in range(n):
        first, count = state["b"]["c"]
        state["a"][0] = gt.sin(state["a"][1] + first)
        state["b"]["c"] = (first * 0.9, count + 1)
        state["a"] = state["a"][::-1]
    value, count = state["b"]["c"]
    return state["a"][0] * value * count + state["a"][1]


@TARGETS.add(rows((0.7,), (-0.4,)))
def reduced_with_a_lambda(xs: Any, y: Any) -> Any:
    z = functools.reduce(lambda a, x: gt.sin(a) + x if a > 0.0 else a * x + 0.3, xs, y)
    return z * z + y


@TARGETS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def map_and_filter_over_a_list(n: int, x: Any, y: Any) -> Any:
    parts = list(map(lambda v: v * v if v > 0.0 else gt.sin(v), [x, y, x * y]))
    kept = [p for k, p in enumerate(parts) if k != n]
    return sum(kept) * kept[0]


def bent(v: Any) -> Any:
    if v > 0.0:
        return v * v
    return gt.sin(v)


def mixed(a: Any, b: Any) -> Any:
    if a > b:
        return a * gt.cos(b)
    return b - 0.3 * a


@TARGETS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def functions_with_branches_passed_on(n: int, x: Any, y: Any) -> Any:
    parts = list(map(bent, [x, y, x * y]))
    largest = max(*parts, x, key=bent)
    return functools.reduce(mixed, [*parts, largest], y * n) * largest


@TARGETS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def products_and_chains_of_iterables(n: int, x: Any, y: Any) -> Any:
    total = x * n
    for a, b in itertools.product((x, y), (y, 2.0)):
        total = gt.sin(total + a * b)
    for v in itertools.chain([x], (y, x * y)):
        if v > 0.0:
            total = total * v + 0.1
    return total * total


@TARGETS.add(rows((0.7,), (-0.4,)))
def zip_of_three_and_a_nested_target(xs: Any, y: Any) -> Any:
    for (i, x), s, c in zip(enumerate(xs), gt.sin(xs), gt.cos(xs), strict=True):
        y = gt.tanh(y * c + s * x + 0.05 * i)
    return y * y


@TARGETS.add(rows((0.7,), (-0.4,)))
def same_name_for_target_and_iterable(xs: Any, y: Any) -> Any:
    for xs in xs:
        y = y + gt.sin(xs * y)
    return y * y


@TARGETS.add(rows((0.7,), (-0.4,)))
def iterable_is_changed_in_the_loop(xs: Any, y: Any) -> Any:
    # The loop goes over the tensor that the name held before.
    total = y
    for x in xs:
        xs = gt.sin(xs) * 0.5
        total = total + x * y
    return total * total + gt.reduce_sum(xs * xs)


@TARGETS.add(TWO)
def iterable_from_a_conditional_expression(n: int, x: Any, y: Any) -> Any:
    z = x
    for i in range(n) if n > 1 else range(3):
        z = gt.sin(z + 0.1 * i * y)
    return z * z


@TARGETS.add(TWO)
def range_with_bounds_that_change(n: int, x: Any, y: Any) -> Any:
    z, stop = x, n
    for i in range(stop):
        stop = 2
        z = gt.sin(z) + 0.1 * y * (i + stop)
    for i in range(stop, n + stop):
        z = z * 0.9 + 0.01 * i
    return z * z


@TARGETS.add(ONE)
def reversed_range(n: int, x: Any) -> Any:
    y = x
    for i in reversed(range(1, n + 1)):
        y = gt.sin(y * x) + 1.0 / i
    return y * y


@TARGETS.add(with_tensor_count((0.7,), (-0.4,)), trips=(0, 1, 2, 5, 7))
def membership_of_a_tensor(n: Any, x: Any) -> Any:
    y = x
    while n > 0:
        if n in (2, 5, 7):
            y = gt.sin(y) + x
        elif n not in [1, 3]:
            y = y * 0.5
        n = n - 1
    return y * y


@TARGETS.add(with_tensor_count((0.7,), (-0.4,)), trips=(0, 1, 2, 4, 5))
def match_on_a_tensor(n: Any, x: Any) -> Any:
    match n:
        case 0:
            y = gt.sin(x)
        case 1 | 2:
            y = x * x * gt.cast(n, "float64")
        case _ if x > 0.0:
            y = gt.exp(x)
        case _:
            y = gt.cos(x)
    return y * y + x


@TARGETS.add(with_tensor_count((0.7,), (-0.4,)))
def match_in_a_loop(n: Any, x: Any) -> Any:
    y = x
    for i in range(n):
        match i % 4:
            case 0:
                y = gt.sin(y) + 0.3
            case 1:
                continue
            case 2 if y > 0.1:
                y = y * 0.7
            case _:
                y = y + 0.05
    return y * y


@TARGETS.add(PAIR)
def match_on_structures(x: Any, y: Any) -> Any:
    total = x
    for event in [("add", x), {"scale": y}, Point(x, y), [x, y, x * y], None]:
        match event:
            case ("add", v):
                total = total + gt.sin(v)
            case {"scale": v}:
                total = total * v if v > 0.0 else total - v
            case Point(x=a, y=b):
                total = total + a * b
            case [first, *rest]:
                total = total * first + rest[-1]
            case None:
                total = total * 1.5
    return total * total


@TARGETS.add(CASE)
def return_through_finally(x: Any) -> Any:
    log: list[int] = []

    def inner(y: Any) -> Any:
        try:
            if y > 0.0:
                return gt.sin(y)
            y = y * 2.0
        finally:
            log.append(1)
        return y * y

    return inner(x) * inner(x - 1.0) * len(log)


@TARGETS.add(ONE)
def break_through_with_and_try(n: int, x: Any) -> Any:
    y = x
    i = 0
    while True:
        with contextlib.nullcontext():
            try:
                if i >= n:
                    break
                y = gt.sin(y) + 0.3
                if y > 1.1:
                    continue
                y = y * 0.97
            finally:
                i = i + 1
    return y * i


@TARGETS.add(ONE)
def while_else_with_a_return(n: int, x: Any) -> Any:
    y = x + 1.5
    i = 0
    while i < n:
        y = y * 1.1
        i += 1
        if y > 3.3:
            break
    else:
        return gt.sin(y) * x
    return gt.cos(y) * y


@TARGETS.add(ONE)
def chained_comparison_in_a_while(n: int, x: Any) -> Any:
    y = x * x
    i = 0
    while 0.0 < y < 3.0 and -1 < i <= n:
        y = y * 1.2 + 0.1
        i += 1
    return y * gt.sin(y) + i * x


@TARGETS.add(ONE)
def assertion_in_a_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        y = gt.sin(y) + 0.2
        assert -1.0 < y < 1.3, f"step {i}: {y}"
    return y * y


@TARGETS.add(CASE)
def text_made_of_values(x: Any) -> Any:
    label = f"{'large' if isinstance(x, str) else 'small'}-{2 + 1:02d}"
    y = gt.sin(x) if x > 0.0 else x * x
    return y * y * len(label) + (y if label.endswith("03") else x)


@TARGETS.add(PAIR)
def optional_argument_is_none(x: Any, y: Any) -> Any:
    def shifted(a: Any, shift: Any = None) -> Any:
        if shift is None:
            shift = a * 0.5
        if shift is not None and a > 0.0:
            return gt.sin(a + shift)
        return a * shift

    return shifted(x) * shifted(y, x) + shifted(x, shift=y)


@TARGETS.add(CASE)
def modules_and_constants(x: Any) -> Any:
    y = x * math.pi / 4.0
    z = gt.sin(y) + np.e * 0.1
    while z < math.sqrt(2.0):
        z = z + np.float64(0.3) * gt.abs(x)
    return z * z * y


@TARGETS.add(
    lambda n: (row(n, -0.5, 0.5, 7), row(n, -0.5, 0.5, 8), np.float64(0.3)),
    trips=(0, 1, 2, 7),
)
def complex_carry(re: Any, im: Any, x: Any) -> Any:
    z = gt.complex(x, 0.1 * x)
    for a, b in zip(re, im, strict=True):
        z = z * z * 0.7 + gt.complex(a, b)
        if gt.abs(z) > 0.31:
            z = z * 0.5
    return gt.real(z) * gt.imag(z) + gt.abs(z) ** 2


@TARGETS.add(ONE)
def several_statements_behind_a_continue(n: int, x: Any) -> Any:
    y, skipped = x, 0
    for i in range(n):
        if y > 0.93:
            skipped += 1
            y = y * 0.5
            if skipped > 3:
                break
            continue
        y = y + 0.35
        if i % 2 == 0:
            continue
        y = gt.sin(y)
    return y * y * (1 + skipped)


@TARGETS.add(ONE)
def closures_over_the_loop_variable(n: int, x: Any) -> Any:
    y = x
    for i in range(n):

        def step(v: Any, k: Any = i) -> Any:
            return gt.sin(v + 0.1 * k) * (1.0 + 0.01 * i)

        y = step(y)
    return y * y


@TARGETS.add(ONE)
def callable_state_in_a_closure(n: int, x: Any) -> Any:
    def counter(start: Any) -> Any:
        value = start

        def following(step: Any) -> Any:
            nonlocal value
            value = gt.sin(value) + step
            return value

        return following

    first, second = counter(x), counter(x * x)
    y = x
    for _ in range(n):
        y = first(0.1) * second(y)
    return y * first(0.2)


@TARGETS.add(rows((0.7,), (-0.4,)))
def conditional_sum_of_pairs(xs: Any, y: Any) -> Any:
    total = sum(
        (a * b for i, a in enumerate(xs) for b in (y, a * y) if i % 2 == 0), start=y
    )
    return gt.sin(total) * total
