"""The scalar vocabulary: parsing, types, errors, and the words in plain Python."""

import itertools
import math

import numpy as np
import pytest
from scipy import special

from gtape.dtypes import as_numpy_dtype
from gtape.errors import GraphError
from gtape.scalar import VOCABULARY, Call, Const, Name, names, parse, type_of
from tests.ops.scalar_oracle import WORDS, evaluate, wrapped

X, Y = Name("x"), Name("y")


@pytest.mark.parametrize(
    ("source", "tree"),
    [
        ("x", X),
        ("2", Const(2)),
        ("2.5", Const(2.5)),
        ("True", Const(True)),
        ("pi", Const(math.pi)),
        ("inf", Const(math.inf)),
        ("x + y", Call("add", (X, Y))),
        ("x - y", Call("sub", (X, Y))),
        ("x * y", Call("mul", (X, Y))),
        ("x / y", Call("div", (X, Y))),
        ("x // y", Call("floordiv", (X, Y))),
        ("x % y", Call("mod", (X, Y))),
        ("x ** y", Call("pow", (X, Y))),
        ("x & y", Call("bit_and", (X, Y))),
        ("x | y", Call("bit_or", (X, Y))),
        ("x ^ y", Call("bit_xor", (X, Y))),
        ("x << y", Call("shl", (X, Y))),
        ("x >> y", Call("shr", (X, Y))),
        ("-x", Call("neg", (X,))),
        ("~x", Call("bit_not", (X,))),
        ("not x", Call("logical_not", (X,))),
        ("x < y", Call("lt", (X, Y))),
        ("x <= y", Call("le", (X, Y))),
        ("x > y", Call("gt", (X, Y))),
        ("x >= y", Call("ge", (X, Y))),
        ("x == y", Call("eq", (X, Y))),
        ("x != y", Call("ne", (X, Y))),
        ("x and y", Call("logical_and", (X, Y))),
        ("x or y", Call("logical_or", (X, Y))),
        ("x if y else 0", Call("select", (Y, X, Const(0)))),
        ("atan2(x, y)", Call("atan2", (X, Y))),
        ("erf(-x)", Call("erf", (Call("neg", (X,)),))),
        (
            "x and y and x",
            Call("logical_and", (Call("logical_and", (X, Y)), X)),
        ),
        ("x + y * 2", Call("add", (X, Call("mul", (Y, Const(2)))))),
    ],
)
def test_parse(source: str, tree: object) -> None:
    assert parse(source) == tree


@pytest.mark.parametrize(
    ("source", "offender"),
    [
        ("x.real", "'x.real'"),
        ("x[0]", "'x[0]'"),
        ("'text'", "text"),
        ("1j", "1j"),
        ("x < y < 1", "x < y < 1"),
        ("x @ y", "x @ y"),
        ("+x", "+x"),
        ("x in y", "x in y"),
        ("exp(*x)", "*x"),
        ("exp(x=1)", "exp(x=1)"),
        ("[x]", "[x]"),
    ],
)
def test_parse_refuses_other_notation(source: str, offender: str) -> None:
    with pytest.raises(GraphError, match="scalar expression") as caught:
        parse(source)
    assert offender in str(caught.value)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("gauss(x)", "gauss"),
        ("exp(x, y)", "exp"),
        ("atan2(x)", "atan2"),
        ("select(x, y)", "select"),
        ("exp()", "exp"),
    ],
)
def test_parse_refuses_unknown_words_and_counts(source: str, word: str) -> None:
    with pytest.raises(GraphError, match=f"no function {word} of"):
        parse(source)


def test_names_come_in_order_with_repetitions() -> None:
    assert list(names(parse("y * exp(x) + (x if c else 2)"))) == [
        *("y", "x", "c", "x"),
    ]
    assert list(names(parse("1 + 2"))) == []


