"""Figures: what is drawn is the data beside it, and the data are what was measured."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from evaluate.paper_like import pairs_of, paper_like
from navaudit.audit.processed import PUBLISHED
from navaudit.audit.table import Table
from navaudit.axes import COLUMNS, LK, SHORT
from navaudit.evaluate.aligned import align
from navaudit.evaluate.compare import compare_runs
from navaudit.evaluate.contrasts import ALIKE, ALL
from navaudit.report.difference_map import BINS, difference_map, difference_table
from navaudit.report.forest import METRICS, SETS, forest_of, forest_table, write_forest
from navaudit.report.page import page
from navaudit.report.panels import LOOK, panels_of
from navaudit.report.saved import CAPTIONS, save_figure
from navaudit.report.shelf import cell_of, read_part
from navaudit.report.tabled import TITLES, Results, write_results
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.forgive import forgive
from navaudit.score.score import Settings, score_scene
from score.drives import draw_candidates as drives
from score.worlds import street


@pytest.fixture(scope="module")
def comparison():
    return compare_runs(pairs_of(steps=300, initial_step=4800), align(paper_like(0)))


# --------------------------------------------------------------------------------- forest plots


def test_a_forest_has_every_contrast_of_its_metrics_once(comparison):
    data = forest_table(comparison)
    rows = [dict(zip(data.columns, row, strict=True)) for row in data.rows]
    wanted = {
        (one.pair, one.seed, str(one.measure), SETS[one.population]): one
        for one in comparison.contrasts
        if one.measure.metric in METRICS and one.measure.unit == "points"
        if one.population != ALIKE and np.isfinite(one.point)
    }
    assert len(rows) == len(wanted) > 20
    for row in rows:
        key = ((row["treatment"], row["control"]), row["seed"], row["metric"], row["set"])
        one = wanted[key]
        assert (row["point"], row["low"], row["high"]) == (one.point, one.low, one.high)


def test_every_mark_of_a_forest_is_a_row_and_blue_where_zero_is_left_out(comparison):
    data = forest_table(comparison)
    figure = forest_of(data)
    rows = [dict(zip(data.columns, row, strict=True)) for row in data.rows]
    marks = [
        (float(line.get_xdata()[0]), line.get_color())
        for ax in figure.axes
        for line in ax.lines
        if line.get_marker() not in ("None", None, "")
    ]
    assert sorted(at for at, _ in marks) == sorted(row["point"] for row in rows)
    blue = sum(colour == "#0060a8" for _, colour in marks)
    assert blue == sum(row["low"] > 0 or row["high"] < 0 for row in rows)
    legend = [one.get_text() for one in figure.legends[0].get_texts()]
    seeds = {row["seed"] for row in rows if row["seed"] is not None}
    assert legend == [*(f"seed {one}" for one in sorted(seeds)), "leaves out zero", "holds zero"]
    letters = {text.get_text() for ax in figure.axes for text in ax.texts}
    assert letters == {row["verdict"] for row in rows} - {""}


def test_means_stand_beside_a_forest_and_every_table_has_a_title(comparison, tmp_path):
    write_forest(tmp_path, comparison)
    titles = json.loads((tmp_path / TITLES).read_text())
    assert list(titles) == ["own_means", "contrasts", "levels"]
    with (tmp_path / "own_means.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    assert [row[0] for row in rows] == list(comparison.aligned.runs)
    known = {
        (run, str(measure)): mean
        for (run, measure, population), (mean, _) in comparison.levels.items()
        if population == ALL and measure.unit == "points" and np.isfinite(mean)
    }
    told = {
        (name, measure): float(mean)
        for name, *means in rows
        for measure, mean in zip(head[1:], means, strict=True)
        if mean
    }
    wanted = {key: mean for key, mean in known.items() if key[1] in head}
    assert told == pytest.approx(wanted, abs=0.005 + 1e-9)
    assert {metric.split()[0] for metric in head[1:]} == set(METRICS)
    assert all(any(row[k] for row in rows) for k in range(len(head)))
    assert len(told) > 20


def test_a_long_table_says_how_much_of_it_a_page_carries(tmp_path):
    rows = tuple((k, k * k) for k in range(1_000))
    long = Table("long", "Squares.", ("n", "square"), rows)
    write_results(tmp_path, Results("navaudit audit", "T", ["S."], [long], [], {}))
    (table,) = read_part(tmp_path, "p").tables
    assert (len(table.rows), table.size) == (400, 1_000)
    html = page("t", [read_part(tmp_path, "p")], {}, [])
    assert "Squares. (the first 400 of 1,000 rows)" in html


def test_a_figure_is_saved_twice_with_its_data_and_the_same_bytes_again(comparison, tmp_path):
    first = write_forest(tmp_path / "a", comparison)
    again = write_forest(tmp_path / "b", comparison)
    assert [path.suffix for path in first] == [".csv", ".svg", ".png"]
    assert [one.read_bytes() for one in first] == [one.read_bytes() for one in again]
    with first[0].open(newline="") as stream:
        assert len(list(csv.reader(stream))) == len(forest_table(comparison).rows) + 1


# ------------------------------------------------------------------------------ difference maps


@pytest.mark.parametrize("tokens", [1, 7, BINS, 3 * BINS + 5])
def test_a_difference_map_counts_what_differs(tokens):
    rng = np.random.default_rng(tokens)
    differing = rng.integers(0, 40, (tokens, 3, 2, len(COLUMNS))) * (
        rng.random((tokens, 1, 1, 1)) < 0.3
    )
    data = difference_table(("a", "b", "c"), differing, 64)
    at = {name: k for k, name in enumerate(("a", "b", "c"))}
    totals = np.zeros((3, len(COLUMNS)))
    for name, first, scenes, column, percent in data.rows:
        part = differing[first : first + scenes, at[name], PUBLISHED, SHORT.index(column)]
        assert percent == pytest.approx(100 * part.sum() / (scenes * 64))
        totals[at[name], SHORT.index(column)] += percent * scenes * 64 / 100
    np.testing.assert_allclose(totals[1:], differing[:, 1:, PUBLISHED].sum(axis=0))
    assert len(data.rows) == 2 * len(COLUMNS) * min(tokens, BINS)
    titles = [ax.get_title(loc="left") for ax in difference_map(data).axes[:2]]
    assert [title.split(":")[0] for title in titles] == ["b", "c"]


def test_a_difference_map_of_nothing_says_so(tmp_path):
    same = np.zeros((4, 2, 2, len(COLUMNS)), np.int64)
    data = difference_table(("a", "b"), same, 64)
    assert difference_map(data).axes[0].get_title(loc="left") == "b: no entry differs"
    alone = difference_table(("a",), same[:, :1], 64)
    assert difference_map(alone).axes[0].texts[0].get_text() == "only the reference was run"
    assert len(save_figure(tmp_path, difference_map(alone), alone)) == 3


# ------------------------------------------------------------------------------------ the panels


def test_panels_are_coloured_by_what_passes_before_and_after():
    scene = street().driving(6.0).scene()
    vocabulary = Vocabulary(drives(np.random.default_rng(5), 90, 6.0))
    raw = score_scene(scene, vocabulary, Settings()).labels()
    human = np.ones(len(COLUMNS))
    human[LK] = 0.0
    published = forgive(raw, human)
    failing = int((raw[LK] == 0).sum())
    assert 0 < failing < 90
    figure, data = panels_of(scene, vocabulary, raw, published, LK, Settings())
    reds = []
    for ax in figure.axes:
        lines = [one for one in ax.collections if isinstance(one, LineCollection)]
        colours = [to_hex(one) for one in lines[-1].get_color()]
        assert len(colours) == 90
        reds.append(colours.count(LOOK.failure))
    assert reds == [failing, 0]
    before = [row[data.columns.index("before")] for row in data.rows]
    assert before == [float(one) for one in raw[LK]]
    assert {row[data.columns.index("after")] for row in data.rows} == {1.0}


# ----------------------------------------------------------------------------- tables of a page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("251159", "251,159"), ("-1500", "-1,500"), ("007", "007"), ("12.5000", "12.5000"),
        ("0.123456789012", "0.1235"), ("1e5", "1e5"), ("", "\N{EN DASH}"), ("---", "\N{EN DASH}"),
        ("P1", "P1"),
        ("5.2e-10", "5.2e-10"), ("2021.05.22.05", "2021.05.22.05"),
    ],
)  # fmt: skip
def test_cells_are_written_for_people(text, shown):
    assert cell_of(text).text == shown
    assert cell_of(text).exact == text


def test_tables_have_titles_and_their_order_and_figures_captions(tmp_path):
    tables = [
        Table("zebra", "Stripes.", ("animal", "stripes"), (("zebra", 3),)),
        Table("ant", "Legs.", ("animal", "legs"), (("ant", 6),)),
        Table("empty", "None.", ("animal", "tails"), ()),
    ]
    same = np.zeros((4, 2, 2, len(COLUMNS)), np.int64)
    data = difference_table(("a", "b"), same, 64)
    save_figure(tmp_path, difference_map(data), data)
    write_results(tmp_path, Results("navaudit flips", "T", [], tables, [], {}, lead="Look."))
    part = read_part(tmp_path, "p")
    assert [one.caption for one in part.tables] == ["Stripes.", "Legs."]
    assert [one.caption for one in part.figures] == [data.title]
    assert json.loads((tmp_path / CAPTIONS).read_text()) == {data.name: data.title}
    assert part.lead == "Look."
    assert part.tables[0].worded == (True, False)
