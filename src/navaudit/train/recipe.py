"""An experiment as one file: what it is, what it costs, what is expected, and all that decides it.

A TOML file::

    name = "town"
    command = "navaudit train town.toml --arm raw --seed 0 --out runs/P0"
    cost = "half a minute on two cores"
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

Paths are relative to the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.train.targets import ARMS

_TABLES: Final = ("agent", "data", "training")


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
    vocabulary: Path | None = None
    device: str = "cpu"
    name: str = ""
    command: str = ""
    cost: str = ""
    expects: str = ""

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise BadInput(f"arm is {self.arm!r}", expected=" | ".join(ARMS))
        for name in ("steps", "batch", "keep_every"):
            _expect_count(name, getattr(self, name), 1)
        for name in ("seed", "part"):
            _expect_count(name, getattr(self, name), 0)
        if not self.rate > 0.0:
            raise BadInput(f"rate is {self.rate!r}", expected="a number above 0")
        late = [step for step in self.save if not 1 <= step <= self.steps]
        if late:
            raise BadInput(
                f"a checkpoint is to be kept after step {late[0]}",
                expected=f"steps from 1 to {self.steps}",
            )
        if (self.checkpoint is None) == (self.shape is None):
            raise BadInput(
                "the agent is given by both a checkpoint and a shape"
                if self.checkpoint
                else "no agent is given",
                expected="checkpoint, to continue it; or shape and vocabulary, to begin anew",
            )
        if self.shape is not None and self.vocabulary is None:
            raise BadInput("no vocabulary is given", expected="one for an agent that begins anew")

    def told(self) -> dict[str, Any]:
        """Settings that decide what a step does, as plain values; not how many steps there are."""
        aside = {"name", "command", "cost", "expects", "steps", "save", "keep_every"}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if key not in aside and not isinstance(value, Path)
        }


def read_recipe(path: Path, overrides: Mapping[str, Any]) -> Recipe:
    """Read an experiment's file; ``overrides`` that are not None take the place of its settings."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput("there is no such experiment", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the experiment cannot be read: {error}", where=str(path), expected="a TOML file"
        ) from error
    flat = {key: value for key, value in content.items() if key not in _TABLES}
    for table in _TABLES:
        flat.update(content.get(table, {}))
    flat.update({key: value for key, value in overrides.items() if value is not None})
    return _recipe(path, flat)


def _recipe(path: Path, flat: dict[str, Any]) -> Recipe:
    known = {one.name: one.type for one in fields(Recipe)}
    strange = sorted(set(flat) - set(known))
    if strange:
        raise BadInput(
            f"there is no setting {strange[0]!r}",
            where=str(path),
            expected=", ".join(known),
        )
    for key, kind in known.items():
        if "Path" in str(kind) and flat.get(key) is not None:
            flat[key] = path.parent / str(flat[key])
    if "save" in flat:
        flat["save"] = tuple(flat["save"])
    try:
        return Recipe(**flat)
    except BadInput as error:
        raise BadInput(
            error.what, where=str(path), expected=error.expected, remedy=error.remedy
        ) from error
    except TypeError as error:
        missing = str(error).partition("argument")[2].strip(" s:")
        raise BadInput(f"the experiment lacks {missing}", where=str(path)) from error


def with_arm(recipe: Recipe, arm: str, seed: int) -> Recipe:
    """Return the same experiment under another arm and seed."""
    return replace(recipe, arm=arm, seed=seed)


def _expect_count(name: str, value: object, least: int) -> None:
    if type(value) is not int or value < least:
        raise BadInput(f"{name} is {value!r}", expected=f"a whole number, {least} or more")
