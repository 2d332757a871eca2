"""Which drives a town's logs hold, and which of their moments are scenes.

Most drives are ordinary.  A few are drawn so that the human breaks a rule, in the shares the
paper found on navtrain, rounded up so that a hundred scenes already show every kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.errors import BadInput
from navaudit.world.town.chance import stream
from navaudit.world.town.conduct import CLEAN, FAILING, Conduct, observe
from navaudit.world.town.drive import Drive, drive
from navaudit.world.town.ground import PLACES
from navaudit.world.town.humans import intend
from navaudit.world.town.network import Network

FRAMES: Final = 41
"""Frames of a log: 20 s at 2 Hz."""
HISTORY: Final = 3
FUTURE: Final = 10
SCENES_A_LOG: Final = 8
"""At most; the scenes are spread evenly over as few logs as that takes."""
RUN: Final = 4
"""Scenes are chosen in runs of so many consecutive frames."""

MOST_FAILING: Final = {"tailgate": 1}
"""Scenes of one drive that can break the rule, where fewer than a run can."""

FIRST_STEP: Final = 1
"""Step of a drive at which frame 0 lies; five steps to a frame."""

SHARES: Final = {
    "off_centre": 0.06,
    "change_lane": 0.03,
    "overtake": 0.01,
    "run_red": 0.02,
    "tailgate": 0.01,
    "touch": 0.005,
}
"""Share of all scenes in which the human breaks a rule this way."""

BREAKS: Final = {
    "off_centre": "lane",
    "change_lane": "lane",
    "overtake": "direction",
    "run_red": "light",
    "tailgate": "distance",
    "touch": "collision",
}
"""The fault each way of driving is for."""

BESIDES: Final = {"overtake": ("lane",), "touch": ("distance",)}
"""Faults that come with it."""

ATTEMPTS: Final = 40


@dataclass(frozen=True)
class Errand:
    """What one log is for."""

    index: int
    place: int
    """Index of the town."""
    kind: str
    failing: int
    """Scenes in which the human breaks the rule."""
    scenes: int


@dataclass(frozen=True, eq=False)
class Outing:
    """A drive and its scenes."""

    errand: Errand
    drive: Drive
    frames: tuple[int, ...]
    """Frames that are scenes, ascending; ``errand.failing`` of them see the rule broken."""


def share_out(seed: int, scenes: int) -> tuple[Errand, ...]:
    """Divide scenes into logs and decide which of them see a rule broken."""
    rng = stream(seed, "plan")
    logs = math.ceil(scenes / SCENES_A_LOG)
    wanted = list(_wanted(scenes))[:logs]
    order = rng.permutation(logs).tolist()
    special = dict(zip(order, wanted, strict=False))
    errands = []
    for index in range(logs):
        count = (scenes * (index + 1)) // logs - (scenes * index) // logs
        kind, failing = special.get(index, ("ordinary", 0))
        place = int(rng.integers(len(PLACES)))
        errands.append(Errand(index, place, kind, min(failing, count), count))
    return tuple(errands)


def _wanted(scenes: int) -> Iterator[tuple[str, int]]:
    """Kinds of special logs and how many scenes of each shall break the rule."""
    for kind, share in SHARES.items():
        exact = share * scenes
        count = math.ceil(exact - 1e-9) if scenes >= 100 else round(exact)
        logs = math.ceil(count / MOST_FAILING.get(kind, RUN))
        for k in range(logs):
            yield kind, (count * (k + 1)) // logs - (count * k) // logs


def set_out(seed: int, networks: tuple[Network, ...], errand: Errand) -> Outing:
    """Drive until a drive serves its errand; nearly always one of the first two does."""
    network = networks[errand.place]
    for attempt in range(ATTEMPTS):
        rng = stream(seed, "drive", errand.index, attempt)
        done = drive(rng, network, intend(rng, network, errand.kind))
        frames = choose_scenes(rng, observe(done), errand)
        if frames is not None:
            return Outing(errand, done, frames)
    raise BadInput(
        f"no drive of kind {errand.kind} came out as meant in {ATTEMPTS} attempts",
        where=f"log {errand.index} of seed {seed}",
        remedy="take another seed",
    )


def choose_scenes(
    rng: np.random.Generator, conduct: Conduct, errand: Errand
) -> tuple[int, ...] | None:
    """Frames that serve an errand, ascending; None where the drive has too few."""
    marks = [_mark(conduct, frame, errand.kind) for frame in range(FRAMES)]
    failing = [k for k, mark in enumerate(marks) if mark == "failing"]
    lively = [k for k, mark in enumerate(marks) if mark == "clean"]
    dull = [k for k, mark in enumerate(marks) if mark == "dull"]
    chosen: list[int] = []
    if errand.failing:
        chosen = _run(rng, failing, errand.failing)
    for pool, most in ((lively, errand.scenes), (dull, 2)):
        chosen += _fill(rng, pool, chosen, min(most, errand.scenes - len(chosen)))
    good = len(chosen) == errand.scenes and sum(k in failing for k in chosen) == errand.failing
    return tuple(sorted(chosen)) if good else None


def _mark(conduct: Conduct, frame: int, kind: str) -> str:
    """What a frame would be as a scene; dull where the human hardly moves."""
    if not HISTORY <= frame < FRAMES - FUTURE:
        return "outside"
    step = FIRST_STEP + 5 * frame
    faults = conduct.judge(step)
    own = BREAKS.get(kind, "")
    others = [fault for name, fault in faults.items() if name not in {own, *BESIDES.get(kind, ())}]
    if any(fault != CLEAN for fault in others):
        return "unsure"
    if own and faults[own] == FAILING:
        return "failing"
    if any(fault != CLEAN for fault in faults.values()):
        return "unsure"
    u = conduct.drive.u_m
    return "clean" if u[step + 40] - u[step] > 1.5 else "dull"


def _fill(rng: np.random.Generator, pool: list[int], chosen: list[int], count: int) -> list[int]:
    """Up to ``count`` more frames of a pool, in runs."""
    more: list[int] = []
    while len(more) < count:
        free = [k for k in pool if k not in chosen and k not in more]
        run = _run(rng, free, min(RUN, count - len(more)))
        if not run:
            break
        more += run
    return more


def _run(rng: np.random.Generator, frames: list[int], most: int) -> list[int]:
    """Up to ``most`` consecutive frames out of those given, as long a run as there is."""
    for length in range(most, 0, -1):
        starts = [k for k in frames if all(k + n in frames for n in range(length))]
        if starts:
            first = starts[int(rng.integers(len(starts)))]
            return list(range(first, first + length))
    return []
