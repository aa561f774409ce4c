"""The classes of errors: their builtin bases, their three parts, copies; warnings."""

import ast
import copy
import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from tests.errors.cases import lines_of

HERE = Path(__file__).resolve()

BASES = {
    "ShapeError": (ValueError,),
    "DTypeError": (TypeError,),
    "RangeError": (TypeError, ValueError),
    "ArgumentError": (ValueError,),
    "ArgumentTypeError": (TypeError,),
    "IndexRangeError": (IndexError,),
    "DivisionError": (ZeroDivisionError, ArithmeticError),
    "AttributeMissingError": (AttributeError,),
    "LinalgError": (np.linalg.LinAlgError, ValueError),
    "NumericsError": (ArithmeticError,),
    "CheckError": (AssertionError,),
    "TensorMemoryError": (MemoryError,),
    "TapeError": (RuntimeError,),
    "TapeStateError": (RuntimeError, ValueError),
    "WatchError": (TypeError, ValueError),
    "GradientError": (ValueError,),
    "AssignError": (RuntimeError,),
    "ConversionError": (SyntaxError,),
    "TracingError": (TypeError,),
    "UnboundNameError": (UnboundLocalError, NameError),
    "GraphError": (AssertionError,),
    "CompileError": (RuntimeError,),
    "GradientCheckError": (AssertionError,),
}

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value)
    and issubclass(value, errors.GtapeError)
    and value is not errors.GtapeError
}

each_class = pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)

# --- Classes --------------------------------------------------------------------------


def test_every_class_stands_in_the_table():
    assert CLASSES.keys() == BASES.keys()


@each_class
def test_a_class_is_also_a_builtin_one(kind):
    assert kind.__doc__
    for base in BASES[kind.__name__]:
        assert issubclass(kind, base)


@each_class
def test_a_message_has_three_parts(kind):
    error = kind("add: shapes (2,) and (3,) do not fit", "Use one shape")
    line = inspect.currentframe().f_lineno - 1
    assert error.what == "add: shapes (2,) and (3,) do not fit"
    assert error.hint == "Use one shape"
    place = errors.Origin(str(HERE), line, "test_a_message_has_three_parts")
    assert error.origin == place
    assert str(place) == f"{HERE}:{line} in test_a_message_has_three_parts"
    assert str(error) == f"{error.what}. At {place}. Use one shape."


@each_class
def test_a_message_has_one_full_stop_after_each_part(kind):
    place = errors.Origin("model.py", 41, "predict")
    error = kind("matmul: sizes differ.", "Transpose one.", place)
    assert str(error) == (
        "matmul: sizes differ. At model.py:41 in predict. Transpose one."
    )


@each_class
def test_a_message_without_a_hint_has_two_parts(kind):
    error = kind("loss is NaN", at=errors.Origin("model.py", 3, "<module>"))
    assert str(error) == "loss is NaN. At model.py:3 in <module>."


@each_class
@pytest.mark.parametrize(
    "twin_of",
    [
        lambda error: pickle.loads(pickle.dumps(error)),
        lambda error: pickle.loads(pickle.dumps(error, protocol=2)),
        copy.copy,
        copy.deepcopy,
    ],
    ids=["pickle", "pickle-2", "copy", "deepcopy"],
)
def test_an_error_can_be_copied(kind, twin_of):
    error = kind("add: 1 does not fit", "Use 2")
    twin = twin_of(error)
    assert type(twin) is kind
    assert (twin.what, twin.hint, twin.origin) == (
        error.what,
        error.hint,
        error.origin,
    )
    assert str(twin) == str(error)
    assert twin.args == error.args


@each_class
def test_an_error_takes_notes_and_causes(kind):
    cause = KeyError("cause")
    with pytest.raises(kind) as caught:
        raise kind("add: 1", "Use 2") from cause
    caught.value.add_note("a note")
    assert caught.value.__cause__ is cause
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == ["a note"]


def test_an_index_error_can_be_copied():
    with pytest.raises(IndexError) as caught:
        gt.constant([1.0])[4]
    error = caught.value
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), str(twin)) == (type(error), str(error))


# --- Places ---------------------------------------------------------------------------


def deep(x, depth):
    if depth:
        return deep(x, depth - 1)
    return x + gt.ones([7])  # <- here


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_the_place_is_the_innermost_one_of_the_user(depth):
    with pytest.raises(errors.ShapeError) as caught:
        deep(gt.ones([2]), depth)
    assert caught.value.origin == (str(HERE), lines_of(deep)[0], "deep")


def test_the_place_of_a_call_on_several_lines_is_in_the_call():
    x = gt.ones([2])
    first = inspect.currentframe().f_lineno
    with pytest.raises(errors.ShapeError) as caught:
        gt.add(
            x,
            gt.ones([3]),
        )
    assert first < caught.value.origin.line < first + 6


def test_the_place_in_code_without_a_file():
    with pytest.raises(errors.ShapeError) as caught:
        exec("\n\ngt.ones([2]) + gt.ones([3])", {"gt": gt})
    assert caught.value.origin[:2] == ("<string>", 3)


def test_the_place_in_a_comprehension_and_a_generator():
    x = gt.ones([2])
    with pytest.raises(errors.ShapeError) as caught:
        [x + gt.ones([n]) for n in (2, 3)]
    assert caught.value.origin.line == inspect.currentframe().f_lineno - 1
    with pytest.raises(errors.ShapeError) as caught:
        gt.stack(x + gt.ones([n]) for n in (2, 3))
    assert caught.value.origin.line == inspect.currentframe().f_lineno - 1


