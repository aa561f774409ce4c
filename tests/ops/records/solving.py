"""Records of gtape/ops/solving.py."""

import numpy as np

from gtape.ops.solving import inv, solve, triangular_solve
from tests.ops.harness import COMPLEX, Record


def regular(rng, *shape):
    """Matrices far from singular ones."""
    return rng.uniform(-1, 1, shape) + 3 * np.eye(shape[-1])


def regular_complex(rng, *shape):
    return regular(rng, *shape) + 1j * rng.uniform(-1, 1, shape)


def _adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


def _solve(a, b, adjoint=False):
    return np.linalg.solve(_adjoint(a) if adjoint else a, b)


def _triangular(a, b, lower=True, adjoint=False):
    a = np.tril(a) if lower else np.triu(a)
    return np.linalg.solve(_adjoint(a) if adjoint else a, b)


SIDES = tuple({"lower": lo, "adjoint": ad} for lo in (True, False) for ad in (0, 1))

RECORDS = [
    Record("inv", inv, np.linalg.inv, lambda rng: (regular(rng, 2, 3, 3),)),
    Record(
        "inv",
        lambda x: inv(x, adjoint=True),
        lambda x: np.linalg.inv(_adjoint(x)),
        lambda rng: (regular_complex(rng, 2, 2),),
        name="complex",
        dtypes=COMPLEX,
    ),
    Record("inv", inv, np.linalg.inv, lambda rng: (np.zeros((2, 0, 0)),), name="empty"),
    Record(
        "solve",
        solve,
        _solve,
        lambda rng: (regular(rng, 3, 3), rng.uniform(-1, 1, (3, 2))),
        attrs=({}, {"adjoint": True}),
    ),
    Record(
        "solve",
        solve,
        _solve,
        lambda rng: (regular(rng, 2, 1, 2, 2), rng.uniform(-1, 1, (3, 2, 1))),
        name="batch",
    ),
    Record(
        "solve",
        solve,
        _solve,
        lambda rng: (regular(rng, 3, 3), rng.uniform(-1, 1, 3)),
        name="vector",
    ),
    Record(
        "solve",
        solve,
        _solve,
        lambda rng: (regular_complex(rng, 2, 2), rng.uniform(-1, 1, (2, 2)) + 1j),
        attrs=({}, {"adjoint": True}),
        name="complex",
        dtypes=COMPLEX,
    ),
    Record(
        "triangular_solve",
        triangular_solve,
        _triangular,
        lambda rng: (regular(rng, 3, 3), rng.uniform(-1, 1, (3, 2))),
        attrs=SIDES,
    ),
    Record(
        "triangular_solve",
        triangular_solve,
        _triangular,
        lambda rng: (regular(rng, 2, 1, 2, 2), rng.uniform(-1, 1, (3, 2, 1))),
        attrs=SIDES,
        name="batch",
    ),
    Record(
        "triangular_solve",
        triangular_solve,
        _triangular,
        lambda rng: (regular(rng, 2, 2), rng.uniform(-1, 1, (2, 3, 2, 1))),
        attrs=SIDES,
        name="one matrix for the batch",
    ),
    Record(
        "triangular_solve",
        triangular_solve,
        _triangular,
        lambda rng: (regular_complex(rng, 2, 2), rng.uniform(-1, 1, (2, 2)) + 1j),
        attrs=SIDES,
        name="complex",
        dtypes=COMPLEX,
    ),
]
