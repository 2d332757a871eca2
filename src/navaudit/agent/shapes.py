"""How large an agent is: the released ones, and narrow ones of the same build for small machines.

No torch here: a shape is data, is written into our checkpoints, and refuses contradictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from navaudit.errors import BadInput

STATUS: Final = 8
"""Values of the ego's status: driving command (4), vx, vy, ax, ay."""

STRIDE: Final = 32
"""Pixels of the image that one token sees, along each side."""

STAGES: Final = 4


@dataclass(frozen=True)
class BackboneShape:
    """Widths of a V2 network with eSE in every block."""

    stem: tuple[int, int, int]
    """Channels after each of the first three convolutions."""
    inner: tuple[int, int, int, int]
    """``[stage]``: channels of the 3x3 convolutions."""
    outer: tuple[int, int, int, int]
    """``[stage]``: channels of the outputs."""
    blocks: tuple[int, int, int, int]
    """``[stage]``: one-shot aggregation blocks."""
    layers: int
    """3x3 convolutions of a block."""

    def __post_init__(self) -> None:
        for name, count in (("stem", 3), ("inner", STAGES), ("outer", STAGES), ("blocks", STAGES)):
            numbers = tuple(getattr(self, name))
            object.__setattr__(self, name, numbers)
            if len(numbers) != count or not all(type(one) is int and one > 0 for one in numbers):
                raise BadInput(f"{name} is {numbers}", expected=f"{count} whole numbers above 0")
        _expect_counts(self, "layers")


@dataclass(frozen=True)
class AgentShape:
    """Everything that decides the names and shapes of an agent's parameters, and how it is run."""

    name: str
    backbone: BackboneShape
    image: tuple[int, int]
    """Rows and columns of the stitched image."""
    candidates: int
    """Size of the vocabulary."""
    width: int
    """Of every embedding."""
    heads: int
    """Of every attention."""
    hidden: int
    """Of every feed-forward part."""
    layers: int
    """Of the decoder."""
    queries: int
    """Of the unused detection branch, plus one."""
    vocabulary_dropout: bool
    """Whether training draws half of the candidates anew at each step."""

    def __post_init__(self) -> None:
        image = tuple(self.image)
        object.__setattr__(self, "image", image)
        _expect_counts(self, "candidates", "width", "heads", "hidden", "layers", "queries")
        if len(image) != 2 or not all(
            type(one) is int and one > 0 and one % STRIDE == 0 for one in image
        ):
            raise BadInput(f"image is {image}", expected=f"rows and columns, multiples of {STRIDE}")
        if self.width % self.heads:
            raise BadInput(
                f"width {self.width} does not split into {self.heads} heads",
                expected="a multiple of the heads",
            )

    @property
    def image_tokens(self) -> int:
        """How many tokens an image becomes."""
        rows, columns = self.image
        return (rows // STRIDE) * (columns // STRIDE)

    def record(self) -> dict[str, Any]:
        """The shape as plain data, for a checkpoint or a manifest."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str) -> AgentShape:
        """The way back from `record`; ``where`` names the file in errors."""
        try:
            backbone = BackboneShape(**record["backbone"])
            return cls(**{**record, "backbone": backbone})
        except (KeyError, TypeError) as error:
            raise BadInput(f"the agent's shape lacks or mistypes {error}", where=where) from error
        except BadInput as error:
            raise BadInput(error.what, where=where, expected=error.expected) from error


def _expect_counts(shape: object, *names: str) -> None:
    for name in names:
        value = getattr(shape, name)
        if type(value) is not int or value < 1:
            raise BadInput(f"{name} is {value!r}", expected="a whole number above 0")


V2_99: Final = BackboneShape(
    stem=(64, 64, 128),
    inner=(128, 160, 192, 224),
    outer=(256, 512, 768, 1024),
    blocks=(1, 3, 9, 3),
    layers=5,
)
"""The backbone of the released agents; DD3D's weights fit it."""

GTRS_DENSE: Final = AgentShape(
    name="gtrs-dense",
    backbone=V2_99,
    image=(512, 2048),
    candidates=16_384,
    width=256,
    heads=8,
    hidden=1024,
    layers=3,
    queries=30,
    vocabulary_dropout=True,
)

HYDRA_MDP: Final = AgentShape(
    **{**vars(GTRS_DENSE), "name": "hydra-mdp", "vocabulary_dropout": False}
)
"""The same network; only its training differs."""

NARROW: Final = AgentShape(
    name="narrow",
    backbone=BackboneShape(
        stem=(16, 16, 32),
        inner=(16, 24, 32, 48),
        outer=(32, 64, 96, 128),
        blocks=(1, 1, 2, 1),
        layers=3,
    ),
    image=(128, 512),
    candidates=1_024,
    width=64,
    heads=2,
    hidden=128,
    layers=3,
    queries=30,
    vocabulary_dropout=True,
)
"""Small enough for two cores; its image is what cameras of a quarter of the size give."""

SLIM: Final = AgentShape(
    name="slim",
    backbone=BackboneShape(
        stem=(8, 8, 16),
        inner=(8, 12, 16, 24),
        outer=(16, 32, 48, 64),
        blocks=(1, 1, 1, 1),
        layers=3,
    ),
    image=(64, 256),
    candidates=1_024,
    width=32,
    heads=2,
    hidden=64,
    layers=2,
    queries=30,
    vocabulary_dropout=True,
)
"""Smaller yet: several of them learn on two cores while one waits."""

SHAPES: Final = {one.name: one for one in (GTRS_DENSE, HYDRA_MDP, NARROW, SLIM)}
"""By name, for a command or a training file."""
