"""Variables that many tests of the tape begin with."""

import pytest

import gtape as gt


@pytest.fixture
def x():
    return gt.Variable(2.0)


@pytest.fixture
def z():
    return gt.Variable(3.0)


@pytest.fixture
def v():
    return gt.Variable([1.0, 2.0, 3.0])


@pytest.fixture
def m():
    return gt.Variable([[1.0, 2.0], [3.0, 4.0]])
