"""Records of stock classes made from numbers: the counterpart of `unpacking`."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit import vehicle
from navaudit.axes import (
    AX,
    AY,
    HEADING,
    STEERING,
    STEERING_RATE,
    STEPS,
    VX,
    VY,
    YAW_ACCELERATION,
    YAW_RATE,
    X,
    Y,
)
from navaudit.numerics.trig import sincos
from navaudit.scene.scene import BICYCLE, Track, Traffic
from navaudit.world.pickles import Member, Record, Wkb

_UNKNOWN_HEIGHT_M: Final = 0.0

_NUPLAN: Final = "nuplan.planning.simulation"
_ACTOR: Final = "nuplan.common.actor_state"

# nuplan/common/actor_state/vehicle_parameters.py, get_pacifica_parameters
_CAR: Final = Record(
    f"{_ACTOR}.vehicle_parameters.VehicleParameters",
    {
        "width": vehicle.WIDTH_M,
        "front_length": vehicle.FRONT_LENGTH_M,
        "rear_length": vehicle.REAR_LENGTH_M,
        "cog_position_from_rear_axle": 1.67,
        "wheel_base": vehicle.WHEEL_BASE_M,
        "vehicle_name": "pacifica",
        "vehicle_type": "gen1",
        "height": 1.777,
    },
)


def time(time_us: int) -> Record:
    """``TimePoint``."""
    return Record(f"{_ACTOR}.state_representation.TimePoint", {"time_us": time_us})


def pose(x: float, y: float, heading: float) -> Record:
    """``StateSE2``."""
    return Record(f"{_ACTOR}.state_representation.StateSE2", {"heading": heading, "x": x, "y": y})


def vector(x: float, y: float) -> Record:
    """``StateVector2D``."""
    return Record(
        f"{_ACTOR}.state_representation.StateVector2D",
        {"_x": x, "_y": y, "_array": np.array([x, y])},
    )


def ego(time_us: int, state: NDArray[np.float64]) -> Record:
    """``EgoState`` of a state ``[11]`` at the rear axle."""
    row = state.tolist()
    return Record(
        f"{_ACTOR}.ego_state.EgoState",
        {
            "_car_footprint": _footprint(row[X], row[Y], row[HEADING]),
            "_tire_steering_angle": row[STEERING],
            "_is_in_auto_mode": True,
            "_time_point": time(time_us),
            "_dynamic_car_state": Record(
                f"{_ACTOR}.dynamic_car_state.DynamicCarState",
                {
                    "_rear_axle_to_center_dist": vehicle.REAR_AXLE_TO_CENTRE_M,
                    "_angular_velocity": row[YAW_RATE],
                    "_angular_acceleration": row[YAW_ACCELERATION],
                    "_rear_axle_velocity_2d": vector(row[VX], row[VY]),
                    "_rear_axle_acceleration_2d": vector(row[AX], row[AY]),
                    "_tire_steering_rate": row[STEERING_RATE],
                },
            ),
        },
    )


def _footprint(x: float, y: float, heading: float) -> Record:
    sine, cosine = sincos(heading)
    ahead = vehicle.REAR_AXLE_TO_CENTRE_M
    return Record(
        f"{_ACTOR}.car_footprint.CarFootprint",
        {
            "_center": pose(x + ahead * cosine, y + ahead * sine, heading),
            "_length": vehicle.LENGTH_M,
            "_width": vehicle.WIDTH_M,
            "_height": _CAR["height"],
            "_vehicle_parameters": _CAR,
            # kept beside the centre, or stock code would take it back from there and round it
            "rear_axle": pose(x, y, heading),
        },
    )


def trajectory(track: Track) -> Record:
    """``InterpolatedTrajectory`` of ego states."""
    times = track.time_us.tolist()
    return Record(
        f"{_NUPLAN}.trajectory.interpolated_trajectory.InterpolatedTrajectory",
        {"trajectory": [ego(at, row) for at, row in zip(times, track.state, strict=True)]},
    )


def frames(traffic: Traffic, time_us: int) -> list[list[Record]]:
    """``Agent`` and ``StaticObject`` of every step, by type, as stock ``TrackedObjects`` sort."""
    order = np.argsort(traffic.kind, kind="stable")
    return [
        [thing(traffic, step, agent, time_us) for agent in order if traffic.present[step, agent]]
        for step in range(STEPS)
    ]


def thing(traffic: Traffic, step: int, agent: int, time_us: int) -> Record:
    """One ``Agent`` or ``StaticObject`` at one step."""
    x, y, heading, length, width = traffic.box[step, agent].tolist()
    velocity = vector(*traffic.velocity_mps[agent].tolist())
    fields: dict[str, Any] = {
        "_metadata": Record(
            f"{_ACTOR}.scene_object.SceneObjectMetadata",
            {
                "timestamp_us": time_us,
                "token": traffic.token[agent],
                "track_id": None,
                "track_token": traffic.token[agent],
                "category_name": None,
            },
        ),
        "instance_token": None,
        "_tracked_object_type": Member(
            f"{_ACTOR}.tracked_objects_types.TrackedObjectType", int(traffic.kind[agent])
        ),
        "_box": Record(
            f"{_ACTOR}.oriented_box.OrientedBox",
            {
                "_center": pose(x, y, heading),
                "_length": length,
                "_width": width,
                "_height": _UNKNOWN_HEIGHT_M,
                "geometry": _box_shape(x, y, heading, length, width),
            },
        ),
    }
    if traffic.kind[agent] > BICYCLE:
        fields |= {"predictions": None, "past_trajectory": None, "velocity": velocity}
        return Record(f"{_ACTOR}.static_object.StaticObject", fields)
    fields |= {
        "_initial_time_stamp": time(time_us),
        "_predictions": [],
        "_past_trajectory": None,
        "_velocity": velocity,
        "_angular_velocity": None,
    }
    return Record(f"{_ACTOR}.agent.Agent", fields)


def _box_shape(x: float, y: float, heading: float, length: float, width: float) -> Wkb:
    # front left, rear left, rear right, front right, with the lateral direction by a second sine,
    # as in nuplan/common/geometry/transform.py, translate_longitudinally_and_laterally
    sine, cosine = sincos(heading)
    left_sine, left_cosine = sincos(heading + math.pi / 2.0)
    ahead, aside = length / 2.0, width / 2.0
    corners = [
        (x + (lat * left_cosine + lon * cosine), y + (lat * left_sine + lon * sine))
        for lon, lat in ((ahead, aside), (-ahead, aside), (-ahead, -aside), (ahead, -aside))
    ]
    return Wkb(shapely.Polygon(corners).wkb)


def tracks(things: list[Record]) -> Record:
    """``DetectionsTracks`` of one step."""
    return Record(
        f"{_NUPLAN}.observation.observation_type.DetectionsTracks",
        {
            "tracked_objects": Record(
                f"{_ACTOR}.tracked_objects.TrackedObjects", {"tracked_objects": things}
            )
        },
    )
