"""Stock metric caches, in and out."""

from __future__ import annotations

import io
import json
import pickle
import pickletools
import random
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from navaudit import vehicle
from navaudit.axes import HEADING, STATE, STEPS, X, Y
from navaudit.errors import BadInput, NavauditError
from navaudit.numerics.polygons import Polygons
from navaudit.numerics.trig import sincos
from navaudit.scene.digest import differing_fields, digest
from navaudit.scene.from_cache import scene_of
from navaudit.scene.scene import (
    BICYCLE,
    GROUND_KINDS,
    LANE,
    LANE_CONNECTOR,
    Ground,
    Lights,
    Scene,
    Track,
    Traffic,
)
from navaudit.scene.stock import index_caches, read_scene, write_index, write_scene
from navaudit.scene.to_cache import cache_of
from navaudit.world import pickles
from navaudit.world.pickles import METRIC_CACHE, Member, Objects, Record

GOLDEN = Path(__file__).parents[1] / "golden" / "metric_cache"
SHARED = Path(__file__).parents[3] / "shared" / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
PATHS = index_caches(GOLDEN)

NAMES = [one["name"] for one in EXPECTED.values()]

by_token = pytest.mark.parametrize("token", EXPECTED, ids=NAMES)


@pytest.fixture(scope="module")
def scenes():
    return {token: read_scene(path) for token, path in PATHS.items()}


@pytest.fixture(scope="module")
def caches():
    return {token: pickles.read(path, METRIC_CACHE) for token, path in PATHS.items()}


# ----------------------------------------------------------------------------------- the index


def test_the_golden_caches_are_there():
    assert len(EXPECTED) == 6
    assert set(PATHS) == set(EXPECTED)


def test_the_index_is_read_over_all_nodes_in_order():
    tables = [GOLDEN / f"metadata/metric_cache_metadata_node_{node}.csv" for node in (0, 1)]
    lines = [line for table in tables for line in table.read_text().splitlines()[1:]]
    listed = [line.split("/")[-2] for line in lines]
    assert list(PATHS) == listed
    assert all(path.is_relative_to(GOLDEN) for path in PATHS.values())


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "cache"
    for token in ("a", "b"):
        path = root / "log" / "unknown" / token / "metric_cache.pkl"
        path.parent.mkdir(parents=True)
        path.touch()
    return root


def listing(folder, *lines, header="file_name", node=0):
    table = folder / "metadata" / f"cache_metadata_node_{node}.csv"
    table.parent.mkdir(exist_ok=True)
    table.write_text("\n".join([header, *lines]) + "\n")


A = "/far/away/cache/log/unknown/a/metric_cache.pkl"
B = "log/unknown/b/metric_cache.pkl"


def test_paths_hold_wherever_the_folder_is(folder):
    listing(folder, A)
    listing(folder, f'"{B}"', A, node=1)
    assert list(index_caches(folder)) == ["a", "b"]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([A.replace("unknown/a", "unknown/c")], "1 of 1 caches are not there"),
        ([A, A.replace("/log/", "/other/")], "has two caches"),
        (["/data/../log/../a/metric_cache.pkl"], "the index names"),
        (["a/metric_cache.pkl"], "the index names"),
        (["/log/unknown/a/other.pkl"], "the index names"),
        (["/unknown/a/metric_cache.pkl"], "the index names"),
    ],
)
def test_wrong_indexes_are_told(folder, lines, complaint):
    listing(folder, *lines)
    with pytest.raises(BadInput, match=complaint):
        index_caches(folder)


def test_a_folder_without_an_index_is_told(folder):
    with pytest.raises(BadInput, match="no index"):
        index_caches(folder)
    listing(folder, A, header="path")
    with pytest.raises(BadInput, match="another header"):
        index_caches(folder)


# --------------------------------------------------------------------------- against the oracle


