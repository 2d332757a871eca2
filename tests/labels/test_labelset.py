"""Label sets on disk: every value comes back, by every reader, and nothing damaged does."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labels.scene_sets import contents, lane_keeping_of, odd_halves
from navaudit.axes import COLUMNS, LK
from navaudit.errors import BadInput, Refused
from navaudit.labels.labelset import LabelSet, writing
from navaudit.labels.mapping import Labels
from navaudit.labels.policies import POLICIES, apply
from navaudit.labels.tree import arrays_of, write_group, write_small
from navaudit.scene.logfile import Failure

WIDE = len(COLUMNS)
FAILURE = Failure("f" * 16, "log9", "it is too foggy", "step 3", "a view", "wait")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Nobody pulls a plug here, so nothing has to wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def some(count, candidates=7, seed=0):
    """Tokens, logs, human, raw, and values against the path where the human fails lane keeping."""
    rng = np.random.default_rng(seed)
    raw = odd_halves(rng, (count, WIDE, candidates))
    human = rng.choice([0.0, 0.5, 1.0, 1 / 3], (count, WIDE))
    path = [odd_halves(rng, candidates) if one[LK] == 0 else None for one in human]
    tokens = [f"{k:016x}" for k in rng.permutation(count)]
    logs = sorted(f"log{k}" for k in rng.integers(0, 5, count))
    return list(zip(tokens, logs, human, raw, path, strict=True))


def write(folder, rows, parcels=3, candidates=7, failures=(), order=None, **rest):
    with writing(folder, {"a": 1}, {"by": "test"}, candidates=candidates, **rest) as draft:
        names = [f"part{k}" for k in range(parcels)]
        for name, part in zip(names, np.array_split(np.arange(len(rows)), parcels), strict=True):
            with draft.parcel(name) as parcel:
                for row in part:
                    parcel.add(*rows[row])
        draft.close(names, failures, order=order)
    return LabelSet.open(folder)


@pytest.fixture(scope="module")
def rows():
    return some(150)


@pytest.fixture(scope="module")
def made(rows, tmp_path_factory):
    return write(tmp_path_factory.mktemp("set") / "labels", rows, failures=[FAILURE])


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made.folder, tmp_path / "copy")


def same(found, wanted):
    return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


# ------------------------------------------------------------------------------------ as written


def test_everything_comes_back(made, rows):
    assert made.tokens == tuple(row[0] for row in rows)
    assert made.logs == tuple(row[1] for row in rows)
    assert same(made.human, np.stack([row[2] for row in rows]))
    assert made.candidates == 7
    assert dict(made.settings) == {"a": 1}
    assert made.provenance["by"] == "test"
    assert made.failures == (FAILURE,)
    for place, (token, _, _, raw, path) in enumerate(rows):
        assert token in made
        assert made.index(token) == place
        assert same(made.raw(token), raw)
        found = made.path_lane_keeping(token)
        assert (found is None) == (path is None)
        assert path is None or same(found, path)
        assert not made.raw(token).flags.writeable
    assert not made.human.flags.writeable
    made.require_whole()


def test_stretches_walk_through_the_set(made, rows):
    raw = np.stack([row[3] for row in rows])
    assert same(made.stretch(0, 150), raw)
    assert same(made.stretch(60, 70), raw[60:70])
    assert same(made.stretch(140, 999), raw[140:])
    assert made.stretch(9, 9).shape == (0, WIDE, 7)
    for count in (64, 1, 149, 200):
        parts = list(made.stretches(count))
        assert [part for part, _ in parts] == [
            slice(at, min(at + count, 150)) for at in range(0, 150, count)
        ]
        assert same(np.concatenate([values for _, values in parts]), raw)


@pytest.mark.parametrize(
    "pipeline", ["zarr.core.codec_pipeline.BatchedCodecPipeline", "zarrs.ZarrsCodecPipeline"]
)
def test_zarr_and_xarray_read_the_same(made, rows, pipeline):
    if pipeline.startswith("zarrs"):
        pytest.importorskip("zarrs")
    with zarr.config.set({"codec_pipeline.path": pipeline}), xr.open_zarr(made.folder) as data:
        assert data.raw.dims == ("token", "column", "candidate")
        assert set(data.coords) == {"token", "log", "column"}
        assert same(data.raw.values, np.stack([row[3] for row in rows]))
        assert same(data.human.values, made.human)
        assert data.token.values.tolist() == list(made.tokens)
        assert data.log.values.tolist() == list(made.logs)
        assert data.column.values.tolist() == list(COLUMNS)
        one = data.raw.sel(token=rows[77][0], column="lane_keeping")
        assert same(one.values, rows[77][3][LK])
        for (_, _, _, _, path), found in zip(rows, data.path.values, strict=True):
            assert np.isnan(found).all() if path is None else same(found, path)
        assert data.attrs["settings"] == {"a": 1}
        assert data.attrs["failures"][0]["what"] == "it is too foggy"


def test_an_empty_set_is_a_set(tmp_path):
    made = write(tmp_path / "set", [], failures=[FAILURE])
    assert len(made) == 0
    made.require_whole()
    assert made.knows_human
    with xr.open_zarr(made.folder) as data:
        assert data.raw.shape == (0, WIDE, 7)
        assert data.human.values.shape == (0, WIDE)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(count=st.integers(0, 140), parcels=st.integers(1, 6), seed=st.integers(0, 9))
def test_the_bytes_do_not_depend_on_what_lay_in_which_parcel(tmp_path, count, parcels, seed):
    folder, rows = tmp_path / f"{count}-{parcels}-{seed}", some(count, 2, seed)
    shutil.rmtree(folder, ignore_errors=True)
    whole = write(folder, rows, 1, 2)
    before = contents(folder)
    shutil.rmtree(folder)
    assert write(folder, rows, parcels, 2).digest() == whole.digest()
    assert contents(folder) == before
    shutil.rmtree(folder)
    # written in any order, laid out in the one asked for
    order = np.random.default_rng(seed).permutation(count)
    tokens = [row[0] for row in rows]
    write(folder, [rows[k] for k in order], parcels, 2, order=tokens).require_whole()
    assert contents(folder) == before


def test_the_digest_is_of_contents(rows, made, tmp_path):
    token, log, human, raw, path = rows[0]
    assert path is not None or rows[1][4] is not None
    other = raw.copy()
    other[3, 3] = 0.25
    changes = {
        "raw": (token, log, human, other, path),
        "log": (token, "elsewhere", human, raw, path),
        "token": ("x" * 16, log, human, raw, path),
        "human": (token, log, human + 1e-16 + (human == 0) * 1e-300, raw, path),
    }
    digests = {made.digest()}
    for name, row in changes.items():
        digests.add(write(tmp_path / name, [row, *rows[1:]]).digest())
    place = next(k for k, row in enumerate(rows) if row[4] is not None)
    without = [*rows[:place], (*rows[place][:4], None), *rows[place + 1 :]]
    digests.add(write(tmp_path / "path", without).digest())
    assert len(digests) == 6
    # where it lies, what it was made with, and what failed is nothing to it
    with writing(tmp_path / "b", {"b": 2}, {}, candidates=7) as draft:
        with draft.parcel("all") as parcel:
            for row in rows:
                parcel.add(*row)
        draft.close(["all"])
    assert LabelSet.open(tmp_path / "b").digest() == made.digest()


def test_a_token_that_comes_twice_is_kept_once_and_told(rows, tmp_path):
    made = write(tmp_path / "set", [*rows[:10], (rows[3][0], "log7", *rows[4][2:])])
    assert len(made) == 10
    assert same(made.raw(rows[3][0]), rows[3][3])
    (failure,) = made.failures
    assert (failure.token, failure.log) == (rows[3][0], "log7")
    assert failure.what == "another scene bears this token"


def test_an_order_has_to_name_everything_once(rows, tmp_path):
    tokens = [row[0] for row in rows[:5]]
    for order in (tokens[:4], [*tokens, "strange"], [*tokens, tokens[0]]):
        with pytest.raises(BadInput, match=f"the order names {len(order)} tokens, and 5"):
            write(tmp_path / "set", rows[:5], order=order)


def test_a_set_may_do_without_the_path(rows, tmp_path):
    made = write(tmp_path / "set", [(*row[:4], None) for row in rows[:5]], path=False)
    assert [made.path_lane_keeping(token) for token in made.tokens] == [None] * 5
    assert not (made.folder / "path").exists()
    with xr.open_zarr(made.folder) as data:
        assert "path" not in data
    with pytest.raises(Refused, match="path is False there, and True is asked for"):
        write(made.folder, rows)


def test_odd_names_are_kept(rows, tmp_path):
    odd = [(name, name, *rows[0][2:]) for name in ("", "ä/..", "日本", "a" * 300, "\0")]
    made = write(tmp_path / "set", odd)
    assert made.tokens == made.logs == ("", "ä/..", "日本", "a" * 300, "\0")
    with pytest.raises(BadInput, match="is no text"):
        write(tmp_path / "bad", [("\ud800", "log", *rows[0][2:])])


@pytest.mark.parametrize(
    ("place", "shape"), [(2, (WIDE + 1,)), (3, (WIDE, 8)), (3, (WIDE - 1, 7)), (4, (8,))]
)
def test_labels_of_another_shape_are_refused(rows, tmp_path, place, shape):
    row = [*rows[0]]
    row[place] = np.zeros(shape, np.float16)
    with pytest.raises(BadInput, match="array has shape"):
        write(tmp_path / "set", [row])
    assert not list((tmp_path / "set").rglob("*.part"))


# ------------------------------------------------------------------------------------ the folder


def test_a_second_writing_finds_it_complete(copy, rows):
    before = contents(copy)
    (copy / "work" / "parcels").mkdir(parents=True)  # as a worker leaves it that outlived its run
    with writing(copy, {"a": 1}, {"by": "another"}, candidates=7) as draft:
        assert draft.complete
    assert contents(copy) == before
    assert not (copy / "work").exists()


def test_other_settings_are_refused_by_name(copy, tmp_path):
    with (
        pytest.raises(Refused, match=r"a is 1 there, and 2 is asked for; .*candidates is 7 .* 8"),
        writing(copy, {"a": 2}, {}, candidates=8),
    ):
        raise AssertionError
    begun = tmp_path / "begun"
    with writing(begun, {"a": 1}, {}, candidates=7) as draft, draft.parcel("x"):
        pass
    with (
        pytest.raises(Refused, match=r"a is 1 there, and \[1\] is asked for"),
        writing(begun, {"a": [1]}, {}, candidates=7),
    ):
        raise AssertionError


def test_a_set_begun_without_labels_takes_any_settings(tmp_path):
    for value in (1, 2):
        with writing(tmp_path / "set", {"a": value}, {}, candidates=7) as draft:
            assert not draft.complete
    with pytest.raises(BadInput, match="not finished"):
        LabelSet.open(tmp_path / "set")


def test_only_one_writes(tmp_path):
    with (
        writing(tmp_path, {}, {}, candidates=7),
        pytest.raises(Refused, match="another run is writing"),
        writing(tmp_path, {}, {}, candidates=7),
    ):
        raise AssertionError


def test_parcels_know_what_they_were_made_from(rows, tmp_path):
    with writing(tmp_path / "set", {}, {}, candidates=7) as draft:
        assert not draft.has("one")
        with draft.parcel("one", {"log": "x", "n": [1]}) as parcel:
            parcel.add(*rows[0])
        assert draft.has("one", {"log": "x", "n": (1,)})
        assert not draft.has("one", {"log": "y", "n": [1]})
        path = draft.parcel_path("one")
        good = path.read_bytes()
        for place in (*range(0, len(good), 7), *range(len(good) - 70, len(good))):
            bad = bytearray(good)
            bad[place] ^= 1 << (place % 8)
            path.write_bytes(bad)
            assert not draft.has("one", {"log": "x", "n": [1]}), place
        path.write_bytes(good[:100])
        assert not draft.has("one", {"log": "x", "n": [1]})


def test_closing_refuses_a_damaged_parcel(rows, tmp_path):
    with writing(tmp_path / "set", {}, {}, candidates=7) as draft:
        with draft.parcel("one") as parcel:
            parcel.add(*rows[0])
        path = draft.parcel_path("one")
        bad = bytearray(path.read_bytes())
        bad[70] ^= 1
        path.write_bytes(bad)
        with pytest.raises(BadInput, match="parcel of labels is damaged"):
            draft.close(["one"])
        assert not draft.closing


@pytest.mark.parametrize("name", ["zarr.json", "notes.txt"])
def test_a_folder_of_something_else_is_left_alone(tmp_path, name):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_text("{}")
    with (
        pytest.raises((Refused, BadInput), match=r"something else|not a label set"),
        writing(tmp_path / "set", {}, {}, candidates=7),
    ):
        raise AssertionError
    with pytest.raises(BadInput, match=r"holds no labels|not a label set"):
        LabelSet.open(tmp_path / "set")


def test_what_is_not_there_is_told(made, tmp_path):
    with pytest.raises(BadInput, match="there is no such folder"):
        LabelSet.open(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="there are no labels of 12") as caught:
        made.raw("12")
    assert caught.value.expected == "one of 150 tokens"
    with pytest.raises(BadInput, match="no labels") as caught:
        made.index(FAILURE.token)
    assert "it is too foggy" in str(caught.value.remedy)


# -------------------------------------------------------------------------------------- damage


def test_every_changed_byte_is_noticed(rows, tmp_path):
    """In every file that holds values, and often in an index."""
    folder = tmp_path / "set"
    write(folder, rows[:70])
    for path in sorted(folder.rglob("c/**/*")):
        # names of columns are for other readers; ours has its own
        if not path.is_file() or path.is_relative_to(folder / "column"):
            continue
        good = path.read_bytes()
        for place in {*range(0, len(good), 499), *range(max(len(good) - 1100, 0), len(good), 37)}:
            bad = bytearray(good)
            bad[place] ^= 1 << (place % 8)
            path.write_bytes(bad)
            with pytest.raises(BadInput, match="damaged"):
                LabelSet.open(folder).require_whole()
        path.write_bytes(good)
    LabelSet.open(folder).require_whole()


@pytest.mark.parametrize("array", ["token", "log", "human"])
def test_a_changed_token_log_or_human_score_is_noticed_on_opening(rows, tmp_path, array):
    """By other readers too: a wrong human score would change what is forgiven, and nothing else."""
    folder = tmp_path / "set"
    write(folder, rows[:20])
    (path,) = (one for one in (folder / array / "c").rglob("*") if one.is_file())
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << (place % 8)]) + good[place + 1 :])
        with pytest.raises(BadInput, match=f"damaged.* checksum of {array} does not fit"):
            LabelSet.open(folder)
    with pytest.raises(ValueError, match="checksum"):
        xr.open_zarr(folder)[array].load()
    path.write_bytes(good[:-9])
    with pytest.raises(BadInput, match="damaged"):
        LabelSet.open(folder)


@pytest.mark.parametrize("kept", [0, 500, -1])
def test_a_cut_or_missing_shard_is_told(copy, made, kept):
    path = copy / "raw" / "c" / "1" / "0" / "0"
    path.write_bytes(path.read_bytes()[:kept])
    labels = LabelSet.open(copy)
    labels.raw(made.tokens[63])
    with pytest.raises(BadInput, match="damaged") as caught:
        labels.raw(made.tokens[64])
    assert caught.value.where
    path.unlink()
    with pytest.raises(BadInput, match="missing") as caught:
        LabelSet.open(copy).stretch(60, 70)
    assert f"token {made.tokens[64]}" in str(caught.value.where)


def test_a_writer_that_stops_leaves_nothing_that_counts(rows, tmp_path):
    def stop():
        with (
            writing(tmp_path / "set", {}, {}, candidates=7) as draft,
            draft.parcel("one") as parcel,
        ):
            parcel.add(*rows[0])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        stop()
    assert not list(tmp_path.rglob("*.labels"))
    assert not list(tmp_path.rglob("*.part"))


# --------------------------------------------------------------------------------- cut short


class Cut(BaseException):
    """The power fails."""


class Cutter:
    """Lets some calls through, and then none."""

    def __init__(self, monkeypatch):
        self.calls, self.last = 0, None
        for owner, name in ((os, "replace"), (Path, "unlink"), (shutil, "rmtree")):
            monkeypatch.setattr(owner, name, self._cut(getattr(owner, name)))

    def _cut(self, real):
        def call(*args, **kwargs):
            self.calls += 1
            if self.last is not None and self.calls > self.last:
                raise Cut
            return real(*args, **kwargs)

        return call

    def allow(self, last):
        self.calls, self.last = 0, last


def close(folder):
    with writing(folder, {"a": 1}, {}, candidates=7) as draft:
        if not draft.complete:
            draft.close(["one", "two"])


def test_closing_may_be_cut_short_anywhere(rows, tmp_path, monkeypatch):
    """Before each time that a file gets its name, or loses it."""
    model, folder = tmp_path / "model", tmp_path / "cut"
    with writing(model, {"a": 1}, {}, candidates=7) as draft:
        for name, part in (("one", rows[:66]), ("two", rows[66:70])):
            with draft.parcel(name) as parcel:
                for row in part:
                    parcel.add(*row)
    copytree, rmtree = shutil.copytree, shutil.rmtree
    copytree(model, tmp_path / "whole")
    cutter = Cutter(monkeypatch)
    close(tmp_path / "whole")
    wanted, total = contents(tmp_path / "whole"), cutter.calls
    assert total > 20
    for last in range(total):
        copytree(model, folder)
        cutter.allow(last)
        with pytest.raises(Cut):
            close(folder)
        if not (folder / "zarr.json").exists():
            with pytest.raises(BadInput, match="not finished"):
                LabelSet.open(folder)
        cutter.allow(None)
        close(folder)
        assert contents(folder) == wanted, last
        rmtree(folder)


# --------------------------------------------------------------------------------- for trainers


@pytest.mark.parametrize("policy", POLICIES)
def test_labels_stand_in_for_the_pickle(made, rows, policy):
    labels = Labels(made, policy)
    assert list(labels) == list(made.tokens)
    assert len(labels) == 150
    assert "12" not in labels
    with pytest.raises(KeyError):
        labels["12"]
    for token, _, human, raw, path in rows[::7]:
        wanted = apply(policy, raw, human, path if policy == "path" else None)
        assert same(labels.values_of(token), wanted)
        assert tuple(labels[token]) == COLUMNS
        for column, values in labels[token].items():
            assert same(values, wanted[COLUMNS.index(column)])
        with pytest.raises(KeyError):
            labels[token]["comfort"]


def test_labels_of_a_set_without_human_are_raw_only(rows, tmp_path):
    unknown = np.full(WIDE, np.nan)
    made = write(tmp_path / "set", [(t, log, unknown, raw) for t, log, _, raw, _ in rows[:5]])
    assert not made.knows_human
    assert same(Labels(made, "raw").values_of(rows[2][0]), rows[2][3])
    for policy in POLICIES[1:]:
        with pytest.raises(BadInput, match=f"policy {policy}") as caught:
            Labels(made, policy)
        assert caught.value.where == str(made.folder)


def test_the_rule_never_fires_on_a_scene_without_a_human(rows, tmp_path):
    token, log, _, raw, _ = rows[0]
    made = write(tmp_path / "set", [(token, log, np.full(WIDE, np.nan), raw), *rows[1:3]])
    assert made.knows_human
    for policy in ("raw", "published", "masked", "path"):
        assert same(Labels(made, policy).values_of(token), raw)
    assert (Labels(made, "pass-lk")[token]["lane_keeping"] == 1).all()


def test_the_path_of_a_token_is_missed_by_name(rows, tmp_path):
    token, log, human, raw, _ = next(row for row in rows if row[4] is not None)
    made = write(tmp_path / "set", [(token, log, human, raw, None)])
    with pytest.raises(BadInput, match="against the human's path") as caught:
        Labels(made, "path")[token]["lane_keeping"]
    assert f"token {token}" in str(caught.value.where)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_labels_go_to_other_processes(made, rows, method):
    labels = Labels(made, "published")
    tokens = [row[0] for row in rows[:8]]
    here = [lane_keeping_of(labels, token) for token in tokens]
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        assert list(pool.map(lane_keeping_of, [labels] * 8, tokens)) == here
    assert len(pickle.dumps(labels)) < 1000


_MEASURE = """
import sys
from pathlib import Path
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
labels = Labels(LabelSet.open(Path(sys.argv[1])), "published")
print(sum(float(labels[token]["lane_keeping"][0]) for token in list(labels)[::64]))
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")
def test_a_process_needs_little_memory(tmp_path):
    """A set the size of navtrain's, all of whose shards are the same one."""
    count, candidates, folder = 103_288, 16_384, tmp_path / "set"
    rows = [(f"{k:016x}", "log", *some(1, candidates)[0][2:4]) for k in range(64)]
    made = write(folder, rows, 1, candidates)
    first = made.folder / "raw" / "c" / "0"
    for shard in range(1, -(-count // 64)):
        (first.parent / f"{shard}").symlink_to(first)
    tokens, logs = [f"{k:016x}" for k in range(count)], [f"log{k // 87:040}" for k in range(count)]
    arrays = arrays_of(count, candidates, True)
    write_small(folder, arrays, tokens, logs, np.zeros((count, WIDE)))
    write_group(folder, json.loads((folder / "zarr.json").read_text())["attributes"], arrays)
    command = [sys.executable, "-c", _MEASURE, str(folder)]
    told = subprocess.run(command, capture_output=True, check=True).stdout.split()
    assert float(told[0]) == -(-count // 64)
    assert int(told[1]) < 300e6
