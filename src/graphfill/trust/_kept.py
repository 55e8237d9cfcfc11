"""What a fit decided and learnt, and a later fill holds: methods, reliances, fields, trees.

While a table is fitted, each part is written down as it is found; once `applies` is set, it is
taken from here and not found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..solve import (
    FieldGraph,
    FieldModel,
    FilledField,
    fill_learnt,
    learn_field,
)
from ._blend import Blend
from ._column import Floats
from ._ranks import RankScale


@dataclass(frozen=True)
class Choice:
    """The method of one column: its name, why, every method's scores, what a blend is made of."""

    chosen: str
    why: str
    scores: list[dict[str, Any]]
    blend: Blend | None

    @property
    def parts(self) -> dict[str, float]:
        """The weight of each method."""
        return {self.chosen: 1.0} if self.blend is None else self.blend.weights


@dataclass
class Kept:
    """What is held from a fit.

    Attributes
    ----------
    applies : whether this is a later fill
    choices, reliances : by column
    columns : those that the fields couple, in order: how many channels and classes each has
    fields : by method and block of columns
    scales : of the columns of numbers, by field for their channels, and "levels" for their levels
    trees : by column, the inputs and levels that its trees learn from, how many randomised ones
        there are, and the share of boosted ones; None: not to be kept
    """

    applies: bool = False
    choices: dict[str, Choice] = field(default_factory=dict)
    reliances: dict[str, float] = field(default_factory=dict)
    columns: dict[str, tuple[int, int]] = field(default_factory=dict)
    fields: dict[str, FieldModel] = field(default_factory=dict)
    scales: dict[str, dict[str, RankScale]] = field(default_factory=dict)
    trees: dict[str, tuple[Floats, Floats, int, float]] | None = None

    def has_method(self, name: str) -> bool:
        """Whether the fit says how a column is to be filled."""
        return name in self.choices or name in self.reliances

    def fill_field(
        self,
        key: str,
        X: Floats,
        graph: FieldGraph,
        seed: int,
        rounds: int,
        by_channel: bool,
        tolerance: float,
        tick: Callable[[float], None],
    ) -> FilledField:
        """Fill the NaN of X by a field that depends on its model and on X alone.

        The model is the one kept under `key`, or is fitted to X and kept. Nothing else of the fit
        has a part in the solution, so that the same X gets the same bits later.
        """
        if key not in self.fields:
            self.fields[key] = learn_field(X, graph, seed, rounds, by_channel)[0]
        model = self.fields[key]
        return fill_learnt(X, model, model.system(X, graph), None, tolerance, tick)

    def scale(self, use: str, name: str, make: Callable[[], RankScale]) -> RankScale:
        """The scale kept for a use of a column, or one that is made, which is then kept."""
        scales = self.scales.setdefault(use, {})
        if name not in scales:
            scales[name] = make()
        return scales[name]
