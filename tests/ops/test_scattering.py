"""scatter: who gets the gradient of duplicates and ties, and what is refused."""

import numpy as np
import pytest

import gtape as gt
from gtape.testing import check_grads


def gradients(f, *sources):
    variables = [gt.Variable(np.array(s)) for s in sources]
    with gt.GradientTape() as tape:
        y = f(*variables)
    return [g.numpy().tolist() for g in tape.gradient(y, variables)]


def test_update_of_duplicates_takes_the_last():
    base, updates = gradients(
        lambda x, u: (
            gt.tensor_scatter_nd_update(x, [[1], [0], [1]], u) * [1.0, 10.0, 100.0]
        ),
        [1.0, 2.0, 3.0],
        [5.0, 6.0, 7.0],
    )
    assert base == [0.0, 0.0, 100.0]
    assert updates == [0.0, 1.0, 10.0]


@pytest.mark.parametrize(
    ("scatter", "sign"), [(gt.tensor_scatter_nd_max, 1), (gt.tensor_scatter_nd_min, -1)]
)
def test_ties_go_to_the_tensor_then_to_the_first_update(scatter, sign):
    base, updates = gradients(
        lambda x, u: scatter(x, [[0], [1], [1], [2]], u) * [1.0, 10.0, 100.0],
        sign * np.array([5.0, 2.0, 3.0]),
        sign * np.array([5.0, 7.0, 7.0, 1.0]),
    )
    assert base == [1.0, 0.0, 100.0]
    assert updates == [0.0, 10.0, 0.0, 0.0]


def test_nan_wins():
    x = gt.tensor_scatter_nd_max([1.0, np.nan], [[0], [1]], [np.nan, 5.0])
    assert np.isnan(x.numpy()).all()
    base, updates = gradients(
        lambda x, u: gt.tensor_scatter_nd_max(x, [[0], [1]], u) * [1.0, 10.0],
        [1.0, np.nan],
        [np.nan, 5.0],
    )
    assert (base, updates) == ([0.0, 10.0], [1.0, 0.0])


def test_added_duplicates_each_have_the_gradient():
    base, updates = gradients(
        lambda x, u: gt.tensor_scatter_nd_sub(x, [[1], [1]], u) * [1.0, 10.0],
        [1.0, 2.0],
        [5.0, 6.0],
    )
    assert (base, updates) == ([1.0, 10.0], [-10.0, -10.0])


@pytest.mark.parametrize("how", ["add", "update", "max", "min"])
def test_curvature_with_duplicates_in_a_large_tensor(how):
    rng = np.random.default_rng(1)
    places = rng.integers(0, 4, (6, 2))
    scatter = getattr(gt, f"tensor_scatter_nd_{how}")
    x, u = rng.uniform(1, 2, (4, 4, 3)), rng.uniform(1, 2, (6, 3))
    check_grads(lambda x, u: scatter(x, places, u) ** 3, x, u, order=2)


def test_dtype_is_that_of_the_tensor():
    x = gt.constant([1.0, 2.0])
    for scatter in (gt.tensor_scatter_nd_add, gt.tensor_scatter_nd_update):
        assert scatter(x, [[0]], [3]).dtype == gt.float32
        assert scatter(x, [[0]], np.array([3.0])).dtype == gt.float32
        with pytest.raises(TypeError, match=r"tensor_scatter_nd_.*float64.*float32"):
            scatter(x, [[0]], gt.constant([3.0], dtype=gt.float64))
        with pytest.raises(TypeError, match=r"tensor_scatter_nd_.*float32.*int32"):
            scatter(gt.constant([1]), [[0]], [0.5])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gt.scatter_nd([[4]], [1.0], [4]), r"scatter_nd: index 4 .*size 4"),
        (lambda: gt.scatter_nd([[-1]], [1.0], [4]), r"scatter_nd: index -1 .*0 to 3"),
        (
            lambda: gt.tensor_scatter_nd_max(np.ones((2, 3)), [[0, 3]], [1.0]),
            r"tensor_scatter_nd_max: index 3 .*axis 1 of size 3",
        ),
        (
            lambda: gt.tensor_scatter_nd_update(np.ones(2), [[2]], [1.0]),
            r"tensor_scatter_nd_update: index 2 .*axis 0 of size 2",
        ),
    ],
)
def test_out_of_range(call, match):
    with pytest.raises(IndexError, match=match):
        call()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gt.scatter_nd([[0]], [1.0, 2.0], [4]), r"\(2,\).*\(1, 1\).*\(1,\)"),
        (lambda: gt.scatter_nd([[0]], 1.0, [4]), r"updates of shape \(\)"),
        (lambda: gt.scatter_nd([[0, 0]], [1.0], [4]), r"2 axes .*1"),
        (lambda: gt.scatter_nd(0, [1.0], [4]), r"scatter_nd: .*scalar"),
        (lambda: gt.scatter_nd([[0]], [1.0], [-4]), r"scatter_nd: .*negative"),
        (
            lambda: gt.tensor_scatter_nd_update(np.ones((2, 3)), [[0]], [[1.0]]),
            r"\(1, 1\).*\(2, 3\).*\(1, 3\)",
        ),
    ],
)
def test_bad_shapes(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: gt.scatter_nd([[0.5]], [1.0], [4]),
        lambda: gt.scatter_nd([["a"]], [1.0], [4]),
        lambda: gt.tensor_scatter_nd_max([1j], [[0]], [1j]),
        lambda: gt.tensor_scatter_nd_add([1.0], [[0]], None),
    ],
)
def test_bad_types(call):
    with pytest.raises(TypeError, match=r"scatter|index|tensor"):
        call()
