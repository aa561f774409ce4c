"""Norms of matrices; those of vectors are tested with `norms`."""

import numpy as np
import pytest

import gtape as gt

M = np.arange(24.0).reshape(2, 3, 4) ** 1.5 - 20.0


@pytest.mark.parametrize("ord", [2, "nuc", "fro", 1, np.inf])
@pytest.mark.parametrize("axis", [(1, 2), (0, 2), (2, 0), (-1, -2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_against_numpy(ord, axis, keepdims):
    got = gt.norm(M, ord, axis, keepdims).numpy()
    want = np.linalg.norm(M, ord, axis, keepdims)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_gradient_of_the_spectral_norm():
    gt.testing.check_grads(lambda x: gt.norm(x, 2, (0, 1)), M[0], order=2)


def test_refuses_an_axis_twice():
    with pytest.raises(gt.errors.ShapeError):
        gt.norm(M, 2, (1, 1))
