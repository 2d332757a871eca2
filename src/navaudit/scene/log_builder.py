"""Makes the scenes of logs: the work of one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.errors import BadInput, NavauditError
from navaudit.scene.atlas import Atlas
from navaudit.scene.build import build_scene, location_of
from navaudit.scene.crew import Work
from navaudit.scene.filters import SceneFilter
from navaudit.scene.kept import fault, kept_file
from navaudit.scene.logfile import Failure, LogWriter, writing_log
from navaudit.scene.memory import Memory, Mode
from navaudit.scene.outlook import Outlook
from navaudit.scene.reference import Judge, propose
from navaudit.scene.scene import Scene, Track
from navaudit.scene.splits import Pick, scenes_of
from navaudit.scene.store import SCRATCH, log_path
from navaudit.world.logs import Frame, Log, read_log
from navaudit.world.maps import map_file
from navaudit.world.trigonometry import HOUSE, LIBM, Trig

TRIGS: Final[Mapping[str, Trig]] = {one.name: one for one in (LIBM, HOUSE)}


@dataclass(frozen=True)
class Recipe:
    """What a process has to know; it can be pickled where its judge can."""

    maps: Path
    judge: Judge
    scene_filter: SceneFilter
    chunks: str
    mode: Mode
    injected: Mapping[str, tuple[str, ...]]
    trig: str
    settings: str
    """Digest of all settings."""

    def start_memory(self) -> Memory:
        """Return the memory that a chunk begins with."""
        return Memory(self.mode, injected=self.injected)


def begin(recipe: Recipe, folder: Path) -> Work:
    """Make a process ready for work on the set in a folder."""
    return LogBuilder(recipe, folder)


class LogBuilder:
    """Makes the scenes of logs, keeping every map once it is there."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.recipe = recipe
        self.folder = folder
        self.trig = TRIGS[recipe.trig]
        self.atlas = Atlas(folder / SCRATCH, recipe.maps, self.trig)
        self._digests: dict[str, str | None] = {}

    def __call__(self, chunk: tuple[Path, ...]) -> Iterator[str]:
        """Write the scenes of some logs, carrying the memory from one to the next."""
        memory = self.recipe.start_memory()
        for path in chunk:
            memory = self._remembered(memory, self._settle(path, memory))
            yield path.stem

    def _settle(self, path: Path, memory: Memory) -> tuple[str, ...]:
        """Write the scenes of one log, or keep those that are there; return what is carried on."""
        target = log_path(self.folder, path.stem)
        inputs: dict[str, Any] = {
            "log": _digest(path),
            "settings": self.recipe.settings,
            "carried": list(memory.ids),
        }
        kept = kept_file(target, inputs, self._same_maps)
        if kept is not None:
            return kept.carried
        try:
            log = read_log(path, trig=self.trig)
            picks = scenes_of(log, self.recipe.scene_filter)
        except NavauditError as error:
            return self._lose(path, inputs, Failure.of(error, None, path.stem), memory)
        except MemoryError:
            raise
        except Exception as error:
            return self._lose(path, inputs, fault(error, None, path.stem), memory)
        begins = (log.frames[pick.frame] for pick in picks)
        places = sorted({location_of(one) for one in begins if isinstance(one, Frame)})
        inputs["maps"] = {place: self._map_digest(place) for place in places}
        with writing_log(target, log.name, inputs) as writer:
            writer.failures.extend(self._left_out(log, picks))
            memory = self._build_all(log, picks, memory, writer)
            writer.carried = memory.ids
        return memory.ids

    def _lose(
        self, path: Path, inputs: dict[str, Any], why: Failure, memory: Memory
    ) -> tuple[str, ...]:
        """Write that a log as a whole makes no scene."""
        with writing_log(
            log_path(self.folder, path.stem), path.stem, {**inputs, "maps": {}}
        ) as one:
            one.failures.append(why)
            one.carried = memory.ids
        return memory.ids

    def _same_maps(self, inputs: Mapping[str, Any]) -> bool:
        maps = inputs.get("maps")
        return isinstance(maps, dict) and all(
            self._map_digest(place) == digest for place, digest in maps.items()
        )

    def _map_digest(self, place: str) -> str | None:
        """SHA-256 of a map's file, None where there is none: its scenes will say so."""
        if place not in self._digests:
            try:
                self._digests[place] = _digest(map_file(self.recipe.maps, place)[0])
            except BadInput:
                self._digests[place] = None
        return self._digests[place]

    def _remembered(self, memory: Memory, ids: tuple[str, ...]) -> Memory:
        return memory if ids == memory.ids else replace(memory, ids=ids)

    def _build_all(
        self, log: Log, picks: tuple[Pick, ...], memory: Memory, writer: LogWriter
    ) -> Memory:
        for pick in picks:
            if self.recipe.chunks == "scene":
                memory = self.recipe.start_memory()
            try:
                scene, memory = self._build(log, pick, memory)
            except NavauditError as error:
                writer.failures.append(Failure.of(error, pick.token, log.name))
            except MemoryError:
                raise
            except Exception as error:
                writer.failures.append(fault(error, pick.token, log.name))
            else:
                writer.add(scene)
        return self.recipe.start_memory() if self.recipe.chunks in ("scene", "log") else memory

    def _build(self, log: Log, pick: Pick, memory: Memory) -> tuple[Scene, Memory]:
        after = memory

        def plan(outlook: Outlook) -> Track:
            nonlocal after
            planned = propose(outlook, memory, self.recipe.judge)
            after = planned.memory
            return planned.track

        place = location_of(log.frame(pick.frame))
        map_ = self.atlas.map(place, self._map_digest(place))
        return build_scene(log, pick.frame, map_, plan, trig=self.trig), after

    def _left_out(self, log: Log, picks: tuple[Pick, ...]) -> Iterator[Failure]:
        """Tell of wanted tokens that are in this log and make no scene."""
        picked = {pick.token for pick in picks}
        cut = self.recipe.scene_filter
        for token in cut.tokens or ():
            row = log.find(token)
            if row is not None and token not in picked:
                yield Failure(
                    token,
                    log.name,
                    f"no scene has its t = 0 at frame {row} of {len(log)}",
                    expected=f"{cut.num_history_frames - 1} frames before it, "
                    f"{cut.num_future_frames} after it, one in {cut.interval} of them"
                    + (", and a route" if cut.has_route else ""),
                )


def _digest(path: Path) -> str | None:
    """SHA-256 of a file; None where it cannot be read, which its reader will tell of."""
    try:
        return provenance.digest_file(path)
    except OSError:
        return None
