"""Records of gtape/ops/checks.py, numerics.py and printing.py."""

import io

from gtape.ops import debugging, printing
from tests.ops.harness import ANY, INEXACT, Record, positive, real


def checked(x):
    debugging.assert_non_negative(x)
    return x


def printed(x):
    printing.print("x =", x, output_stream=io.StringIO())
    return x


def itself(x):
    return x


RECORDS = [
    Record("check", checked, itself, (positive(),), dtypes=("float64",), order=0),
    Record("print", printed, itself, (real(),), dtypes=ANY, order=0),
    Record(
        "check_numerics",
        lambda x: debugging.check_numerics(x, "here"),
        itself,
        (real(),),
        dtypes=INEXACT,
        elementwise=True,
        specials=False,
    ),
]
