"""A `Run`: what one agent's plans are worth, token by token, in memory and on disk.

On disk a run is a folder::

    run.json      kind, format, settings, sources, provenance, failures, and digests of what follows
    scores.npz    arrays without pickles: token, log, time_us, components, human, comfort, distance
    off.csv, on.csv, pre-fix.csv      NAVSIM result files, one for each switch
    parts/        the logs that are finished, while the run is being made

``run.json`` is written last: a folder without it is no run.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.evaluate.distance import DISTANCES
from navaudit.evaluate.epdms import COMPONENTS, SWITCHES, score_under
from navaudit.evaluate.results import result_csv
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import put

Floats = NDArray[np.float64]

MANIFEST: Final = "run.json"
SCORES: Final = "scores.npz"
KIND: Final = "navaudit run"
FORMAT: Final = 1


@dataclass(frozen=True, eq=False)
class Run:
    """Plans of one agent, scored; rows by log name, then time, then what has no scene.

    A row that could not be scored is NaN, and the ledger says why.
    """

    tokens: tuple[str, ...]
    logs: tuple[str, ...]
    """Log of each token; empty where there was no scene."""
    time_us: NDArray[np.int64]
    """``[token]``; 0 where there was no scene."""
    components: Floats
    """``[token, component]`` without forgiveness."""
    human: Floats
    """``[token, component]``; NaN where there is no human."""
    comfort: Floats
    """``[token]``: extended comfort; NaN where there is no frame before."""
    distance: Floats
    """``[token, 3]`` of the plan to the human, as ``distance.DISTANCES``."""
    settings: Mapping[str, Any]
    """All that decides a score beside the plan: runs of other settings are not compared."""
    sources: Mapping[str, Any] = field(default_factory=dict)
    """What was evaluated, and what of it was left out."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.tokens)
        for name, dtype, axes in (
            ("time_us", np.int64, (count,)),
            ("components", np.float64, (count, len(COMPONENTS))),
            ("human", np.float64, (count, len(COMPONENTS))),
            ("comfort", np.float64, (count,)),
            ("distance", np.float64, (count, len(DISTANCES))),
        ):
            object.__setattr__(self, name, frozen(getattr(self, name), dtype, axes))
        if len(self.logs) != count or len(set(self.tokens)) != count:
            raise BadInput(
                f"{len(set(self.tokens))} different tokens and {len(self.logs)} logs",
                expected=f"{count} of either",
            )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Which tokens were scored, ``[token]``."""
        return np.asarray(~np.isnan(self.components).any(axis=1), np.bool_)

    def score(self, switch: str) -> Floats:
        """Scores ``[token, metric]`` under a switch, metrics as ``epdms.METRICS``."""
        return score_under(switch, self.components, self.human, self.comfort)

    def digest(self) -> str:
        """SHA-256 over tokens, logs, times and everything measured."""
        names = [np.array(self.tokens), np.array(self.logs)]
        measured = (self.time_us, self.components, self.human, self.comfort, self.distance)
        return provenance.digest_arrays([*names, *measured])

    # ------------------------------------------------------------------------------- on disk

    def write(self, folder: Path) -> None:
        """Write the run whole, its manifest last."""
        (folder / MANIFEST).unlink(missing_ok=True)
        files = {SCORES: _archive(self)}
        for switch in SWITCHES:
            files[f"{switch}.csv"] = result_csv(self.tokens, self.valid, self.score(switch))
        for name, data in files.items():
            put(folder / name, data)
        put(folder / MANIFEST, _manifest(self, {name: _sha(data) for name, data in files.items()}))

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Read a run; one that is unfinished or damaged is refused."""
        manifest = read_manifest(folder)
        if manifest is None:
            raise BadInput(
                "the folder holds no finished run",
                where=str(folder),
                expected=MANIFEST,
                remedy="make it, or go on with it, with: navaudit evaluate",
            )
        arrays = _unpack(folder / SCORES, str(manifest["sha256"][SCORES]))
        try:
            return cls(
                tokens=tuple(map(str, arrays.pop("token"))),
                logs=tuple(map(str, arrays.pop("log"))),
                settings=dict(manifest["settings"]),
                sources=dict(manifest["sources"]),
                provenance=dict(manifest["provenance"]),
                failures=tuple(Failure(**one) for one in manifest["failures"]),
                **arrays,
            )
        except (KeyError, TypeError) as error:
            raise _damaged(folder / MANIFEST, f"it lacks or mistypes {error}") from error


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a run's folder, None where there is none."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _damaged(path, f"it cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise BadInput("this is not the manifest of a run", where=str(path), expected=KIND)
    if manifest.get("format") != FORMAT:
        raise BadInput(
            f"the run has format {manifest.get('format')}",
            where=str(path),
            expected=f"format {FORMAT}",
            remedy="read it with the navaudit that wrote it, or evaluate again",
        )
    if not isinstance(manifest.get("sha256"), dict) or SCORES not in manifest["sha256"]:
        raise _damaged(path, "it has no digests")
    return manifest


def _manifest(run: Run, digests: Mapping[str, str]) -> bytes:
    record = {
        "kind": KIND,
        "format": FORMAT,
        "tokens": len(run),
        "digest": run.digest(),
        "settings": dict(run.settings),
        "sources": dict(run.sources),
        "provenance": dict(run.provenance),
        "failures": [asdict(one) for one in run.failures],
        "sha256": dict(digests),
    }
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()


def _archive(run: Run) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(
        out,
        token=np.array(run.tokens, np.str_),
        log=np.array(run.logs, np.str_),
        time_us=run.time_us,
        components=run.components,
        human=run.human,
        comfort=run.comfort,
        distance=run.distance,
    )
    return out.getvalue()


def _unpack(path: Path, sha256: str) -> dict[str, NDArray[Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _damaged(path, str(error)) from error
    if _sha(data) != sha256:
        raise _damaged(path, "its bytes are not those written")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile) as error:
        raise _damaged(path, str(error)) from error


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _damaged(path: Path, how: str) -> BadInput:
    return BadInput(
        f"the run is damaged: {how}",
        where=str(path),
        remedy="remove the folder and evaluate again",
    )
