"""What trainings lost on the way: a figure of their logs, and the numbers they ended with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from navaudit.audit.table import Table
from navaudit.errors import BadInput
from navaudit.findings import Finding, count, number
from navaudit.report.look import LIGHT, Look
from navaudit.report.numbers import write_numbers
from navaudit.report.saved import save_figure
from navaudit.train.journal import LOG, read_journal

SIZE_IN: Final = (7.0, 3.4)
SMOOTHED: Final = 10
"""Steps that a drawn point is the mean of, itself the last."""
CURVES: Final = "loss_curves"
_DRAWN: Final = {"total": "loss", "lane_keeping": "lane keeping's term, unweighted"}
_STYLES: Final = ("-", "--", "-.", ":")

Log = list[dict[str, Any]]


def write_curves(folder: Path, runs: Mapping[str, Path]) -> dict[str, str]:
    """Draw the logs of runs, given by name and folder; write data and numbers beside the figure.

    The figure's means over ten steps are drawn of the data, which has every step as it was.
    """
    logs = {name: _steps(path) for name, path in runs.items()}
    save_figure(folder, curves_of(logs), curves_table(logs))
    findings = list(_findings(logs))
    return write_numbers(
        folder, findings, "navaudit train", {name: str(path) for name, path in runs.items()},
        lead=_lead(logs),
    )  # fmt: skip


def curves_table(logs: Mapping[str, Log]) -> Table:
    """Every step of every run: total and terms."""
    terms = tuple(next(iter(logs.values()))[0]["loss"])
    rows = [
        (name, one["step"], *(one["loss"][term] for term in terms))
        for name, log in logs.items()
        for one in log
    ]
    title = "The loss of each run at each step, its terms unweighted."
    return Table(CURVES, title, ("run", "step", *terms), tuple(rows))


def curves_of(logs: Mapping[str, Log], look: Look = LIGHT) -> Figure:
    """Draw the total and the lane-keeping term of each run over its steps."""
    figure = Figure(figsize=SIZE_IN, facecolor=look.page, layout="constrained")
    # four, as an experiment has arms; further runs differ in their lines
    hues = (look.candidate, look.human, look.failure, look.reference)
    axes = figure.subplots(1, len(_DRAWN), squeeze=False)[0]
    for ax, (term, words) in zip(axes, _DRAWN.items(), strict=True):
        ax.set_facecolor(look.page)
        for k, (name, log) in enumerate(logs.items()):
            steps = [one["step"] for one in log]
            ax.plot(
                steps, _smooth(np.array([one["loss"][term] for one in log])), lw=1.2, label=name,
                color=hues[k % len(hues)], ls=_STYLES[k // len(hues) % len(_STYLES)],
            )  # fmt: skip
        ax.set_xlabel("step of the optimizer", color=look.ink, fontsize=9)
        ax.set_title(words, color=look.ink, fontsize=9, loc="left")
        ax.tick_params(colors=look.faint, labelsize=8)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(look.edge)
    axes[0].legend(fontsize=7, frameon=False, labelcolor=look.ink)
    return figure


def _steps(folder: Path) -> Log:
    path = folder / LOG
    log = read_journal(path)[1:] if path.is_file() else []
    if not log:
        raise BadInput(
            "there is no log of a training", where=str(path), expected="a folder of navaudit train"
        )
    return log


def _smooth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of each value and up to nine before it."""
    sums = np.cumsum(np.insert(values, 0, 0.0))
    ends = np.arange(1, len(sums))
    starts = np.maximum(ends - SMOOTHED, 0)
    means: NDArray[np.float64] = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def _findings(logs: Mapping[str, Log]) -> list[Finding]:
    where = f"{CURVES}.csv"
    found = [count("train_runs", len(logs), where)]
    for name, log in logs.items():
        found.append(count(f"train_{name}_steps", len(log), where))
        for term in _DRAWN:
            last = float(_smooth(np.array([one["loss"][term] for one in log]))[-1])
            found.append(number(f"train_{name}_{term}", last, 4, where))
    return found


def _lead(logs: Mapping[str, Log]) -> str:
    """Say which runs have seen the same, by the digests of their draws."""
    seen: dict[str, list[str]] = {}
    for name, log in logs.items():
        seen.setdefault(json.dumps([one["draws"] for one in log]), []).append(name)
    groups = [", ".join(names) for names in seen.values() if len(names) > 1]
    said = "; ".join(groups)
    return (
        f"Same scenes and candidates at every step, by the digests of their logs: {said}."
        if groups
        else "No two of these runs have seen the same scenes and candidates."
    )
