"""Random people, cars and things on a road: standing, moving, late, gone, inside each other."""

from __future__ import annotations

import numpy as np

from navaudit.axes import DT_S, STEPS, VX

TIME_S = DT_S * np.arange(STEPS)
STATICS = ("traffic_cone", "barrier", "czone_sign", "generic_object")
STOPPED_MPS = (0.0, 0.049, 0.05, 0.051, 0.1)
"""First speeds on both sides of the one up to which a track counts as stopped."""


def along(layout, s, d, speed, turned=0.0, pace=0.0):
    """Poses ``[step, 3]`` of somebody who follows the road, or comes towards us along it."""
    way = np.cumsum(np.maximum(speed + pace * TIME_S, 0) * DT_S) - speed * DT_S
    there = np.cos(turned)
    return layout.road.poses(s + way * there, d, turned)


def lane_middles(layout):
    """Middles of the lanes ``[lane]`` from right to left."""
    return (np.array(layout.edges[1:]) + np.array(layout.edges[:-1])) / 2


def parked(rng, world, layout):
    """A car at the kerb or in a lane, hardly moving or not at all."""
    d = rng.choice([*lane_middles(layout), layout.edges[0] + 1, layout.edges[-1] - 1])
    pose = layout.road.poses(rng.uniform(-15, 70), d + rng.normal(0, 0.3), rng.normal(0, 0.2))
    speed = rng.choice(STOPPED_MPS)
    velocity = speed * np.array([np.cos(pose[2]), np.sin(pose[2])])
    return world.with_agent("vehicle", pose, velocity_mps=velocity)


def leading(rng, world, layout):
    """Somebody ahead, slower or faster, who may brake."""
    speed = world.state[VX] * rng.uniform(0, 1.2)
    d = rng.choice(lane_middles(layout)) if rng.random() < 0.6 else 0.0
    poses = along(
        layout, rng.uniform(5, 40), d + rng.normal(0, 0.2), speed, 0.0, rng.uniform(-4, 1)
    )
    return world.with_agent("vehicle", poses)


def tailgating(rng, world, layout):
    """Somebody behind, faster."""
    speed = abs(world.state[VX]) + rng.uniform(0, 8)
    poses = along(layout, rng.uniform(-25, -6), rng.normal(0, 0.4), speed)
    return world.with_agent(rng.choice(["vehicle", "bicycle"]), poses)


def oncoming(rng, world, layout):
    """Somebody the other way, in a lane of theirs or ours."""
    d = rng.choice(lane_middles(layout))
    poses = along(layout, rng.uniform(15, 90), d + rng.normal(0, 0.3), rng.uniform(3, 14), np.pi)
    return world.with_agent("vehicle", poses)


def alongside(rng, world, layout):
    """Somebody beside the car who drifts into its lane, or out of it."""
    drift = np.linspace(*rng.uniform(-4, 4, 2), STEPS)
    speed = max(world.state[VX] * rng.uniform(0.8, 1.2), 0.3)
    poses = along(layout, rng.uniform(-8, 8), drift, speed)
    return world.with_agent("vehicle", poses)


def crossing_over(rng, world, layout):
    """Somebody straight across the road, now or later."""
    kind = rng.choice(["pedestrian", "bicycle", "vehicle"])
    speed = {"pedestrian": 1.4, "bicycle": 4.0, "vehicle": 8.0}[kind] * rng.uniform(0.5, 1.5)
    ways = rng.choice([-1.0, 1.0])
    # timed to be in front of the car at some moment
    when = rng.uniform(0, 4)
    s = np.full(STEPS, world.state[VX] * when + rng.uniform(0, 6))
    poses = layout.road.poses(s, ways * speed * (TIME_S - when), ways * np.pi / 2)
    return world.with_agent(kind, poses)


def thing(rng, world, layout):
    """A thing on the road or beside it."""
    where = layout.road.poses(rng.uniform(-5, 60), rng.normal(0, 3), rng.uniform(-3, 3))
    return world.with_agent(rng.choice(STATICS), where, rng.uniform(0.2, 2.5, 2))


def overlapping(rng, world, layout):
    """Something that the car stands in at t = 0."""
    del layout
    x, y = np.array(world.state[:2]) + rng.uniform(-2, 2, 2)
    kind = rng.choice(["vehicle", "pedestrian", "traffic_cone"])
    return world.with_agent(kind, (x, y, rng.uniform(-3, 3)))


def without_size(rng, world, layout):
    """A box without length, without width or without both."""
    size = np.array([[0, 0], [0, 1.5], [3.0, 0]])[rng.integers(0, 3)]
    poses = along(layout, rng.uniform(2, 30), rng.normal(0, 1), rng.choice([0, 2.0]))
    return world.with_agent(rng.choice(["vehicle", "pedestrian", "barrier"]), poses, size)


def reversing(rng, world, layout):
    """A car that drives backward: its heading is against its way."""
    poses = along(layout, rng.uniform(8, 30), rng.normal(0, 0.5), rng.uniform(0.5, 4), np.pi)
    poses[:, 2] -= np.pi
    return world.with_agent("vehicle", poses)


KINDS = (
    parked, leading, tailgating, oncoming, alongside, crossing_over,
    thing, overlapping, without_size, reversing,
)  # fmt: skip


def draw_agents(rng, world, layout):
    """Let some of all kinds appear; some come late, leave early or are seen once."""
    for _ in range(rng.choice([0, 1, 2, 4, 10])):
        world = KINDS[rng.integers(len(KINDS))](rng, world, layout)
        if rng.random() < 0.3:
            world = seen_partly(rng, world)
    return world


def seen_partly(rng, world):
    """Take the last agent away for a while at the beginning, the end or nearly always."""
    *others, agent = world.agents
    begin, end = np.sort(rng.integers(0, STEPS, 2))
    box = agent.box.copy()
    box[:begin] = np.nan
    box[end + 1 :] = np.nan
    changed = type(agent)(agent.kind, box, agent.velocity_mps)
    return type(world)(**{**vars(world), "agents": (*others, changed)})