def corners(state):
    """Front left, rear left, rear right, front right and centre of the ego."""
    sine, cosine = sincos(float(state[HEADING]))
    left_sine, left_cosine = sincos(float(state[HEADING]) + np.pi / 2)
    x = state[X] + vehicle.REAR_AXLE_TO_CENTRE_M * cosine
    y = state[Y] + vehicle.REAR_AXLE_TO_CENTRE_M * sine
    length, width = vehicle.HALF_LENGTH_M, vehicle.HALF_WIDTH_M
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1), (0, 0))
    ahead = length * np.array([cosine, sine])
    aside = width * np.array([left_cosine, left_sine])
    return np.array([x, y]) + np.array([a * ahead + b * aside for a, b in signs])


def carried(ego, pose):
    """A pose in the ego's frame, in the map's."""
    sine, cosine = sincos(float(ego[HEADING]))
    x = ego[X] + pose[0] * cosine - pose[1] * sine
    y = ego[Y] + pose[0] * sine + pose[1] * cosine
    return np.array([x, y, ego[HEADING] + pose[2]])


def assert_agrees(scene, ego, ego_corners, reference, human_end):
    assert np.array_equal(scene.ego, ego)
    assert np.allclose(corners(scene.ego), ego_corners, rtol=0, atol=2e-9)
    # the stock sampling is up to one microsecond off its knots
    assert np.allclose(scene.reference.state[[0, 20, 40], :3], reference, rtol=0, atol=5e-5)
    end = carried(scene.ego, scene.human[-1])
    assert np.allclose(end[:2], human_end[:2], rtol=0, atol=5e-5)
    assert abs(np.angle(np.exp(1j * (end[2] - human_end[2])))) < 1e-5


@by_token
def test_scenes_agree_with_the_stock_generator(scenes, token):
    want = EXPECTED[token]
    assert_agrees(
        scenes[token],
        np.array(want["ego"]),
        np.array(want["ego_corners"]),
        np.array(want["reference_xy_heading"]),
        np.array(want["human_end"]),
    )


@by_token
def test_scenes_are_what_they_were(scenes, token):
    assert digest(scenes[token]) == EXPECTED[token]["digest"]


def assert_plausible(scene):
    count = len(scene.traffic)
    assert len(scene.token) == 16
    assert scene.traffic.box.shape == (STEPS, count, 5)
    assert np.array_equal(np.isnan(scene.traffic.box).any(axis=2), ~scene.traffic.present)
    assert scene.traffic.present.any(axis=0).all()
    sizes = scene.traffic.box[scene.traffic.present][:, 3:]
    assert ((sizes > 0.1) & (sizes < 30)).all()
    assert not scene.traffic.velocity_mps[scene.traffic.kind > BICYCLE].any()
    assert (np.diff(np.argmax(scene.traffic.present, axis=0)) >= 0).all()
    assert len(scene.past) == 4
    assert scene.past.time_us[-1] == scene.reference.time_us[0] == scene.time_us
    assert len(scene.reference) == 51
    assert abs(np.diff(scene.past.time_us) - 500_000).max() < 60_000
    assert np.allclose(np.diff(scene.reference.time_us), 100_000, atol=1)
    assert np.allclose(scene.past.state[-1, :7], scene.ego[:7], rtol=0, atol=2e-9)
    assert scene.human.shape == (8, 3)
    lanes = np.isin(scene.ground.kind, (LANE, LANE_CONNECTOR))
    assert scene.ground.on_route.any()
    assert lanes[scene.ground.on_route].all()
    routed = np.array([name in scene.route_lane for name in scene.ground.id])
    assert np.array_equal(scene.ground.on_route, lanes & routed)
    near = np.abs(scene.centreline[:, :2] - scene.ego[:2]).max(axis=1)
    assert near.min() < 60
    for light, connector in enumerate(scene.lights.connector):
        assert scene.lights.red[:, light].any()
        place = scene.ground.id.index(connector)
        assert scene.ground.polygons.shapes()[place].equals(scene.lights.polygons.shapes()[light])


@by_token
def test_scenes_are_plausible(scenes, token):
    assert_plausible(scenes[token])


def test_the_red_light_is_seen(scenes):
    red = {EXPECTED[token]["name"]: scene.lights.red for token, scene in scenes.items()}
    assert red["red_run"].all()
    assert red["red_run"].shape == (STEPS, 2)
    assert red["straight_green"].shape == (STEPS, 0)


