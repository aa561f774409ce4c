"""What optimizers share: contract, state, options, errors; and that they optimize."""

import contextlib
import copy
import pickle
import re
import warnings

import numpy as np
import pytest

import gtape as gt
from gtape.dispatch import running
from gtape.interpreter import EagerInterpreter

SGD, Adam, RMSProp = gt.optim.SGD, gt.optim.Adam, gt.optim.RMSProp
Adagrad, Adadelta, Optimizer = gt.optim.Adagrad, gt.optim.Adadelta, gt.optim.Optimizer

FLAVORS = ["keras", "torch", "optax"]
RULES = {
    "sgd": lambda **o: SGD(0.1, **o),
    "momentum": lambda **o: SGD(0.1, momentum=0.9, **o),
    "nesterov": lambda **o: SGD(0.1, momentum=0.9, nesterov=True, **o),
    "adam": lambda **o: Adam(0.1, **o),
    "amsgrad": lambda **o: Adam(0.1, amsgrad=True, **o),
    "rmsprop": lambda **o: RMSProp(0.1, **o),
    "rmsprop momentum": lambda **o: RMSProp(0.1, momentum=0.9, **o),
    "rmsprop centered": lambda **o: RMSProp(0.1, centered=True, **o),
    "rmsprop both": lambda **o: RMSProp(0.1, momentum=0.9, centered=True, **o),
    "adagrad": lambda **o: Adagrad(0.1, **o),
    "adadelta": lambda **o: Adadelta(1.0, **o),
}
every_rule = pytest.mark.parametrize("rule", list(RULES))


# ---- arrays in place, arrays by update, operations ------------------------------


def run(rule, dtype, way, shapes, **options):
    """Values and slots after five steps with random gradients."""
    opt = RULES[rule](**options)
    opt.has_in_place = way == "in place"
    rng = np.random.default_rng(7)
    variables = [gt.Variable(rng.normal(size=s).astype(dtype)) for s in shapes]
    for _ in range(5):
        gradients = [gt.constant(rng.normal(size=s).astype(dtype)) for s in shapes]
        if way == "recorded":
            with gt.GradientTape():
                opt.apply_gradients(zip(gradients, variables, strict=True))
        else:
            opt.apply_gradients(zip(gradients, variables, strict=True))
    return [v.numpy() for v in [*variables, *opt.variables]]


@every_rule
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("flavor", FLAVORS)
def test_in_place_equals_update_to_the_last_bit(rule, dtype, flavor):
    shapes = [(), (3, 4), (600, 250), (0, 2), (5,)]  # the third: more than one block
    wanted = run(rule, dtype, "by update", shapes, flavor=flavor, weight_decay=0.01)
    got = run(rule, dtype, "in place", shapes, flavor=flavor, weight_decay=0.01)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@every_rule
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("flavor", FLAVORS)
def test_operations_equal_update_on_arrays(rule, dtype, flavor):
    options = {"flavor": flavor, "weight_decay": 0.01, "global_clipnorm": 2.0}
    shapes = [(), (3, 4), (0, 2)]
    kind = gt.as_dtype(dtype).as_numpy_dtype
    wanted = run(rule, kind, "recorded", shapes, **options)
    for way in ("by update", "in place"):
        got = run(rule, kind, way, shapes, **options)
        for a, b in zip(got, wanted, strict=True):
            assert a.dtype == b.dtype
            tolerance = 1e-14 if dtype == "float64" else 1e-6
            np.testing.assert_allclose(
                np.asarray(a, float), np.asarray(b, float), rtol=tolerance, atol=1e-12
            )


class AllTensors(EagerInterpreter):
    """As a trace does it: the step and what is computed from it are tensors."""

    on_arrays = False


@every_rule
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("flavor", FLAVORS)
def test_step_and_rate_may_be_tensors(rule, dtype, flavor):
    def three_steps():
        v, opt = gt.Variable(np.array([1.0, -2.0], dtype)), RULES[rule](flavor=flavor)
        opt.learning_rate = lambda k: 0.1 / (k + 1.0)
        opt.weight_decay = 0.01
        for _ in range(3):
            opt.apply_gradients([(v * 2.0, v)])
        return [q.numpy() for q in [v, *opt.variables]]

    wanted = three_steps()
    with running(AllTensors()):
        got = three_steps()
    tolerance = 1e-13 if dtype == "float64" else 1e-6
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance)


def test_a_subclass_with_its_own_update_is_not_run_in_place():
    class Twice(Adam):
        def update(self, grad, slots, step):
            delta, slots = super().update(grad, slots, step)
            return 2.0 * delta, slots

    once, twice = gt.Variable(0.0), gt.Variable(0.0)
    Adam(0.1).apply_gradients([(1.0, once)])
    Twice(0.1).apply_gradients([(1.0, twice)])
    np.testing.assert_allclose(twice.numpy(), 2 * once.numpy(), rtol=1e-6)


