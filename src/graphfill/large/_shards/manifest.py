"""What a folder of shards says of itself.

``manifest.json`` describes the cut: written last, so that a folder has one only when it is
whole. ``barriers/000012.json`` describes the run after its 12th barrier: which version of each
array is current, the checksums of its files, and what the solver must know to go on.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...io import sync_folder, unwritable
from .. import _refuse_shards
from .storage import remove, writing

FORMAT = "graphfill shards, version 1"
NAME = "manifest.json"
KEPT = 2  # barriers whose files are kept


@dataclass(frozen=True)
class Manifest:
    """A graph and a matrix, cut into shards.

    Attributes
    ----------
    folder : Path
    n_rows, n_columns, dtype : the matrix
    n_entries : entries of the graph's CSR, self-loops included if they were asked for
    bounds : list of n_shards + 1 int
        Shard s holds the rows bounds[s] to bounds[s + 1], in the order chosen.
    block_rows : int
        Rows whose sums are added first.
    tiles : list of (first column, last column + 1, width)
    inputs : dict
        Checksums of the graph and X, and the options they were cut with.
    solver : dict
        Which solver, and its parameters.
    halo : list of int
        Rows each shard needs of the others.
    n_components, n_unreached, n_missing : int
    known_in_column, means : list
        Of each column: how many cells are known, and their mean.
    kernels : str
    durable : bool
        Whether files are forced to disk before they count.
    shards : list of dict
        File, length, checksum and arrays of each shard.
    reached : dict
        The same of the file that says which component knows which column.
    """

    folder: Path
    n_rows: int
    n_columns: int
    dtype: str
    n_entries: int
    bounds: list[int]
    block_rows: int
    tiles: list[list[int]]
    inputs: dict[str, Any]
    solver: dict[str, Any]
    halo: list[int]
    n_components: int
    n_unreached: int
    n_missing: int
    known_in_column: list[int]
    means: list[float]
    kernels: str
    durable: bool
    shards: list[dict[str, Any]] = field(repr=False)
    reached: dict[str, Any] = field(repr=False)

    @property
    def n_shards(self) -> int:
        return len(self.shards)

    @property
    def halo_share(self) -> float:
        """Rows read from other shards in a step, as a share of all rows."""
        return sum(self.halo) / self.n_rows

    @property
    def lanes(self) -> int:
        """Columns of all tiles, padding included."""
        return sum(width for *_, width in self.tiles)

    def state_bytes(self, shard: int) -> int:
        """Length of the file that holds one array of a shard's rows."""
        rows = self.bounds[shard + 1] - self.bounds[shard]
        return rows * self.lanes * np.dtype(self.dtype).itemsize

    def state_path(self, name: str, version: int, shard: int) -> Path:
        """Where one version of an array of a shard's rows lies."""
        return self.folder / "state" / f"{name}-{version:06d}-{shard:05d}.bin"

    def save(self) -> None:
        """Write the manifest, which makes the folder one of shards."""
        content = asdict(self)
        del content["folder"]
        _save(self.folder / NAME, content, self.durable)


def open_manifest(folder: str | Path) -> Manifest:
    """Read the manifest of a folder that a graph was cut into."""
    folder = Path(folder)
    if not (folder / NAME).is_file():
        raise _refuse_shards.no_shards(folder)
    content = _load(folder / NAME)
    try:
        return Manifest(folder=folder, **content)
    except TypeError as error:
        raise _refuse_shards.broken_manifest(folder / NAME, str(error)) from None


@dataclass(frozen=True)
class Barrier:
    """Where a run has come to.

    Attributes
    ----------
    number : int
    versions : dict
        The current version of each array, by name.
    checksums : dict
        Of its files, one per shard, by name.
    state : dict
        What the solver goes on from.
    """

    number: int
    versions: dict[str, int]
    checksums: dict[str, list[int]]
    state: dict[str, Any]

    def save(self, manifest: Manifest) -> None:
        """Write it down, after the names of the files it refers to."""
        if manifest.durable:
            sync_folder(manifest.folder / "state")
        _save(barrier_path(manifest, self.number), asdict(self), manifest.durable)

    def files(self, manifest: Manifest) -> set[Path]:
        """Every file it refers to."""
        shards = range(manifest.n_shards)
        return {manifest.state_path(n, v, s) for n, v in self.versions.items() for s in shards}


def barrier_path(manifest: Manifest, number: int) -> Path:
    """Where a barrier is written down."""
    return manifest.folder / "barriers" / f"{number:06d}.json"


def newest(manifest: Manifest) -> Barrier | None:
    """The last barrier that was reached, or None at the start."""
    found = sorted((manifest.folder / "barriers").glob("*.json"))
    return Barrier(**_load(found[-1])) if found else None


def drop(manifest: Manifest, barrier: Barrier, kept: list[Barrier]) -> None:
    """Delete a barrier, and the files that only it refers to."""
    remove(barrier_path(manifest, barrier.number))
    for path in barrier.files(manifest) - set().union(*(b.files(manifest) for b in kept)):
        remove(path)


def tidy(manifest: Manifest, kept: list[Barrier]) -> None:
    """Delete whatever the barriers kept do not refer to, such as what was never finished."""
    needed = {barrier_path(manifest, barrier.number) for barrier in kept}
    needed |= set().union(*(barrier.files(manifest) for barrier in kept))
    for folder in ("state", "barriers"):
        for path in (manifest.folder / folder).iterdir():
            if path not in needed:
                remove(path)


def load_barrier(manifest: Manifest, number: int) -> Barrier | None:
    """A barrier by number; None if it is not kept any more."""
    path = barrier_path(manifest, number)
    return Barrier(**_load(path)) if path.exists() else None


def make_folders(folder: Path) -> None:
    """Make the folders of a cut."""
    try:
        for name in ("state", "barriers"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    sync_folder(folder)


def _save(path: Path, content: dict[str, Any], durable: bool) -> None:
    body = json.dumps(content)
    whole = {"format": FORMAT, "crc32": zlib.crc32(body.encode()), "content": content}
    with writing(path, durable) as file:
        file.write(json.dumps(whole).encode())


def _load(path: Path) -> dict[str, Any]:
    try:
        whole = json.loads(path.read_bytes())
        content, wanted, form = whole["content"], whole["crc32"], whole["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise _refuse_shards.broken_manifest(path, f"no JSON as expected: {error}") from None
    if form != FORMAT:
        raise _refuse_shards.broken_manifest(path, f"its format is {form!r}, not {FORMAT!r}")
    if zlib.crc32(json.dumps(content).encode()) != wanted:
        raise _refuse_shards.broken_manifest(path, "its checksum differs")
    return content
