"""The reference trajectory held to the stock planner's, proposal by proposal."""

import lzma

import numpy as np
import pytest

from navaudit.axes import HEADING, PDM, X, Y
from navaudit.rollout.rollout import desire_reference
from navaudit.scene.build import build_scene
from navaudit.scene.memory import Memory
from navaudit.scene.reference import Planner, propose
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.referee import referee, score_proposals
from navaudit.score.score import Settings, score_scene
from navaudit.world.logs import read_log
from navaudit.world.maps import load_map
from scene.outlooks import GOLDEN, golden_outlook, stored

MOMENTS = sorted(stored())
CLOSE_M = 1e-9


def plan_of(moment, mode="stock", judge=score_proposals):
    carried = tuple(stored()[moment]["carried"].tolist()) if mode != "fresh" else ()
    return propose(golden_outlook(moment), Memory(mode, ids=carried), judge)


def test_the_corpus_holds_what_it_should():
    moments = stored()
    assert len(moments) == 34
    assert sum(len(one["carried"]) > 0 for one in moments.values()) == 4
    assert sum(len(one["red"]) > 0 for one in moments.values()) >= 6
    assert len({int(one["chosen"]) for one in moments.values()}) >= 6


@pytest.mark.parametrize("moment", MOMENTS)
def test_proposals_are_those_of_the_stock_planner(moment):
    stock, plan = stored()[moment], plan_of(moment)
    step = stock["step"]
    assert np.abs(plan.motion[:, step] - stock["motion"]).max() <= CLOSE_M
    assert np.abs(plan.leader[:, step] - stock["leader"]).max() <= CLOSE_M
    assert np.abs(plan.pose[:, 40] - stock["pose"]).max() <= CLOSE_M
    assert set(plan.met) == set(stock["met"].tolist())
    assert set(plan.memory.ids) == {*stock["carried"].tolist(), *stock["met"].tolist()}


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_reference_is_that_of_the_stock_cache(moment):
    stock, plan = stored()[moment], plan_of(moment)
    assert plan.chosen == stock["chosen"]
    assert np.abs(plan.pose[plan.chosen] - stock["winner"]).max() <= CLOSE_M
    assert np.array_equal(plan.track.time_us, stock["reference_time_us"])
    assert np.array_equal(plan.track.state[:, :2], stock["reference"][:, :2])
    assert np.abs(plan.track.state[:, HEADING] - stock["reference"][:, 2]).max() <= 1e-15
    assert not plan.track.state[:, 3:].any()


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_referee_scores_as_the_stock_scorer(moment):
    stock, sheets = stored()[moment], []
    plan = plan_of(
        moment, judge=lambda trial: sheets.append(referee(trial)) or sheets[0].columns[PDM]
    )
    assert np.abs(sheets[0].columns - stock["columns"]).max() <= 1e-11
    assert np.abs(sheets[0].progress_m - stock["progress_m"]).max() <= 1e-8
    # equals are equal to the bit, so that the first of them wins here and there
    best = stock["columns"][PDM] == stock["columns"][PDM].max()
    assert np.array_equal(plan.scores == plan.scores.max(), best)


def test_what_is_carried_decides_here_and_there():
    """Two of the pairs differ in the reference, one by its winner too."""
    apart = {}
    for moment in MOMENTS:
        if moment.endswith("_after"):
            fresh = stored()[moment.removesuffix("_after")]
            apart[moment] = np.abs(stored()[moment]["reference"] - fresh["reference"])[:, :2].max()
    assert sum(far > 1.0 for far in apart.values()) >= 3


@pytest.mark.parametrize("moment", [one for one in MOMENTS if one.startswith("leak_")])
def test_a_fresh_memory_forgets_what_is_carried(moment):
    fresh = stored()[moment.removesuffix("_after")]
    plan = plan_of(moment, mode="fresh")
    assert np.array_equal(plan.track.state[:, :2], fresh["reference"][:, :2])


