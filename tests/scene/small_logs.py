"""Many small logs made of one golden log, and judges that misbehave in other processes."""

from __future__ import annotations

import lzma
from pathlib import Path

from navaudit.world import pickles

GOLDEN = Path(__file__).parents[1] / "golden"
LOG = GOLDEN / "navsim_logs" / "2021.05.10.12.10.00_veh-30_00000_00500.pkl.xz"

_SLOW = """
import time
from navaudit.score.referee import score_proposals

def judge(trial):
    time.sleep({seconds})
    return score_proposals(trial)
"""

_DEADLY = """
import os, signal
from pathlib import Path
from navaudit.score.referee import score_proposals

COUNT = Path({count!r})

def judge(trial):
    if trial.outlook.token.startswith({token!r}):
        died = len(COUNT.read_bytes()) if COUNT.exists() else 0
        if died < {times}:
            COUNT.write_bytes(bytes(died + 1))
            os.kill(os.getpid(), signal.SIGKILL)
    return score_proposals(trial)
"""

_WRONG = """
from navaudit.score.referee import score_proposals

def judge(trial):
    if trial.outlook.token.startswith({token!r}):
        return trial.nothing
    return score_proposals(trial)
"""


def slow(folder, name, seconds):
    (folder / f"{name}.py").write_text(_SLOW.format(seconds=seconds))


def deadly(folder, name, token, times):
    text = _DEADLY.format(count=str(folder / f"{name}.count"), token=token, times=times)
    (folder / f"{name}.py").write_text(text)


def wrong(folder, name, token):
    (folder / f"{name}.py").write_text(_WRONG.format(token=token))


def unpack(source, target):
    """Copy a folder, taking .xz off its files."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            if path.suffix == ".xz":
                copy, data = copy.with_suffix(""), lzma.decompress(data)
            copy.write_bytes(data)
    return target


def write_logs(folder, count):
    """Write logs ``log00``, ... whose tokens begin with ``00``, ...; each has one scene."""
    folder.mkdir(parents=True)
    frames = pickles.loads(lzma.decompress(LOG.read_bytes()), pickles.LOG, LOG.name)
    for i in range(count):
        for frame in frames:
            frame["token"] = f"{i:02}{frame['token'][2:]}"
            frame["log_name"] = f"log{i:02}"
        (folder / f"log{i:02}.pkl").write_bytes(pickles.dumps(frames))
    return folder
