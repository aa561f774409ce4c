"""Random structured programs: converted and original do the same.

The hooks of `Speculative` also run what Python would not, and undo it through the
state, as a tracer does. So a name missing in a state changes the result.
"""

import functools
import itertools
import linecache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtape.jit.syntax import convert
from tests.jit.syntax.plain_hooks import PlainHooks

NAMES = ["a", "b", "c", "d"]
FILES = itertools.count()


class Speculative(PlainHooks):
    """Runs branches not taken and a trip too many, and takes them back."""

    left = 400  # so often; nested loops would take long

    def _undone(self, get, set, *steps):
        self.left -= 1
        if self.left < 0:
            return
        state = get()
        try:
            for step in steps:
                step()
        except Exception:  # noqa: BLE001, S110, RUF100 (Python would not have run it)
            pass
        set(state)

    def if_stmt(self, test, then, orelse, get, set, names):
        self._undone(get, set, orelse if test else then)
        super().if_stmt(test, then, orelse, get, set, names)
        self._undone(get, set, then)

    def while_stmt(self, test, body, get, set, names):
        self._undone(get, set, body)
        super().while_stmt(test, body, get, set, names)
        self._undone(get, set, body)

    def for_stmt(self, iterable, assign, body, test, get, set, names):
        items = list(iterable)
        for item in items[:1]:
            self._undone(get, set, functools.partial(assign, item), body)
        super().for_stmt(items, assign, body, test, get, set, names)
        for item in items[:1]:
            self._undone(get, set, functools.partial(assign, item), body)


name = st.sampled_from(NAMES)
number = st.integers(0, 4).map(str)
atom = st.one_of(name, name, number)
condition = st.one_of(
    st.builds("{} {} {}".format, atom, st.sampled_from(["<", "==", "!="]), atom),
    st.builds("{} < {} < {}".format, atom, atom, atom),
    st.builds("{} % 2 == 0".format, name),
    st.builds("{} % 3 {} {} > 2".format, name, st.sampled_from(["and", "or"]), name),
    st.builds("({} := {} % 5) {} ({} := {})".format, name, name,
              st.sampled_from(["and", "or"]), name, atom),
    st.builds("not {}".format, name),
)  # fmt: skip
expression = st.one_of(
    atom,
    st.builds("({} + {}) % 50".format, atom, atom),
    st.builds("({} * 3 - {}) % 50".format, atom, atom),
    st.builds("({} if {} else {})".format, atom, condition, atom),
    st.builds("sum([{} * e for e in range(3) if e and {}])".format, name, condition),
    st.builds("(lambda: {} + 1)()".format, name),
)


def indented(lines):
    return ["    " + line for line in lines] or ["    pass"]


def joined(blocks):
    return [line for block in blocks for line in block]


def block(statement, least=1):
    return st.lists(statement, min_size=least, max_size=3).map(joined)


def compound(inner, in_loop):
    """Return the strategy of a statement that holds others."""
    body = inner(in_loop)
    looped = inner(True)
    orelse = st.one_of(st.just([]), body)

    def with_else(head, lines, other):
        tail = ["else:", *indented(other)] if other else []
        return [head, *indented(lines), *tail]

    return st.one_of(
        st.builds(lambda c, x, y: with_else(f"if {c}:", x, y), condition, body, orelse),
        st.builds(
            lambda n, c, x, y: with_else(
                f"while ({c}) and tick():", [*x, f"{n} += 1"], y
            ),
            name, condition, looped, orelse,
        ),
        st.builds(
            lambda n, k, x, y: with_else(f"for {n} in range({k} % 4):", x, y),
            name, name, looped, orelse,
        ),
        st.builds(
            lambda x, y, z: [
                "try:", *indented(x),
                "except ZeroDivisionError as d:", *indented(y),
                "    d = 1",
                "else:", *indented(z),
                "finally:", "    b = 3",
            ],
            body, body, body,
        ),
        st.builds(lambda x: ["with quiet():", *indented(x)], body),
        st.builds(
            lambda n, x, f: [
                "def inner():", f"    nonlocal {n}",
                *indented([line.replace("del", "pass #") for line in x]),
                f"{f} = inner() or 0",
            ],
            name, inner(False), name,
        ),
        st.builds(
            lambda n, x, y: [
                f"match {n}:", "    case 0 | 1:", *indented(indented(x)),
                "    case c if c > 3:", *indented(indented(y)),
            ],
            name, body, body,
        ),
    )  # fmt: skip


def simple(in_loop):
    jumps = [st.builds("return {}".format, expression)]
    if in_loop:
        jumps += [st.just("break"), st.just("continue")]
    return st.one_of(
        st.builds("{} = {}".format, name, expression),
        st.builds("{} = {}".format, name, expression),
        st.builds("{}, {} = {}, {}".format, name, name, expression, expression),
        st.builds("{} += {}".format, name, atom),
        st.builds("{} = 6 // ({} % 3)".format, name, name),
        st.builds("del {}".format, name),
        st.one_of(jumps),
    ).map(lambda line: [line])


def statements(depth):
    def inner(in_loop):
        if depth == 0:
            return block(simple(in_loop))
        return block(
            st.one_of(simple(in_loop), compound(statements(depth - 1), in_loop))
        )

    return inner


programs = statements(3)(False).map(
    lambda lines: "\n".join(
        [
            "def program(a, b, tick, quiet):",
            *indented([*lines, "return a, b, c, d"]),
            "    c = d = 0  # which makes them local",
        ]
    )
)


def build(source):
    """Compile a program whose source can be found."""
    file = f"<random {next(FILES)}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
    scope = {}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


class Quiet:
    """A context manager that ends divisions by zero."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is ZeroDivisionError


class EndlessError(Exception):
    """A loop went round too often."""


def outcome(function, a, b, limit=40):
    count = 0

    def tick():
        nonlocal count
        count += 1
        if count > limit:
            raise EndlessError
        return True

    try:
        return "result", repr(function(a, b, tick, Quiet))
    except EndlessError:
        return ("endless",)
    except Exception as error:
        return type(error), str(error)


CALLS = [(0, 0), (1, 2), (5, 3), (4, 7)]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=300, deadline=None)
@given(programs)
def test_same_outcome(source):
    original = build(source)
    converted = convert(original, PlainHooks(stress=True))
    for a, b in CALLS:
        assert outcome(converted, a, b) == outcome(original, a, b)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=300, deadline=None)
@given(programs)
def test_states_are_complete(source):
    original = build(source)
    for a, b in CALLS:
        converted = convert(original, Speculative())
        expected = outcome(original, a, b, limit=10)
        # What is run in addition makes ticks of its own.
        if expected[0] == "result":
            assert outcome(converted, a, b, limit=300) in (expected, ("endless",))
