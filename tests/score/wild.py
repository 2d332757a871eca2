"""Random worlds: roads, traffic, lights and drivers drawn by a seed, tidy and untidy alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from navaudit.axes import AX, AY, DT_S, HEADING, HUMAN_POSES, STATE, STEERING, STEPS, VX, VY
from navaudit.scene.vocabulary import Vocabulary
from score.drives import draw_candidates
from score.passers import draw_agents, lane_middles
from score.roads import draw_layout, pave
from score.worlds import World, seen_from

SPEEDS = ((0, 0), (-1, -0.01), (0.01, 2), (2, 9), (9, 15), (15, 25))
SPEED_SHARES = (0.1, 0.06, 0.14, 0.4, 0.2, 0.1)
PLACES = ((0.0, 0.0, 0.0), (310.5, -77.25, np.pi), (-900.0, 640.0, 2.0), (331e3, 4692e3, -0.7))
"""Where drawings are put: on the origin, turned round, elsewhere, and on a city's map."""


def wild_scene(seed):
    """Draw a scene by its seed."""
    return _draw(np.random.default_rng(seed))[0]


class Case(tuple):
    """A scene and candidates for it; says by its seed what it is."""

    seed = 0

    def __repr__(self):
        return f"wild_case({self.seed}, {len(self[1])})"


def wild_case(seed, count):
    """Draw a scene and candidates for it: ``(Scene, Vocabulary)``."""
    rng = np.random.default_rng(seed)
    scene, world, layout = _draw(rng)
    following = rng.random(count) < 0.5
    poses = draw_candidates(rng, count, world.state[VX])
    poses[following] = followers(rng, world, layout, int(following.sum()))
    case = Case((scene, Vocabulary(poses)))
    case.seed = seed
    return case


SEEDS = st.integers(0, 2**32 - 1)

SCENES = SEEDS.map(wild_scene)
"""Strategy: any scene."""


def cases(count):
    """Strategy: any scene, with this many candidates."""
    return SEEDS.map(lambda seed: wild_case(seed, count))


def _draw(rng):
    layout = draw_layout(rng)
    world = draw_ego(rng, layout)
    if rng.random() < 0.98:
        world = pave(rng, world, layout)
    world = draw_agents(rng, world, layout)
    world = draw_lights(rng, world, layout)
    world = draw_drivers(rng, world, layout)
    return world.scene(*PLACES[rng.integers(len(PLACES))]), world, layout


def draw_ego(rng, layout):
    """Put the car on its lane, or now and then elsewhere, driving at any pace."""
    low, high = SPEEDS[rng.choice(len(SPEEDS), p=SPEED_SHARES)]
    sort = rng.choice(["tidy", "exact", "beside", "anywhere"], p=[0.8, 0.08, 0.07, 0.05])
    d = {"tidy": rng.normal(0, 0.25), "exact": 0.0}.get(sort, rng.uniform(-5, 5))
    turned = {"exact": 0.0, "anywhere": rng.uniform(-np.pi, np.pi)}.get(sort, rng.normal(0, 0.03))
    state = np.zeros(len(STATE))
    state[:3] = layout.road.poses(0.0, d, turned)
    state[VX] = rng.uniform(low, high)
    state[[VY, AX, AY]] = rng.normal(0, 1, 3) * rng.choice([0, 1]) * (0.05, 1, 0.3)
    state[STEERING] = rng.normal(0, 0.02) * rng.choice([0, 0, 0, 1])
    # frames of a log come 0.5 s apart, give or take: 14 or 15 samples of history
    jitter = rng.integers(-9_000, 9_000, 3) if rng.random() < 0.8 else 0
    past_us = (*(np.array([-1_500_000, -1_000_000, -500_000]) + jitter).tolist(), 0)
    time_us = int(rng.integers(1_500_000_000_000_000, 1_700_000_000_000_000))
    return replace(World(), state=tuple(state.tolist()), past_us=past_us, time_us=time_us)


def draw_lights(rng, world, layout):
    """Let stretches of road show red: all along, from some step on, up to one, or now and then."""
    for number in range(rng.choice([0, 0, 0, 1, 2])):
        if layout.crossing >= 0 and rng.random() < 0.7:
            s0, s1 = layout.breaks[layout.crossing : layout.crossing + 2]
        else:
            s0 = rng.uniform(-8, 50) if rng.random() < 0.1 else rng.uniform(6, 50)
            s1 = s0 + rng.uniform(2, 20)
        lane = rng.integers(0, len(layout.edges) - 1)
        shape = layout.road.strip(s0, s1, layout.edges[lane], layout.edges[lane + 1])
        red = (np.arange(STEPS) + rng.integers(0, 40)) // rng.choice([5, 20, 40, 100]) % 2 == 0
        world = replace(world, lights=(*world.lights, (f"{number + 1}", shape, red)))
    return world


def draw_drivers(rng, world, layout):
    """Draw the centreline, the human and the reference; one in twenty scenes has no human."""
    times_s = 0.5 * np.arange(1, HUMAN_POSES + 1)
    human = layout.road.poses(*ways(rng, world, layout, times_s, 1))
    reference = layout.road.poses(*ways(rng, world, layout, DT_S * np.arange(51), 1))
    token = "synthetic-token-1" if rng.random() < 0.05 else "0123456789abcdef"
    line = centreline(rng, layout)
    return replace(world, human=human[0], reference=reference[0], token=token, centreline=line)


def centreline(rng, layout):
    """Vertices ``[vertex, xy]`` of the route's line; at joints of the road they recur."""
    first = rng.integers(0, 2)
    breaks = layout.breaks[first : len(layout.breaks) - rng.choice([0, 0, 0, 2])]
    spacing = rng.choice([1.0, 4.0, 15.0])
    parts = [np.linspace(s0, s1, 2 + int((s1 - s0) / spacing)) for s0, s1 in pairwise(breaks)]
    return layout.road.poses(np.concatenate(parts), rng.choice([0.0, 0.0, 0.0, 3.5]))[:, :2]


def ways(rng, world, layout, times_s, count):
    """Places along and across the road ``[candidate, time]`` of drivers who follow it."""
    speed = max(world.state[VX], 0.0) * rng.uniform(0.7, 1.3, (count, 1))
    pace = rng.choice([0.0, 1.0], (count, 1)) * rng.uniform(-3, 2, (count, 1))
    going = np.maximum(speed + pace * times_s, 0)
    s = np.cumsum(going * np.diff(times_s, prepend=0), axis=1)
    d0 = world.state[1] if abs(world.state[1]) < 3 else 0.0
    others = lane_middles(layout) * rng.choice([0, 1], p=[0.6, 0.4])
    side = rng.choice([0.0, 0.0, *others], (count, 1)) + rng.normal(0, 0.15, (count, 1))
    d = d0 + (side - d0) * np.clip(times_s / rng.uniform(1, 6, (count, 1)), 0, 1) ** 2
    return s, d


def followers(rng, world, layout, count):
    """Candidates float32 ``[candidate, 40, 3]`` that keep to the road, each in its own manner."""
    times_s = DT_S * np.arange(1, 41)
    poses = layout.road.poses(*ways(rng, world, layout, times_s, count))
    seen = [seen_from(world.state, one) for one in poses]
    drawn = np.array(seen).reshape(count, 40, 3)
    drawn[..., HEADING] += rng.choice([0.0, 0.0, 0.05], (count, 1))
    return drawn.astype(np.float32)
