"""Columns filled by what held-out cells recommend, and how sure each filled cell is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..graph._graph import Graph
from ..table._columns import Column
from ._assessment import LEARNERS, METHODS, Assessment, assess
from ._class_sets import Certainty, certainty
from ._features import VARIANTS
from ._hiding import DRAWS, rehearse
from ._intervals import Interval, highest_level, intervals
from ._learner import few_threads

if TYPE_CHECKING:
    import narwhals as nw

NAMES_OF_SETS = " | "  # between the classes of a set


@dataclass(frozen=True)
class Judgement:
    """What was found out about a column, and how sure its filled cells are if that was asked."""

    found: Assessment
    sure: Interval | Certainty | None
    level: float | None
    rehearsal: dict[str, Any] | None = None

    @property
    def explained(self) -> float:
        """Share of the held-out variance explained, or of the most frequent value's mistakes."""
        scores = {score["method"]: score for score in self.found.scores}
        own, plain = scores[self.found.chosen], scores.get("mean", {"accuracy": 0.0})
        if "r2" in own:
            return float(own["r2"])
        wrong = 1.0 - plain["accuracy"]
        return float((own["accuracy"] - plain["accuracy"]) / wrong) if wrong else 0.0

    def details(self, column: Column) -> dict[str, Any]:
        """As plain numbers, for a summary."""
        said: dict[str, Any] = {
            "scores": self.found.scores,
            "chosen": self.found.chosen,
            "why": self.found.why,
            "n_held_out": self.found.n_held_out,
        }
        if self.rehearsal is not None:
            said["rehearsal"] = self.rehearsal
        if self.sure is None:
            return said
        said |= {
            "interval_level": self.level,
            "coverage": self.sure.coverage,
            "calibration": self.sure.calibration,
        }
        if isinstance(self.sure, Interval):
            if np.isinf(self.sure.width):
                return said | {"highest_level": highest_level(self.found.n_held_out)}
            return said | {
                "median_width": self.sure.width * column.unit,
                "constant_width": self.sure.constant_width * column.unit,
            }
        return said | {"calibration_error": self.sure.error}


def judge(
    columns: Mapping[str, Column],
    wanted: Sequence[str],
    graph: Graph,
    informative: Mapping[str, bool],
    *,
    method: str,
    level: float | None,
    pattern: str | None,
    unreached: Mapping[str, NDArray[np.bool_]],
    seed: int,
    reliance: float | str,
    progress: Callable[[float], None],
    propagation: Mapping[str, Any],
) -> dict[str, Judgement]:
    """Score, choose and predict; with a `level`, make intervals and probabilities.

    Parameters
    ----------
    method : "auto", "hybrid", or the one to use
    pattern : in which known cells are also hidden and filled, to see how well that goes; or None
    unreached : by column, the rows whose cell is missing with nothing known connected to it
    propagation : options of `propagate` for the method of that name; the others differ from it by
        their own
    """
    methods: Sequence[str] = ("mean", "neighbors", "propagation")
    variants: dict[str, Any] = {"propagation": propagation}
    if method == "auto":
        methods = METHODS
        variants = {name: {**propagation, **how} for name, how in VARIANTS.items()}
    elif method == "hybrid":
        methods = ("mean", *LEARNERS)
    how: dict[str, Any] = {
        "methods": methods,
        "choice": method if method in methods and method != "hybrid" else None,
        "variants": variants,
        "reliance": reliance,
        "seed": seed,
    }
    shares = 1 if pattern is None else 1 + DRAWS

    def tick(share: float) -> None:
        progress(share / shares)

    found = assess(columns, wanted, graph, informative, progress=tick, **how)
    rehearsed: dict[str, Any] = {}
    with few_threads(graph.n_nodes) if level is not None else nullcontext():
        if pattern is not None:
            covers = None if level is None else partial(_covers, level, seed)
            how |= {"pattern": pattern, "covers": covers}
            rehearsed = rehearse(
                columns, found.keys(), graph, informative,
                progress=lambda share: tick(share * DRAWS), **how,
            )  # fmt: skip
        return {
            name: Judgement(
                one,
                None if level is None else _sure(one, level, seed, unreached[name][one.final.rows]),
                level,
                rehearsed.get(name),
            )
            for name, one in found.items()
        }


