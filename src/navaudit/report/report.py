"""Folders of results, a scene set and a label set, made into one report.

The report is a folder: ``index.html`` (one page, all in it), ``numbers.json`` and its trace over
all folders, ``numbers.tex``, and, where there are scenes to browse, one of them drawn before and
after the overwrite.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.axes import LK, LOSS_COLUMNS, PDM
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.labels.policies import apply
from navaudit.report.latex import latex
from navaudit.report.numbers import NUMBERS, TRACE, gather
from navaudit.report.page import page
from navaudit.report.panels import panels_of
from navaudit.report.saved import save_figure
from navaudit.report.shelf import Figure, Part, figure_of, read_part
from navaudit.report.stage import Labels, stage
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary
from navaudit.scene.whole import put
from navaudit.score.forgive import forgiven_columns
from navaudit.score.score import Settings

PAGE: Final = "index.html"
SCENES: Final = 10
"""Scenes that a page lets a person browse."""

_PREFERRED: Final = (LK, *(one for one in LOSS_COLUMNS if one != LK))
"""Columns in the order in which one is drawn before and after the overwrite."""

_SETTINGS: Final = tuple(one.name for one in fields(Settings))

Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Browse:
    """What the browser of scenes shows."""

    scenes: SceneSet
    labels: LabelSet
    vocabulary: Vocabulary
    most: int = SCENES


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


def write_report(
    out: Path, folders: Sequence[Path], browse: Browse | None, title: str, say: Say = _silent
) -> Path:
    """Write a report of result folders, and of scenes to look at; return the page's path."""
    parts = [read_part(folder, f"part-{k}") for k, folder in enumerate(folders)]
    flat = gather(folders)
    stages = [] if browse is None else _stages(browse, say)
    panels = None if browse is None else _panels(out, browse)
    html = page(title, parts, flat, stages, panels)
    put(out / TRACE, _trace(parts))
    put(out / NUMBERS, (json.dumps(flat, indent=1) + "\n").encode())
    put(out / "numbers.tex", latex(flat).encode())
    put(out / PAGE, html.encode())
    return out / PAGE


def worth_a_look(human: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Choose tokens to browse: of each column that is forgiven in turn, then one without.

    ``human`` is ``[token, column]``; rows come back in the order in which they are chosen. The
    aggregate never chooses: where it is zero, another column is.
    """
    fired = forgiven_columns(human)
    fired[:, PDM] = False
    queues = [list(np.flatnonzero(fired[:, column])) for column in range(fired.shape[1])]
    queues.sort(key=len, reverse=True)
    chosen: list[int] = []
    while any(queues) and len(chosen) < most:
        for queue in queues:
            while queue and queue[0] in chosen:
                queue.pop(0)
            if queue and len(chosen) < most:
                chosen.append(int(queue.pop(0)))
    plain = np.flatnonzero(~fired.any(axis=1))
    if len(plain) and len(chosen) < most:
        chosen.append(int(plain[0]))
    return np.array(chosen, np.int64)


def _stages(browse: Browse, say: Say) -> list[dict[str, Any]]:
    labels, vocabulary = browse.labels, browse.vocabulary
    made_from = labels.settings.get("vocabulary", vocabulary.digest)
    if labels.candidates != len(vocabulary) or made_from != vocabulary.digest:
        raise BadInput(
            f"the label set is not of this vocabulary of {len(vocabulary)} candidates, "
            f"digest {vocabulary.digest}",
            where=str(labels.folder),
            expected=f"{labels.candidates} candidates, digest {made_from}",
            remedy="give the vocabulary that the labels were made from",
        )
    known = {key: labels.settings[key] for key in _SETTINGS if key in labels.settings}
    settings = Settings(**known)
    rows = worth_a_look(labels.human, browse.most)
    stages = []
    for k, row in enumerate(rows):
        token = labels.tokens[row]
        say(f"drawing scene {token}", k, len(rows))
        said = Labels(labels.raw(token), labels.human[row], labels.path_lane_keeping(token))
        stages.append(stage(browse.scenes.scene(token), vocabulary, said, settings))
    return stages


def _panels(out: Path, browse: Browse) -> Figure | None:
    """Draw a forgiven column of the first scene to look at, before and after; None without one."""
    labels = browse.labels
    rows = worth_a_look(labels.human, 1)
    read = [one for one in _PREFERRED if len(rows) and labels.human[rows[0], one] == 0.0]
    if not read:
        return None
    token, human = labels.tokens[rows[0]], labels.human[rows[0]]
    raw = labels.raw(token)
    scene = browse.scenes.scene(token)
    drawn, data = panels_of(
        scene, browse.vocabulary, raw, apply("published", raw, human), read[0], Settings()
    )
    return figure_of(*save_figure(out, drawn, data)[1:], caption=data.title)


def _trace(parts: Sequence[Part]) -> bytes:
    numbers = {name: one for part in parts for name, one in part.trace.items()}
    record = {"numbers": numbers, "provenance": provenance.here()}
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()
