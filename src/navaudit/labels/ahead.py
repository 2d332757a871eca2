"""Work done a little ahead of where its results are taken, in order, by several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def ahead(work: Callable[[Given], Made], tasks: Iterable[Given], workers: int) -> Iterator[Made]:
    """Give the result of each task, in the order of the tasks.

    At most twice as many results as there are workers wait to be taken, whatever the number of
    tasks. It pays where the work lets go of the interpreter: reading, unpacking, comparing.

    Examples
    --------
    >>> list(ahead(abs, [-1, 2, -3], workers=2))
    [1, 2, 3]
    """
    if workers <= 1:
        yield from map(work, tasks)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Made]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
