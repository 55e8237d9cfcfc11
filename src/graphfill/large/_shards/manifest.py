"""The state of a folder of shards, as it is written in the folder itself.

``manifest.json`` describes the cut: written last, so that a folder has one only when it is
complete. ``barriers/000012.json`` describes the run after its 12th barrier: which version of each
array is current, the checksums of its files, and what the solver must know to go on.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import Graph
from ...io import sync_folder
from ...solve import Problem
from .checking import manifest_fault
from .storage import verify, writing

Array = np.ndarray

CHUNK = 1 << 20  # numbers that are read together: what is read may be mapped into memory
FORMAT = "graphfill shards, version 1"
NAME, REACHED = "manifest.json", "reached.bin"


@dataclass(frozen=True)
class Manifest:
    """A graph and a matrix, cut into shards."""

    folder: Path
    n_rows: int
    n_columns: int
    dtype: str
    n_entries: int  # of the graph's CSR, self-loops included if they were asked for
    bounds: list[int]  # shard s holds the rows bounds[s] to bounds[s + 1], in the order chosen
    block_rows: int  # rows whose sums are added first
    tiles: list[list[int]]  # first column, last column + 1, width
    inputs: dict[str, Any]  # checksums of the graph and X, and the options they were cut with
    solver: dict[str, Any]  # its name and its parameters
    halo: list[int]  # rows that each shard needs of the others
    n_components: int
    n_unreached: int
    n_missing: int
    known_in_column: list[int]
    means: list[float]  # of the known cells of each column
    kernels: str  # which implementation
    durable: bool  # whether files are forced to disk before they count
    shards: list[dict[str, Any]] = field(repr=False)  # file, size, crc32 and arrays of each
    reached: dict[str, Any] = field(repr=False)  # the same: which component knows which column

    @property
    def n_shards(self) -> int:
        return len(self.shards)

    @property
    def keeps_range(self) -> bool:
        """Whether filled cells are brought back between the known ones of their column."""
        return bool(self.inputs["normalization"] == "rw" and self.solver["name"] == "exact")

    @property
    def lanes(self) -> int:
        """Columns of all tiles, padding included."""
        return sum(width for *_, width in self.tiles)

    def state_bytes(self, shard: int) -> int:
        """Length of the file that holds one array of a shard's rows."""
        rows = self.bounds[shard + 1] - self.bounds[shard]
        return rows * self.lanes * np.dtype(self.dtype).itemsize

    def state_path(self, name: str, version: int, shard: int) -> Path:
        """The file of one version of an array of a shard's rows."""
        return self.folder / "state" / f"{name}-{version:06d}-{shard:05d}.bin"

    def barrier_path(self, number: int) -> Path:
        """The file of a barrier."""
        return self.folder / "barriers" / f"{number:06d}.json"

    def verify(self, entry: dict[str, Any]) -> None:
        """Refuse a file of arrays that changed since the cut."""
        verify(self.folder / entry["file"], entry["size"], entry["crc32"])

    def save(self) -> None:
        """Write the manifest, which completes the folder."""
        content = asdict(self)
        del content["folder"]
        _save(self.folder / NAME, content, self.durable)


def shard_file(number: int) -> str:
    """The name of a shard's file of arrays."""
    return f"shard-{number:05d}.bin"


def open_manifest(folder: str | Path) -> Manifest:
    """Read the manifest of a folder that a graph was cut into."""
    path = Path(folder) / NAME
    if not path.is_file():
        raise no_shards(path.parent)
    content = _load(path)
    for name in ("state", "barriers", "lock"):
        if (path.parent / name).is_symlink():  # files would be written and deleted elsewhere
            raise InputError(
                f"{path.parent / name} is a link, which no folder of shards has: cut the graph "
                "again, into an empty folder."
            )
    try:
        manifest = Manifest(folder=path.parent, **content)
        names = [entry["file"] for entry in (*manifest.shards, manifest.reached)]
    except (TypeError, KeyError) as error:
        raise _broken(path, str(error)) from None
    if names != [*map(shard_file, range(manifest.n_shards)), REACHED]:
        raise _broken(path, "it names other files than a cut writes")
    try:
        fault = manifest_fault(manifest)
    except (TypeError, KeyError, ValueError) as error:
        fault = str(error) or "a part is of another kind"
    if fault:
        raise _broken(path, fault)
    return manifest


def digest(*arrays: Array | None) -> str:
    """SHA-256 of some arrays, their types and their shapes."""
    total = hashlib.sha256()
    for array in arrays:
        if array is None:
            total.update(b"none")
            continue
        total.update(f"{array.dtype.str}{array.shape}".encode())
        flat = array.reshape(-1)
        for start in range(0, len(flat), CHUNK):
            total.update(np.ascontiguousarray(flat[start : start + CHUNK]).view(np.uint8).data)
    return total.hexdigest()


