"""Assertions, checks of numbers, and printing."""

import io

import numpy as np
import pytest

import gtape as gt
from gtape import dispatch
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    CheckError,
    DTypeError,
    NumericsError,
    ShapeError,
)
from gtape.ops import debugging
from gtape.ops.printing import print as gt_print

X = [[1.0, 2.0], [3.0, 4.0]]

# --- Assertions about values ----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("assert_equal", ([1, 2], [1, 2]), ([1, 2], 1)),
        ("assert_none_equal", ([1, 2], 3), ([1, 2], 2)),
        ("assert_less", ([1, 2], 3), ([1, 2], 2)),
        ("assert_less_equal", ([1, 2], 2), ([1, 2], 1)),
        ("assert_greater", ([1, 2], 0), ([2, 1], 1)),
        ("assert_greater_equal", ([1, 2], 1), ([2, 1], 2)),
        ("assert_near", ([1.0, 2.0], [1.0, 2.0]), ([1.0, 2.0], 1.0)),
        ("assert_positive", ([1, 2],), ([1, 0],)),
        ("assert_negative", ([-1, -2],), ([-1, 0],)),
        ("assert_non_negative", ([1, 0],), ([1, -1],)),
        ("assert_non_positive", ([-1, 0],), ([0, 1],)),
    ],
)
def test_comparison(name, holds, fails):
    check = getattr(debugging, name)
    assert check(*holds) is None
    assert check(*[gt.constant(v) for v in holds]) is None
    with pytest.raises(CheckError, match=rf"{name}: .* fails for 1 of 2 .* at \[1\]"):
        check(*fails)
    with pytest.raises(AssertionError, match=f"what for: {name}"):
        check(*fails, message="what for")


def test_first_failures_are_shown_with_values():
    with pytest.raises(CheckError) as caught:
        debugging.assert_equal(X, [[1.0, 5.0], [3.0, 9.0]])
    text = (
        "assert_equal: x == y fails for 2 of 4 elements: at [0, 1] x = 2.0, y = 5.0; "
    )
    assert str(caught.value).startswith(text + "at [1, 1] x = 4.0, y = 9.0. At ")
    assert caught.value.origin.function == ("test_first_failures_are_shown_with_values")
    with pytest.raises(CheckError, match="fails for x = 3, y = 2"):
        debugging.assert_less(3, 2)


@pytest.mark.parametrize(("summarize", "shown"), [(None, 3), (1, 1), (-1, 9), (0, 0)])
def test_summarize_says_how_many_are_shown(summarize, shown):
    with pytest.raises(CheckError) as caught:
        debugging.assert_positive(gt.zeros([9]), summarize=summarize)
    assert str(caught.value).count("x = 0.0") == shown
    assert (f"{9 - shown} more" in str(caught.value)) == (shown < 9)


def test_nan_is_neither_equal_nor_near_nor_less():
    for check in (
        debugging.assert_equal,
        debugging.assert_near,
        debugging.assert_less,
        debugging.assert_greater_equal,
    ):
        with pytest.raises(CheckError, match="nan"):
            check([np.nan], [np.nan])


def test_near():
    debugging.assert_near([np.inf, -np.inf], [np.inf, -np.inf])
    debugging.assert_near(gt.constant(1.0), 1.0 + 5e-7)
    debugging.assert_near(1.0, 1.05, rtol=0.1)
    debugging.assert_near(0.0, 0.05, atol=0.1)
    debugging.assert_near(gt.constant([3, 9], dtype="uint8"), [4, 8], atol=1)
    debugging.assert_near([1 + 1j], [1 + 1j])
    debugging.assert_near(gt.constant(1.0, dtype="bfloat16"), 1.0)
    for x, y in ((1.0, 1.0001), (3, 4), (1 + 1j, 1 + 2j)):
        with pytest.raises(CheckError, match="x near y"):
            debugging.assert_near(x, y)
    with pytest.raises(ArgumentError, match="rtol -1"):
        debugging.assert_near(1.0, 1.0, rtol=-1)


def test_finite():
    x = gt.constant(X)
    np.testing.assert_array_equal(debugging.assert_all_finite(x).numpy(), X)
    with pytest.raises(CheckError, match=r"bad: assert_all_finite .* at \[1\] x = inf"):
        debugging.assert_all_finite([1.0, np.inf], "bad")


def test_bad_operands():
    with pytest.raises(ShapeError, match=r"assert_equal: shapes \(2,\) and \(3,\)"):
        debugging.assert_equal([1, 2], [1, 2, 3])
    with pytest.raises(ArgumentTypeError, match="assert_less: x: 'a'"):
        debugging.assert_less("a", 1)
    with pytest.raises(DTypeError, match="complex"):
        debugging.assert_less(1j, 2j)


