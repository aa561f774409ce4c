"""Control flow as functions: plain Python eagerly, parts of the graph in a trace."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gtape import dispatch, nest
from gtape.dispatch import services
from gtape.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from gtape.ops.carry import Carry, places
from gtape.ops.common import Tensor, TensorLike, as_int, convert, name_of
from gtape.ops.logic import equal, not_equal
from gtape.ops.shaping import reshape

# --- Where the code runs --------------------------------------------------------------


def executing_eagerly() -> bool:
    """Return whether operations run at once: outside of the trace of a function.

    Example:
        >>> import gtape as gt
        >>> gt.executing_eagerly()
        True
    """
    return not inside_function()


def inside_function() -> bool:
    """Return whether the code is being traced for a `gt.function`.

    Example:
        >>> import gtape as gt
        >>> gt.inside_function(), bool(gt.function(gt.inside_function)())
        (False, True)
    """
    interpreter: Any = dispatch.interpreter()
    while interpreter is not None:
        if hasattr(interpreter, "services"):
            return True
        interpreter = getattr(interpreter, "_inner", None)  # a batch runs in another
    return False


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Leave the trace of a function: the block runs eagerly, once for each trace.

    Tapes do not see it, either. Traced tensors cannot be used in it, and what it reads
    of Python is not looked at again in later calls. Elsewhere it only hides the block
    from tapes.

    Example:
        >>> import gtape as gt
        >>> @gt.function
        ... def f(x):
        ...     with gt.init_scope():
        ...         print("eager:", gt.executing_eagerly())
        ...     return x + 1.0
        >>> float(f(gt.constant(1.0)))
        eager: True
        2.0
    """
    bottom, _ = dispatch.bottom[0]
    with dispatch.running(bottom):
        yield


# --- Branches -------------------------------------------------------------------------


def cond(
    pred: TensorLike, true_fn: Callable[[], Any], false_fn: Callable[[], Any]
) -> Any:
    """Return what one of two functions returns.

    Args:
        pred: A scalar; whether to call `true_fn`.
        true_fn: A function of no arguments.
        false_fn: Another; in a trace both must return the same structure, dtypes and
            ranks.

    Raises:
        ShapeError: If the predicate is no scalar, or, in a trace, if ranks differ.
        DTypeError: If dtypes differ, in a trace.
        ArgumentError: If structures differ, in a trace.

    Example:
        >>> import gtape as gt
        >>> x = gt.constant(3.0)
        >>> float(gt.cond(x > 2.0, lambda: x * x, lambda: -x))
        9.0
    """
    name_of("cond: true_fn", true_fn)
    name_of("cond: false_fn", false_fn)
    return _branch("cond", _truth("cond: pred", pred), true_fn, false_fn)


def switch_case(
    branch_index: TensorLike,
    branch_fns: Sequence[Callable[[], Any]] | Mapping[int, Callable[[], Any]],
    default: Callable[[], Any] | None = None,
) -> Any:
    """Return what the function with a number returns.

    Args:
        branch_index: An integer scalar.
        branch_fns: Functions of no arguments: a list of them, a dict from numbers to
            them, or a list of pairs (number, function).
        default: What to call where there is no function with the number; by default
            the one with the highest.

    Raises:
        ArgumentTypeError: If the index is no integer scalar, or a branch no function.

    Example:
        >>> import gtape as gt
        >>> x = gt.constant(3.0)
        >>> float(gt.switch_case(gt.constant(1), [lambda: x, lambda: x * x]))
        9.0
    """
    numbered = _numbered(branch_fns)
    if default is not None:
        name_of("switch_case: default", default)
    last = numbered.pop(max(numbered)) if default is None else default
    index = convert(branch_index)
    if index.ndim or index.dtype.kind not in "iu":
        raise ArgumentTypeError(
            f"switch_case: branch_index has shape {tuple(index.shape)} and dtype "
            f"{index.dtype}",
            "Give an integer scalar",
        )
    if services() is None:
        return dispatch.invoke(numbered.get(int(index), last))
    return _cases(index, sorted(numbered.items()), last)


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    """Return functions by their numbers.

    Raises:
        ArgumentTypeError: If there is something else among them.
        ArgumentError: If there is none, or a number stands there twice.
    """
    if isinstance(branch_fns, Mapping):
        pairs = list(branch_fns.items())
    elif not isinstance(branch_fns, (list, tuple)):
        raise ArgumentTypeError(
            f"switch_case: branch_fns is a {type(branch_fns).__name__}",
            "Give a list of functions, or a dict from numbers to them",
        )
    elif all(isinstance(e, (list, tuple)) and len(e) == 2 for e in branch_fns):
        pairs = [tuple(entry) for entry in branch_fns]
    else:
        pairs = list(enumerate(branch_fns))
    out = {}
    for number, function in pairs:
        number = as_int("switch_case", "the number of a branch", number)
        name_of(f"switch_case: branch {number}", function)
        out[number] = function
    if not out or len(out) < len(pairs):
        raise ArgumentError(
            "switch_case: branch_fns is empty or names a number twice",
            "Give one function for each number",
        )
    return out


