"""Whether stored tensors are the ones a module wants: every name, shape and kind of number."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from navaudit.errors import BadInput


def expect_fit(have: Mapping[str, Tensor], want: Mapping[str, Tensor], where: str) -> None:
    """Refuse tensors that are not exactly those wanted, naming every one that differs.

    Names, shapes and dtypes are compared, and numbers must be finite.
    """
    lines = [
        *(f"missing: {name} {_told(want[name])}" for name in want if name not in have),
        *(f"unexpected: {name} {_told(have[name])}" for name in have if name not in want),
        *(
            f"{name} is {_told(have[name])}, not {_told(want[name])}"
            for name in want
            if name in have and _told(have[name]) != _told(want[name])
        ),
    ]
    if lines:
        count = len(lines)
        raise BadInput(
            f"{count} of the stored tensors are not as wanted:\n    " + "\n    ".join(lines),
            where=where,
            expected=f"exactly the {len(want)} tensors of this agent",
            remedy="name the shape that the weights were trained in",
        )
    broken = [
        name
        for name, one in have.items()
        if one.is_floating_point() and not bool(torch.isfinite(one).all())
    ]
    if broken:
        raise BadInput(
            f"numbers that are not finite stand in {', '.join(broken)}",
            where=where,
            remedy="take a checkpoint from before training came apart",
        )


def _told(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
