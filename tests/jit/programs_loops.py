"""Programs that repeat: while and for in every form, break, continue, else, nests."""

from __future__ import annotations

from typing import Any

import gtape as gt
from tests.jit.corpus import (
    Corpus,
    counted,
    matrices,
    rows,
    with_tensor_count,
)

LOOPS = Corpus("loops")

ONE = counted((0.7,), (0.9,), (-0.4,))
TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))


@LOOPS.add(ONE)
def while_counter(n: int, x: Any) -> Any:
    i = 0
    y = x
    while i < n:
        y = gt.sin(y) + 0.1 * x
        i = i + 1
    return y * y


@LOOPS.add(ONE)
def while_on_a_value(n: int, x: Any) -> Any:
    y = gt.exp(x)
    while y < 1.0 + 10.0 * n:
        y = y * 1.7 + x * x
    return gt.sin(y * 0.01) * x


@LOOPS.add(ONE)
def while_augmented(n: int, x: Any) -> Any:
    total = 1.5
    power = 1.0
    i = 0
    while i < n:
        i += 1
        power *= x
        total += power / i
    return total * gt.sin(total * x)


@LOOPS.add(with_tensor_count((0.7,), (-0.4,)))
def while_with_a_tensor_count(n: Any, x: Any) -> Any:
    y = x
    while n > 0:
        y = y * gt.cos(y) + 0.3
        n = n - 1
    return y * x


