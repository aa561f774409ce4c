"""The two seed lessons, line by line: S1 to S31 and the topics T1 to T8.

Each test carries the code of its line. Where gtape decided otherwise than
TensorFlow (S19, S26), the test holds gtape's decision.
"""

import re

import numpy as np
import pytest

import gtape as gt


def values(tensors):
    """The tensors as plain Python numbers and lists, None kept."""
    return [None if t is None else t.numpy().tolist() for t in tensors]


# ---- the lesson on automatic differentiation: S1 to S21 -------------------------


def test_s1_derivative_at_a_point():
    u = gt.Variable(-2.0)
    with gt.GradientTape() as rec:
        q = u**2
    d = rec.gradient(q, u)
    assert d.numpy() == -4.0
    assert d.shape == ()
    assert d.dtype == gt.float32


def test_s1_printed_form():
    u = gt.Variable(-2.0)
    with gt.GradientTape() as rec:
        q = u**2
    d = rec.gradient(q, u)
    assert str(d) == "gt.Tensor(-4.0, shape=(), dtype=float32)"
    assert repr(d) == "<gt.Tensor: shape=(), dtype=float32, numpy=-4.0>"


def linear_layer():
    w = gt.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    b = gt.Variable(gt.zeros(2, dtype=gt.float32))
    x = gt.Variable([[-2.0, 1.0, 3.0]])
    with gt.GradientTape() as rec:
        y = x @ w + b
        cost = gt.reduce_mean(y**2)
    return y, cost, rec.gradient(cost, [w, b])


def test_s2_list_of_sources():
    y, cost, g = linear_layer()
    assert isinstance(g, list)
    assert cost.numpy() == 290.0
    assert y.numpy().tolist() == [[16.0, 18.0]]
    assert g[0].shape == (3, 2)
    assert g[1].shape == (2,)
    assert g[0].dtype == gt.float32
    assert g[1].dtype == gt.float32
    assert g[0].numpy().tolist() == [[-32.0, -36.0], [16.0, 18.0], [48.0, 54.0]]
    assert g[1].numpy().tolist() == [16.0, 18.0]


def test_s2_printed_form_of_vector_and_matrix():
    _, _, g = linear_layer()
    assert str(g[1]) == "gt.Tensor([16. 18.], shape=(2,), dtype=float32)"
    assert str(g[0]) == (
        "gt.Tensor(\n[[-32. -36.]\n [ 16.  18.]\n [ 48.  54.]], "
        "shape=(3, 2), dtype=float32)"
    )


def test_s2b_random_weights_follow_the_formula():
    w = gt.Variable(gt.random.normal((3, 2)))
    b = gt.Variable(gt.zeros(2))
    x = gt.Variable([[-2.0, 1.0, 3.0]])
    with gt.GradientTape() as rec:
        cost = gt.reduce_mean((x @ w + b) ** 2)
    gw, gb = rec.gradient(cost, [w, b])
    r = x.numpy() @ w.numpy() + b.numpy()
    assert gw.shape == (3, 2)
    assert gb.shape == (2,)
    np.testing.assert_allclose(gb.numpy(), r[0], atol=1e-5)
    np.testing.assert_allclose(gw.numpy(), x.numpy().T @ r, atol=1e-4)


def two_gradients(p, q):
    with gt.GradientTape() as rec:
        f = (p + q) ** 2 + 2 * q
    return rec.gradient(f, [p, q])


def test_s3_constant_is_not_watched():
    p = gt.Variable(0, dtype=gt.float32)
    assert values(two_gradients(p, gt.constant(1.5))) == [3.0, None]


def test_s4_variable_is_watched():
    p = gt.Variable(0, dtype=gt.float32)
    assert values(two_gradients(p, gt.Variable(1.5))) == [3.0, 5.0]


def test_s5_not_trainable_is_not_watched():
    p = gt.Variable(0, dtype=gt.float32, trainable=False)
    assert values(two_gradients(p, gt.Variable(1.5))) == [None, 5.0]


def test_s6_variable_plus_number_is_a_tensor():
    p = gt.Variable(0, dtype=gt.float32)
    t = gt.Variable(1.5) + 1.0
    assert isinstance(t, gt.Tensor)
    assert not isinstance(t, gt.Variable)
    assert t.numpy() == 2.5
    assert values(two_gradients(p, t)) == [5.0, None]


