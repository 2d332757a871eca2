"""The names of things along an axis, and the horizon they span.

Every array in the house is indexed by one of these; nothing else decides an order.
"""

from __future__ import annotations

from typing import Final

DT_S: Final = 0.1
"""Seconds between two steps of a rollout."""

STEPS: Final = 41
"""Steps of a rollout: t = 0.0, 0.1, ..., 4.0 s."""

POSES: Final = 40
"""Poses of a candidate: t = 0.1, ..., 4.0 s; t = 0 is the ego itself."""

HUMAN_POSES: Final = 8
"""Poses of the logged human trajectory: t = 0.5, 1.0, ..., 4.0 s."""

STATE: Final = (
    "x_m",
    "y_m",
    "heading_rad",
    "velocity_x_mps",
    "velocity_y_mps",
    "acceleration_x_mps2",
    "acceleration_y_mps2",
    "steering_angle_rad",
    "steering_rate_radps",
    "angular_velocity_radps",
    "angular_acceleration_radps2",
)
"""Columns of a state at the rear axle; pose in the map frame, the rest in the ego's."""

X, Y, HEADING, VX, VY, AX, AY, STEERING, STEERING_RATE, YAW_RATE, YAW_ACCELERATION = range(11)

CORNERS: Final = ("front_left", "rear_left", "rear_right", "front_right", "centre")
"""Order of the five points of an ego box; the first four walk round the box, counter-clockwise."""

FRONT_LEFT, REAR_LEFT, REAR_RIGHT, FRONT_RIGHT, CENTRE = range(5)

COLUMNS: Final = (
    "no_at_fault_collisions",
    "drivable_area_compliance",
    "driving_direction_compliance",
    "traffic_light_compliance",
    "ego_progress",
    "time_to_collision_within_bound",
    "lane_keeping",
    "history_comfort",
    "pdm_score",
)
"""The nine stored columns, in the order of the GTRS label file."""

NC, DAC, DDC, TLC, EP, TTC, LK, HC, PDM = range(9)

SHORT: Final = ("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC", "PDM")
"""The columns' short names, in the same order."""

LOSS_COLUMNS: Final = (NC, DAC, DDC, TLC, EP, TTC, LK)
"""The seven columns the GTRS loss reads."""

HEADS: Final = (
    "no_at_fault_collisions",
    "drivable_area_compliance",
    "time_to_collision_within_bound",
    "ego_progress",
    "driving_direction_compliance",
    "lane_keeping",
    "traffic_light_compliance",
    "imi",
)
"""The heads of the released agents, in their own order: seven columns, then the imitation."""

HEAD_COLUMNS: Final = (NC, DAC, TTC, EP, DDC, LK, TLC)
"""The stored column that each of the first seven heads is trained on."""
