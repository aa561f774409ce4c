"""The one door to the machine: from an LLVM module to a function that Python calls.

LLVM is used through llvmlite, the binding of Numba. Every program gets an engine of its
own, so that its code is gone with it: Numba's would keep all code for good.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import llvmlite.binding as llvm
from numba.extending import get_cython_function_address

from gtape.jit.backend.store import Store, digest, environment
from gtape.jit.codegen.frame import addresses
from gtape.jit.codegen.vecmath import VectorMath

_BLAS = {"gtape_sgemm": "sgemm", "gtape_dgemm": "dgemm"}
_METH_O = 0x0008
_FORM = "object code, 1"  # what lies on disk under a key; other forms are other keys
_lock = threading.RLock()  # LLVM's binding is used by one thread at a time


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Host:
    """The processor that programs are compiled for, and its libraries."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._name = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self._features = features.flatten()
        self._target = llvm.Target.from_default_triple()
        # Without instructions for them LLVM calls functions that nobody may have.
        self.has_halves = bool(dict(features).get("f16c", True))
        self.vector = VectorMath.host(dict(features))
        for name, address in {**self.vector.symbols(), **addresses()}.items():
            llvm.add_symbol(name, address)
        for name, function in _BLAS.items():
            address = get_cython_function_address("scipy.linalg.cython_blas", function)
            llvm.add_symbol(name, address)

    def key(self) -> str:
        """Return what the code is made for, and by which versions."""
        triple = llvm.get_process_triple()
        return environment(triple, self._name, self._features, self.vector.key())

    def machine(self) -> Any:
        """Return a new description of the processor; engines keep theirs."""
        return self._target.create_target_machine(
            cpu=self._name,
            features=self._features,
            opt=3,
            reloc="pic",
            codemodel="jitdefault",
        )

    def optimized(self, module: Any) -> Any:
        """Return a module as LLVM has it, after its passes."""
        machine = self.machine()
        # What is made in a context of its own goes with it.
        found = llvm.parse_assembly(str(module), context=llvm.create_context())
        found.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        options.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(found, builder)
        return found


class Compiled:
    """A program in memory.

    Args:
        code: Its object code.
        name: The name of the function that Python calls.
    """

    def __init__(self, code: bytes, name: str) -> None:
        with _lock:
            # In the context of the process: an engine freed by a collection of cycles
            # may outlive any other.
            empty = llvm.parse_assembly("")
            self._engine = llvm.create_mcjit_compiler(empty, host().machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            address = self._engine.get_function_address(name)
        self._definition = _MethodDef(b"program", address, _METH_O, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        pointer: Any = ctypes.POINTER(_MethodDef)
        make.argtypes = [pointer, ctypes.py_object, ctypes.c_void_p]
        # The function holds its definition, which it reads when it goes.
        self.call = make(ctypes.byref(self._definition), self._definition, None)


def compiled(module: Any, name: str) -> Compiled:
    """Return the program of a module, from the disk cache if it is there.

    Args:
        module: The module.
        name: The function that Python calls.
    """
    store = Store.default()
    with _lock:
        key = digest(_FORM, host().key(), name, str(module))
        code = store.load(key)
        if code is None:
            code = host().machine().emit_object(host().optimized(module))
            store.save(key, code)
    return Compiled(code, name)


_host: Host | None = None


def host() -> Host:
    """Return the processor that this process runs on."""
    global _host
    with _lock:
        if _host is None:
            _host = Host()
        return _host
