"""The demonstration runs, is the same twice, and goes on where it was stopped or killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from io import StringIO

import pytest
from click.testing import CliRunner
from rich.console import Console

from navaudit.cli import main
from navaudit.commands.demo import Teller, moving_bar
from navaudit.demo import course
from navaudit.report.numbers import NUMBERS

QUICK = ("--quick", "--workers", "1", "--json")
OF_THE_CLOCK = {"seconds", "pinv_takes_times", "largest_gap_mps", "largest_gap_per_m"}
KILLED_IN = ("labels", "arms")
"""Steps in the middle of which a run is killed, one after the other."""


def _run(folder, *more):
    answer = CliRunner().invoke(main, ["demo", "--out", str(folder), *QUICK, *more])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)["steps"]


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    return folder, _run(folder)


def _lasting(facts):
    return {key: value for key, value in facts.items() if key not in OF_THE_CLOCK}


def test_every_step_leaves_facts(first):
    folder, told = first
    assert list(told) == [step.name for step in course.STEPS]
    assert json.loads((folder / course.RECORD).read_text())["steps"] == told
    for step in course.STEPS:
        assert all((folder / name).exists() for name in step.leaves), step.name


def test_the_town_has_something_to_show(first):
    _, told = first
    assert int(told["audit"]["headline_count"]) > 0
    assert told["certify"]["different"] == int(told["audit"]["P1_count"])
    assert told["processors"]["closed_forms_hold"]


def test_the_last_words_are_the_verdict_and_the_page(first):
    folder, told = first
    arguments = ["demo", "--out", str(folder), *QUICK[:-1]]
    answer = CliRunner().invoke(main, arguments)
    assert answer.exit_code == 0, answer.output
    fired, erased = told["audit"]["P1_count"], told["audit"]["headline_count"]
    assert (
        f"Forgiveness fired on {fired} of {told['scenes']['scenes']} scenes; on {erased} it erased"
    ) in answer.output
    assert answer.output.rstrip().endswith(f"open {folder / told['report']['page']}")


def test_the_page_says_what_the_numbers_say(first):
    folder, told = first
    page = (folder / told["report"]["page"]).read_text()
    numbers = json.loads((folder / "report" / NUMBERS).read_text())
    assert len(numbers) == told["report"]["numbers"]
    shown = re.findall(r'data-name="([^"]+)"[^>]*>([^<]*)</data>', page)
    assert dict(shown) == numbers
    assert all(numbers[name] == text for name, text in shown)


def test_a_second_run_finds_everything_done(first, monkeypatch):
    folder, told = first

    def refuse(*_):
        raise AssertionError("a finished step was run again")

    monkeypatch.setattr(course, "_take", refuse)
    assert _run(folder) == told


def test_a_person_who_stops_it_is_told_how_to_go_on(tmp_path, monkeypatch):
    def stop(demo):
        raise KeyboardInterrupt

    steps = (course.STEPS[0], course.Step("slow", "waiting", stop, lambda size: 1.0))
    monkeypatch.setattr(course, "STEPS", steps)
    answer = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "out"), *QUICK])
    assert answer.exit_code == 130
    assert answer.stderr.count("stopped; the same command goes on from here") == 1
    assert "Traceback" not in answer.output


def test_other_settings_begin_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "STEPS", course.STEPS[:2])
    watch = _Deaf()
    sizes = [course.Settings.quick(4, seed) for seed in (7, 8)]
    towns = [course.run(tmp_path / "out", size, watch)["town"] for size in (*sizes, sizes[1])]
    assert towns[0]["sha256"] != towns[1]["sha256"]
    assert towns[1] == towns[2]


class _Deaf:
    def begins(self, at, step, facts, left_s):
        assert left_s >= 0.0

    def ends(self, step, facts):
        pass

    def says(self, what, done, total):
        pass


@pytest.mark.parametrize("width", [72, 80, 120])
def test_a_terminal_shows_what_how_far_how_long_and_where(width, tmp_path):
    """However narrow it is, nothing of the moving line is cut short, and what is done stays."""
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=True, color_system=None)
    for at, step in enumerate(course.STEPS):
        with moving_bar(console) as progress:
            teller = Teller(tmp_path, console, progress)
            teller.begins(at, step, None, 400.0)
            teller.says("a scene", 1_085, 1_696)
            progress.refresh()
            teller.ends(step, {"tokens": 96, "seconds": 1.5})
    shown = text.getvalue()
    lines = re.split(r"[\r\n]", re.sub("\x1b[^A-Za-z]*[A-Za-z]", "", shown))
    for step in course.STEPS:
        moving = [one for one in lines if step.name in one and "1085/1696" in one]
        assert moving
        assert all("about 7 min left in all" in one and len(one) <= width for one in moving)
        assert f"{step.name}: {step.tells}" in shown
        assert f"{step.name} in 1.5 s: tokens 96" in shown
        assert not step.leaves or str(tmp_path / step.leaves[0]) in shown
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "letters.txt").write_text("dear")
    answer = CliRunner().invoke(main, ["demo", "--out", str(tmp_path), *QUICK])
    assert answer.exit_code == 2
    assert "letters.txt" in answer.output
    assert [one.name for one in tmp_path.iterdir()] == ["letters.txt"]


def test_without_torch_agents_are_left_out_until_it_is_there(tmp_path, monkeypatch):
    steps = (
        course.STEPS[0],
        course.Step("agents", "training", lambda demo: {"agents": 4}, lambda size: 1.0, (), True),
        course.Step("report", "telling", lambda demo: {"page": "p"}, lambda size: 1.0),
    )
    monkeypatch.setattr(course, "STEPS", steps)
    size = course.Settings.quick(4, 7)
    with monkeypatch.context() as absent:
        absent.setattr(course, "find_spec", lambda name: None)
        told = course.run(tmp_path / "out", size, _Deaf())
    assert "pip install" in told["agents"][course.LEFT_OUT]
    assert told["report"]["page"] == "p"
    again = course.run(tmp_path / "out", size, _Deaf())
    assert again["agents"]["agents"] == 4
    assert again["doctor"] == told["doctor"]


def test_a_folder_can_be_cleared_again_after_a_stop(tmp_path, monkeypatch):
    """Clearing what other settings left is cut short; the next run clears the rest."""
    monkeypatch.setattr(course, "STEPS", course.STEPS[:2])
    folder = tmp_path / "out"
    first = course.run(folder, course.Settings.quick(4, 7), _Deaf())["town"]
    with monkeypatch.context() as stopped:

        def stop(path):
            raise KeyboardInterrupt

        stopped.setattr(course.shutil, "rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            course.run(folder, course.Settings.quick(4, 8), _Deaf())
    town = course.run(folder, course.Settings.quick(4, 8), _Deaf())["town"]
    assert town["sha256"] != first["sha256"]
    assert json.loads((folder / course.RECORD).read_text())["settings"]["seed"] == 8


def test_a_run_that_is_killed_goes_on_and_comes_to_the_same(first, tmp_path):
    _, told = first
    for step in KILLED_IN:
        _kill_in(tmp_path / "out", step)
        record = json.loads((tmp_path / "out" / course.RECORD).read_text())
        assert step not in record["steps"]
    again = _run(tmp_path / "out")
    assert list(again) == list(told)
    for name, facts in told.items():
        assert _lasting(again[name]) == _lasting(facts), name


def _kill_in(folder, step):
    """Run the demonstration, and kill it as soon as it says that it is in a step."""
    code = "import sys; from navaudit.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "demo", "--out", str(folder), *QUICK]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if f"] {step}: " in line and "done before" not in line:
                os.killpg(process.pid, signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
