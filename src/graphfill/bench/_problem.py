"""What is run, and what comes of it: plain records that every other module of bench shares."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from importlib import resources

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError
from ..graph._graph import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# What there is to run by name, and what each is; titles as the paper has them; files of sets.
CATALOGUE: dict[str, dict[str, str]] = json.loads(
    resources.files(__package__).joinpath("catalogue.json").read_text("utf-8")
)
BATCH = 1024  # seed nodes where the graph is too large for a step on all of it


@dataclass(frozen=True)
class Split:
    """Rows to learn from, to choose by and to judge on: sorted row numbers, none in two parts."""

    train: Ints
    val: Ints
    test: Ints


@dataclass(frozen=True)
class Dataset:
    """A graph whose nodes have features and a class each."""

    name: str
    graph: Graph
    X: Floats | sparse.csr_array | None  # None: no features; NaN: never known
    y: Ints  # 0 to n_classes - 1; -1 where unknown, and then in no split
    official: tuple[Split, ...] = ()  # the splits that come with the set
    # Which column of a table each feature belongs to: the indicators of a category are one cell,
    # known or missing together. None: every feature is a column.
    cells: Ints | None = None

    @property
    def n_nodes(self) -> int:
        return self.graph.n_nodes

    def count_cells(self, missing: NDArray[np.bool_]) -> int:
        """How many cells of the table are missing, given which features are."""
        if self.cells is None:
            return int(missing.sum())
        return int(missing[:, np.unique(self.cells, return_index=True)[1]].sum())

    @property
    def n_features(self) -> int:
        return 0 if self.X is None else int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def check_has_features(self, method: str) -> None:
        """Refuse to fill what is not there."""
        if self.n_features == 0:
            raise InputError(
                f"The set {self.name!r} has no features here, which method {method!r} takes: run "
                "'labels' or 'positional' on it, or unset GRAPHFILL_DATA so that it is downloaded "
                "with them."
            )

    def check_complete(self, missing: NDArray[np.bool_]) -> None:
        """Refuse the true features of a set that has gaps of its own."""
        n_gaps = self.count_cells(missing)
        if n_gaps:
            raise InputError(
                f"Method 'full' takes a table without gaps but {n_gaps} cells of {self.name!r} are "
                "missing: leave 'full' out."
            )

    def dense(self) -> Floats:
        """The features as a new float32 array [n_nodes, n_features]; none: of no columns."""
        if self.X is None:
            return np.zeros((self.n_nodes, 0), dtype=np.float32)
        if sparse.issparse(self.X):
            dense: Floats = sparse.csr_array(self.X).toarray().astype(np.float32, copy=False)
            return dense
        return np.array(self.X, dtype=np.float32)


@dataclass(frozen=True)
class Problem:
    """A set, who may learn from what, and which cells are hidden (True = missing)."""

    dataset: Dataset
    split: Split
    missing: NDArray[np.bool_] | None
    seed: int

    def incomplete(self) -> Floats:
        """The features as a method sees them: NaN where missing.

        >>> pair = Dataset("pair", Graph.from_edges([0], [1]), np.ones((2, 1), np.float32),
        ...                np.array([0, 1]))
        >>> none = np.array([], np.int64)
        >>> hidden = np.array([[True], [False]])
        >>> Problem(pair, Split(none, none, none), hidden, seed=0).incomplete().ravel()
        array([nan,  1.], dtype=float32)
        """
        X = self.dataset.dense()
        if self.missing is not None:
            X[self.missing] = np.nan
        return X


@dataclass(frozen=True)
class Setting:
    """How a network is built and trained; the defaults are the paper's for its five graphs."""

    hidden: int = 64
    n_layers: int = 2
    dropout: float = 0.5
    lr: float = 0.005
    weight_decay: float = 0.0
    max_epochs: int = 10_000
    patience: int = 200
    jumping: str | None = None  # "max": over all layers, then a linear layer
    batch: int | None = None  # seed nodes per mini-batch, whose neighbours are sampled
    fanout: tuple[int, ...] = (15, 10, 5)  # neighbours per layer, where they are

    def usual(self, name: str, method: str) -> Setting:
        """Larger networks on OGB's two graphs; what trains no network stays as it is."""
        if method.startswith("labels") or name not in ("arxiv", "products"):
            return self
        large = replace(self, n_layers=3, hidden=256)
        if name == "arxiv":
            return replace(large, jumping="max")
        return replace(large, batch=BATCH)


@dataclass(frozen=True)
class Outcome:
    """What a run gave: accuracies in percent, times in seconds."""

    test_accuracy: float
    val_accuracy: float
    n_epochs: int
    best_epoch: int
    fill_seconds: float
    train_seconds: float
    # ||filled - true|| / ||true|| over the hidden cells; None where nothing was filled.
    reconstruction: float | None = None
    # What a method chose by itself, such as {"alpha": 0.9}.
    details: dict[str, float | str] = field(default_factory=dict)


def check_name(kind: str, name: str, names: Collection[str] = ()) -> None:
    """Refuse the name of a set, method, model, mask or split that there is none of."""
    names = names or CATALOGUE[f"{kind}s"]
    if name in names:
        return
    near = difflib.get_close_matches(str(name), list(names), 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    raise InputError(f"There is no {kind} {name!r}: {hint}")
