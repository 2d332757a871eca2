"""The histogram of overwritten columns: its bars are the data beside it."""

from __future__ import annotations

import numpy as np
import pytest

from navaudit.audit.entries import Histogram
from navaudit.audit.measure import measure
from navaudit.axes import LK
from navaudit.report.explained import write_picture
from navaudit.report.histogram import histogram_of


def sheet(candidates, failing, human):
    """One token for each count of failing candidates."""
    raw = np.ones((len(failing), 9, candidates), np.float16)
    for token, count in enumerate(failing):
        raw[token, LK, :count] = 0
    scores = np.ones((len(failing), 9))
    scores[:, LK] = human
    return measure(raw, scores)


def test_bins_are_of_512_and_the_last_holds_its_end():
    failing = [0, 1, 511, 512, 15_871, 15_872, 16_383, 16_384]
    histogram = Histogram.of(sheet(16_384, failing, 0.0))
    assert np.diff(histogram.edges).tolist() == [512] * 32
    assert histogram.forgiven.tolist() == [3, 1, *[0] * 28, 1, 3]
    assert histogram.median == 15_871
    assert histogram.unforgiven.sum() == 0
    assert histogram.unforgiven_median is None


def test_columns_not_forgiven_are_counted_where_they_are_mixed():
    histogram = Histogram.of(sheet(64, [0, 10, 20, 30, 64], 1.0))
    assert histogram.forgiven.sum() == 0
    assert histogram.unforgiven.sum() == 3
    assert histogram.unforgiven_median == 20


@pytest.mark.parametrize("candidates", [1, 2, 31, 32, 33, 100, 1000])
def test_every_vocabulary_has_bins_for_every_count(candidates):
    histogram = Histogram.of(sheet(candidates, range(candidates + 1), 0.0))
    assert histogram.edges[-1] >= candidates
    assert len(histogram.forgiven) <= 32
    assert histogram.forgiven.sum() == candidates + 1


def test_bars_and_line_are_the_data():
    one = sheet(16_384, [300, 700, 16_000, 16_384], [0.0, 1.0, 0.0, 0.0])
    histogram = Histogram.of(one)
    (ax,) = histogram_of(histogram).axes
    bars = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in ax.patches]
    rows = [(low, high - low, n) for low, high, n, _ in histogram.table().rows]
    assert bars == rows
    assert [line.get_xdata()[0] for line in ax.lines] == [700]


@pytest.mark.parametrize("columns", [1, 2, 4, 7, 300])
def test_columns_are_counted_in_whole_ones(columns):
    """Ticks stand at whole numbers, few or many, and all bear theirs."""
    (ax,) = histogram_of(Histogram.of(sheet(1024, [700] * columns, 0.0))).axes
    low, high = ax.get_ylim()
    ticks = [one for one in ax.get_yticks() if low <= one <= high]
    assert 2 <= len(ticks) <= 8
    assert all(one == int(one) for one in ticks)


def test_nothing_overwritten_is_said(tmp_path):
    histogram = Histogram.of(sheet(16, [0, 0], 1.0))
    (ax,) = histogram_of(histogram).axes
    assert [text.get_text() for text in ax.texts] == ["no column was overwritten"]
    write_picture(histogram_of(histogram), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_histogram_gives_the_same_bytes(tmp_path):
    histogram = Histogram.of(sheet(64, [3, 60, 64, 30], [0.0, 0.0, 0.0, 1.0]))
    for name in ("a.svg", "b.svg"):
        write_picture(histogram_of(histogram), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
