import numpy as np
import scipy.special

from gtape.ops import special
from tests.ops.harness import FLOATS, INEXACT, Record, fixed, positive, real


def unary(call, reference, low=-2.0, high=2.0, **settings):
    name = call.__name__
    operand = real((2, 3), low, high)
    return Record(name, call, reference, (operand,), elementwise=True, **settings)


def xlogy(x, y):
    """0 at x = 0 even if y is NaN, which SciPy's function passes on."""
    with np.errstate(all="ignore"):
        return np.where(x == 0, 0, x * np.log(y))


def xlog1py(x, y):
    with np.errstate(all="ignore"):
        return np.where(x == 0, 0, x * np.log1p(y))


def lgamma(x):
    """inf at -inf, as C's function; SciPy's gives -inf."""
    return np.where(x == -np.inf, np.inf, scipy.special.gammaln(x))


def sigmoid_slope(x):
    return scipy.special.expit(x) * scipy.special.expit(-x)


RECORDS = [
    unary(special.sigmoid, scipy.special.expit, -4.0, 4.0),
    unary(special.sigmoid_slope, sigmoid_slope, -4.0, 4.0),
    unary(special.log_sigmoid, scipy.special.log_expit, -4.0, 4.0),
    unary(special.softplus, lambda x: np.logaddexp(x, 0), -4.0, 4.0),
    unary(special.softsign, lambda x: x / (1 + np.abs(x)), kinks=lambda x: x),
    Record(
        "logaddexp",
        special.logaddexp,
        np.logaddexp,
        (real((2, 3)), real((2, 3))),
        elementwise=True,
    ),
    Record(
        "xlogy",
        special.xlogy,
        xlogy,
        (real((2, 3)), positive((2, 3))),
        elementwise=True,
        dtypes=INEXACT,
    ),
    Record(
        "xlogy",
        special.xlogy,
        xlogy,
        (fixed(np.zeros((2, 3))), positive((2, 3))),
        name="zeros",
        dtypes=INEXACT,
    ),
    Record(
        "xlog1py",
        special.xlog1py,
        xlog1py,
        (fixed(np.zeros((2, 3))), positive((2, 3))),
        name="zeros",
        dtypes=INEXACT,
    ),
    Record(
        "xlog1py",
        special.xlog1py,
        xlog1py,
        (real((2, 3)), positive((2, 3))),
        elementwise=True,
        dtypes=INEXACT,
    ),
    unary(special.erf, scipy.special.erf),
    unary(special.erfc, scipy.special.erfc),
    unary(special.erfinv, scipy.special.erfinv, -0.8, 0.8),
    unary(special.digamma, scipy.special.psi, 0.3, 4.0),
    unary(special.lgamma, lgamma, 0.3, 4.0),
    Record(
        "lgamma",
        special.lgamma,
        lgamma,
        (fixed([-0.5, -1.3, -2.6]),),
        name="negative",
        dtypes=FLOATS[:2],
    ),
    Record(
        "polygamma",
        special.polygamma,
        scipy.special.polygamma,
        (fixed([[0.0], [1.0], [2.0]]), positive((3,), 0.5, 3.0)),
        wrt=(1,),
    ),
]
