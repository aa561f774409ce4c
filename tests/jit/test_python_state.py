"""Python state that code of gtape reads while it is traced: a change is noticed."""

import numpy as np
import pytest

import gtape as gt


class Holder(gt.Module):
    """A module whose variables the function sums up."""

    def __init__(self):
        super().__init__()
        self.first = gt.Variable(2.0)
        self.more = []
        self.calls = 0

    def total(self):
        out = gt.constant(0.0)
        for v in self.trainable_variables:
            out = out + v
        return out


def test_what_a_module_holds_may_change():
    m = Holder()
    total = gt.function(lambda: m.total())
    assert total().numpy() == 2.0
    m.second = gt.Variable(5.0)
    assert total().numpy() == 7.0
    m.more.append(Holder())
    assert total().numpy() == 9.0
    m.more[0].more.append({"v": gt.Variable(1.0)})
    assert total().numpy() == 10.0
    m.more[0].more[0]["v"] = gt.Variable(3.0)
    assert total().numpy() == 12.0
    del m.second
    assert total().numpy() == 7.0
    assert total.trace_count == 6
    total()
    assert total.trace_count == 6


def test_other_attributes_of_a_module_may_change_freely():
    m = Holder()
    variables = gt.function(lambda: m.variables[0] * 1.0)
    variables()
    for _ in range(3):
        m.calls += 1
        m.last = (1, 2)
        m.notes = ["a"]
        assert variables().numpy() == 2.0
    assert variables.trace_count == 1


def test_the_default_float_may_change():
    f = gt.function(lambda: gt.constant(1.0) * 2.0)
    assert f().dtype == gt.float32
    gt.set_default_float("float64")
    try:
        assert f().dtype == gt.float64
    finally:
        gt.set_default_float("float32")
    assert f().dtype == gt.float32
    assert f.trace_count == 2
    assert "gt.default_float() is another object" in f.explain()


def test_an_array_that_is_assigned_is_read_by_every_call():
    array = np.array([1.0, 2.0])
    v = gt.Variable([0.0, 0.0])
    f = gt.function(lambda: v.assign(array))
    for value in (1.0, 5.0):
        array[0] = value
        f()
        assert v.numpy().tolist() == [value, 2.0]
    assert f.trace_count == 1


def test_python_values_can_be_assigned():
    v, w = gt.Variable([0.0, 0.0]), gt.Variable(0)

    @gt.function
    def f(n):
        v.assign([1.0, 2.0])
        v.assign_add([0.5, 0.5])
        v[0].assign(n)
        v[1:].assign([7.0])
        w.assign(n)
        return w.assign_add(2)

    for n in (3, 4):
        assert f(n).numpy() == n + 2
        assert v.numpy().tolist() == [n, 7.0]
    assert f.trace_count == 1


def test_arrays_in_another_byte_order():
    array = np.array([1.0, 2.0]).astype(">f8")
    f = gt.function(lambda x: x * array)
    assert f(gt.constant(2.0)).numpy().tolist() == [2.0, 4.0]
    array[0] = 5.0
    assert f(gt.constant(2.0)).numpy().tolist() == [10.0, 4.0]


@pytest.mark.parametrize(
    ("f", "array", "other"),
    [
        (lambda x, a: gt.pad(x, a), [[0, 0], [1, 1]], [[1, 0], [0, 2]]),
        (lambda x, a: gt.reshape(x, a), [3, 2], [6, 1]),
        (lambda x, a: gt.slice(x, a, [1, 1]), [0, 0], [1, 2]),
        (lambda x, a: gt.tile(x, a), [1, 2], [2, 1]),
        (lambda x, a: gt.zeros(a), [1, 2], [2, 3]),
        (lambda x, a: gt.fill(a, 1.5), [1, 2], [2, 3]),
        (lambda x, a: gt.broadcast_to(1.5, a), [1, 2], [2, 3]),
        (lambda x, a: gt.reduce_sum(x, axis=a), [0], [1]),
        (lambda x, a: gt.transpose(x, a), [0, 1], [1, 0]),
        (lambda x, a: gt.roll(x, a, 0), 1, 0),
        (lambda x, a: gt.repeat(x, a, 0), [1, 2], [2, 3]),
        (lambda x, a: gt.split(x, a, 1)[0], [1, 2], [2, 1]),
        (lambda x, a: gt.random.stateless_uniform(a, [1, 2]), [2], [3]),
        (lambda x, a: gt.gather(x, a, axis=1), [0, 1], [2, 0]),
        (lambda x, a: x[a], [0], [1]),
    ],
)
def test_arrays_of_sizes_and_axes_may_change(f, array, other):
    x, array = gt.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array(array)
    traced = gt.function(lambda x: f(x, array))
    for values in (array.copy(), other, other, array.copy()):
        array[...] = values
        found, expected = traced(x).numpy(), f(x, array).numpy()
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    assert traced.trace_count <= 2
