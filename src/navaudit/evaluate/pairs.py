"""What is compared with what: runs, arms, seeds and pairs, from a TOML or JSON file.

Everything but ``pairs`` may be left out::

    pairs = [["P", "A"], ["M", "A"], ["L", "A"], ["A0", "released"]]   # treatment, control

    human = "runs/A0"            # whose human values make F and R, or a list of the tokens of F
    index = "navtest_index.csv"  # token and log_name, where result files do not name logs
    resamples = 10000
    seed = 0                     # of the bootstrap
    prefix = "rt"                # of the numbers' names; "compare" unless it is said
    steps = 300                  # said of the experiment, and only written down
    initial_step = 4800

    [arms]                       # runs by seed; a list means seeds 0, 1, 2, ...
    A = ["A0", "A1", "A2"]
    M = ["M0", "M1", "M2"]
    P = ["P0", "P1", "P2"]
    L = { 0 = "L0" }

    [runs]                       # where runs lie, unless the command line says so
    A0 = "runs/A0"
    released = "released.csv"
    theirs = { path = "theirs.csv", switch = "on" }     # what a file cannot say of itself
    both = { off = "plain.csv", on = "forgiven.csv" }   # one model, two files

Paths are relative to the file. Two arms are paired seed by seed; two runs are one pair. With arms
and a prefix like these, the numbers have the names of the paper; see `navaudit.evaluate.named`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.stats.bootstrap import RESAMPLES

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_STATED: Final = ("off", "on")


@dataclass(frozen=True)
class Source:
    """Where one run lies: a run's folder or a result file, or a result file for each switch."""

    name: str
    path: Path
    switch: str | None = None
    """What a person says of the file: forgiveness ``off`` or ``on`` in components and score."""
    forgiven: Path | None = None
    """A second file of the same model with forgiveness on; ``path`` is then the one without."""


@dataclass(frozen=True)
class Pairs:
    """What is compared; complete, and free of contradictions."""

    sources: tuple[Source, ...]
    pairs: tuple[tuple[str, str], ...]
    """Treatment and control: two arms, or two runs."""
    arms: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Run of each seed of each arm."""
    human: Path | None = None
    index: Path | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    prefix: str = "compare"
    steps: int | None = None
    initial_step: int | None = None

    def __post_init__(self) -> None:
        names = [source.name for source in self.sources]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"two runs are named {twice}", expected="a name of its own for each")
        for name in (*names, *self.arms, self.prefix):
            if not _NAME.fullmatch(name):
                raise BadInput(f"{name!r} is no name", expected="letters, digits, . _ and -")
        _expect_known(self, set(names))
        _expect_labels(self, names)
        if self.resamples < 1:
            raise BadInput(f"{self.resamples} resamples", expected="at least one")

    def label(self, run: str) -> str:
        """Arm and seed of a run, ``A0``; the run's own name if it is in no arm."""
        for arm, runs in self.arms.items():
            for seed, name in runs.items():
                if name == run:
                    return f"{arm}{seed}"
        return run

    def runs_of(self, pair: tuple[str, str]) -> tuple[tuple[int | None, str, str], ...]:
        """Seed, treated run and control run of each pairing of a pair."""
        treated, control = pair
        if treated not in self.arms:
            return ((None, treated, control),)
        one, other = self.arms[treated], self.arms[control]
        return tuple((seed, one[seed], other[seed]) for seed in sorted(set(one) & set(other)))


def _expect_known(pairs: Pairs, names: set[str]) -> None:
    for arm, runs in pairs.arms.items():
        if arm in names:
            raise BadInput(f"{arm} is an arm and a run", expected="different names")
        missing = [run for run in runs.values() if run not in names]
        if missing or not runs:
            raise BadInput(
                f"arm {arm} has no run {missing[0]}" if missing else f"arm {arm} has no runs",
                expected=f"one of {', '.join(sorted(names))}",
                remedy="give the run on the command line, or under [runs]",
            )
    for treated, control in pairs.pairs:
        arms = [name in pairs.arms for name in (treated, control)]
        unknown = [name for name in (treated, control) if name not in {*pairs.arms, *names}]
        if unknown or arms[0] != arms[1] or treated == control:
            raise BadInput(
                f"{treated} and {control} cannot be paired",
                where=f"{unknown[0]} is not known" if unknown else None,
                expected="two arms, or two runs, that are not the same",
            )
        if not pairs.runs_of((treated, control)):
            raise BadInput(f"arms {treated} and {control} have no seed in common")
    if not pairs.pairs:
        raise BadInput("there is nothing to compare", expected='pairs = [["P", "A"]]')


