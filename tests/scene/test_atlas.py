"""Maps that the processes of a run share: the same map, whatever became of the file."""

from __future__ import annotations

import mmap
import multiprocessing
import resource
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from navaudit.errors import BadInput
from navaudit.scene import atlas
from navaudit.scene.atlas import Atlas, keep_map, open_map
from navaudit.world.maps import LOCATIONS, load_map
from navaudit.world.trigonometry import HOUSE, LIBM
from scene.small_logs import GOLDEN, unpack

BOSTON = "us-ma-boston"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return unpack(GOLDEN / "maps", tmp_path_factory.mktemp("maps"))


@pytest.fixture(scope="module")
def boston(root):
    return load_map(root, BOSTON)


def expect_equal(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif is_dataclass(one):
        for field in fields(one):
            expect_equal(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other


def lies_in_a_file(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(array.base, mmap.mmap)


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_kept_map_is_the_map(root, tmp_path, location):
    read = load_map(root, location)
    keep_map(tmp_path / "a.map", read, "stamp")
    kept = open_map(tmp_path / "a.map", "stamp")
    expect_equal(kept, read)
    assert kept.digest == read.digest


def test_its_arrays_are_the_files_own_pages(boston, tmp_path):
    keep_map(tmp_path / "a.map", boston, "stamp")
    kept = open_map(tmp_path / "a.map", "stamp")
    large = [kept.ways.polygons.xy, kept.ways.baseline.xyh, kept.blocks.polygons.xy]
    assert all(lies_in_a_file(array) for array in large)
    with pytest.raises(ValueError, match="read-only"):
        kept.ways.polygons.xy[0] = 0.0


def test_another_stamp_is_another_map(boston, tmp_path):
    keep_map(tmp_path / "a.map", boston, "stamp")
    assert open_map(tmp_path / "a.map", "other") is None
    assert open_map(tmp_path / "b.map", "stamp") is None


@pytest.mark.parametrize("damage", ["cut", "longer", "head", "table", "tiny"])
def test_a_damaged_file_is_written_anew(root, boston, tmp_path, damage):
    shared = Atlas(tmp_path, root, LIBM)
    shared.map(BOSTON, "digest")
    path = tmp_path / f"{BOSTON}.map"
    whole = path.read_bytes()
    broken = {
        "cut": whole[:-64],
        "longer": whole + bytes(64),
        "head": b"X" + whole[1:],
        "table": whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
        "tiny": whole[:10],
    }[damage]
    path.unlink()
    path.write_bytes(broken)
    assert Atlas(tmp_path, root, LIBM).map(BOSTON, "digest").digest == boston.digest
    assert path.read_bytes() == whole


def test_a_map_of_other_trigonometry_or_another_file_is_not_taken(root, tmp_path):
    for trig, digest in ((LIBM, "one"), (HOUSE, "one"), (HOUSE, "two")):
        wanted = load_map(root, BOSTON, trig=trig)
        assert Atlas(tmp_path, root, trig).map(BOSTON, digest).digest == wanted.digest


def _ask(root, folder, counts):
    def counting(*arguments, **named):
        with counts.get_lock():
            counts.value += 1
        return load_map(*arguments, **named)

    atlas.load_map = counting
    assert len(Atlas(folder, root, LIBM).map(BOSTON, "digest").ways) > 0


def test_many_processes_read_a_map_once(root, tmp_path):
    context = multiprocessing.get_context("fork")
    counts = context.Value("i", 0)
    asking = [context.Process(target=_ask, args=(root, tmp_path, counts)) for _ in range(4)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert [one.exitcode for one in asking] == [0, 0, 0, 0]
    assert counts.value == 1


def test_without_room_a_process_holds_its_own(root, boston, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        own = Atlas(tmp_path, root, LIBM).map(BOSTON, "digest")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    expect_equal(own, boston)
    assert not list(tmp_path.glob("*.map"))
    assert not list(tmp_path.glob("*.part"))


def test_a_map_that_cannot_be_read_is_tried_once(root, tmp_path):
    broken = unpack(GOLDEN / "maps", tmp_path / "maps")
    (path,) = broken.glob(f"{BOSTON}/*/map.gpkg")
    whole = path.read_bytes()
    path.write_bytes(whole[:5000])
    shared = Atlas(tmp_path / "scratch", broken, LIBM)
    with pytest.raises(BadInput, match="cannot be read as a GeoPackage"):
        shared.map(BOSTON, "digest")
    path.write_bytes(whole)
    with pytest.raises(BadInput, match="cannot be read as a GeoPackage"):
        shared.map(BOSTON, "digest")
    with pytest.raises(BadInput, match="no map of 'atlantis'"):
        shared.map("atlantis", None)
    assert not list(Path(tmp_path / "scratch").glob("*.map"))
