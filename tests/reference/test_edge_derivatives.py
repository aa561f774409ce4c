"""Derivatives at kinks, poles, ties and masks: the table of edge cases.

The upstream gradient is ones. Kinks are TensorFlow's; masked poles are clean, since
0 * inf = 0 in backward products; `power` and the products do not divide by their
input. `None` stands for "no gradient".
"""

import numpy as np
import pytest

import gtape as gt

# What NumPy says about poles is its own affair: the tests look at the numbers.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF, NAN = np.inf, np.nan


def variable(value):
    """A float64 (or complex128) variable."""
    array = np.asarray(value)
    return gt.Variable(array if array.dtype.kind == "c" else array.astype(np.float64))


def gradients(f, *points):
    vs = [variable(p) for p in points]
    with gt.GradientTape() as tape:
        y = f(*vs)
    return tape.gradient(y, vs)


def match(got, expected, tol=5e-6):
    if expected is None:
        assert got is None
        return
    assert got is not None
    array = gt.convert_to_tensor(got).numpy()
    np.testing.assert_allclose(array, expected, rtol=tol, atol=1e-12)


def table(rows):
    """Rows of (name, function, points, expected gradients) as parameters."""
    return pytest.mark.parametrize(
        ("f", "points", "expected"), [pytest.param(*r[1:], id=r[0]) for r in rows]
    )


def run(f, points, expected):
    got = gradients(f, *points)
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        match(g, e)


# ---- kinks ----------------------------------------------------------------------


def leaky(x):
    return gt.nn.leaky_relu(x, alpha=0.2)


KINKS = [
    ("abs at 0", gt.abs, (0.0,), (0.0,)),
    ("relu at 0", gt.nn.relu, (0.0,), (0.0,)),
    ("relu6 at 0, 3, 6", gt.nn.relu6, ([0.0, 3.0, 6.0],), ([0.0, 1.0, 0.0],)),
    ("leaky_relu at 0", leaky, (0.0,), (0.2,)),
    ("leaky_relu beside 0", leaky, ([-1.0, 1.0],), ([0.2, 1.0],)),
    ("elu at 0", gt.nn.elu, (0.0,), (1.0,)),
    ("selu at 0", gt.nn.selu, (0.0,), (1.0507009873554805,)),
    ("maximum of equals", gt.maximum, (2.0, 2.0), (1.0, 0.0)),
    ("minimum of equals", gt.minimum, (2.0, 2.0), (1.0, 0.0)),
    ("maximum(x, 0) at 0", lambda x: gt.maximum(x, 0.0), (0.0,), (1.0,)),
    ("minimum(x, 0) at 0", lambda x: gt.minimum(x, 0.0), (0.0,), (1.0,)),
    ("reduce_max of ties", gt.reduce_max, ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],)),
    ("reduce_min of ties", gt.reduce_min, ([3.0, 1.0, 1.0],), ([0.0, 0.5, 0.5],)),
    (
        "reduce_max of ties along an axis",
        lambda x: gt.reduce_max(x, axis=1),
        ([[1.0, 1.0, 0.0], [2.0, 5.0, 3.0]],),
        ([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]],),
    ),
    (
        "clip_by_value at and beyond its bounds",
        lambda x: gt.clip_by_value(x, -1.0, 1.0),
        ([-2.0, -1.0, 0.5, 1.0, 2.0],),
        ([0.0, 1.0, 1.0, 1.0, 0.0],),
    ),
    ("x % 3", lambda x: x % 3.0, (7.0,), (1.0,)),
    ("7 % y", lambda y: 7.0 % y, (3.0,), (-2.0,)),
    ("x % y at -7, 3", lambda x, y: x % y, (-7.0, 3.0), (1.0, 3.0)),
]


@table(KINKS)
def test_kink(f, points, expected):
    run(f, points, expected)


