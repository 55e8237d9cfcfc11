"""A small graph whose classes can be learnt."""

import numpy as np

from graphfill.bench._problem import Dataset
from graphfill.graph import Graph


def linked_groups(n_nodes=120, n_features=10, n_classes=3, seed=0):
    """Classes in turn, linked among themselves, with features that tell the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_nodes) % n_classes
    source = np.repeat(np.arange(n_nodes), 4)
    target = (source + n_classes * rng.integers(1, 12, source.size)) % n_nodes
    X = rng.random((n_nodes, n_features), dtype=np.float32)
    X[np.arange(n_nodes), y] += 2
    return Dataset("made-up", Graph.from_edges(source, target, n_nodes=n_nodes), X, y)


def write_groups(folder):
    """Sixty nodes of it as files: a table with three features and the column kind, and edges."""
    made_up = linked_groups(60, 3)
    cells = [",".join(f"{value:.3f}" for value in row) for row in made_up.X]
    rows = [f"n{row},{cells[row]},{made_up.y[row]}\n" for row in range(60)]
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text("id,a,b,c,kind\n" + "".join(rows))
    source = np.repeat(np.arange(60), np.diff(made_up.graph.indptr))
    pairs = zip(source, made_up.graph.indices, strict=True)
    edges.write_text("u,v\n" + "".join(f"n{u},n{v}\n" for u, v in pairs))
    return nodes, edges
