"""Your own way to fill, beside Feature Propagation and the column's mean, on Cora.

    graphfill bench run --sets cora --methods fp mean examples/own_method.py:fill --quick

or ``python examples/own_method.py``, which runs that command. A fill is given the features (NaN
where missing), the graph and a seed; it returns the features without NaN, known cells unchanged.
"""

import sys

import numpy as np

import graphfill as gf


def fill(X: np.ndarray, graph: gf.Graph, seed: int) -> np.ndarray:
    """Three steps of diffusion, then a little of the column's mean mixed in."""
    near = gf.propagate(X, graph, n_iter=3).X
    mean = np.nan_to_num(np.nansum(X, axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1))
    return np.where(np.isnan(X), 0.9 * near + 0.1 * mean, X)


if __name__ == "__main__":
    from graphfill.cli import main

    command = ["bench", "run", "--sets", "cora", "--methods", "fp", "mean", f"{__file__}:fill"]
    sys.exit(main([*command, "--rates", "0.9", "--quick", *sys.argv[1:]]))
