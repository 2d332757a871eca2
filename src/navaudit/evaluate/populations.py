"""F and R: tokens whose human fails, and the rest.

F holds the tokens whose human scores zero on lane keeping, driving direction, traffic lights,
collisions or time to collision; R holds all others. Human values come from a run, a scene set, a
label set, a census, or a table with a column for each component; or F comes as a list of tokens.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS, DDC, LK, NC, PDM, SHORT, TLC, TTC
from navaudit.errors import BadInput
from navaudit.evaluate.judge import EVALUATION
from navaudit.evaluate.run import MANIFEST, Run
from navaudit.labels.labelset import LabelSet
from navaudit.labels.tree import GROUP as LABELS
from navaudit.scene.store import MANIFEST as SCENES
from navaudit.scene.store import SceneSet
from navaudit.score.forgive import forgiven_columns
from navaudit.score.score import Settings, score_human

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Say = Callable[[str, int, int], None]
"""Told what happened, how many scenes are done, and how many there will be."""

FAILING: Final = (LK, DDC, TLC, NC, TTC)
"""A human zero on any of these puts a token into F. Drivable area is not among them."""

LISTS: Final = (".txt", ".json")

CENSUS: Final = "human.csv"
"""Where a census keeps what every human scores."""


def failing(human: Floats, tokens: Sequence[str]) -> Mask:
    """Which tokens are F, ``[token]``, by the human's values ``[token, component]``.

    Examples
    --------
    >>> human = np.ones((2, 8))
    >>> human[1, LK] = 0.0
    >>> failing(human, ["a", "b"]).tolist()
    [False, True]
    """
    read = human[:, FAILING]
    unknown = np.isnan(read).any(axis=1)
    if unknown.any():
        raise BadInput(
            f"{int(unknown.sum())} of {len(tokens)} tokens have no human values",
            where=f"first {tokens[int(unknown.argmax())]}",
            expected=f"human {', '.join(SHORT[column] for column in FAILING)} of every token",
            remedy="leave these tokens out, or say elsewhere which tokens are F",
        )
    return np.asarray(forgiven_columns(read).any(axis=1), np.bool_)


@dataclass(frozen=True, eq=False)
class Humans:
    """What is known of the humans of some tokens."""

    failing: Mask
    """``[token]``: F."""
    values: Floats | None
    """``[token, component]``; None where F came as a list."""
    caution: str | None = None
    """What to know about them."""


def read_humans(
    path: Path, tokens: Sequence[str], settings: Settings = EVALUATION, say: Say | None = None
) -> Humans:
    """Read F, and human values if there are any, of some tokens by whatever lies at a path."""
    if path.suffix in LISTS or (path.suffix == ".csv" and not _components_of(_table(path)[0])):
        return Humans(_listed(path, tokens), None)
    values = read_human(path, tokens, settings, say)
    return Humans(failing(values, tokens), values, _caution(path, settings))


def _caution(path: Path, settings: Settings) -> str | None:
    """A label set may have judged its humans by the other body of driving direction."""
    if not (path / LABELS).is_file():
        return None
    ddc = LabelSet.open(path).settings.get("ddc")
    if ddc == settings.ddc:
        return None
    return f"{path.name}: its humans are judged by driving direction {ddc}, runs by {settings.ddc}"


def read_human(
    path: Path, tokens: Sequence[str], settings: Settings = EVALUATION, say: Say | None = None
) -> Floats:
    """Human values ``[token, component]`` by whatever lies at a path, NaN where it has none."""
    if (path / MANIFEST).is_file():
        run = Run.open(path)
        return _picked(path, tokens, run.tokens, run.human)
    if (path / LABELS).is_file():
        labels = LabelSet.open(path)
        return _picked(path, tokens, labels.tokens, labels.human[:, :PDM])
    if (path / SCENES).is_file():
        return _of_scenes(SceneSet.open(path), tokens, settings, say)
    if (path / CENSUS).is_file():
        return _of_table(path / CENSUS, tokens)
    if path.suffix == ".csv":
        return _of_table(path, tokens)
    raise BadInput(
        "there are no human values here" if path.exists() else "there is no such file or folder",
        where=str(path),
        expected="a run, a scene set, a label set, a census, a CSV, or a list of tokens",
    )


def _of_scenes(
    scenes: SceneSet, tokens: Sequence[str], settings: Settings, say: Say | None
) -> Floats:
    """Score the humans of these tokens, which takes a while for thousands."""
    human = np.full((len(tokens), PDM), np.nan)
    for row, token in enumerate(tokens):
        scene = scenes.scene(token)
        if scene.human is not None:
            human[row] = score_human(scene, settings).columns[:PDM, 0]
        if say is not None:
            say("", row + 1, len(tokens))
    return human


def _of_table(path: Path, tokens: Sequence[str]) -> Floats:
    rows = _table(path)
    columns = _components_of(rows[0])
    values = np.full((len(rows) - 1, PDM), np.nan)
    try:
        for row, cells in enumerate(rows[1:]):
            for component, at in columns.items():
                values[row, component] = float(cells[at]) if cells[at] else np.nan
    except (ValueError, IndexError) as error:
        raise BadInput(f"a human value cannot be read: {error}", where=str(path)) from error
    at = rows[0].index("token")
    return _picked(path, tokens, tuple(row[at] for row in rows[1:]), values)


def _picked(path: Path, tokens: Sequence[str], known: Sequence[str], values: Floats) -> Floats:
    """Rows of the wanted tokens, in their order."""
    place = {token: row for row, token in enumerate(known)}
    missing = [token for token in tokens if token not in place]
    if missing:
        raise BadInput(
            f"{len(missing)} of {len(tokens)} tokens are not there",
            where=f"{path}; first {missing[0]}",
            expected="human values of every token that is compared",
        )
    return values[[place[token] for token in tokens]]


def _listed(path: Path, tokens: Sequence[str]) -> Mask:
    """F as a list: one token a line, a JSON list, or a CSV column ``token``."""
    if path.suffix == ".json":
        wanted = _json_list(path)
    elif path.suffix == ".csv":
        rows = _table(path)
        wanted = [row[rows[0].index("token")] for row in rows[1:]]
    else:
        wanted = _text(path).split()
    among = set(wanted)
    mask = np.array([token in among for token in tokens], bool)
    if not mask.any():
        raise BadInput(
            f"none of {len(among)} listed tokens is compared",
            where=str(path),
            expected=f"tokens such as {', '.join(tokens[:2])}",
        )
    return mask


def _json_list(path: Path) -> list[str]:
    try:
        listed = json.loads(_text(path))
    except ValueError as error:
        raise BadInput(f"the list cannot be read: {error}", where=str(path)) from error
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise BadInput("this is no list of tokens", where=str(path), expected='["token", ...]')
    return listed


def _table(path: Path) -> list[list[str]]:
    rows = [row for row in csv.reader(_text(path).splitlines()) if row]
    if not rows or "token" not in rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise BadInput(
            "the table has no column token, or rows of different lengths",
            where=str(path),
            expected="a header with token, and a row a token",
        )
    return rows


def _components_of(header: Sequence[str]) -> dict[int, int]:
    """Which column of a table holds which component: by long name, ``human_`` name, or short."""
    place = {name: at for at, name in enumerate(header)}
    found = {}
    for component in range(PDM):
        long, short = COLUMNS[component], SHORT[component]
        named = [name for name in (f"human_{long}", long, f"human_{short}", short) if name in place]
        if named:
            found[component] = place[named[0]]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the file cannot be read: {error}", where=str(path)) from error
