"""Parsing in many threads at once."""

import ast
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gtape.jit.syntax.source import parsed

TEXT = "x = " + "".join("(" * 20 + "1" + "".join([f" + y[{i}])" for i in range(20)]))


@pytest.fixture
def hasty():
    """Collect garbage often, and let other threads run each time."""

    def give_way(phase, info):
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(20)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(give_way)


def test_threads_that_parse_at_the_same_time(hasty):
    text = "\n".join([TEXT] * 20)
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            try:
                ast.parse(TEXT)
            except SystemError:  # the defect itself, in a thread that is not gtape's
                continue

    other = threading.Thread(target=disturb)
    other.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            trees = [*pool.map(parsed, [text] * 40)]
    finally:
        stop.set()
        other.join()
    wanted = ast.dump(ast.parse(text))
    assert all(ast.dump(tree) == wanted for tree in trees)


def test_text_that_is_not_python():
    with pytest.raises(SyntaxError):
        parsed("x = = 1")
