"""Colours of pictures on light and dark pages, told apart by every kind of eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from navaudit.scene.scene import BICYCLE, PEDESTRIAN, VEHICLE

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Look:
    """One palette; hues are those of Okabe and Ito, and shape tells what hue alone would."""

    page: str
    road: str
    edge: str
    """Edge of the road."""
    crossing: str
    carpark: str
    route: str
    """Lanes of the route."""
    lane_line: str
    centreline: str
    ink: str
    faint: str
    """Text of less weight."""
    candidate: str
    car: str
    """The car where the scene begins."""
    human: str
    reference: str
    failure: str
    red_light: str
    vehicle: str
    pedestrian: str
    bicycle: str
    thing: str

    def of_kind(self, kind: int) -> str:
        """Colour of an agent, by its index in ``AGENT_KINDS``."""
        living = {VEHICLE: self.vehicle, PEDESTRIAN: self.pedestrian, BICYCLE: self.bicycle}
        return living.get(kind, self.thing)


LIGHT: Final = Look(
    page="#ffffff",
    road="#e4e6e9",
    edge="#8d949c",
    crossing="#d6d9de",
    carpark="#eae4d4",
    route="#cfe2f3",
    lane_line="#ffffff",
    centreline="#5b8db8",
    ink="#1b1f24",
    faint="#5d6670",
    candidate="#0060a8",
    car="#0060a8",
    human="#008060",
    reference="#4d4d4d",
    failure="#d14900",
    red_light="#c21f3a",
    vehicle="#77838f",
    pedestrian="#e69f00",
    bicycle="#b8529a",
    thing="#454d55",
)

DARK: Final = Look(
    page="#14181d",
    road="#2b3138",
    edge="#6d7782",
    crossing="#414a55",
    carpark="#3a362b",
    route="#22405c",
    lane_line="#14181d",
    centreline="#6fa8d6",
    ink="#eef1f4",
    faint="#a3adb8",
    candidate="#56b4e9",
    car="#56b4e9",
    human="#1fc79b",
    reference="#c9ccd1",
    failure="#ff7a2e",
    red_light="#ff5c74",
    vehicle="#7c8fa3",
    pedestrian="#f2b632",
    bicycle="#d98bc0",
    thing="#dfe4e9",
)

LOOKS: Final[dict[str, Look]] = {"light": LIGHT, "dark": DARK}
