"""NumPy functions on tensors: NumPy's values, and gradients where they exist."""

import numpy as np
import pytest

import gtape as gt
from gtape.ops.common import UFUNCS
from gtape.ops.numpy_functions import FUNCTIONS

A = np.array([[0.3, -1.2, 0.7], [1.5, 0.2, -0.4]])
B = np.array([[1.1, 0.4, -0.6], [0.9, -2.0, 0.5]])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])

CALLS = {
    "sum": (lambda x: np.sum(x, axis=1), A),
    "sum keepdims": (lambda x: np.sum(x, axis=0, keepdims=True), A),
    "mean": (lambda x: np.mean(x), A),
    "prod": (lambda x: np.prod(x, axis=1), A),
    "max": (lambda x: np.max(x, axis=0), A),
    "amin": (lambda x: np.amin(x), A),
    "var": (lambda x: np.var(x, axis=1), A),
    "std": (lambda x: np.std(x), A),
    "cumsum": (lambda x: np.cumsum(x), A),
    "cumsum axis": (lambda x: np.cumsum(x, axis=1), A),
    "cumprod": (lambda x: np.cumprod(x, 0), A),
    "norm": (lambda x: np.linalg.norm(x), A),
    "norm axis": (lambda x: np.linalg.norm(x, axis=1, keepdims=True), A),
    "reshape": (lambda x: np.reshape(x, (3, -1)), A),
    "ravel": (lambda x: np.ravel(x), A),
    "transpose": (lambda x: np.transpose(x, (1, 0)), A),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), A),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), A),
    "squeeze": (lambda x: np.squeeze(x[None]), A),
    "broadcast_to": (lambda x: np.broadcast_to(x, (4, 2, 3)), A),
    "concatenate": (lambda x: np.concatenate([x, B], axis=1), A),
    "stack": (lambda x: np.stack([x, B], axis=-1), A),
    "vstack": (lambda x: np.vstack([x, B[0]]), A),
    "hstack": (lambda x: np.hstack([x, B]), A),
    "tile": (lambda x: np.tile(x, 2), A),
    "tile more": (lambda x: np.tile(x, (2, 1, 3)), A),
    "repeat": (lambda x: np.repeat(x, 2, axis=1), A),
    "repeat flat": (lambda x: np.repeat(x, 2), A),
    "flip": (lambda x: np.flip(x), A),
    "roll": (lambda x: np.roll(x, 2), A),
    "roll axis": (lambda x: np.roll(x, -1, axis=1), A),
    "pad": (lambda x: np.pad(x, 1), A),
    "pad reflect": (lambda x: np.pad(x, ((0, 1), (2, 1)), mode="reflect"), A),
    "sort": (lambda x: np.sort(x, axis=0), A),
    "tril": (lambda x: np.tril(x), A),
    "triu": (lambda x: np.triu(x, 1), A),
    "where": (lambda x: np.where(x > 0, x, B), A),
    "clip": (lambda x: np.clip(x, -0.5, 0.5), A),
    "dot": (lambda x: np.dot(x, B.T), A),
    "inner": (lambda x: np.inner(x, B), A),
    "outer": (lambda x: np.outer(x, B), A),
    "tensordot": (lambda x: np.tensordot(x, B, axes=((1,), (1,))), A),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, B), A),
    "kron": (lambda x: np.kron(x, B), A),
    "matmul": (lambda x: np.matmul(x, B.T), A),
    "matmul vector": (lambda x: np.matmul(x, B[0]), A),
    "inv": (lambda x: np.linalg.inv(x), S),
    "det": (lambda x: np.linalg.det(x), S),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], S),
    "solve": (lambda x: np.linalg.solve(x, S[0]), S),
    "cholesky": (lambda x: np.linalg.cholesky((x + x.T) / 2 if x is S else sym(x)), S),
    "real": (lambda x: np.real(x), A),
    "zeros_like": (lambda x: np.zeros_like(x) + x, A),
    "ones_like": (lambda x: np.ones_like(x) * x, A),
    "shape": (lambda x: np.reshape(x, np.shape(x)[::-1]), A),
    "ndim": (lambda x: np.ndim(x) * x, A),
}


def sym(x):
    return (x + gt.transpose(x)) / 2.0


@pytest.mark.parametrize("name", CALLS)
def test_function_is_recorded(name):
    call, x = CALLS[name]
    got = call(gt.constant(x))
    assert isinstance(got, gt.Tensor)
    want = call(x)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
    assert got.dtype == want.dtype
    gt.testing.check_grads(call, x, order=1)


def test_every_function_of_the_table_is_called_here():
    called = set()
    for function in FUNCTIONS:
        name = function.__name__
        if any(name in call for call in CALLS):
            called.add(function)
    missing = {f.__name__ for f in set(FUNCTIONS) - called}
    assert missing <= {"any", "all", "imag", "min", "amax"}


@pytest.mark.parametrize("ufunc", sorted(UFUNCS, key=lambda u: u.__name__))
def test_ufunc_gives_a_tensor_of_the_same_value(ufunc):
    name = ufunc.__name__
    if name.startswith(("bitwise", "left", "right", "invert")):
        args = [np.array([1, 6, 3]), np.array([2, 1, 2])][: ufunc.nin]
    elif name.startswith("logical"):
        args = [np.array([True, False, True]), np.array([False, False, True])]
        args = args[: ufunc.nin]
    elif name == "matmul":
        args = [A, B.T]
    elif name == "arccosh":
        args = [np.array([1.5, 2.0, 7.0])]
    else:
        args = [np.array([0.3, 0.6, 0.9]), np.array([1.5, 0.7, 2.0])][: ufunc.nin]
    got = ufunc(gt.constant(args[0]), *args[1:])
    assert isinstance(got, gt.Tensor)
    np.testing.assert_allclose(got.numpy(), ufunc(*args), rtol=1e-12)


def test_an_array_on_the_left_gives_a_tensor():
    out = np.array([1.0, 2.0]) * gt.constant([3.0, 4.0], gt.float64)
    assert isinstance(out, gt.Tensor)
    assert out.numpy().tolist() == [3.0, 8.0]


def test_integers_keep_numpys_answer():
    x = gt.constant([1, 2, 4])
    assert np.mean(x) == 7 / 3
    assert np.sum(x) == 7
    assert np.any(gt.constant([True, False]))
    assert isinstance(np.all(gt.constant([True, False])), gt.Tensor)


def test_unknown_functions_and_arguments_leave_the_tape():
    x = gt.Variable(A)
    with gt.GradientTape(persistent=True) as tape:
        y = gt.constant(1.0, gt.float64) * np.median(x)
        z = gt.constant(np.sum(x, axis=0, where=A > 0)) * 1.0
    assert float(y) == np.median(A)
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x) is None
    assert tape.explain(y, x).reason == "left through NumPy"


def test_out_is_numpys():
    out = np.zeros(2)
    got = np.add(gt.constant([1.0, 2.0], gt.float64), 1.0, out=out)
    assert got is out
    assert out.tolist() == [2.0, 3.0]


def test_dlpack_both_ways():
    x = gt.constant([[1.0, 2.0], [3.0, 4.0]])
    array = np.from_dlpack(x)
    array[0, 0] = 99.0
    assert x.numpy()[0, 0] == 1.0
    back = gt.convert_to_tensor(np.from_dlpack(np.arange(3.0)))
    assert back.numpy().tolist() == [0.0, 1.0, 2.0]


def test_asarray_is_a_read_only_view():
    x = gt.constant([1.0, 2.0])
    view = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 5.0
    copy = np.array(x)
    copy[0] = 5.0
    assert x.numpy()[0] == 1.0
