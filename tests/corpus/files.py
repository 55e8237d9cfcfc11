"""Runs of the commands `impute`, `check` and `demo` on files of every format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from corpus.cells import in_words, parts_of
from corpus.command import folder, graphfill, plain
from corpus.problems import friends, people, shuffled

RUNS: dict[str, Callable[[], dict]] = {}
N, ENOUGH = 70, 200  # rows: few, or enough to hold some cells out
FORCING = "230MB"  # less than reading 200 rows of Parquet whole is thought to take
NAMES = ("--id", "person", "--source", "person", "--target", "friend")


def write(path: Path, columns: dict[str, list[Any]], separator: str = ",", mark: str = ".") -> None:
    """Write a table in the format that the name ends with."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    ending = path.name.partition(".")[2]
    if ending == "parquet":
        pa.parquet.write_table(pa.table(columns), path, row_group_size=40)
    elif ending == "feather":
        pa.feather.write_feather(pa.table(columns), str(path))
    elif ending.startswith("jsonl"):
        rows = zip(*columns.values(), strict=True)
        lines = [json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows]
        _write_text(path, lines)
    else:
        separator = "\t" if ending.startswith("tsv") else separator
        lines = [separator.join(columns)]
        for row in zip(*columns.values(), strict=True):
            lines.append(separator.join(_cell(cell, mark) for cell in row))
        _write_text(path, lines)


def read(path: Path) -> dict[str, Any]:
    """What a file holds: the text, or the columns of a binary one."""
    import pyarrow.feather
    import pyarrow.parquet

    if path.suffix == ".parquet":
        file = pyarrow.parquet.ParquetFile(path)
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        return parts_of(file.read()) | {"groups": str(groups)}
    if path.suffix == ".feather":
        return parts_of(pyarrow.feather.read_table(path))
    content = path.read_bytes()
    return {path.name: (gzip.decompress(content) if path.suffix == ".gz" else content).decode()}


def _cell(cell: Any, mark: str) -> str:
    if cell is None:
        return ""
    return str(cell).replace(".", mark) if isinstance(cell, float) else str(cell)


def _write_text(path: Path, lines: list[str]) -> None:
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def columns_of(n: int, texts: bool = True, names: str = "age height member city joined") -> dict:
    """Some of the people's columns, ids first."""
    table = people(n, texts=texts)
    return {name: table[name] for name in ("person", *names.split())}


def _impute(
    table: str,
    edges: str,
    output: str,
    *options: str,
    n: int = N,
    texts: bool = True,
    order: int | None = None,
    names: str = "age height member city joined",
    **written: str,
) -> dict[str, Any]:
    """Write the files, fill, and give what was printed and written."""
    columns, links = columns_of(n, texts, names), friends(n, texts=texts)
    if order is not None:
        columns, links = shuffled(columns, order), shuffled(links, order)
    with folder() as place:
        write(place / table, columns, **written)
        write(place / edges, links)
        said = graphfill(place, "impute", table, edges, "-o", output, *options)
        return said | read(place / output)


