"""`GradientTape.jacobian` and `batch_jacobian`, line by line.

Each test carries the code of its line. Defects of TensorFlow (X5 to X8) are not
copied: the test holds the right behavior.
"""

import numpy as np
import pytest

import gtape as gt
from tests.reference.content import near

# ---- 2.4 jacobian and batch_jacobian --------------------------------------------


def test_g29_jacobian_vector(v):
    with gt.GradientTape() as tape:
        y = v * v
    near(tape.jacobian(y, v), np.diag([2.0, 4.0, 6.0]))


def test_g29_jacobian_scalar(x):
    with gt.GradientTape() as tape:
        y = x * x
    j = tape.jacobian(y, x)
    assert j.shape == ()
    assert j.numpy() == 4.0


def test_g29_jacobian_matrix(m):
    with gt.GradientTape() as tape:
        y = m @ m
    j = tape.jacobian(y, m)
    a, eye = m.numpy(), np.eye(2)
    expected = np.einsum("ik,lj->ijkl", eye, a) + np.einsum("ik,jl->ijkl", a, eye)
    assert j.shape == (2, 2, 2, 2)
    near(j, expected)


def test_g29_jacobian_of_a_sum_and_structured_sources(v, x):
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(v) * x
    j = tape.jacobian(y, {"v": v, "x": [x]})
    assert j["v"].shape == (3,)
    near(j["v"], [2.0, 2.0, 2.0])
    near(j["x"][0], 6.0)


def test_g29_jacobian_of_a_list_is_refused(v):
    with gt.GradientTape() as tape:
        y = v * v
    with pytest.raises(TypeError, match="target"):
        tape.jacobian([y, y], v)


def test_g30_unconnected_jacobian(v):
    u = gt.Variable([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
    assert tape.jacobian(y, u) is None
    j = tape.jacobian(y, u, unconnected_gradients="zero")
    assert j.shape == (3, 2)
    assert not j.numpy().any()


def test_g31_without_pfor_on_a_persistent_tape(v):
    with gt.GradientTape(persistent=True) as tape:
        y = v * v
    j = tape.jacobian(y, v, parallel_iterations=2, experimental_use_pfor=False)
    near(j, np.diag([2.0, 4.0, 6.0]))


def test_g32_hessian(v):
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.reduce_sum(v**3)
        g = inner.gradient(y, v)
    near(outer.jacobian(g, v), np.diag([6.0, 12.0, 18.0]))


def test_g33_jacobian_again_and_again(v):
    for _ in range(20):
        with gt.GradientTape() as tape:
            y = v * v
        near(tape.jacobian(y, v), np.diag([2.0, 4.0, 6.0]))


@pytest.mark.parametrize("pfor", [True, False])
def test_g34_batch_jacobian(m, pfor):
    with gt.GradientTape(persistent=True) as tape:
        y = m * m
    j = tape.batch_jacobian(y, m, experimental_use_pfor=pfor)
    near(j, [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]])


def test_g34_batch_jacobian_of_higher_rank():
    u = gt.Variable(np.arange(24.0).reshape(2, 3, 4))
    with gt.GradientTape() as tape:
        y = gt.reduce_sum(u * u, axis=2)
    j = tape.batch_jacobian(y, u)
    assert j.shape == (2, 3, 3, 4)
    near(j, np.einsum("bik,ij->bijk", 2 * u.numpy(), np.eye(3)))


def test_g34_first_dimensions_must_agree(m):
    with gt.GradientTape() as tape:
        y = gt.concat([m, m[:1]], axis=0)
    with pytest.raises(ValueError, match=r"(?s)3.*2"):
        tape.batch_jacobian(y, m)


def test_g34_rank_one_is_refused(v):
    with gt.GradientTape() as tape:
        y = v * v
    with pytest.raises(ValueError, match=r"(?i)rank|dimension"):
        tape.batch_jacobian(y, v)


@pytest.mark.parametrize("option", ["none", "zero"])
def test_g34_unconnected_batch_jacobian_is_zero(m, option):
    u = gt.Variable(np.ones((2, 3), np.float32))
    with gt.GradientTape() as tape:
        y = m * m
    j = tape.batch_jacobian(y, u, unconnected_gradients=option)
    assert j.shape == (2, 2, 3)
    assert not j.numpy().any()


def test_g34_list_of_sources_is_refused(m):
    with gt.GradientTape() as tape:
        y = m * m
    with pytest.raises((TypeError, ValueError), match=r"(?i)source"):
        tape.batch_jacobian(y, [m])


def test_g35_jacobian_of_gather_is_dense(v):
    with gt.GradientTape() as tape:
        y = gt.gather(v, [2, 0, 2]) * 2.0
    expected = [[0.0, 0.0, 2.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    near(tape.jacobian(y, v), expected)
