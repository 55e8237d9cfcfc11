"""Files from strangers: broken ones and bombs are refused in a sentence, fast and within memory."""

import bz2
import io
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.real_command import ENVIRONMENT

from graphfill import InputError
from graphfill.io import read_table, write_table

MUTANTS = Path(__file__).with_name("mutants.py")
ROOM = 100 << 20  # bytes that a refusal may take beyond what the command takes anyway
SECONDS = 1.0  # the same of time


# -- a few bytes changed --


def outcomes(suffix, seed, first, last):
    """What became of each mutant; a process that crashes fails."""
    command = [sys.executable, MUTANTS, suffix, *map(str, (seed, first, last))]
    environment = ENVIRONMENT | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-2000:])
    assert len(lines) == last - first
    return [line.partition(" ")[2] for line in lines]


COUNTS = {
    ".arrow": 250, ".parquet": 150, ".jsonl": 100, ".xlsx": 60, ".ods": 60, ".dta": 4,
    ".edges": 100, ".geojson": 100, ".gfill": 100, ".runs.parquet": 100,
}  # fmt: skip


@pytest.mark.parametrize("suffix", COUNTS)
def test_mutants_are_read_or_refused(suffix):
    assert set(outcomes(suffix, 0, 0, COUNTS[suffix])) == {"filled", "refused"}