def run_watching(select):
    p = gt.Variable(0, dtype=gt.float32)
    q = gt.Variable(1.5)
    with gt.GradientTape(watch_accessed_variables=False) as rec:
        if select is not None:
            rec.watch(select(p, q))
        f = (p + q) ** 2 + 2 * q
    return values(rec.gradient(f, [p, q])), rec.watched_variables(), p, q


def test_s7_nothing_watched():
    g, watched, _, _ = run_watching(None)
    assert g == [None, None]
    assert watched == ()


def test_s8_watch_one():
    g, watched, p, _ = run_watching(lambda p, q: p)
    assert g == [3.0, None]
    assert len(watched) == 1
    assert watched[0] is p


def test_s9_watch_a_list():
    g, watched, p, q = run_watching(lambda p, q: [p, q])
    assert g == [3.0, 5.0]
    assert len(watched) == 2
    assert watched[0] is p
    assert watched[1] is q


def chain(value, persistent=False):
    p = gt.Variable(value, dtype=gt.float32)
    tape = gt.GradientTape(watch_accessed_variables=False, persistent=persistent)
    with tape as rec:
        rec.watch(p)
        mid = 2 * p
        f = mid * mid
    return rec, f, mid, p


@pytest.mark.parametrize(("at", "expected"), [(0, 0.0), (3, 12.0)])
def test_s10_intermediate_is_a_source(at, expected):
    rec, f, mid, _ = chain(at)
    assert rec.gradient(f, mid).numpy() == expected


def test_s11_second_gradient_names_persistent():
    rec, f, mid, p = chain(3)
    rec.gradient(f, mid)
    with pytest.raises(RuntimeError, match="persistent"):
        rec.gradient(f, p)


def test_s12_persistent_tape_answers_again():
    rec, f, mid, p = chain(3, persistent=True)
    assert rec.gradient(f, mid).numpy() == 12.0
    assert rec.gradient(f, p).numpy() == 24.0
    assert rec.gradient(f, mid).numpy() == 12.0


def test_s13_del_of_a_persistent_tape():
    rec, f, mid, p = chain(3, persistent=True)
    g = rec.gradient(f, p)
    del rec
    assert g.numpy() == 24.0
    assert f.numpy() == 36.0
    assert mid.numpy() == 6.0


def test_s14_vector_result_sums_and_list_times_tensor():
    s = gt.Variable(1.0)
    with gt.GradientTape() as rec:
        y = [2.0, 3.0] * s**2
    d = rec.gradient(y, s)
    assert y.numpy().tolist() == [2.0, 3.0]
    assert d.shape == ()
    assert d.numpy() == 10.0


def test_s15_vector_parameter():
    v = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as rec:
        y = gt.reduce_sum([2.0, 3.0] * v**2)
    d = rec.gradient(y, v)
    assert d.shape == (2,)
    assert d.numpy().tolist() == [4.0, 12.0]


@pytest.mark.parametrize(("at", "expected"), [(1.0, 10.0), (3.0, 6.0), (2.0, 4.0)])
def test_s16_python_if(at, expected):
    s = gt.Variable(at)
    with gt.GradientTape() as rec:
        if s < 2.0:  # noqa: SIM108
            y = gt.reduce_sum([2.0, 3.0] * s**2)
        else:
            y = s**2
    assert rec.gradient(y, s).numpy() == expected


def test_s16b_python_while():
    s = gt.Variable(2.0)
    with gt.GradientTape() as rec:
        y = s
        while y < 100.0:
            y = y * y
    assert y.numpy() == 256.0
    assert rec.gradient(y, s).numpy() == 1024.0


def test_s17_value_made_before_the_tape_is_a_constant():
    s = gt.Variable(1.0)
    pre = 2 * s + 1
    with gt.GradientTape() as rec:
        z = pre**2
    assert rec.gradient(z, s) is None
    with gt.GradientTape() as rec:
        pre = 2 * s + 1
        z = pre**2
    assert rec.gradient(z, s).numpy() == 12.0


def two_steps(step):
    s = gt.Variable(1.0)
    out = []
    for _ in range(2):
        with gt.GradientTape() as rec:
            y = s**2 + 2 * s
        out.append(rec.gradient(y, s))
        s = step(s)
    return values(out)


def test_s18_rebinding_makes_a_tensor():
    assert two_steps(lambda s: s + 1) == [4.0, None]


