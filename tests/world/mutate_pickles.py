"""Mutate a small pickle of one kind many times over, in a process with little memory.

Run as a program: the index of the kind, the number of mutants, the seed, and whether to leave a
door open.  It ends with 0 only if nothing but values and the house's own errors came out, no call
left the machine, and memory held.  With the door open it must not.
"""

from __future__ import annotations

import codecs
import lzma
import pickle
import random
import resource
import struct
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import shapely

from navaudit.errors import NavauditError
from navaudit.world import pickles
from navaudit.world.pickles import (
    KINDS,
    LABELS,
    LOG,
    METRIC_CACHE,
    PLAIN,
    PREDICTIONS,
    Member,
    Objects,
    Record,
    Wkb,
)
from navaudit.world.pickles.values import Named
from navaudit.world.pickles.walk import entries
from navaudit.world.pickles.weigh import weigh

MEMORY_BYTES = 256 << 20
CPU_S = 300
STATE = "nuplan.common.actor_state.state_representation"
WATCHED = ("import", "exec", "compile", "open", "os.", "subprocess.", "socket.", "ctypes.",
           "pickle.", "code.", "object.__setattr__", "shutil.")  # fmt: skip

fired: list[str] = []
watching = False


def fire(*_: object) -> None:
    fired.append("canary")


def watch(event: str, _: object) -> None:
    if watching and event.startswith(WATCHED):
        fired.append(event)


def samples() -> dict[str, bytes]:
    """One small pickle of each kind."""
    boxes = np.arange(14, dtype=np.float32).reshape(2, 7)
    log = [
        {
            "token": f"{n:016x}",
            "timestamp": 1_621_907_885_052_546 + n,
            "ego_dynamic_state": [np.float64(6.0), 0.5],
            "traffic_lights": [(40553, False)],
            "anns": {"gt_boxes": boxes, "gt_names": np.array(["vehicle", "cone"])},
        }
        for n in range(2)
    ]
    pose = Record(f"{STATE}.StateSE2", {"heading": np.float64(1), "x": 2.0, "y": 3.0})
    shapes = [Wkb(shapely.box(0, 0, n, n).wkb) for n in (1, 2)]
    cache = Record(
        "navsim.planning.metric_caching.metric_cache.MetricCache",
        {
            "timepoint": Record(f"{STATE}.TimePoint", {"time_us": 5}),
            "scene_type": Member("navsim.common.enums.SceneFrameType", 0),
            "centerline": Record(
                "navsim.planning.simulation.planner.pdm_planner.utils.pdm_path.PDMPath",
                {"discrete_path": [pose, pose]},
            ),
            "drivable_area_map": Record(
                "navsim.planning.simulation.planner.pdm_planner.observation.pdm_occupancy_map"
                ".PDMOccupancyMap",
                {"tokens": ["1", "2"], "geometries": Objects((2,), shapes), "node_capacity": 10},
            ),
        },
    )
    sizes = {"a": 8, "b": 40}  # the longer ones can be left in place
    labels = {
        f"{n:04x}": {c: np.arange(s, dtype=np.float16) for c, s in sizes.items()} for n in range(3)
    }
    predictions = {
        "t": {
            "trajectory": Record("navsim.common.dataclasses.Trajectory", {"poses": np.eye(3)}),
            "imi": np.arange(8, dtype=np.float32),
        }
    }
    index = {"train": ["a", "b"], "sets": {1, 2}, "more": (None, True, 1 << 70, -1, 1.5, b"x")}
    return {
        LOG.title: pickle.dumps(log, 5),
        METRIC_CACHE.title: pickles.dumps(cache),
        LABELS.title: pickle.dumps(labels, 4),
        PREDICTIONS.title: pickles.dumps(predictions),
        PLAIN.title: pickle.dumps(index, 2),
    }