PARQUET = ("people.parquet", "friends.parquet", "filled.parquet")
RUNS |= {
    "csv": partial(_impute, "people.csv", "friends.csv", "filled.csv", n=ENOUGH),
    "csv shuffled": partial(
        _impute, "people.csv", "friends.csv", "filled.csv", *NAMES, order=1, texts=False
    ),
    "csv of Europe": partial(
        _impute, "people.csv", "friends.csv", "filled.csv", separator=";", mark=","
    ),
    "csv.gz, diffusion, weighted": partial(
        _impute, "people.csv.gz", "friends.csv.gz", "filled.csv.gz", *NAMES,
        "--solver", "diffusion", "--steps", "12", "--weight", "closeness",
    ),
    "tsv, marked, some columns": partial(
        _impute, "people.tsv", "friends.tsv", "filled.tsv", "--mark", "--columns", "age,city",
        "--type", "age=number", "--reliance", "1",
    ),
    "json lines": partial(_impute, "people.jsonl", "friends.jsonl", "filled.jsonl", order=2),
    "feather": partial(_impute, "people.feather", "friends.feather", "filled.feather"),
    "parquet": partial(
        _impute, *PARQUET, n=ENOUGH, names="age height income member city joined seen"
    ),
    "csv to parquet, by neighbours": partial(
        _impute, "people.csv", "friends.tsv", "filled.parquet", "--method", "neighbors"
    ),
    "parquet to csv, by the mean": partial(
        _impute, "people.parquet", "friends.csv", "filled.csv", "--method", "mean",
        "--exclude", "joined",
    ),
    "auto with intervals": partial(
        _impute, "people.csv", "friends.csv", "filled.csv", "--method", "auto", "--intervals",
        "0.8", "--scores", "rows", names="age city",
    ),
    "quiet, sym, shrinkage": partial(
        _impute, "people.csv", "friends.csv", "filled.csv", "--quiet", "--normalization", "sym",
        "--shrinkage", "0.1", "--threads", "1", names="height income",
    ),
    "from disk": partial(_impute, *PARQUET, *NAMES, "--memory-limit", FORCING, n=ENOUGH),
    "from disk, shuffled, ids of text": partial(
        _impute, *PARQUET, "--memory-limit", FORCING, "--method", "neighbors", "--mark",
        n=ENOUGH, order=3,
    ),
    "from disk, numbers, weighted": partial(
        _impute, *PARQUET, *NAMES, "--memory-limit", FORCING, "--weight", "closeness",
        "--unreached", "leave", "--solver", "diffusion", n=ENOUGH, texts=False, order=4,
    ),
    "in shards": partial(
        _impute, *PARQUET, *NAMES, "--engine", "local", "--shards", "3", "--workers", "1",
        n=ENOUGH,
    ),
    "in shards, csv, diffusion": partial(
        _impute, "people.csv", "friends.csv", "filled.csv", "--engine", "local", "--workers", "2",
        "--shards", "2", "--solver", "diffusion", "--steps", "5",
    ),
}  # fmt: skip


def _as_json(command: str, *options: str) -> dict[str, Any]:
    """A command whose summary is printed as JSON."""
    output = ("-o", "filled.csv") if command == "impute" else ()
    with folder() as place:
        write(place / "people.csv", columns_of(ENOUGH))
        write(place / "friends.csv", friends(ENOUGH, texts=True))
        said = graphfill(
            place, command, "people.csv", "friends.csv", *output, "--json", *options
        )  # fmt: skip
        summary = json.loads(said.pop("stdout"))
    return said | {"summary": in_words(summary)}


def _check(table: str, edges: str, *options: str) -> dict[str, Any]:
    with folder() as place:
        write(place / table, columns_of(N))
        write(place / edges, friends(N, texts=True))
        return graphfill(place, "check", table, edges, *options)


def _reading() -> dict[str, Any]:
    """Markers, quotes, dates as they are written elsewhere, and edges in plain text."""
    rows = ["name\tborn\tpets\tcolour"]
    for i in range(60):
        born = "n/a" if i % 4 == 0 else f"{1 + i % 28:02d}/{1 + i % 12:02d}/19{60 + i % 30}"
        pets = "-99" if i % 5 == 0 else str(i % 7)
        colour = "?" if i % 3 == 0 else f'"{("red", "deep blue", "green")[i // 20]}"'
        rows.append(f"n{i:02d}\t{born}\t{pets}\t{colour}")
    with folder() as place:
        (place / "table.txt").write_text("\n".join(rows) + "\n", encoding="latin-1")
        pairs = [f"n{i:02d} n{(i + step) % 60:02d}" for i in range(60) for step in (1, 2)]
        (place / "links.txt").write_text("# links\n" + "\n".join(pairs) + "\n")
        said = graphfill(
            place, "impute", "table.txt", "links.txt", "-o", "filled.csv", "--missing", "?,-99",
            "--type", "born=date:%d/%m/%Y", "--no-edge-header", "--encoding", "latin-1",
            "--reliance", "1",
        )  # fmt: skip
        return said | read(place / "filled.csv")


def _demo() -> dict[str, Any]:
    """The demo, smaller than by default."""
    with folder() as place:
        said = graphfill(place, "demo", "--people", "150", "--folder", "town")
        filled = plain((place / "town" / "filled.csv").read_text(), place)
        names = sorted(path.name for path in (place / "town").iterdir())
    return said | {"filled": filled, "files": "\n".join(names)}


RUNS |= {
    "impute as JSON": partial(_as_json, "impute"),
    "impute as JSON, scores": partial(_as_json, "impute", "--scores", "--columns", "age,city"),
    "check as JSON": partial(_as_json, "check"),
    "check csv": partial(_check, "people.csv", "friends.csv"),
    "check parquet": partial(_check, "people.parquet", "friends.parquet", *NAMES, "--seed", "3"),
    "markers and plain text": _reading,
    "demo": _demo,
}
