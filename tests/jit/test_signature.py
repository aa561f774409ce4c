"""`input_signature`: what all calls must fit, and are converted to."""

from typing import NamedTuple

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError

F32, F64, I32 = gt.float32, gt.float64, gt.int32


class Pair(NamedTuple):
    a: object
    b: object


def spec(shape, dtype=F32):
    return gt.TensorSpec(shape, dtype)


def test_one_trace_for_all_sizes():
    @gt.function(input_signature=[spec([None, 2])])
    def f(x):
        return gt.reduce_sum(x, 0) * x.shape[0]

    for n in (3, 1, 0, 2, 7):
        assert f(gt.ones([n, 2])).numpy().tolist() == [n * n, n * n]
    assert f.trace_count == 1
    assert f.input_signature == (spec([None, 2]),)


CONVERTED = {
    "list": ([1, 2], F32, [1.0, 2.0]),
    "tuple": ((1.5, 2.5), F64, [1.5, 2.5]),
    "array of another float": (np.array([1.0, 2.0]), F32, [1.0, 2.0]),
    "array of integers": (np.array([1, 2]), F32, [1.0, 2.0]),
    "range": (range(2), I32, [0, 1]),
    "variable": (gt.Variable([1.0, 2.0]), F32, [1.0, 2.0]),
    "tensor": (gt.constant([1.0, 2.0]), F32, [1.0, 2.0]),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_arguments_are_converted(name):
    value, dtype, expected = CONVERTED[name]
    f = gt.function(lambda x: x, input_signature=[spec([None], dtype)])
    for _ in range(2):
        out = f(value)
        assert out.dtype == dtype
        assert out.numpy().tolist() == expected
    assert f.trace_count == 1


def test_numbers_are_tensors():
    f = gt.function(lambda x: x * 2, input_signature=[spec([], F64)])
    for value in (1, 2.5, np.float32(3.0), gt.constant(4.0, F64)):
        out = f(value)
        assert out.dtype == F64
        assert float(out) == 2 * float(value)
    assert f.trace_count == 1


REFUSED = {
    "rank": (gt.ones([2, 2]), r"shape \(2, 2\)"),
    "size": (gt.ones([3]), r"shape \(3,\)"),
    "dtype of a tensor": (gt.ones([2], F64), "float64"),
    "floats for integers": (gt.ones([2]), "float32"),
    "text": ("text", "does not fit"),
    "none": (None, "does not fit"),
    "ragged": ([[1], [1, 2]], "does not fit"),
    "a dict": ({"a": 1.0}, "does not fit"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_a_type_error(name):
    value, message = REFUSED[name]
    dtype = I32 if name == "floats for integers" else F32
    f = gt.function(lambda x: x, input_signature=[spec([2], dtype)])
    with pytest.raises(TypeError, match=message) as caught:
        f(value)
    assert isinstance(caught.value, ArgumentTypeError)
    assert "input_signature" in str(caught.value)
    assert f.trace_count == 0


def test_nested_signatures():
    @gt.function(
        input_signature=[
            {"x": spec([None]), "pair": (spec([]), spec([], I32))},
            Pair(spec([]), [spec([])]),
        ]
    )
    def f(batch, rest):
        x, (a, b) = batch["x"], batch["pair"]
        return gt.reduce_sum(x) * a + gt.cast(b, F32) + rest.a * rest.b[0]

    for n in (2, 3):
        batch = {"pair": [2.0, 3], "x": np.ones(n)}
        assert float(f(batch, Pair(4.0, [5.0]))) == 2.0 * n + 23.0
    assert f.trace_count == 1
    with pytest.raises(TypeError, match=r"batch\['pair'\]\[1\]"):
        f({"pair": (2.0, gt.constant(3.0)), "x": [1.0]}, Pair(4.0, [5.0]))
    with pytest.raises(TypeError, match="batch"):
        f({"x": [1.0]}, Pair(4.0, [5.0]))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1.0,), {}), ((1.0, 2.0, 3.0), {}), ((1.0,), {"z": 2.0})],
)
def test_too_many_or_too_few_arguments(args, kwargs):
    f = gt.function(lambda x, y: x + y, input_signature=[spec([]), spec([])])
    with pytest.raises(TypeError):
        f(*args, **kwargs)


def test_keywords_and_defaults():
    @gt.function(input_signature=[spec([]), spec([])])
    def f(x, y, scale=2.0):
        return (x + 10.0 * y) * scale

    assert float(f(y=2.0, x=1.0)) == 42.0
    assert float(f(1.0, y=2.0)) == 42.0
    assert f.trace_count == 1


def bad_signatures():
    return [
        (lambda x, y: x, [spec([])], "'y' has neither a spec nor a default"),
        (lambda x: x, [spec([]), spec([])], "2 specs for 1 parameters"),
        (lambda x: x, [F32], "not a TensorSpec"),
        (lambda x: x, [{"a": [1.0]}], "not a TensorSpec"),
        (lambda x: x, spec([]), "not a list or tuple"),
        (lambda *, x: x, [], "'x' has neither a spec nor a default"),
    ]


@pytest.mark.parametrize("case", bad_signatures(), ids=lambda case: case[2])
def test_signatures_that_do_not_fit_the_function(case):
    function, signature, message = case
    with pytest.raises(TypeError, match=message):
        gt.function(function, input_signature=signature)


def test_specs_for_further_positional_arguments():
    f = gt.function(lambda x, *rest: x + rest[0], input_signature=[spec([]), spec([])])
    assert float(f(1.0, 2.0)) == 3.0
    with pytest.raises(TypeError):
        f(1.0)


def test_gradients_by_arguments_that_are_converted():
    f = gt.function(
        lambda x, v: gt.reduce_sum(x * v), input_signature=[spec([None]), spec([])]
    )
    v, x = gt.Variable(2.0), gt.Variable([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        y = f(x, v)
    dx, dv = tape.gradient(y, [x, v])
    assert dx.numpy().tolist() == [2.0, 2.0, 2.0]
    assert float(dv) == 6.0


def test_inside_another_function_arguments_are_converted_too():
    inner = gt.function(lambda x: x * 2, input_signature=[spec([], F64)])
    outer = gt.function(lambda y: inner(3) + inner(2.5) * y)
    assert outer(gt.constant(2.0, F64)).dtype == F64
    assert float(outer(gt.constant(2.0, F64))) == 16.0
    with pytest.raises(TypeError, match="input_signature"):
        gt.function(lambda y: inner(y))(gt.constant(1.0, F32))
