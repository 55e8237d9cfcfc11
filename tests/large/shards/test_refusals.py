"""Files that are gone, cut off or changed; other inputs; a full disk; unknown engines."""

import json
import os
import resource
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import graphfill as gf
from graphfill.errors import InputError
from graphfill.large._engines import propagate_sharded, run
from graphfill.large._shards import cut, join, open_manifest
from graphfill.large._shards.manifest import FORMAT
from graphfill.solve import PropagationOptions

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
OPTIONS = PropagationOptions(n_iter=4)


class Stops:
    """An engine that gives up after some maps."""

    def __init__(self, here, maps):
        self.here, self.left = here, maps

    def map(self, function, jobs, tick=None):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return self.here.map(function, jobs, tick)


@pytest.fixture
def half_way(problem, tmp_path, here):
    """A run stopped after its third barrier, and what it should come to."""
    graph, X = problem(columns=3)
    folder = tmp_path / "cut"
    cut(graph, X, 2, folder, OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        run(folder, Stops(here, 4))
    return folder, gf.propagate(X, graph, n_iter=4, reorder=False).X


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


FILES = ["shard-00001.bin", "state/z-000002-00001.bin"]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (truncate, r"bytes but was written with \d+"),
        (flip, r"has the checksum [0-9a-f]{8} but was written with [0-9a-f]{8}"),
        (lambda path: path.unlink(), "is missing, though the manifest lists it"),
    ],
)
def test_damaged_files_are_named(half_way, here, file, damage, reason):
    folder, _ = half_way
    damage(folder / file)
    with pytest.raises(InputError, match=rf"{file}.*{reason}.*: restore it, or .*\.$"):
        run(folder, here)


def test_dask_hands_refusals_on(half_way, dask):
    folder, _ = half_way
    (folder / "shard-00000.bin").unlink()
    with pytest.raises(InputError, match=r"shard-00000\.bin is missing"):
        run(folder, dask)


def test_after_damage_one_barrier_back(half_way, here):
    folder, expected = half_way
    flip(folder / "state/z-000002-00000.bin")
    with pytest.raises(InputError, match=r"delete \S*/barriers/000002.json to go on"):
        run(folder, here)
    (folder / "barriers/000002.json").unlink()
    run(folder, here)
    np.testing.assert_array_equal(join(folder).X, expected)


@pytest.mark.parametrize("name", ["manifest.json", "barriers/000002.json"])
def test_damaged_manifests_are_named(half_way, here, name):
    folder, _ = half_way
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(InputError, match=rf"{name} is no manifest as it was written \(no JSON"):
        run(folder, here)
    content = json.loads(whole)
    content["content"]["n_rows" if "manifest" in name else "number"] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="its checksum differs"):
        run(folder, here)
    path.unlink()
    if "manifest" in name:
        with pytest.raises(InputError, match=r"holds no manifest\.json"):
            run(folder, here)


def test_a_damaged_answer_is_not_joined(half_way, here):
    folder, _ = half_way
    run(folder, here)
    flip(folder / "state/z-000004-00000.bin")
    with pytest.raises(InputError, match=r"z-000004-00000\.bin has the checksum"):
        join(folder)


def test_changed_inputs(half_way, here, problem):
    folder, expected = half_way
    graph, X = problem(columns=3)
    same = {"n_shards": 2, "engine": here, "folder": folder, "n_iter": 4}
    other = X.copy()
    other[3, 1] = 5.0
    with pytest.raises(InputError, match=r"cut from other inputs \(X has the checksum \w+\.\.\."):
        propagate_sharded(other, graph, **same)
    grown = gf.Graph.from_edges([0, *range(len(X) - 1)], [9, *range(1, len(X))], n_nodes=len(X))
    with pytest.raises(InputError, match=r"\(graph has the checksum"):
        propagate_sharded(X, grown, **same)
    with pytest.raises(InputError, match=r"\(normalization is 'rw' but was 'sym'\)"):
        propagate_sharded(X, graph, normalization="rw", **same)
    with pytest.raises(InputError, match=r"\(n_iter is 5 but was 4\)"):
        propagate_sharded(X, graph, **{**same, "n_iter": 5})
    with pytest.raises(InputError, match=r"\(n_shards is 3 but was 2\)"):
        propagate_sharded(X, graph, **{**same, "n_shards": 3})
    np.testing.assert_array_equal(propagate_sharded(X, graph, **same).X, expected)


