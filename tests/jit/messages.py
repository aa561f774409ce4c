"""All wrong programs for `gt.function`, in one tuple."""

from __future__ import annotations

from tests.jit.messages_failing import FAILING
from tests.jit.messages_paths import PATHS
from tests.jit.messages_refused import REFUSED
from tests.jit.messages_signatures import SIGNATURES
from tests.jit.wrong import Wrong

WRONG: tuple[Wrong, ...] = (*REFUSED, *PATHS, *SIGNATURES, *FAILING)

__all__ = ["WRONG", "Wrong"]