def test_variables_are_compared_on_a_tape():
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = v * v
        debugging.assert_positive(y)
        debugging.assert_equal(v, [1.0, 2.0])
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


# --- Assertions about shapes and dtypes -----------------------------------------------


def test_other_ranks_and_integers():
    x = gt.ones([2, 3])
    gt.debugging.assert_rank_at_least(x, 2)
    gt.debugging.assert_rank_in(x, (0, 2))
    gt.debugging.assert_integer([1, 2])
    with pytest.raises(AssertionError, match=r"mine: .* rank 3 or more .* 2 of shape"):
        gt.debugging.assert_rank_at_least(x, 3, "mine")
    with pytest.raises(AssertionError, match=r"mine: .*\[0, 1\] is wanted, not 2"):
        gt.debugging.assert_rank_in(x, [0, 1], "mine")
    with pytest.raises(AssertionError, match=r"mine: .* not float32"):
        gt.debugging.assert_integer(x, "mine")


def test_rank_scalar_and_type():
    debugging.assert_rank(X, 2)
    debugging.assert_scalar(1.0)
    debugging.assert_type(gt.constant(1), "int32")
    for call, words in (
        (lambda: debugging.assert_rank(X, 1, "m"), r"m: .* rank 1 .* \(2, 2\)"),
        (lambda: debugging.assert_scalar([1.0]), r"\(1,\)"),
        (lambda: debugging.assert_type(1.0, gt.int32), "int32 is wanted, not float32"),
    ):
        with pytest.raises(CheckError, match=words):
            call()


SHAPED = {"x": gt.zeros([5, 3]), "y": gt.zeros([2, 5, 3])}


@pytest.mark.parametrize(
    "pairs",
    [
        [("x", ("N", "D")), ("y", ("B", "N", "D"))],
        [("x", ("N", "D")), ("y", ("*", "D"))],
        [("y", (2, ...)), ("y", ("...", 3)), ("y", (2, 5, 3, "*"))],
        [("x", "ND"), ("x", (None, 3)), ("x", [5, None])],
    ],
)
def test_shapes_agree(pairs):
    debugging.assert_shapes([(SHAPED[name], shape) for name, shape in pairs])


@pytest.mark.parametrize(
    ("pairs", "error", "words"),
    [
        (
            [("x", "NN")],
            CheckError,
            "axis 1 of tensor 0 has size 3, but N is 5 by axis",
        ),
        ([("x", "ND"), ("y", "NDK")], CheckError, "axis 0 of tensor 1 has size 2"),
        ([("x", (5, 4))], CheckError, "axis 1 of tensor 0 has size 3, not 4"),
        ([("x", (5,))], CheckError, "has rank 2"),
        ([("x", (1, 2, 3, "*"))], CheckError, "wants 3 or more"),
        ([("x", ("*", 5, "*"))], ArgumentError, r"'\*' inside"),
        ([("x", 3.5)], ArgumentError, "3.5 of tensor 0 is not a shape"),
        ([("x", (5, 2.5))], ArgumentTypeError, "got 2.5"),
    ],
)
def test_shapes_disagree(pairs, error, words):
    with pytest.raises(error, match=words):
        debugging.assert_shapes([(SHAPED[name], shape) for name, shape in pairs])


def test_shapes_come_in_pairs():
    for shapes in (3, [SHAPED["x"]]):
        with pytest.raises(ArgumentError, match="pair"):
            debugging.assert_shapes(shapes)


# --- Numerics -------------------------------------------------------------------------


@pytest.fixture
def checking():
    debugging.enable_check_numerics()
    yield
    debugging.disable_check_numerics()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_check_numerics_counts(dtype):
    x = gt.constant([[1.0, np.nan], [np.inf, -np.inf]], dtype=dtype)
    words = r"^after : Tensor had 1 NaN and 1 Inf and 1 -Inf among 4 .* at \[0, 1\], "
    with pytest.raises(NumericsError, match=words + dtype):
        debugging.check_numerics(x, "after")


def test_check_numerics_lets_good_values_and_all_gradients_through():
    v = gt.Variable([1.0, 0.0])
    with gt.GradientTape() as tape:
        y = gt.sqrt(debugging.check_numerics(v, "v"))
    assert tape.gradient(y, v).numpy().tolist() == [0.5, np.inf]
    with pytest.raises(DTypeError, match="floating-point"):
        debugging.check_numerics(gt.constant([1]), "v")
    with pytest.raises(ArgumentTypeError, match="message 3"):
        debugging.check_numerics(v, 3)


