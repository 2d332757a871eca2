"""Logits on disk: what every head says of every candidate in every scene; no torch is needed.

A store is a folder, and a Zarr hierarchy that `xarray.open_zarr` opens; see
`navaudit.agent.logit_tree` for its arrays. It is complete or not there::

    store = LogitStore.open(folder)
    store.tokens                                  those that have logits, in the scene set's order
    store.of(token)                               float32 [head, candidate], heads as axes.HEADS
    store.head("lane_keeping")                    float32 [token, candidate]
    for rows, values in store.stretches("imi"):   the same, some tokens at a time

"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit.agent.logit_tree import SHARD, Logits, Shard, damaged, shard_path
from navaudit.axes import HEADS
from navaudit.errors import BadInput
from navaudit.labels.tree import GROUP, unpack_texts
from navaudit.scene.logfile import Failure

KIND: Final = "navaudit logits"
FORMAT: Final = 1
_AGAIN: Final = "read it with the navaudit that wrote it, or make the logits again"


class LogitStore:
    """A complete store of logits. Keeps no file open, and can be pickled."""

    def __init__(self, folder: Path, group: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            attributes = group["attributes"]
            self.settings: Mapping[str, Any] = dict(attributes["settings"])
            self.provenance: Mapping[str, Any] = dict(attributes["provenance"])
            self.failures = tuple(Failure(**one) for one in attributes["failures"])
            arrays = group["consolidated_metadata"]["metadata"]
            self.candidates = int(arrays["logits"]["shape"][2])
            every, logs, features = (_texts(folder, name) for name in ("token", "log", "features"))
        except (KeyError, TypeError, ValueError, OSError, IndexError) as error:
            raise BadInput(
                f"the store of logits is damaged: {error}",
                where=str(folder / GROUP),
                remedy="remove the folder and make the logits again",
            ) from error
        failed = {one.token for one in self.failures}
        self._row = {token: row for row, token in enumerate(every) if token not in failed}
        self.tokens = tuple(self._row)
        """Tokens that have logits; those of ``failures`` have none."""
        self.logs = tuple(logs[row] for row in self._row.values())
        """``[token]``: the log of each."""
        self.features = tuple(features[row] for row in self._row.values())
        """``[token]``: digest of what each was seen by."""

    @classmethod
    def open(cls, folder: Path) -> LogitStore:
        """Open a folder of logits; an unfinished one is refused."""
        return cls(folder, read_group(folder))

    def __reduce__(self) -> tuple[Any, ...]:
        return LogitStore.open, (self.folder,)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._row

    def of(self, token: str) -> Logits:
        """Return the logits of one token: ``[head, candidate]``."""
        if token not in self._row:
            failed = next((one for one in self.failures if one.token == token), None)
            raise BadInput(
                f"there are no logits of {token}",
                where=str(self.folder),
                expected=f"one of {len(self)} tokens",
                remedy=f"they could not be made: {failed}" if failed else None,
            )
        shard, row = divmod(self._row[token], SHARD)
        values = np.empty((len(HEADS), self.candidates), np.float32)
        opened = Shard(shard_path(self.folder, shard), self.candidates)
        try:
            for head, into in enumerate(values):
                opened.read(row, head, into)
        finally:
            opened.close()
        values.flags.writeable = False
        return values

    def head(self, name: str) -> Logits:
        """Return what one head says of all: ``[token, candidate]``, rows as ``tokens``."""
        values = np.empty((len(self), self.candidates), np.float32)
        for rows, some in self.stretches(name):
            values[rows] = some
        values.flags.writeable = False
        return values

    def stretches(self, name: str) -> Iterator[tuple[slice, Logits]]:
        """Walk through one head, a shard at a time: which of ``tokens``, and their logits."""
        head = _number(name)
        start = 0
        by_shard: dict[int, list[int]] = {}
        for row in self._row.values():
            by_shard.setdefault(row // SHARD, []).append(row % SHARD)
        for shard, rows in by_shard.items():
            values = np.empty((len(rows), self.candidates), np.float32)
            opened = Shard(shard_path(self.folder, shard), self.candidates)
            try:
                for row, into in zip(rows, values, strict=True):
                    opened.read(row, head, into)
            finally:
                opened.close()
            yield slice(start, start + len(rows)), values
            start += len(rows)

    def digest(self) -> str:
        """SHA-256 over tokens and logits, read from the disk."""
        sha = hashlib.sha256()
        for token in self.tokens:
            sha.update(token.encode() + b"\0")
            sha.update(self.of(token).astype("<f4", copy=False).tobytes())
        return sha.hexdigest()


def _number(head: str) -> int:
    if head not in HEADS:
        raise BadInput(f"there is no head {head!r}", expected=f"one of: {', '.join(HEADS)}")
    return HEADS.index(head)


def _texts(folder: Path, name: str) -> tuple[str, ...]:
    return tuple(unpack_texts((folder / name / "c" / "0").read_bytes()))


def read_group(folder: Path) -> dict[str, Any]:
    """Return the metadata of a complete store."""
    path = folder / GROUP
    try:
        group = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _no_store(folder) from None
    except (OSError, ValueError) as error:
        raise damaged(f"the metadata cannot be read: {error}", path) from error
    attributes = group.get("attributes") if isinstance(group, dict) else None
    if not isinstance(attributes, dict) or attributes.get("kind") != KIND:
        raise BadInput("this is not a store of logits", where=str(path), expected=f"kind {KIND!r}")
    if attributes.get("format") != FORMAT:
        raise BadInput(
            f"the store has format {attributes.get('format')}",
            where=str(path),
            expected=f"format {FORMAT}",
            remedy=_AGAIN,
        )
    return dict(group)


def _no_store(folder: Path) -> BadInput:
    if (folder / "work").is_dir():
        return BadInput(
            "the logits are not finished",
            where=str(folder),
            remedy="run the command that made them again: it goes on where it stopped",
        )
    return BadInput(
        "the folder holds no logits" if folder.exists() else "there is no such folder",
        where=str(folder),
        expected=GROUP,
        remedy="make logits with: navaudit logits CHECKPOINT SCENES --images DIR --out FOLDER",
    )
