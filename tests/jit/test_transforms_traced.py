"""Transforms and `gt.function`: derivatives and batches in traces, and of traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt

X = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]])


# --- Programs: a tensor of rank 1 or 2 -> one of the same shape -----------------------


def formula(x: Any) -> Any:
    return gt.sin(x) * gt.exp(-x * x) + gt.reduce_sum(x) * 0.1


def product(x: Any) -> Any:
    return gt.tanh(x @ gt.transpose(x)) @ x if x.ndim == 2 else x * x


def for_loop(x: Any) -> Any:
    y = x
    for i in range(3):
        y = gt.sin(y) + 0.1 * i * x
    return y


def while_loop(x: Any) -> Any:
    y = x
    while gt.reduce_sum(y * y) > 0.5:
        y = y * 0.7
    return y * gt.cos(y)


def branch(x: Any) -> Any:
    if gt.reduce_sum(x) > 0.6:
        return gt.sin(x) * x
    return gt.cos(x)


def masked(x: Any) -> Any:
    return gt.reduce_sum(x[x > 0]) * x


def assigned(x: Any) -> Any:
    y = gt.zeros_like(x)
    for i in range(2):
        y[i] = gt.sin(x[i]) * x[1 - i]
    return y


PROGRAMS = [formula, product, for_loop, while_loop, branch, masked, assigned]


# --- Transforms: a program -> a function of a tensor ----------------------------------


def tape_jacobian(f: Any) -> Any:
    def g(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    return g


def tape_batch_jacobian(f: Any) -> Any:
    def g(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x)

    return g


def persistent(f: Any) -> Any:
    def g(x: Any) -> Any:
        with gt.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            z = gt.reduce_sum(y * y)
        return tape.gradient(z, x) + tape.gradient(y, x) * 0.5

    return g


def accumulator(f: Any) -> Any:
    def g(x: Any) -> Any:
        with gt.ForwardAccumulator(x, gt.cos(x)) as acc:
            y = f(x)
        return acc.jvp(y)

    return g


def forward_over_reverse(f: Any) -> Any:
    def g(x: Any) -> Any:
        with gt.ForwardAccumulator(x, gt.cos(x)) as acc:
            with gt.GradientTape() as tape:
                tape.watch(x)
                y = gt.reduce_sum(f(x))
            first = tape.gradient(y, x)
        return acc.jvp(first)

    return g


def scalar(f: Any) -> Any:
    return lambda x: gt.reduce_sum(f(x) * (1.0 + f(x)))


def halved(f: Any) -> Any:
    """Return a function whose gradient is half of that of f."""

    @gt.custom_gradient
    def g(x: Any) -> Any:
        y, pull = gt.vjp(f, x)
        return y, lambda upstream: 0.5 * pull(upstream)[0]

    return g


def tangent(f: Any, x: Any) -> Any:
    return gt.jvp(f, (x,), (gt.cos(x),))[1]


TRANSFORMS = {
    "grad": lambda f: gt.grad(scalar(f)),
    "value_and_grad": lambda f: lambda x: gt.value_and_grad(scalar(f))(x),
    "grad of grad": lambda f: gt.grad(scalar(gt.grad(scalar(f)))),
    "vjp": lambda f: lambda x: gt.vjp(f, x)[1](gt.cos(x))[0],
    "jvp": lambda f: lambda x: tangent(f, x),
    "jvp of jvp": lambda f: lambda x: tangent(lambda v: tangent(f, v), x),
    "grad of jvp": lambda f: gt.grad(lambda x: gt.reduce_sum(tangent(f, x))),
    "hvp": lambda f: lambda x: gt.hvp(scalar(f), (x,), (gt.cos(x),))[0],
    "jacobian": gt.jacobian,
    "jacobian of grad": lambda f: gt.jacobian(gt.grad(scalar(f))),
    "hessian": lambda f: gt.hessian(scalar(f)),
    "tape.jacobian": tape_jacobian,
    "tape.batch_jacobian": tape_batch_jacobian,
    "persistent": persistent,
    "accumulator": accumulator,
    "accumulator over tape": forward_over_reverse,
    "map": lambda f: lambda x: gt.vectorized_map(f, x),
    "map of grad": lambda f: lambda x: gt.vectorized_map(gt.grad(scalar(f)), x),
    "map of jacobian": lambda f: lambda x: gt.vectorized_map(gt.jacobian(f), x),
    "jacobian of map": lambda f: gt.jacobian(lambda x: gt.vectorized_map(f, x)),
    "grad of map": lambda f: gt.grad(scalar(lambda x: gt.vectorized_map(f, x))),
    "custom": lambda f: gt.grad(scalar(halved(f))),
    "recompute": lambda f: gt.grad(scalar(gt.recompute_grad(f))),
    "implicit": lambda f: lambda x: gt.gradients_function(scalar(f))(x)[0],
}


def assert_close(found: Any, wanted: Any) -> None:
    pair = zip(gt.nest.flatten(found), gt.nest.flatten(wanted), strict=True)
    for a, b in pair:
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_in_a_function_and_of_one(name: str, f: Any) -> None:
    make, x = TRANSFORMS[name], gt.constant(X)
    wanted = make(f)(x)
    inside = gt.function(make(f))
    assert_close(inside(x), wanted)
    assert_close(make(gt.function(f))(x), wanted)
    assert_close(gt.function(make(gt.function(f)))(x), wanted)
    for rows in (3, 5):
        larger = gt.constant(np.resize(X, (rows, 3)) * 0.7)
        assert_close(inside(larger), make(f)(larger))
    assert inside.trace_count == 2


# --- More of each ---------------------------------------------------------------------


def test_a_jacobian_in_a_loop() -> None:
    def f(x: Any) -> Any:
        total = gt.zeros([3, 3], gt.float64)
        for row in x:
            total += gt.jacobian(for_loop)(row)
        return total

    x = gt.constant(X)
    traced = gt.function(f)
    assert_close(traced(x), f(x))
    assert_close(gt.function(gt.grad(scalar(f)))(x), gt.grad(scalar(f))(x))


def test_a_jacobian_in_a_branch() -> None:
    def f(x: Any) -> Any:
        if gt.reduce_sum(x) > 0.0:
            return gt.jacobian(formula)(x)
        return gt.zeros([3, 3], gt.float64)

    traced = gt.function(f)
    for x in (gt.constant(X[0]), gt.constant(-X[0])):
        assert_close(traced(x), f(x))


def test_jacobians_by_variables_and_several_arguments() -> None:
    v = gt.Variable(X[0])

    def f(x: Any, y: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch([x, y])
            z = gt.sin(x) * v + y * v * v
        return tape.jacobian(z, [x, y, v])

    args = gt.constant(X[1]), gt.constant(0.5, gt.float64)
    assert_close(gt.function(f)(*args), f(*args))


def test_unconnected_jacobians() -> None:
    def f(x: Any, y: Any) -> Any:
        with gt.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            z = x * x
        zero = tape.jacobian(z, y, unconnected_gradients="zero")
        return zero, tape.jacobian(z, y)

    x, y = gt.constant(X), gt.constant(X[0])
    zero, nothing = gt.function(f)(x, y)
    assert nothing is None
    assert zero.shape == (2, 3, 3)
    assert not np.any(zero)


def test_structures_of_tangents_and_gradients() -> None:
    def f(pair: Any) -> Any:
        return {"sum": pair[0] + pair[1], "product": pair[0] * pair[1]}

    def g(x: Any, y: Any) -> Any:
        value, move = gt.jvp(f, ((x, y),), ((gt.cos(x), gt.sin(y)),))
        _, pull = gt.vjp(f, (x, y))
        return value, move, pull({"sum": x, "product": y})[0]

    args = gt.constant(X), gt.constant(2.0 * X)
    assert_close(gt.function(g)(*args), g(*args))


def test_has_aux_and_argnums() -> None:
    def f(x: Any, y: Any) -> Any:
        return gt.reduce_sum(x * y * y), x + y

    def g(x: Any, y: Any) -> Any:
        return gt.value_and_grad(f, (0, 1), has_aux=True)(x, y)

    args = gt.constant(X), gt.constant(2.0 * X)
    assert_close(gt.function(g)(*args), g(*args))


# --- Maps -----------------------------------------------------------------------------


ROWS = {
    "a mask": lambda row: gt.reduce_sum(row[row > 0.25]),
    "a matrix function": lambda row: gt.linalg.inv(
        gt.eye(3, dtype=gt.float64) + gt.expand_dims(row, 0) * 0.1
    ),
    "unique": lambda row: gt.reduce_sum(gt.unique(gt.round(row))[0]),
    "sorted": lambda row: gt.sort(row),
    "a condition": lambda row: row * 2.0 if row[0] > 0.5 else -row,
    "an index": lambda row: gt.gather(row, gt.argmax(row)),
    "items": lambda row: assigned(row),
    "a nested map": lambda row: gt.vectorized_map(
        lambda v: gt.reduce_sum(gt.sin(row * v)), row
    ),
    "einsum": lambda row: gt.einsum("i,j->ij", row, gt.cos(row)),
    "convolution": lambda row: gt.nn.conv1d(
        gt.reshape(row, [1, 3, 1]), gt.ones([2, 1, 1], gt.float64), 1, "VALID"
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_maps(name: str) -> None:
    f = ROWS[name]
    traced = gt.function(lambda x: gt.vectorized_map(f, x))
    of_trace = gt.function(f)
    for rows in (2, 3, 7):
        x = gt.constant(np.resize(np.cos(np.arange(1.0, 12.0)), (rows, 3)))
        wanted = np.stack([np.asarray(f(row)) for row in x])
        for found in (
            gt.vectorized_map(f, x),
            traced(x),
            gt.vectorized_map(of_trace, x),
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert traced.trace_count == 2


def test_maps_of_several_tensors_and_structures() -> None:
    def f(item: Any) -> Any:
        return {"a": item[0] * item[1]["b"], "c": gt.reduce_sum(item[0])}

    def g(x: Any, y: Any) -> Any:
        return gt.vectorized_map(f, (x, {"b": y}))

    args = gt.constant(X), gt.constant([2.0, 3.0], gt.float64)
    assert_close(gt.function(g)(*args), g(*args))


def test_a_map_reads_and_assigns_to_variables() -> None:
    v = gt.Variable(2.0, dtype=gt.float64)

    def f(x: Any) -> Any:
        y = gt.vectorized_map(lambda row: row * v, x)
        v.assign_add(1.0)
        return y

    x = gt.constant(X)
    traced = gt.function(f)
    np.testing.assert_allclose(traced(x), 2.0 * X)
    np.testing.assert_allclose(traced(x), 3.0 * X)
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(traced(x))
    np.testing.assert_allclose(tape.gradient(y, v), np.sum(X))


# --- NaN times nothing ----------------------------------------------------------------


def slope_and_curvature(x: Any) -> Any:
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = gt.reduce_sum(gt.where(x > 0.0, gt.sqrt(x), 0.0) * x)
        slope = inner.gradient(y, x)
    return slope, outer.gradient(slope, x)


def test_second_derivatives_where_the_first_has_masked_a_nan():
    x = gt.constant([0.0, 4.0], dtype="float64")  # x ** 1.5
    for f in (slope_and_curvature, gt.function(slope_and_curvature)):
        slope, curvature = f(x)
        np.testing.assert_allclose(slope.numpy(), [0.0, 3.0], rtol=1e-15)
        np.testing.assert_allclose(curvature.numpy(), [0.0, 0.375], rtol=1e-15)
