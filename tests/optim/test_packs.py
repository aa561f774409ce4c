"""Small variables are updated as one flat array, and nobody can tell."""

import copy

import numpy as np
import pytest

import gtape as gt
from gtape.optim import packs, steps

SGD, Adam, RMSProp = gt.optim.SGD, gt.optim.Adam, gt.optim.RMSProp
Adagrad, Adadelta = gt.optim.Adagrad, gt.optim.Adadelta

RULES = {
    "sgd": lambda **o: SGD(0.1, **o),
    "momentum": lambda **o: SGD(0.1, momentum=0.9, **o),
    "adam": lambda **o: Adam(0.1, **o),
    "amsgrad": lambda **o: Adam(0.1, amsgrad=True, **o),
    "rmsprop": lambda **o: RMSProp(0.1, momentum=0.9, centered=True, **o),
    "adagrad": lambda **o: Adagrad(0.1, **o),
    "adadelta": lambda **o: Adadelta(1.0, **o),
}
every_rule = pytest.mark.parametrize("rule", list(RULES))

KINDS = [
    ((3, 4), "float32"),
    ((5,), "float64"),
    ((7,), "float32"),
    ((), "float32"),
    ((0, 2), "float32"),
    ((2, 3, 2), "bfloat16"),
    ((4,), "float64"),
    ((90, 60), "float32"),  # this one is not small
]


def variables():
    rng = np.random.default_rng(1)
    return [
        gt.Variable(gt.cast(gt.constant(rng.normal(size=shape)), dtype))
        for shape, dtype in KINDS
    ]


def gradients(vs, seed):
    rng = np.random.default_rng(seed)
    return [gt.cast(gt.constant(rng.normal(size=v.shape)), v.dtype) for v in vs]


def train(rule, between=lambda opt, vs, t: None, **options):
    """Every value and slot after each of four steps."""
    opt, vs = RULES[rule](**options), variables()
    seen = []
    for t in range(4):
        opt.apply_gradients(zip(gradients(vs, t), vs, strict=True))
        between(opt, vs, t)
        seen += [np.array(v._tensor._array) for v in [*vs, *opt.variables]]
    return seen


def assert_same(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def apart(monkeypatch):
    monkeypatch.setattr(steps, "SMALL", -1)


@every_rule
@pytest.mark.parametrize("flavor", ["keras", "torch", "optax"])
@pytest.mark.parametrize("weight_decay", [None, 0.01])
def test_together_equals_apart_to_the_last_bit(rule, flavor, weight_decay, monkeypatch):
    options = {"flavor": flavor, "weight_decay": weight_decay}
    together = train(rule, **options)
    apart(monkeypatch)
    assert_same(together, train(rule, **options))


def read(opt, vs, t):
    for slot in opt.variables[t:]:
        np.asarray(slot)


def assign_slot(opt, vs, t):
    for slot in opt.variables[1 + t : 3 + t]:
        slot.assign(gt.ones_like(slot))


def assign_variable(opt, vs, t):
    vs[t].assign(gt.ones_like(vs[t]))


def update_some(opt, vs, t):
    some = vs[: t + 1]
    opt.apply_gradients(zip(gradients(some, 9 + t), some, strict=True))


def update_in_another_order(opt, vs, t):
    opt.apply_gradients(zip(gradients(vs, 9 + t)[::-1], vs[::-1], strict=True))


def update_recorded(opt, vs, t):
    with gt.GradientTape():
        update_some(opt, vs, t)


@pytest.mark.parametrize("rule", ["sgd", "adam"])
@pytest.mark.parametrize(
    "between",
    [
        read,
        assign_slot,
        assign_variable,
        update_some,
        update_in_another_order,
        update_recorded,
    ],
)
def test_whatever_happens_between_updates(rule, between, monkeypatch):
    together = train(rule, between)
    apart(monkeypatch)
    assert_same(together, train(rule, between))


@every_rule
def test_what_was_read_stays(rule):
    opt, vs = RULES[rule](), variables()
    opt.apply_gradients(zip(gradients(vs, 0), vs, strict=True))
    reads = [np.asarray(v) for v in [*vs, *opt.variables]]
    reads += [v.read_value()._array for v in [*vs, *opt.variables]]
    before = [np.array(r) for r in reads]
    for t in range(1, 3):
        opt.apply_gradients(zip(gradients(vs, t), vs, strict=True))
    assert_same(reads, before)


def test_copies_go_on_alone():
    opt, vs = Adam(0.1), [gt.Variable([1.0, 2.0]), gt.Variable([3.0])]
    opt.apply_gradients(zip([[1.0, 2.0], [3.0]], vs, strict=True))
    twin, twins = copy.deepcopy((opt, vs))
    assert twin.packs == {}
    for o, some in ((opt, vs), (twin, twins)):
        for _ in range(2):
            o.apply_gradients(zip([[1.0, 2.0], [3.0]], some, strict=True))
    for a, b in zip([*vs, *opt.variables], [*twins, *twin.variables], strict=True):
        assert a.numpy().tolist() == b.numpy().tolist()


def test_packs_are_used_again():
    opt, vs = Adam(0.1), [gt.Variable([1.0, 2.0]), gt.Variable([3.0])]
    made = []
    for _ in range(3):
        opt.apply_gradients(zip([[1.0, 2.0], [3.0]], vs, strict=True))
        made.append(opt.packs[np.dtype(np.float32)])
    assert made[0] is made[1] is made[2]
    assert packs.SMALL == steps.SMALL
