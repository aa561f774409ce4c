"""Numerical methods on scalars: roots, series, integrals, equations of motion."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted, row, rows, with_tensor_count

NUMERIC = Corpus("numeric")

ONE = counted((0.7,), (0.9,), (0.4,))
TWO = counted((0.7, 1.2), (0.4, 0.8), (0.9, 0.5))
POSITIVE = Cases((2.3,), (0.7,), (11.9,))

# --- Roots and fixed points -----------------------------------------------------------


@NUMERIC.add(POSITIVE)
def newton_square_root(a: Any) -> Any:
    x = a
    while gt.abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return gt.sin(x) * a


@NUMERIC.add(Cases((0.4, 0.3), (1.3, 0.6), (2.9, 0.1)))
def newton_kepler(mean: Any, eccentricity: Any) -> Any:
    e = mean
    for _ in range(20):
        step = (e - eccentricity * gt.sin(e) - mean) / (1.0 - eccentricity * gt.cos(e))
        e = e - step
        if gt.abs(step) < 1e-11:
            break
    return gt.cos(e) * e


# The middle of an interval does not depend on what the signs decide: the last step,
# which does, carries the derivative.
@NUMERIC.add(Cases((2.3,), (3.7,), (7.1,)))
def bisection_and_a_last_newton_step(a: Any) -> Any:
    low, high = 0.0, 10.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        if middle * middle * middle < a:
            low = middle
        else:
            high = middle
    x = gt.stop_gradient(0.5 * (low + high))
    for _ in range(2):
        x = x - (x * x * x - a) / (3.0 * x * x)
    return x * x * gt.sin(a)


@NUMERIC.add(Cases((2.3,), (0.7,), (5.2,)))
def secant(a: Any) -> Any:
    x0, x1 = a * 0.5 + 0.1, a
    f0 = x0 * x0 - a
    count = 0
    while gt.abs(x1 - x0) > 1e-7 and count < 40:
        f1 = x1 * x1 - a
        x0, x1, f0 = x1, x1 - f1 * (x1 - x0) / (f1 - f0), f1
        count += 1
    return gt.sin(x1)


@NUMERIC.add(Cases((0.7,), (1.4,), (-0.6,)))
def fixed_point_with_a_tolerance(a: Any) -> Any:
    x = 0.2
    change = 1.0
    while change > 1e-11:
        new = gt.cos(a * x) * 0.5 + 0.1
        change = gt.abs(new - x)
        x = new
    return x * x + a * x


@NUMERIC.add(Cases((0.7,), (1.4,), (0.3,)))
def steffensen_with_aitken(a: Any) -> Any:
    x = a
    for _ in range(4):
        y = 0.5 * gt.cos(x * a)
        z = 0.5 * gt.cos(y * a)
        curve = z - 2.0 * y + x
        if gt.abs(curve) < 1e-4:
            break
        x = x - (y - x) ** 2 / curve
    return gt.exp(x) * x


@NUMERIC.add(Cases((1.0, 2.3), (0.7, 0.2), (4.0, 4.5)))
def arithmetic_geometric_mean(a: Any, b: Any) -> Any:
    count = 0
    while gt.abs(a - b) > 1e-6:
        a, b = 0.5 * (a + b), gt.sqrt(a * b)
        count += 1
    return gt.log(a) * a + count * b * 0.01


@NUMERIC.add(Cases((1.2, 0.7), (2.5, -0.4), (-0.8, 1.1)))
def gradient_descent_with_backtracking(x: Any, y: Any) -> Any:
    for _ in range(4):
        gx = 4.0 * x * x * x - y
        gy = 2.0 * y - x
        value = x * x * x * x + y * y - x * y
        step = 1.0
        while True:
            u, v = x - step * gx, y - step * gy
            new = u * u * u * u + v * v - u * v
            if new <= value - 0.1 * step * (gx * gx + gy * gy):
                break
            step = step * 0.5
        x, y = u, v
    return gt.sin(x) * y + x * x


@NUMERIC.add(Cases((1.2, 0.7), (0.5, -0.4)))
def inner_descent_with_a_tape(x: Any, a: Any) -> Any:
    rate = 0.3
    for _ in range(5):
        with gt.GradientTape() as tape:
            tape.watch(x)
            loss = (x - gt.sin(a * x)) ** 2
        slope = tape.gradient(loss, x)
        if gt.abs(slope) < 0.05:
            break
        x = x - rate * slope
        rate = rate * 0.9
    return x * x * a + x


@NUMERIC.add(Cases((2.4, 5.1), (0.9, 3.1), (-0.4, 1.6)))
def golden_section_bracket(a: Any, b: Any) -> Any:
    ratio = 0.6180339887498949
    for _ in range(6):
        c = b - ratio * (b - a)
        d = a + ratio * (b - a)
        if gt.cos(c) < gt.cos(d):
            b = d
        else:
            a = c
    return gt.sin(a) * b


# --- Numbers --------------------------------------------------------------------------


@NUMERIC.add(Cases((10.7, 4.1), (7.3, 1.9), (3.1, 8.6)))
def euclid_on_floats(a: Any, b: Any) -> Any:
    while b > 0.5:
        a, b = b, a % b
    return gt.sin(a) * a + b * a


@NUMERIC.add(with_tensor_count((0.7,), (0.4,)), trips=(1, 2, 3, 7, 27))
def collatz_beside_a_float(n: Any, x: Any) -> Any:
    total = x
    while n > 1:
        if n % 2 == 0:
            n = n // 2
            total = gt.sin(total + 0.3 * x)
        else:
            n = 3 * n + 1
            total = total * 0.8 + 0.1
    return total * total


@NUMERIC.add(ONE)
def continued_fraction(n: int, x: Any) -> Any:
    y = x
    for k in range(n, 0, -1):
        y = k + x / y
    return gt.log(y) * x


@NUMERIC.add(ONE)
def lentz_continued_fraction(n: int, x: Any) -> Any:
    f = 1.0 + x
    c = f
    d = 0.0
    for k in range(1, n + 1):
        d = 1.0 / (1.0 + k * x * d)
        c = 1.0 + k * x / c
        f = f * c * d
        if gt.abs(c * d - 1.0) < 1e-3:
            break
    return gt.sin(f) * f


@NUMERIC.add(ONE)
def fibonacci(n: int, x: Any) -> Any:
    a, b = x, x * x
    for _ in range(n):
        a, b = b, 0.6 * a + 0.3 * b
    return gt.sin(a) + b * b


@NUMERIC.add(ONE)
def alternating_pi_series(n: int, x: Any) -> Any:
    total, sign = 1.0, -1.0
    for k in range(1, n + 1):
        total = total + sign * x ** (2 * k) / (2 * k + 1)
        sign = -sign
    return total * total * x


@NUMERIC.add(Cases((0.7,), (-1.4,), (2.9,)))
def exponential_series_until_small(x: Any) -> Any:
    total = term = x * 0.0 + 1.0
    k = 0
    while gt.abs(term) > 1e-12:
        k = k + 1
        term = term * x / k
        total = total + term
    return gt.sin(total)


@NUMERIC.add(ONE)
def factorials_and_double_sums(n: int, x: Any) -> Any:
    total = 0.25
    factorial = 1.0
    for i in range(1, n + 1):
        factorial = factorial * i
        inner = 0.0
        for j in range(min(i, 4)):
            inner = inner + gt.sin(x * j)
        total = total + inner * x / factorial
    return gt.exp(total * x)


@NUMERIC.add(counted((0.7,), (0.4,)), trips=(0, 1, 2, 7, 13))
def power_by_squaring(n: int, x: Any) -> Any:
    result, base = 1.0, x + 0.3
    while n > 0:
        if n % 2 == 1:
            result = result * base
        base = base * base
        n = n // 2
    return gt.sin(result * x)


@NUMERIC.add(rows((0.7,), (-1.3,)))
def horner(coefficients: Any, x: Any) -> Any:
    y = 0.5
    for c in coefficients:
        y = y * x * 0.8 + c
    return y * y + x


@NUMERIC.add(rows((0.7,), (-0.6,)))
def horner_with_its_derivative(coefficients: Any, x: Any) -> Any:
    p, q = x, 0.0
    for c in reversed(coefficients):
        q = q * x + p
        p = p * x + c
    return gt.sin(p) * q + p * x


@NUMERIC.add(counted((0.7, 0.3), (0.2, 0.6), (-0.5, 0.4)), trips=(0, 1, 2, 7))
def mandelbrot_escape_count(n: int, a: Any, b: Any) -> Any:
    x, y = a, b
    count = 0
    while count < n and x * x + y * y < 4.0:
        x, y = x * x - y * y + a, 2.0 * x * y + b
        count += 1
    return gt.log(1.0 + x * x + y * y) * (count + 1)


@NUMERIC.add(counted((0.3, 2.9), (0.6, 3.4)), trips=(0, 1, 2, 7))
def logistic_map(n: int, x: Any, r: Any) -> Any:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x * gt.sin(x)


@NUMERIC.add(counted((0.3, 0.2), (-0.4, 0.5)), trips=(0, 1, 2, 7))
def henon_map_with_escape(n: int, x: Any, y: Any) -> Any:
    for i in range(n):
        x, y = 1.0 - 1.2 * x * x + y, 0.3 * x
        if gt.abs(x) > 1.15:
            return x * y * (i + 1)
    return x + y * y


@NUMERIC.add(ONE)
def chebyshev_by_recurrence(n: int, x: Any) -> Any:
    if n == 0:
        return x * x
    before, now = 1.0, x
    for _ in range(n - 1):
        before, now = now, 2.0 * x * now * 0.9 - before * 0.8
    return now * gt.cos(now) + before * x


# --- Integrals ------------------------------------------------------------------------


@NUMERIC.add(TWO)
def trapezoids(n: int, a: Any, b: Any) -> Any:
    h = b / (n + 1)
    total = 0.5 * (gt.sin(a) + gt.sin(a + b))
    for i in range(1, n + 1):
        total += gt.sin(a + i * h)
    return (total * h) ** 2 + a


@NUMERIC.add(Cases((0.2, 1.7), (0.6, 2.9)))
def adaptive_simpson(a: Any, b: Any) -> Any:
    def simpson(low: Any, high: Any) -> Any:
        middle = 0.5 * (low + high)
        return (
            (high - low)
            / 6.0
            * (
                gt.exp(-low * low)
                + 4.0 * gt.exp(-middle * middle)
                + gt.exp(-high * high)
            )
        )

    total = 0.0
    left = a
    width = b - a
    while left < b - 1e-6:
        if left + width > b:
            width = b - left
        middle = left + 0.5 * width
        whole = simpson(left, left + width)
        halves = simpson(left, middle) + simpson(middle, left + width)
        if gt.abs(whole - halves) > 3e-5:
            width = width * 0.5
            continue
        total = total + halves + (halves - whole) / 15.0
        left = left + width
        width = width * 1.5
    return gt.sin(total) * total


@NUMERIC.add(TWO)
def romberg_table(n: int, a: Any, b: Any) -> Any:
    table = gt.zeros((4,), "float64")
    for k in range(4):
        points = 2**k
        total = 0.0
        for i in range(points):
            total = total + gt.cos(a + b * (i + 0.5) / points)
        new = total * b / points
        factor = 4.0
        for j in range(k):
            old = table[j]
            table[j] = new
            new = new + (new - old) / (factor - 1.0)
            factor = factor * 4.0
        table[k] = new
    return table[3] * table[n % 4] + a


# --- Equations of motion --------------------------------------------------------------


@NUMERIC.add(TWO)
def euler_pendulum(n: int, angle: Any, speed: Any) -> Any:
    for _ in range(n):
        angle, speed = angle + 0.1 * speed, speed - 0.1 * gt.sin(angle)
    return angle * speed + gt.cos(angle)


@NUMERIC.add(TWO)
def verlet_oscillator(n: int, x: Any, v: Any) -> Any:
    force = -x - 0.2 * x * x * x
    for _ in range(n):
        x = x + 0.1 * v + 0.005 * force
        new = -x - 0.2 * x * x * x
        v = v + 0.05 * (force + new)
        force = new
    return 0.5 * v * v + x * x * x


@NUMERIC.add(TWO)
def runge_kutta(n: int, y: Any, k: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return gt.sin(t) * y - k * y * y

    t, h = 0.0, 0.1
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y * y


@NUMERIC.add(counted((0.7, 1.2), (0.4, 2.8)), trips=(0, 1, 2))
def adaptive_steps(n: int, y: Any, k: Any) -> Any:
    t, h = 0.0, 0.3
    end = 0.5 + n
    while t < end:
        if t + h > end:
            h = end - t
        slope = -k * y + gt.cos(t)
        middle = -k * (y + 0.5 * h * slope) + gt.cos(t + 0.5 * h)
        error = gt.abs(h * (middle - slope))
        if error > 0.021:
            h = h * 0.5
            continue
        y = y + h * middle
        t = t + h
        if error < 0.003:
            h = h * 2.0
    return y * gt.sin(y) + y


@NUMERIC.add(Cases((1.0, 0.4), (2.0, 1.3), (0.5, 0.1)))
def bouncing_ball_with_event(height: Any, speed: Any) -> Any:
    x, v, bounces = height, speed, 0
    for _ in range(60):
        v = v - 0.05 * 9.81
        x = x + 0.05 * v
        if x < 0.0:
            # Back to the ground along a straight line, and up with less speed.
            v = -0.8 * v
            x = -0.8 * x
            bounces += 1
            if bounces == 3:
                break
    return x * x + gt.sin(v) * bounces


@NUMERIC.add(Cases((0.6, 1.4), (0.2, 0.9), (1.1, 2.3)))
def event_stop_with_interpolation(x: Any, rate: Any) -> Any:
    t = 0.0
    while True:
        new = x + 0.1 * rate * gt.exp(-0.1 * x)
        if new > 2.53:
            t = t + 0.1 * (2.53 - x) / (new - x)
            break
        x = new
        t = t + 0.1
    return t * t + t


@NUMERIC.add(TWO)
def predator_and_prey(n: int, prey: Any, hunters: Any) -> Any:
    for _ in range(n):
        eaten = 0.05 * prey * hunters
        prey, hunters = prey + 0.08 * prey - eaten, hunters * 0.96 + 0.5 * eaten
        if prey < 0.55:
            prey = prey + 0.1
    return prey * gt.log(hunters + 1.0)


# --- Given chances --------------------------------------------------------------------


def chances(trips: int) -> tuple[Any, ...]:
    return row(trips, -1.0, 1.0, 5), row(trips, 0.0, 1.0, 6), row(1, 0.4, 0.9)[0]


@NUMERIC.add(chances)
def random_walk_with_given_noise(noise: Any, uniform: Any, x: Any) -> Any:
    position = x
    far = x
    for e, u in zip(noise, uniform, strict=True):
        if u < 0.3:
            position = position * 0.7
        else:
            position = position + 0.4 * e * u
        if position > far:
            far = position
    return gt.sin(position) * far


@NUMERIC.add(chances)
def metropolis_with_given_numbers(noise: Any, uniform: Any, x: Any) -> Any:
    energy = x * x + gt.sin(3.0 * x)
    accepted = 0
    for e, u in zip(noise, uniform, strict=True):
        new = x + 0.8 * e
        changed = new * new + gt.sin(3.0 * new)
        if changed < energy or u < gt.exp(energy - changed):
            x, energy = new, changed
            accepted += 1
    return x * energy + accepted * gt.reduce_sum(uniform * uniform) * 0.01


@NUMERIC.add(chances)
def annealing_with_given_numbers(noise: Any, uniform: Any, x: Any) -> Any:
    temperature = 1.0
    best = x
    for i in range(len(noise)):
        new = best + temperature * noise[i]
        gain = gt.cos(new) - gt.cos(best) + 0.13 * new
        if gain > 0.0:
            best = new
        elif uniform[i] < gt.exp(gain / temperature):
            best = 0.9 * new
        temperature = temperature * 0.95
        if temperature < 0.4:
            break
    return best * best + temperature * gt.reduce_sum(gt.sin(uniform))
