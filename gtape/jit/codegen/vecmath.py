"""The mathematical functions of the host: scalar ones, and vector forms of some.

LLVM vectorizes a loop with a call in it only if the call names vector forms of its
function. The GNU C library has such forms in libmvec, within 4 units in the last place
and right at special points; elsewhere, and for functions that it lacks, the scalar
function of the C library serves, element by element.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir

from gtape.dtypes import NumpyDType, as_numpy_dtype
from gtape.errors import DTypeError

_PREFIX = "gt_"  # under their own names LLVM rewrites calls and loses their marks
_USED = "llvm.compiler.used"

FUNCTIONS: dict[str, int] = {  # the number of operands of each
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("erf", "erfc", "cbrt", "tgamma", "lgamma"), 1),
    **dict.fromkeys(("pow", "atan2", "hypot", "fmod"), 2),
}

_LANES = {"b": 16, "d": 32, "e": 64}  # the bytes of a vector, by the letter of its ABI


class Variant(NamedTuple):
    """A vector form of a scalar function.

    Args:
        lanes: How many elements it takes at once.
        symbol: The name it has in its library.
    """

    lanes: int
    symbol: str


class VectorMath:
    """What mathematical functions a host has, and calls of them.

    Args:
        addresses: The address of every function by its name in generated code.
        variants: The vector forms of a scalar function, by that function's name.
    """

    def __init__(
        self, addresses: Mapping[str, int], variants: Mapping[str, tuple[Variant, ...]]
    ) -> None:
        self._addresses = dict(addresses)
        self._variants = dict(variants)

    @classmethod
    def host(
        cls, features: Mapping[str, bool] | None = None, widest: str = "d"
    ) -> VectorMath:
        """Return what this host has.

        Args:
            features: The features of the processor, as `llvmlite.binding` gives them;
                it is asked if there are none.
            widest: The widest vectors to use: "b" for 16 bytes, "d" for 32, "e" for 64,
                or "" for no vector forms at all.
        """
        if features is None:
            features = llvm.get_host_cpu_features()
        scalar = _scalar_library()
        addresses: dict[str, int] = {}
        variants: dict[str, tuple[Variant, ...]] = {}
        library, isa = _vector_library(), _isa(features, widest)
        for function, operands in FUNCTIONS.items():
            for suffix, size in (("", 8), ("f", 4)):
                name = function + suffix
                address = _address(scalar, name)
                if address is None:
                    continue
                addresses[_PREFIX + name] = address
                if library is None or not isa:
                    continue
                lanes = _LANES[isa] // size
                symbol = f"_ZGV{isa}N{lanes}{'v' * operands}_{name}"
                found = _address(library, symbol)
                if found is not None:
                    addresses[symbol] = found
                    variants[_PREFIX + name] = (Variant(lanes, symbol),)
        return cls(addresses, variants)

    def symbols(self) -> dict[str, int]:
        """Return the address of every function, by its name in generated code."""
        return dict(self._addresses)

    def key(self) -> str:
        """Return a short name of what is there, equal where generated code is equal."""
        names = " ".join(sorted(self._addresses))
        return hashlib.sha256(names.encode()).hexdigest()[:16]

    def variants(self, name: str, dtype: NumpyDType) -> tuple[Variant, ...]:
        """Return the vector forms of a function, of which there may be none."""
        return self._variants.get(_scalar_name(name, dtype), ())

    def declare(self, module: Any, name: str, dtype: NumpyDType) -> Any:
        """Return the declaration of a scalar function in a module.

        Args:
            module: The module, which gets the declaration if it has none.
            name: The function, by its name in C for float64, such as "exp".
            dtype: float32 or float64.
        """
        kind = ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
        signature = ir.FunctionType(kind, [kind] * FUNCTIONS[name])
        return _declared(module, _scalar_name(name, dtype), signature)

    def call(
        self, builder: Any, name: str, dtype: NumpyDType, operands: Sequence[Any]
    ) -> Any:
        """Emit the call of a function, marked with the vector forms it has.

        Args:
            builder: Where to.
            name: The function, by its name in C for float64, such as "exp".
            dtype: float32 or float64, the dtype of the operands and the result.
            operands: The values.

        Raises:
            DTypeError: If the host's C library has no such function.
        """
        own = _scalar_name(name, dtype)
        if own not in self._addresses:
            return self._call_wide(builder, name, dtype, operands)
        called = builder.call(self.declare(builder.module, name, dtype), operands)
        # llvmlite knows only some attributes, so these go past its check.
        for attribute in ("nounwind", "memory(none)"):
            set.add(called.attributes, attribute)
        marks = []
        for lanes, symbol in self._variants.get(own, ()):
            vector = ir.VectorType(called.type, lanes)
            signature = ir.FunctionType(vector, [vector] * len(operands))
            _keep_alive(builder.module, _declared(builder.module, symbol, signature))
            shape = "v" * len(operands)
            marks.append(f"_ZGV_LLVM_N{lanes}{shape}_{own}({symbol})")
        if marks:
            text = f'"vector-function-abi-variant"="{",".join(marks)}"'
            set.add(called.attributes, text)
        return called

    def _call_wide(
        self, builder: Any, name: str, dtype: NumpyDType, operands: Sequence[Any]
    ) -> Any:
        """Call the function of float64 for float32: some C libraries have no other."""
        double = ir.DoubleType()
        if dtype.itemsize == 8 or _PREFIX + name not in self._addresses:
            raise DTypeError(
                f"{name} of {dtype}: the C library of this computer has no such "
                "function",
                "Run this function without compiling it",
            )
        wide = [builder.fpext(operand, double) for operand in operands]
        called = self.call(builder, name, _FLOAT64, wide)
        return builder.fptrunc(called, ir.FloatType())


_FLOAT64 = as_numpy_dtype("float64")


def _scalar_name(name: str, dtype: NumpyDType) -> str:
    return _PREFIX + name + ("f" if dtype.itemsize == 4 else "")


def _declared(module: Any, name: str, signature: Any) -> Any:
    found = module.globals.get(name)
    return ir.Function(module, signature, name) if found is None else found


def _keep_alive(module: Any, function: Any) -> None:
    """List a function among those the module uses, though nothing in it calls it."""
    used = module.globals.get(_USED)
    kept = [] if used is None else list(used.initializer.constant)
    if function in kept:
        return
    kept.append(function)
    kind = ir.ArrayType(ir.PointerType(), len(kept))
    if used is None:
        used = ir.GlobalVariable(module, kind, _USED)
        used.linkage, used.section = "appending", "llvm.metadata"
    used.value_type, used.initializer = kind, ir.Constant(kind, kept)


# --- What the host has ----------------------------------------------------------------


def _scalar_library() -> Any:
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    try:
        return ctypes.CDLL("libm.so.6")  # to look for it by name takes a while
    except OSError:
        # Without a libm of its own, the C library that Python uses has the functions.
        return ctypes.CDLL(ctypes.util.find_library("m"))


def _vector_library() -> Any:
    # On AArch64 the vector forms have a calling convention that LLVM's vectorizer does
    # not put on the calls it makes, so there are none there.
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


def _isa(features: Mapping[str, bool], widest: str) -> str:
    """Return the letter of the widest vectors that are wanted and there, or ""."""
    needs = {"b": "sse4.1", "d": "avx2", "e": "avx512f"}
    letters = [k for k in needs if k <= widest and features.get(needs[k])]
    return letters[-1] if letters else ""


def _address(library: Any, name: str) -> int | None:
    function = getattr(library, name, None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value
