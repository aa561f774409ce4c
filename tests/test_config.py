"""Where compiled programs are kept, by choice, by the environment and by default."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import platformdirs
import pytest

import gtape as gt
from gtape.errors import ArgumentError, ArgumentTypeError
from gtape.jit.backend.store import Store

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _as_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gt.config.settings, "cache_dir", "default")
    monkeypatch.delenv("GTAPE_CACHE_DIR", raising=False)


def test_default_is_the_users_cache() -> None:
    assert gt.config.cache_dir() == Path(platformdirs.user_cache_dir("gtape"))


def test_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: f"~/{name}")
    assert gt.config.cache_dir() is None


def test_environment_chooses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GTAPE_CACHE_DIR", str(tmp_path))
    assert gt.config.cache_dir() == tmp_path
    monkeypatch.setenv("GTAPE_CACHE_DIR", "")
    assert gt.config.cache_dir() is None


def test_environment_in_a_directory_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GTAPE_CACHE_DIR", "compiled")

    def gone() -> str:
        raise FileNotFoundError("no such directory")

    with monkeypatch.context() as patch:
        patch.setattr(os, "getcwd", gone)
        assert gt.config.cache_dir() is None


def test_setting_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GTAPE_CACHE_DIR", str(tmp_path / "environment"))
    gt.config.set_cache_dir(tmp_path / "set")
    assert gt.config.cache_dir() == tmp_path / "set"
    gt.config.set_cache_dir(None)
    assert gt.config.cache_dir() is None


def test_paths_are_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    gt.config.set_cache_dir("compiled")
    monkeypatch.chdir(tmp_path / "other")
    assert gt.config.cache_dir() == tmp_path / "compiled"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    gt.config.set_cache_dir("~/mine")
    assert gt.config.cache_dir() == tmp_path / "mine"


@pytest.mark.parametrize("path", [1, b"compiled", True, ["compiled"]])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"set_cache_dir: .* is no path"):
        gt.config.set_cache_dir(path)
    assert gt.config.settings.cache_dir == "default"


def test_the_empty_path_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"set_cache_dir: the path is empty"):
        gt.config.set_cache_dir("")


def test_the_default_store_follows(tmp_path: Path) -> None:
    gt.config.set_cache_dir(tmp_path / "one")
    one = Store.default()
    assert one.directory == tmp_path / "one"
    assert Store.default() is one
    gt.config.set_cache_dir(None)
    assert Store.default().directory is None


def test_import_leaves_platformdirs_alone() -> None:
    code = "import sys, gtape; print('platformdirs' in sys.modules)"
    command = [sys.executable, "-c", code]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (child.stdout, child.stderr) == ("False\n", "")
