"""Control flow as functions: eagerly and in `gt.function` the same."""

import collections

import numpy as np
import pytest

import gtape as gt

Pair = collections.namedtuple("Pair", "left right")
X = np.array([0.6, -0.4, 1.3])


# Functions of a float64 vector, whose value and derivatives must be the same eagerly
# and traced.


def cond_taken(x):
    return gt.cond(x[0] > 0.0, lambda: x * x, lambda: -x)


def cond_not_taken(x):
    return gt.cond(x[0] > 1.0, lambda: x * x, lambda: gt.exp(-x))


def cond_structure(x):
    out = gt.cond(
        x[0] > 0.0,
        lambda: {"a": x * 2.0, "b": (x[1],)},
        lambda: {"a": -x, "b": (x[2],)},
    )
    return out["a"] * out["b"][0]


def cond_nested(x):
    def inner():
        return gt.cond(x[1] > 0.0, lambda: x**2, lambda: x**3)

    return gt.cond(x[0] > 0.0, inner, lambda: x)


def cond_statement_inside(x):
    def chosen():
        if x[1] > 0.0:
            return x * 2.0
        return gt.sin(x)

    return gt.cond(x[0] > 0.0, chosen, lambda: x)


def switch(x):
    fns = [lambda: x, lambda: x * x, lambda: gt.sin(x)]
    return [gt.switch_case(gt.cast(x[i] + 1.0, "int32"), fns) for i in range(3)]


def switch_numbered(x):
    fns = {7: lambda: x, 1: lambda: x * x}
    return gt.switch_case(gt.cast(x[2], "int64"), fns, default=lambda: -x)


def switch_default(x):
    return gt.switch_case(gt.cast(x[1], "int32"), [(3, lambda: x)], lambda: -x * x)


def while_plain(x):
    _, y = gt.while_loop(
        lambda i, y: i < 5, lambda i, y: (i + 1, gt.sin(y) + x), (0, x)
    )
    return y


def while_on_data(x):
    [y] = gt.while_loop(
        lambda y: gt.reduce_sum(y * y) < 50.0, lambda y: y * y + 1.0, [x]
    )
    return y


def while_no_trip(x):
    [y] = gt.while_loop(lambda y: y[0] > 5.0, lambda y: y * y, [x * 2.0])
    return y


def while_limited(x):
    _, y = gt.while_loop(
        lambda i, y: y[2] < 1e3, lambda i, y: (i + 1, y * 1.5), [0, x], 4
    )
    return y


def while_limit_not_met(x):
    i, y = gt.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [0, x], gt.constant(40)
    )
    return y * gt.cast(i, "float64")


def while_structure(x):
    s, p = gt.while_loop(
        lambda s, p: s["i"] < 4,
        lambda s, p: (
            {"i": s["i"] + 1, "t": (s["t"][0] * p.left,)},
            Pair(p.left + 1.0, p.right * 2.0),
        ),
        ({"i": 0, "t": (x,)}, Pair(x, 1.5)),
    )
    return s["t"][0] * p.right + p.left


def while_nested(x):
    def body(i, y):
        _, z = gt.while_loop(
            lambda j, z: j < i, lambda j, z: (j + 1, gt.cos(z) * x), (0, y)
        )
        return i + 1, z

    return gt.while_loop(lambda i, y: i < 4, body, (0, x))[1]


def fori(x):
    return gt.fori_loop(1, 12, lambda i, y: gt.sin(y) + x / i, x)


def fori_bound_on_data(x):
    n = gt.cast(x[2] * 4.0, "int32")
    return gt.fori_loop(0, n, lambda i, c: (c[0] + i, c[1] * x), (0.0, x))[1]


def fori_no_trip(x):
    return gt.fori_loop(3, 3, lambda i, y: y * y, x)


def fori_python_list(x):
    weights = [1.0, 3.0, 5.0]
    return gt.fori_loop(0, 3, lambda i, y: y + weights[i] * x**2, x)


def scan_plain(x):
    return gt.scan(lambda a, e: a * e + gt.sin(a), x)


def scan_reverse(x):
    return gt.scan(lambda a, e: a * e + gt.sin(a), x, reverse=True)


def scan_initializer(x):
    return gt.scan(lambda a, e: a * e + x, x, initializer=x * 2.0)


def scan_structure(x):
    a, b = gt.scan(
        lambda c, e: (c[0] + e["u"], c[1] * e["v"]),
        {"u": x, "v": gt.stack([x, x * x], 1)},
        initializer=(gt.constant(0.5, "float64"), gt.ones([2], "float64")),
        reverse=True,
    )
    return a[:, None] * b


def scan_one_item(x):
    return gt.scan(lambda a, e: a * e, x[:1])


def scan_no_item(x):
    rows = gt.scan(lambda a, e: a + e, x[:0], initializer=x)
    return gt.concat([rows, x[None] ** 2], 0)


