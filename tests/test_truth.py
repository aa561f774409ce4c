"""No gradient is silently wrong: random programs against differences, and aliases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gtape as gt
from gtape import errors
from gtape.primitive import registry

# --- Random programs ------------------------------------------------------------------
# Each starts with a tensor a and a variable w of shape [3, 3], adds values of that
# shape to a pool, and ends in a sum. Shapes never change, so that all steps fit.


@gt.custom_gradient
def cube(v: Any) -> Any:
    """v**3, by a rule that captures an intermediate value."""
    square = v * v
    return square * v, lambda upstream: 3.0 * square * upstream


def aliased(a: Any, b: Any, w: Any) -> Any:
    c = a * 1.0
    other = c
    other[0] = b[1] * 0.5
    return c


def viewed(a: Any, b: Any, w: Any) -> Any:
    c = a * 1.0
    view = c[1]
    c[1, 2] = gt.sin(b[2, 1])
    return c + view


def repeated(a: Any, b: Any, w: Any) -> Any:
    c = a * 1.0
    c[[0, 2, 0]] = gt.stack([b[0], b[1], gt.sin(b[2])])
    return c


def carried(a: Any, b: Any, w: Any) -> Any:
    c = gt.identity(a)
    for row in range(3):
        c[row] = c[(row + 1) % 3] * 0.5 + c[row]
    return c


def chosen(a: Any, b: Any, w: Any) -> Any:
    return a + b if float(gt.reduce_sum(a)) > 0 else gt.sin(a) * 2.0


def inner_gradient(a: Any, b: Any, w: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(a)
        y = gt.reduce_sum(gt.sin(a) * b * a)
        return tape.gradient(y, a)


def complex_step(a: Any, b: Any, w: Any) -> Any:
    z = gt.complex(a, b)
    return gt.math.real(z * gt.exp(0.5 * z) * gt.math.conj(z) * (1.0 + 0.5j))


def written_argument(a: Any, b: Any, w: Any) -> Any:
    def f(x: Any) -> Any:
        x[0] = x[1] * 3.0
        return gt.reduce_sum(gt.sin(x) * x)

    return gt.grad(f)(a)


STEPS: list[Callable[[Any, Any, Any], Any]] = [
    aliased,
    viewed,
    repeated,
    carried,
    chosen,
    inner_gradient,
    complex_step,
    written_argument,
    lambda a, b, w: a * b,
    lambda a, b, w: gt.where(a > 0.0, a * b, gt.sin(a)),
    lambda a, b, w: gt.matmul(a, w) + gt.sin(w),
    lambda a, b, w: gt.nn.softmax(a, axis=-1) + gt.math.cumprod(gt.tanh(a) + 1.2, 1),
    lambda a, b, w: gt.reduce_prod(gt.tanh(a) + 1.1, 0, keepdims=True) + b,
    lambda a, b, w: gt.gather(a, [0, 2, 0]),
    lambda a, b, w: gt.tensor_scatter_nd_add(a, [[0], [2], [0]], gt.sin(b)),
    lambda a, b, w: gt.stack(gt.unstack(a, axis=1)[::-1], axis=0),
    lambda a, b, w: cube(a * 0.3),
    lambda a, b, w: gt.recompute_grad(lambda x, y: gt.tanh(x * y + w) + x)(a, a),
    lambda a, b, w: gt.grad(
        lambda x: gt.reduce_sum(gt.recompute_grad(lambda z: gt.sin(z) * z * w)(x))
    )(a),
    lambda a, b, w: gt.jvp(lambda x: gt.tanh(x) * b + x * x, (a,), (b * 0.5,))[1],
    lambda a, b, w: gt.vectorized_map(
        lambda row: gt.grad(lambda z: gt.reduce_sum(gt.sin(z) * z))(row), a
    ),
    lambda a, b, w: gt.matmul(
        a, gt.jacobian(lambda x: gt.sin(x) * gt.reduce_sum(x))(a[1]) * 0.2
    ),
]

PROGRAMS = st.lists(
    st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=7,
)
Program = list[tuple[int, int, int]]


def run(program: Program, x: Any, w: Any) -> Any:
    pool = [gt.identity(x), gt.sin(x)]
    for step, first, second in program:
        a, b = pool[first % len(pool)], pool[second % len(pool)]
        pool.append(gt.tanh(STEPS[step](a, b, w) * 0.5) * 1.5)
    return sum([gt.reduce_sum(gt.sin(value)) for value in pool[-4:]])


def gradients(program: Program, x: Any, w: Any) -> Any:
    """Return the gradients by x and w; w changes before they are taken."""
    source, variable = gt.constant(x), gt.Variable(w)
    with gt.GradientTape() as tape:
        tape.watch(source)
        y = run(program, source, variable)
    variable.assign(w * 0.0 - 7.0)
    found = tape.gradient(y, [source, variable], unconnected_gradients="zero")
    return [g.numpy() for g in found]


def along(pair: Any, directions: Any) -> float:
    return float(
        sum((np.asarray(g) * d).sum() for g, d in zip(pair, directions, strict=True))
    )


def difference(f: Callable[..., float], point: Any, directions: Any) -> float:
    """Return the derivative along directions, by Richardson's extrapolation."""

    def at(h: float) -> float:
        return float(f(*[p + h * d for p, d in zip(point, directions, strict=True)]))

    def central(h: float) -> float:
        return (at(h) - at(-h)) / (2.0 * h)

    return (4.0 * central(5e-5) - central(1e-4)) / 3.0