class FullDisk:
    """An engine on whose disk, from some map on, files cannot grow beyond a limit."""

    def __init__(self, here, maps, size):
        self.here, self.left, self.size = here, maps, size

    def map(self, function, jobs, tick=None):
        self.left -= 1
        if self.left >= 0:
            return self.here.map(function, jobs, tick)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, before[1]))
        try:
            return self.here.map(function, jobs, tick)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("maps", [1, 3])
def test_a_full_disk(problem, tmp_path, here, maps):
    graph, X = problem(columns=3)
    cut(graph, X, 2, tmp_path, OPTIONS)
    with pytest.raises(InputError, match=r"no room left to write .*z-00000\d-0000\d\.bin"):
        run(tmp_path, FullDisk(here, maps, 5000))
    assert not list(tmp_path.rglob("*.part"))
    assert len(list((tmp_path / "barriers").iterdir())) == min(maps - 1, 2)
    run(tmp_path, here)
    np.testing.assert_array_equal(
        join(tmp_path).X, gf.propagate(X, graph, n_iter=4, reorder=False).X
    )


def test_folders_and_engines(problem, tmp_path, here, half_way, monkeypatch):
    graph, X = problem(columns=3)
    with pytest.raises(InputError, match="exists and is no empty folder"):
        cut(graph, X, 2, half_way[0])
    with pytest.raises(InputError, match=r"engine is 'ray' but must be one of 'local', 'dask'"):
        propagate_sharded(X, graph, n_shards=2, engine="ray")
    with pytest.raises(InputError, match="X has 10 row"):
        cut(graph, X[:10], 2, tmp_path / "new")
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InputError, match=r'pip install "graphfill\[dask\]"'):
        propagate_sharded(X, graph, n_shards=2, engine="dask")


def test_a_folder_can_be_moved(half_way, here, tmp_path):
    folder, expected = half_way
    shutil.move(folder, tmp_path / "elsewhere")
    run(tmp_path / "elsewhere", here)
    np.testing.assert_array_equal(join(tmp_path / "elsewhere").X, expected)
    assert open_manifest(tmp_path / "elsewhere").n_shards == 2


def test_self_loops_are_on_or_off(problem):
    graph, X = problem(columns=3)
    with pytest.raises(InputError, match="self_loops is 'no' but must be True or False"):
        propagate_sharded(X, graph, n_shards=2, self_loops="no")


# -- folders from strangers, and cuts that were stopped --


def rewritten(path, change):
    """The manifest or barrier with its content changed, and a checksum that agrees."""
    content = json.loads(path.read_text())["content"]
    change(content)
    crc32 = zlib.crc32(json.dumps(content).encode())
    path.write_text(json.dumps({"format": FORMAT, "crc32": crc32, "content": content}))


@pytest.mark.parametrize("name", ["state", "barriers", "lock"])
def test_links_in_a_folder_of_shards_are_not_followed(half_way, here, tmp_path, name):
    folder, _ = half_way
    other = tmp_path / "other"
    if name == "lock":
        other.write_text("precious")
        (folder / name).unlink(missing_ok=True)
    else:
        shutil.move(folder / name, other)
        (other / "precious.txt").write_text("precious")
    (folder / name).symlink_to(other)
    with pytest.raises(InputError, match=rf"{name} is a link, which no folder of shards has"):
        run(folder, here)
    assert (other if name == "lock" else other / "precious.txt").read_text() == "precious"


def test_a_manifest_that_names_other_files(half_way, here, tmp_path):
    folder, _ = half_way
    shutil.copy(folder / "shard-00000.bin", tmp_path / "elsewhere.bin")
    change = lambda content: content["shards"][0].update(file="../elsewhere.bin")  # noqa: E731
    rewritten(folder / "manifest.json", change)
    with pytest.raises(InputError, match="it names other files than a cut writes"):
        run(folder, here)


def test_a_barrier_that_names_other_files(half_way, here):
    folder, _ = half_way

    def change(content):
        content["versions"]["../../z"] = content["versions"]["z"]

    rewritten(folder / "barriers/000002.json", change)
    with pytest.raises(InputError, match="it names other files than a run writes"):
        run(folder, here)


CUT = """
import os, signal, sys
import numpy as np
import graphfill as gf
from graphfill.large._shards import cut, cutting

write, left = cutting.write_arrays, [int(sys.argv[2])]

def killed(path, arrays, durable):
    left[0] -= 1
    if left[0] < 0:
        path.with_name(f".{path.name}.{'0' * 32}.part").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    return write(path, arrays, durable)

cutting.write_arrays = killed
ring = gf.Graph.from_edges(np.arange(64), np.roll(np.arange(64), 1))
cut(ring, np.where(np.arange(64) % 3, np.nan, 1.0), 4, sys.argv[1])
"""


