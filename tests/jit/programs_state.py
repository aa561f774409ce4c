"""Programs with state: item assignment, lists, objects, aliases, shapes that grow."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import numpy as np

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted, matrices, rows

STATE = Corpus("state")

CASE = Cases((0.7,), (-0.4,), (1.6,))
PAIR = Cases((0.7, 1.2), (-0.4, 0.3), (1.3, -0.8), (-1.1, -0.5))
ONE = counted((0.7,), (0.9,), (-0.4,))
TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))
FOUR = [0.3, -0.7, 1.1, 0.5]
VECTOR = counted((FOUR,), ([-0.2, 0.4, -0.9, 0.6],))
SQUARE = counted(([[0.3, -0.7, 1.1], [0.2, 0.9, -0.4], [-0.5, 0.6, 0.8]],))


class Counter:
    """A sum and a count that methods change."""

    def __init__(self, start: Any) -> None:
        self.total = start
        self.count = 0

    def add(self, x: Any) -> Counter:
        if x > 0.0:
            self.total = self.total + gt.sin(x)
        else:
            self.total = self.total * 0.9
        self.count = self.count + 1
        return self

    @property
    def mean(self) -> Any:
        return self.total / (1 + self.count)

    @mean.setter
    def mean(self, value: Any) -> None:
        self.total = value * (1 + self.count)


class Cell:
    """A cell that holds another one."""

    def __init__(self, value: Any, inner: Any = None) -> None:
        self.value = value
        self.inner = inner


# --- Item assignment ------------------------------------------------------------------


@STATE.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def write_every_element(xs: Any, y: Any) -> Any:
    out = gt.zeros_like(xs)
    for i in range(len(xs)):
        out[i] = gt.sin(xs[i] * y)
    return gt.reduce_sum(out * out) * y


@STATE.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def read_and_write_the_same_array(xs: Any, y: Any) -> Any:
    a = xs * 1.0
    for i in range(1, len(a)):
        a[i] = a[i] + gt.sin(a[i - 1] * y)
    return gt.reduce_sum(a * a)


@STATE.add(VECTOR)
def write_at_a_changing_place(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        k = (i * 3) % 4
        a[k] = gt.sin(a[k] + a[(k + 1) % 4])
    return gt.reduce_sum(a * a)


@STATE.add(VECTOR)
def augmented_item(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        a[i % 4] += 0.1 * gt.cos(a[3])
        a[0] *= 0.9
    return gt.reduce_sum(a * a * v)


@STATE.add(VECTOR)
def write_under_a_condition(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        if a[i % 4] > 0.0:
            a[i % 4] = a[i % 4] * 0.5 - 0.2
        else:
            a[(i + 1) % 4] = gt.sin(a[i % 4]) + 0.3
    return gt.reduce_sum(a * a)


@STATE.add(VECTOR)
def write_slices(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        a[1:] = gt.sin(a[:-1]) + 0.01 * i
        a[:2] *= 0.9
    return gt.reduce_sum(a * a * v)


@STATE.add(VECTOR)
def write_backwards_and_with_steps(n: int, v: Any) -> Any:
    a = v * 1.0
    for _ in range(n):
        a[::2] = a[1::2] * 0.8
        a[::-1] = gt.sin(a) + 0.1
    return gt.reduce_sum(a * a)


@STATE.add(SQUARE, trips=(0, 1, 2, 7))
def write_rows_and_columns(n: int, m: Any) -> Any:
    a = m * 1.0
    for i in range(n):
        a[i % 3] = gt.sin(a[(i + 1) % 3])
        a[:, i % 3] = a[:, 0] * a[:, 2] + 0.1
    return gt.reduce_sum(a * a * m)


@STATE.add(SQUARE, trips=(0, 1, 2, 3))
def write_elements_of_a_matrix(n: int, m: Any) -> Any:
    a = m * 1.0
    for i in range(n):
        for j in range(3):
            if j == i:
                continue
            a[i, j] = a[j, i] * gt.sin(a[i, i])
    return gt.reduce_sum(a * a)


@STATE.add(VECTOR)
def write_with_a_mask(n: int, v: Any) -> Any:
    a = v * 1.0
    for _ in range(n):
        a = gt.where(a > 0.2, gt.sin(a), a * 1.1 + 0.3)
    return gt.reduce_sum(a * a)


@STATE.add(VECTOR)
def overwritten_before_it_is_read(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        a[0] = a[1] * 0.7 + 0.1 * gt.sin(a[2])
        a[1] = a[0] * a[0]
        a[i % 4] = v[0]
    return gt.reduce_sum(a * gt.cos(a))


@STATE.add(VECTOR)
def old_values_stay(n: int, v: Any) -> Any:
    a = v * 1.0
    kept = a[1]
    before = gt.identity(a)
    for _ in range(n):
        a[1] = gt.sin(a[1]) + 0.5
    return kept * a[1] + gt.reduce_sum(before * a)


@STATE.add(VECTOR)
def alias_sees_the_write(n: int, v: Any) -> Any:
    a = v * 1.0
    b = a
    for i in range(n):
        b[i % 4] = gt.sin(b[(i + 1) % 4]) * 0.9
        a[3] = a[3] + b[0] * 0.1
    return gt.reduce_sum(a * b)


@STATE.add(VECTOR)
def write_in_a_function(n: int, v: Any) -> Any:
    def smooth(a: Any, i: Any) -> None:
        a[i] = 0.5 * a[i] + 0.5 * gt.sin(a[(i + 1) % 4])

    b = v * 1.0
    for i in range(n):
        smooth(b, i % 4)
    return gt.reduce_sum(b * b)


@STATE.add(VECTOR)
def swap_of_elements(n: int, v: Any) -> Any:
    a = v * 1.0
    for i in range(n):
        j, k = i % 4, (i + 2) % 4
        if a[j] > a[k]:
            a[j], a[k] = a[k], a[j]
        a[0] = a[0] * 0.9
    return a[0] * a[1] + gt.sin(a[2]) * a[3]


@STATE.add(matrices(3, ([0.3, -0.2, 0.5],)), trips=(1, 2, 7))
def write_rows_from_a_carry(matrix: Any, v: Any) -> Any:
    out = gt.zeros_like(matrix)
    for i in range(len(matrix)):
        v = gt.tanh(v + matrix[i])
        out[i] = v * v
    return gt.reduce_sum(gt.sin(out) * matrix)


@STATE.add(VECTOR)
def while_with_writes_and_break(n: int, v: Any) -> Any:
    a = v * 1.0
    i = 0
    while True:
        if i >= n or a[0] > 2.25:
            break
        a[0] = a[0] + 0.3 + 0.1 * a[2] * a[2]
        a[2] = gt.sin(a[2]) + a[1]
        i += 1
    return gt.reduce_sum(a * a) * (1 + i)


@STATE.add(VECTOR)
def table_filled_from_nothing(n: int, v: Any) -> Any:
    table = gt.zeros((5,), "float64")
    table[0] = v[0]
    for i in range(1, 5):
        table[i] = table[i - 1] * v[i - 1] + gt.sin(v[(i + n) % 4])
    return gt.reduce_sum(table * table)


# --- Lists ----------------------------------------------------------------------------


@STATE.add(counted((0.7,), (0.4,)), trips=(1, 2, 7, 30))
def append_and_stack(n: int, x: Any) -> Any:
    parts = []
    y = x
    for _ in range(n):
        y = gt.sin(y) + 0.2
        parts.append(y * x)
    stacked = gt.stack(parts)
    return gt.reduce_sum(stacked * stacked) + x


@STATE.add(ONE)
def append_and_sum(n: int, x: Any) -> Any:
    parts = [x]
    for i in range(n):
        parts.append(gt.sin(x * i))
    total = sum(parts)
    return total * total


@STATE.add(counted((0.7,), (0.4,)), trips=(1, 2, 7, 30))
def append_in_both_branches(n: int, x: Any) -> Any:
    parts = []
    y = x
    for _ in range(n):
        y = gt.cos(y + 0.6)
        if y > 0.4:
            parts.append(y * x)
        else:
            parts.append(y * y)
    return gt.reduce_sum(gt.stack(parts) ** 2) * x


@STATE.add(counted((0.7,), (0.4,)), trips=(1, 2, 7, 30))
def append_pairs_and_loop_again(n: int, x: Any) -> Any:
    points = []
    for i in range(n):
        points.append((gt.sin(x * i), x * x))
    total = 0.3
    for a, b in points:
        total = gt.tanh(total * a + b)
    return total * total


@STATE.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def list_read_at_the_end(xs: Any, y: Any) -> Any:
    states = [y]
    for x in xs:
        states.append(gt.sin(states[-1] + x))
    return states[-1] * states[0] + states[len(states) // 2] ** 2


@STATE.add(PAIR)
def list_elements_as_state(x: Any, y: Any) -> Any:
    parts = [x, y]
    if x > 0.0:
        parts[0] = gt.sin(x) * y
    for _ in range(3):
        parts[1] = parts[1] * 0.9 + parts[0]
        parts[0] = parts[0] * gt.cos(parts[1])
    return parts[0] * parts[1]


@STATE.add(TWO)
def dict_entries_as_state(n: int, x: Any, y: Any) -> Any:
    parts = {"a": x, "b": y}
    for i in range(n):
        parts["a"] = gt.sin(parts["b"] + 0.1 * i)
        if parts["a"] > 0.3:
            parts["b"] = parts["b"] * 0.8
        parts["b"] += 0.2 * x
    return parts["a"] * parts["b"]


@STATE.add(TWO)
def tuples_as_state(n: int, x: Any, y: Any) -> Any:
    state = (x, (y, x * y))
    for _ in range(n):
        a, (b, c) = state
        state = (gt.sin(b), (c * 0.9 + 0.1, a + 0.2))
    return state[0] * state[1][0] + state[1][1] ** 2


# --- Objects --------------------------------------------------------------------------


@STATE.add(rows((0.7,), (-0.4,)))
def attributes_changed_by_a_method(xs: Any, y: Any) -> Any:
    counter = Counter(y)
    for x in xs:
        counter.add(x * y)
    return counter.total * counter.mean


@STATE.add(PAIR)
def attributes_in_branches(x: Any, y: Any) -> Any:
    cell = Cell(x)
    if y > 0.0:
        cell.value = gt.sin(cell.value) * y
    else:
        cell.value *= y
    return cell.value * cell.value + x


@STATE.add(TWO)
def attributes_of_attributes(n: int, x: Any, y: Any) -> Any:
    cell = Cell(x, Cell(y))
    for _ in range(n):
        cell.inner.value = gt.sin(cell.value + cell.inner.value)
        cell.value += 0.1 * cell.inner.value
    return cell.value * cell.inner.value


@STATE.add(TWO)
def property_setter_in_a_loop(n: int, x: Any, y: Any) -> Any:
    counter = Counter(x)
    for _ in range(n):
        counter.add(y)
        counter.mean = counter.mean * 0.9 + 0.1
    return counter.total * gt.sin(counter.mean)


@STATE.add(TWO)
def method_chain_in_a_while(n: int, x: Any, y: Any) -> Any:
    counter = Counter(x)
    while counter.count < n:
        counter.add(y).add(x)
    return counter.total * counter.total * y


@STATE.add(TWO)
def two_objects_and_an_alias(n: int, x: Any, y: Any) -> Any:
    first, second = Cell(x), Cell(y)
    same = first
    for _ in range(n):
        same.value = gt.cos(second.value) * 0.8
        second.value = second.value + 0.1 * first.value
    return first.value * second.value


# --- Numbers that change their kind ---------------------------------------------------


@STATE.add(ONE)
def integer_carry_becomes_a_float(n: int, x: Any) -> Any:
    y = 1
    for _ in range(n):
        y = y * 0.5 + x
    return gt.sin(y * x)


@STATE.add(ONE)
def integer_carry_beside_a_float(n: int, x: Any) -> Any:
    a, b = 1, 1
    total = x
    for _ in range(n):
        a, b = b, (a + b) % 11
        total = gt.sin(total * x) + 0.1 * a
    return total * total


@STATE.add(ONE)
def quotients_and_remainders(n: int, x: Any) -> Any:
    total = x
    for i in range(n):
        q, r = divmod(i, 3)
        total = 0.7 * total + gt.sin(x * q) * r + i // 2 * 0.1
    return gt.sin(total) * x


@STATE.add(ONE)
def float_of_an_integer_carry(n: int, x: Any) -> Any:
    half = n / 2 + 0.25
    y = x
    k = 0
    while k < half:
        y = y * 0.8 + gt.sin(x * k)
        k += 1
    return y * half


@STATE.add(TWO)
def boolean_carry(n: int, x: Any, y: Any) -> Any:
    up = True
    for _ in range(n):
        if up:
            x = x + 0.31
        else:
            x = gt.sin(x) * y
        up = not up
    return x * x


@STATE.add(CASE)
def string_chosen_by_python(x: Any) -> Any:
    y = x
    for name in ["sin", "cos", "tanh"]:
        f = getattr(gt, name)
        if y > 0.1 and name != "cos":
            y = f(y) * 1.5
        else:
            y = f(y * 0.5)
    return y * y


# --- Shapes ---------------------------------------------------------------------------


@STATE.add(counted((FOUR,)), trips=(0, 1, 2, 7))
def vector_grows(n: int, v: Any) -> Any:
    for i in range(n):
        v = gt.concat([v, gt.reshape(gt.sin(v[i]), (1,))], axis=0)
    return gt.reduce_sum(v * v)


@STATE.add(counted(([0.3, 0.8],)), trips=(0, 1, 2, 3))
def vector_doubles(n: int, v: Any) -> Any:
    for _ in range(n):
        v = gt.concat([v, gt.sin(v) * 0.5], axis=0)
    return gt.reduce_sum(v) ** 2


@STATE.add(counted((FOUR,)), trips=(0, 1, 2, 3))
def vector_shrinks(n: int, v: Any) -> Any:
    for _ in range(n):
        v = gt.sin(v[1:] * v[:-1]) + 0.2
    return gt.reduce_sum(v * v)


@STATE.add(counted((0.7,), (-0.4,)), trips=(0, 1, 2, 7))
def array_of_a_variable_length(n: int, x: Any) -> Any:
    v = gt.zeros((n + 1,), "float64")
    v[0] = x
    for i in range(n):
        v[i + 1] = gt.sin(v[i]) + 0.1 * x
    return gt.reduce_sum(v * v)


@STATE.add(rows((0.7,), (-0.4,)), trips=(1, 2, 7, 30))
def slice_of_a_variable_length(xs: Any, y: Any) -> Any:
    total = y
    for i in range(len(xs)):
        total = total + gt.sin(gt.reduce_sum(xs[: i + 1])) * y
    return total * total


@STATE.add(matrices(3, (0.7,), (-0.4,)), trips=(1, 2, 7))
def shape_read_in_the_program(m: Any, y: Any) -> Any:
    height, width = m.shape
    total = y
    for i in range(height):
        for j in range(width):
            total = total * 0.8 + gt.sin(m[i, j]) / (width + i)
    return total * total


# --- Integers beside ------------------------------------------------------------------


@STATE.add(lambda n: (np.arange(n) * 7 % 4, np.array(FOUR), np.float64(0.6)))
def gather_by_given_indices(order: Any, v: Any, x: Any) -> Any:
    y = x
    for k in order:
        y = gt.sin(y + v[k]) * x
    return y * y + gt.reduce_sum(v * v)


@STATE.add(lambda n: (np.arange(n) * 7 % 3, np.array(FOUR)), trips=(0, 1, 2, 7))
def scatter_by_given_indices(order: Any, v: Any) -> Any:
    a = v * 1.0
    for k in order:
        a[k] = a[k + 1] * gt.cos(a[k])
        a[k + 1] += 0.2
    return gt.reduce_sum(a * a)


@STATE.add(lambda n: (np.arange(n) % 3 == 0, np.float64(0.6)))
def mask_given_as_booleans(mask: Any, x: Any) -> Any:
    y = x
    for keep in mask:
        if keep:
            y = gt.sin(y) * 1.1
        else:
            y = y * y + 0.1 * x
    return y * y
