"""What exchange and certification cost: ``python -m bench.exchange``.

Labels are drawn (`bench.corpus`) at a sixty-fourth of the real number of tokens. Each command runs
in a process of its own, as a person runs it, so that start-up is in it and its peak memory is its
own. A label set's bytes are compressed; speeds are of the labels they stand for, 295 KB a token.
``python -m bench.exchange --eighths N FOLDER`` runs the same once, N eighths of the real size.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.corpus import CANDIDATES, TOKENS, draw_corpus, write_corpus
from bench.figures import Figure, run, show
from rich.console import Console

from navaudit.axes import COLUMNS
from navaudit.labels.gtrs import GtrsLabels
from navaudit.labels.labelset import LabelSet

TOKEN_BYTES: Final = 2 * len(COLUMNS) * CANDIDATES
MEGA: Final = 1e6


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="navaudit-bench-")


@cache
def drawn(tokens: int) -> Path:
    """A label set of so many tokens, drawn."""
    folder = Path(_scratch().name) / f"drawn-{tokens}"
    write_corpus(folder, draw_corpus(tokens))
    return folder


def disk_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def command(*arguments: object, expect: int = 0) -> dict[str, float]:
    """Run a command of navaudit; return its seconds and its peak memory in MB."""
    program = "from navaudit.cli import main; main()"
    words = [sys.executable, "-c", program, *map(str, arguments)]
    start = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        complaint = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expect:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}\n{complaint.decode()}")
    return {
        "s": time.perf_counter() - start,
        "cpu s": usage.ru_utime + usage.ru_stime,
        "peak MB": usage.ru_maxrss / 1024,
    }


def round_trip(folder: Path, labels: Path, workers: int) -> list[dict[str, Any]]:
    """Export a label set, import it again and certify one against the other."""
    tokens = len(LabelSet.open(labels))
    pickle, again = folder / "exported.pkl", folder / "imported"
    done = [
        ("export", command("export", labels, "--policy", "published", "--out", pickle,
                           "--workers", workers)),
        ("import", command("import", pickle, "--out", again, "--workers", workers)),
        ("certify set, file", command("certify", labels, pickle, "--policy-a", "published",
                                      "--workers", workers)),
        ("certify raw, published", command("certify", labels, labels, "--policy-b", "published",
                                           "--workers", workers, expect=1)),
    ]  # fmt: skip
    return [
        {
            "command": name,
            "workers": workers,
            "tokens": tokens,
            **cost,
            "MB/s": tokens * TOKEN_BYTES / MEGA / cost["s"],
        }
        for name, cost in done
    ]


def clean(folder: Path) -> None:
    """Remove what `round_trip` wrote."""
    subprocess.run(["rm", "-r", folder / "exported.pkl", folder / "imported"], check=True)


def exchange() -> Figure:
    """Export, import and certification, on one thread and two."""
    tokens = TOKENS // 64
    rows = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            rows += round_trip(Path(folder), drawn(tokens), workers)
    slowest = min(row["MB/s"] for row in rows)
    return Figure("exchange", "MB of labels a second, slowest", slowest, _input(tokens),
                  tuple(rows))  # fmt: skip


def exchange_growth() -> Figure:
    """The same at twice and four times the number of tokens: time, and memory that stays."""
    rows = []
    for part in (256, 128, 64):
        with tempfile.TemporaryDirectory() as folder:
            rows += round_trip(Path(folder), drawn(TOKENS // part), 1)
    last, before = rows[-4:], rows[-8:-4]
    twice = max(b["cpu s"] / a["cpu s"] for a, b in zip(before, last, strict=True))
    return Figure("exchange_growth", "processor time for twice the tokens, at most", twice,
                  _input(TOKENS // 64), tuple(rows))  # fmt: skip


def random_access() -> Figure:
    """Time for one token anywhere: of a label set, and of a pickle that was looked through."""
    labels = LabelSet.open(drawn(TOKENS // 64))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.pkl"
        command("export", labels.folder, "--policy", "raw", "--out", file)
        pickle = GtrsLabels(file)
        asked = np.random.default_rng(0).permutation(labels.tokens)[:500].tolist()
        sources: dict[str, Callable[[str], Any]] = {"label set": labels.raw, "pickle": pickle.raw}
        rows = []
        for name, read in sources.items():
            took = []
            for token in asked:
                start = time.perf_counter()
                read(token)
                took.append(1e3 * (time.perf_counter() - start))
            rows.append({"source": name, "median ms": float(np.median(took)), "most": max(took)})
    return Figure("random_access", "milliseconds for one token of a label set, median",
                  rows[0]["median ms"], _input(len(labels)), tuple(rows))  # fmt: skip


def size() -> Figure:
    """Bytes on the disk."""
    labels = LabelSet.open(drawn(TOKENS // 64))
    held = disk_bytes(labels.folder)
    row = {
        "tokens": len(labels),
        "bytes a token": held / len(labels),
        "raw float16": TOKEN_BYTES,
        "GB of all tokens": held / len(labels) * TOKENS / 1e9,
    }
    smaller = len(labels) * TOKEN_BYTES / held
    return Figure("size", "times smaller than float16", smaller, _input(len(labels)), (row,))


def _input(tokens: int) -> str:
    return f"{tokens} drawn tokens, {CANDIDATES} candidates"


def at_size(eighths: float, folder: Path, workers: int) -> None:
    """Go once through everything at a part of the real size, and print what it cost."""
    tokens = round(TOKENS * eighths / 8)
    start = time.perf_counter()
    labels = write_corpus(folder / "drawn", draw_corpus(tokens), workers)
    print(f"drawn in {time.perf_counter() - start:.0f} s, {disk_bytes(labels.folder) / 1e9:.2f} GB")
    rows = round_trip(folder, labels.folder, workers)
    slowest = min(row["MB/s"] for row in rows)
    figure = Figure("at_size", "MB of labels a second, slowest", slowest, _input(tokens),
                    tuple(rows))  # fmt: skip
    show(figure, Console(width=120))
    clean(folder)


FIGURES: Final = (exchange, exchange_growth, random_access, size)
EVERY_CORE: Final = (exchange,)


if __name__ == "__main__":
    if "--eighths" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("folder", type=Path)
        parser.add_argument("--eighths", type=float, required=True)
        parser.add_argument("--workers", type=int, default=1)
        asked = parser.parse_args()
        at_size(asked.eighths, asked.folder, asked.workers)
    else:
        run(__doc__ or "", FIGURES, EVERY_CORE)