# ---- nobody's arrays change -----------------------------------------------------


def test_old_values_of_variables_stay():
    v = gt.Variable([1.0, 2.0])
    opt = Adam(0.1)
    before, view = v.read_value(), np.asarray(v)
    with gt.GradientTape(persistent=True) as tape:
        y = gt.reduce_sum(v * v * v)
    opt.apply_gradients([([1.0, 1.0], v)])
    assert before.numpy().tolist() == view.tolist() == [1.0, 2.0]
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 12.0]


@every_rule
def test_gradients_are_left_alone(rule):
    v, g = gt.Variable([1.0, 2.0]), gt.constant([3.0, 4.0])
    array = np.array([3.0, 4.0], np.float32)
    opt = RULES[rule]()
    for _ in range(3):
        opt.apply_gradients([(g, v)])
        opt.apply_gradients([(array, v)])
    assert g.numpy().tolist() == array.tolist() == [3.0, 4.0]


@every_rule
def test_values_of_slots_that_were_read_stay(rule):
    v = gt.Variable([1.0, 2.0])
    opt = RULES[rule]()
    opt.apply_gradients([([3.0, 4.0], v)])
    for slot in opt.variables[1:]:
        reads = [slot.read_value(), gt.convert_to_tensor(slot), np.asarray(slot)]
        reads += [copy.deepcopy(slot), slot.numpy()]
        before = [np.array(r) for r in reads]
        for _ in range(2):
            opt.apply_gradients([([3.0, 4.0], v)])
        for read, value in zip(reads, before, strict=True):
            np.testing.assert_array_equal(np.asarray(read), value)
        assert not np.array_equal(slot.numpy(), before[0])


def test_what_is_assigned_to_a_slot_stays():
    v, opt = gt.Variable([1.0, 2.0]), SGD(0.1, momentum=0.9)
    opt.build([v])
    value = gt.constant([5.0, 6.0])
    opt.variables[1].assign(value)
    opt.apply_gradients([([0.0, 0.0], v)])
    assert value.numpy().tolist() == [5.0, 6.0]
    np.testing.assert_allclose(opt.variables[1].numpy(), [4.5, 5.4], rtol=1e-6)


# ---- apply_gradients ------------------------------------------------------------


def test_returns_iterations():
    v, opt = gt.Variable(1.0), SGD(0.1)
    assert opt.apply_gradients([(1.0, v)]) is opt.iterations
    assert opt.iterations.dtype == gt.int64
    assert not opt.iterations.trainable
    assert int(opt.iterations) == 1


def test_all_new_values_are_computed_before_any_changes():
    a, b = gt.Variable([1.0]), gt.Variable([2.0])
    opt = SGD(0.1)
    for bad in ([(np.ones(1), a), (np.ones(2), b)], [(np.ones(1), a), ("x", b)]):
        with pytest.raises((ValueError, TypeError)):
            opt.apply_gradients(bad)
    assert a.numpy() == 1.0
    assert int(opt.iterations) == 0


def test_rule_that_fails_changes_nothing():
    class Fails(Optimizer):
        slots = ("count",)

        def update(self, grad, slots, step):
            if grad.shape == (2,):
                raise KeyError("no rule for pairs")
            return -grad, gt.optim.Slots(count=slots.count + 1.0)

    a, b, opt = gt.Variable([1.0]), gt.Variable([1.0, 1.0]), Fails(0.1)
    with pytest.raises(KeyError, match="pairs"):
        opt.apply_gradients([([1.0], a), ([1.0, 1.0], b)])
    assert a.numpy() == 1.0
    assert [float(np.sum(s)) for s in opt.variables] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "gradient",
    [
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0], np.float16),
        np.array([1, 2]),
        gt.constant([1.0, 2.0]),
        gt.cast([1.0, 2.0], gt.float64),
        gt.cast([1.0, 2.0], gt.bfloat16),
        gt.Variable([1.0, 2.0]),
        [1.0, 2.0],
        (1, 2),
    ],
    ids=lambda g: f"{type(g).__name__} {getattr(g, 'dtype', '')}",
)
@every_rule
def test_gradients_of_many_kinds(gradient, rule):
    v, w = gt.Variable([1.0, 1.0]), gt.Variable([1.0, 1.0])
    for variable, g in ((v, gradient), (w, gt.constant([1.0, 2.0]))):
        opt = RULES[rule]()
        opt.apply_gradients([(g, variable)])
        assert {s.dtype.name for s in opt.variables[1:]} <= {"float32"}
    np.testing.assert_array_equal(v.numpy(), w.numpy())
    assert v.dtype == gt.float32


