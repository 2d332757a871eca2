"""Golden maps and logs, unpacked once."""

import lzma
from functools import cache
from pathlib import Path

import pytest

from navaudit.world.maps import LOCATIONS, load_map

GOLDEN = Path(__file__).parents[1] / "golden"


def unpacked(source, target):
    """Copy a folder; files that end in .xz lose that ending and their compression."""
    for path in sorted(source.rglob("*")):
        if path.is_dir():
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        if path.suffix == ".xz":
            copy, data = copy.with_suffix(""), lzma.decompress(data)
        copy.write_bytes(data)
    return target


@pytest.fixture(scope="session")
def maps_root(tmp_path_factory):
    root = unpacked(GOLDEN / "maps", tmp_path_factory.mktemp("maps"))
    assert len(list(root.rglob("map.gpkg"))) == len(LOCATIONS)
    return root


@pytest.fixture(scope="session")
def golden_map(maps_root):
    return cache(lambda location: load_map(maps_root, location))


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    return unpacked(GOLDEN / "navsim_logs", tmp_path_factory.mktemp("navsim_logs"))
