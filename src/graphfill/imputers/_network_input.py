"""The input of a graph network, chosen: a fill of the features, and what the graph itself says."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..errors import InputError, check_number
from ..graph import Graph
from ..solve import graph_of_rows, open_matrix
from ..solve._positions import normalized_adjacency
from ._input_blocks import (
    CONTEXT,
    CONTEXT_LENGTH,
    Floats,
    eigenvector_block,
    feature_blocks,
    held_out_scores,
    scaled,
)
from ._label_folds import NONE, Ints, LabelFolds, read_labels
from ._probe import Fit, Probe, fit

Choice = tuple[str, ...]

FEWEST_LABELLED = 20  # training nodes to choose by
MOST_KNOWN, MOST_JUDGED = 500, 2000  # nodes that the choice is made by
N_PARTS = 5  # of the training labels, that are held out in turn
EQUAL = 0.02  # of the labels' variance: candidates this near to the best are as good
ALIKE = 0.2  # of what the most frequent class leaves: what labels spread along edges must predict


@dataclass(frozen=True)
class NetworkInput:
    """What :func:`network_input` returns; printing it says what was chosen and why.

    Attributes
    ----------
    X : ndarray or tensor [nodes, columns]
        The chosen blocks side by side.
    blocks : dict
        Columns of each chosen block, in their order.
    scores : dict
        Per candidate, its blocks joined by " + ": the share of the variance of the labels held out
        that is explained, or of held-out cells where too few labels are given.
    accuracies : dict
        Per candidate, the share of these labels that is predicted right; empty for cells.
    judged_by : {"validation labels", "training labels", "held-out cells", "nothing"}
    reason : str
        One or two sentences.
    """

    __module__ = "graphfill"

    X: Any
    blocks: dict[str, int]
    scores: dict[str, float] = field(default_factory=dict)
    accuracies: dict[str, float] = field(default_factory=dict)
    judged_by: str = "nothing"
    reason: str = ""

    def __str__(self) -> str:
        chosen = " + ".join(self.blocks)
        lines = [f"{chosen}, {self.X.shape[1]} columns. {self.reason}"]
        for name in sorted(self.scores, key=lambda name: -self.scores[name]):
            right = f"  {self.accuracies[name]:6.1%} right" if name in self.accuracies else ""
            mark = "*" if name == chosen else " "
            lines.append(f"{mark} {self.scores[name]:6.3f}{right}  {name}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"NetworkInput({' + '.join(self.blocks)}, {self.X.shape[1]} columns)"


def network_input(
    X: Any,
    graph: Any,
    labels: Any = None,
    *,
    validation: Any = None,
    missing_mask: Any = None,
    seed: int = 0,
    threads: int | None = None,
) -> NetworkInput:
    r"""The best input for a graph network, whatever is missing: chosen among blocks of columns.

    A candidate is one fill of the features (zeros and an indicator, Feature Propagation with 40
    steps or its limit, PCFI; for 64 columns or fewer also eigenvectors and the coupled field) or
    none, with or without the graph's 20 leading eigenvectors, and with or without the training
    labels, propagated from folds that leave out a node's own. Each is scored by a small network
    with random hidden weights,

    .. math:: \Phi = [S G, H, P H], \quad G = \mathrm{ReLU}(S X V_1), \quad
        H = \mathrm{ReLU}(X V_2 + P X V_3),

    whose last layer is solved for, on the validation labels or, without them, on parts of the
    training labels held out in turn. Candidates within one standard error of the best, or 0.02 of
    the labels' variance, count as equal. Where propagated training labels predict each other,
    right in a fifth or more of the cases that the most frequent class leaves, the one of these
    with the most blocks is taken, else the one with the fewest of eigenvectors and labels.

    No label of a validation node is ever in `X`: only the choice depends on it. The same input
    gives the same bits for any number of threads.

    Parameters
    ----------
    X : array or tensor [nodes, features]
        NaN where missing. Known cells do not stay as they are: columns are scaled for a network.
    graph : Graph, or anything ``Graph.of`` recognises
    labels : array of whole numbers, optional
        The class of each training node; -1 or NaN for all others, of validation and test too.
        Without them, or with fewer than 20, held-out cells choose.
    validation : array of whole numbers, optional
        The class of each validation node, -1 or NaN for all others.
    missing_mask : array of bool, optional
        True where a cell is missing; must cover every NaN.
    seed : int
        Of the folds, the hidden weights and the held-out cells.
    threads : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> import graphfill as gf
    >>> rng = np.random.default_rng(0)
    >>> side = np.repeat([0, 1], 100)  # two groups with links inside them
    >>> ends = rng.integers(0, 100, (2, 900)) + 100 * rng.integers(0, 2, 900)
    >>> X = np.where(rng.random((200, 3)) < 0.5, np.nan, rng.normal(side[:, None], 2.0, (200, 3)))
    >>> labels = np.where(rng.random(200) < 0.3, side, -1)
    >>> chosen = gf.network_input(X, gf.Graph.from_edges(*ends, n_nodes=200), labels)
    >>> "labels" in chosen.blocks, chosen.judged_by
    (True, 'training labels')
    """
    check_number("seed", seed, low=0, integer=True)
    if threads is not None:
        check_number("threads", threads, low=1, integer=True)
    opened = open_matrix(X, missing_mask=missing_mask)
    linked = graph_of_rows(graph, len(opened.values))
    train, judge, n_classes = _labels(labels, validation, len(opened.values))
    # Products of matrices by several threads are rounded in another way than by one.
    with threadpool_limits(limits=1, user_api="blas"):
        search = _Search(opened.values, linked, train, n_classes, seed, threads)
        found = search.run(judge)
    if opened.kind == "torch":
        tensor = sys.modules["torch"].from_numpy(found.X).to(X.device)
        object.__setattr__(found, "X", tensor)
    return found


def _labels(labels: Any, validation: Any, n_nodes: int) -> tuple[Ints, Ints, int]:
    """Classes of training and validation nodes as 0, 1, ... (-1 for others), and their number."""
    none = np.full(n_nodes, NONE)
    train = none if labels is None else read_labels("labels", labels, n_nodes)
    judge = none if validation is None else read_labels("validation", validation, n_nodes)
    if n_nodes > 1 and (train != NONE).all():
        raise InputError(
            "labels names a class for every node, so that labels of test nodes would be part of "
            "the input: set those of nodes that are not trained on to -1."
        )
    both = (train != NONE) & (judge != NONE)
    if both.any():
        raise InputError(
            f"Row {int(np.argmax(both))} has a label in labels and in validation "
            f"({int(both.sum())} such rows): a node is in one of them."
        )
    # Classes that no training node has cannot be learned, and have no column.
    classes, codes = np.unique(train[train != NONE], return_inverse=True)
    train = train.copy()
    train[train != NONE] = codes
    place = np.searchsorted(classes, judge)
    seen = np.isin(judge, classes) & (judge != NONE)
    return train, np.where(seen, place, NONE), len(classes)


class _Search:
    """The blocks of one graph, and the choice among them."""

    def __init__(
        self,
        X: Floats,
        graph: Graph,
        train: Ints,
        n_classes: int,
        seed: int,
        threads: int | None,
    ) -> None:
        self.X, self.graph, self.seed, self.threads = X, graph, seed, threads
        self.codes, self.n_classes = train, n_classes
        self.labelled = np.flatnonzero(train != NONE)
        self.blocks = feature_blocks(X, graph, threads)
        self.fills = list(self.blocks)
        vectors = eigenvector_block(graph)
        if vectors.any():
            self.blocks["eigenvectors"] = vectors
        self.folds: LabelFolds | None = None
        if n_classes >= 2 and len(graph.indices):
            self.folds = LabelFolds(train, n_classes, normalized_adjacency(graph), seed)
            self.blocks["labels"] = self._label_block()
        if not self.blocks:
            raise InputError(
                "X has no known cell that differs from another, and there are neither links nor "
                "labels: there is nothing to make an input of."
            )

    def _label_block(self, held: tuple[int, ...] = ()) -> Floats:
        assert self.folds is not None
        return scaled(self.folds.block(held) - 1.0 / self.n_classes, CONTEXT_LENGTH)

    def run(self, judge: Ints) -> NetworkInput:
        """Score the candidates, choose, and put the blocks side by side."""
        judging = np.flatnonzero(judge != NONE)
        if len(self.labelled) < FEWEST_LABELLED or self.n_classes < 2:
            return self._by_cells()
        if len(judging) >= FEWEST_LABELLED:
            by, fits = "validation labels", self._by_validation(judging, judge)
        else:
            by, fits = "training labels", self._by_parts()
        best = {choice: found.best() for choice, found in fits.items()}
        leans, homophily = self._homophily()
        total = self._variance(judge[judging] if by == "validation labels" else None)
        chosen = _choose({choice: lost for choice, (lost, _) in best.items()}, total, leans)
        n_judged = len(next(iter(best.values()))[0])
        scores = {_name(c): 1.0 - float(lost.mean()) / total for c, (lost, _) in best.items()}
        right = {_name(choice): share for choice, (_, share) in best.items()}
        taste = "the most blocks" if leans else "the fewest of eigenvectors and labels"
        reason = (
            f"Chosen by the {by} of {n_judged} nodes. {homophily} Of the candidates as good as "
            f"the best, it has {taste}."
        )
        return self._made(chosen, scores, right, by, reason)

    def _made(
        self,
        chosen: Choice,
        scores: dict[str, float],
        right: dict[str, float],
        by: str,
        reason: str,
    ) -> NetworkInput:
        parts = [self.blocks[name].astype(self.X.dtype, copy=False) for name in chosen]
        widths = {name: part.shape[1] for name, part in zip(chosen, parts, strict=True)}
        return NetworkInput(np.hstack(parts), widths, scores, right, by, reason)

    def _candidates(self) -> list[Choice]:
        context = [name for name in CONTEXT if name in self.blocks]
        extra = [some for k in range(len(context) + 1) for some in combinations(context, k)]
        with_fill = [(name, *some) for some in extra for name in self.fills]
        return [*with_fill, *(some for some in extra if some)]

    def _sampled(self, rows: Ints, most: int) -> Ints:
        """Rows to choose by, no more than so many."""
        rng = np.random.default_rng([self.seed, 24])
        return np.sort(rng.permutation(rows)[:most])

    def _hidden(self, probe: Probe) -> dict[str, Any]:
        return {
            name: probe.hidden(block, number)
            for number, (name, block) in enumerate(self.blocks.items())
        }

    def _by_validation(self, judging: Ints, judge: Ints) -> dict[Choice, Fit]:
        known = self._sampled(self.labelled, MOST_KNOWN)
        judged = self._sampled(judging, MOST_JUDGED)
        probe = Probe(self.graph, np.concatenate([known, judged]), self.seed)
        hidden, fits = self._hidden(probe), {}
        for choice in self._candidates():
            phi = probe.features([hidden[name] for name in choice])
            first, rest = phi[: len(known)], phi[len(known) :]
            fits[choice] = fit(first, self.codes[known], rest, judge[judged], self.n_classes)
        return fits

    def _by_parts(self) -> dict[Choice, Fit]:
        """Each part of the training labels held out in turn, from the block of labels too."""
        rows = self._sampled(self.labelled, MOST_KNOWN)
        probe = Probe(self.graph, rows, self.seed)
        hidden, codes = self._hidden(probe), self.codes[rows]
        candidates = self._candidates()
        # What has no labels among its columns is the same whatever is held out.
        fixed = {c: probe.features([hidden[n] for n in c]) for c in candidates if "labels" not in c}
        fold = self.folds.fold[rows] if self.folds is not None else np.arange(len(rows))
        part = fold % N_PARTS
        fits: dict[Choice, list[Fit]] = {choice: [] for choice in candidates}
        for number in range(N_PARTS):
            if self.folds is not None:
                held = tuple(range(number, self.folds.n_folds, N_PARTS))
                place = list(self.blocks).index("labels")
                hidden["labels"] = probe.hidden(self._label_block(held), place)
            out = part == number
            for choice in candidates:
                phi = fixed.get(choice)
                if phi is None:
                    phi = probe.features([hidden[name] for name in choice])
                fits[choice].append(
                    fit(phi[~out], codes[~out], phi[out], codes[out], self.n_classes)
                )
        return {choice: Fit.joined(parts) for choice, parts in fits.items()}

    def _variance(self, judged: Ints | None) -> float:
        """Of the judged labels about the shares of the training labels."""
        targets = np.eye(self.n_classes)
        share = targets[self.codes[self.labelled]].mean(axis=0)
        truth = targets[self.codes[self.labelled] if judged is None else judged]
        return float(np.square(truth - share).sum(axis=1).mean())

    def _homophily(self) -> tuple[bool, str]:
        """Whether labels spread along edges predict much more than the most frequent class does."""
        share = float(np.bincount(self.codes[self.labelled]).max()) / len(self.labelled)
        if self.folds is None:
            return False, "There are no links."
        guesses = self.folds.block()[self.labelled].argmax(axis=1)
        right = float((guesses == self.codes[self.labelled]).mean())
        error = np.sqrt(max(right * (1.0 - right), 0.25 / len(self.labelled)) / len(self.labelled))
        return right - share > max(2.0 * error, ALIKE * (1.0 - share)), (
            f"Training labels, propagated, predict {right:.0%} of each other, and the most "
            f"frequent class is {share:.0%}."
        )

    def _by_cells(self) -> NetworkInput:
        """Without labels to choose by: the fill by held-out cells, eigenvectors if it is of use."""
        n = len(self.labelled)
        why = "No training labels are given" if n == 0 else f"{n} training nodes are too few"
        scores: dict[str, float] = {}
        chosen: Choice = tuple(self.fills[:1]) if self.fills == ["features"] else ()
        if self.fills and not chosen:
            scores = held_out_scores(self.X, self.graph, self.threads, self.seed)
            scores = {name: score for name, score in scores.items() if name in self.fills}
            usual = "pcfi" if "pcfi" in self.fills else self.fills[0]
            chosen = (max(scores, key=lambda name: round(scores[name], 9)) if scores else usual,)
        smooth = not self.fills or any(scores[name] > 0 for name in scores)
        if "eigenvectors" in self.blocks and (smooth or not chosen):
            chosen = (*chosen, "eigenvectors")
        if "labels" in self.blocks and not chosen:
            chosen = ("labels",)
        by = "held-out cells" if scores else "nothing"
        reason = f"{why}, so it was chosen by {by if scores else 'what is known at all'}."
        return self._made(chosen, scores, {}, by, reason)


def _name(choice: Choice) -> str:
    return " + ".join(choice)


def _choose(lost: dict[Choice, NDArray[Any]], variance: float, leans: bool) -> Choice:
    """Of those as good as the best, but for a standard error or `EQUAL`, by their blocks."""
    mean = {choice: round(float(of.mean()), 9) for choice, of in lost.items()}
    best = min(mean, key=lambda choice: mean[choice])
    near = []
    for choice, of in lost.items():
        difference = of - lost[best]
        error = float(difference.std()) / np.sqrt(max(1, len(of) - 1))
        if mean[choice] - mean[best] <= max(error, EQUAL * variance):
            near.append(choice)

    def rank(choice: Choice) -> tuple[int, float]:
        return -len(choice) if leans else len(set(choice) & set(CONTEXT)), mean[choice]

    return min(near, key=rank)


# Doctests are looked for in the module that a function names, which is not this one.
__test__ = {"network_input": network_input}
