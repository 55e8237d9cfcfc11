"""The record: rows replaced by key, added by several processes, refused if it is no record."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphfill import InputError
from graphfill.bench._problem import Setting
from graphfill.bench._results import COLUMNS, KEY, Results, key_of
from graphfill.bench._runs import Run, canonical


def row(number=0, **more):
    return Run("cora", "fp", run=number).named() | {"test_accuracy": 70.0 + number} | more


def test_rows_come_back_and_are_replaced_by_key(tmp_path):
    results = Results(tmp_path / "new" / "runs.parquet")
    assert len(results) == 0
    assert not results.has(key_of(row()))
    results.add([row(0), row(1, model=None, reconstruction=0.5)])
    results.add([row(0, test_accuracy=1.0), row(2)])
    assert [r["test_accuracy"] for r in results.rows()] == [1.0, 71.0, 72.0]
    assert list(results.rows()[0]) == list(COLUMNS)
    assert results.rows()[1]["model"] is None
    assert results.has(Run("cora", "fp", None, run=1).key)
    assert not results.has(Run("cora", "fp", run=1).key)
    assert [path.name for path in results.path.parent.iterdir()] == ["runs.parquet"]


def test_one_text_for_one_setting():
    assert canonical(Setting()) == "{}"
    assert canonical(Setting(fanout=(5,), lr=0.01)) == '{"fanout": [5], "lr": 0.01}'
    keys = {Run("cora", "fp", setting=Setting(hidden=h)).key for h in (64, 64, 128)}
    assert len(keys) == 2
    assert Run("cora", "fp", rate=0.1 + 0.2).key == Run("cora", "fp", rate=0.3).key
    assert set(KEY) == set(Run("cora", "fp").named())


def test_another_writer_is_seen(tmp_path):
    path = tmp_path / "runs.parquet"
    ours, theirs = Results(path), Results(path)
    ours.add([row(0)])
    assert theirs.has(key_of(row(0)))
    theirs.add([row(1)])
    ours.add([row(2)])
    assert len(theirs) == 3


ADDS = """
import sys
from graphfill.bench._results import Results
from graphfill.bench._runs import Run
for number in range(12):
    run = Run("cora", sys.argv[2], run=number)
    Results(sys.argv[1]).add([run.named() | {"test_accuracy": 1.0}])
"""


def test_processes_that_share_a_file_lose_nothing(tmp_path):
    path = tmp_path / "runs.parquet"
    crew = [subprocess.Popen([sys.executable, "-c", ADDS, path, name]) for name in ("fp", "mean")]
    assert [process.wait(timeout=60) for process in crew] == [0, 0]
    assert len(Results(path)) == 24
    assert [found.name for found in tmp_path.iterdir()] == ["runs.parquet"]


def test_merge(tmp_path):
    one, two = Results(tmp_path / "1.parquet"), Results(tmp_path / "2.parquet")
    one.add([row(0), row(1)])
    two.add([row(1, test_accuracy=99.0), row(2)])
    one.merge(two.path)
    assert [r["test_accuracy"] for r in one.rows()] == [70.0, 99.0, 72.0]
    with pytest.raises(InputError, match=r"absent\.parquet"):
        one.merge(tmp_path / "absent.parquet")


def test_what_is_no_record_is_refused_and_kept(tmp_path):
    path = tmp_path / "runs.parquet"
    path.write_bytes(b"my thesis")
    with pytest.raises(InputError, match="is not a record of runs"):
        Results(path).add([row()])
    assert path.read_bytes() == b"my thesis"
    pq.write_table(pa.table({"set": ["cora"]}), path)
    with pytest.raises(InputError, match="no column 'method'"):
        Results(path).rows()
