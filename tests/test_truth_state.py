"""Nothing is silently wrong where variables, slots and tensors change."""

import copy
import pickle

import numpy as np
import pytest

import gtape as gt

SGD, Adam, RMSProp = gt.optim.SGD, gt.optim.Adam, gt.optim.RMSProp

# --- Optimizers -----------------------------------------------------------------------


def state_of(optimizer, *variables):
    return [np.array(v.numpy()) for v in [*variables, *optimizer.variables]]


def assert_same(got, wanted):
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_a_variable_of_unknown_size_grows_beside_another():
    a, b = gt.Variable([1.0, 2.0, 3.0], shape=[None]), gt.Variable([4.0, 5.0])
    opt = SGD(1.0)
    opt.apply_gradients([(gt.ones([3]), a), (gt.ones([2]), b)])
    a.assign([1.0, 2.0, 3.0, 4.0, 5.0])
    opt.apply_gradients([(gt.ones([5]), a), (gt.ones([2]), b)])
    assert a.numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert b.numpy().tolist() == [2.0, 3.0]


@pytest.mark.parametrize("rule", [SGD, Adam])
@pytest.mark.parametrize(("size", "wrong"), [(5, 1), (1, 5), (5, 3)])
def test_gradients_do_not_broadcast_to_variables_of_unknown_size(rule, size, wrong):
    v = gt.Variable(np.ones(size, np.float32), shape=[None])
    with pytest.raises(gt.errors.ShapeError, match=rf"\({wrong},\).*\({size},\)"):
        rule(1.0).apply_gradients([(gt.ones([wrong]), v)])


def failing(value):
    raise ValueError("not today")


@pytest.mark.parametrize(
    "rule",
    [lambda: SGD(0.1, momentum=0.9), lambda: Adam(0.1), lambda: RMSProp(0.1)],
)
@pytest.mark.parametrize("shapes", [[(2,), (3,)], [(2,), (90, 60)], [(), (2,)]])
@pytest.mark.parametrize("constraint", [failing, lambda value: value[0]])
def test_a_failing_constraint_changes_nothing(rule, shapes, constraint):
    v, w = (gt.Variable(np.ones(shape, np.float32)) for shape in shapes)
    opt, twin = rule(), rule()
    (v2, w2) = (gt.Variable(v), gt.Variable(w))
    pairs = [(gt.ones_like(v), v), (gt.ones_like(w), w)]
    opt.apply_gradients(pairs)
    before = state_of(opt, v, w)
    w.constraint = constraint
    with pytest.raises(ValueError):  # noqa: PT011
        opt.apply_gradients(pairs)
    assert_same(state_of(opt, v, w), before)
    w.constraint = None
    opt.apply_gradients(pairs)
    for _ in range(2):
        twin.apply_gradients([(gt.ones_like(v), v2), (gt.ones_like(w), w2)])
    assert_same(state_of(opt, v, w), state_of(twin, v2, w2))


SHAPES = [(), (3,), (2, 2), (0,), (70, 70)]
DTYPES = ["float32", "float64", "float16", "bfloat16", "float32"]


def copied(world):
    return copy.deepcopy(world)


def pickled(world):
    return pickle.loads(pickle.dumps(world))


def restored(world):
    for optimizer in world[1]:
        values = [v.numpy() for v in optimizer.variables]
        for v, value in zip(optimizer.variables, values, strict=True):
            v.assign(value)
    return world


def untouched(world):
    return world


@pytest.mark.parametrize("seed", range(6))
def test_two_optimizers_of_shared_variables_recorded_or_not(seed):
    rng = np.random.default_rng(seed)
    values = [
        gt.cast(rng.normal(size=s), d) for s, d in zip(SHAPES, DTYPES, strict=True)
    ]

    def world():
        rules = [Adam(0.1, clipnorm=0.5), RMSProp(0.1, momentum=0.5, weight_decay=0.1)]
        return [gt.Variable(v) for v in values], rules

    bare, seen = world(), world()
    for _ in range(10):
        which = rng.integers(2)
        some = rng.permutation(5)[: rng.integers(1, 6)]
        grads = [gt.cast(rng.normal(size=SHAPES[i]), DTYPES[i]) for i in some]
        between = [copied, pickled, restored, untouched][rng.integers(4)]
        pairs = zip(grads, [bare[0][i] for i in some], strict=True)
        bare[1][which].apply_gradients(pairs)
        with gt.GradientTape():
            pairs = zip(grads, [seen[0][i] for i in some], strict=True)
            seen[1][which].apply_gradients(pairs)
        bare = between(bare)
        for k in range(2):
            assert_same(state_of(bare[1][k], *bare[0]), state_of(seen[1][k], *seen[0]))


# --- Functions that are computed again ------------------------------------------------


