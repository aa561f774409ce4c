"""Converted functions do what the originals do, call by call."""

import copy

import pytest

from gtape.jit.syntax import convert
from tests.jit.syntax import (
    corpus_control,
    corpus_functions,
    corpus_scopes,
    corpus_statements,
)
from tests.jit.syntax.corpus import CORPUS
from tests.jit.syntax.plain_hooks import PlainHooks

FILES = (corpus_control, corpus_functions, corpus_scopes, corpus_statements)


def outcome(function, arguments):
    """Return the result or the exception of a call, and what was said."""
    CORPUS.said.clear()
    corpus_scopes.COUNTER = 0
    try:
        result = ("result", function(*copy.deepcopy(arguments)))
    except Exception as error:
        cause, context = error.__cause__, error.__context__
        result = ("error", type(error), str(error), repr(cause), repr(context))
    return repr((result, CORPUS.said, corpus_scopes.COUNTER))


@pytest.mark.parametrize("stress", [False, True], ids=["plain", "stress"])
@pytest.mark.parametrize("case", CORPUS.cases, ids=lambda case: case.name)
def test_same_outcome(case, stress):
    converted = convert(case.function, PlainHooks(stress))
    for arguments in case.calls:
        expected = outcome(case.function, arguments)
        assert outcome(converted, arguments) == expected


@pytest.mark.parametrize(
    ("owner", "name"),
    corpus_functions.METHODS,
    ids=lambda part: getattr(part, "__name__", part),
)
@pytest.mark.parametrize("y", [-1, 0, 1, 5])
def test_methods(owner, name, y):
    original = vars(owner)[name]
    converted = convert(original, PlainHooks(stress=True))
    results = []
    for function in (original, converted):
        for x in (0, 1, 4):
            instance = owner(x)
            results.append((outcome(function, (instance, y)), sorted(vars(instance))))
    assert results[: len(results) // 2] == results[len(results) // 2 :]


def test_the_corpus_is_large():
    names = [case.name for case in CORPUS.cases]
    assert len(set(names)) == len(names) >= 120
