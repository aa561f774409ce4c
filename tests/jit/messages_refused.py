"""Programs that `gt.function` cannot convert, or that no graph can hold."""

# Each does on purpose what nobody should.
from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import gtape as gt
from gtape import errors
from tests.jit.wrong import Table

REFUSED = Table()

X = np.float64(0.7)
NEGATIVE = np.float64(-0.7)
V = np.array([0.3, -0.7, 1.1])
M = np.ones((2, 3))

CONVERSION = {"error": errors.ConversionError, "builtin": SyntaxError}
TRACING = {"error": errors.TracingError, "builtin": TypeError}
LATER = r"known only when the function runs"

# --- What cannot be converted ---------------------------------------------------------


@REFUSED.add(X, **CONVERSION, what=r"yield", hint=r"(?i)return a list")
def generator(x: Any) -> Any:
    y = x * 2.0
    yield y  # <- here


@REFUSED.add(V, **CONVERSION, what=r"yield from", hint=r"(?i)return a list")
def generator_from_another(v: Any) -> Any:
    if v[0] > 0.0:
        yield from v  # <- here


@REFUSED.add(
    X, **CONVERSION, what=r"coroutine is an async function", hint=r"plain function"
)
async def coroutine(x: Any) -> Any:  # <- here
    return x * 2.0


@REFUSED.add(X, **CONVERSION, what=r"async def inner", hint=r"plain function")
def coroutine_inside(x: Any) -> Any:
    async def inner(y: Any) -> Any:  # <- here
        await asyncio.sleep(0)
        return y

    return inner(x)


@REFUSED.add(X, **CONVERSION, what=r"yield", hint=r"(?i)return a list")
def generator_inside(x: Any) -> Any:
    def parts(y: Any) -> Any:
        if y > 0.0:
            yield y  # <- here

    return sum(parts(x))


@REFUSED.add(X, **CONVERSION, what=r"del y", hint=r"(?i)assign None")
def deletes_a_name_of_the_function_around(x: Any) -> Any:
    y = x * 2.0

    def forget() -> None:
        nonlocal y
        del y  # <- here

    if x > 0.0:
        forget()
    return x


@REFUSED.add(X, **CONVERSION, what=r"`return` inside `finally`", hint=r"behind the try")
def return_in_finally(x: Any) -> Any:
    try:
        y = x * 2.0
    finally:
        return y  # noqa: B012  # <- here


@REFUSED.add(V, **CONVERSION, what=r"`break` inside `finally`", hint=r"behind the try")
def break_in_finally(v: Any) -> Any:
    total = 0.0
    for x in v:
        try:
            total = total + x
        finally:
            break  # noqa: B012  # <- here
    return total


@REFUSED.add(X, **CONVERSION, what=r"gt__", hint=r"another name")
def reserved_name(x: Any) -> Any:
    gt__y = x * 2.0  # <- here
    return gt__y


def _without_source() -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec("def from_text(x):\n    return x * 2.0 if x > 0.0 else x\n", space)
    function: Callable[..., Any] = space["from_text"]
    return function


# `gt.function` gets the one above: the function below has a source.
@REFUSED.add(
    X,
    **CONVERSION,
    what=r"source of from_text is not available",
    hint=r"(?i)in a file|autograph=False",
    run=lambda _, args: gt.function(_without_source())(*args),  # type: ignore[attr-defined]
    source=False,
)
def function_without_source(x: Any) -> Any:
    return x


# --- Values that Python wants to know -------------------------------------------------


@REFUSED.add(
    X,
    **TRACING,
    what=rf"truth of a traced tensor.*{LATER}",
    hint=r"gt\.cond|gt\.where",
    options={"autograph": False},
)
def truth_without_conversion(x: Any) -> Any:
    if x > 0.0:  # <- here
        return x
    return -x


@REFUSED.add(
    V,
    **TRACING,
    what=r"truth of a traced tensor",
    hint=r"gt\.cond|gt\.where",
    options={"autograph": False},
)
def loop_without_conversion(v: Any) -> Any:
    total = v[0]
    while total < 5.0:  # <- here
        total = total * 2.0 + 1.0
    return total


