"""Optimizers in functions: their state, loops of steps, whole programs."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import ArgumentTypeError, GradientError, GradientWarning


def stepping(opt, dtype="float64"):
    """Return a variable and a function that moves it against the gradient 2 v."""
    v = gt.Variable(1.0, dtype=dtype)
    return v, gt.function(lambda: opt.apply_gradients([(2.0 * v, v)]))


def near(value, expected):
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-12, atol=1e-15)


# --- State ----------------------------------------------------------------------------


def test_slots_are_made_once_by_whichever_trace_comes_first():
    opt = gt.optim.Adam(0.1)
    v = gt.Variable(1.0)

    @gt.function
    def f(x, train):
        if train:
            opt.apply_gradients([(x * v, v)])
        return v * x

    f(gt.constant(1.0), False)
    assert len(opt.variables) == 1
    f(gt.constant(1.0), True)
    slots = opt.variables
    assert len(slots) == 3
    f(gt.constant([1.0]), False)
    f(gt.constant(2.0), True)
    assert all(a is b for a, b in zip(slots, opt.variables, strict=True))
    assert opt.iterations.numpy() == 2
    assert f.trace_count == 3


def test_eager_and_traced_steps_share_the_state():
    for make in (gt.optim.Adam, gt.optim.RMSProp, gt.optim.Adagrad):
        opt, other = make(0.1), make(0.1)
        v, step = stepping(opt)
        w = gt.Variable(1.0, dtype="float64")
        for i in range(6):
            if i % 3 == 1:
                opt.apply_gradients([(2.0 * v, v)])
            else:
                step()
            other.apply_gradients([(2.0 * w, w)])
            near(v, w.numpy())
        assert opt.iterations.numpy() == 6


def test_the_state_can_be_set_between_calls():
    opt = gt.optim.SGD(0.1, momentum=0.5)
    v, step = stepping(opt)
    step()
    for variable in opt.variables:
        variable.assign(gt.zeros_like(variable))
    v.assign(1.0)
    step()
    near(v, 0.8)
    assert opt.iterations.numpy() == 1


def test_a_checked_step_among_others():
    v, w = gt.Variable(np.ones(5)), gt.Variable(np.ones(5))
    opt, other = gt.optim.Adam(0.1), gt.optim.Adam(0.1)

    def step():
        opt.apply_gradients([(2.0 * v, v)])

    checked = gt.function(step, check=True)
    for call in (step, step, checked, checked, step, checked):
        call()
        other.apply_gradients([(2.0 * w, w)])
        near(v, w.numpy())


def test_all_new_values_come_from_the_old_ones():
    a, b = gt.Variable(1.0), gt.Variable(2.0)
    opt = gt.optim.SGD(1.0)
    gt.function(lambda: opt.apply_gradients([(a - b, a), (b - a, b)]))()
    assert (a.numpy(), b.numpy()) == (2.0, 1.0)


def test_a_step_in_a_branch():
    opt = gt.optim.Adam(0.1)
    v = gt.Variable(1.0)

    @gt.function
    def f(x):
        g = v * x
        if gt.reduce_all(gt.math.is_finite(g)):
            opt.apply_gradients([(g, v)])
        return g

    f(gt.constant(1.0))
    before = [v.numpy(), *[s.numpy() for s in opt.variables]]
    f(gt.constant(np.inf, dtype="float32"))
    assert [v.numpy(), *[s.numpy() for s in opt.variables]] == before
    f(gt.constant(2.0))
    assert opt.iterations.numpy() == 2
    assert f.trace_count == 1


def fifty(loop):
    """G48: fifty steps, with a tape in each, in one function."""

    def make():
        v = gt.Variable([1.0, 2.0], dtype="float64")
        return v, gt.optim.Adam(0.05)

    (v, opt), (w, other) = make(), make()

    @gt.function
    def train(n):
        loss = gt.constant(0.0, "float64")
        for _ in loop(n):
            with gt.GradientTape() as tape:
                loss = gt.reduce_sum((v - 3.0) ** 2)
            opt.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    for _ in range(50):
        with gt.GradientTape() as tape:
            loss = gt.reduce_sum((w - 3.0) ** 2)
        other.apply_gradients([(tape.gradient(loss, w), w)])
    return train, v, opt, w, loss


@pytest.mark.parametrize("loop", [range, gt.range], ids=["range", "gt.range"])
def test_g48_fifty_steps_in_one_function(loop):
    train, v, opt, w, loss = fifty(loop)
    n = 50 if loop is range else gt.constant(50)
    near(train(n), loss.numpy())
    near(v, w.numpy())
    assert opt.iterations.numpy() == 50
    loops = str(train.graph(n)).count(" = for ")
    assert loops == 1
    opt.learning_rate = 0.0
    train(n)
    near(v, w.numpy())
    assert train.trace_count == 1


def test_g48_until_the_loss_is_small():
    v = gt.Variable([1.0, 2.0], dtype="float64")
    opt = gt.optim.SGD(0.25)

    @gt.function
    def train(goal):
        steps, loss = 0, gt.constant(np.inf)
        while loss > goal:
            with gt.GradientTape() as tape:
                loss = gt.reduce_sum((v - 3.0) ** 2)
            opt.apply_gradients([(tape.gradient(loss, v), v)])
            steps += 1
        return steps

    # The distance halves with every step: 5, 5 / 4, 5 / 16, 5 / 64.
    assert train(gt.constant(0.1, "float64")).numpy() == 4
    assert opt.iterations.numpy() == 4


# --- Rules of one's own ---------------------------------------------------------------


class Clipped(gt.optim.Optimizer):
    """Python's control flow on tensors, and attributes of its own."""

    slots = ("count",)

    def __init__(self, rate):
        super().__init__(rate)
        self.limit = 1.5

    def update(self, grad, slots, step):
        if gt.abs(grad) > self.limit:
            delta = -self.rate(step) * gt.sign(grad)
        else:
            delta = -self.rate(step) * grad / step
        return delta, gt.optim.Slots(count=slots.count + 1.0)