@every_rule
@pytest.mark.parametrize("dense_shape", [None, [3, 2]])
def test_slices_with_the_same_index_are_added_up_first(rule, dense_shape):
    v, w = gt.Variable(np.ones((3, 2))), gt.Variable(np.ones((3, 2)))
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    slices = gt.IndexedSlices(rows, [2, 0, 2], dense_shape)
    dense = [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    one, two = RULES[rule](), RULES[rule]()
    for _ in range(2):
        one.apply_gradients([(slices, v)])
        two.apply_gradients([(dense, w)])
    np.testing.assert_array_equal(v.numpy(), w.numpy())


def test_slices_of_another_shape():
    v, slices = (
        gt.Variable(np.ones((3, 2))),
        gt.IndexedSlices([[1.0, 1.0]], [0], [4, 2]),
    )
    with pytest.raises(ValueError, match=r"shape \(4, 2\) for .* of shape \(3, 2\)"):
        SGD(0.1).apply_gradients([(slices, v)])


def test_strided_and_broadcast_gradients():
    v, w = gt.Variable(np.ones((3, 2))), gt.Variable(np.ones((3, 2)))
    g = np.arange(6.0).reshape(2, 3)
    Adam(0.1).apply_gradients([(gt.transpose(gt.constant(g)), v)])
    Adam(0.1).apply_gradients([(g.T.copy(), w)])
    np.testing.assert_array_equal(v.numpy(), w.numpy())
    SGD(1.0).apply_gradients([(gt.broadcast_to(gt.constant(1.0), [3, 2]), v)])
    np.testing.assert_allclose(v.numpy(), w.numpy() - 1.0)


@every_rule
def test_float64_stays_float64(rule):
    v = gt.Variable(1.0, dtype=gt.float64)
    opt = RULES[rule]()
    opt.apply_gradients([(1.0, v)])
    assert {s.dtype.name for s in [v, *opt.variables[1:]]} == {"float64"}


@pytest.mark.parametrize("dtype", [gt.float16, gt.bfloat16])
def test_half_precision_computes_in_float32(dtype):
    v, opt = gt.Variable(gt.cast([1.0, 1.0], dtype)), Adam(0.125)
    opt.apply_gradients([(gt.cast([1e-4, 1.0], dtype), v)])
    assert v.dtype == dtype
    assert {s.dtype.name for s in opt.variables[1:]} == {"float32"}
    # In float16 the square of 1e-4 is zero, and the first element would fly off.
    moved = gt.cast(v, gt.float32).numpy()
    np.testing.assert_allclose(moved, [0.8788, 0.875], atol=0.004)


@every_rule
def test_rank_0_and_empty_variables(rule):
    scalar, empty = gt.Variable(1.0), gt.Variable(np.zeros((0, 3), np.float32))
    RULES[rule]().apply_gradients([(2.0, scalar), (np.zeros((0, 3)), empty)])
    assert scalar.shape == ()
    assert isinstance(scalar.numpy(), np.float32)
    assert scalar.numpy() < 1.0
    assert empty.shape == (0, 3)


def test_constraint_is_applied_after_the_update():
    v = gt.Variable([0.1, 1.0], constraint=lambda x: gt.maximum(x, 0.0))
    SGD(1.0).apply_gradients([([0.5, 0.5], v)])
    assert v.numpy().tolist() == [0.0, 0.5]


def test_constraint_of_another_shape_changes_nothing():
    a, b = gt.Variable([1.0]), gt.Variable([1.0], constraint=lambda x: x[0])
    with pytest.raises(ValueError, match=r"constraint: .*shape \(\)"):
        SGD(1.0).apply_gradients([([0.5], a), ([0.5], b)])
    assert a.numpy() == b.numpy() == 1.0


@every_rule
def test_inside_a_recording_tape(rule):
    """The same values, and the tape can say what happened."""
    v, w = gt.Variable(2.0), gt.Variable(2.0)
    RULES[rule]().apply_gradients([(4.0, w)])
    with gt.GradientTape(persistent=True) as tape:
        loss = v * v
        RULES[rule]().apply_gradients([(4.0, v)])
        after = v * 3.0
    np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=1e-6)
    assert tape.gradient(loss, v).numpy() == 4.0
    assert tape.gradient(after, v).numpy() == 3.0


def test_update_is_differentiable():
    """By the gradient and by the learning rate: a step of a step."""
    g, rate = gt.Variable(3.0), gt.Variable(0.5)
    opt = SGD(rate)
    with gt.GradientTape() as tape:
        delta, _ = opt.update(g * 1.0, opt.initial_slots(g), 1)
    assert [float(d) for d in tape.gradient(delta, [g, rate])] == [-0.5, -3.0]


# ---- missing gradients ----------------------------------------------------------


