"""Prediction files: written as the stock code reads them, read as the stock code writes them."""

import pickle
import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.agent.predictions import Prediction, read_plans, read_predictions, write_predictions
from navaudit.axes import HEADS
from navaudit.errors import BadInput, Refused


@dataclass
class TrajectorySampling:
    """Pickles like nuPlan's."""

    num_poses: int = 40
    time_horizon: float = 4.0
    interval_length: float = 0.1


@dataclass
class Trajectory:
    """Pickles like NAVSIM's."""

    poses: np.ndarray
    trajectory_sampling: TrajectorySampling


@pytest.fixture
def stock(monkeypatch):
    """The stock classes, importable where the stock code has them."""
    places = {
        TrajectorySampling: "nuplan.planning.simulation.trajectory.trajectory_sampling",
        Trajectory: "navsim.common.dataclasses",
    }
    for kind, place in places.items():
        parts = place.split(".")
        for k in range(1, len(parts) + 1):
            name = ".".join(parts[:k])
            monkeypatch.setitem(sys.modules, name, sys.modules.get(name, types.ModuleType(name)))
        setattr(sys.modules[place], kind.__name__, kind)
        monkeypatch.setattr(kind, "__module__", place)


def poses(seed=0, count=40, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(count, 3)).astype(dtype)


def heads(seed, candidates=5):
    rng = np.random.default_rng(seed)
    found = {name: rng.normal(size=candidates).astype(np.float32) for name in HEADS}
    found["imi"][0] = -np.inf
    return found


def save(path, value):
    path.write_bytes(pickle.dumps(value))
    return path


@pytest.mark.parametrize("with_heads", [True, False])
def test_the_stock_code_reads_what_is_written(tmp_path, stock, with_heads):
    path = tmp_path / "p.pkl"
    whole = [Prediction(f"t{k}", poses(k), heads(k) if with_heads else {}) for k in range(3)]
    assert write_predictions(path, iter(whole)) == 3
    content = pickle.loads(path.read_bytes())
    assert list(content) == ["t0", "t1", "t2"]
    for one in whole:
        entry = content[one.token]
        assert type(entry["trajectory"]) is Trajectory
        assert entry["trajectory"].trajectory_sampling == TrajectorySampling()
        assert type(entry["trajectory"].trajectory_sampling.time_horizon) is float
        assert entry["trajectory"].poses.dtype == np.float32
        assert np.array_equal(entry["trajectory"].poses, one.poses)
        assert set(entry) == {"trajectory", *one.heads}
        for name, values in one.heads.items():
            assert entry[name].dtype == np.float32
            assert np.array_equal(entry[name], values)
    read = read_predictions(path)
    assert list(read) == ["t0", "t1", "t2"]
    assert all(np.array_equal(read[one.token], one.poses) for one in whole)


@given(st.dictionaries(st.text(min_size=1) | st.just("email"), st.integers(0, 99), min_size=1))
@settings(max_examples=25, deadline=None)
def test_poses_come_back_bit_for_bit(tmp_path_factory, seeds):
    path = tmp_path_factory.mktemp("plans") / "p.pkl"
    plans = {token: poses(seed) for token, seed in seeds.items()}
    write_predictions(path, (Prediction(token, one) for token, one in plans.items()))
    read = read_predictions(path)
    assert list(read) == list(plans)
    for token, one in plans.items():
        assert read[token].tobytes() == one.tobytes()
        assert read[token].dtype == np.float32
        assert not read[token].flags.writeable


def test_what_the_stock_code_writes_is_read(tmp_path, stock):
    a, b = poses(1), poses(2, dtype=np.float64)
    entry = {"trajectory": Trajectory(a, TrajectorySampling()), **heads(0)}
    for name, value in {
        "gtrs": {"a": entry, "b": {"trajectory": b}},
        "plain": {"a": Trajectory(a, TrajectorySampling()), "b": b},
        "submission": {
            "team_name": "us", "authors": ["me"], "email": "", "institution": "",
            "country / region": "",
            "first_stage_predictions": [{"a": Trajectory(a, TrajectorySampling())}],
            "second_stage_predictions": [{"b": b}],
        },
    }.items():  # fmt: skip
        read = read_predictions(save(tmp_path / name, value))
        assert list(read) == ["a", "b"]
        assert np.array_equal(read["a"], a)
        assert np.array_equal(read["b"], b)
        assert read["b"].dtype == np.float64


def test_plans_of_another_sampling_are_given_as_they_are_and_not_as_predictions(tmp_path, stock):
    slow = Trajectory(poses(count=8), TrajectorySampling(8, 4.0, 0.5))
    path = save(tmp_path / "p", {"a": {"trajectory": slow}})
    [(token, plan)] = read_plans(path)
    assert (token, plan.interval_s, plan.poses.shape) == ("a", 0.5, (8, 3))
    with pytest.raises(BadInput, match=r"8 poses, one every 0\.5 s") as caught:
        read_predictions(path)
    assert "token a" in caught.value.where


BROKEN = {
    "no trajectory": ({"a": {"imi": poses()}}, "the entry holds imi"),
    "nothing": ({}, "no plans"),
    "a number": ({"a": 3}, "the plan's poses are a int"),
    "integers": ({"a": np.zeros((40, 3), int)}, "the plan's poses are of int64"),
    "two columns": ({"a": np.zeros((40, 2), np.float32)}, r"shape \(40, 2\)"),
    "bare, of unknown time": ({"a": np.zeros((8, 3), np.float32)}, "8 poses that do not say"),
    "nan": ({"a": np.where(np.arange(40)[:, None] == 7, np.nan, poses())}, "pose 7 of the plan"),
    "no token": ({3: poses()}, "named 3"),
    "twice": (
        {"first_stage_predictions": [{"a": poses()}], "second_stage_predictions": [{"a": poses()}]},
        "predicted twice",
    ),
    "a stage of numbers": ({"first_stage_predictions": [3]}, "holds a int"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_says_how(tmp_path, name):
    value, message = BROKEN[name]
    path = save(tmp_path / "p", value)
    with pytest.raises(BadInput, match=message) as caught:
        read_predictions(path)
    assert str(path) in caught.value.where


def test_time_between_poses_is_a_time(tmp_path, stock):
    for wrong in (0.0, -0.1, None, float("nan")):
        plan = Trajectory(poses(), TrajectorySampling(40, 4.0, wrong))
        with pytest.raises(BadInput, match="s apart"):
            read_predictions(save(tmp_path / "p", {"a": plan}))


def test_code_in_a_prediction_file_is_refused(tmp_path):
    path = tmp_path / "p"
    path.write_bytes(b"cos\nsystem\n(Vtrue\ntR.")
    with pytest.raises((Refused, BadInput)):
        read_predictions(path)


def test_an_unfinished_file_is_none(tmp_path):
    def failing():
        yield Prediction("a", poses())
        raise KeyError("power")

    with pytest.raises(KeyError):
        write_predictions(tmp_path / "p.pkl", failing())
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_predicted_once_and_with_every_head():
    with pytest.raises(BadInput, match="heads imi"):
        Prediction("a", poses(), {"imi": np.zeros(3, np.float32)})
    with pytest.raises(BadInput, match="shape"):
        Prediction("a", poses(count=39))


def test_a_token_is_written_once(tmp_path):
    with pytest.raises(BadInput, match="token a is predicted twice"):
        write_predictions(tmp_path / "p", [Prediction("a", poses()), Prediction("a", poses(1))])
    assert list(tmp_path.iterdir()) == []
