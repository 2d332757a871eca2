"""A round asks every scene once, keeps what it has, and does not hide what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from audit.kept_scenes import keep
from navaudit.audit.rounds import gather, go_round, read_part, stacked
from navaudit.errors import BadInput
from score.worlds import street

COUNT = 5


@dataclass(frozen=True)
class Roll:
    """Where the car of every scene is; notes down whom it asks."""

    asked: Path
    stumbles: tuple = ()
    """Tokens, by what happens over them."""
    about: str = "places"

    def record(self):
        return {"question": self.about}

    def begin(self):
        return self.ask

    def ask(self, scene):
        with self.asked.open("a") as stream:
            stream.write(scene.token[-1])
        what = dict(self.stumbles).get(scene.token[-1])
        if what is None:
            return {"place": scene.ego[:2].copy(), "when": np.array(scene.time_us)}
        if what == "pass":
            return None
        raise what

    def fold(self, answers):
        return stacked(answers)


@pytest.fixture
def scenes(tmp_path):
    drawn = [street().driving(8.0).at(k, 0.0).scene() for k in range(COUNT)]
    return keep(tmp_path / "scenes", drawn)


def take(scenes, question, folder):
    parts = go_round(scenes, question, folder)
    return gather((read_part(part) for part in parts), "here")


def test_every_scene_is_asked_once_and_answers_come_in_order(scenes, tmp_path):
    roll = Roll(tmp_path / "asked")
    answers = take(scenes, roll, tmp_path / "out")
    assert sorted(roll.asked.read_text()) == list("01234")
    assert answers.tokens == scenes.tokens
    assert answers.logs == tuple(scenes.log_of(token) for token in scenes.tokens)
    np.testing.assert_array_equal(answers.array["place"][:, 0], np.arange(COUNT))
    assert answers.passed_over == answers.failures == ()


def test_what_was_answered_is_not_asked_again(scenes, tmp_path):
    roll = Roll(tmp_path / "asked", (("4", KeyboardInterrupt()),))
    with pytest.raises(KeyboardInterrupt):
        take(scenes, roll, tmp_path / "out")
    before = roll.asked.read_text()
    again = Roll(tmp_path / "asked")
    answers = take(scenes, again, tmp_path / "out")
    assert len(answers.tokens) == COUNT
    asked = again.asked.read_text()[len(before) :]
    kept = {token[-1] for token in scenes.tokens} - set(asked)
    assert kept
    assert kept | set(asked) == set("01234")
    take(scenes, again, tmp_path / "out")
    assert len(again.asked.read_text()) == len(before) + len(asked)


def test_another_question_is_another_round(scenes, tmp_path):
    take(scenes, Roll(tmp_path / "one"), tmp_path / "out")
    other = Roll(tmp_path / "two", about="something else")
    take(scenes, other, tmp_path / "out")
    assert len(other.asked.read_text()) == COUNT


def test_failures_and_scenes_passed_over_are_told(scenes, tmp_path):
    no_road = BadInput("no road", where="there")
    stumbles = (("1", no_road), ("2", ZeroDivisionError()), ("3", "pass"))
    answers = take(scenes, Roll(tmp_path / "asked", stumbles), tmp_path / "out")
    assert [token[-1] for token in answers.tokens] == ["0", "4"]
    assert [token[-1] for token in answers.passed_over] == ["3"]
    failed = [(one.token[-1], one.log) for one in answers.failures]
    assert failed == [("1", "log00"), ("2", "log01")]
    assert answers.failures[0].what == "no road"
    assert "fault of navaudit" in answers.failures[1].remedy
    # the log of the two that failed or passed has no answer at all, and is no trouble
    assert list(answers.array["place"][:, 0]) == [0.0, 4.0]


def test_no_answer_at_all_is_refused(scenes, tmp_path):
    stumbles = tuple((letter, BadInput("no road")) for letter in "01234")
    with pytest.raises(BadInput, match="5 failed") as refused:
        take(scenes, Roll(tmp_path / "asked", stumbles), tmp_path / "out")
    assert "no road" in refused.value.remedy


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"junk"])
def test_a_damaged_part_is_named(scenes, tmp_path, damage):
    parts = go_round(scenes, Roll(tmp_path / "asked"), tmp_path / "out")
    parts[1].write_bytes(damage(parts[1].read_bytes()))
    with pytest.raises(BadInput, match="cannot be read") as refused:
        go_round(scenes, Roll(tmp_path / "asked"), tmp_path / "out")
    assert refused.value.where == str(parts[1])
