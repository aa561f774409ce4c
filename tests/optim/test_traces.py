"""Reference traces: five steps of every rule beside Keras, PyTorch and Optax.

`traces.json` holds the variable after each step. The gradient of step t = 1 to 5 is
w * [1, 0.5, 2] + 0.1 * t, and w starts at [1, -2, 0.5]. "exact" is Keras' formula in
float64; "keras", "torch" and "optax" are what the libraries printed, "=exact" if that
is the same to 1e-12. Keras itself computes parts in float32.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import gtape as gt

TRACES = json.loads(Path(__file__).with_name("traces.json").read_text("utf-8"))
TOLERANCE = {"exact": 1e-12, "keras": 1e-5, "torch": 1e-12, "optax": 1e-12}

SGD, Adam, RMSProp = gt.optim.SGD, gt.optim.Adam, gt.optim.RMSProp
Adagrad, Adadelta = gt.optim.Adagrad, gt.optim.Adadelta

ADADELTA = {"learning_rate": 1.0, "rho": 0.95, "epsilon": 1e-6}
LARGE = {"epsilon": 1e-2}
CENTERED = {"centered": True}
MOMENTUM = {"momentum": 0.9}

RULES = {
    "M.sgd": (SGD, {}),
    "M.sgd_mom": (SGD, MOMENTUM),
    "M.sgd_nesterov": (SGD, {**MOMENTUM, "nesterov": True}),
    "M.adam": (Adam, {}),
    "M.adamw": (Adam, {"weight_decay": 0.01}),
    "M.amsgrad": (Adam, {"amsgrad": True}),
    "M.rmsprop": (RMSProp, {}),
    "M.rmsprop_mom": (RMSProp, MOMENTUM),
    "M.rmsprop_cent": (RMSProp, CENTERED),
    "M.rmsprop_cent_mom": (RMSProp, CENTERED | MOMENTUM),
    "M.adagrad": (Adagrad, {}),
    "M.adadelta": (Adadelta, ADADELTA),
    # The place of epsilon shows when it is large.
    "E.adam": (Adam, LARGE),
    "E.rmsprop": (RMSProp, LARGE),
    "E.rmsprop_cent": (RMSProp, CENTERED | LARGE),
    "E.adagrad": (Adagrad, LARGE),
    "E.adadelta": (Adadelta, ADADELTA | LARGE),
    # Options.
    "O.clipnorm": (SGD, {"clipnorm": 1.0}),
    "O.clipvalue": (SGD, {"clipvalue": 0.5}),
    "O.global_clipnorm": (SGD, {"global_clipnorm": 1.0}),
    "O.weight_decay_sgd": (SGD, {"weight_decay": 0.05}),
    "O.weight_decay_adam": (Adam, {"weight_decay": 0.05}),
    "O.sched_exp": (SGD, {"learning_rate": lambda k: 0.1 * 0.5 ** (k / 2)}),
}

# The defaults of Keras are gtape's; those of the others are given.
DEFAULTS = {
    "D.sgd": (SGD, {"torch": {"learning_rate": 1e-3}}),
    "D.adam": (Adam, {"torch": {"epsilon": 1e-8}, "optax": {"epsilon": 1e-8}}),
    "D.rmsprop": (
        RMSProp,
        {
            "torch": {"learning_rate": 0.01, "rho": 0.99, "epsilon": 1e-8},
            "optax": {"epsilon": 1e-8},
        },
    ),
    "D.adagrad": (
        Adagrad,
        {
            "torch": {
                "learning_rate": 0.01,
                "initial_accumulator_value": 0.0,
                "epsilon": 1e-10,
            }
        },
    ),
    "D.adadelta": (
        Adadelta,
        {
            "torch": {"learning_rate": 1.0, "rho": 0.9, "epsilon": 1e-6},
            "optax": {"rho": 0.9, "epsilon": 1e-6},
        },
    ),
}

CASES = [(case, source) for case in TRACES for source in TRACES[case]]


def optimizer(case, source):
    flavor = "keras" if source == "exact" else source
    if case in DEFAULTS:
        rule, given = DEFAULTS[case]
        return rule(**given.get(flavor, {}), flavor=flavor)
    rule, options = RULES[case]
    return rule(**{"learning_rate": 0.1, **options}, flavor=flavor)


def steps(apply):
    """The variable after each of five steps."""
    v = gt.Variable(np.array([1.0, -2.0, 0.5]))
    rows = []
    for t in range(1, 6):
        g = v.numpy() * [1.0, 0.5, 2.0] + 0.1 * t
        apply(gt.constant(g), v)
        rows.append(v.numpy())
    return np.array(rows)


def expected(case, source):
    rows = TRACES[case][source]
    return np.array(TRACES[case]["exact"] if rows == "=exact" else rows)


def test_every_trace_has_its_rule():
    assert TRACES.keys() == RULES.keys() | DEFAULTS.keys()


@pytest.mark.parametrize(("case", "source"), CASES)
@pytest.mark.parametrize("way", ["in place", "by update", "recorded"])
def test_trace(case, source, way):
    opt = optimizer(case, source)
    opt.has_in_place = way == "in place"

    def apply(g, v):
        if way != "recorded":
            opt.apply_gradients([(g, v)])
            return
        with gt.GradientTape():
            opt.apply_gradients([(g, v)])

    wanted = expected(case, source)
    got = steps(apply)[-len(wanted) :]
    np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE[source])


@pytest.mark.parametrize("case", [c for c in RULES if not c.startswith("O.")])
def test_update_is_the_whole_rule(case):
    """Without a variable: a tensor and its slots go in, new ones come out."""
    opt = optimizer(case, "exact")
    w = gt.constant(np.array([1.0, -2.0, 0.5]))
    slots = opt.initial_slots(w)
    for t in range(1, 6):
        g = w * np.array([1.0, 0.5, 2.0]) + 0.1 * t
        delta, slots = opt.update(g, slots, t)
        w = w * (1.0 - 0.1 * (opt.weight_decay or 0.0)) + delta
    np.testing.assert_allclose(w.numpy(), expected(case, "exact")[-1], atol=1e-12)


def test_clipping_as_documented_by_keras():
    def after(**options):
        a, b = gt.Variable([1.0, 1.0]), gt.Variable([1.0, 1.0])
        opt = SGD(1.0, **options)
        opt.apply_gradients([([3.0, 4.0], a), ([0.0, 12.0], b)])
        return [*a.numpy(), *b.numpy()]

    near = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(after(clipnorm=1.0), [0.4, 0.2, 1.0, 0.0], **near)
    np.testing.assert_allclose(after(clipvalue=1.0), [0.0, 0.0, 1.0, 0.0], **near)
    np.testing.assert_allclose(
        after(global_clipnorm=1.0), [0.769231, 0.692308, 1.0, 0.076923], **near
    )
