"""The store of compiled programs on disk: a key gives bytes, or nothing.

Entries hold machine code, so they are read only where nobody but the user could have
written them. Whatever is wrong with the disk costs a compilation, never an error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import secrets
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import machinery, metadata
from pathlib import Path
from typing import NamedTuple

from gtape import config
from gtape._version import __version__

DEFAULT_LIMIT = 256 * 2**20
"""The most bytes of a store, if the environment says nothing else."""

MAGIC = b"\x89gtape\r\n"
"""The first bytes of every entry; a transfer as text would break them."""

FORMAT = 1
"""The version of the layout: header, then payload."""

HEADER = struct.Struct("<8sI32sQ")
"""Magic, format, SHA-256 of the payload, its length."""

_KEY = re.compile(r"[0-9a-f]{64}")
_ENTRY = re.compile(r"[0-9a-f]{64}\.gtape")
_TEMPORARY = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 3600.0

# What other systems lack is 0 there. O_NONBLOCK: a pipe in an entry's place would
# otherwise be waited for.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_COMMON = _NOFOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _COMMON
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _COMMON

# ValueError: a path that the system cannot take. MemoryError: a file of any size may
# stand in an entry's place.
_TROUBLE = (OSError, ValueError, MemoryError)


def digest(*parts: str | bytes) -> str:
    """Return the key for what the parts say together, in hexadecimal.

    Args:
        *parts: Texts and bytes; where one ends and whether it is text counts.
    """
    total = hashlib.sha256()
    for part in parts:
        kind = b"s" if isinstance(part, str) else b"b"
        # A name in the user's program may hold half a surrogate pair.
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total.update(kind + len(data).to_bytes(8, "little"))
        total.update(data)
    return total.hexdigest()


@functools.cache
def environment(*target: str) -> str:
    """Describe what, besides the program, decides its machine code.

    Args:
        *target: The target, as the compiler names it: triple, CPU and features.
    """
    packages = ("numba", "llvmlite", "numpy", "scipy")
    facts = {
        "gtape": __version__,
        **{name: _version(name) for name in packages},
        "python": sys.version,
        "abi": machinery.EXTENSION_SUFFIXES[0],
        "platform": sys.platform,
        "machine": platform.machine(),
        "target": target,
    }
    return json.dumps(facts)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


@dataclass(frozen=True)
class StoreInfo:
    """What a store holds.

    Attributes:
        directory: Where it is; `None` if it is switched off.
        entries: The number of programs.
        bytes: What they take.
        limit: The most bytes that are kept.
        problem: Why the directory is not used; empty if nothing speaks against it.
    """

    directory: Path | None
    entries: int
    bytes: int
    limit: int
    problem: str = ""


class _File(NamedTuple):
    """An entry in the directory; the least recently used sorts first."""

    used: int
    size: int
    path: str


class Store:
    """Compiled programs under one directory; threads and processes may share it.

    Args:
        directory: Where it is, made when something is saved; `None` keeps nothing.
        limit: The most bytes kept; by default `GTAPE_CACHE_LIMIT` of the environment,
            in MiB, or 256 MiB.
    """

    def __init__(self, directory: Path | None, limit: int | None = None) -> None:
        self.directory = directory
        self.limit = _limit() if limit is None else limit
        self._total: int | None = None  # about what is there; unknown at first
        self._counting = threading.Lock()

    @staticmethod
    def default() -> Store:
        """Return the store in the directory of `gt.config.cache_dir()`."""
        return _shared(config.cache_dir(), _limit())

    def load(self, key: str) -> bytes | None:
        """Return what was saved under a key, or `None`.

        An entry that is broken is removed; one that others could have written is left.

        Args:
            key: What `digest` gave.
        """
        if self.directory is None or not _KEY.fullmatch(key):
            return None
        try:
            if _distrust(os.lstat(self.directory), directory=True):
                return None
            return _read(self.directory / f"{key}.gtape")
        except _TROUBLE:
            return None

    def save(self, key: str, blob: bytes) -> None:
        """Keep something under a key, if the disk lets us.

        Args:
            key: What `digest` gave.
            blob: What to keep.
        """
        size = HEADER.size + len(blob)
        if self.directory is None or not _KEY.fullmatch(key) or size > self.limit:
            return
        with contextlib.suppress(*_TROUBLE):
            _make(self.directory)
            if _distrust(os.lstat(self.directory), directory=True):
                return
            name = f"{key}.gtape"
            _write(self.directory / name, key, blob)
            self._count(name, size)

    def info(self) -> StoreInfo:
        """Return where the store is and what it holds."""
        files: list[_File] = []
        problem = ""
        if self.directory is not None:
            try:
                problem = _distrust(os.lstat(self.directory), directory=True)
                files = [] if problem else list(_entries(self.directory))
            except FileNotFoundError:
                pass  # nothing has been saved yet
            except _TROUBLE as error:
                problem = f"it cannot be read ({error})"
        size = sum(file.size for file in files)
        return StoreInfo(self.directory, len(files), size, self.limit, problem)

    def clear(self) -> int:
        """Remove every entry, and no other file.

        Returns:
            How many were removed.
        """
        removed = 0
        if self.directory is None:
            return removed
        with contextlib.suppress(*_TROUBLE):
            if _distrust(os.lstat(self.directory), directory=True):
                return removed
            for path in list(_named(self.directory, _ENTRY, _TEMPORARY)):
                with contextlib.suppress(*_TROUBLE):
                    if _starts_with_magic(path.path):
                        os.unlink(path.path)
                        removed += bool(_ENTRY.fullmatch(path.name))
        return removed

    def _count(self, saved: str, size: int) -> None:
        """Add what was saved to the total, and make room if that is over the limit."""
        # Never waited for: a fork while another thread counts would leave the child a
        # lock that nobody opens. What is not counted, the next look at the disk finds.
        if not self._counting.acquire(blocking=False):
            return
        try:
            total = self._total
            if total is None or total + size > self.limit:
                self._total = self._make_room(saved)
            else:
                self._total = total + size
        finally:
            self._counting.release()

    def _make_room(self, saved: str) -> int:
        """Remove old entries if there is too much; return the bytes that remain."""
        assert self.directory is not None
        _sweep(self.directory)
        files = sorted(_entries(self.directory))
        total = sum(file.size for file in files)
        if total <= self.limit:
            return total
        # A tenth more than needed, so that the next saves need not look again.
        goal = self.limit - self.limit // 10
        for file in files:
            if total <= goal:
                break
            if os.path.basename(file.path) == saved:
                continue
            try:
                os.unlink(file.path)
            except FileNotFoundError:
                pass  # another process makes room, too
            except OSError:
                continue
            total -= file.size
        return total


@functools.cache
def _shared(directory: Path | None, limit: int) -> Store:
    """Return one store for a directory, so that what it holds is counted once."""
    return Store(directory, limit)


def _limit() -> int:
    """Return the limit in bytes that the environment gives, or the default."""
    try:
        limit = float(os.environ.get("GTAPE_CACHE_LIMIT", "")) * 2**20
        return int(limit) if limit >= 0 else DEFAULT_LIMIT
    except (ValueError, OverflowError):  # no number; infinity
        return DEFAULT_LIMIT


def _distrust(status: os.stat_result, directory: bool) -> str:
    """Say why others may have had a hand in a file or directory; empty if not."""
    is_kind = stat.S_ISDIR if directory else stat.S_ISREG
    if not is_kind(status.st_mode):
        return f"it is not a {'directory' if directory else 'regular file'}"
    if os.name == "nt":
        return ""  # owner and mode say nothing there; the profile is the user's own
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others than its owner can write it"
    return ""


def _make(directory: Path) -> None:
    """Make the directory, for its owner alone, unless something has its name."""
    try:
        os.lstat(directory)
    except FileNotFoundError:
        os.makedirs(directory, 0o700, exist_ok=True)


def _open(path: str | Path) -> int:
    if not _NOFOLLOW and os.path.islink(path):
        raise OSError("a link stands in the place of an entry")
    return os.open(path, _READ)


def _read(path: Path) -> bytes | None:
    """Return the payload of an entry, `None` if it is broken or may be another's."""
    descriptor = _open(path)
    try:
        status = os.fstat(descriptor)
        if _distrust(status, directory=False):
            return None
        payload = _payload(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    # An order of use that cannot be kept, or a broken entry that stays, is no harm.
    with contextlib.suppress(OSError):
        if payload is None:
            os.unlink(path)
        else:
            os.utime(path)
    return payload


def _payload(descriptor: int, size: int) -> bytes | None:
    """Return the payload of an open entry of a size, `None` if a bit is wrong."""
    with open(descriptor, "rb", closefd=False) as file:
        header = file.read(HEADER.size)
        if len(header) < HEADER.size:
            return None
        magic, version, checksum, length = HEADER.unpack(header)
        if (magic, version, HEADER.size + length) != (MAGIC, FORMAT, size):
            return None
        payload = file.read(length)
    if len(payload) != length or hashlib.sha256(payload).digest() != checksum:
        return None
    return payload


def _write(path: Path, key: str, blob: bytes) -> None:
    """Write an entry so that others see all of it or nothing."""
    checksum = hashlib.sha256(blob).digest()
    rest = memoryview(HEADER.pack(MAGIC, FORMAT, checksum, len(blob)) + blob)
    temporary = path.with_name(f".{key}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, _CREATE, 0o600)
    try:
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:  # KeyboardInterrupt, too, leaves nothing behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _named(directory: Path, *names: re.Pattern[str]) -> Iterator[os.DirEntry[str]]:
    """Give what the directory holds under names of such forms."""
    with os.scandir(directory) as found:
        for path in found:
            if any(name.fullmatch(path.name) for name in names):
                yield path


def _entries(directory: Path) -> Iterator[_File]:
    """Give the entries, by their names."""
    for path in _named(directory, _ENTRY):
        with contextlib.suppress(OSError):  # removed in the meantime
            status = path.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield _File(status.st_mtime_ns, status.st_size, path.path)


def _sweep(directory: Path) -> None:
    """Remove what processes that were killed while they wrote have left."""
    before = time.time() - _STALE_SECONDS
    for path in list(_named(directory, _TEMPORARY)):
        with contextlib.suppress(OSError):
            if path.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(path.path)


def _starts_with_magic(path: str) -> bool:
    descriptor = _open(path)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        return os.read(descriptor, len(MAGIC)) == MAGIC
    finally:
        os.close(descriptor)
