"""sort, argsort and top_k: NaN, ties and gradients."""

import numpy as np
import pytest

import gtape as gt

NAN, INF = np.nan, np.inf
DTYPES = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_is_the_greatest(dtype):
    x = gt.cast([3.0, NAN, -INF, 1.0, NAN, INF], dtype)
    up, down = gt.sort(x), gt.sort(x, direction="DESCENDING")
    ascending = [-INF, 1.0, 3.0, INF, NAN, NAN]
    np.testing.assert_array_equal(gt.cast(up, gt.float64).numpy(), ascending)
    np.testing.assert_array_equal(gt.cast(down, gt.float64).numpy(), ascending[::-1])
    assert up.dtype == down.dtype == x.dtype
    assert gt.argsort(x).numpy().tolist() == [2, 3, 0, 5, 1, 4]
    assert gt.argsort(x, direction="DESCENDING").numpy().tolist() == [1, 4, 5, 0, 3, 2]
    assert gt.top_k(x, 3).indices.numpy().tolist() == [1, 4, 5]


def test_equal_elements_keep_their_order():
    x = [2, 1, 2, 1, 2]
    assert gt.argsort(x).numpy().tolist() == [1, 3, 0, 2, 4]
    down = gt.argsort(x, direction="descending", stable=True)
    assert down.numpy().tolist() == [0, 2, 4, 1, 3]
    assert gt.top_k(x, 2).indices.numpy().tolist() == [0, 2]


def test_unsigned_and_extreme_integers():
    x = np.array([0, 255, 7], np.uint8)
    assert gt.sort(x, direction="DESCENDING").numpy().tolist() == [255, 7, 0]
    least = np.iinfo(np.int64).min
    order = gt.argsort(np.array([least, 0, 5]), direction="DESCENDING")
    assert order.numpy().tolist() == [2, 1, 0]


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_top_k_of_many(rng, k, dtype):
    x = rng.integers(0, 9, (4, 300)).astype(np.float64)
    x[0, 5:9] = x[1, ::2] = NAN
    x[2] = 4.0
    values, indices = gt.top_k(gt.cast(x, dtype), k)
    key = np.where(np.isnan(x), INF, x)
    order = np.argsort(-key, axis=-1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices.numpy(), order)
    wanted = np.take_along_axis(x, order, -1)
    np.testing.assert_array_equal(gt.cast(values, gt.float64).numpy(), wanted)


def test_gradients_of_ties_follow_the_stable_order():
    v = gt.Variable([2.0, 1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        up = gt.sort(v) * [1.0, 10.0, 100.0]
        best = gt.top_k(v, 1).values * 7.0
        order = gt.cast(gt.argsort(v), gt.float32)
    assert tape.gradient(up, v).numpy().tolist() == [10.0, 1.0, 100.0]
    assert tape.gradient(best, v).numpy().tolist() == [7.0, 0.0, 0.0]
    assert tape.gradient(order, v) is None


def test_top_k_names_its_parts():
    best = gt.top_k([3.0, 1.0, 2.0], k=2, sorted=False)
    assert best.values is best[0]
    assert best.indices.dtype == gt.int32
    assert gt.top_k([[1.0], [2.0]]).values.shape == (2, 1)


def test_in_top_k():
    x = [[1.0, 3.0, 3.0, 0.0], [NAN, 2.0, 1.0, INF]]
    assert gt.in_top_k([2, 1], x, 1).numpy().tolist() == [True, False]
    assert gt.in_top_k([0, 1], x, 2).numpy().tolist() == [False, True]
    assert gt.in_top_k([3, 3], x, 4).numpy().tolist() == [True, False]
    assert gt.in_top_k([3, 0], x, 4).numpy().tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gt.sort(1.0), r"sort: axis -1 .*rank 0"),
        (lambda: gt.sort([1.0], axis=1), r"sort: axis 1 .*rank 1"),
        (lambda: gt.sort([1.0], direction="UP"), r"'UP'.*ASCENDING, DESCENDING"),
        (lambda: gt.argsort([1.0], direction=1), r"direction 1"),
        (lambda: gt.argsort([[1.0]], axis=-3), r"argsort: axis -3"),
        (lambda: gt.top_k([1.0], 2), r"top_k: k 2 of 1"),
        (lambda: gt.top_k([1.0], -1), r"top_k: k -1"),
        (lambda: gt.top_k(1.0), r"top_k: .*rank 1"),
        (lambda: gt.in_top_k([0], [1.0], 1), r"in_top_k: .*\(1,\).*\(1,\)"),
    ],
)
def test_bad_values(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: gt.sort([1j]),
        lambda: gt.argsort([1j]),
        lambda: gt.top_k([1j]),
        lambda: gt.top_k([1.0], 0.5),
        lambda: gt.sort("a"),
        lambda: gt.sort(None),
        lambda: gt.in_top_k([0.5], [[1.0]], 1),
        lambda: gt.sort([1.0], axis=0.0),
    ],
)
def test_bad_types(call):
    with pytest.raises(TypeError, match=r"sort|top_k|tensor"):
        call()
