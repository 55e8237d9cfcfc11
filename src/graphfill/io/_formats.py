"""How a table is read from and written to each kind of file, one module per kind."""

from __future__ import annotations

from pathlib import Path

from . import _refuse_formats

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
TABLE_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
}
EDGE_ENDINGS = TABLE_ENDINGS | {".edges": "csv", ".edgelist": "csv", ".el": "csv"}


def split_name(
    path: Path, endings: dict[str, str] = TABLE_ENDINGS, *, output: bool = False
) -> tuple[str, str, str | None]:
    """Format, ending and compression that a file's name speaks of.

    >>> split_name(Path("people.csv.gz"))
    ('csv', '.csv', 'gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    format = _refuse_formats.check_ending(path, ending, endings, compression, output)
    return format, ending, compression
