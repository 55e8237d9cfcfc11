"""From file to file, in limited memory: what `impute` gives, and never half a file."""

import datetime
import json
import resource
import signal
import subprocess
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from cli.real_command import ENVIRONMENT, GRAPHFILL, graphfill
from large.filled_files import fill_file
from pyarrow import parquet

import graphfill as gf
from graphfill.errors import GraphfillWarning, InputError
from graphfill.large._disk import EdgeFile, Sizing, TableFile

ROWS = 3000
SMALL = "330MB"  # a column at a time or two


def holes(rng, values):
    return [None if rng.random() < 0.4 else value for value in values]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of all kinds of columns in row groups of uneven size, and edges with strangers."""
    rng = np.random.default_rng(3)
    folder = tmp_path_factory.mktemp("disk")
    position = np.sort(rng.random(ROWS))
    keys = np.array([f"k{i}" for i in rng.permutation(ROWS)])
    with_nan = np.where(rng.random(ROWS) < 0.4, np.nan, position.astype(np.float32))
    start = datetime.date(2020, 1, 1)
    table = pa.table(
        {
            "whole": pa.array(holes(rng, (1000 * position).astype(int).tolist()), pa.int32()),
            "key": keys,
            "single": pa.array(with_nan, pa.float32()),
            "class": pa.array(holes(rng, np.array(list("abcdefgh"))[(4 * position).astype(int)])),
            "coded": pa.array(
                holes(rng, np.array(["low", "high"])[(2 * position).astype(int)])
            ).dictionary_encode(),
            "flag": pa.array(holes(rng, (position > 0.5).tolist())),
            "day": pa.array(holes(rng, [start + datetime.timedelta(int(9 * p)) for p in position])),
            "list": pa.array([[1, 2]] * ROWS),
            "note": pa.array([f"note {i}" if i % 3 else None for i in range(ROWS)]),
        }
    )
    with parquet.ParquetWriter(
        folder / "nodes.parquet", table.schema, compression="zstd"
    ) as writer:
        for lo, hi in ((0, 1100), (1100, 1101), (1101, ROWS)):
            writer.write_table(table.slice(lo, hi - lo))
    u = rng.integers(0, ROWS, 9000)
    v = np.clip(u + rng.integers(-20, 21, 9000), 0, ROWS - 1)
    ends = [[*keys[u], "stranger", "stranger"], [*keys[v], keys[3], keys[5]]]
    weight = rng.random(9002).round(2)
    pl.DataFrame({"a": ends[0], "b": ends[1], "w": weight}).write_parquet(folder / "edges.parquet")
    return folder


NAMES = {"id": "key", "source": "a", "target": "b"}


@pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"method": "propagation"},
        {"weight": "w", "mark": True, "solver": "diffusion", "reliance": 1.0},
        {"columns": ["whole", "coded"], "method": "neighbors", "unreached": "nan"},
        {"exclude": ["day"], "method": "mean"},
    ],
)
def test_as_in_memory(folder, tmp_path, options):
    output = tmp_path / "filled.parquet"
    told = fill_file(
        folder / "nodes.parquet", folder / "edges.parquet", output, memory_limit=SMALL,
        **NAMES, **options,
    )  # fmt: skip
    nodes = parquet.read_table(folder / "nodes.parquet")
    expected = gf.impute(nodes, pl.read_parquet(folder / "edges.parquet"), **NAMES, **options)
    found = parquet.read_table(output)
    assert found.schema.equals(expected.schema)
    for name in expected.column_names:
        assert found[name].to_pylist() == expected[name].to_pylist() or name == "single"
    assert pl.from_arrow(found["single"]).equals(pl.from_arrow(expected["single"]))
    assert told.n_filled > 0
    assert [c.name for c in told.columns] == nodes.column_names
    groups = parquet.ParquetFile(output).metadata
    assert [groups.row_group(k).num_rows for k in range(3)] == [1100, 1, ROWS - 1101]
    assert groups.row_group(0).column(0).compression == "ZSTD"
    assert [path.name for path in tmp_path.iterdir()] == ["filled.parquet"]


@pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")
def test_a_few_columns_at_a_time_as_all_at_once(tmp_path):
    rng = np.random.default_rng(0)
    u = rng.integers(0, 400, 1200)
    edges = pl.DataFrame({"source": u, "target": (u + rng.integers(1, 6, 1200)) % 400})
    smooth = 10 * np.sin(np.arange(400) / 20)
    numbers = [holes(rng, smooth + 4 * rng.normal(size=400)) for _ in range(8)]
    table = pl.DataFrame({"id": np.arange(400)} | dict(zip("abcdefgh", numbers, strict=True)))
    table.write_parquet(tmp_path / "t.parquet")
    edges.write_parquet(tmp_path / "e.parquet")
    files = [tmp_path / name for name in ("t.parquet", "e.parquet", "filled.parquet")]
    least = Sizing.of(TableFile(files[0]), EdgeFile(files[1]), "id", list("abcdefgh"), "exact")
    assert len(least.groups(least.least_bytes)[0]) > 1
    fill_file(*files, memory_limit=least.least_bytes + 10, id="id")
    assert pl.read_parquet(files[2]).equals(gf.impute(table, edges, id="id", method="propagation"))


def test_ids_and_ends_are_guessed(folder, tmp_path):
    told = fill_file(
        folder / "nodes.parquet", folder / "edges.parquet", tmp_path / "o.parquet",
        memory_limit=SMALL, columns=["whole"],
    )  # fmt: skip
    assert told.alignment.id == "key"
    assert any("'key'" in note for note in told.notes)
    assert any("'a'" in note for note in told.notes)


def test_a_limit_is_kept_or_refused_at_the_start(folder, tmp_path):
    inputs = folder / "nodes.parquet", folder / "edges.parquet"
    began = time.perf_counter()
    with pytest.raises(InputError, match=r"100 MB cannot be kept.*3,000 node.*MB"):
        fill_file(*inputs, tmp_path / "o.parquet", memory_limit="100MB", **NAMES)
    assert time.perf_counter() - began < 1
    assert not list(tmp_path.iterdir())


def write_large(folder, n_nodes=80_000, n_edges=600_000, n_columns=40):
    rng = np.random.default_rng(0)
    u = rng.integers(0, n_nodes, n_edges)
    v = (u + rng.integers(1, 500, n_edges)) % n_nodes
    pl.DataFrame({"u": u, "v": v}).write_parquet(folder / "edges.parquet")
    smooth = np.sin(np.arange(n_nodes)[:, None] / np.arange(5000, 5000 + n_columns))
    smooth[rng.random(smooth.shape) < 0.9] = np.nan
    columns = {f"x{k}": smooth[:, k].astype(np.float32) for k in range(n_columns)}
    pl.DataFrame({"node": np.arange(n_nodes)} | columns).write_parquet(folder / "nodes.parquet")


LARGE = ["nodes.parquet", "edges.parquet", "--id", "node", "--solver", "diffusion", "--steps", "3"]


def test_the_command_keeps_its_limit(tmp_path):
    write_large(tmp_path)

    def peak(*arguments):
        # VmHWM: ru_maxrss would be that of the tests' own process, where that is larger.
        script = (
            "import re, sys; from graphfill.cli import main; code = main(sys.argv[1:]); "
            "print(re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())[1]); "
            "sys.exit(code)"
        )
        done = subprocess.run(
            [GRAPHFILL.with_name("python"), "-c", script, "impute", *LARGE, *arguments, "--quiet"],
            cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return int(done.stdout) * 1024

    whole = peak("-o", "whole.parquet", "--method", "propagation")
    limit = 330_000_000
    assert peak("-o", "limited.parquet", "--memory-limit", str(limit)) < limit < whole
    whole_table, limited = (
        pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("whole", "limited")
    )
    assert limited.equals(whole_table)


def test_a_full_disk_leaves_nothing(folder, tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = graphfill(
        "impute", folder / "nodes.parquet", folder / "edges.parquet", "-o", "out.parquet",
        "--id", "key", "--source", "a", "--target", "b", "--memory-limit", "331MB",
        "--engine", "local", "--workers", "1", "--shards", "2",
        cwd=tmp_path, preexec_fn=small_files,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no room left" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_engines_from_the_command_line(folder, tmp_path, engine):
    common = ["impute", folder / "nodes.parquet", folder / "edges.parquet", "--json"]
    common += ["--id", "key", "--source", "a", "--target", "b", "--solver", "diffusion"]
    common += ["--steps", "5"]
    here = graphfill(*common, "-o", "here.parquet", cwd=tmp_path)
    assert here.returncode == 0, here.stderr
    done = graphfill(
        *common, "-o", "there.parquet", "--engine", engine, "--workers", "2", "--shards", "3",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["filled"] == json.loads(here.stdout)["filled"]
    expected, found = (parquet.read_table(tmp_path / f"{n}.parquet") for n in ("here", "there"))
    for name in expected.column_names:
        assert pl.from_arrow(found[name]).equals(pl.from_arrow(expected[name])), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.parquet", "there.parquet"]


def test_a_killed_command_goes_on_where_it_was(tmp_path):
    write_large(tmp_path, 20_000, 100_000, 8)
    command = [GRAPHFILL, "impute", *LARGE[:-1], "30", "--reliance", "1", "--engine", "local"]
    command += ["--workers", "1", "--shards", "2", "-o", "sharded.parquet", "--folder", "run"]
    process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT)
    barriers = tmp_path / "run" / "solve-0001" / "barriers"
    while process.poll() is None and len(list(barriers.parent.rglob("*00005*"))) == 0:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (tmp_path / "sharded.parquet").exists()
    before = graphfill(*command[1:], "--steps", "31", cwd=tmp_path)
    assert before.returncode == 1
    assert "n_iter is 31 but was 30" in before.stderr
    done = graphfill(*command[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    whole = graphfill(
        "impute", *LARGE[:-1], "30", "--reliance", "1", "-o", "whole.parquet", cwd=tmp_path
    )
    assert whole.returncode == 0, whole.stderr
    frames = [pl.read_parquet(tmp_path / name) for name in ("whole.parquet", "sharded.parquet")]
    assert frames[0].equals(frames[1])
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--engine", "local", "--method", "auto"], "--method auto looks at all columns at once"),
        (["--engine", "local", "--intervals", "0.9"], "--intervals looks at all columns"),
        (["--engine", "local", "--solver", "chebyshev"], "--solver chebyshev works in one piece"),
        (["--shards", "4"], "--shards is for an engine: name it with --engine"),
        (["--memory-limit", "100MB"], "--memory-limit 100 MB cannot be kept"),
        (["--memory-limit", "331MB", "--id", "kez"], "'kez' in nodes.parquet; did you mean 'key'?"),
    ],
)
def test_refusals(folder, tmp_path, arguments, says):
    done = graphfill(
        "impute", folder / "nodes.parquet", folder / "edges.parquet", "-o", "o.parquet",
        "--id", "key", "--source", "a", "--target", "b", *arguments, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_ids_that_are_missing_or_repeated_or_of_another_kind(folder, tmp_path):
    for ids, says in (
        (["k1", None], "row 2"),
        (["k1", "k1"], "rows? 1 and row 2|row 1.*row 2"),
        ([1, 2], "column 'key' of nodes.parquet are whole numbers"),
    ):
        pl.DataFrame({"key": ids, "x": [1.0, None]}).write_parquet(tmp_path / "nodes.parquet")
        with pytest.raises(InputError, match=says):
            fill_file(
                tmp_path / "nodes.parquet", folder / "edges.parquet", tmp_path / "o.parquet",
                memory_limit=SMALL, **NAMES,
            )  # fmt: skip


def test_warnings_are_left_to_the_caller(folder, tmp_path, recwarn):
    fill_file(
        folder / "nodes.parquet", folder / "edges.parquet", tmp_path / "o.parquet",
        memory_limit=SMALL, columns=["whole"], **NAMES,
    )  # fmt: skip
    assert not [w for w in recwarn if issubclass(w.category, GraphfillWarning)]
