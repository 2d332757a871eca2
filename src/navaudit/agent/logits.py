"""A checkpoint's logits for every scene of a set, from wherever the last run stopped.

Pictures are read ahead by threads while the agent computes. A scene whose pictures cannot be read
is a failure in the store's ledger, and is tried again by the next run.

The last bits of a logit follow from the device, the precision, the size of the batch and torch
itself; all of them are settings, and a folder begun with others is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from navaudit import provenance
from navaudit.agent import model
from navaudit.agent.checkpoint import read_checkpoint
from navaudit.agent.computing import PRECISIONS, Computing
from navaudit.agent.features import Features, Recordings
from navaudit.agent.logit_draft import Draft, writing
from navaudit.agent.logit_store import LogitStore
from navaudit.agent.logit_tree import Logits
from navaudit.agent.model import Agent, batch
from navaudit.axes import HEADS
from navaudit.errors import BadInput, NavauditError
from navaudit.scene.code import code_of
from navaudit.scene.logfile import Failure
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary

Say = Callable[[str, int, int], None]
"""Told what happened, how many scenes are done, and how many there will be."""

_AHEAD: Final = 2
"""Shards whose pictures are read before they are wanted."""


@dataclass(frozen=True)
class Job:
    """A checkpoint and scenes, and where their recordings lie."""

    checkpoint: Path
    scenes: SceneSet
    logs: Path
    """Folder of the log files of the scenes' data split."""
    images: Path
    """Folder of its sensor blobs."""
    vocabulary: Vocabulary | None = None
    """In the place of the stored one."""
    computing: Computing = field(default_factory=Computing)

    def agent(self) -> Agent:
        """Build the agent on its device."""
        poses = None
        if self.vocabulary is not None:
            poses = torch.from_numpy(self.vocabulary.poses.astype(np.float32))
        agent = read_checkpoint(self.checkpoint).agent(poses=poses)
        return agent.eval().to(self.computing.device)


def vocabulary_of(agent: Agent) -> Vocabulary:
    """Return the candidates that an agent scores."""
    return Vocabulary(agent.vocabulary.detach().cpu().numpy())


def make_logits(
    folder: Path, job: Job, *, agent: Agent | None = None, say: Say | None = None
) -> LogitStore:
    """Compute the logits of a job into a folder; what is there already, and the same, is kept.

    ``agent`` is that of the job, where it is at hand.
    """
    if not len(job.scenes):
        raise BadInput("the scene set holds no scenes", where=str(job.scenes.folder))
    agent = agent or job.agent()
    scenes = [(token, job.scenes.log_of(token)) for token in job.scenes.tokens]
    told, here = _settings(job, agent), _provenance(job)
    with writing(folder, told, here, scenes, agent.shape.candidates) as draft:
        _fill(draft, job, agent, say or (lambda what, done, total: None))
        draft.close()
    store = LogitStore.open(folder)
    if not len(store):
        first = store.failures[0]
        raise BadInput(
            f"no scene could be seen; of the first: {first.what}",
            where=first.where,
            expected=first.expected,
            remedy=first.remedy,
        )
    return store


def _settings(job: Job, agent: Agent) -> dict[str, Any]:
    computing = job.computing
    return {
        "checkpoint": provenance.digest_file(job.checkpoint),
        "shape": agent.shape.record(),
        "vocabulary": vocabulary_of(agent).digest,
        "scenes": job.scenes.digest(),
        "device": computing.kind,
        "precision": computing.precision,
        "batch": computing.batch,
        "torch": str(torch.__version__),
        "code": code_of(Path(str(model.__file__))),
    }


def _provenance(job: Job) -> dict[str, Any]:
    return {
        **provenance.here(),
        "torch": str(torch.__version__),
        "processor": job.computing.processor,
        "threads": job.computing.threads or torch.get_num_threads(),
        "scenes": {"settings": job.scenes.settings, "provenance": job.scenes.provenance},
    }


