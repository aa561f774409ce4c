"""`python -m gtape`: looks into the store of compiled programs, or empties it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gtape._version import __version__
from gtape.jit.backend.store import Store

_MEBIBYTE = 2**20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name.

    Args:
        arguments: What follows `python -m gtape`; by default that of this process.

    Returns:
        The exit status: 0, or 2 if it could not be done.

    Raises:
        SystemExit: If the arguments name no command, or ask for help or the version.
    """
    command = _parser().parse_args(arguments).command
    store = Store.default()
    return _info(store) if command == "info" else _clear(store)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gtape", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"gtape {__version__}")
    topics = parser.add_subparsers(required=True, metavar="cache")
    cache = topics.add_parser("cache", help="the store of compiled programs")
    commands = cache.add_subparsers(
        required=True, dest="command", metavar="{info,clear}"
    )
    commands.add_parser("info", help="print where it is and what it holds")
    commands.add_parser("clear", help="remove every compiled program")
    return parser


def _info(store: Store) -> int:
    info = store.info()
    directory = "none, the cache is off" if info.directory is None else info.directory
    print(f"directory  {directory}")
    if info.problem:
        print(f"not used   {info.problem}")
    print(f"entries    {info.entries}")
    print(f"size       {info.bytes / _MEBIBYTE:.1f} MiB")
    print(f"limit      {info.limit / _MEBIBYTE:.1f} MiB")
    return 0


def _clear(store: Store) -> int:
    removed = store.clear()
    info = store.info()
    print(f"entries removed: {removed}")
    if info.problem:
        print(f"{info.directory} is not used: {info.problem}", file=sys.stderr)
    if info.entries:
        print(f"entries that stay: {info.entries}", file=sys.stderr)
    return 2 if info.problem or info.entries else 0


if __name__ == "__main__":
    sys.exit(main())