def test_s18_assign_add_keeps_the_variable():
    assert two_steps(lambda s: (s.assign_add(1.0), s)[1]) == [4.0, 6.0]


def test_s19_numpy_function_is_recorded():
    s = gt.Variable(1.0)
    with gt.GradientTape() as rec:
        y = gt.constant(2.0) + np.square(s)
    assert y.numpy() == 3.0
    assert rec.gradient(y, s).numpy() == 2.0  # TensorFlow: None


def test_s19_numpy_copy_leaves_the_tape():
    s = gt.Variable(1.0)
    with gt.GradientTape() as rec:
        y = gt.constant(2.0) + np.square(s.numpy())
    assert y.numpy() == 3.0
    assert rec.gradient(y, s) is None


def test_s19_product_instead_of_numpy():
    s = gt.Variable(1.0)
    with gt.GradientTape() as rec:
        y = gt.constant(2.0) + s * s
    assert rec.gradient(y, s).numpy() == 2.0


def test_s20_integer_variable_has_no_gradient():
    s = gt.Variable(1)
    with gt.GradientTape() as rec:
        y = s * s
    assert s.dtype == gt.int32
    assert y.numpy() == 1
    assert rec.gradient(y, s) is None


def link(explicit):
    a = gt.Variable(1.0)
    w = w0 = gt.Variable(2.0)
    with gt.GradientTape(persistent=True) as rec:
        if explicit:
            w = w + a
        else:
            w.assign_add(a)
        y = w**2
    return values([y, rec.gradient(y, a), rec.gradient(y, w0)])


def test_s21_assignment_breaks_the_link():
    assert link(explicit=False) == [9.0, None, 6.0]


def test_s21_explicit_expression_keeps_the_link():
    assert link(explicit=True) == [9.0, 6.0, 6.0]


# ---- the answer "four ways to get gradients": S22 to S31 ------------------------


class Blend:
    """The example of S22 with its two variables."""

    def __init__(self):
        self.w1 = gt.Variable(2.0)
        self.w2 = gt.Variable(3.0)

    def __call__(self, a, b):
        return self.w1 * a + self.w2 * b


@pytest.fixture
def blend():
    return Blend()


def blend4(p1, a, p2, b):
    return p1 * a + p2 * b


def test_s22_value(blend):
    assert blend(5.0, 7.0).numpy() == 31.0


def test_s23_tape_with_one_source(blend):
    with gt.GradientTape() as rec:
        s = blend(5.0, 7.0)
    [g] = rec.gradient(s, [blend.w1])
    assert g.numpy() == 5.0


def test_s24_gradients_function(blend):
    ga, gb = gt.gradients_function(lambda a, b: blend(a, b))(5.0, 7.0)
    assert (ga.numpy(), gb.numpy()) == (2.0, 3.0)


def test_s25_params_by_name(blend):
    f = gt.gradients_function(blend4, params=["p1", "p2"])
    g1, g2 = f(blend.w1, 5.0, blend.w2, 7.0)
    assert (g1.numpy(), g2.numpy()) == (5.0, 7.0)


def test_s25_params_by_position():
    g1, g2 = gt.gradients_function(blend4, params=[0, 2])(2.0, 5.0, 3.0, 7.0)
    assert (g1.numpy(), g2.numpy()) == (5.0, 7.0)


def test_s26_implicit_gradients(blend):
    [(g1, v1), (g2, v2)] = gt.implicit_gradients(lambda a, b: blend(a, b))(5.0, 7.0)
    assert (g1.numpy(), g2.numpy()) == (5.0, 7.0)
    assert v1 is blend.w1
    assert v2 is blend.w2


def test_s26_order_of_creation(blend):
    f = gt.implicit_gradients(lambda: blend.w2 * 3.0 + blend.w1 * 2.0)
    [(ga, va), (gb, vb)] = f()
    assert va is blend.w1
    assert vb is blend.w2
    assert (ga.numpy(), gb.numpy()) == (2.0, 3.0)


def test_s27_not_trainable_is_left_out(blend):
    k = gt.Variable(2.0, trainable=False)
    r = gt.implicit_gradients(lambda a, b: k * a + blend.w2 * b)(5.0, 7.0)
    assert len(r) == 1
    assert r[0][0].numpy() == 7.0
    assert r[0][1] is blend.w2


