r"""Whether the missing cells of a column lie in other rows than its known cells do.

Scores and intervals are measured on known cells. They hold for the missing ones as far as those
lie in similar rows. A column's missing and known cells are compared by the standardised difference

.. math:: d = (m_1 - m_0) / \sqrt{(s_1^2 + s_0^2) / 2}

of each feature of their rows: number of links, steps to the nearest other known cell of the
column, how many of the row's other columns are known, size of the component, and those columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph, adjacency_matrix, graph_components
from ._column import FillableColumn, Floats

ROWS = 50_000  # looked at, at most
COLUMNS = 50  # those with the most missing cells; as many features from other columns
PRODUCTS = 50_000_000  # entries of the graph, times columns whose distances are measured
CLASSES = 3  # of a category, the most frequent: a feature each
CLEAR = 0.5  # a standardised difference from here on is clear
CERTAIN = 4.0  # standard errors
FEWEST = 20  # cells of either kind
NAMED = 4  # columns, in the sentence
OTHERS = ("less of the row known", "more of the row known")


@dataclass(frozen=True)
class Difference:
    """The feature in which missing and known cells of a column differ most."""

    column: str
    size: float
    words: str


def differences_note(
    columns: Mapping[str, FillableColumn],
    wanted: Sequence[str],
    graph: Graph,
    seed: int = 0,
    covered: Mapping[str, float] | None = None,
) -> str:
    """One sentence on columns whose missing cells lie in other rows; "" where none do.

    `covered` is the share within intervals of known cells hidden as the missing ones lie.
    """
    worst = sorted(differences(columns, wanted, graph, seed), key=lambda one: -one.size)
    if not worst:
        return ""
    names = [f"{one.column!r} ({one.words})" for one in worst[:NAMED]]
    if len(worst) > NAMED:
        names.append(f"{len(worst) - NAMED:,} more")
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    noun = "column" if len(worst) == 1 else "columns"
    start = f"The missing cells of {noun} {listed} lie in other rows than the known ones: "
    shares = [share for one in worst if (share := (covered or {}).get(one.column)) is not None]
    if not shares:
        return (
            start + "scores and intervals come from known cells, and may be too optimistic there."
        )
    shown = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (min(shares), max(shares))))
    return (
        f"{start}scores come from known cells, and may be too optimistic there; intervals come "
        f"from known cells that were hidden in the same way, and hold {shown} of these."
    )


def differences(
    columns: Mapping[str, FillableColumn], wanted: Sequence[str], graph: Graph, seed: int = 0
) -> list[Difference]:
    """For each wanted column that differs clearly, its largest difference."""
    compared = sorted(wanted, key=lambda name: (-int(columns[name].missing.sum()), str(name)))
    compared = compared[:COLUMNS]
    n_rows = len(columns[compared[0]].missing)
    rows = np.arange(n_rows)
    if n_rows > ROWS:
        rows = np.sort(np.random.default_rng([seed, 12]).choice(n_rows, ROWS, replace=False))
    missing = np.column_stack([columns[name].missing for name in compared])
    values, sources, words = _row_features(columns, graph, rows)
    d = standardised(missing[rows], values)
    for number, name in enumerate(compared):  # a column is missing where it is missing
        d[number, [source == name for source in sources]] = 0.0
    n_measured = PRODUCTS // max(len(graph.indices), 10 * graph.n_nodes)
    far = np.zeros(len(compared))
    steps = _steps(~missing[:, :n_measured], graph)[rows] if n_measured else far[:0, None].T
    for number in range(steps.shape[1]):
        far[number] = standardised(missing[rows, number, None], steps[:, number, None])[0, 0]
    known = sum(np.asarray(~columns[name].missing[rows], np.float64) for name in columns)
    row = np.zeros(len(compared))
    for number, lost in enumerate(missing[rows].T if len(columns) > 1 else ()):
        others = np.asarray(known - ~lost)[:, None]
        row[number] = standardised(lost[:, None], others)[0, 0]
    d = np.column_stack([far, row, d])
    words = [("nearer to known cells", "farther from known cells"), OTHERS, *words]
    best = np.abs(d).argmax(axis=1)
    return [
        Difference(name, float(abs(d[number, at])), words[at][int(d[number, at] > 0)])
        for number, (name, at) in enumerate(zip(compared, best, strict=True))
        if abs(d[number, at]) > CLEAR
    ]


def _row_features(
    columns: Mapping[str, FillableColumn], graph: Graph, rows: NDArray[np.intp]
) -> tuple[Floats, list[str | None], list[tuple[str, str]]]:
    """[rows, features]; the column each comes from; words for where it is lower and higher."""
    label = graph_components(graph)[1]
    size = np.bincount(label)[label[rows]]
    parts = [np.log1p(np.diff(graph.indptr)[rows]), np.log(size.astype(np.float64))]
    sources: list[str | None] = [None, None]
    words = [("fewer links", "more links"), ("smaller components", "larger components")]
    for name in sorted(columns, key=str):
        if len(parts) >= COLUMNS + 2:
            break
        column = columns[name]
        levels = column.levels()[rows]
        if not column.n_classes:
            parts.append(levels)
            sources.append(name)
            words.append((f"lower {name!r}", f"higher {name!r}"))
            continue
        for number in range(min(CLASSES, column.n_classes)):
            value = str(column.named(np.array([float(number)]))[0])
            parts.append(np.where(np.isnan(levels), np.nan, levels == number))
            sources.append(name)
            words.append((f"{name!r} less often {value!r}", f"{name!r} more often {value!r}"))
    return np.column_stack(parts), sources, words


def standardised(missing: NDArray[np.bool_], values: Floats) -> Floats:
    """d by column and feature, 0 where it is uncertain.

    Examples
    --------
    >>> missing = np.repeat([True, False], 50)[:, None]
    >>> standardised(missing, np.tile([0.0, 2.0], 50)[:, None] + missing).round(2)
    array([[1.]])
    """
    seen = ~np.isnan(values)
    centred = np.where(seen, values - np.nanmean(np.where(seen, values, np.nan), axis=0), 0.0)
    scale = np.sqrt((centred**2).mean(axis=0))
    centred /= np.where(scale > 0, scale, 1.0)
    moments = []
    for cells in (missing.T.astype(np.float64), (~missing).T.astype(np.float64)):
        n = cells @ seen
        mean = cells @ centred / np.maximum(n, 1)
        variance = np.maximum(cells @ centred**2 / np.maximum(n, 1) - mean**2, 0.0)
        moments.append((n, mean, variance))
    (n1, mean1, variance1), (n0, mean0, variance0) = moments
    pooled = np.sqrt((variance1 + variance0) / 2)
    d = (mean1 - mean0) / np.maximum(pooled, 1e-6)
    error = np.sqrt(1.0 / np.maximum(n1, 1) + 1.0 / np.maximum(n0, 1))
    enough = (n1 >= FEWEST) & (n0 >= FEWEST) & (np.abs(d) > CERTAIN * error)
    return np.where(enough, d, 0.0)


def _steps(known: NDArray[np.bool_], graph: Graph) -> Floats:
    """[rows, columns]: 1, 2 or more (3) steps to the nearest known cell of another row."""
    A = (adjacency_matrix(graph) != 0).astype(np.float32)
    here = np.zeros((graph.n_nodes, known.shape[1]), dtype=np.float32)
    here[: len(known)] = known
    beside = A @ here
    # Two steps from a known cell lead back to it: a neighbour must have another known one.
    again = A @ (beside >= 1).astype(np.float32)
    other = A @ (beside >= 2).astype(np.float32)
    two = np.where(here > 0, other, again) > 0
    steps = np.where(beside > 0, 1.0, np.where(two, 2.0, 3.0))
    return np.asarray(steps[: len(known)], np.float64)
