"""`gt.print`: writes tensors when they are computed, in TensorFlow's short form."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np

from gtape import nest
from gtape.dispatch import apply
from gtape.errors import ArgumentTypeError
from gtape.lowering import Custom
from gtape.ops.common import TensorLike, as_int, convert
from gtape.primitive import Primitive
from gtape.spec import TensorSpec

_MARK = "\0"  # where a tensor stands in the text around it

# --- Text -----------------------------------------------------------------------------


def _element(value: Any) -> str:
    """Return one element: bools as 1 and 0, floats with as few digits as tell them."""
    kind = value.dtype.kind
    if kind == "b":
        return "1" if value else "0"
    if kind in "iu":
        return str(int(value))
    if kind == "c":
        return str(value.item())
    wide = value.dtype.itemsize == 8
    number = value if wide else np.float32(value)
    for digits in (15, 17) if wide else (6, 9):
        text = f"{float(number):.{digits}g}"
        if type(number)(text) == number:
            break
    return text


def formatted(array: Any, summarize: int) -> str:
    """Return an array as text: [1 2 3], and [0 1 2 ... 7 8 9] where an axis is long.

    Args:
        array: The array.
        summarize: How many elements are shown at each end of an axis; -1 for all.
    """
    return _axis(array, 0, array.ndim, summarize)


def _axis(array: Any, axis: int, rank: int, summarize: int) -> str:
    if array.ndim == 0:
        return _element(array[()])
    size, ends = array.shape[0], summarize
    if summarize < 0 or size <= 2 * summarize:
        parts = [_axis(row, axis + 1, rank, summarize) for row in array]
    else:
        first = [_axis(row, axis + 1, rank, summarize) for row in array[:ends]]
        last = [_axis(row, axis + 1, rank, summarize) for row in array[size - ends :]]
        parts = [*first, "...", *last]
    inner = rank - axis - 1
    gap = "\n" * inner + " " * (axis + 1) if inner else " "
    return f"[{gap.join(parts)}]"


class _Place:
    """Stands for a tensor while the structure around it is written."""

    def __repr__(self) -> str:
        return _MARK


def _is_tensor(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "biufc"
    return hasattr(value, "dtype") and hasattr(value, "ref")


def _taken_apart(inputs: Sequence[Any], sep: str) -> tuple[list[str], list[Any]]:
    """Return the pieces of text around the tensors, one more than these; and these."""
    pieces, tensors = [""], []
    for i, value in enumerate(inputs):
        pieces[-1] += sep if i else ""
        if isinstance(value, str):
            pieces[-1] += value
            continue
        leaves = nest.flatten(value)
        found = [leaf for leaf in leaves if _is_tensor(leaf)]
        places = [_Place() if _is_tensor(leaf) else leaf for leaf in leaves]
        text = repr(nest.pack(value, iter(places))) if found else repr(value)
        first, *rest = text.split(_MARK) if found else [text]
        pieces[-1] += first
        pieces += rest
        tensors += found
    return pieces, tensors


# --- Printing -------------------------------------------------------------------------


def _print_forward(
    *arrays: Any, pieces: tuple[str, ...], stream: TextIO | None, summarize: int
) -> Any:
    texts = [formatted(array, summarize) for array in arrays]
    line = pieces[0] + "".join(
        [text + piece for text, piece in zip(texts, pieces[1:], strict=True)]
    )
    builtins.print(line, end="", file=sys.stderr if stream is None else stream)
    return np.True_


_print = Primitive(
    "print",
    forward=_print_forward,
    spec=lambda *xs, pieces, stream, summarize: TensorSpec((), "bool"),
    vjp=None,
    lowering=Custom("print"),
    effect=True,
    why="it is printed",
)


def print(
    *inputs: TensorLike,
    sep: str = " ",
    end: str = "\n",
    output_stream: TextIO | None = None,
    summarize: int = 3,
) -> None:
    """Write tensors and other values, each time the line runs, to the standard error.

    A tensor is written without its dtype, bools as 1 and 0, and of each long axis only
    the ends.

    Args:
        *inputs: Tensors, strings, other values, or nested structures of these.
        sep: What stands between them.
        end: What stands after them.
        output_stream: An open text file, such as `sys.stdout`.
        summarize: How many elements are shown at each end of an axis; -1 for all.

    Raises:
        ArgumentTypeError: If the stream cannot be written to, or `sep` or `end` is not
            a string.

    Example:
        >>> import sys
        >>> import gtape as gt
        >>> gt.print("x =", gt.range(10), output_stream=sys.stdout)
        x = [0 1 2 ... 7 8 9]
    """
    for argument, value in (("sep", sep), ("end", end)):
        if not isinstance(value, str):
            raise ArgumentTypeError(
                f"print: {argument} {value!r} is not a string", "Give a string"
            )
    if output_stream is not None and not hasattr(output_stream, "write"):
        raise ArgumentTypeError(
            f"print: output_stream {output_stream!r} cannot be written to",
            "Give an open text file, such as sys.stdout",
        )
    ends = as_int("print", "summarize", summarize)
    pieces, tensors = _taken_apart(inputs, sep)
    pieces[-1] += end
    apply(
        _print,
        *[convert(x) for x in tensors],
        pieces=tuple(pieces),
        stream=output_stream,
        summarize=ends,
    )
