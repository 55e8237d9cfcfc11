"""How much neighbours agree beyond chance: whether the graph can say anything about a column.

And the words for how well a column was filled, on one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph._graph import Graph
from ._channels import Recipe, fill_channels
from ._column import FillableColumn

PAIRS = 200_000  # pairs of neighbours looked at, at most
SHUFFLES = 40
STRONG = 0.2  # from here on a column counts as inferable
NEGLIGIBLE = 0.03  # up to here agreement is of no use, even if it is no accident
FEWEST_PAIRS = 20  # with fewer nothing can be told
# Verdicts on a fill, by the least share that it explains of held-out cells.
VERDICTS = (
    (0.8, "well inferred"),
    (0.5, "fairly well inferred"),
    (0.2, "roughly inferred"),
    (0.05, "weakly inferred"),
)
HARDLY = "hardly better than the mean"


def fill_verdict(explained: float) -> str:
    """A share explained in words; it is rounded as people read it.

    Examples
    --------
    >>> fill_verdict(0.7), fill_verdict(0.796), fill_verdict(-0.1)
    ('fairly well inferred', 'well inferred', 'hardly better than the mean')
    """
    return next((words for least, words in VERDICTS if round(explained, 2) >= least), HARDLY)


@dataclass(frozen=True)
class Agreement:
    """Agreement of linked rows in one column.

    Attributes
    ----------
    value : float
        0 at chance, 1 where neighbours always have the same value; NaN without pairs to compare.
    spread : float
        Standard deviation of `value` when the known cells are shuffled among their rows.
    n_pairs : int
        Pairs of neighbours, both known, that were compared; or cells that were held out.
    """

    value: float
    spread: float
    n_pairs: int

    @property
    def beyond_chance(self) -> bool:
        """Whether shuffled values would hardly agree as much, and by enough to matter."""
        return bool(self.value > max(3.0 * self.spread, NEGLIGIBLE))

    @property
    def verdict(self) -> str:
        """ "inferable", "weakly", "not from this graph" or "unknown"."""
        if self.n_pairs < FEWEST_PAIRS:
            return "unknown"
        if not self.beyond_chance:
            return "not from this graph"
        return "inferable" if self.value >= STRONG else "weakly"


def agreement(
    graph: Graph, values: NDArray[np.floating], *, classes: bool, seed: int = 0
) -> Agreement:
    r"""Compare the ends of edges whose values are both known.

    For numbers their correlation over the ends of edges; for classes

    .. math:: (\sum_e [x_i = x_j] / m - c) / (1 - c), \quad c = \sum_k p_k^2

    with p the shares of the classes among the ends (Newman's assortativity). Both are 0 at
    chance and 1 at perfect agreement. At most `PAIRS` edges are looked at, drawn by the seed.

    Parameters
    ----------
    values : [nodes], NaN where missing; class numbers where `classes`

    Examples
    --------
    >>> two_pairs = Graph.from_edges([0, 2], [1, 3])
    >>> agreement(two_pairs, np.array([0.0, 0.0, 1.0, 1.0]), classes=True).value
    1.0
    """
    rng = np.random.default_rng([seed, 2])
    u, v = linked_pairs(graph, rng)
    known = ~np.isnan(values[u]) & ~np.isnan(values[v])
    u, v = u[known], v[known]
    if not u.size:
        return Agreement(np.nan, np.nan, 0)
    rows, place = np.unique(np.concatenate([u, v]), return_inverse=True)
    u, v = np.split(place, 2)
    levels = values[rows]
    if classes:
        levels = np.unique(levels, return_inverse=True)[1].astype(np.float64)
    measure = _same_class if classes else _correlation
    value = measure(levels[u], levels[v])
    shuffled = [measure(mixed[u], mixed[v]) for mixed in _shuffles(levels, rng)]
    return Agreement(value, float(np.std(shuffled)), int(u.size))


def propagated_agreement(
    columns: Sequence[FillableColumn], graph: Graph, recipe: Recipe
) -> dict[str, Agreement]:
    """Agreement of rows that are linked through other nodes, not to each other.

    In a tree with data at its leaves, or a graph of rows and groups, few linked rows are both
    known. A fifth of the known cells is hidden and propagated; the share that this explains of
    them stands for the agreement. At chance it is about one over the number of hidden cells.
    Columns with too few known cells are left out.
    """
    held_out = fill_channels(columns, graph, recipe).held_out
    return {
        name: Agreement(held.explained, 1.0 / len(held.rows), len(held.rows))
        for name, held in held_out.items()
    }


def linked_pairs(
    graph: Graph, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ends of (a sample of) the entries, each edge in one direction or the other."""
    entries = len(graph.indices)
    if entries <= 2 * PAIRS:
        u = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        v = graph.indices.astype(np.intp)
        once = u < v
        return u[once], v[once]
    drawn = np.sort(rng.integers(0, entries, PAIRS))
    u = np.searchsorted(graph.indptr, drawn, side="right") - 1
    v = graph.indices[drawn].astype(np.intp)
    between = u != v
    return u[between], v[between]


def _shuffles(levels: NDArray[np.floating], rng: np.random.Generator):  # type: ignore[no-untyped-def]
    return (rng.permutation(levels) for _ in range(SHUFFLES))


def _correlation(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    """Correlation over the ends of undirected edges: both ends have the same distribution."""
    mean = (x.mean() + y.mean()) / 2
    variance = (np.mean((x - mean) ** 2) + np.mean((y - mean) ** 2)) / 2
    if variance == 0:
        return 0.0
    return float(np.mean((x - mean) * (y - mean)) / variance)


def _same_class(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    share = np.bincount(np.concatenate([x, y]).astype(np.intp)) / (2 * len(x))
    chance = float(share @ share)
    if chance >= 1.0:
        return 0.0
    return float((np.mean(x == y) - chance) / (1.0 - chance))
