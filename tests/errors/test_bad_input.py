"""Wrong calls over the whole public surface, and what gtape says of each.

The tables stand in `cases_*.py`. Every error is a gtape class and a builtin one, names
the operation and the values, points at the user's line and says what to do.
"""

import copy
import importlib
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import gtape as gt
from gtape import errors
from tests.errors.cases import Case, lines_of

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("cases_*.py"))
CASES = [
    pytest.param(case, id=f"{name.removeprefix('cases_')}-{case.id}")
    for name in TABLES
    for case in importlib.import_module(f"tests.errors.{name}").TABLE.cases
]

# What `except ...` in a program that knows nothing of gtape catches.
BUILTIN = {
    errors.ShapeError: ValueError,
    errors.DTypeError: TypeError,
    errors.RangeError: ValueError,
    errors.ArgumentError: ValueError,
    errors.ArgumentTypeError: TypeError,
    errors.IndexRangeError: IndexError,
    errors.DivisionError: ZeroDivisionError,
    errors.AttributeMissingError: AttributeError,
    errors.LinalgError: np.linalg.LinAlgError,
    errors.NumericsError: ArithmeticError,
    errors.CheckError: AssertionError,
    errors.TensorMemoryError: MemoryError,
    errors.TapeError: RuntimeError,
    errors.TapeStateError: ValueError,
    errors.WatchError: ValueError,
    errors.GradientError: ValueError,
    errors.AssignError: RuntimeError,
}


def error_of(case: Case) -> errors.GtapeError:
    """Make the wrong call, and return the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(errors.GtapeError) as caught:
            case.call()
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_wrong_call(case):
    error = error_of(case)
    assert isinstance(error, case.error)
    assert isinstance(error, BUILTIN[case.error])
    for words in case.says:
        assert words in error.what
    # A failed check says all: what the user asserted.
    assert error.hint or case.error is errors.CheckError
    assert "\n" not in str(error)
    assert error.origin.file == case.call.__code__.co_filename
    assert error.origin.line in lines_of(case.call)
    end = "" if error.hint.endswith("?") else "."
    hint = f" {error.hint}{end}" if error.hint else ""
    assert str(error) == f"{error.what}. At {error.origin}.{hint}"


@pytest.mark.parametrize("case", CASES[::5])
def test_a_wrong_call_can_be_sent_to_another_process(case):
    error = error_of(case)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert twin.origin == error.origin


@pytest.mark.parametrize("case", CASES[::3])
def test_a_wrong_call_leaves_no_trace(case):
    """Under a tape it raises the same, and the tape goes on as before."""
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = x * x
        error = error_of(case)
        z = y * 3.0
    assert isinstance(error, case.error)
    assert tape.gradient(z, x).numpy() == 12.0


def test_the_tables_are_large_enough():
    names = [parameter.id for parameter in CASES]
    assert len(names) > 600
    assert len(set(names)) == len(names)