NONE = [
    ("sign", gt.sign, (1.5,), (None,)),
    ("sign at 0", gt.sign, (0.0,), (None,)),
    ("floor", gt.floor, (1.5,), (None,)),
    ("ceil", gt.ceil, (1.5,), (None,)),
    ("round", gt.round, (1.5,), (None,)),
    ("x // 2", lambda x: x // 2.0, (7.0,), (None,)),
    ("x // y", lambda x, y: x // y, (7.0, 2.0), (None, None)),
    (
        "argmax",
        lambda x: gt.cast(gt.argmax(x), gt.float64) * 1.0,
        ([1.0, 2.0],),
        (None,),
    ),
    ("x > 1 as float", lambda x: gt.cast(x > 1.0, gt.float64), (1.5,), (None,)),
]


@table(NONE)
def test_no_gradient(f, points, expected):
    run(f, points, expected)


# ---- poles ----------------------------------------------------------------------


POLES = [
    ("sqrt at 0", gt.sqrt, (0.0,), (INF,)),
    ("rsqrt at 0", gt.rsqrt, (0.0,), (-INF,)),
    ("log at 0", gt.log, (0.0,), (INF,)),
    ("log at -1", gt.log, (-1.0,), (-1.0,)),
    ("1 / x at 0", lambda x: 1.0 / x, (0.0,), (-INF,)),
    ("reciprocal at 0", gt.reciprocal, (0.0,), (-INF,)),
    ("1 / 0", lambda a, b: a / b, (1.0, 0.0), (INF, -INF)),
    ("0 / 0", lambda a, b: a / b, (0.0, 0.0), (INF, NAN)),
    ("divide_no_nan by 0", gt.divide_no_nan, (1.0, 0.0), (0.0, 0.0)),
    ("multiply_no_nan by 0", gt.multiply_no_nan, (3.0, 0.0), (0.0, 3.0)),
    ("xlogy at 0, 0", gt.xlogy, (0.0, 0.0), (0.0, 0.0)),
    ("xlogy at 0, 2", gt.xlogy, (0.0, 2.0), (np.log(2.0), 0.0)),
]


@table(POLES)
def test_pole(f, points, expected):
    run(f, points, expected)


def test_pole_value_of_log_at_minus_one():
    assert np.isnan(gt.log(gt.constant(-1.0)).numpy())


POWERS = [
    ("x ** 2 at 0", lambda x: x**2.0, (0.0,), (0.0,)),
    ("x ** 2 at 0, integer exponent", lambda x: x**2, (0.0,), (0.0,)),
    ("x ** 0 at 0", lambda x: x**0.0, (0.0,), (0.0,)),  # TensorFlow: nan
    ("x ** 1 at 0", lambda x: x**1.0, (0.0,), (1.0,)),
    ("x ** 0.5 at 0", lambda x: x**0.5, (0.0,), (INF,)),
    ("x ** -1 at 0", lambda x: x**-1.0, (0.0,), (-INF,)),
    ("x ** 3 at -2", lambda x: x**3.0, (-2.0,), (12.0,)),
    ("pow at 0, 0", gt.pow, (0.0, 0.0), (0.0, 0.0)),  # TensorFlow: nan, 0
    ("pow at 0, 2", gt.pow, (0.0, 2.0), (0.0, 0.0)),
    ("pow at 2, 3", gt.pow, (2.0, 3.0), (12.0, 8 * np.log(2.0))),
    ("pow at -2, 2", gt.pow, (-2.0, 2.0), (-4.0, 0.0)),
    ("0 ** x at 2", lambda x: 0.0**x, (2.0,), (0.0,)),
    ("0 ** x at 0", lambda x: 0.0**x, (0.0,), (0.0,)),
]


@table(POWERS)
def test_power(f, points, expected):
    run(f, points, expected)


NORMS = [
    ("norm at 0", gt.norm, ([0.0, 0.0],), ([0.0, 0.0],)),
    (
        "norm of rows, one of them 0",
        lambda x: gt.norm(x, axis=1),
        ([[0.0, 0.0], [3.0, 4.0]],),
        ([[0.0, 0.0], [0.6, 0.8]],),
    ),
    ("norm 1 at 0", lambda x: gt.norm(x, ord=1), ([0.0, 2.0],), ([0.0, 1.0],)),
    ("hypot at 0, 0", gt.hypot, (0.0, 0.0), (0.0, 0.0)),
    ("hypot at 3, 4", gt.hypot, (3.0, 4.0), (0.6, 0.8)),
    (
        "reduce_euclidean_norm at 0",
        gt.reduce_euclidean_norm,
        ([0.0] * 2,),
        ([0.0] * 2,),
    ),
    ("reduce_std of equals", gt.reduce_std, ([2.0] * 3,), ([0.0] * 3,)),
    ("reduce_variance of equals", gt.reduce_variance, ([2.0] * 3,), ([0.0] * 3,)),
    (
        "l2_normalize at 0",
        lambda x: gt.nn.l2_normalize(x),
        ([0.0, 0.0],),
        ([1e6, 1e6],),
    ),
    (
        "clip_by_norm",
        lambda x: gt.clip_by_norm(x, 1.0),
        ([3.0, 4.0],),
        ([0.032, -0.024],),
    ),
]


@table(NORMS)
def test_norm(f, points, expected):
    run(f, points, expected)


def test_norm_atan2_at_the_origin_is_not_infinite():
    for g in gradients(gt.atan2, 0.0, 0.0):
        assert np.isnan(g.numpy()) or g.numpy() == 0.0


# ---- products -------------------------------------------------------------------


PRODUCTS = [
    ("reduce_prod, one zero", gt.reduce_prod, ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],)),
    ("reduce_prod, two zeros", gt.reduce_prod, ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],)),
    ("cumprod, one zero", gt.cumprod, ([1.0, 0.0, 3.0],), ([1.0, 4.0, 0.0],)),
    ("cumprod, two zeros", gt.cumprod, ([2.0, 0.0, 0.0],), ([1.0, 2.0, 0.0],)),
]


