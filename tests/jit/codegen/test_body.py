"""Compiled scalar expressions against plain Python, NumPy and eager gtape."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from llvmlite import ir
from scipy import special

from gtape.dtypes import as_numpy_dtype
from gtape.errors import DTypeError, GraphError
from gtape.jit.codegen.body import Body, constant, load, memory_type, store
from gtape.lowering import Map
from gtape.primitive import registry
from gtape.scalar import VOCABULARY, Call, Name, names, parse
from tests.jit.codegen.compiled import expression, host, loop, optimised
from tests.ops.harness import Record, draw, rng_for, watched, widened
from tests.ops.scalar_oracle import evaluate
from tests.ops.table import RECORDS
from tests.ops.test_every_op import call, operand_names, python_number

FLOATS = ("float64", "float32", "float16", "bfloat16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
ALL = (*FLOATS, *SIGNED, *UNSIGNED, "bool")
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
LOWEST = {"float64": -1074, "float32": -149, "float16": -24, "bfloat16": -133}

COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"}
TESTS = {"isnan", "isinf", "isfinite"}
LOGIC = {"logical_and", "logical_or", "logical_xor", "logical_not"}
BITS = {"bit_and", "bit_or", "bit_xor", "bit_not"}
PARTS = {"conj", "real", "imag"}
ROUNDING = {"floor", "ceil", "round", "trunc"}
EVERYWHERE = COMPARISONS | TESTS | LOGIC | PARTS | ROUNDING | {"abs"}
WORDS_OF = {
    "bool": EVERYWHERE | BITS | {"add", "mul", "minimum", "maximum"},
    "integer": EVERYWHERE
    | BITS
    | {"add", "sub", "mul", "neg", "floordiv", "mod", "pow", "sign"}
    | {"shl", "shr", "minimum", "maximum"},
    "float": set(VOCABULARY) - BITS - {"shl", "shr", "complex", "select"},
}
# In units in the last place of float64, beside those of Python's own functions.
LOOSE = {"lgamma": 1e-11, "digamma": 1e-11, "polygamma": 1e-11, "erfinv": 1e-13}
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, math.inf, -math.inf, math.nan)


def kind_of(dtype: str) -> str:
    return dtype if dtype == "bool" else "float" if dtype in FLOATS else "integer"


def word_tree(word: str) -> Call:
    return Call(word, tuple(map(Name, ("x", "y")[: VOCABULARY[word][0]])))


def pairs() -> list[Any]:
    return [(w, d) for d in ALL for w in sorted(WORDS_OF[kind_of(d)])]


def plain(array: Any) -> list[Any]:
    """Return the elements as Python numbers."""
    return list(widened(np.asarray(array)).tolist())


def floats(dtype: str, count: int, rng: np.random.Generator) -> list[Any]:
    """Return operands: all combinations of special values, and drawn ones."""
    kind = as_numpy_dtype(dtype)
    info: Any = ml_dtypes.finfo(kind)
    edges = [float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    values = [*SPECIALS, *edges, *[-e for e in edges]]
    grid = np.array(list(itertools.product(values, repeat=count))).T
    highest, lowest = math.log(float(info.max)), math.log(float(info.tiny))
    out = []
    for k in range(count):
        sizes = np.exp(rng.uniform(lowest, highest, 40))
        drawn = [
            *(grid[k], rng.uniform(-3, 3, 60), rng.uniform(-100, 100, 40)),
            *(sizes * rng.choice([-1, 1], 40), rng.uniform(-1, 1, 20)),
        ]
        with np.errstate(all="ignore"):
            out.append(np.concatenate(drawn).astype(kind))
    return out


def integers(dtype: str, count: int, rng: np.random.Generator) -> list[Any]:
    """Return operands: all combinations of telling values, and drawn ones."""
    kind = as_numpy_dtype(dtype)
    if dtype == "bool":
        grid = np.array(list(itertools.product((False, True), repeat=count))).T
        return [np.tile(row, 20) for row in grid]
    info = np.iinfo(kind)
    values = {0, 1, 2, 3, 7, 8, 40, 63, 100, info.max, info.min, info.max - 1}
    values |= {-1, -2, -7, info.min + 1} if info.min < 0 else set()
    out = np.array(list(itertools.product(sorted(values), repeat=count)), kind).T
    drawn = rng.integers(info.min, info.max, (count, 100), kind, endpoint=True)
    return [np.concatenate([a, b]) for a, b in zip(out, drawn, strict=True)]


def operands(word: str, dtype: str) -> list[Any]:
    """Return operands of a word that the plain functions have an answer for."""
    rng, count = np.random.default_rng(7), VOCABULARY[word][0]
    draw_some = floats if dtype in FLOATS else integers
    found = draw_some(dtype, count, rng)
    keep = np.ones(found[0].shape, bool)
    if dtype not in FLOATS and word in ("floordiv", "mod"):
        keep = found[1] != 0
    if dtype not in FLOATS and word == "pow":
        keep = found[1] >= 0
        found[1] %= 50
    if word == "polygamma":
        found[0] = np.arange(len(found[0])).astype(found[0].dtype) % 5
        with np.errstate(all="ignore"):
            keep = found[1] >= 0
    return [a[keep] for a in found]


def wanted_of(word: str, dtype: str, arrays: list[Any]) -> Any:
    """Return the values of a word in plain Python, in float64 where inexact."""
    kind = as_numpy_dtype(dtype)
    if word == "nextafter" and dtype != "float64":
        with np.errstate(all="ignore"):
            return widened(np.nextafter(*arrays))
    tree = word_tree(word)
    types = {"x": kind, "y": kind}
    found = [
        evaluate(tree, dict(zip("xy", row, strict=False)), types)
        for row in zip(*map(plain, arrays), strict=True)
    ]
    if VOCABULARY[word][1] == "bool" or dtype == "bool":
        return np.array([bool(v) for v in found])
    out = np.array(found, np.float64 if dtype in FLOATS else kind)
    # The plain function overflows to infinity on both sides.
    return np.copysign(out, widened(arrays[0])) if word == "sinh" else out


def places_off(found: Any, wanted: Any, dtype: str) -> Any:
    """Return errors in units in the last place; 0 for equal infinities and NaNs."""
    kind = as_numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        nearest = widened(wanted.astype(kind))
        got = widened(found)
        _, exponent = np.frexp(nearest)
        place = np.ldexp(1.0, np.maximum(exponent - DIGITS[dtype], LOWEST[dtype]))
        off = np.abs(got - np.where(np.isfinite(nearest), wanted, nearest)) / place
    same = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def assert_near(found: Any, wanted: Any, dtype: str, word: str, given: Any) -> None:
    off = places_off(found, wanted, dtype)
    with np.errstate(all="ignore"):
        loose = LOOSE.get(word, 0.0) * (1 + np.abs(wanted))
        slack = np.abs(widened(found) - wanted) <= loose
    # One float16 or bfloat16 holds thousands of float32s: rounded right, or nearly.
    limit = 4.5 if DIGITS[dtype] > 11 else 1.01
    worst = int(np.argmax(np.where(slack, 0.0, off)))
    assert slack[worst] or off[worst] <= limit, (
        f"{word} of {[a[worst] for a in given]}: {found[worst]}, not {wanted[worst]}"
    )


@pytest.mark.parametrize(("word", "dtype"), pairs())
def test_words_agree_with_plain_python(word: str, dtype: str) -> None:
    arrays = operands(word, dtype)
    tree = word_tree(word)
    found = expression(tree, dict.fromkeys(("x", "y")[: len(arrays)], dtype))(*arrays)
    wanted = wanted_of(word, dtype, arrays)
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, wanted)
        return
    assert_near(found, wanted, dtype, word, arrays)
    if word not in LOOSE and word != "imag":
        zeros = (wanted == 0) & (widened(found) == 0)
        signs = np.signbit(widened(found)) == np.signbit(wanted)
        # Which of two equal zeros is the least one is open, or follows itself, or the
        # sign of a sign; the plain functions round by way of an integer.
        if word not in {"sign", "minimum", "maximum", "nextafter"} | ROUNDING:
            assert np.all(signs[zeros]), word


def test_words_refuse_other_dtypes() -> None:
    for dtype in ALL:
        taken = WORDS_OF[kind_of(dtype)] | {"select"}
        for word in sorted(VOCABULARY.keys() - taken):
            kinds = dict.fromkeys(("x", "y")[: VOCABULARY[word][0]], dtype)
            with pytest.raises(DTypeError, match="compiled"):
                expression(word_tree(word), kinds)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="complex numbers are not compiled"):
        expression(parse("x * y"), {"x": "complex64", "y": "float32"})
    with pytest.raises(DTypeError, match="complex numbers are not compiled"):
        memory_type(np.dtype(np.complex128))


# --- Integers -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("sign", ["//", "%"])
def test_integer_division_never_stops_the_program(sign: str, dtype: str) -> None:
    x, y = integers(dtype, 2, np.random.default_rng(0))
    found = expression(parse(f"x {sign} y"), {"x": dtype, "y": dtype})(x, y)
    with np.errstate(all="ignore"):
        wanted = x // y if sign == "//" else x % y
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 13, 70])
def test_known_whole_powers(exponent: int, dtype: str) -> None:
    x = np.arange(-3 if dtype[0] != "u" else 0, 5).astype(dtype)
    found = expression(parse(f"x ** {exponent}"), {"x": dtype})(x)
    with np.errstate(all="ignore"):
        wanted = np.power(x, np.array(exponent, dtype))
    np.testing.assert_array_equal(found, wanted)


def test_known_powers_are_those_of_numpy() -> None:
    x = np.concatenate([np.random.default_rng(0).uniform(-3, 3, 500), SPECIALS])
    for exponent in ("2", "2.0", "0.5", "-1", "1", "0"):
        found = expression(parse(f"x ** ({exponent})"), {"x": "float64"})(x)
        with np.errstate(all="ignore"):
            wanted = np.power(x, float(exponent))
        np.testing.assert_array_equal(found, wanted, exponent)
    cubed = expression(parse("x ** 3"), {"x": "float64"})(x)
    assert np.all(places_off(cubed, np.power(x, 3.0), "float64") <= 1.5)


# --- Types ----------------------------------------------------------------------------


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
def test_casts_are_those_of_numpy(source: str, target: str) -> None:
    rng = np.random.default_rng(3)
    x = (floats if source in FLOATS else integers)(source, 1, rng)[0]
    kind = as_numpy_dtype(target)
    if source in FLOATS and kind.kind in "iu":
        wide = widened(x)
        low = -1 if kind.kind == "u" else float(np.iinfo(kind).min)
        x = x[np.isfinite(wide) & (wide > low) & (wide < float(np.iinfo(kind).max))]
    found = expression(parse("x"), {"x": source}, target=kind)(x)
    with np.errstate(all="ignore"):
        wanted = x.astype(kind)
    assert found.dtype == kind
    np.testing.assert_array_equal(widened(found), widened(wanted))


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
@pytest.mark.parametrize("source", ["float64", "float32"])
def test_narrow_floats_round_to_even(source: str, target: str) -> None:
    kind = as_numpy_dtype(target)
    info: Any = ml_dtypes.finfo(kind)
    start = np.array([float(info.smallest_subnormal), 1.0, 0.3, float(info.max)])
    grid = np.outer(start.astype(kind).astype(float), 1 + np.arange(64) * 2.0**-13)
    near = grid.ravel() * (1 + np.array([[0], [2.0**-40], [-(2.0**-40)]]))
    x = np.concatenate([near.ravel(), -near.ravel(), [0.0, -0.0, np.nan, np.inf, 1e39]])
    with np.errstate(all="ignore"):
        x = x.astype(source)
    found = expression(parse("x"), {"x": source}, target=kind)(x)
    with np.errstate(all="ignore"):
        wanted = x.astype(kind)
    np.testing.assert_array_equal(widened(found), widened(wanted))


def test_a_bfloat16_from_a_signaling_nan_is_a_nan() -> None:
    x = np.array([0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    target = as_numpy_dtype("bfloat16")
    found = expression(parse("x"), {"x": "float32"}, target=target)(x)
    assert np.all(np.isnan(widened(found)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_round_word_by_word(dtype: str) -> None:
    kind = as_numpy_dtype(dtype)
    rng = np.random.default_rng(1)
    x, y, z = (rng.uniform(-3, 3, 500).astype(kind) for _ in range(3))
    found = expression(parse("x * y + z"), dict.fromkeys("xyz", dtype))(x, y, z)
    np.testing.assert_array_equal(widened(found), widened(x * y + z))


MIXED = [
    ("x + n", {"x": "float32", "n": "int64"}, {}),
    ("n + m", {"n": "int8", "m": "int32"}, {}),
    ("x * k", {"x": "float16"}, {"k": 0.5}),
    ("n * k", {"n": "int32"}, {"k": 3}),
    ("n * k", {"n": "int32"}, {"k": 0.5}),
    ("b + 1", {"b": "bool"}, {}),
    ("(1.0 if b else 0.5) * x", {"b": "bool", "x": "float64"}, {}),
    ("(3 if b else 2) * n", {"b": "bool", "n": "int8"}, {}),
    ("(3 if b else 2) * x", {"b": "bool", "x": "bfloat16"}, {}),
    ("(1.5 if b else 2.5) > (2 if b else 1)", {"b": "bool"}, {}),
    ("1.0 if b else 0", {"b": "bool"}, {}),
    ("n if x > 0.5 else 0", {"n": "uint8", "x": "float64"}, {}),
    ("n if x else k", {"n": "int32", "x": "float32"}, {"k": 1.5}),
    ("x and n", {"x": "float32", "n": "int64"}, {}),
    ("not x", {"x": "float32"}, {}),
    ("m and n", {"m": "uint64", "n": "int64"}, {}),
    ("(i0 if k > 2 else 1.5) * x", {"x": "float32"}, {"k": 3}),
    ("n * (i0 if k > 2 else 1.5)", {"n": "int8"}, {"k": 3}),
    ("x + (2 * k - 1)", {"x": "float32"}, {"k": 3}),
    ("x + exp(k)", {"x": "float64"}, {"k": 0.25}),
    ("x if k > 2 else -x", {"x": "float64"}, {"k": 3}),
    ("k < 2", {"x": "float64"}, {"k": 3}),
    ("k * 2", {"x": "float64"}, {"k": 3}),
    ("x * i0 + i0", {"x": "float32"}, {}),
    ("n * i0", {"n": "int8"}, {}),
    ("i0", {"n": "int8"}, {}),
]


@pytest.mark.parametrize(("source", "dtypes", "numbers"), MIXED)
def test_types_are_those_of_the_vocabulary(
    source: str, dtypes: dict[str, str], numbers: dict[str, Any]
) -> None:
    rng, tree = np.random.default_rng(5), parse(source)
    count = 37
    arrays = {
        name: rng.choice([-2, -1, 0, 1, 2, 3], count).astype(as_numpy_dtype(d))
        for name, d in dtypes.items()
    }
    found = expression(tree, dtypes, numbers)(*arrays.values())
    kinds = {name: a.dtype for name, a in arrays.items()}
    types: dict[str, Any] = {**kinds, **{k: type(v) for k, v in numbers.items()}}
    for i, got in enumerate(plain(found)):
        values = {name: plain(a)[i] for name, a in arrays.items()}
        values |= {"i0": i, **numbers}
        wanted = evaluate(tree, values, {"i0": int, **types})
        assert got == pytest.approx(wanted, rel=1e-2 if "k" in values else 1e-6), values


def test_an_expression_of_numbers_is_a_number() -> None:
    body = Body(ir.Module(), host())
    assert body.emit(None, parse("2 * k + 1"), {"k": 3}) == 7
    assert body.emit(None, parse("1 / k"), {"k": 4}) == 0.25
    assert body.emit(None, parse("1 if k > 2 else 2.5"), {"k": 3}) == 1.0
    with pytest.raises(GraphError, match="uses z"):
        body.emit(None, parse("z + 1"), {})


def test_constants_wrap_around_and_round() -> None:
    assert constant(np.dtype(np.int8), 300).value.constant == 44
    assert constant(np.dtype(np.uint8), -1).value.constant == 255
    assert constant(np.dtype(np.float32), 0.1).value.constant == np.float32(0.1)
    assert constant(np.dtype(np.bool_), 2).value.constant == 1
    bfloat16 = as_numpy_dtype("bfloat16")
    assert constant(bfloat16, 1 / 3).value.constant == float(ml_dtypes.bfloat16(1 / 3))


# --- Special functions ----------------------------------------------------------------


def test_polygamma_of_negative_numbers() -> None:
    n = np.arange(60) % 6.0
    x = np.random.default_rng(2).uniform(-9, 0, 60)
    x[:6] = -2.0
    found = expression(parse("polygamma(n, x)"), {"n": "float64", "x": "float64"})(n, x)
    sign = np.where(n % 2 == 1, 1.0, -1.0)
    wanted = sign * special.gamma(n + 1) * special.zeta(n + 1, x)
    wanted = np.where(n == 0, special.psi(x), wanted)
    np.testing.assert_allclose(found, wanted, 1e-11)
    wrong = expression(parse("polygamma(n, x)"), {"n": "float64", "x": "float64"})
    assert np.all(np.isnan(wrong(np.array([-1.0, 0.5, np.nan]), np.ones(3))))
    assert wrong(np.array([1e18]), np.array([2.5])).shape == (1,)


def test_digamma_is_accurate_at_its_root() -> None:
    root, rest = 1.4616321449683622, 9.549995429965697e-17
    x = root + np.arange(-8, 9) * 2.0**-50
    found = expression(parse("digamma(x)"), {"x": "float64"})(x)
    wanted = ((x - root) - rest) * special.polygamma(1, root)
    np.testing.assert_allclose(found, wanted, 1e-13)


def test_erfinv_inverts_in_both_tails() -> None:
    y = np.concatenate([1 - 10.0 ** np.linspace(-15, -1, 50), np.linspace(0, 1, 101)])
    y = np.concatenate([y, -y, 10.0 ** np.linspace(-300, -1, 50)])
    found = expression(parse("erfinv(x)"), {"x": "float64"})(y)
    np.testing.assert_allclose(found, special.erfinv(y), 2e-15)
    back = np.array([math.erf(v) for v in found])
    np.testing.assert_allclose(back, y, 1e-14)


# --- What LLVM makes of it ------------------------------------------------------------


def text_of(source: str, dtype: str = "float32", contract: bool = True) -> str:
    tree, kind = parse(source), as_numpy_dtype(dtype)
    memory = memory_type(kind)

    def emit(builder: Any, elements: list[Any], index: Any) -> None:
        *sources, place = elements
        letters = sorted(set(names(tree)))
        loaded = {
            n: load(builder, p, kind) for n, p in zip(letters, sources, strict=True)
        }
        body = Body(builder.module, host(), contract)
        out: Any = body.emit(builder, tree, loaded)
        store(builder, out, place, kind)

    module = loop([memory] * (len(set(names(tree))) + 1), emit)
    return str(optimised(module))


def test_rounding_keeps_the_sign_of_zeros() -> None:
    x = np.array([-0.0, 0.0, -0.3, 0.3, -0.5, 0.5] * 7)
    for word, function in (("floor", np.floor), ("round", np.rint), ("ceil", np.ceil)):
        found = expression(word_tree(word), {"x": "float64"})(x)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(function(x)))


@pytest.mark.parametrize(
    "source",
    [
        *("x * y + 1", "x if x > y else y", "maximum(x, y) / 6", "sign(x) * round(y)"),
        *("minimum(x, 0) * abs(x)", "nextafter(x, y)", "floor(x) + sqrt(y)"),
    ],
)
def test_bodies_without_functions_vectorize(source: str) -> None:
    assert "x float>" in text_of(source)


def test_only_sums_and_products_contract() -> None:
    assert "contract" in text_of("x * y + 1")
    assert "contract" not in text_of("x * y + 1", contract=False)
    for source in ("x * y + 1", "x / y - x"):
        assert not {"nnan", "ninf", "fast", "reassoc", "nsz"} & set(
            text_of(source).split()
        )


# --- Every declared expression --------------------------------------------------------

MAPPED = [
    pytest.param(record, dtype, id=f"{record.id}-{dtype}")
    for record in RECORDS
    if not record.composed and type(registry()[record.primitive].lowering) is Map
    for dtype in ("float64", "float32", "int32", "bool")
    if dtype in record.dtypes
]


@functools.cache
def mapped(source: str, dtypes: Any, numbers: Any, target: str) -> Any:
    kind = as_numpy_dtype(target)
    return expression(parse(source), dict(dtypes), dict(numbers), target=kind)


@pytest.mark.parametrize(("record", "dtype"), MAPPED)
def test_declared_expressions_compute_what_forward_computes(
    record: Record, dtype: str
) -> None:
    rng = rng_for(record)
    for attrs in record.attrs:
        arrays = draw(record, rng, dtype, attrs)
        if arrays is None:
            continue
        _, ran = watched(lambda a=arrays, k=attrs: call(record, a, k))
        for step in ran:
            if type(step.primitive.lowering) is Map:
                check_step(step)


def check_step(step: Any) -> None:
    out = np.asarray(step.out)
    if out.dtype.kind == "c" or any(x.dtype.kind == "c" for x in step.inputs):
        return
    tree = step.primitive.lowering.tree
    used = set(names(tree))
    if any(f"i{axis}" in used for axis in range(1, 5)):
        return
    letters = operand_names(step.primitive, len(step.inputs))
    dtypes = tuple((n, x.dtype.name) for n, x in zip(letters, step.inputs, strict=True))
    attrs = {k: python_number(v) for k, v in step.attrs.items() if k in used}
    compiled = mapped(
        step.primitive.lowering.expr, dtypes, tuple(attrs.items()), out.dtype.name
    )
    operands = [np.broadcast_to(x, out.shape) for x in step.inputs]
    if not operands:
        operands = [np.zeros(out.shape)]
        compiled = expression(tree, {"unused": "float64"}, attrs, target=out.dtype)
    found = compiled(*operands)
    limit = {8: 1e-12, 4: 2e-6, 2: 2e-2, 1: 0}[out.itemsize]
    exact = out.dtype.kind in "biu"
    np.testing.assert_allclose(
        widened(found), widened(out), 0 if exact else limit, 0 if exact else limit
    )
