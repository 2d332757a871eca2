"""Where and how an agent computes: device, precision, and how many scenes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from navaudit.errors import BadInput

PRECISIONS: Final = {
    "float32": None,
    "tf32": None,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
"""By name: what matrix products are computed in; None where tensors stay float32."""


@dataclass(frozen=True)
class Computing:
    """Where and how the agent computes."""

    device: str = "cpu"
    precision: str = "float32"
    batch: int = 1
    """Scenes at once."""
    readers: int = field(default=1, compare=False)
    """Threads that read pictures; decides no number."""
    threads: int = 0
    """Threads that compute on the cpu; 0 leaves it to torch."""

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise BadInput(
                f"precision is {self.precision!r}", expected=f"one of: {', '.join(PRECISIONS)}"
            )
        if self.batch < 1 or self.readers < 1:
            raise BadInput(
                f"batch is {self.batch}, and readers are {self.readers}", expected="1 or more"
            )
        if self.kind not in ("cpu", "cuda"):
            raise BadInput(f"device is {self.device!r}", expected="cpu or cuda")
        if self.kind == "cuda" and not torch.cuda.is_available():
            raise BadInput(
                "torch finds no CUDA device here",
                where=f"device {self.device}",
                remedy="compute on the cpu, or install a torch that knows the device",
            )

    @property
    def kind(self) -> str:
        """``cpu`` or ``cuda``, without a number."""
        return self.device.partition(":")[0]

    @property
    def processor(self) -> str:
        """What the numbers come from, in words."""
        if self.kind == "cuda":
            return torch.cuda.get_device_name(self.device)
        return torch.backends.cpu.get_cpu_capability()

    @contextmanager
    def numerics(self) -> Iterator[None]:
        """Compute in the precision asked for, and in no other, while the block runs."""
        backends: Any = torch.backends
        places = (backends.cuda.matmul, backends.cudnn.conv, backends.mkldnn.matmul)
        before = [one.fp32_precision for one in places]
        # left alone, convolutions on CUDA would drop to TF32
        wanted = "tf32" if self.precision == "tf32" else "ieee"
        lower = PRECISIONS[self.precision]
        threads = torch.get_num_threads()
        torch.set_num_threads(self.threads or threads)
        try:
            for one in places[:2]:
                one.fp32_precision = wanted
            places[2].fp32_precision = "ieee"
            with torch.no_grad(), torch.autocast(self.kind, dtype=lower, enabled=lower is not None):
                yield
        finally:
            torch.set_num_threads(threads)
            for one, value in zip(places, before, strict=True):
                one.fp32_precision = value
