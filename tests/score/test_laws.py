"""Laws of the engine: what must not change a label, and what may change it one way only."""

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navaudit.axes import (
    COLUMNS,
    DAC,
    DDC,
    EP,
    HC,
    LK,
    NC,
    PDM,
    STEPS,
    TLC,
    TTC,
)
from navaudit.scene.scene import CARPARK_AREA, LANE
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score import course, engine
from navaudit.score.forgive import forgive, forgiven_columns
from navaudit.score.score import Settings, score_human, score_scene
from score import changes
from score.agreement import SETTINGS
from score.wild import cases, wild_case

GRADES = [NC, DAC, DDC, TLC, TTC, LK, HC]
WORLDS = cases(48)
BODIES = st.sampled_from(["v2.0", "v2.1"])
ANY = st.sampled_from(SETTINGS)


def law(*strategies, examples=12):
    """Hold a law on a dozen random worlds."""
    quiet = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))

    def wrap(test):
        return quiet(given(*strategies)(test))

    return wrap


def alike(one, other, gap=1e-9):
    """The same grades, and shares that differ by rounding at most."""
    assert np.array_equal(one.columns[GRADES], other.columns[GRADES])
    assert np.abs(one.columns[[EP, PDM]] - other.columns[[EP, PDM]]).max() <= gap


def unchanged(one, other, but=()):
    """Bits of all columns, except those named and what is made of them."""
    kept = [column for column in range(len(COLUMNS)) if column not in but]
    assert np.array_equal(one.columns[kept], other.columns[kept])
    assert np.array_equal(one.progress_m, other.progress_m)


# -------------------------------------------------------- candidates do not know of each other


@law(WORLDS, st.integers(0, 2**32 - 1), ANY)
def test_permuted_candidates_have_permuted_labels(world, seed, chosen):
    scene, vocabulary = world
    order = np.random.default_rng(seed).permutation(len(vocabulary))
    straight = score_scene(scene, vocabulary, chosen)
    permuted = score_scene(scene, vocabulary.take(order), chosen)
    assert np.array_equal(permuted.columns, straight.columns[:, order])
    assert np.array_equal(permuted.progress_m, straight.progress_m[order])
    assert np.array_equal(permuted.first_step, straight.first_step[:, order])


@law(WORLDS, st.integers(0, 2**32 - 1), BODIES)
def test_some_candidates_have_the_labels_they_have_among_all(world, seed, ddc):
    scene, vocabulary = world
    some = np.random.default_rng(seed).integers(0, len(vocabulary), 7)
    whole = score_scene(scene, vocabulary, Settings(ddc=ddc))
    part = score_scene(scene, vocabulary.take(some), Settings(ddc=ddc))
    assert np.array_equal(part.columns, whole.columns[:, some])


@law(WORLDS, st.integers(1, 47))
def test_more_candidates_in_a_batch_lower_progress_at_most(world, count):
    scene, vocabulary = world
    rule = Settings(progress_rule="batch")
    whole = score_scene(scene, vocabulary, rule).columns[:, :count]
    part = score_scene(scene, vocabulary.take(slice(count)), rule).columns
    assert np.array_equal(part[GRADES], whole[GRADES])
    assert (whole[EP] <= part[EP]).all()


@pytest.mark.parametrize(("least", "turns"), [(1, 300), (1, 13), (7, 4), (256, 4)])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_and_threads_give_the_same_bits(monkeypatch, least, turns, threads):
    scene, vocabulary = wild_case(3, 300)
    whole = score_scene(scene, vocabulary)
    monkeypatch.setattr(engine, "LEAST", least)
    monkeypatch.setattr(engine, "TURNS", turns)
    assert changes.same(score_scene(scene, vocabulary, threads=threads), whole)


@law(WORLDS)
def test_single_precision_is_read_as_it_is(world):
    scene, vocabulary = world
    double = Vocabulary(vocabulary.poses.astype(np.float64))
    assert changes.same(score_scene(scene, vocabulary), score_scene(scene, double))


# ------------------------------------------------------------------ the sheet fits together


