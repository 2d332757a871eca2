"""What a planner remembers from the scenes before: a list of things it stood in once.

One stock planner plans all scenes of a chunk.  At each it adds to a list the tracks its car touches
at t = 0 and the red connectors it stands in, and never clears it (pdm_observation.py:220).  Later
scenes leave listed tracks out of the forecast and take listed red lights for no obstacle, wherever
an id comes round again.  A `Memory` carries that list, or does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, get_args

from navaudit.errors import BadInput

Mode = Literal["fresh", "stock", "blind", "inject"]

# pdm_observation.py:65; anything with it in its token passes for a light
RED_LIGHT: Final = "red_light"
"""What the token of every red light begins with; an underscore and the connector's id follow."""


@dataclass(frozen=True)
class Recall:
    """What one scene is planned with."""

    ids: tuple[str, ...] = ()
    """Track tokens and red-light tokens from elsewhere."""
    spares_lights: bool = True
    """Whether red lights among them are no obstacles."""

    @property
    def ignored(self) -> frozenset[str]:
        """Ids that are never an obstacle."""
        return frozenset(one for one in self.ids if self.spares_lights or RED_LIGHT not in one)


@dataclass(frozen=True)
class Memory:
    """What is carried from scene to scene of a chunk.

    Examples
    --------
    >>> Memory("stock").keep(("red_light_7",)).recall("some token").ids
    ('red_light_7',)
    >>> Memory("fresh").keep(("red_light_7",)).recall("some token").ids
    ()
    """

    mode: Mode = "fresh"
    """``fresh`` carries nothing; ``stock`` carries the list as the stock planner does; ``blind``
    carries it too, but lights on it are obstacles all the same; ``inject`` carries nothing and
    gives chosen scenes chosen lists."""
    ids: tuple[str, ...] = ()
    """What was carried so far, each once, in order."""
    injected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By token of the scene, the list it is planned with."""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise BadInput(f"memory {self.mode!r} does not exist", expected=_KNOWN)
        if (self.mode == "inject") != bool(self.injected):
            raise BadInput(
                f"memory is {self.mode!r} and {len(self.injected)} lists are injected",
                expected="lists with inject, and none without",
            )
        if self.ids and self.mode in ("fresh", "inject"):
            raise BadInput(f"memory is {self.mode!r} and carries {self.ids[0]}", expected="nothing")
        object.__setattr__(self, "injected", dict(self.injected))

    def recall(self, token: str) -> Recall:
        """Return what a scene is planned with."""
        ids = self.injected.get(token, ()) if self.mode == "inject" else self.ids
        return Recall(ids, spares_lights=self.mode != "blind")

    def keep(self, met: Sequence[str]) -> Memory:
        """Return the memory after a scene at whose start the car stood in these."""
        new = tuple(dict.fromkeys(one for one in met if one not in self.ids))
        if self.mode in ("fresh", "inject") or not new:
            return self
        return replace(self, ids=self.ids + new)


_KNOWN: Final = "fresh | stock | blind | inject:FILE"


def memory_of(text: str) -> Memory:
    """Return the memory an option asks for: ``fresh``, ``stock``, ``blind`` or ``inject:FILE``.

    The file is JSON: an object from scene tokens to lists of ids, such as
    ``{"9430eba18cb05d7c": ["red_light_41532"]}``.
    """
    mode, colon, name = text.partition(":")
    if mode == "inject" and name:
        return Memory("inject", injected=_read_lists(Path(name)))
    if colon or mode == "inject" or mode not in get_args(Mode):
        raise BadInput(f"memory {text!r} does not exist", expected=_KNOWN)
    return Memory(mode)  # type: ignore[arg-type]


def _read_lists(path: Path) -> dict[str, tuple[str, ...]]:
    expected = '{"scene token": ["red_light_<connector id>", "<track token>", ...], ...}'
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the lists to inject cannot be read: {error}", where=str(path), expected=expected
        ) from error
    lists = content if isinstance(content, dict) else {}
    if not lists or not all(map(_is_list_of_ids, lists.values())):
        raise BadInput("the file holds no lists to inject", where=str(path), expected=expected)
    return {token: tuple(ids) for token, ids in lists.items()}


def _is_list_of_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def in_chunks(logs: Sequence[str], chunks: str) -> list[list[int]]:
    """Split scenes into chunks, given the log of each: lists of positions, in the order given.

    ``scene`` makes every scene a chunk, ``log`` every log, and a number splits the logs in the
    order of their first scenes into so many runs of equal length, the first ones a log longer, as
    stock caching does for so many workers.  A memory starts anew with every chunk.

    Examples
    --------
    >>> in_chunks(["a", "a", "b", "c"], "2")
    [[0, 1, 2], [3]]
    """
    if chunks == "scene":
        return [[scene] for scene in range(len(logs))]
    place = {log: i for i, log in enumerate(dict.fromkeys(logs))}
    count = len(place) if chunks == "log" else _whole(chunks)
    long, rest = divmod(len(place), max(count, 1))
    ends = [(long + 1) * min(i, rest) + long * max(i - rest, 0) for i in range(1, count + 1)]
    split: list[list[int]] = [[] for _ in range(count)]
    for scene, log in enumerate(logs):
        split[next(i for i, end in enumerate(ends) if place[log] < end)].append(scene)
    return [one for one in split if one]


def _whole(chunks: str) -> int:
    if not chunks.isascii() or not chunks.isdigit() or int(chunks) < 1:
        raise BadInput(f"chunks {chunks!r} do not exist", expected="log | scene | a number from 1")
    return int(chunks)