def test_s28_implicit_value_and_gradients_evaluates_once(blend):
    calls = []

    def counted(a, b):
        calls.append(1)
        return blend(a, b)

    s, [(g1, v1), (g2, v2)] = gt.implicit_value_and_gradients(counted)(5.0, 7.0)
    assert s.numpy() == 31.0
    assert (g1.numpy(), g2.numpy()) == (5.0, 7.0)
    assert v1 is blend.w1
    assert v2 is blend.w2
    assert len(calls) == 1


def test_s29_in_functions(blend):
    pairs = gt.implicit_gradients(lambda a, b: blend(a, b))
    f = gt.function(lambda a, b: [g for g, _ in pairs(a, b)])
    assert values(f(gt.constant(5.0), gt.constant(7.0))) == [5.0, 7.0]
    assert values(f(5.0, 7.0)) == [5.0, 7.0]


@gt.function
def weighted(p1, a, p2, b):
    return p1 * a + p2 * b


def test_s29_the_others_in_functions(blend):
    a, b = gt.constant(5.0), gt.constant(7.0)
    by_arguments = gt.gradients_function(lambda a, b: blend(a, b))
    assert values(gt.function(lambda a, b: by_arguments(a, b))(a, b)) == [2.0, 3.0]
    chosen = gt.gradients_function(weighted, params=["p1", "p2"])
    assert values(chosen(2.0, 5.0, 3.0, 7.0)) == [5.0, 7.0]
    whole = gt.implicit_value_and_gradients(lambda a, b: blend(a, b))

    @gt.function
    def both(a, b):
        value, pairs = whole(a, b)
        return [value, *[g for g, _ in pairs]]

    assert values(both(a, b)) == [31.0, 5.0, 7.0]
    inner = gt.gradients_function(lambda a: a * a * a)
    second = gt.gradients_function(lambda a: inner(a)[0])
    assert gt.function(lambda a: second(a)[0])(gt.constant(2.0)).numpy() == 12.0


def test_s31_value_and_gradients_function(blend):
    f = gt.value_and_gradients_function(lambda a, b: blend(a, b))
    v, (ga, gb) = f(5.0, 7.0)
    assert (v.numpy(), ga.numpy(), gb.numpy()) == (31.0, 2.0, 3.0)


def test_s31_same_object_twice_is_independent():
    one = gt.constant(3.0)
    assert values(gt.gradients_function(lambda a, b: a * b)(one, one)) == [3.0, 3.0]


def test_s31_dy_is_the_vector_of_the_product():
    f = gt.gradients_function(lambda a: [a * a, a * 3.0])
    assert values(f(2.0, dy=[1.0, 10.0])) == [34.0]


def test_s31_unused_argument_is_none():
    assert values(gt.gradients_function(lambda a, b: a * a)(2.0, 3.0)) == [4.0, None]


def test_s31_second_order_by_nesting():
    inner = gt.gradients_function(lambda a: a * a * a)
    assert values(gt.gradients_function(lambda a: inner(a)[0])(2.0)) == [12.0]


def test_s31_mixed_names_and_positions_are_refused():
    with pytest.raises(ValueError, match=r"(?i)params|position|name"):
        gt.gradients_function(blend4, params=["p1", 2])(1.0, 1.0, 1.0, 1.0)


def test_s31_unknown_name_is_refused():
    with pytest.raises(ValueError, match="nope"):
        gt.gradients_function(blend4, params=["nope"])(1.0, 1.0, 1.0, 1.0)


def test_s31_function_that_returns_none_is_refused():
    f = gt.value_and_gradients_function(lambda a: None)
    with pytest.raises(ValueError, match="None"):
        f(gt.constant(3.0))


def test_s31_no_trainable_variable_is_refused():
    f = gt.implicit_gradients(lambda: gt.constant(1.0) * 2)
    with pytest.raises(ValueError, match=r"(?i)variable"):
        f()


def test_s31_keyword_arguments_are_refused():
    f = gt.value_and_gradients_function(lambda a, b: a * b)
    with pytest.raises(ValueError, match=r"(?i)keyword"):
        f(2.0, b=3.0)


def accesses_both(w1, w2):
    def f():
        w1 * 1.0  # read and dropped: the result does not depend on it
        return w2 * 3.0

    return f


def test_s31a_only_variables_the_result_depends_on(blend):
    r = gt.implicit_gradients(accesses_both(blend.w1, blend.w2))()
    assert len(r) == 1
    assert r[0][0].numpy() == 3.0
    assert r[0][1] is blend.w2