def test_a_file_that_crashes_its_reader_is_refused():
    assert outcomes(".sav", 1, 26, 27) == ["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".arrow", ".parquet", ".jsonl", ".xlsx", ".ods", ".edges"])
@pytest.mark.parametrize("seed", range(1, 5))
def test_many_mutants_are_read_or_refused(suffix, seed):
    assert set(outcomes(suffix, seed, 0, 5000)) == {"filled", "refused"}


def arrow_file(table, compression=None, new=pa.ipc.new_file):
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return file.getvalue()


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_table(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def texts(data, offsets):
    """An array of text as its buffers have it, right or wrong."""
    places = pa.py_buffer(np.array(offsets, dtype=np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, places, pa.py_buffer(data))


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (texts(b"abcd", [0, 3, 1]), "non-monotonic offset"),
        (texts(b"\xff\xffthYork", [0, 4, 8]), "Invalid UTF8"),
        (pa.DictionaryArray.from_arrays(pa.array([0, 7]), ["x", "y"], safe=False), "bounds: 7"),
    ],
    ids=["offsets", "text", "codes"],
)
def test_arrays_that_lie_are_refused(tmp_path, column, why):
    (tmp_path / "a.arrow").write_bytes(arrow_file(pa.table({"a": column})))
    sentence = refusal(tmp_path / "a.arrow")
    assert "cannot be read, and may be cut off or broken" in sentence
    assert why in sentence


def test_a_footer_that_lists_other_batches_is_refused(tmp_path):
    one = arrow_file(pa.table({"a": [1.0, None]}))
    other = arrow_file(pa.table({"b": [1.0, None]}))
    end = one.index(b"\xff\xff\xff\xff\0\0\0\0")
    swapped = one[:end] + other[other.index(b"\xff\xff\xff\xff\0\0\0\0") :]
    (tmp_path / "a.arrow").write_bytes(swapped)
    assert "the footer lists 1 batches" in refusal(tmp_path / "a.arrow")


def test_text_that_is_no_utf8_is_refused_in_parquet(tmp_path):
    pq.write_table(pa.table({"s": ["Bath", "York"]}), tmp_path / "a.parquet", compression="none",
                   use_dictionary=False, write_statistics=False)  # fmt: skip
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(content.replace(b"Bath", b"\xff\xffth"))
    assert "Invalid UTF8" in refusal(tmp_path / "a.parquet")


def test_views_of_text_are_read_and_filled(tmp_path):
    view = pa.array(["York", None, "a name of more than twelve letters"]).cast(pa.string_view())
    (tmp_path / "a.arrow").write_bytes(arrow_file(pa.table({"s": view})))
    table = read_table(tmp_path / "a.arrow").table
    assert table.schema.field("s").type == pa.large_string()
    assert table["s"].to_pylist() == view.to_pylist()


@pytest.mark.parametrize(
    "line",
    ['{"a": "\\ud800"}', '{"\\ud800": 1}', '{"a": {"\\ud800": 1}, "\\udfff": 2}'],
)
def test_half_a_character_in_json(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(f"{line}\n")
    assert "line 1 has half a character" in refusal(tmp_path / "a.jsonl")


# -- bombs --


def parquet(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def long_texts():
    """The same text of 100 kB in 20,000 rows: 2 GB out of a few kB."""
    codes = pa.array(np.zeros(20_000, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 100_000]))


BOMBS = {
    "text.csv.bz2": lambda: b"".join([bz2.compress(b"p0,1\n" * 200_000)] * 1000),
    "texts.parquet": lambda: parquet(pa.table({"s": long_texts()}), compression="zstd"),
    "lists.parquet": lambda: parquet(
        pa.table({"l": pa.ListArray.from_arrays(pa.array([0, 20_000]), long_texts())}),
        compression="zstd",
    ),
    "nulls.parquet": lambda: parquet(pa.table({"n": pa.nulls(50_000_000)})),
    "texts.arrow": lambda: arrow_file(pa.table({"s": long_texts()})),
    "nulls.arrow": lambda: arrow_file(pa.table({"id": pa.nulls(10**9), "x": pa.nulls(10**9)})),
    "runs.arrow": lambda: arrow_file(
        pa.table({"x": pa.RunEndEncodedArray.from_arrays(pa.array([10**9]), pa.array(["a"]))})
    ),
    "zeros.arrow": lambda: arrow_file(pa.table({"x": np.zeros(25_000_000)}), "zstd"),
    "zeros.feather": lambda: arrow_file(
        pa.table({"x": np.zeros(25_000_000)}), "lz4", pa.ipc.new_stream
    ),
    "keys.jsonl": lambda: b"".join(b'{"id":"p%d","k%d":%d}\n' % (i, i, i) for i in range(5000)),
    "late.jsonl": lambda: (
        b"{%s}\n" % b",".join(b'"k%d":1' % i for i in range(10_000)) + b'{"k1":1}\n' * 10_000
    ),
    "twins.jsonl": lambda: b"{%s}\n" % b",".join(b'"k%d":1' % (i % 50_000) for i in range(10**5)),
    "columns.csv": lambda: b",".join(b"c%d" % i for i in range(10**6)) + b"\n",
}
# Run in a process of its own: what reading takes, beyond what importing takes.
MEASURED = """
import resource, sys, time
from graphfill.io import read_table, write_table
import graphfill.io._columnar, graphfill.io._csv.tables, graphfill.io._json_lines
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, began = peak(), time.process_time()
try:
    read_table(sys.argv[1])
except ValueError as error:
    print(time.process_time() - began, (peak() - before) << 10, error)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_fast_and_within_memory(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, path], capture_output=True, text=True, env=ENVIRONMENT,
        timeout=60,
    )  # fmt: skip
    seconds, room, sentence = done.stdout.split(" ", 2)
    assert re.search("unfolds to more than|twice|columns but at most", sentence), done.stderr
    assert len(sentence) < 1000
    assert float(seconds) < SECONDS
    assert int(room) < ROOM + path.stat().st_size


# -- many columns --


def test_writing_takes_time_in_proportion_to_the_columns(tmp_path):
    def seconds(n_columns):
        names = ",".join(f"c{number}" for number in range(n_columns))
        path = tmp_path / f"{n_columns}.csv"
        path.write_text(f"{names}\n" + ",".join(["1"] * n_columns) + "\n")
        sheet = read_table(path)
        changed = {name: np.ones(1, dtype=bool) for name in sheet.table.column_names}
        times = []
        for number in range(2):
            began = time.process_time()
            output = tmp_path / f"{n_columns}-{number}.csv"
            write_table(output, sheet.table, like=sheet, changed=changed)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(4000) < 10 * seconds(1000)  # 4 at best, 16 for the square


# -- what a spreadsheet would compute --


def test_formulas_are_marked_where_asked_and_never_made(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,=n\n=1+2,-1.5,1\n@b,,2\nc|d,+2,3\n-e,-,4\n")
    (tmp_path / "e.csv").write_text("s,t\n=1+2,@b\n@b,c|d\nc|d,-e\n")
    files = [tmp_path / "a.csv", tmp_path / "e.csv", "--value", "-", "--exclude", "x,=n"]
    for output in ("safe.csv", "plain.csv", "a.xlsx"):
        how = ["--formula-safe"] if output == "safe.csv" else []
        run = [sys.executable, "-m", "graphfill", "impute", *files, "-o", tmp_path / output, *how]
        done = subprocess.run([*run, "--quiet"], capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
    before = (tmp_path / "a.csv").read_text()
    assert (tmp_path / "plain.csv").read_text() == before
    safe = before.replace("=", "'=").replace("@", "'@").replace("-e", "'-e")
    assert (tmp_path / "safe.csv").read_text() == safe
    openpyxl = pytest.importorskip("openpyxl")
    rows = openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows()
    cells = [cell for row in rows for cell in row]
    assert "=1+2" in [cell.value for cell in cells]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