@law(WORLDS, ANY)
def test_columns_fit_together(world, chosen):
    sheet = score_scene(*world, chosen)
    columns = sheet.columns
    binary = columns[[DAC, TLC, TTC, LK, HC]]
    assert ((binary == 0) | (binary == 1)).all()
    assert np.isin(columns[[NC, DDC]], (0, 0.5, 1)).all()
    assert ((columns[EP] >= 0) & (columns[EP] <= 1)).all()
    product = columns[NC] * columns[DAC] * columns[DDC] * columns[TLC]
    weighted = 5 * columns[EP] + 5 * columns[TTC] + 2 * columns[LK] + 2 * columns[HC]
    np.testing.assert_allclose(columns[PDM], product * weighted / 14, rtol=0, atol=1e-15)
    assert np.array_equal(sheet.first_step[GRADES] >= 0, columns[GRADES] < 1)
    assert (sheet.first_step < STEPS).all()
    assert (sheet.progress_m >= 0).all()


@law(WORLDS, ANY)
def test_forgiving_twice_is_once(world, chosen):
    scene, vocabulary = world
    if scene.human is None:
        return
    raw = score_scene(scene, vocabulary, chosen).labels()
    human = score_human(scene, chosen).columns[:, 0]
    published = forgive(raw, human)
    assert np.array_equal(forgive(published, human), published)
    assert (published >= raw).all()
    fired = forgiven_columns(human)
    assert (published[fired] == 1).all()
    assert np.array_equal(published[~fired], raw[~fired])
    assert not fired[[EP, HC]].any()


# ------------------------------------------------------------------------- the map may move


@law(WORLDS, st.sampled_from([(4096.0, -8192.0), (2.0**19, 2.0**22)]), ANY)
def test_where_the_world_lies_does_not_matter(world, way, chosen):
    scene, vocabulary = world
    near = changes.ground_to_grains(changes.moved_by(scene, *-np.round(scene.ego[:2])))
    far = changes.moved_by(near, *way)
    assert np.array_equal(far.ground.polygons.xy - way, near.ground.polygons.xy)
    # on a city's map a coordinate rounds at a billionth of a metre, a speed at ten of them
    alike(score_scene(near, vocabulary, chosen), score_scene(far, vocabulary, chosen), gap=1e-7)


@law(WORLDS, ANY)
def test_which_way_the_world_lies_does_not_matter(world, chosen):
    scene, vocabulary = world
    turned = changes.turned_left(scene)
    alike(score_scene(scene, vocabulary, chosen), score_scene(turned, vocabulary, chosen), gap=1e-7)


def in_a_mirror(world, chosen):
    scene, vocabulary = world
    seen = Vocabulary(vocabulary.poses * np.array([1, -1, -1], np.float32))
    usual = score_scene(scene, vocabulary, chosen)
    return usual, score_scene(changes.mirrored(scene), seen, chosen)


@law(WORLDS, ANY)
def test_left_and_right_are_alike_but_for_comfort(world, chosen):
    usual, mirror = in_a_mirror(world, chosen)
    others = [column for column in GRADES if column != HC]
    assert np.array_equal(usual.columns[others], mirror.columns[others])
    assert np.abs(usual.columns[EP] - mirror.columns[EP]).max() <= 1e-7


def test_comfort_tells_left_from_right():
    """The stock code adds yaw acceleration, sign and all, to the acceleration ahead."""
    both = [in_a_mirror(wild_case(seed, 48), Settings()) for seed in range(20)]
    parted = [usual.columns[HC] != mirror.columns[HC] for usual, mirror in both]
    assert 0.005 < np.mean(parted) < 0.2


@law(WORLDS, st.integers(0, 2**32 - 1), ANY)
def test_order_of_things_does_not_matter(world, seed, chosen):
    scene, vocabulary = world
    other = changes.reordered(scene, np.random.default_rng(seed))
    assert changes.same(
        score_scene(scene, vocabulary, chosen), score_scene(other, vocabulary, chosen)
    )


CELLS = (
    {"REACH_M": 9.0},
    {"REACH_M": 2.0, "GROUND_CELL_M": 4.0, "TRAFFIC_CELL_M": 4.0},
    {"REACH_M": 200.0, "GROUND_CELL_M": 7.3, "TRAFFIC_CELL_M": 0.7},
    {"REACH_M": 40.0, "GROUND_CELL_M": 0.21, "TRAFFIC_CELL_M": 90.0},
)


