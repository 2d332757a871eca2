"""Label sets out of GTRS labels and back: values, dtypes, keys, order, and nothing half done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.label_files import (
    PROTOCOLS,
    draw,
    humans,
    load,
    same_bytes,
    write_folder,
    write_pickle,
    write_set,
)
from navaudit.axes import COLUMNS, LK
from navaudit.errors import BadInput, Refused
from navaudit.labels.certify import certify, open_side
from navaudit.labels.exchange import export_labels, import_labels
from navaudit.labels.gtrs import GtrsLabels
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
from navaudit.labels.policies import POLICIES, apply
from navaudit.labels.roll import Roll, named, read_roll, require_all
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import sweep_beside
from score import golden

TABLE = draw(["b1", "a2", "c3"])
ROLL = Roll("table", MappingProxyType({"c3": "log1", "x9": "log1", "b1": "log2", "a2": "log3"}))


def take(path, folder, **options):
    return import_labels(GtrsLabels(path), folder, **options).labels


# ------------------------------------------------------------------------------- both ways


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.text("0123456789abcdef", min_size=1, max_size=17), unique=True, min_size=1),
    st.sampled_from([1, 40]),
    st.sampled_from(PROTOCOLS),
    st.integers(0, 99),
)
def test_what_is_imported_is_exported_as_it_was(
    tmp_path_factory, tokens, candidates, protocol, seed
):
    folder = tmp_path_factory.mktemp("round")
    table = draw(tokens, candidates, seed)
    ordered = {token: table[token] for token in sorted(table)}
    one = take(write_pickle(folder / "x.pkl", table, protocol), folder / "one")
    two = take(write_folder(folder / "x", table, protocol), folder / "two")
    assert one.digest() == two.digest()
    first = export_labels(Labels(one, "raw"), folder / "y.pkl")
    assert same_bytes(load(folder / "y.pkl"), ordered)
    again = take(folder / "y.pkl", folder / "again")
    assert again.digest() == one.digest()
    assert export_labels(Labels(again, "raw"), folder / "z.pkl", workers=3) == first
    assert (folder / "z.pkl").read_bytes() == (folder / "y.pkl").read_bytes()


def test_values_of_any_bits_go_both_ways(tmp_path):
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    table = {"t": np.tile(every, (9, 1))}
    made = take(write_pickle(tmp_path / "x.pkl", table), tmp_path / "set")
    export_labels(Labels(made, "raw"), tmp_path / "y.pkl")
    assert same_bytes(load(tmp_path / "y.pkl"), table)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("workers", [1, 4])
def test_every_policy_is_exported_as_its_function_has_it(tmp_path, policy, workers):
    table = draw([f"{n:02x}" for n in range(20)])
    human = humans(table)
    along = {
        token: np.linspace(0, 1, 40).round().astype(np.float16)
        for token in table
        if human[token][LK] == 0
    }
    made = write_set(tmp_path / "set", table, human, along=along)
    mask = tmp_path / "mask.npz"
    export_labels(Labels(made, policy), tmp_path / "x.pkl", mask=mask, workers=workers)
    wanted = {
        token: apply(policy, values, human[token], along.get(token))
        for token, values in table.items()
    }
    assert same_bytes(load(tmp_path / "x.pkl"), wanted)
    abstains = np.load(mask)
    assert abstains["token"].tolist() == list(table)
    assert abstains["column"].tolist() == list(COLUMNS)
    silent = np.array([human[token] == 0 for token in table])
    assert silent.any()
    assert np.array_equal(abstains["abstains"], silent & (policy == "masked"))


def test_a_column_that_has_some_nan_is_not_abstained_on(tmp_path):
    table = draw(["t"])
    table["t"][0, 0] = np.nan
    mask = tmp_path / "mask.npz"
    export_labels(Labels(write_set(tmp_path / "s", table), "raw"), tmp_path / "x.pkl", mask=mask)
    assert not np.load(mask)["abstains"].any()


@pytest.mark.parametrize("policy", sorted(set(POLICIES) - {"raw"}))
def test_policies_that_an_imported_set_cannot_serve_are_refused(tmp_path, policy):
    made = take(write_pickle(tmp_path / "x.pkl", TABLE), tmp_path / "set")
    assert np.isnan(made.human).all()
    with pytest.raises(BadInput, match=f"policy {policy}"):
        export_labels(Labels(made, policy), tmp_path / "y.pkl")
    assert not (tmp_path / "y.pkl").exists()


def test_an_export_that_fails_leaves_what_was_there(tmp_path):
    human = humans(TABLE)
    human["b1"][LK] = 0.0
    made = write_set(tmp_path / "set", TABLE, human)  # without what path needs
    (tmp_path / "x.pkl").write_text("before")
    with pytest.raises(BadInput, match="human's path") as caught:
        export_labels(Labels(made, "path"), tmp_path / "x.pkl", workers=2)
    assert "b1" in caught.value.where
    assert (tmp_path / "x.pkl").read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["set", "x.pkl"]


# ------------------------------------------------------------------------------- the oracle


SPOKEN_FOR = [name for name in golden.OURS if name != "synthetic_token"]


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Golden scenes labelled by the engine, as a set; the one without a human left out."""
    from navaudit.scene.vocabulary import Vocabulary
    from navaudit.score.score import score_human, score_scene

    raw, human, logs = {}, {}, {}
    for name in SPOKEN_FOR:
        one = golden.ours(name)
        token = one.scene.token
        raw[token] = score_scene(one.scene, Vocabulary(one.poses)).labels()
        human[token] = score_human(one.scene).columns[:, 0]
        logs[token] = one.scene.log
    return write_set(tmp_path_factory.mktemp("golden") / "set", raw, human, logs)


