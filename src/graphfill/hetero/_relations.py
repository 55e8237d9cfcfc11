"""Edges by type, the one weighted graph they make together, and how much each type counts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..errors import GraphfillWarning, InputError, named, shown
from ..graph import Graph, as_array, as_ids, factorize, from_table, graph_components, is_table
from ..solve import PropagationOptions, propagate_with
from ._nodes import NodeTypes, check_mapping, listed

EdgeType = tuple[str, str, str]
Ends = tuple[NDArray[np.int64], NDArray[np.int64]]

CANDIDATES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # for the weight of an edge type
HIDDEN = 0.1
MOST_COLUMNS = 128  # of each block; more would improve the choice little
MOST_ROUNDS = 3
SURE = 2.0  # standard errors that a change has to gain


@dataclass
class Relation:
    """One type of edges between two types of nodes."""

    key: EdgeType
    S: scipy.sparse.csr_array  # D^-1/2 A D^-1/2 of these edges alone, in both directions
    graph: Graph  # over all nodes, with these edges alone
    ends: Ends  # source and target of each edge, as listed
    twin: EdgeType | None = None  # which lists the same edges the other way round; not counted

    def is_reversed_by(self, key: EdgeType, graph: Graph, ends: Ends) -> bool:
        """Whether these are its edges the other way round, and no other type is its twin."""
        if self.twin is not None or (self.key[2], self.key[0]) != (key[0], key[2]):
            return False
        if not _same(graph, self.graph):
            return False
        # Between two types of nodes the types give the direction; within one the lists do.
        return key[0] != key[2] or _same_pairs(self.ends, ends[::-1], graph.n_nodes)


def read_relations(edges: Mapping[EdgeType, Any], nodes: NodeTypes) -> list[Relation]:
    """The edges of each type, normalised; a reverse type is merged into the one it reverses."""
    check_mapping("edges", edges, "{('author', 'writes', 'paper'): (source, target)}")
    relations: list[Relation] = []
    for key, given in edges.items():
        graph, ends = _one_type(key, given, nodes)
        reversed_ones = [r for r in relations if r.is_reversed_by(key, graph, ends)]
        if reversed_ones:  # of several, the one that it is named after, as rev_writes
            named_after = [r for r in reversed_ones if r.key[1] in key[1]]
            (named_after or reversed_ones)[0].twin = key
        else:
            relations.append(Relation(key, _normalized(graph), graph, ends))
    return relations


def join(relations: list[Relation], weights: Mapping[EdgeType, float]) -> Graph:
    """A = sum_r w_r S_r as one graph over the nodes of all types."""
    n_nodes = relations[0].graph.n_nodes
    A = scipy.sparse.csr_array((n_nodes, n_nodes))
    for relation in relations:
        if weights[relation.key] > 0:
            A = A + weights[relation.key] * relation.S
    return Graph.from_scipy(A)


def _normalized(graph: Graph) -> scipy.sparse.csr_array:
    """S = D^-1/2 A D^-1/2; symmetric to the bit."""
    root = np.sqrt(graph.degrees())
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    values = 1.0 / (root[row] * root[graph.indices])
    if graph.weights is not None:
        values *= graph.weights
    shape = (graph.n_nodes, graph.n_nodes)
    return scipy.sparse.csr_array((values, graph.indices, graph.indptr), shape=shape)


def check_weights_kind(weights: Any) -> None:
    """Refuse what is no way to weigh edge types."""
    if weights is not None and weights != "held-out" and not isinstance(weights, Mapping):
        raise InputError(
            f"weights is {shown(weights)} but must be None, 'held-out' or a dict such as "
            "{('author', 'writes', 'paper'): 1.0}."
        )


def read_weights(relations: list[Relation], weights: Mapping[Any, Any]) -> dict[EdgeType, float]:
    """A weight per edge type, 1 unless given; by its key, that of a twin, or the relation alone."""
    names = {
        r.key: {r.key, r.key[1], *((r.twin, r.twin[1]) if r.twin is not None else ())}
        for r in relations
    }
    chosen = dict.fromkeys(names, 1.0)
    entries: dict[EdgeType, Any] = {}  # by which each edge type was given a weight first
    for entry, weight in weights.items():
        matches = [key for key, names_of_key in names.items() if entry in names_of_key]
        if len(matches) != 1:
            which = "several edge types go" if matches else "no edge type goes"
            raise InputError(
                f"weights has an entry for {entry!r}, but {which} by that; there are: "
                f"{listed(names)}."
            )
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
            raise InputError(f"The weight of {entry!r} is {weight!r}, which is no number.")
        if not 0 <= weight < np.inf:
            raise InputError(
                f"The weight of {entry!r} is {weight} but must be finite and not negative."
            )
        (key,), number = matches, float(weight)
        first = entries.setdefault(key, entry)
        if first != entry and chosen[key] != number:
            raise InputError(
                f"weights has {chosen[key]} for {first!r} and {number} for {entry!r}, which are "
                "the same edges, in one direction or the other, and count once: give one weight."
            )
        chosen[key] = number
    return chosen


def _one_type(key: EdgeType, given: Any, nodes: NodeTypes) -> tuple[Graph, Ends]:
    """The edges of one type as a graph over all nodes, and as they were listed."""
    if not isinstance(key, tuple) or len(key) != 3:
        raise InputError(
            f"The edge type {key!r} must be three names: (source type, relation, target type)."
        )
    for kind in (key[0], key[2]):
        if kind not in nodes.sizes:
            raise InputError(
                f"The edge type {key!r} names the node type {kind!r}, but features has: "
                f"{listed(nodes.sizes)}; pass the number of its nodes if it has no features."
            )
    weight = None
    if is_table(given):
        source, target, _ = from_table(given, None, None, None)
    elif not hasattr(given, "__len__") or len(given) not in (2, 3):
        raise InputError(
            f"The edges of {key!r} are {shown(given)} but must be (source, target), or "
            "(source, target, weight), or a table of edges."
        )
    else:
        source, target = given[:2]
        weight = given[2] if len(given) == 3 else None
    ends = _rows(key, "source", source, nodes), _rows(key, "target", target, nodes)
    return Graph.from_edges(*ends, weight=weight, n_nodes=nodes.n_nodes), ends


def _rows(key: EdgeType, role: str, column: Any, nodes: NodeTypes) -> NDArray[np.int64]:
    """The rows, among all nodes, of one end of the edges."""
    kind = key[0] if role == "source" else key[2]
    rows = as_ids(column, role)
    if kind in nodes.tables:
        ids = nodes.tables[kind].ids
        distinct, (codes, wanted) = factorize(ids, rows)
        row_of_code = np.full(len(distinct), -1, dtype=np.int64)
        row_of_code[codes] = np.arange(len(ids))
        rows = row_of_code[wanted]
        if (rows < 0).any():
            number = int(np.argmin(rows))
            raise InputError(
                f"Edge {number} of {key!r} names {named(as_array(column)[number])} as its {role}, "
                f"which is no id of {kind!r}: correct or drop the edge, or add a row for it."
            )
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(
            f"The {role}s of {key!r} have shape {rows.shape} and dtype {rows.dtype} but must be "
            f"one column of row numbers of {kind!r}; name the column of ids by id= to use ids."
        )
    n_nodes = nodes.sizes[kind]
    if rows.size and not (rows.min() >= 0 and rows.max() < n_nodes):
        number = int(np.argmax((rows < 0) | (rows >= n_nodes)))
        raise InputError(
            f"Edge {number} of {key!r} names node {rows[number]} of {kind!r}, which has {n_nodes} "
            "nodes, numbered from 0."
        )
    return rows.astype(np.int64) + nodes.first[kind]


def _same_pairs(one: Ends, other: Ends, n_nodes: int) -> bool:
    """Whether two lists have the same edges in the same direction."""
    first, second = (np.unique(source * n_nodes + target) for source, target in (one, other))
    return np.array_equal(first, second)


def _same(one: Graph, other: Graph) -> bool:
    """Whether two graphs have the same edges, with the same weights to rounding."""
    pairs = (one.indptr, other.indptr), (one.indices, other.indices)
    if not all(np.array_equal(*pair) for pair in pairs):
        return False
    if one.weights is None or other.weights is None:
        return one.weights is other.weights
    return bool(np.allclose(one.weights, other.weights))


class Trial:
    """Some columns with a tenth of their known cells hidden, and how well weights predict these.

    The error of a cell is squared and relative to its column's variance; a block's hidden cells
    are those of the types that lack some cells, since that is where predictions are needed.
    """

    def __init__(self, nodes: NodeTypes, options: PropagationOptions, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.options = replace(options, unreached="mean")
        self.blocks: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        for _, kinds, X, _ in nodes.blocks():
            known = ~np.isnan(X)
            spread = np.array([np.var(X[known[:, c], c]) if known[:, c].any() else 0.0
                               for c in range(X.shape[1])])  # fmt: skip
            useful = np.flatnonzero(spread > 0)
            if not len(useful):
                continue
            columns = np.sort(rng.permutation(useful)[:MOST_COLUMNS])
            X, known = X[:, columns], known[:, columns]
            wanted = np.zeros(len(X), dtype=bool)
            for kind in kinds:
                cells = known[nodes.rows(kind)]
                wanted[nodes.rows(kind)] = cells.any() and not cells.all()
            if not wanted.any():
                wanted[:] = True
            hidden = known & wanted[:, None] & (rng.random(X.shape) < HIDDEN)
            if hidden.any():
                self.blocks.append((X, hidden, spread[columns]))

    def errors(self, graph: Graph) -> NDArray[np.float64]:
        """The error of each hidden cell."""
        errors = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphfillWarning)
            for X, hidden, spread in self.blocks:
                filled = propagate_with(np.where(hidden, np.nan, X), graph, self.options).X
                _, column = np.nonzero(hidden)
                errors.append((filled[hidden] - X[hidden]) ** 2 / spread[column])
        return np.concatenate(errors).astype(np.float64)


def choose_weights(
    nodes: NodeTypes, relations: list[Relation], options: PropagationOptions, seed: int
) -> tuple[dict[EdgeType, float], dict[tuple[float, ...], float]]:
    """Start from equal weights; change one at a time while the hidden cells gain by it.

    A change is kept only if the paired differences of the errors are below zero by two standard
    errors; of the candidates for one weight that are so, the best. A weight of 0 is not tried
    where it would cut nodes off, which no hidden cell could tell.
    """
    weights = {relation.key: 1.0 for relation in relations}
    trial = Trial(nodes, options, seed)
    if not trial.blocks or len(relations) < 2:
        return weights, {}  # nothing to hide, or only a common factor to choose
    whole = join(relations, weights)
    n_parts = graph_components(whole)[0]
    best = trial.errors(whole)
    scores = {tuple(weights.values()): float(best.mean())}
    for _ in range(MOST_ROUNDS):
        before = dict(weights)
        for key in weights:
            start, chosen = best, weights
            for candidate in CANDIDATES:
                changed = weights | {key: candidate}
                if tuple(changed.values()) in scores or not any(changed.values()):
                    continue
                graph = join(relations, changed)
                if graph_components(graph)[0] > n_parts:
                    continue
                errors = trial.errors(graph)
                scores[tuple(changed.values())] = float(errors.mean())
                if errors.mean() < best.mean() and _surely_less(errors, start):
                    best, chosen = errors, changed
            weights = chosen
        if weights == before:
            break
    return weights, scores


def _surely_less(errors: NDArray[np.float64], than: NDArray[np.float64]) -> bool:
    gain = than - errors
    return bool(gain.mean() > SURE * gain.std() / np.sqrt(len(gain)))
