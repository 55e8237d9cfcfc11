"""How well the missing cells would be filled if they were missing the way real ones often are.

Held-out folds are drawn at random. Cells seldom go missing so: people leave a whole form blank, the
rich do not say what they earn, a region sends no figures. Here known cells are hidden in such a
pattern, everything is learnt anew from what is left, and the hidden cells tell how well that went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph._graph import Graph
from ._assessment import Assessment, assess
from ._features import Levelled, Target
from ._folds import hide_cells
from ._scores import score

SHARE = 0.2  # of the known cells of each column
DRAWS = 2


@dataclass(frozen=True)
class Partly:
    """A column some of whose known cells are hidden."""

    column: Levelled
    hidden: NDArray[np.bool_]

    @property
    def n_classes(self) -> int:
        return self.column.n_classes

    @property
    def unit(self) -> float:
        return self.column.unit

    def levels(self) -> NDArray[np.float64]:
        return np.where(self.hidden, np.nan, self.column.levels())

    def named(self, levels: NDArray[np.float64]) -> Any:
        return self.column.named(levels)


def rehearse(
    columns: Mapping[str, Levelled],
    wanted: Iterable[str],
    graph: Graph,
    informative: Mapping[str, bool],
    *,
    pattern: str,
    covers: Callable[[Assessment, NDArray[np.intp], NDArray[np.float64]], float] | None = None,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """Scores of each method on cells hidden in a pattern, by column.

    Parameters
    ----------
    columns, wanted, graph, informative, how : as `assess` takes them
    pattern : as `hide_cells` takes it; rows and regions lose the cells of all columns
    covers : of an assessment, some of its missing cells and their truth: which share of them its
        intervals hold; None where there are none
    """
    wanted = list(wanted)
    held: dict[str, list[tuple[Assessment, NDArray[np.intp]]]] = {name: [] for name in wanted}
    levels = {name: column.levels() for name, column in columns.items()}
    for draw in range(DRAWS):
        hidden = hide_cells(levels, graph, share=SHARE, pattern=pattern, seed=[seed, draw])
        seen = {name: Partly(column, hidden[name]) for name, column in columns.items()}
        found = assess(
            seen, wanted, graph, informative, seed=seed, alternatives=True,
            progress=lambda share: progress(share / DRAWS), **how,
        )  # fmt: skip
        for name, one in found.items():
            held[name].append((one, np.flatnonzero(hidden[name])))
    return {
        name: _summed_up(Target.of(columns[name]), columns[name].unit, pattern, draws, covers)
        for name, draws in held.items()
        if len(draws) == DRAWS
    }


def _summed_up(
    target: Target,
    unit: float,
    pattern: str,
    draws: Sequence[tuple[Assessment, NDArray[np.intp]]],
    covers: Any,
) -> dict[str, Any]:
    """All draws' hidden cells together."""
    rows = np.concatenate([hidden for _, hidden in draws])
    places = [np.searchsorted(one.target.missing, hidden) for one, hidden in draws]
    cells = list(zip(draws, places, strict=True))
    methods = [
        m for m in draws[0][0].alternatives if all(m in one.alternatives for one, _ in draws)
    ]
    predicted = {
        m: np.concatenate([one.alternatives[m][place] for (one, _), place in cells])
        for m in methods
    }
    predicted["chosen"] = np.concatenate([one.filled[place] for (one, _), place in cells])
    said: dict[str, Any] = {
        "pattern": pattern,
        "n": len(rows),
        "scores": [{"method": m} | score(target, rows, predicted[m], unit) for m in predicted],
    }
    if covers is not None:
        shares = [covers(one, place, target.levels[hidden]) for (one, hidden), place in cells]
        said["coverage"] = float(np.mean(shares))
    return said
