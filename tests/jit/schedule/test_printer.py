"""Plans as text."""

from __future__ import annotations

from typing import Any

import pytest

import gtape as gt


def lines(text: str) -> list[str]:
    """Return the lines of a plan without the places in this file."""
    return [line.partition("  #")[0] for line in text.splitlines()]


def grown(x: Any) -> Any:
    count = 0
    while gt.reduce_sum(x) < 100.0:
        x = x * 1.1 + 0.5
        count += 1
    return x * count


def test_a_loop_and_its_gradient() -> None:
    f = gt.function(gt.grad(lambda x: gt.reduce_sum(grown(x) ** 2)))
    assert lines(f.plan(gt.ones([5]))) == [
        "kernel over [5]: 0 operations, reads 1, writes 1, reduce_sum over (0,), "
        "24 bytes",
        "numbers: 1 operation",
        "while, carries 3",
        "  kernel over [5]: 2 operations, reads 1, writes 2, reduce_sum over (0,), "
        "44 bytes",
        "  call python_add -> int64[]",
        "  numbers: 1 operation",
        "numbers: 1 operation",
        "kernel over [5]: 5 operations, reads 2, writes 1, 60 bytes",
        "for, carries 1",
        "  kernel over [5]: 2 operations, reads 1, writes 1, 40 bytes",
    ]


def test_a_branch() -> None:
    def f(x: Any) -> Any:
        return gt.sin(x) if gt.reduce_sum(x) > 0.0 else x * 2.0

    assert lines(gt.function(f).plan(gt.ones([3], gt.float64))) == [
        "kernel over [3]: 0 operations, reads 1, writes 1, reduce_sum over (0,), "
        "32 bytes",
        "numbers: 1 operation",
        "if",
        "  kernel over [3]: 1 operations, reads 1, writes 1, 48 bytes",
        "else",
        "  kernel over [3]: 1 operations, reads 1, writes 1, 48 bytes",
    ]


def test_a_size_that_is_not_known() -> None:
    f = gt.function(lambda x: x * 2.0, input_signature=[gt.TensorSpec([None, 3])])
    assert lines(f.plan()) == ["kernel over [n, 3]: 1 operations, reads 1, writes 1"]


def test_the_users_lines_stand_behind() -> None:
    f = gt.function(lambda x, y: x @ y)
    text = f.plan(gt.ones([2, 3]), gt.ones([3, 4]))
    assert text.startswith("call matmul -> float32[2,4]  # line ")


def test_code_is_text() -> None:
    f = gt.function(lambda x: gt.exp(x) * 2.0)
    assert "define" in f.code(gt.ones([100]))


def test_code_of_what_is_not_compiled() -> None:
    f = gt.function(lambda x: gt.linalg.svd(x, compute_uv=False))
    with pytest.raises(gt.errors.GraphError, match="svdvals is not compiled"):
        f.code(gt.ones([3, 3]))
