# ruff: noqa
"""What cannot be converted is refused: construct, line and way out."""

import linecache

import pytest

from gtape.errors import ConversionError
from gtape.jit.syntax import convert
from tests.jit.syntax.plain_hooks import PlainHooks

REFUSED = {
    "yield": ("def f(x):\n    if x:\n        yield x", 3, "`yield` makes", "return a list"),
    "yield from": ("def f(x):\n    yield from x", 2, "`yield from`", "return a list"),
    "inner yield": ("def f(x):\n    def g():\n        yield", 3, "`yield`", "list"),
    "async": ("async def f(x):\n    return x", 1, "f is an async function", "plain"),
    "inner async": ("def f(x):\n    async def g(): pass", 2, "`async def g`", "plain"),
    "return in finally": (
        "def f(x):\n    try:\n        x()\n    finally:\n        return 1",
        5, "`return` inside `finally`", "behind the try",
    ),
    "break in finally": (
        "def f(x):\n  for i in x:\n    try:\n      x()\n    finally:\n      break",
        6, "`break` inside `finally`", "put the `break` behind",
    ),
    "continue in finally": (
        "def f(x):\n  for i in x:\n    try:\n      x()\n    finally:\n"
        "      if i:\n        continue",
        7, "`continue` inside `finally`", "put the `continue` behind",
    ),
    "return in loop in finally": (
        "def f(x):\n  try:\n    x()\n  finally:\n    for i in x:\n      return i",
        6, "`return` inside `finally`", "behind",
    ),
    "del of nonlocal": (
        "def f(x):\n  y = 1\n  def g():\n    nonlocal y\n    del y\n  g()",
        5, "`del y` deletes a variable of an outer function", "assign None",
    ),
    "reserved": ("def f(x):\n    gt__y = x", 2, "reserved: gt__y", "another name"),
    "reserved argument": ("def f(gt__):\n    pass", 1, "reserved: gt__", "another"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_refused(name):
    text, line, what, hint = REFUSED[name]
    file = f"<refused {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {}
    exec(compile(text, file, "exec"), scope)
    with pytest.raises(ConversionError) as caught:
        convert(scope["f"], PlainHooks())
    error = caught.value
    assert what in error.what
    assert hint in error.hint
    assert error.origin == (file, line, "f")
    assert isinstance(error, SyntaxError)


def test_loops_in_finally_may_jump():
    def f(x):
        try:
            return 1
        finally:
            for i in range(5):
                if i == 2:
                    break
            x.append(i)

    said = []
    assert convert(f, PlainHooks())(said) == 1
    assert said == [2]


def test_classes_inside_are_left_alone():
    def f():
        class Numbers:
            def __iter__(self):
                yield 1

        return list(Numbers())

    assert convert(f, PlainHooks())() == [1]
