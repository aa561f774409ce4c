# ruff: noqa: C416, F841, SIM108
"""The state of a block: what it binds and somebody reads later, no more."""

import pytest

from gtape.jit.syntax import convert
from tests.jit.syntax.plain_hooks import PlainHooks

GLOBAL = 0


def dead_behind(x):
    if x:
        y = 1
    return x


def live_behind(x):
    if x:
        y, t = 1, 2
        z = t
    else:
        y = 2
        z = 3
    return y


def parameter(x):
    if x:
        x = 2
    return x


def rebound_behind(x):
    if x:
        y = 1
    y = 2
    return y


def temporary(x):
    for i in range(3):
        t = i * 2
        x = x + t
    return x


def carried(x):
    s, t = 0, 1
    while s < 3:
        t = t * 2
        u = t + s
        s = s + 1
    return t


def nested_blocks(x):
    s = 0
    for i in range(2):
        t = i
        if t:
            s = s + t
            v = 1
        else:
            t = 3
    return s


def target_read(x):
    for i in range(2):
        j = i
    return i


def captured(x):
    y = 1
    f = lambda: y  # noqa: E731
    if x:
        y = 2
        z = 1
    return f()


def read_by_list(x):
    if x:
        y = 1
    else:
        y = 2
    return [y for _ in range(2)]


def shadowed_in_list(x):
    if x:
        y = 1
    return [y for y in range(2)]


def declared(x):
    global GLOBAL
    if x:
        GLOBAL = 1
    return x


def returned(x):
    if x:
        t = 1
        return t
    return x


def broken(x):
    for i in range(3):
        if i == x:
            break
        x = x + 1
    return x


def caught(x):
    y = z = 0
    try:
        if x:
            y = 1
            z = 2
        y = 3
    except ValueError:
        y = z
    return y


def walrus(x):
    if (y := x + 1) > 0:
        z = y
    return z


STATES = {
    dead_behind: [()],
    live_behind: [("y",)],
    parameter: [("x",)],
    rebound_behind: [()],
    temporary: [("x",)],
    carried: [("s", "t")],
    nested_blocks: [("s",), ("s",)],
    target_read: [("i",)],
    captured: [("y",)],
    read_by_list: [("y",)],
    shadowed_in_list: [()],
    declared: [("GLOBAL",)],
    returned: [("gt__value",)],
    broken: [("gt__broke_1", "x"), ("gt__broke_1", "x")],
    caught: [("z",)],
    walrus: [("z",)],
}


@pytest.mark.parametrize("function", STATES, ids=lambda f: f.__name__)
def test_names(function):
    hooks = PlainHooks()
    convert(function, hooks)(1)
    unlike = list(dict.fromkeys(hooks.states))
    assert unlike == list(dict.fromkeys(STATES[function]))
