"""Random programs against PyTorch found these; each test is one of them, made small."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gtape as gt


@pytest.mark.parametrize("shape", [(0, 0), (2, 0), (0, 2), (3, 0, 2), (0, 2, 2)])
@pytest.mark.parametrize("ord", [1, math.inf])
def test_a_norm_of_matrices_without_elements_is_zero(
    shape: tuple[int, ...], ord: float
) -> None:
    x = gt.constant(np.zeros(shape))
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.linalg.matrix_norm(x, ord)
    np.testing.assert_array_equal(y.numpy(), np.zeros(shape[:-2]))
    assert tape.gradient(y, x).shape == shape


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_greatest_norm_of_vectors_without_elements_is_zero(
    axis: int | None,
) -> None:
    x = np.zeros((2, 0))
    found = gt.norm(x, math.inf, axis=axis).numpy()
    np.testing.assert_array_equal(found, np.zeros(np.sum(x, axis).shape))


def test_the_greatest_norm_keeps_nan() -> None:
    assert np.isnan(gt.norm([1.0, math.nan], math.inf).numpy())


@pytest.mark.parametrize("y", [0.0, 1.0, 2.0, -0.5])
@pytest.mark.parametrize("x", [0.7, 1.0, 3.0])
def test_the_mixed_second_derivatives_of_powers_agree(x: float, y: float) -> None:
    def power(v: Any) -> Any:
        return v[0] ** v[1]

    a, b = x ** (y - 1), math.log(x)
    expected = [
        [y * (y - 1) * x ** (y - 2), a * (1 + y * b)],
        [a * (1 + y * b), x**y * b * b],
    ]
    at = gt.constant([x, y], "float64")
    np.testing.assert_allclose(gt.hessian(power)(at).numpy(), expected, atol=1e-15)
    for row, unit in zip(expected, np.eye(2), strict=True):
        [product] = gt.hvp(power, (at,), (unit,))
        np.testing.assert_allclose(product.numpy(), row, atol=1e-15)


@pytest.mark.parametrize("base", [0.0, -0.0, math.nan, -2.0, math.inf])
def test_the_power_zero_is_constant_in_any_base(base: float) -> None:
    x = gt.constant([base], "float64")
    assert gt.grad(lambda v: gt.reduce_sum(v**0.0))(x).numpy().tolist() == [0.0]
    y = gt.constant(0.0, "float64")
    assert gt.grad(lambda v: gt.reduce_sum(v**y))(x).numpy().tolist() == [0.0]
