"""An experiment as one file: what it is, what it costs, what is expected, and all that decides it.

A TOML file::

    name = "town"
    command = "navaudit train town.toml --arm raw --seed 0 --out runs/P0"
    cost = "half a minute on one core"
    expects = "lane keeping on forgiven scenes above that of the published arm"

    [agent]
    checkpoint = "base.ckpt"         # to continue; or shape = "narrow" and vocabulary = "v.npy"

    [data]
    labels = "labels"
    scenes = "scenes"
    logs = "town/navsim_logs/town"
    images = "town/sensor_blobs/town"

    [training]
    arm = "published"
    seed = 0
    steps = 300
    batch = 432                      # scenes of an optimizer step
    part = 18                        # scenes that are computed at once
    rate = 2e-4                      # of a fresh optimizer; a continued one keeps its own
    save = [100, 300]                # steps after which a checkpoint is kept
    keep_every = 50                  # steps between checkpoints to go on from

Steps are those of this run. Paths are relative to the file, or to a folder that is named.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.train.targets import ARMS

_TEXTS: Final = ("name", "command", "cost", "expects")
_TABLES: Final = {
    "agent": ("checkpoint", "shape", "vocabulary", "encoder"),
    "data": ("labels", "scenes", "logs", "images"),
    "training": (
        "arm", "seed", "steps", "batch", "part", "rate", "save", "keep_every", "threads",
        "readers", "recompute", "device",
    ),
}  # fmt: skip
_PATHS: Final = (*_TABLES["data"], "checkpoint", "vocabulary", "encoder")
_ASIDE: Final = (*_TEXTS, *_PATHS, "steps", "save", "keep_every", "readers", "recompute")
"""What decides no step, or enters as a digest of what lies there."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run."""

    labels: Path
    scenes: Path
    logs: Path
    images: Path
    steps: int
    batch: int
    arm: str = "published"
    seed: int = 0
    part: int = 0
    """Scenes computed at once; 0 means the whole batch."""
    rate: float = 2e-4
    save: tuple[int, ...] = ()
    """Steps after which a checkpoint is kept; the last step always is."""
    keep_every: int = 50
    checkpoint: Path | None = None
    shape: str | None = None
    """Beside a checkpoint it says what the weights cannot: ``hydra-mdp`` drops no candidates."""
    vocabulary: Path | None = None
    encoder: Path | None = None
    """Weights of DD3D for the image encoder of an agent that begins anew."""
    threads: int = 0
    """Of torch, on a processor: they decide the last bits. 0 means as many as torch takes."""
    readers: int = 2
    """Threads that read pictures; they decide nothing."""
    recompute: bool = False
    """Whether the image encoder is computed twice to save memory; decides nothing."""
    device: str = "cpu"
    name: str = ""
    command: str = ""
    cost: str = ""
    expects: str = ""

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise BadInput(f"arm is {self.arm!r}", expected=" | ".join(ARMS))
        for name in ("steps", "batch", "keep_every", "readers"):
            _expect_count(name, getattr(self, name), 1)
        for name in ("seed", "part", "threads"):
            _expect_count(name, getattr(self, name), 0)
        for name in _TEXTS:
            _expect(name, getattr(self, name), str, "text")
        _expect("recompute", self.recompute, bool, "true or false")
        if type(self.rate) not in (int, float) or not 0.0 < self.rate < float("inf"):
            raise BadInput(f"rate is {self.rate!r}", expected="a number above 0")
        self._expect_saved()
        self._expect_agent()

    def _expect_saved(self) -> None:
        _expect("save", self.save, tuple, "steps such as [100, 300]")
        for step in self.save:
            _expect_count("a step of save", step, 1)
            if step > self.steps:
                raise BadInput(
                    f"a checkpoint is to be kept after step {step}",
                    expected=f"steps from 1 to {self.steps}",
                )

    def _expect_agent(self) -> None:
        if self.checkpoint is None and self.shape is None:
            raise BadInput(
                "no agent is given",
                expected="checkpoint, to continue it; or shape and vocabulary, to begin anew",
            )
        if self.checkpoint is not None and self.encoder is not None:
            raise BadInput(
                "an encoder is given to an agent that has one",
                expected="no encoder beside a checkpoint",
            )
        if self.checkpoint is None and self.vocabulary is None:
            raise BadInput("no vocabulary is given", expected="one for an agent that begins anew")

    def told(self) -> dict[str, Any]:
        """Settings that decide what a step does, as plain values; not how many steps there are."""
        return {key: value for key, value in asdict(self).items() if key not in _ASIDE}


def read_recipe(path: Path, overrides: Mapping[str, Any], at: Path | None = None) -> Recipe:
    """Read an experiment's file; ``overrides`` that are not None take the place of its settings.

    ``at`` is the folder that paths in the file are relative to, in place of its own. A shorter run
    that is asked for leaves out the checkpoints it does not come to.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput("there is no such experiment", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the experiment cannot be read: {error}", where=str(path), expected="a TOML file"
        ) from error
    flat = _flat(path, content)
    asked = {key: value for key, value in overrides.items() if value is not None}
    for key in _PATHS:
        if key in flat:
            flat[key] = (at or path.parent) / flat[key]
    if isinstance(flat.get("save"), list):
        flat["save"] = tuple(flat["save"])
        if "steps" in asked:
            reached = range(asked["steps"] + 1)
            flat["save"] = tuple(one for one in flat["save"] if one in reached)
    flat.update(asked)
    lacking = [name for name in _needed() if name not in flat]
    if lacking:
        raise BadInput(f"the experiment lacks {', '.join(lacking)}", where=str(path))
    try:
        return Recipe(**flat)
    except BadInput as error:
        raise BadInput(
            error.what, where=str(path), expected=error.expected, remedy=error.remedy
        ) from error


def _flat(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Take the settings out of their tables; each may stand in its own table alone."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        if name in _TABLES and isinstance(value, dict):
            found.update(_known(path, f"[{name}]", value, _TABLES[name]))
        else:
            found.update(_known(path, "the top", {name: value}, (*_TEXTS, *_TABLES)))
    for key in _PATHS:
        if not isinstance(found.get(key, ""), str) or found.get(key) == "":
            raise BadInput(f"{key} is {found[key]!r}", where=str(path), expected="a path")
    return found


def _known(
    path: Path, place: str, given: Mapping[str, Any], known: tuple[str, ...]
) -> Mapping[str, Any]:
    strange = [key for key in given if key not in known]
    tables = [key for key in given if key in _TABLES]
    if strange:
        raise BadInput(
            f"there is no setting {strange[0]!r} at {place} of an experiment",
            where=str(path),
            expected=", ".join(known),
        )
    if tables:
        raise BadInput(f"{tables[0]} is no table", where=str(path), expected=f"[{tables[0]}]")
    return given


def _needed() -> list[str]:
    return [one.name for one in fields(Recipe)[:6]]


def with_arm(recipe: Recipe, arm: str, seed: int) -> Recipe:
    """Return the same experiment under another arm and seed."""
    return replace(recipe, arm=arm, seed=seed)


def _expect_count(name: str, value: object, least: int) -> None:
    if type(value) is not int or value < least:
        raise BadInput(f"{name} is {value!r}", expected=f"a whole number, {least} or more")


def _expect(name: str, value: object, kind: type, words: str) -> None:
    if not isinstance(value, kind):
        raise BadInput(f"{name} is {value!r}", expected=words)
