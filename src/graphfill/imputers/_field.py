"""The coupled field as an estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import UnreachedWarning
from ..graph._graph import Graph
from ..solve import FieldModel, FieldOptions, fill_field_with
from ._base import Fill, Floats, GraphImputer


class FieldImputer(GraphImputer):
    r"""Fill missing cells from the neighbours and from the row's other columns.

    The missing cells of the standardised columns Z minimise

    .. math:: \operatorname{tr}(\Omega Z^T Z) + \operatorname{tr}(\Theta Z^T L Z)

    with L the Laplacian of the graph. `fit` learns the scales of the columns and the matrices
    :math:`\Omega` and :math:`\Theta`; `transform` fills by them. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        As in :class:`FeaturePropagation`. None: rows are unrelated, and a cell is filled from the
        other columns of its row.
    tol, seed, memory_limit, threads
        As in :func:`graphfill.fill_field`.
    unreached : {"mean", "zero", "nan"}
        What to put where no known cell of any column is connected to the node, and in columns
        without a known cell: the column's mean in `fit` (0 if it has none), 0, or NaN.
    add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    omega_, theta_ : ndarray of shape (n_varying, n_varying)
        The two matrices, for the standardised columns whose known cells vary.
    n_iter_ : int
        Iterations in `fit`.
    residual_ : float
        See :func:`graphfill.fill_field`.
    graph_, unreached_, statistics_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    See Also
    --------
    graphfill.fill_field : The same as a plain function.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfill import FieldImputer, Graph
    >>> x = np.sin(np.arange(200.0) ** 2)
    >>> X = np.column_stack([x, 2 * x])
    >>> X[7, 0] = np.nan
    >>> path = Graph.from_edges(np.arange(199), np.arange(1, 200))
    >>> bool(abs(FieldImputer(path).fit_transform(X)[7, 0] - x[7]) < 0.05)
    True
    """

    __module__ = "graphfill"

    def __init__(
        self,
        graph: Any = None,
        *,
        tol: float = 1e-3,
        seed: int = 0,
        unreached: str = "mean",
        memory_limit: int | float | str | None = None,
        threads: int | None = None,
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.tol, self.seed, self.unreached = graph, tol, seed, unreached
        self.memory_limit, self.threads = memory_limit, threads
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features

    def _prepare(self) -> None:
        super()._prepare()
        self._model: FieldModel | None = None

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        options = FieldOptions(
            tol=self.tol, seed=self.seed, memory_limit=self.memory_limit, threads=self.threads
        )
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            result, self._model = fill_field_with(X, graph, options, model=self._model)
        unreached = result.unreached if result.n_unreached else None
        return Fill(result.X, unreached, result.n_iter, result.residual)

    def _keep(self, graph: Graph, table: Floats, fill: Fill) -> None:
        self.n_iter_, self.residual_ = fill.n_iter, fill.residual
        assert self._model is not None
        coupling = self._model.coupling
        self.omega_ = np.empty((0, 0)) if coupling is None else coupling.omega
        self.theta_ = np.empty((0, 0)) if coupling is None else coupling.theta


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {"FieldImputer": FieldImputer}
