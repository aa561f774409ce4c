"""What tests of errors at run time share: where they stand, words, causes, lines."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gtape as gt
from gtape.errors import GtapeError
from tests.jit.failures import Failing

V = np.array([0.3, 0.7, 1.1])
FORMS = {"traced": {"optimize": False}, "optimized": {"optimize": True}}


def raised(call: Callable[[], Any]) -> BaseException:
    """Return the error of a call."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 (it is compared)
        call()
    return caught.value


def words(error: BaseException) -> Any:
    """Return what an error says, place left out."""
    if isinstance(error, GtapeError):
        return error.what, error.hint
    notes = [n for n in getattr(error, "__notes__", ()) if not n.startswith("At ")]
    return str(error.args), str(vars(error).get("at")), notes


def cause(error: BaseException) -> tuple[str, bool]:
    return repr(error.__cause__), error.__suppress_context__


def line_run(error: BaseException, file: str) -> int | None:
    """Return the innermost line of a file that Python was in."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f.lineno for f in frames if f.filename == file][-1]


def line_said(error: BaseException) -> list[int]:
    """Return the line that an error names: its own, or those of notes."""
    if isinstance(error, GtapeError):
        return [error.origin.line]
    notes = "\n".join(getattr(error, "__notes__", ()))
    return [int(n) for n in re.findall(r"^At .*:(\d+) in \w+\.$", notes, re.MULTILINE)]


def constants(*args: Any) -> list[Any]:
    return [gt.constant(a) for a in args]


def each(*programs: Callable[..., Any]) -> pytest.MarkDecorator:
    """Return what runs a test with each program."""
    return pytest.mark.parametrize("program", programs, ids=lambda p: p.__name__)


# --- Where it stands ------------------------------------------------------------------


class Model:
    """Calls a function from a method."""

    def __init__(self, function: Failing) -> None:
        self.function = function

    def __call__(self, v: Any, k: Any) -> Any:
        return self.function(v, k) * 2.0


def places(function: Failing) -> dict[str, Callable[[Any, Any], Any]]:
    """Return programs of a vector and three k, of which the last one may be 0."""

    def plain(v: Any, ks: Any) -> Any:
        return function(v, ks[2])

    def branch(v: Any, ks: Any) -> Any:
        y = v[1]
        if v[0] > 0.0:
            y = function(v, ks[2])
        return y

    def loop(v: Any, ks: Any) -> Any:
        total = v[0] * 0.0
        for k in ks:
            total = total + function(v, k)
        return total

    def while_loop(v: Any, ks: Any) -> Any:
        total = v[0] * 0.0
        i = gt.constant(0)
        while i < 3:
            total = total + function(v, ks[i])
            i = i + 1
        return total

    def branch_in_a_loop(v: Any, ks: Any) -> Any:
        total = v[0] * 0.0
        for k in ks:
            if k < 5:
                total = total + Model(function)(v, k)
        return total

    found = (plain, branch, loop, while_loop, branch_in_a_loop)
    return {f.__name__: f for f in found}
