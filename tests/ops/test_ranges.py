"""Ranges, evenly spaced numbers, codes and grids: what the table cannot say."""

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from gtape.ops.creation import constant
from gtape.ops.ranges import linspace, meshgrid, one_hot, range
from gtape.testing import check_grads


def content(tensor):
    return tensor.numpy().tolist()


# --- range ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "dtype", "expected"),
    [
        ((5,), "int32", [0, 1, 2, 3, 4]),
        ((0,), "int32", []),
        ((2, 5), "int32", [2, 3, 4]),
        ((3, 3), "int32", []),
        ((0, 7, 3), "int32", [0, 3, 6]),
        ((7, 0, -3), "int32", [7, 4, 1]),
        ((2.5,), "float32", [0.0, 1.0, 2.0]),
        ((0, 1, 0.25), "float32", [0.0, 0.25, 0.5, 0.75]),
        ((3.0, 1.0, -0.5), "float32", [3.0, 2.5, 2.0, 1.5]),
        ((np.int64(3),), "int64", [0, 1, 2]),
        ((np.float64(2),), "float64", [0.0, 1.0]),
        ((0, 3, np.uint8(1)), "uint8", [0, 1, 2]),
        ((2**40, 2**40 + 2), "int64", [2**40, 2**40 + 1]),
        ((-(2**63), 2**63 - 1, 2**62), "int64", [-(2**63), -(2**62), 0, 2**62]),
        ((5, -1, -1, "uint8"), "uint8", [5, 4, 3, 2, 1, 0]),
        ((2**64 - 3, 2**64 - 1, 1, "uint64"), "uint64", [2**64 - 3, 2**64 - 2]),
        ((3, None, 1, "float64"), "float64", [0.0, 1.0, 2.0]),
        ((3, None, 1, "bfloat16"), "bfloat16", [0.0, 1.0, 2.0]),
    ],
)
def test_range(args, dtype, expected):
    t = range(*args)
    assert t.dtype == dtype
    assert content(t) == expected


def test_range_of_tensors():
    assert content(range(constant(1), gt.Variable(4))) == [1, 2, 3]


def test_range_of_floats_does_not_drift():
    t = range(0.0, 1000.0, 0.1, dtype="float64").numpy()
    np.testing.assert_array_equal(t, 0.1 * np.arange(10000))


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((5, 0), errors.ArgumentError, "no steps of 1 lead from 5 to 0"),
        ((0, 5, -1), errors.ArgumentError, "no steps of -1"),
        ((0, 5, 0), errors.ArgumentError, "no steps of 0"),
        ((float("nan"),), errors.ArgumentError, "limit is nan"),
        ((0, float("inf")), errors.ArgumentError, "limit is inf"),
        ((0, 1, float("nan")), errors.ArgumentError, "delta is nan"),
        ((1.5, None, 1, "int32"), errors.DTypeError, "int32 cannot hold"),
        ((3, None, 1, "bool"), errors.DTypeError, "bool cannot hold"),
        ((3, None, 1, "complex64"), errors.DTypeError, "complex64 cannot hold"),
        ((True,), errors.ArgumentTypeError, "limit must be a real number, got True"),
        ((0, 1j), errors.ArgumentTypeError, "limit must be a real number, got 1j"),
        (("a",), errors.ArgumentTypeError, "'a'"),
        ((None,), errors.ArgumentTypeError, "None"),
        (([1, 2],), errors.ShapeError, r"limit has shape \(2,\)"),
        ((0, 300, 1, "uint8"), errors.RangeError, "299 is out of the range of uint8"),
        ((-1, 3, 1, "uint8"), errors.RangeError, "-1 is out of the range of uint8"),
        ((10**30,), errors.RangeError, "out of the range of every dtype"),
        ((10**5000,), errors.RangeError, "huge int"),
        ((10**12,), errors.TensorMemoryError, "bytes"),
        ((0.0, 1e300, 1e-300), errors.TensorMemoryError, "bytes"),
    ],
)
def test_range_refuses(args, error, text):
    with pytest.raises(error, match=f"range: .*{text}"):
        range(*args)


# --- linspace -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_linspace_ends_exactly(dtype, rng):
    for _ in [None] * 20:
        a, b = (gt.cast(x, dtype) for x in rng.normal(size=2) * 1000)
        t = linspace(a, b, 11).numpy()
        assert t.dtype == gt.as_dtype(dtype)
        assert t[0] == a.numpy()
        assert t[-1] == b.numpy()


def test_linspace_of_equal_ends_is_constant():
    assert (linspace(0.1, 0.1, 100).numpy() == np.float32(0.1)).all()


def test_linspace_matches_numpy(rng):
    a, b = rng.normal(size=(2, 50))
    t = linspace(a, b, 33, axis=1).numpy()
    np.testing.assert_allclose(t, np.linspace(a, b, 33, axis=1), rtol=0, atol=1e-15)


def test_linspace_in_float16_neither_overflows_nor_coarsens():
    t = linspace(np.float16(-6e4), np.float16(6e4), 3001).numpy()
    expected = np.linspace(-6e4, 6e4, 3001).astype(np.float16)
    np.testing.assert_allclose(
        t.astype(float), expected.astype(float), rtol=1e-3, atol=0.1
    )


