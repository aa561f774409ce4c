"""Checks for tests: of gradients against central differences, and of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gtape import nest
from gtape.dtypes import as_dtype
from gtape.eager import EagerTensor
from gtape.errors import ArgumentError, CheckError, GradientCheckError
from gtape.forward import jvp
from gtape.interpreter import EAGER
from gtape.ops.common import one_of
from gtape.tape import GradientTape

Function: TypeAlias = "Callable[..., Sequence[Any]]"
"""Tensors in, tensors out: what is checked, without structures and constants."""


class _Settings(NamedTuple):
    rtol: float
    atol: float
    eps: float


def check_grads(
    f: Callable[..., Any],
    *args: Any,
    order: int = 2,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    eps: float = 1e-5,
    modes: str | Sequence[str] = ("reverse",),
) -> None:
    """Compare the gradients of a function with central differences, in float64.

    The change of f along a random direction, one for each argument, is computed by
    differences and from the gradient. For order 2 the gradient itself is then such a
    function, of the arguments and of the cotangents it starts from.

    Args:
        f: A differentiable function of tensors that returns a tensor or a nested
            structure. The arguments must not lie within `eps` of a point where it has
            no derivative.
        *args: Its arguments: arrays, tensors, variables, numbers, or nested structures
            of them. What is floating-point or complex is varied, as float64 or
            complex128 tensors; the rest is passed on as it is.
        order: The highest order of gradients that is checked.
        rtol: The relative error allowed.
        atol: The absolute error allowed.
        eps: The step of the differences, relative to arguments above 1.
        modes: What is checked: "reverse" for tapes, "forward" for `gt.jvp`.

    Raises:
        GradientCheckError: If they differ, with both numbers, the argument and the
            order. It is an AssertionError.
        ArgumentError: If there is nothing to check, or a mode is unknown.

    Example:
        >>> import gtape as gt
        >>> gt.testing.check_grads(lambda x, y: x * gt.exp(y), [1., 2.], 0.5)
        >>> gt.testing.check_grads(lambda x: x * gt.stop_gradient(x), 3.)
        Traceback (most recent call last):
        ...
        gtape.errors.GradientCheckError: ...
    """
    wanted = [modes] if isinstance(modes, str) else list(modes)
    checks = [_MODES[one_of("check_grads", "mode", m, list(_MODES))] for m in wanted]
    function, arrays, labels = _prepared(f, args)
    settings = _Settings(rtol, atol, eps)
    rng = np.random.default_rng(0)
    for done in range(1, order + 1):
        outputs = [_array(o) for o in function(*map(EagerTensor, arrays))]
        if not outputs:
            raise ArgumentError(
                "check_grads: the function returns nothing that has a gradient",
                "Return a floating-point tensor",
            )
        seeds = [_direction(rng, o) for o in outputs]
        for check in checks:
            check(function, arrays, seeds, labels, done, settings, rng)
        function = _gradient_of(function, len(arrays))
        arrays = arrays + seeds
        labels = labels + [f"cotangent {i} of order {done}" for i in range(len(seeds))]


def _prepared(
    f: Callable[..., Any], args: Sequence[Any]
) -> tuple[Function, list[Any], list[str]]:
    """Return f as a function of what is varied in its arguments, and that by name."""
    leaves = nest.flatten(list(args))
    values = [_widened(leaf) for leaf in leaves]
    varied = [i for i, v in enumerate(values) if v is not None]
    if not varied:
        raise ArgumentError(
            "check_grads: no argument is floating-point", "Give one that is"
        )

    def function(*tensors: Any) -> list[Any]:
        filled = list(leaves)
        for i, tensor in zip(varied, tensors, strict=True):
            filled[i] = tensor
        out = nest.flatten(f(*nest.pack(list(args), iter(filled))))
        return [o for o in out if _varies(o)]

    names = _names("argument", list(args))
    return function, [values[i] for i in varied], [names[i] for i in varied]


def _widened(leaf: Any) -> Any:
    """Return a leaf as an array of its widest dtype, `None` if it has no gradient."""
    if leaf is None or isinstance(leaf, (str, bytes)) or callable(leaf):
        return None
    array = _array(EAGER.convert(leaf))
    if not as_dtype(array.dtype).is_differentiable:
        return None
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _varies(value: Any) -> bool:
    return hasattr(value, "dtype") and as_dtype(value.dtype).is_differentiable


def _array(tensor: Any) -> Any:
    return tensor.numpy()


def _names(name: str, structure: Any) -> list[str]:
    """Return the path of each leaf, such as "argument 0['w']"."""

    def paths(value: Any, path: str) -> list[str]:
        if not nest.is_nested(value):
            return [path]
        items = value.items() if hasattr(value, "items") else enumerate(value)
        return [p for key, v in items for p in paths(v, f"{path}[{key!r}]")]

    return [p for i, v in enumerate(structure) for p in paths(v, f"{name} {i}")]


def _direction(rng: np.random.Generator, like: Any) -> Any:
    out = np.asarray(rng.standard_normal(like.shape))
    if like.dtype.kind == "c":
        out = out + 1j * rng.standard_normal(like.shape)
    return out.astype(like.dtype)[()]


def _inner(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """Return the sum of all products of components, real and imaginary ones alike."""
    return float(
        sum(np.sum(np.real(np.conj(x) * y)) for x, y in zip(xs, ys, strict=True))
    )


def _gradient_of(function: Function, count: int) -> Function:
    """Return arguments, cotangents -> the gradients by the arguments."""

    def gradient(*tensors: Any) -> list[Any]:
        sources, seeds = tensors[:count], list(tensors[count:])
        with GradientTape() as tape:
            tape.watch(sources)
            targets = list(function(*sources))
        return list(tape.gradient(targets, list(sources), seeds, "zero"))

    return gradient


def _check_reverse(
    function: Function,
    arrays: list[Any],
    seeds: list[Any],
    labels: list[str],
    order: int,
    settings: _Settings,
    rng: np.random.Generator,
) -> None:
    gradient = _gradient_of(function, len(arrays))
    found = [_array(g) for g in gradient(*map(EagerTensor, [*arrays, *seeds]))]
    for i, g in enumerate(found):
        direction = _direction(rng, arrays[i])
        slope = _slope(function, arrays, i, direction, seeds, settings.eps)
        _compare(_inner([g], [direction]), slope, labels[i], order, settings)


def _check_forward(
    function: Function,
    arrays: list[Any],
    seeds: list[Any],
    labels: list[str],
    order: int,
    settings: _Settings,
    rng: np.random.Generator,
) -> None:
    for i, array in enumerate(arrays):
        direction = _direction(rng, array)
        tangents = [np.zeros_like(a) for a in arrays]
        tangents[i] = direction
        _, tangent = jvp(
            function, [*map(EagerTensor, arrays)], [*map(EagerTensor, tangents)]
        )
        slope = _slope(function, arrays, i, direction, seeds, settings.eps)
        found = _inner(seeds, [_array(t) for t in tangent])
        _compare(found, slope, labels[i], order, settings)


def _slope(
    function: Function,
    arrays: list[Any],
    i: int,
    direction: Any,
    seeds: list[Any],
    eps: float,
) -> float:
    """Return the derivative of the outputs, times the seeds, along a direction."""
    step = eps * max(1.0, float(np.max(np.abs(arrays[i]), initial=0)))
    sides = []
    for sign in (1, -1):
        moved = [*arrays[:i], arrays[i] + sign * step * direction, *arrays[i + 1 :]]
        outputs = [_array(o) for o in function(*map(EagerTensor, moved))]
        sides.append(outputs)
    with np.errstate(invalid="ignore"):  # an infinity that stays has not changed
        change = [
            np.where(up == down, 0, up - down) for up, down in zip(*sides, strict=True)
        ]
    return _inner(seeds, change) / (2 * step)


def _compare(
    found: float, slope: float, label: str, order: int, settings: _Settings
) -> None:
    allowed = settings.atol + settings.rtol * abs(slope)
    if abs(found - slope) <= allowed:  # False for NaN
        return
    raise GradientCheckError(
        f"check_grads: along a random direction the derivative of order {order} by "
        f"{label} is {found:.9g}, but central differences give {slope:.9g}, and they "
        f"may differ by {allowed:.2g}",
        "The reverse rule of an operation in the function is wrong, or the argument "
        "lies at a point without a derivative",
    )


_MODES: dict[str, Callable[..., None]] = {
    "reverse": _check_reverse,
    "forward": _check_forward,
}

# --- Values ---------------------------------------------------------------------------

_TOLERANCES = {
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
}


def assert_close(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    message: str = "",
) -> None:
    """Require two values, or two nested structures, to agree in shape and elements.

    NaN agrees with NaN, an infinity with itself. Dtypes may differ.

    Args:
        actual: A tensor, variable, array, number, or a nested structure of these.
        expected: The same, in the same structure; a list may stand for a tensor.
        rtol: The relative error allowed; by default by the narrower of the two dtypes:
            5e-2 for bfloat16, 1e-2 for float16, 1e-5 for float32, 1e-12 for float64,
            none for integers.
        atol: The absolute error allowed; by default as the relative one.
        message: What the error says first.

    Raises:
        CheckError: If they do not agree, with the worst element. It is an
            AssertionError.

    Example:
        >>> import gtape as gt
        >>> gt.testing.assert_close(gt.sqrt([4., 9.]), [2., 3.])
    """
    leaves = nest.flatten(actual)
    others = nest.flatten_like(actual, expected, "assert_close")
    names = _names("", [actual])
    for leaf, other, name in zip(leaves, others, names, strict=True):
        place = f"{message}: " if message else ""
        if nest.is_nested(actual):
            place += f"entry {name.removeprefix(' 0')}: "
        _assert_close(leaf, other, rtol, atol, place)


def _assert_close(
    actual: Any, expected: Any, rtol: float | None, atol: float | None, place: str
) -> None:
    if actual is None or expected is None:
        if actual is not expected:
            raise CheckError(f"{place}{actual!r} against {expected!r}: one is None")
        return
    x, y = _array(EAGER.convert(actual)), _array(EAGER.convert(expected))
    if x.shape != y.shape:
        raise CheckError(f"{place}shape {x.shape} against {y.shape}")
    default = max(_tolerance(x), _tolerance(y))
    rtol = default if rtol is None else rtol
    atol = rtol if atol is None else atol
    exact = x.dtype.kind in "biu" and y.dtype.kind in "biu"
    wide = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        close = (
            np.asarray(x == y)
            if exact and rtol == atol == 0
            else np.isclose(
                x.astype(wide), y.astype(wide), rtol=rtol, atol=atol, equal_nan=True
            )
        )
        if close.all():
            return
        off = np.where(close, 0, np.abs(x.astype(wide) - y.astype(wide)))
    off = np.where(np.isnan(off), np.inf, off)
    worst = np.unravel_index(int(np.argmax(off)), x.shape)
    at = f" at {[int(i) for i in worst]}" if x.shape else ""
    raise CheckError(
        f"{place}{x[worst]} against {y[worst]}{at}; {int(np.sum(~close))} of {x.size} "
        f"elements differ by more than {atol:g} + {rtol:g} * |expected|"
    )


def _tolerance(x: Any) -> float:
    if x.dtype.kind in "biu":
        return 0.0
    return _TOLERANCES.get(as_dtype(x.dtype).name, 1e-12)


__all__ = ["assert_close", "check_grads"]
