"""Places: two columns of coordinates as points, on the globe or in a plane, each place once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, meaning_missing, option, parameter, place, spelled, switch
from ._coordinates import said_to_be

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EARTH = 6371.0088  # km, the mean radius
FEW = 0.01  # of the rows: so many outside the globe are mistakes, more are plane coordinates


@dataclass(frozen=True, eq=False)
class Places:
    """Different places in the order of their coordinates, and where each row is.

    Attributes
    ----------
    at : [places, 2]
    codes : [rows], the place of each; -1 where a coordinate is missing
    plane : whether distances are those of a plane, in the unit of the columns; else km on a globe
    notes : how that was decided
    """

    at: Floats
    codes: Integers
    plane: bool
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.at)

    @cached_property
    def points(self) -> Floats:
        """Points whose straight distances are in the order of the distances of the places."""
        if self.plane:
            return self.at
        latitude, longitude = np.radians(self.at.T)
        across = np.cos(latitude)
        parts = across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)
        return np.column_stack(parts)

    def distances(self, straight: Floats) -> Floats:
        """Straight distances of points as those of their places: km along a great circle."""
        if self.plane:
            return straight
        return np.asarray(2.0 * EARTH * np.arcsin(np.clip(straight / 2.0, 0.0, 1.0)))

    @property
    def n_unlinked(self) -> int:
        """Rows without coordinates."""
        return int(np.count_nonzero(self.codes < 0))

    def name(self, number: int, word: str = "place") -> str:
        return f"{word} {', '.join(f'{part:.15g}' for part in self.at[number].tolist())}"


def places_of(
    first: Floats, second: Floats, names: tuple[Any, Any], plane: bool | None, holder: str
) -> Places:
    """The places of the rows.

    Coordinates are latitude and longitude unless `plane` says otherwise, or so many lie beyond
    90 and 360 degrees that they cannot be; a few that do are refused.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        raise InputError(
            f"No row of {holder} has both coordinates, {names[0]!r} and {names[1]!r}: name the "
            f"right columns with {option('near')}."
        )
    notes: tuple[str, ...] = ()
    if plane is None and (said_to_be(names[0]), said_to_be(names[1])) == ("latitude", "longitude"):
        plane = False
    if plane is None:
        plane, notes = _seem_plane(first, second, known, names, holder)
    at = np.column_stack([first[known], second[known]]) + 0.0  # -0.0 is 0.0
    if not plane:
        _check_on_globe(first, second, known, names, holder)
        at[:, 1] = (at[:, 1] + 180.0) % 360.0 - 180.0
        at[np.abs(at[:, 0]) == 90.0, 1] = 0.0  # all meridians meet there
    order = np.lexsort((at[:, 1], at[:, 0]))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (at[order[1:]] != at[order[:-1]]).any(axis=1)
    codes = np.full(len(first), -1, dtype=np.int64)
    codes[np.flatnonzero(known)[order]] = np.cumsum(new) - 1
    return Places(at[order[new]], codes, bool(plane), notes)


def _outside(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Rows that cannot be degrees of latitude and longitude."""
    return (np.abs(first) > 90.0) | (second < -180.0) | (second > 360.0)


def _seem_plane(
    first: Floats, second: Floats, known: NDArray[np.bool_], names: tuple[Any, Any], holder: str
) -> tuple[bool, tuple[str, ...]]:
    """Whether coordinates are plane ones, and the sentence that says so."""
    outside = _outside(first, second) & known
    swapped = not _outside(second[known], first[known]).any() and np.abs(second[known]).max() <= 90
    if outside.sum() <= FEW * known.sum() or (swapped and np.abs(first[known]).max() <= 180):
        return False, ()
    row = int(np.argmax(outside))
    where = f"({names[0]!r} {first[row]:.15g}, {names[1]!r} {second[row]:.15g})"
    return True, (
        f"The cells {where} in {place(row)} lie beyond 90 or 180 degrees: the coordinates of "
        f"{holder} are taken as those of a plane ({switch('plane')} says so).",
    )


def _check_on_globe(
    first: Floats, second: Floats, known: NDArray[np.bool_], names: tuple[Any, Any], holder: str
) -> None:
    """Refuse latitudes and longitudes that are none."""
    outside = _outside(first, second) & known
    if not outside.any():
        return
    many = outside.sum() > FEW * known.sum()
    if many and not _outside(second[known], first[known]).any():
        raise InputError(
            f"Column {names[0]!r} of {holder} goes beyond 90 degrees, as longitudes do: name the "
            f"latitude first in {option('near')}, or pass {switch('plane')} for plane coordinates."
        )
    row = int(np.argmax(outside))
    wrong = 0 if abs(first[row]) > 90.0 else 1
    value = (first, second)[wrong][row]
    marker = meaning_missing(f"{value:.15g}")
    raise InputError(
        f"Column {names[wrong]!r} of {holder} holds {value:.15g} in {place(row)}, which is no "
        f"{('latitude', 'longitude')[wrong]}: correct or empty that cell"
        f"{spelled('', f', pass {marker} if it means missing')}, or pass {switch('plane')} if "
        f"{parameter('near')} names plane coordinates."
    )
