"""A store of logits in the making: shards appear whole, and the group's metadata come last.

::

    work/plan.json     what the store is being made from
    work/N.json        of shard N: digests of what its tokens were seen by, and its failures
    lock               held by the run that writes

A shard is there once its file is; everything else about it was written before. ``work`` stays: a
later run tries the tokens again that failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from navaudit.agent.logit_store import FORMAT, KIND
from navaudit.agent.logit_tree import SHARD, Logits, Shard, arrays_of, shard_path, write_shard
from navaudit.axes import HEADS
from navaudit.errors import BadInput, Refused
from navaudit.labels.tree import GROUP, pack_texts, write_group
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import held, put

_SHORT: Final = 48
_OURS: Final = ("lock", "work", "logits")


@dataclass(frozen=True)
class Draft:
    """An unfinished store; `writing` gives one."""

    folder: Path
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]
    tokens: tuple[str, ...]
    logs: tuple[str, ...]
    """``[token]``"""
    candidates: int

    def left(self) -> list[int]:
        """Return the shards that are still to be written, or were but for some tokens."""
        return [shard for shard in range(-(-len(self.tokens) // SHARD)) if not self._done(shard)]

    def rows(self, shard: int) -> range:
        """Return which tokens a shard is of."""
        return range(shard * SHARD, min((shard + 1) * SHARD, len(self.tokens)))

    def add(
        self,
        shard: int,
        values: Sequence[Logits | None],
        features: Sequence[str],
        failures: Sequence[Failure],
    ) -> None:
        """Write a shard, with the digests of what its tokens were seen by and what failed."""
        told = {"features": list(features), "failures": [asdict(one) for one in failures]}
        shard_path(self.folder, shard).unlink(missing_ok=True)
        put(self._note(shard), json.dumps(told).encode())
        write_shard(shard_path(self.folder, shard), values)

    def close(self) -> None:
        """Make the store whole."""
        features: list[str] = []
        failures: list[dict[str, Any]] = []
        for shard in range(-(-len(self.tokens) // SHARD)):
            told = self._told(shard)
            features.extend(told["features"])
            failures.extend(told["failures"])
        arrays = arrays_of(len(self.tokens), self.candidates)
        texts = {"token": self.tokens, "log": self.logs, "features": features, "head": HEADS}
        for name, metadata in arrays.items():
            put(self.folder / name / GROUP, (json.dumps(metadata, indent=1) + "\n").encode())
        for name, values in texts.items():
            put(self.folder / name / "c" / "0", pack_texts(values))
        attributes = {
            "kind": KIND,
            "format": FORMAT,
            "settings": dict(self.settings),
            "provenance": dict(self.provenance),
            "failures": failures,
        }
        write_group(self.folder, attributes, arrays)

    def _note(self, shard: int) -> Path:
        return self.folder / "work" / f"{shard}.json"

    def _told(self, shard: int) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._note(shard).read_text(encoding="utf-8"))
        return told

    def _done(self, shard: int) -> bool:
        path = shard_path(self.folder, shard)
        if not path.is_file():
            return False
        try:
            Shard(path, self.candidates).close()
            return not self._told(shard)["failures"]
        except (BadInput, OSError, ValueError):
            return False  # it is damaged, and made again


@contextmanager
def writing(
    folder: Path,
    settings: Mapping[str, Any],
    provenance: Mapping[str, Any],
    scenes: Sequence[tuple[str, str]],
    candidates: int,
) -> Iterator[Draft]:
    """Begin a store in a folder, or go on with it.

    ``scenes`` are (token, log). ``settings`` are all that decides a number beside the pictures: a
    folder of other settings, or of something else, is refused, and so is one in which another run
    writes. One that was begun and has no shard yet takes any settings.
    """
    with held(folder / "lock"):
        _open(folder, settings, provenance)
        for part in folder.rglob(".*.part"):
            part.unlink(missing_ok=True)
        tokens, logs = (tuple(one) for one in zip(*scenes, strict=True)) if scenes else ((), ())
        yield Draft(folder, settings, provenance, tokens, logs, candidates)


def _open(folder: Path, settings: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
    plan = folder / "work" / "plan.json"
    try:
        have = json.loads(plan.read_text(encoding="utf-8"))["settings"]
    except FileNotFoundError:
        if any(one.name not in _OURS for one in folder.iterdir()):
            raise Refused(
                "the folder holds something else than logits",
                where=str(folder),
                expected="a new or empty folder, or one that this command began",
                remedy="name another folder",
            ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"the plan of the logits is damaged: {error}",
            where=str(plan),
            remedy="remove the folder and make the logits again",
        ) from error
    else:
        if any((folder / "logits").glob("c/*/0/0")):
            _expect_same(have, json.loads(json.dumps(dict(settings))), folder)
            return
    told = {"kind": KIND, "settings": dict(settings), "provenance": dict(provenance)}
    put(plan, (json.dumps(told, indent=1) + "\n").encode())


def _expect_same(have: Mapping[str, Any], want: Mapping[str, Any], folder: Path) -> None:
    said = [
        f"{key} is {_brief(have.get(key))} there, and {_brief(want.get(key))} is asked for"
        for key in sorted({*have, *want})
        if have.get(key) != want.get(key)
    ]
    if said:
        raise Refused(
            f"the folder holds logits of other settings: {'; '.join(said)}",
            where=str(folder),
            remedy="name another folder, or remove this one",
        )


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
