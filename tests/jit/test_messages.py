"""Wrong programs under `gt.function`: each error says what, where and the way out."""

from __future__ import annotations

import re

import pytest

import gtape as gt
from gtape.errors import GtapeError
from tests.jit.messages import WRONG
from tests.jit.wrong import Wrong


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_the_error_helps(wrong: Wrong) -> None:

    def run() -> None:
        wrong.run(gt.function(wrong.function, **wrong.options), wrong.args)

    with pytest.raises(wrong.error) as caught:
        run()
    error = caught.value
    assert isinstance(error, wrong.builtin)
    what = error.what if isinstance(error, GtapeError) else str(error)
    assert re.search(wrong.what, what), what
    if isinstance(error, GtapeError):
        assert re.search(wrong.hint, error.hint), error.hint
        if wrong.source:
            assert error.origin.line == wrong.line, str(error)