def _sure(
    found: Assessment, level: float, seed: int, unreached: NDArray[np.bool_] | None = None
) -> Interval | Certainty:
    if found.target.n_classes:
        return certainty(found, level, unreached)
    return intervals(found, level, seed, unreached)


def _covers(
    level: float, seed: int, found: Assessment, place: NDArray[np.intp], truth: NDArray[np.float64]
) -> float:
    """Share of some missing cells whose truth is within their interval or set."""
    sure = _sure(found, level, seed)
    if isinstance(sure, Interval):
        return float(np.mean((truth >= sure.low[place]) & (truth <= sure.high[place])))
    return float(np.mean(sure.sets[place, truth.astype(np.intp)]))


def sure_columns(
    column: Column, judged: Judgement | None, left_missing: NDArray[np.bool_] | None = None
) -> list[nw.Series[Any]]:
    """What is added to the table beside a column: its bounds, or its probabilities and sets.

    A known cell is its own bound, has probability 1, and is alone in its set. A filled one of a
    column that could not be judged has none of these, nor has a cell that was left missing.
    """
    import narwhals as nw

    if judged is None:
        return _unsure_columns(column)
    sure, name = judged.sure, column.name
    left = np.zeros(len(column.missing), bool) if left_missing is None else left_missing
    empty = left[column.missing]
    if isinstance(sure, Interval):
        # The whole numbers within an interval are those within its rounded bounds.
        margin = 0.499 / column.unit if column.whole else 0.0
        value = judged.found.filled[:, 0]
        low = np.minimum(sure.low + margin, value)
        high = np.maximum(sure.high - margin, value)
        made = []
        for levels, bound in ((low, "low"), (high, "high")):
            # A bound that is not known stays missing.
            column.decode_levels(np.where(np.isinf(levels) | empty, np.nan, levels)[:, None])
            made.append(column.rebuild().alias(f"{name}_{bound}"))
        column.decode_levels(np.where(empty[:, None], np.nan, judged.found.filled))
        return made
    if sure is None:
        return []
    series = column.rebuild()
    probability = np.ones(len(column.missing))
    probability[column.missing] = sure.probability
    chances = [None if cell else chance for chance, cell in zip(probability, left, strict=True)]
    words: NDArray[Any] = np.array([str(value) for value in series.to_list()], dtype=object)
    names = [str(value) for value in column.named(np.arange(column.n_classes, dtype=np.float64))]
    words[column.missing] = [
        NAMES_OF_SETS.join(names[k] for k in np.flatnonzero(cells)) for cells in sure.sets
    ]
    words[left] = None
    backend = series.implementation
    return [
        nw.new_series(f"{name}_probability", chances, nw.Float64, backend=backend),
        nw.new_series(f"{name}_set", words.tolist(), nw.String, backend=backend),
    ]


def _unsure_columns(column: Column) -> list[nw.Series[Any]]:
    """The same columns, null where a cell was filled."""
    import narwhals as nw

    series, name = column.rebuild(), column.name
    backend = series.implementation
    if column.n_classes:
        known = list(zip(series.to_list(), ~column.missing, strict=True))
        words = [str(value) if is_known else None for value, is_known in known]
        chances = [1.0 if is_known else None for _, is_known in known]
        return [
            nw.new_series(f"{name}_probability", chances, nw.Float64, backend=backend),
            nw.new_series(f"{name}_set", words, nw.String, backend=backend),
        ]
    is_known = nw.new_series("known", ~column.missing, nw.Boolean, backend=backend)
    frame = series.alias("bound").to_frame().with_columns(is_known)
    bound = frame.select(nw.when(nw.col("known")).then(nw.col("bound")))["bound"]
    return [bound.alias(f"{name}_low"), bound.alias(f"{name}_high")]
