"""Towns as a whole: same settings, same bytes; finished is left alone, anything else is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.errors import BadInput, Refused
from navaudit.numerics import platform
from navaudit.world.town import build
from navaudit.world.town.build import BEGUN, RECORD, Settings, write_town
from navaudit.world.town.splits import split_files

TINY = Settings(scenes=3, seed=6, cameras=False, vocabulary_size=16)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny") / "town"
    return folder, write_town(folder, TINY)


def test_the_same_settings_give_the_same_bytes(small, tmp_path):
    record = json.loads((small / RECORD).read_text())["settings"]
    del record["edition"]
    write_town(tmp_path / "again", Settings(**record))
    assert contents(tmp_path / "again") == contents(small)


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONHASHSEED": "1", "NUMBA_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "OPENBLAS_CORETYPE": "Prescott"},
        {
            "NPY_DISABLE_CPU_FEATURES": " ".join(
                one
                for one in platform.examine().simd_running
                if one.startswith(("AVX512", "X86_V4"))
            ),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA,-AVX512F",
        },
    ],
    ids=["hash 1", "hash 2 and Prescott", "neither AVX-512 nor FMA"],
)
def test_every_process_writes_the_same_bytes(tmp_path_factory, settings):
    first = tmp_path_factory.getbasetemp() / "first-town"
    drawn = Settings(scenes=3, seed=12, camera_scale=0.25, vocabulary_size=64)
    if not (first / RECORD).exists():
        write_town(first, drawn)
    again = tmp_path_factory.mktemp("another-process") / "town"
    run = [sys.executable, "-c", "from navaudit.cli import main; main()", "town", str(again)]
    options = ["--scenes", "3", "--seed", "12", "--camera-scale", "0.25", "--vocabulary-size", "64"]
    subprocess.run(
        ["env", *(f"{key}={value}" for key, value in settings.items()), *run, *options],
        check=True,
        capture_output=True,
    )
    assert contents(again) == contents(first)


def test_another_seed_gives_another_town(tiny, tmp_path):
    folder, _ = tiny
    write_town(tmp_path / "other", Settings(**{**vars(TINY), "seed": 7}))
    ours, other = contents(folder), contents(tmp_path / "other")
    maps = [name for name in ours if name.endswith("map.gpkg")]
    assert len(maps) == 4
    assert all(ours[name] != other[name] for name in maps)
    assert not {name for name in ours if "navsim_logs" in name} & set(other)


def test_cameras_change_nothing_else(small, tmp_path):
    record = json.loads((small / RECORD).read_text())["settings"]
    del record["edition"]
    write_town(tmp_path / "blind", Settings(**{**record, "cameras": False}))
    blind, seeing = contents(tmp_path / "blind"), contents(small)
    same = {
        name: data for name, data in seeing.items() if not name.startswith(("sensor_blobs", RECORD))
    }
    assert {name: data for name, data in blind.items() if name != RECORD} == same


def test_the_record_is_written_last_and_tells_the_digests(tiny):
    folder, record = tiny
    assert not (folder / BEGUN).exists()
    assert json.loads((folder / RECORD).read_text()) == record
    assert record["settings"] == {"edition": 1, **vars(TINY)}
    assert set(record["sha256"]) == {"maps", "navsim_logs", "splits", "vocabulary_16.npy"}
    assert not list(folder.rglob("*.part"))


def test_a_finished_town_is_left_alone(tiny):
    folder, record = tiny
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert write_town(folder, TINY) == record
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 8}, "seed 6, not 8"),
        ({"scenes": 4}, "scenes 3, not 4"),
        ({"cameras": True}, "cameras"),
    ],
)
def test_a_town_of_other_settings_is_refused_naming_what_differs(tiny, change, named):
    folder, _ = tiny
    with pytest.raises(Refused, match=named):
        write_town(folder, Settings(**{**vars(TINY), **change}))


def test_an_interrupted_town_is_completed(tiny, tmp_path, monkeypatch):
    folder, record = tiny
    broken = tmp_path / "town"
    with monkeypatch.context() as patch:
        patch.setattr(build, "build_vocabulary", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_town(broken, TINY)
    assert (broken / BEGUN).exists()
    assert not (broken / RECORD).exists()
    with pytest.raises(Refused, match="seed 6, not 9"):
        write_town(broken, Settings(**{**vars(TINY), "seed": 9}))
    assert write_town(broken, TINY) == record
    assert contents(broken) == contents(folder)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(Refused, match="something else"):
        write_town(tmp_path, TINY)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": 3}', "{"])
def test_a_broken_record_is_named(tmp_path, text):
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(BadInput, match="not the record") as caught:
        write_town(tmp_path, TINY)
    assert RECORD in caught.value.where


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scenes", 0),
        ("seed", -1),
        ("vocabulary_size", 1),
        ("vocabulary_size", 16385),
        ("camera_scale", 0.4),
    ],
)
def test_settings_out_of_bounds_are_refused_at_birth(name, value):
    with pytest.raises(BadInput):
        Settings(**{**vars(TINY), name: value})


def test_every_fifth_log_is_for_testing():
    scenes = [(f"log{k}", [f"{k}a", f"{k}b"]) for k in range(11)]
    files = split_files(scenes)
    assert len(files) == 6
    test = files["train_test_split/scene_filter/towntest.yaml"]
    assert [name for name, _ in scenes if f"'{name}'" in test] == ["log4", "log9"]
    assert "tokens: []" in split_files(scenes[:2])["train_test_split/scene_filter/towntest.yaml"]


def test_the_command_prints_one_object(tiny):
    folder, record = tiny
    options = ["--scenes", "3", "--seed", "6", "--no-cameras", "--vocabulary-size", "16"]
    result = CliRunner().invoke(main, ["town", str(folder), *options, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["sha256"] == record["sha256"]
    assert printed["provenance"]["navaudit"]
    plain = CliRunner().invoke(main, ["town", str(folder), *options])
    assert plain.exit_code == 0
    assert "3 scenes in 1 logs" in plain.stdout


def test_wrong_use_exits_with_two_and_no_traceback(tiny, tmp_path):
    folder, _ = tiny
    for arguments in (
        ["--scenes", "5", "--seed", "6"],
        ["--scenes", "0", "--seed", "6"],
        ["--seed", "6"],
    ):
        result = CliRunner().invoke(main, ["town", str(folder), *arguments])
        assert result.exit_code == 2
        assert "Traceback" not in result.output
