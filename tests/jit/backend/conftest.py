"""A store in a directory of its own, and a file in it."""

from pathlib import Path

import pytest

from gtape.jit.backend.store import Store
from tests.jit.backend.stored import BLOB, KEY


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(directory: Path) -> Store:
    return Store(directory)


@pytest.fixture
def entry(store: Store, directory: Path) -> Path:
    """The file of BLOB, saved under KEY."""
    store.save(KEY, BLOB)
    (path,) = directory.iterdir()
    return path
