"""The planner once more, slow and plain: one proposal, one step, one object at a time."""

from __future__ import annotations

import math

import numpy as np
import shapely
from scipy.interpolate import interp1d

from navaudit.scene.scene import BICYCLE

FRACTIONS = (0.2, 0.4, 0.6, 0.8, 1.0)
LIMITS = {0: 50, 1: 25, 2: 10}


def box_shape(x, y, heading, length, width):
    ahead = np.array([math.cos(heading), math.sin(heading)]) * length / 2
    left = np.array([-math.sin(heading), math.cos(heading)]) * width / 2
    middle = np.array([x, y])
    ring = (
        middle + ahead + left,
        middle - ahead + left,
        middle - ahead - left,
        middle + ahead - left,
    )
    return shapely.Polygon(ring)


def car_shape(x, y, heading):
    return box_shape(
        x + 1.461 * math.cos(heading), y + 1.461 * math.sin(heading), heading, 5.176, 2.297
    )


class PlainPlanner:
    """What is expected, path by path.

    ``doubt`` is the least margin of a decision: below 1e-7 rounding may decide otherwise.
    """

    def __init__(self, outlook, remembered=()):
        self.outlook, self.doubt = outlook, np.inf
        self.seen = [i for group in self.groups(remembered) for i in group]
        objects = outlook.objects
        self.names = [objects.token[i] for i in self.seen] + [
            f"red_light_{one}" for one in outlook.red
        ]
        car = car_shape(*outlook.ego[:3])
        self.met = [
            name
            for name, shape in zip(self.names, self.shapes(0), strict=True)
            if (car.within(shape) if name.startswith("red_light") else car.intersects(shape))
        ]
        self.ignored = {*self.met, *remembered}
        limit = outlook.route.speed_limit_mps
        self.wanted = [f * (15.0 if math.isnan(limit) else limit) for f in FRACTIONS]

    def groups(self, remembered):
        o, (x, y, heading) = self.outlook.objects, self.outlook.ego[:3]
        centre = np.array([x + 1.461 * math.cos(heading), y + 1.461 * math.sin(heading)])
        away = np.hypot(*(o.box[:, :2] - centre).T)
        near = [i for i in range(len(o)) if away[i] <= 100.0 and o.token[i] not in remembered]
        near.sort(key=lambda i: away[i])
        yield [i for i in near if o.kind[i] > BICYCLE][:50]
        for kind, most in LIMITS.items():
            yield [i for i in near if o.kind[i] == kind][:most]

    def shapes(self, step):
        """Polygons of what is expected at a step, each with its name's place."""
        o, since = self.outlook.objects, (step // 2) * 0.2
        for i in self.seen:
            x, y, heading, length, width = o.box[i]
            vx, vy = o.velocity_mps[i]
            speed = math.hypot(vx, vy) if o.kind[i] <= BICYCLE else 0.0
            apart = heading - math.atan2(vy, vx)
            sign = 1.0 if abs(math.atan2(math.sin(apart), math.cos(apart))) < math.pi / 2 else -1.0
            way = sign * speed * since
            yield box_shape(
                x + way * math.cos(heading), y + way * math.sin(heading), heading, length, width
            )
        yield from self.outlook.red_polygons.shapes()

    def speed_of_leader(self, which, heading):
        if which >= len(self.seen):
            return None
        i, o = self.seen[which], self.outlook.objects
        if o.kind[i] > BICYCLE:
            return 0.0
        return math.hypot(*o.velocity_mps[i]) * math.cos(o.box[i, 2] - heading)

    def drive(self):
        """Poses ``[15, 41, 3]``, motion ``[15, 41, 2]`` and leaders ``[15, 41, 3]``."""
        parts = [self.drive_path(offset) for offset in (0.0, -1.0, 1.0)]
        return tuple(np.concatenate(one) for one in zip(*parts, strict=True))

    def drive_path(self, offset):
        line = np.array(self.outlook.route.centreline)
        aside = np.column_stack([-np.sin(line[:, 2]), np.cos(line[:, 2])])
        xy = line[:, :2] + offset * aside
        measure = np.append(0.0, np.cumsum(np.hypot(*np.diff(xy, axis=0).T)))
        at = interp1d(measure, np.column_stack([xy, np.unwrap(line[:, 2])]), axis=0)
        path = shapely.LineString(xy)
        pose, motion, leader = np.zeros((5, 41, 3)), np.zeros((5, 41, 2)), np.zeros((5, 41, 3))
        motion[:, 0] = path.project(shapely.Point(self.outlook.ego[:2])), self.outlook.ego[3]
        end = motion[0, 0, 0] + max(self.wanted) * 5.0
        inside = xy[(motion[0, 0, 0] <= measure) & (measure <= end)]
        assert len(inside) > 1, "draw denser lines"
        corridor = shapely.LineString(inside).buffer(1.1485, cap_style="square", quad_segs=16)

        def place(car, step):
            pose[car, step] = at(np.clip(motion[car, step, 0], 1e-5, measure[-1]))
            turn = pose[car, step, 2]
            pose[car, step, 2] = math.atan2(math.sin(turn), math.cos(turn))

        for car in range(5):
            place(car, 0)
        for step in range(1, 41):
            if step % 2:
                leader[:, step] = leader[:, step - 1]
            else:
                self.lead(step, path, corridor, pose, motion, leader)
            for car in range(5):
                motion[car, step] = follow(
                    motion[car, step - 1], leader[car, step], self.wanted[car]
                )
                place(car, step)
        return pose, motion, leader

    def lead(self, step, path, corridor, pose, motion, leader):
        shapes = list(self.shapes(step))
        ahead = {
            i: path.project(shapes[i].centroid)
            for i in shapely.STRtree(shapes, 10).query(corridor, predicate="intersects").tolist()
            if self.names[i] not in self.ignored
        }
        entry = np.zeros(3)  # one for all five
        for car in range(5):
            own = motion[car, step - 1, 0]
            me = car_shape(*pose[car, step - 1])
            gaps = {i: me.distance(shapes[i]) for i, place in ahead.items() if place > own}
            self.note_doubt([place - own for place in ahead.values()], list(gaps.values()))
            if gaps:
                first = min(gaps, key=gaps.get)
                entry[0] = own + gaps[first]
                speed = self.speed_of_leader(first, pose[car, step - 1, 2])
                entry[1] = entry[1] if speed is None else speed
            else:
                entry[0], entry[2] = path.length, 5.176 / 2
            leader[car, step] = entry

    def note_doubt(self, leads, gaps):
        apart = np.diff(sorted(gap for gap in gaps if gap > 0.0))
        self.doubt = min([self.doubt, *map(abs, leads), *apart])


def follow(motion, leader, wanted):
    x, v = motion
    gap = max(leader[0] - x - leader[2], 1.0)
    wish = 1.0 + 1.5 * v + v * (v - leader[1]) / (2 * math.sqrt(1.5 * 3.0))
    rate = 1.5 * (1 - (v / wanted) ** 10 - (wish / gap) ** 2)
    return x + 0.1 * v, v + 0.1 * min(max(rate, -3.0), 1.5)