def test_linspace_dtypes():
    assert linspace(0, 1, 3).dtype == "float64"
    assert linspace(0, 1.0, 3).dtype == "float32"
    assert linspace(constant(0.0, "float64"), 0.1, 2).numpy()[1] == 0.1
    assert linspace(0.1, constant(1.0, "float64"), 2).numpy()[0] == 0.1
    assert linspace(0.1, constant(1.0, "float16"), 2).dtype == "float16"
    assert linspace([0.0, 1.0], 2.0, 3).shape == (3, 2)


def test_linspace_gradients_are_weights():
    a, b = gt.Variable(1.0), gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = linspace(a, b, 5) * [1.0, 2.0, 3.0, 4.0, 5.0]
    assert [content(g) for g in tape.gradient(y, [a, b])] == [5.0, 10.0]
    check_grads(lambda x, y: linspace(x, y, 4) ** 2, [1.0, 2.0], 3.0)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((0.0, 1.0, -1), errors.ArgumentError, "num -1 is negative"),
        ((0.0, 1.0, 2.5), errors.ArgumentTypeError, "num must be an integer, got 2.5"),
        ((0.0, 1.0, None), errors.ArgumentTypeError, "num .*None"),
        ((0.0, 1.0, 3, 1), errors.ShapeError, "axis 1"),
        (([0.0, 1.0], [1.0, 2.0, 3.0], 3), errors.ShapeError, r"\(2,\) and \(3,\)"),
        ((True, False, 3), errors.DTypeError, "bool is not a number"),
        (("a", 1.0, 3), errors.ArgumentTypeError, "'a'"),
        ((0.0, None, 3), errors.ArgumentTypeError, "None"),
        ((0.0, 1.0, 10**12), errors.TensorMemoryError, "bytes"),
    ],
)
def test_linspace_refuses(args, error, text):
    with pytest.raises(error, match=f"linspace: .*{text}"):
        linspace(*args)


# --- one_hot --------------------------------------------------------------------------


def test_one_hot_places_and_values():
    assert content(one_hot([0, 2], 3)) == [[1, 0, 0], [0, 0, 1]]
    assert content(one_hot([0, 2], 3, axis=0)) == [[1, 0], [0, 0], [0, 1]]
    assert content(one_hot(1, 3)) == [0, 1, 0]
    assert content(one_hot([-1, 3], 3)) == [[0, 0, 0], [0, 0, 0]]
    assert content(one_hot([1], 2, 5.0, -1.0)) == [[-1.0, 5.0]]
    assert content(one_hot([1], 2, on_value=5)) == [[0, 5]]
    assert one_hot([[1, 0]], 3).shape == (1, 2, 3)
    assert one_hot([[1, 0]], 3, axis=1).shape == (1, 3, 2)
    assert one_hot([1], 0).shape == (1, 0)
    assert one_hot([1], constant(2)).shape == (1, 2)


def test_one_hot_dtypes():
    assert one_hot([1], 2).dtype == "float32"
    assert one_hot([1], 2, dtype="int8").dtype == "int8"
    assert one_hot([1], 2, 3, 4).dtype == "int32"
    assert one_hot([1], 2, on_value=constant(1.0, "float16")).dtype == "float16"
    assert content(one_hot([1], 2, dtype=gt.bool)) == [[False, True]]
    assert content(one_hot([1], 2, True, False)) == [[False, True]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_one_hot_of_narrow_and_unsigned_indices(dtype):
    t = one_hot(np.array([100, 0], dtype), 300)
    assert t.numpy().argmax(-1).tolist() == [100, 0]


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        ({"indices": [0.5]}, errors.DTypeError, "indices must be integers, got float"),
        ({"indices": [True]}, errors.DTypeError, "indices must be integers, got bool"),
        ({"depth": -1}, errors.ArgumentError, "depth -1 is negative"),
        ({"depth": 2.5}, errors.ArgumentTypeError, "depth must be an integer"),
        ({"depth": None}, errors.ArgumentTypeError, "depth must be an integer"),
        ({"depth": 10**13}, errors.TensorMemoryError, "bytes"),
        ({"axis": 2}, errors.ShapeError, "axis 2"),
        ({"on_value": [1.0, 2.0]}, errors.ShapeError, r"\[1.0, 2.0\] is not a scalar"),
        ({"on_value": 1.5, "dtype": "int32"}, errors.DTypeError, "1.5"),
        (
            {"off_value": constant(0.0), "dtype": "float64"},
            errors.DTypeError,
            "float64 for a tensor of float32",
        ),
    ],
)
def test_one_hot_refuses(kwargs, error, text):
    with pytest.raises(error, match=f"one_hot: .*{text}"):
        one_hot(**{"indices": [0], "depth": 2, **kwargs})


# --- meshgrid -------------------------------------------------------------------------


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_meshgrid_matches_numpy(count, indexing, rng):
    vectors = [rng.normal(size=n) for n in (2, 3, 1, 4)[:count]]
    grids = meshgrid(*vectors, indexing=indexing)
    wanted = np.meshgrid(*vectors, indexing=indexing)
    assert len(grids) == count
    for grid, expected in zip(grids, wanted, strict=True):
        np.testing.assert_array_equal(grid.numpy(), expected)


def test_meshgrid_of_nothing_and_of_scalars():
    assert meshgrid() == []
    assert [g.shape for g in meshgrid([1, 2], 3)] == [(1, 2), (1, 2)]


def test_meshgrid_refuses():
    with pytest.raises(errors.ShapeError, match=r"meshgrid: argument 1 .*\(1, 1\)"):
        meshgrid([1], [[1]])
    with pytest.raises(errors.ArgumentError, match="meshgrid: indexing 'yx'"):
        meshgrid([1], indexing="yx")
