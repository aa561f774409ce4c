"""The store of compiled programs: keys, entries, and whom it trusts."""

import itertools
import os
import stat
import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from gtape.jit.backend import store as module
from gtape.jit.backend.store import HEADER, Store, digest, environment
from tests.jit.backend.stored import BLOB, KEY, posix

# --- Keys -----------------------------------------------------------------------------


def test_digests_tell_parts_apart() -> None:
    parts: list[tuple[str | bytes, ...]] = [
        (),
        ("",),
        ("", ""),
        (b"",),
        ("ab",),
        (b"ab",),
        ("a", "b"),
        ("b", "a"),
        ("a", b"b"),
        ("ab", ""),
        ("", "ab"),
        ("asb",),  # what the frame of the next part looks like
        ("\ud800",),  # half a surrogate pair
    ]
    keys = [digest(*each) for each in parts]
    assert len(set(keys)) == len(parts)
    assert keys == [digest(*each) for each in parts]
    assert all(len(key) == 64 and int(key, 16) >= 0 for key in keys)


def test_environments_tell_targets_apart(store: Store) -> None:
    targets = [
        ("x86_64-linux", "skylake", "+avx"),
        ("x86_64-linux", "skylake", "+avx2"),
        ("x86_64-linux", "skylake+avx", ""),
        ("x86_64-linuxskylake", "+avx"),
    ]
    keys = [digest(environment(*target), "graph") for target in targets]
    assert len(set(keys)) == len(keys)
    for key in keys:
        store.save(key, key.encode())
    assert [store.load(key) for key in keys] == [key.encode() for key in keys]


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy", "scipy", "gtape"])
def test_versions_live_side_by_side(
    package: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = metadata.version

    def upgraded(name: str) -> str:
        return "99.0" if name == package else installed(name)

    old = digest(environment.__wrapped__("target"), "graph")
    monkeypatch.setattr(metadata, "version", upgraded)
    if package == "gtape":
        monkeypatch.setattr(module, "__version__", "99.0")
    new = digest(environment.__wrapped__("target"), "graph")
    assert old != new
    store.save(old, b"old")
    assert store.load(new) is None
    store.save(new, b"new")
    assert (store.load(old), store.load(new)) == (b"old", b"new")


def test_environment_without_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert '"numba": "none"' in environment.__wrapped__("target")


@pytest.mark.parametrize("key", ["", "../escape", KEY[:-1], KEY.upper(), f"{KEY}\n"])
def test_what_is_no_digest_is_no_key(key: str, store: Store, tmp_path: Path) -> None:
    store.save(key, BLOB)
    assert store.load(key) is None
    assert list(tmp_path.iterdir()) == []
    store.save(KEY, BLOB)
    for copy in tmp_path / "escape.gtape", tmp_path / "cache" / f"{KEY[:-1]}.gtape":
        copy.write_bytes((tmp_path / "cache" / f"{KEY}.gtape").read_bytes())
        copy.chmod(0o600)
    assert store.load(key) is None


# --- Entries --------------------------------------------------------------------------


@pytest.mark.parametrize("blob", [b"", BLOB, bytes(range(256)) * 5000])
def test_what_is_saved_is_loaded(blob: bytes, store: Store, directory: Path) -> None:
    assert store.load(KEY) is None
    store.save(KEY, blob)
    assert store.load(KEY) == blob
    assert Store(directory).load(KEY) == blob
    assert store.load(digest("another")) is None
    store.save(KEY, b"replaced")
    assert store.load(KEY) == b"replaced"
    assert len(list(directory.iterdir())) == 1


@posix
def test_modes_keep_others_out(entry: Path, directory: Path) -> None:
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_store_that_is_off() -> None:
    store = Store(None)
    store.save(KEY, BLOB)
    assert store.load(KEY) is None
    assert (store.info().directory, store.info().entries, store.clear()) == (None, 0, 0)


def check_broken(store: Store, entry: Path, data: bytes) -> None:
    """See that an entry of this data is a miss, is removed, and is written anew."""
    entry.write_bytes(data)
    entry.chmod(0o600)
    assert store.load(KEY) is None
    assert not entry.exists()
    store.save(KEY, BLOB)
    assert store.load(KEY) == BLOB


def test_truncated_at_every_length(store: Store, entry: Path) -> None:
    whole = entry.read_bytes()
    assert len(whole) == HEADER.size + len(BLOB)
    for length in range(len(whole)):
        check_broken(store, entry, whole[:length])
    check_broken(store, entry, whole + b"\0")


def test_flipped_at_every_bit(store: Store, entry: Path) -> None:
    whole = entry.read_bytes()
    for place, bit in itertools.product(range(len(whole)), range(8)):
        data = bytearray(whole)
        data[place] ^= 1 << bit
        check_broken(store, entry, bytes(data))


def test_foreign_file_of_another_format(store: Store, entry: Path) -> None:
    check_broken(store, entry, b"PK\x03\x04" + b"\0" * 500)


@posix
def test_link_is_not_followed(store: Store, entry: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    entry.rename(outside)
    entry.symlink_to(outside)
    assert store.load(KEY) is None
    store.save(KEY, b"new")
    assert store.load(KEY) == b"new"
    assert outside.read_bytes().endswith(BLOB)


@posix
def test_pipe_is_not_waited_for(store: Store, entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry, 0o600)
    done = threading.Event()

    def load() -> None:
        assert store.load(KEY) is None
        done.set()

    threading.Thread(target=load, daemon=True).start()
    assert done.wait(20)


def test_directory_in_an_entrys_place(store: Store, entry: Path) -> None:
    entry.unlink()
    entry.mkdir()
    assert store.load(KEY) is None
    store.save(KEY, BLOB)
    assert store.load(KEY) is None
    assert list(entry.parent.iterdir()) == [entry]


# --- What others could have written ---------------------------------------------------


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entry_that_others_can_write(mode: int, store: Store, entry: Path) -> None:
    entry.chmod(mode)
    assert store.load(KEY) is None
    entry.chmod(0o644)  # others may read
    assert store.load(KEY) == BLOB


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_directory_that_others_can_write(
    mode: int, store: Store, entry: Path, directory: Path
) -> None:
    directory.chmod(mode)
    assert store.load(KEY) is None
    store.save(digest("more"), BLOB)
    assert store.clear() == 0
    assert "others" in store.info().problem
    assert list(directory.iterdir()) == [entry]
    directory.chmod(0o755)
    assert store.load(KEY) == BLOB
    assert store.info().problem == ""


def owned_by_another(function: Callable[..., os.stat_result]) -> Callable[..., Any]:
    """Have a function of `os` report another owner."""

    def lie(*args: Any, **kwargs: Any) -> os.stat_result:
        status = list(function(*args, **kwargs))
        status[stat.ST_UID] += 1
        return os.stat_result(status)

    return lie


@posix
def test_entry_of_another_user(
    store: Store, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", owned_by_another(os.fstat))
        assert store.load(KEY) is None
        entry.write_bytes(b"broken")
        assert store.load(KEY) is None
    assert entry.exists()  # not ours to remove


@posix
def test_directory_of_another_user(
    store: Store, entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", owned_by_another(os.lstat))
        assert store.load(KEY) is None
        store.save(digest("more"), BLOB)
        assert store.clear() == 0
        assert store.info().problem == "it belongs to another user"
    assert list(entry.parent.iterdir()) == [entry]


@posix
def test_link_in_the_directorys_place(
    store: Store, entry: Path, directory: Path, tmp_path: Path
) -> None:
    directory.rename(tmp_path / "elsewhere")
    directory.symlink_to(tmp_path / "elsewhere")
    assert store.load(KEY) is None
    store.save(digest("more"), BLOB)
    assert store.info().problem == "it is not a directory"
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1
