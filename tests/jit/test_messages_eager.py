"""The table of wrong programs: what can be said of it without gt.function."""

from __future__ import annotations

import inspect
import re
import traceback

import pytest

from gtape import errors
from tests.jit import reference
from tests.jit.messages import WRONG, Wrong
from tests.jit.wrong import HERE

EAGER = [wrong for wrong in WRONG if wrong.eager]


def test_the_table_is_large_and_names_are_unique() -> None:
    names = [wrong.name for wrong in WRONG]
    assert len(names) == len(set(names))
    assert len(names) >= 70


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_row_is_complete(wrong: Wrong) -> None:
    assert issubclass(wrong.error, wrong.builtin)
    assert not issubclass(wrong.builtin, errors.GtapeError)
    re.compile(wrong.what)
    re.compile(wrong.hint)
    marks = inspect.getsource(wrong.function).count(HERE)
    assert marks == (1 if wrong.source else 0)
    # Ways out are gtape's, not Python's or the user's.
    assert not wrong.hint or issubclass(wrong.error, errors.GtapeError)


@pytest.mark.parametrize("wrong", EAGER, ids=lambda wrong: wrong.name)
def test_the_program_fails_alike_eagerly(wrong: Wrong) -> None:
    args, _ = reference.tensors(wrong.args)
    with pytest.raises(wrong.builtin) as caught:
        wrong.run(wrong.function, tuple(args))
    error = caught.value
    assert isinstance(error, wrong.error)
    text = error.what if isinstance(error, errors.GtapeError) else str(error)
    assert re.search(wrong.what, text)
    if wrong.hint:
        assert isinstance(error, errors.GtapeError)
        assert re.search(wrong.hint, error.hint)
    file = inspect.getsourcefile(wrong.function)
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename == file
    ]
    assert frames[-1].lineno == wrong.line
