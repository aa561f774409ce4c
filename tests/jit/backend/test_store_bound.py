"""The store's bound: what goes first, what is counted; and what `clear` removes."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from gtape.jit.backend.store import DEFAULT_LIMIT, MAGIC, Store, digest
from tests.jit.backend.stored import BLOB, KEY, SIZE


def keys_held(store: Store) -> str:
    return "".join(n for n in "abcdefgh" if store.load(digest(n)) is not None)


def test_least_recently_used_goes_first(directory: Path) -> None:
    store = Store(directory, limit=5 * SIZE)
    for order, name in enumerate("abcde"):
        store.save(digest(name), b"x" * 1000)
        os.utime(directory / f"{digest(name)}.gtape", (order, order))
    assert store.info().entries == 5  # just the limit
    assert store.load(digest("a")) is not None
    store.save(digest("f"), b"x" * 1000)
    # Room for a tenth of the limit is made, too, so two go.
    assert keys_held(store) == "adef"
    assert store.info().bytes == 4 * SIZE


def test_room_is_made_by_two_processes_at_once(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, real = Store(directory, limit=5 * SIZE), os.unlink
    for order, name in enumerate("abcde"):
        store.save(digest(name), b"x" * 1000)
        os.utime(directory / f"{digest(name)}.gtape", (order, order))

    def unlink(path: str) -> None:
        if digest("a") in path:
            raise PermissionError(path)  # open elsewhere, on some systems
        real(path)
        if digest("b") in path:
            raise FileNotFoundError(path)  # the other was sooner

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        store.save(digest("f"), b"x" * 1000)
    assert keys_held(store) == "adef"


def test_what_was_just_saved_stays(directory: Path) -> None:
    store = Store(directory, limit=100 + SIZE)
    for name in "abc":
        store.save(digest(name), b"x" * 1000)
        later = time.time() + 1000  # another computer's clock
        os.utime(directory / f"{digest(name)}.gtape", (later, later))
        assert keys_held(store) == name


def test_what_is_larger_than_the_limit(directory: Path) -> None:
    store = Store(directory, limit=SIZE)
    store.save(digest("a"), b"x" * 1000)
    store.save(digest("b"), b"x" * 1001)
    assert keys_held(store) == "a"


def test_entries_of_other_processes_count(directory: Path) -> None:
    for name in "abcd":
        Store(directory, limit=10 * SIZE).save(digest(name), b"x" * 1000)
    Store(directory, limit=2 * SIZE).save(digest("e"), b"x" * 1000)
    held = keys_held(Store(directory))
    assert len(held) == 1
    assert held == "e"


def test_directory_is_looked_through_rarely(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(directory, limit=20 * SIZE)
    looks: list[Any] = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or real(path))
    store.save(digest("first"), b"x" * 1000)
    first = len(looks)
    assert first > 0
    for number in range(19):
        store.save(digest(str(number)), b"x" * 1000)
    assert len(looks) == first
    store.save(digest("one more"), b"x" * 1000)
    assert len(looks) > first


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (None, DEFAULT_LIMIT),
        ("", DEFAULT_LIMIT),
        ("1", 2**20),
        ("0.5", 2**19),
        ("0", 0),
        ("much", DEFAULT_LIMIT),
        ("-1", DEFAULT_LIMIT),
        ("nan", DEFAULT_LIMIT),
        ("inf", DEFAULT_LIMIT),
    ],
)
def test_limit_of_the_environment(
    text: str | None, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GTAPE_CACHE_LIMIT", raising=False)
    if text is not None:
        monkeypatch.setenv("GTAPE_CACHE_LIMIT", text)
    assert Store(None).info().limit == limit
    assert Store.default().limit == limit


def test_what_killed_processes_left_is_swept(directory: Path) -> None:
    directory.mkdir(0o700)
    old = directory / f".{KEY}.{'0' * 16}.tmp"
    new = directory / f".{KEY}.{'1' * 16}.tmp"
    for path, age in ((old, 4000), (new, 10)):
        path.write_bytes(MAGIC)
        os.utime(path, (time.time() - age, time.time() - age))
    Store(directory).save(KEY, BLOB)
    assert not old.exists()
    assert new.exists()


def test_info_and_clear(store: Store, directory: Path, tmp_path: Path) -> None:
    for name in "abc":
        store.save(digest(name), b"x" * 1000)
    foreign = [
        directory / "notes.txt",
        directory / f"{digest('foreign')}.gtape",
        directory / "ours.gtape",
        directory / f"{digest('folder')}.gtape" / "x",
    ]
    foreign[3].parent.mkdir()
    for path in foreign:
        path.write_bytes(b"mine" if path != foreign[2] else MAGIC)
    if os.name != "nt":
        outside = tmp_path / "outside"
        outside.write_bytes(MAGIC)
        foreign.append(directory / f"{digest('link')}.gtape")
        foreign[-1].symlink_to(outside)
    left = directory / f".{KEY}.{'0' * 16}.tmp"
    left.write_bytes(MAGIC)
    info = store.info()
    assert (info.directory, info.limit) == (directory, store.limit)
    assert (info.entries, info.bytes) == (4, 3 * SIZE + 4)
    assert store.clear() == 3
    assert all(path.exists() for path in foreign)
    assert not left.exists()
    assert keys_held(store) == ""
