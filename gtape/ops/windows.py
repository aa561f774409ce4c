"""Windows that slide over the middle axes of a tensor, for convolution and pooling."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from gtape.errors import ArgumentError, ArgumentTypeError, ShapeError
from gtape.ops.common import Tensor, as_ints, convert, one_of
from gtape.ops.shaping import reshape, transpose
from gtape.spec import Dim

Pairs: TypeAlias = "tuple[tuple[int, int], ...]"


class Windows(NamedTuple):
    """Where windows lie; one entry for each spatial axis.

    Args:
        size: The number of places of the window.
        strides: The distance between neighboring windows.
        padding: The elements that the axis lacks, before and after it.
        dilations: The distance between neighboring places of a window.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Pairs
    dilations: tuple[int, ...]

    def counts(self, name: str, sizes: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the number of windows on each axis.

        Args:
            name: The operation, for the message.
            sizes: The sizes of the spatial axes.

        Raises:
            ShapeError: If an axis is smaller than the window.
        """
        out: list[Dim] = []
        for n, k, s, (low, high), d in zip(sizes, *self, strict=True):
            if n is None:
                out.append(None)
                continue
            free = n + low + high - (k - 1) * d - 1
            if free < 0 and n:
                raise ShapeError(
                    f"{name}: a window that spans {(k - 1) * d + 1} on an axis of size "
                    f"{n} padded by {low} and {high}",
                    "Use a smaller window, or padding='SAME'",
                )
            out.append(max(free // s + 1, 0))
        return tuple(out)

    def places(
        self, sizes: Sequence[Any], counts: Sequence[Any]
    ) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]] | None]:
        """Yield, for each place in a window, the windows and elements that meet there.

        Both are blocks of equal sizes, without the padding; `None` if all is padding.

        Args:
            sizes: The sizes of the spatial axes.
            counts: The number of windows on each axis.
        """
        axes = []
        for n, m, k, s, (low, _), d in zip(sizes, counts, *self, strict=True):
            blocks = []
            for place in range(k):
                start = place * d - low  # of the first window, perhaps in the padding
                first = max(-(start // s), 0)
                end = min((n - 1 - start) // s + 1, m)
                begin = first * s + start
                elements = slice(begin, begin + (end - first) * s, s)
                blocks.append((slice(first, end), elements) if end > first else None)
            axes.append(blocks)
        every = slice(None)
        for found in itertools.product(*axes):
            if None in found:
                yield None
                continue
            outer, inner = zip(*found, strict=True)
            yield (every, *outer), (every, *inner)


def as_windows(
    name: str,
    sizes: Sequence[Dim],
    window: Sequence[int],
    strides: Any,
    padding: Any,
    dilations: Any,
    channels_first: bool,
) -> Windows:
    """Return the windows that public arguments describe.

    Args:
        name: The operation, for the message.
        sizes: The sizes of the spatial axes.
        window: The size of the window.
        strides: An int, one for each spatial axis, or one for each axis.
        padding: "SAME", "VALID", or a pair (before, after) for each spatial axis or
            each axis.
        dilations: As strides; `None` for 1.
        channels_first: Where the channels stand in lists with an entry for each axis.
    """
    rank = len(sizes)
    if len(window) != rank:
        raise ShapeError(
            f"{name}: a window of rank {len(window)} on {rank} axes",
            "Give it one size for each spatial axis",
        )
    step = per_axis(name, "strides", strides, rank, channels_first)
    spread = (1,) * rank
    if dilations is not None:
        spread = per_axis(name, "dilations", dilations, rank, channels_first)
    if isinstance(padding, str):
        pairs = _named_padding(name, padding, sizes, window, step, spread)
    else:
        pairs = _explicit_padding(name, padding, rank, channels_first)
    return Windows(tuple(window), step, pairs, spread)


def per_axis(
    name: str, argument: str, value: Any, rank: int, channels_first: bool = False
) -> tuple[int, ...]:
    """Return an argument as one positive int for each spatial axis.

    Raises:
        ArgumentError: If an entry is not positive, the entry of a batch or channel axis
            is not 1, or the length fits no reading.
        ArgumentTypeError: If an entry is not an integer.
    """
    entries = as_ints(name, argument, value)
    if any(e < 1 for e in entries):
        raise ArgumentError(
            f"{name}: {argument} {value!r} holds an entry below 1", "Use 1 or more"
        )
    if len(entries) == 1:
        return entries * rank
    if len(entries) == rank:
        return entries
    if len(entries) != rank + 2:
        raise ArgumentError(
            f"{name}: {argument} {value!r} has {len(entries)} entries",
            f"Give an integer, {rank} entries, or {rank + 2}",
        )
    middle = entries[2:] if channels_first else entries[1:-1]
    rest = entries[:2] if channels_first else (entries[0], entries[-1])
    if rest != (1, 1):
        raise ArgumentError(
            f"{name}: {argument} {value!r} acts on the batch or channel axis",
            "Make these two entries 1",
        )
    return middle


def _named_padding(
    name: str,
    padding: str,
    sizes: Sequence[Dim],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pairs:
    if one_of(name, "padding", padding, ("SAME", "VALID")) == "VALID":
        return ((0, 0),) * len(sizes)
    pairs = []
    for n, k, s, d in zip(sizes, window, strides, dilations, strict=True):
        if n is None and s != 1:
            raise ShapeError(
                f"{name}: padding 'SAME' with stride {s} on an axis of unknown size",
                "Give the padding as pairs (before, after)",
            )
        reach = (k - 1) * d + 1
        total = reach - 1 if n is None else max(reach - 1 - (n - 1) % s, 0)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


def _explicit_padding(name: str, padding: Any, rank: int, first: bool) -> Pairs:
    text = (
        f"'SAME', 'VALID', or {rank} pairs (before, after), or {rank + 2} with (0, 0) "
        "for the batch and the channels"
    )
    if not hasattr(padding, "__iter__"):
        raise ArgumentTypeError(
            f"{name}: padding {padding!r} is unknown", f"Use {text}"
        )
    pairs = []
    for pair in padding:
        entries = as_ints(name, "padding", pair)
        if len(entries) != 2 or min(entries) < 0:
            raise ArgumentError(
                f"{name}: padding {padding!r} holds {pair!r}", f"Use {text}"
            )
        pairs.append((entries[0], entries[1]))
    if len(pairs) == rank + 2:
        rest = pairs[:2] if first else [pairs[0], pairs[-1]]
        if rest == [(0, 0), (0, 0)]:
            return tuple(pairs[2:] if first else pairs[1:-1])
    elif len(pairs) == rank:
        return tuple(pairs)
    raise ArgumentError(f"{name}: padding {padding!r} does not fit", f"Use {text}")


# --- Layout -------------------------------------------------------------------------

FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def is_channels_first(name: str, data_format: str | None, rank: int) -> bool:
    """Return whether a layout has the channels before the spatial axes.

    Raises:
        ArgumentError: If the layout is none of this number of spatial axes.
    """
    if data_format is None:
        return False
    last, first = FORMATS[rank]
    return one_of(name, "data_format", data_format, (last, first)) == first


def as_images(
    name: str, x: Any, rank: int, channels_first: bool
) -> tuple[Tensor, tuple[int, ...]]:
    """Return a tensor as [batch, *spatial, channels], and its batch axes.

    Args:
        name: The operation, for the message.
        x: A tensor with one batch axis or more.
        rank: The number of spatial axes.
        channels_first: Whether the channels stand before the spatial axes.

    Raises:
        ShapeError: If there are too few axes.
    """
    x = convert(x)
    if x.ndim < rank + 2:
        last, first = FORMATS[rank]
        raise ShapeError(
            f"{name}: the input has shape {tuple(x.shape)}",
            f"Give it {rank + 2} axes: {', '.join(first if channels_first else last)}",
        )
    batch = tuple(x.shape[: x.ndim - rank - 1])
    if len(batch) != 1:
        x = reshape(x, (-1, *x.shape[x.ndim - rank - 1 :]))
    if channels_first:
        x = transpose(x, (0, *range(2, rank + 2), 1))
    return x, batch


def from_images(x: Tensor, batch: Sequence[int], channels_first: bool) -> Tensor:
    """Return [batch, *spatial, channels] with batch axes and layout of the input."""
    if channels_first:
        x = transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))
    return x if len(batch) == 1 else reshape(x, (*batch, *x.shape[1:]))
