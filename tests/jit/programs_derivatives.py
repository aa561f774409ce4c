"""Programs that take derivatives themselves: tapes, gt.grad, hvp, jvp, own rules."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import gtape as gt
from tests.jit.corpus import Cases, Corpus, counted

DERIVATIVES = Corpus("derivatives")

TWO = counted((0.7, 1.2), (-0.4, 0.3), (0.8, -0.8))


@gt.custom_gradient
def own_cube(x: Any) -> Any:
    square = x * x
    return square * x, lambda upstream: 3.0 * square * upstream


@DERIVATIVES.add(TWO)
def tape_inside(n: int, x: Any, y: Any) -> Any:
    for _ in range(min(n, 3)):
        with gt.GradientTape() as tape:
            tape.watch(x)
            z = gt.sin(x * y) * x
            if x > 0.5:
                z = z * z
        x = x - 0.3 * tape.gradient(z, x)
    return x * x + y * x


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2, 7))
def tape_around_a_loop(n: int, x: Any, y: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch([x, y])
        z = x
        for _ in range(n):
            z = gt.sin(z + y * 0.3)
        z = z * z * y
    a, b = tape.gradient(z, [x, y])
    return a * b + z


@DERIVATIVES.add(Cases(([0.7, 1.2, -0.3],), ([-0.4, 0.3, 0.6],)), orders=2)
def hessian_product_inside(v: Any) -> Any:
    def energy(w: Any) -> Any:
        total = w[0] * w[0]
        for i in range(2):
            total = total + gt.sin(w[i] * w[i + 1])
        return total

    [product] = gt.hvp(energy, (v,), (gt.cos(v),))
    return gt.reduce_sum(product * product * v)


@DERIVATIVES.add(TWO)
def gradient_function_inside(n: int, x: Any, y: Any) -> Any:
    slope = gt.grad(lambda a: gt.sin(a * y) * a if a > 0.6 else a * a * y)
    for _ in range(min(n, 4)):
        x = x - 0.2 * slope(x)
    return x * x * x


@DERIVATIVES.add(Cases((0.7, 1.2), (-0.4, 0.3)))
def stop_gradient_on_a_path_without_value(x: Any, y: Any) -> Any:
    # The difference is zero, so that its missing gradient is the right one.
    z = gt.stop_gradient(x) - gt.stop_gradient(x)
    return gt.sin(x * y) + z * z * x


@DERIVATIVES.add(counted((0.7, 0.2), (0.4, -0.3)), trips=(0, 1, 2, 7))
def own_rule_in_a_loop(n: int, x: Any, y: Any) -> Any:
    for _ in range(n):
        if x > 0.5:
            x = own_cube(x) + y
        else:
            x = gt.sin(x) + 0.3
    return x * own_cube(y + x)


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2))
def tangents_inside(n: int, x: Any, y: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        for _ in range(n):
            a = gt.sin(a * b)
        return a * a + b

    value, tangent = gt.jvp(f, (x, y), (y, x * x))
    return value * tangent


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2, 7))
def recomputed_inside(n: int, x: Any, y: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        for _ in range(n):
            a = gt.sin(a + b)
        return a

    again = gt.recompute_grad(f)
    return again(x, y) * again(y, x * y)


@DERIVATIVES.add(Cases(([0.7, 1.2, -0.3],), ([-0.4, 0.3, 0.6],)))
def jacobian_inside(v: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(v)
        w = gt.sin(v) * v[0]
        if v[1] > 0.5:
            w = w * w
    jacobian = tape.jacobian(w, v)
    return gt.reduce_sum(jacobian * jacobian)


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2))
def two_tapes_inside(n: int, x: Any, y: Any) -> Any:
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            z = x * y
            for _ in range(n):
                z = gt.sin(z) * x
        slope = inner.gradient(z, x)
    return outer.gradient(slope, x, unconnected_gradients="zero") * y + slope


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2))
def persistent_tape_inside(n: int, x: Any, y: Any) -> Any:
    with gt.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a = gt.sin(x * y)
        b = a * x
        for _ in range(n):
            a, b = b, gt.cos(a) * b
    return tape.gradient(a, x) * tape.gradient(b, y) + a


@DERIVATIVES.add(counted((1.3, 0.7), (0.6, -0.8)), trips=(0, 1, 2, 7))
def newton_with_derivatives_from_a_tape(n: int, x: Any, a: Any) -> Any:
    def energy(z: Any) -> Any:
        return z**4 / 4.0 + z * z - a * z

    slope = gt.grad(energy)
    curve = gt.grad(slope)
    for _ in range(n):
        x = x - slope(x) / curve(x)
    return gt.sin(x) * x


@DERIVATIVES.add(counted((0.7, 1.2), (0.4, -0.3)), trips=(0, 1, 2, 7))
def tape_that_stops_and_goes_on(n: int, x: Any, y: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(x)
        z = x * x
        with tape.stop_recording():
            factor = gt.sin(y)
            for _ in range(n):
                factor = factor * 0.9
        z = z * factor
    return tape.gradient(z, x) * x + z
