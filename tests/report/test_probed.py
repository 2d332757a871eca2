"""The figures of a probe: what they draw is what their data say."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from navaudit.axes import LK
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.report.look import DARK, LIGHT
from navaudit.report.probed import auc_figure, failing_figure, write_probe

TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

from probe.drawn import draw, write  # noqa: E402

QUESTION = Question(resamples=20, tie_draws=0)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return probe(*write(tmp_path_factory.mktemp("probed"), draw()), QUESTION)


def upright(ax):
    """Where dotted lines stand."""
    return [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]


def test_dotted_lines_are_the_medians_of_the_pairs(found):
    (ax,) = auc_figure(found).axes
    pairs, auc = found.pairing, found.scenes.auc
    medians = [np.median(auc[at]) for at in (pairs.treatment, pairs.control)]
    assert upright(ax) == pytest.approx(medians)


def test_every_line_is_named_where_it_hides_nothing(found):
    """Legends stand above the axes, and cover no bar."""
    for figure, named in (
        (
            auc_figure(found),
            {"forgiven", "forgiven, matched", "unforgiven, matched", "chance", "median"},
        ),
        (failing_figure(found), {"forgiven", "unforgiven"}),
    ):
        figure.draw_without_rendering()
        (legend,) = figure.legends
        assert {one.get_text() for one in legend.get_texts()} == named
        assert all(ax.get_legend() is None for ax in figure.axes)
        tops = [ax.get_window_extent().y1 for ax in figure.axes]
        assert legend.get_window_extent().y0 >= max(tops)


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_every_outline_is_all_scenes_of_its_group(found, look):
    for figure, groups in ((auc_figure(found, look), 3), (failing_figure(found, look), 4)):
        outlines = [one for ax in figure.axes for one in ax.patches if one.get_label().strip("_")]
        assert len(outlines) == groups
        for one in outlines:
            assert one.get_data().values.sum() == pytest.approx(100.0)


def test_no_panel_cuts_what_another_does_not_reach(found):
    pairs = found.pairing
    few = replace(pairs, treatment=pairs.treatment[:1], control=pairs.control[:1])
    figure = failing_figure(replace(found, pairing=few))
    heights = [one.get_data().values.max() for ax in figure.axes for one in ax.patches]
    assert max(heights) == pytest.approx(100.0)
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert low == 0.0
        assert high > max(heights)


def test_balance_is_told_above_the_panels(found):
    before, after = failing_figure(found).axes
    assert f"{found.pairing.before:.3f}" in before.get_title(loc="left")
    assert f"{found.pairing.after:.3f}" in after.get_title(loc="left")


def test_a_figure_of_no_pairs_says_so(tmp_path):
    world = draw()
    world.human[:, LK] = 0.0
    alone = probe(*write(tmp_path, world), QUESTION)
    for figure in (auc_figure(alone), failing_figure(alone)):
        texts = [text.get_text() for ax in figure.axes for text in ax.texts]
        assert "no pairs of scenes" in texts


def test_everything_is_written_under_the_name_of_the_run(found, tmp_path):
    numbers = write_probe(tmp_path, found, "town")
    assert "town_R1" in numbers
    assert "probe_pairs" not in numbers
    assert (tmp_path / "probe.md").read_text().startswith("# What a head still knows")
