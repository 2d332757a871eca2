"""What the compiler made of the kernels: no fused operation, no elementary library, no memory."""

import inspect
import math
import re

import llvmlite.binding
import numpy as np
import pytest
from numba import boolean, float64, int64, njit, types

from navaudit.numerics import angles, polar, reduction, trig, twofold

FUSED = re.compile(r"\b(vfn?m(add|sub)|fn?m(add|sub)|fml[as])\w*")
ELEMENTARY = re.compile(
    r"@(llvm\.)?a?(sin|cos|tan|sincos|tan2|hypot|fmod|pow|powi|exp|exp2|log|fma|fmuladd)\w?[.(]"
    r"|\bfrem\b"
)
LOOSE = re.compile(r"\bf(add|sub|mul|div|neg) (\w+ )*(fast|contract|reassoc|arcp|afn|nsz)\b")
ALLOCATION = re.compile(r"@NRT_\w*[Aa]lloc\w*")
TYPES = {
    "float": float64,
    "int": int64,
    "bool": boolean,
    "Doubles": float64[::1],
    "_Terms": types.UniTuple(float64, 8),
}

KERNELS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": thing
    for module in (twofold, reduction, polar, trig, angles)
    for name, thing in vars(module).items()
    if hasattr(thing, "py_func") and thing.py_func.__module__ == module.__name__
}


def compiled(function, signature, **options):
    """Compile afresh: a kernel loaded from the cache shows neither assembly nor LLVM code."""
    fresh = njit(error_model="numpy", **options)(function)
    fresh.compile(signature)
    return "".join(fresh.inspect_asm().values()), "".join(fresh.inspect_llvm().values())


def signature_of(kernel):
    parameters = inspect.signature(kernel.py_func).parameters.values()
    return tuple(TYPES[parameter.annotation] for parameter in parameters)


def sum_of_product(a, b, c):
    return a * b + c


def library_sine(a, b, c):
    return math.sin(a) + b % c


def sum_of_list(a, b, c):
    terms = np.empty(3)
    terms[0], terms[1], terms[2] = a, b, c
    return terms[int(a)]


def test_the_kernels_are_found():
    assert len(KERNELS) > 40
    assert {"trig.sincos", "polar.atan2", "twofold.two_product", "angles._fill_sin"} <= set(KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_no_fused_operation_no_library_call_and_no_allocation(name):
    assembly, llvm = compiled(KERNELS[name].py_func, signature_of(KERNELS[name]))
    assert "ret" in assembly
    assert FUSED.search(assembly) is None
    assert ELEMENTARY.search(llvm) is None
    assert LOOSE.search(llvm) is None
    assert ALLOCATION.search(llvm) is None


def test_the_searches_find_what_they_look_for():
    assembly, llvm = compiled(sum_of_product, (float64,) * 3, fastmath=True)
    assert LOOSE.search(llvm)
    features = llvmlite.binding.get_host_cpu_features()
    if features.get("fma") or features.get("neon"):
        assert FUSED.search(assembly)
    _, llvm = compiled(sum_of_list, (float64,) * 3)
    assert ALLOCATION.search(llvm)
    _, llvm = compiled(library_sine, (float64,) * 3)
    found = {match.group() for match in ELEMENTARY.finditer(llvm)}
    assert "frem" in found
    assert found & {"@sin(", "@llvm.sin."}
