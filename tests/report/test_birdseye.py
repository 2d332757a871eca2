"""Pictures from above: what is drawn where, and that it is drawn at all."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from navaudit.axes import DAC, DDC, HC, LK, NC, TLC, TTC
from navaudit.errors import BadInput
from navaudit.report.birdseye import draw_agents, draw_candidates, draw_ground, draw_scene, surface
from navaudit.report.explained import focus_of, picture_of, write_picture
from navaudit.report.furniture import Sight, draw_scale, legend_of
from navaudit.report.look import DARK, LIGHT, LOOKS
from navaudit.report.view import View, frame
from navaudit.report.wording import forgiveness, gravest, headline
from navaudit.rollout.rollout import desire_candidates
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.explain import explain
from score.drives import draw_candidates as drives
from score.wild import wild_case
from score.worlds import street


def straight(speed, turned=0.0):
    way = speed * 0.1 * np.arange(1, 41)
    poses = np.stack([way * np.cos(turned), way * np.sin(turned), 0 * way + turned], axis=1)
    return Vocabulary(poses[None])


def axes(size=(6.0, 6.0)):
    return Figure(figsize=size).add_axes((0.05, 0.05, 0.9, 0.9))


def painted(figure, tmp_path):
    """Pixels ``[row, column, 3]``."""
    path = write_picture(figure, tmp_path / "picture.png")
    return np.asarray(Image.open(path).convert("RGB")).astype(float) / 255


def has_colour(pixels, colour, least=1):
    return (np.abs(pixels - to_rgb(colour)).max(axis=-1) < 0.02).sum() >= least


# ----------------------------------------------------------------------------------- the frame


@settings(deadline=None)
@given(st.floats(-7, 7), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_car_is_in_the_middle_and_points_up(heading, x, y):
    scene = street().driving(5.0).scene(x, y, (heading + np.pi) % (2 * np.pi) - np.pi)
    view = View.of(scene)
    ahead = np.add(scene.ego[:2], [np.cos(scene.ego[2]), np.sin(scene.ego[2])])
    assert view.place(scene.ego[:2]) == pytest.approx([0.0, 0.0], abs=1e-6)
    assert view.place(ahead) == pytest.approx([0.0, 1.0], abs=1e-6)
    north = View.of(scene, north_up=True).place(np.add(scene.ego[:2], [0, 3]))
    assert north == pytest.approx([0.0, 3.0], abs=1e-6)


@pytest.mark.parametrize("size", [(6.0, 3.0), (3.0, 6.0)])
def test_a_frame_holds_its_points_undistorted(size):
    ax = axes(size)
    points = np.array([[0.0, 0.0], [30.0, 4.0], [12.0, -9.0]])
    frame(ax, points, 2.0, 10.0, 200.0)
    (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
    assert west <= -2.0
    assert east >= 32.0
    assert south <= -11.0
    assert north >= 6.0
    box = ax.get_position()
    across = (east - west) / (box.width * size[0])
    assert across == pytest.approx((north - south) / (box.height * size[1]))


def test_a_frame_is_never_too_narrow_or_too_wide():
    ax = axes()
    frame(ax, np.zeros((1, 2)), 0.0, 10.0, 50.0)
    assert np.ptp(ax.get_xlim()) == pytest.approx(10.0)
    frame(ax, np.array([[0.0, 0.0], [9e3, 0.0]]), 0.0, 10.0, 50.0)
    assert np.ptp(ax.get_xlim()) == pytest.approx(50.0)


# ----------------------------------------------------------------------------------- the scene


def test_every_agent_is_drawn_where_it_is():
    world = street().driving(5.0).with_parked_car(20.0).with_cone(12.0, 3.0)
    scene = world.with_car(-9.0, speed_mps=2.0, kind="bicycle").scene(400.0, -70.0, 1.0)
    ax = axes()
    draw_agents(ax, scene, View.of(scene), 10, LIGHT)
    drawn = [one for one in ax.collections if isinstance(one, PolyCollection)]
    middles = [one.get_paths()[0].vertices[:4].mean(axis=0) for one in drawn]
    # ahead is up, left is left
    assert np.allclose(
        sorted((np.round(middles, 6) + 0.0).tolist()), [(-3.0, 12.0), (0.0, -7.0), (0.0, 20.0)]
    )


def test_who_is_not_replayed_is_drawn_hollow():
    scene = street().driving(5.0).with_cone(1.0).scene()
    ax = axes()
    draw_agents(ax, scene, View.of(scene), 0, LIGHT)
    (drawn,) = ax.collections
    assert not drawn.get_facecolor()[:, 3].any()
    assert any("not replayed" in one.get_label() for one in legend_of(scene, LIGHT))


def test_holes_stay_empty(tmp_path):
    ring = shapely.Point(0, 0).buffer(10).difference(shapely.Point(0, 0).buffer(5))
    ax = axes()
    ax.set_axis_off()
    frame(ax, np.array([[-12.0, -12.0], [12.0, 12.0]]), 0.0, 1.0, 100.0)
    for turned in (ring, shapely.reverse(ring)):
        surface(ax, turned, View(0.0, 0.0, 0.0), fill="#ff0000")
    pixels = painted(ax.get_figure(), tmp_path)
    rows, columns = pixels.shape[:2]
    assert pixels[rows // 2, columns // 2].tolist() == [1.0, 1.0, 1.0]
    assert pixels[rows // 2, columns // 2 + int(columns * 0.28)].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_scene_shows_road_route_light_and_agents(tmp_path, look):
    world = street().driving(5.0).with_parked_car(15.0, 3.5).with_red_light(20, 30)
    scene = world.with_car(5.0, 6.0, kind="pedestrian", speed_mps=1.0).scene(1e5, 2e5, 2.0)
    ax = axes()
    frame(ax, np.array([[-10.0, -10.0], [10.0, 35.0]]), 0.0, 1.0, 100.0)
    draw_scene(ax, scene, View.of(scene), 0, look)
    pixels = painted(ax.get_figure(), tmp_path)
    for colour in (look.road, look.route, look.candidate, look.human, look.pedestrian):
        assert has_colour(pixels, colour, 5), colour
    names = {one.get_label() for one in legend_of(scene, look)}
    assert {"vehicle", "pedestrian", "connector at red", "human, logged"} <= names
    assert not {"bicycle", "static object", "car park"} & names


def test_a_legend_names_what_is_in_the_picture_alone():
    """A car comes into the picture, a pedestrian and a light are far ahead of it."""
    world = street().driving(5.0).with_parked_car(15.0, 3.5).with_red_light(60, 70)
    scene = world.with_car(55.0, 6.0, kind="pedestrian", speed_mps=0.0).scene(1e5, 2e5, 2.0)
    view, ax = View.of(scene), axes()
    frame(ax, np.array([[-10.0, -10.0], [10.0, 35.0]]), 0.0, 1.0, 100.0)
    named = {one.get_label() for one in legend_of(scene, LIGHT, sight=Sight.of(ax, view))}
    assert "vehicle" in named
    assert not {"pedestrian", "connector at red"} & named
    frame(ax, np.array([[-10.0, -10.0], [10.0, 80.0]]), 0.0, 1.0, 100.0)
    farther = {one.get_label() for one in legend_of(scene, LIGHT, sight=Sight.of(ax, view))}
    assert farther - named == {"pedestrian", "connector at red"}
    assert farther == {one.get_label() for one in legend_of(scene, LIGHT)}


def test_red_lights_are_hatched_while_they_are_red():
    scene = street().driving(5.0).with_red_light(20, 30, begin=10).scene()
    hatched = []
    for step in (0, 10):
        ax = axes()
        draw_scene(ax, scene, View.of(scene), step)
        hatched.append(sum(patch.get_hatch() is not None for patch in ax.patches))
    assert hatched == [0, 1]


def test_a_world_without_ground_can_be_drawn():
    scene, _ = wild_case(0, 1)
    ground = scene.ground
    nothing = type(ground)((), ground.kind[:0], ground.polygons.take([]), ground.on_route[:0])
    ax = axes()
    draw_ground(ax, nothing, View.of(scene), LIGHT)
    assert not ax.patches


def test_candidates_are_lines_in_their_colours():
    scene = street().driving(5.0).scene()
    vocabulary = Vocabulary(drives(np.random.default_rng(1), 7, 5.0))
    paths = desire_candidates(scene, vocabulary)[..., :2]
    ax = axes()
    draw_candidates(ax, paths, View.of(scene), colours=["#ff0000"] * 7)
    (lines,) = [one for one in ax.collections if isinstance(one, LineCollection)]
    assert len(lines.get_segments()) == 7
    assert np.allclose(lines.get_segments()[3], View.of(scene).place(paths[3]))


def test_the_bar_is_as_long_as_it_says():
    ax = axes()
    frame(ax, np.array([[0.0, 0.0], [43.0, 20.0]]), 0.0, 1.0, 100.0)
    draw_scale(ax, LIGHT)
    (bar,) = ax.lines
    (text,) = [one.get_text() for one in ax.texts]
    assert text == f"{np.ptp(bar.get_xdata()):.0f} m" == "10 m"


# ----------------------------------------------------------------------------- the explanation


def failing_worlds():
    on_street = street().driving(10.0)
    return {
        NC: (on_street.with_parked_car(25.0), straight(10.0)),
        DAC: (on_street, straight(10.0, -0.15)),
        TLC: (on_street.with_red_light(20, 30), straight(10.0)),
        DDC: (on_street, straight(10.0, 0.15)),
        TTC: (on_street.with_parked_car(46.0), straight(10.0)),
        LK: (street(lanes=4).driving(10.0).at(0.0, 0.8), straight(10.0)),
    }


@pytest.mark.parametrize("column", failing_worlds())
def test_every_failure_has_a_picture_that_marks_it(tmp_path, column):
    world, vocabulary = failing_worlds()[column]
    scene = world.scene(5e5, 4e6, 0.4)
    explanation = explain(scene, vocabulary, 0)
    assert column in {one.column for one in explanation.driven.failures}
    figure = picture_of(scene, explanation)
    pixels = painted(figure, tmp_path)
    assert pixels.shape == (1092, 1690, 3)
    assert has_colour(pixels, LIGHT.failure, 500)
    texts = [one.get_text() for one in figure.findobj(Text)]
    assert headline(explanation) in texts
    badges = [one.get_text() for one in figure.findobj(Text) if one.get_bbox_patch()]
    for number in range(1, len(explanation.driven.failures) + 1):
        # once beside the path, once beside the words
        assert badges.count(str(number)) == 2


def test_passing_shows_the_closest_call(tmp_path):
    scene = street().driving(5.0).with_cone(40.0, 3.0).scene()
    explanation = explain(scene, straight(5.0), 0)
    assert headline(explanation).startswith("Passes every test")
    focus = focus_of(explanation)
    assert not focus.fails
    pixels = painted(picture_of(scene, explanation, DARK), tmp_path)
    assert has_colour(pixels, DARK.page, 1000)
    assert not has_colour(pixels[:, : 1690 // 2][:800], DARK.failure)


def test_what_costs_most_is_spoken_of_first():
    scene = street().driving(10.0).with_parked_car(25.0).scene()
    explanation = explain(scene, straight(10.0), 0)
    assert explanation.driven.failures[0].column == TTC
    assert gravest(explanation.driven.failures).column == NC
    assert headline(explanation).startswith("NC fails")
    assert len(headline(explanation)) <= 104
    assert gravest(()) is None


def test_forgiveness_is_said():
    world = street().driving(10.0).with_parked_car(25.0)
    explanation = explain(world.scene(), straight(10.0), 0)
    assert "Forgiveness hides this one's NC" in forgiveness(explanation)
    slow = explain(world.scene(), straight(2.0), 0)
    assert "This one has 1 there anyway" in forgiveness(slow) or slow.turned
    nobody = explain(street().driving(3.0).scene(), straight(3.0), 0)
    assert "nothing is forgiven" in forgiveness(nobody)


def test_wild_worlds_can_all_be_drawn(tmp_path):
    focused = set()
    for seed in range(6):
        scene, vocabulary = wild_case(seed, 2)
        explanation = explain(scene, vocabulary, 1)
        focus = focus_of(explanation)
        focused.add(None if focus is None else focus.column)
        write_picture(picture_of(scene, explanation, north_up=bool(seed % 2)), tmp_path / "a.png")
    assert len(focused - {HC}) > 1


def test_the_same_picture_has_the_same_bytes(tmp_path):
    scene = street().driving(10.0).with_parked_car(25.0).scene()
    explanation = explain(scene, straight(10.0), 0)
    for kind in ("png", "svg"):
        paths = [
            write_picture(picture_of(scene, explanation), tmp_path / f"{name}.{kind}")
            for name in "ab"
        ]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert ET.parse(paths[0]).getroot().tag.endswith("svg")
    assert not list(tmp_path.glob(".*"))


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be"):
        write_picture(Figure(), tmp_path / "a.jpg")