def test_none_is_skipped_with_a_warning_that_names_the_variables():
    a, b = gt.Variable(1.0), gt.Variable(1.0, name="lonely")
    c, opt = gt.Variable(1.0, name="forgotten"), Adam(0.5)
    with pytest.warns(gt.errors.GradientWarning) as found:
        opt.apply_gradients([(1.0, a), (None, b), (None, c)])
    [warning] = found
    assert f"no gradient for {b.name}, {c.name}" in str(warning.message)
    assert "tape.explain" in str(warning.message)
    assert warning.filename == __file__
    assert b.numpy() == c.numpy() == 1.0
    assert len(opt.variables) == 3  # no slots for what was not updated


def test_the_warning_comes_once_for_a_line():
    a, b = gt.Variable(1.0), gt.Variable(1.0, name="quiet")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            SGD(0.1).apply_gradients([(1.0, a), (None, b)])
    assert len(found) == 1


NOTHING = {
    "empty": ([], "the list of pairs is empty.* A zip can be read only once"),
    "all None": (None, r"gradients of all variables are None: \w+.*tape\.explain"),
}


@pytest.mark.parametrize("kind", list(NOTHING))
def test_nothing_to_apply(kind):
    pairs, message = NOTHING[kind]
    if pairs is None:
        pairs = [(None, gt.Variable(1.0)), (None, gt.Variable(1.0))]
    with pytest.raises(gt.errors.GradientError, match=message) as info:
        SGD(0.1).apply_gradients(pairs)
    assert isinstance(info.value, ValueError)
    assert info.value.origin.file == __file__


def test_exhausted_zip():
    a, opt = gt.Variable(1.0), SGD(0.5)
    pairs = zip([1.0], [a], strict=True)
    opt.apply_gradients(pairs)
    with pytest.raises(ValueError, match="empty"):
        opt.apply_gradients(pairs)
    assert int(opt.iterations) == 1


# ---- bad input ------------------------------------------------------------------

V = gt.Variable([1.0, 2.0], name="bad_input")
INTEGER = gt.Variable([1, 2], name="bad_integer")

BAD_PAIRS = {
    "a number": (3, TypeError, "3 is not a list of pairs.*zip"),
    "None": (None, TypeError, "None is not a list of pairs"),
    "gradients only": ([[1.0, 2.0]], TypeError, "second of a pair is a float"),
    "triples": ([(1.0, V, 2)], TypeError, "type tuple is not a pair"),
    "string": (["ab"], TypeError, "type str is not a pair"),
    "swapped": ([(V, gt.constant([1.0, 2.0]))], TypeError, "The gradient comes first"),
    "tensor": ([(1.0, gt.constant(1.0))], TypeError, "Only a gt.Variable can be"),
    "twice": ([([1.0, 1.0], V)] * 2, ValueError, "bad_input:0 stands there twice"),
    "shape": ([([1.0], V)], ValueError, r"shape \(1,\) for bad_input:0 of shape \(2,"),
    "broadcast": ([(1.0, V)], ValueError, r"gradient of shape \(\)"),
    "complex": ([([1j, 1j], V)], TypeError, r"complex\d+ for bad_input:0 of float32"),
    "bool": ([(np.array([True, False]), V)], TypeError, "a gradient of bool"),
    "text": ([("x", V)], TypeError, "cannot become a tensor"),
    "integer": ([([1, 1], INTEGER)], TypeError, "bad_integer:0 is int32.*1.0 for 1"),
}


@pytest.mark.parametrize("kind", list(BAD_PAIRS))
@pytest.mark.parametrize("recorded", [False, True])
def test_bad_pairs(kind, recorded):
    pairs, error, message = BAD_PAIRS[kind]
    opt = Adam(0.1)
    block = gt.GradientTape() if recorded else contextlib.nullcontext()
    with block, pytest.raises(error, match=message) as info:
        opt.apply_gradients(pairs)
    assert isinstance(info.value, gt.errors.GtapeError)
    assert f"At {__file__}" in str(info.value)
    assert V.numpy().tolist() == [1.0, 2.0]
    assert int(opt.iterations) == 0


def test_variable_that_changed_its_shape():
    v = gt.Variable([1.0, 2.0], shape=[None])
    opt = Adam(0.1)
    opt.apply_gradients([([1.0, 1.0], v)])
    v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"has shape \(3,\), and its slot .*\(2,\)"):
        opt.apply_gradients([([1.0, 1.0, 1.0], v)])