def test_the_place_in_a_function_that_a_transform_calls():
    def f(x):
        return gt.reduce_sum(x @ x)  # <- here

    with pytest.raises(errors.ShapeError) as caught:
        gt.grad(f)(gt.ones([2, 3]))
    assert [caught.value.origin.line] == lines_of(f)


def test_the_place_of_an_operator_of_a_variable():
    v = gt.Variable([1.0, 2.0])
    with pytest.raises(errors.ShapeError) as caught:
        3.0 - v + gt.ones([3])
    assert caught.value.origin.line == inspect.currentframe().f_lineno - 1


def test_the_place_through_numpy():
    with pytest.raises(errors.ShapeError) as caught:
        np.add(np.ones(3), gt.ones([2]))
    assert caught.value.origin.line == inspect.currentframe().f_lineno - 1


# --- Every error of the library -------------------------------------------------------

# These say all in their first sentence: what the user asserted, and faults of gtape.
WITHOUT_HINT = {"CheckError", "GraphError"}


def test_every_error_in_the_source_has_a_hint():
    faults = []
    for path in sorted(Path(gt.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", None))
            given = len(node.args) + any(k.arg == "hint" for k in node.keywords)
            if name in CLASSES and name not in WITHOUT_HINT and given < 2:
                faults.append(f"{path.name}:{node.lineno}: {name}")
    assert not faults


# --- Warnings -------------------------------------------------------------------------


def warned(function):
    """The warnings of a call: message, category and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [(str(w.message), w.category, w.lineno, w.filename) for w in caught]


def test_warn_once_warns_at_the_line_of_the_user():
    def call():
        errors.warn_once("one message")  # <- here

    [(text, category, line, file)] = warned(call)
    assert (text, category) == ("one message", gt.GradientWarning)
    assert [line] == lines_of(call)
    assert file == str(HERE)


def test_warn_once_warns_once_for_each_line():
    def call():
        for _ in range(5):
            errors.warn_once("a message in a loop")  # <- here
        errors.warn_once("a message in a loop")  # <- here

    assert [line for _, _, line, _ in warned(call)] == lines_of(call)
    assert warned(call) == []


def test_warn_once_warns_once_for_each_message():
    def call(text):
        errors.warn_once(text)

    assert [text for text, *_ in warned(lambda: call("message A"))] == ["message A"]
    assert [text for text, *_ in warned(lambda: call("message B"))] == ["message B"]
    assert warned(lambda: call("message A")) == []


def test_warn_once_takes_another_category():
    def call():
        errors.warn_once("an old way", DeprecationWarning)

    assert [category for _, category, *_ in warned(call)] == [DeprecationWarning]


def test_a_gradient_warning_is_a_user_warning():
    assert issubclass(gt.GradientWarning, UserWarning)
    with pytest.warns(UserWarning, match="as an error"):
        errors.warn_once("as an error")
    with warnings.catch_warnings():
        warnings.simplefilter("error", gt.GradientWarning)
        with pytest.raises(gt.GradientWarning, match="as an exception"):
            errors.warn_once("as an exception")


# --- Warnings of tapes and optimizers -------------------------------------------------


def test_watching_an_integer_warns_once_for_each_line():
    counts = [gt.constant(n) for n in range(4)]

    def call():
        with gt.GradientTape() as tape:
            for n in counts:
                tape.watch(n)  # <- here

    [(text, category, line, _)] = warned(call)
    assert "int32" in text
    assert "floating-point" in text
    assert category is gt.GradientWarning
    assert [line] == lines_of(call)


def train(optimizer, steps, w, unused):
    for _ in range(steps):
        with gt.GradientTape() as tape:
            loss = w * w
        found = tape.gradient(loss, [w, unused])
        optimizer.apply_gradients(zip(found, [w, unused], strict=True))  # <- here


def test_an_optimizer_warns_once_of_a_missing_gradient():
    w, unused = gt.Variable(1.0, name="w"), gt.Variable(2.0, name="lonely")
    [(text, category, line, file)] = warned(
        lambda: train(gt.optim.SGD(0.1), 3, w, unused)
    )
    assert "lonely:0" in text
    assert "explain" in text
    assert category is gt.GradientWarning
    assert ([line], file) == (lines_of(train), str(HERE))
    assert unused.numpy() == 2.0
    assert w.numpy() < 1.0


def test_an_optimizer_warns_again_of_another_variable():
    w = gt.Variable(1.0)
    for name in ("first_missing", "second_missing"):
        other = gt.Variable(1.0, name=name)
        found = warned(lambda other=other: train(gt.optim.Adam(), 2, w, other))
        assert len(found) == 1
        assert name in found[0][0]


def test_minimize_warns_of_a_missing_gradient():
    w, unused = gt.Variable(1.0), gt.Variable(2.0, name="not_in_the_loss")

    def call():
        gt.optim.SGD(0.1).minimize(lambda: w * w, [w, unused])  # <- here

    [(text, _, line, _)] = warned(call)
    assert "not_in_the_loss" in text
    assert [line] == lines_of(call)


def test_the_explanation_is_the_one_the_warning_speaks_of():
    w, unused = gt.Variable(1.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        loss = w * w
        unused * 1.0
    assert tape.explain(loss, unused).reason == "not used"
    assert str(tape.explain(loss, unused)) == tape.explain(loss, unused).text
