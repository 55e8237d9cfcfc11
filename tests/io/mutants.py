"""Files with a few bytes changed, read and filled in a process of their own.

    python tests/io/mutants.py SUFFIX SEED FIRST LAST

prints a line per mutant: its number when it begins, and what became of it when it ends. A crash
is seen by what is missing. A zip is changed inside, and packed anew.
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
import time
import traceback
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

ROWS = 14
MOST_SECONDS = 5.0  # of processor time, for a file
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


def written(ending: str, whole: pa.Table) -> bytes:
    """A table in a format that graphfill writes."""
    from graphfill.io import read_table, write_table

    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "t.csv").write_bytes(separated(whole)[0])
        like = read_table(Path(name) / "t.csv")
        write_table(Path(name) / f"u{ending}", like.table, like=like, changed={})
        return (Path(name) / f"u{ending}").read_bytes()


def statistics(ending: str, whole: pa.Table) -> list[bytes]:
    """Files of Stata or SPSS, with labels."""
    import pandas as pd
    import pyreadstat

    rows = whole.select(["id", "number", "city", "small", "day"]).to_pylist()
    frame = pd.DataFrame(rows).astype({"small": "float64"})
    labels = {"small": {float(i): f"label {i}" for i in range(ROWS)}}
    made = []
    for version in (
        ({"version": 8}, {"version": 15}) if ending == ".dta" else ({}, {"compress": True})
    ):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / f"a{ending}"
            write = pyreadstat.write_dta if ending == ".dta" else pyreadstat.write_sav
            write(frame, path, variable_value_labels=labels, **version)
            made.append(path.read_bytes())
    return made


def links(whole: pa.Table) -> list[bytes]:
    """Edges as lists with and without weights and comments, as neighbours, and as a matrix."""
    ids = whole["id"].to_pylist()
    pairs = [(a, ids[i - 1]) for i, a in enumerate(ids)]
    matrix = [",".join(["", *ids]), *(f"{a},{','.join(str(int((a, b) in pairs)) for b in ids)}"
                                      for a in ids)]  # fmt: skip
    made = [
        ["source,target,weight", *(f"{a},{b},{i / 2}" for i, (a, b) in enumerate(pairs))],
        ["# a comment", *(f"{a} {b}" for a, b in pairs)],
        [f"{a}: {b}, {ids[0]}" for a, b in pairs],
        matrix,
    ]
    return ["\n".join([*lines, ""]).encode() for lines in made]


def maps(whole: pa.Table) -> list[bytes]:
    """Regions side by side."""

    def square(x: int) -> dict[str, Any]:
        ring = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
        part = {"type": "Polygon", "coordinates": [ring]}
        return part if x % 3 else {"type": "GeometryCollection", "geometries": [part]}

    features = [{"type": "Feature", "id": x, "properties": {"x": x}, "geometry": square(x)}
                for x in range(ROWS)]  # fmt: skip
    return [json.dumps({"type": "FeatureCollection", "features": features}).encode()]


def kept(whole: pa.Table) -> list[bytes]:
    """What `--save` keeps."""
    made = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        (folder / "t.csv").write_bytes(separated(whole)[0])
        for method in ("propagation", "hybrid", "field"):
            how = [folder / "t.csv", folder / "edges.csv", "--save", folder / "k.gfill"]
            assert run(folder, *how, "--method", method) == 0
            made.append((folder / "k.gfill").read_bytes())
    return made


def records(whole: pa.Table) -> list[bytes]:
    """What the paper's experiments came to."""
    from graphfill.bench._results import COLUMNS, Results

    row: dict[str, Any] = {name: {"string": "a"}.get(kind, 1) for name, kind in COLUMNS.items()}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "runs.parquet"
        Results(path).add([row | {"run": run} for run in range(ROWS)])
        return [path.read_bytes()]