def _fill(draft: Draft, job: Job, agent: Agent, say: Say) -> None:
    """Write the shards that are not there yet."""
    left = draft.left()
    done = len(draft.tokens) - sum(len(draft.rows(shard)) for shard in left)
    say("", done, len(draft.tokens))
    if not left:
        return
    recordings = Recordings(job.logs, job.images, agent.shape.image)
    with job.computing.numerics():
        embedded = agent.embed()
        for shard, seen in _look_ahead(draft, left, recordings, job.computing.readers):
            good = [one for one in seen if isinstance(one, Features)]
            failures = [one for one in seen if isinstance(one, Failure)]
            values = dict(
                zip((one.token for one in good), _compute(agent, good, embedded, job), strict=True)
            )
            tokens = [draft.tokens[row] for row in draft.rows(shard)]
            digests = {one.token: one.digest for one in good}
            draft.add(
                shard,
                [values.get(token) for token in tokens],
                [digests.get(token, "") for token in tokens],
                failures,
            )
            done += len(seen)
            for failure in failures:
                say(f"failed: {failure}", done, len(draft.tokens))
            say(seen[-1].token or "", done, len(draft.tokens))


def _compute(
    agent: Agent, features: Sequence[Features], embedded: Tensor, job: Job
) -> Iterator[Logits]:
    """Give ``[head, candidate]`` of each of some scenes."""
    size, device = job.computing.batch, job.computing.device
    for start in range(0, len(features), size):
        some = features[start : start + size]
        logits = agent(*batch(some, device), embedded=embedded)
        values = torch.stack([logits[name] for name in HEADS], dim=1).float().cpu().numpy()
        for one, heads in zip(some, values, strict=True):
            _expect_finite(heads, one.token, job)
            yield heads


def _expect_finite(values: Logits, token: str, job: Job) -> None:
    broken = ~np.isfinite(values)
    if broken.any():
        head, candidate = (int(one) for one in np.argwhere(broken)[0])
        raise BadInput(
            f"{int(broken.sum())} logits are not finite; {HEADS[head]} of candidate {candidate} is "
            f"{values[head, candidate]}",
            where=f"token {token}",
            expected="finite numbers",
            remedy=f"compute in float32, not {job.computing.precision}"
            if PRECISIONS[job.computing.precision]
            else "look at the checkpoint's weights and at the log's motion",
        )


Seen = Features | Failure


def _look_ahead(
    draft: Draft, shards: Sequence[int], recordings: Recordings, readers: int
) -> Iterator[tuple[int, list[Seen]]]:
    """Give the features of each shard's scenes, reading those of the next ones meanwhile."""
    waiting: deque[tuple[int, list[Future[Seen]]]] = deque()
    with ThreadPoolExecutor(readers) as pool:
        try:
            for shard in shards:
                rows = draft.rows(shard)
                scenes = [(draft.tokens[row], draft.logs[row]) for row in rows]
                waiting.append((shard, [_begin(pool, recordings, *scene) for scene in scenes]))
                if len(waiting) > _AHEAD:
                    yield _finished(waiting.popleft())
            while waiting:
                yield _finished(waiting.popleft())
        finally:
            pool.shutdown(cancel_futures=True)


def _finished(one: tuple[int, list[Future[Seen]]]) -> tuple[int, list[Seen]]:
    return one[0], [future.result() for future in one[1]]


def _begin(pool: ThreadPoolExecutor, recordings: Recordings, token: str, log: str) -> Future[Seen]:
    # logs are read one after the other, here; the pictures of their frames by the threads
    try:
        frame = recordings.frame(log, token)
    except NavauditError as error:
        failed: Future[Seen] = Future()
        failed.set_result(Failure.of(error, token, log))
        return failed

    def look() -> Seen:
        try:
            return recordings.look(frame)
        except NavauditError as error:
            return Failure.of(error, token, log)

    return pool.submit(look)
