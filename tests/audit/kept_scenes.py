"""Scene sets of scenes drawn by chance or by hand, a few to a log."""

from __future__ import annotations

from dataclasses import replace

from navaudit.scene.store import complete_set, log_path, write_log
from score.wild import wild_scene


def keep(folder, scenes, each=2):
    """A scene set of these scenes under tokens of their own, so many to a log."""
    logs = {}
    for number, scene in enumerate(scenes):
        log = f"log{number // each:02}"
        # a token of 17 letters says that there is no human
        token = f"{number:0{len(scene.token)}x}"
        logs.setdefault(log, []).append(replace(scene, token=token, log=log))
    for log, ones in logs.items():
        write_log(log_path(folder, log), log, {"made": "here"}, ones)
    return complete_set(folder, {"source": "drawn"}, {"navaudit": "0"}, sorted(logs))


def wild_set(folder, seeds, each=2):
    """A scene set of random worlds."""
    return keep(folder, [wild_scene(seed) for seed in seeds], each)
