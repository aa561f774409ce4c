"""Records of gtape/ops/einsum.py."""

import numpy as np

from gtape.ops.einsum import einsum
from tests.ops.harness import INEXACT, WIDE, Record, real

EQUATIONS = {
    "ij,jk->ki": ((2, 3), (3, 2)),
    "bij,bkj->bik": ((2, 2, 3), (2, 2, 3)),
    "ij,jk": ((2, 3), (3, 2)),
    "ij,ij->i": ((2, 3), (2, 3)),
    "i,j->ji": ((2,), (3,)),
    "ij,kl->": ((2, 3), (2, 2)),
    ",i->i": ((), (3,)),
    "ba": ((2, 3),),
    "ii": ((3, 3),),
    "iji->ij": ((2, 3, 2),),
    "...ij,...jk->...ik": ((2, 1, 2, 3), (3, 3, 2)),
    "i...,...->...i": ((2, 3, 1), (3,)),
    "ij,j,jk->ik": ((2, 3), (3,), (3, 2)),
    "ab,bc,cd,da->": ((2, 3), (3, 2), (2, 2), (2, 2)),
}


def _record(equation, shapes):
    return Record(
        "einsum",
        lambda *xs: einsum(equation, *xs),
        lambda *xs: np.einsum(equation, *xs),
        tuple(real(shape) for shape in shapes),
        name=equation,
        dtypes=INEXACT if equation == "ij,jk->ki" else WIDE,
        composed=True,
    )


RECORDS = [_record(equation, shapes) for equation, shapes in EQUATIONS.items()]
