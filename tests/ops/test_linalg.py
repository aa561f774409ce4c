"""Products of matrices and vectors: shapes, dtypes, refusals."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import DTypeError, ShapeError
from gtape.ops.linalg import kron, matmul, matvec, outer, vecdot
from gtape.testing import check_grads

RNG = np.random.default_rng(3)


def test_half_precision_sums_in_float32():
    ones = gt.cast(np.ones((1, 4096)), gt.float16)
    found = matmul(ones, ones, transpose_b=True)
    assert found.dtype == "float16"
    assert float(found.numpy()[0, 0]) == 4096
    found = matmul(gt.cast(ones, gt.bfloat16), gt.cast(ones, gt.bfloat16), False, True)
    assert found.dtype == "bfloat16"
    assert float(found.numpy()[0, 0]) == 4096


def test_weights_shared_by_a_batch():
    x, w = RNG.normal(size=(5, 2, 3)), gt.Variable(RNG.normal(size=(3, 4)))
    with gt.GradientTape() as tape:
        y = matmul(x, w)
    wanted = np.einsum("bij,bik->jk", x, np.ones((5, 2, 4)))
    np.testing.assert_allclose(tape.gradient(y, w).numpy(), wanted)


def test_strided_operands():
    x = RNG.normal(size=(4, 3, 6))
    for view in (x[:, ::2, ::2], x[::-1], np.swapaxes(x, 0, 1)):
        w = RNG.normal(size=(view.shape[-1], 2))
        np.testing.assert_allclose(matmul(view, w).numpy(), view @ w)


def test_python_lists_adapt():
    wide = np.array([[0.1, 0.2]])
    assert matvec(wide, [1, 2]).dtype == "float64"
    np.testing.assert_array_equal(matvec(wide, [0.1, 0.2]).numpy(), wide @ [0.1, 0.2])
    assert kron([1, 2], [3]).dtype == "int32"
    assert outer([1, 2], [0.5]).dtype == "float32"


@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (4,)), ((), (2,)), ((2, 2, 2), (3, 3)), ((2,), (3,))]
)
def test_kron_and_outer_of_other_ranks(left, right):
    x, y = RNG.normal(size=left), RNG.normal(size=right)
    np.testing.assert_allclose(kron(x, y).numpy(), np.kron(x, y))
    np.testing.assert_allclose(outer(x, y).numpy(), np.outer(x, y))
    check_grads(kron, x, y)


def test_vecdot_axes():
    x, y = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 1))
    found = vecdot(x, y, axis=-2).numpy()
    np.testing.assert_allclose(found, (x * y).sum(-2))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: matmul(np.ones((2, 3)), np.ones((4, 2))),
            ShapeError,
            r"inner sizes differ, \(2, 3\) @ \(4, 2\)",
        ),
        (lambda: matmul([1.0], [[1.0]]), ShapeError, "rank 2 or more"),
        (
            lambda: matmul(np.ones((2, 3, 3)), np.ones((4, 3, 3))),
            ShapeError,
            r"\(2, 3, 3\) and \(4, 3, 3\) do not broadcast",
        ),
        (
            lambda: matmul([[True]], [[True]]),
            DTypeError,
            "matmul: bool is not a number",
        ),
        (lambda: matmul([1.0], [[1.0]], transpose_a=True), ShapeError, "transposed"),
        (lambda: matvec([[True]], [True]), DTypeError, "matvec: bool is not a number"),
        (lambda: matvec([1.0], [1.0]), ShapeError, "a must have rank 2"),
        (lambda: matvec([[1.0]], 1.0), ShapeError, "b must have rank 1"),
        (
            lambda: matvec(np.ones((2, 3)), np.ones(2)),
            ShapeError,
            r"shape \(2, 3\) and a vector of shape \(2,\) differ in size, 3 against 2",
        ),
        (
            lambda: vecdot(np.ones((2, 3)), np.ones(2)),
            ShapeError,
            r"\(2, 3\) and \(2,\) differ along axis -1",
        ),
        (lambda: vecdot(1.0, [1.0]), ShapeError, "vecdot: axis -1"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
