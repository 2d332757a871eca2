"""How often the human breaks which rule, measured on the written logs with shapely.

The measures are slower and plainer than those the town chooses its scenes by, and read nothing
but the logs and the ground.  The benchmark's own scorer has the last word elsewhere.
"""

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest
import shapely
import yaml

from navaudit.vehicle import LENGTH_M, REAR_AXLE_TO_CENTRE_M, WIDTH_M
from navaudit.world.logs import read_log
from navaudit.world.town.ground import PLACES

STEPS = 41

pytestmark = pytest.mark.slow


class Ground:
    """Polygons and baselines of one town, in map metres."""

    def __init__(self, town):
        origin = np.array(town.place.origin_m)
        lanes = [lane for group in town.groups for lane in group.lanes]
        connectors = [one for junction in town.junctions for one in junction.connectors]
        self.polygon = {
            one.fid: shapely.Polygon(one.ring_m + origin) for one in [*lanes, *connectors]
        }
        self.baseline = {
            one.fid: shapely.LineString(one.baseline_m + origin) for one in [*lanes, *connectors]
        }
        self.block = {one.fid: str(one.group) for one in [*lanes, *connectors]}
        self.lanes = [lane.fid for lane in lanes]
        self.ways_on = {
            lane.fid: [one for one in connectors if one.start is lane] for lane in lanes
        }
        self.junctions = shapely.union_all(
            [shapely.Polygon(one.ring_m + origin) for one in town.junctions]
        )
        groups = [shapely.Polygon(one.ring_m + origin) for one in town.groups]
        self.drivable = shapely.union_all([self.junctions, *groups]).buffer(1e-6)

    def ahead(self, lane):
        """Baselines of a lane and of what it leads into."""
        on = [self.baseline[one.fid] for one in self.ways_on[lane]]
        beyond = [self.baseline[one.end.fid] for one in self.ways_on[lane]]
        return shapely.union_all([self.baseline[lane], *on, *beyond])


def at_10_hz(values):
    """Nine frames, ``[frame, ...]``, to 41 steps."""
    values = np.asarray(values, dtype=np.float64)
    step = np.arange(STEPS) / 5.0
    k = np.minimum(step.astype(int), 7)
    share = (step - k).reshape(-1, *[1] * (values.ndim - 1))
    return values[k] * (1 - share) + values[k + 1] * share


def boxes(centre, heading, length, width):
    along = np.stack([np.cos(heading), np.sin(heading)], -1)
    across = np.stack([-along[..., 1], along[..., 0]], -1)
    along, across = along * (length / 2), across * (width / 2)
    corners = [along + across, across - along, -along - across, along - across]
    return np.stack([centre + one for one in corners], axis=-2)


def ego_boxes(frames):
    rear = at_10_hz([frame.translation_m[:2] for frame in frames])
    heading = at_10_hz(np.unwrap([frame.heading_rad for frame in frames]))
    centre = rear + REAR_AXLE_TO_CENTRE_M * np.stack([np.cos(heading), np.sin(heading)], -1)
    return rear, centre, heading, boxes(centre, heading, LENGTH_M, WIDTH_M)


def longest(flags):
    best = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        best = max(best, run)
    return best


def leaves_lane(ground, frames):
    rear, centre, heading, _ = ego_boxes(frames)

    def bend(lane):
        s = ground.baseline[lane].project(shapely.Point(rear[0]))
        ahead, here = (ground.baseline[lane].interpolate(s + d) for d in (0.5, -0.5))
        return (ahead.x - here.x) * np.cos(heading[0]) + (ahead.y - here.y) * np.sin(heading[0])

    at = [one for one in ground.lanes if ground.polygon[one].contains(shapely.Point(rear[0]))]
    if not at:
        return False
    line = ground.ahead(max(at, key=bend))
    points = shapely.points(centre)
    off = shapely.distance(line, points) > 0.5
    inside = shapely.contains(ground.junctions, points)
    return longest(off[~inside]) >= 20