@pytest.mark.usefixtures("checking")
def test_every_operation_is_checked():
    words = r"log gave 1 -Inf among 2 values, the first at \[1\], float32 of shape "
    with pytest.raises(NumericsError, match=words + r"\(2,\), from \[1 0\]"):
        gt.log([1.0, 0.0])
    with pytest.raises(NumericsError, match="divide gave 1 NaN"):
        gt.constant(0.0) / gt.constant(0.0)
    assert gt.log(2.0).numpy() > 0


@pytest.mark.usefixtures("checking")
def test_gradients_are_checked():
    v = gt.Variable([0.0, 1.0])
    with gt.GradientTape() as tape:
        y = gt.sqrt(v)
    with pytest.raises(NumericsError, match="gave 1 Inf"):
        tape.gradient(y, v)


@pytest.mark.usefixtures("checking")
def test_batches_are_checked():
    with pytest.raises(NumericsError, match="log gave"):
        gt.vectorized_map(gt.log, gt.constant([1.0, 0.0]))


def test_checking_can_be_called_twice_and_undone():
    before = dispatch.recorders()
    debugging.enable_check_numerics()
    debugging.enable_check_numerics()
    assert len(dispatch.recorders()) == len(before) + 1
    debugging.disable_check_numerics()
    debugging.disable_check_numerics()
    assert dispatch.recorders() == before
    assert gt.log(0.0).numpy() == -np.inf


# --- Printing -------------------------------------------------------------------------


def printed(*inputs, **settings):
    stream = io.StringIO()
    assert gt_print(*inputs, output_stream=stream, **settings) is None
    return stream.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (gt.constant([1, 2, 3]), "[1 2 3]"),
        (gt.range(10), "[0 1 2 ... 7 8 9]"),
        (gt.range(6), "[0 1 2 3 4 5]"),
        (gt.constant(1.0), "1"),
        (gt.constant([1 / 3, 0.1, 3.14159, 1e20]), "[0.333333343 0.1 3.14159 1e+20]"),
        (gt.constant(1 / 3, dtype="float64"), "0.33333333333333331"),
        (gt.constant(0.1, dtype="float16"), "0.0999755859"),
        (gt.constant(1 / 3, dtype="bfloat16"), "0.333984375"),
        (gt.constant([np.nan, np.inf, -np.inf]), "[nan inf -inf]"),
        (gt.constant([True, False]), "[1 0]"),
        (gt.constant(1 + 2j), "(1+2j)"),
        (gt.constant(X), "[[1 2]\n [3 4]]"),
        (
            gt.reshape(gt.range(8), [2, 2, 2]),
            "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]",
        ),
        (
            gt.reshape(gt.range(14), [7, 2]),
            "[[0 1]\n [2 3]\n [4 5]\n ...\n [8 9]\n [10 11]\n [12 13]]",
        ),
        (gt.zeros([0]), "[]"),
        (gt.Variable([1.0, 2.5]), "[1 2.5]"),
        (np.array([1, 2]), "[1 2]"),
        ("text", "text"),
        (1.0, "1.0"),
        (None, "None"),
        (np.array(["a"]), "array(['a'], dtype='<U1')"),
        ([gt.constant([1, 2]), {"k": gt.constant(3)}], "[[1 2], {'k': 3}]"),
        ((gt.constant(1), "s", 2), "(1, 's', 2)"),
    ],
)
def test_text(value, text):
    assert printed(value) == text + "\n"


def test_separator_end_and_summary():
    x = gt.range(9)
    assert printed("a", x, 1, sep=", ", end="|") == "a, [0 1 2 ... 6 7 8], 1|"
    assert printed(x, summarize=1) == "[0 ... 8]\n"
    assert printed(x, summarize=-1) == "[0 1 2 3 4 5 6 7 8]\n"
    assert printed() == "\n"


def test_standard_error_is_the_default(capsys):
    gt_print(gt.constant([1]), "\0")
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "[1] \0\n")


def test_printing_leaves_gradients_alone():
    v = gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = v * v
        text = printed("y =", y)
    assert text == "y = 9\n"
    assert tape.gradient(y, v).numpy() == 6.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output_stream": 3}, "output_stream 3 cannot be written to"),
        ({"sep": 3}, "sep 3 is not a string"),
        ({"end": None}, "end None is not a string"),
        ({"summarize": "a"}, "summarize must be an integer"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(ArgumentTypeError, match=words):
        gt_print(1, **settings)
