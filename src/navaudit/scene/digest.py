"""What a scene is, to the bit: one digest per field, and one over all of them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from navaudit.numerics.polygons import Polygons
from navaudit.provenance import digest_arrays
from navaudit.scene.scene import Scene, Track


def digest_fields(scene: Scene) -> dict[str, str]:
    """SHA-256 of every field, in a fixed order, by its dotted name.

    Two ways of building the same scene can be told apart field by field.  All NaNs count as one
    value, since only absence is told by them; signs of zeros count.
    """
    traffic, lights, ground = scene.traffic, scene.lights, scene.ground
    parts: dict[str, Any] = {
        "token": scene.token,
        "log": scene.log,
        "location": scene.location,
        "time_us": np.int64(scene.time_us),
        "ego": scene.ego,
        "traffic.token": traffic.token,
        "traffic.kind": traffic.kind,
        "traffic.box": traffic.box,
        "traffic.present": traffic.present,
        "traffic.velocity_mps": traffic.velocity_mps,
        "lights.connector": lights.connector,
        "lights.polygons": lights.polygons,
        "lights.red": lights.red,
        "ground.id": ground.id,
        "ground.kind": ground.kind,
        "ground.polygons": ground.polygons,
        "ground.on_route": ground.on_route,
        "route_lane": scene.route_lane,
        "centreline": scene.centreline,
        "human": scene.human,
        "past": scene.past,
        "reference": scene.reference,
    }
    return {name: _digest(part) for name, part in parts.items()}


def digest(scene: Scene) -> str:
    """SHA-256 over all fields."""
    lines = (f"{name} {value}\n" for name, value in digest_fields(scene).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def differing_fields(one: Scene, other: Scene) -> list[str]:
    """Names of the fields in which two scenes are not the same bits."""
    theirs = digest_fields(other)
    return [name for name, value in digest_fields(one).items() if theirs[name] != value]


def _digest(part: Any) -> str:
    if part is None:
        return "none"
    if isinstance(part, str):
        return hashlib.sha256(b"text" + part.encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(part, tuple):
        names = "".join(f"{len(name.encode('utf-8', 'surrogatepass'))}:{name}," for name in part)
        return hashlib.sha256(b"names" + names.encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(part, Polygons):
        rings = (part.xy, part.ring_start, part.polygon_ring, part.ring_is_hole)
        return digest_arrays(map(_one_nan, rings))
    if isinstance(part, Track):
        return digest_arrays(map(_one_nan, (part.time_us, part.state)))
    return digest_arrays([_one_nan(part)])


def _one_nan(array: Any) -> Any:
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
