import scipy.special

from gtape.ops import softmax
from tests.ops.harness import Record, real

AXES = ({}, {"axis": 0}, {"axis": 1}, {"axis": -1}, {"axis": None})


def reference(function):
    def along(x, axis=-1):
        if x.size == 0:  # which SciPy's functions refuse
            return x
        return function(x, axis=-1 if axis is None else axis)

    return along


RECORDS = [
    Record(
        call.__name__,
        call,
        reference(getattr(scipy.special, call.__name__)),
        (real(shape, -4.0, 4.0),),
        name="x".join(map(str, shape)),
        attrs=attrs,
    )
    for call in (softmax.softmax, softmax.log_softmax)
    for shape, attrs in [((2, 3, 2), AXES), ((4,), AXES[:2]), ((3, 0), AXES)]
]
