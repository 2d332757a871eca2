"""``navaudit train``: from a file to checkpoints, what is printed, and what is refused."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

from agent.needs import torch  # noqa: E402
from navaudit import provenance  # noqa: E402
from navaudit.agent.checkpoint import read_checkpoint  # noqa: E402
from navaudit.cli import main  # noqa: E402
from navaudit.commands.train import train as command  # noqa: E402
from train.small import lines_of, write_small  # noqa: E402

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

TOML = """
name = "small"
command = "navaudit train small.toml --out run"
cost = "a second"
expects = "a checkpoint"

[agent]
checkpoint = "tiny.ckpt"

[data]
labels = "labels"
scenes = "scenes"
logs = "navsim_logs/mini"
images = "sensor_blobs/mini"

[training]
steps = 4
batch = 8
part = 4
save = [1, 4]
threads = 1
"""


def run(*arguments):
    return CliRunner().invoke(main, ["train", *(str(one) for one in arguments)])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of scenes, labels, recordings and an experiment."""
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("place")
    write_small(root)
    (root / "small.toml").write_text(TOML)
    return root


@pytest.fixture(scope="module")
def done(place):
    """A run under raw labels."""
    answer = run(place / "small.toml", "--arm", "raw", "--out", place / "runs" / "P0")
    assert answer.exit_code == 0, answer.output
    return place / "runs" / "P0", answer


def test_a_run_is_made_and_told(done):
    folder, answer = done
    kept = read_checkpoint(folder / "step-4.ckpt")
    assert answer.stdout.splitlines() == [
        f"{folder / 'step-4.ckpt'}: step 4",
        f"draws {kept.notes['draws']}",
    ]
    told = answer.stderr.splitlines()
    assert told[:3] == [
        "0 of 4 steps: the checkpoint holds weights alone, so Adam begins anew",
        "0 of 4 steps: looking up 20 scenes",
        "0 of 4 steps",
    ]
    assert told[-1] == f"4 of 4 steps: loss {lines_of(folder)[-1]['loss']['total']:.4f}"
    assert kept.notes["run"]["arm"] == "raw"
    assert (folder / "step-1.ckpt").exists()


def test_a_finished_run_is_told_again_as_json(place, done):
    folder, _ = done
    answer = run(place / "small.toml", "--arm", "raw", "--out", folder, "--json")
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)
    path = folder / "step-4.ckpt"
    assert (told["checkpoint"], told["step"]) == (str(path), 4)
    assert told["digest"] == provenance.digest_file(path)
    assert told["draws"] == lines_of(folder)[-1]["draws"]
    assert set(told["provenance"]) >= {"code", "numpy", "machine"}


def test_options_take_the_place_of_settings(place, done, tmp_path):
    (tmp_path / "small.toml").write_text(TOML)
    answer = run(tmp_path / "small.toml", "--at", place, "--arm", "masked", "--seed", 1, "--steps",
                 2, "--threads", 1, "--out", tmp_path / "M1", "--json")  # fmt: skip
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["step"] == 2
    notes = read_checkpoint(tmp_path / "M1" / "step-2.ckpt").notes
    assert (notes["run"]["arm"], notes["run"]["seed"]) == ("masked", 1)
    assert notes["draws"] != lines_of(done[0])[1]["draws"]


def test_a_run_is_gone_on_from_a_checkpoint(place, done, tmp_path):
    answer = run(place / "small.toml", "--arm", "raw", "--resume", done[0] / "step-1.ckpt",
                 "--out", tmp_path / "again")  # fmt: skip
    assert answer.exit_code == 0, answer.output
    name = "step-4.ckpt"
    assert (tmp_path / "again" / name).read_bytes() == (done[0] / name).read_bytes()


def test_another_run_is_refused_in_one_clear_message(place, done):
    answer = run(place / "small.toml", "--seed", 1, "--out", done[0])
    assert answer.exit_code == 2
    assert answer.stderr.startswith("navaudit: the checkpoint is of another run: arm is raw there")
    assert "seed is 0 there, and 1 is asked for" in answer.stderr


def test_a_wrong_experiment_is_refused(place, tmp_path):
    (tmp_path / "wrong.toml").write_text(TOML.replace("batch", "batsh"))
    answer = run(tmp_path / "wrong.toml", "--at", place, "--out", tmp_path / "run")
    assert answer.exit_code == 2
    assert "there is no setting 'batsh'" in answer.stderr
    assert not (tmp_path / "run").exists()


def test_data_that_are_not_there_are_refused(tmp_path):
    (tmp_path / "small.toml").write_text(TOML)
    answer = run(tmp_path / "small.toml", "--out", tmp_path / "run")
    assert answer.exit_code == 2
    assert str(tmp_path / "labels") in answer.stderr


def test_help_has_examples():
    answer = run("--help")
    assert answer.exit_code == 0
    assert "navaudit train experiments/town.toml --arm raw" in answer.stdout


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_commands_of_experiments_are_commands(path):
    words = shlex.split(next(
        line for line in path.read_text().splitlines() if line.startswith("command = ")
    ).partition("= ")[2])[0]  # fmt: skip
    made = command.make_context("train", shlex.split(words)[2:])
    assert made.params["config"] == Path("experiments") / path.name
    assert made.params["out"].parts[:2] == ("DIR", "runs")


def test_one_of_many_processes_is_refused_before_it_writes(place, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")
    done = run(place / "small.toml", "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert "started as 8 processes" in done.stderr
    assert "without torchrun" in done.stderr
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert run(place / "small.toml", "--steps", 1, "--out", tmp_path / "run").exit_code == 0