@REFUSED.add(
    X,
    error=errors.AttributeMissingError,
    builtin=AttributeError,
    what=rf"numpy\(\) of a traced tensor.*{LATER}",
    hint=r"(?i)outside",
)
def numpy_method(x: Any) -> Any:
    y = gt.sin(x)
    return y.numpy() * 2.0  # <- here


UNCONVERTED = {"options": {"autograph": False}}


@REFUSED.add(X, **TRACING, **UNCONVERTED, what=r"float\(\).*traced", hint=r"gt\.cast")
def python_float(x: Any) -> Any:
    return float(x) * 2.0  # <- here


@REFUSED.add(X, **TRACING, **UNCONVERTED, what=r"int\(\).*traced", hint=r"gt\.cast")
def python_int(x: Any) -> Any:
    y = x * 10.0
    return int(y) + 1  # <- here


@REFUSED.add(X, **TRACING, what=r"complex\(\).*traced", hint=r"gt\.cast")
def python_complex(x: Any) -> Any:
    return complex(x)  # <- here


@REFUSED.add(V, **TRACING, what=r"NumPy array", hint=r"gt functions")
def numpy_array(v: Any) -> Any:
    return np.asarray(v).sum()  # <- here


@REFUSED.add(V, **TRACING, what=r"NumPy array", hint=r"gt functions")
def numpy_function_without_an_equivalent(v: Any) -> Any:
    return np.histogram(np.array(v))[0]  # <- here


@REFUSED.add(X, **TRACING, what=r"traced", hint=r"gt\.print")
def text_with_a_format(x: Any) -> Any:
    name = format(x, ".3f")  # <- here
    return len(name) * x


@REFUSED.add(
    np.int64(1), **TRACING, what=rf"number.*{LATER}", hint=r"(?i)Python int|gt\.stack"
)
def list_with_a_traced_index(i: Any) -> Any:
    names = ["sin", "cos"]
    return len(names[i])  # <- here


@REFUSED.add(np.int64(3), **TRACING, what=LATER, hint=r"gt\.|Python int")
def axis_from_a_tensor(n: Any) -> Any:
    return gt.reduce_sum(gt.ones((2, 2)), axis=n)  # <- here


@REFUSED.add(V, **TRACING, what=r"pickl", hint=r"(?i)outside")
def pickled(v: Any) -> Any:
    return len(pickle.dumps(v))  # <- here


@REFUSED.add(
    X, error=TypeError, what=r"(?i)not JSON serializable|traced", hint="", eager=True
)
def written_as_json(x: Any) -> Any:
    return len(json.dumps({"x": x})) * x  # <- here


UNHASHABLE = {
    "error": errors.ArgumentTypeError,
    "builtin": TypeError,
    "what": r"a Tensor is unhashable",
    "hint": r"\.ref\(\)",
    "eager": True,
}


@REFUSED.add(X, **UNHASHABLE)
def key_of_a_dict(x: Any) -> Any:
    table = {x > 0.0: x}  # <- here
    return table[True]


@REFUSED.add(X, **UNHASHABLE)
def member_of_a_set(x: Any) -> Any:
    seen = {x, x * 2.0}  # <- here
    return len(seen) * x


@REFUSED.add(np.int64(2), **UNHASHABLE)
def lookup_by_a_tensor(n: Any) -> Any:
    table = {1: 0.5, 2: 1.5}
    return table[n]  # <- here


# --- Conditions, loops and calls ------------------------------------------------------


@REFUSED.add(
    X,
    error=errors.ArgumentTypeError,
    builtin=TypeError,
    what=r"scalar tensor cannot be iterated",
    hint=r"(?i)tensor itself|gt\.range",
    eager=False,
)
def loop_over_a_scalar(x: Any) -> Any:
    total = 0.0
    for part in x:  # <- here
        total = total + part
    return total


@REFUSED.add(
    V,
    error=errors.ArgumentError,
    builtin=ValueError,
    what=r"truth of a tensor of shape \(3,\)",
    hint=r"gt\.reduce_any|gt\.reduce_all",
)
def vector_as_a_condition(v: Any) -> Any:
    if v > 0.0:  # <- here
        return gt.reduce_sum(v)
    return v[0]


