"""Training steps inside of `gt.function`: the same numbers, one trace."""

import numpy as np
import pytest

import gtape as gt

RNG = np.random.default_rng(5)
INPUTS = RNG.standard_normal((20, 3))
TARGETS = RNG.standard_normal((20, 2))


def halved(step):
    if step < 2:
        return 0.1
    return 0.1 * 0.5 ** (step // 2)


def decayed(step):
    return 0.1 * gt.exp(-0.3 * step)


def fixed():
    return 0.05


def make_variable():
    return gt.Variable(0.07)


def fitted(make, traced, dtype="float64", steps=4):
    """Return losses, variables and state after some steps, and the number of traces."""
    w = gt.Variable(np.ones((3, 2)), dtype=dtype)
    b = gt.Variable(
        np.zeros(2), dtype=dtype, constraint=lambda v: gt.clip_by_value(v, -0.05, 0.05)
    )
    s = gt.Variable(1.0, dtype=dtype)
    x, y = gt.constant(INPUTS.astype(dtype)), gt.constant(TARGETS.astype(dtype))
    opt = make()

    def step(x, y):
        with gt.GradientTape() as tape:
            loss = gt.reduce_mean((x @ w * s + b - y) ** 2)
        gradients = tape.gradient(loss, [w, b, s])
        opt.apply_gradients(zip(gradients, [w, b, s], strict=True))
        return loss

    f = gt.function(step) if traced else step
    losses = [f(x, y).numpy() for _ in range(steps)]
    out = [np.array(losses), w.numpy(), b.numpy(), s.numpy()]
    return out + [v.numpy() for v in opt.variables], f.trace_count if traced else 0


RULES = {
    "sgd": ("SGD", {}),
    "momentum": ("SGD", {"momentum": 0.9}),
    "nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {}),
    "amsgrad": ("Adam", {"amsgrad": True}),
    "rmsprop": ("RMSProp", {"momentum": 0.5}),
    "centered": ("RMSProp", {"centered": True}),
    "adagrad": ("Adagrad", {}),
    "adadelta": ("Adadelta", {}),
}
OPTIONS = [
    {},
    {"weight_decay": 0.1},
    {"clipnorm": 0.5},
    {"clipvalue": 0.1},
    {"global_clipnorm": 0.3},
    {"flavor": "torch"},
    {"flavor": "optax"},
]
RATES = [make_variable, halved, decayed, fixed]


def check_same(make, tolerance=1e-12, **kwargs):
    expected, _ = fitted(make, False, **kwargs)
    found, traces = fitted(make, True, **kwargs)
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
    assert traces == 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_rule_and_option(rule, options):
    name, own = RULES[rule]
    check_same(lambda: getattr(gt.optim, name)(0.1, **own, **options))


@pytest.mark.parametrize("rule", ["momentum", "adam", "rmsprop", "adagrad", "adadelta"])
@pytest.mark.parametrize("rate", RATES, ids=lambda f: f.__name__)
def test_every_kind_of_rate(rule, rate):
    name, own = RULES[rule]

    def make():
        given = rate() if rate is make_variable else rate
        return getattr(gt.optim, name)(given, weight_decay=0.01, **own)

    # A rate of e**x in float32 is as near as two libraries of functions are.
    check_same(make, 1e-7 if rate is decayed else 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_narrow_variables(dtype):
    tolerance = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}[dtype]
    check_same(lambda: gt.optim.Adam(0.1), tolerance, dtype=dtype)


def stepping(opt, dtype="float64"):
    """Return a variable and a function that moves it against the gradient 2 v."""
    v = gt.Variable(1.0, dtype=dtype)
    return v, gt.function(lambda: opt.apply_gradients([(2.0 * v, v)]))


def near(value, expected):
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-12, atol=1e-15)


# --- What may change between calls ----------------------------------------------------


def test_the_rate_may_change_without_a_new_trace():
    opt = gt.optim.SGD(0.1)
    v, step = stepping(opt)
    step()
    near(v, 0.8)
    opt.learning_rate = 0.25
    step()
    near(v, 0.4)
    opt.learning_rate = 0.5
    step()
    near(v, 0.0)
    assert step.trace_count == 1


def test_a_rate_variable_is_read_by_every_call():
    rate = gt.Variable(0.1, dtype="float64")
    v, step = stepping(gt.optim.SGD(rate))
    step()
    rate.assign(0.25)
    step()
    near(v, 0.4)
    assert step.trace_count == 1