@LOOPS.add(ONE)
def for_over_a_range(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        y = gt.sin(y + i * 0.1)
    return y * y + x


@LOOPS.add(with_tensor_count((0.7,), (-0.4,)))
def for_over_a_range_of_a_tensor(n: Any, x: Any) -> Any:
    y = 0.5
    for i in range(n):
        y = gt.tanh(y + x / (i + 1.0))
    return y * x


@LOOPS.add(with_tensor_count((0.7,), (-0.4,)))
def for_over_a_tensor_of_numbers(n: Any, x: Any) -> Any:
    y = 0.5 + x
    for i in gt.range(n):
        y = gt.sin(y) + 0.01 * gt.cast(i, "float64") * x
    return y * y


@LOOPS.add(ONE)
def for_over_a_range_with_start_and_step(n: int, x: Any) -> Any:
    y = 0.25 + 0.0 * x
    for i in range(2, n + 2, 3):
        y = y + gt.sin(x * i)
    return gt.exp(-y * y) * x


@LOOPS.add(ONE)
def for_over_a_range_backwards(n: int, x: Any) -> Any:
    y = x
    for i in range(n - 1, -1, -1):
        y = 0.5 * y + gt.cos(x * i)
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_over_the_elements(xs: Any, y: Any) -> Any:
    total = 0.3
    for x in xs:
        total = total + x * gt.sin(y + x)
    return total * total * y


@LOOPS.add(matrices(3, ([0.3, -0.2, 0.5],)))
def for_over_the_rows(matrix: Any, v: Any) -> Any:
    for line in matrix:
        v = gt.tanh(v + line * gt.reduce_sum(v))
    return gt.reduce_sum(v * v)


@LOOPS.add(matrices(2, (0.3,), (0.9,)))
def for_with_two_targets(matrix: Any, y: Any) -> Any:
    for a, b in matrix:
        y = gt.sin(a * y) + b
    return y * y


@LOOPS.add(matrices(3, (0.3,), (0.9,)))
def for_with_a_starred_target(matrix: Any, y: Any) -> Any:
    for first, *rest in matrix:
        y = y * gt.cos(first) + rest[0] * rest[1]
    return gt.sin(y) * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_enumerate(xs: Any, y: Any) -> Any:
    for i, x in enumerate(xs):
        y = gt.sin(y * x) + 0.1 * i * x
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_enumerate_from_one(xs: Any, y: Any) -> Any:
    for k, x in enumerate(xs, start=1):
        y = y + x / k
    return gt.sin(y) * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_zip(xs: Any, y: Any) -> Any:
    total = y
    for a, b in zip(xs, gt.sin(xs), strict=True):
        total = total * 0.9 + a * b * y
    return total * total


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_zip_of_range(xs: Any, y: Any) -> Any:
    for i, x in zip(range(100), xs, strict=False):
        y = gt.tanh(y + x * i)
    return y * y + y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_reversed(xs: Any, y: Any) -> Any:
    for x in reversed(xs):
        y = y * x + 0.5
    return gt.sin(y)


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_enumerate_of_zip(xs: Any, y: Any) -> Any:
    for i, (a, b) in enumerate(zip(xs, xs * xs, strict=True)):
        y = gt.sin(y + a) + b * 0.1 * i
    return y * y


@LOOPS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def for_over_a_list_of_tensors(n: int, x: Any, y: Any) -> Any:
    z = 0.1 * n
    for v in [x, y, x * y, x]:
        z = gt.sin(z + v) * v
    return z * z


@LOOPS.add(counted((0.7, 1.2), (-0.4, 0.3)), trips=(0, 1, 2))
def for_over_a_dict(n: int, x: Any, y: Any) -> Any:
    parts = {"a": x, "b": y, "c": x * y}
    z = n * 1.0
    for key, part in parts.items():
        z = z * part if key == "b" else gt.sin(z + part)
    return z * z


@LOOPS.add(ONE)
def for_with_mapped_tensor(n: int, x: Any) -> Any:
    y = 0.2
    for v in map(lambda i: x * i, range(n)):  # noqa: C417
        y = gt.sin(y + v)
    return y * x


@LOOPS.add(ONE)
def while_with_break(n: int, x: Any) -> Any:
    y = 1.0 + 0.0 * x
    i = 0
    while i < n:
        y = y * 1.3 + x * x
        if y > 9.1:
            break
        i = i + 1
    return gt.sin(y) + i * x


@LOOPS.add(ONE)
def while_true_with_break(n: int, x: Any) -> Any:
    y = x
    i = 0
    while True:
        if i >= n:
            break
        y = gt.cos(y) * x
        i += 1
    return y * y


@LOOPS.add(ONE)
def while_true_with_break_in_the_middle(n: int, x: Any) -> Any:
    y = 0.3
    i = 0
    while True:
        y = gt.sin(y + x)
        if i >= n:
            break
        y = y * 1.5
        i += 1
    return y * y


@LOOPS.add(ONE)
def while_true_with_return(n: int, x: Any) -> Any:
    y = 0.3 * x
    i = 0
    while True:
        y = gt.sin(y + x)
        i = i + 1
        if i > n:
            return y * y * i


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_break(xs: Any, y: Any) -> Any:
    for x in xs:
        if x > 0.93:
            break
        y = y + x * y
    return gt.tanh(y) * y


@LOOPS.add(ONE)
def for_python_range_with_tensor_break(n: int, x: Any) -> Any:
    y = x + n
    for _ in range(5):
        y = y * 1.5
        if y > 4.3:
            break
    return gt.sin(y) * x


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_continue(xs: Any, y: Any) -> Any:
    for x in xs:
        if x < 0.0:
            continue
        y = gt.sin(y + x)
    return y * y + y


@LOOPS.add(ONE)
def while_with_continue(n: int, x: Any) -> Any:
    i = 0
    y = x
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        y = gt.cos(y * x) + 0.1 * i
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_with_continue_and_break(xs: Any, y: Any) -> Any:
    used = 0
    for i, x in enumerate(xs):
        if x < -0.5:
            continue
        y = y + gt.sin(x * y)
        used += 1
        if used > 11:
            y = y * i
            break
        y = y * 0.9
    return gt.sin(y) * used + y


@LOOPS.add(rows((0.7,), (-0.4,)))
def for_else(xs: Any, y: Any) -> Any:
    for x in xs:
        y = gt.sin(y) + x
        if y > 1.2:
            break
    else:
        y = y * y + 1.0
    return y * y


@LOOPS.add(ONE)
def while_else(n: int, x: Any) -> Any:
    y = 1.0 + x * x
    i = 0
    while i < n:
        y = y * 1.4
        if y > 20.3:
            break
        i += 1
    else:
        y = gt.exp(-y)
    return gt.sin(y)


@LOOPS.add(ONE)
def for_else_without_break(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        y = y * 0.7 + gt.sin(y + i) * 0.2
    else:
        y = y * x
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def return_in_a_for(xs: Any, y: Any) -> Any:
    for i, x in enumerate(xs):
        y = y + x * x
        if y > 4.1:
            return gt.sin(y) * (i + 1)
    return y * y


@LOOPS.add(ONE)
def return_in_a_while_branch(n: int, x: Any) -> Any:
    y = x
    i = 0
    while i < n:
        y = y * 1.2 + 0.5
        if y > 7.2:
            if x > 0.8:
                return gt.exp(-y)
            return gt.cos(y) * x
        i += 1
    return y * y + x


@LOOPS.add(counted((0.7,), (1.3,)), trips=(1, 2, 7, 30))
def loop_variable_after_the_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):  # noqa: B007
        y = gt.sin(y) + 0.1
    return y * i + x * x


@LOOPS.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def element_after_the_loop(xs: Any, y: Any) -> Any:
    for x in xs:
        y = y + x * 0.3
    return gt.sin(y * x)


@LOOPS.add(ONE)
def loop_variable_changed_in_the_body(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        i = i * 2 + 1
        y = gt.sin(y + 0.1 * i)
    return y * y


@LOOPS.add(ONE)
def name_first_set_in_the_loop(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        square = y * y
        y = gt.cos(square) + 0.1 * i
    return y * x


@LOOPS.add(counted((0.7,), (0.4,)), trips=(1, 2, 7, 30))
def name_first_set_in_the_loop_and_read_behind(n: int, x: Any) -> Any:
    y = x
    for i in range(n):
        last = gt.sin(y)
        y = last + 0.1 * i
    return y * last


@LOOPS.add(TWO)
def condition_with_and_in_a_while(n: int, x: Any, y: Any) -> Any:
    i = 0
    z = x * x + 0.5
    while i < n and z < 6.7:
        z = z * 1.3 + y * y
        i = i + 1
    return gt.sin(z) * i + z


@LOOPS.add(TWO)
def condition_with_or_in_a_while(n: int, x: Any, y: Any) -> Any:
    i = 0
    z = x
    while i < n or z < 2.2:
        z = z + 0.31 + 0.1 * gt.sin(y)
        i += 1
    return z * gt.cos(z)


@LOOPS.add(ONE)
def walrus_in_a_while(n: int, x: Any) -> Any:
    i = 0
    y = x
    while (i := i + 1) <= n:
        y = gt.sin(y) + 0.05 * i
    return y * i


@LOOPS.add(ONE)
def flag_controlled_loop(n: int, x: Any) -> Any:
    y = x
    i = 0
    going = n > 0
    while going:
        y = gt.sin(y) + 0.4
        i = i + 1
        going = i < n and y < 1.35
    return y * y


@LOOPS.add(ONE)
def both_operands_of_the_loop_are_the_result(n: int, x: Any) -> Any:
    y = x
    for _ in range(n):
        y = 0.5 * y * y + 0.1
    return y + y * x


@LOOPS.add(rows((0.7,), (-0.4,)))
def last_that_fits(xs: Any, y: Any) -> Any:
    found = y
    where = 0
    for i, x in enumerate(xs):
        if x > 0.2:
            found = x * y
            where = i
    return gt.sin(found) * (1 + where)


@LOOPS.add(rows((0.7,), (-0.4,)))
def first_that_fits(xs: Any, y: Any) -> Any:
    for x in xs:
        if x > 0.2:
            found = x * x
            break
    else:
        found = y
    return gt.sin(found) * y


@LOOPS.add(ONE)
def loop_with_nothing_in_it(n: int, x: Any) -> Any:
    for _ in range(n):
        pass
    return x * gt.sin(x)


@LOOPS.add(rows((0.7,), (-0.4,)))
def index_loop_over_a_length(xs: Any, y: Any) -> Any:
    for i in range(len(xs)):
        y = y + gt.sin(xs[i] * y)
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def index_of_neighbors(xs: Any, y: Any) -> Any:
    for i in range(1, len(xs)):
        y = y + gt.sin(xs[i] * xs[i - 1]) * y * 0.3
    return y * y


@LOOPS.add(rows((0.7,), (-0.4,)))
def while_with_two_indices(xs: Any, y: Any) -> Any:
    left = 0
    right = len(xs) - 1
    while left < right:
        y = y * 0.9 + xs[left] * xs[right]
        left += 1
        right -= 1
    return gt.sin(y) * y