def test_s31a_keep_unused_keeps_the_others_with_none(blend):
    f = accesses_both(blend.w1, blend.w2)
    r = gt.implicit_gradients(f, keep_unused=True)()
    assert values([g for g, _ in r]) == [None, 3.0]
    assert r[0][1] is blend.w1
    assert r[1][1] is blend.w2


def test_s31a_keep_unused_with_the_value(blend):
    f = accesses_both(blend.w1, blend.w2)
    y, r = gt.implicit_value_and_gradients(f, keep_unused=True)()
    assert y.numpy() == 9.0
    assert values([g for g, _ in r]) == [None, 3.0]
    y, r = gt.implicit_value_and_gradients(f)()
    assert values([g for g, _ in r]) == [3.0]


def test_s31a_variable_only_assigned_is_not_listed(blend):
    def f():
        blend.w1.assign_add(1.0)
        return blend.w2 * 3.0

    r = gt.implicit_gradients(f)()
    assert len(r) == 1
    assert r[0][1] is blend.w2
    assert blend.w1.numpy() == 3.0


def test_s31b_list_result_is_summed(blend):
    w1, w2 = blend.w1, blend.w2
    r = gt.implicit_gradients(lambda: [w1 * 2.0, w2 * w1])()
    assert values([g for g, _ in r]) == [5.0, 2.0]


# ---- the topics of the table of contents: T1 to T6 ------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (1.0, "float32"),
        ([1, 2.5], "float32"),
        (np.ones(2), "float64"),
        (np.arange(2, dtype=np.int64), "int64"),
        (True, "bool"),
        (1j, "complex128"),
        ([], "float32"),
    ],
)
def test_t1_constant_dtype(value, dtype):
    assert gt.constant(value).dtype == getattr(gt, dtype)


def test_t1_constant_shape_fills_a_scalar():
    t = gt.constant(1.0, shape=(2, 2))
    assert t.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_t1_constant_shape_reshapes():
    assert gt.constant([1, 2, 3, 4], shape=(2, 2)).shape == (2, 2)


def test_t1_variable_assign():
    v = gt.Variable([1.0, 2.0])
    v.assign([3.0, 4.0])
    v.assign_sub([1.0, 1.0])
    assert v.numpy().tolist() == [2.0, 3.0]


@pytest.fixture
def a():
    return gt.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])


@pytest.mark.parametrize(
    ("take", "expected"),
    [
        (lambda a: a[-1], [7, 8, 9]),
        (lambda a: a[1, 2], 6),
        (lambda a: a[:, 1], [2, 5, 8]),
        (lambda a: a[::-1][0], [7, 8, 9]),
        (lambda a: a[..., 0], [1, 4, 7]),
        (lambda a: a[a > 4], [5, 6, 7, 8, 9]),
        (lambda a: gt.gather(a, [0, 2], axis=1), [[1, 3], [4, 6], [7, 9]]),
        (lambda a: gt.gather_nd(a, [[0, 1], [2, 2]]), [2, 9]),
    ],
)
def test_t2_indexing(a, take, expected):
    assert take(a).numpy().tolist() == expected


def test_t2_new_axes(a):
    assert a[gt.newaxis].shape == (1, 3, 3)
    assert a[:, None].shape == (3, 1, 3)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda a: gt.reshape(a, [-1]), (9,)),
        (lambda a: gt.reshape(a, [3, -1, 1]), (3, 3, 1)),
        (lambda a: gt.transpose(gt.ones([1, 2, 3]), perm=[2, 0, 1]), (3, 1, 2)),
        (lambda a: gt.expand_dims(a, 1), (3, 1, 3)),
        (lambda a: gt.squeeze(gt.ones([1, 2, 1])), (2,)),
    ],
)
def test_t3_shapes(a, make, shape):
    assert make(a).shape == shape


def test_t3_transpose_values(a):
    assert gt.transpose(a)[0].numpy().tolist() == [1, 4, 7]


def test_t4_division_of_integers_is_float64():
    q = gt.constant(7) / gt.constant(2)
    assert q.dtype == gt.float64
    assert q.numpy() == 3.5