def runs_red(ground, frames, route):
    _, _, _, corners = ego_boxes(frames)
    ego = shapely.polygons(corners)
    for step in range(STEPS):
        frame = frames[min(step // 5, 8)]
        for connector, red in frame.lights:
            if (
                red
                and ground.block[int(connector)] in route
                and ego[step].intersects(ground.polygon[int(connector)])
            ):
                return True
    return False


def drives_against(ground, frames, route):
    _, centre, _, _ = ego_boxes(frames)
    own = shapely.union_all(
        [p for fid, p in ground.polygon.items() if ground.block[fid] in route]
    ).buffer(1e-6)
    wrong = ~shapely.contains(own, shapely.points(centre))
    step = np.sqrt((np.diff(centre, axis=0) ** 2).sum(axis=1)) * wrong[1:]
    return max(step[k : k + 11].sum() for k in range(30)) >= 6.0


def leaves_road(ground, frames):
    _, _, _, corners = ego_boxes(frames)
    return not shapely.contains(ground.drivable, shapely.points(corners)).all()


def touches(frames):
    _, _, _, corners = ego_boxes(frames)
    ego = shapely.polygons(corners)
    seen = {}
    for k, frame in enumerate(frames):
        cos, sin = np.cos(frame.heading_rad), np.sin(frame.heading_rad)
        for row, track in zip(frame.boxes.box.astype(np.float64), frame.boxes.track, strict=True):
            xy = frame.translation_m[:2] + np.array(
                [cos * row[0] - sin * row[1], sin * row[0] + cos * row[1]]
            )
            seen.setdefault(track, {})[k] = (*xy, row[6] + frame.heading_rad, row[3], row[4])
    for states in seen.values():
        # an annotator misses a frame now and then; the stock code bridges the gap
        known = sorted(states)
        if known[0] > 0 or known[-1] < 8:
            continue
        state = np.array([states[k] for k in known])
        state[:, 2] = np.unwrap(state[:, 2])
        state = np.stack([np.interp(np.arange(9), known, column) for column in state.T], axis=1)
        poses = at_10_hz(state)
        other = shapely.polygons(boxes(poses[:, :2], poses[:, 2], state[0, 3], state[0, 4]))
        meets = shapely.intersects(ego, other)
        if meets.any() and not meets[0]:
            return True
    return False


@pytest.fixture(scope="module")
def faults(large, town_of):
    """For each scene its faults, and the record's promise."""
    ground = cache(lambda name: Ground(town_of(17, [one.location for one in PLACES].index(name))))
    text = (large / "splits/train_test_split/scene_filter/town.yaml").read_text()
    tokens = set(yaml.safe_load(text)["tokens"])
    found = {}
    for path in sorted((large / "navsim_logs/town").glob("*.pkl")):
        frames = read_log(path).frames
        for k, frame in enumerate(frames):
            if frame.token not in tokens:
                continue
            ahead, here = frames[k : k + 9], ground(frame.location)
            found[frame.token] = {
                "lane": leaves_lane(here, ahead),
                "light": runs_red(here, ahead, frame.roadblock),
                "direction": drives_against(here, ahead, frame.roadblock),
                "collision": touches(ahead),
                "ground": leaves_road(here, ahead),
            }
    return found, json.loads((large / "town.json").read_text())["meant"]


def test_the_shares_are_near_those_of_the_paper(faults):
    found, _ = faults
    count = Counter(name for one in found.values() for name, broken in one.items() if broken)
    assert len(found) == 200
    assert count["lane"] == pytest.approx(20, abs=3)
    assert count["light"] == pytest.approx(4, abs=1)
    assert count["direction"] == pytest.approx(2, abs=1)
    assert 1 <= count["collision"] <= 3
    assert count["ground"] == 0


def test_the_record_says_how_many_are_meant(faults):
    found, meant = faults
    count = Counter(name for one in found.values() for name, broken in one.items() if broken)
    assert meant == {
        "off_centre": 12,
        "change_lane": 6,
        "overtake": 2,
        "run_red": 4,
        "tailgate": 2,
        "touch": 1,
    }
    assert abs(count["lane"] - 20) <= 2


def test_most_scenes_are_clean(faults):
    found, _ = faults
    assert sum(not any(one.values()) for one in found.values()) >= 165
