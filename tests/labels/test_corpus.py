"""Drawn labels have the sizes and proportions that they are drawn for, whoever draws them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from navaudit.axes import DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from bench.corpus import draw_corpus, write_corpus  # noqa: E402


def test_the_human_scores_zero_where_the_paper_has_it():
    corpus = draw_corpus(candidates=1)
    zero = corpus.human == 0
    assert (len(corpus.tokens), len(set(corpus.tokens)), len(set(corpus.logs))) == (
        103_288, 103_288, 1_192,
    )  # fmt: skip
    assert list(corpus.logs) == sorted(corpus.logs)
    wanted = {LK: 9_982, TLC: 2_156, DDC: 876, TTC: 18, NC: 10, PDM: 2_967, DAC: 0, EP: 0, HC: 0}
    assert {column: int(zero[:, column].sum()) for column in wanted} == wanted
    assert zero.any(axis=1).sum() == 12_576
    assert zero.sum() == 16_009
    assert (corpus.human[:, DDC] < 1).sum() == 2_003
    assert corpus.all_fail.sum(axis=0)[[LK, TLC, DDC, TTC, NC]].tolist() == [151, 1057, 386, 9, 5]


def test_forgiven_columns_fail_as_often_as_they_should():
    corpus = draw_corpus(tokens=3000, candidates=512)
    for column, low, high in ((LK, 0.84, 0.92), (TLC, 0.85, 1.0)):
        rows = np.flatnonzero(corpus.human[:, column] == 0)
        failing = np.array([np.count_nonzero(corpus.raw(row)[column] != 1) for row in rows])
        assert failing.min() >= 1
        assert low < np.median(failing) / 512 <= high
        full = corpus.all_fail[rows, column]
        assert (failing[full] == 512).all()
        assert (failing[~full] < 512).all()


def test_totals_are_made_of_the_parts():
    corpus = draw_corpus(tokens=100, candidates=300)
    raw = np.stack([corpus.raw(row) for row in range(100)]).astype(np.float64)
    product = raw[:, NC] * raw[:, DAC] * raw[:, DDC] * raw[:, TLC]
    parts = 5 * raw[:, EP] + 5 * raw[:, TTC] + 2 * raw[:, LK] + 2 * raw[:, HC]
    assert np.abs(product * parts / 14 - raw[:, PDM]).max() < 1e-3
    assert len(np.unique(raw[:, EP])) > 1000
    assert set(np.unique(raw[:, [NC, DDC]])) == {0.0, 0.5, 1.0}
    assert set(np.unique(raw[:, [DAC, TLC, TTC, LK, HC]])) == {0.0, 1.0}


def test_a_written_corpus_is_the_drawn_one(tmp_path):
    corpus = draw_corpus(tokens=300, candidates=50, seed=3)
    one = write_corpus(tmp_path / "one", corpus)
    two = write_corpus(tmp_path / "two", draw_corpus(tokens=300, candidates=50, seed=3), workers=3)
    assert one.digest() == two.digest()
    assert (one.tokens, one.logs) == (corpus.tokens, corpus.logs)
    for row in range(0, 300, 17):
        token = corpus.tokens[row]
        assert one.raw(token).tobytes() == corpus.raw(row).tobytes()
        along, path = corpus.path(row), one.path_lane_keeping(token)
        assert (along is None) == (path is None) == (corpus.human[row, LK] != 0)
        assert along is None or path is None or along.tobytes() == path.tobytes()
    other = draw_corpus(tokens=300, candidates=50, seed=4)
    assert other.tokens != corpus.tokens
    assert other.raw(0).tobytes() != corpus.raw(0).tobytes()
