"""Runs that write a report: its words, its numbers and its markup."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from corpus.command import folder, graphfill, plain
from corpus.files import columns_of, write
from corpus.problems import friends

import graphfill as gf

RUNS: dict[str, Callable[[], dict]] = {}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
# Lines after which something stands that no two machines have alike.
VARYING = re.compile(
    r"^(.* version|relative residual|read|link|survey|fill|write|total)\n[\d.e-]+$", re.M
)


def parts_of_page(path: Path, place: Path) -> dict[str, Any]:
    """The words that are read, the numbers that figures are drawn from, and the tags."""
    page = plain(path.read_text(), place)
    style = "".join(re.findall(r"<style.*?</style>", page, re.DOTALL))
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    drawn = "".join(re.findall(r"<svg.*?</svg>", body, re.DOTALL))
    read = re.sub(r"<svg.*?</svg>", " ", body, flags=re.DOTALL)
    words = html.unescape(re.sub(r"<[^>]*>", "\n", read))
    lines = [" ".join(line.split()) for line in words.split("\n")]
    return {
        "words": VARYING.sub(r"\1\n<varies>", "\n".join(line for line in lines if line)),
        "numbers": np.array([float(found) for found in NUMBER.findall(drawn)]),
        "tags": style + NUMBER.sub("#", " ".join(re.findall(r"<[^>]*>", body))),
    }


def _command(command: str, *options: str) -> dict[str, Any]:
    with folder() as place:
        write(place / "people.csv", columns_of(200, names="age city"))
        write(place / "friends.csv", friends(200, texts=True))
        said = graphfill(
            place, command, "people.csv", "friends.csv", "--report", "page.html", *options
        )  # fmt: skip
        return said | parts_of_page(place / "page.html", place)


def _result() -> dict[str, Any]:
    """The report of a result in Python."""
    import polars as pl

    table = pl.DataFrame(columns_of(200, names="height member"))
    links = pl.DataFrame(friends(200, texts=True))
    options = {"id": "person", "source": "person", "target": "friend", "intervals": 0.9}
    result = gf.impute(table, links, scores="random", return_result=True, **options)
    with folder() as place:
        result.report(place / "page.html")
        return parts_of_page(place / "page.html", place)


RUNS |= {
    "impute": partial(_command, "impute", "-o", "filled.csv"),
    "check": partial(_command, "check"),
    "result": _result,
}