BAD_ARGUMENTS = [
    (lambda: SGD(-0.1), r"SGD: learning_rate is -0.1.*\[0, inf\)"),
    (lambda: SGD(float("nan")), "learning_rate is nan"),
    (lambda: SGD(float("inf")), "learning_rate is inf"),
    (lambda: SGD(momentum=1.5), r"momentum is 1.5.*must lie in \[0, 1\]"),
    (lambda: Adam(beta_1=1.0), r"Adam: beta_1 is 1.0.*must lie in \[0, 1\)"),
    (lambda: Adam(beta_2=-0.1), r"beta_2 is -0.1.*\[0, 1\)"),
    (lambda: Adam(epsilon=-1e-7), r"epsilon is -1e-07.*\[0, inf\)"),
    (lambda: RMSProp(rho=1.0), r"rho is 1.0.*\[0, 1\)"),
    (lambda: RMSProp(momentum=-1), r"momentum is -1.0.*\[0, 1\]"),
    (lambda: Adagrad(initial_accumulator_value=-1), r"accumulator_value is -1.0"),
    (lambda: Adadelta(epsilon=0.0), r"epsilon is 0.0.*\(0, inf\)"),
    (lambda: Adam(weight_decay=-1.0), r"weight_decay is -1.0.*\[0, inf\)"),
    (lambda: Adam(clipnorm=0.0), r"clipnorm is 0.0.*\(0, inf\)"),
    (lambda: Adam(clipnorm=1.0, clipvalue=1.0), "clipnorm and clipvalue are given"),
    (lambda: Adam(flavor="jax"), "flavor 'jax' is unknown.*keras, torch, optax"),
    (lambda: SGD(gt.Variable([0.1, 0.2])), r"learning_rate is a variable of shape \(2"),
]
BAD_TYPES = [
    (lambda: SGD("0.1"), "SGD: learning_rate is '0.1' of type str.*Use a number"),
    (lambda: SGD(None), "learning_rate is None"),
    (lambda: SGD(True), "learning_rate is True of type bool"),
    (lambda: Adam(beta_1=[0.9]), r"beta_1 is \[0.9\] of type list"),
    (lambda: Adam(clipnorm=gt.constant([1.0, 2.0])), "clipnorm is"),
    (lambda: Adam.from_config({"lr": 0.1}), "no argument 'lr'.*learning_rate"),
    (lambda: SGD(lambda: "fast").apply_gradients([(V, V)]), "'fast' of type str"),
    (lambda: SGD(lambda: None).apply_gradients([(V, V)]), "learning rate is None"),
]


@pytest.mark.parametrize(("call", "message"), BAD_ARGUMENTS)
def test_arguments_out_of_range(call, message):
    with pytest.raises(gt.errors.ArgumentError, match=message) as info:
        call()
    assert isinstance(info.value, ValueError)


@pytest.mark.parametrize(("call", "message"), BAD_TYPES)
def test_arguments_of_the_wrong_type(call, message):
    with pytest.raises(gt.errors.ArgumentTypeError, match=message) as info:
        call()
    assert isinstance(info.value, TypeError)


@pytest.mark.parametrize("momentum", [0, 1, np.float32(0.5), gt.constant(0.5)])
def test_numbers_of_many_kinds(momentum):
    opt = SGD(1, momentum=momentum)
    assert type(opt.learning_rate) is type(opt.momentum) is float


# ---- learning rate --------------------------------------------------------------


def moves(opt, count=3):
    v, seen = gt.Variable(0.0, dtype=gt.float64), []
    for _ in range(count):
        before = float(v)
        opt.apply_gradients([(1.0, v)])
        seen.append(round(before - float(v), 12))
    return seen


def test_schedule_of_the_step():
    assert moves(SGD(lambda k: 0.1 * (k + 1))) == [0.1, 0.2, 0.3]
    assert moves(SGD(lambda k: gt.constant(0.5) / (k + 1.0)), 2) == [0.5, 0.25]


def test_function_of_nothing():
    rates = iter([0.5, 0.25, 0.125])
    assert moves(SGD(lambda: next(rates))) == [0.5, 0.25, 0.125]
    assert moves(SGD(lambda rate=0.5: rate), 1) == [0.5]


def test_schedule_is_asked_once_for_an_update():
    asked = []
    opt = Adam(lambda k: asked.append(k) or 0.1, weight_decay=0.1)
    variables = [gt.Variable(1.0) for _ in range(3)]
    for block in (contextlib.nullcontext(), gt.GradientTape()):
        with block:
            opt.apply_gradients([(1.0, v) for v in variables])
    assert asked == [0, 1]


def test_rate_can_be_set():
    opt = SGD(0.5)
    assert moves(opt, 1) == [0.5]
    opt.learning_rate = 0.25
    assert opt.learning_rate == 0.25
    assert moves(opt, 1) == [0.25]
    opt.learning_rate = lambda k: 0.125 * k
    assert moves(opt, 1) == [0.25]  # two updates were done
    opt.learning_rate = 1
    assert moves(opt, 1) == [1.0]
    with pytest.raises(ValueError, match="learning_rate is -1"):
        opt.learning_rate = -1