def test_kinds_and_speeds_are_seen(scenes):
    kinds = {kind for scene in scenes.values() for kind in scene.traffic.kind.tolist()}
    assert kinds >= {0, 1, 2, 3, 4}
    speeds = np.concatenate([np.hypot(*scene.traffic.velocity_mps.T) for scene in scenes.values()])
    assert (speeds > 1).any()


def test_all_golden_caches_agree():
    if not (SHARED / "metric_cache").exists():
        pytest.skip("the full golden set does not lie beside this checkout")
    named = {one["token"]: one for one in json.loads((SHARED / "scenes.json").read_text())}
    paths = index_caches(SHARED / "metric_cache")
    assert len(paths) == len(named) == 18
    for token, path in paths.items():
        scene = read_scene(path)
        assert (scene.token, scene.log, scene.location) == (
            token, named[token]["log"], named[token]["loc"],
        )  # fmt: skip
        labels = np.load(SHARED / f"labels/{named[token]['index']:02d}_{named[token]['name']}.npz")
        assert np.array_equal(labels["human_sim_states"][0], scene.ego)
        assert_plausible(scene)
        assert_agrees(
            scene,
            labels["sim_states"][0, 0],
            labels["ego_coords"][0, 0],
            labels["ref_states"][0, [0, 20, 40], :3],
            labels["human_ref_states"][40, :3],
        )


def boxes_in(cache):
    """Each box by step and track."""
    return {
        (step, thing["_metadata"]["track_token"]): thing["_box"]
        for step, frame in enumerate(cache["observation"]["_detections_tracks"])
        for thing in frame["tracked_objects"]["tracked_objects"]
    }


@by_token
def test_boxes_span_the_polygons_that_were_cached(caches, scenes, token):
    written = cache_of(scenes[token], PurePosixPath("x/y"), "", "")
    ours, theirs = boxes_in(written), boxes_in(caches[token])
    assert ours.keys() == theirs.keys()
    held = [key for key in theirs if "geometry" in theirs[key].fields]
    assert len(held) > 40
    for key in held:
        shapes = (boxes[key]["geometry"].shape() for boxes in (ours, theirs))
        our, their = map(shapely.get_coordinates, shapes)
        assert np.abs(our - their).max() < 2e-9


# -------------------------------------------------------------------------------- and back again


def assert_same_bits(one, other):
    assert differing_fields(one, other) == []
    assert digest(one) == digest(other)


@by_token
def test_there_and_back(scenes, token, tmp_path):
    path = write_scene(scenes[token], tmp_path / "cache", map_root="/maps")
    assert path.parts[-4:] == PATHS[token].parts[-4:]
    assert_same_bits(read_scene(path), scenes[token])
    write_index(tmp_path / "cache", [path])
    assert index_caches(tmp_path / "cache") == {token: path}


@by_token
def test_unpickled_caches_are_pickled_again_as_they_were(caches, token):
    bare = replace(METRIC_CACHE, xz=False)
    data = pickles.dumps(caches[token])
    again = pickles.loads(data, bare, "here")
    assert pickles.dumps(again) == data
    assert_same_bits(scene_of(again), scene_of(caches[token]))


def test_what_is_written_names_the_stock_classes(scenes, caches, tmp_path):
    def globals_of(data):
        strings, found = [], set()
        for opcode, argument, _ in pickletools.genops(data):
            if "UNICODE" in opcode.name:
                strings.append(argument)
        return found | {text for text in strings if text.startswith(("nuplan.", "navsim."))}

    token = next(token for token in EXPECTED if EXPECTED[token]["name"] == "red_run")
    ours = globals_of(pickles.dumps(cache_of(scenes[token], PurePosixPath("a/b"), "", "")))
    theirs = globals_of(pickles.dumps(caches[token]))
    assert ours == theirs


