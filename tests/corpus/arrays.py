"""Runs of `graphfill.propagate` and `graphfill.propagate_hetero` on matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from corpus.problems import edges_of, graph_of, islands, lonely, matrix_of, problem

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}

# Name, what the problem is made of, and the options.
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "diffusion": ({}, {}),
    "diffusion float32": ({"dtype": "float32"}, {}),
    "diffusion rw": ({"columns": 19}, {"normalization": "rw"}),
    "diffusion rw float32": ({"dtype": "float32", "columns": 33}, {"normalization": "rw"}),
    "diffusion weighted": ({"weighted": True}, {"n_iter": 25}),
    "diffusion with loops": ({"dtype": "float32"}, {"self_loops": True, "n_iter": 7}),
    "diffusion of no steps": ({}, {"n_iter": 0}),
    "diffusion that misses tol": ({}, {"n_iter": 3, "tol": 1e-8}),
    "chebyshev": ({}, {"solver": "chebyshev"}),
    "chebyshev rw float32": (
        {"dtype": "float32"},
        {"solver": "chebyshev", "normalization": "rw", "n_iter": 90},
    ),
    "exact": ({}, {"solver": "exact"}),
    "exact float32": ({"dtype": "float32", "columns": 17}, {"solver": "exact"}),
    "exact rw": ({}, {"solver": "exact", "normalization": "rw"}),
    "exact rw float32": ({"dtype": "float32"}, {"solver": "exact", "normalization": "rw"}),
    "exact rw weighted": ({"weighted": True}, {"solver": "exact", "normalization": "rw"}),
    "exact weights nine decades apart": (
        {"weighted": True, "decades": 9.0, "dtype": "float32"},
        {"solver": "exact", "normalization": "rw"},
    ),
    "exact with loops": ({}, {"solver": "exact", "self_loops": True}),
    "exact that stops early": ({}, {"solver": "exact", "max_iter": 3}),
    "exact to a rough tol": ({}, {"solver": "exact", "tol": 1e-2}),
    "shrinkage rw exact": ({}, {"solver": "exact", "normalization": "rw", "shrinkage": 0.2}),
    "shrinkage sym exact": ({"dtype": "float32"}, {"solver": "exact", "shrinkage": 0.05}),
    "shrinkage rw diffusion": ({}, {"normalization": "rw", "shrinkage": 0.5}),
    "shrinkage sym chebyshev": ({}, {"solver": "chebyshev", "shrinkage": 0.1}),
    "tiny exact": ({"n": 40}, {"solver": "exact"}),
    "tiny exact rw float32": (
        {"n": 64, "dtype": "float32"},
        {"solver": "exact", "normalization": "rw"},
    ),
    "tiny exact weights twelve decades apart": (
        {"n": 30, "weighted": True, "decades": 12.0},
        {"solver": "exact", "normalization": "rw"},
    ),
    "tiny shrinkage": (
        {"n": 50},
        {"solver": "exact", "normalization": "rw", "shrinkage": 0.3, "self_loops": True},
    ),
    "tiny diffusion": ({"n": 12, "columns": 2}, {"n_iter": 40}),
    "memory limit diffusion": ({"columns": 40}, {"memory_limit": 120_000, "threads": 2}),
    "memory limit exact": (
        {"columns": 40, "dtype": "float32"},
        {"solver": "exact", "memory_limit": "90kB", "normalization": "rw", "threads": 2},
    ),
    "reordered diffusion": ({"n": 400}, {"reorder": True}),
    "reordered exact": ({"n": 400, "weighted": True}, {"reorder": True, "solver": "exact"}),
    "not reordered, one thread": ({"n": 400}, {"reorder": False, "threads": 1}),
}


def told(result: gf.Result) -> dict[str, Any]:
    """A result as parts; residuals of a solution are rounding, and not among them."""
    said = f"{result.n_iter} steps, converged {result.converged}, {result.n_unreached} unreached"
    parts = {"X": np.asarray(result.X), "said": said}
    return parts | ({"unreached": result.unreached} if result.n_unreached else {})


def _setting(made: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    return told(gf.propagate(*problem(**made), **options))


for _name, (_made, _options) in SETTINGS.items():
    RUNS[_name] = partial(_setting, _made, _options)


def _unreached(unreached: str, dtype: str, **options: Any) -> dict[str, Any]:
    return told(gf.propagate(*lonely(dtype=dtype), unreached=unreached, **options))


RUNS["unreached zero"] = partial(_unreached, "zero", "float64")
RUNS["unreached mean"] = partial(_unreached, "mean", "float32", solver="exact")
RUNS["unreached nan"] = partial(_unreached, "nan", "float64", solver="exact", normalization="rw")


def _islands(normalization: str, solver: str) -> dict[str, Any]:
    """Each component by itself, so that small ones are compared at their own size."""
    sizes = (1.0, 1e7, 1e-6)
    result = gf.propagate(*islands(sizes), normalization=normalization, solver=solver)
    parts = np.split(result.X, len(sizes))
    return {f"size {size:g}": part for size, part in zip(sizes, parts, strict=True)}


RUNS["components of unlike sizes rw exact"] = partial(_islands, "rw", "exact")
RUNS["components of unlike sizes sym exact"] = partial(_islands, "sym", "exact")
RUNS["components of unlike sizes diffusion"] = partial(_islands, "sym", "diffusion")


def _start() -> dict[str, Any]:
    """A start that is not zero, for few steps and for the limit."""
    X, graph = problem()
    start = matrix_of(150, 5, seed=9, share=0.0)
    few = gf.propagate(X, graph, start=start, n_iter=4)
    limit = gf.propagate(X, graph, start=start, solver="exact", normalization="rw")
    return {"few steps": few.X, "limit": limit.X, "said": f"{few.n_iter}, {limit.n_iter}"}


def _masks() -> dict[str, Any]:
    """Cells that a mask says are missing: of some cells, and of whole nodes."""
    X, graph = problem()
    whole = matrix_of(150, 5, share=0.0)
    nodes = np.repeat((np.arange(150) % 3 == 0)[:, None], 5, axis=1)
    return {
        "by cell": gf.propagate(whole, graph, missing_mask=np.isnan(X)).X,
        "by node": gf.propagate(whole, graph, missing_mask=nodes, solver="exact").X,
        "by node float32": gf.propagate(
            whole.astype("float32"), graph, missing_mask=nodes, normalization="rw"
        ).X,
        "integers": gf.propagate((9 * whole).astype(int), graph, missing_mask=np.isnan(X)).X,
    }


def _containers() -> dict[str, Any]:
    """Matrices that are no arrays, and one that has a single column."""
    import pandas as pd
    import polars as pl
    import torch

    X, graph = problem()
    names = list("abcde")
    index = [f"row {i}" for i in range(150)]
    frame = gf.propagate(pd.DataFrame(X, columns=names, index=index), graph).X
    other = gf.propagate(pl.DataFrame(X, schema=names).fill_nan(None), graph).X
    tensor = gf.propagate(torch.from_numpy(X.astype("float32")), graph).X
    return {
        "pandas": frame.to_numpy(),
        "pandas index": "\n".join(frame.index[:3]),
        "polars": other.to_numpy(),
        "kinds": f"{type(frame)} {type(other)} {type(tensor)} {tensor.dtype}",
        "torch": tensor.numpy(),
        "vector": gf.propagate(X[:, 0], graph, solver="exact").X,
        "list": gf.propagate([1.0, None, 4.0], [(0, 1), (1, 2)], normalization="rw").X,
        "fortran": gf.propagate(np.asfortranarray(X), graph).X,
    }


def _graphs() -> dict[str, Any]:
    """Graphs that come in other forms than Graph, and what they are taken for."""
    import igraph
    import networkx as nx
    import scipy.sparse

    n = 80
    X, edges = matrix_of(n, 2), edges_of(n)
    made = graph_of(n)
    matrix = scipy.sparse.csr_array(
        (np.ones(len(made.indices)), made.indices, made.indptr), shape=(n, n)
    )
    library = nx.empty_graph(n)
    library.add_edges_from(edges.T.tolist())
    forms = {
        "pairs": edges.T.tolist(),
        "edge_index": edges,
        "scipy": matrix,
        "dense": matrix.toarray(),
        "networkx": library,
        "igraph": igraph.Graph(n, edges.T.tolist()),
    }
    parts: dict[str, Any] = {}
    for name, form in forms.items():
        graph = gf.Graph.of(form, n_nodes=n)
        parts[name] = gf.propagate(X, graph, solver="exact").X
        parts[f"{name} graph"] = f"{graph!r} {graph.n_self_loops} loops"
    named = gf.Graph.from_edges(["b", "a", "a"], ["c", "b", "a"], weight=[2, 1, 5], self_loops=True)
    parts |= {"ids": named.ids.astype(str), "indptr": named.indptr, "indices": named.indices}
    return parts | {"weights": named.weights, "degrees": named.degrees()}


RUNS |= {"start": _start, "masks": _masks, "containers": _containers, "graphs": _graphs}


def _library() -> tuple[dict[str, Any], dict[Any, Any]]:
    """Papers, their authors and subjects: features, and edges of two types."""
    rng = np.random.default_rng(5)
    papers, authors = matrix_of(90, 4, 3), matrix_of(40, 4, 4) * 5
    edges = {
        ("author", "writes", "paper"): (rng.integers(0, 40, 200), rng.integers(0, 90, 200)),
        ("paper", "on", "subject"): (np.arange(90), rng.integers(0, 6, 90)),
    }
    return {"paper": papers, "author": authors, "subject": 6}, edges


def _hetero(**options: Any) -> dict[str, Any]:
    result = gf.propagate_hetero(*_library(), **options)
    weights = {" ".join(key): weight for key, weight in result.weights.items()}
    scores = {str(tried): round(score, 6) for tried, score in result.scores.items()}
    said = f"{result.n_iter} steps, weights {weights}, scores {scores}"
    return {**result.features, "said": said}


RUNS |= {
    "hetero": partial(_hetero, like={"subject": "paper"}),
    "hetero shared": partial(_hetero, shared="same_width", weights={"on": 0.3}),
    "hetero standardized": partial(_hetero, shared=["paper", "author"], standardize=True),
    "hetero held-out": partial(_hetero, weights="held-out", shared="same_width", seed=3),
    "hetero diffusion sym": partial(
        _hetero, shared="same_width", solver="diffusion", normalization="sym", n_iter=11
    ),
}
