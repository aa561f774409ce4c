"""`IndexedSlices`, and the scatter methods of variables that take it."""

import numpy as np
import pytest

import gtape as gt


def slices(values, indices, dense_shape=None):
    return gt.IndexedSlices(values, indices, dense_shape)


def test_parts():
    s = slices([[1.0, 2.0]], [2], [4, 2])
    assert s.values.numpy().tolist() == [[1.0, 2.0]]
    assert s.indices.numpy().tolist() == [2]
    assert (s.dtype, s.shape, s.dense_shape) == (gt.float32, (4, 2), (4, 2))
    assert slices([[1.0, 2.0]], [2]).shape == (None, 2)
    assert slices([[1.0, 2.0]], [2]).dense_shape is None


def test_text():
    s = gt.IndexedSlices([1.0], [2], dense_shape=[4])
    assert repr(s) == (
        "IndexedSlices(indices=gt.Tensor([2], shape=(1,), dtype=int32), "
        "values=gt.Tensor([1.], shape=(1,), dtype=float32), dense_shape=(4,))"
    )
    assert "dense_shape" not in repr(slices([1.0], [2]))


def test_it_is_an_operand():
    s = slices([1.0, 2.0, 4.0], [2, 0, 2], [4])
    dense = [2.0, 0.0, 5.0, 0.0]
    assert gt.convert_to_tensor(s).numpy().tolist() == dense
    assert (gt.ones(4) + s).numpy().tolist() == [3.0, 1.0, 6.0, 1.0]
    assert (s * 2.0).numpy().tolist() == [4.0, 0.0, 10.0, 0.0]
    assert gt.reduce_sum(s).numpy() == 7.0
    assert s[2].numpy() == 5.0


def test_gradient_by_the_values():
    v = gt.Variable([1.0, 2.0, 4.0])
    with gt.GradientTape() as tape:
        s = slices(v, [2, 0, 2], [4])
        y = gt.reduce_sum(s * [1.0, 10.0, 100.0, 1000.0])
        z = gt.reduce_sum(s.merged().values * [5.0, 7.0])
    assert tape.gradient([y, z], v).numpy().tolist() == [105.0, 8.0, 105.0]


def test_merged():
    s = slices([[1.0], [2.0], [4.0]], [2, 0, 2], [4, 1]).merged()
    assert s.indices.numpy().tolist() == [2, 0]
    assert s.values.numpy().tolist() == [[5.0], [2.0]]
    assert s.shape == (4, 1)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: slices([1.0], [0, 1]), ValueError, r"\(1,\).*\(2,\)"),
        (lambda: slices([1.0], [0], [4, 2]), ValueError, r"slices of shape \(\)"),
        (lambda: slices([1.0], [0.5]), TypeError, r"IndexedSlices: indices"),
        (lambda: slices([1.0], [0]) + 1.0, ValueError, r"dense_shape"),
        (lambda: slices([1.0], [5], [4]) + 1.0, IndexError, r"index 5 .*size 4"),
        (lambda: slices([1.0], [-1], [4]) + 1.0, IndexError, r"index -1 .*size 4"),
        (lambda: slices([[1.0]], [[0]]).merged(), ValueError, r"\(1, 1\)"),
    ],
)
def test_bad_slices(call, error, match):
    with pytest.raises(error, match=match):
        call()


# --- Variables ------------------------------------------------------------------------

METHODS = ["add", "sub", "update", "max", "min", "mul", "div"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("add", [1.0, 9.0, 3.0]),
        ("sub", [1.0, -5.0, 3.0]),
        ("update", [1.0, 4.0, 3.0]),
        ("max", [1.0, 4.0, 3.0]),
        ("min", [1.0, 2.0, 3.0]),
        ("mul", [1.0, 24.0, 3.0]),
        ("div", [1.0, 2.0 / 12.0, 3.0]),
    ],
)
def test_duplicates(how, expected):
    v = gt.Variable([1.0, 2.0, 3.0])
    assert getattr(v, f"scatter_{how}")(slices([3.0, 4.0], [1, 1])) is v
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6)


