"""Columns made of a few eigenvectors of the graph, as an estimator."""

from __future__ import annotations

import warnings
from typing import Any

from ..errors import UnreachedWarning
from ..graph._graph import Graph
from ..solve import LearntSpectral, SpectralOptions, fill_spectral_with
from ._base import Fill, Floats, GraphImputer


class SpectralImputer(GraphImputer):
    r"""Fill missing cells from a few eigenvectors of the graph, where that is better than FP.

    A standardised column is

    .. math:: z = F b + e, \quad b \sim N(0, s I), \quad e \sim N(0, (1 - s) I)

    with F some leading eigenvectors of the normalised adjacency, rows of length 1. `fit` learns how
    many, of which sign, the share s of each column, and by cells held out which columns Feature
    Propagation fills instead; `transform` fills by them. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        As in :class:`FeaturePropagation`. None: rows are unrelated, and cells get the mean.
    fallback, seed, memory_limit, threads
        As in :func:`graphfill.fill_spectral`.
    unreached : {"mean", "zero", "nan"}
        What to put where no known cell of the column is connected to the node: the column's mean
        in `fit` (0 if it has none), 0, or NaN.
    add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    n_vectors_, side_, spectral_, errors_
        See :class:`graphfill.SpectralResult`.
    n_iter_ : int
        Products with the graph in `fit`.
    residual_ : float
        Of the eigenvectors.
    graph_, unreached_, statistics_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    See Also
    --------
    graphfill.fill_spectral : The same as a plain function.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfill import Graph, SpectralImputer
    >>> rng = np.random.default_rng(0)
    >>> graph = Graph.from_edges(rng.integers(0, 200, 2000), rng.integers(200, 400, 2000))
    >>> x = np.repeat([1.0, -1.0], 200)
    >>> X = np.where(np.arange(400) % 10 == 0, x, np.nan)[:, None]
    >>> bool((np.sign(SpectralImputer(graph).fit_transform(X)[:, 0]) == x).all())
    True
    """

    __module__ = "graphfill"

    def __init__(
        self,
        graph: Any = None,
        *,
        fallback: bool = True,
        seed: int = 0,
        unreached: str = "mean",
        memory_limit: int | float | str | None = None,
        threads: int | None = None,
        add_indicator: bool = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.fallback, self.seed, self.unreached = graph, fallback, seed, unreached
        self.memory_limit, self.threads = memory_limit, threads
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features

    def _prepare(self) -> None:
        super()._prepare()
        self._learnt: LearntSpectral | None = None

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        options = SpectralOptions(
            fallback=self.fallback,
            seed=self.seed,
            memory_limit=self.memory_limit,
            threads=self.threads,
        )
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            result, self._learnt = fill_spectral_with(X, graph, options, learnt=self._learnt)
        unreached = result.unreached if result.n_unreached else None
        return Fill(result.X, unreached, result.n_iter, result.residual)

    def _keep(self, graph: Graph, table: Floats, fill: Fill) -> None:
        self.n_iter_, self.residual_ = fill.n_iter, fill.residual
        assert self._learnt is not None
        model, held_out = self._learnt.model, self._learnt.held_out
        self.n_vectors_, self.side_ = model.count, model.side
        self.spectral_, self.errors_ = held_out.chosen, held_out.errors


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {"SpectralImputer": SpectralImputer}
