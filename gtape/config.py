"""Settings of the whole process: `gt.config`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from gtape.errors import ArgumentError, ArgumentTypeError
from gtape.lazy import Lazy

_platformdirs = Lazy("platformdirs")


class _Settings:
    """What is set; one object for all threads."""

    eager = False
    max_saved_bytes: int | None = None
    compiled = True
    num_threads: int | None = None
    cache_dir: Path | Literal["default"] | None = "default"


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


def set_jit_compile(compile: bool) -> None:
    """Choose whether functions are compiled, or interpreted operation by operation.

    It holds for functions that are traced afterwards. The interpreter is slower and
    computes the same: what it gives is what the compiler is tested against.

    Args:
        compile: Whether to compile; at first yes.

    Example:
        >>> import gtape as gt
        >>> gt.config.set_jit_compile(False)
        >>> gt.config.jit_compile()
        False
        >>> gt.config.set_jit_compile(True)
    """
    if not isinstance(compile, bool):
        raise ArgumentTypeError(
            f"set_jit_compile: {compile!r} is not a bool", "Give a bool"
        )
    settings.compiled = compile


def jit_compile() -> bool:
    """Return whether functions are compiled."""
    return settings.compiled


def set_num_threads(threads: int | None) -> None:
    """Choose how many threads a compiled function uses.

    Results do not depend on it.

    Args:
        threads: How many; `None`, the default, for as many as there are processors.

    Raises:
        ArgumentError: If it is not positive.

    Example:
        >>> import gtape as gt
        >>> gt.config.set_num_threads(1)
        >>> gt.config.num_threads()
        1
        >>> gt.config.set_num_threads(None)
    """
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int)
    ):
        raise ArgumentTypeError(
            f"set_num_threads: {threads!r} is no number of threads", "Give an int"
        )
    if threads is not None and threads <= 0:
        raise ArgumentError(
            f"set_num_threads: {threads} is not positive", "Give 1 or more, or None"
        )
    settings.num_threads = threads


def num_threads() -> int | None:
    """Return how many threads compiled functions use, `None` for all processors."""
    return settings.num_threads


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


def set_cache_dir(path: str | os.PathLike[str] | None) -> None:
    """Choose where compiled programs are kept for the next process.

    It is used only if it belongs to you and nobody else can write it: what is in it is
    run. It is made when the first program is saved.

    Args:
        path: A directory, from the present one if it is relative; `None` keeps nothing.

    Raises:
        ArgumentError: If it is empty.

    Example:
        >>> import gtape as gt
        >>> before = gt.config.cache_dir()
        >>> gt.config.set_cache_dir("compiled")
        >>> gt.config.cache_dir().name
        'compiled'
        >>> gt.config.set_cache_dir(before)
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if text is not None and not isinstance(text, str):
        raise ArgumentTypeError(
            f"set_cache_dir: {path!r} is no path", "Give a str or a Path, or None"
        )
    if text == "":
        raise ArgumentError(
            "set_cache_dir: the path is empty", "Give a directory, or None for no cache"
        )
    settings.cache_dir = None if text is None else _absolute(text)


def cache_dir() -> Path | None:
    """Return where compiled programs are kept, `None` if they are not.

    It is what `set_cache_dir` was given; else what the environment has in
    `GTAPE_CACHE_DIR`, where the empty text stands for no cache; else the folder
    `gtape` in the place that the system has for caches of the user.
    """
    chosen = settings.cache_dir
    if chosen != "default":
        return chosen
    text = os.environ.get("GTAPE_CACHE_DIR")
    if text is None:
        found: str = _platformdirs.user_cache_dir("gtape")
        # A user without a home gets a path that begins with `~`.
        return Path(found) if os.path.isabs(found) else None
    try:
        return _absolute(text) if text else None
    except OSError:  # a relative path, and the present directory is gone
        return None


def _absolute(path: str) -> Path:
    """Return a path that stays the same when the process changes its directory."""
    return Path(os.path.abspath(os.path.expanduser(path)))