@pytest.mark.parametrize(
    ("source", "types", "wanted"),
    [
        ("x + y", {"x": "float32", "y": "float64"}, "float64"),
        ("x + y", {"x": "int32", "y": "float16"}, "float16"),
        ("x + 1", {"x": "int8"}, "int8"),
        ("x * 2.5", {"x": "bfloat16"}, "bfloat16"),
        ("x + 0.5", {"x": "float32"}, "float32"),
        ("x < y", {"x": "float32", "y": "float32"}, "bool"),
        ("not x", {"x": "bool"}, "bool"),
        ("isnan(x)", {"x": "complex64"}, "bool"),
        ("x if y > 0 else 0", {"x": "uint8", "y": "float64"}, "uint8"),
        ("x if c else 0.0", {"x": "float16", "c": "bool"}, "float16"),
        ("abs(x)", {"x": "complex128"}, "float64"),
        ("abs(x)", {"x": "int32"}, "int32"),
        ("real(x)", {"x": "complex64"}, "float32"),
        ("angle(x)", {"x": "float32"}, "float32"),
        ("complex(x, y)", {"x": "float32", "y": "float32"}, "complex64"),
        ("complex(x, y)", {"x": "float64", "y": "float64"}, "complex128"),
        ("conj(x) * y", {"x": "complex64", "y": "float32"}, "complex64"),
        ("1", {}, "int32"),
        ("1.5", {}, "float32"),
        ("True", {}, "bool"),
    ],
)
def test_types(source: str, types: dict[str, str], wanted: str) -> None:
    kinds = {name: as_numpy_dtype(dtype) for name, dtype in types.items()}
    assert type_of(parse(source), kinds) == as_numpy_dtype(wanted)


def test_weak_names_adapt() -> None:
    kinds = {"x": as_numpy_dtype("float32"), "k": float, "i0": int}
    assert type_of(parse("x * k + i0"), kinds) == np.float32


# --- The words in plain Python --------------------------------------------------------


def test_every_word_has_a_function() -> None:
    assert set(WORDS) == set(VOCABULARY)


def test_integers_wrap_around() -> None:
    types = {"x": np.dtype(np.int8), "y": np.dtype(np.int8)}
    assert evaluate(parse("x + y"), {"x": 127, "y": 1}, types) == -128
    assert evaluate(parse("x * y"), {"x": 100, "y": 3}, types) == 44
    assert evaluate(parse("-x"), {"x": -128}, types) == -128
    assert wrapped(-1, np.dtype(np.uint8)) == 255
    assert evaluate(parse("x + y"), {"x": 127, "y": 1}) == 128


SPECIALS = (0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 0.5, math.inf, -math.inf, math.nan)
NUMPY = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide},
    **{"floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power},
    **{"neg": np.negative, "sign": np.sign, "abs": np.abs, "sqrt": np.sqrt},
    **{"rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "exp": np.exp},
    **{"exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2},
    **{"log10": np.log10, "log1p": np.log1p, "sin": np.sin, "cos": np.cos},
    **{"tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan},
    **{"sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh},
    **{"acosh": np.arccosh, "atanh": np.arctanh, "floor": np.floor, "ceil": np.ceil},
    **{"round": np.rint, "trunc": np.trunc, "atan2": np.arctan2, "hypot": np.hypot},
    **{"minimum": np.minimum, "maximum": np.maximum, "copysign": np.copysign},
    **{"nextafter": np.nextafter, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal},
    **{"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite},
    **{"angle": np.angle, "erf": special.erf, "erfc": special.erfc},
    **{"erfinv": special.erfinv, "lgamma": special.gammaln, "digamma": special.digamma},
}


# NumPy takes the square root for a power of 0.5; SciPy continues lgamma otherwise.
UNLIKE_C = {("pow", (-math.inf, 0.5)), ("lgamma", (-math.inf,))}


@pytest.mark.parametrize("word", NUMPY)
def test_words_agree_with_numpy(word: str) -> None:
    count = VOCABULARY[word][0]
    drawn = np.random.default_rng(0).uniform(-3, 3, (40, count)).tolist()
    for values in [*itertools.product(SPECIALS, repeat=count), *map(tuple, drawn)]:
        if (word, values) in UNLIKE_C:
            continue
        found = WORDS[word](*values)
        with np.errstate(all="ignore"):
            wanted = NUMPY[word](*[np.float64(v) for v in values])
        np.testing.assert_allclose(found, wanted, 1e-12, 1e-14, err_msg=str(values))


@pytest.mark.parametrize("word", ["shl", "shr", "bit_and", "bit_or", "bit_xor"])
def test_bits_agree_with_numpy(word: str) -> None:
    names = {"shl": "left_shift", "shr": "right_shift"}
    ufunc = getattr(np, names.get(word, word.replace("bit_", "bitwise_")))
    int8 = np.dtype(np.int8)
    for x, y in itertools.product((-128, -7, -1, 0, 1, 5, 127), (0, 1, 3, 7, 8, 40)):
        wanted = ufunc(np.int8(x), np.int8(y))
        assert wrapped(WORDS[word](x, y), int8) == wanted, (x, y)


def test_polygamma_agrees_with_scipy() -> None:
    for n, x in itertools.product((0, 1, 2, 3), (0.1, 0.7, 1.0, 3.5, 30.0)):
        np.testing.assert_allclose(
            WORDS["polygamma"](float(n), x), special.polygamma(n, x), 1e-10
        )