def test_a_number_may_become_a_schedule():
    opt = gt.optim.SGD(0.1)
    v, step = stepping(opt)
    step()
    opt.learning_rate = lambda done: 0.25 * done
    step()
    near(v, 0.4)
    opt.learning_rate = 0.5
    step()
    near(v, 0.0)
    assert step.trace_count == 2
    assert "the learning rate of SGD is another object" in step.explain()


def test_what_a_schedule_reads_may_change():
    settings = {"rate": 0.1}
    v, step = stepping(gt.optim.SGD(lambda: settings["rate"]))
    step()
    settings["rate"] = 0.25
    step()
    near(v, 0.4)


@pytest.mark.parametrize(
    ("make", "option", "values"),
    [
        (lambda: gt.optim.SGD(0.1, momentum=0.5), "momentum", (0.9, 0.9, 0.5)),
        (lambda: gt.optim.SGD(0.1, momentum=0.5), "nesterov", (True, True, False)),
        (lambda: gt.optim.SGD(0.1, clipnorm=1.0), "clipnorm", (0.5, 0.5, None)),
        (lambda: gt.optim.SGD(0.1), "weight_decay", (0.5, 0.5, None)),
        (
            lambda: gt.optim.SGD(0.1, momentum=0.5),
            "flavor",
            ("torch", "torch", "keras"),
        ),
        (lambda: gt.optim.Adam(0.1), "beta_2", (0.9, 0.9, 0.999)),
        (lambda: gt.optim.Adam(0.1), "epsilon", (0.5, 0.5, 1e-7)),
        (lambda: gt.optim.RMSProp(0.1), "rho", (0.5, 0.5, 0.9)),
    ],
)
def test_options_may_change(make, option, values):
    opt, other = make(), make()
    v, step = stepping(opt)
    w = gt.Variable(1.0, dtype="float64")
    for value in (getattr(opt, option), *values):
        setattr(opt, option, value)
        setattr(other, option, value)
        step()
        other.apply_gradients([(2.0 * w, w)])
        near(v, w.numpy())
    # The first value comes back, and its trace with it, if it is the first again.
    assert step.trace_count == (2 if values[-1] == make().__dict__[option] else 3)
    assert f"attribute {option!r} of " in step.explain()


def test_a_constraint_may_change():
    opt = gt.optim.SGD(0.1)
    v, step = stepping(opt)
    step()
    v.constraint = lambda x: gt.maximum(x, 0.7)
    step()
    near(v, 0.7)


def test_the_function_may_set_the_rate():
    opt = gt.optim.SGD(0.1)
    v = gt.Variable(1.0, dtype="float64")

    @gt.function
    def f():
        opt.learning_rate = 0.25
        opt.apply_gradients([(2.0 * v, v)])

    f()
    near(v, 0.5)
    assert opt.learning_rate == 0.25
    opt.learning_rate = 0.1
    f()
    near(v, 0.25)
    assert opt.learning_rate == 0.25


def test_the_rate_may_be_an_argument():
    opt = gt.optim.SGD(0.1)
    v = gt.Variable(1.0, dtype="float64")

    @gt.function
    def f(rate):
        opt.learning_rate = rate / 2
        opt.apply_gradients([(2.0 * v, v)])

    for rate, expected in ((0.5, 0.5), (0.25, 0.375), (1.0, 0.0)):
        f(rate)
        near(v, expected)
        assert opt.learning_rate == rate / 2
    assert f.trace_count == 1
    with pytest.raises(ValueError, match=r"learning_rate is -1\.0"):
        f(-2.0)


def test_a_rule_outside_of_apply_gradients():
    rule = gt.optim.Adam(0.5)

    @gt.function
    def change(w):
        return rule.update(2.0 * w, rule.initial_slots(w), step=1)[0]

    w = gt.constant(1.0, dtype="float64")
    expected = rule.update(2.0 * w, rule.initial_slots(w), step=1)[0].numpy()
    near(change(w), expected)
    rule.learning_rate = 0.25
    near(change(w), expected / 2)
    assert change.trace_count == 1
    rule.epsilon = 1.0
    near(change(w), rule.update(2.0 * w, rule.initial_slots(w), step=1)[0].numpy())


def test_a_gradient_by_the_rate():
    rate = gt.Variable(0.1, dtype="float64")
    rule = gt.optim.Adam(rate)

    def moved(w):
        return w + rule.update(2.0 * w, rule.initial_slots(w), step=1)[0]

    found = []
    for f in (moved, gt.function(moved)):
        with gt.GradientTape() as tape:
            y = f(gt.constant(1.0, dtype="float64"))
        found.append(tape.gradient(y, rate).numpy())
    np.testing.assert_allclose(found, [-1.0, -1.0], rtol=1e-5)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
