"""The one car of the benchmark: a Chrysler Pacifica, measured from its rear axle.

The figures are those of nuPlan's ``get_pacifica_parameters``; derived lengths are written as the
same sums and quotients the devkit forms, so that they carry the same rounding.
"""

from __future__ import annotations

from typing import Final

WIDTH_M: Final = 1.1485 * 2.0
FRONT_LENGTH_M: Final = 4.049
REAR_LENGTH_M: Final = 1.127
LENGTH_M: Final = FRONT_LENGTH_M + REAR_LENGTH_M
HALF_WIDTH_M: Final = WIDTH_M / 2.0
HALF_LENGTH_M: Final = LENGTH_M / 2.0
WHEEL_BASE_M: Final = 3.089
REAR_AXLE_TO_CENTRE_M: Final = HALF_LENGTH_M - REAR_LENGTH_M
