"""The nine columns of a scene, the human's own, and the rule that forgives."""

import numpy as np

from navaudit.axes import COLUMNS
from reference import comfort, road, traffic
from reference.resample import desired_candidates, desired_human, desired_reference
from reference.shapes import areas, car_points
from reference.tracker import simulate

MULTIPLIED = COLUMNS[:4]
WEIGHTS = {
    "ego_progress": 5.0,
    "time_to_collision_within_bound": 5.0,
    "lane_keeping": 2.0,
    "history_comfort": 2.0,
}


def score(scene, poses, ddc="v2.0", rule="per-candidate"):
    """Score candidates ``[candidate, 40, 3]``: a dict of columns, ``progress_m`` and ``states``.

    ``ddc`` is ``v2.0`` or ``v2.1``, the body of driving direction; ``rule`` is ``per-candidate``
    or ``batch``, by which progress is made a share.
    """
    reference = simulate(scene.ego, desired_reference(scene))
    candidates = simulate(scene.ego, desired_candidates(scene, poses))
    states = np.concatenate([reference, candidates])
    sheet = aggregate(judge(scene, states, ddc, scene.past), rule)
    return {name: column[1:] for name, column in sheet.items()}


def score_human(scene, ddc="v2.0", rule="per-candidate"):
    """Score the logged human: alone, so against itself, and without the past."""
    states = simulate(scene.ego, desired_human(scene))
    return aggregate(judge(scene, states, ddc, None), rule)


def forgive(sheet, human):
    """Every column in which the human scored zero becomes one, the aggregate too."""
    forgiven = {name: np.ones_like(sheet[name]) for name in COLUMNS if human[name][0] == 0.0}
    return {**sheet, **forgiven}


def judge(scene, states, ddc, past):
    """All metrics but progress and the aggregate, of driven states ``[candidate, step, 11]``."""
    points = car_points(states)
    where = areas(scene.ground, states, points)
    objects = traffic.replay(scene)
    comfortable = comfort.history_comfort(past, states) if past else np.ones(len(states))
    return {
        "no_at_fault_collisions": traffic.no_at_fault_collisions(objects, states, points, where),
        "drivable_area_compliance": road.drivable_area(where),
        "driving_direction_compliance": road.driving_direction(points, where, ddc),
        "traffic_light_compliance": road.traffic_light(scene.lights, points),
        "time_to_collision_within_bound": traffic.time_to_collision(objects, states, points, where),
        "lane_keeping": road.lane_keeping(scene.centreline, points, where),
        "history_comfort": comfortable,
        "progress_m": road.progress_m(scene.centreline, points),
        "states": states,
    }


def aggregate(sheet, rule):
    """Add ego progress and the aggregate; the first row is the reference's."""
    product = np.prod([sheet[name] for name in MULTIPLIED], axis=0)
    progress = share(sheet["progress_m"], product, rule)
    sheet = {**sheet, "ego_progress": progress}
    weighted = sum(sheet[name] * weight for name, weight in WEIGHTS.items())
    return {**sheet, "pdm_score": product * weighted / sum(WEIGHTS.values())}


def share(raw_m, product, rule):
    """Progress as a share of the best; 1 where even the best is no farther than 5 m.

    Per candidate, the best is the better of itself and the reference, and what a candidate loses
    by its product counts.  In a batch the best is that of all, and the product counts only there.
    """
    masked = raw_m * product
    if rule == "per-candidate":
        best = np.maximum(masked, masked[0])
        far = best > 5.0
        return np.where(far, masked / np.where(far, best, 1.0), 1.0)
    if masked.max() > 5.0:
        return np.clip(raw_m / masked.max(), 0.0, 1.0)
    return np.ones_like(raw_m)
