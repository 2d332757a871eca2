"""Label sets: what every candidate of every scene scores, before the rule, and what the human does.

A label set is a folder, and a Zarr hierarchy that `xarray.open_zarr` opens; see
`navaudit.labels.tree` for its arrays. `LabelSet` reads it without Zarr's machinery: no thread, no
file held open, two reads a token, so it can be pickled and forked into any number of processes.

Sets are made by `writing`, which sees to it that one is complete or not there::

    with writing(folder, settings, provenance, candidates=16384) as draft:
        if not draft.complete:
            if not draft.closing:
                for name, part in parts:  # in any order, by any process that knows the draft
                    if not draft.has(name):
                        with draft.parcel(name) as parcel:
                            parcel.add(token, log, human, raw, path)
            draft.close(names)
    labels = LabelSet.open(folder)
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.chunks import Halves, damaged, decode
from navaudit.labels.draft import PATH_TAIL, RAW_TAIL, Draft, clear, digest_over
from navaudit.labels.folder import open_folder, read_group
from navaudit.labels.parcel import digest_of
from navaudit.labels.shards import Shards
from navaudit.labels.tree import read_small, unpack_texts
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import held

__all__ = ["Draft", "LabelSet", "writing"]


class LabelSet:
    """A complete set of labels, by log name, then time."""

    def __init__(self, folder: Path, group: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            attributes = group["attributes"]
            self.settings: Mapping[str, Any] = dict(attributes["settings"])
            self.provenance: Mapping[str, Any] = dict(attributes["provenance"])
            self.failures = tuple(Failure(**one) for one in attributes["failures"])
            self._digest = str(attributes["digest"])
            arrays = group["consolidated_metadata"]["metadata"]
            shape = [int(length) for length in arrays["raw"]["shape"]]
            self._has_path = "path" in arrays
        except (KeyError, TypeError, ValueError) as error:
            raise _no_set(folder, f"its metadata lack or mistype {error}") from error
        self.candidates: int = shape[2]
        self.tokens, self.logs, self.human = _read_small(folder, shape[0])
        self._row = {token: row for row, token in enumerate(self.tokens)}
        self._raw = Shards(folder / "raw", RAW_TAIL)
        self._path = Shards(folder / "path", PATH_TAIL)

    @classmethod
    def open(cls, folder: Path) -> LabelSet:
        """Open a folder of labels; an unfinished one is refused."""
        folder = Path(folder)
        return cls(folder, read_group(folder))

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelSet.open, (self.folder,)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._row

    def index(self, token: str) -> int:
        """Return the place of a token along the first axis."""
        if token in self._row:
            return self._row[token]
        failed = next((one for one in self.failures if one.token == token), None)
        raise BadInput(
            f"there are no labels of {token}",
            where=str(self.folder),
            expected=f"one of {len(self)} tokens",
            remedy=f"they could not be made: {failed}" if failed else None,
        )

    @property
    def knows_human(self) -> bool:
        """Whether the human's scores are known, as they are wherever labels came from scenes.

        Scores of a single token may be NaN all the same: a synthetic scene has no human.
        """
        return not len(self) or not bool(np.isnan(self.human).all())

    def raw(self, token: str) -> Halves:
        """Return the values of one token as measured: ``[column, candidate]``."""
        return self._decode(self._raw.chunk(self.index(token)), token)

    def stretch(self, start: int, stop: int) -> Halves:
        """Return the values of some tokens that follow each other: ``[token, column, candidate]``.

        Places beyond the end are left out, as in slices of a sequence.
        """
        start, stop, _ = slice(start, stop).indices(len(self))
        values = np.empty((max(stop - start, 0), len(COLUMNS), self.candidates), np.float16)
        tokens = self.tokens[start:stop]
        for into, token, chunk in zip(values, tokens, self._raw.chunks(start, stop), strict=False):
            into[:] = self._decode(chunk, token)
        values.flags.writeable = False
        return values

    def stretches(self, count: int = 64) -> Iterator[tuple[slice, Halves]]:
        """Walk through the set, so many tokens at a time; multiples of 64 are shards."""
        for start in range(0, len(self), count):
            stop = min(start + count, len(self))
            yield slice(start, stop), self.stretch(start, stop)

    def path_lane_keeping(self, token: str) -> Halves | None:
        """Return lane keeping against the human's path ``[candidate]``: one where it is kept.

        None where the human keeps to the lane, and in sets that do not know.
        """
        row = self.index(token)
        chunk = self._path.chunk(row) if self._has_path else None
        return None if chunk is None else decode(chunk, (self.candidates,), self._where(token))

    def digest(self) -> str:
        """SHA-256 over tokens, logs, human, raw values and those against the path, as written."""
        return self._digest

    def require_whole(self) -> None:
        """Read every value, and refuse the set unless all of them are those that were written."""
        digests = (
            digest_of(self.human[row], self.raw(token), self.path_lane_keeping(token))
            for row, token in enumerate(self.tokens)
        )
        found = digest_over(self.tokens, self.logs, digests)
        if found != self._digest:
            raise damaged(f"its digest is {found}, not {self._digest}", str(self.folder))

    def _decode(self, chunk: bytes | None, token: str) -> Halves:
        if chunk is None:
            raise damaged("the values of a token are missing", self._where(token))
        return decode(chunk, (len(COLUMNS), self.candidates), self._where(token))

    def _where(self, token: str) -> str:
        return f"{self.folder}, token {token}"


@contextmanager
def writing(
    folder: Path,
    settings: Mapping[str, Any],
    provenance: Mapping[str, Any],
    *,
    candidates: int,
    path: bool = True,
) -> Iterator[Draft]:
    """Begin a label set in a folder, or go on with it; see `Draft`, and the module for an example.

    ``settings`` are all that decides the values: a folder begun with others is refused, and so is
    one in which another run writes. ``path`` says whether lane keeping against the human's path
    goes into the set. What killed writers have left is swept away.
    """
    folder = Path(folder)
    with held(folder / "lock"):
        complete = open_folder(folder, settings, provenance, candidates, path)
        if complete:
            clear(folder)
        else:
            for part in folder.rglob(".*.part"):
                part.unlink(missing_ok=True)
        yield Draft(folder, candidates, path, settings, provenance, complete)


def _read_small(
    folder: Path, count: int
) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
    """Read tokens, logs and the human's scores."""
    try:
        tokens = tuple(unpack_texts(read_small(folder, "token")))
        names: dict[str, str] = {}
        logs = unpack_texts(read_small(folder, "log"))
        kept = tuple(names.setdefault(log, log) for log in logs)
        human = np.frombuffer(read_small(folder, "human"), "<f8")
        human = human.reshape(count, len(COLUMNS))
    except (OSError, ValueError, struct.error) as error:
        raise _no_set(
            folder, f"its tokens, logs or human scores cannot be read: {error}"
        ) from error
    if len(tokens) != count or len(kept) != count or len(set(tokens)) != count:
        raise _no_set(folder, f"it has {len(tokens)} tokens and {len(kept)} logs for {count}")
    return tokens, kept, human


def _no_set(folder: Path, how: str) -> BadInput:
    return BadInput(
        f"the label set is damaged: {how}", where=str(folder), remedy="make the label set again"
    )