MAKERS = {
    ".runs.parquet": records,
    ".xlsx": lambda whole: [written(".xlsx", whole)],
    ".ods": lambda whole: [written(".ods", whole)],
    ".dta": lambda whole: statistics(".dta", whole),
    ".sav": lambda whole: statistics(".sav", whole),
    ".edges": links,
    ".geojson": maps,
    ".gfill": kept,
    ".arrow": arrow,
    ".parquet": packed,
    ".jsonl": text,
    ".csv": separated,
    ".tsv": separated,
    ".csv.gz": zipped,
}


def mutant(content: bytes, rng: random.Random) -> bytes:
    """The same with some bytes changed, removed, repeated or cut off; mostly within a zip."""
    if content.startswith(b"PK") and rng.random() < 0.9:
        with zipfile.ZipFile(io.BytesIO(content)) as old:
            parts = {part: old.read(part) for part in old.infolist()}
        chosen, file = rng.choice(list(parts)), io.BytesIO()
        with zipfile.ZipFile(file, "w") as new:
            for part, held in parts.items():
                changed = flat(held, rng) if part is chosen and held else held
                new.writestr(part.filename, changed, part.compress_type)
        return file.getvalue()
    return flat(content, rng)


def flat(content: bytes, rng: random.Random) -> bytes:
    """Some of the bytes changed; a number in text at times made a large one."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 8))):
        place, size = rng.randrange(len(data)), rng.randrange(1, 16)
        change = rng.choice(("bit", "byte", "number", "remove", "repeat", "cut", "step", "digits"))
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
        elif change == "digits":
            digits = [at for at in range(place, min(len(data), place + 200)) if 48 <= data[at] < 58]
            at = digits[0] if digits else place
            data[at : at + 1] = str(rng.choice(NUMBERS)).encode()
        else:
            data[place] = (data[place] + rng.choice((1, 255))) % 256
        data = data or bytearray(b"x")
    return bytes(data)


def prepare(folder: Path) -> None:
    """A table and edges beside what is changed."""
    ring = "".join(f"p{i},p{(i + 1) % ROWS}\n" for i in range(ROWS))
    (folder / "edges.csv").write_text(f"source,target\n{ring}")
    (folder / "table.csv").write_bytes(separated(table())[0])


def run(folder: Path, *arguments: object) -> int:
    from graphfill.cli import _arguments, _commands

    global parser
    parser = parser or _arguments.build_parser()
    how = ["-o", folder / "filled.csv", "--overwrite", "--quiet"]
    return _commands.run(parser.parse_args(["impute", *map(str, (*arguments, *how))]))


def read(path: Path, folder: Path) -> None:
    """Give a file to what reads its kind."""
    propagation, table, edges = (
        ("--method", "propagation", "--reliance", "1"),
        folder / "table.csv",
        "edges.csv",
    )
    if path.name.endswith(".runs.parquet"):
        from graphfill.bench._results import Results

        Results(path).rows()
    elif path.suffix == ".geojson":
        from graphfill.links import borders

        borders(path)
    elif path.suffix == ".edges":
        assert run(folder, table, path, *propagation) == 0
    elif path.suffix == ".gfill":
        assert run(folder, table, folder / edges, "--load", path) == 0
    else:
        assert run(folder, path, folder / edges, *propagation) == 0


def outcome(path: Path, folder: Path) -> str:
    """What the command makes of a file: filled, refused, or what it should not have raised."""
    from graphfill.errors import InputError

    try:
        read(path, folder)
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
        prepare(folder)
        for number in range(first, last):
            path = folder / f"mutant{suffix}"
            rng = random.Random(f"{seed} {number}")
            path.write_bytes(mutant(made[number % len(made)], rng))
            if place := os.environ.get("MUTANTS"):
                Path(place, f"{seed}-{number}{suffix}").write_bytes(path.read_bytes())
            began = time.process_time()
            print(number, end=" ", flush=True)
            what = outcome(path, folder)
            slow = time.process_time() - began > MOST_SECONDS
            print(f"took too long and {what}" if slow else what, flush=True)


if __name__ == "__main__":
    main()
