"""The log of a run: whole lines, in step with the checkpoints, and of one run alone."""

import json

import pytest

from navaudit.errors import BadInput, Refused
from navaudit.train.journal import Journal, differing, read_journal

TOLD = {"arm": "raw", "seed": 0, "digest": "ab" * 32}


def keep(path, steps, told=TOLD, done=0):
    journal = Journal(path, told, done)
    for step in steps:
        journal.add({"step": step, "loss": {"total": 0.1 * step}})
    journal.settle()
    journal.close()


def steps_of(path):
    return [one["step"] for one in read_journal(path)[1:]]


def test_a_line_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "log.jsonl"
    journal = Journal(path, TOLD, 0)
    journal.add({"step": 1})
    assert read_journal(path) == [{"run": TOLD}, {"step": 1}]
    journal.close()


def test_steps_that_will_be_done_again_are_dropped(tmp_path):
    path = tmp_path / "log.jsonl"
    keep(path, range(1, 8))
    keep(path, [5, 6], done=4)
    assert steps_of(path) == [1, 2, 3, 4, 5, 6]


def test_every_cut_through_the_last_line_leaves_the_lines_before(tmp_path):
    path = tmp_path / "log.jsonl"
    keep(path, [1, 2])
    whole = path.read_bytes()
    last = whole[: whole.rstrip(b"\n").rfind(b"\n") + 1]
    for cut in range(len(last), len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert steps_of(path) == [1]
    keep(path, [2], done=1)
    assert path.read_bytes() == whole


def test_a_damaged_line_before_the_last_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    keep(path, [1, 2])
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:9]
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match="line 2 of the log is damaged") as caught:
        read_journal(path)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("text", ["3", "[]", '"x"', '{"loss": 1}'])
def test_lines_that_tell_of_no_step_are_damage(tmp_path, text):
    path = tmp_path / "log.jsonl"
    path.write_text(f'{json.dumps({"run": TOLD})}\n{text}\n{{"step": 2}}\n')
    with pytest.raises(BadInput, match="line 2 of the log is damaged"):
        read_journal(path)


def test_a_log_of_another_run_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    keep(path, [1])
    before = path.read_bytes()
    with pytest.raises(Refused, match="seed is 0 there, and 1 is asked for"):
        Journal(path, {**TOLD, "seed": 1}, 0)
    assert path.read_bytes() == before


def test_a_log_that_lacks_steps_of_its_checkpoint_is_refused(tmp_path):
    path = tmp_path / "log.jsonl"
    keep(path, [5, 6, 8], done=4)
    with pytest.raises(BadInput, match="the log lacks steps 7 to 7"):
        Journal(path, TOLD, 8)


@pytest.mark.parametrize("done", [6, 9])
def test_a_log_that_ends_elsewhere_than_its_checkpoint(tmp_path, done):
    path = tmp_path / "log.jsonl"
    keep(path, [5, 6, 7], done=4)
    if done == 6:
        keep(path, [], done=done)
        assert steps_of(path) == [5, 6]
    else:
        with pytest.raises(BadInput, match="the log lacks steps 8 to 9"):
            keep(path, [], done=done)


def test_differences_are_told_in_words():
    told = differing({"a": 1, "b": 2, "c": "x" * 99}, {"a": 1, "b": 3, "d": None})
    assert told.split("; ") == [
        "b is 2 there, and 3 is asked for",
        f"c is {'x' * 48} there, and it is not asked for",
        "d is not there, and None is asked for",
    ]
