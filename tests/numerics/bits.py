"""Print one digest over everything that must have the same bits on every processor.

Run as a script under some environment by ``test_same_bits``. The batch is made of integers and
products with powers of two, so that nothing but the kernels can tell two machines apart.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from navaudit.numerics import trig
from navaudit.numerics.profiles import fit
from navaudit.provenance import digest_arrays

CANDIDATES, STEPS = 4096, 41


def noise(seed: int, *shape: int) -> np.ndarray:
    """Uniform multiples of 2**-40 in [-1, 1), from one round of a 64-bit mixer."""
    count = np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(seed << 32)
    mixed = (count + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    units = (mixed >> np.uint64(23)).astype(np.int64) - 2**40
    return (units * 2.0**-40).reshape(shape)


def paths() -> np.ndarray:
    """Drives ``[candidate, step, 3]`` from rest to 25 m/s, somewhere on a map in metres."""
    pace = noise(1, CANDIDATES, 1) + 1.0
    along = (pace + 0.125 * noise(2, CANDIDATES, STEPS)).cumsum(axis=1)
    across = 0.25 * noise(3, CANDIDATES, STEPS).cumsum(axis=1)
    heading = 4.0 * noise(4, CANDIDATES, 1) + 0.0625 * noise(5, CANDIDATES, STEPS).cumsum(axis=1)
    poses = np.stack((664_000.0 + along, 3_997_000.0 + across, heading), axis=-1)
    poses[: CANDIDATES // 64, :, :2] = poses[: CANDIDATES // 64, :1, :2]
    return poses


@njit(cache=True)
def _turn(angles: np.ndarray, others: np.ndarray, out: np.ndarray) -> None:
    for i in range(angles.size):
        angle = angles[i]
        out[i, 0] = trig.sin(angle)
        out[i, 1] = trig.cos(angle)
        out[i, 2], out[i, 3] = trig.sincos(16.0 * angle)
        out[i, 4] = trig.tan(0.25 * angle)
        out[i, 5] = trig.atan2(angle, others[i])
        out[i, 6] = trig.wrap_by_atan2(64.0 * angle)
        out[i, 7] = trig.wrap_to_pi(64.0 * angle)


def turns(angles: np.ndarray) -> np.ndarray:
    """Every trigonometric kernel over a batch of angles, ``[angle, kernel]``."""
    out = np.empty((angles.size, 8))
    _turn(angles, noise(6, angles.size), out)
    return out


def closed_forms(threads: int) -> str:
    """Digest the trigonometry and the profiles, the candidates shared out over some threads."""
    poses = paths()
    with ThreadPoolExecutor(threads) as pool:
        fitted = list(pool.map(fit, np.array_split(poses, 2 * threads - 1)))
    profiles = [np.concatenate(one) for one in zip(*fitted, strict=True)]
    return digest_arrays([*profiles, turns(4.0 * noise(7, CANDIDATES * STEPS))])


def lapack() -> str:
    """Digest the profiles of a few candidates as LAPACK has them: no two kernels agree."""
    return digest_arrays(fit(paths()[-32:], "pinv"))


def libm() -> str:
    """Digest the sines of the C library: with and without fused products they differ."""
    return digest_arrays([np.array([math.sin(angle) for angle in noise(8, CANDIDATES * STEPS)])])


def simd() -> str:
    """Digest NumPy's own tangents: AVX-512 has a way of its own to them."""
    return digest_arrays([np.tan(4.0 * noise(9, CANDIDATES * STEPS))])


LIBRARIES = {"lapack": lapack, "libm": libm, "simd": simd}
"""What hangs on the settings under which the closed forms must not change."""


if __name__ == "__main__":
    library = LIBRARIES.get(sys.argv[1])
    print(library() if library else closed_forms(int(sys.argv[1])))
