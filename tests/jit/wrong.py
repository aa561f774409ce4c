"""What a wrong program for `gt.function` is, and how its table is made.

A program's wrong line has the mark `# <- here`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

HERE = "# <- here"

Run = Callable[[Callable[..., Any], tuple[Any, ...]], Any]
"""(the function under gt.function, arguments) -> whatever; the error comes out."""


def one_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call the function once: what most wrong programs need."""
    return function(*args)


@dataclass(frozen=True)
class Wrong:
    """A wrong program.

    Args:
        name: What is wrong.
        function: The program, to be passed to gt.function.
        args: Its arguments.
        error: The class of the error.
        builtin: The builtin class that it must also be.
        what: A regular expression for what the message says was wrong.
        hint: A regular expression for the way out; "" where the error is the user's.
        options: Options of gt.function.
        run: What is done with the function; its calls are looked at as a whole.
        eager: Whether the program fails alike without gt.function.
        source: Whether the message names the line with the mark.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    error: type[BaseException]
    builtin: type[BaseException]
    what: str
    hint: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    run: Run = one_call
    eager: bool = False
    source: bool = True

    @property
    def offset(self) -> int | None:
        """The line with the mark, counted from the line of `def`, which is 1."""
        lines, _ = inspect.getsourcelines(self.function)
        start = next(i for i, line in enumerate(lines) if "def " in line)
        marked = [i for i, line in enumerate(lines) if HERE in line]
        return marked[0] - start + 1 if self.source else None

    @property
    def line(self) -> int | None:
        """The line with the mark in its file."""
        lines, first = inspect.getsourcelines(self.function)
        marked = [i for i, line in enumerate(lines) if HERE in line]
        return first + marked[0] if self.source else None


class Table:
    """The wrong programs of one file, in order, each added by a decorator."""

    def __init__(self) -> None:
        self._rows: list[Wrong] = []

    def __iter__(self) -> Iterator[Wrong]:
        return iter(self._rows)

    def add(
        self,
        *args: Any,
        error: type[BaseException],
        builtin: type[BaseException] | None = None,
        what: str,
        hint: str = "",
        options: dict[str, Any] | None = None,
        run: Run = one_call,
        eager: bool = False,
        source: bool = True,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds a function and leaves it as it is.

        Args:
            *args: The arguments of the program.
            error: See `Wrong`.
            builtin: See `Wrong`; `error` itself by default.
            what: See `Wrong`.
            hint: See `Wrong`.
            options: See `Wrong`.
            run: See `Wrong`.
            eager: See `Wrong`.
            source: See `Wrong`.
        """

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            self._rows.append(
                Wrong(
                    function.__name__,
                    function,
                    args,
                    error,
                    error if builtin is None else builtin,
                    what,
                    hint,
                    options or {},
                    run,
                    eager,
                    source,
                )
            )
            return function

        return added
