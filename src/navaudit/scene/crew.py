"""Tasks shared out among local processes, each taking the next one as soon as it is free."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any, Final

from navaudit.errors import NavauditError

Work = Callable[[Any], Iterator[str]]
"""Does one task, giving the name of each thing as it is finished."""


@dataclass(frozen=True)
class Finished:
    """One thing of a task is finished."""

    task: int
    name: str


@dataclass(frozen=True)
class Lost:
    """A process died over a task."""

    task: int
    exitcode: int | None
    again: bool
    """Whether the task is tried once more."""

    def __str__(self) -> str:
        code = self.exitcode
        if code is None or code >= 0:
            return f"a worker ended with exit code {code}"
        known = {one.value: one.name for one in signal.Signals}
        return f"a worker was killed by {known.get(-code, f'signal {-code}')}"


def run(
    start: Callable[[], Work], tasks: Sequence[Any], workers: int, modules: Sequence[str] = ()
) -> Iterator[Finished | Lost]:
    """Do all tasks; what ``start`` returns in each process does them, one after the other.

    ``start`` and the tasks are pickled. ``modules`` are imported once, for all processes.

    The order of what is finished is left to chance. An error of a task ends everything; the death
    of a process costs its task one attempt of two.
    """
    if workers > 1 and len(tasks) > 1:
        yield from _Crew(start, tasks, workers, modules).run()
        return
    work = start()
    for index, task in enumerate(tasks):
        yield from (Finished(index, name) for name in work(task))


@dataclass(eq=False)
class _Crew:
    start: Callable[[], Work]
    tasks: Sequence[Any]
    workers: int
    modules: Sequence[str]
    busy: dict[Connection, tuple[BaseProcess, int]] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)

    def run(self) -> Iterator[Finished | Lost]:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, *self.modules])
        waiting = deque(range(len(self.tasks)))
        # the first finishes something alone, so that kernels are compiled once and not by everyone
        allowed = 1
        try:
            while waiting or self.busy:
                while waiting and len(self.busy) < allowed:
                    self._hire(context, waiting.popleft())
                for connection in wait(list(self.busy)):
                    for event in self._listen(connection, waiting):  # type: ignore[arg-type]
                        allowed = self.workers
                        yield event
        finally:
            self._dismiss()

    def _hire(self, context: ForkServerContext, task: int) -> None:
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.start), daemon=True)
        process.start()
        theirs.close()
        self.busy[ours] = (process, task)
        self._give(ours, task)

    def _give(self, connection: Connection, task: int) -> None:
        self.busy[connection] = (self.busy[connection][0], task)
        try:
            connection.send(self.tasks[task])
        except OSError:
            return  # it has died; the next wait finds its end of the pipe closed

    def _listen(self, connection: Connection, waiting: deque[int]) -> Iterator[Finished | Lost]:
        process, task = self.busy[connection]
        try:
            kind, value = connection.recv()
        except (EOFError, OSError):
            yield self._bury(connection, waiting)
            return
        if kind == "finished":
            yield Finished(task, value)
        elif kind == "error":
            raise value
        elif waiting:
            self._give(connection, waiting.popleft())
        else:
            del self.busy[connection]
            connection.close()
            process.join()

    def _bury(self, connection: Connection, waiting: deque[int]) -> Lost:
        process, task = self.busy.pop(connection)
        connection.close()
        process.join()
        again = task not in self.lost
        self.lost.add(task)
        if again:
            waiting.appendleft(task)
        return Lost(task, process.exitcode, again)

    def _dismiss(self) -> None:
        for process, _ in self.busy.values():
            process.terminate()
        for connection, (process, _) in self.busy.items():
            process.join(_PATIENCE_S)
            process.kill()
            process.join()
            connection.close()
        self.busy.clear()


_DONE: Final = ("done", None)
_PATIENCE_S: Final = 10.0
"""How long a process that is dismissed may take to put its things away."""


def _leave(number: int, _: object) -> None:
    """End as processes do that are done.

    What they have begun to write is removed, and semaphores of libraries are given back, which
    Python would otherwise complain of.
    """
    sys.exit(128 + number)


def _serve(connection: Connection, start: Callable[[], Work]) -> None:
    """Do tasks until the other end of the pipe is closed, also by the death of who holds it."""
    # an interrupt from the keyboard goes to everyone; the first process ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    try:
        work = start()
        while True:
            for name in work(connection.recv()):
                connection.send(("finished", name))
            connection.send(_DONE)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except NavauditError as error:
        connection.send(("error", error))
    except MemoryError:
        sys.exit(1)  # as if it had died: its task is tried once more
    except Exception:
        connection.send(("error", RuntimeError(traceback.format_exc())))
    finally:
        # it is leaving already
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
