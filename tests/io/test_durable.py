"""What is written is on the disk before it has its name; what is refused takes no memory first."""

import io
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphfill import InputError
from graphfill.io import read_table, replacing
from graphfill.large._shards.storage import write_arrays


def of_folder(handle):
    return os.path.isdir(f"/proc/self/fd/{handle}")


@pytest.fixture
def seen(monkeypatch):
    """What is forced to disk and renamed from here on, in order."""
    events, force, rename = [], os.fsync, os.replace

    def forced(handle):
        events.append("folder" if of_folder(handle) else "file")
        force(handle)

    def renamed(*names):
        events.append("name")
        rename(*names)

    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setattr(os, "replace", renamed)
    return events


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="folders are told by /proc")
@pytest.mark.parametrize("how", ["table", "shard"])
def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, seen, how):
    if how == "table":
        with replacing(tmp_path / "a.csv") as file:
            file.write(b"id,x\n")
    else:
        write_arrays(tmp_path / "a.bin", {"x": np.arange(3)}, True)
    assert seen == ["file", "name", "folder"]


# -- files that unfold to more than the limit --


pools = []  # what was allocated from one is given back to it, perhaps much later


@contextmanager
def counted():
    """Arrow's memory, with its peak from here on."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pools.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(usual)


def parquet(column):
    file = io.BytesIO()
    pq.write_table(pa.table({"x": column}), file, compression="zstd")
    return file.getvalue()


def arrow(column):
    file, table = io.BytesIO(), pa.table({"x": column})
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def views():
    """One text of 300 kB, which 500 rows point at: length, first letters, buffer and place."""
    text = pa.py_buffer(b"x" * 300_000)
    view = np.array([300_000, int.from_bytes(b"xxxx"), 0, 0], np.int32)
    buffers = [None, pa.py_buffer(np.tile(view, 500)), text]
    return pa.Array.from_buffers(pa.string_view(), 500, buffers)


LIMIT = 20 << 20
LARGE = {
    "texts.parquet": lambda: parquet(pa.array([f"{k}" * (1 << 20) for k in range(60)])),
    "lists.parquet": lambda: parquet(pa.array([[0] * 10**7])),
    "repeated.parquet": lambda: parquet(pa.array(["x" * 300_000] * 500)),
    "nulls.parquet": lambda: parquet(pa.nulls(10**7)),
    "views.arrow": lambda: arrow(views()),
    "numbers.arrow": lambda: arrow(np.zeros(10**7)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_limit_is_kept_while_refusing(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(LARGE[name]())
    with counted() as pool:
        with pytest.raises(InputError, match=r"unfolds to more than 0\.021 GB"):
            read_table(path, memory_limit=LIMIT)
        assert pool.max_memory() < LIMIT
