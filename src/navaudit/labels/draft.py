"""A label set in the making: what is finished waits in parcels, until closing lays it out for good.

::

    work/plan.json             what the set is being made from
    work/parcels/*.labels      finished labels
    work/parcels/*.begun       those of a log that is not finished yet
    work/closing.json          once all are there: the set's attributes, and where each token waits
    lock                       held by the run that writes

Closing copies chunks from parcels into shards, in the set's own order, and removes a parcel when
the last shard that needs it is on the disk. It may be cut short anywhere, and is then taken up
where it was. The group's metadata come last and make the set; ``work`` is removed after them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.begun import SUFFIX as BEGUN
from navaudit.labels.begun import Begun, beginning, scenes_begun
from navaudit.labels.parcel import SUFFIX, Parcel, ParcelWriter, whole_parcel, writing_parcel
from navaudit.labels.shards import SHARD, Shards, write_shard
from navaudit.labels.tree import arrays_of, write_group, write_small
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import put

KIND: Final = "navaudit labels"
FORMAT: Final = 2
RAW_TAIL: Final = "/0/0"
PATH_TAIL: Final = "/0"

CLOSING: Final = "closing.json"


@dataclass(frozen=True)
class Draft:
    """An unfinished label set; `navaudit.labels.labelset.writing` gives one."""

    folder: Path
    candidates: int
    path: bool
    """Whether lane keeping against the human's path is kept."""
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]
    complete: bool
    """Whether the set was closed before: then there is nothing left to do."""

    @property
    def closing(self) -> bool:
        """Whether closing has begun: then nothing but `close` is left to do."""
        return (self.folder / "work" / CLOSING).is_file()

    def parcel_path(self, name: str) -> Path:
        """Return where a parcel lies."""
        return self.folder / "work" / "parcels" / f"{name}{SUFFIX}"

    def parcel(
        self, name: str, inputs: Mapping[str, Any] | None = None
    ) -> AbstractContextManager[ParcelWriter]:
        """Give a writer of one parcel, which appears whole when its block ends without error."""
        return writing_parcel(self.parcel_path(name), self.candidates, inputs or {})

    def has(self, name: str, inputs: Mapping[str, Any] | None = None) -> bool:
        """Whether a parcel is there, whole and made from the same inputs."""
        return whole_parcel(self.parcel_path(name), inputs or {}) is not None

    def begun(self, name: str, inputs: Mapping[str, Any]) -> AbstractContextManager[Begun]:
        """Give what is there of an unfinished parcel, and keep there what is added to it.

        It is gone when its block ends without error: the parcel has to be there by then.
        """
        return beginning(self._begun_path(name), inputs)

    def count_begun(self, name: str, inputs: Mapping[str, Any]) -> int:
        """How many tokens of an unfinished parcel are there."""
        return scenes_begun(self._begun_path(name), inputs)

    def _begun_path(self, name: str) -> Path:
        return self.folder / "work" / "parcels" / f"{name}{BEGUN}"

    def close(
        self,
        parcels: Iterable[str] = (),
        failures: Sequence[Failure] = (),
        *,
        order: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the set whole from these parcels.

        Tokens come in the order of the parcels and in each as it was written, or in ``order``,
        which has to name them all. Where two bear one token, the first stays and the other becomes
        a failure. ``provenance`` is added to the set's own. Where closing was begun before, it goes
        on with what it was begun with.
        """
        if not self.closing:
            told = {**self.provenance, **(provenance or {})}
            _begin(self, tuple(parcels), failures, order, told)
        plan = json.loads((self.folder / "work" / CLOSING).read_text(encoding="utf-8"))
        places: list[tuple[int, int]] = plan["places"]
        _lay_out(self, plan["parcels"], places)
        arrays = arrays_of(len(places), self.candidates, self.path)
        write_group(self.folder, plan["attributes"], arrays)
        clear(self.folder)


@dataclass
class _Gathered:
    """What is small about the tokens of some parcels."""

    number: list[int] = field(default_factory=list)
    """``[token]``: which parcel it waits in."""
    row: list[int] = field(default_factory=list)
    token: dict[str, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    digest: list[str] = field(default_factory=list)
    human: list[NDArray[np.float64]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def take(self, number: int, parcel: Parcel) -> None:
        parcel.require_whole()
        self.failures.extend(parcel.failures)
        for row, (token, log) in enumerate(zip(parcel.tokens, parcel.logs, strict=True)):
            if token in self.token:
                self.failures.append(Failure.taken(token, log, self.log[self.token[token]]))
                continue
            self.token[token] = len(self.token)
            self.number.append(number)
            self.row.append(row)
            self.log.append(log)
            self.digest.append(parcel.digests[row])
            self.human.append(parcel.human(row))


def _begin(
    draft: Draft,
    parcels: Sequence[str],
    failures: Sequence[Failure],
    order: Sequence[str] | None,
    provenance: Mapping[str, Any],
) -> None:
    """Write all that is small, and where everything else is to be found."""
    found = _Gathered()
    for number, name in enumerate(parcels):
        found.take(number, Parcel(draft.parcel_path(name)))
    tokens = _ordered(tuple(found.token), order)
    rows = [found.token[token] for token in tokens]
    logs = [found.log[row] for row in rows]
    human = np.array([found.human[row] for row in rows]).reshape(-1, len(COLUMNS))
    arrays = arrays_of(len(tokens), draft.candidates, draft.path)
    write_small(draft.folder, arrays, tokens, logs, human)
    attributes = {
        "kind": KIND,
        "format": FORMAT,
        "digest": digest_over(tokens, logs, [found.digest[row] for row in rows]),
        "settings": dict(draft.settings),
        "provenance": dict(provenance),
        "failures": [asdict(one) for one in [*found.failures, *failures]],
    }
    places = [(found.number[row], found.row[row]) for row in rows]
    told = {"attributes": attributes, "parcels": list(parcels), "places": places}
    text = json.dumps(told, separators=(",", ":"), allow_nan=False)
    put(draft.folder / "work" / CLOSING, text.encode())


def digest_over(tokens: Iterable[str], logs: Iterable[str], digests: Iterable[str]) -> str:
    """SHA-256 over the tokens, their logs and the digests of what is known of each, in order."""
    sha = hashlib.sha256()
    for row in zip(tokens, logs, digests, strict=True):
        sha.update(json.dumps(row).encode() + b"\n")
    return sha.hexdigest()


def _ordered(tokens: tuple[str, ...], order: Sequence[str] | None) -> tuple[str, ...]:
    if order is None:
        return tokens
    strange = sorted(set(tokens) ^ set(order))
    if strange or len(order) != len(tokens):
        raise BadInput(
            f"the order names {len(order)} tokens, and {len(tokens)} were written",
            where=f"token {strange[0]}" if strange else None,
            expected="every token that was written, once",
        )
    return tuple(order)


def _lay_out(draft: Draft, parcels: Sequence[str], places: Sequence[tuple[int, int]]) -> None:
    """Copy chunks into shards, one shard after the other, from where that was left."""
    raw = Shards(draft.folder / "raw", RAW_TAIL)
    path = Shards(draft.folder / "path", PATH_TAIL)
    leaving = _leaving(parcels, places)
    waiting = _Waiting(draft, parcels)
    for shard in range(len(leaving)):
        if not raw.path(shard).is_file():
            here = places[shard * SHARD : (shard + 1) * SHARD]
            chunks = [waiting.chunks(number, row) for number, row in here]
            if draft.path and any(along is not None for _, along in chunks):
                write_shard(path.path(shard), [along for _, along in chunks])
            # last, since it says that the shard is done
            write_shard(raw.path(shard), [values for values, _ in chunks])
        for number in leaving[shard]:
            waiting.leave(number)


def _leaving(parcels: Sequence[str], places: Sequence[tuple[int, int]]) -> list[list[int]]:
    """``[shard]``: the parcels that no later one needs."""
    shards = -(-len(places) // SHARD)
    last = dict.fromkeys(range(len(parcels)), 0)
    for position, (number, _) in enumerate(places):
        last[number] = position // SHARD
    leaving: list[list[int]] = [[] for _ in range(shards)]
    for number, shard in last.items():
        if shards:
            leaving[shard].append(number)
    return leaving


class _Waiting:
    """Parcels, each opened when it is first wanted."""

    def __init__(self, draft: Draft, names: Sequence[str]) -> None:
        self._paths = [draft.parcel_path(name) for name in names]
        self._open: dict[int, Parcel] = {}

    def chunks(self, number: int, row: int) -> tuple[bytes, bytes | None]:
        if number not in self._open:
            self._open[number] = Parcel(self._paths[number])
        return self._open[number].chunks(row)

    def leave(self, number: int) -> None:
        self._open.pop(number, None)
        self._paths[number].unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Remove what the making of a complete set has left."""
    # a worker whose driver was killed may still put a parcel here; the next run clears it away
    shutil.rmtree(folder / "work", ignore_errors=True)
