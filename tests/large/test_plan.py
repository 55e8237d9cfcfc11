"""Plans and limits: estimates near what is measured, refusals before the work."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import graphfill as gf
from graphfill.cli import main
from graphfill.errors import InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from large.filled_files import fill_file  # noqa: E402

from graphfill.large._disk import EdgeFile, Sizing, TableFile  # noqa: E402
from graphfill.large._estimate.plan import Cluster, Pace, Work, sharded_iteration_seconds  # noqa: E402
from graphfill.large._estimate.sample import estimate_halo, expected_distinct  # noqa: E402
from graphfill.large._shards import cut  # noqa: E402


def write(folder, n_nodes, n_edges, columns, *, weight=False, reach=50, seed=0):
    """Two files; edges link rows that are at most `reach` apart."""
    rng = np.random.default_rng(seed)
    cells = {name: make(rng, n_nodes) for name, make in columns.items()}
    made = {"id": pa.array(np.arange(n_nodes))}
    made |= {k: pa.array(c, mask=rng.random(n_nodes) < 0.3) for k, c in cells.items()}
    pq.write_table(pa.table(made), folder / "nodes.parquet")
    source = rng.integers(0, n_nodes - reach, n_edges)
    links = {"source": source, "target": source + rng.integers(1, reach + 1, n_edges)}
    if weight:
        links["w"] = rng.random(n_edges) + 0.1
    pq.write_table(pa.table(links), folder / "edges.parquet")
    return folder / "nodes.parquet", folder / "edges.parquet"


def number(rng, n):
    return rng.normal(size=n)


def category(k):
    return lambda rng, n: np.array([f"value {j}" for j in range(k)])[rng.integers(0, k, n)]


def sizing_of(nodes, edges, weight=None, solver="exact"):
    table = TableFile(nodes)
    names = [name for name in table.names if name != "id"]
    return Sizing.of(table, EdgeFile(edges, weight=weight), "id", names, solver)


MEASURED = """
import sys
from graphfill.cli import main
code = main(sys.argv[1:])
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0])
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
def test_peaks_are_as_estimated(tmp_path):
    """Within a quarter, in memory and from disk, and never beyond the limit."""
    columns = {"x": number, "y": number, "kind": category(50), "sort": category(20)}
    nodes, edges = write(tmp_path, 120_000, 400_000, columns)
    sizing = sizing_of(nodes, edges)
    limit = (sizing.least_bytes + sizing.in_memory_bytes) // 2
    ways = {"memory": sizing.in_memory_peak(), str(limit): sizing.from_disk_peak(limit)}
    for way, estimate in ways.items():
        how = [] if way == "memory" else ["--memory-limit", way]
        command = ["impute", nodes, edges, "-o", tmp_path / f"{way}.parquet", "--id", "id"]
        command += ["--reliance", "1", "--tol", "0.1", "--quiet", *how]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *map(str, command)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        peak = 1024 * int(done.stdout)
        assert 0.75 < estimate / peak < 1.25, (way, estimate, peak)
        assert way == "memory" or peak <= limit


@pytest.mark.parametrize(
    ("columns", "weight", "n_edges"),
    [
        ({"kind": category(60)}, None, 3_000),
        ({"x": number, "kind": category(30), "y": number}, "w", 60_000),
        ({f"x{j}": number for j in range(5)}, None, 60_000),
    ],
)
def test_the_least_limit_is_enough(tmp_path, columns, weight, n_edges):
    """It is refused at the start or it is kept: never half way."""
    nodes, edges = write(tmp_path, 40_000, n_edges, columns, weight=weight is not None)
    sizing = sizing_of(nodes, edges, weight)
    how = {"id": "id", "weight": weight, "reliance": 1.0, "tol": 0.5}
    with pytest.raises(InputError, match="cannot be kept"):
        fill_file(nodes, edges, tmp_path / "o.parquet", memory_limit=sizing.least_bytes - 1, **how)
    assert {path.name for path in tmp_path.iterdir()} == {"nodes.parquet", "edges.parquet"}
    fill_file(nodes, edges, tmp_path / "o.parquet", memory_limit=sizing.least_bytes, **how)
    assert not any(column.null_count for column in pq.read_table(tmp_path / "o.parquet").columns)


