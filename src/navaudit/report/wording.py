"""The words beside the picture of an explanation: a row a column, and what forgiveness does."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch

from navaudit.axes import DAC, DDC, EP, HC, LK, NC, PDM, SHORT, TLC, TTC
from navaudit.report.look import Look
from navaudit.report.marks import badge
from navaudit.score.explain import Explanation
from navaudit.score.reason import Reason

ORDER: Final = (NC, DAC, TLC, DDC, TTC, LK, HC, EP, PDM)
"""Columns from what multiplies to what is weighted to what comes out."""
MULTIPLIED: Final = (NC, DAC, TLC, DDC)
GRADED: Final = (EP, PDM)
"""Columns that are neither passed nor failed."""

WRAP: Final = 60
"""Characters of a row."""
LEADING: Final = 0.55
"""Room between two rows, in lines."""


def gravest(failures: tuple[Reason, ...]) -> Reason | None:
    """Return the failure to speak of first: what multiplies, what costs most, what comes first."""

    def weight(one: Reason) -> tuple[bool, bool, float, int]:
        return (one.column == HC, one.column not in MULTIPLIED, one.score, one.step or 0)

    return min(failures, key=weight, default=None)


def headline(explanation: Explanation, width: int = 104) -> str:
    """Say in one line what went wrong."""
    failures = explanation.driven.failures
    first = gravest(failures)
    if first is None:
        scores = explanation.driven.scores
        return f"Passes every test: progress {scores[EP]:.3f}, aggregate {scores[PDM]:.3f}"
    more = f" (+{len(failures) - 1} more)" if len(failures) > 1 else ""
    text = f"{SHORT[first.column]} {first.words}"
    return textwrap.shorten(text, width - len(more), placeholder=" …") + more


def forgiveness(explanation: Explanation) -> str:
    """Say in a sentence or two what the human's zeros change."""
    if explanation.human is None:
        return "There is no human drive here, so nothing is forgiven."
    zeros = [SHORT[one] for one in np.flatnonzero(explanation.forgiven)]
    if not zeros:
        return "The human scores zero nowhere, so nothing is forgiven."
    human = f"The human scores 0 in {', '.join(zeros)}: there every candidate is published with 1."
    turned = [SHORT[one] for one in explanation.turned]
    if not turned:
        return f"{human} This one has 1 there anyway."
    return f"{human} Forgiveness hides this one's {', '.join(turned)}."


def draw_table(ax: Axes, explanation: Explanation, numbers: dict[int, int], look: Look) -> None:
    """Write one row a column: its number, score and words; then what forgiveness does."""
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(1, 0)
    rows = []
    for column in ORDER:
        reason = explanation.driven.reasons[column]
        rows.append((reason, textwrap.wrap(_tied(reason.words), WRAP)[:3]))
    note = textwrap.wrap(forgiveness(explanation), WRAP + 12)[:3]
    lines = sum(len(words) + LEADING for _, words in rows) + len(note) + LEADING
    pitch = min(1.0 / lines, 0.052)
    y = 0.5 * pitch
    for reason, words in rows:
        _draw_row(ax, y, pitch, reason, words, look)
        if reason.column in numbers:
            badge(ax, np.array([0.022, y]), numbers[reason.column], look, 7.5)
        if reason.column in explanation.turned:
            ax.text(
                0.222, y, "→ 1", fontsize=8.6, weight="bold", color=look.human, va="center",
                ha="left",
            )  # fmt: skip
        y += (len(words) + LEADING) * pitch
    ax.axhline(y - 0.45 * pitch, color=look.edge, lw=0.6)
    for k, line in enumerate(note):
        colour = look.human if explanation.turned else look.faint
        ax.text(0.0, y + (0.3 + k) * pitch, line, fontsize=8.3, color=colour, va="center")


def _tied(words: str) -> str:
    """Tie units and weights to their numbers, so that no line breaks between them."""
    return re.sub(r"(?<=\d) (s|m|m/s.|rad/s.?|x \d+)(?=\W|$)", "\u00a0\\1", words)


def _draw_row(
    ax: Axes, y: float, pitch: float, reason: Reason, words: list[str], look: Look
) -> None:
    graded = reason.column in GRADED
    failed = reason.fails and not graded
    chip = FancyBboxPatch(
        (0.055, y - 0.38 * pitch), 0.155, 0.76 * pitch, boxstyle="round,pad=0.004",
        facecolor=to_rgba(look.failure if failed else look.faint, 0.22), edgecolor="none",
    )  # fmt: skip
    ax.add_patch(chip)
    style: dict[str, Any] = {"fontsize": 8.6, "color": look.ink, "va": "center"}
    weight = "bold" if failed else "normal"
    score = f"{reason.score:.3f}" if graded else f"{reason.score:g}"
    ax.text(0.062, y, SHORT[reason.column], weight="bold", **style)
    ax.text(0.205, y, score, weight=weight, ha="right", **style)
    colour = look.ink if reason.fails or graded else look.faint
    for k, line in enumerate(words):
        ax.text(0.28, y + k * pitch, line, fontsize=8.2, va="center", color=colour)