@pytest.mark.parametrize("cells", CELLS, ids=["near", "nearer", "coarse", "fine"])
@law(WORLDS, ANY, examples=8)
def test_cells_do_not_matter(cells, world, chosen):
    usual = score_scene(*world, chosen)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cells.items():
            patch.setattr(course, name, value)
        assert changes.same(score_scene(*world, chosen), usual)


# --------------------------------------------------------------------- less is never worse


@law(WORLDS, ANY)
def test_strangers_far_away_change_nothing(world, chosen):
    scene, vocabulary = world
    usual = score_scene(scene, vocabulary, chosen)
    for way_m in (900.0, -5e4):
        stranger = changes.with_stranger(scene, way_m)
        assert changes.same(score_scene(stranger, vocabulary, chosen), usual)


@law(WORLDS, st.integers(0, 2**32 - 1), ANY)
def test_fewer_agents_never_make_collisions(world, seed, chosen):
    scene, vocabulary = world
    kept = np.flatnonzero(np.random.default_rng(seed).random(len(scene.traffic)) < 0.5)
    many = score_scene(scene, vocabulary, chosen)
    few = score_scene(changes.with_traffic(scene, kept), vocabulary, chosen)
    none = score_scene(changes.with_traffic(scene, []), vocabulary, chosen)
    for column in (NC, TTC):
        assert (few.columns[column] >= many.columns[column]).all()
        assert (none.columns[column] == 1).all()
    unchanged(few, many, but=(NC, TTC, EP, PDM))


@law(WORLDS, ANY)
def test_agents_are_judged_each_for_itself(world, chosen):
    scene, vocabulary = world
    if len(scene.traffic) == 0:
        return
    many = score_scene(scene, vocabulary, chosen).columns[[NC, TTC]]
    alone = [
        score_scene(changes.with_traffic(scene, [agent]), vocabulary, chosen).columns[[NC, TTC]]
        for agent in range(len(scene.traffic))
    ]
    assert np.array_equal(many, np.min(alone, axis=0))


@law(WORLDS, st.integers(0, 2**32 - 1), ANY)
def test_less_red_is_never_worse(world, seed, chosen):
    scene, vocabulary = world
    keep = np.random.default_rng(seed).random(scene.lights.red.shape) < 0.5
    much = score_scene(scene, vocabulary, chosen)
    little = score_scene(changes.without_red(scene, keep), vocabulary, chosen)
    none = score_scene(changes.without_red(scene), vocabulary, chosen)
    assert (little.columns[TLC] >= much.columns[TLC]).all()
    assert (none.columns[TLC] == 1).all()
    unchanged(little, much, but=(TLC, EP, PDM))


@law(WORLDS, st.floats(2, 80))
def test_more_ground_is_never_worse(world, size_m):
    scene, vocabulary = world
    square = shapely.box(*(scene.ego[:2] - size_m), *(scene.ego[:2] + size_m))
    usual = score_scene(scene, vocabulary)
    paved = score_scene(changes.with_ground(scene, CARPARK_AREA, square), vocabulary)
    assert (paved.columns[DAC] >= usual.columns[DAC]).all()
    # less of the car is off the road, so less is its fault
    assert (paved.columns[[NC, TTC]] >= usual.columns[[NC, TTC]]).all()
    unchanged(paved, usual, but=(NC, DAC, TTC, EP, PDM))
    routed = score_scene(changes.with_ground(scene, LANE, square, on_route=True), vocabulary)
    assert (routed.columns[DDC] >= usual.columns[DDC]).all()
    unchanged(routed, usual, but=(NC, DDC, TTC, EP, PDM))


@law(WORLDS)
def test_sparing_crossings_is_never_worse(world):
    old, new = (score_scene(*world, Settings(ddc=ddc)) for ddc in ("v2.0", "v2.1"))
    assert (new.columns[DDC] >= old.columns[DDC]).all()
    unchanged(new, old, but=(DDC, EP, PDM))


@law(WORLDS, BODIES)
def test_rules_of_progress_share_everything_else(world, ddc):
    one, batch = (
        score_scene(*world, Settings(ddc=ddc, progress_rule=rule))
        for rule in ("per-candidate", "batch")
    )
    unchanged(one, batch, but=(EP, PDM))