def test_rate_as_a_variable():
    rate = gt.Variable(0.5)
    opt = SGD(rate)
    assert moves(opt, 1) == [0.5]
    opt.learning_rate.assign(0.25)
    assert moves(opt, 1) == [0.25]
    assert opt.get_config()["learning_rate"] == 0.25


def test_the_rate_of_an_update_is_that_of_the_steps_before():
    opt = SGD(lambda k: 0.1 * (k + 1))
    assert [round(opt.rate(step), 12) for step in (1, 2, 3)] == [0.1, 0.2, 0.3]


def test_momentum_after_a_change_of_the_rate():
    """Keras keeps the old rate in the velocity; the others do not."""

    def third(flavor):
        opt = SGD(lambda k: [0.1, 0.1, 1.0][k], momentum=0.5, flavor=flavor)
        return moves(opt)[-1]

    assert third("keras") == round(1.0 + 0.5 * (0.1 + 0.5 * 0.1), 12)
    assert third("torch") == third("optax") == 1.0 + 0.5 * (1.0 + 0.5)


# ---- clipping and decay ---------------------------------------------------------


@pytest.mark.parametrize("option", ["clipnorm", "global_clipnorm", "clipvalue"])
def test_clipping_zero_gradients(option):
    v = gt.Variable([1.0, 1.0])
    SGD(1.0, **{option: 1.0}).apply_gradients([([0.0, 0.0], v)])
    assert v.numpy().tolist() == [1.0, 1.0]


def test_an_infinite_gradient_leaves_other_variables_finite():
    a, b = gt.Variable([1.0, 1.0]), gt.Variable([1.0, 1.0])
    opt = SGD(1.0, global_clipnorm=1.0)
    opt.apply_gradients([([np.inf, 1.0], a), ([1.0, 1.0], b)])
    assert b.numpy().tolist() == [1.0, 1.0]
    assert np.isfinite(a.numpy()).tolist() == [False, True]


def test_the_norm_of_large_gradients_is_finite():
    v = gt.Variable([0.0, 0.0])
    SGD(1.0, clipnorm=1.0).apply_gradients([([3e30, 4e30], v)])
    np.testing.assert_allclose(v.numpy(), [-0.6, -0.8], rtol=1e-6)


def test_optax_adagrad_does_not_move_what_never_had_a_gradient():
    v = gt.Variable([1.0, 1.0])
    options = {"initial_accumulator_value": 0.0, "epsilon": 0.0, "flavor": "optax"}
    Adagrad(0.5, **options).apply_gradients([([0.0, 4.0], v)])
    assert v.numpy().tolist() == [1.0, 0.5]


def test_centered_variance_is_never_negative():
    v, opt = gt.Variable(0.0), RMSProp(1e-3, rho=0.99, centered=True, epsilon=0.0)
    rng = np.random.default_rng(3)
    for g in np.float32(0.7654321) + 1e-7 * rng.normal(size=300):
        opt.apply_gradients([(g, v)])
    assert np.isfinite(v.numpy())
    assert opt.variables[1].numpy() >= 0.0


# ---- state ----------------------------------------------------------------------


def test_variables_are_iterations_and_slots():
    v, w = gt.Variable([1.0, 2.0], name="first"), gt.Variable(1.0, name="second")
    opt = Adam(0.1, amsgrad=True)
    assert opt.variables == [opt.iterations]
    opt.apply_gradients([(1.0, w)])
    opt.apply_gradients([([1.0, 1.0], v), (1.0, w)])
    names = [s.name for s in opt.variables]
    parts = ["iterations", "second/m", "second/v", "second/h"]
    parts += ["first/m", "first/v", "first/h"]
    for name, part in zip(names, parts, strict=True):
        assert re.fullmatch(rf"Adam/{part}(_\d+)?:0", name)
    assert all(not s.trainable for s in opt.variables)


@every_rule
def test_state_reset_by_assignment_gives_the_same_steps(rule):
    v, opt = gt.Variable([1.0, -2.0]), RULES[rule]()

    def three_steps():
        v.assign([1.0, -2.0])
        for _ in range(3):
            opt.apply_gradients([(2.0 * v, v)])
        return v.numpy()

    opt.build([v])
    start = [np.array(s) for s in opt.variables]
    first = three_steps()
    for slot, value in zip(opt.variables, start, strict=True):
        slot.assign(value)
    np.testing.assert_array_equal(three_steps(), first)


def test_state_set_to_zeros():
    v, opt = gt.Variable([1.0, 1.0]), Adam(0.1)
    first = None
    for _ in range(2):
        v.assign([1.0, 1.0])
        for q in opt.variables:
            q.assign(np.zeros(q.shape, q.dtype))
        for _ in range(3):
            opt.apply_gradients([([1.0, 2.0], v)])
        first = v.numpy() if first is None else first
    np.testing.assert_array_equal(v.numpy(), first)