CANARY = b"cmutate_pickles\nfire\n)R"
PIECES = [
    CANARY,
    b"\x8c\x0fmutate_pickles\x8c\x04fire\x93)R",
    b"cos\nsystem\n\x8c\x04true\x85R",
    b"cbuiltins\neval\n\x8c\x041+11\x85R",
    b"\x80\x04",
    b"\x95" + struct.pack("<Q", 1 << 40),
    b"\x8e" + struct.pack("<Q", 1 << 40),
    b"r\xff\xff\xff\x7f",
    b"B\xff\xff\xff\x7f",
    b"j\x00\x00\x00\x00",
    b"h\x00",
    b"h\x03",
    b"K\x00",
    b"cnumpy\nndarray\n",
    b"cnumpy\ndtype\n",
    b"c_codecs\nencode\n",
    b"cbuiltins\nset\n",
    b"P1\n",
    *(bytes([code]) for code in b"\x94201(]})\x85\x86Rb\x81suaetld\x8f\x90\x91.N"),
]


def mutate(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Flip, cut, splice, insert, inflate or repeat, one to three times."""
    mutant = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(mutant) + 1) if mutant else 0
        choice = rng.randrange(8)
        if choice == 0 and mutant:
            mutant[at - 1] ^= 1 << rng.randrange(8)
        elif choice == 1 and mutant:
            mutant[at - 1] = rng.randrange(256)
        elif choice == 2:
            del mutant[at:]
        elif choice == 3:
            del mutant[at : at + rng.randrange(1, 9)]
        elif choice == 4:
            mutant[at:at] = rng.choice(PIECES)
        elif choice == 5:
            other = rng.choice(others)
            start = rng.randrange(len(other))
            mutant[at:at] = other[start : start + rng.randrange(1, 60)]
        elif choice == 6:
            width = rng.choice((1, 2, 4, 8))
            mutant[at : at + width] = rng.choice((b"\xff", b"\x7f", b"\x00", b"\x80")) * width
        else:
            start = rng.randrange(len(mutant) + 1)
            mutant[at:at] = mutant[start : start + rng.randrange(1, 40)] * rng.randrange(1, 4)
    return bytes(mutant)


def main(which: int, count: int, seed: int, ajar: int) -> int:
    """Return the exit status."""
    global watching  # noqa: PLW0603 - an audit hook has no other ear
    kind = KINDS[which]
    bare = replace(kind, xz=False)
    if ajar:
        door = Named("mutate_pickles", "fire", lambda _, *arguments: fire(*arguments))
        bare = replace(bare, names={**bare.names, (door.module, door.attribute): door})
    by_title = samples()
    sample, others = by_title[kind.title], list(by_title.values())
    pickles.loads(sample, bare, "sample")
    for codec in ("latin-1", "raw-unicode-escape", "unicode-escape", "utf-8"):
        codecs.lookup(codec)  # imported when first used, by any program
    sys.modules["mutate_pickles"] = sys.modules["__main__"]
    sys.addaudithook(watch)
    resource.setrlimit(resource.RLIMIT_AS, (_now_bytes() + MEMORY_BYTES,) * 2)
    expect_bounded()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    for n in range(count):
        mutant = mutate(rng, sample, others)
        reading = bare
        if kind.xz and n % 10 == 0:
            mutant = mutate(rng, lzma.compress(sample, preset=0), others)
            reading = kind
        watching = True
        try:
            if kind is LABELS and n % 2:
                for entry in entries(mutant, kind, place=n % 4 == 1):
                    weigh(entry, kind)
            pickles.loads(mutant, reading, "mutant")
            ends["value"] += 1
        except NavauditError as error:
            ends[type(error).__name__] += 1
        finally:
            watching = False
    print(dict(ends))
    if fired:
        print("left the machine:", Counter(fired))
    return int(bool(fired) or set(ends) != {"value", "BadInput", "Refused"})


def expect_bounded() -> None:
    """Stop unless the limit on memory bites here."""
    try:
        bytearray(2 * MEMORY_BYTES)
    except MemoryError:
        return
    sys.exit("this system does not bound a process's memory")


def _now_bytes() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
