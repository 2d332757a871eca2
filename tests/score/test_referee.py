"""The referee of proposals: the metrics of everybody, on a forecast and without history."""

from functools import partial

import numpy as np
import pytest
import shapely

from navaudit.axes import COLUMNS, DAC, EP, HC, LK, NC, PDM, STEPS, TLC, TTC
from navaudit.rollout.rollout import simulate
from navaudit.scene.memory import Memory
from navaudit.scene.reference import propose
from navaudit.scene.scene import Lights, Scene, Track
from navaudit.score.course import lay_out
from navaudit.score.engine import empty_scores, judge_states
from navaudit.score.referee import desire_paths, referee, score_proposals
from navaudit.score.score import Settings
from scene.outlooks import STRAIGHT, Thing, cone, first_wins, golden_outlook, street

MOMENTS = (
    "walled",
    "over_the_limits",
    "fast",
    "light_twice",
    "start_overlaps",
    "reverse",
    "mixture3",
    "round_half",
)


def trial_of(outlook):
    trials = []
    propose(outlook, Memory(), lambda trial: trials.append(trial) or first_wins(trial))
    return trials[0]


def scene_of(trial):
    """The trial as a scene whose traffic is the forecast."""
    outlook = trial.outlook
    red = np.ones((STEPS, len(outlook.red)), np.bool_)
    places = {name: i for i, name in enumerate(outlook.red)}
    lights = Lights(
        tuple(places), outlook.red_polygons.take(list(places.values())), red[:, : len(places)]
    )
    times = outlook.time_us + 100_000 * np.arange(51)
    past = Track(times[:2] - 100_000, np.repeat(outlook.ego[None], 2, axis=0))
    return Scene(
        outlook.token,
        "log",
        "nowhere",
        outlook.time_us,
        outlook.ego,
        trial.forecast.traffic(),
        lights,
        outlook.ground,
        (),
        outlook.route.centreline,
        None,
        past,
        Track(times, np.zeros((51, 11))),
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_coarse_course_gives_the_answers_of_a_fine_one(moment):
    trial = trial_of(golden_outlook(moment))
    states = simulate(trial.outlook.ego, desire_paths(trial.paths)).states
    columns, progress, first_step = empty_scores(len(states))
    judge_states(lay_out(scene_of(trial)), states, True, False, columns, progress, first_step)
    sheet = referee(trial)
    every = [one for one in range(len(COLUMNS)) if one not in (EP, PDM)]
    assert np.array_equal(sheet.columns[every], columns.T[every])
    assert np.array_equal(sheet.progress_m, progress)
    assert np.array_equal(sheet.first_step[every], first_step.T[every])


def test_progress_is_measured_against_the_best_or_the_first():
    trial = trial_of(street(speed=10.0))
    batch, each = referee(trial), referee(trial, Settings("v2.1", "per-candidate"))
    assert np.array_equal(batch.progress_m, each.progress_m)
    best = np.argmax(batch.progress_m)
    assert best > 0
    assert batch.columns[EP].max() == batch.columns[EP, best] == 1.0
    assert batch.columns[EP, 0] < 1.0
    own = each.progress_m
    assert np.array_equal(each.columns[EP], own / np.maximum(own, own[0]))


def test_scores_are_the_aggregate_under_the_settings():
    trial = trial_of(street([Thing(60.0, 0.5)]))
    for settings in (Settings("v2.1", "batch"), Settings("v2.0", "per-candidate")):
        scores = partial(score_proposals, settings=settings)(trial)
        assert np.array_equal(scores, referee(trial, settings).columns[PDM])
    assert np.array_equal(score_proposals(trial), referee(trial).columns[PDM])


def test_lanes_count_against_paths_beside_them():
    sheet = referee(trial_of(street(speed=8.0)))
    assert sheet.columns[LK].tolist() == [1.0] * 5 + [0.0] * 10
    assert (sheet.columns[HC] == 1.0).all()
    assert (sheet.columns[DAC] == 1.0).all()


def test_driving_direction_is_judged_by_the_body_asked_for():
    """Nothing is spared by either body here: there is no intersection."""
    trial = trial_of(street())
    assert np.array_equal(referee(trial, Settings("v2.0", "batch")).columns, referee(trial).columns)


def test_red_lights_stay_red():
    light = ("7", shapely.box(35.0, -5.0, 80.0, 5.0))
    sheet = referee(trial_of(street(speed=12.0, lights=[light])))
    assert (sheet.columns[TLC] == 0.0).all()
    assert (sheet.columns[PDM] == 0.0).all()


def test_what_the_car_touches_at_the_start_is_no_collision():
    touched = trial_of(street([Thing(25.0, 0.0, token="on it"), cone(20.0, 0.0)], speed=8.0))
    free = trial_of(street(speed=8.0))
    assert np.array_equal(referee(touched).columns, referee(free).columns)


def test_an_oncoming_car_is_foreseen_to_come_on():
    """It is 60 m off and would be met after some three seconds."""
    comes = Thing(84.0, 0.0, heading=np.pi, speed=10.0)
    sheet = referee(trial_of(street([comes], speed=10.0)))
    assert (sheet.columns[NC] == 0.0).any()
    assert (sheet.columns[TTC] == 0.0).all()
    stands = referee(trial_of(street([Thing(84.0, 0.0)], speed=10.0)))
    assert (stands.columns[NC] == 1.0).all()


def test_far_from_the_laid_out_ground_answers_are_the_same():
    fast = street(speed=55.0, limit=60.0, line=STRAIGHT)
    trial = trial_of(fast)
    states = simulate(fast.ego, desire_paths(trial.paths)).states
    assert states[..., 0].max() > fast.ego[0] + 130.0
    columns, progress, first_step = empty_scores(len(states))
    judge_states(lay_out(scene_of(trial)), states, True, False, columns, progress, first_step)
    assert np.array_equal(referee(trial).columns[:EP], columns.T[:EP])
