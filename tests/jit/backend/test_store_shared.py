"""The store in many processes and threads at once."""

import multiprocessing
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

from gtape.jit.backend.store import Store, digest
from tests.jit.backend.stored import BLOB, KEY, SIZE


def save_and_load(directory: Path, number: int, start: Barrier) -> None:
    """Save and load one key in a process of its own; fail if a load is not whole."""
    store = Store(directory)
    blobs = [bytes([each]) * (200_000 + each) for each in range(8)]
    start.wait(60)
    for _ in range(40):
        store.save(KEY, blobs[number])
        assert store.load(KEY) in blobs


def test_processes(directory: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(8)
    children = [
        context.Process(target=save_and_load, args=(directory, number, start))
        for number in range(8)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    assert [child.exitcode for child in children] == [0] * 8
    assert [path.name for path in directory.iterdir()] == [f"{KEY}.gtape"]


def test_threads(directory: Path) -> None:
    store = Store(directory, limit=6 * SIZE)
    faults: list[object] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait(60)
            for turn in range(60):
                name = "abcdefgh"[(number + turn) % 8]
                store.save(digest(name), name.encode() * 1000)
                loaded = store.load(digest(name))
                if loaded not in (None, name.encode() * 1000):
                    faults.append(loaded)
                if turn % 20 == number:
                    store.clear()
                if store.info().problem:
                    faults.append(store.info())
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    store.save(digest("a"), b"x" * 1000)
    store.save(digest("b"), b"x" * 1000)
    assert store.load(digest("b")) == b"x" * 1000
    assert not list(directory.glob(".*"))


def test_a_fork_while_another_thread_counts(store: Store) -> None:
    store._counting.acquire()  # for good, as in the child
    store.save(KEY, BLOB)
    assert store.load(KEY) == BLOB
