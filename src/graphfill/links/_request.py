"""What was asked for, read from the table once: relations for any settings, to choose among."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, option
from ._alike import features, like_relation
from ._cells import keys, moments, numbers
from ._coordinates import said_to_be
from ._keys import same_relation
from ._near import near_relation, nearest_places
from ._options import LinkOptions
from ._places import Places, places_of
from ._relation import Relation
from ._time import Series, across_places, along_time, same_moment, series_of, stretches

if TYPE_CHECKING:
    import narwhals as nw

Settings = Mapping[str, Any]

NEAREST, SCALE, REACH = 16, 0.2, 1  # unless chosen or named
LARGE = 200_000  # rows, from which on fewer neighbours are looked for
NEAREST_OF_LARGE, SCALE_OF_LARGE = 8, 0.4
# Of scales of 16 neighbours; the same reach with more or fewer of them.
SCALES = (0.2, 0.1, 0.4)
OTHERS = ((8, 2.0), (32, 0.5))
REACHES = (1, 3)


@dataclass(frozen=True, eq=False)
class Request:
    """The columns that link the rows, and the links for some settings of them.

    Settings are "near" and "like", each (k, scale), and "reach".
    """

    options: LinkOptions
    n_rows: int
    places: Places | None = None
    series: Series | None = None
    key: Relation | None = None  # of moments, where places are keys
    same: tuple[Relation, ...] = ()
    alike: NDArray[np.float64] | None = None
    _made: dict[tuple[str, Any], list[Relation]] = field(default_factory=dict)

    @cached_property
    def usual(self) -> dict[str, Any]:
        """The settings to begin with."""
        large = self.n_rows >= LARGE and self.series is None
        k, scale = (NEAREST_OF_LARGE, SCALE_OF_LARGE) if large else (NEAREST, SCALE)
        named = self.options.nearest
        pair = (k, scale) if named is None else (named, scale * k / named)
        found: dict[str, Any] = {}
        if self.places is not None:
            found["near"] = pair
        if self.alike is not None:
            found["like"] = pair
        if self.series is not None:
            found["reach"] = REACH
        return found

    def rounds(self) -> list[tuple[str, Callable[[Any], list[Any]]]]:
        """What to try in turn: the name of a setting, and the values beside the best so far."""
        steps: list[tuple[str, Callable[[Any], list[Any]]]] = []
        for name in ("near", "like"):
            if name in self.usual:
                k, scale = self.usual[name]
                others = [(k, scale * other / SCALES[0]) for other in SCALES[1:]]
                steps.append((name, partial(_whatever, others)))
                if self.options.nearest is None and self.n_rows < LARGE:
                    steps.append((name, _other_counts))
        if self.series is not None:
            steps.append(("reach", partial(_whatever, list(REACHES[1:]))))
        return steps

    def relations(self, settings: Settings) -> list[Relation]:
        """The links of every kind."""
        found: list[Relation] = []
        if self.places is not None:
            found += self._kept("near", settings["near"], self._near)
        if self.key is not None:
            found.append(self.key)
        if self.series is not None:
            found += self._kept("reach", settings["reach"], self._along)
        found += self.same
        if self.alike is not None:
            found += self._kept("like", settings["like"], self._like)
        return found

    def _kept(self, part: str, value: Any, make: Callable[[Any], Relation]) -> list[Relation]:
        if (part, value) not in self._made:
            for other in [other for other in self._made if other[0] == part][:-1]:
                del self._made[other]  # one besides the best: they are large
            self._made[part, value] = [make(value)]
        return self._made[part, value]

    def _near(self, value: tuple[int, float]) -> Relation:
        assert self.places is not None
        assert self.options.near is not None
        names = (self.options.near[0], self.options.near[1])
        if self.series is None:
            return near_relation(self.places, names, *value, join=self.options.join)
        return across_places(self.series, nearest_places(self.places, *value), names)

    def _along(self, reach: int) -> Relation:
        assert self.series is not None
        return along_time(self.series, self.options.time, reach)

    def _like(self, value: tuple[int, float]) -> Relation:
        assert self.alike is not None
        return like_relation(self.alike, self.options.like, *value)

    def hidden_together(self, missing: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """Of series: which rows to hide together, so that gaps are as those that there are."""
        return None if self.series is None else stretches(self.series, missing)


def _whatever(others: list[Any], best: Any) -> list[Any]:
    """The same values to try, whatever is best so far."""
    return others


def _other_counts(best: tuple[int, float]) -> list[tuple[int, float]]:
    """Fewer and more neighbours, with weights that fall as fast."""
    k, scale = best
    return [(round(k * share / NEAREST), scale * factor) for share, factor in OTHERS]


def open_request(
    frame: nw.DataFrame[Any], options: LinkOptions, holder: str = "the table"
) -> Request:
    """Read the columns that link the rows; refuse what cannot."""
    near, when, same = options.near, options.time, list(options.same)
    places = key = series = None
    if near is not None:
        if (said_to_be(near[0]), said_to_be(near[1])) == ("longitude", "latitude"):
            near = (near[1], near[0])
        first, second = (numbers(frame, name, "near", holder) for name in near)
        places = places_of(first, second, (near[0], near[1]), options.plane, holder)
    if when is not None:
        ticks = moments(frame, when, holder)
        if places is not None:
            place = places.codes
        elif same:
            if len(same) > 1:
                raise InputError(
                    f"With {option('time')} and without {option('near')}, {option('same')} names "
                    f"the place of each row, but it names {len(same)} columns: name one."
                )
            place = keys(frame, same.pop(), holder)[0]
        else:
            place = np.zeros(len(frame), dtype=np.int64)
        series = series_of(place, ticks, when, holder)
        if places is None and place.max() > 0:
            key = same_moment(series, when)
    return Request(
        options,
        len(frame),
        places,
        series,
        key,
        tuple(same_relation(*keys(frame, name, holder), name) for name in same),
        features(frame, options.like, holder) if options.like else None,
    )
