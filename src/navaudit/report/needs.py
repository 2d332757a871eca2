"""Which command measures a number of the paper, and on what data.

The paper's names begin with what they are about; the first rule that fits a name speaks for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Need:
    """What it takes to measure some numbers."""

    command: str
    """The command, or commands, that write them."""
    data: str
    """What must lie on the disk, or be done first."""
    population: str
    """The number that says whether the paper's own population was measured."""


_NAVTRAIN: Final = "navtrain's logs and maps, the published navtrain_16384.pkl and its vocabulary"
_NAVTEST: Final = "navtest's logs, maps and camera files"
_CHECKPOINT: Final = "the released GTRS-Dense checkpoint and camera files"

AUDIT: Final = Need(
    "navaudit audit RAW --published PUBLISHED --out DIR", _NAVTRAIN, "population_tokens"
)
CERTIFY: Final = Need("navaudit certify RAW PUBLISHED --out DIR", _NAVTRAIN, "population_tokens")
CONTROL: Final = Need(
    "navaudit certify RAW PUBLISHED --out DIR",
    "the paper's own pool of 60 scenes on which the rule cannot fire; the number is nine times 60",
    "population_tokens",
)
CENSUS: Final = Need(
    "navaudit census SCENES --out DIR", "navtrain's logs and maps", "div_denominator"
)
FLIPS: Final = Need("navaudit flips SCENES RAW --out DIR", _NAVTRAIN, "flip_rollout_candidates")
ROME: Final = Need(
    "navaudit flips SCENES RAW --out DIR",
    "to know which of navtrain's scenes an AMD Rome processor drove: run it there on those alone",
    "flip_rollout_candidates",
)
PROCESSORS: Final = Need(
    "navaudit processors SCENES --vocabulary V.npy --out DIR",
    "navtrain's scenes, on Broadwell, Rome and Sapphire Rapids processors",
    "ob_pin_tokens",
)
PROBE: Final = Need("navaudit probe LOGITS RAW --out DIR", _CHECKPOINT, "probe_pairs")
HYDRA: Final = Need(
    "navaudit probe LOGITS RAW --names hmdp_tr --out DIR",
    "the Hydra-MDP checkpoint released with GTRS, and camera files",
    "probe_pairs",
)
HYDRA_HELD_OUT: Final = Need(
    "navaudit probe LOGITS RAW --names hmdp_nt --out DIR",
    f"the Hydra-MDP checkpoint released with GTRS, and {_NAVTEST}",
    "nt_T",
)
PROBE_TRAINED: Final = Need(
    "navaudit train, logits and probe",
    "ten continued trainings of the released checkpoint on GPUs, and camera files",
    "probe_pairs",
)
PROBE_HELD_OUT: Final = Need(
    "navaudit train, logits and probe",
    f"ten continued trainings of the released checkpoint on GPUs, and {_NAVTEST}",
    "nt_T",
)
COMPARE: Final = Need(
    "navaudit train, plan, evaluate and compare",
    f"ten continued trainings of the released checkpoint on GPUs, and {_NAVTEST}",
    "rt_tokens",
)

RULES: Final = (
    (r"hmdp_nt_", HYDRA_HELD_OUT),
    (r"hmdp_", HYDRA),
    (r"probe_|ties_", PROBE),
    (r"prt_|p530tr_", PROBE_TRAINED),
    (r"nt_|p530nt_", PROBE_HELD_OUT),
    (r"rt_|rt530_", COMPARE),
    (r"flip_rome_", ROME),
    (r"flip_", FLIPS),
    (r"div_|solver_", CENSUS),
    (r"ob_|spr_|rome_", PROCESSORS),
    (r"control_pool_", CONTROL),
    (r"reproduced$|residual_total$|ties$|pdm_reproduced$|cache_residuals$", CERTIFY),
    (r"", AUDIT),
)


def need(name: str) -> Need:
    """Return what it takes to measure a number.

    Examples
    --------
    >>> need("LK_mixed") is AUDIT, need("ties") is CERTIFY, need("ties_draws") is PROBE
    (True, True, True)
    """
    return next(one for pattern, one in RULES if re.match(pattern, name))