@table(PRODUCTS)
def test_product(f, points, expected):
    run(f, points, expected)


# ---- masks: 0 * inf = 0 ---------------------------------------------------------


SINGULAR = [
    ("sqrt", gt.sqrt, 0.0),
    ("log", gt.log, 0.0),
    ("log of a negative", gt.log, -1.0),
    ("log1p", gt.log1p, -1.0),
    ("rsqrt", gt.rsqrt, 0.0),
    ("reciprocal", lambda x: 1.0 / x, 0.0),
    ("x / x", lambda x: x / x, 0.0),
    ("power", lambda x: x**0.5, 0.0),
    ("negative power", lambda x: x**-2.0, 0.0),
    ("cbrt", gt.cbrt, 0.0),
    ("acos", gt.acos, 1.0),
    ("asin", gt.asin, -1.0),
    ("acosh", gt.acosh, 1.0),
    ("atanh", gt.atanh, 1.0),
    ("exp that overflows", lambda x: gt.exp(gt.exp(x)), 8.0),
    ("sqrt of a square", lambda x: gt.sqrt(x * x), 0.0),
    ("log of sqrt", lambda x: gt.log(gt.sqrt(x)), 0.0),
]


@pytest.mark.parametrize(("f", "at"), [pytest.param(*r[1:], id=r[0]) for r in SINGULAR])
def test_masked_by_where(f, at):
    [g] = gradients(lambda x: gt.where(x > 100.0, f(x), 0.0), at)
    match(g, 0.0)
    [g] = gradients(lambda x: gt.where(x > 100.0, f(x), 3.0 * x), at)
    match(g, 3.0)


@pytest.mark.parametrize(("f", "at"), [pytest.param(*r[1:], id=r[0]) for r in SINGULAR])
def test_masked_in_one_element(f, at):
    good = 0.5 if at != 8.0 else 0.25
    good = 2.0 if f is gt.acosh else good

    def masked(x):
        return gt.where([False, True], f(x), 0.0)

    [g] = gradients(masked, [at, good])
    [alone] = gradients(f, good)
    match(g, [0.0, float(alone.numpy())])


MASKED = [
    (
        "where(x > 0, sqrt(x), 0)",
        lambda x: gt.where(x > 0.0, gt.sqrt(x), 0.0),
        ([-1.0, 0.0, 4.0],),
        ([0.0, 0.0, 0.25],),
    ),
    (
        "where(x > 0, log(x), 0)",
        lambda x: gt.where(x > 0.0, gt.log(x), 0.0),
        ([-1.0, 0.0, 4.0],),
        ([0.0, 0.0, 0.25],),
    ),
    ("sqrt times 0", lambda x: gt.sqrt(x) * 0.0, (0.0,), (0.0,)),
    ("sqrt of 0 * x", lambda x: gt.sqrt(x * 0.0 + 4.0), (0.0,), (0.0,)),
    (
        "index past the pole",
        lambda x: gt.log(x)[1],
        ([0.0, 2.0],),
        ([0.0, 0.5],),
    ),
    (
        "masked norm",
        lambda x: gt.where([False, True], gt.norm(x, axis=1), 0.0),
        ([[0.0, 0.0], [3.0, 4.0]],),
        ([[0.0, 0.0], [0.6, 0.8]],),
    ),
    (
        "masked division",
        lambda a, b: gt.where(b > 0.0, a / b, 0.0),
        ([1.0, 1.0], [0.0, 2.0]),
        ([0.0, 0.5], [0.0, -0.25]),
    ),
    (
        "masked atan2",
        lambda y, x: gt.where([False, True], gt.atan2(y, x), 0.0),
        ([0.0, 1.0], [0.0, 1.0]),
        ([0.0, 0.5], [0.0, -0.5]),
    ),
]


@table(MASKED)
def test_masked(f, points, expected):
    run(f, points, expected)