def test_recompute_grad_of_an_argument_that_the_function_assigns():
    v = gt.Variable(3.0)

    def f(x):
        y = x * x
        v.assign(10.0)
        return y

    with gt.GradientTape() as tape:
        y = gt.recompute_grad(f)(v)
    assert float(tape.gradient(y, v)) == 6.0
    assert float(v) == 10.0


def test_recompute_grad_of_a_watched_variable_that_is_not_trainable():
    v, x = gt.Variable(2.0, trainable=False), gt.constant(3.0)
    with gt.GradientTape() as tape:
        tape.watch([v, x])
        y = gt.recompute_grad(lambda u: u * v)(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [2.0, 3.0]
    with gt.GradientTape() as tape:
        tape.watch([v, x])
        y = gt.recompute_grad(lambda u: gt.recompute_grad(lambda t: t * v)(u))(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [2.0, 3.0]


def test_recompute_grad_with_a_named_array_that_changes_later():
    x, factor = gt.constant([3.0, 4.0]), np.array([1.0, 2.0], np.float32)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.recompute_grad(lambda u, by: u * u * by)(x, by=factor)
    factor[:] = 0.0
    assert tape.gradient(y, x).numpy().tolist() == [6.0, 16.0]


def test_recompute_grad_restores_what_an_inner_one_read():
    state, x = gt.Variable(2.0, trainable=False), gt.constant(3.0)
    inner = gt.recompute_grad(lambda u: u * state)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.recompute_grad(lambda u: inner(u) * 1.0)(x)
    state.assign(100.0)
    assert float(tape.gradient(y, x)) == 2.0
    assert float(state) == 100.0


# --- Tensors --------------------------------------------------------------------------


def test_fill_of_no_dimensions_is_a_tensor_of_its_own():
    x = gt.constant(1.0)
    y = gt.fill([], x)
    y[...] = 5.0
    assert float(x) == 1.0


# ---- recompute_grad: what the function captures --------------------------------------


def recomputed(f, *sources):
    """Return the gradients of f's value, plain and with recompute_grad."""
    found = []
    for g in (f, lambda *xs: gt.recompute_grad(lambda *ys: f(*ys))(*xs)):
        with gt.GradientTape() as tape:
            tape.watch(sources)
            value = g(*sources[:1])
        found.append([float(c) for c in tape.gradient(value, sources, None, "zero")])
    return found


def test_recompute_grad_of_captured_tensors():
    x, y, z = gt.constant(2.0), gt.constant(3.0), gt.constant(5.0)
    cases = (
        lambda v: v * y,
        lambda v: v * y * y + gt.sin(y) * z,
        lambda v: x * v,  # the argument itself, captured
        lambda v: y,  # a captured tensor as it is
        lambda v: gt.recompute_grad(lambda w: w * y)(v) * z,
        lambda v: gt.stack([v, y, z])[1] * z,
        lambda v: gt.stop_gradient(y) * v,
    )
    for f in cases:
        plain, again = recomputed(f, x, y, z)
        assert again == plain


def test_recompute_grad_of_a_captured_tensor_to_second_order():
    x, y = gt.constant(2.0), gt.constant(3.0)
    found = []
    for f in (lambda v: v * v * y * y, gt.recompute_grad(lambda v: v * v * y * y)):
        with gt.GradientTape(persistent=True) as outer:
            outer.watch([x, y])
            with gt.GradientTape() as inner:
                inner.watch([x, y])
                value = f(x)
            first = inner.gradient(value, [x, y])
        found.append([float(c) for g in first for c in outer.gradient(g, [x, y])])
    assert found[0] == found[1] == [18.0, 24.0, 24.0, 8.0]


def test_recompute_grad_of_a_captured_tensor_in_forward_mode():
    x, y = gt.constant(2.0), gt.constant(3.0)
    with gt.ForwardAccumulator((x, y), (gt.constant(1.0), gt.constant(10.0))) as acc:
        z = gt.recompute_grad(lambda v: v * v * y)(x)
    assert float(acc.jvp(z)) == 2 * 2 * 3 + 10 * 4


def test_recompute_grad_of_a_captured_tensor_whose_items_change_later():
    x, y = gt.constant([2.0]), gt.constant([3.0])
    with gt.GradientTape() as tape:
        tape.watch([x, y])
        z = gt.recompute_grad(lambda v: v * y * y)(x)
        y[0] = 100.0
    assert tape.gradient(z, x).numpy().tolist() == [9.0]
    assert y.numpy().tolist() == [100.0]


def test_recompute_grad_of_a_captured_variable_that_is_returned():
    v, x = gt.Variable(4.0), gt.constant(2.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        value, other = gt.recompute_grad(lambda u: (v, u * v))(x)
        total = 3.0 * value + other
    assert [float(g) for g in tape.gradient(total, [v, x])] == [5.0, 4.0]


def test_recompute_grad_of_a_function_that_returns_a_number_too():
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y, number = gt.recompute_grad(lambda u: (u * u, 7.0))(x)
        total = y * number
    assert float(tape.gradient(total, x)) == 28.0
