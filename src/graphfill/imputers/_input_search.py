"""The blocks of one graph, the candidates made of them, and the choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..graph import Graph
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
from ._label_folds import NONE, Ints, LabelFolds
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


class Search:
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
        # A trained network makes more of a fill than the random one does: there is always one.
        if self.fills:
            return [(name, *some) for some in extra for name in self.fills]
        return [some for some in extra if some]

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
