"""A `Scene` as named flat arrays, and back without a copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.numerics.polygons import Polygons
from navaudit.scene.scene import Ground, Lights, Scene, Track, Traffic

Array = NDArray[Any]

DTYPES: Final = ("<f8", "<i8", "|i1", "|u1", "|b1")
"""All that arrays of a scene consist of."""

# texts may hold lone surrogates, as pickles may
_SURROGATES: Final = "surrogatepass"


def arrays_of(scene: Scene) -> dict[str, Array]:
    """Return everything in a scene as little-endian, C-ordered arrays by dotted name."""
    traffic, lights, ground = scene.traffic, scene.lights, scene.ground
    arrays: dict[str, Array] = {
        **texts_of("name", (scene.token, scene.log, scene.location)),
        "time_us": np.array(scene.time_us, np.int64),
        "ego": scene.ego,
        **texts_of("traffic.token", traffic.token),
        "traffic.kind": traffic.kind,
        "traffic.box": traffic.box,
        "traffic.present": traffic.present,
        "traffic.velocity_mps": traffic.velocity_mps,
        **texts_of("lights.connector", lights.connector),
        **_polygons("lights.polygons", lights.polygons),
        "lights.red": lights.red,
        **texts_of("ground.id", ground.id),
        "ground.kind": ground.kind,
        **_polygons("ground.polygons", ground.polygons),
        "ground.on_route": ground.on_route,
        **texts_of("route_lane", scene.route_lane),
        "centreline": scene.centreline,
        "past.time_us": scene.past.time_us,
        "past.state": scene.past.state,
        "reference.time_us": scene.reference.time_us,
        "reference.state": scene.reference.state,
    }
    if scene.human is not None:
        arrays["human"] = scene.human
    return {name: _little(array) for name, array in arrays.items()}


def scene_from(arrays: Mapping[str, Array]) -> Scene:
    """Return the scene of these arrays; read-only ones are kept as they are."""
    token, log, location = read_texts(arrays, "name")
    return Scene(
        token=token,
        log=log,
        location=location,
        time_us=int(arrays["time_us"]),
        ego=arrays["ego"],
        traffic=Traffic(
            read_texts(arrays, "traffic.token"),
            arrays["traffic.kind"],
            arrays["traffic.box"],
            arrays["traffic.present"],
            arrays["traffic.velocity_mps"],
        ),
        lights=Lights(
            read_texts(arrays, "lights.connector"),
            _read_polygons(arrays, "lights.polygons"),
            arrays["lights.red"],
        ),
        ground=Ground(
            read_texts(arrays, "ground.id"),
            arrays["ground.kind"],
            _read_polygons(arrays, "ground.polygons"),
            arrays["ground.on_route"],
        ),
        route_lane=read_texts(arrays, "route_lane"),
        centreline=arrays["centreline"],
        human=arrays.get("human"),
        past=Track(arrays["past.time_us"], arrays["past.state"]),
        reference=Track(arrays["reference.time_us"], arrays["reference.state"]),
    )


def _little(array: Array) -> Array:
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def texts_of(name: str, texts: Iterable[str]) -> dict[str, Array]:
    """Return texts as two arrays: their bytes in UTF-8, and where each ends."""
    encoded = [text.encode("utf-8", _SURROGATES) for text in texts]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {f"{name}.text": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.end": ends}


def read_texts(arrays: Mapping[str, Array], name: str) -> tuple[str, ...]:
    """Return the texts that `texts_of` made arrays of."""
    text = arrays[f"{name}.text"].tobytes()
    ends = arrays[f"{name}.end"].tolist()
    starts = [0, *ends[:-1]]
    return tuple(
        text[start:end].decode("utf-8", _SURROGATES)
        for start, end in zip(starts, ends, strict=False)
    )


def _polygons(name: str, polygons: Polygons) -> dict[str, Array]:
    return {
        f"{name}.xy": polygons.xy,
        f"{name}.ring_start": polygons.ring_start,
        f"{name}.polygon_ring": polygons.polygon_ring,
        f"{name}.ring_is_hole": polygons.ring_is_hole,
    }


def _read_polygons(arrays: Mapping[str, Array], name: str) -> Polygons:
    return Polygons(
        arrays[f"{name}.xy"],
        arrays[f"{name}.ring_start"],
        arrays[f"{name}.polygon_ring"],
        arrays[f"{name}.ring_is_hole"],
    )
