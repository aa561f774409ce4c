"""The mathematical functions of the host: how exact they are, and who calls them."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from llvmlite import ir
from scipy import special as scipy

from gtape.errors import DTypeError
from gtape.jit.codegen.vecmath import FUNCTIONS, VectorMath
from tests.jit.codegen.compiled import loop, optimised, run

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
DTYPES = (FLOAT32, FLOAT64)
WIDTHS = ("", "b", "d", "e")
PLACES = 4  # the units in the last place that a function may be off

NUMPY = {
    **{"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "pow": np.power},
    **{"asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh},
    **{"atan2": np.arctan2, "fmod": np.fmod},
}
SPECIALS = (0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 100.0, 1000.0, math.inf)
GAMMA = {"tgamma", "lgamma"}  # only in float64, and less exact on the negative axis


@functools.cache
def host(widest: str) -> VectorMath:
    return VectorMath.host(widest=widest)


@functools.cache
def function(name: str, dtype: np.dtype[Any], widest: str) -> Callable[..., Any]:
    """Return a compiled loop over one function."""
    return run(module(name, dtype, host(widest)), dtype, host(widest))


def module(name: str, dtype: np.dtype[Any], vector: VectorMath) -> ir.Module:
    kind = ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()

    def emit(builder: Any, elements: list[Any], index: Any) -> None:
        *sources, place = elements
        operands = [builder.load(s, typ=kind) for s in sources]
        builder.store(vector.call(builder, name, dtype, operands), place)

    return loop([kind] * (FUNCTIONS[name] + 1), emit, f"loop_{name}")


def cases() -> list[Any]:
    return [
        pytest.param(name, dtype, id=f"{name}-{dtype}")
        for name in FUNCTIONS
        for dtype in DTYPES
        if name not in GAMMA
    ]


each = pytest.mark.parametrize(("name", "dtype"), cases())
each_width = pytest.mark.parametrize("widest", WIDTHS)


def drawn(dtype: np.dtype[Any], count: int) -> list[Any]:
    """Return operands of every size: usual, subnormal and huge ones."""
    rng, info = np.random.default_rng(1), np.finfo(dtype)
    low, high = math.log(float(info.smallest_subnormal)), math.log(float(info.max))
    sizes = np.exp(rng.uniform(low, high, 1500)) * rng.choice([-1, 1], 1500)
    parts = [
        *(rng.uniform(-1, 1, 3000), rng.normal(size=2000) * 10, sizes),
        *(rng.uniform(-800, 800, 1500), rng.uniform(-110, 110, 1500)),
        *(1 + rng.normal(size=500) * 1e-3, rng.uniform(0, 30, 1000)),
        *(np.arange(-40, 40) * np.pi / 2, rng.uniform(-1e6, 1e6, 500)),
        *(info.tiny * rng.uniform(-2, 2, 100), info.max * rng.uniform(-1, 1, 50)),
    ]
    x = np.concatenate(parts).astype(dtype)
    return [x] if count == 1 else [x, rng.permutation(x)]


def special(dtype: np.dtype[Any], count: int) -> list[Any]:
    """Return every combination of special operands, then ones to fill a vector."""
    info = np.finfo(dtype)
    ends = (float(info.max), float(info.tiny), float(info.smallest_subnormal))
    signed = [s * v for v in (*SPECIALS, *ends) for s in (1.0, -1.0)]
    grid = np.array(list(itertools.product([*signed, math.nan], repeat=count)), dtype)
    return [np.concatenate([row, np.ones(64, dtype)]) for row in grid.T]


def reference(name: str, arrays: list[Any]) -> Any:
    """Return the values in the widest format there is a function in."""
    if name in ("erf", "erfc"):
        return np.array([getattr(math, name)(v) for v in arrays[0].tolist()])
    ufunc: Any = NUMPY.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        return ufunc(*[a.astype(np.longdouble) for a in arrays])


def places_off(found: Any, wanted: Any) -> Any:
    """Return errors in units in the last place; 0 for equal infinities and NaNs."""
    with np.errstate(all="ignore"):
        nearest = wanted.astype(found.dtype)
        off = np.abs(found.astype(wanted.dtype) - wanted)
        off = off / np.spacing(np.abs(nearest)).astype(wanted.dtype)
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    return np.where(same, 0, np.where(np.isfinite(off), off, np.inf))


def check(name: str, arrays: list[Any], found: Any, wanted: Any) -> None:
    off = places_off(found, wanted)
    worst = int(np.argmax(off))
    at = [float(a[worst]) for a in arrays]
    assert off[worst] <= PLACES, f"{name} of {at}: {found[worst]}, not {wanted[worst]}"


@each
@each_width
def test_functions_are_exact_to_a_few_places(
    name: str, dtype: np.dtype[Any], widest: str
) -> None:
    arrays = drawn(dtype, FUNCTIONS[name])
    found = function(name, dtype, widest)(*arrays)
    check(name, arrays, found, reference(name, arrays))


@each
@each_width
def test_special_points(name: str, dtype: np.dtype[Any], widest: str) -> None:
    arrays = special(dtype, FUNCTIONS[name])
    found = function(name, dtype, widest)(*arrays)
    wanted = reference(name, arrays)
    check(name, arrays, found, wanted)
    zero = (wanted == 0) & (found == 0)
    assert np.all(np.signbit(found[zero]) == np.signbit(wanted[zero]))


@each
@each_width
def test_loops_and_their_rests_agree(
    name: str, dtype: np.dtype[Any], widest: str
) -> None:
    rng = np.random.default_rng(2)
    arrays = [rng.uniform(0.1, 3, 1003).astype(dtype) for _ in range(FUNCTIONS[name])]
    call = function(name, dtype, widest)
    together = call(*arrays)
    singly = np.array([call(*[a[i : i + 1] for a in arrays])[0] for i in range(1003)])
    assert np.all(places_off(together, singly) <= PLACES)


@each
@each_width
def test_loops_call_the_vector_forms_there_are(
    name: str, dtype: np.dtype[Any], widest: str
) -> None:
    vector = host(widest)
    text = str(optimised(module(name, dtype, vector)))
    forms = vector.variants(name, dtype)
    assert all(f"@{form.symbol}(<{form.lanes} x" in text for form in forms)
    assert ("_ZGV" in text) == bool(forms)


def test_gamma_functions() -> None:
    x = np.concatenate([np.linspace(0.05, 60, 300), [np.inf, np.nan, 0.0, -2.5, -3.25]])
    for name, wanted in (("tgamma", scipy.gamma(x)), ("lgamma", scipy.gammaln(x))):
        found = function(name, FLOAT64, "d")(x)
        np.testing.assert_allclose(found, wanted, 1e-13, 1e-15)
    poles = function("lgamma", FLOAT64, "d")(np.array([-np.inf, -1.0, -0.0]))
    assert np.all(poles == np.inf)


# --- The host -------------------------------------------------------------------------


def test_vectors_are_no_wider_than_wanted_and_there() -> None:
    letters = {"": {}, "b": {"sse4.1": True}, "d": {"sse4.1": True, "avx2": True}}
    for widest, features in itertools.product(WIDTHS, letters.values()):
        vector = VectorMath.host(features, widest)
        for form in vector.variants("exp", FLOAT64):
            assert form.lanes <= {"b": 2, "d": 4, "e": 8}.get(widest, 0)
            assert form.lanes <= 2 * len(features)
    assert VectorMath.host({}).variants("exp", FLOAT32) == ()
    assert VectorMath.host(widest="").variants("pow", FLOAT64) == ()


def test_all_functions_are_there() -> None:
    symbols = host("").symbols()
    assert symbols.keys() >= {f"gt_{name}" for name in FUNCTIONS}
    assert all(address > 0 for address in symbols.values())
    cosine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(symbols["gt_cos"])
    assert cosine(1.0) == math.cos(1.0)


def test_the_key_tells_what_is_there() -> None:
    assert VectorMath.host().key() == VectorMath.host().key()
    none = VectorMath({}, {})
    assert none.key() != host("").key() == VectorMath.host({}).key()
    if host("d").variants("exp", FLOAT32):
        assert host("d").key() != host("").key()


def test_symbols_bear_no_path() -> None:
    assert not any("/" in name or "\\" in name for name in host("d").symbols())


def test_without_a_float32_function_that_of_float64_serves() -> None:
    whole = host("").symbols()
    vector = VectorMath({"gt_exp": whole["gt_exp"]}, {})
    x = np.linspace(-5, 5, 101).astype(np.float32)
    found = run(module("exp", FLOAT32, vector), FLOAT32, vector)(x)
    np.testing.assert_array_equal(found, np.exp(x.astype(np.float64)).astype("f4"))
    with pytest.raises(DTypeError, match="no such function"):
        module("exp", FLOAT32, VectorMath({}, {}))
    with pytest.raises(DTypeError, match="no such function"):
        module("exp", FLOAT64, VectorMath({"gt_expf": 1}, {}))


def test_a_module_declares_and_keeps_each_function_once() -> None:
    vector, double = host("d"), ir.DoubleType()
    whole = ir.Module()
    function = ir.Function(whole, ir.FunctionType(double, [double]), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    out = function.args[0]
    for name in ("exp", "sin", "exp", "tanh", "sin"):
        out = vector.call(builder, name, FLOAT64, [out])
    builder.ret(out)
    assert vector.declare(whole, "exp", FLOAT64) is whole.globals["gt_exp"]
    text = str(whole)
    llvm.parse_assembly(text).verify()
    forms = [vector.variants(name, FLOAT64) for name in ("exp", "sin", "tanh")]
    for (form,) in filter(None, forms):
        assert text.count(f'@"{form.symbol}"') == 2  # declared, and kept
    assert text.count('@"llvm.compiler.used"') == any(forms)
