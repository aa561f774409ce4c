"""Settings of the whole process: `gt.config`."""

from __future__ import annotations

from gtape.errors import ArgumentError, ArgumentTypeError


class _Settings:
    """What is set; one object for all threads."""

    eager = False
    max_saved_bytes: int | None = None


settings = _Settings()


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Have every `gt.function` run as plain Python, to look into it.

    Args:
        run_eagerly: Whether to.

    Example:
        >>> import gtape as gt
        >>> gt.config.run_functions_eagerly(True)
        >>> gt.config.functions_run_eagerly()
        True
        >>> gt.config.run_functions_eagerly(False)
    """
    if not isinstance(run_eagerly, bool):
        raise ArgumentTypeError(
            f"run_functions_eagerly: {run_eagerly!r} is not a bool", "Give a bool"
        )
    settings.eager = run_eagerly


def functions_run_eagerly() -> bool:
    """Return whether every `gt.function` runs as plain Python."""
    return settings.eager


def set_max_saved_bytes(limit: int | None) -> None:
    """Bound what the loops of functions save for gradients.

    A loop whose saved values would take more keeps those of every k-th trip only, and
    its gradient runs the trips between again: memory then grows with the square root of
    the number of trips. It holds for functions that are traced afterwards.

    Args:
        limit: The most bytes that one loop saves; `None`, the default, for no bound.

    Raises:
        ArgumentError: If it is not positive.

    Example:
        >>> import gtape as gt
        >>> gt.config.set_max_saved_bytes(64_000_000)
        >>> gt.config.max_saved_bytes()
        64000000
        >>> gt.config.set_max_saved_bytes(None)
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
        raise ArgumentTypeError(
            f"set_max_saved_bytes: {limit!r} is no number of bytes", "Give an int"
        )
    if limit is not None and limit <= 0:
        raise ArgumentError(
            f"set_max_saved_bytes: {limit} is not positive", "Give 1 or more, or None"
        )
    settings.max_saved_bytes = limit


def max_saved_bytes() -> int | None:
    """Return the most bytes that one loop saves for gradients, `None` for no bound."""
    return settings.max_saved_bytes
