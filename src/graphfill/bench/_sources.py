"""Where the sets come from: the folder GRAPHFILL_DATA names, else PyG's and OGB's downloads.

Files of the folder are known by their SHA-256 and hold no pickles. Downloads are kept in
GRAPHFILL_CACHE, or ~/.cache/graphfill.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError
from ..io import replacing
from ._problem import CATALOGUE
from ._results import locked

DIGESTS = CATALOGUE["sha256"]
FILE_NAMES = {"photo": "amazon_photo", "computers": "amazon_computers", "arxiv": "ogbn_arxiv_graph"}
OGB = {  # where from, and the folder of the split
    "arxiv": ("http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip", "time"),
    "products": ("http://snap.stanford.edu/ogb/data/nodeproppred/products.zip", "sales_ranking"),
}
PLANETOID = ("cora", "citeseer", "pubmed")
AMAZON = ("photo", "computers")


class Raw(NamedTuple):
    """A set as it came: ends of edges [2, E], features or None, classes, the official split."""

    edges: NDArray[np.integer]
    X: Any
    y: NDArray[np.int64]
    parts: tuple[NDArray[np.int64], ...] | None = None


def fetch(name: str) -> Raw:
    """A set from the user's folder if it is there, else downloaded or from an earlier download."""
    folder, file = os.environ.get("GRAPHFILL_DATA"), _file(name)
    if folder and file in DIGESTS and (path := Path(folder, file)).exists():
        return read_arrays(path, DIGESTS[file])
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with locked(cache_folder() / name):  # of several runs that need it, one downloads it
            return read_ogb(name) if name in OGB else _from_pyg(name)
    except (ImportError, OSError) as error:  # a URLError is an OSError
        source = OGB[name][0].rpartition("/")[2] if name in OGB else None
        hint = f"; {source} may also be put into {cache_folder() / 'ogb'}" if source else ""
        raise _no_data(name, f"{error}{hint}") from None


def _no_data(name: str, reason: str) -> InputError:
    """A set that is neither in the user's folder nor can be downloaded."""
    file = _file(name)
    if file not in DIGESTS:
        return InputError(
            f"The set {name!r} is not here and cannot be downloaded ({reason}): connect to the "
            "network first."
        )
    where = "has none" if os.environ.get("GRAPHFILL_DATA") else "is not set"
    return InputError(
        f"The set {name!r} is not here: put {file} into the folder that GRAPHFILL_DATA names "
        f"(which {where}), or have it downloaded, which failed ({reason})."
    )


def _file(name: str) -> str:
    """The file of a set in the user's folder."""
    if name.startswith("mixhop-"):
        return f"mixhop/h{name.removeprefix('mixhop-')}.npz"
    return f"{FILE_NAMES.get(name, name)}.npz"


def read_arrays(path: Path, digest: str) -> Raw:
    """A file of the user's folder: the very bytes that were checked are read, and no pickle."""
    content = path.read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if actual != digest:  # not the file that the published figures were computed from
        raise InputError(
            f"{path} is not the file that is known by its name (its SHA-256 begins with "
            f"{actual[:12]}, not {digest[:12]}): get it again, or remove it so that it is "
            "downloaded."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        held = {key: arrays[key] for key in arrays.files}
    edges = held["edge_index"] if "edge_index" in held else held["arcs"]
    parts = None
    if "train_idx" in held:
        parts = tuple(held[f"{part}_idx"].astype(np.int64) for part in ("train", "val", "test"))
    return Raw(edges, _features(held), held["y"].astype(np.int64), parts)


def _features(held: Mapping[str, NDArray[Any]]) -> Any:
    if "x" in held:
        return held["x"].astype(np.float32)
    if "x_indptr" not in held:
        return None
    columns = held["x_indices"].astype(np.int32)
    values = held.get("x_data", np.ones(columns.size)).astype(np.float32)
    shape = tuple(int(size) for size in held["x_shape"])
    return sparse.csr_array((values, columns, held["x_indptr"].astype(np.int32)), shape=shape)


# -- downloads --


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get("GRAPHFILL_CACHE") or Path.home() / ".cache" / "graphfill")


def _from_pyg(name: str) -> Raw:
    from torch_geometric import datasets

    root = str(cache_folder() / "pyg" / name)
    if name in PLANETOID:
        data = datasets.Planetoid(
            root, {"cora": "Cora", "citeseer": "CiteSeer"}.get(name, "PubMed")
        )
    elif name in AMAZON:
        data = datasets.Amazon(root, name.capitalize())
    else:
        data = datasets.MixHopSyntheticDataset(root, homophily=float(name.removeprefix("mixhop-")))
    graph = data[0]
    parts = None
    if name in PLANETOID:
        masks = (graph.train_mask, graph.val_mask, graph.test_mask)
        parts = tuple(np.flatnonzero(mask.numpy()) for mask in masks)
    X = graph.x.numpy()
    if np.count_nonzero(X) < 0.1 * X.size:
        X = sparse.csr_array(X)
    return Raw(graph.edge_index.numpy(), X, graph.y.numpy(), parts)


def read_ogb(name: str) -> Raw:
    """A set of the Open Graph Benchmark from its archive of plain CSV files."""
    url, split = OGB[name]
    path = cache_folder() / "ogb" / url.rpartition("/")[2]
    if not path.exists():
        _download(url, path)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = tuple(
                _column(archive, f"{name}/split/{split}/{part}.csv.gz", np.int64)[:, 0]
                for part in ("train", "valid", "test")
            )
            edges = _column(archive, f"{name}/raw/edge.csv.gz", np.int32).T
            y = _column(archive, f"{name}/raw/node-label.csv.gz", np.int64)[:, 0]
            X = _column(archive, f"{name}/raw/node-feat.csv.gz", np.float32)
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{path} cannot be read ({error}): remove it so that it is downloaded."
        ) from None
    return Raw(edges, X, y, parts)


def _column(archive: zipfile.ZipFile, member: str, dtype: type) -> NDArray[Any]:
    """A CSV file without a header as an array, its columns converted one at a time."""
    import pyarrow as pa
    from pyarrow import csv

    with archive.open(member) as packed, pa.CompressedInputStream(packed, "gzip") as text:
        table = csv.read_csv(text, csv.ReadOptions(autogenerate_column_names=True))
    array = np.empty((table.num_rows, table.num_columns), dtype=dtype)
    for number, column in enumerate(table.columns):
        array[:, number] = column.to_numpy()
    return array


def _download(url: str, path: Path) -> None:
    """Fetch a file, which appears under its name when it is complete."""
    from urllib.request import urlopen

    from tqdm import tqdm

    path.parent.mkdir(parents=True, exist_ok=True)
    with urlopen(url, timeout=30) as answer, replacing(path) as file:
        size = int(answer.headers.get("Content-Length") or 0)
        bar = {"desc": path.name, "unit": "B", "unit_scale": True, "delay": 1.0}
        with tqdm(total=size or None, **bar) as shown:
            for piece in _pieces(answer, url):
                file.write(piece)
                shown.update(len(piece))
        if size and file.tell() != size:
            raise _failed(url, f"it ended after {file.tell()} of {size} bytes")


def _pieces(answer: Any, url: str) -> Iterator[bytes]:
    """What the network sends; where it fails, it is not the file that cannot be written."""
    while True:
        try:
            piece = answer.read(1 << 20)
        except OSError as error:
            raise _failed(url, error) from None
        if not piece:
            return
        yield piece


def _failed(url: str, reason: object) -> InputError:
    return InputError(f"{url} could not be downloaded ({reason}): nothing is kept; try again.")