@pytest.mark.parametrize(("policy", "forgiven"), [("raw", False), ("published", True)])
def test_exported_labels_of_golden_scenes_are_the_oracles(scored, tmp_path, policy, forgiven):
    export_labels(Labels(scored, policy), tmp_path / "x.pkl")
    wanted = {
        (one := golden.ours(name)).scene.token: one.labels("v2.0", "per-candidate", forgiven)
        for name in SPOKEN_FOR
    }
    assert all(values is not None for values in wanted.values())
    assert same_bytes(load(tmp_path / "x.pkl"), wanted)


def test_raw_and_published_labels_of_golden_scenes_differ_where_they_are_forgiven(scored):
    found = certify(open_side(scored.folder, "raw"), open_side(scored.folder, "published"))
    assert found.tokens == scored.tokens
    forgiven = scored.human == 0
    for row, token in enumerate(scored.tokens):
        turned = np.count_nonzero(scored.raw(token) != 1, axis=1)
        assert found.found.entries[row].tolist() == np.where(forgiven[row], turned, 0).tolist()
    assert found.differing.sum() > 5


# ------------------------------------------------------------------------------- order


def test_without_a_roll_tokens_come_by_name_and_the_set_says_so(tmp_path):
    made = take(write_pickle(tmp_path / "x.pkl", TABLE), tmp_path / "set")
    assert made.tokens == ("a2", "b1", "c3")
    assert made.logs == ("", "", "")
    assert made.settings["order"] == "token"
    assert made.settings["roll"] is None


def test_with_a_roll_tokens_come_by_log_and_time(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", TABLE)
    found = import_labels(GtrsLabels(path), tmp_path / "set", roll=ROLL)
    assert found.labels.tokens == ("c3", "b1", "a2")
    assert found.labels.logs == ("log1", "log2", "log3")
    assert found.labels.settings["order"] == "log, time"
    assert found.labels.settings["roll"] == ROLL.digest()
    assert found.unlabelled == ("x9",)
    assert all(found.labels.raw(one).tobytes() == TABLE[one].tobytes() for one in TABLE)


def test_a_token_that_is_not_on_the_roll_is_refused(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", draw(["c3", "d4", "e5"]))
    with pytest.raises(BadInput, match="2 tokens with labels are not among the table") as caught:
        take(path, tmp_path / "set", roll=ROLL)
    assert caught.value.where == "d4, e5"
    assert not (tmp_path / "set").exists()


def test_labels_of_another_split_are_refused(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", TABLE)
    take(path, tmp_path / "set", split=["a2", "c3", "b1"])
    with pytest.raises(BadInput, match="not those of the split") as caught:
        take(path, tmp_path / "other", split=["a2", "b1", "d4", "e5"])
    assert "2 without labels: d4, e5; 1 not in the split: c3" in caught.value.where
    require_all(["a"], ["a"], "here")


def test_a_table_of_tokens_is_ordered_by_log_and_time(tmp_path):
    table = tmp_path / "index.csv"
    table.write_text("timestamp_us,token,more,log_name\n30,c,-,log1\n5,a,-,log2\n200,b,-,log1\n")
    assert list(read_roll(table).log_of.items()) == [("c", "log1"), ("b", "log1"), ("a", "log2")]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("token,log_name\na,b\n", "no column timestamp_us"),
        ("", "no column token"),
        ("token,log_name,timestamp_us\na,,3\n", "not complete"),
        ("token,log_name,timestamp_us\na,b\n", "not complete"),
        ("token,log_name,timestamp_us\na,b,x\n", "'x'"),
        ("token,log_name,timestamp_us\na,b,1\na,c,2\n", "token a stands there twice"),
        ("token,log_name,timestamp_us\n\xff", "cannot be read"),
    ],
)
def test_what_is_no_table_of_tokens_is_refused(tmp_path, text, complaint):
    table = tmp_path / "index.csv"
    table.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput, match=complaint):
        read_roll(table)


