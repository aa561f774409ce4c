"""`check=True`: a function runs as plain Python, too, and both must agree."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gtape import dispatch, nest
from gtape.errors import CheckError
from gtape.jit.concrete import Concrete
from gtape.jit.signature import Bound
from gtape.tensor import Operators

_TOLERANCES = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 1e-2,
    "bfloat16": 1e-1,
}
_HINT = "Report it: they must agree"


def checked(function: Callable[..., Any], concrete: Concrete, bound: Bound) -> Any:
    """Run a function as Python and as a graph, and return the graph's result.

    What plain Python has printed is thrown away, and what it has changed is restored.

    Raises:
        CheckError: If values, dtypes, exceptions or assigned variables differ.
    """
    name = concrete.name
    args, kwargs = bound.structure
    states: list[tuple[Any, Any]] = []
    raised: BaseException | None = None
    expected: Any = None
    with _restored(concrete, bound, states), contextlib.redirect_stdout(io.StringIO()):
        try:
            with dispatch.running(dispatch.interpreter(), ()):
                expected = function(*args, **kwargs)
        except Exception as error:
            raised = error
    try:
        found = concrete.run(bound)
    except Exception as error:
        if raised is None or not isinstance(error, type(raised)):
            raise CheckError(
                f"check: the graph of {name} raised {error!r}, plain Python {raised!r}",
                _HINT,
            ) from error
        raise
    if raised is not None:
        raise CheckError(
            f"check: plain Python raised {raised!r}, the graph of {name} did not",
            _HINT,
        ) from raised
    _compare_results(name, expected, found)
    for owner, value in states:
        _compare(name, f"{getattr(owner, 'name', 'a state')} =", value, _state(owner))
    return found


def _compare_results(name: str, expected: Any, found: Any) -> None:
    a, b = nest.flatten(expected), nest.flatten(found)
    if len(a) != len(b):
        raise CheckError(
            f"check: plain Python gave {len(a)} values, the graph of {name} {len(b)}",
            _HINT,
        )
    for x, y in zip(a, b, strict=True):
        _compare(name, "", x, y)


def _compare(name: str, what: str, x: Any, y: Any) -> None:
    if x is None or isinstance(x, str):
        same = x is y or x == y
    else:
        p, q = np.asarray(x), np.asarray(y)
        same = p.shape == q.shape and _close(p, q)
        if isinstance(x, Operators):  # Python numbers become tensors of a default dtype
            same = same and p.dtype == q.dtype
    if not same:
        raise CheckError(
            f"check: plain Python gave {what} {x!r}, the graph of {name} {y!r}", _HINT
        )


def _close(p: Any, q: Any) -> bool:
    tolerance = _TOLERANCES.get(str(q.dtype))
    if tolerance is None:
        return bool(np.array_equal(p, q))
    wide = np.complex128 if q.dtype.kind == "c" else np.float64
    return bool(np.allclose(p.astype(wide), q.astype(wide), tolerance, tolerance, True))


def _state(owner: Any) -> Any:
    """Return what a variable or random state holds."""
    read = getattr(owner, "__gtape_tensor__", None)
    if read is None:
        return owner.seed, owner.counter
    with dispatch.running(dispatch.interpreter(), ()):
        return read()  # an optimizer no longer changes in place what has been read


@contextlib.contextmanager
def _restored(
    concrete: Concrete, bound: Bound, after: list[tuple[Any, Any]]
) -> Iterator[None]:
    """Give the block the state there is; afterwards note what it left, and restore it.

    Args:
        concrete: Knows what the function changes.
        bound: The arguments of the call.
        after: Takes what variables and states hold at the end of the block.
    """
    owners = concrete.states(bound)
    before = [_state(owner) for owner in owners]
    undo = concrete.writes.kept(bound)
    try:
        yield
    finally:
        after += [(owner, _state(owner)) for owner in owners]
        for owner, state in zip(owners, before, strict=True):
            if isinstance(state, tuple):
                owner.reset(*state)
            else:
                owner._tensor = state
        for step in undo:
            step()
