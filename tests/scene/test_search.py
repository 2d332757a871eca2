"""Both searches against slow ones that keep their queues as plain lists."""

import time
from collections import deque
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.scene.search import fewest_steps, least_cost
from navaudit.world.network import Links

often = settings(deadline=None, max_examples=200)


def graphs(rows=8, degree=3):
    links = st.integers(1, rows).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=degree), min_size=n, max_size=n)
    )
    return links.map(Links.of)


def slow_fewest_steps(links, start, goals, most):
    """Queue rows as often as they are reached; whoever reaches last becomes the parent."""
    queue, parent = deque([(start, 1)]), {(start, 1): None}
    while queue:
        row, depth = queue.popleft()
        if depth > most:
            return None
        if row in goals:
            path = [row]
            while parent[path[-1], depth] is not None:
                path.append(parent[path[-1], depth])
                depth -= 1
            return tuple(path[::-1])
        for after in links[row].tolist():
            queue.append((after, depth + 1))
            parent[after, depth + 1] = row
    return None


@often
@given(graphs(), st.sets(st.integers(0, 7)), st.integers(0, 6), st.data())
def test_fewest_steps_is_the_slow_search(links, goals, most, data):
    start = data.draw(st.integers(0, len(links) - 1))
    found = fewest_steps(links, start, goals.__contains__, most)
    assert found == slow_fewest_steps(links, start, goals, most)


@often
@given(graphs(), st.sets(st.integers(0, 7)), st.data())
def test_a_path_of_fewest_steps_is_one(links, goals, data):
    start = data.draw(st.integers(0, len(links) - 1))
    path = fewest_steps(links, start, goals.__contains__, 20)
    if path is None:
        return
    assert path[0] == start
    assert path[-1] in goals
    assert goals.isdisjoint(path[:-1])
    assert all(after in links[before] for before, after in pairwise(path))


def test_the_last_parent_and_the_first_goal_win():
    twice = Links.of([[1, 2], [3, 4], [4, 3], [], []])
    assert fewest_steps(twice, 0, {3, 4}.__contains__, 5) == (0, 2, 3)
    assert fewest_steps(twice, 0, {4}.__contains__, 5) == (0, 2, 4)


def test_a_miss_does_not_take_forever():
    # a queue without a list of rows seen would grow to 4 ** 29
    knot = Links.of([[0, 1, 2, 3]] * 4)
    begin = time.perf_counter()
    assert fewest_steps(knot, 0, lambda row: row == 9, 30) is None
    assert time.perf_counter() - begin < 5.0


def slow_least_cost(links, ids, costs, start, allowed, goals):
    """Keep the frontier as a list; rows are known by their ids."""
    queue, closed, parent = [[1.0, start, 1]], [], {ids[start]: None}
    while queue:
        place = min(range(len(queue)), key=lambda i: queue[i][0])
        cost, row, depth = queue.pop(place)
        if row in goals:
            return trace(row, ids, parent)
        closed.append((cost, row, depth))
        for after in links[row].tolist():
            price = cost + costs[after]
            if ids[after] not in allowed:
                continue
            waiting = [one for one in queue if ids[one[1]] == ids[after]]
            if waiting and price < waiting[0][0]:
                waiting[0][0], waiting[0][2] = price, depth + 1
                parent[ids[after]] = row
            elif not waiting and ids[after] not in [ids[one] for _, one, _ in closed]:
                queue.append([price, after, depth + 1])
                parent[ids[after]] = row
    deepest = max(depth for _, _, depth in closed)
    _, end, _ = min((one for one in closed if one[2] == deepest), key=lambda one: one[0])
    return trace(end, ids, parent)


def trace(row, ids, parent):
    path = [row]
    while parent[ids[path[-1]]] is not None:
        path.append(parent[ids[path[-1]]])
    return tuple(path[::-1])


@often
@given(graphs(), st.sets(st.integers(0, 7)), st.data())
def test_least_cost_is_the_slow_search(links, goals, data):
    count = len(links)
    # few ids and few costs: rows that share an id, and ties
    ids = data.draw(st.lists(st.sampled_from("abcde"), min_size=count, max_size=count))
    costs = data.draw(st.lists(st.sampled_from([1.0, 2.0, 2.5]), min_size=count, max_size=count))
    start = data.draw(st.integers(0, count - 1))
    allowed = data.draw(st.sets(st.sampled_from("abcde")))
    found = least_cost(links, ids, costs, start, allowed, goals.__contains__)
    assert found == slow_least_cost(links, ids, costs, start, allowed, goals)


@often
@given(graphs(), st.data())
def test_no_cheaper_path_exists(links, data):
    count = len(links)
    costs = data.draw(st.lists(st.floats(0.5, 9.0), min_size=count, max_size=count))
    goal, start = (data.draw(st.integers(0, count - 1)) for _ in range(2))
    ids = [str(row) for row in range(count)]
    path = least_cost(links, ids, costs, start, ids, lambda row: row == goal)
    least = np.full(count, np.inf)
    least[start] = 0.0
    for _ in range(count):
        for row in range(count):
            for after in links[row].tolist():
                least[after] = min(least[after], least[row] + costs[after])
    if np.isfinite(least[goal]):
        assert path[-1] == goal
        assert sum(costs[row] for row in path[1:]) <= least[goal] * (1 + 1e-12)
    else:
        assert path[-1] != goal


def test_without_a_goal_the_deepest_row_wins_then_the_cheapest():
    links = Links.of([[1, 2], [3], [4], [], []])
    nowhere = {9}.__contains__
    assert least_cost(links, "abcde", [0, 1, 1, 5, 4], 0, "abcde", nowhere) == (0, 2, 4)
    assert least_cost(links, "abcde", [0, 1, 1, 4, 4], 0, "abcde", nowhere) == (0, 1, 3)
    assert least_cost(links, "abcde", [0, 1, 1, 4, 4], 0, "", nowhere) == (0,)


def test_a_row_with_the_id_of_an_expanded_one_is_never_entered():
    # rows 1 and 3 share an id: whoever is met first closes the way for the other
    links = Links.of([[1], [2], [3], [4], []])
    assert least_cost(links, "abcbd", [1] * 5, 0, "abcd", lambda row: row == 4) == (0, 1, 2)