def test_a_rule_of_the_users():
    opt, other = Clipped(0.1), Clipped(0.1)
    v, step = stepping(opt)
    w = gt.Variable(1.0, dtype="float64")
    for limit in (1.5, 1.5, 1.5, 0.1, 0.1):
        opt.limit = other.limit = limit
        step()
        other.apply_gradients([(2.0 * w, w)])
        near(v, w.numpy())
    assert step.trace_count == 2
    assert opt.variables[1].numpy() == 5.0


def test_minimize():
    def make(traced):
        w = gt.Variable(2.0, dtype="float64")
        opt = gt.optim.SGD(0.25)

        def loss():
            if w > 1.5:
                return w * w
            return w**4

        def step():
            return opt.minimize(loss, lambda: [w])

        f = gt.function(step) if traced else step
        return [int(f()) for _ in range(4)], w.numpy()

    assert make(True) == make(False)


def test_rows_of_a_table():
    def make(traced):
        table = gt.Variable(np.ones((4, 2)))
        opt = gt.optim.Adam(0.5)

        def step(i):
            with gt.GradientTape() as tape:
                loss = gt.reduce_sum(gt.gather(table, i) ** 2)
            opt.apply_gradients([(tape.gradient(loss, table), table)])

        (gt.function(step) if traced else step)(gt.constant([0, 0, 2]))
        return table.numpy()

    np.testing.assert_allclose(make(True), make(False), rtol=1e-12)


# --- Gradients that are not there -----------------------------------------------------


def test_a_missing_gradient_warns_while_tracing():
    opt = gt.optim.SGD(0.25)
    v, unused = gt.Variable(1.0), gt.Variable(2.0, name="unused_in_the_loss")

    @gt.function
    def step():
        with gt.GradientTape() as tape:
            loss = v * v
        gradients = tape.gradient(loss, [v, unused])
        opt.apply_gradients(zip(gradients, [v, unused], strict=True))

    with pytest.warns(GradientWarning, match=f"no gradient for {unused.name}") as found:
        step()
    step()
    assert len(found) == 1
    assert found[0].filename == __file__
    assert (v.numpy(), unused.numpy()) == (0.25, 2.0)


