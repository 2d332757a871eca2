"""``navaudit explain`` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.axes import COLUMNS
from navaudit.cli import main
from navaudit.commands.scene_source import SceneSource
from navaudit.errors import BadInput
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.store import complete_set, log_path, write_log
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings, score_scene

CACHES = Path(__file__).parents[1] / "golden" / "metric_cache"
PATHS = index_caches(CACHES)
TOKEN, PATH = next(iter(PATHS.items()))


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    """Straight on at eight speeds, and into the oncoming traffic."""
    way = 0.1 * np.arange(1, 41) * np.linspace(1, 15, 8)[:, None]
    poses = np.zeros((9, 40, 3), np.float32)
    poses[:8, :, 0] = way
    poses[8] = poses[5] @ np.diag([1, 0, 0]).astype(np.float32)
    poses[8, :, 1] = np.minimum(0.25 * np.arange(40), 6.0)
    path = tmp_path_factory.mktemp("vocabulary") / "v.npy"
    np.save(path, poses)
    return path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def explain(*words):
    return CliRunner().invoke(main, ["explain", *map(str, words)])


def asked(vocabulary, source=CACHES, token=TOKEN, candidate=8):
    return (source, token, "--candidate", candidate, "--vocabulary", vocabulary)


def test_words_and_a_picture(vocabulary, tmp_path):
    told = explain(*asked(vocabulary))
    assert told.exit_code == 0, told.output
    assert "DDC fails at" in told.stdout.splitlines()[0]
    picture = tmp_path / f"explain-{TOKEN}-8.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture.name) in told.stdout
    for name in ("NC", "DAC", "TLC", "TTC", "LK", "HC", "EP", "PDM"):
        assert f" {name} " in told.stdout


@pytest.mark.parametrize("rule", ["per-candidate", "batch"])
def test_json_says_what_the_engine_says(vocabulary, rule):
    told = explain(*asked(vocabulary), "--json", "--ddc", "v2.1", "--progress-rule", rule)
    record = json.loads(told.stdout)
    sheet = score_scene(read_scene(PATH), Vocabulary(np.load(vocabulary)), Settings("v2.1", rule))
    assert [one["score"] for one in record["columns"]] == sheet.columns[:, 8].tolist()
    assert [one["column"] for one in record["columns"]] == list(COLUMNS)
    assert record["settings"] == {"ddc": "v2.1", "progress_rule": rule, "solver": "closed"}
    assert record["provenance"]["vocabulary"] == Vocabulary(np.load(vocabulary)).digest
    assert Path(record["picture"]).is_file()


@pytest.mark.parametrize("source", [PATH, PATH.parent], ids=["file", "its folder"])
def test_one_cache_is_enough(vocabulary, source):
    told = explain(*asked(vocabulary, source, TOKEN[:5]), "--out", "why.svg", "--theme", "dark")
    assert told.exit_code == 0, told.output
    assert Path("why.svg").read_text().startswith("<?xml")


WRONG = {
    "no scene there": (asked, "there are no scenes here"),
    "no such folder": (lambda v, t: asked(v, t / "x"), "there is no such file or folder"),
    "unknown token": (lambda v, t: asked(v, token="zz"), "there is no scene zz"),
    "short token": (lambda v, t: asked(v, token=""), "6 tokens begin with ''"),
    "no candidate": (lambda v, t: asked(v, candidate=9), "there is no candidate 9"),
    "no vocabulary": (lambda v, t: asked(t / "v.npy"), "vocabulary does not exist"),
    "bad ddc": (lambda v, t: (*asked(v), "--ddc", "v3"), "ddc 'v3' does not exist"),
    "bad format": (lambda v, t: (*asked(v), "--out", "a.gif"), "a picture cannot be .gif"),
    "no folder": (
        lambda v, t: (*asked(v), "--out", t / "x" / "a.png"),
        "the folder of the picture",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told_in_one_message(vocabulary, tmp_path, case):
    words, complaint = WRONG[case]
    told = explain(*words(vocabulary, tmp_path))
    assert told.exit_code == 2
    assert told.stderr.startswith(f"navaudit: {complaint}")
    assert "Traceback" not in told.stderr
    assert not list(tmp_path.iterdir())


def test_an_error_is_json_too(vocabulary, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["navaudit", "explain", "--json"])
    told = explain(*asked(vocabulary, tmp_path), "--json")
    assert told.exit_code == 2
    assert json.loads(told.stdout)["error"]["what"] == "there are no scenes here"


def test_a_scene_set_will_do(vocabulary, tmp_path):
    folder = tmp_path / "scenes"
    scene = read_scene(PATH)
    log_path(folder, scene.log).parent.mkdir(parents=True)
    write_log(log_path(folder, scene.log), scene.log, {}, [scene])
    complete_set(folder, {}, {}, [scene.log])
    kept = json.loads(explain(*asked(vocabulary, folder, TOKEN[:6]), "--json").stdout)
    cached = json.loads(explain(*asked(vocabulary), "--json").stdout)
    assert kept == cached


def test_a_damaged_scene_set_is_not_taken_for_something_else(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(BadInput, match="manifest of the scenes"):
        SceneSource.open(tmp_path)
