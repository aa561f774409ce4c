"""Records of gtape/ops/spectral.py.

The signs of singular vectors and eigenvectors may differ between dtypes, so their
squares are compared.
"""

import numpy as np

from gtape.ops.arithmetic import square
from gtape.ops.norm import matrix_norm
from gtape.ops.spectral import eigh, eigvalsh, svd
from tests.ops.harness import WIDE, Record, fixed

NARROW = {"float16": 5e-2, "bfloat16": 2e-1}


def _diagonal_first(rng, *shape):
    """Matrices whose singular values are well apart."""
    values = np.arange(min(shape[-2:]), 0, -1) * 1.5
    out = rng.uniform(-0.3, 0.3, shape)
    k = np.arange(len(values))
    out[..., k, k] += values
    return out


def _svd(x):
    s, u, v = svd(x)
    return s, square(u), square(v)


def _numpy_svd(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return s, u**2, np.swapaxes(vh, -1, -2) ** 2


def _eigh(x):
    w, v = eigh(x)
    return w, square(v)


def _numpy_eigh(x):
    w, v = np.linalg.eigh(x)
    return w, v**2


SHAPES = {"square": (3, 3), "tall": (2, 4, 2), "wide": (2, 2, 4)}

RECORDS = [
    *[
        Record(
            "svd",
            _svd,
            _numpy_svd,
            lambda rng, shape=shape: (_diagonal_first(rng, *shape),),
            name=name,
            rtol=NARROW,
            narrow_gradients=False,
        )
        for name, shape in SHAPES.items()
    ],
    *[
        Record(
            "svdvals",
            lambda x: svd(x, compute_uv=False),
            np.linalg.svdvals,
            lambda rng, shape=shape: (_diagonal_first(rng, *shape),),
            name=name,
            rtol=NARROW,
        )
        for name, shape in SHAPES.items()
    ],
    Record(
        "svdvals",
        lambda x: svd(x, compute_uv=False),
        np.linalg.svdvals,
        (fixed(2 * np.eye(3)),),
        name="equal",
        order=0,
    ),
    Record(
        "eigh",
        _eigh,
        _numpy_eigh,
        lambda rng: (_diagonal_first(rng, 2, 3, 3),),
        rtol=NARROW,
        narrow_gradients=False,
    ),
    Record(
        "eigvalsh",
        eigvalsh,
        np.linalg.eigvalsh,
        lambda rng: (_diagonal_first(rng, 2, 3, 3),),
        rtol=NARROW,
    ),
    Record(
        "matrix_norm",
        lambda x, ord: matrix_norm(x, ord),
        lambda x, ord: np.linalg.norm(x, ord, axis=(-2, -1)),
        lambda rng: (_diagonal_first(rng, 2, 3, 2),),
        attrs=tuple({"ord": ord} for ord in ("fro", "nuc", 1, 2, -2, np.inf)),
        dtypes=WIDE,
        composed=True,
    ),
]
