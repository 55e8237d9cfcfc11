"""The countries of the demo: a real table, whose blanks are real, and two kinds of links.

The files are embedded, compressed; where they come from is in ``countries/LICENSE.md``.
"""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path

from .. import io
from ._town import make_folder

NAMES = ("countries.csv", "borders.csv", "nearest.csv")


def countries() -> dict[str, bytes]:
    """The table, its land borders and the links to the five nearest, by name of file.

    >>> countries()["borders.csv"].splitlines()[0]
    b'source,target,km'
    """
    embedded = files("graphfill.cli") / "countries"
    return {name: gzip.decompress((embedded / f"{name}.gz").read_bytes()) for name in NAMES}


def write_countries(folder: Path) -> list[str]:
    """Write them into a folder; no file is replaced that no demo wrote. Returns their paths."""
    contents = countries()
    headers = {name: text.splitlines()[0].decode() for name, text in contents.items()}
    make_folder(folder, headers)
    for name, content in contents.items():
        with io.replacing(folder / name) as file:
            file.write(content)
    return [str(folder / name) for name in contents]


def in_words(paths: list[str]) -> str:
    """What was written, and what to do with it."""
    table, borders, nearest = paths
    return "\n".join(
        [
            f"Wrote 250 countries to {table}, their land borders to {borders} and their links to "
            f"the five nearest to {nearest} (World Factbook, public domain). To fill the blanks:",
            "",
            f"  graphfill impute {table} {nearest} -o filled.csv",
        ]
    )
