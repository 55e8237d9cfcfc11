"""What to fill of a table and how, as one object: checked when it is made, and passed on whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError, check_choice, option, parameter, spelled
from ..links import LinkOptions
from ..trust import FillOptions

# Words in the name of a column that say: the larger, the farther.
DISTANCES = {
    "distance", "distances", "dist", "metres", "meters", "km", "kilometres", "kilometers", "miles",
    "length", "duration", "minutes", "seconds", "hours",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of :func:`graphfill.impute`, where each is described.

    Examples
    --------
    >>> TableOptions(missing="unknown").missing
    ['unknown']
    """

    id: Any = None
    source: Any = None
    target: Any = None
    weight: Any = None
    weight_means: str | None = None  # "weight" or "distance"
    links: LinkOptions | None = None  # beside the edges, or in their place
    columns: Sequence[Any] | None = None
    exclude: Sequence[Any] = ()
    types: Mapping[Any, str] = field(default_factory=dict)
    missing: Sequence[Any] = ()
    values: Sequence[Any] = ()  # that often mean missing, and do not here
    mark: bool = False
    add_bounds: bool = True  # False: bounds are made for the summary alone
    details: bool = False  # add what a report shows of each column to its summary
    fill: FillOptions = field(default_factory=FillOptions)

    def __post_init__(self) -> None:
        for name in ("missing", "values", "columns", "exclude"):
            given = getattr(self, name)
            alone = isinstance(given, str) or not isinstance(given, Iterable)
            if alone and given is not None:
                object.__setattr__(self, name, [given])  # one word, not its letters
        object.__setattr__(self, "types", dict(self.types or {}))
        self._check_weight()
        if not self.links:
            object.__setattr__(self, "links", None)
        for name in self.columns or ():
            if self.links and name in self.links.columns:
                raise InputError(
                    f"Column {name!r} cannot be filled by links that are made from it: leave it "
                    f"out of {option('columns')}, or link rows by other columns."
                )
        for name in self.columns or ():
            if name in self.exclude:
                raise InputError(
                    f"Column {name!r} is named both in {option('columns')} and in "
                    f"{option('exclude')}: name it in one of them."
                )

    def _check_weight(self) -> None:
        """Ask what a weight means whose name says that the larger it is, the less it links."""
        if self.weight_means is not None:
            check_choice(parameter("weight_means"), self.weight_means, ("weight", "distance"))
            if self.weight is None:
                raise InputError(
                    f"{parameter('weight_means')} says what the weights mean, but none are named: "
                    f"name their column with {option('weight')}."
                )
        words = re.split(r"[^a-z]+", str(self.weight).lower())
        if self.weight is not None and self.weight_means is None and DISTANCES & set(words):
            distance, plain = (
                spelled(f"weight_means={word!r}", f"--weight-means {word}")
                for word in ("distance", "weight")
            )
            raise InputError(
                f"The weight {self.weight!r} sounds like a distance, but edges of larger weight "
                f"count more: pass {distance} if nearer is to count more, or {plain}."
            )

    def settings(self) -> dict[str, Any]:
        """What a result says of how it was made."""
        fill = self.fill
        names = (
            "method",
            "effort",
            "reliance",
            "intervals",
            "scores",
            "draws",
            "unreached",
            "seed",
        )
        solving = ("normalization", "solver", "n_iter", "tol", "shrinkage", "threads")
        return {name: getattr(fill, name) for name in names} | {
            name: getattr(fill.propagation, name) for name in solving
        }


def plain_kinds(types: Mapping[Any, str]) -> dict[Any, str]:
    """Kinds of columns without how their dates are written, which matters to the reader alone.

    Examples
    --------
    >>> plain_kinds({"born": "date:%d/%m/%Y"})
    {'born': 'date'}
    """
    return {
        name: kind if kind.startswith(("number:", "integer:")) else kind.partition(":")[0]
        for name, kind in types.items()
    }


@dataclass(frozen=True)
class Naming:
    """What messages call the two tables and the places in them."""

    table: str = "the table"
    edges: str = "the edges"
    row: Callable[[int], str] = "row {}".format
    edge_row: Callable[[int], str] = "row {}".format
    cell_row: Callable[[int], str] | None = None  # where the table is not mentioned besides


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a table and its edges come from, as far as reading them matters to filling.

    Attributes
    ----------
    naming : what messages call them
    left_alone : why a column is not to be filled, where its cells do not show it
    texts, edge_texts : the text of columns that came without types
    originals, edge_originals : columns as they stood, texts that mean missing included
    by_position : whether rows may go by number where no column holds ids
    decimal : the decimal mark of the file, where that is known
    """

    naming: Naming = field(default_factory=Naming)
    left_alone: Mapping[Any, str] = field(default_factory=dict)
    texts: Mapping[str, Any] = field(default_factory=dict)
    edge_texts: Mapping[str, Any] = field(default_factory=dict)
    originals: Mapping[str, Any] = field(default_factory=dict)
    edge_originals: Mapping[str, Any] = field(default_factory=dict)
    by_position: bool = True
    decimal: str | None = None
