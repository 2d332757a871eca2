"""Experiments as files: what is read, what is refused, and the ones of this repository."""

import re
import shlex
from pathlib import Path

import click
import pytest

from navaudit.agent.shapes import SHAPES
from navaudit.cli import main
from navaudit.errors import BadInput
from navaudit.train.recipe import Recipe, read_recipe, with_arm
from navaudit.train.targets import ARMS

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

GOOD = """
name = "one"
command = "navaudit train one.toml --out run"
cost = "nothing"
expects = "nothing"

[agent]
checkpoint = "base.ckpt"

[data]
labels = "labels"
scenes = "scenes"
logs = "logs"
images = "/far/images"

[training]
steps = 30
batch = 8
save = [10, 30]
"""


def written(tmp_path, text=GOOD, **changes):
    """A file in which lines were replaced."""
    for old, new in changes.items():
        text = re.sub(rf"^{old}( = .*)?$", new, text, flags=re.MULTILINE)
    path = tmp_path / "one.toml"
    path.write_text(text)
    return path


def test_a_file_becomes_a_recipe(tmp_path):
    recipe = read_recipe(written(tmp_path), {"arm": None})
    assert recipe == Recipe(
        labels=tmp_path / "labels", scenes=tmp_path / "scenes", logs=tmp_path / "logs",
        images=Path("/far/images"), checkpoint=tmp_path / "base.ckpt", steps=30, batch=8,
        save=(10, 30), name="one", command="navaudit train one.toml --out run", cost="nothing",
        expects="nothing",
    )  # fmt: skip
    assert (recipe.arm, recipe.seed, recipe.part, recipe.rate) == ("published", 0, 0, 2e-4)


def test_paths_can_be_those_of_another_folder(tmp_path):
    recipe = read_recipe(written(tmp_path), {}, tmp_path / "data")
    assert recipe.labels == tmp_path / "data" / "labels"
    assert recipe.checkpoint == tmp_path / "data" / "base.ckpt"


def test_options_take_the_place_of_settings(tmp_path):
    recipe = read_recipe(written(tmp_path), {"arm": "raw", "seed": 4, "steps": 12})
    assert (recipe.arm, recipe.seed, recipe.steps) == ("raw", 4, 12)
    assert recipe.save == (10,)
    other = with_arm(recipe, "masked", 1)
    assert (other.arm, other.seed, other.steps) == ("masked", 1, 12)


