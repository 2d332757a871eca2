"""A round: one question asked of every scene of a set, by one process or many.

::

    work/<key>/<log>.npz    answers of the scenes of one log
    lock                    held by the run that writes

What is answered before a run is cut short is kept, under a key of the scenes, the question and its
code. The answers do not depend on the number of processes, nor on how often the run was cut short.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.audit.survey import Say, silent
from navaudit.errors import BadInput, NavauditError, Unhealthy
from navaudit.scene.crew import Lost, Work, run
from navaudit.scene.kept import fault
from navaudit.scene.logfile import Failure
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.scene.whole import held, sweep, whole_file

Answer = dict[str, NDArray[Any]]
Ask = Callable[[Scene], Answer | None]


class Question(Protocol):
    """Something that is asked of every scene; it can be pickled."""

    def record(self) -> dict[str, Any]:
        """Everything that decides an answer, beside the scene."""
        ...

    def begin(self) -> Ask:
        """Make a process ready to answer; an answer of None passes a scene over."""
        ...

    def fold(self, answers: Sequence[Answer]) -> Answer:
        """Make one answer of those of a log; at least one is given."""
        ...


@dataclass(frozen=True)
class Part:
    """The answers of one log."""

    log: str
    tokens: tuple[str, ...]
    """Scenes that were answered for, in order of time."""
    answer: Answer
    """Folded; empty where there are no such scenes."""
    passed_over: tuple[str, ...]
    """Scenes that the question is not about."""
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Answers:
    """The answers of all logs; every array has a token along its first axis."""

    tokens: tuple[str, ...]
    logs: tuple[str, ...]
    """Log of each token."""
    array: Mapping[str, NDArray[Any]]
    passed_over: tuple[str, ...]
    failures: tuple[Failure, ...]


def stacked(answers: Sequence[Answer]) -> Answer:
    """Stack answers along a first axis of tokens."""
    return {name: np.stack([one[name] for one in answers]) for name in answers[0]}


def gather(parts: Iterable[Part], where: str) -> Answers:
    """Join stacked answers; a set without a scene to answer for is refused."""
    all_parts = list(parts)
    full = [part for part in all_parts if part.tokens]
    failures = tuple(one for part in all_parts for one in part.failures)
    if not full:
        raise BadInput(
            f"no scene could be measured; {len(failures)} failed",
            where=where,
            expected="original scenes, with the human's trajectory",
            remedy=f"the first failure: {failures[0]}" if failures else None,
        )
    arrays = {name: np.concatenate([part.answer[name] for part in full]) for name in full[0].answer}
    return Answers(
        tuple(token for part in full for token in part.tokens),
        tuple(part.log for part in full for _ in part.tokens),
        arrays,
        tuple(token for part in all_parts for token in part.passed_over),
        failures,
    )


def go_round(
    scenes: SceneSet, question: Question, folder: Path, *, workers: int = 1, say: Say = silent
) -> list[Path]:
    """Ask all scenes; return the files of the parts, in the order of the logs.

    A scene that cannot answer is a failure in its part. A log over which processes died twice makes
    the round `Unhealthy`, and the next one goes on.
    """
    told = {"scenes": scenes.digest(), **question.record()}
    key = provenance.digest_settings(told)[:16]
    place = folder / "work" / key
    with held(folder / "lock"):
        sweep(place)
        parts = [place / f"{log}.npz" for log in scenes.logs]
        of_log = _tokens_of(scenes)
        left = [log for log, path in zip(scenes.logs, parts, strict=True) if not _is_there(path)]
        left.sort(key=lambda log: -len(of_log[log]))
        done = len(scenes) - sum(len(of_log[log]) for log in left)
        say("", done, len(scenes))
        tasks = [(log, of_log[log]) for log in left]
        start = partial(_asker, scenes, question, place)
        for event in run(start, tasks, workers, (__name__, type(question).__module__)):
            log = left[event.task]
            if isinstance(event, Lost):
                say(_complain(event, log), done, len(scenes))
                continue
            done += len(of_log[log])
            say(event.name, done, len(scenes))
    return parts


def read_part(path: Path) -> Part:
    """Read the answers of one log."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        told = json.loads(str(arrays.pop("told")))
        return Part(
            told["log"],
            tuple(told["tokens"]),
            arrays,
            tuple(told["passed_over"]),
            tuple(Failure(**one) for one in told["failures"]),
        )
    except (OSError, ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"the answers of a log cannot be read: {error}",
            where=str(path),
            remedy="remove the file and run again: its scenes are asked anew",
        ) from error


def _tokens_of(scenes: SceneSet) -> dict[str, list[str]]:
    of_log: dict[str, list[str]] = {}
    for token in scenes.tokens:
        of_log.setdefault(scenes.log_of(token), []).append(token)
    return of_log


def _is_there(path: Path) -> bool:
    if not path.is_file():
        return False
    read_part(path)
    return True


def _asker(scenes: SceneSet, question: Question, place: Path) -> Work:
    ask = question.begin()

    def work(task: tuple[str, list[str]]) -> Iterator[str]:
        log, tokens = task
        _write_part(place / f"{log}.npz", _ask_log(scenes, question, ask, log, tokens))
        yield log

    return work


def _ask_log(
    scenes: SceneSet, question: Question, ask: Ask, log: str, tokens: Sequence[str]
) -> Part:
    answers: dict[str, Answer] = {}
    passed_over: list[str] = []
    failures: list[Failure] = []
    for token in tokens:
        try:
            answer = ask(scenes.scene(token))
        except NavauditError as error:
            failures.append(Failure.of(error, token, log))
        except MemoryError:
            raise
        except Exception as error:
            failures.append(fault(error, token, log))
        else:
            if answer is None:
                passed_over.append(token)
            else:
                answers[token] = answer
    folded = question.fold(list(answers.values())) if answers else {}
    return Part(log, tuple(answers), folded, tuple(passed_over), tuple(failures))


def _write_part(path: Path, part: Part) -> None:
    told = {
        "log": part.log,
        "tokens": part.tokens,
        "passed_over": part.passed_over,
        "failures": [asdict(one) for one in part.failures],
    }
    with whole_file(path) as stream:
        arrays: dict[str, Any] = {"told": np.array(json.dumps(told)), **part.answer}
        np.savez_compressed(stream, **arrays)


def _complain(event: Lost, log: str) -> str:
    """Say that a process died over a log; refuse to go on without it."""
    if event.again:
        return f"{event} over {log}: trying again"
    raise Unhealthy(
        f"{event}, twice",
        where=log,
        remedy="run again with fewer workers: memory may have run out; what is done is kept",
    )