def _cases(index: Tensor, pairs: Sequence[Any], last: Callable[[], Any]) -> Any:
    """Return the result of a chain of branches."""
    if not pairs:
        return dispatch.invoke(last)
    (number, function), *rest = pairs
    chosen = equal(index, number)
    return _branch("switch_case", chosen, function, lambda: _cases(index, rest, last))


def _branch(name: str, predicate: Any, then: Any, orelse: Any) -> Any:
    """Call one of two functions, or trace both."""
    traced = services()
    if traced is None:
        return dispatch.invoke(then if bool(predicate) else orelse)
    found: list[Any] = []

    def noted(function: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            found.append(dispatch.invoke(function))
            if len(found) == 2:
                _check_alike(name, *found)
            return found[-1]

        return run

    return traced.branch(predicate, noted(then), noted(orelse))


def _check_alike(name: str, a: Any, b: Any) -> None:
    """Require that two branches return the same structure, dtypes and ranks."""
    labels = list(places(a, "the result"))
    for label, x, y in zip(
        labels,
        nest.flatten(a),
        nest.flatten_like(a, b, f"{name}: the second branch"),
        strict=True,
    ):
        if (x is None) is not (y is None) or nest.is_nested(y):
            raise ArgumentError(
                f"{name}: {label} is {_said(x)} in one branch, {_said(y)} in another",
                "Both must return the same structure",
            )
        if not (hasattr(x, "dtype") and hasattr(y, "dtype")):
            continue  # Python numbers adapt
        if x.dtype != y.dtype:
            raise DTypeError(
                f"{name}: {label} is {x.dtype} in one branch and {y.dtype} in another",
                "Cast one of them with gt.cast",
            )
        if x.ndim != y.ndim:
            raise ShapeError(
                f"{name}: {label} has shape {tuple(x.shape)} in one branch and "
                f"{tuple(y.shape)} in another",
                "Both must have the same rank",
            )


def _said(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _truth(what: str, value: Any) -> Any:
    """Return a condition as a bool, or as a bool scalar.

    Raises:
        ShapeError: If it has more than one element.
        ArgumentTypeError: If it is nothing that a tensor can hold.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, (str, bytes)) or value is None:
        raise ArgumentTypeError(f"{what} is {value!r}", "Give a bool scalar")
    scalar = convert(value)
    if scalar.ndim:
        if any(d != 1 for d in scalar.shape):
            raise ShapeError(
                f"{what} has shape {tuple(scalar.shape)}",
                "Give a scalar, such as by gt.reduce_all",
            )
        scalar = reshape(scalar, ())
    return scalar if scalar.dtype.kind == "b" else not_equal(scalar, 0)


# --- Loops ----------------------------------------------------------------------------


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    maximum_iterations: Any = None,
) -> Any:
    """Call a function on what it returned, again and again while a condition holds.

    Args:
        cond: (*loop_vars) -> a bool scalar.
        body: (*loop_vars) -> the loop_vars of the next trip, in the same structure and
            dtypes.
        loop_vars: The values at the start: a list or tuple of tensors, or of nested
            structures of these.
        maximum_iterations: The most trips: an integer, traced or not.

    Returns:
        The loop_vars at the end, in the structure of those given.

    Raises:
        ArgumentError: If the body returns another structure.
        DTypeError: If a dtype changes.
        ShapeError: If a rank changes, or the condition is no scalar.

    Example:
        >>> import gtape as gt
        >>> i, x = gt.while_loop(
        ...     lambda i, x: x < 100.0, lambda i, x: (i + 1, x * x), (0, 3.0)
        ... )
        >>> int(i), float(x)
        (3, 6561.0)
    """
    name_of("while_loop: cond", cond)
    name_of("while_loop: body", body)
    if not isinstance(loop_vars, (list, tuple)) or not nest.flatten(loop_vars):
        raise ArgumentTypeError(
            f"while_loop: loop_vars is {loop_vars!r}", "Give a list or tuple of values"
        )
    carry = Carry("while_loop", "loop_vars", loop_vars)
    alone = len(loop_vars) == 1

    def test() -> Any:
        found = dispatch.invoke(cond, *carry.value())
        return _truth("while_loop: the result of cond", found)

    def trip() -> None:
        result = dispatch.invoke(body, *carry.value())
        if alone and not isinstance(result, (list, tuple)):
            result = [result]
        carry.update(result, "body")

    _repeat(test, trip, carry, maximum_iterations)
    return carry.value()


def _repeat(
    test: Callable[[], Any], trip: Callable[[], None], carry: Carry, limit: Any
) -> None:
    """Run or trace a loop with a condition, and with a limit for its trips if given."""
    traced = services()
    if limit is not None:
        limit = _bound("while_loop", "maximum_iterations", limit)
    if traced is not None and limit is None:
        traced.while_loop(test, trip, carry)
    elif traced is not None:
        traced.for_loop((limit,), lambda i: None, trip, test, carry)
    else:
        done = 0
        while (limit is None or done < limit) and bool(test()):
            trip()
            done += 1


def _bound(name: str, argument: str, value: Any) -> Any:
    """Return a bound of a loop: an int, or what stands for one in a trace.

    Raises:
        ArgumentTypeError: If it is no integer scalar.
    """
    traced = services()
    if traced is None:
        return as_int(name, argument, value)
    return traced.integer(name, argument, value)


def fori_loop(
    lower: Any, upper: Any, body: Callable[[Any, Any], Any], init_val: Any
) -> Any:
    """Call a function for each integer from a bound to another, on what it returned.

    Args:
        lower: The first integer.
        upper: The first integer that is too large.
        body: (i, value) -> the value of the next trip, in the same structure and
            dtypes; i is a Python int, or what stands for one in a trace.
        init_val: The value at the start: a tensor or a nested structure of tensors.

    Returns:
        The value at the end.

    Raises:
        ArgumentTypeError: If a bound is no integer.
        ArgumentError: If the body returns another structure.
        DTypeError: If a dtype changes.
        ShapeError: If a rank changes.

    Example:
        >>> import gtape as gt
        >>> float(gt.fori_loop(1, 5, lambda i, x: x * i, 1.0))
        24.0
    """
    name_of("fori_loop: body", body)
    bounds = _bound("fori_loop", "lower", lower), _bound("fori_loop", "upper", upper)
    carry = Carry("fori_loop", "init_val", init_val)
    now: list[Any] = [None]

    def assign(i: Any) -> None:
        now[0] = i

    def trip() -> None:
        carry.update(dispatch.invoke(body, now[0], carry.value()), "body")

    traced = services()
    if traced is not None:
        traced.for_loop(bounds, assign, trip, None, carry)
    else:
        for i in range(*bounds):
            assign(i)
            trip()
    return carry.value()


__all__ = [
    "cond",
    "executing_eagerly",
    "fori_loop",
    "init_scope",
    "inside_function",
    "switch_case",
    "while_loop",
]
