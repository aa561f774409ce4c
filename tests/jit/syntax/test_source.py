# ruff: noqa: E731, E704
"""Where the source of functions comes from, and what is made of it."""

import doctest
import gc
import linecache
import threading
import time
import weakref

import pytest

from gtape.errors import ConversionError
from gtape.jit.syntax import convert, converted_source
from tests.jit.syntax import corpus_control, corpus_statements
from tests.jit.syntax.plain_hooks import PlainHooks

PAIR = (lambda x: x + 1 if x else 0), (lambda x: x + 2 if x else 0)
NESTED = lambda x: lambda y: x if y else -x
SAME = [lambda: 1, lambda: 1]
ACROSS = [
    lambda x:
        x and
        5,
    lambda x: x or 7,
]  # fmt: skip


def defined(text, name, file, registered=True):
    """Return a function from text that stands in no file."""
    scope = {}
    if registered:
        lines = text.splitlines(keepends=True)
        linecache.cache[file] = (len(text), None, lines, file)
    exec(compile(text, file, "exec"), scope)
    return scope[name]


class Calls(PlainHooks):
    """Counts the conditional expressions."""

    count = 0

    def if_exp(self, test, then, orelse):
        self.count += 1
        return super().if_exp(test, then, orelse)


def test_lambdas_on_one_line():
    for f in PAIR:
        hooks = Calls()
        assert convert(f, hooks)(5) == f(5)
        assert hooks.count == 1


def test_lambdas_inside_each_other():
    inner = NESTED(3)
    assert convert(inner, PlainHooks())(0) == -3
    assert convert(NESTED, PlainHooks())(4)(0) == -4


def test_equal_lambdas_on_one_line():
    assert [convert(f, PlainHooks())() for f in SAME] == [1, 1]


def test_lambdas_over_lines():
    assert [convert(f, PlainHooks())(0) for f in ACROSS] == [0, 7]


def test_lines_that_are_kept_in_memory():
    f = defined("def f(x):\n  return x if x else 3\n", "f", "<cell 1>")
    hooks = Calls()
    assert convert(f, hooks)(0) == 3
    assert hooks.count == 1


def test_strings_keep_their_indentation():
    def f(x):
        return """
    a
  b""" if x else x  # fmt: skip

    assert convert(f, PlainHooks())(1) == "\n    a\n  b"


def test_doctest():
    text = """
    >>> def f(x):
    ...     while x > 3:
    ...         x = x - 2
    ...     return x
    >>> convert(f, hooks)(8)
    2
    >>> convert(lambda x: x if x else 5, hooks)(0)
    5
    """
    scope = {"convert": convert, "hooks": PlainHooks()}
    test = doctest.DocTestParser().get_doctest(text, scope, "text", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(test, out=lambda _: None).failed == 0


def test_no_source():
    f = defined("def f(x): return x", "f", "<string>", registered=False)
    with pytest.raises(
        ConversionError, match=r"source of f is not available"
    ) as caught:
        convert(f, PlainHooks())
    assert "define it in a file or pass autograph=False" in str(caught.value)
    assert isinstance(caught.value, SyntaxError)
    assert caught.value.origin[:2] == ("<string>", 1)


def test_changed_source():
    f = defined("def f(x): return x", "f", "<cell 2>")
    lines = ["\n", "def f(x): return x\n"]
    linecache.cache["<cell 2>"] = (20, None, lines, "<cell 2>")
    with pytest.raises(ConversionError, match="its file has changed"):
        convert(f, PlainHooks())


def test_not_a_python_function():
    for thing in (len, PlainHooks, PlainHooks().not_, 5):
        with pytest.raises(ConversionError, match="only Python functions"):
            convert(thing, PlainHooks())


def test_decorators_are_left_out():
    kept = []

    def keep(function):
        kept.append(function)
        return lambda: None

    @keep
    @(lambda function: function)
    def f(x):
        return x or 9

    assert convert(kept[0], PlainHooks())(0) == 9


def make(y):
    def f(x=y):
        nonlocal y
        y = y + 1
        return x if x > 5 else y

    return f, lambda: y


def test_closures_are_shared():
    f, read = make(1)
    g, _ = make(7)
    converted = convert(f, PlainHooks())
    assert converted() == 2
    assert read() == 2
    assert f() == 3
    assert converted() == 4
    # The second one has its own closure and defaults, and the same code.
    other = convert(g, PlainHooks())
    assert other() == 7
    assert other.__code__ is converted.__code__


def test_converted_again_with_other_hooks():
    first, second = Calls(), Calls()
    convert(PAIR[0], first)(1)
    converted = convert(PAIR[0], second)
    converted(1)
    converted(1)
    assert (first.count, second.count) == (1, 2)


def test_code_is_forgotten():
    f = defined("def f(x): return x and 1", "f", "<cell 3>")
    convert(f, PlainHooks())
    code = weakref.ref(f.__code__)
    del f
    gc.collect()
    assert code() is None


def test_threads():
    texts = [f"def f(x): return x + {i} if x else {i}" for i in range(20)]
    functions = [defined(t, "f", f"<thread {i}>") for i, t in enumerate(texts)]
    results = [[] for _ in range(4)]

    def work(found):
        for f in functions:
            found.append(convert(f, PlainHooks())(0))

    threads = [threading.Thread(target=work, args=(found,)) for found in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [list(range(20))] * 4


def test_future_annotations():
    text = (
        "from __future__ import annotations\n"
        "def f(x):\n"
        "    def g(y: unknown) -> also_unknown:\n"
        "        return y or 3\n"
        "    return g(x), g.__annotations__\n"
    )
    f = defined(text, "f", "<future>")
    assert convert(f, PlainHooks())(0) == f(0)


def test_text_for_people():
    text = converted_source(corpus_control.if_else)
    assert "gt__.if_stmt(gt__.binary('>', x, 0), " in text
    assert "nonlocal y" in text


def test_takes_little_time():
    long = corpus_statements.match_sequences, corpus_control.return_in_deep_loops
    times = []
    for f in long:
        for _ in range(3):
            # Another code object each time, so that none is known.
            fresh = f.__code__.replace(co_filename=f.__code__.co_filename)
            again = type(f)(fresh, f.__globals__, f.__name__)
            start = time.perf_counter()
            convert(again, PlainHooks())
            times.append(time.perf_counter() - start)
    # The first one has to read the file. A loaded machine is allowed for.
    assert min(times) < 0.03