def test_t4_floor_division_and_remainder():
    assert (gt.constant(-7) // gt.constant(2)).numpy() == -4
    assert (gt.constant(-7) % gt.constant(3)).numpy() == 2


def test_t4_matrix_product():
    p = gt.constant([[1.0, 2.0]]) @ gt.constant([[3.0], [4.0]])
    assert p.numpy().tolist() == [[11.0]]


def test_t4_integer_mean_stays_integer():
    m = gt.reduce_mean(gt.constant([1, 2]))
    assert m.numpy() == 1
    assert m.dtype == gt.int32


def test_t4_reduce_sum_keepdims():
    s = gt.reduce_sum(gt.constant([[1.0, 2.0], [3.0, 4.0]]), axis=0, keepdims=True)
    assert s.shape == (1, 2)
    assert s.numpy().tolist() == [[4.0, 6.0]]


def test_t4_argmax_and_one_hot():
    i = gt.argmax([[1.0, 3.0, 2.0]], axis=-1)
    assert i.dtype == gt.int64
    assert i.numpy().tolist() == [1]
    assert gt.one_hot([0, 2], 3).numpy().tolist() == [[1, 0, 0], [0, 0, 1]]


class Line(gt.Module):
    """The module of T5 and T6."""

    def __init__(self):
        super().__init__(name="line")
        self.k = gt.Variable(0.0, name="k")
        self.b = gt.Variable(0.0, name="b")

    def __call__(self, x):
        return self.k * x + self.b


@pytest.mark.parametrize("run", [lambda f: f, gt.function], ids=["eager", "t8"])
def test_t5_adam_driven_by_a_tape(run):
    m = Line()
    opt = gt.optim.Adam(0.1)
    x = gt.constant(np.linspace(-1, 1, 21).astype("float32"))
    y = 3.0 * x - 1.0

    @run
    def step():
        with gt.GradientTape() as rec:
            cost = gt.reduce_mean((m(x) - y) ** 2)
        grads = rec.gradient(cost, m.trainable_variables)
        opt.apply_gradients(zip(grads, m.trainable_variables, strict=True))
        return cost

    for _ in range(300):
        c = step()
    assert c.numpy() < 1e-4
    assert abs(m.k.numpy() - 3) < 0.02
    assert abs(m.b.numpy() + 1) < 0.02


# One step of each optimizer of T5 at gradient 2, learning rate 0.1, Keras defaults.
FIRST_STEPS = {
    "SGD": 0.1 * 2.0,
    "Adam": 0.1 * np.sqrt(1e-3) / 0.1 * 0.2 / (np.sqrt(4e-3) + 1e-7),
    "RMSProp": 0.1 * 2.0 / np.sqrt(0.1 * 4.0 + 1e-7),
    "Adagrad": 0.1 * 2.0 / np.sqrt(0.1 + 4.0 + 1e-7),
    "Adadelta": 0.1 * 2.0 * np.sqrt(1e-7) / np.sqrt(0.05 * 4.0 + 1e-7),
}


@pytest.mark.parametrize("run", [lambda f: f, gt.function], ids=["eager", "t8"])
@pytest.mark.parametrize("name", list(FIRST_STEPS))
def test_t5_first_step_of_each_optimizer(name, run):
    v = gt.Variable(1.0, dtype=gt.float64)
    opt = getattr(gt.optim, name)(learning_rate=0.1)

    @run
    def step():
        with gt.GradientTape() as rec:
            cost = v * v
        opt.apply_gradients([(rec.gradient(cost, v), v)])

    step()
    np.testing.assert_allclose(1.0 - v.numpy(), FIRST_STEPS[name], rtol=1e-12)


def test_t6_module_lists_its_variables_sorted_by_attribute():
    m = Line()
    assert m.name == "line"
    assert [v is w for v, w in zip(m.trainable_variables, (m.b, m.k), strict=True)] == [
        True,
        True,
    ]
    names = [v.name for v in m.trainable_variables]
    assert re.fullmatch(r"b(_\d+)?:0", names[0])  # names are unique, so _1, _2, ...
    assert re.fullmatch(r"k(_\d+)?:0", names[1])


@pytest.mark.parametrize("run", [lambda f: f, gt.function], ids=["eager", "t8"])
def test_t6_module_is_differentiable(run):
    m = Line()
    call = run(m)
    with gt.GradientTape() as rec:
        y = call(gt.constant(3.0))
    assert values(rec.gradient(y, list(m.trainable_variables))) == [1.0, 3.0]
