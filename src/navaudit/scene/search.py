"""Shortest ways through a graph, with the answers of the two stock searches.

Both decide ties by the order in which things were found, so that order is part of the answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Neighbours(Protocol):
    """For a row the rows that it leads to, in order."""

    def __getitem__(self, row: int) -> Iterable[int]: ...


class Costs(Protocol):
    """For a row what it costs to enter it."""

    def __getitem__(self, row: int) -> float: ...


def fewest_steps(
    links: Neighbours, start: int, is_goal: Callable[[int], bool], most: int
) -> tuple[int, ...] | None:
    """Return the rows from start to the first goal met breadth first, or None.

    ``most`` is the number of rows that a path may have. Of the goals at the least depth the one
    that is queued first is taken; of the paths to it, the one whose last rows but one were queued
    last.

    The stock search queues a row as often as paths lead to it (navsim's pdm_planner/utils/
    graph_search/bfs_roadblock.py:50-91 keeps no list of rows seen), and writes the parent over each
    time. Its queue grows exponentially, the answer needs little of it: the order in which the rows
    of one depth are queued first decides the goal, the order in which they are queued last decides
    the parents, and either order follows from the same order one depth before.

    Examples
    --------
    >>> fewest_steps([[1, 2], [3], [3], []], 0, lambda row: row == 3, most=3)
    (0, 2, 3)
    """
    firsts = lasts = [start]
    parents: list[dict[int, int]] = []
    while firsts and len(parents) < most:
        goal = next(filter(is_goal, firsts), None)
        if goal is not None:
            return _traced(goal, parents)
        # a dictionary keeps the place of the first and the value of the last
        firsts = list(dict.fromkeys(int(after) for row in firsts for after in links[row]))
        pairs = [(int(after), row) for row in lasts for after in links[row]]
        lasts = list(dict.fromkeys(after for after, _ in reversed(pairs)))[::-1]
        parents.append(dict(pairs))
    return None


def _traced(goal: int, parents: Sequence[dict[int, int]]) -> tuple[int, ...]:
    path = [goal]
    for parent in reversed(parents):
        path.append(parent[path[-1]])
    return tuple(reversed(path))


@dataclass(frozen=True)
class _Found:
    """What is known of an id that has been reached."""

    row: int
    turn: int
    """Among equal costs, who was found first goes first."""
    cost: float
    depth: int


class _Frontier:
    """Ids that have been reached but not expanded, the cheapest first."""

    def __init__(self) -> None:
        self._known: dict[str, _Found] = {}
        self._queue: list[tuple[float, int, str]] = []
        self._turns = 0

    def offer(self, key: str, row: int, cost: float, depth: int) -> bool:
        """Note a way to an id; return whether it is new, or cheaper than the one known."""
        known = self._known.get(key)
        if known and cost >= known.cost:
            return False
        # a cheaper way keeps the row and the turn of whoever was found first
        row, turn = (known.row, known.turn) if known else (row, self._turns)
        self._turns += known is None
        self._known[key] = _Found(row, turn, cost, depth)
        heapq.heappush(self._queue, (cost, turn, key))
        return True

    def pop(self) -> tuple[str, _Found] | None:
        """Take the cheapest id out, None if there is none."""
        while self._queue:
            cost, _, key = heapq.heappop(self._queue)
            if key in self._known and self._known[key].cost == cost:
                return key, self._known.pop(key)
        return None


def least_cost(
    links: Neighbours,
    ids: Sequence[str],
    costs: Costs,
    start: int,
    allowed: Collection[str],
    is_goal: Callable[[int], bool],
) -> tuple[int, ...]:
    """Return the rows from start to the goal that costs least to reach; a row costs on entry.

    Only rows with allowed ids are entered. If no goal can be reached, the path to the deepest row
    is returned, of the deepest the cheapest. Equal costs: the row found first.

    The stock search (navsim's pdm_planner/utils/graph_search/dijkstra.py:48-107) knows rows by
    their ids alone, which a lane and a connector may share: whoever comes first stands for both.

    Examples
    --------
    >>> least_cost([[1, 2], [3], [3], []], "abcd", [1, 5, 4, 1], 0, "abcd", lambda row: row == 3)
    (0, 2, 3)
    """
    frontier, expanded = _Frontier(), dict[str, _Found]()
    frontier.offer(ids[start], start, 1.0, 1)
    parent: dict[str, int | None] = {ids[start]: None}
    while best := frontier.pop():
        key, found = best
        if is_goal(found.row):
            return _retraced(found.row, ids, parent)
        expanded[key] = found
        for after in map(int, links[found.row]):
            name, cost = ids[after], found.cost + costs[after]
            if name not in allowed or name in expanded:
                continue
            if frontier.offer(name, after, cost, found.depth + 1):
                parent[name] = found.row
    deepest = max(expanded.values(), key=lambda found: (found.depth, -found.cost))
    return _retraced(deepest.row, ids, parent)


def _retraced(end: int, ids: Sequence[str], parent: Mapping[str, int | None]) -> tuple[int, ...]:
    path, before = [end], parent[ids[end]]
    while before is not None:
        path.append(before)
        before = parent[ids[before]]
    return tuple(reversed(path))
