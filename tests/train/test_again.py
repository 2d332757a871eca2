"""The same bytes again: in another folder, after any interruption, and nothing of another run."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from agent.needs import torch
from labels.label_files import draw, humans, write_set
from navaudit.agent.checkpoint import read_checkpoint
from navaudit.errors import BadInput, Refused
from navaudit.labels.labelset import LabelSet, writing
from navaudit.scene.whole import held
from navaudit.train.loop import train
from train.small import CANDIDATES, files_of

STEPS = 12

KILLER = """
import json, os, random, signal, sys, time
from pathlib import Path
from navaudit import provenance
from navaudit.train.loop import train
from navaudit.train.recipe import Recipe

settings, root = json.loads(sys.argv[1]), Path(sys.argv[2])
paths = ("labels", "scenes", "logs", "images", "checkpoint")
settings = {**settings, **{name: Path(settings[name]) for name in paths}}
recipe = Recipe(**{**settings, "save": tuple(settings["save"])})
provenance.code_digest()  # once for all

def start(out):
    child = os.fork()
    if child == 0:
        train(recipe, out)
        os._exit(0)
    return child

def lines(out):
    log = out / "log.jsonl"
    return log.read_bytes().count(b"\\n") if log.exists() else 0

assert os.waitpid(start(root / "whole"), 0)[1] == 0
for seed in range(2):
    chance, out, killed = random.Random(seed), root / str(seed), []
    for _ in range(3):
        child, upto = start(out), chance.randint(0, recipe.steps)
        while lines(out) <= upto:
            time.sleep(0.0005)
        time.sleep(chance.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        killed.append(os.WIFSIGNALED(os.waitpid(child, 0)[1]))
    assert any(killed)
    print(seed, lines(out) - 1, sum(killed), flush=True)
    assert os.waitpid(start(out), 0)[1] == 0
"""


@pytest.fixture(scope="module")
def recipe(small):
    return small.recipe(arm="masked", steps=STEPS, save=(2, 7), keep_every=3)


@pytest.fixture(scope="module")
def whole(recipe, tmp_path_factory):
    """A run that nothing interrupted."""
    out = tmp_path_factory.mktemp("whole") / "run"
    train(recipe, out)
    return out


def test_two_runs_leave_the_same_bytes(recipe, whole, tmp_path):
    train(recipe, tmp_path / "elsewhere")
    assert files_of(tmp_path / "elsewhere") == files_of(whole)


def test_runs_killed_at_random_moments_end_with_the_same_bytes(recipe, tmp_path):
    settings = {key: value for key, value in asdict(recipe).items() if value is not None}
    done = subprocess.run(
        [sys.executable, "-c", KILLER, json.dumps(settings, default=str), tmp_path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for seed in range(2):
        assert files_of(tmp_path / str(seed)) == files_of(tmp_path / "whole"), done.stdout


def test_a_run_in_pieces_is_the_run_in_one(recipe, whole, small, tmp_path):
    for steps in (2, 7, 12):
        save = tuple(one for one in recipe.save if one <= steps)
        done = train(small.recipe(**{**vars(recipe), "steps": steps, "save": save}),
                     tmp_path / "run")  # fmt: skip
        assert done.step == steps
    assert files_of(tmp_path / "run") == files_of(whole)


def test_an_earlier_checkpoint_can_be_gone_on_from(recipe, whole, tmp_path):
    train(recipe, tmp_path / "run")
    train(recipe, tmp_path / "run", resume=tmp_path / "run" / "step-7.ckpt")
    assert files_of(tmp_path / "run") == files_of(whole)


def test_a_finished_run_does_nothing_more(recipe, whole):
    before = {path.name: path.stat().st_mtime_ns for path in whole.glob("*.ckpt")}
    done = train(recipe, whole)
    assert (done.step, done.checkpoint) == (STEPS, whole / "step-12.ckpt")
    assert {path.name: path.stat().st_mtime_ns for path in whole.glob("*.ckpt")} == before


OTHER = {
    "arm": ({"arm": "raw"}, "arm is masked there, and raw is asked for"),
    "seed": ({"seed": 3}, "seed is 0 there, and 3 is asked for"),
    "rate": ({"rate": 0.1}, "rate is 0.001 there, and 0.1 is asked for"),
    "batch": ({"batch": 7}, "batch is 8 there, and 7 is asked for"),
    "part": ({"part": 2}, "part is 3 there, and 2 is asked for"),
    "threads": ({"threads": 2}, "threads is 1 there, and 2 is asked for"),
}


@pytest.mark.parametrize("case", OTHER)
def test_a_run_of_other_settings_is_refused(recipe, small, whole, case):
    changes, said = OTHER[case]
    before = files_of(whole)
    with pytest.raises(Refused) as caught:
        train(small.recipe(**{**vars(recipe), **changes}), whole)
    assert said in caught.value.what
    assert caught.value.where == str(whole / "last.ckpt")
    assert files_of(whole) == before


def test_labels_of_other_values_are_refused_by_their_digest(recipe, small, whole, tmp_path):
    tokens = small.labels.tokens
    table = draw(tokens, CANDIDATES, seed=9)
    logs = dict(zip(tokens, small.labels.logs, strict=True))
    other = write_set(tmp_path / "labels", table, humans(table), logs)
    with pytest.raises(Refused) as caught:
        train(small.recipe(**{**vars(recipe), "labels": other.folder}), whole)
    assert f"labels_digest is {small.labels.digest()[:48]} there" in caught.value.what
    assert other.digest()[:48] in caught.value.what


def test_another_checkpoint_to_begin_with_is_refused(recipe, small, whole):
    other = {**vars(recipe), "checkpoint": whole / "step-2.ckpt"}
    with pytest.raises(Refused, match="checkpoint_digest is"):
        train(small.recipe(**other), whole)


def test_a_folder_with_the_log_of_another_run_is_refused(recipe, small, whole, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / "log.jsonl").write_bytes((whole / "log.jsonl").read_bytes())
    with pytest.raises(Refused, match="the log is of another run: seed is 0 there"):
        train(small.recipe(**{**vars(recipe), "seed": 1}), out)


def test_a_checkpoint_that_is_no_run_of_ours_is_refused(recipe, small, tmp_path):
    with pytest.raises(Refused, match="it is of no run of ours") as caught:
        train(recipe, tmp_path / "run", resume=small.world.checkpoint)
    assert "name it as the experiment's checkpoint" in caught.value.remedy


def test_fewer_steps_than_are_done_are_refused(recipe, small, whole):
    with pytest.raises(Refused, match="stands after 12 steps"):
        train(small.recipe(**{**vars(recipe), "steps": 11}), whole)


def test_a_checkpoint_that_was_passed_and_not_kept_is_refused(recipe, small, whole):
    with pytest.raises(Refused, match="no checkpoint was kept after 5"):
        train(small.recipe(**{**vars(recipe), "steps": 20, "save": (2, 5)}), whole)


def test_labels_of_another_vocabulary_are_refused(recipe, small, tmp_path):
    tokens = small.labels.tokens
    table = draw(tokens, CANDIDATES)
    settings = {"source": "test", "vocabulary": "ab" * 20}
    with writing(tmp_path / "labels", settings, {}, candidates=CANDIDATES) as draft:
        with draft.parcel("all") as parcel:
            for token in tokens:
                parcel.add(token, "", np.ones(9), table[token], None)
        draft.close(["all"])
    other = {**vars(recipe), "labels": tmp_path / "labels"}
    with pytest.raises(BadInput, match="the labels are of another vocabulary: abab"):
        train(small.recipe(**other), tmp_path / "run")


def test_labels_of_another_number_of_candidates_are_refused(recipe, small, tmp_path):
    table = draw(small.labels.tokens, 30)
    other = write_set(tmp_path / "labels", table, humans(table))
    with pytest.raises(BadInput, match="the labels are of 30 candidates") as caught:
        train(small.recipe(**{**vars(recipe), "labels": other.folder}), tmp_path / "run")
    assert caught.value.expected.startswith("24,")


def test_scenes_that_are_missing_are_named(recipe, small, tmp_path):
    table = draw((*small.labels.tokens, "f" * 16), CANDIDATES)
    other = write_set(tmp_path / "labels", table, humans(table))
    with pytest.raises(BadInput, match=f"1 of 21 labelled scenes are not .*{'f' * 16}"):
        train(small.recipe(**{**vars(recipe), "labels": other.folder}), tmp_path / "run")


def test_scenes_without_pictures_are_named_before_anything_is_learnt(recipe, small, tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    (images / "log0").symlink_to(small.world.images / "log0")
    with pytest.raises(BadInput, match="3 of 20 labelled scenes have no pictures") as caught:
        train(small.recipe(**{**vars(recipe), "images": images}), tmp_path / "run")
    assert "--split" in caught.value.remedy
    assert not (tmp_path / "run" / "log.jsonl").exists()


def test_labels_without_humans_train_the_raw_arm_alone(recipe, small, tmp_path):
    table = draw(small.labels.tokens, CANDIDATES)
    other = write_set(tmp_path / "labels", table)
    changes = {**vars(recipe), "labels": other.folder, "steps": 1, "save": ()}
    assert train(small.recipe(**{**changes, "arm": "raw"}), tmp_path / "raw").step == 1
    with pytest.raises(BadInput, match="follows from the human's scores"):
        train(small.recipe(**changes), tmp_path / "masked")


def test_a_device_that_is_not_there_is_refused(recipe, small, tmp_path):
    for device, said in (("tpu", "device is 'tpu'"), ("cuda", "finds no CUDA device")):
        if device == "cuda" and torch.cuda.is_available():
            continue
        with pytest.raises(BadInput, match=said):
            train(small.recipe(**{**vars(recipe), "device": device}), tmp_path / "run")


def test_a_second_run_in_the_folder_of_a_living_one_is_refused(recipe, tmp_path):
    with held(tmp_path / "run" / "lock"), pytest.raises(Refused, match="another run is writing"):
        train(recipe, tmp_path / "run")


def test_what_a_checkpoint_says_of_its_run(recipe, whole):
    kept = read_checkpoint(whole / "step-7.ckpt")
    told = kept.notes["run"]
    assert (told["arm"], told["seed"], told["threads"]) == ("masked", 0, 1)
    assert told["labels_digest"] == LabelSet.open(recipe.labels).digest()
    assert not any(isinstance(value, Path) for value in told.values())
    assert (kept.notes["done"], kept.notes["begun"], kept.step) == (7, 0, 7)