@pytest.mark.parametrize("files", [0, 2, 4])
def test_a_cut_that_was_killed_is_begun_again(tmp_path, files):
    folder = tmp_path / "cut"
    done = subprocess.run([sys.executable, "-c", CUT, folder, str(files)], capture_output=True)
    assert done.returncode == -9, done.stderr
    assert len(list(folder.glob("shard-*.bin"))) == files
    ring = gf.Graph.from_edges(np.arange(64), np.roll(np.arange(64), 1))
    X = np.where(np.arange(64) % 3, np.nan, 1.0)
    result = propagate_sharded(X, ring, n_shards=4, workers=1, folder=folder, n_iter=4)
    np.testing.assert_array_equal(result.X, gf.propagate(X, ring, n_iter=4, reorder=False).X)
    assert not list(folder.rglob("*.part"))


def test_a_cut_on_a_full_disk_is_begun_again(problem, tmp_path, here):
    graph, X = problem(columns=3)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(InputError, match="no room left"):
            cut(graph, X, 2, tmp_path, OPTIONS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    cut(graph, X, 2, tmp_path, OPTIONS)
    run(tmp_path, here)


@pytest.mark.parametrize("name", ["notes.txt", "state/notes.txt", "shard-00000.bin/notes.txt"])
def test_a_folder_with_something_else_in_it_is_left_alone(problem, tmp_path, name):
    (tmp_path / "reached.bin").write_bytes(b"half")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("precious")
    with pytest.raises(InputError, match="exists and is no empty folder"):
        cut(*problem(columns=3), 2, tmp_path)
    assert (tmp_path / name).read_text() == "precious"
    assert (tmp_path / "reached.bin").exists()


# -- checksums that were made to fit --


def forge(folder, rng):
    """Change a few numbers of a file of a folder, and the checksums that would tell."""
    path = rng.choice([*sorted(folder.glob("shard-*.bin")), folder / "manifest.json"])
    manifest = folder / "manifest.json"
    if path == manifest:
        rewritten(manifest, lambda content: _one_changed(content, rng))
        return
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 3))):
        place = rng.randrange(0, len(data) - 8, 4)
        number = rng.choice((0, -1, 1, 7, 2**31 - 1, -(2**31), 2**62, -(2**63)))
        width = rng.choice((4, 8))
        data[place : place + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    path.write_bytes(data)

    def agree(content):
        entry = next(one for one in content["shards"] if one["file"] == path.name)
        entry["crc32"] = zlib.crc32(data)

    rewritten(manifest, agree)


def _one_changed(content, rng):
    """Replace one of the numbers or texts that a manifest holds, at any depth."""
    places = []

    def collect(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            if key not in ("n_iter", "max_iter"):  # these may be large
                places.append((part, key))
            if isinstance(part[key], dict | list):
                collect(part[key])

    collect(content)
    part, key = rng.choice(places)
    part[key] = rng.choice((0, -1, 1, 3, 10**6, 2**63, 0.5, "x", "<f8", None, [], {}, [0, 1]))


FORGED = """
import json, random, shutil, sys, warnings
from pathlib import Path
import graphfill as gf
from graphfill.large._engines import run
from graphfill.large._shards import join
from large.shards.conftest import Here
from large.shards.test_refusals import forge
warnings.simplefilter("ignore")
whole, spare, first, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for number in range(first, last):
    shutil.rmtree(spare, ignore_errors=True)
    shutil.copytree(whole, spare)
    forge(spare, random.Random(number))
    print(number, end=" ", flush=True)
    try:
        run(spare, Here())
        join(spare)
    except gf.errors.InputError as error:
        print("refused" if len(str(error)) < 1000 else "said too much", flush=True)
    except MemoryError:
        print("refused", flush=True)
    except Exception as error:
        print("raised", repr(error), flush=True)
    else:
        print("filled", flush=True)
"""


def forged_outcomes(problem, tmp_path, first, last):
    graph, X = problem(columns=3)
    cut(graph, X, 2, tmp_path / "whole", OPTIONS, durable=False)
    tests = str(Path(__file__).parents[2])
    places = [tmp_path / "whole", tmp_path / "spare", str(first), str(last)]
    environment = os.environ | {"PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{tests}"}
    done = subprocess.run([sys.executable, "-c", FORGED, *places], capture_output=True, text=True,
                          env=environment)  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-2000:])
    return [line.partition(" ")[2] for line in done.stdout.splitlines()]


def test_forged_shards_are_read_or_refused(problem, tmp_path):
    assert set(forged_outcomes(problem, tmp_path, 0, 60)) == {"filled", "refused"}
