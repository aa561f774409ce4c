"""Programs with constructs in each other, and loops with several or unequal carries."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import gtape as gt
from tests.jit.corpus import Corpus, counted, rows

NESTS = Corpus("nests")

ONE = counted((0.7,), (0.9,), (-0.4,))
TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))


@NESTS.add(ONE)
def loop_in_a_branch(n: int, x: Any) -> Any:
    if x > 0.0:
        y = 0.1 + 0.0 * x
        for i in range(n):
            y = gt.sin(y + x * i)
    else:
        y = gt.exp(x)
        while y < n:
            y = y * 2.0
    return y * x + gt.cos(y)


@NESTS.add(rows((0.7,), (-0.4,)))
def branch_in_a_loop(xs: Any, y: Any) -> Any:
    for x in xs:
        if x > 0.0:
            y = gt.sin(y + x)
        else:
            y = y * gt.exp(x)
    return y * y + y


@NESTS.add(ONE)
def branch_on_the_carry(n: int, x: Any) -> Any:
    y = x
    for _ in range(n):
        if y > 0.5:
            y = 0.2 * y * y - 0.3 * x
        elif y > 0.0:
            y = 0.6 * y + 0.57
        else:
            y = 0.5 * gt.exp(y) + 0.05
    return gt.sin(y) * y


@NESTS.add(ONE)
def two_loops_in_a_row(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        y = gt.sin(y) + 0.1 * i
    z = y
    for _ in range(n // 2):
        z = gt.cos(z * y)
    return z * y


@NESTS.add(counted((0.7,), (-0.4,)), trips=(0, 1, 2, 7))
def loop_in_a_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        for j in range(3):
            y = gt.sin(y + 0.1 * i * j) + 0.05 * x
    return y * y


@NESTS.add(counted((0.7,), (-0.4,)), trips=(0, 1, 2, 7))
def inner_trips_depend_on_the_outer(n: int, x: Any) -> Any:
    total = 0.5 + 0.0 * x
    for i in range(n):
        y = x
        for j in range(i):
            y = gt.tanh(y + 0.2 * j)
        total = total + y * y
    return gt.sin(total) * x


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7))
def inner_trips_depend_on_the_carry(n: int, x: Any) -> Any:
    y = x
    for _ in range(n):
        z = y
        while z < 3.3:
            z = z * 1.6 + 0.1
        y = 0.2 * z + gt.sin(x)
    return y * y


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7))
def break_of_the_inner_loop(n: int, x: Any) -> Any:
    total = x
    for i in range(n):
        y = x
        for _ in range(10):
            y = y * 1.5
            if y > 2.0 + i:
                break
        total = total + gt.sin(y)
    return total * total


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7))
def return_from_the_inner_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        for j in range(i + 1):
            y = y + 0.3 * gt.sin(x + j)
            if y > 1.7:
                return y * gt.cos(y) + i * x
        y = y * 0.98
    return gt.exp(-y)


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7))
def continue_of_the_outer_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        if i % 2 == 1:
            continue
        for j in range(4):
            if j == i:
                continue
            y = gt.sin(y + 0.1 * j)
    return y * y + y


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7))
def inner_else_continues_the_outer(n: int, x: Any) -> Any:
    total = 0.2
    for i in range(n):
        y = x
        for _ in range(i):
            y = y * 1.4
            if y > 2.3:
                break
        else:
            continue
        total = total + gt.sin(y)
    return total * total * x


@NESTS.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 3))
def three_loops(n: int, x: Any) -> Any:
    y = 0.1 * x
    for i in range(n):
        for j in range(i + 1):
            k = 0
            while k < j + 1:
                y = gt.sin(y + x * 0.3)
                k += 1
            y = y * 1.1
    return y * y


@NESTS.add(TWO)
def mutual_carries(n: int, x: Any, y: Any) -> Any:
    for _ in range(n):
        x, y = gt.sin(y) * 0.9, x + 0.3 * y
        if y > 0.65:
            y = y - 0.5
    return x * y + x


@NESTS.add(counted((0.3, 0.8, -0.4), (0.5, -0.2, 0.9)))
def rotating_carries(n: int, a: Any, b: Any, c: Any) -> Any:
    for _ in range(n):
        a, b, c = b, c, gt.sin(a + b) * 0.7
    return a * b + gt.cos(c) * a


@NESTS.add(TWO)
def carry_that_is_another_carry(n: int, x: Any, y: Any) -> Any:
    previous = y
    for _ in range(n):
        previous = x
        x = gt.sin(x) + 0.2
    return previous * x + previous * previous


@NESTS.add(TWO)
def invariant_and_carry_are_the_same(n: int, x: Any, y: Any) -> Any:
    z = x
    for _ in range(n):
        z = gt.sin(z * x) + y
    return z * z * x


@NESTS.add(TWO)
def two_carries_start_as_one(n: int, x: Any, y: Any) -> Any:
    a = b = x
    for _ in range(n):
        a = a + 0.1 * b * y
        b = gt.cos(b) + a * 0.1
    return a * b


@NESTS.add(TWO)
def carry_that_does_not_matter(n: int, x: Any, y: Any) -> Any:
    unused = y
    for _ in range(n):
        unused = gt.exp(unused * 0.1)
        x = gt.sin(x) * 0.9
    return x * x + y * x


@NESTS.add(TWO)
def accumulator_of_an_integer_start(n: int, x: Any, y: Any) -> Any:
    total = 0
    count = 1
    for i in range(n):
        total = total + gt.sin(x * i + y)
        count = count + 0.5
    return total * total + x * y * count