@REFUSED.add(
    V,
    error=errors.ArgumentError,
    builtin=ValueError,
    what=r"truth of a tensor of shape \(3,\)",
    hint=r"gt\.reduce_any|gt\.reduce_all",
)
def vector_as_the_condition_of_a_loop(v: Any) -> Any:
    while v < 3.0:  # <- here
        v = v + 1.0
    return v


@REFUSED.add(
    V,
    error=errors.ArgumentError,
    builtin=ValueError,
    what=r"truth of a tensor of shape \(3,\)",
    hint=r"gt\.reduce_any|gt\.reduce_all|logical_and",
)
def vector_in_an_and(v: Any) -> Any:
    good = v > 0.0 and v < 1.0  # <- here
    return gt.reduce_sum(gt.cast(good, "float64"))


@REFUSED.add(
    M,
    error=ValueError,
    what=r"(too many values to unpack|not enough values).*2",
    eager=True,
)
def too_few_targets(m: Any) -> Any:
    a, b = m[0]  # <- here
    return a + b


@REFUSED.add(
    V,
    error=ValueError,
    what=r"not enough values to unpack \(expected 4, got 3\)",
    eager=True,
)
def too_many_targets(v: Any) -> Any:
    a, b, c, d = v  # <- here
    return a + b + c + d


@REFUSED.add(M, error=ValueError, what=r"values to unpack", eager=True)
def wrong_targets_of_a_loop(m: Any) -> Any:
    total = 0.0
    for a, b in m:  # <- here
        total = total + a * b
    return total


@REFUSED.add(
    X,
    error=errors.TracingError,
    builtin=TypeError,
    what=r"^down calls itself",
    hint=r"(?i)Python int|loop",
)
def endless_recursion(x: Any) -> Any:
    def down(y: Any) -> Any:
        if y < 0.0:
            return y
        return down(y - 1.0)  # <- here

    return down(x)


@REFUSED.add(X, error=NameError, what=r"name 'missing' is not defined", eager=True)
def name_that_does_not_exist(x: Any) -> Any:
    if x > 0.0:
        x = missing(x)  # noqa: F821  # <- here
    return x


@REFUSED.add(
    X,
    error=AttributeError,
    what=r"no attribute 'sinus'",
    eager=True,
)
def attribute_that_does_not_exist(x: Any) -> Any:
    return gt.sinus(x)  # type: ignore[attr-defined]  # <- here


@REFUSED.add(X, error=TypeError, what=r"missing 1 required|positional", eager=True)
def call_without_an_argument(x: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        return a * b

    return f(x)  # type: ignore[call-arg]  # <- here


def holding_itself() -> list[Any]:
    found: list[Any] = [gt.constant(1.0)]
    found.append(found)
    return found


@REFUSED.add(
    holding_itself(),
    error=errors.ArgumentTypeError,
    builtin=TypeError,
    what=r"holds itself",
    hint=r"containers that end",
    source=False,
)
def argument_that_holds_itself(values: Any) -> Any:
    return values[0]


@REFUSED.add(X, **TRACING, what=r"there on some paths", hint=r"Test the condition")
def missing_name_that_a_handler_waits_for(x: Any) -> Any:
    y = x * 2.0
    if x > 0.0:
        del y
    try:
        return y  # <- here
    except NameError:
        return x


@REFUSED.add(
    X,
    error=errors.ArgumentTypeError,
    builtin=TypeError,
    what=r"reverse must be True or False, got 'no'",
    hint=r"bool",
    eager=True,
)
def scan_with_a_direction(x: Any) -> Any:
    rows = gt.stack([x, x])
    return gt.scan(lambda a, b: a + b, rows, reverse="no")  # type: ignore[arg-type]  # <- here


@REFUSED.add(X, **TRACING, what=LATER, hint=r"Index a tensor")
def list_indexed_with_a_vector(x: Any) -> Any:
    places = gt.where(x > 0.0, [0, 1], [1, 0])
    return [x, x * 2.0][places]  # type: ignore[call-overload]  # <- here
