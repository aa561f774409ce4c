"""What the assertions of `gt.debugging` stand on: a primitive that raises an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gtape.dispatch import apply
from gtape.errors import CheckError, GtapeError
from gtape.lowering import Custom
from gtape.ops.common import Tensor, TensorLike, as_int, convert
from gtape.primitive import Primitive
from gtape.spec import TensorSpec, broadcast_shapes

_ALL = 2**62


def _check_forward(
    holds: Any, *values: Any, claim: str, message: str, summarize: int
) -> Any:
    if np.all(holds):
        return np.True_
    failed = np.argwhere(np.logical_not(holds))
    names = ("x", "y")[: len(values)]
    cases = []
    for place in failed[:summarize]:
        index = tuple(place)
        said = [
            f"{name} = {np.broadcast_to(value, holds.shape)[index]!s}"
            for name, value in zip(names, values, strict=True)
        ]
        at = f"at {[int(i) for i in index]} " if index else ""
        cases.append(at + ", ".join(said))
    count = f"for {len(failed)} of {holds.size} elements: " if holds.ndim else "for "
    if len(failed) > summarize:
        cases.append(f"{len(failed) - summarize} more")
    raise failure(message, f"{claim} fails {count}{'; '.join(cases)}")


def failure(message: str | None, fault: str) -> CheckError:
    """Return the error of an assertion that does not hold."""
    return CheckError(f"{message}: {fault}" if message else fault)


_check = Primitive(
    "check",
    forward=_check_forward,
    spec=lambda holds, *values, claim, message, summarize: TensorSpec((), "bool"),
    vjp=None,
    lowering=Custom("check"),
    effect=True,
    why="it is only looked at",
)


def check_that(
    holds: Tensor,
    values: Sequence[Tensor],
    claim: str,
    message: str | None,
    summarize: int | None,
) -> None:
    """Require what `claim` says of the values, where `holds` tells whether it does."""
    shown = 3 if summarize is None else as_int(claim, "summarize", summarize)
    shown = _ALL if shown < 0 else shown
    apply(_check, holds, *values, claim=claim, message=message or "", summarize=shown)


def operand(name: str, argument: str, value: TensorLike, dtype: Any = None) -> Tensor:
    """Return an argument as a tensor; Python numbers adapt to a dtype.

    Raises:
        GtapeError: If no tensor can be made of it; the message says for what.
    """
    try:
        return convert(value, dtype)
    except GtapeError as error:
        raise error.reworded(f"{name}: {argument}: {error.what}") from None


def pair(name: str, x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Return two operands that broadcast; numbers adapt to the tensor beside them.

    Raises:
        ShapeError: If the shapes do not broadcast.
    """
    x = operand(name, "x", x, getattr(y, "dtype", None))
    y = operand(name, "y", y, x.dtype)
    broadcast_shapes(name, x.shape, y.shape)
    return x, y


def compare(
    name: str,
    sign: str,
    relation: Callable[..., Tensor],
    x: TensorLike,
    y: TensorLike,
    message: str | None,
    summarize: int | None,
) -> None:
    """Require a relation between two tensors."""
    x, y = pair(name, x, y)
    check_that(relation(x, y), (x, y), f"{name}: x {sign} y", message, summarize)


def compare_with_zero(
    name: str,
    sign: str,
    relation: Callable[..., Tensor],
    x: TensorLike,
    message: str | None,
    summarize: int | None,
) -> None:
    """Require a relation of a tensor to zero."""
    x = operand(name, "x", x)
    check_that(relation(x, 0), (x,), f"{name}: x {sign} 0", message, summarize)
