# ruff: noqa: B007, E731
"""Errors in converted code show the user's file, lines and function names."""

import sys
import traceback

import pytest

from gtape.errors import Origin, resolve
from gtape.jit.syntax import convert
from tests.jit.syntax.plain_hooks import PlainHooks


def branch(x):
    if x > 0:
        y = x
        for _ in range(2):
            y = y / (x - 1)
    return y


def multiline(x):
    return [
        x
        + 1 / i
        for i in range(
            x
        )
    ]  # fmt: skip


def chained(x):
    y = x > 0 and (
        x < 5
        and 1 / (x - 1)
    )  # fmt: skip
    return y


def early(x):
    while True:
        if x:
            return (
                1 / (x - 1)
            )  # fmt: skip


def inner_function(x):
    def inner(y):
        if y:
            return 1 / (y - 1)
        return 0

    return inner(x)


def in_lambda(x):
    f = lambda y: (
        y or
        1 / y
    )  # fmt: skip
    return f(x - 1)


def target(x):
    for a, b in [(x, x), (x,)]:
        pass


def message(x):
    assert x > 0
    assert (
        x > 5
    ), "no"  # fmt: skip


def raised(x):
    if x:
        x = 2
        raise ValueError(x)


def unbound(x):
    if x > 5:
        y = 1
    x = 0
    return y


FAILING = [
    branch, multiline, chained, early, inner_function, in_lambda, target, message,
    raised, unbound,
]  # fmt: skip


def places(function):
    """Return the innermost line and the names of this file's frames of an error."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(1)
    frames = [
        frame
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == __file__ and frame.name != "places"
    ]
    return frames[-1].lineno, {frame.name for frame in frames}


@pytest.mark.parametrize("function", FAILING, ids=lambda f: f.__name__)
def test_traceback(function):
    line, names = places(function)
    new_line, new_names = places(convert(function, PlainHooks()))
    assert new_line == line
    # A comprehension runs in the name of its function.
    assert new_names == names - {"<listcomp>"}


def where(x, here):
    if x > 0:
        for _ in range(1):
            return (lambda: [here() for _ in (1,)])()
    return here()


def test_names_of_running_functions():
    def here():
        # Below it stand the hook that calls it and the code that calls the hook.
        frame = sys._getframe(2)
        return Origin(*resolve((frame.f_code, frame.f_lasti)))

    converted = convert(where, PlainHooks())
    line = where.__code__.co_firstlineno
    assert converted(1, here) == [(__file__, line + 3, "<lambda>")]
    assert converted(0, here) == (__file__, line + 4, "where")


def test_columns():
    positions = [
        position
        for position in convert(unbound, PlainHooks()).__code__.co_positions()
        if position[0] == unbound.__code__.co_firstlineno + 4
    ]
    assert (positions[-1][2], positions[-1][3]) in {(4, 12), (11, 12)}


def test_metadata():
    def f(a, b: int = 2, *, c: str = "x") -> float:
        """Say it."""
        return a, b, c, FAILING

    f.mark = 5
    g = convert(f, PlainHooks())
    for name in (
        "__name__", "__qualname__", "__module__", "__doc__", "__annotations__",
        "__defaults__", "__kwdefaults__", "__dict__",
    ):  # fmt: skip
        assert getattr(g, name) == getattr(f, name)
    assert g.__globals__ is globals()
    assert g.__code__.co_filename == __file__
    assert g(1) == f(1)