@settings(max_examples=25, deadline=None)
@given(PROGRAMS, st.integers(0, 2**20))
def test_random_programs_have_the_gradients_of_differences(
    program: Program, seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    point = numbers.uniform(-1.0, 1.0, (2, 3, 3))
    directions = numbers.standard_normal((2, 3, 3))
    found = along(gradients(program, *point), directions)
    wanted = difference(
        lambda x, w: float(run(program, gt.constant(x), gt.Variable(w))),
        point,
        directions,
    )
    assert found == pytest.approx(wanted, rel=1e-5, abs=1e-5)

    x, w = gt.constant(point[0]), gt.Variable(point[1])
    tangents = list(map(gt.constant, directions))
    with gt.ForwardAccumulator([x, w], tangents) as forward, gt.GradientTape() as outer:
        outer.watch(x)
        with gt.GradientTape() as inner:
            inner.watch(x)
            y = run(program, x, w)
        both = inner.gradient(y, [x, w], unconnected_gradients="zero")
        parts = zip(both, directions, strict=True)
        slope = sum([gt.reduce_sum(g * d) for g, d in parts])
    assert float(forward.jvp(y, "zero")) == pytest.approx(found, rel=1e-8, abs=1e-8)
    second = difference(
        lambda x, w: along(gradients(program, x, w), directions), point, directions
    )
    close = pytest.approx(second, rel=1e-4, abs=1e-4)
    reverse = outer.gradient(slope, [x, w], unconnected_gradients="zero")
    assert along([g.numpy() for g in reverse], directions) == close
    assert float(forward.jvp(slope, "zero")) == close


# --- Rules of the user's --------------------------------------------------------------


def test_recompute_grad_counts_an_argument_that_stands_twice_once_each() -> None:
    x = gt.Variable(3.0)
    f = gt.recompute_grad(lambda a, b: a * a * b)
    with gt.GradientTape(persistent=True) as tape:
        of_variable = f(x, x)
        t = x * 1.0
        of_tensor = f(t, t)
    assert float(tape.gradient(of_variable, x)) == 27.0
    assert float(tape.gradient(of_tensor, x)) == 27.0


def test_recompute_grad_reads_the_values_of_its_first_evaluation() -> None:
    v, w = gt.Variable(3.0), gt.Variable(2.0)
    calls = gt.Variable(0, trainable=False)

    def f(a: Any) -> Any:
        calls.assign_add(1)
        return a * w * w

    with gt.GradientTape(persistent=True) as tape:
        y = gt.recompute_grad(f)(v)
    w.assign(10.0)
    assert [float(g) for g in tape.gradient(y, [v, w])] == [4.0, 12.0]
    assert float(w) == 10.0
    assert int(calls) == 1


def test_recompute_grad_has_gradients_by_keyword_arguments() -> None:
    x, w = gt.constant(3.0), gt.Variable(2.0)
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.recompute_grad(lambda a, *, b, c: a * b * c)(x, b=x, c=w)
    assert [float(g) for g in tape.gradient(y, [x, w])] == [12.0, 9.0]


@pytest.mark.parametrize(
    "product",
    [
        lambda z: z * (2 + 3j),
        gt.recompute_grad(lambda z: z * (2 + 3j)),
        gt.custom_gradient(lambda z: (z * (2 + 3j), lambda g: g * (2 - 3j))),
    ],
)
def test_rules_of_the_user_are_not_conjugated(product: Any) -> None:
    z = gt.constant(1 + 2j)
    with gt.GradientTape() as tape:
        tape.watch(z)
        loss = gt.math.real(product(z) * (1 - 1j))
    assert complex(tape.gradient(loss, z)) == 5 - 1j


def test_grad_pass_through_keeps_a_complex_cotangent() -> None:
    z = gt.constant(1 + 2j)
    with gt.GradientTape() as tape:
        tape.watch(z)
        loss = gt.math.real(gt.grad_pass_through(lambda x: x + 0.0)(z) * (1 - 1j))
    assert complex(tape.gradient(loss, z)) == 1 + 1j


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (gt.custom_gradient(lambda x: (x * x, lambda g: g * 100.0)), [100.0] * 3),
        (gt.recompute_grad(lambda x: x * x * x), [3.0, 12.0, 27.0]),
        (gt.grad_pass_through(gt.round), [1.0] * 3),
    ],
)
def test_rules_of_the_user_hold_in_vectorized_map(function: Any, slope: Any) -> None:
    x = gt.constant([1.0, 2.0, 3.0])
    with gt.GradientTape() as tape:
        tape.watch(x)
        y = gt.vectorized_map(function, x)
    assert tape.gradient(y, x).numpy().tolist() == slope
    inside = gt.vectorized_map(lambda row: gt.grad(function)(row), x)
    assert inside.numpy().tolist() == slope


