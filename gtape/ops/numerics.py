"""`check_numerics`: errors where NaN and infinities arise, here or everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gtape import dispatch
from gtape.dispatch import apply
from gtape.dtypes import as_dtype
from gtape.errors import ArgumentTypeError, NumericsError
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike, same_spec
from gtape.ops.printing import formatted
from gtape.primitive import Primitive, inexact

_MOST_TEXT = 200  # characters of an input's values in a message


def _faults(array: Any) -> str:
    """Return how many elements are not finite, and where the first is."""
    finite = np.isfinite(array)
    nan = np.isnan(array)
    rest = ~finite & ~nan
    below = rest & (array < 0) if array.dtype.kind != "c" else rest & False
    counts = {
        "NaN": np.count_nonzero(nan),
        "Inf": np.count_nonzero(rest & ~below),
        "-Inf": np.count_nonzero(below),
    }
    said = " and ".join([f"{n} {word}" for word, n in counts.items() if n])
    first = np.unravel_index(int(np.argmin(finite)), np.shape(array))
    place = f", the first at {[int(i) for i in first]}" if first else ""
    size = math.prod(array.shape)
    return f"{said} among {size} value{'s' if size > 1 else ''}{place}"


def _described(array: Any) -> str:
    """Return dtype and shape as messages say them."""
    return f"{as_dtype(array.dtype)} of shape {tuple(array.shape)}"


# --- One tensor -----------------------------------------------------------------------


def _check_forward(x: Any, *, message: str) -> Any:
    if not np.isfinite(x).all():
        raise NumericsError(
            f"{message} : Tensor had {_faults(x)}, {_described(x)}",
            "To find the operation that made them, call "
            "gt.debugging.enable_check_numerics()",
        )
    return x


_check_numerics = Primitive(
    "check_numerics",
    forward=_check_forward,
    spec=same_spec,
    vjp=lambda g, _out, _x, *, message: (g,),
    lowering=Custom("check_numerics"),
    operands=inexact,
    effect=True,
)


def check_numerics(tensor: TensorLike, message: str) -> Tensor:
    """Return a tensor, or raise an error if it holds NaN or an infinity.

    The gradient passes through unchecked.

    Args:
        tensor: A floating-point or complex tensor.
        message: What the error begins with.

    Raises:
        NumericsError: If there is one, with how many there are of each, and where.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.check_numerics(gt.constant([1.0, 2.0]), "fine").numpy()
        array([1., 2.], dtype=float32)
        >>> gt.debugging.check_numerics(gt.log([1.0, 0.0]), "after the logarithm")
        Traceback (most recent call last):
        ...
        gtape.errors.NumericsError: after the logarithm : Tensor had 1 -Inf among 2 ...
    """
    if not isinstance(message, str):
        raise ArgumentTypeError(
            f"check_numerics: message {message!r} is not a string", "Give a string"
        )
    return apply(_check_numerics, tensor, message=message)


# --- Every operation ------------------------------------------------------------------


class _Checker:
    """A recorder that looks at the result of every operation."""

    def record(
        self, primitive: Primitive, inputs: Sequence[Any], out: Any, attrs: Any
    ) -> None:
        """Raise an error if a result holds NaN or an infinity."""
        for result in out if isinstance(out, tuple) else (out,):
            array = result._array
            if not isinstance(array, (np.ndarray, np.generic)):
                continue  # a stand-in for a batch, whose operations are seen one by one
            if array.dtype.kind in "fcV" and not np.isfinite(array).all():
                said = [_input(x._array) for x in inputs]
                raise NumericsError(
                    f"{primitive.name} gave {_faults(array)}, {_described(array)}, "
                    f"from {', '.join(said) or 'no inputs'}",
                    "Keep its inputs where it is finite, such as with gt.where",
                )

    def read(self, variable: Any) -> None:
        """Nothing: a variable holds what an operation gave."""

    def left(self, key: int) -> None:
        """Nothing: the value has been looked at."""

    def assigned(self, variable: Any, value: Any) -> None:
        """Nothing: the value has been looked at."""


def _input(array: Any) -> str:
    if not isinstance(array, (np.ndarray, np.generic)):
        return "a batch"
    text = " ".join(formatted(array, 3).split())
    cut = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + " ..."
    return f"{cut} ({_described(array)})"


def _checkers() -> list[_Checker]:
    return [r for r in dispatch.recorders() if isinstance(r, _Checker)]


def enable_check_numerics() -> None:
    """Check the result of every operation of this thread, those of gradients included.

    The error comes from the first operation that gives NaN or an infinity, and names
    it, its result and its inputs. Operations become slower.

    Raises:
        NumericsError: Later, from an operation.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.enable_check_numerics()
        >>> gt.log([1.0, 0.0])
        Traceback (most recent call last):
        ...
        gtape.errors.NumericsError: log gave 1 -Inf among 2 values, the first at ...
        >>> gt.debugging.disable_check_numerics()
    """
    if not _checkers():
        dispatch.push_recorder(_Checker())


def disable_check_numerics() -> None:
    """Undo `enable_check_numerics`.

    Example:
        >>> import gtape as gt
        >>> gt.debugging.disable_check_numerics()
        >>> gt.log(0.0).numpy()
        np.float32(-inf)
    """
    for checker in _checkers():
        dispatch.pop_recorder(checker)
