"""The names that may stand in a pickle, and the stand-ins they become.

Each table maps ``(module, name)`` to a `Named`.  A foreign class becomes a `Record` in one of
three ways, by how its instances pickle: by a state dictionary, by slots (a state too), or by the
arguments of its constructor, whose names are given here.  An enumeration becomes a `Member`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from navaudit.errors import BadInput, Refused
from navaudit.world.pickles.arrays import (
    NDARRAY,
    make_blank,
    make_bytes,
    make_dtype,
    make_scalar,
    make_view,
)
from navaudit.world.pickles.budget import Budget
from navaudit.world.pickles.values import Member, Named, Record, Wkb

Names = Mapping[tuple[str, str], Named]

_SHORT_PARTS: Final = 64


def _table(*entries: Named) -> Names:
    return MappingProxyType({(named.module, named.attribute): named for named in entries})


def _record(module: str, attribute: str, slotted: bool = False) -> Named:
    name = f"{module}.{attribute}"
    return Named(module, attribute, blank=lambda: Record(name), slotted=slotted)


def _by_state(module: str, *attributes: str) -> tuple[Named, ...]:
    return tuple(_record(module, attribute) for attribute in attributes)


def _by_slots(module: str, *attributes: str) -> tuple[Named, ...]:
    return tuple(_record(module, attribute, slotted=True) for attribute in attributes)


def _by_arguments(module: str, attribute: str, *parameters: str) -> Named:
    name = f"{module}.{attribute}"

    def call(_: Budget, *arguments: object) -> Record:
        if len(arguments) != len(parameters):
            raise BadInput(
                f"{name} is made of {len(arguments)} arguments", expected=", ".join(parameters)
            )
        return Record(name, dict(zip(parameters, arguments, strict=True)))

    return Named(module, attribute, call, parameters=parameters)


def _enumeration(module: str, attribute: str, count: int) -> Named:
    name = f"{module}.{attribute}"
    members = tuple(Member(name, value) for value in range(count))

    def call(_: Budget, value: object) -> Member:
        if type(value) is not int or not 0 <= value < count:
            raise BadInput(f"{name} has no member {value!r:.40}", expected=f"0 to {count - 1}")
        return members[value]

    return Named(module, attribute, call)


def _path(budget: Budget, *parts: object) -> PurePosixPath:
    if len(parts) > _SHORT_PARTS or not all(type(part) is str for part in parts):
        raise BadInput("a path is not made of text")
    budget.spend(sum(map(len, parts)))  # type: ignore[arg-type]
    return PurePosixPath(*parts)  # type: ignore[arg-type]


def _wkb(budget: Budget, content: object) -> Wkb:
    if type(content) is not bytes:
        raise BadInput("a geometry is not stored as bytes")
    budget.spend(len(content))
    return Wkb(content)


def _plain_bytes(budget: Budget, content: object = b"") -> bytes:
    if type(content) is not bytes:
        raise BadInput("a bytearray is not stored as bytes")
    budget.spend(len(content))
    return content


def _no_pairs(_: Budget) -> dict[str, Any]:
    return {}


def _flat_set(make: type[set[Any]] | type[frozenset[Any]], budget: Budget, items: object) -> Any:
    if type(items) is not list:
        raise BadInput("a set is not made of a list")
    budget.spend(8 * len(items))
    for item in items:
        expect_key(item)
    return make(items)


def expect_key(key: object) -> None:
    """Refuse a dictionary key or set member that is not short, flat and well spread.

    Containers would be hashed to any depth, and numbers beyond 2**60 can be made to collide.
    """
    kind = type(key)
    if kind is str or kind is bytes or kind is bool or kind is Member or key is None:
        return
    if kind is int and -(1 << 60) < key < 1 << 60:  # type: ignore[operator]
        return
    raise BadInput(f"a key is {kind.__name__}", expected="text, or a small whole number")


OBJECT: Final = Named("builtins", "object")
"""Stands for the base class where ``_reconstructor`` is told what to make."""


def _reconstructor(_: Budget, cls: object, base: object, state: object) -> Any:
    # how protocols 0 and 1 write an instance whose state follows
    if type(cls) is not Named or cls.blank is None or base is not OBJECT or state is not None:
        raise Refused("asks copyreg._reconstructor for something else than a known record")
    return cls.blank()


def _builtins(module: str) -> tuple[Named, ...]:
    return (
        Named(module, "set", partial(_flat_set, set)),
        Named(module, "frozenset", partial(_flat_set, frozenset)),
        Named(module, "bytearray", _plain_bytes),
        Named(module, "bytes", _plain_bytes),
    )


def _arrays(core: str) -> tuple[Named, ...]:
    return (
        Named(f"{core}.multiarray", "_reconstruct", make_blank),
        Named(f"{core}.multiarray", "scalar", make_scalar),
        Named(f"{core}.numeric", "_frombuffer", make_view),
    )


PLAIN_NAMES: Final[Names] = MappingProxyType({
    # protocols up to 2 use the names of Python 2
    ("__builtin__", "object"): OBJECT,
    **_table(
        OBJECT,
        NDARRAY,
        Named("numpy", "dtype", make_dtype),
        *_arrays("numpy.core"),
        *_arrays("numpy._core"),
        *_builtins("builtins"),
        *_builtins("__builtin__"),
        Named("_codecs", "encode", make_bytes),
        Named("collections", "OrderedDict", _no_pairs),
        Named("copyreg", "_reconstructor", _reconstructor),
        Named("copy_reg", "_reconstructor", _reconstructor),
        Named("pathlib", "PosixPath", _path),
        Named("pathlib", "PurePosixPath", _path),
        Named("pathlib._local", "PosixPath", _path),
        Named("pathlib._local", "PurePosixPath", _path),
    ),
})  # fmt: skip
"""Arrays, scalars, sets, paths: what any file may hold."""

QUATERNION_NAMES: Final = _table(_record("pyquaternion.quaternion", "Quaternion"))
"""Rotations, as some logs hold them."""

_NAVSIM: Final = "navsim.planning"
_PDM: Final = "navsim.planning.simulation.planner.pdm_planner"
_NUPLAN: Final = "nuplan.planning.simulation"
_STATE: Final = "nuplan.common.actor_state"

POSE_NAMES: Final = _table(
    _record("navsim.common.dataclasses", "Trajectory"),
    _record(f"{_NUPLAN}.trajectory.trajectory_sampling", "TrajectorySampling"),
)
"""Planned trajectories, as agents hand them in."""

CACHE_NAMES: Final[Names] = MappingProxyType({
    **POSE_NAMES,
    **_table(
        *_by_state(f"{_NAVSIM}.metric_caching.metric_cache", "MetricCache", "MapParameters"),
        _enumeration("navsim.common.enums", "SceneFrameType", 2),
        *_by_slots(
            f"{_STATE}.state_representation",
            "TimePoint", "Point2D", "StateSE2", "StateVector2D",
        ),
        _record(f"{_STATE}.ego_state", "EgoState"),
        _record(f"{_STATE}.car_footprint", "CarFootprint"),
        *_by_state(f"{_STATE}.oriented_box", "OrientedBox", "Dimension"),
        _record(f"{_STATE}.dynamic_car_state", "DynamicCarState"),
        _record(f"{_STATE}.waypoint", "Waypoint"),
        _record(f"{_STATE}.agent", "Agent"),
        _record(f"{_STATE}.agent_state", "AgentState"),
        _record(f"{_STATE}.static_object", "StaticObject"),
        *_by_state(f"{_STATE}.scene_object", "SceneObject", "SceneObjectMetadata"),
        _record(f"{_STATE}.tracked_objects", "TrackedObjects"),
        _enumeration(f"{_STATE}.tracked_objects_types", "TrackedObjectType", 8),
        _by_arguments(
            f"{_STATE}.vehicle_parameters", "VehicleParameters",
            "width", "front_length", "rear_length", "cog_position_from_rear_axle",
            "wheel_base", "vehicle_name", "vehicle_type", "height",
        ),
        _record(f"{_NUPLAN}.observation.observation_type", "DetectionsTracks"),
        _by_arguments(
            f"{_NUPLAN}.trajectory.interpolated_trajectory", "InterpolatedTrajectory", "trajectory"
        ),
        _enumeration("nuplan.common.maps.maps_datatypes", "SemanticMapLayer", 19),
        _record(f"{_PDM}.observation.pdm_observation", "PDMObservation"),
        _by_arguments(
            f"{_PDM}.observation.pdm_occupancy_map", "PDMOccupancyMap",
            "tokens", "geometries", "node_capacity",
        ),
        _by_arguments(
            f"{_PDM}.observation.pdm_occupancy_map", "PDMDrivableMap",
            "tokens", "map_types", "geometries", "node_capacity",
        ),
        _by_arguments(f"{_PDM}.utils.pdm_path", "PDMPath", "discrete_path"),
        Named("shapely.io", "from_wkb", _wkb),
        Named("shapely", "from_wkb", _wkb),
    ),
})  # fmt: skip
"""The classes of a NAVSIM metric cache."""