@pytest.mark.parametrize(
    ("moment", "like"),
    [
        ("leak_approach_s", "leak_approach_s"),
        ("leak_far_s", "leak_far_s"),
        # a track that is carried is still left out
        ("leak_same_track_2", "leak_same_track_2_after"),
    ],
)
def test_a_blind_memory_sees_lights_but_no_carried_tracks(moment, like):
    plan = plan_of(f"{moment}_after", mode="blind")
    assert np.array_equal(plan.track.state[:, :2], stored()[like]["reference"][:, :2])


def test_injected_lists_stand_for_carried_ones():
    for moment in ("leak_approach_s", "leak_far_s"):
        stock = stored()[f"{moment}_after"]
        lists = {str(stock["token"]): tuple(stock["carried"].tolist())}
        plan = propose(golden_outlook(moment), Memory("inject", injected=lists), score_proposals)
        assert np.array_equal(plan.track.state[:, :2], stock["reference"][:, :2])
        other = propose(
            golden_outlook(moment), Memory("inject", injected={"another": ("x",)}), score_proposals
        )
        assert np.array_equal(other.track.state[:, :2], stored()[moment]["reference"][:, :2])


# --------------------------------------------------------------------- from logs, as in the wild


@pytest.fixture(scope="module")
def leak(tmp_path_factory):
    """Two drives as the stock planner met them, and what became of the second."""
    folder = tmp_path_factory.mktemp("leak")
    for packed in sorted([*(GOLDEN / "leak").glob("*.xz"), *(GOLDEN / "maps").rglob("*.xz")]):
        file = folder / packed.relative_to(GOLDEN).with_suffix("")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lzma.decompress(packed.read_bytes()))
    listing = "nuplan-maps-v1.0.json"
    (folder / "maps" / listing).write_bytes((GOLDEN / "maps" / listing).read_bytes())
    logs = [read_log(path) for path in sorted((folder / "leak").glob("*.pkl"))]
    maps = {log.frames[3].location: None for log in logs}
    maps = {place: load_map(folder / "maps", place) for place in maps}
    with np.load(GOLDEN / "leak" / "expected.npz") as expected:
        return logs, maps, dict(expected)


def second_scene(leak, memory):
    logs, maps, _ = leak
    planner = Planner(score_proposals, memory)
    return [build_scene(log, 3, maps[log.frames[3].location], planner) for log in logs][-1], planner


@pytest.mark.parametrize(
    ("memory", "name"),
    [
        (Memory(), "fresh"),
        (Memory("stock"), "after"),
        (Memory("blind"), "fresh"),
        (Memory("inject", injected={"7dff354a0f306988": ("red_light_40973",)}), "after"),
    ],
    ids=["fresh", "stock", "blind", "inject"],
)
def test_a_leak_can_be_switched_on_and_off(leak, memory, name):
    scene, planner = second_scene(leak, memory)
    expected = leak[2]
    assert scene.token == str(expected["token"])
    assert np.abs(desire_reference(scene)[0, :, :3] - expected[f"reference_{name}"]).max() <= 1e-9
    if memory.mode in ("stock", "blind"):
        assert list(planner.memory.ids) == expected["ignored_after"].tolist()
    else:
        assert planner.memory is memory


def test_the_leak_reaches_the_labels(leak):
    data = GOLDEN.parents[2] / "shared" / "data" / "vocabulary_8192.npy"
    if not data.is_file():
        pytest.skip("the third party's vocabulary_8192.npy does not lie beside the repository")
    expected = leak[2]
    vocabulary = Vocabulary(np.load(data)[expected["vocab_idx"]])
    for mode, name in (("fresh", "fresh"), ("stock", "after")):
        scene, _ = second_scene(leak, Memory(mode))
        # its human's metrics are all 1, so nothing is forgiven
        labels = score_scene(scene, vocabulary, Settings("v2.0")).labels()
        assert np.array_equal(labels, expected[f"labels_{name}"])
    assert (expected["labels_fresh"] != expected["labels_after"]).sum() == 90


def test_poses_begin_on_the_path_and_not_on_the_car():
    """The first pose is the foot of the rear axle on the path."""
    outlook = golden_outlook("overlap_start")
    plan = propose(outlook, Memory(), score_proposals)
    away = np.hypot(*(plan.pose[5, 0, :2] - outlook.ego[[X, Y]]))
    assert away > 0.5