@pytest.mark.parametrize("f", [gt.sqrt, gt.log], ids=["sqrt", "log"])
def test_second_order_under_a_mask(f):
    x = variable([0.0, 4.0])
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = gt.where([False, True], f(x), 0.0)
        g = inner.gradient(y, x)
    second = {gt.sqrt: -0.25 * 4.0**-1.5, gt.log: -1.0 / 16.0}[f]
    match(outer.gradient(g, x), [0.0, second])


# ---- activations and losses -----------------------------------------------------


ACTIVATIONS = [
    ("sigmoid at 100", gt.sigmoid, (100.0,), (np.exp(-100.0),)),
    ("sigmoid at -100", gt.sigmoid, (-100.0,), (np.exp(-100.0),)),
    ("tanh at 100", gt.tanh, (100.0,), (0.0,)),
    ("softplus at 100", gt.nn.softplus, (100.0,), (1.0,)),
    ("softplus at -100", gt.nn.softplus, (-100.0,), (np.exp(-100.0),)),
    ("softplus at 0", gt.nn.softplus, (0.0,), (0.5,)),
    ("silu at 1", gt.nn.silu, (1.0,), (0.9276705,)),
    ("gelu at 1", gt.nn.gelu, (1.0,), (1.0833155,)),
    (
        "gelu at 1, approximate",
        lambda x: gt.nn.gelu(x, approximate=True),
        (1.0,),
        (1.0829641,),
    ),
    (
        "softmax",
        lambda x: gt.nn.softmax(x)[0],
        ([1.0, 2.0, 3.0],),
        ([0.0819251, -0.0220330, -0.0598920],),
    ),
    (
        "log_softmax",
        lambda x: gt.nn.log_softmax(x)[0],
        ([1.0, 2.0, 3.0],),
        ([0.9099694, -0.2447285, -0.6652409],),
    ),
    (
        "softmax_cross_entropy_with_logits",
        lambda labels, logits: gt.nn.softmax_cross_entropy_with_logits(
            labels=labels, logits=logits
        ),
        ([0.0, 0.0, 1.0], [1.0, 2.0, 3.0]),
        ([2.4076059, 1.4076059, 0.4076059], [0.0900306, 0.2447285, -0.3347591]),
    ),
]


@table(ACTIVATIONS)
def test_activation(f, points, expected):
    run(f, points, expected)


# ---- order, selection, padding, pooling -----------------------------------------


def pool(f):
    """Pooling of a 2 x 2 image to one number."""
    return lambda x: f(gt.reshape(x, (1, 2, 2, 1)), 2, 2, "VALID")


SELECTION = [
    (
        "sort",
        lambda x: gt.sort(x) * [1.0, 10.0, 100.0],
        ([3.0, 1.0, 2.0],),
        ([100.0, 1.0, 10.0],),
    ),
    (
        "top_k",
        lambda x: gt.top_k(x, 2)[0] * [1.0, 10.0],
        ([3.0, 1.0, 2.0],),
        ([1.0, 0.0, 10.0],),
    ),
    (
        "gather with duplicates",
        lambda x: gt.gather(x, [0, 2, 0]),
        ([1.0, 2.0, 3.0],),
        ([2.0, 0.0, 1.0],),
    ),
    (
        "strided",
        lambda x: x[::-2] * [1.0, 10.0],
        ([1.0, 2.0, 3.0],),
        ([10.0, 0.0, 1.0],),
    ),
    (
        "roll",
        lambda x: gt.roll(x, shift=1, axis=0) * [1.0, 10.0, 100.0],
        ([1.0, 2.0, 3.0],),
        ([10.0, 100.0, 1.0],),
    ),
    (
        "pad REFLECT",
        lambda x: gt.pad(x, [[1, 1]], mode="REFLECT"),
        ([1.0, 2.0, 3.0],),
        ([1.0, 3.0, 1.0],),
    ),
    (
        "pad SYMMETRIC",
        lambda x: gt.pad(x, [[1, 1]], mode="SYMMETRIC"),
        ([1.0, 2.0, 3.0],),
        ([2.0, 1.0, 2.0],),
    ),
    (
        "max_pool of equals",
        pool(gt.nn.max_pool2d),
        ([2.0] * 4,),
        ([1.0, 0.0, 0.0, 0.0],),
    ),
    ("avg_pool", pool(gt.nn.avg_pool2d), ([1.0, 2.0, 3.0, 4.0],), ([0.25] * 4,)),
]


@table(SELECTION)
def test_selection(f, points, expected):
    run(f, points, expected)


# ---- linear algebra -------------------------------------------------------------