def test_what_is_written_has_the_fields_of_stock_classes(scenes, caches):
    def fields(value, found):
        if isinstance(value, Record):
            found.setdefault(value.name, set()).update(value.fields)
            parts = value.fields.values()
        elif isinstance(value, dict):
            parts = value.values()
        elif isinstance(value, (list, tuple, Objects)):
            parts = value
        else:
            return found
        for part in parts:
            fields(part, found)
        return found

    ours, theirs = {}, {}
    for token, scene in scenes.items():
        fields(cache_of(scene, PurePosixPath("a/b"), "", ""), ours)
        fields(caches[token], theirs)
    assert ours == theirs


def test_python_asks_for_the_stock_classes_and_nothing_else(scenes):
    asked = set()

    class Listening(pickle.Unpickler):
        def find_class(self, module, name):
            asked.add((module, name))
            return type(name, (), {"__new__": lambda cls, *_: object.__new__(cls),
                                   "__setstate__": lambda self, state: None,
                                   "__call__": lambda self, *_: self})  # fmt: skip

    for scene in scenes.values():
        data = pickles.dumps(cache_of(scene, PurePosixPath("a/b"), "", ""))
        Listening(io.BytesIO(data)).load()
    roots = {module.partition(".")[0] for module, _ in asked}
    assert roots == {"navsim", "nuplan", "numpy", "shapely", "pathlib"}


def small_polygons(count):
    return Polygons.of([shapely.box(n, 0, n + 1, 2) for n in range(count)])


finite = st.floats(-1e6, 1e6)


@st.composite
def any_scene(draw):
    """A scene of any content, in any order of its tracks."""
    names = st.lists(st.text(min_size=1, max_size=4), max_size=5, unique=True)
    tracks, lights = draw(names), draw(names)
    grounds = draw(st.lists(st.text(min_size=1, max_size=4), max_size=5))
    present = draw(nst.arrays(np.bool_, (STEPS, len(tracks))))
    for agent in range(len(tracks)):
        present[draw(st.integers(0, STEPS - 1)), agent] = True
    kind = draw(nst.arrays(np.int8, len(tracks), elements=st.integers(0, 6)))
    box = draw(nst.arrays(np.float64, (STEPS, len(tracks), 5), elements=finite))
    speeds = st.one_of(finite, st.just(np.nan))
    velocity = draw(nst.arrays(np.float64, (len(tracks), 2), elements=speeds))
    velocity[kind > BICYCLE] = 0
    box[~present] = np.nan
    ground_kind = draw(
        nst.arrays(np.int8, len(grounds), elements=st.integers(0, len(GROUND_KINDS) - 1))
    )
    route = tuple(draw(st.lists(st.sampled_from([*grounds, "other"]), max_size=4)))
    on_route = np.isin(ground_kind, (LANE, LANE_CONNECTOR)) & np.array(
        [name in route for name in grounds], np.bool_
    )
    synthetic = draw(st.booleans())
    states = nst.arrays(np.float64, (51, len(STATE)), elements=finite)
    start = draw(st.integers(0, 1 << 60))
    rows = draw(states)
    red = np.zeros((STEPS, len(lights)), np.bool_)
    # the order of lights is that in which they first show red
    firsts = sorted(draw(st.integers(0, STEPS - 1)) for _ in lights)
    for light, first in enumerate(firsts):
        red[first:, light] = draw(nst.arrays(np.bool_, STEPS - first))
        red[first, light] = True
    return Scene(
        token="t" * (17 if synthetic else 16),
        log=draw(st.text("abc.-_0", min_size=1, max_size=8).filter(lambda log: log.strip("."))),
        location=draw(st.text(max_size=5)),
        time_us=start,
        ego=draw(nst.arrays(np.float64, len(STATE), elements=finite)),
        traffic=Traffic(tuple(tracks), kind, box, present, velocity),
        lights=Lights(tuple(lights), small_polygons(len(lights)), red),
        ground=Ground(tuple(grounds), ground_kind, small_polygons(len(grounds)), on_route),
        route_lane=route,
        centreline=draw(nst.arrays(np.float64, (3, 3), elements=finite)),
        human=None if synthetic else draw(nst.arrays(np.float64, (8, 3), elements=finite)),
        past=Track(start + np.arange(4), rows[:4]),
        reference=Track(start + np.arange(51), rows),
    )