def _expect_labels(pairs: Pairs, names: Sequence[str]) -> None:
    """A run is in one arm at most, and no two runs go by the same label."""
    in_arms = [run for runs in pairs.arms.values() for run in runs.values()]
    for run in in_arms:
        if in_arms.count(run) > 1:
            raise BadInput(f"run {run} stands in two arms or at two seeds", expected="one place")
    labels = [pairs.label(name) for name in names]
    for label in labels:
        if labels.count(label) > 1:
            raise BadInput(
                f"two runs go by {label}", expected="no run named like another's arm and seed"
            )


def source_of(text: str) -> Source:
    """Return the run that ``PATH``, or ``NAME=PATH``, means; its name is else that of the file.

    Examples
    --------
    >>> source_of("runs/A0").name, source_of("theirs=2024.csv").name, source_of("b.csv").name
    ('A0', 'theirs', 'b')
    """
    name, equals, path = text.partition("=")
    if equals and _NAME.fullmatch(name) and not Path(text).exists():
        return Source(name, Path(path))
    return Source(Path(text).stem if text.endswith(".csv") else Path(text).name, Path(text))


def pairs_of_two(sources: Sequence[Source]) -> Pairs:
    """Pair two runs without a file: the second against the first."""
    if len(sources) != 2:
        raise BadInput(
            f"{len(sources)} runs and no file of pairs",
            expected="two runs, or a file that says what is compared with what",
        )
    return Pairs(tuple(sources), ((sources[1].name, sources[0].name),))


def read_pairs(path: Path, given: Sequence[Source] = ()) -> Pairs:
    """Read a file of pairs; runs given elsewhere come first."""
    stated = _read(path)
    _expect_keys(stated, path)
    try:
        runs = [_source(name, one, path) for name, one in dict(stated.get("runs", {})).items()]
        arms = {str(arm): _by_seed(runs_) for arm, runs_ in dict(stated.get("arms", {})).items()}
        pairs = tuple((str(treated), str(control)) for treated, control in stated["pairs"])
        numbers = {name: int(stated[name]) for name in _NUMBERS if name in stated}
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"the file of pairs lacks or mistypes {error}",
            where=str(path),
            expected='pairs = [["treatment", "control"]], [arms] with runs by seed, [runs]',
        ) from error
    places = {name: path.parent / str(stated[name]) for name in _PATHS if name in stated}
    named = {"prefix": str(stated["prefix"])} if "prefix" in stated else {}
    try:
        return Pairs((*given, *runs), pairs, arms, **places, **numbers, **named)  # type: ignore[arg-type]
    except BadInput as error:
        where = f"{path}; {error.where}" if error.where else str(path)
        raise BadInput(
            error.what, where=where, expected=error.expected, remedy=error.remedy
        ) from error


_PATHS: Final = ("human", "index")
_NUMBERS: Final = ("resamples", "seed", "steps", "initial_step")
_KEYS: Final = {"pairs", "arms", "runs", "prefix", *_PATHS, *_NUMBERS}


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        stated = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the file of pairs cannot be read: {error}",
            where=str(path),
            expected="TOML, or JSON in a file that ends in .json",
        ) from error
    if not isinstance(stated, dict):
        raise BadInput("the file of pairs is no table", where=str(path))
    return stated


def _expect_keys(stated: Mapping[str, Any], path: Path) -> None:
    strange = sorted(set(stated) - _KEYS)
    if strange:
        raise BadInput(
            f"{strange[0]!r} means nothing here",
            where=str(path),
            expected=f"some of {', '.join(sorted(_KEYS))}",
        )


def _source(name: str, stated: Any, path: Path) -> Source:
    said = {"path": stated} if isinstance(stated, str) else dict(stated)
    if set(said) == set(_STATED):
        return Source(
            name, path.parent / said["off"], switch="off", forgiven=path.parent / said["on"]
        )
    if not {"path"} <= set(said) <= {"path", "switch"} or said.get("switch", "on") not in _STATED:
        raise BadInput(
            f"run {name} is {stated}",
            where=str(path),
            expected='a path, { path = ..., switch = "off" or "on" }, or { off = ..., on = ... }',
        )
    return Source(name, path.parent / said["path"], switch=said.get("switch"))


def _by_seed(runs: Any) -> dict[int, str]:
    if isinstance(runs, list):
        return {seed: str(run) for seed, run in enumerate(runs)}
    return {int(seed): str(run) for seed, run in dict(runs).items()}
