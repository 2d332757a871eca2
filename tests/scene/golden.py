"""Golden scenes: their maps and logs, unpacked once, and what the stock code made of them."""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from navaudit.scene.scene import Track
from navaudit.world.logs import read_log
from navaudit.world.maps import load_map
from navaudit.world.trigonometry import LIBM

GOLDEN = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared" / "golden"
FOLDER = {"scenes": GOLDEN / "scenes", "golden": GOLDEN}

EXPECTED = json.loads((GOLDEN / "scenes" / "expected.json").read_text())
SCENES = {one["name"]: one for one in EXPECTED["scenes"]}
HUMANS = json.loads((GOLDEN / "scenes" / "human.json").read_text())

STILL = Track(np.array([0, 1]), np.zeros((2, 11)))
"""A reference for those who do not look at it."""


def same_libm():
    """Whether this machine's C library computes the bits that the golden one did."""
    x = np.linspace(-7, 7, 2001)
    parts = (
        LIBM.sin(x),
        LIBM.cos(x),
        LIBM.atan2(x, x[::-1].copy()),
        LIBM.atan2(LIBM.sin(x), LIBM.cos(x)),
    )
    data = b"".join(np.asarray(part, "<f8").tobytes() for part in parts)
    return hashlib.sha256(data).hexdigest() == EXPECTED["libm"]


def _unpacked(path, target):
    if path.suffix != ".xz":
        shutil.copy(path, target / path.name)
        return target / path.name
    copy = target / path.stem
    copy.write_bytes(lzma.decompress(path.read_bytes()))
    return copy


@cache
def town(maps, location):
    """The map of a location, ``maps`` being ``scenes`` or ``golden``."""
    source = FOLDER[maps] / "maps"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _unpacked(source / "nuplan-maps-v1.0.json", root)
        for path in source.rglob("map.gpkg.xz"):
            place = root / path.relative_to(source).parent
            place.mkdir(parents=True)
            _unpacked(path, place)
        return load_map(root, location)


@cache
def drive(maps, name):
    """A golden log."""
    with tempfile.TemporaryDirectory() as folder:
        return read_log(_unpacked(FOLDER[maps] / "navsim_logs" / f"{name}.pkl.xz", Path(folder)))


def moment(name):
    """The log of a golden scene, the position of its t = 0, and its map."""
    one = SCENES[name]
    log = drive(one["maps"], one["log"])
    return log, log.find(one["token"]), town(one["maps"], one["location"])
