"""Algorithms on arrays: statistics, matrices, stencils, tables, filters, networks."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import numpy as np

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted, matrices, row, rows

ARRAYS = Corpus("arrays")

POINTS = (1, 2, 7, 30)
SOME = (0, 1, 2, 7)
SPD = [[3.1, 0.4, -0.6], [0.4, 2.3, 0.5], [-0.6, 0.5, 2.7]]
RIGHT = [0.7, -0.4, 1.2]
SYSTEM = Cases(
    (SPD, RIGHT), ([[2.2, 0.1, 0.3], [0.1, 3.3, -0.7], [0.3, -0.7, 1.9]], RIGHT)
)

# --- Statistics -----------------------------------------------------------------------


@ARRAYS.add(rows((0.7,), (-0.4,)))
def welford_variance(xs: Any, y: Any) -> Any:
    mean, squares, count = y, 0.3, 1
    for x in xs:
        count += 1
        delta = x - mean
        mean = mean + delta / count
        squares = squares + delta * (x - mean)
    return gt.sqrt(squares / count) * mean


@ARRAYS.add(rows((0.7,), (-0.4,)))
def running_maximum(xs: Any, y: Any) -> Any:
    best, total = y, 0.0
    for x in xs:
        if x > best:
            best = x
        total = total + best * best
    return gt.sin(total) * best


@ARRAYS.add(rows((0.7,), (-0.4,)))
def running_maximum_by_max(xs: Any, y: Any) -> Any:
    best = y
    for x in xs:
        best = max(best, x * 0.9)
    return best * best + min(best, 0.5) * y


@ARRAYS.add(rows((0.3,), (0.8,)))
def exponential_smoothing(xs: Any, rate: Any) -> Any:
    level, trend = rate, 0.1
    for x in xs:
        new = rate * x + (1.0 - rate) * (level + trend)
        trend = 0.3 * (new - level) + 0.7 * trend
        level = new
    return level * level + trend


@ARRAYS.add(rows((0.7,), (-0.4,)), trips=POINTS)
def softmax_by_loops(xs: Any, y: Any) -> Any:
    top = xs[0]
    for x in xs:
        if x > top:
            top = x
    total = 0.0
    for x in xs:
        total += gt.exp(x - top)
    out = 0.0
    for i, x in enumerate(xs):
        out = out + gt.exp(x - top) / total * gt.sin(y * i)
    return out * out + y


@ARRAYS.add(rows((0.7,), (-0.4,)))
def cumulative_products(xs: Any, y: Any) -> Any:
    product, total = y, 0.2
    for x in xs:
        product = product * (1.0 + 0.5 * x)
        total = total + product
    return gt.sin(total) * product


@ARRAYS.add(rows((0.7,), (-0.4,)))
def run_length_sums(xs: Any, y: Any) -> Any:
    total, run, length = y, 0.0, 0
    for x in xs:
        if x > 0.0:
            run = run + x
            length += 1
        else:
            total = total + run * run * length
            run, length = 0.0, 0
    return gt.tanh(total) * (y + run)


@ARRAYS.add(rows((0.9,), (0.4,)), trips=POINTS)
def water_filling(xs: Any, amount: Any) -> Any:
    level = xs[0] * 0.0 - 2.0
    for _ in range(40):
        used = amount * 0.0
        open_ones = 0
        for x in xs:
            if level > x:
                used = used + level - x
                open_ones += 1
        if open_ones == 0:
            level = min(xs) + amount
            continue
        change = (amount - used) / open_ones
        level = level + change
        if gt.abs(change) < 1e-10:
            break
    return level * level + gt.sin(level)


@ARRAYS.add(lambda n: (np.sort(row(9, 0.0, 4.0)), np.array([1.3, 2.9, 0.4][n % 3])))
def binary_search_and_interpolation(knots: Any, x: Any) -> Any:
    low, high = 0, len(knots) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= x:
            low = middle
        else:
            high = middle
    part = (x - knots[low]) / (knots[high] - knots[low])
    return gt.sin(part) * low + part * part


@ARRAYS.add(rows((0.7,), (-0.4,)), trips=(2, 3, 7))
def bubble_sort(xs: Any, y: Any) -> Any:
    a = xs * 1.0
    n = len(a)
    for i in range(n):
        changed = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                changed = True
        if not changed:
            break
    total = y
    for i in range(n):
        total = total * 0.7 + gt.sin(a[i] * (i + 1))
    return total * total


@ARRAYS.add(lambda n: (row(8, seed=n), np.float64(0.6)), trips=(0, 1, 2))
def bitonic_sorting_network(xs: Any, y: Any) -> Any:
    a = [xs[i] for i in range(8)]
    size = 2
    while size <= 8:
        stride = size // 2
        while stride > 0:
            for i in range(8):
                j = i ^ stride
                if j > i:
                    low, high = min(a[i], a[j]), max(a[i], a[j])
                    a[i], a[j] = (low, high) if i & size == 0 else (high, low)
            stride //= 2
        size *= 2
    return a[0] * a[7] * y + gt.sin(a[3] - a[4])


@ARRAYS.add(rows((0.3,), (0.8,)), trips=POINTS)
def insertion_into_a_sorted_array(xs: Any, y: Any) -> Any:
    a = xs * 1.0
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a[0] * y + a[len(a) // 2] ** 2 + gt.sin(a[-1])


# --- Linear algebra -------------------------------------------------------------------


@ARRAYS.add(SYSTEM)
def conjugate_gradients(a: Any, b: Any) -> Any:
    x = gt.zeros_like(b)
    r = b
    p = r
    rs = gt.reduce_sum(r * r)
    for _ in range(3):
        q = gt.matvec(a, p)
        alpha = rs / gt.reduce_sum(p * q)
        x = x + alpha * p
        r = r - alpha * q
        new = gt.reduce_sum(r * r)
        if new < 1e-20:
            break
        p = r + new / rs * p
        rs = new
    return gt.reduce_sum(gt.sin(x) * b)


@ARRAYS.add(SYSTEM)
def jacobi_iteration(a: Any, b: Any) -> Any:
    x = b * 0.1
    change = 1.0
    while change > 1e-11:
        new = x * 1.0
        for i in range(3):
            total = b[i]
            for j in range(3):
                if j != i:
                    total = total - a[i, j] * x[j]
            new[i] = total / a[i, i]
        change = gt.reduce_max(gt.abs(new - x))
        x = new
    return gt.reduce_sum(x * x) + gt.sin(x[0])


@ARRAYS.add(SYSTEM)
def gauss_seidel_in_place(a: Any, b: Any) -> Any:
    x = gt.zeros((3,), "float64")
    for sweep in range(30):  # noqa: B007
        before = gt.identity(x)
        for i in range(3):
            x[i] = (b[i] - gt.reduce_sum(a[i] * x) + a[i, i] * x[i]) / a[i, i]
        if gt.reduce_sum((x - before) ** 2) < 1e-22:
            break
    return gt.reduce_sum(gt.sin(x) * x) * (1.0 + 0.0 * sweep)


@ARRAYS.add(SYSTEM)
def cholesky_by_loops(a: Any, b: Any) -> Any:
    low = gt.zeros_like(a)
    for i in range(3):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total = total - low[i, k] * low[j, k]
            if i == j:
                low[i, j] = gt.sqrt(total)
            else:
                low[i, j] = total / low[j, j]
    y = b * 1.0
    for i in range(3):
        for k in range(i):
            y[i] -= low[i, k] * y[k]
        y[i] /= low[i, i]
    return gt.reduce_sum(y * y) + gt.log(low[2, 2])


@ARRAYS.add(SYSTEM)
def elimination_with_pivots(a: Any, b: Any) -> Any:
    m = gt.concat([a[::-1] * 1.0, gt.reshape(b, (3, 1))], axis=1)
    for k in range(3):
        best = k
        for i in range(k + 1, 3):
            if gt.abs(m[i, k]) > gt.abs(m[best, k]):
                best = i
        if best != k:
            held = m[k] * 1.0
            m[k] = m[best]
            m[best] = held
        for i in range(3):
            if i != k:
                m[i] = m[i] - m[k] * (m[i, k] / m[k, k])
    x = [m[i, 3] / m[i, i] for i in range(3)]
    return x[0] * gt.sin(x[1]) + x[2] ** 2


@ARRAYS.add(Cases(([[1.1, 0.3, -0.2], [0.4, 0.9, 0.5], [-0.3, 0.2, 1.4]],)))
def gram_schmidt(m: Any) -> Any:
    basis = []
    for v in m:
        for u in basis:
            v = v - gt.reduce_sum(u * v) * u
        basis.append(v / gt.sqrt(gt.reduce_sum(v * v)))
    q = gt.stack(basis)
    return gt.reduce_sum(gt.sin(q) * m)


@ARRAYS.add(Cases((SPD,), ([[2.2, 0.1, 0.3], [0.1, 3.3, -0.7], [0.3, -0.7, 1.9]],)))
def power_iteration(a: Any) -> Any:
    v = gt.constant([1.0, 0.5, 0.25], "float64")
    while True:
        w = gt.matvec(a, v)
        value = gt.sqrt(gt.reduce_sum(w * w))
        change = gt.reduce_max(gt.abs(w / value - v))
        v = w / value
        if change < 1e-12:
            break
    return gt.sin(value) + v[0] * v[1]


@ARRAYS.add(counted(([[0.6, 0.4], [-0.3, 0.8]],)), trips=(0, 1, 2, 7, 13))
def matrix_power_by_squaring(n: int, m: Any) -> Any:
    result = gt.eye(2, dtype="float64")
    while n > 0:
        if n % 2 == 1:
            result = gt.matmul(result, m)
        m = gt.matmul(m, m)
        n //= 2
    return gt.reduce_sum(gt.sin(result) * (m + 0.5))


@ARRAYS.add(counted(([[2.1, 0.4], [-0.3, 1.7]],)), trips=(2, 3, 7))
def newton_inverse(n: int, m: Any) -> Any:
    x = gt.transpose(m) * 0.15
    for _ in range(n):
        x = 2.0 * x - x @ m @ x
    return gt.reduce_sum(x * x) + gt.sin(x[0, 1])


# --- Stencils and cells ---------------------------------------------------------------


@ARRAYS.add(counted(([0.3, -0.7, 1.1, 0.5, -0.2], 0.2)))
def heat_equation(n: int, u: Any, rate: Any) -> Any:
    for _ in range(n):
        inner = u[1:-1] + rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = gt.concat([u[:1], inner, u[-1:]], axis=0)
    return gt.reduce_sum(gt.sin(u) * u)


@ARRAYS.add(counted(([0.3, -0.7, 1.1, 0.5, -0.2], 0.2)))
def heat_equation_in_place(n: int, u: Any, rate: Any) -> Any:
    u = u * 1.0
    for _ in range(n):
        u[1:-1] += rate * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1] * 0.9
    return gt.reduce_sum(u * u) * rate


@ARRAYS.add(counted(([0.31, -0.73, 1.17, 0.53, -0.24], 0.19)), trips=SOME)
def upwind_advection(n: int, u: Any, speed: Any) -> Any:
    for _ in range(n):
        new = u * 1.0
        for i in range(5):
            if u[i] > 0.0:
                new[i] = u[i] - speed * (u[i] - u[i - 1])
            else:
                new[i] = u[i] - speed * (u[(i + 1) % 5] - u[i])
        u = new
    return gt.reduce_sum(u * u * u) + u[0]


@ARRAYS.add(
    lambda n: (n, np.array([0, 1, 0, 0, 1, 1, 0, 1]), np.linspace(0.2, 0.9, 8)),
    trips=SOME,
)
def cellular_automaton(n: int, cells: Any, weights: Any) -> Any:
    total = 0.1
    for _ in range(n):
        left, right = gt.roll(cells, 1, 0), gt.roll(cells, -1, 0)
        cells = gt.bitwise.bitwise_xor(left, gt.bitwise.bitwise_or(cells, right))
        alive = gt.reduce_sum(gt.cast(cells, "float64") * weights)
        if alive > 2.05:
            total = total + alive * alive
        else:
            total = total - gt.sin(alive)
    return total * total + gt.reduce_sum(weights * weights)


@ARRAYS.add(counted(([[0.3, 0.9], [0.5, -0.4], [1.2, 0.1]],)), trips=SOME)
def bodies_that_attract(n: int, places: Any) -> Any:
    speeds = gt.zeros_like(places)
    for _ in range(n):
        for i in range(3):
            force = gt.zeros((2,), "float64")
            for j in range(3):
                if i == j:
                    continue
                d = places[j] - places[i]
                force = force + d / (0.1 + gt.reduce_sum(d * d)) ** 1.5
            speeds[i] += 0.02 * force
        places = places + 0.1 * speeds
    return gt.reduce_sum(places * gt.sin(places))


# --- Tables ---------------------------------------------------------------------------


@ARRAYS.add(matrices(3, ([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]],)))
def soft_viterbi(scores: Any, transition: Any) -> Any:
    alpha = transition[0]
    for line in scores:
        alpha = line + gt.reduce_logsumexp(
            transition + gt.expand_dims(alpha, 1), axis=0
        )
    return gt.sin(gt.reduce_logsumexp(alpha))


@ARRAYS.add(matrices(3, ([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]],)))
def viterbi_by_loops(scores: Any, transition: Any) -> Any:
    best = transition[0]
    for line in scores:
        new = line * 1.0
        for j in range(3):
            top = best[0] + transition[0, j]
            for i in range(1, 3):
                here = best[i] + transition[i, j]
                if here > top:
                    top = here
            new[j] = line[j] + top
        best = new
    return gt.sin(gt.reduce_max(best))


@ARRAYS.add(Cases(([0.3, 1.2, -0.4], [0.9, -0.1, 0.5, 1.4]), ([1.3, 0.2], [0.6])))
def edit_distance_with_hard_minimum(a: Any, b: Any) -> Any:
    n, m = len(a), len(b)
    d = gt.zeros((n + 1, m + 1), "float64")
    for i in range(n):
        d[i + 1, 0] = d[i, 0] + 0.8
    for j in range(m):
        d[0, j + 1] = d[0, j] + 0.7
    for i in range(n):
        for j in range(m):
            cost = gt.abs(a[i] - b[j])
            d[i + 1, j + 1] = min(d[i, j] + cost, d[i, j + 1] + 0.8, d[i + 1, j] + 0.7)
    return d[n, m] ** 2


@ARRAYS.add(Cases(([0.3, 1.2, -0.4], [0.9, -0.1, 0.5, 1.4]), ([1.3, 0.2], [0.6])))
def soft_edit_distance(a: Any, b: Any) -> Any:
    def soft(x: Any, y: Any, z: Any) -> Any:
        return -gt.reduce_logsumexp(gt.stack([-x, -y, -z]))

    line = [0.7 * j for j in range(len(b) + 1)]
    for x in a:
        new = [line[0] + x * x]
        for j, y in enumerate(b):
            cost = (x - y) ** 2
            new.append(soft(line[j] + cost, line[j + 1] + 0.8, new[j] + 0.7))
        line = new
    return gt.sin(line[-1])


@ARRAYS.add(Cases(([3.1, 1.2, 2.4], [2, 3, 1]), ([1.3, 4.2, 0.7], [1, 2, 3])))
def knapsack_table(values: Any, sizes: Any) -> Any:
    best = gt.zeros((6,), "float64")
    for value, size in zip(values, sizes, strict=True):
        for room in range(5, 0, -1):
            if size <= room:
                best[room] = gt.maximum(best[room], best[room - size] + value)
    return gt.sin(best[5]) * best[4]


@ARRAYS.add(matrices(4, (0.7,), (-0.4,)), trips=(1, 2, 7))
def beam_step(scores: Any, y: Any) -> Any:
    beam = scores[0, :2] * y
    for line in scores:
        every = gt.reshape(gt.expand_dims(beam, 1) + gt.expand_dims(line, 0), (-1,))
        beam, _ = gt.top_k(every, 2)
        if beam[0] > 2.0:
            beam = beam * 0.5
    return beam[0] * gt.sin(beam[1])


# --- Filters and networks -------------------------------------------------------------


@ARRAYS.add(rows((0.4, 0.9), (0.8, 0.3)))
def kalman_filter(xs: Any, noise: Any, drift: Any) -> Any:
    mean, variance, loss = drift, 1.0, 0.5
    for x in xs:
        variance = variance + drift * drift
        error = x - mean
        total = variance + noise
        if error * error > 0.57 * total:
            variance = variance * 1.5
            continue
        loss = loss + error * error / total + gt.log(total)
        gain = variance / total
        mean = mean + gain * error
        variance = (1.0 - gain) * variance
    return loss * 0.1 + mean * variance


@ARRAYS.add(
    matrices(
        2,
        ([[0.5, -0.2], [0.3, 0.4]], [[0.1, 0.6], [-0.7, 0.2]], [0.1, -0.3]),
    )
)
def gated_recurrent_unit(xs: Any, w: Any, u: Any, b: Any) -> Any:
    h = gt.zeros((2,), "float64")
    for x in xs:
        z = gt.sigmoid(gt.matvec(w, x) + gt.matvec(u, h) + b)
        r = gt.sigmoid(gt.matvec(u, x) + gt.matvec(w, h))
        new = gt.tanh(gt.matvec(w, x) + gt.matvec(u, r * h) + b)
        h = z * h + (1.0 - z) * new
    return gt.reduce_sum((h + b) ** 2)


@ARRAYS.add(
    matrices(
        2,
        ([[0.5, -0.2], [0.3, 0.4]], [[0.1, 0.6], [-0.7, 0.2]], [0.1, -0.3]),
    )
)
def long_short_term_memory(xs: Any, w: Any, u: Any, b: Any) -> Any:
    h, c = b, b * 0.5
    loss = 0.1
    for t, x in enumerate(xs):
        gates = gt.matvec(w, x) + gt.matvec(u, h) + b
        i, f, o = gt.sigmoid(gates), gt.sigmoid(gates + 1.0), gt.sigmoid(-gates)
        c = f * c + i * gt.tanh(gt.matvec(u, x + h))
        h = o * gt.tanh(c)
        if t % 2 == 0:
            loss = loss + gt.reduce_sum(h * c)
    return loss * loss + gt.reduce_sum(c)


@ARRAYS.add(matrices(3, ([0.3, -0.2, 0.5], 0.1)))
def perceptron_with_a_margin(xs: Any, w: Any, b: Any) -> Any:
    mistakes = 0
    for k, x in enumerate(xs):
        y = 1.0 if k % 2 == 0 else -1.0
        margin = y * (gt.reduce_sum(w * x) + b)
        if margin < 0.2:
            w = w + 0.5 * y * x
            b = b + 0.3 * y * margin
            mistakes += 1
        w = w * 0.95
    return gt.reduce_sum(w * w) + gt.sin(b) * (1 + mistakes)


@ARRAYS.add(matrices(2, (0.3, 0.2)), trips=SOME)
def online_regression_with_a_tape(xs: Any, w: Any, b: Any) -> Any:
    for line in xs:
        with gt.GradientTape() as tape:
            tape.watch([w, b])
            error = gt.tanh(w * line[0] + b) - line[1]
            loss = error * error
            if error > 0.0:
                loss = 2.0 * loss
        gw, gb = tape.gradient(loss, [w, b])
        w, b = w - 0.2 * gw, b - 0.2 * gb
    return w * w + gt.sin(b) * w


@ARRAYS.add(matrices(3, ([0.3, -0.2, 0.5],)))
def attention_over_a_history(xs: Any, query: Any) -> Any:
    top, total, out = -5.0, 0.1, query * 0.1
    for x in xs:
        score = gt.reduce_sum(x * query)
        new = score if score > top else top
        scale = gt.exp(top - new)
        weight = gt.exp(score - new)
        total = total * scale + weight
        out = out * scale + weight * x
        top = new
    result = out / total
    return gt.reduce_sum(result * gt.sin(query))


@ARRAYS.add(rows((0.7, 0.4), (-0.4, 0.9)))
def leaky_neuron_with_spikes(currents: Any, leak: Any, v: Any) -> Any:
    spikes, total = 0, 0.2
    for current in currents:
        v = v + 0.1 * (2.5 * current * current + 0.4 - leak * v)
        if v > 1.03:
            total = total + v * v
            v = v - 1.0
            spikes += 1
    return total * gt.sin(v) + 0.1 * spikes * v