def describe(
    graph: Graph, values: Array, n_shards: int, order: str, problem: Problem
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a folder is cut from, and its solver: to go on in it, all of this must be the same."""
    options = problem.options
    inputs = {
        "graph": digest(graph.indptr, graph.indices, graph.weights), "X": digest(values),
        "n_shards": n_shards, "normalization": options.normalization,
        "self_loops": options.self_loops, "shrinkage": float(options.shrinkage), "order": order,
    }  # fmt: skip
    if not options.exact:
        return inputs, {"name": "diffusion", "n_iter": int(options.n_iter)}
    solver = {"name": "exact", "tol": problem.tol, "max_iter": int(options.max_iter)}
    return inputs, solver | ({"stop": problem.stop} if problem.stop != problem.tol else {})


def check_same_inputs(manifest: Manifest, given: dict[str, Any]) -> None:
    """Refuse to go on in a folder that another graph, another X or other options were cut into."""
    cut = manifest.inputs | manifest.solver
    for name, value in given.items():
        if cut.get(name) != value:
            change = f"{name} is {value!r} but was {cut.get(name)!r}"
            if name in ("graph", "X"):
                now, before = str(value)[:12], str(cut.get(name))[:12]
                change = f"{name} has the checksum {now}... but had {before}..."
            raise InputError(
                f"{manifest.folder} was cut from other inputs ({change}): pass what it was cut "
                "from to go on, or name an empty folder to start anew."
            )


def no_shards(folder: Path) -> InputError:
    """A folder that no graph was cut into, or not to the end."""
    return InputError(
        f"{folder} holds no manifest.json, so no graph was cut into it, or not to the end: cut it "
        "again, into an empty folder."
    )


@dataclass(frozen=True)
class Barrier:
    """How far a run has come."""

    number: int
    versions: dict[str, int]  # the current version of each array, by name
    checksums: dict[str, list[int]]  # of its files, one per shard, by name
    state: dict[str, Any]  # what the solver goes on from

    def save(self, manifest: Manifest) -> None:
        """Write it to disk, after the names of the files it refers to."""
        if manifest.durable:
            sync_folder(manifest.folder / "state")
        _save(manifest.barrier_path(self.number), asdict(self), manifest.durable)

    def files(self, manifest: Manifest) -> set[Path]:
        """Every file it refers to."""
        shards = range(manifest.n_shards)
        return {manifest.state_path(n, v, s) for n, v in self.versions.items() for s in shards}

    def verify(self, manifest: Manifest, name: str, shard: int) -> None:
        """Refuse a shard's file of an array that changed since the barrier."""
        path = manifest.state_path(name, self.versions[name], shard)
        back = manifest.barrier_path(self.number)
        remedy = f"restore it, or delete {back} to go on from the iteration before"
        verify(path, manifest.state_bytes(shard), self.checksums[name][shard], remedy)


def newest(manifest: Manifest) -> Barrier | None:
    """The last barrier that was reached, or None at the start."""
    paths = sorted((manifest.folder / "barriers").glob("*.json"))
    return _load_barrier(paths[-1]) if paths else None


def load_barrier(manifest: Manifest, number: int) -> Barrier | None:
    """A barrier by number; None if it is not kept any more."""
    path = manifest.barrier_path(number)
    return _load_barrier(path) if path.exists() else None


def _load_barrier(path: Path) -> Barrier:
    try:
        barrier = Barrier(**_load(path))
        plain = all(name.isidentifier() for name in barrier.versions)
        plain = plain and all(type(version) is int for version in barrier.versions.values())
    except (TypeError, AttributeError) as error:
        raise _broken(path, str(error)) from None
    if not plain or path.name != f"{barrier.number:06d}.json":
        raise _broken(path, "it names other files than a run writes")
    return barrier


def drop(manifest: Manifest, barrier: Barrier, kept: list[Barrier]) -> None:
    """Delete a barrier, and the files that only it refers to."""
    manifest.barrier_path(barrier.number).unlink(missing_ok=True)
    for path in barrier.files(manifest).difference(*(b.files(manifest) for b in kept)):
        path.unlink(missing_ok=True)


def tidy(manifest: Manifest, kept: list[Barrier]) -> None:
    """Delete all that the barriers kept do not refer to, such as unfinished files."""
    needed = {manifest.barrier_path(barrier.number) for barrier in kept}
    needed.update(*(barrier.files(manifest) for barrier in kept))
    for folder in ("state", "barriers"):
        for path in set((manifest.folder / folder).iterdir()) - needed:
            path.unlink(missing_ok=True)


def _save(path: Path, content: dict[str, Any], durable: bool) -> None:
    crc32 = zlib.crc32(json.dumps(content).encode())
    whole = {"format": FORMAT, "crc32": crc32, "content": content}
    with writing(path, durable) as file:
        file.write(json.dumps(whole).encode())


def _load(path: Path) -> dict[str, Any]:
    try:
        whole = json.loads(path.read_bytes())
        form, crc32 = whole["format"], whole["crc32"]
        content: dict[str, Any] = whole["content"]
    except (ValueError, KeyError, TypeError) as error:
        raise _broken(path, f"no JSON as expected: {error}") from None
    if form != FORMAT:
        raise _broken(path, f"its format is {form!r}, not {FORMAT!r}")
    if zlib.crc32(json.dumps(content).encode()) != crc32:
        raise _broken(path, "its checksum differs")
    return content


def _broken(path: Path, reason: str) -> InputError:
    """A manifest or a barrier that is not the one that was written."""
    remedy = "cut the graph again into an empty folder"
    if path.name != NAME:
        remedy = "delete it to go on from the iteration before"
    return InputError(
        f"{path} is no manifest as it was written ({reason}): restore it, or {remedy}."
    )
