"""Every operation of the table, compiled: the same as eagerly, and machine code.

What has no compiled form is listed; the list must be true. Gradients and other sizes
are compared in `test_every_op_traced`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import gtape as gt
from tests.ops.harness import Record, draw, rng_for, tensor
from tests.ops.table import RECORDS
from tests.ops.test_every_op_traced import assert_same, called

INTERPRETED = frozenset(
    [
        "argwhere",
        *("cholesky", "cofactor", "cofactor_derivative"),
        *("det", "eigh", "eigvalsh", "expm"),
        *("gamma_sample_gradient", "host", "inv"),
        "pinv",
        *("print", "qr"),
        *("segment_rows", "slogdet", "solve", "svd", "svdvals"),
        "triangular_solve",
        *("unique", "writers", "check_numerics", "python_round_to"),
    ]
)
"""Primitives without a compiled form: graphs with them are interpreted."""

DTYPES = ("float64", "float32", "int32", "int64", "bool")
TOLERANCES = {"float64": 1e-11, "float32": 2e-5}
CASES = [
    pytest.param(record, dtype, id=f"{record.id}-{dtype}")
    for record in RECORDS
    for dtype in DTYPES
    if dtype in record.dtypes
]


def why_interpreted(function: Any, args: Any) -> str:
    """Return the primitive that keeps a function from being compiled, or nothing."""
    program = function.concrete(*args)._concrete.program
    said = re.fullmatch(r"(\w+) is not compiled", program.why_not)
    return said[1] if said else program.why_not


def compiled(record: Record, attrs: dict[str, Any], dtype: str) -> str | None:
    """Compare a compiled call with an eager one, and return what is not compiled."""
    arrays = draw(record, rng_for(record), dtype, attrs)
    if arrays is None:
        return None
    args = [tensor(a) for a in arrays]
    call = called(record, attrs)
    function = gt.function(call, jit_compile=True)
    assert_same(function(*args), call(*args), TOLERANCES.get(dtype, 0.0))
    return why_interpreted(function, args)


@pytest.mark.parametrize(("record", "dtype"), CASES)
def test_compiled_is_eager(record: Record, dtype: str) -> None:
    for attrs in record.attrs:
        reason = compiled(record, attrs, dtype)
        if reason and "complex" not in reason and "depends on data" not in reason:
            assert reason in INTERPRETED, f"{record.id}: {reason}"


@pytest.mark.parametrize("name", sorted(INTERPRETED))
def test_the_list_is_true(name: str) -> None:
    for record in RECORDS:
        if record.primitive == name and not record.composed:
            assert compiled(record, record.attrs[0], record.dtypes[0]) != ""
