"""Scenes built from logs and maps, against the stock code's metric caches."""

from dataclasses import replace

import numpy as np
import pytest

from navaudit.axes import HUMAN_POSES, VX
from navaudit.errors import BadInput, Unhealthy
from navaudit.numerics.polygons import Polygons
from navaudit.scene.build import FUTURE, PAST, build_scene, outlook_at
from navaudit.scene.digest import differing_fields, digest_fields
from navaudit.scene.memory import Memory
from navaudit.scene.reference import propose
from navaudit.scene.stock import index_caches, read_scene
from navaudit.score.referee import score_proposals
from navaudit.world.logs import Log, read_log
from navaudit.world.maps import load_map
from navaudit.world.trigonometry import HOUSE
from scene.golden import SCENES, SHARED, STILL, moment, same_libm

by_name = pytest.mark.parametrize("name", SCENES)

NEAR = 2e-9
"""Two units in the last place of a northing, in metres."""


def still(outlook):
    return STILL


def planned(outlook):
    return propose(outlook, Memory(), score_proposals).track


def close(one, other):
    """Whether two scenes are the same but for the last bits of their positions."""
    for name in differing_fields(one, other):
        parts = []
        for scene in (one, other):
            part = scene
            for step in name.split("."):
                part = getattr(part, step)
            parts.append(part.xy if isinstance(part, Polygons) else getattr(part, "state", part))
        if np.asarray(parts[0]).dtype.kind != "f":
            return False
        if not np.allclose(*parts, rtol=0, atol=NEAR, equal_nan=True):
            return False
    return True


@by_name
def test_every_field_of_the_stock_cache_to_the_bit(name):
    if not same_libm():
        pytest.skip("this machine's C library has another sine, cosine or arctangent")
    digests = digest_fields(build_scene(*moment(name), still))
    assert digests.pop("reference")
    assert [key for key, value in digests.items() if value != SCENES[name]["digest"][key]] == []
    assert digests.keys() == SCENES[name]["digest"].keys()


@by_name
def test_route_and_start_are_those_of_the_stock_planner(name):
    log, at, map_ = moment(name)
    route = outlook_at(log, at, map_, trig=HOUSE).route
    assert [map_.blocks.id[row] for row in route.block] == SCENES[name]["corrected"]
    assert map_.ways.id[route.start_way] == SCENES[name]["start"]
    assert [map_.ways.id[row] for row in route.lane_way] == list(route.lane)
    assert route.given == tuple(dict.fromkeys(log.frames[at].roadblock))


@by_name
def test_house_trigonometry_builds_the_same_scene(name):
    log, at, map_ = moment(name)
    own = build_scene(log, at, map_, still, trig=HOUSE)
    assert close(own, build_scene(log, at, map_, still))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of all golden scenes is not there")
def test_all_golden_caches_but_for_the_last_bits():
    # they were written with NumPy's AVX-512 sines
    maps, paths = {}, index_caches(SHARED / "metric_cache")
    assert len(paths) == 18
    for token, path in paths.items():
        stock = read_scene(path)
        log = read_log(SHARED / "navsim_logs" / f"{stock.log}.pkl")
        if stock.location not in maps:
            maps[stock.location] = load_map(SHARED / "maps", stock.location)
        scene = build_scene(log, log.find(token), maps[stock.location], planned)
        assert close(scene, stock), token
        assert set(differing_fields(scene, stock)) <= {
            "traffic.box", "traffic.velocity_mps", "human", "reference",
        }  # fmt: skip
        np.testing.assert_array_equal(scene.reference.time_us, stock.reference.time_us)
        assert np.abs(scene.reference.state - stock.reference.state).max() <= 1e-9, token


# -------------------------------------------------------------------------------- the outlook


@by_name
def test_the_outlook_holds_the_scene_at_its_start(name):
    seen = []

    def propose(outlook):
        seen.append(outlook)
        return STILL

    scene = build_scene(*moment(name), propose)
    (outlook,) = seen
    assert outlook.token == scene.token
    assert outlook.ground is scene.ground
    assert outlook.route.lane == scene.route_lane
    assert outlook.route.centreline is scene.centreline
    np.testing.assert_array_equal(outlook.ego, scene.ego)
    shown = {connector for connector, red in log_lights(name) if red}
    assert set(outlook.red) == shown & set(outlook.route.lane)
    # frame 0 is a knot: nothing is interpolated there
    for i, token in enumerate(scene.traffic.token):
        if token in outlook.objects.token and scene.traffic.present[0, i]:
            own = outlook.objects.token.index(token)
            np.testing.assert_allclose(
                outlook.objects.box[own], scene.traffic.box[0, i], rtol=1e-15
            )
    alone = outlook_at(*moment(name))
    assert alone.objects.token == outlook.objects.token
    assert alone.red == outlook.red
    np.testing.assert_array_equal(alone.objects.box, outlook.objects.box)
    np.testing.assert_array_equal(alone.route.centreline, outlook.route.centreline)