# --- Names ----------------------------------------------------------------------------


def overwriting(x: Any) -> Any:
    x[0] = x[1] * 3.0
    return gt.reduce_sum(x * x)


@pytest.mark.parametrize(
    "derivative",
    [
        gt.grad(overwriting),
        gt.jacobian(overwriting),
        lambda x: gt.vjp(overwriting, x)[1](1.0)[0],
        lambda x: gt.gradients_function(overwriting)(x)[0],
        gt.grad(gt.recompute_grad(overwriting)),
        lambda x: gt.hvp(overwriting, (x,), ([0.0, 2.0],))[0],
    ],
)
def test_a_function_may_assign_to_items_of_its_argument(derivative: Any) -> None:
    x = gt.constant([1.0, 2.0])
    slope = derivative(x)
    assert slope.numpy() == pytest.approx(np.array([0.0, 40.0]))
    assert x.numpy().tolist() == [1.0, 2.0]


SAME = [
    gt.real,
    gt.conj,
    gt.debugging.assert_all_finite,
    lambda x: +x,
    lambda x: gt.nn.dropout(x, 0.0),
    lambda x: gt.ensure_shape(x, [2]),
    lambda x: gt.vectorized_map(lambda element: element, x),
]


@pytest.mark.parametrize("function", SAME)
def test_assigning_to_a_result_leaves_the_operand(function: Any) -> None:
    x = gt.constant([1.0, 2.0])
    y = function(x)
    y[0] = 9.0
    assert x.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "function", [*SAME, gt.convert_to_tensor, lambda v: gt.cast(v, v.dtype)]
)
def test_assigning_to_what_a_variable_gave_leaves_the_variable(function: Any) -> None:
    v = gt.Variable([1.0, 2.0])
    y = function(v)
    y[0] = 9.0
    assert v.numpy().tolist() == [1.0, 2.0]
    with gt.GradientTape() as tape:
        loss = gt.reduce_sum(v * v)
    assert tape.gradient(loss, v).numpy().tolist() == [2.0, 4.0]


def test_what_the_user_changes_later_does_not_change_gradients() -> None:
    weights, index = np.array([5.0, 6.0, 7.0]), np.array([0, 2])
    mask = np.array([True, False, True])
    x = gt.constant([1.0, 2.0, 3.0], "float64")
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = gt.identity(x)
        z[index] = weights[:2]
        results = [x * weights, x[index], x[mask], gt.where(mask, x * x, 0.0), z]
    before = [tape.gradient(y, x).numpy().tolist() for y in results]
    weights[:], index[:], mask[:] = -1.0, 1, False
    assert [tape.gradient(y, x).numpy().tolist() for y in results] == before


@pytest.mark.parametrize("size", [(), (3,), (90, 90)])
@pytest.mark.parametrize(
    "make", [gt.optim.SGD, gt.optim.Adam, gt.optim.RMSprop, gt.optim.Adagrad]
)
def test_a_step_changes_nothing_that_a_tape_holds(make: Any, size: Any) -> None:
    v = gt.Variable(np.full(size, 2.0))
    optimizer = make(0.1)
    optimizer.build([v])
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(optimizer.variables[1:])
        y = gt.reduce_sum(v * v * v)
        for slot in optimizer.variables[1:]:
            y = y + gt.reduce_sum(slot * slot)
    sources = [v, *optimizer.variables[1:]]
    first = tape.gradient(y, sources)
    values = [g.numpy() for g in first]
    for _ in range(2):
        optimizer.apply_gradients([(first[0], v)])
    second = tape.gradient(y, sources)
    for given_once, again, value in zip(first, second, values, strict=True):
        np.testing.assert_array_equal(given_once.numpy(), value)
        np.testing.assert_array_equal(again.numpy(), value)


def test_a_cast_to_the_same_dtype_and_a_constant_of_a_tensor_have_names_of_their_own():
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        t = x * 3.0
        for y in (gt.cast(t, t.dtype), gt.constant(t)):
            assert tape.gradient(y, x).numpy().tolist() == [3.0, 3.0]
            y[0] = 7.0
            assert tape.gradient(y, x).numpy().tolist() == [0.0, 3.0]
            assert t.numpy().tolist() == [3.0, 6.0]


def test_a_rule_with_too_few_gradients_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with gt.GradientTape() as tape:
        x = gt.Variable([1.0, 2.0])
        y = gt.atan2(x, [3.0, 4.0])
    rule = registry()["atan2"]
    monkeypatch.setattr(rule, "vjp", lambda g, out, a, b: ())
    text = "atan2 returned 0 gradients for 2 operands"
    with pytest.raises(errors.GradientError, match=text):
        tape.gradient(y, x)