def test_rows_and_blocks_of_rows():
    v = gt.Variable(np.zeros((3, 2), np.float32))
    v.scatter_add(slices([[[1.0, 2.0]], [[3.0, 4.0]]], [[2], [0]]))
    assert v.numpy().tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]


def test_integers():
    v = gt.Variable([10, 11])
    v.scatter_mul(slices([3], [0])).scatter_div(slices([4], [1]))
    assert v.numpy().tolist() == [30, 2]


def test_negative_is_not_from_the_end():
    for how in METHODS:
        v = gt.Variable([1.0, 2.0])
        with pytest.raises(IndexError, match=rf"scatter_{how}: index -1 .*0 to 1"):
            getattr(v, f"scatter_{how}")(slices([1.0], [-1]))
        assert v.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("how", METHODS)
def test_what_does_not_fit(how):
    scatter = getattr(gt.Variable([[1.0, 2.0]]), f"scatter_{how}")
    with pytest.raises(TypeError, match=rf"scatter_{how}: a list .*IndexedSlices"):
        scatter([1.0])
    with pytest.raises(ValueError, match=rf"scatter_{how}: .*\(1,\).*\(1, 2\)"):
        scatter(slices([1.0], [0]))
    wide = slices(gt.constant([[1.0, 2.0]], dtype=gt.float64), [0])
    with pytest.raises(TypeError, match=rf"scatter_{how}: .*float64.*float32"):
        scatter(wide)


def test_batch_scatter_update():
    v = gt.Variable(np.zeros((2, 2, 3), np.float32))
    v.batch_scatter_update(slices([[[1.0, 1.0, 1.0]], [[2.0, 2.0, 2.0]]], [[1], [0]]))
    assert v.numpy()[:, :, 0].tolist() == [[0.0, 1.0], [2.0, 0.0]]
    with pytest.raises(IndexError, match=r"index 2 .*axis 1 of size 2"):
        v.batch_scatter_update(slices([[[1.0] * 3]] * 2, [[2], [0]]))
    with pytest.raises(ValueError, match=r"\(3, 1\).*\(2, 2, 3\)"):
        v.batch_scatter_update(slices([[[1.0] * 3]] * 3, [[1], [0], [0]]))
    with pytest.raises(TypeError, match=r"IndexedSlices"):
        v.batch_scatter_update(1.0)


def test_assignment_cuts_the_link():
    v, w = gt.Variable([1.0, 2.0]), gt.Variable([3.0])
    with gt.GradientTape() as tape:
        v.scatter_add(slices(w * 2.0, [0]))
        y = gt.reduce_sum(v * v)
    g, none = tape.gradient(y, [v, w])
    assert g.numpy().tolist() == [14.0, 4.0]
    assert none is None


def test_reading_has_gradients():
    v = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(v.sparse_read([1, 1])) + gt.reduce_sum(v.gather_nd([[0, 1]]))
    assert tape.gradient(y, v).numpy().tolist() == [[0.0, 1.0], [2.0, 2.0]]


def test_count_up_to():
    v = gt.Variable(0)
    assert [int(v.count_up_to(2)), int(v.count_up_to(2)), int(v)] == [0, 1, 2]
    with pytest.raises(IndexError, match=r"is 2, and the limit 2"):
        v.count_up_to(2)
    with pytest.raises(TypeError, match=r"float32"):
        gt.Variable(0.0).count_up_to(2)
    with pytest.raises(ValueError, match=r"\(1,\)"):
        gt.Variable([0]).count_up_to(2)
    with pytest.raises(TypeError, match=r"limit"):
        v.count_up_to(2.5)


def test_load():
    assert gt.Variable(1.0).load(2.0).numpy() == 2.0
