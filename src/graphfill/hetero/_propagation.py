"""Feature Propagation over nodes and edges of several types."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnreachedWarning, check_flag, warn_caller
from ..graph._graph import Graph
from ..solve import PropagationOptions, propagate_with
from ._nodes import NodeTypes, give_columns, read_nodes
from ._relations import (
    EdgeType,
    check_weights_kind,
    choose_weights,
    join,
    read_relations,
    read_weights,
)


@dataclass
class HeteroResult:
    """What :func:`propagate_hetero` returns.

    Attributes
    ----------
    features : dict by node type, each of the kind that came in
        Filled; types that came without features have some now, unless `like` has None for them:
        these stay as they came.
    weights : dict by edge type
        What each counted for; reverse types are left out.
    n_iter, residual : the most steps and the largest relative residual of any column
    unreached : dict by node type of bool arrays [nodes, columns]
        Missing cells that nothing could be inferred for.
    scores : dict
        With ``weights="held-out"``: the relative squared error on hidden cells, by the weights
        tried, in order; empty otherwise.
    """

    __module__ = "graphfill"

    features: dict[str, Any]
    weights: dict[EdgeType, float]
    n_iter: int
    residual: float
    unreached: dict[str, NDArray[np.bool_]]
    scores: dict[tuple[float, ...], float] = field(default_factory=dict)


def propagate_hetero(
    features: Mapping[str, Any],
    edges: Mapping[EdgeType, Any],
    *,
    weights: Mapping[Any, float] | str | None = None,
    shared: Any = None,
    like: Mapping[str, str | None] | None = None,
    standardize: bool = False,
    id: Any = None,
    normalization: str = "rw",
    solver: str = "exact",
    unreached: str = "zero",
    seed: int = 0,
    **options: Any,
) -> HeteroResult:
    r"""Fill missing cells of nodes of several types along edges of several types.

    The edges of each type r, normalised by themselves and weighted, make one graph

    .. math:: A = \sum_r w_r D_r^{-1/2} A_r D_r^{-1/2}

    on which :func:`graphfill.propagate` runs: no type outweighs another by its number of edges,
    and under "rw" with ``solver="exact"`` every filled value stays within the range of the known
    ones.

    Parameters
    ----------
    features : dict by node type
        An array with NaN where missing, a pair (array, column names), a data frame, or, for a
        type without features, its number of nodes. Columns of the same name are one quantity:
        it propagates between the types that have it, and through those that do not.
    edges : dict by (source type, relation, target type)
        Row numbers (source, target), or (source, target, weight), or a table of two columns.
        A type that lists another's edges the other way round is recognised and not counted (one
        that lists each edge both ways is its own reverse); two that list them the same way are.
    weights : dict by edge type or relation, or "held-out", optional
        1 unless given. "held-out" hides a tenth of the known cells and tries 0 to 10 for each
        edge type, keeping what predicts the hidden cells better than chance would.
    shared : list of node types or "same_width", optional
        Arrays without names whose columns are the same by position.
    like : dict, optional
        For types without features: whose columns they get. By default those of the types they
        are linked to; None where a type gets none and only passes information on.
    standardize : bool
        Propagate each column as standard scores, with the mean and deviation of each type's known
        cells, and turn them back: for types that measure one thing on scales of their own, such
        as word counts of papers and sums of them over an author's papers. A type that knows no
        two different values of a column is put on the scale of all types together, and one
        without features on that of the types it takes after.
    id : column name, or dict of them by node type, optional
        Features are tables, and edges name their rows by the ids in this column.
    normalization, solver, unreached, **options
        As in :func:`graphfill.propagate`.
    seed : int
        Which cells "held-out" hides.

    Returns
    -------
    HeteroResult

    Examples
    --------
    >>> import numpy as np
    >>> from graphfill.hetero import propagate_hetero
    >>> years = np.array([[1990.0], [np.nan], [2020.0]])
    >>> writes = {("author", "writes", "paper"): ([0, 0, 1, 1], [0, 1, 1, 2])}
    >>> filled = propagate_hetero({"paper": years, "author": 2}, writes).features
    >>> filled["paper"].ravel().tolist()
    [1990.0, 2005.0, 2020.0]
    """
    progress = options.pop("progress", False)
    checked = PropagationOptions(
        normalization=normalization, solver=solver, unreached=unreached, **options
    )
    check_flag("standardize", standardize)
    nodes = read_nodes(features, shared=shared, id=id, standardized=standardize)
    relations = read_relations(edges, nodes)
    neighbours: dict[str, set[str]] = {kind: set() for kind in nodes.sizes}
    for relation in relations:
        source, _, target = relation.key
        neighbours[source].add(target)
        neighbours[target].add(source)
    give_columns(nodes, neighbours, like)
    check_weights_kind(weights)
    scores: dict[tuple[float, ...], float] = {}
    if isinstance(weights, str):
        chosen, scores = choose_weights(nodes, relations, checked, seed)
    else:
        chosen = read_weights(relations, weights or {})
    result = _fill(nodes, join(relations, chosen), checked, progress)
    result.weights, result.scores = chosen, scores
    return result


propagate_hetero.__module__ = "graphfill"


def _fill(
    nodes: NodeTypes, graph: Graph, options: PropagationOptions, progress: Any
) -> HeteroResult:
    """Fill block by block; only the types that have a channel are given its values."""
    common = np.result_type(*(one.values for one in nodes.opened.values()))
    filled: dict[str, NDArray[np.floating]] = {}
    unreached: dict[str, NDArray[np.bool_]] = {}
    for kind, size in nodes.sizes.items():
        dtype = nodes.opened[kind].values.dtype if kind in nodes.opened else common
        filled[kind] = np.empty((size, len(nodes.channels[kind])), dtype=dtype)
        unreached[kind] = np.zeros(filled[kind].shape, dtype=bool)
    n_iter, residual = 0, 0.0
    with warnings.catch_warnings():
        # It would count cells of types that do not have the column; the one below does not.
        warnings.simplefilter("ignore", UnreachedWarning)
        for block in nodes.blocks():
            result = propagate_with(block.X, graph, options, progress=progress)
            n_iter, residual = max(n_iter, result.n_iter), max(residual, result.residual)
            for kind in block.kinds:
                rows, columns = nodes.rows(kind), nodes.places(kind, block.channels)
                values = nodes.values(kind, block, result.X[rows])
                if result.n_unreached:
                    unreached[kind][:, columns] = result.unreached[rows]
                    if options.unreached == "zero":  # of what is given, not of its score
                        values = np.where(result.unreached[rows], 0.0, values)
                filled[kind][:, columns] = values
    counts = [f"{cells.sum()} of {kind!r}" for kind, cells in unreached.items() if cells.any()]
    if counts:
        warn_caller(
            f"some missing cells cannot be inferred from the graph (no known cell of their column "
            f"is connected to them) and were filled by unreached={options.unreached!r}: "
            f"{', '.join(counts)}",
            UnreachedWarning,
        )
    rebuilt = {kind: nodes.rebuild(kind, values) for kind, values in filled.items()}
    return HeteroResult(rebuilt, {}, n_iter, residual, unreached)