@every_rule
def test_state_moved_to_another_optimizer(rule):
    v, w = gt.Variable([1.0, -2.0]), gt.Variable([1.0, -2.0])
    one, two = RULES[rule](), RULES[rule]()
    for _ in range(3):
        one.apply_gradients([([3.0, 4.0], v)])
    two.build([w])
    w.assign(v)
    for target, source in zip(two.variables, one.variables, strict=True):
        target.assign(source)
    one.apply_gradients([([3.0, 4.0], v)])
    two.apply_gradients([([3.0, 4.0], w)])
    np.testing.assert_array_equal(v.numpy(), w.numpy())
    assert int(two.iterations) == 4


def test_slots_belong_to_the_object_not_to_the_name():
    a, b = gt.Variable(0.0, name="w"), gt.Variable([0.0, 0.0], name="w")
    opt = Adam(0.1)
    for _ in range(3):
        opt.apply_gradients([(1.0, a)])
    opt.apply_gradients([([-1.0, -1.0], b)])
    np.testing.assert_allclose(a.numpy(), -0.3, rtol=1e-3)
    assert (b.numpy() > 0).all()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
@every_rule
def test_copies_go_on_alone(copied, rule):
    v, opt = gt.Variable([1.0, -2.0]), RULES[rule](clipnorm=9.0)
    for _ in range(2):
        opt.apply_gradients([([3.0, 4.0], v)])
    w, twin = copied((v, opt))
    before = [np.array(s) for s in twin.variables]
    opt.apply_gradients([([3.0, 4.0], v)])
    for slot, value in zip(twin.variables, before, strict=True):
        np.testing.assert_array_equal(slot.numpy(), value)
    twin.apply_gradients([([3.0, 4.0], w)])
    np.testing.assert_array_equal(w.numpy(), v.numpy())
    assert int(twin.iterations) == int(opt.iterations) == 3


@every_rule
@pytest.mark.parametrize("flavor", FLAVORS)
def test_config_round_trip(rule, flavor):
    opt = RULES[rule](flavor=flavor, weight_decay=0.01, clipvalue=2.0, name="mine")
    config = opt.get_config()
    twin = type(opt).from_config(config)
    assert type(twin) is type(opt)
    assert twin.get_config() == config
    v, w = gt.Variable([1.0, 2.0]), gt.Variable([1.0, 2.0])
    opt.apply_gradients([([3.0, 1.0], v)])
    twin.apply_gradients([([3.0, 1.0], w)])
    np.testing.assert_array_equal(v.numpy(), w.numpy())


def test_config_of_a_schedule_is_the_schedule():
    def schedule(step):
        return 0.1

    assert SGD.from_config(SGD(schedule).get_config()).learning_rate is schedule


def test_config_holds_plain_values():
    assert Adam(beta_1=0.5).get_config() == {
        "learning_rate": 0.001,
        "beta_1": 0.5,
        "beta_2": 0.999,
        "epsilon": 1e-7,
        "amsgrad": False,
        "weight_decay": None,
        "clipnorm": None,
        "clipvalue": None,
        "global_clipnorm": None,
        "flavor": "keras",
        "name": "Adam",
    }


def test_names():
    assert gt.optim.RMSprop is gt.optim.RMSProp
    assert Adam().name == "Adam"
    assert repr(Adam(name="fast")) == "<gt.optim.Adam 'fast' iterations=0>"


# ---- slots ----------------------------------------------------------------------


def test_slots_by_name():
    slots = gt.optim.Slots({"m": 1.0}, v=2.0)
    assert slots.m == slots["m"] == 1.0
    assert dict(slots) == {"m": 1.0, "v": 2.0}
    assert repr(slots) == "Slots(m=1.0, v=2.0)"
    assert copy.copy(slots) == slots == pickle.loads(pickle.dumps(slots))
    with pytest.raises(AttributeError, match=r"no slot 'h', only \['m', 'v'\]"):
        _ = slots.h


# ---- rules of one's own ---------------------------------------------------------


class Average(Optimizer):
    """Steps by the mean of all gradients so far, with operators and gt functions."""

    slots = ("total",)

    def update(self, grad, slots, step):
        total = slots.total + grad
        return -self.rate(step) * gt.abs(total / step), gt.optim.Slots(total=total)


@pytest.mark.parametrize("block", [contextlib.nullcontext, gt.GradientTape])
def test_a_rule_of_ones_own(block):
    v, opt = gt.Variable([0.0, 0.0]), Average(0.5)
    for g in ([1.0, 2.0], [3.0, -6.0]):
        with block():
            opt.apply_gradients([(g, v)])
    assert v.numpy().tolist() == [-0.5 - 1.0, -1.0 - 1.0]
    assert opt.variables[1].numpy().tolist() == [4.0, -4.0]


