"""The bits that `numpy.linalg.pinv` was seen to give for the self-test's paths, by kernel.

They hang on the kernel and on the build of OpenBLAS, not on the processor and not on NumPy's SIMD
paths; on the number of threads they do hang, so they are taken on one. Seen with NumPy's wheels:
1.23.4 brings OpenBLAS 0.3.20, 1.24.4 brings 0.3.21, 1.26.4 brings 0.3.23, 2.0.2 and 2.1.3 bring
0.3.27, 2.2.6 brings 0.3.29, 2.3.5 brings 0.3.30 and 2.4.6 brings 0.3.31.
"""

from __future__ import annotations

from typing import Final

_DIGITS: Final = 16

_PINV: Final = {
    "12e8592b7c3f6052": "Prescott of OpenBLAS 0.3.20, 0.3.23",
    "0311eaeeaacc3f7f": "Core2 of OpenBLAS 0.3.20, 0.3.23",
    "6359479ad0b20fd9": "Nehalem of OpenBLAS 0.3.20, 0.3.23",
    "0ba4a837cfe3cc8d": "Sandybridge of OpenBLAS 0.3.20, 0.3.23",
    "5b072120470ccfd6": "Haswell or Zen of OpenBLAS 0.3.20, 0.3.23, 0.3.27",
    "877948b6824b6cf9": "SkylakeX or Cooperlake of OpenBLAS 0.3.20, 0.3.23, 0.3.27",
    "c2d82a542867d52a": "Cooperlake of OpenBLAS 0.3.20",
    "097a96dfbdd2abd9": "Prescott of OpenBLAS 0.3.21",
    "076bf093470962e8": "Core2 of OpenBLAS 0.3.21",
    "8d58c909906b4cc2": "Nehalem of OpenBLAS 0.3.21",
    "f3bd368b0db131df": "Sandybridge of OpenBLAS 0.3.21",
    "94cac7c76e58439e": "Haswell or Zen of OpenBLAS 0.3.21",
    "990fe82ebadfdd03": "SkylakeX or Cooperlake of OpenBLAS 0.3.21",
    "edfa10aa929633dd": "Katmai or Prescott of OpenBLAS 0.3.27",
    "e1798153f8944246": "Core2 of OpenBLAS 0.3.27",
    "84caa81d14824813": "Nehalem of OpenBLAS 0.3.27",
    "e7805f374dc444cb": "Sandybridge of OpenBLAS 0.3.27",
    "363c02291ce8cc5d": "Katmai of OpenBLAS 0.3.29, 0.3.30, 0.3.31",
    "9517c386823e0e4b": "Nehalem of OpenBLAS 0.3.29, 0.3.30, 0.3.31",
    "987ecb56207b98d2": "Sandybridge of OpenBLAS 0.3.29, 0.3.30, 0.3.31",
    "505cfffccc75d155": "Haswell of OpenBLAS 0.3.29, 0.3.30, 0.3.31",
    "ed8ecb62e0f82beb": "SkylakeX of OpenBLAS 0.3.29, 0.3.30, 0.3.31",
}
"""Whose bits they are, by the first digits of their digest."""


def pinv_of(digest: str) -> str | None:
    """Name the kernel whose pseudoinverse gives a digest; None for one not seen before.

    Examples
    --------
    >>> pinv_of("505cfffccc75d155b3a1a1a5a00410140de3eb71f41751585e72e4950c5b8511")
    'Haswell of OpenBLAS 0.3.29, 0.3.30, 0.3.31'
    """
    return _PINV.get(digest[:_DIGITS])
