"""Records of gtape/ops/math.py."""

import numpy as np

import gtape as gt
from gtape.ops.math import conj, real_part
from tests.ops.harness import (
    COMPLEX,
    FLOATS,
    INEXACT,
    INTS,
    NUMBERS,
    REALS,
    WIDE,
    Record,
    cplx,
    positive,
    real,
)


def _function(name, reference, *, low=-2.0, dtypes=INEXACT, **more):
    """A smooth function of one operand."""
    return Record(
        name,
        getattr(gt, name),
        reference,
        (real((2, 3), low, 2.0),),
        dtypes=dtypes,
        elementwise=True,
        **more,
    )


def _rounding(name, reference):
    return Record(
        name,
        getattr(gt, name),
        reference,
        (real((2, 3), -5, 5),),
        dtypes=REALS,
        order=0,
        kinks=lambda x: np.remainder(2 * x + 0.5, 1) - 0.5,
        elementwise=True,
    )


RECORDS = [
    Record(
        "abs",
        gt.abs,
        np.abs,
        (real(),),
        dtypes=NUMBERS,
        kinks=lambda x: x,
        elementwise=True,
    ),
    Record("real", real_part, np.real, (cplx(),), dtypes=WIDE),
    Record("imag", gt.imag, np.imag, (cplx(),), dtypes=WIDE),
    Record("imag", gt.imag, np.imag, (real(),), name="real", dtypes=(*FLOATS, *INTS)),
    Record("conj", conj, np.conj, (cplx(),), dtypes=WIDE),
    Record("angle", gt.angle, np.angle, (cplx(),), dtypes=WIDE),
    Record(
        "angle",
        gt.angle,
        np.angle,
        (real(),),
        name="real",
        kinks=lambda x: x,
        elementwise=True,
        specials=False,
    ),
    Record(
        "complex",
        gt.complex,
        lambda re, im: re + 1j * im,
        (real(), real()),
        dtypes=WIDE,
        elementwise=True,
        specials=False,
    ),
    _rounding("floor", np.floor),
    _rounding("ceil", np.ceil),
    _rounding("round", np.round),
    _rounding("trunc", np.trunc),
    _function("sqrt", np.sqrt, low=0.3),
    _function("rsqrt", lambda x: 1 / np.sqrt(x), low=0.3),
    _function("cbrt", np.cbrt, low=0.3, dtypes=FLOATS),
    Record(
        "cbrt",
        gt.cbrt,
        np.cbrt,
        (real((2, 3), -2, -0.3),),
        name="negative",
        dtypes=FLOATS,
    ),
    Record("hypot", gt.hypot, np.hypot, (positive(), real()), elementwise=True),
    _function("exp", np.exp),
    _function("expm1", np.expm1),
    _function("exp2", np.exp2),
    _function("log", np.log, low=0.3),
    _function("log1p", np.log1p, low=-0.6),
    _function("log2", np.log2, low=0.3),
    _function("log10", np.log10, low=0.3),
    *[
        Record(
            f"{name}",
            getattr(gt, name),
            getattr(np, name),
            (positive((3,), 1e-9, 1e-7),),
            name="tiny",
            dtypes=WIDE,
            order=1,
            atol=1e-16,
        )
        for name in ("expm1", "log1p")
    ],
    Record("sqrt", gt.sqrt, np.sqrt, (cplx(),), name="complex", dtypes=COMPLEX),
    Record(
        "squared_difference",
        gt.squared_difference,
        lambda x, y: np.square(x - y),
        (real((2, 3)), real((2, 3))),
        dtypes=REALS,
        elementwise=True,
    ),
    Record(
        "squared_difference",
        gt.squared_difference,
        lambda x, y: np.conj(x - y) * (x - y),
        (real((2, 3)), real((2, 3))),
        name="complex",
        dtypes=COMPLEX,
        composed=True,
    ),
]