def test_nodes_that_only_edges_name_count(tmp_path, capsys):
    nodes, edges = write(tmp_path, 1_000, 1_000, {"x": number})
    rng = np.random.default_rng(0)
    links = {"source": rng.integers(0, 1_000, 300_000), "target": rng.integers(0, 10**6, 300_000)}
    pq.write_table(pa.table(links), edges)
    n_outside = len(np.setdiff1d(links["target"], np.arange(1_000)))
    limit = sizing_of(nodes, edges).least_bytes
    with pytest.raises(InputError, match=f"{1_000 + n_outside:,} node.s. and one of 1 column"):
        fill_file(nodes, edges, tmp_path / "o.parquet", memory_limit=limit, id="id")
    assert planned(capsys, nodes, edges)["outside"] == pytest.approx(n_outside, rel=0.05)


def test_columns_are_sized_by_their_first_rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 5_000
    missing = rng.random(n) < 0.4
    with_nan = np.where(missing, np.nan, rng.normal(size=n))
    columns = {
        "number": pa.array(rng.normal(size=n), mask=missing),
        "nan": pa.array(with_nan),
        "whole": pa.array(rng.normal(size=n)),
        "kind": pa.array(category(7)(rng, n), mask=missing),
        "name": pa.array([f"name {j}" for j in range(n)], mask=missing),
        "small": pa.array(rng.integers(0, 9, n).astype(np.int16), mask=missing),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    sizes = TableFile(tmp_path / "t.parquet").column_sizes(list(columns))
    channels = {name: size.channels for name, size in sizes.items()}
    assert channels == {"number": 1, "nan": 1, "whole": 0, "kind": 7, "name": 0, "small": 1}
    assert [name for name, size in sizes.items() if size.has_nan] == ["nan"]
    assert sizes["small"].cell_bytes == 2
    assert 8 < sizes["name"].cell_bytes < 20
    assert sizes["number"].missing == pytest.approx(missing.mean())
    assert sizes["nan"].missing == pytest.approx(missing.mean(), abs=0.05)


def test_groups_hold_every_column_once_and_whole_tiles(tmp_path):
    nodes, edges = write(tmp_path, 40_000, 40_000, {f"x{j}": number for j in range(50)})
    sizing = replace(sizing_of(nodes, edges), n_nodes=2_000_000, n_edges=10**7)
    groups = {}
    for limit in np.geomspace(sizing.least_bytes, 20e9, 20).astype(int):
        cut_so, left = sizing.groups(int(limit))
        assert [name for group in cut_so for name in group] == list(sizing.columns)
        assert 0 < left < limit
        groups[limit] = cut_so
    assert len(groups[min(groups)]) == 50
    assert len(groups[max(groups)]) == 1
    between = [g for g in groups.values() if len(g[0]) > 16 and len(g) > 1]
    assert between
    assert all(len(group) % 16 == 0 for g in between for group in g[:-1])


def test_halos_are_as_cut(tmp_path):
    """From a twentieth of the edges, within a third of what shards really read."""
    rng = np.random.default_rng(0)
    n, m = 20_000, 200_000
    source = rng.integers(0, n, m)
    near = source + np.rint(rng.laplace(0, 300, m)).astype(int)
    target = np.where(rng.random(m) < 0.1, rng.integers(0, n, m), np.clip(near, 0, n - 1))
    graph = gf.Graph.from_edges(source, target, n_nodes=n)
    halo = cut(graph, rng.normal(size=(n, 1)), 8, tmp_path / "cut", durable=False).halo
    sample = rng.choice(m, m // 20, replace=False)
    found = estimate_halo(np.stack([source, target])[:, sample], n, m, 8)
    assert found.rows == pytest.approx(np.mean(halo), rel=1 / 3)
    assert 0.05 < found.crossing < 0.3


def test_expected_distinct():
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 5_000, 50_000)
    times = np.unique(drawn[:5_000], return_counts=True)[1]
    assert expected_distinct(times, 50_000) == pytest.approx(len(np.unique(drawn)), rel=0.05)
    assert expected_distinct(np.array([3, 4]), 10**9) == 2  # nothing was seen once only


def test_the_cost_of_an_iteration_by_hand():
    """10 nodes, 20 edges, 2 columns, 2 workers with 2 shards, 3 halo rows each."""
    work = Work(10, 20, 2, "diffusion", 40)
    cluster = Cluster(2, 2, Pace(entry=1.0, row=0.1), move_byte=0.01, barrier=5.0, per_shard=1.0)
    computing = 2 * (40 * 2.0 + 0.1 * (10 + 2 * 3)) / 2  # two of eight values: half is wasted
    moving = (2 * 3 + 10) * 8 * 2 * 0.01 / 2
    assert sharded_iteration_seconds(work, cluster, 3) == pytest.approx(computing + moving + 7.0)


def planned(capsys, nodes, edges, *options):
    assert main(["plan", str(nodes), str(edges), "--id", "id", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_plan_says_what_to_run(tmp_path, capsys, monkeypatch):
    columns = {"x": number, "y": number, "kind": category(60), "sort": category(40)}
    nodes, edges = write(tmp_path, 60_000, 100_000, columns)
    free = planned(capsys, nodes, edges)
    assert (free["rows"], free["edges"], free["columns"], free["channels"]) == (
        60_000, 100_000, 4, 102,
    )  # fmt: skip
    assert (free["advice"], free["rounds"]) == ("in memory", 2)
    assert free["in_memory"]["seconds"] == pytest.approx(sum(free["in_memory"]["parts"].values()))
    least, whole = free["from_disk"]["least_bytes"], free["in_memory"]["bytes"]
    assert least < whole
    limit = str((least + whole) // 2)
    small = planned(capsys, nodes, edges, "--memory-limit", limit, "--reliance", "1")
    assert (small["advice"], small["rounds"]) == ("from disk", 1)
    assert small["from_disk"]["bytes"] <= int(limit)
    none = planned(capsys, nodes, edges, "--memory-limit", "100MB")
    assert (none["advice"], none["command"]) == ("no", None)
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(small["command"])
    assert name == "graphfill"
    assert main([*arguments, "--tol", "0.5", "--json"]) == 0
    assert "link" in json.loads(capsys.readouterr().out)["seconds"]
    assert pq.read_table("filled.parquet")["sort"].null_count == 0


def test_plan_without_the_extension(tmp_path):
    """More nodes than rows of the graph that is tried."""
    nodes, edges = write(tmp_path, 300, 299, {"x": number})
    command = [sys.executable, "-m", "graphfill.cli", "plan", nodes, edges, "--id", "id", "--json"]
    slow = {**os.environ, "GRAPHFILL_KERNELS": "scipy"}
    done = subprocess.run(command, env=slow, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["edges"] == 299


def test_plan_in_words(tmp_path, capsys):
    nodes, edges = write(tmp_path, 3_000, 9_000, {"x": number})
    how = ["--solver", "diffusion", "--steps", "7", "--shards", "5", "--workers", "400"]
    assert main(["plan", str(nodes), str(edges), "--id", "id", *how]) == 0
    said = capsys.readouterr().out
    assert "3,000 rows, 9,000 edges, 1 columns (1 channels)" in said
    assert "7 iterations asked for" in said
    assert "Of 5 shards" in said
    assert f"graphfill impute {nodes} {edges} -o filled.parquet --id id --solver diffusion" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["people.csv"], "people.csv is no Parquet file"),
        (["nodes.parquet", "--columns", "z"], "'z'"),
        (["nodes.parquet", "--shards", "2", "--worker-memory", "1MB"], "cannot hold one of 2 sh"),
        (["texts.parquet"], "texts.parquet"),
        (["nodes.parquet", "--shards", "5000"], "can be cut into 66 at most"),
    ],
)
def test_refusals(tmp_path, capsys, arguments, says):
    edges = write(tmp_path, 3_000, 9_000, {"x": number})[1]
    (tmp_path / "people.csv").write_text("id,x\n1,2\n")
    pq.write_table(pa.table({"id": ["a", "b"], "x": [1.0, None]}), tmp_path / "texts.parquet")
    table, *options = arguments
    assert main(["plan", str(tmp_path / table), str(edges), "--id", "id", *options]) == 1
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_help_needs_no_files_libraries():
    code = (
        "import sys; from graphfill.cli._arguments import build_parser; build_parser();"
        "print(*[m for m in ('pyarrow', 'narwhals', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
