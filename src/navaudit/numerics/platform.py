"""Which numeric kernels run here, whether they are healthy, and how to pin them.

NumPy and SciPy each bring an OpenBLAS that chooses its kernel from the processor when it is loaded.
One of these choices is broken: the Cooperlake kernel of OpenBLAS 0.3.20, which comes with NumPy
1.23 and is chosen on processors with AVX-512 BF16, computes wrong inverses. Every other choice seen
moves the last bits only. The closed forms of :mod:`navaudit.numerics.profiles` depend on neither.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit.axes import POSES, STEPS
from navaudit.errors import BadInput
from navaudit.numerics import seen_bits, selftest_pinv
from navaudit.numerics.profiles import fit
from navaudit.provenance import digest_arrays

CLOSED_FORM_DIGEST: Final = "a9367a341c28da4c4afb705ee18c5d9ac6704aa13c55a94217fefbda40131cee"
"""What :func:`closed_form_digest` returns on every processor."""

PINV: Final = "numpy.linalg.pinv"
"""The call by which stock code inverts."""

SPEED_TOLERANCE_MPS: Final = 1e-9
CURVATURE_TOLERANCE_PER_M: Final = 1e-9
"""Healthy kernels stay a thousand times closer to the known answers, broken ones miss by metres."""

KERNELS: Final = (
    "Katmai", "Coppermine", "Northwood", "Prescott", "Banias", "Atom", "Core2", "Penryn",
    "Dunnington", "Nehalem", "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat",
    "Sandybridge", "Bulldozer", "Piledriver", "Haswell", "Steamroller", "Excavator", "Zen",
    "SkylakeX", "Cooperlake", "SapphireRapids",
)  # fmt: skip
"""The x86-64 kernels OpenBLAS knows by name; for any other name it silently picks one itself."""

_SCRIPT: Final = Path(selftest_pinv.__file__)
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class Blas:
    """One BLAS library a process has loaded; what the library does not tell is None."""

    library: str
    version: str | None
    kernel: str | None
    threads: int | None


@dataclass(frozen=True)
class Fit:
    """What one library call makes of a straight path at 10 m/s and a 50 m bend at 10 m/s.

    None stands for a value that is not finite or was never reached. The digest is over the bits of
    all speeds and curvatures.
    """

    call: str
    first_speed_mps: float | None
    speed_error_mps: float | None
    first_curvature_per_m: float | None
    curvature_error_per_m: float | None
    digest: str

    @property
    def healthy(self) -> bool:
        """Whether both profiles lie within the tolerances of the known answers."""
        speed, curvature = self.speed_error_mps, self.curvature_error_per_m
        return (
            speed is not None
            and curvature is not None
            and speed <= SPEED_TOLERANCE_MPS
            and curvature <= CURVATURE_TOLERANCE_PER_M
        )


@dataclass(frozen=True)
class Examination:
    """What one interpreter computes, and with which libraries, kernels and SIMD paths.

    ``blas`` is None where the interpreter has no threadpoolctl to tell.
    """

    interpreter: str
    python: str
    numpy: str
    scipy: str | None
    processor: str
    fits: tuple[Fit, ...]
    blas: tuple[Blas, ...] | None
    simd_baseline: tuple[str, ...]
    simd_running: tuple[str, ...]


@dataclass(frozen=True)
class Diagnosis:
    """An examination, the digest of the closed forms beside it, and what is wrong with them.

    ``pinv_bits`` names the kernels known to give the pseudoinverse's bits, None if they are new.
    """

    examination: Examination
    closed_form_digest: str
    pinv_bits: str | None
    complaints: tuple[str, ...]
    remedies: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """``healthy`` without complaints, else ``broken``."""
        return "broken" if self.complaints else "healthy"


def closed_form_digest() -> str:
    """SHA-256 of the closed forms' profiles of 64 fixed paths, from standstill to 25 m/s.

    The paths are made of sums and products alone, so they too have the same bits everywhere.
    """
    step = np.arange(STEPS, dtype=np.float64)
    pace = np.linspace(0.0, 2.5, 64)[:, None]
    bend = np.linspace(-0.6, 0.6, 64)[::-1, None] * (step / POSES)
    poses = np.stack((pace * step, pace * bend * step, 2.0 * bend), axis=-1)
    return digest_arrays(fit(poses))


def examine(
    interpreter: str | None = None, settings: Mapping[str, str] | None = None
) -> Examination:
    """Run the self-test in this process, or in another interpreter with further settings.

    Parameters
    ----------
    interpreter
        Path or name of a Python with NumPy; this process if left out.
    settings
        Environment variables set on top of the inherited ones, for another interpreter only.
    """
    if interpreter is None:
        return _read(sys.executable, selftest_pinv.examine())
    found = shutil.which(interpreter)
    if found is None:
        raise BadInput("there is no such interpreter", where=interpreter, expected="a Python")
    assignments = [f"{name}={value}" for name, value in (settings or {}).items()]
    where = " ".join([*assignments, interpreter])
    try:
        run = subprocess.run(  # noqa: S603 - the interpreter is the caller's own choice
            ["env", *assignments, found, str(_SCRIPT)],  # noqa: S607
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _untested(f"no answer within {_PATIENCE_S:g} s", where) from error
    if run.returncode != 0:
        complaint = run.stderr.strip().splitlines()[-1:] or [f"exit code {run.returncode}"]
        raise _untested(complaint[0], where)
    try:
        # what starts the interpreter may have greeted first
        return _read(found, json.loads(run.stdout.strip().splitlines()[-1]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise _untested(f"it answered {run.stdout.strip()!r:.60}", where) from error


def _untested(why: str, where: str) -> BadInput:
    return BadInput(
        f"the self-test did not run: {why}",
        where=where,
        expected="a Python with NumPy, and a kernel this processor can run",
        remedy="name another interpreter with --python",
    )


def _read(interpreter: str, told: Mapping[str, Any]) -> Examination:
    blas = told["blas"]
    return Examination(
        interpreter=interpreter,
        python=told["python"],
        numpy=told["numpy"],
        scipy=told["scipy"],
        processor=told["processor"],
        fits=tuple(Fit(call, **found) for call, found in told["fits"].items()),
        blas=None if blas is None else tuple(Blas(**one) for one in blas),
        simd_baseline=tuple(told["simd_baseline"]),
        simd_running=tuple(told["simd_running"]),
    )


def diagnose(examination: Examination, digest: str) -> Diagnosis:
    """Hold an examination and the digest of the closed forms against what is known."""
    complaints = [_complain(one) for one in examination.fits if not one.healthy]
    remedies = []
    if complaints:
        remedies = [
            "pin the kernel: set OPENBLAS_CORETYPE=Haswell before Python starts, or run the "
            "command under `navaudit doctor --pin haswell -- COMMAND`",
            "install NumPy 1.24 or newer, which brings OpenBLAS 0.3.21 or newer",
            "delete what was computed through this library without the pin: metric caches, labels, "
            "scores",
        ]
    if digest != CLOSED_FORM_DIGEST:
        complaints.append(f"the closed forms have digest {digest}, not {CLOSED_FORM_DIGEST}")
        remedies.append("trust no label computed here; report the processor and versions above")
    bits = next((one.digest for one in examination.fits if one.call == PINV), "")
    known = seen_bits.pinv_of(bits)
    return Diagnosis(examination, digest, known, tuple(complaints), tuple(remedies))


def _complain(one: Fit) -> str:
    if one.speed_error_mps is None:
        return f"{one.call} finds no finite speed for a straight path at 10 m/s"
    if one.curvature_error_per_m is None:
        return (
            f"{one.call} fits v0 = {one.first_speed_mps:.1f} m/s to a straight path at 10 m/s "
            "and finds no finite curvature for a 50 m bend"
        )
    return (
        f"{one.call} fits v0 = {one.first_speed_mps:.1f} m/s to a straight path at 10 m/s "
        f"(worst speed off by {one.speed_error_mps:.3g} m/s, "
        f"worst curvature by {one.curvature_error_per_m:.3g} 1/m)"
    )


def kernel_named(name: str) -> str:
    """Spell a kernel as OpenBLAS does, from any capitals.

    Examples
    --------
    >>> kernel_named("skylakex")
    'SkylakeX'
    """
    for kernel in KERNELS:
        if kernel.lower() == name.lower():
            return kernel
    raise BadInput(
        f"OpenBLAS has no kernel {name!r}", expected=", ".join(one.lower() for one in KERNELS)
    )


def pins(kernel: str, simd_running: Iterable[str]) -> dict[str, str]:
    """Environment that fixes every OpenBLAS to one kernel and keeps NumPy off AVX-512.

    NumPy refuses to start when told to disable a baseline path and warns about one it does not
    dispatch or the processor lacks, so only running paths are named.

    Examples
    --------
    >>> pins("haswell", ["X86_V3", "X86_V4", "AVX512_ICL"])
    {'OPENBLAS_CORETYPE': 'Haswell', 'NPY_DISABLE_CPU_FEATURES': 'X86_V4 AVX512_ICL'}
    """
    avx512 = [one for one in simd_running if one.startswith("AVX512") or one == "X86_V4"]
    return {
        "OPENBLAS_CORETYPE": kernel_named(kernel),
        "NPY_DISABLE_CPU_FEATURES": " ".join(avx512),
    }


def examine_pinned(interpreter: str, kernel: str) -> Examination:
    """Examine an interpreter under one kernel, with all of NumPy's SIMD paths left on."""
    return examine(
        interpreter,
        {"OPENBLAS_CORETYPE": kernel_named(kernel), "NPY_DISABLE_CPU_FEATURES": ""},
    )