def mapped(x):
    out = gt.map_fn(lambda e: {"s": gt.sin(e), "p": (e * e, e * x)}, x)
    return out["s"] + out["p"][0] + gt.reduce_sum(out["p"][1], 0)


def mapped_with_branch(x):
    def each(e):
        if e > 0.0:
            return e * e
        return -3.0 * e

    return gt.map_fn(each, x)


def mapped_several(x):
    return gt.map_fn(lambda pair: pair[0] * pair[1], (x, gt.exp(x)))


def mapped_in_scan(x):
    def outer(a, e):
        rows = gt.scan(lambda c, d: c * d + a, x, initializer=e)
        return gt.cond(
            rows[0] > 0.0,
            lambda: gt.reduce_sum(rows),
            lambda: gt.reduce_sum(gt.map_fn(lambda z: z * z * e, rows)),
        )

    return gt.scan(outer, x)


def descent(x):
    def body(i, w):
        with gt.GradientTape() as tape:
            tape.watch(w)
            loss = gt.reduce_sum((w - x) ** 2 * gt.exp(w))
        return i + 1, w - 0.1 * tape.gradient(loss, w)

    return gt.while_loop(lambda i, w: i < 10, body, (0, x * 0.0))[1]


def items_of_an_outer_tensor(x):
    out = gt.zeros([12], "float64")

    def body(i, c):
        out[i] = c[0] * i
        return c * 1.1

    c = gt.fori_loop(0, 12, body, x)
    return gt.sin(out), c


def folded_left(x):
    return gt.foldl(lambda a, e: gt.sin(a) * e + a, x)


def folded_right(x):
    return gt.foldr(lambda a, e: gt.sin(a) * e + a, x, initializer=x)


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__
    if name not in ("Pair",)
]


def total(out):
    return sum(gt.reduce_sum(gt.sin(leaf)) for leaf in gt.nest.flatten(out))


def derivatives(f, x):
    """Return value, gradient, and gradient of the gradient's sum of squares."""
    x = gt.constant(x)
    with gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            out = f(x)
            y = total(out)
        first = inner.gradient(y, x, unconnected_gradients="zero")
        z = gt.reduce_sum(first * first)
    second = outer.gradient(z, x, unconnected_gradients="zero")
    return [leaf.numpy() for leaf in gt.nest.flatten([out, first, second])]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_traced_is_eager_to_the_second_order(program):
    expected = derivatives(program, X)
    for traced in (gt.function(program), gt.function(program, optimize=False)):
        for a, b in zip(expected, derivatives(traced, X), strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_inside_of_the_function(program):
    def gradient(x):
        with gt.GradientTape() as tape:
            tape.watch(x)
            y = total(program(x))
        return tape.gradient(y, x)

    x = gt.constant(X)
    np.testing.assert_allclose(
        gt.function(gradient)(x).numpy(), gradient(x).numpy(), rtol=1e-12
    )


@pytest.mark.parametrize(
    "program", [scan_plain, scan_reverse, scan_structure, mapped, folded_right]
)
def test_sizes_left_open(program):
    f = gt.function(program)
    for n in (2, 3, 5, 4):
        x = np.linspace(0.2, 1.4, n)
        for a, b in zip(derivatives(program, x), derivatives(f, x), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-13)
    assert f.trace_count == 2


def test_the_graph_has_one_node_for_each():
    x = gt.constant(X)
    for program, word in (
        (cond_taken, " = cond "),
        (while_on_data, " = while "),
        (scan_plain, " = for "),
        (mapped_with_branch, " = for "),
    ):
        assert str(gt.function(program).graph(x)).count(word) == 1


@pytest.mark.parametrize("options", [{"autograph": False}, {"check": True}], ids=str)
def test_without_conversion_and_with_a_check(options):
    x = gt.constant(X)
    for program in (cond_taken, while_limited, fori, scan_structure, mapped_several):
        f = gt.function(program, **options)
        for a, b in zip(
            gt.nest.flatten(program(x)), gt.nest.flatten(f(x)), strict=True
        ):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-12)


def test_complex_numbers():
    def f(x):
        z = gt.cast(x, "complex128") * 1j
        rows = gt.scan(lambda a, e: a * e + 1.0, z)
        last = gt.cond(x[0] > 0.0, lambda: z, lambda: -z)
        return gt.abs(rows * last) ** 2

    for a, b in zip(derivatives(f, X), derivatives(gt.function(f), X), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)


def test_forward_mode():
    x, v = gt.constant(X), gt.constant([1.0, 2.0, 3.0], dtype="float64")
    for program in (scan_plain, while_on_data, mapped, cond_nested):

        def run(x, v, program=program):
            value, tangent = gt.jvp(program, [x], [v])
            return value, tangent

        for a, b in zip(run(x, v), gt.function(run)(x, v), strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-12)
