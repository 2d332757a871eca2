"""The self-test: what it reads, what it concludes, and that it knows the real disease."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from navaudit.errors import BadInput
from navaudit.numerics import platform
from navaudit.numerics.platform import KERNELS, Fit

HEALTHY = Fit("numpy.linalg.pinv", 10.0, 1e-12, 0.02, 1e-12, "0" * 64)


def env(**settings: str) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in settings.items())]


@pytest.fixture(scope="module")
def here() -> platform.Examination:
    return platform.examine()


def test_the_self_test_sees_this_process(here):
    assert here.interpreter == sys.executable
    assert {one.call for one in here.fits} == {
        "numpy.linalg.pinv", "numpy.linalg.solve", "scipy.linalg.pinvh",
    }  # fmt: skip
    assert here.processor
    assert here.blas, "NumPy computes through some BLAS"
    assert all(one.version for one in here.blas)
    assert not set(here.simd_baseline) & set(here.simd_running)


def test_this_process_is_healthy(here):
    digest = platform.closed_form_digest()
    assert digest == platform.CLOSED_FORM_DIGEST
    diagnosis = platform.diagnose(here, digest)
    assert diagnosis.verdict == "healthy"
    assert diagnosis.complaints == diagnosis.remedies == ()


def test_another_interpreter_tells_what_this_process_tells(here):
    there = platform.examine(sys.executable)
    assert dataclasses.replace(there, fits=()) == dataclasses.replace(here, fits=())
    assert all(one.healthy for one in there.fits)


@pytest.mark.parametrize(
    ("sick", "said"),
    [
        ({"first_speed_mps": -355.7, "speed_error_mps": 6e4}, "v0 = -355.7 m/s"),
        ({"speed_error_mps": 2e-9}, "worst speed off by 2e-09 m/s"),
        ({"curvature_error_per_m": 2e-9}, "worst curvature by 2e-09 1/m"),
        ({"first_speed_mps": None, "speed_error_mps": None}, "no finite speed"),
        ({"first_curvature_per_m": None, "curvature_error_per_m": None}, "no finite curvature"),
    ],
)
def test_a_sick_fit_is_named_and_gets_a_remedy(here, sick, said):
    fits = (HEALTHY, dataclasses.replace(HEALTHY, call="scipy.linalg.pinvh", **sick))
    diagnosis = platform.diagnose(dataclasses.replace(here, fits=fits), platform.CLOSED_FORM_DIGEST)
    assert diagnosis.verdict == "broken"
    assert len(diagnosis.complaints) == 1
    assert diagnosis.complaints[0].startswith("scipy.linalg.pinvh")
    assert said in diagnosis.complaints[0]
    assert any("OPENBLAS_CORETYPE=Haswell" in one for one in diagnosis.remedies)
    assert any("NumPy 1.24" in one for one in diagnosis.remedies)


def test_a_strange_closed_form_is_broken_too(here):
    diagnosis = platform.diagnose(dataclasses.replace(here, fits=(HEALTHY,)), "0" * 64)
    assert diagnosis.verdict == "broken"
    assert platform.CLOSED_FORM_DIGEST in diagnosis.complaints[0]


# --------------------------------------------------------------- pins


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_known_in_any_capitals(kernel):
    assert platform.kernel_named(kernel.upper()) == platform.kernel_named(kernel.lower()) == kernel


@pytest.mark.parametrize("name", ["", "avx2", "haswel", "Haswell "])
def test_no_other_kernel_is_accepted(name):
    with pytest.raises(BadInput) as refused:
        platform.pins(name, [])
    for kernel in ("haswell", "skylakex", "cooperlake", "sapphirerapids", "zen", "prescott"):
        assert kernel in str(refused.value)


def test_pins_leave_other_simd_paths_alone():
    running = ["SSE42", "AVX2", "FMA3", "AVX512F", "AVX512_SKX", "X86_V3", "X86_V4"]
    pins = platform.pins("zen", running)
    assert pins["NPY_DISABLE_CPU_FEATURES"] == "AVX512F AVX512_SKX X86_V4"


def test_numpy_takes_the_pins_without_a_warning(here):
    pins = platform.pins("haswell", here.simd_running)
    subprocess.run([*env(**pins), sys.executable, "-W", "error", "-c", "import numpy"], check=True)


def test_a_pinned_interpreter_says_which_kernel_it_runs():
    found = platform.examine_pinned(sys.executable, "haswell")
    if not any("openblas" in one.library for one in found.blas):
        pytest.skip("NumPy does not compute through OpenBLAS here")
    assert {one.kernel for one in found.blas} == {"Haswell"}


@pytest.mark.parametrize("kernel", ["haswell", "skylakex", "nehalem"])
def test_the_bits_of_pinv_tell_the_kernel(kernel):
    found = platform.examine_pinned(sys.executable, kernel)
    versions = {one.version for one in found.blas if one.library.startswith("numpy.libs/")}
    if not versions or not min(versions).startswith(("0.3.29", "0.3.30", "0.3.31")):
        pytest.skip(f"the bits of OpenBLAS {versions} are not known")
    known = platform.diagnose(found, platform.CLOSED_FORM_DIGEST).pinv_bits
    assert known == f"{platform.kernel_named(kernel)} of OpenBLAS 0.3.29, 0.3.30, 0.3.31"


def test_bits_not_seen_before_are_no_complaint(here):
    strange = dataclasses.replace(here, fits=(HEALTHY,))
    diagnosis = platform.diagnose(strange, platform.CLOSED_FORM_DIGEST)
    assert diagnosis.pinv_bits is None
    assert diagnosis.verdict == "healthy"


def test_an_interpreter_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no such interpreter"):
        platform.examine(str(tmp_path / "python"))
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\necho ModuleNotFoundError: numpy >&2\nexit 1\n")
    bare.chmod(0o755)
    with pytest.raises(BadInput, match="ModuleNotFoundError: numpy"):
        platform.examine(str(bare))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("true", "it answered ''"),
        ("echo hello", "it answered 'hello'"),
        ("echo '{}'", "it answered '{}'"),
        ("echo 7", "it answered '7'"),
        ("printf '\\377'", "it answered '\ufffd'"),
        ("sleep 9", "no answer within 0.3 s"),
        ("kill -ILL $$", "exit code -4"),
    ],
)
def test_what_does_not_answer_as_a_python_does_is_told(tmp_path, monkeypatch, does, said):
    monkeypatch.setattr(platform, "_PATIENCE_S", 0.3 if "sleep" in does else 60.0)
    odd = tmp_path / "odd"
    odd.write_text(f"#!/bin/sh\n{does}\n")
    odd.chmod(0o755)
    with pytest.raises(BadInput) as refused:
        platform.examine(str(odd))
    assert refused.value.what == f"the self-test did not run: {said}"
    assert str(odd) in refused.value.where


def test_an_interpreter_may_be_greeted_for(tmp_path):
    polite = tmp_path / "python"
    polite.write_text(f'#!/bin/sh\necho "welcome to this machine"\nexec {sys.executable} "$@"\n')
    polite.chmod(0o755)
    assert platform.examine(str(polite)).fits[0].healthy


def test_the_script_runs_where_a_folder_hides_the_standard_library(tmp_path):
    script = Path(platform.selftest_pinv.__file__)
    told = subprocess.run(
        [sys.executable, script.name], cwd=script.parent, capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout)["fits"]["numpy.linalg.pinv"]["speed_error_mps"] < 1e-9


# --------------------------------------------------------------- the real disease


def test_the_broken_kernel_is_recognised(sick_interpreter):
    found = platform.examine(sick_interpreter, {"OPENBLAS_CORETYPE": "Cooperlake"})
    assert found.numpy == "1.23.4"
    assert [one.kernel for one in found.blas] == ["Cooperlake"]
    speeds = {one.call: one.first_speed_mps for one in found.fits}
    assert round(speeds["numpy.linalg.pinv"], 1) == -355.7
    diagnosis = platform.diagnose(found, platform.CLOSED_FORM_DIGEST)
    assert diagnosis.verdict == "broken"
    assert "numpy.linalg.pinv fits v0 = -355.7 m/s" in diagnosis.complaints[0]
    assert diagnosis.pinv_bits == "Cooperlake of OpenBLAS 0.3.20"


@pytest.mark.parametrize("kernel", ["Haswell", "SkylakeX", "Zen", "Prescott"])
def test_other_kernels_of_the_same_library_are_healthy(sick_interpreter, kernel):
    found = platform.examine_pinned(sick_interpreter, kernel)
    assert [one.kernel for one in found.blas] == [kernel]
    diagnosis = platform.diagnose(found, platform.CLOSED_FORM_DIGEST)
    assert diagnosis.verdict == "healthy"
    kernels, _, versions = diagnosis.pinv_bits.partition(" of OpenBLAS ")
    assert kernel in kernels.split(" or ")
    assert "0.3.20" in versions.split(", ")


def test_old_numpy_takes_its_pins_without_a_warning(sick_interpreter):
    pins = platform.pins("haswell", platform.examine_pinned(sick_interpreter, "zen").simd_running)
    assert "AVX512_SKX" in pins["NPY_DISABLE_CPU_FEATURES"]
    run = [*env(**pins), sick_interpreter, "-W", "error", "-c", "import numpy"]
    subprocess.run(run, check=True)
    pinned = platform.examine(sick_interpreter, pins)
    assert not any(one.startswith("AVX512") for one in pinned.simd_running)


def test_a_silent_fallback_is_told(sick_interpreter):
    found = platform.examine_pinned(sick_interpreter, "sapphirerapids")
    assert [one.kernel for one in found.blas] == ["Cooperlake"]
    assert not any(one.healthy for one in found.fits)
