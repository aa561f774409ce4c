"""Control flow as functions: wrong calls, and what the messages say."""

import numpy as np
import pytest

import gtape as gt
from gtape.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    RangeError,
    ShapeError,
)

X = np.array([0.6, -0.4, 1.3])


def broken(what, error, match, f, eager=True, x=X):
    return pytest.param(f, error, match, eager, x, id=what)


WRONG = [
    broken(
        "pred", ShapeError, "cond: pred has shape", lambda x: gt.cond(x > 0, f1, f1)
    ),
    broken(
        "text",
        ArgumentTypeError,
        "cond: pred is 'yes'",
        lambda x: gt.cond("yes", f1, f1),
    ),
    broken(
        "no function",
        ArgumentTypeError,
        "cond: true_fn",
        lambda x: gt.cond(True, x, f1),
    ),
    broken(
        "ranks",
        ShapeError,
        r"cond: the result has shape \(3,\) in one branch and \(\) in another",
        lambda x: gt.cond(x[0] > 0.0, lambda: x, lambda: x[0]),
        eager=False,
    ),
    broken(
        "dtypes",
        DTypeError,
        r"cond: the result\['a'\] is float64 in one branch and float32 in another",
        lambda x: gt.cond(
            x[0] > 0.0, lambda: {"a": x}, lambda: {"a": gt.cast(x, "float32")}
        ),
        eager=False,
    ),
    broken(
        "structures",
        ArgumentError,
        "cond: the second branch: expected a sequence of 2 entries",
        lambda x: gt.cond(x[0] > 0.0, lambda: (x, x), lambda: (x,)),
        eager=False,
    ),
    broken(
        "None",
        ArgumentError,
        r"cond: the result\[0\] is None in one branch",
        lambda x: gt.cond(x[0] > 0.0, lambda: (None,), lambda: (x,)),
        eager=False,
    ),
    broken(
        "index",
        ArgumentTypeError,
        "switch_case: branch_index has shape",
        lambda x: gt.switch_case(x, [f1]),
    ),
    broken(
        "no branches",
        ArgumentError,
        "switch_case: branch_fns is empty",
        lambda x: gt.switch_case(0, []),
    ),
    broken(
        "twice",
        ArgumentError,
        "names a number twice",
        lambda x: gt.switch_case(0, [(1, f1), (1, f1)]),
    ),
    broken(
        "loop_vars",
        ArgumentTypeError,
        "while_loop: loop_vars is",
        lambda x: gt.while_loop(lambda x: False, lambda x: x, x),
    ),
    broken(
        "carry dtype",
        DTypeError,
        r"while_loop: loop_vars\[1\]\['a'\] is float64, and body returned float32",
        lambda x: gt.while_loop(
            lambda i, s: i < 2,
            lambda i, s: (i + 1, {"a": gt.cast(s["a"], "float32")}),
            (0, {"a": x}),
        ),
    ),
    broken(
        "int and float",
        DTypeError,
        r"loop_vars\[0\] is int32, and body returned float32",
        lambda x: gt.while_loop(lambda i: i < 2, lambda i: i + 0.5, [0]),
    ),
    broken(
        "carry rank",
        ShapeError,
        r"loop_vars\[0\] has shape \(3,\), and body returned shape \(1, 3\)",
        lambda x: gt.while_loop(lambda x: x[0] < 9.0, lambda x: x[None], [x]),
    ),
    broken(
        "carry structure",
        ArgumentError,
        "while_loop: body: expected a sequence of 2 entries, got 1",
        lambda x: gt.while_loop(lambda i, x: i < 2, lambda i, x: (i,), (0, x)),
    ),
    broken(
        "condition",
        ShapeError,
        "while_loop: the result of cond has shape",
        lambda x: gt.while_loop(lambda x: x > 0.0, lambda x: x, [x]),
    ),
    broken(
        "nothing returned",
        ArgumentTypeError,
        "fori_loop: body returned None",
        lambda x: gt.fori_loop(0, 2, lambda i, x: None, x),
    ),
    broken(
        "limit",
        ArgumentTypeError,
        "while_loop: maximum_iterations",
        lambda x: gt.while_loop(lambda x: True, lambda x: x, [x], 2.5),
    ),
    broken(
        "bound",
        ArgumentTypeError,
        "fori_loop: upper",
        lambda x: gt.fori_loop(0, x[0], lambda i, x: x, x),
    ),
    *[
        broken(
            f"bound {value!r}",
            ArgumentTypeError,
            "fori_loop: upper",
            lambda x, value=value: gt.fori_loop(0, value, lambda i, x: x, x),
        )
        for value in ("a", None, 1j, [1], np.float32(2.0), True, np.array([1, 2]))
    ],
    broken(
        "limit, a text",
        ArgumentTypeError,
        "while_loop: maximum_iterations",
        lambda x: gt.while_loop(lambda x: True, lambda x: x, [x], "a"),
    ),
    broken(
        "too many trips",
        RangeError,
        "range: 1180591620717411303424 numbers are more than",
        lambda x: gt.fori_loop(0, 2**70, lambda i, x: x, x),
        eager=False,
    ),
    broken(
        "accumulator",
        ShapeError,
        r"scan: initializer has shape \(\), and fn returned shape \(3,\)",
        lambda x: gt.scan(lambda a, e: a + x, x, initializer=x[0]),
    ),
    broken(
        "accumulator dtype",
        DTypeError,
        "scan: initializer is float32, and fn returned float64",
        lambda x: gt.scan(lambda a, e: a + e, x, initializer=0.0),
    ),
    broken(
        "no items",
        ArgumentError,
        "foldl: there are no items and no initializer",
        lambda x: gt.foldl(lambda a, e: a + e, x[:0]),
    ),
    broken(
        "first sizes",
        ShapeError,
        "have no common first size",
        lambda x: gt.scan(lambda a, e: a, (x, x[:2])),
    ),
    broken(
        "scalar", ShapeError, "map_fn: elems of shapes", lambda x: gt.map_fn(f1, x[0])
    ),
    broken(
        "signature",
        DTypeError,
        "map_fn: the result is float64, and float32 in fn_output_signature",
        lambda x: gt.map_fn(lambda e: e, x, gt.float32),
    ),
    broken(
        "signature's shape",
        ShapeError,
        "in fn_output_signature",
        lambda x: gt.map_fn(lambda e: e, x, gt.TensorSpec([2], "float64")),
    ),
    broken(
        "map dtype",
        DTypeError,
        "map_fn: the result is",
        lambda x: gt.map_fn(varying(), x),
        eager=None,
    ),
]


def f1(*args):
    return 1.0


def varying():
    kinds = iter(["float32", "float64", "float32"])
    return lambda e: gt.cast(e, next(kinds))


@pytest.mark.parametrize(("f", "error", "match", "eager", "x"), WRONG)
def test_wrong_calls(f, error, match, eager, x):
    """Eager is false where only a trace sees both sides, None where Python alone."""
    x = gt.constant(x)
    if eager is not False:
        with pytest.raises(error, match=match) as info:
            f(x)
        assert __file__ in str(info.value)
    if eager is not None:
        with pytest.raises(error, match=match) as info:
            gt.function(f)(x)
        assert __file__ in str(info.value)
