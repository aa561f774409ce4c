"""Records of gtape/ops/segment.py and gtape/ops/segmented.py."""

import numpy as np

from gtape.dispatch import apply
from gtape.ops import segment
from gtape.primitive import registry
from tests.ops.harness import NUMBERS, REALS, Record, fixed, ints, real
from tests.ops.records.reduction import gaps

SORTED = np.array([0, 0, 2, 2, 2])
MIXED = np.array([[2, 0], [-1, 0], [2, 3]])


def segments(function, empty):
    """Return a reference: the function over the slices of each segment."""

    def reference(data, ids, count=None):
        count = ids.max() + 1 if count is None else count
        data = data.reshape(ids.size, *data.shape[ids.ndim :])
        groups = [data[ids.ravel() == i] for i in range(count)]
        nothing = np.full(data.shape[1:], empty)
        return np.array(
            [function(g) if len(g) else nothing for g in groups],
            dtype=np.result_type(data.dtype, nothing.dtype)
            if data.dtype.kind not in "iu"
            else None,
        )

    return reference


def on_sorted(name, reference, empty, **more):
    call = getattr(segment, f"segment_{name}")
    more = {"dtypes": NUMBERS, "composed": True, "atol": 1e-2} | more
    return Record(
        f"segment_{name}",
        lambda x, ids: call(x, ids),
        segments(reference, empty),
        (real((5, 2)), fixed(SORTED)),
        wrt=(0,),
        **more,
    )


def on_mixed(name, reference, empty, **more):
    call = getattr(segment, f"unsorted_segment_{name}")
    more = {"dtypes": NUMBERS, "atol": 1e-2} | more
    return Record(
        f"unsorted_segment_{name}",
        lambda x, ids: call(x, ids, 5),
        lambda x, ids: segments(reference, empty)(x, ids, 5),
        (real((3, 2, 2)), fixed(MIXED)),
        wrt=(0,),
        composed=True,
        **more,
    )


def _sum(g):
    return g.sum(0, dtype=g.dtype)


def _prod(g):
    return g.prod(0, dtype=g.dtype)


def _mean(g):
    return np.trunc(g.mean(0)).astype(g.dtype) if g.dtype.kind in "iu" else g.mean(0)


def _max(g):
    return g.max(0)


def _min(g):
    return g.min(0)


def _kinks(x, ids):
    return gaps(x)


RECORDS = [
    on_sorted("sum", _sum, 0),
    on_sorted("mean", _mean, 0),
    on_sorted("prod", _prod, 1, composed=False),
    on_sorted("max", _max, 0, composed=False, dtypes=REALS, kinks=_kinks),
    on_sorted("min", _min, 0, composed=False, dtypes=REALS, kinks=_kinks),
    Record(
        "segment_prod",
        lambda x: segment.segment_prod(x, [0, 0, 0, 1, 1, 3]),
        None,
        (fixed([2.0, 0.0, 3.0, 0.0, 0.0, 5.0]),),
        name="zeros",
    ),
    *[
        Record(
            name,
            lambda base, x, ids, p=name: apply(registry()[p], base, x, ids),
            None,
            (real((3, 2)), real((4, 2)), fixed(np.array([0, 0, 2, 2]))),
            name="base",
            kinks=None
            if name == "segment_prod"
            else lambda b, x, ids: gaps(np.concatenate([b, x])),
        )
        for name in ("segment_prod", "segment_max", "segment_min")
    ],
    on_mixed("sum", _sum, 0),
    on_mixed("mean", lambda g: g.mean(0), 0),
    on_mixed("sqrt_n", lambda g: g.sum(0) / np.sqrt(len(g)), 0),
    on_mixed("prod", _prod, 1),
    on_mixed(
        "max",
        _max,
        np.finfo("float64").min,
        dtypes=("float64",),
        kinks=_kinks,
    ),
    on_mixed(
        "min",
        _min,
        np.finfo("float64").max,
        dtypes=("float64",),
        kinks=_kinks,
    ),
    Record(
        "segment_order",
        lambda x: apply(registry()["segment_order"], x),
        lambda x: np.argsort(x, kind="stable"),
        (ints((6,), 0, 3),),
        order=0,
    ),
    Record(
        "bincount",
        segment.bincount,
        lambda arr, minlength=0, maxlength=None: np.bincount(
            arr.ravel(), minlength=minlength
        )[:maxlength],
        (ints((2, 4), 0, 5),),
        attrs=({}, {"minlength": 8}, {"maxlength": 2}),
        composed=True,
        order=0,
    ),
    Record(
        "bincount",
        lambda arr, weights: segment.bincount(arr, weights),
        lambda arr, weights: np.bincount(arr.ravel(), weights.ravel()),
        (fixed(np.array([[1, 3], [1, 0]])), real((2, 2))),
        name="weights",
        composed=True,
        atol=1e-2,
    ),
    Record(
        "segment_rows",
        lambda ids, **attrs: apply(registry()["segment_rows"], ids, name="", **attrs),
        lambda ids, ascending, least, most: np.arange(min(max(3, least), most or 99)),
        (fixed(SORTED),),
        attrs=(
            {"ascending": True, "least": 0, "most": None},
            {"ascending": False, "least": 5, "most": None},
            {"ascending": False, "least": 5, "most": 4},
        ),
        order=0,
    ),
]