@settings(deadline=None, max_examples=40)
@given(any_scene())
def test_any_scene_comes_back(scene):
    written = pickles.dumps(
        cache_of(scene, PurePosixPath("c", scene.token, "metric_cache.pkl"), "", "")
    )
    read = scene_of(pickles.loads(written, replace(METRIC_CACHE, xz=False), "here"))
    assert_same_bits(read, scene)


def test_a_name_that_leads_elsewhere_is_not_written(scenes, tmp_path):
    scene = next(iter(scenes.values()))
    for name in ("../../outside", "/etc", "..", "a/b", ""):
        with pytest.raises(BadInput, match="name of a folder"):
            write_scene(replace(scene, log=name), tmp_path)


def test_a_token_that_belies_the_scene_is_not_written(scenes, tmp_path):
    scene = next(iter(scenes.values()))
    with pytest.raises(BadInput, match="synthetic"):
        write_scene(replace(scene, human=None), tmp_path)
    with pytest.raises(BadInput, match="synthetic"):
        write_scene(replace(scene, token="t" * 17), tmp_path)


def test_a_track_that_is_never_there_is_not_written(scenes, tmp_path):
    scene = next(iter(scenes.values()))
    present = scene.traffic.present.copy()
    present[:, 0] = False
    with pytest.raises(BadInput, match="never there"):
        write_scene(replace(scene, traffic=replace(scene.traffic, present=present)), tmp_path)


# -------------------------------------------------------------------------------- broken caches


@pytest.fixture
def cache(caches):
    """A fresh copy of one cache, to be broken."""
    token = next(token for token in EXPECTED if EXPECTED[token]["name"] == "red_run")
    return pickles.loads(pickles.dumps(caches[token]), replace(METRIC_CACHE, xz=False), "here")


def test_a_synthetic_scene_has_no_human(cache):
    cache.fields["file_path"] = PurePosixPath(
        "/data/log/unknown/0123456789abcdef0/metric_cache.pkl"
    )
    cache.fields["scene_type"] = Member("navsim.common.enums.SceneFrameType", 1)
    cache.fields["human_trajectory"] = None
    scene = scene_of(cache)
    assert scene.token == "0123456789abcdef0"
    assert scene.human is None
    cache.fields["scene_type"] = Member("navsim.common.enums.SceneFrameType", 0)
    with pytest.raises(BadInput, match="type does not go with its token"):
        scene_of(cache)


def test_an_original_scene_has_one(cache):
    cache.fields["human_trajectory"] = None
    with pytest.raises(BadInput, match="NoneType"):
        scene_of(cache)


