"""Agents side by side: each in a process of its own, which ends with the demonstration."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from navaudit.demo.step import Demo, Say
from navaudit.errors import Refused, Unhealthy
from navaudit.scene.crew import Lost
from navaudit.scene.crew import run as run_crew
from navaudit.scene.whole import held

_TOLD: Final = "told "
_WAITS, _WAIT_S = 100, 0.2

Work = Callable[[str, Say], str]
"""Does what a name stands for, telling how far it is, and returns a few words of what came of it.

It goes to other processes, so it is a function of a module, with what it needs.
"""


def side_by_side(demo: Demo, names: Sequence[str], work: Work) -> dict[str, str]:
    """Do the work of every name, as many at once as there are workers; return what each told."""
    told: dict[str, str] = {}
    demo.say("", 0, len(names))
    for event in run_crew(partial(_begin, work), names, demo.workers):
        name = names[event.task]
        if isinstance(event, Lost):
            demo.say(f"{event} over {name}", len(told), len(names))
            if not event.again:
                raise Unhealthy(
                    f"{event}, twice",
                    where=name,
                    remedy="run again with --workers 1: memory may have run out",
                )
        elif event.name.startswith(_TOLD):
            told[name] = event.name.removeprefix(_TOLD)
            demo.say(name, len(told), len(names))
    return {name: told[name] for name in names}


def _begin(work: Work) -> Callable[[str], Iterator[str]]:
    parent = os.getppid()

    def say(what: str, done: int, total: int) -> None:
        # what nobody waits for any more would only be in the way of the next run
        if os.getppid() != parent:
            raise SystemExit

    def do(name: str) -> Iterator[str]:
        yield name  # the others need not wait for this one
        yield f"{_TOLD}{work(name, say)}"

    return do


def let_go(lock: Path) -> None:
    """Wait for a process of an earlier run, whose parent was killed, to notice."""
    for _ in range(_WAITS):
        try:
            with held(lock):
                return
        except Refused:
            time.sleep(_WAIT_S)
