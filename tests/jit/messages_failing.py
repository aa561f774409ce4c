"""Programs that are traced and then fail when they run, with the user's own error."""

# Branches are written out on purpose.
# ruff: noqa: SIM108
from __future__ import annotations

from typing import Any

import numpy as np

import gtape as gt
from gtape import errors
from tests.jit.wrong import Table

FAILING = Table()

X = np.float64(0.7)
V = np.array([0.3, -0.7, 1.1])
M = np.ones((2, 3))
I3 = np.array([0, 1, 5])


class Diverged(Exception):
    """An error of the user with a constructor of its own."""

    def __init__(self, step: Any, *, at: str) -> None:
        super().__init__(f"diverged at {at}")
        self.step = step


# --- Names ----------------------------------------------------------------------------

UNBOUND = {"error": errors.UnboundNameError, "builtin": UnboundLocalError}
NEVER = np.float64(-0.7)


@FAILING.add(NEVER, **UNBOUND, what=r"'y' is read before it is set", hint=r"(?i)path")
def name_set_in_one_branch_only(x: Any) -> Any:
    if x > 0.0:
        y = x * 2.0
    return y + x  # <- here


@FAILING.add(np.zeros(0), **UNBOUND, what=r"'x' is read before", hint=r"(?i)path")
def loop_variable_of_an_empty_tensor(v: Any) -> Any:
    for x in v:
        x = x * 2.0
    return x  # <- here


@FAILING.add(np.int64(0), **UNBOUND, what=r"'i' is read before", hint=r"(?i)path")
def loop_variable_after_no_trips(n: Any) -> Any:
    total = 0.5
    for i in gt.range(n):  # noqa: B007
        total = total + 1.0
    return total * gt.cast(i, "float64")  # <- here


@FAILING.add(np.int64(0), **UNBOUND, what=r"'last' is read before", hint=r"(?i)path")
def name_set_in_a_loop_without_trips(n: Any) -> Any:
    while n > 0:
        last = n * 2
        n = n - 1
    return last  # <- here


@FAILING.add(X, **UNBOUND, what=r"'y' is read before", hint=r"(?i)path")
def name_deleted_in_a_branch(x: Any) -> Any:
    y = x * 2.0
    if x > 0.0:
        del y
    return y  # <- here


@FAILING.add(X, error=UnboundLocalError, what=r"'y'", eager=True)
def name_read_before_it_is_set(x: Any) -> Any:
    if x > 0.0:
        y = y + x  # noqa: F821  # <- here
    else:
        y = x
    return y


# --- Assertions and errors of the user ------------------------------------------------


@FAILING.add(NEVER, error=AssertionError, what=r"^x must be positive$", eager=True)
def assertion_with_a_message(x: Any) -> Any:
    assert x > 0.0, "x must be positive"  # <- here
    return gt.sqrt(x)


@FAILING.add(NEVER, error=AssertionError, what=r"^$", eager=True)
def assertion_without_a_message(x: Any) -> Any:
    assert x > 0.0  # <- here
    return gt.sqrt(x)


@FAILING.add(V, error=AssertionError, what=r"^too large$", eager=True)
def assertion_in_a_loop(v: Any) -> Any:
    total = 0.0
    for x in v:
        total = total + x
        assert x < 1.0, "too large"  # <- here
    return total


@FAILING.add(NEVER, error=ValueError, what=r"^negative$", eager=True)
def error_in_a_branch(x: Any) -> Any:
    if x < 0.0:
        raise ValueError("negative")  # <- here
    return gt.sqrt(x)


@FAILING.add(NEVER, error=KeyError, what=r"negative", eager=True)
def error_in_an_else(x: Any) -> Any:
    if x > 0.0:
        y = gt.sqrt(x)
    else:
        raise KeyError("negative")  # <- here
    return y


@FAILING.add(V, error=Diverged, what=r"^diverged at the end$", eager=True)
def own_error_in_a_loop(v: Any) -> Any:
    total = 0.0
    for i, x in enumerate(v):
        total = total + x
        if total > 0.5:
            raise Diverged(i, at="the end")  # <- here
    return total


@FAILING.add(NEVER, error=OverflowError, what=r"^again$", eager=True)
def error_from_another(x: Any) -> Any:
    if x < 0.0:
        raise OverflowError("again") from ValueError("first")  # <- here
    return x


@FAILING.add(NEVER, error=ZeroDivisionError, what=r"^in a nested function$", eager=True)
def error_in_a_nested_function(x: Any) -> Any:
    def check(y: Any) -> Any:
        if y < 0.0:
            raise ZeroDivisionError("in a nested function")  # <- here
        return y

    return check(gt.sin(x)) * 2.0


@FAILING.add(np.float64(30.0), error=StopIteration, what=r"^too long$", eager=True)
def error_in_a_while(x: Any) -> Any:
    count = 0
    while x > 0.5:
        x = x * 0.5
        count += 1
        if count > 4:
            raise StopIteration("too long")  # <- here
    return x


# --- Operations that refuse -----------------------------------------------------------


@FAILING.add(
    V,
    np.ones(4),
    error=errors.ShapeError,
    builtin=ValueError,
    what=r"add.*\(3,\).*\(4,\)",
    hint=".",
    eager=True,
)
def shapes_that_do_not_fit(v: Any, w: Any) -> Any:
    total = gt.reduce_sum(v)
    if total > 0.0:
        total = gt.reduce_sum(v + w)  # <- here
    return total