@pytest.mark.parametrize(
    ("pairs", "error", "match"),
    [
        (
            lambda v: [(None, v)],
            GradientError,
            "the gradients of all variables are None",
        ),
        (lambda v: [], GradientError, "there are no gradients"),
        (lambda v: [(v, v), (v, v)], GradientError, "stands there twice"),
        (lambda v: [(v, 1.0)], ArgumentTypeError, "not a variable"),
    ],
)
def test_wrong_pairs(pairs, error, match):
    v, opt = gt.Variable(1.0), gt.optim.SGD(0.1)
    with pytest.raises(error, match=match):
        gt.function(lambda: opt.apply_gradients(pairs(v)))()
    assert v.numpy() == 1.0


def test_a_schedule_that_is_no_number():
    _, step = stepping(gt.optim.SGD(lambda done: gt.ones([2])))
    with pytest.raises(ArgumentTypeError, match="the learning rate has shape"):
        step()


# --- Whole programs -------------------------------------------------------------------


class Line(gt.Module):
    """The module of T5 and T6."""

    def __init__(self):
        super().__init__(name="line")
        self.k = gt.Variable(0.0, name="k")
        self.b = gt.Variable(0.0, name="b")

    def __call__(self, x):
        return self.k * x + self.b


@pytest.mark.parametrize("name", ["Adam", "RMSProp", "SGD", "Adagrad", "Adadelta"])
def test_t5_t6_t8_a_line(name):
    rates = {"Adadelta": 20.0, "Adagrad": 0.5, "RMSProp": 0.03}
    m, opt = Line(), getattr(gt.optim, name)(rates.get(name, 0.1))
    x = gt.constant(np.linspace(-1, 1, 21).astype("float32"))
    y = 3.0 * x - 1.0

    @gt.function
    def step():
        with gt.GradientTape() as tape:
            cost = gt.reduce_mean((m(x) - y) ** 2)
        variables = m.trainable_variables
        opt.apply_gradients(zip(tape.gradient(cost, variables), variables, strict=True))
        return cost

    for _ in range(300):
        cost = step()
    assert cost.numpy() < 1e-3
    assert abs(m.k.numpy() - 3) < 0.05
    assert abs(m.b.numpy() + 1) < 0.05
    assert step.trace_count == 1


def test_t7_digits():
    """scikit-learn's digits: 64-32-10, Adam, batches of 32 and a last one of 28."""
    datasets = pytest.importorskip("sklearn.datasets")
    digits = datasets.load_digits()
    images = (digits.data / 16.0).astype("float32")
    labels = digits.target.astype("int64")
    rng = np.random.default_rng(0)

    class Net(gt.Module):
        def __init__(self):
            super().__init__()
            self.w1 = gt.Variable(rng.normal(0, 0.18, (64, 32)).astype("float32"))
            self.b1 = gt.Variable(gt.zeros([32]))
            self.w2 = gt.Variable(rng.normal(0, 0.25, (32, 10)).astype("float32"))
            self.b2 = gt.Variable(gt.zeros([10]))

        def __call__(self, x):
            return gt.nn.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2

    net, opt = Net(), gt.optim.Adam(0.01)

    @gt.function
    def step(x, y):
        with gt.GradientTape() as tape:
            losses = gt.nn.sparse_softmax_cross_entropy_with_logits(
                labels=y, logits=net(x)
            )
            loss = gt.reduce_mean(losses)
        variables = net.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    @gt.function
    def accuracy(x, y):
        hits = gt.argmax(net(x), axis=1) == y
        return gt.reduce_mean(gt.cast(hits, "float32"))

    for _ in range(5):
        order = rng.permutation(1500)
        for start in range(0, 1500, 32):
            rows = order[start : start + 32]
            step(gt.constant(images[rows]), gt.constant(labels[rows]))
    assert accuracy(images[1500:], labels[1500:]).numpy() > 0.85
    assert opt.iterations.numpy() == 5 * 47
    assert step.trace_count == 2  # the last batch has 28 rows
