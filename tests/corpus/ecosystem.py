"""Runs of the PyG transforms, and of graphs of NetworkX and igraph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from corpus.problems import edges_of, matrix_of, people

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}


def _data(n: int = 90, columns: int = 4, seed: int = 0, dtype: str = "float32") -> Any:
    """A Data with both directions of every edge, some weights, and features with NaN."""
    import torch
    from torch_geometric.data import Data

    edges = edges_of(n, seed)
    weight = np.random.default_rng(seed).random(edges.shape[1]).astype("float32") + 0.5
    return Data(
        x=torch.from_numpy(matrix_of(n, columns, seed, dtype)),
        edge_index=torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1)),
        weight=torch.from_numpy(np.concatenate([weight, weight])),
    )


def _transform(dtype: str = "float32", **options: Any) -> dict[str, Any]:
    from graphfill.pyg import FeaturePropagation

    transform = FeaturePropagation(**options)
    return {"x": transform(_data(dtype=dtype)).x.numpy(), "said": repr(transform)}


def _batch(**options: Any) -> dict[str, Any]:
    """Graphs of unlike sizes in one batch, one of them without a known cell."""
    import torch
    from torch_geometric.data import Batch

    from graphfill.pyg import FeaturePropagation

    graphs = [_data(n, seed=n) for n in (30, 75, 110)]
    graphs[0].x[:, 0] = torch.nan
    return {"x": FeaturePropagation(**options)(Batch.from_data_list(graphs)).x.numpy()}


def _masked() -> dict[str, Any]:
    """A mask, integers, another attribute, and a gradient that passes through."""
    import torch

    from graphfill.pyg import FeaturePropagation

    data = _data()
    mask = data.x.isnan()
    whole = torch.from_numpy(matrix_of(90, 4, 0, "float32", share=0.0))
    data.y = (7 * whole).long()
    parts = {"y": FeaturePropagation(mask, 12, attr="y")(data.clone()).y.numpy()}
    data.x = whole.requires_grad_()
    filled = FeaturePropagation(mask, n_iter=9)(data).x
    filled.square().sum().backward()
    return parts | {"x": filled.detach().numpy(), "gradient": whole.grad.numpy()}


def _hetero_data() -> Any:
    import torch
    from torch_geometric.data import HeteroData

    rng = np.random.default_rng(1)
    data = HeteroData()
    data["paper"].x = torch.from_numpy(matrix_of(80, 3, 1))
    data["author"].x = torch.from_numpy(matrix_of(35, 3, 2))
    data["subject"].num_nodes = 4
    writes = np.stack([rng.integers(0, 35, 180), rng.integers(0, 80, 180)])
    on = np.stack([np.arange(80), rng.integers(0, 4, 80)])
    data["author", "writes", "paper"].edge_index = torch.from_numpy(writes)
    data["paper", "on", "subject"].edge_index = torch.from_numpy(on)
    return data


def _hetero(name: str, **options: Any) -> dict[str, Any]:
    from graphfill import pyg

    transform = getattr(pyg, name)(**options)
    filled = transform(_hetero_data())
    return {kind: filled[kind].x.numpy() for kind in filled.node_types} | {"said": repr(transform)}


def _imputers() -> dict[str, Any]:
    """Imputers as transforms, of a graph and of a batch."""
    from sklearn.impute import SimpleImputer
    from torch_geometric.data import Batch

    from graphfill import pyg

    transforms = {
        "zero": pyg.ZeroImputer(),
        "mean": pyg.MeanImputer(),
        "random": pyg.RandomImputer(random_state=3),
        "neighbours": pyg.NeighborMeanImputer(unreached="mean"),
        "median": pyg.Impute(SimpleImputer(strategy="median")),
        "exact": pyg.Impute(gf.FeaturePropagation(solver="exact", normalization="rw")),
    }
    parts = {}
    for name, transform in transforms.items():
        graphs = [_data(30, seed=5), _data(70, seed=6)]
        parts[name] = transform(_data()).x.numpy()
        parts[f"{name} batch"] = transform(Batch.from_data_list(graphs)).x.numpy()
    return parts


RUNS |= {
    "pyg": _transform,
    "pyg exact rw": partial(_transform, solver="exact", normalization="rw"),
    "pyg weighted": partial(_transform, "float64", edge_weight="weight", add_indicator=True),
    "pyg torch": partial(_transform, backend="torch"),
    "pyg torch float64 rw": partial(
        _transform, "float64", backend="torch", normalization="rw", self_loops=True
    ),
    "pyg torch exact": partial(_transform, "float64", backend="torch", solver="exact"),
    "pyg torch chebyshev": partial(
        _transform, "float64", backend="torch", solver="chebyshev", shrinkage=0.1
    ),
    "pyg batch": _batch,
    "pyg batch by mean": partial(
        _batch, unreached="mean", shrinkage=0.2, normalization="rw", solver="exact"
    ),
    "pyg batch torch": partial(_batch, backend="torch", unreached="nan"),
    "pyg masked": _masked,
    "pyg hetero": partial(_hetero, "HeteroPropagation", shared="same_width"),
    "pyg hetero standardized": partial(
        _hetero, "HeteroPropagation", standardize=True, like={"subject": "paper"}
    ),
    "pyg hetero by the plain transform": partial(
        _hetero, "FeaturePropagation", like={"subject": "paper"}, n_iter=20, weights={"on": 2.0}
    ),
    "pyg imputers": _imputers,
}


def _attributes(library: str) -> dict[str, Any]:
    """Node attributes of a graph: numbers, integers, booleans, texts and lists."""
    n = 70
    columns = {name: people(n)[name] for name in ("age", "income", "member", "city")}
    columns["list"] = [[i] for i in range(n)]
    pairs = edges_of(n).T.tolist()
    if library == "igraph":
        import igraph

        graph = igraph.Graph(n, pairs)
        for name, values in columns.items():
            graph.vs[name] = values
        graph.es["closeness"] = [1 + i % 4 for i in range(len(pairs))]
        filled = gf.impute_graph(graph, weight="closeness", mark=True)
        found = {name: filled.vs[name] for name in filled.vs.attributes()}
    else:
        import networkx as nx

        graph = nx.empty_graph(n)
        graph.add_edges_from(pairs)
        for name, values in columns.items():
            known = {i: value for i, value in enumerate(values) if value is not None}
            nx.set_node_attributes(graph, known, name)
        filled = gf.impute_graph(graph, method="neighbors", inplace=True)
        assert filled is graph
        names = dict.fromkeys(name for _, data in filled.nodes(data=True) for name in data)
        found = {name: [data.get(name) for _, data in filled.nodes(data=True)] for name in names}
    from corpus.cells import as_array

    return {name: as_array(list(values)) for name, values in found.items()}


RUNS["networkx"] = partial(_attributes, "networkx")
RUNS["igraph"] = partial(_attributes, "igraph")
