import numpy as np

from gtape.dispatch import apply
from gtape.ops.creation import constant, eye, fill, ones, ones_like, zeros, zeros_like
from gtape.primitive import registry
from tests.ops.harness import ANY, NUMBERS, Record, real

RECORDS = [
    Record(
        "constant",
        lambda x, shape: constant(x, shape=shape),
        lambda x, shape: np.reshape(x, shape),
        (real((2, 3)),),
        attrs=({"shape": (3, 2)}, {"shape": (6,)}),
        dtypes=NUMBERS,
        composed=True,
    ),
    Record(
        "constant",
        lambda x, shape: constant(x, shape=shape),
        lambda x, shape: np.full(shape, x[0]),
        (real((1,)),),
        attrs=({"shape": (3, 2)}, {"shape": ()}),
        name="filled",
        composed=True,
    ),
    Record(
        "fill",
        lambda x, dims: fill(dims, x),
        lambda x, dims: np.full(dims, x),
        (real(()),),
        attrs=({"dims": (2, 3)}, {"dims": ()}, {"dims": (0, 2)}),
        dtypes=ANY,
        composed=True,
    ),
    Record("zeros", zeros, np.zeros, (), attrs=({"shape": (2, 3)},), composed=True),
    Record("ones", ones, np.ones, (), attrs=({"shape": (2, 3)},), composed=True),
    Record(
        "zeros_like",
        zeros_like,
        np.zeros_like,
        (real((2, 3)),),
        dtypes=ANY,
        order=0,
        composed=True,
    ),
    Record(
        "ones_like",
        ones_like,
        np.ones_like,
        (real((2, 3)),),
        dtypes=ANY,
        order=0,
        composed=True,
    ),
    Record(
        "eye",
        eye,
        lambda num_rows, num_columns: np.eye(num_rows, num_columns),
        (),
        attrs=({"num_rows": 3, "num_columns": 2}, {"num_rows": 0, "num_columns": 2}),
        composed=True,
    ),
    Record(
        "positions",
        lambda size, dtype: apply(
            registry()["positions"], size=size, dtype=np.dtype(dtype)
        ),
        lambda size, dtype: np.arange(size),
        (),
        attrs=({"size": 4, "dtype": "int64"}, {"size": 0, "dtype": "int32"}),
        order=0,
    ),
]
