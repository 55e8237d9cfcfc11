r"""Rows that are one place at one moment each: linked along time, and across places.

The graph is the product of a graph of places and a line of moments. Along time, a row is linked to
the next `reach` rows of its place, with weights that fall with the gap between them,

.. math:: w = \mathrm{step} / \mathrm{gap},

step being the usual gap: so that over an irregular gap less is passed on. Across places, a row is
linked to the rows of the nearest places that are nearest in time, within half a step; without
coordinates, to a node for the moment, which all places share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, check_number, option
from ..errors import place as at_row
from ._near import Pairs
from ._relation import Relation, relation_of

LONGEST = 50  # a stretch is at most so small a part of all rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Series:
    """Rows in the order of their place and moment.

    Attributes
    ----------
    order : rows that have both, by place and moment
    place : [order], the place of each
    moment : [order], in steps from the first
    step : the usual gap between two rows of a place
    n_rows : of the table
    """

    order: Integers
    place: Integers
    moment: Floats
    step: float
    n_rows: int

    @property
    def n_unlinked(self) -> int:
        return self.n_rows - len(self.order)


def series_of(place: Integers, when: Floats, name: Any, holder: str) -> Series:
    """Cut the rows into series, one for each place.

    Parameters
    ----------
    place : [rows], -1 where it is missing
    when : [rows], NaN where it is missing
    """
    n_rows = len(when)
    rows = np.flatnonzero((place >= 0) & ~np.isnan(when))
    if not len(rows):
        raise InputError(
            f"No row of {holder} has a moment in column {name!r}: name the right column with "
            f"{option('time')}."
        )
    order = rows[np.lexsort((when[rows], place[rows]))]
    place, when = place[order], when[order]
    gap, together = np.diff(when), np.diff(place) == 0
    twice = np.flatnonzero((gap == 0) & together)
    if len(twice):
        first, second = map(at_row, sorted(order[twice[0] : twice[0] + 2].tolist()))
        raise InputError(
            f"In {holder}, {first} and {second} are of one place at one moment ({name!r}): "
            f"keep one row per place and moment, or tell places apart with {option('same')}."
        )
    gaps = gap[together]
    step = float(np.median(gaps)) if len(gaps) else 1.0
    return Series(order, place, (when - when.min()) / step, step, n_rows)


def along_time(series: Series, name: Any, reach: int = 1) -> Relation:
    """Each row linked to the next rows of its place."""
    check_number("reach", reach, low=1, integer=True)
    source, target, weights = [], [], []
    for ahead in range(1, reach + 1):
        together = series.place[ahead:] == series.place[:-ahead]
        source.append(series.order[:-ahead][together])
        target.append(series.order[ahead:][together])
        weights.append(1.0 / (series.moment[ahead:] - series.moment[:-ahead])[together])
    ends = np.concatenate(source), np.concatenate(target)
    return relation_of(
        f"along {name!r}",
        ends,
        np.concatenate(weights),
        series.n_rows,
        n_unlinked=series.n_unlinked,
    )


def across_places(series: Series, pairs: Pairs, names: tuple[Any, Any]) -> Relation:
    """Each row linked to the rows of near places that are nearest to it in time."""
    n_places = int(max(series.place.max(), pairs.source.max(initial=0))) + 1
    by_place = np.argsort(pairs.source, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(pairs.source, minlength=n_places))])
    width = np.diff(start)
    span = series.moment.max() + 2.0
    keys = series.place * span + series.moment
    source, target, weights = [], [], []
    for nth in range(int(width.max(initial=0))):  # the nth neighbour of every row's place
        rows = np.flatnonzero(width[series.place] > nth)
        pair = by_place[start[series.place[rows]] + nth]
        asked = pairs.target[pair] * span + series.moment[rows]
        after = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.abs(keys[before] - asked) < np.abs(keys[after] - asked)
        found = np.where(nearer, before, after)
        same_time = np.abs(series.moment[found] - series.moment[rows]) <= 0.5
        kept = same_time & (series.place[found] == pairs.target[pair])
        source.append(series.order[rows[kept]])
        target.append(series.order[found[kept]])
        weights.append(pairs.weight[pair[kept]])
    empty = np.empty(0, dtype=np.int64)
    ends = np.concatenate([empty, *source]), np.concatenate([empty, *target])
    name = f"by nearness in {names[0]!r}, {names[1]!r} at one time"
    return relation_of(name, ends, np.concatenate([np.empty(0), *weights]), series.n_rows)


def same_moment(series: Series, name: Any) -> Relation:
    """Rows of one moment, whatever their place, linked through a node for it."""
    moments, codes = np.unique(np.floor(series.moment + 0.5), return_inverse=True)
    own = [f"{name}: moment {moment:.15g}" for moment in moments]
    ends = series.order, series.n_rows + codes.astype(np.int64)
    return relation_of(f"by equal {name!r}", ends, None, series.n_rows, own)


def stretches(series: Series, missing: NDArray[np.bool_]) -> Integers:
    """A number for each row, equal in stretches of a series that are as long as its gaps are.

    Cells that are hidden by stretches are missing as those are that truly are: the lengths are
    drawn from those of the gaps. Rows without a place or moment stand alone.

    Parameters
    ----------
    missing : [rows, columns]
    """
    n = len(series.order)
    first = np.ones(n, dtype=bool)
    first[1:] = np.diff(series.place) != 0
    sizes = []
    for gone in missing[series.order].T:
        starts = gone & (first | ~np.concatenate([[False], gone[:-1]]))
        sizes.append(np.bincount(np.cumsum(starts)[gone])[1:])
    lengths = np.minimum(np.sort(np.concatenate(sizes)), max(1, n // LONGEST))
    labels = np.arange(series.n_rows, dtype=np.int64) + n
    if not len(lengths):
        return labels
    drawn = np.random.default_rng(0).choice(lengths, size=n)
    drawn = drawn[: int(np.searchsorted(np.cumsum(drawn), n)) + 1]
    stretch = np.repeat(np.arange(len(drawn)), drawn)[:n]
    labels[series.order] = np.cumsum(first | (np.diff(stretch, prepend=-1) != 0)) - 1
    return labels
