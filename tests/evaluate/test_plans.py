"""Plans from files: pickles of GTRS, submissions, and arrays of one's own."""

import numpy as np
import pytest

from evaluate.small import straight_plan, token
from navaudit.agent.predictions import Prediction, write_predictions
from navaudit.errors import BadInput
from navaudit.evaluate.plans import expect_sampled, read_planned
from navaudit.world import pickles

POSES = straight_plan().poses


def test_a_prediction_file_of_gtrs(tmp_path):
    path = tmp_path / "predictions.pkl"
    write_predictions(path, [Prediction(token(1), POSES), Prediction(token(2), 2 * POSES)])
    planned = read_planned(path)
    assert list(planned) == [token(1), token(2)]
    assert np.array_equal(planned[token(2)].poses, 2 * POSES)
    assert planned[token(1)].interval_s == 0.1


def submission(poses, interval):
    sampling = pickles.Record(
        "nuplan.planning.simulation.trajectory.trajectory_sampling.TrajectorySampling",
        {"num_poses": len(poses), "time_horizon": 4.0, "interval_length": interval},
    )
    fields = {"poses": poses, "trajectory_sampling": sampling}
    plan = pickles.Record("navsim.common.dataclasses.Trajectory", fields)
    return {
        "team_name": "t",
        "authors": ["a"],
        "email": "e",
        "institution": "i",
        "country / region": "c",
        "first_stage_predictions": [{token(1): plan}],
        "second_stage_predictions": [{"0" * 17: plan}],
    }


def test_a_submission_at_2_hz(tmp_path):
    path = tmp_path / "submission.pkl"
    path.write_bytes(pickles.dumps(submission(straight_plan(poses=8).poses, 0.5)))
    planned = read_planned(path)
    assert set(planned) == {token(1), "0" * 17}
    expect_sampled(planned[token(1)])


def test_arrays_of_ones_own(tmp_path):
    path = tmp_path / "plans.npz"
    np.savez(path, **{token(1): POSES, token(2): POSES[4::5].astype(float), token(3): POSES[:5]})
    planned = read_planned(path)
    assert [plan.interval_s for plan in planned.values()] == [0.1, 0.5, 0.0]
    expect_sampled(planned[token(2)])
    with pytest.raises(BadInput, match="5 poses"):
        expect_sampled(planned[token(3)])


@pytest.mark.parametrize("array", [np.zeros((40, 2)), np.zeros((40, 3), int), np.zeros(3)])
def test_arrays_of_something_else_are_refused_by_token(tmp_path, array):
    path = tmp_path / "plans.npz"
    np.savez(path, **{token(9): array})
    with pytest.raises(BadInput, match="the plan is") as refused:
        read_planned(path)
    assert token(9) in refused.value.where


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"not a zip"])
def test_broken_archives_are_refused(tmp_path, data):
    path = tmp_path / "plans.npz"
    path.write_bytes(data)
    with pytest.raises(BadInput, match="the plans cannot be read"):
        read_planned(path)


def test_code_in_an_archive_does_not_run(tmp_path):
    path = tmp_path / "plans.npz"
    np.savez(path, **{token(1): np.array([print], object)})
    with pytest.raises(BadInput, match="cannot be read"):
        read_planned(path)
