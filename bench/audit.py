"""What the audit of a label set costs: ``python -m bench.audit``.

Labels are drawn (`bench.corpus`) at a sixty-fourth of the real number of tokens. The audit runs as
a person runs it, in processes of its own, start-up and pictures included; what a token costs is
measured part by part in one process. The bound is reading: every label decoded, nothing else done.
One figure is of the real size, which takes minutes to draw and 3 GB of disk; ``python -m
bench.audit --eighths N FOLDER`` takes it at N eighths of that.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.corpus import CANDIDATES, TOKENS, draw_corpus, write_corpus
from bench.exchange import MEGA, TOKEN_BYTES, drawn
from bench.figures import Figure, best, cpu_seconds, run, show
from rich.console import Console

from navaudit.audit.codes import codes_of
from navaudit.audit.distinct import count_rows
from navaudit.audit.firsts import rank
from navaudit.audit.sources import Sources
from navaudit.audit.survey import READ
from navaudit.audit.tally import count_columns
from navaudit.labels.labelset import LabelSet

PART: Final = 64
_LOOK_S: Final = 0.1


@dataclass
class Watch:
    """Looks at a process and its descendants while they run; what has ended is not forgotten."""

    pid: int
    peak_mb: float = 0.0
    """Most memory that all of them held at a time, shared pages counted once."""
    cpu_s: dict[int, float] = field(default_factory=dict)
    """By process, as it was last seen."""

    def look(self) -> None:
        """Look once."""
        everyone = _with_descendants(self.pid)
        self.peak_mb = max(self.peak_mb, sum(map(_held_mb, everyone)))
        for one in everyone:
            self.cpu_s[one] = max(_worked_s(one), self.cpu_s.get(one, 0.0))


def audited(folder: Path, labels: Path, workers: int) -> dict[str, float]:
    """Run the command; return its seconds, processor time, and the memory of all its processes."""
    words = ["audit", str(labels), "--out", str(folder), "--workers", str(workers)]
    program = "from navaudit.cli import main; main()"
    start = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", program, *words], **quiet) as process:
        watch = Watch(process.pid)
        while process.poll() is None:
            watch.look()
            time.sleep(_LOOK_S)
    if process.returncode:
        raise SystemExit(f"navaudit {' '.join(words)} ended with {process.returncode}")
    took = time.perf_counter() - start
    return {"s": took, "cpu s": sum(watch.cpu_s.values()), "peak MB": watch.peak_mb}


def _with_descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for listed in Path(f"/proc/{one}/task").glob("*/children"):
            found.extend(map(int, _read(listed).split()))
    return found


def _held_mb(pid: int) -> float:
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return next((int(one.split()[1]) / 1024 for one in lines if one.startswith("Pss:")), 0.0)


def _worked_s(pid: int) -> float:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # it has ended


def reading(labels: LabelSet) -> float:
    """Processor time to decode every label, and nothing else."""
    return cpu_seconds(lambda: [None for _ in labels.stretches(READ)])


def audit() -> Figure:
    """The whole audit on one process and two, with the time for reading alone beside it."""
    labels = LabelSet.open(drawn(TOKENS // PART))
    bound = reading(labels)
    rows = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            cost = audited(Path(folder), labels.folder, workers)
        rows.append(_row(len(labels), workers, cost, bound))
    minutes = rows[-1]["s"] / len(labels) * TOKENS / 60
    return Figure("audit", "minutes for 103,288 tokens on two processes, by proportion", minutes,
                  _input(len(labels)), tuple(rows))  # fmt: skip


def _row(tokens: int, workers: int, cost: dict[str, float], bound: float) -> dict[str, Any]:
    return {
        "workers": workers,
        **cost,
        "cpu ms a token": 1e3 * cost["cpu s"] / tokens,
        "reading cpu s": bound,
        "reading MB/s": tokens * TOKEN_BYTES / MEGA / bound,
    }


def audit_parts() -> Figure:
    """Milliseconds a token of every part, in one process."""
    labels = LabelSet.open(drawn(TOKENS // PART))
    sources = Sources(labels)
    forgiven = np.flatnonzero((labels.human == 0).any(axis=1))[:READ]
    plain = np.flatnonzero(~(labels.human == 0).any(axis=1))[:READ]
    raw = np.stack([labels.raw(labels.tokens[place]) for place in forgiven])
    codes = codes_of(raw)
    after = codes.copy()
    after[:, 6] = 0x3C00
    distinct = int(count_rows(codes)[:, 0].max())
    parts = {
        "decode": lambda: [labels.raw(labels.tokens[place]) for place in forgiven],
        "tallies of nine columns": lambda: count_columns(codes),
        f"distinct rows, up to {distinct:,}": lambda: count_rows(codes),
        "first candidates, three statistics": lambda: [
            rank(*two) for two in zip(after, codes, strict=True)
        ],
        "a token not forgiven, altogether": lambda: sources.measure(plain),
        "a forgiven token, altogether": lambda: sources.measure(forgiven),
    }
    rows = [{"part": name, "ms": 1e3 * best(work) / READ} for name, work in parts.items()]
    return Figure("audit_parts", "milliseconds for distinct rows of a token", rows[2]["ms"],
                  _input(READ), tuple(rows))  # fmt: skip


def _input(tokens: int) -> str:
    return f"{tokens} drawn tokens, {CANDIDATES} candidates"


def audit_at_size() -> Figure:
    """The whole audit of as many tokens as the real file has, on two processes."""
    with tempfile.TemporaryDirectory() as folder:
        return at_size(8, Path(folder), 2)


def at_size(eighths: float, folder: Path, workers: int) -> Figure:
    """The whole audit, once, at a part of the real size."""
    corpus = draw_corpus(round(TOKENS * eighths / 8))
    labels = write_corpus(folder / "drawn", corpus, workers)
    bound = reading(labels)
    cost = audited(folder / "audited", labels.folder, workers)
    row = _row(len(labels), workers, cost, bound)
    headline = f"minutes of the whole audit on {workers} processes"
    return Figure("audit_at_size", headline, cost["s"] / 60, _input(len(labels)), (row,))


FIGURES: Final = (audit, audit_parts, audit_at_size)
EVERY_CORE: Final = (audit, audit_at_size)


if __name__ == "__main__":
    if "--eighths" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("folder", type=Path)
        parser.add_argument("--eighths", type=float, required=True)
        parser.add_argument("--workers", type=int, default=2)
        asked = parser.parse_args()
        show(at_size(asked.eighths, asked.folder, asked.workers), Console(width=140))
    else:
        run(__doc__ or "", FIGURES, EVERY_CORE)
