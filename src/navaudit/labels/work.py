"""Where the work runs: in this process, in local processes, or on a Ray cluster.

An executor shares tasks out and tells what becomes of them, in the words of `navaudit.scene.crew`.
What is made does not depend on which one it is.
"""

from __future__ import annotations

import socket
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from navaudit.errors import BadInput, NavauditError
from navaudit.scene.crew import Finished, Lost, Work, run

Event = Finished | Lost
Start = Callable[[], Work]


class Executor(Protocol):
    """Does tasks, each by what ``start`` returns in the process it runs in."""

    def run(
        self, start: Start, tasks: Sequence[Any], modules: Sequence[str] = ()
    ) -> Iterator[Event]:
        """Do all tasks; an error of one ends everything, the death of a process does not."""
        ...


@dataclass(frozen=True)
class Processes:
    """So many processes on this machine; one is this process itself."""

    workers: int = 1

    def run(
        self, start: Start, tasks: Sequence[Any], modules: Sequence[str] = ()
    ) -> Iterator[Event]:
        """See `navaudit.scene.crew.run`."""
        return run(start, tasks, self.workers, modules)


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster: every task needs one processor, and the folders of input and output there."""

    address: str
    """``local`` starts one on this machine; else ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``."""
    workers: int | None = None
    """At most so many; as many as the cluster has processors if left out."""

    def run(
        self, start: Start, tasks: Sequence[Any], modules: Sequence[str] = ()
    ) -> Iterator[Event]:
        """Do all tasks; the names of a task come together when it is finished."""
        ray = _ray()
        ours = not ray.is_initialized()
        if ours:
            _join(ray, self.address, self.workers)
        try:
            workers = self.workers or int(ray.cluster_resources().get("CPU", 1))
            yield from _Hands(ray, start, tasks, max(workers, 1)).run()
        finally:
            if ours:
                ray.shutdown()


def _ray() -> Any:
    try:
        import ray  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise BadInput(
            "Ray is not installed",
            where="--ray",
            remedy="pip install 'navaudit[cluster]', or leave --ray out and use --workers",
        ) from error
    return ray


_KNOCK_S: Final = 10.0


def _join(ray: Any, address: str, workers: int | None) -> None:
    told: dict[str, Any] = {"num_cpus": workers} if address == "local" and workers else {}
    if address == "local":
        told["include_dashboard"] = False
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level="WARNING", **told)
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"there is no Ray cluster: {error}",
            where=f"--ray {address}",
            expected="local, auto, HOST:PORT or ray://HOST:PORT of a running one",
        ) from error


def _knock(address: str) -> None:
    """Find out whether anything listens there, which Ray takes minutes to despair of."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()


class _Hand:
    """Does tasks in a process of the cluster."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._work: Work | None = None

    def do(self, task: Any) -> tuple[str, Any]:
        """Do one task; errors are values, so that they arrive as what they are."""
        try:
            if self._work is None:
                self._work = self._start()
            return "done", list(self._work(task))
        except NavauditError as error:
            return "error", error
        except MemoryError:
            raise
        except Exception:
            return "error", RuntimeError(traceback.format_exc())


_ATTEMPTS: Final = 2


@dataclass(eq=False)
class _Hands:
    ray: Any
    start: Start
    tasks: Sequence[Any]
    workers: int
    busy: dict[Any, tuple[int, Any]] = field(default_factory=dict)
    """What is awaited: the task, and the hand that does it."""
    attempts: dict[int, int] = field(default_factory=dict)

    def run(self) -> Iterator[Event]:
        # what every hand needs goes into the cluster's store once, not along with every task
        start = self.ray.put(self.start)
        hire = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Hand)
        waiting = deque(range(len(self.tasks)))
        while waiting and len(self.busy) < self.workers:
            self._give(hire.remote(start), waiting.popleft())
        while self.busy:
            ready, _ = self.ray.wait(list(self.busy))
            for one in ready:
                task, hand = self.busy.pop(one)
                try:
                    kind, value = self.ray.get(one)
                except self.ray.exceptions.RayError as error:
                    yield self._lost(task, error, waiting)
                    hand = None
                else:
                    if kind == "error":
                        raise value
                    yield from (Finished(task, name) for name in value)
                if waiting:
                    self._give(hire.remote(start) if hand is None else hand, waiting.popleft())
                # one that is still known here would keep a processor that another may wait for
                del hand

    def _give(self, hand: Any, task: int) -> None:
        self.attempts[task] = self.attempts.get(task, 0) + 1
        self.busy[hand.do.remote(self.tasks[task])] = (task, hand)

    def _lost(self, task: int, error: Exception, waiting: deque[int]) -> Lost:
        again = self.attempts[task] < _ATTEMPTS
        if again:
            waiting.appendleft(task)
        return LostOnRay(task, None, again, type(error).__name__)


@dataclass(frozen=True)
class LostOnRay(Lost):
    """A process of the cluster, or a machine, died over a task."""

    how: str = ""

    def __str__(self) -> str:
        return f"a worker of the cluster was lost ({self.how})"
