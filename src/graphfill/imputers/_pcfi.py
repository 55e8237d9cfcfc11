"""PCFI and FISF as estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import UnreachedWarning
from ..graph._graph import Graph
from ..solve import FISFOptions, PCFIOptions, fill_pcfi_with
from ._base import Fill, Floats, GraphImputer


class _Confident(GraphImputer):
    """What both have in common: the options of one class, the fill that goes by them."""

    _made_of: type[PCFIOptions]

    def _options(self) -> PCFIOptions:
        names = [name for name in self._made_of.__dataclass_fields__ if name != "unreached"]
        return self._made_of(**{name: getattr(self, name) for name in names})

    def _prepare(self) -> None:
        super()._prepare()
        self._options()

    def _fill(self, X: Floats, graph: Graph) -> Fill:
        with warnings.catch_warnings():
            # The base class says it for all imputers, and knows the names of the columns.
            warnings.simplefilter("ignore", UnreachedWarning)
            result = fill_pcfi_with(X, graph, self._options())
        unreached = result.unreached if result.n_unreached else None
        return Fill(result.X, unreached, result.n_iter, result.residual)

    def _keep(self, graph: Graph, table: Floats, fill: Fill) -> None:
        self.n_iter_, self.residual_ = fill.n_iter, fill.residual


class PCFI(_Confident):
    r"""Fill missing cells from the neighbours, the nearer to known ones the more, and the row.

    Repeats, with :math:`\xi = \alpha^s` for a cell s hops from a known one,

    .. math:: X \leftarrow [A (\xi \odot X)] \oslash [A \xi]

    and then adds to a cell what its row's other columns say, the more the lower its own
    :math:`\xi`; see :func:`graphfill.fill_pcfi`. Known cells keep their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        As in :class:`FeaturePropagation`.
    alpha, beta, n_iter
        As in :func:`graphfill.fill_pcfi`.
    unreached : {"zero", "mean", "nan"}
        What the row's other columns add to where no known cell of the column is connected to the
        node: 0, or the column's mean in `fit` (0 if it has none). "nan" leaves the cell missing.
    memory_limit, threads
        As in :func:`graphfill.propagate`.
    add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    n_iter_ : int
        Steps taken in `fit`.
    residual_ : float
        The change of the last step in `fit` relative to that of the first.
    graph_, unreached_, statistics_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    See Also
    --------
    graphfill.fill_pcfi : The same as a plain function.
    FISF : The same diffusion, with made-up numbers in columns that hardly vary.

    References
    ----------
    Um, Park, Park and Choi, Confidence-Based Feature Imputation for Graphs with Partially Known
    Features, ICLR 2023.

    Examples
    --------
    >>> from graphfill import PCFI, Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=4)
    >>> PCFI(path).fit_transform([[1.0], [None], [None], [4.0]]).round(2)
    array([[1.  ],
           [1.96],
           [3.04],
           [4.  ]])
    """

    __module__ = "graphfill"
    _made_of = PCFIOptions
    _lack = "have no known cell of their column connected to them"

    def __init__(
        self,
        graph: Any = None,
        *,
        alpha: float = 0.9,
        beta: float = 1.0,
        n_iter: int = 100,
        unreached: str = "zero",
        memory_limit: int | float | str | None = None,
        threads: int | None = None,
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.alpha, self.beta, self.n_iter = graph, alpha, beta, n_iter
        self.unreached, self.memory_limit, self.threads = unreached, memory_limit, threads
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features

    def _apply_policy(self, fill: Fill, means: Floats) -> None:
        """Here the policy says what is added to."""
        if self.unreached == "nan":
            super()._apply_policy(fill, means)
        elif self.unreached == "mean" and fill.unreached is not None:
            start = np.nan_to_num(means)
            np.add(fill.X, start, out=fill.X, where=fill.unreached, casting="same_kind")

    def _remedy(self) -> str:
        return super()._remedy() + (self._options().added if self.unreached != "nan" else "")


class FISF(_Confident):
    r"""Fill missing cells as :class:`PCFI` begins, with made-up numbers where columns hardly vary.

    The diffusion of :class:`PCFI`; then the columns that vary least are diffused again with one
    random number each in a random missing cell; see :func:`graphfill.fill_fisf`. Known cells keep
    their bits.

    Parameters
    ----------
    graph : Graph, or anything ``Graph.of`` recognises; None
        As in :class:`FeaturePropagation`.
    alpha, beta, gamma, n_iter, seed
        As in :func:`graphfill.fill_fisf`.
    unreached : {"zero", "mean", "nan"}
        As in :class:`FeaturePropagation`.
    memory_limit, threads
        As in :func:`graphfill.propagate`.
    add_indicator, keep_empty_features
        As in :class:`FeaturePropagation`.

    Attributes
    ----------
    n_iter_, residual_
        As in :class:`PCFI`.
    graph_, unreached_, statistics_, indicator_, n_features_in_, feature_names_in_
        As in :class:`FeaturePropagation`.

    See Also
    --------
    graphfill.fill_fisf : The same as a plain function.

    References
    ----------
    Um, Kim, Park and Park, Propagate and Inject: Revisiting Propagation-Based Feature Imputation
    for Graphs with Partially Observed Features, ICML 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from graphfill import FISF, Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=4)
    >>> X = np.array([[1.0, 1.0]] + 3 * [[np.nan, np.nan]])
    >>> FISF(path, gamma=0.5).fit_transform(X)[:, 1].round(3)  # nothing is made up here
    array([1., 1., 1., 1.])
    """

    __module__ = "graphfill"
    _made_of = FISFOptions

    def __init__(
        self,
        graph: Any = None,
        *,
        alpha: float = 0.9,
        beta: float = 0.9,
        gamma: float = 0.7,
        n_iter: int = 100,
        seed: int = 0,
        unreached: str = "zero",
        memory_limit: int | float | str | None = None,
        threads: int | None = None,
        add_indicator: bool | str = False,
        keep_empty_features: bool = True,
    ) -> None:
        self.graph, self.alpha, self.beta, self.gamma = graph, alpha, beta, gamma
        self.n_iter, self.seed = n_iter, seed
        self.unreached, self.memory_limit, self.threads = unreached, memory_limit, threads
        self.add_indicator, self.keep_empty_features = add_indicator, keep_empty_features


# Doctests are looked for in the module that a class names, which is not this one.
__test__ = {"PCFI": PCFI, "FISF": FISF}
