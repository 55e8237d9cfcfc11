"""A graph with features, classes and splits as the arrays of one ``.npz`` file."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError
from ..graph._graph import Graph
from ._problem import Dataset, Split

Arrays = Mapping[str, NDArray[Any]]
# Other names for the same arrays, as in the published files of graphs of low homophily.
OTHER_NAMES = {"node_features": "x", "node_labels": "y"}


def read_arrays(name: str, content: bytes, path: Path) -> Dataset:
    """A set from the bytes of a file, which may hold no pickles.

    ``edge_index`` [2, E] (or ``edges`` [E, 2]) and ``y`` [n], with -1 for no class; features as
    ``x`` [n, p], NaN where never known, or as sparse rows ``x_indptr``, ``x_indices``,
    ``x_shape`` and perhaps ``x_data``, of which those with ``tags_observed`` False are unknown;
    splits as ``train_idx``, ``val_idx``, ``test_idx``, or as masks ``train_masks``, ...
    [splits, n].
    """
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            held = {OTHER_NAMES.get(key, key): file[key] for key in file.files}
    except (ValueError, OSError, EOFError, KeyError, AttributeError, BadZipFile) as error:
        reason = str(error).partition(".")[0]
        raise InputError(f"{path} is no .npz file of arrays ({reason}): save it again.") from None
    if "edge_index" not in held and "edges" in held:
        held["edge_index"] = held["edges"].T
    elif "edge_index" not in held and "arcs" in held:
        held["edge_index"] = held["arcs"]
    absent = [key for key in ("edge_index", "y") if key not in held]
    if absent:
        raise InputError(
            f"{path} has no array {' and no '.join(map(repr, absent))}, but "
            f"{', '.join(map(repr, held)) or 'none'}: it takes edge_index [2, E] and y [n]."
        )
    y = held["y"]
    if y.ndim != 1 or y.dtype.kind not in "biu":
        raise InputError(
            f"The array 'y' of {path} has shape {y.shape} and dtype {y.dtype} but must be a whole "
            "number per node: its class, or -1."
        )
    try:
        return make_dataset(name, held["edge_index"], _features(held), y, _splits(held))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise InputError(f"The arrays of {path} do not fit each other ({error}).") from None


def make_dataset(name: str, edges: Any, X: Any, y: Any, official: tuple[Split, ...]) -> Dataset:
    """A set as it came: ends of edges [2, E], features or None, classes, splits."""
    graph = Graph.from_edges(edges[0], edges[1], n_nodes=len(y))
    if X is not None and X.shape[0] != len(y):
        raise InputError(f"There are {X.shape[0]} rows of features but {len(y)} classes.")
    return Dataset(name, graph, X, np.asarray(y, dtype=np.int64), official)


def splits_of(train: NDArray[Any], val: NDArray[Any], test: NDArray[Any]) -> tuple[Split, ...]:
    """Splits of masks [splits, n].

    >>> (split,) = splits_of(*np.eye(3, dtype=bool)[:, None])
    >>> split.train, split.test
    (array([0]), array([2]))
    """
    masks = zip(train, val, test, strict=True)
    return tuple(Split(*map(np.flatnonzero, parts)) for parts in masks)


def _splits(held: Arrays) -> tuple[Split, ...]:
    parts = ("train", "val", "test")
    if "train_masks" in held:
        return splits_of(*(held[f"{part}_masks"].astype(bool) for part in parts))
    if "train_idx" in held:
        return (Split(*(np.sort(held[f"{part}_idx"].astype(np.int64)) for part in parts)),)
    return ()


def _features(held: Arrays) -> Any:
    if "x" in held:
        return held["x"].astype(np.float32)
    if "x_indptr" not in held:
        return None
    columns = held["x_indices"].astype(np.int32)
    values = held.get("x_data", np.ones(columns.size)).astype(np.float32)
    shape = tuple(int(size) for size in held["x_shape"])
    X = sparse.csr_array((values, columns, held["x_indptr"].astype(np.int32)), shape=shape)
    if "tags_observed" not in held:
        return X
    dense = X.toarray()
    dense[~held["tags_observed"].astype(bool)] = np.nan
    return dense
