"""One small town with pictures and one larger without, written once; and the golden files."""

import functools
import lzma
from pathlib import Path

import pytest

from navaudit.world import pickles
from navaudit.world.town.build import Settings, write_town
from navaudit.world.town.ground import PLACES, draw_town
from navaudit.world.town.network import build_network
from navaudit.world.town.outings import set_out, share_out

GOLDEN = Path(__file__).parents[2] / "golden"
SMALL = Settings(scenes=16, seed=41, camera_scale=0.25, vocabulary_size=256)
LARGE = Settings(scenes=200, seed=17, cameras=False, vocabulary_size=64)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "town"
    write_town(folder, SMALL)
    return folder


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large") / "town"
    write_town(folder, LARGE)
    return folder


@pytest.fixture(scope="session")
def town_of():
    """Draw the town of a seed and a place, once."""
    return functools.cache(draw_town)


@pytest.fixture(scope="session")
def networks_of(town_of):
    """The four networks of a seed."""
    return functools.cache(
        lambda seed: tuple(build_network(town_of(seed, index)) for index in range(len(PLACES)))
    )


@pytest.fixture(scope="session")
def outings_of(networks_of):
    """The outings of a seed and a number of scenes."""
    return functools.cache(
        lambda seed, scenes: tuple(
            set_out(seed, networks_of(seed), errand) for errand in share_out(seed, scenes)
        )
    )


@pytest.fixture(scope="session")
def golden_frames():
    """Frames of a golden log."""
    packed = min((GOLDEN / "navsim_logs").glob("*.pkl.xz"))
    return pickles.loads(lzma.decompress(packed.read_bytes()), pickles.LOG, str(packed))


@pytest.fixture(scope="session")
def golden_map(tmp_path_factory):
    """Path of a golden map."""
    packed = min((GOLDEN / "maps").rglob("map.gpkg.xz"))
    path = tmp_path_factory.mktemp("golden") / "map.gpkg"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path
