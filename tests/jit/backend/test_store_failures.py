"""The store on disks that are full, that fail, and that others tidy up."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gtape.jit.backend import store as module
from gtape.jit.backend.store import HEADER, Store, digest
from tests.jit.backend.stored import BLOB, KEY, posix

CALLS = ["lstat", "makedirs", "open", "write", "close", "replace"]
CALLS += ["fstat", "utime", "unlink", "scandir"]
CODES = [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.ENOENT]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code", CODES)
def test_calls_that_fail(
    call: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "cache"
    store = Store(directory, limit=3 * (HEADER.size + len(BLOB)))
    real = getattr(os, call)
    failed = []

    def fail(*args: Any, **kwargs: Any) -> None:
        if call == "close":
            real(*args)  # the descriptor is gone whatever close says
        failed.append(args)
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        for number in range(5):
            store.save(digest(str(number)), BLOB)
            assert store.load(digest(str(number))) in (None, BLOB)
        # Something broken, for what is done about that.
        directory.mkdir(0o700, exist_ok=True)
        (directory / f"{KEY}.gtape").write_bytes(b"broken")
        assert store.load(KEY) is None
        store.info()
        store.clear()
    assert failed, f"{call} is never called"
    assert not list(directory.glob(".*")) or call == "unlink"
    store.save(KEY, BLOB)
    assert store.load(KEY) == BLOB
    assert store.info().bytes <= store.limit


def test_disk_that_is_full_half_way(
    store: Store, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, written = os.write, []

    def write(descriptor: int, data: Any) -> int:
        if written:
            raise OSError(errno.ENOSPC, "full")
        written.append(real(descriptor, data[: len(data) // 2]))
        return written[0]

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        store.save(KEY, b"another")
    assert written
    assert store.load(KEY) == BLOB
    assert list(entry.parent.iterdir()) == [entry]


def test_disk_that_takes_a_byte_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda to, data: real(to, data[:1]))
        store.save(KEY, BLOB)
    assert store.load(KEY) == BLOB


@pytest.mark.parametrize("call", ["write", "close", "replace"])
def test_interrupts_leave_nothing_broken(
    call: str, store: Store, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(os, call)

    def interrupt(first: Any, *rest: Any) -> None:
        if call == "write":
            real(first, rest[0][:9])
        elif call == "close":
            real(first)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, call, interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.save(KEY, b"another")
    assert list(entry.parent.iterdir()) == [entry]
    assert store.load(KEY) == BLOB


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may do it all")
def test_directory_that_cannot_be_written(store: Store, entry: Path) -> None:
    entry.parent.chmod(0o500)
    store.save(digest("more"), BLOB)
    assert store.load(KEY) == BLOB
    entry.parent.chmod(0o000)
    assert store.load(KEY) is None
    entry.parent.chmod(0o700)
    assert list(entry.parent.iterdir()) == [entry]


def test_directory_that_vanishes(store: Store, entry: Path) -> None:
    shutil.rmtree(entry.parent)
    assert store.load(KEY) is None
    assert (store.info().entries, store.clear()) == (0, 0)
    store.save(KEY, BLOB)
    assert store.load(KEY) == BLOB


def test_directory_replaced_by_a_file(store: Store, entry: Path) -> None:
    shutil.rmtree(entry.parent)
    entry.parent.write_text("a note")
    assert store.load(KEY) is None
    store.save(KEY, BLOB)
    assert (store.info().problem, store.clear()) == ("it is not a directory", 0)
    assert entry.parent.read_text() == "a note"


@pytest.mark.parametrize("name", ["nul\0", "x" * 5000, "\ud800"])
def test_directory_that_cannot_be(name: str, tmp_path: Path) -> None:
    store = Store(tmp_path / name)
    store.save(KEY, BLOB)
    assert store.load(KEY) in (None, BLOB)
    store.info()
    store.clear()


def test_file_that_does_not_fit_in_memory(
    store: Store, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_large(*args: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(module, "_payload", too_large)
    assert store.load(KEY) is None
    assert entry.exists()