def test_geometry_and_rear_axle_need_not_be_cached(cache):
    whole = scene_of(cache)

    def strip(value):
        if isinstance(value, Record):
            value.fields.pop("geometry", None)
            value.fields.pop("rear_axle", None)
            for part in value.fields.values():
                strip(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                strip(part)

    strip(cache)
    bare = scene_of(cache)
    assert set(differing_fields(bare, whole)) <= {"ego", "past", "reference"}
    for name in ("past", "reference"):
        ours, theirs = getattr(bare, name).state, getattr(whole, name).state
        assert np.allclose(ours, theirs, rtol=0, atol=2e-9)


def break_(cache, *path):
    """The record that holds the last of these names."""
    for name in path[:-1]:
        cache = cache.fields[name] if isinstance(cache, Record) else cache[name]
    return cache.fields if isinstance(cache, Record) else cache


BREAKS = {
    "another car": (("ego_state", "_car_footprint", "_vehicle_parameters", "width"), 2.0, "width"),
    "another time": (("timepoint",), Record("x.TimePoint", {"time_us": 5}), "time is not"),
    "text for a number": (("ego_state", "_tire_steering_angle"), "0", "str stands there"),
    "no number": (("ego_state", "_tire_steering_angle"), float("nan"), "is nan"),
    "a bool for a number": (("ego_state", "_tire_steering_angle"), True, "bool stands there"),
    "a huge number": (("ego_state", "_tire_steering_angle"), 10**400, "is inf"),
    "a huge time": (("ego_state", "_time_point", "time_us"), 1 << 70, "64 bits"),
    "no lights": (("observation", "_occupancy_maps_tl"), None, "NoneType"),
    "few lights": (("observation", "_occupancy_maps_tl"), [], "known for 0 steps"),
    "odd lights": (("observation", "_occupancy_maps_tl"), [1] * 41, "names and polygons"),
    "few steps": (("observation", "_detections_tracks"), [], "replayed for 0 steps"),
    "no tracks": (("observation", "_unique_objects"), {}, "unlisted"),
    "tracks as a list": (("observation", "_unique_objects"), [], "lists no tracks"),
    "one pose": (("trajectory", "trajectory"), [], "do not rise"),
    "another layer": (("drivable_area_map", "map_types", 0),
                      Member("nuplan.common.maps.maps_datatypes.SemanticMapLayer", 18), "layer 18"),
    "few shapes": (("drivable_area_map", "geometries"), [], "0 items"),
    "no geometry": (("drivable_area_map", "geometries", 0), b"x", "bytes stands there"),
    "short human": (("human_trajectory", "poses"), np.zeros((7, 3)), "shape"),
    "human as text": (("human_trajectory", "poses"), np.array(["x"]), "not an array"),
    "flat centreline": (("centerline", "discrete_path"), [], "shape"),
    "no path": (("file_path",), None, "its own path"),
    "path up": (("file_path",), PurePosixPath("/a/../metric_cache.pkl"), "its own path"),
    "no map": (("map_parameters",), None, "NoneType"),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKS)
def test_broken_caches_are_told(cache, name, tmp_path):
    path, value, complaint = BREAKS[name]
    break_(cache, *path)[path[-1]] = value
    with pytest.raises(BadInput, match=complaint):
        scene_of(cache)


def test_a_missing_field_is_named_with_the_file(cache, tmp_path):
    del cache.fields["past_human_trajectory"]
    path = tmp_path / "metric_cache.pkl"
    pickles.write(path, cache, METRIC_CACHE)
    with pytest.raises(BadInput, match="no field 'past_human_trajectory'") as caught:
        read_scene(path)
    assert caught.value.where == str(path)


def test_a_track_twice_in_a_step_is_told(cache):
    tracks = cache["observation"]["_detections_tracks"][3]["tracked_objects"]["tracked_objects"]
    tracks.append(tracks[0])
    with pytest.raises(BadInput, match="twice"):
        scene_of(cache)


def test_an_ego_among_the_tracks_is_told(cache):
    thing = cache["observation"]["_detections_tracks"][0]["tracked_objects"]["tracked_objects"][0]
    thing.fields["_tracked_object_type"] = Member(
        "nuplan.common.actor_state.tracked_objects_types.TrackedObjectType", 7
    )
    with pytest.raises(BadInput, match="type 7"):
        scene_of(cache)


def test_whatever_stands_in_a_field_only_our_errors_come_out(scenes):
    token = next(token for token in EXPECTED if EXPECTED[token]["name"] == "curve")
    data = pickles.dumps(cache_of(scenes[token], PurePosixPath("l/u", token, "m.pkl"), "", ""))
    bare = replace(METRIC_CACHE, xz=False)
    rng = random.Random(5)
    odd = [None, True, -1, 1 << 70, 0.5, float("inf"), "", "x", b"x", (), [], {}, [None], {"a": 1},
           np.zeros(3), np.array("x"), Record("a.B"), Member("a.B", 1), Objects((1,), [None]),
           pickles.Wkb(b""), pickles.Wkb(shapely.Point(0, 0).wkb), PurePosixPath("/")]  # fmt: skip
    told = 0
    for _ in range(80):
        cache = pickles.loads(data, bare, "here")
        node = cache
        while True:
            holder = node.fields if isinstance(node, Record) else node
            place = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            below = holder[place]
            inside = getattr(below, "fields", below)
            deeper = isinstance(below, (Record, list, dict)) and len(inside)
            if not deeper or rng.random() < 0.1:
                break
            node = below
        holder[place] = rng.choice(odd)
        try:
            scene_of(cache)
        except NavauditError:
            told += 1
    assert told > 30
