"""Environments: interpreters, kernels and SIMD paths under which labels can be made again.

What a kernel is called and what runs are two things: OpenBLAS silently takes another kernel where
it lacks the one asked for or the processor cannot run it. So every environment is examined first,
and one that does not run what it is called is left out, with the reason.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.numerics.platform import Blas, Examination, examine, kernel_named, pins

OWN_CHOICE: Final = "default"
"""Name of the kernel that the library chooses by itself."""

NO_AVX512: Final = "-noavx512"
"""Ends the name of a kernel with which NumPy is kept off its AVX-512 paths."""

NEEDS: Final = {
    "Haswell": "avx2",
    "Zen": "avx2",
    "Excavator": "avx2",
    "SkylakeX": "avx512f",
    "Cooperlake": "avx512_bf16",
    "SapphireRapids": "avx512_bf16",
}
"""What a processor must have for a kernel, in the words of ``/proc/cpuinfo``."""

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}

_CORETYPE: Final = "OPENBLAS_CORETYPE"
_DISPATCH: Final = "NPY_DISABLE_CPU_FEATURES"


@dataclass(frozen=True)
class Environment:
    """One interpreter with one kernel."""

    name: str
    interpreter: str
    kernel: str | None
    """As OpenBLAS spells it; None for its own choice."""
    avx512: bool = True
    """Whether NumPy may take its AVX-512 paths."""

    @classmethod
    def named(cls, name: str, interpreter: str, label: str = "") -> Environment:
        """Read a name such as ``haswell``, ``haswell-noavx512`` or ``default``.

        Examples
        --------
        >>> Environment.named("skylakex-noavx512", "python", "old")
        Environment(name='old skylakex-noavx512', interpreter='python', kernel='SkylakeX', \
avx512=False)
        """
        bare = name.removesuffix(NO_AVX512)
        kernel = None if bare == OWN_CHOICE else kernel_named(bare)
        return cls(f"{label} {name}".strip(), interpreter, kernel, bare == name)

    def settings(self, simd_running: Sequence[str]) -> dict[str, str]:
        """Variables for an interpreter that runs these SIMD paths when left alone."""
        avoided = "" if self.avx512 else pins("haswell", simd_running)[_DISPATCH]
        # to OpenBLAS an empty name is none
        return {_CORETYPE: self.kernel or "", _DISPATCH: avoided, **ONE_THREAD}


@dataclass(frozen=True)
class Ready:
    """An environment that runs what it is called."""

    environment: Environment
    examination: Examination
    settings: dict[str, str]
    own_settings: dict[str, str]
    """The same for this package's own interpreter."""

    @property
    def name(self) -> str:
        """Name of the environment."""
        return self.environment.name

    @property
    def healthy(self) -> bool:
        """Whether the library calls give known answers."""
        return all(one.healthy for one in self.examination.fits)

    @property
    def blas(self) -> str:
        """The library that NumPy computes through, its version and its kernel."""
        one = _of_numpy(self.examination)
        return f"{one.version} {one.kernel}" if one else "unknown"

    def runs(self, version: str, kernel: str) -> bool:
        """Whether NumPy computes through this OpenBLAS and this kernel."""
        one = _of_numpy(self.examination)
        return one is not None and one.kernel == kernel and (one.version or "").startswith(version)

    def record(self) -> dict[str, Any]:
        """Everything about it that decides a value."""
        found = self.examination
        return {
            "name": self.name,
            "numpy": found.numpy,
            "scipy": found.scipy,
            "python": found.python,
            "blas": self.blas,
            "simd": [*found.simd_baseline, *found.simd_running],
            "settings": self.settings,
        }


@dataclass(frozen=True)
class Absent:
    """An environment that cannot be had on this machine."""

    environment: Environment
    reason: str

    @property
    def name(self) -> str:
        """Name of the environment."""
        return self.environment.name


def make_ready(environment: Environment, solver: str = "pinv") -> Ready | Absent:
    """Examine an environment; say why, where it does not run what it is called."""
    try:
        found, settings = _examine(environment)
    except BadInput as error:
        place = f": {error.where}" if error.where else ""
        return Absent(environment, f"{error.what}{place}")
    except subprocess.TimeoutExpired as error:
        return Absent(environment, f"{error}")
    complaint = _complaint(environment, found, solver)
    if complaint:
        return Absent(environment, complaint)
    _, own = _examine(replace(environment, interpreter=sys.executable))
    return Ready(environment, found, settings, own)


def _examine(environment: Environment) -> tuple[Examination, dict[str, str]]:
    """Examine the interpreter under the environment's variables; return both."""
    whole = replace(environment, avx512=True).settings(())
    found = examine(environment.interpreter, whole)
    if environment.avx512:
        return found, whole
    settings = environment.settings(found.simd_running)
    return examine(environment.interpreter, settings), settings


def _complaint(environment: Environment, found: Examination, solver: str) -> str:
    if solver == "pinvh" and found.scipy is None:
        return "pinvh is SciPy's, and that interpreter has none"
    wanted = environment.kernel
    if wanted is None or found.blas is None:
        return ""
    used = found.blas if solver == "pinvh" else [one for one in [_of_numpy(found)] if one]
    others = [one for one in used if one.kernel != wanted]
    if not others:
        return ""
    taken = f"{others[0].library} takes this for its {others[0].kernel} kernel"
    lacking = NEEDS.get(wanted)
    if lacking and lacking not in processor_flags():
        return f"{taken}: the processor lacks {lacking}"
    return f"{taken}: it has none of that name, or does not let this processor run it"


def processor_flags() -> frozenset[str]:
    """What the system says the processor has; nothing where it says nothing."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    flags = (line.partition(":")[2] for line in lines if line.startswith("flags"))
    return frozenset(next(flags, "").split())


def _of_numpy(found: Examination) -> Blas | None:
    libraries = found.blas or ()
    of_numpy = [one for one in libraries if "numpy" in one.library]
    return next(iter(of_numpy or libraries), None)
