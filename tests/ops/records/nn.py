from gtape.ops.nn import bias_add, embedding_lookup
from tests.ops.harness import NUMBERS, Record, ints, real


def reference_bias(value, bias, data_format=None):
    if data_format and data_format[1] == "C":
        bias = bias.reshape(-1, *[1] * (value.ndim - 2))
    return value + bias


RECORDS = [
    Record(
        "bias_add",
        bias_add,
        reference_bias,
        (real((2, 3, 4, 3)), real((3,))),
        attrs=({}, {"data_format": "NHWC"}, {"data_format": "NCHW"}),
        composed=True,
        dtypes=NUMBERS,
        rtol={"bfloat16": 1e-1},
    ),
    Record(
        "embedding_lookup",
        embedding_lookup,
        lambda params, ids: params[ids],
        (real((4, 3)), ints((2, 5), 0, 4)),
        composed=True,
    ),
]
