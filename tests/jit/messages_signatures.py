"""Wrong arguments, results and uses of a function under `gt.function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gtape as gt
from gtape import errors
from tests.jit.wrong import Table

SIGNATURES = Table()

X = np.float64(0.7)
V = np.array([0.3, -0.7, 1.1])
TRACING = {"error": errors.TracingError, "builtin": TypeError}
SPEC = gt.TensorSpec((None,), "float64")


class Thing:
    """An object that is no tensor."""


# --- Results --------------------------------------------------------------------------


RESULT = {**TRACING, "hint": r"(?i)return tensors", "source": False}


@SIGNATURES.add(X, **RESULT, what=r"^result_is_an_object returned .*of type Thing")
def result_is_an_object(x: Any) -> Any:
    _ = x * 2.0
    return Thing()


@SIGNATURES.add(X, **RESULT, what=r"^result_holds_an_object returned .*of type Thing")
def result_holds_an_object(x: Any) -> Any:
    return {"x": x, "thing": Thing()}


@SIGNATURES.add(X, **RESULT, what=r"^result_is_a_function returned .*type function")
def result_is_a_function(x: Any) -> Any:
    return lambda y: x * y


# --- input_signature ------------------------------------------------------------------


ARGUMENT = {
    "error": errors.ArgumentTypeError,
    "builtin": TypeError,
    "source": False,
}
ONE_SPEC = {"input_signature": [SPEC]}


@SIGNATURES.add(
    X,
    **ARGUMENT,
    what=r": v has shape \(\) .*shape=\(None,\).* of the input_signature",
    hint=r"(?i)reshape",
    options=ONE_SPEC,
)
def signature_with_another_rank(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(
    gt.constant([1, 2], "int64"),
    **ARGUMENT,
    what=r": v has .* dtype int64.*float64.* of the input_signature",
    hint=r"(?i)cast",
    options=ONE_SPEC,
)
def signature_with_another_dtype(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(
    V,
    V,
    **ARGUMENT,
    what=r"too many positional arguments",
    hint=r"call",
    options=ONE_SPEC,
)
def signature_with_too_many_arguments(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(
    V,
    **ARGUMENT,
    what=r": 2 specs for 1 parameters",
    hint=r"one spec for each",
    options={"input_signature": [SPEC, SPEC]},
)
def signature_with_too_many_specs(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(
    V,
    **ARGUMENT,
    what=r": parameter 'w' has neither a spec",
    hint=r"one spec for each",
    options=ONE_SPEC,
)
def signature_without_a_parameter(v: Any, w: Any) -> Any:
    return gt.reduce_sum(v * w)


@SIGNATURES.add(
    V,
    **ARGUMENT,
    what=r": input_signature\[0\] is 3",
    hint=r"TensorSpec",
    options={"input_signature": [3]},
)
def signature_of_something_else(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(
    "text",
    **ARGUMENT,
    what=r": v is 'text', .* of the input_signature",
    hint=r"(?i)tensor",
    options=ONE_SPEC,
)
def signature_and_a_string(v: Any) -> Any:
    return gt.reduce_sum(v)


@SIGNATURES.add(X, **ARGUMENT, what=r"missing .*'y'")
def argument_is_missing(x: Any, y: Any) -> Any:
    return x * y


@SIGNATURES.add(
    X,
    **ARGUMENT,
    what=r"unexpected keyword argument 'z'",
    run=lambda f, args: f(*args, z=1.0),
)
def unexpected_keyword(x: Any) -> Any:
    return x * 2.0


@SIGNATURES.add(
    3,
    **ARGUMENT,
    what=r"^function: 3 of type int is not a function",
    hint=r"(?i)give a function",
    run=lambda _, args: gt.function(*args),  # type: ignore[attr-defined]
)
def no_function_at_all(x: Any) -> Any:
    return x


# --- Tensors that leave ---------------------------------------------------------------


# Code that is converted may keep tensors: each call puts real ones in their place. What
# is not converted gets hold of those of the trace.
KEPT: list[Any] = []


@gt.do_not_convert
def keep(value: Any) -> None:
    KEPT.append(value)


def _and_then(use: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return what calls a function and uses the tensor that it has kept."""

    def run(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            f(*args)
            return use(KEPT[-1])
        finally:
            KEPT.clear()

    return run


LEFT = {**ARGUMENT, "what": r"outside the function that traces it", "hint": r"Return"}
ELSEWHERE = {
    **TRACING,
    "what": r"traced tensor of float64.*outside the function, branch or loop",
    "hint": r"Return it",
}


@SIGNATURES.add(X, **LEFT, run=_and_then(gt.sin))
def tensor_that_left_is_an_operand(x: Any) -> Any:
    keep(x * 2.0)
    return x


@SIGNATURES.add(X, **LEFT, run=_and_then(lambda kept: kept[None]))
def tensor_that_left_is_indexed(x: Any) -> Any:
    keep(x * 2.0)
    return x


@SIGNATURES.add(X, **LEFT, run=_and_then(gt.Variable))
def tensor_that_left_begins_a_variable(x: Any) -> Any:
    keep(x * 2.0)
    return x


@SIGNATURES.add(
    3,
    **{**LEFT, **TRACING},
    run=_and_then(int),
)
def number_that_left(n: int) -> Any:
    keep(n * 2)
    return n


@SIGNATURES.add(
    X,
    **ELSEWHERE,
    source=False,
    run=_and_then(lambda kept: gt.function(gt.sin)(kept)),  # type: ignore[attr-defined]
)
def tensor_that_left_is_an_argument(x: Any) -> Any:
    keep(x * 2.0)
    return x


@SIGNATURES.add(
    X,
    **ELSEWHERE,
    source=False,
    run=_and_then(lambda kept: gt.function(lambda y: y * kept)(0.5)),  # type: ignore[attr-defined]
)
def tensor_that_left_is_used_in_another_function(x: Any) -> Any:
    keep(x * 2.0)
    return x


@SIGNATURES.add(X, **ELSEWHERE, run=_and_then(gt.identity))
def tensor_that_left_a_branch(x: Any) -> Any:
    if x > 0.0:
        keep(x * 2.0)
    return KEPT[-1] + x  # <- here


@SIGNATURES.add(np.int64(3), **ELSEWHERE, run=_and_then(gt.identity))
def tensor_that_left_a_loop(n: Any) -> Any:
    x = gt.zeros((), "float64")
    while n > 0:
        x = x + 1.0
        keep(x)
        n = n - 1
    return KEPT[-1] + x  # <- here


# --- Variables ------------------------------------------------------------------------


def _twice_with_other_shapes(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return f(*args), f(*[np.stack([x, x]) for x in args])


MADE_AGAIN = {
    "error": errors.ArgumentError,
    "builtin": ValueError,
    "hint": r"once: before the function",
    "source": False,
}


@SIGNATURES.add(
    V,
    **MADE_AGAIN,
    what=r"^variable_made_in_every_trace makes variables \(Variable",
    run=_twice_with_other_shapes,
)
def variable_made_in_every_trace(v: Any) -> Any:
    w = gt.Variable(1.5, dtype="float64")
    return gt.reduce_sum(v * w)


@SIGNATURES.add(
    X,
    **MADE_AGAIN,
    what=r"^variable_made_in_a_branch makes variables \(Variable",
    run=lambda f, args: [f(*args), f(*args)],
)
def variable_made_in_a_branch(x: Any) -> Any:
    y = x
    if x > 0.0:
        y = y * gt.Variable(1.5, dtype="float64")
    return y


@SIGNATURES.add(
    X,
    error=errors.ShapeError,
    builtin=ValueError,
    what=r"assign.*\(3,\)",
    hint=".",
    eager=True,
)
def assignment_of_another_shape(x: Any) -> Any:
    WEIGHT.assign(x * gt.ones((3,), "float64"))  # <- here
    return x


WEIGHT = gt.Variable(0.5, dtype="float64", name="weight")


@SIGNATURES.add(
    X,
    error=errors.AssignError,
    builtin=RuntimeError,
    what=r"weight|[Vv]ariable",
    hint=r"assign",
    eager=True,
)
def augmented_assignment_of_a_variable(x: Any) -> Any:
    w = WEIGHT
    w += x  # <- here
    return w * x