def test_a_few_are_named_and_the_rest_counted():
    assert named("abcde") == "a, b, c, d, e"
    assert named("abcdefg") == "a, b, c, d, e and 2 more"


# ------------------------------------------------------------------------------- whole or not


def test_an_import_that_is_there_is_kept_and_another_refused(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", TABLE)
    digest = take(path, tmp_path / "set").digest()
    written = (tmp_path / "set" / "zarr.json").stat().st_mtime_ns
    assert take(path, tmp_path / "set").digest() == digest
    assert (tmp_path / "set" / "zarr.json").stat().st_mtime_ns == written
    other = write_pickle(tmp_path / "y.pkl", draw(list(TABLE), seed=1))
    with pytest.raises(Refused, match="labels is"):
        take(other, tmp_path / "set")
    with pytest.raises(Refused, match="order is token there"):
        take(path, tmp_path / "set", roll=ROLL)


def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path):
    table = draw([f"{n:04x}" for n in range(700)], candidates=3)
    path = write_pickle(tmp_path / "x.pkl", table)
    sets = [take(path, tmp_path / f"{n}", workers=n) for n in (1, 4)]
    shards = [sorted((one.folder / "raw").rglob("*")) for one in sets]
    assert len(shards[0]) > 10
    for mine, theirs in zip(*shards, strict=True):
        assert mine.relative_to(tmp_path / "1") == theirs.relative_to(tmp_path / "4")
        assert mine.is_dir() or mine.read_bytes() == theirs.read_bytes()


KILLED = """
import sys
from pathlib import Path
from navaudit.labels.certify import certify, open_side
from navaudit.labels.exchange import import_labels
from navaudit.labels.gtrs import GtrsLabels
def say(what, done, total):
    print(done, flush=True)
import_labels(GtrsLabels(Path(sys.argv[1])), Path(sys.argv[2]), say=say)
"""


def test_an_import_that_is_killed_goes_on(tmp_path):
    table = draw([f"{n:04x}" for n in range(1500)], candidates=50)
    path = write_pickle(tmp_path / "x.pkl", table)
    wanted = take(path, tmp_path / "undisturbed").digest()
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, path, tmp_path / "set"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert [process.stdout.readline() for _ in range(3)] == ["0\n", "256\n", "512\n"]
        process.send_signal(signal.SIGKILL)
    with pytest.raises(BadInput, match="not finished"):
        LabelSet.open(tmp_path / "set")
    parcels = {
        one.name: one.stat().st_mtime_ns for one in (tmp_path / "set").glob("work/parcels/*")
    }
    assert len(parcels) >= 2
    time.sleep(0.01)
    made = take(path, tmp_path / "set")
    assert made.digest() == wanted
    made.require_whole()
    assert not (tmp_path / "set" / "work").exists()


EXPORTED = """
import sys
from pathlib import Path
from navaudit.labels.certify import certify, open_side
from navaudit.labels.exchange import export_labels
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
def say(what, done, total):
    print(done, flush=True)
    if done:
        sys.stdin.read()
export_labels(Labels(LabelSet.open(Path(sys.argv[1])), "raw"), Path(sys.argv[2]), say=say)
"""


def test_an_export_that_is_killed_leaves_nothing_once_it_is_run_again(tmp_path):
    made = write_set(tmp_path / "set", draw([f"{n:04x}" for n in range(300)], candidates=5))
    out = tmp_path / "out" / "x.pkl"
    alive = tmp_path / "out" / f".x.pkl.{os.getpid()}.part"
    with subprocess.Popen(
        [sys.executable, "-c", EXPORTED, made.folder, out],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    ) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["0\n", "256\n"]
        process.send_signal(signal.SIGKILL)
    (left,) = out.parent.iterdir()
    assert left.name.endswith(".part")
    other = out.with_name(".y.pkl.1.part")
    other.touch()
    export_labels(Labels(made, "raw"), out)
    assert sorted(out.parent.iterdir()) == [other, out]
    alive.touch()
    sweep_beside(out)
    assert alive.exists()


def test_failures_do_not_hinder_an_export(tmp_path):
    made = write_set(tmp_path / "set", TABLE, failures=[Failure("d4", "log", "it is broken")])
    export_labels(Labels(made, "raw"), tmp_path / "x.pkl")
    assert same_bytes(load(tmp_path / "x.pkl"), TABLE)


def test_settings_are_plain(tmp_path):
    made = take(write_pickle(tmp_path / "x.pkl", TABLE), tmp_path / "set", roll=ROLL)
    assert json.loads(json.dumps(made.settings)) == made.settings
    assert made.provenance["imported"] == "x.pkl"
