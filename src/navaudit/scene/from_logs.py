"""Scenes from logs and maps: what decides them, and how the logs are shared out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.errors import BadInput
from navaudit.scene import log_builder
from navaudit.scene.code import code_of
from navaudit.scene.filters import SYNTHETIC, SceneFilter, synthetic_tokens
from navaudit.scene.log_builder import TRIGS, Recipe, begin
from navaudit.scene.logfile import Failure
from navaudit.scene.memory import Memory, in_chunks
from navaudit.scene.prepare import Plan
from navaudit.scene.reference import Judge
from navaudit.scene.splits import select
from navaudit.world.maps import listed_versions
from navaudit.world.trigonometry import LIBM

EVERY_SCENE: Final = SceneFilter(frame_interval=1)
"""Every frame with a route, three frames before it and ten after it, as NAVSIM's splits cut."""

_LISTS: Final = ("log_names", "tokens", *SYNTHETIC)


@dataclass(frozen=True)
class FromLogs:
    """Logs, maps and settings, from which scenes follow."""

    logs: Path
    """Folder of log files."""
    maps: Path
    """Maps root."""
    judge: Judge
    """Scores the planner's proposals; a function of a module, since it goes to other processes."""
    scene_filter: SceneFilter = EVERY_SCENE
    chunks: str = "log"
    """Where a memory starts anew: ``log``, ``scene``, or a number of runs of logs."""
    memory: Memory = field(default_factory=Memory)
    """What a chunk begins with."""
    trig: str = LIBM.name

    def __post_init__(self) -> None:
        if self.trig not in TRIGS:
            raise BadInput(f"trig is {self.trig!r}", expected=" | ".join(TRIGS))
        in_chunks([], self.chunks)

    def settings(self) -> dict[str, Any]:
        """All that decides the bytes of the scenes, beside the input files."""
        lists = {token: list(ids) for token, ids in self.memory.injected.items()}
        return {
            "source": "logs",
            "filter": _told(self.scene_filter),
            "chunks": self.chunks,
            "memory": self.memory.mode,
            "injected": provenance.digest_settings(lists) if lists else None,
            "trig": self.trig,
            "code": code_of(Path(__file__), self.judge),
        }

    def plan(self) -> Plan:
        """Share the logs out; looks through all of them first only where that cannot be helped."""
        listed_versions(self.maps)  # or every scene would say what is wrong with them
        across = self.memory.mode in ("stock", "blind") and self.chunks not in ("log", "scene")
        if across or self.scene_filter.max_scenes is not None:
            return self._plan_by_scenes(across)
        found = {path.stem: path for path in self.logs.glob("*.pkl")}
        if not found:
            raise BadInput(
                "there are no logs",
                where=str(self.logs),
                expected="*.pkl",
                remedy="give the folder of one data split below navsim_logs",
            )
        wanted = self.scene_filter.log_names
        names = sorted(found if wanted is None else set(wanted) & set(found))
        missing = sorted(set(wanted or ()) - set(found))
        return self._plan(
            [(name,) for name in names],
            self.scene_filter,
            [_no_log(name, self.logs) for name in missing],
            wanted=self.scene_filter.tokens or (),
        )

    def _plan_by_scenes(self, across: bool) -> Plan:
        real = replace(self.scene_filter, include_synthetic_scenes=False)
        found = select(self.logs, real, trig=TRIGS[self.trig])
        of_scene = [pick.log for pick in found.picks]
        chunks = in_chunks(of_scene, self.chunks if across else "log")
        tokens = tuple(pick.token for pick in found.picks)
        return self._plan(
            [tuple(dict.fromkeys(of_scene[i] for i in chunk)) for chunk in chunks],
            replace(real, tokens=tokens, max_scenes=None),
            [
                *(_no_log(name, self.logs) for name in found.missing_logs),
                *(Failure(token, "", why) for token, why in found.missing_tokens.items()),
            ],
        )

    def _plan(
        self,
        names: list[tuple[str, ...]],
        scene_filter: SceneFilter,
        failures: list[Failure],
        wanted: tuple[str, ...] = (),
    ) -> Plan:
        recipe = Recipe(
            maps=self.maps,
            judge=self.judge,
            scene_filter=scene_filter,
            chunks=self.chunks,
            mode=self.memory.mode,
            injected=dict(self.memory.injected),
            trig=self.trig,
            # of the filter as given: the same scenes follow from it however they were found
            settings=provenance.digest_settings(self.settings()),
        )
        return Plan(
            tasks=tuple(tuple(self.logs / f"{log}.pkl" for log in task) for task in names),
            names=tuple(names),
            start=partial(begin, recipe),
            modules=(log_builder.__name__, self.judge.__module__),
            failures=(*failures, *_synthetic(self.scene_filter)),
            wanted=tuple(dict.fromkeys((*wanted, *self.memory.injected))),
        )


def _told(scene_filter: SceneFilter) -> dict[str, Any]:
    """A filter as a manifest tells it: long lists by their number and digest."""
    told = asdict(scene_filter)
    for name in _LISTS:
        values = told[name]
        if values is not None:
            digest = provenance.digest_settings({name: sorted(values)})
            told[name] = f"{len(values)} of sha256 {digest[:16]}"
    return told


def _synthetic(scene_filter: SceneFilter) -> Iterator[Failure]:
    """Tell of the scenes of a second stage, which are drawn from files of their own."""
    if scene_filter.include_synthetic_scenes:
        for token in synthetic_tokens(scene_filter):
            yield Failure(
                token,
                "",
                "a synthetic scene is in no log",
                expected="scenes of logs",
                remedy="read it from metric caches with --metric-cache, or set "
                "include_synthetic_scenes: false",
            )


def _no_log(log: str, folder: Path) -> Failure:
    return Failure(
        None, log, "the log is not there", str(folder), f"{log}.pkl", "download it, and run again"
    )
