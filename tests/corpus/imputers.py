"""Runs of the imputers, with nodes that arrive later among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from corpus.problems import edges_of, graph_of, lonely, matrix_of, problem

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}
N_NEW = 12


def _propagation(**options: Any) -> dict[str, Any]:
    """Fit, fill, and fill another table of the same nodes."""
    X, graph = problem(seed=2)
    imputer = gf.FeaturePropagation(graph, **options)
    return {
        "fitted": imputer.fit_transform(X),
        "another": imputer.transform(matrix_of(150, 5, seed=3)),
        "statistics": imputer.statistics_,
        "names": " ".join(imputer.get_feature_names_out()),
        "said": f"{imputer!r} {imputer.n_iter_}",
    }


RUNS["propagation"] = _propagation
RUNS["propagation exact with indicator"] = partial(
    _propagation, solver="exact", normalization="rw", add_indicator=True
)


def _baselines() -> dict[str, Any]:
    """The imputers to compare with, on a graph with isolated nodes."""
    X, graph = lonely(n=60)
    parts: dict[str, Any] = {
        "zero": gf.ZeroImputer().fit_transform(X),
        "mean": gf.MeanImputer(graph, add_indicator=True).fit_transform(X),
        "random": gf.RandomImputer(random_state=4).fit_transform(X),
        "random float32": gf.RandomImputer(random_state=4).fit_transform(X.astype("float32")),
    }
    for policy in ("zero", "mean", "nan"):
        imputer = gf.NeighborMeanImputer(graph, unreached=policy)
        parts[f"neighbours {policy}"] = imputer.fit_transform(X)
    parts["unreached"] = imputer.unreached_
    weighted = graph_of(150, weighted=True)
    parts["weighted"] = gf.NeighborMeanImputer(weighted).fit_transform(problem()[0])
    return parts


def _empty_columns() -> dict[str, Any]:
    """A column without a known cell, dropped by some and kept by others."""
    X, graph = problem(n=70, columns=3)
    X[:, 1] = np.nan
    dropping = gf.FeaturePropagation(graph, keep_empty_features=False)
    return {
        "dropped": dropping.fit_transform(X),
        "names": " ".join(dropping.get_feature_names_out(["a", "b", "c"])),
        "kept": gf.FeaturePropagation(graph, unreached="mean").fit_transform(X),
        "mean": gf.MeanImputer(unreached="nan").fit_transform(X),
    }


def _rows_by_id() -> dict[str, Any]:
    """Pandas tables that hold some of the nodes in any order, by their index."""
    import pandas as pd

    n = 90
    ids = np.array([f"n{i:02d}" for i in range(n)])
    ends = ids[edges_of(n)]
    graph = gf.Graph.from_edges(ends[0], ends[1], nodes=ids)
    order = np.random.default_rng(0).permutation(n)
    frame = pd.DataFrame(matrix_of(n, 3)[order], index=ids[order], columns=["a", "b", "c"])
    imputer = gf.FeaturePropagation(graph, solver="exact", normalization="rw")
    filled = imputer.fit_transform(frame.iloc[:70])
    some = imputer.transform(frame.iloc[60:90])
    return {
        "filled": filled.to_numpy(),
        "some": some.to_numpy(),
        "index": " ".join(some.index),
        "neighbours": gf.NeighborMeanImputer(graph).fit_transform(frame).to_numpy(),
    }


def _newcomers(columns: int = 4, weighted: bool = False, **options: Any) -> dict[str, Any]:
    """Nodes that arrive after the fit, with links among them and to fitted ones."""
    n = 200
    X, edges = matrix_of(n, columns, seed=6), edges_of(n, seed=6)
    weight = np.random.default_rng(6).random(edges.shape[1]) + 0.5
    late = (edges >= n - N_NEW).any(axis=0)
    early = weight[~late] if weighted else None
    graph = gf.Graph.from_edges(edges[:, ~late], n_nodes=n - N_NEW, weight=early)
    imputer = gf.FeaturePropagation(graph, keep_fill=True, **options).fit(X[:-N_NEW])
    more: dict[str, Any] = {"weight": weight[late]} if weighted else {}
    near = imputer.transform_new(X[-N_NEW:], edges[:, late], **more)
    done = imputer.newcomers_
    wide, difference = imputer.transform_new(
        X[-N_NEW:], edges[:, late], hops=3, return_difference=True, **more
    )
    said = f"{done.n_new} {done.n_resolved} {done.n_held} {done.n_columns}, {difference:.3g}"
    return {"near": near, "wide": wide, "said": said}


def _newcomers_by_id() -> dict[str, Any]:
    """The same by id, in pandas."""
    import pandas as pd

    n = 80
    ids = np.array([f"n{i:02d}" for i in range(n)])
    ends = ids[edges_of(n, 8)]
    graph = gf.Graph.from_edges(ends[0], ends[1], nodes=ids)
    imputer = gf.FeaturePropagation(graph, normalization="rw", solver="exact", keep_fill=True)
    imputer.fit(pd.DataFrame(matrix_of(n, 2, 8), index=ids, columns=["a", "b"]))
    new = pd.DataFrame({"a": [np.nan, 2.0], "b": [np.nan, np.nan]}, index=["new", "newer"])
    links = pd.DataFrame({"source": ["new", "new", "newer"], "target": ["n03", "newer", "n70"]})
    filled = imputer.transform_new(new, links)
    return {"filled": filled.to_numpy(), "index": " ".join(filled.index)}


RUNS |= {
    "baselines": _baselines,
    "empty columns": _empty_columns,
    "rows by id": _rows_by_id,
    "newcomers": _newcomers,
    "newcomers exact rw": partial(_newcomers, solver="exact", normalization="rw"),
    "newcomers exact, many columns": partial(_newcomers, columns=70, solver="exact"),
    "newcomers weighted": partial(_newcomers, weighted=True, normalization="rw", shrinkage=0.1),
    "newcomers by id": _newcomers_by_id,
}
