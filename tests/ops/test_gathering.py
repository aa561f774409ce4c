"""gather and its relatives: shapes, batches, refusals, gradients of repetitions."""

import numpy as np
import pytest

import gtape as gt

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("axis", "batch_dims", "indices", "shape"),
    [
        (None, 0, (5,), (5, 3, 4)),
        (None, 1, (2, 5), (2, 5, 4)),
        (None, 2, (2, 3, 5), (2, 3, 5)),
        (2, 1, (2, 5, 1), (2, 3, 5, 1)),
        (-1, -1, (2, 5), (2, 3, 5)),
        (1, 0, (), (2, 4)),
        (0, 0, (0,), (0, 3, 4)),
    ],
)
def test_gather_shapes(axis, batch_dims, indices, shape):
    places = np.zeros(indices, np.int32)
    assert gt.gather(X, places, axis=axis, batch_dims=batch_dims).shape == shape


def test_gather_of_a_batch_reads_each_row_at_its_own_places():
    y = gt.gather([[1, 2, 3], [4, 5, 6]], [[2, 0], [1, 1]], batch_dims=1)
    assert y.numpy().tolist() == [[3, 1], [5, 5]]


def test_repeated_indices_add_up():
    v = gt.Variable([1.0, 10.0])
    with gt.GradientTape() as outer:
        with gt.GradientTape() as tape:
            picked = gt.gather(v, [0, 1, 0])
            y = gt.reduce_sum(picked * picked * [2.0, 2.0, 3.0])
        g = tape.gradient(y, v)
    assert g.numpy().tolist() == [10.0, 40.0]
    assert outer.gradient(g, v).numpy().tolist() == [10.0, 4.0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_indices_of_every_integer_dtype(dtype):
    places = gt.constant(np.array([2, 0], dtype))
    assert gt.gather([1, 2, 3], places).numpy().tolist() == [3, 1]
    assert gt.constant([1, 2, 3])[places].numpy().tolist() == [3, 1]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gt.gather([1, 2, 3], [0, 3]), r"gather: index 3 .*axis 0 of size 3"),
        (lambda: gt.gather([1, 2, 3], -1), r"gather: index -1 .*0 to 2.*from the end"),
        (lambda: gt.gather(X, [4], axis=-1), r"gather: index 4 .*axis 2 of size 4"),
        (
            lambda: gt.gather(X, [[0], [9]], axis=2, batch_dims=1),
            r"gather: index 9 .*axis 2 of size 4",
        ),
        (lambda: gt.gather(np.zeros((0, 2)), [0]), r"axis 0 of size 0.*empty"),
        (lambda: gt.gather_nd(X, [[1, 3]]), r"gather_nd: index 3 .*axis 1 of size 3"),
        (lambda: gt.gather_nd(X, [[-1]]), r"gather_nd: index -1 .*axis 0 of size 2"),
        (
            lambda: gt.gather_nd(X, [[[0]], [[3]]], batch_dims=1),
            r"gather_nd: index 3 .*axis 1 of size 3",
        ),
        (
            lambda: gt.take_along_axis(X, np.full((2, 1, 4), -4), 1),
            r"take_along_axis: index -4 .*axis 1 of size 3",
        ),
    ],
)
def test_out_of_range(call, match):
    with pytest.raises(IndexError, match=match):
        call()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gt.gather(1.0, [0]), r"gather: axis 0 .*rank 0"),
        (lambda: gt.gather(X, [0], axis=3), r"gather: axis 3 .*rank 3"),
        (lambda: gt.gather(X, [[0]], batch_dims=1), r"\(2, 3, 4\).*\(1, 1\)"),
        (lambda: gt.gather(X, [0, 0], axis=0, batch_dims=1), r"axis 0 .*batch"),
        (lambda: gt.gather(X, [0], batch_dims=2), r"batch_dims 2"),
        (lambda: gt.gather_nd(X, 0), r"gather_nd: .*scalar"),
        (lambda: gt.gather_nd(X, [[0, 0, 0, 0]]), r"gather_nd: .*4 axes .*3"),
        (lambda: gt.gather_nd(X, [0, 0], batch_dims=1), r"gather_nd: 1 batch axes"),
        (lambda: gt.take_along_axis(X, [0], 1), r"take_along_axis: .*\(1,\)"),
        (lambda: gt.boolean_mask(X, True), r"boolean_mask: .*scalar"),
        (lambda: gt.boolean_mask(X, [True]), r"boolean_mask: .*\(1,\).*\(2,\)"),
        (lambda: gt.boolean_mask(X, [True, False], axis=1), r"\(2,\).*\(3,\)"),
    ],
)
def test_bad_shapes(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: gt.gather(X, [0.0]),
        lambda: gt.gather(X, [True]),
        lambda: gt.gather(X, "a"),
        lambda: gt.gather(X, None),
        lambda: gt.gather(X, [0], axis="a"),
        lambda: gt.gather(X, [0], batch_dims=0.5),
        lambda: gt.gather_nd(X, [[0.0]]),
        lambda: gt.boolean_mask(X, [0, 1]),
        lambda: gt.take_along_axis(X, X, 0),
    ],
)
def test_bad_types(call):
    with pytest.raises(TypeError, match=r"gather|boolean_mask|take_along|tensor"):
        call()


def test_empty_lists_are_indices():
    assert gt.gather(X, []).shape == (0, 3, 4)
    assert gt.gather_nd(X, [[]]).shape == (1, 2, 3, 4)