WRONG = {
    "an unknown setting": ({"batch": "batsh = 8"}, "no setting 'batsh' at [training]"),
    "a setting in another table": ({"scenes": 'scenes = "s"\nsteps = 3'}, "'steps' at [data]"),
    "an unknown table": ({"name": 'name = "one"\n[learning]\nx = 1'}, "no setting 'learning'"),
    "a table that is none": (
        {"name": "agent = 3", "checkpoint": "", r"\[agent\]": ""}, "agent is no table"),
    "a path that is none": ({"labels": "labels = 3"}, "labels is 3"),
    "an empty path": ({"labels": 'labels = ""'}, "labels is ''"),
    "an arm that is none": ({"batch": 'batch = 8\narm = "kind"'}, "arm is 'kind'"),
    "no steps": ({"steps": "steps = 0"}, "steps is 0"),
    "steps as text": ({"steps": 'steps = "30"'}, "steps is '30'"),
    "a batch that is true": ({"batch": "batch = true"}, "batch is True"),
    "a seed below zero": ({"batch": "batch = 8\nseed = -1"}, "seed is -1"),
    "a rate of zero": ({"batch": "batch = 8\nrate = 0.0"}, "rate is 0.0"),
    "a rate as text": ({"batch": 'batch = 8\nrate = "fast"'}, "rate is 'fast'"),
    "a rate without end": ({"batch": "batch = 8\nrate = inf"}, "rate is inf"),
    "a late checkpoint": ({"save": "save = [10, 31]"}, "kept after step 31"),
    "a checkpoint before the first": ({"save": "save = [0]"}, "a step of save is 0"),
    "a save that is no list": ({"save": "save = 10"}, "save is 10"),
    "recomputing as text": ({"save": 'recompute = "yes"'}, "recompute is 'yes'"),
    "a name that is none": ({"name": "name = 3"}, "name is 3"),
    "neither": ({"checkpoint": 'vocabulary = "v.npy"'}, "no agent is given"),
    "a shape alone": ({"checkpoint": 'shape = "narrow"'}, "no vocabulary is given"),
    "an encoder too many": ({"checkpoint": 'checkpoint = "a"\nencoder = "d"'}, "an encoder"),
    "an encoder too many, and a shape": (
        {"checkpoint": 'checkpoint = "a"\nshape = "narrow"\nencoder = "d"'}, "an encoder"),
    "no TOML": ({"name": "name ="}, "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_file(tmp_path, case):
    changes, said = WRONG[case]
    path = written(tmp_path, **changes)
    with pytest.raises(BadInput) as caught:
        read_recipe(path, {})
    assert said in caught.value.what
    assert caught.value.where == str(path)


@pytest.mark.parametrize("gone", ["labels", "scenes", "logs", "images", "steps", "batch"])
def test_what_is_missing_is_named(tmp_path, gone):
    path = written(tmp_path, **{gone: ""})
    with pytest.raises(BadInput) as caught:
        read_recipe(path, {})
    assert caught.value.what == f"the experiment lacks {gone}"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match="no such experiment"):
        read_recipe(tmp_path / "no.toml", {})


def test_a_run_is_told_by_what_decides_its_steps(tmp_path):
    told = read_recipe(written(tmp_path), {}).told()
    assert set(told) == {"arm", "seed", "batch", "part", "rate", "shape", "threads", "device"}


# ------------------------------------------------------------------- those of this repository

FILES = sorted(EXPERIMENTS.glob("*.toml"))


def test_there_are_experiments():
    names = {path.stem for path in FILES}
    assert {"town-base", "town"} <= names
    assert {f"gtrs-{arm}-{seed}" for arm in "amp" for seed in range(3)} <= names
    assert "gtrs-l0-0" in names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_experiment_is_read_and_says_what_it_is(path, tmp_path):
    recipe = read_recipe(path, {}, tmp_path)
    assert recipe.name == path.stem
    assert recipe.cost
    assert recipe.expects

    words = shlex.split(recipe.command)
    assert words[:3] == ["navaudit", "train", f"experiments/{path.name}"]
    if recipe.shape:
        assert recipe.shape in SHAPES


COMMANDS = [
    (path.stem, words[1:])
    for path in FILES
    for words in map(shlex.split, re.findall(r"^(?:#   |command = \")(navaudit [^\"\n]*)",
                                             path.read_text(), flags=re.MULTILINE))
]  # fmt: skip


def test_commands_are_found():
    assert {name for name, _ in COMMANDS} == {path.stem for path in FILES}
    assert {words[0] for _, words in COMMANDS} == {"train", "town", "scenes", "label"}


@pytest.mark.parametrize(("name", "words"), COMMANDS)
def test_every_command_of_an_experiment_is_one(name, words):
    command = main.get_command(click.Context(main), words[0])
    # arguments are read and checked, and nothing is run
    command.make_context(words[0], words[1:])


@pytest.mark.parametrize("path", [one for one in FILES if one.stem.startswith("gtrs-")],
                         ids=lambda path: path.stem)  # fmt: skip
def test_the_papers_runs_differ_in_arm_and_seed_alone(path, tmp_path):
    recipe = read_recipe(path, {}, tmp_path)
    letter, seed = path.stem.removeprefix("gtrs-").upper().split("-")
    assert ARMS[recipe.arm] == letter
    assert recipe.seed == int(seed)
    first = read_recipe(EXPERIMENTS / "gtrs-a-0.toml", {}, tmp_path)
    assert with_arm(recipe, "published", 0).told() == first.told()
    assert (recipe.steps, recipe.save) == (530, (200, 300, 530))
