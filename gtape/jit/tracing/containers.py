"""Lists and dicts that are one object on some paths only.

Where paths meet, a name gets a new list. Whether that is the list which another name
has had before depends on the path. Both may be read; once one of them is changed, what
the other holds is known on no path, and reading it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gtape.jit.tracing.kinds import Clash
from gtape.jit.tracing.region import Region

_SPOILED = Clash(
    "a list or dict has been changed under a name that stands for it on some paths "
    "only",
    "Make a copy where the name is set, with list(x) or dict(x)",
)

Row = tuple[Any, tuple[Any, ...]]
"""A container, and what it is on each of the paths that have met."""


def _rows(result: Any, ends: tuple[Any, ...]) -> Iterator[Row]:
    """Yield the lists and dicts in a value, each with what it is on each path."""
    kind = type(result)
    if kind is list or kind is dict:
        yield result, ends
    if kind is dict:
        for key, value in result.items():
            yield from _rows(value, tuple([_part(end, dict, key) for end in ends]))
    elif kind in (list, tuple) or hasattr(result, "_fields"):
        for i, value in enumerate(result):
            yield from _rows(value, tuple([_part(end, kind, i) for end in ends]))


def _part(end: Any, kind: Any, key: Any) -> Any:
    """Return an entry of what a path has left, `None` where it left something else."""
    if type(end) is not kind or (kind is dict and key not in end):
        return None
    return end[key]


def link(
    region: Region,
    values: Sequence[tuple[Any, tuple[Any, ...]]],
    fresh: Sequence[Callable[[Any], bool] | None],
) -> None:
    """Note which lists and dicts are what others are on some of the paths that met.

    Args:
        region: The region behind the paths.
        values: What names and locations hold there, each with its value on each path.
        fresh: For each path: whether a container began to be on it; `None` for paths
            that do not lead here.
    """
    rows = [row for value, ends in values for row in _rows(value, ends)]
    owners: list[dict[int, Any]] = [{} for _ in fresh]
    for result, ends in rows:
        region.make(result)
        for end, is_fresh, known in zip(ends, fresh, owners, strict=True):
            if is_fresh is None or type(end) not in (list, dict):
                continue
            if not is_fresh(end):
                region.link(result, end, _SPOILED)
            region.link(result, known.setdefault(id(end), result), _SPOILED)


def holds_clash(value: Any) -> bool:
    """Return whether a value or one of its entries is what nobody may read."""
    return isinstance(value, Clash) or (
        type(value) is list and any(isinstance(v, Clash) for v in value)
    )
