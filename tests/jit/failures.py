"""What fails when a program runs.

Each function takes a float64 vector of three elements and an int64 scalar k; it
fails for k = 0 and returns a float64 scalar for k = 1 and k = 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gtape as gt

Failing = Callable[[Any, Any], Any]

FAILING: dict[str, Failing] = {}
"""Those that say the same in a graph, word by word."""


def fails(function: Failing) -> Failing:
    """Decorate a function that fails for k = 0."""
    FAILING[function.__name__] = function
    return function


class TwoPartsError(KeyError):
    """An error of the user."""


class OwnError(Exception):
    """An error of the user with a constructor of its own."""

    def __init__(self, step: Any, text: str, *, at: Any) -> None:
        super().__init__(step, text)
        self.at = at


def _real(k: Any) -> Any:
    return gt.cast(k, "float64")


# --- Indices --------------------------------------------------------------------------


@fails
def item(v: Any, k: Any) -> Any:
    return v[3 - k]


@fails
def item_of_the_second_axis(v: Any, k: Any) -> Any:
    return gt.stack([v, v])[:, 3 - k][0]


@fails
def item_at_a_python_number(v: Any, k: Any) -> Any:
    return v[int(3 - k)]


@fails
def item_set(v: Any, k: Any) -> Any:
    w = v * 1.0
    w[3 - k] = 2.0
    return w[0]


@fails
def items_of_two_axes(v: Any, k: Any) -> Any:
    m = gt.stack([v, v])
    return m[gt.stack([0, 1]), gt.stack([k, 3 - k])][0]


@fails
def gather(v: Any, k: Any) -> Any:
    return gt.gather(v, 3 - k)


@fails
def gather_along_an_axis(v: Any, k: Any) -> Any:
    return gt.reduce_sum(gt.gather(gt.stack([v, v]), 3 - k, axis=1))


@fails
def gather_with_a_batch(v: Any, k: Any) -> Any:
    rows = gt.reshape(gt.stack([0, 3 - k]), (2, 1))
    return gt.gather(gt.stack([v, v]), rows, batch_dims=1)[1, 0]


@fails
def gather_nd(v: Any, k: Any) -> Any:
    return gt.gather_nd(v, [3 - k])


@fails
def embedding_lookup(v: Any, k: Any) -> Any:
    return gt.nn.embedding_lookup(v, 3 - k)


@fails
def take_along_axis(v: Any, k: Any) -> Any:
    return gt.take_along_axis(v, gt.reshape(3 - k, (1,)), 0)[0]


@fails
def scatter(v: Any, k: Any) -> Any:
    return gt.tensor_scatter_nd_update(v, [[3 - k]], [2.0])[0]


@fails
def segments(v: Any, k: Any) -> Any:
    ids = gt.stack([0, 1, 3 - k])
    return gt.math.unsorted_segment_sum(v, ids, 3)[0]


@fails
def segments_out_of_order(v: Any, k: Any) -> Any:
    return gt.math.segment_sum(v, gt.stack([0, 1, k]))[0]


@fails
def bincount(v: Any, k: Any) -> Any:
    return _real(gt.math.bincount(gt.stack([k - 1, 1]), minlength=3, maxlength=3)[0])


@fails
def label_of_a_cross_entropy(v: Any, k: Any) -> Any:
    return gt.nn.sparse_softmax_cross_entropy_with_logits(labels=3 - k, logits=v)


# --- Numbers --------------------------------------------------------------------------


@fails
def quotient(v: Any, k: Any) -> Any:
    return _real(7 // k)


@fails
def remainder(v: Any, k: Any) -> Any:
    return _real(7 % k)


@fails
def quotients(v: Any, k: Any) -> Any:
    return _real(gt.reduce_sum(gt.stack([k, 7]) // gt.stack([7, k])))


@fails
def power(v: Any, k: Any) -> Any:
    return _real(gt.pow(k, k - 1))


@fails
def cholesky(v: Any, k: Any) -> Any:
    return gt.linalg.cholesky([[_real(k) - 0.5]])[0, 0]


@fails
def inverse(v: Any, k: Any) -> Any:
    return gt.linalg.inv(gt.reshape(_real(k), (1, 1)))[0, 0]


@fails
def solution(v: Any, k: Any) -> Any:
    return gt.linalg.solve(gt.reshape(_real(k), (1, 1)), [[1.0]])[0, 0]


@fails
def logdet(v: Any, k: Any) -> Any:
    return gt.linalg.logdet(gt.reshape(_real(k) - 0.5, (1, 1)))


# --- Checks ---------------------------------------------------------------------------


@fails
def check_numerics(v: Any, k: Any) -> Any:
    return gt.check_numerics(1.0 / _real(k), "one over k")


@fails
def check_of_one_tensor(v: Any, k: Any) -> Any:
    gt.debugging.assert_positive(k)
    return v[0]


@fails
def check_of_two_tensors(v: Any, k: Any) -> Any:
    gt.debugging.assert_less(v * 0.0, _real(k), message="too small")
    return v[0]


@fails
def check_of_equality(v: Any, k: Any) -> Any:
    gt.debugging.assert_equal(k, gt.maximum(k, 1))
    return v[0]


@fails
def assertion(v: Any, k: Any) -> Any:
    assert k > 0
    return v[0]


@fails
def assertion_with_a_text(v: Any, k: Any) -> Any:
    assert k > 0, "k must be positive"
    return v[0]


@fails
def assertion_with_values(v: Any, k: Any) -> Any:
    assert k > 0, f"k is {k}, v begins with {v[0]:.2f}, {k!r}"
    return v[0]


@fails
def assertion_with_a_tuple(v: Any, k: Any) -> Any:
    assert k > 0, ("k", k)
    return v[0]


@fails
def assertion_that_never_holds(v: Any, k: Any) -> Any:
    if k < 1:
        assert False, "not reached"  # noqa: B011, PT015
    return v[0]


# --- Errors of the user ---------------------------------------------------------------


@fails
def error(v: Any, k: Any) -> Any:
    if k < 1:
        raise ValueError("small")
    return v[0]


@fails
def error_without_arguments(v: Any, k: Any) -> Any:
    if k < 1:
        raise TwoPartsError
    return v[0]


@fails
def error_with_several_arguments(v: Any, k: Any) -> Any:
    if k < 1:
        raise TwoPartsError("small", 1, k, v[1])
    return v[0]


@fails
def error_with_a_constructor(v: Any, k: Any) -> Any:
    if k < 1:
        raise OwnError(1, "small", at=[2])
    return v[0]


@fails
def error_with_a_constructor_and_values(v: Any, k: Any) -> Any:
    if k < 1:
        raise OwnError(k, f"small: {k}", at=[v])
    return v[0]


@fails
def error_from_another(v: Any, k: Any) -> Any:
    if k < 1:
        raise OwnError(1, "small", at=2) from KeyError("first")
    return v[0]


@fails
def error_with_values_from_another(v: Any, k: Any) -> Any:
    if k < 1:
        raise ValueError(k) from KeyError(k, "first")
    return v[0]


@fails
def error_from_a_class(v: Any, k: Any) -> Any:
    if k < 1:
        raise ValueError("small") from KeyError
    return v[0]


@fails
def error_from_none(v: Any, k: Any) -> Any:
    if k < 1:
        raise ValueError(k) from None
    return v[0]


@fails
def error_made_before(v: Any, k: Any) -> Any:
    small = ValueError("small")
    if k < 1:
        raise small
    return v[0]


@fails
def error_with_values_made_before(v: Any, k: Any) -> Any:
    small = ValueError("small", k)
    small.add_note("made before")
    if k < 1:
        raise small
    return v[0]


@fails
def error_of_gtape(v: Any, k: Any) -> Any:
    if k < 1:
        raise gt.errors.ShapeError("own: a text", "A hint")
    return v[0]


@fails
def error_of_gtape_with_values(v: Any, k: Any) -> Any:
    if k < 1:
        raise gt.errors.ShapeError(f"own: k is {k}", "A hint")
    return v[0]


@fails
def end_of_an_iteration(v: Any, k: Any) -> Any:
    if k < 1:
        raise StopIteration(3)
    return v[0]


@fails
def interruption(v: Any, k: Any) -> Any:
    if k < 1:
        raise KeyboardInterrupt
    return v[0]


@fails
def error_in_both_branches(v: Any, k: Any) -> Any:
    if k < 1:
        if v[0] > 0.0:
            raise ValueError("small")
        raise KeyError("never")
    return v[0]


@fails
def error_in_a_match(v: Any, k: Any) -> Any:
    match k:
        case 0:
            raise ValueError("zero")
        case _:
            return v[0]
