"""Columns that hold places on earth, recognised by their names and ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LATITUDE = {"lat", "latitude", "intptlat"}
LONGITUDE = {"lon", "lng", "long", "longitude", "intptlon", "intptlong"}


def find_coordinates(
    names: Sequence[str], values: Callable[[str], Floats]
) -> tuple[str, str] | None:
    """The first columns of latitude and longitude whose names are alike but for that word.

    >>> find_coordinates(["stopLat", "lon", "stopLon"], lambda name: np.array([10.0, 20.0]))
    ('stopLat', 'stopLon')
    """
    longitudes = {rest: name for name in reversed(names) for rest in _without(name, LONGITUDE)}
    for name in names:
        for rest in _without(name, LATITUDE):
            other = longitudes.get(rest)
            if other is None or not _within(values(name), -90, 90):
                continue
            if _within(values(other), -180, 360):
                return name, other
    return None


def said_to_be(name: object) -> str:
    """What the name of a column says that it holds: "latitude", "longitude" or "".

    >>> [said_to_be(name) for name in ("stopLat", "LNG", "x")]
    ['latitude', 'longitude', '']
    """
    if _without(str(name), LATITUDE):
        return "latitude"
    return "longitude" if _without(str(name), LONGITUDE) else ""


def flat(latitude: Floats, longitude: Floats) -> tuple[Floats, Floats]:
    """Places on a plane, a degree as long in both directions at the middle: x and y from 0 to 1.

    Places on both sides of the date line stay together where they then take less room.

    >>> [part.round(3).tolist() for part in flat(np.array([0.0, 0.0]), np.array([-179.0, 179.0]))]
    [[1.0, 0.0], [0.5, 0.5]]
    """
    around = np.where(longitude < 0, longitude + 360, longitude)
    if np.nanmax(around) - np.nanmin(around) < np.nanmax(longitude) - np.nanmin(longitude):
        longitude = around
    middle = (np.nanmin(latitude) + np.nanmax(latitude)) / 2
    x, y = longitude * max(np.cos(np.radians(middle)), 0.1), latitude
    size = max(np.nanmax(x) - np.nanmin(x), np.nanmax(y) - np.nanmin(y)) or 1.0
    centred = [(part - (np.nanmin(part) + np.nanmax(part)) / 2) / size + 0.5 for part in (x, y)]
    return centred[0], centred[1]


def _without(name: str, words: set[str]) -> list[tuple[str, ...]]:
    """The other words of a name that has one of `words`."""
    parts = re.findall("[a-z]+|[0-9]+", re.sub("([a-z])([A-Z])", r"\1 \2", str(name)).lower())
    found = [place for place, part in enumerate(parts) if part in words]
    return [(*parts[:place], *parts[place + 1 :]) for place in found[:1]]


def _within(values: Floats, low: float, high: float) -> bool:
    known = values[np.isfinite(values)]
    return len(known) > 1 and bool((known >= low).all() and (known <= high).all())
