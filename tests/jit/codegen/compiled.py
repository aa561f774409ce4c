"""Compiles scalar expressions into loops over arrays, with LLVM alone."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from gtape.dtypes import as_numpy_dtype
from gtape.jit.codegen.body import (
    Body,
    Scalar,
    constant,
    load,
    memory_type,
    store,
    weak,
)
from gtape.jit.codegen.vecmath import VectorMath
from gtape.scalar import Tree, type_of

INDEX = ir.IntType(64)


@functools.cache
def host() -> VectorMath:
    return VectorMath.host()


def machine() -> Any:
    """Return a target machine; an engine owns the one it gets, so nobody shares one."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        llvm.get_host_cpu_name(), features, opt=3, codemodel="jitdefault"
    )


def optimised(module: ir.Module) -> Any:
    """Return the module as LLVM's optimizer leaves it."""
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    target = machine()
    builder = llvm.create_pass_builder(target, tuning)
    builder.getModulePassManager().run(parsed, builder)
    return parsed


def loop(
    kinds: Sequence[Any],
    emit: Callable[[ir.IRBuilder, list[Any], Any], None],
    name: str = "loop",
) -> ir.Module:
    """Return a module with one function: pointers of these kinds and a count.

    Args:
        kinds: What each pointer points to.
        emit: Writes the body: the builder, a pointer to this element of each operand,
            and the index.
        name: The function.
    """
    module = ir.Module(name)
    signature = ir.FunctionType(
        ir.VoidType(), [k.as_pointer() for k in kinds] + [INDEX]
    )
    function = ir.Function(module, signature, name)
    *pointers, count = function.args
    for pointer in pointers:
        pointer.add_attribute("noalias")
    entry, body, end = (
        function.append_basic_block(n) for n in ("entry", "body", "end")
    )
    builder = ir.IRBuilder(entry)
    zero, one = ir.Constant(INDEX, 0), ir.Constant(INDEX, 1)
    builder.cbranch(builder.icmp_signed(">", count, zero), body, end)
    builder.position_at_end(body)
    index = builder.phi(INDEX)
    index.add_incoming(zero, entry)
    elements = [
        builder.gep(p, [index], source_etype=k)
        for p, k in zip(pointers, kinds, strict=True)
    ]
    emit(builder, elements, index)
    following = builder.add(index, one)
    index.add_incoming(following, builder.block)
    again = builder.icmp_signed("<", following, count)
    builder.cbranch(again, body, end)
    builder.position_at_end(end)
    builder.ret_void()
    return module


def run(
    module: ir.Module, dtype: np.dtype[Any], vector: VectorMath | None = None
) -> Callable[..., Any]:
    """Return the function of a `loop`: arrays of one shape -> an array of a dtype."""
    for symbol, address in (vector or host()).symbols().items():
        llvm.add_symbol(symbol, address)
    parsed = optimised(module)
    name = module.name
    text = str(parsed)
    engine = llvm.create_mcjit_compiler(parsed, machine())
    engine.finalize_object()
    address = engine.get_function_address(name)

    def call(*arrays: Any) -> Any:
        arrays = tuple(np.ascontiguousarray(a) for a in arrays)
        out = np.empty(arrays[0].shape, dtype)
        kinds = [ctypes.c_void_p] * (len(arrays) + 1) + [ctypes.c_int64]
        function = ctypes.CFUNCTYPE(None, *kinds)(address)
        function(*[a.ctypes.data for a in arrays], out.ctypes.data, out.size)
        return out

    call.engine, call.text = engine, text  # type: ignore[attr-defined]
    return call


def expression(
    tree: Tree,
    dtypes: Mapping[str, str],
    numbers: Mapping[str, Any] | None = None,
    vector: VectorMath | None = None,
    target: np.dtype[Any] | None = None,
) -> Callable[..., Any]:
    """Return the compiled loop of an expression: arrays of one shape -> their values.

    Args:
        tree: The expression; i0 in it is the index.
        dtypes: The dtype of each array, by the name it has in the expression.
        numbers: The Python numbers that other names stand for.
        vector: The mathematical functions; those of the host by default.
        target: The dtype of the result, where it is not that of the expression.
    """
    vector = host() if vector is None else vector
    kinds = {name: as_numpy_dtype(dtype) for name, dtype in dtypes.items()}
    numbers = dict(numbers or {})
    types: Mapping[str, Any] = {name: type(v) for name, v in numbers.items()}
    dtype = type_of(tree, {"i0": int, **kinds, **types})
    stored = dtype if target is None else target

    def emit(builder: ir.IRBuilder, elements: list[Any], index: Any) -> None:
        *sources, place = elements
        loaded = {
            name: load(builder, pointer, kind)
            for (name, kind), pointer in zip(kinds.items(), sources, strict=True)
        }
        body = Body(builder.module, vector)
        i0 = weak(builder, Scalar(np.dtype(np.int64), index), int)
        out = body.emit(builder, tree, {"i0": i0, **loaded, **numbers})
        if not isinstance(out, Scalar):
            out = constant(dtype, out)
        assert out.dtype == dtype
        store(builder, out, place, stored)

    memory = [memory_type(kind) for kind in (*kinds.values(), stored)]
    return run(loop(memory, emit), stored, vector)
