"""`check_grads` and `assert_close`: what they accept, and what they find."""

from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentError, CheckError, GradientCheckError, GtapeError
from gtape.testing import assert_close, check_grads

# --- Gradients ------------------------------------------------------------------------


def wrong_once(x: Any) -> Any:
    return x * gt.stop_gradient(x)


@gt.custom_gradient
def wrong_twice(x: Any) -> Any:
    """The first derivative is right, and a constant for the second."""
    return gt.exp(x), lambda g: g * gt.stop_gradient(gt.exp(x))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_right_gradients_pass(mode: str) -> None:
    check_grads(lambda x: gt.exp(x) * x, np.array([0.5, -1.0]), modes=(mode,))
    check_grads(lambda x, y: [x @ y, {"k": x}], np.eye(2), np.ones((2, 3)))
    check_grads(lambda z: gt.abs(z * z), 1 + 2j, modes=(mode,))
    check_grads(lambda z: gt.exp(z), np.array([1 - 1j, 2j]), modes=(mode,))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_wrong_gradients_are_found(mode: str) -> None:
    with pytest.raises(
        GradientCheckError, match="of order 1 by argument 0 is"
    ) as found:
        check_grads(wrong_once, 3.0, modes=(mode,))
    assert isinstance(found.value, AssertionError)
    assert isinstance(found.value, GtapeError)


def test_the_second_order_is_checked() -> None:
    check_grads(wrong_twice, 0.5, order=1)
    with pytest.raises(GradientCheckError, match="order 2 by argument 0"):
        check_grads(wrong_twice, 0.5)


def test_both_numbers_and_the_place_in_the_structure_are_named() -> None:
    structure = {"a": [1.0, np.array([2.0, 3.0])]}
    with pytest.raises(GradientCheckError) as found:
        check_grads(lambda s: s["a"][0] + wrong_once(s["a"][1]), structure)
    text = str(found.value)
    assert "argument 0['a'][1]" in text
    assert "central differences give" in text
    assert "test_testing.py" in text


def test_constants_are_passed_on() -> None:
    def f(x: Any, n: Any, name: str, nothing: None) -> Any:
        assert (type(n), name, nothing) == (int, "text", None)
        return x**n

    check_grads(f, 1.5, 3, "text", None)
    check_grads(lambda x, i: x[i], np.arange(4.0), np.array([1, 1]))


def test_arguments_are_varied_in_float64() -> None:
    def f(x: Any) -> Any:
        assert x.dtype == "float64"
        return x * x

    check_grads(f, gt.constant([1.0, 2.0]), order=1)
    check_grads(f, gt.Variable(1.0), order=1)
    check_grads(f, np.float16(1.0), order=1)


def test_tolerances() -> None:
    def slightly_wrong(x: Any) -> Any:
        return x * x + 1e-3 * (x - gt.stop_gradient(x)) * gt.stop_gradient(x)

    with pytest.raises(GradientCheckError):
        check_grads(lambda x: slightly_wrong(gt.stop_gradient(x) * 0.1 + x), 1.0)
    check_grads(lambda x: wrong_once(x), 1.0, atol=10.0)
    check_grads(lambda x: wrong_once(x), 1.0, rtol=1.0)


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no argument is floating-point"):
        check_grads(lambda x: x, 1)
    with pytest.raises(ArgumentError, match="returns nothing that has a gradient"):
        check_grads(lambda x: x > 0, 1.0)
    with pytest.raises(ArgumentError, match="mode 'backward' is unknown"):
        check_grads(lambda x: x, 1.0, modes=("backward",))


def test_a_target_that_does_not_depend_on_an_argument() -> None:
    check_grads(lambda x, y: x * 2.0, 1.0, np.ones(3))


# --- Values ---------------------------------------------------------------------------


def test_close_values_pass() -> None:
    nan, inf = float("nan"), float("inf")
    assert_close(gt.constant([1.0, nan, inf]), [1.0, nan, inf])
    assert_close({"a": [gt.sqrt(4.0)], "b": None}, {"b": None, "a": [2]})
    assert_close(gt.Variable([1, 2]), np.array([1, 2]))
    assert_close(np.float16(1.001), 1.0)
    assert_close(np.zeros((0, 3)), np.zeros((0, 3)))
    assert_close(1 + 1j, np.complex64(1 + 1j))


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.1]), "2.0 against 2.1 at [1]; 1 of 2"),
        (np.zeros(2), np.zeros((1, 2)), "shape (2,) against (1, 2)"),
        (np.float64(1), float("nan"), "1.0 against nan"),
        ([1.0, None], [1.0, 2.0], "entry [1]: None against 2.0: one is None"),
        ({"a": [np.int32(3)]}, {"a": [4]}, "entry ['a'][0]: 3 against 4"),
        (np.int64(2**53), np.int64(2**53 + 1), "9007199254740992 against"),
    ],
)
def test_differences_are_told(actual: Any, expected: Any, words: str) -> None:
    with pytest.raises(CheckError) as found:
        assert_close(actual, expected)
    assert words in str(found.value)
    assert isinstance(found.value, AssertionError)


def test_other_structures_are_refused() -> None:
    with pytest.raises(ArgumentError, match="assert_close"):
        assert_close([1.0, 2.0], [1.0])


def test_the_message_comes_first() -> None:
    with pytest.raises(CheckError, match=r"^weights: 1\.0 against 2\.0"):
        assert_close(np.float64(1), 2.0, message="weights")
