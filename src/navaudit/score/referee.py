"""The referee: scores the proposals of the planner by the metrics it is later measured with."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, DAC, DDC, HEADING, NC, PDM, STATE, STEPS, TLC, X, Y
from navaudit.numerics.angles import cos_of, sin_of
from navaudit.rollout.rollout import simulate
from navaudit.scene.forecast import Forecast
from navaudit.scene.reference import Trial
from navaudit.scene.scene import Lights, Track
from navaudit.score.comfort import History, join_history
from navaudit.score.contact import TrafficIndex, centroids, index_traffic
from navaudit.score.course import Course, ego_points
from navaudit.score.engine import empty_scores, judge_states
from navaudit.score.grid import Grid, grid_round
from navaudit.score.ground import index_ground
from navaudit.score.lane import index_line
from navaudit.score.light import index_lights
from navaudit.score.progress import measure_way, way_along
from navaudit.score.score import Settings
from navaudit.score.sheet import ScoreSheet, add_progress

Floats = NDArray[np.float64]

CACHING: Final = Settings(ddc="v2.1", progress_rule="batch")
"""What stock caching scores proposals with, whatever labels are made of them later."""
CELL_M: Final = 8.0
REACH_M: Final = 128.0
"""Few ask here, so the ground is laid out coarsely; answers do not depend on it."""


def score_proposals(trial: Trial, settings: Settings = CACHING) -> Floats:
    """Scores ``[proposal]`` of a trial: what ``scene.reference.propose`` wants of a judge."""
    return referee(trial, settings).columns[PDM]


def referee(trial: Trial, settings: Settings = CACHING) -> ScoreSheet:
    """Drive the proposals of a trial and score them against the forecast, without history.

    Under ``batch`` the best proposal's progress is the measure of all, under ``per-candidate`` that
    of the first.
    """
    course = lay_out_trial(trial)
    states = simulate(trial.outlook.ego, desire_paths(trial.paths), settings.solver).states
    columns, progress, first_step = empty_scores(len(states))
    judge_states(course, states, settings.spare_crossroads, False, columns, progress, first_step)
    rows = np.ascontiguousarray(columns.T)
    own = progress * (rows[NC] * rows[DAC] * rows[DDC] * rows[TLC])
    add_progress(rows, progress, float(own[0]), settings.progress_rule)
    return ScoreSheet(rows, progress, np.ascontiguousarray(first_step.T))


def desire_paths(paths: Floats) -> Floats:
    """Desired steps ``[proposal, step, 5]`` of paths ``[proposal, step, 3]``, taken as they are."""
    heading = paths[..., HEADING]
    return np.concatenate([paths, cos_of(heading)[..., None], sin_of(heading)[..., None]], axis=2)


def lay_out_trial(trial: Trial) -> Course:
    """Lay out a planner's outlook and forecast as a course."""
    outlook = trial.outlook
    start = ego_points(outlook.ego)
    grid = grid_round(float(outlook.ego[X]), float(outlook.ego[Y]), REACH_M, CELL_M)
    line = np.ascontiguousarray(outlook.route.centreline[:, :2])
    way = measure_way(line)
    red = np.ones((STEPS, len(outlook.red)), np.bool_)
    return Course(
        ego=outlook.ego,
        start=start,
        ground=index_ground(outlook.ground, grid),
        line=index_line(line, grid),
        way=way,
        start_m=way_along(way, start[CENTRE, 0], start[CENTRE, 1]),
        lights=index_lights(Lights(outlook.red, outlook.red_polygons, red), grid),
        traffic=index_forecast(trial.forecast, start, grid),
        history=_no_history(),
    )


def index_forecast(forecast: Forecast, ego_corners: Floats, grid: Grid) -> TrafficIndex:
    """Sort a forecast over a grid, leaving out what the car stands in at t = 0.

    Corners are those of the forecast: the stock one moves corners, not centres, and rounds apart.
    """
    index = index_traffic(forecast.traffic(), ego_corners, grid)
    corners = np.repeat(forecast.ring[:, :, :4], 2, axis=0)[:STEPS]
    return index._replace(corners=corners, centroid=centroids(corners))


@cache
def _no_history() -> History:
    return join_history(Track(np.array([0, 100_000], np.int64), np.zeros((2, len(STATE)))))
