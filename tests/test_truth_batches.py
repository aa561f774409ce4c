"""Maps in maps, jacobians in maps, and what a tape sees of an element of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gtape as gt

SQUARE = np.random.default_rng(0).normal(size=(6, 6))  # equal sizes mix up silently


def mapped(f: Any, elems: Any) -> Any:
    return gt.vectorized_map(f, gt.constant(elems)).numpy()


def test_a_map_in_a_map_reads_the_outer_element() -> None:
    found = mapped(
        lambda x: gt.vectorized_map(lambda y: gt.reduce_sum(x * y), SQUARE), SQUARE
    )
    np.testing.assert_allclose(found, SQUARE @ SQUARE.T)
    found = mapped(lambda x: gt.vectorized_map(lambda _: x * x, SQUARE), SQUARE)
    np.testing.assert_allclose(found, np.repeat((SQUARE**2)[:, None], 6, axis=1))
    found = mapped(lambda x: gt.vectorized_map(lambda _: x, SQUARE[:2]), SQUARE)
    np.testing.assert_allclose(found, np.repeat(SQUARE[:, None], 2, axis=1))


def test_three_maps_and_the_gradient_through_them() -> None:
    x = gt.constant(SQUARE[0])

    def cube(a: Any) -> Any:
        inner = lambda b: gt.vectorized_map(lambda c: a * b * c, x)  # noqa: E731
        return gt.vectorized_map(inner, x)

    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.vectorized_map(cube, x)
        total = gt.reduce_sum(y)
    np.testing.assert_allclose(
        y.numpy(), np.einsum("i,j,k", SQUARE[0], SQUARE[0], SQUARE[0])
    )
    wanted = np.full(6, 3 * SQUARE[0].sum() ** 2)
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), wanted)


def test_an_inner_tape_watches_the_outer_element() -> None:
    def outer(x: Any) -> Any:
        def inner(y: Any) -> Any:
            with gt.GradientTape() as tape:
                tape.watch(x)
                z = gt.reduce_sum(x * x * y)
            return tape.gradient(z, x)

        return gt.vectorized_map(inner, SQUARE)

    wanted = 2 * SQUARE[:, None] * SQUARE[None]
    np.testing.assert_allclose(mapped(outer, SQUARE), wanted)


@pytest.mark.parametrize("rows", [2, 4, 5, 6])
def test_jacobians_in_a_map(rows: int) -> None:
    def jacobian(x: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = x * x * gt.reduce_sum(x)
        return tape.jacobian(y, x)

    x = SQUARE[:, :rows]
    wanted = [np.diag(2 * v * v.sum()) + np.outer(v * v, np.ones(rows)) for v in x]
    np.testing.assert_allclose(mapped(jacobian, x), wanted)
    hessian = gt.hessian(lambda v: gt.reduce_sum(v * v * v))
    np.testing.assert_allclose(mapped(hessian, x), [np.diag(6 * v) for v in x])


def test_batch_jacobian_in_a_map() -> None:
    def f(x: Any) -> Any:
        m = gt.reshape(x, (1, 6))
        with gt.GradientTape() as tape:
            tape.watch(m)
            y = m * m
        return tape.batch_jacobian(y, m)[0]

    np.testing.assert_allclose(mapped(f, SQUARE), [np.diag(2 * v) for v in SQUARE])


def test_a_tape_in_a_map_sees_casts() -> None:
    narrow, wide = SQUARE[0].astype("float32"), gt.constant(3.0, dtype="float64")
    found = mapped(gt.grad(lambda x: x * wide * x), narrow)
    np.testing.assert_allclose(found, 6 * narrow, rtol=1e-6)
    found = mapped(lambda x: gt.jvp(lambda v: v * wide, (x,), (x,))[1], narrow)
    np.testing.assert_allclose(found, 3 * narrow, rtol=1e-6)

    def norm(z: Any) -> Any:
        with gt.GradientTape() as tape:
            tape.watch(z)
            y = z * gt.math.real(z)
        return tape.gradient(y, z)

    numbers = gt.constant(SQUARE[:3] + 1j * SQUARE[3:])
    wanted = [norm(z).numpy() for z in numbers]
    np.testing.assert_allclose(gt.vectorized_map(norm, numbers).numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tape_in_a_map_sees_variables(dtype: str) -> None:
    v = gt.Variable(2.0, dtype=dtype)
    rules = {
        "operand": (lambda x: x * v * v, lambda x: 4 * x),
        "alone": (lambda x: gt.square(v) * gt.cast(x, dtype), lambda x: 4 * x),
        "read": (lambda x: x * v.read_value(), lambda x: x),
        "listed": (lambda x: gt.reduce_sum([v, v * x]) * x, lambda x: x + x * x),
    }
    for f, wanted in rules.values():

        def gradient(x: Any, f: Any = f) -> Any:
            with gt.GradientTape() as tape:
                y = f(x)
            return tape.gradient(y, v)

        found = mapped(gradient, SQUARE[0])
        np.testing.assert_allclose(found, wanted(SQUARE[0]), rtol=1e-6)


def test_an_index_out_of_range_in_a_map_says_which() -> None:
    for f in (lambda i: gt.gather([1.0, 2.0, 3.0], i), lambda i: gt.ones(3)[i]):
        with pytest.raises(gt.errors.IndexRangeError, match=r"7 is out of .* axis 0 "):
            mapped(f, [0, 1, 7])


def test_each_element_of_maps_in_maps_draws_its_own_numbers() -> None:
    def draw(_: Any) -> Any:
        return gt.vectorized_map(lambda _: gt.random.normal(()), gt.ones(3))

    assert len(set(mapped(draw, np.ones(4)).ravel())) == 12