def log_lights(name):
    log, at, _ = moment(name)
    return log.frames[at].lights


def test_the_scene_looks_lights_up_on_the_given_route_and_the_outlook_on_the_corrected():
    log, at, map_ = moment("off_route_forward")
    first = outlook_at(log, at, map_).route
    missing = next(one for one in first.lane if one not in lanes_of(map_, first.given))
    shown = replace(log.frames[at], lights=((missing, True), (first.lane[-1], True)))
    changed = Log(log.name, (*log.frames[:at], shown, *log.frames[at + 1 :]))
    scene, outlook = build_scene(changed, at, map_, still), outlook_at(changed, at, map_)
    assert outlook.red == (missing, first.lane[-1])
    assert missing not in scene.lights.connector


def lanes_of(map_, block_ids):
    rows = [map_.blocks.find(one) for one in block_ids]
    return {map_.ways.id[way] for row in rows for way in map_.blocks.ways[row].tolist()}


# -------------------------------------------------------------------------- edges and errors


def test_a_token_of_seventeen_characters_has_no_human():
    log, at, map_ = moment("creep_01")
    assert build_scene(log, at, map_, still).human.shape == (HUMAN_POSES, 3)
    frames = [*log.frames]
    frames[at] = replace(frames[at], token="0123456789abcdef5")
    assert build_scene(Log(log.name, tuple(frames)), at, map_, still).human is None


def test_speeds_are_rounded_to_single_precision():
    log, at, map_ = moment("creep_01")
    scene = build_scene(log, at, map_, still)
    assert scene.ego[VX] == np.float32(log.frames[at].motion[0])
    np.testing.assert_array_equal(scene.past.state[-1], scene.ego)
    assert scene.past.time_us.tolist() == [one.time_us for one in log.frames[at - PAST : at + 1]]


def test_a_scene_needs_frames_on_both_sides():
    log, at, map_ = moment("creep_01")
    for wrong in (-1, PAST - 1, len(log) - FUTURE, len(log)):
        with pytest.raises(BadInput, match=f"no scene at frame {wrong} of {len(log)}") as caught:
            build_scene(log, wrong, map_, still)
        assert log.name in caught.value.where
    short = Log(log.name, log.frames[at - PAST : at + FUTURE + 1])
    assert build_scene(short, PAST, map_, still).token == log.frames[at].token


def test_the_map_is_of_the_frames_city():
    log, at, map_ = moment("creep_01")
    with pytest.raises(
        BadInput, match="lies in us-nv-las-vegas-strip, the map is of us-pa"
    ) as caught:
        build_scene(log, at, moment("crosswise")[2], still)
    assert log.frames[at].token in caught.value.where
    frames = [*log.frames]
    frames[at] = replace(frames[at], location="las_vegas")
    nicknamed = build_scene(Log(log.name, tuple(frames)), at, map_, still)
    assert nicknamed.location == "us-nv-las-vegas-strip"


@pytest.mark.parametrize(
    ("ahead", "change", "says"),
    [
        (0, {"roadblock": ("9999999",)}, "names block 9999999"),
        (0, {"roadblock": ()}, "no blocks"),
        (FUTURE, {"boxes": None}, "no annotations"),
    ],
)
def test_errors_name_the_token(ahead, change, says):
    log, at, map_ = moment("creep_01")
    frames = [*log.frames]
    frames[at + ahead] = replace(frames[at + ahead], **change)
    with pytest.raises(BadInput, match=says) as caught:
        build_scene(Log(log.name, tuple(frames)), at, map_, still)
    assert f"token {log.frames[at].token}" in caught.value.where
    assert caught.value.expected


def test_an_error_of_the_planner_keeps_its_kind_and_gains_a_token():
    log, at, map_ = moment("creep_01")

    def fail(outlook):
        raise Unhealthy("no plan", remedy="another planner")

    with pytest.raises(Unhealthy, match="no plan") as caught:
        build_scene(log, at, map_, fail)
    assert log.frames[at].token in caught.value.where
    assert caught.value.remedy == "another planner"