@FAILING.add(
    M,
    M,
    error=errors.ShapeError,
    builtin=ValueError,
    what=r"matmul.*\(2, 3\)",
    hint=".",
    eager=True,
)
def matrices_that_do_not_fit(a: Any, b: Any) -> Any:
    for _ in range(2):
        a = a @ b  # <- here
    return gt.reduce_sum(a)


@FAILING.add(
    V,
    error=errors.ShapeError,
    builtin=ValueError,
    what=r"reshape.*\(2, 2\)",
    hint=".",
    eager=True,
)
def elements_that_do_not_fit(v: Any) -> Any:
    return gt.reduce_sum(gt.reshape(v, (2, 2)))  # <- here


@FAILING.add(
    V,
    error=errors.IndexRangeError,
    builtin=IndexError,
    what=r"7.*(axis 0|3)",
    hint=".",
    eager=True,
)
def index_outside_while_tracing(v: Any) -> Any:
    return v[7] * 2.0  # <- here


@FAILING.add(
    V,
    np.int64(3),
    error=errors.IndexRangeError,
    builtin=IndexError,
    what=r"3.*(axis 0|size 3)",
    hint=".",
    eager=True,
)
def index_outside_at_run_time(v: Any, i: Any) -> Any:
    return v[i] * 2.0  # <- here


@FAILING.add(
    V,
    I3,
    error=errors.IndexRangeError,
    builtin=IndexError,
    what=r"5",
    hint=".",
    eager=True,
)
def index_outside_in_a_loop(v: Any, order: Any) -> Any:
    total = 0.0
    for k in order:
        total = total + v[k]  # <- here
    return total


@FAILING.add(
    V,
    I3,
    error=errors.IndexRangeError,
    builtin=IndexError,
    what=r"5",
    hint=".",
    eager=True,
)
def write_outside_in_a_loop(v: Any, order: Any) -> Any:
    a = v * 1.0
    for k in order:
        a[k] = 2.0  # <- here
    return gt.reduce_sum(a)


@FAILING.add(
    V,
    I3,
    error=errors.IndexRangeError,
    builtin=IndexError,
    what=r"gather.*5",
    hint=".",
    eager=True,
)
def gather_outside(v: Any, order: Any) -> Any:
    return gt.reduce_sum(gt.gather(v, order))  # <- here


@FAILING.add(
    np.int64(7),
    np.int64(0),
    error=errors.DivisionError,
    builtin=ZeroDivisionError,
    what=r"(?i)zero",
    hint=".",
    eager=True,
)
def integer_division_by_zero(a: Any, b: Any) -> Any:
    return a // b  # <- here


@FAILING.add(
    np.int64(7),
    np.array([2, 1, 0]),
    error=errors.DivisionError,
    builtin=ZeroDivisionError,
    what=r"(?i)zero",
    hint=".",
    eager=True,
)
def remainder_by_zero_in_a_loop(a: Any, parts: Any) -> Any:
    total = a
    for b in parts:
        total = total + a % b  # <- here
    return total


@FAILING.add(7, 0, error=ZeroDivisionError, what=r"(?i)zero", eager=True)
def division_of_plain_integers_by_zero(a: int, b: int) -> Any:
    return gt.constant(0.5, "float64") * (a // b)  # <- here


@FAILING.add(
    np.array([1.0, np.nan]),
    error=errors.NumericsError,
    builtin=ArithmeticError,
    what=r"(?i)nan",
    hint=".",
    eager=True,
)
def numbers_that_are_not_finite(v: Any) -> Any:
    y = v * 2.0
    y = gt.check_numerics(y, "y")  # <- here
    return gt.reduce_sum(y)


@FAILING.add(
    V,
    error=errors.CheckError,
    builtin=AssertionError,
    what=r"(?i)positive|greater",
    eager=True,
)
def check_that_fails(v: Any) -> Any:
    gt.debugging.assert_positive(v)  # <- here
    return gt.reduce_sum(v)


@FAILING.add(
    np.array([[1.0, 2.0], [2.0, 1.0]]),
    error=errors.LinalgError,
    builtin=np.linalg.LinAlgError,
    what=r"cholesky.*positive",
    hint=".",
    eager=True,
)
def matrix_that_is_not_positive(m: Any) -> Any:
    if m[0, 0] > 0.0:
        m = gt.linalg.cholesky(m)  # <- here
    return gt.reduce_sum(m)


@FAILING.add(
    X,
    error=errors.DTypeError,
    builtin=TypeError,
    what=r"bitwise|int",
    hint=".",
    eager=True,
)
def operation_for_integers_only(x: Any) -> Any:
    return gt.bitwise.bitwise_xor(x, x)  # <- here


@FAILING.add(
    X,
    error=TypeError,
    what=r"'abc'|str",
    eager=True,
)
def text_beside_a_tensor(x: Any) -> Any:
    y = gt.sin(x)
    return y * "abc"  # <- here


@FAILING.add(
    V,
    error=errors.GradientError,
    builtin=ValueError,
    what=r".",
    hint=".",
    eager=True,
)
def inner_gradient_that_is_missing(v: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(v)
        y = gt.reduce_sum(gt.floor(v))
    return tape.gradient(y, v, unconnected_gradients="error")  # <- here


@FAILING.add(
    V,
    error=errors.TapeError,
    builtin=RuntimeError,
    what=r"tape has been used",
    hint=".",
    eager=True,
)
def tape_used_twice(v: Any) -> Any:
    with gt.GradientTape() as tape:
        tape.watch(v)
        y = gt.reduce_sum(v * v)
    first = tape.gradient(y, v)
    return first + tape.gradient(y, v)  # <- here
