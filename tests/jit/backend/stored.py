"""What the tests of the store keep in it."""

import os

import pytest

from gtape.jit.backend.store import HEADER, digest

KEY = digest("a program")
BLOB = b"machine code, say \x00\xff"
SIZE = HEADER.size + 1000
"""What an entry of a thousand bytes takes."""

posix = pytest.mark.skipif(os.name == "nt", reason="owners and modes say nothing there")