S = [[2.0, 1.0], [1.0, 4.0]]
D = [[2.0, 0.0], [0.0, 4.0]]

LINALG = [
    ("det", gt.linalg.det, (S,), ([[4.0, -1.0], [-1.0, 2.0]],)),
    ("inv", gt.linalg.inv, (D,), ([[-0.25, -0.125], [-0.125, -0.0625]],)),
    (
        "slogdet",
        lambda x: gt.linalg.slogdet(x)[1],
        (S,),
        ([[0.5714286, -0.1428571], [-0.1428571, 0.2857143]],),
    ),
    (
        "cholesky",
        gt.linalg.cholesky,
        ([[4.0, 2.0], [2.0, 3.0]],),
        ([[0.2133884, 0.0732233], [0.0732233, 0.3535534]],),
    ),
    (
        "eigenvalues",
        lambda x: gt.linalg.eigh(x)[0],
        (S,),
        ([[1.0, 0.0], [0.0, 1.0]],),
    ),
    (
        "eigenvalues of the identity",
        lambda x: gt.linalg.eigh(x)[0],
        (np.eye(2),),
        (np.eye(2),),
    ),
    (
        "eigenvectors of the identity",
        lambda x: gt.linalg.eigh(x)[1],
        (np.eye(2),),
        (np.zeros((2, 2)),),
    ),
    (
        "singular values",
        lambda x: gt.linalg.svd(x, compute_uv=False),
        ([[1.0, 2.0], [3.0, 4.0]],),
        ([[-0.5144958, 0.8574929], [0.8574929, 0.5144958]],),
    ),
    (
        "spectral norm",
        lambda x: gt.norm(x, ord=2, axis=(0, 1)),
        ([[1.0, 2.0], [3.0, 4.0]],),
        ([[0.2330424, 0.3306883], [0.5268045, 0.7475383]],),
    ),
    (
        "expm",
        gt.linalg.expm,
        ([[0.0, 1.0], [0.0, 0.0]],),
        ([[1.5, 1.0], [2.1666667, 1.5]],),
    ),
    (
        "solve",
        gt.linalg.solve,
        (D, [[1.0], [1.0]]),
        ([[-0.25, -0.125], [-0.125, -0.0625]], [[0.5], [0.25]]),
    ),
]


@table(LINALG)
def test_linalg(f, points, expected):
    run(f, points, expected)


def test_linalg_det_of_a_singular_matrix_has_the_cofactors():
    [g] = gradients(gt.linalg.det, [[1.0, 2.0], [2.0, 4.0]])
    match(g, [[4.0, -2.0], [-2.0, 1.0]])  # TensorFlow: not invertible


def test_linalg_inverse_of_a_singular_matrix():
    with pytest.raises(ValueError, match=r"(?i)singular|invert"):
        gt.linalg.inv(gt.constant([[1.0, 2.0], [2.0, 4.0]]))


# ---- complex numbers and random numbers -----------------------------------------


COMPLEX = [
    ("z * z", lambda z: z * z, (1 + 2j,), (2 - 4j,)),
    ("z ** 2", lambda z: z**2, (1 + 2j,), (2 - 4j,)),
    ("abs(z) ** 2", lambda z: gt.abs(z) ** 2, (1 + 2j,), (2 + 4j,)),
    ("z * conj(z)", lambda z: gt.real(z * gt.conj(z)), (1 + 2j,), (2 + 4j,)),
    ("real(z * z)", lambda z: gt.real(z * z), (1 + 2j,), (2 - 4j,)),
    ("imag(z * z)", lambda z: gt.imag(z * z), (1 + 2j,), (4 + 2j,)),
    ("abs at 0", gt.abs, (0j,), (0j,)),
]


@table(COMPLEX)
def test_complex(f, points, expected):
    run(f, points, expected)


def test_random_normal_is_reparameterized():
    [g] = gradients(lambda m: gt.random.normal((2,), mean=m, dtype=gt.float64), 1.5)
    match(g, 2.0)


def test_random_normal_deviation_is_reparameterized():
    s = variable(3.0)
    with gt.GradientTape() as tape:
        y = gt.random.normal((4,), mean=0.0, stddev=s, dtype=gt.float64)
    match(tape.gradient(y, s), float(y.numpy().sum()) / 3.0)


def test_random_gamma_is_reparameterized():
    alpha = gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = gt.reduce_mean(gt.random.gamma((20_000,), alpha=alpha))
    g = tape.gradient(y, alpha)
    assert abs(float(g.numpy()) - 1.0) < 0.05  # the mean of gamma(alpha) is alpha
