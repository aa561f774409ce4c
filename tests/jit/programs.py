"""All programs of the corpus, in one tuple."""

from __future__ import annotations

from tests.jit.corpus import Program
from tests.jit.programs_arrays import ARRAYS
from tests.jit.programs_branches import BRANCHES
from tests.jit.programs_derivatives import DERIVATIVES
from tests.jit.programs_functions import FUNCTIONS
from tests.jit.programs_loops import LOOPS
from tests.jit.programs_nests import NESTS
from tests.jit.programs_numeric import NUMERIC
from tests.jit.programs_state import STATE
from tests.jit.programs_targets import TARGETS

PROGRAMS: tuple[Program, ...] = (
    *BRANCHES,
    *LOOPS,
    *NESTS,
    *FUNCTIONS,
    *DERIVATIVES,
    *STATE,
    *TARGETS,
    *NUMERIC,
    *ARRAYS,
)

__all__ = ["PROGRAMS", "Program"]
