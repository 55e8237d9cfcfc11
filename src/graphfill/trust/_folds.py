"""Known cells drawn to be hidden: in equal parts, or the way cells go missing in practice."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph, adjacency_matrix

PATTERNS = ("random", "rows", "high", "region")


def number_of(name: Any) -> int:
    """A number for a column that its name decides: what is drawn for it depends on no other.

    Examples
    --------
    >>> number_of("age") == number_of("age") != number_of("city")
    True
    """
    return zlib.crc32(str(name).encode(errors="surrogatepass"))


def draw_folds(
    rows: NDArray[np.intp],
    n_folds: int,
    key: list[int],
    together: NDArray[np.int64] | None = None,
) -> list[NDArray[np.intp]]:
    """Cut the rows at random into parts of (nearly) equal size, each sorted.

    Rows with the same number in `together`, which has one for every row of the table, stay
    together.

    Examples
    --------
    >>> [len(part) for part in draw_folds(np.arange(10), 3, [0])]
    [4, 3, 3]
    >>> [part.tolist() for part in draw_folds(np.arange(4), 2, [0], np.array([7, 7, 3, 3]))]
    [[2, 3], [0, 1]]
    """
    rng = np.random.default_rng(key)
    if together is None:
        return [np.sort(part) for part in np.array_split(rng.permutation(rows), n_folds)]
    groups, group = np.unique(together[rows], return_inverse=True)
    place = np.empty(len(groups), dtype=np.intp)
    place[rng.permutation(len(groups))] = np.arange(len(groups))
    order = np.argsort(place[group], kind="stable")
    parts = np.array_split(np.arange(len(groups)), n_folds)
    ends = np.searchsorted(place[group][order], [part[-1] + 1 if len(part) else len(groups)
                                                 for part in parts[:-1]])  # fmt: skip
    return [np.sort(part) for part in np.split(rows[order], ends)]


def hide_cells(
    levels: Mapping[str, NDArray[np.floating]],
    graph: Graph,
    *,
    share: float,
    pattern: str = "random",
    seed: int | Sequence[int] = 0,
) -> dict[str, NDArray[np.bool_]]:
    """Choose known cells to hide, by column.

    Parameters
    ----------
    levels : by column, [rows], NaN where missing
        Numbers by size, classes by number (the rarest last).
    share : float
        Of the known cells of each column.
    pattern : {"random", "rows", "high", "region"}
        Cells at random; whole rows; high values (or rare classes) rather than low ones; or all
        rows around some nodes of the graph.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> hide_cells({"x": np.arange(4.0)}, path, share=0.5, pattern="region")["x"].sum()
    np.int64(2)
    """
    key = [*np.atleast_1d(seed).tolist(), 4]
    rng = np.random.default_rng(key)
    n_rows = len(next(iter(levels.values())))
    shared = rng.random(n_rows)
    if pattern == "region":
        shared = _by_region(graph, n_rows, rng)
    hidden = {}
    for name, cells in levels.items():
        known = np.flatnonzero(~np.isnan(cells))
        rank = shared[known]
        if pattern not in ("rows", "region"):
            rank = np.random.default_rng([*key, number_of(name)]).random(len(known))
        if pattern == "high":
            # The higher a value, the likelier it is among the first to go.
            place = np.argsort(np.argsort(cells[known], kind="stable")) / max(len(known), 1)
            rank = rank ** (0.25 + 2.0 * place)
        mask = np.zeros(n_rows, dtype=bool)
        mask[known[np.argsort(rank, kind="stable")[: round(share * len(known))]]] = True
        hidden[name] = mask
    return hidden


def _by_region(graph: Graph, n_rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A number per row that is small near one of a few nodes drawn, in steps, ties at random."""
    A = adjacency_matrix(graph)
    seeds = rng.choice(graph.n_nodes, max(1, graph.n_nodes // 1000), replace=False)
    steps = np.full(graph.n_nodes, np.inf)
    steps[seeds] = 0
    for step in range(1, graph.n_nodes):
        further = (A @ np.isfinite(steps).astype(np.float32) > 0) & np.isinf(steps)
        if not further.any():
            break
        steps[further] = step
    far = np.where(np.isinf(steps), graph.n_nodes, steps)[:n_rows]
    return far + rng.random(n_rows)
