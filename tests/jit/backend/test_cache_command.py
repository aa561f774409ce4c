"""`python -m gtape cache`: what it prints, and how it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gtape as gt
from gtape.__main__ import main
from gtape.jit.backend.store import HEADER, Store, digest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(gt.config.settings, "cache_dir", tmp_path / "cache")
    monkeypatch.setenv("GTAPE_CACHE_LIMIT", "64")
    store = Store.default()
    store.save(digest("a"), b"x" * (2**20 - HEADER.size))
    store.save(digest("b"), b"x" * (2**19 - HEADER.size))
    return store


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Give what was printed, and see that nothing went to stderr."""
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


def test_info(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "info"]) == 0
    assert lines(capsys) == [
        f"directory  {store.directory}",
        "entries    2",
        "size       1.5 MiB",
        "limit      64.0 MiB",
    ]


def test_clear(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "clear"]) == 0
    assert lines(capsys) == ["entries removed: 2"]
    assert store.info().entries == 0
    assert main(["cache", "clear"]) == 0
    assert lines(capsys) == ["entries removed: 0"]


@pytest.mark.usefixtures("store")
def test_cache_that_is_off(capsys: pytest.CaptureFixture[str]) -> None:
    gt.config.set_cache_dir(None)
    assert main(["cache", "info"]) == 0
    assert lines(capsys)[0] == "directory  none, the cache is off"
    assert main(["cache", "clear"]) == 0
    assert lines(capsys) == ["entries removed: 0"]


@pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")
def test_directory_that_others_can_write(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert store.directory is not None
    store.directory.chmod(0o770)
    assert main(["cache", "info"]) == 0
    assert "not used   others than its owner can write it" in lines(capsys)
    assert main(["cache", "clear"]) == 2
    assert "is not used: others than its owner can" in capsys.readouterr().err
    store.directory.chmod(0o700)
    assert store.info().entries == 2


def test_entries_that_stay(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        assert main(["cache", "clear"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "entries removed: 0\n"
    assert printed.err == "entries that stay: 2\n"
    assert store.info().entries == 2


@pytest.mark.parametrize(
    "arguments", [[], ["cache"], ["cache", "burn"], ["cash"], ["--vers"]]
)
def test_wrong_uses(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert "usage: python -m gtape" in printed.err


def test_as_a_command(store: Store) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        environment = os.environ | {"GTAPE_CACHE_DIR": str(store.directory)}
        child = subprocess.run(
            [sys.executable, "-W", "error", "-m", "gtape", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
        return child.returncode, child.stdout + child.stderr

    assert run("--version") == (0, f"gtape {gt.__version__}\n")
    assert run("cache", "clear") == (0, "entries removed: 2\n")
    assert run("cache", "burn")[0] == 2
