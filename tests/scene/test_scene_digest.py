"""The digest of a scene tells every field, and only differences."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from navaudit.scene.digest import differing_fields, digest, digest_fields
from navaudit.scene.stock import index_caches, read_scene

GOLDEN = Path(__file__).parents[1] / "golden" / "metric_cache"


@pytest.fixture(scope="module")
def scene():
    return read_scene(index_caches(GOLDEN)["d4a291ecd7d1ba12"])


def nudged(array):
    """The array with its first element one unit in the last place on."""
    other = array.copy()
    flat = other.reshape(-1)
    if other.dtype == np.bool_:
        flat[0] = ~flat[0]
    elif other.dtype.kind == "f":
        flat[0] = np.nextafter(flat[0], np.inf) if np.isfinite(flat[0]) else 0.0
    else:
        flat[0] += 1
    return other


def inside(part, **changes):
    """Change fields of one part of a scene."""

    def change(scene):
        old = getattr(scene, part)
        new = {name: make(getattr(old, name)) for name, make in changes.items()}
        return replace(scene, **{part: replace(old, **new)})

    return change


def backwards(names):
    return names[::-1]


def last_first(polygons):
    return polygons.take(np.arange(len(polygons))[::-1])


CHANGES = {
    "token": lambda scene: replace(scene, token="x" * 16),
    "log": lambda scene: replace(scene, log="x"),
    "location": lambda scene: replace(scene, location="x"),
    "time_us": lambda scene: replace(scene, time_us=scene.time_us + 1),
    "ego": lambda scene: replace(scene, ego=nudged(scene.ego)),
    "traffic.token": inside("traffic", token=backwards),
    "traffic.kind": inside("traffic", kind=nudged),
    "traffic.box": inside("traffic", box=nudged),
    "traffic.present": inside("traffic", present=nudged),
    "traffic.velocity_mps": inside("traffic", velocity_mps=nudged),
    "lights.connector": inside("lights", connector=backwards),
    "lights.polygons": inside("lights", polygons=last_first),
    "lights.red": inside("lights", red=nudged),
    "ground.id": inside("ground", id=backwards),
    "ground.kind": inside("ground", kind=nudged),
    "ground.polygons": inside("ground", polygons=last_first),
    "ground.on_route": inside("ground", on_route=nudged),
    "route_lane": lambda scene: replace(scene, route_lane=scene.route_lane[::-1]),
    "centreline": lambda scene: replace(scene, centreline=nudged(scene.centreline)),
    "human": lambda scene: replace(scene, human=nudged(scene.human)),
    "past": inside("past", state=nudged),
    "reference": inside("reference", time_us=lambda times: times + 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_bit_in_a_field_shows_in_that_field_alone(scene, name):
    other = CHANGES[name](scene)
    assert differing_fields(scene, other) == [name]
    assert digest(scene) != digest(other)


def test_every_field_is_digested(scene):
    tops = {name.partition(".")[0] for name in digest_fields(scene)}
    assert tops == {field.name for field in fields(scene)}
    for part in ("traffic", "lights", "ground"):
        named = {name.partition(".")[2] for name in digest_fields(scene) if name.startswith(part)}
        assert named == {field.name for field in fields(getattr(scene, part))}
    assert set(CHANGES) == set(digest_fields(scene))


def test_absence_has_one_bit_pattern(scene):
    box = scene.traffic.box.copy()
    box[~scene.traffic.present] = -np.nan
    assert digest(replace(scene, traffic=replace(scene.traffic, box=box))) == digest(scene)


def test_the_sign_of_zero_and_names_across_borders_count(scene):
    zero = replace(scene, ego=np.zeros(11))
    assert digest(zero) != digest(replace(scene, ego=-np.zeros(11)))
    assert digest(replace(scene, route_lane=("ab", "c"))) != digest(
        replace(scene, route_lane=("a", "bc"))
    )


def test_no_human_is_its_own_value(scene):
    assert differing_fields(scene, replace(scene, human=None)) == ["human"]