def test_a_rule_that_forgets_a_slot():
    class Forgets(Average):
        def update(self, grad, slots, step):
            return -grad, gt.optim.Slots()

    with pytest.raises(KeyError, match="total"):
        Forgets(0.1).apply_gradients([(1.0, gt.Variable(0.0))])


def test_the_base_has_no_rule():
    with pytest.raises(TypeError, match="abstract"):
        Optimizer(0.1)


# ---- minimize -------------------------------------------------------------------


def test_minimize_a_function():
    v, opt = gt.Variable(2.0), SGD(0.25)
    assert opt.minimize(lambda: v * v, [v]) is opt.iterations
    assert v.numpy() == 1.0
    opt.minimize(lambda: v * v, v)
    opt.minimize(lambda: v * v, lambda: {"v": v})
    assert v.numpy() == 0.25


def test_minimize_a_tensor_of_a_tape():
    v = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        loss = v * v
    SGD(0.25).minimize(loss, [v], tape=tape)
    assert v.numpy() == 1.0


def test_minimize_watches_what_is_not_trainable():
    v = gt.Variable(2.0, trainable=False)
    SGD(0.25).minimize(lambda: v * v, [v])
    assert v.numpy() == 1.0


def test_minimize_a_tensor_without_its_tape():
    v = gt.Variable(2.0)
    with pytest.raises(ValueError, match=r"minimize: the loss is a tensor.*no tape"):
        SGD(0.25).minimize(v * v, [v])


def test_minimize_what_does_not_depend_on_the_variables():
    v, w = gt.Variable(2.0), gt.Variable(1.0, name="unused")
    with pytest.raises(ValueError, match=r"are None: unused\S*:0"):
        SGD(0.25).minimize(lambda: v * v, [w])


# ---- they optimize --------------------------------------------------------------


def quadratic(w):
    """Condition number 1000, least value 0 at 0."""
    scales = np.logspace(0, 3, 10)
    return 0.5 * gt.reduce_sum(scales * w * w)


def rosenbrock(w):
    return 100.0 * (w[1] - w[0] ** 2) ** 2 + (1.0 - w[0]) ** 2


def logistic():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 5))
    y = (x @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.normal(size=200) > 0).astype(float)

    def loss(w):
        z = gt.reduce_sum(x * w, axis=1)
        return gt.reduce_mean(gt.log(1.0 + gt.exp(-z * (2.0 * y - 1.0))))

    return loss


# The least loss of the logistic regression is 0.20383.
OBJECTIVES = {
    "quadratic": (quadratic, np.ones(10)),
    "rosenbrock": (rosenbrock, np.array([-1.2, 1.0])),
    "logistic": (logistic(), np.zeros(5)),
}
REACHED = [
    ("quadratic", lambda: SGD(1e-3), 500, 0.4),
    ("quadratic", lambda: SGD(1e-3, momentum=0.9), 500, 1e-4),
    ("quadratic", lambda: SGD(1e-3, momentum=0.9, nesterov=True), 500, 1e-4),
    ("quadratic", lambda: Adam(0.05), 500, 1e-6),
    ("quadratic", lambda: Adam(0.05, amsgrad=True), 500, 1e-4),
    ("quadratic", lambda: RMSProp(0.01), 500, 0.1),
    ("quadratic", lambda: RMSProp(0.005, momentum=0.5, centered=True), 500, 0.1),
    ("quadratic", lambda: Adagrad(0.5), 500, 1e-6),
    ("quadratic", lambda: Adadelta(1.0, epsilon=1e-6), 500, 1e-3),
    ("rosenbrock", lambda: SGD(1e-3, momentum=0.9), 2000, 0.02),
    ("rosenbrock", lambda: Adam(0.05), 1000, 0.01),
    ("rosenbrock", lambda: RMSProp(0.01), 1000, 0.1),
    ("rosenbrock", lambda: Adagrad(0.5), 2000, 0.05),
    ("logistic", lambda: SGD(1.0), 300, 0.206),
    ("logistic", lambda: SGD(0.3, momentum=0.9), 200, 0.2039),
    ("logistic", lambda: Adam(0.1), 200, 0.205),
    ("logistic", lambda: RMSProp(0.05), 200, 0.205),
    ("logistic", lambda: Adagrad(0.5), 200, 0.21),
    ("logistic", lambda: Adadelta(1.0, epsilon=1e-3), 300, 0.206),
]


def label(value):
    return type(value()).__name__ if callable(value) else str(value)


@pytest.mark.parametrize(("objective", "make", "steps", "wanted"), REACHED, ids=label)
def test_reaches_the_loss(objective, make, steps, wanted):
    loss, start = OBJECTIVES[objective]
    w, opt = gt.Variable(start), make()
    for _ in range(steps):
        opt.minimize(lambda: loss(w), [w])
    assert float(loss(w)) < wanted
