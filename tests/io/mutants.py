"""Files with a few bytes changed, read and filled in a process of their own.

    python tests/io/mutants.py SUFFIX SEED FIRST LAST

prints a line per mutant: its number when it begins, and what became of it when it ends. A crash
is seen by what is missing.
"""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import json
import os
import random
import resource
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

ROWS = 14
MEMORY = 8 << 30  # of address space: what asks for more is refused by the system
parser: Any = None  # made once
NUMBERS = (0, 1, -1, 7, ROWS, 10**6, 10**9, 2**31 - 1, -(2**31), 2**62, -(2**63))


def table() -> pa.Table:
    """A column of every kind."""
    rows = range(ROWS)
    start = datetime.datetime(2020, 1, 1)
    moments = [start + datetime.timedelta(days=i) for i in rows]
    columns = {
        "id": [f"p{i}" for i in rows],
        "small": pa.array([i if i % 3 else None for i in rows], pa.int8()),
        "number": [i * 1.5 if i % 4 else None for i in rows],
        "city": ["York" if i % 2 else None for i in rows],
        "long": pa.array([f"t{i % 3}" for i in rows], pa.large_string()),
        "kind": pa.array([f"c{i % 3}" if i % 5 else None for i in rows]).dictionary_encode(),
        "truth": [bool(i % 2) for i in rows],
        "day": pa.array(moments, pa.timestamp("us")).cast(pa.date32()),
        "moment": pa.array(moments, pa.timestamp("us", "Europe/Paris")),
        "price": pa.array([decimal.Decimal(i) for i in rows], pa.decimal128(12, 3)),
        "list": [[i, i + 1] if i % 3 else None for i in rows],
        "struct": [{"a": i, "b": str(i)} for i in rows],
        "bytes": [bytes([i]) for i in rows],
        "nothing": pa.nulls(ROWS),
        "map": pa.array([[("k", i)] for i in rows], pa.map_(pa.string(), pa.int64())),
        "pair": pa.array([[i, i] for i in rows], pa.list_(pa.int32(), 2)),
    }
    return pa.table(columns)


def arrow(whole: pa.Table) -> list[bytes]:
    """Files and streams, packed and not."""
    made = []
    for columns in (whole.column_names, ["id", "number", "city", "kind"]):
        for compression in (None, "lz4", "zstd"):
            for new in (pa.ipc.new_file, pa.ipc.new_stream):
                options = pa.ipc.IpcWriteOptions(compression=compression)
                some, file = whole.select(columns), io.BytesIO()
                with new(file, some.schema, options=options) as writer:
                    writer.write_table(some, 5)
                made.append(file.getvalue())
    return made


def packed(whole: pa.Table) -> list[bytes]:
    """Parquet files."""
    made = []
    for columns in (whole.column_names, ["id", "number", "city", "kind"]):
        for compression in ("none", "snappy", "zstd"):
            for version in ("1.0", "2.0"):
                file = io.BytesIO()
                options = {"compression": compression, "data_page_version": version}
                parquet.write_table(whole.select(columns), file, row_group_size=7, **options)
                made.append(file.getvalue())
    return made


def text(whole: pa.Table) -> list[bytes]:
    """JSON lines."""
    rows = whole.select(["id", "small", "number", "city", "truth", "list", "struct"]).to_pylist()
    return ["".join(f"{json.dumps(row)}\n" for row in rows).encode()]


def separated(whole: pa.Table) -> list[bytes]:
    """CSV as people write it: quotes, other separators, encodings, line ends and decimal commas."""
    rows = whole.select(["id", "small", "number", "city", "kind", "truth", "day"]).to_pylist()
    lines = [
        list(rows[0]),
        *([("" if v is None else str(v)) for v in row.values()] for row in rows),
    ]
    plain = "".join(",".join(line) + "\n" for line in lines)
    quoted = "".join(";".join(f'"{cell}"' for cell in line) + "\r\n" for line in lines)
    return [
        plain.encode(),
        quoted.encode("utf-8-sig"),
        plain.replace("York", "Zürich").encode("latin-1"),
        plain.replace(",", "\t").replace(".", ",").encode("utf-16"),
    ]


def zipped(whole: pa.Table) -> list[bytes]:
    """The same behind gzip."""
    return [gzip.compress(one, mtime=0) for one in separated(whole)]


MAKERS = {
    ".arrow": arrow,
    ".parquet": packed,
    ".jsonl": text,
    ".csv": separated,
    ".tsv": separated,
    ".csv.gz": zipped,
}


def mutant(content: bytes, rng: random.Random) -> bytes:
    """The same with some bytes changed, removed, repeated or cut off."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        place, size = rng.randrange(len(data)), rng.randrange(1, 16)
        change = rng.choice(("bit", "byte", "number", "remove", "repeat", "cut", "step"))
        if change == "bit":
            data[place] ^= 1 << rng.randrange(8)
        elif change == "byte":
            data[place] = rng.choice((0, 1, 127, 128, 255))
        elif change == "number":
            width, place = rng.choice((2, 4, 8)), place & ~3
            number = rng.choice(NUMBERS) & ((1 << 8 * width) - 1)
            data[place : place + width] = number.to_bytes(width, "little")
        elif change == "remove":
            del data[place : place + size]
        elif change == "repeat":
            data[place:place] = data[place : place + size]
        elif change == "cut" and rng.random() < 0.2:
            del data[place + 1 :]
        else:
            data[place] = (data[place] + rng.choice((1, 255))) % 256
        data = data or bytearray(b"x")
    return bytes(data)


def outcome(path: Path, folder: Path) -> str:
    """What the command makes of a file: filled, refused, or what it should not have raised."""
    from graphfill.cli import _arguments, _commands
    from graphfill.errors import InputError

    global parser
    parser = parser or _arguments.build_parser()
    files = [path, folder / "edges.csv", "-o", folder / "filled.csv"]
    how = ["--method", "propagation", "--reliance", "1", "--overwrite", "--quiet"]
    options = parser.parse_args(["impute", *map(str, files), *how])
    try:
        assert _commands.run(options) == 0
    except InputError as error:
        sentence = str(error)
        plain = len(sentence) < 1000 and sentence.isprintable() and sentence.endswith((".", "?"))
        return "refused" if plain else f"said {sentence!r}"
    except MemoryError:
        return "refused"
    except Exception:
        return f"raised {traceback.format_exc()!r}"
    return "filled"


def main() -> None:
    suffix, seed, first, last = sys.argv[1], *map(int, sys.argv[2:])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    made = MAKERS[suffix](table())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        links = "".join(f"p{i},p{(i + 1) % ROWS}\n" for i in range(ROWS))
        (folder / "edges.csv").write_text(f"source,target\n{links}")
        for number in range(first, last):
            path = folder / f"mutant{suffix}"
            rng = random.Random(f"{seed} {number}")
            path.write_bytes(mutant(made[number % len(made)], rng))
            if kept := os.environ.get("MUTANTS"):
                Path(kept, f"{seed}-{number}{suffix}").write_bytes(path.read_bytes())
            print(number, end=" ", flush=True)
            print(outcome(path, folder), flush=True)


if __name__ == "__main__":
    main()
