"""Other processes, under other kernels: one fits profiles by LAPACK, one is this package itself.

Run as a module, this is the latter: it labels scenes by the closed forms, and scores drives that it
is handed, under whatever kernel it was started with. It reads requests from standard input, one
JSON object a line, and answers each with a line of digests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.regenerated import desire_all, label_closed, label_drives
from navaudit.errors import BadInput
from navaudit.numerics import lapack
from navaudit.provenance import digest_arrays
from navaudit.rollout.rollout import paths_of
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.score.course import lay_out
from navaudit.score.score import Settings

_SCRIPT: Final = Path(lapack.__file__)
_MODULE: Final = "navaudit.audit.elsewhere"


class Conversation:
    """A process that answers every line with a line."""

    def __init__(self, settings: Mapping[str, str], command: Sequence[str]) -> None:
        """Start a command with further environment variables."""
        assignments = [f"{name}={value}" for name, value in settings.items()]
        self._name = " ".join([*assignments, command[0]])
        # a file takes any number of warnings, a pipe would fill up
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - the caller's own choice
            ["env", *assignments, *command],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        try:
            self._stdin.write(json.dumps(request) + "\n")
            self._stdin.flush()
            line = self._stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        # closing a pipe to a process that has died may fail, and need not succeed
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()
        self._complaints.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _died(self) -> BadInput:
        code = self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip().splitlines()[-1:]
        return BadInput(
            f"a process ended over its work: {said[0] if said else f'exit code {code}'}",
            where=self._name,
            expected="answers to all requests",
            remedy="leave this environment out, or see navaudit doctor --python",
        )


class Fitter:
    """Fits profiles in another process, through files in a folder of its own."""

    def __init__(self, interpreter: str, settings: Mapping[str, str], folder: Path) -> None:
        """Start the interpreter; nothing of this package needs to be installed there."""
        self._conversation = Conversation(settings, [interpreter, str(_SCRIPT)])
        self._fitted = folder / "fitted.npy"
        folder.mkdir(parents=True, exist_ok=True)

    def fit(self, paths: Path, solver: str) -> NDArray[np.float64] | None:
        """Fit the paths in a file: ``[(speed, curvature), row, displacement]``.

        None where the library gives up.
        """
        request = {"paths": str(paths), "solver": solver, "fitted": str(self._fitted)}
        if "failed" in self._conversation.ask(request):
            return None
        fitted: NDArray[np.float64] = np.load(self._fitted, allow_pickle=False)
        return fitted

    def close(self) -> None:
        """End the process."""
        self._conversation.close()


class OwnScorer:
    """The package itself in another process."""

    def __init__(
        self, settings: Mapping[str, str], scenes: Path, vocabulary: Path, scoring: Settings
    ) -> None:
        """Start this very interpreter."""
        words = [str(scenes), str(vocabulary), scoring.ddc, scoring.progress_rule]
        self._conversation = Conversation(settings, [sys.executable, "-m", _MODULE, *words])

    def ask(self, token: str, states: Path) -> dict[str, Any]:
        """Digest the ``paths`` of a scene, its ``closed`` labels, and those of states ``fed``."""
        return self._conversation.ask({"token": token, "states": str(states)})

    def close(self) -> None:
        """End the process."""
        self._conversation.close()


def serve(
    scenes: SceneSet,
    vocabulary: Vocabulary,
    settings: Settings,
    requests: IO[str],
    answers: IO[str],
) -> None:
    """Answer the requests of an `OwnScorer` until there are no more."""
    for line in requests:
        asked = json.loads(line)
        scene = scenes.scene(asked["token"])
        desired, course = desire_all(scene, vocabulary), lay_out(scene)
        fed = np.load(asked["states"], allow_pickle=False)
        told = {
            "paths": digest_arrays([paths_of(desired)]),
            "closed": label_closed(scene, vocabulary, course, settings).digest(),
            "fed": label_drives(scene, course, fed, settings).digest(),
        }
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    folder, file, ddc, rule = sys.argv[1:]
    chosen: dict[str, Any] = {"ddc": ddc, "progress_rule": rule}
    serve(
        SceneSet.open(Path(folder)),
        read_vocabulary(Path(file)),
        Settings(**chosen),
        sys.stdin,
        sys.stdout,
    )
