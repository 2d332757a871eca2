"""Where a command finds its scenes: a scene set, a folder of stock caches, or one cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from navaudit.errors import BadInput
from navaudit.scene.scene import Scene
from navaudit.scene.stock import FILE_NAME, index_caches, read_scene
from navaudit.scene.store import MANIFEST, SceneSet


@dataclass(frozen=True)
class SceneSource:
    """Scenes by token, whatever they are kept in."""

    where: Path
    tokens: Sequence[str]
    read: Callable[[str], Scene]

    @classmethod
    def open(cls, path: Path) -> SceneSource:
        """Tell by what lies at a path what it is."""
        if path.is_file():
            scene = read_scene(path)
            return cls(path, (scene.token,), lambda _: scene)
        if (path / MANIFEST).is_file():
            kept = SceneSet.open(path)
            return cls(path, kept.tokens, kept.scene)
        if (path / FILE_NAME).is_file():
            return cls.open(path / FILE_NAME)
        if (path / "metadata").is_dir():
            caches = index_caches(path, whole=False)
            return cls(path, tuple(caches), lambda token: read_scene(caches[token]))
        raise BadInput(
            "there are no scenes here" if path.exists() else "there is no such file or folder",
            where=str(path),
            expected=f"{MANIFEST} of a scene set, metadata/ of metric caches, or a {FILE_NAME}",
        )

    def scene(self, token: str) -> Scene:
        """Return the scene whose token is, or alone begins with, this one."""
        if token in self.tokens:
            return self.read(token)
        alike = [one for one in self.tokens if one.startswith(token)]
        if len(alike) == 1:
            return self.read(alike[0])
        some = ", ".join(alike[:4] or self.tokens[:4])
        raise BadInput(
            f"{len(alike)} tokens begin with {token!r}" if alike else f"there is no scene {token}",
            where=str(self.where),
            expected=f"one of {len(alike) or len(self.tokens)} tokens, such as {some}",
        )
