"""Loss curves: drawn from logs, with the data beside them and a part of a page."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from navaudit.errors import BadInput
from navaudit.report.curves import CURVES, curves_of, write_curves
from navaudit.report.shelf import read_part
from navaudit.train.journal import Journal, read_journal


def write_log(folder, steps, seed, first=0):
    rng = np.random.default_rng(seed)
    folder.mkdir()
    journal = Journal(folder / "log.jsonl", {"seed": seed}, 0)
    for step in range(first + 1, first + steps + 1):
        loss = {"lane_keeping": rng.random(), "imi": rng.random(), "total": 20 * rng.random()}
        journal.add({"step": step, "loss": loss, "draws": f"{step % 7}"})
    journal.close()
    return folder


@pytest.fixture
def runs(tmp_path):
    """Three runs, the last of them shorter."""
    made = {"A0": 30, "P0": 30, "M0": 12}
    return {name: write_log(tmp_path / name, steps, k)
            for k, (name, steps) in enumerate(made.items())}  # fmt: skip


def test_the_data_are_the_logs(runs, tmp_path):
    write_curves(tmp_path / "out", runs)
    with (tmp_path / "out" / f"{CURVES}.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 72
    for name, folder in runs.items():
        mine = [row for row in rows if row["run"] == name]
        for row, line in zip(mine, read_journal(folder / "log.jsonl")[1:], strict=True):
            assert int(row["step"]) == line["step"]
            for term, value in line["loss"].items():
                assert float(row[term]) == value


def test_what_is_drawn_is_the_mean_of_ten_steps(runs):
    logs = {name: read_journal(folder / "log.jsonl")[1:] for name, folder in runs.items()}
    total, lanes = curves_of(logs).axes
    for ax, term in ((total, "total"), (lanes, "lane_keeping")):
        assert [line.get_label() for line in ax.lines] == list(runs)
        for line, log in zip(ax.lines, logs.values(), strict=True):
            values = [one["loss"][term] for one in log]
            wanted = [np.mean(values[max(0, k - 9) : k + 1]) for k in range(len(values))]
            np.testing.assert_allclose(line.get_ydata(), wanted)
            assert list(line.get_xdata()) == [one["step"] for one in log]


def test_a_page_can_show_them(runs, tmp_path):
    flat = write_curves(tmp_path / "out", runs)
    assert flat["train_runs"] == "3"
    assert flat["train_M0_steps"] == "12"
    last = read_journal(runs["A0"] / "log.jsonl")[-10:]
    mean = np.mean([one["loss"]["total"] for one in last])
    assert float(flat["train_A0_total"]) == pytest.approx(mean, abs=5.1e-5)
    part = read_part(tmp_path / "out", "part-0")
    assert part.kind == "train"
    assert len(part.figures) == 1
    assert part.lead.endswith(": A0, P0.")


def test_runs_that_have_not_seen_the_same_are_told(runs, tmp_path):
    write_curves(tmp_path / "out", {"A0": runs["A0"], "M0": runs["M0"]})
    lead = json.loads((tmp_path / "out" / "numbers.trace.json").read_text())["lead"]
    assert lead.startswith("No two of these runs")


def test_the_same_logs_give_the_same_bytes(runs, tmp_path):
    for name in ("one", "two"):
        write_curves(tmp_path / name, runs)
    for path in (tmp_path / "one").glob(f"{CURVES}.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_folder_without_a_log_is_named(tmp_path):
    with pytest.raises(BadInput, match="no log of a training") as caught:
        write_curves(tmp_path / "out", {"A0": tmp_path / "nothing"})
    assert str(tmp_path / "nothing") in caught.value.where
