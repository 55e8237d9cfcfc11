"""The page: numbers, sentences and figures put into the templates, within a limit of bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from . import _shapes, _words
from ._sections import section
from ._text import SCALE, unreached_kinds
from ._words import Summary, count, finite, listed, name, named, number, percent, shown

if TYPE_CHECKING:
    from jinja2 import Environment

SECTION_BYTES = 2_300_000  # for all columns' sections; the whole page stays below 3 MB
LEAST_BYTES = 500  # with less room nothing need be tried
OVERVIEW_ROWS = 500
NOTES = 100
SHOWN_FIRST = 2
PICTURES = ("missing", "together", "points", "scatter")
GOOD = ("well inferred", "fairly well inferred", "inferable")  # verdicts
# Characters that are no text: a browser would refuse them, or an encoder.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# What a summary and a column have where nothing else is given.
_SUMMARY: Summary = {
    **dict.fromkeys(("rows", "edges", "missing", "filled", "unreached", "n_iter"), 0),
    **dict.fromkeys(("rows_without_edge", "residual", "converged", "version", "command"), None),
    **{key: {} for key in ("settings", "input", "seconds", "pictures")},
    **dict.fromkeys(("columns", "notes"), ()),
}
_COLUMN: Summary = {
    **dict.fromkeys(("name", "kind", "verdict", "links", "note", "chosen", "unit", "why"), ""),
    **dict.fromkeys(("n_missing", "n_filled", "n_unreached", "n_held_out"), 0),
    **dict.fromkeys(("n_known", "agreement", "explained", "rehearsal", "interval_level"), None),
    **dict.fromkeys(("coverage", "median_width", "constant_width", "n_unreached_groups"), None),
    **dict.fromkeys(("scores", "calibration", "distance", "unreached_groups"), ()),
    **{"least_trusted": (), "reasons": (), "distribution": {}},
}


def write_report(
    summary: Summary,
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """Write the page about a fill; the file appears whole or not at all.

    It replaces another file only with `overwrite`, and never one of `inputs`, which also tell who
    may read it.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report({"rows": 3, "missing": 0}, pathlib.Path(folder, "report.html"))
    ...     pathlib.Path(folder, "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    from ..io import check_written_here, replacing

    check_written_here(path, inputs, overwrite)
    page = render(summary).encode("utf-8")
    with replacing(path, *inputs) as file:
        file.write(page)


def labelled_bars(
    key: str,
    rows: Sequence[tuple[str, float | None, str, str]],
    title: str,
    words: Sequence[str],
) -> str:
    """An SVG of one bar per row: label, length, the number after it, and style."""
    module: Any = _templates().get_template("figures.html").module
    return str(module.labelled_bars(key, rows, title, words)).strip()


def render(summary: Summary) -> str:
    """The page as HTML, complete in itself, from what `TableResult.summary` returns.

    >>> page = render({"rows": 3, "missing": 0})
    >>> "Nothing was missing" in page, "://" in page
    (True, False)
    """
    given = finite(summary)
    summary = _complete(given)
    columns = [column for column in summary["columns"] if column["n_missing"]]
    parts, limits = _sections(summary, columns)
    style = _read("style.css")
    whole = [
        named(column["name"]) + (" (the ids)" if column["kind"] == "id" else "")
        for column in summary["columns"]
        if not column["n_missing"]
    ]
    page = (
        _templates()
        .get_template("template.html")
        .render(
            summary=summary,
            style=style,
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            columns=columns,
            shown_first=_shown_first(columns),
            overview=list(zip(columns, parts, strict=True))[:OVERVIEW_ROWS],
            sections=[part for part in parts if part],
            limits=limits,
            whole=listed(whole, most=60),
            settings=_settings(given),
            timings=[(shown(key), f"{took:,.2f}") for key, took in summary["seconds"].items()],
            command=_command(summary["command"]),
            notes=[note for note in summary["notes"] if note],
            most_notes=NOTES,
        )
    )
    return _NO_TEXT.sub("\ufffd", page)


def _complete(given: Summary) -> Summary:
    """A summary with something for all that every summary and every column has."""
    summary = _SUMMARY | {key: value for key, value in given.items() if value is not None}
    summary["pictures"] = {key: {} for key in PICTURES} | summary["pictures"]
    stay = summary["settings"].get("unreached") == "nan"
    defaults = _COLUMN | {"unreached_got": "nothing" if stay else "mean"}
    summary["columns"] = [
        defaults | {key: value for key, value in column.items() if value not in (None, "")}
        for column in summary["columns"]
    ]
    return summary


def _sections(summary: Summary, columns: Sequence[Summary]) -> tuple[list[str], list[str]]:
    """Each column's section, "" where there was no room, and what had to be left out.

    Words and tables of all columns come before figures of any, and columns in which more was
    filled before others.
    """
    template = _templates().get_template("column.html")
    order = sorted(range(len(columns)), key=lambda j: -columns[j]["n_filled"])
    parts = [""] * len(columns)
    room = SECTION_BYTES
    left_out = {False: 0, True: 0}  # columns, before figures are drawn and after
    for draw in left_out:
        for j in order:
            if room < LEAST_BYTES or (draw and not parts[j]):
                left_out[draw] += 1
                continue
            view = section(columns[j], f"c{j + 1}")
            opened = len(columns) <= 2
            part = template.render(column=view, summary=summary, opened=opened, draw=draw)
            grown = _bytes(part) - _bytes(parts[j])
            if grown > room:
                left_out[draw] += 1
            else:
                room -= grown
                parts[j] = part
    limits = []
    total = f"{len(columns):,} columns"
    if left_out[False]:
        limits.append(f"{left_out[False]:,} of {total} have no section of their own")
    if left_out[True] > left_out[False]:
        undrawn = left_out[True] - left_out[False]
        limits.append(f"{undrawn:,} of {total} are shown without figures")
    if len(columns) > OVERVIEW_ROWS:
        limits.append(f"the overview ends after {OVERVIEW_ROWS:,} of {total}")
    return parts, limits


def inferable_cells(columns: Sequence[Summary]) -> tuple[int, int]:
    """Filled cells of columns that are well or fairly well inferred, and all filled ones.

    Cells that got the column's mean, being out of the graph's reach, are not counted among the
    first.
    """
    solid = 0
    for column in columns:
        if column["verdict"] in GOOD:
            others = column["n_unreached"] if column["unreached_got"] == "mean" else 0
            solid += max(column["n_filled"] - others, 0)
    return solid, sum(column["n_filled"] for column in columns)


def _shown_first(columns: Sequence[Summary]) -> list[Summary]:
    """The columns whose known and filled values are drawn above all tables."""
    filled = [column for column in columns if column["n_filled"] and column["distribution"]]
    return sorted(filled, key=lambda column: -column["n_filled"])[:SHOWN_FIRST]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _settings(given: Summary) -> list[tuple[str, str]]:
    """What it takes to repeat the run, and how it ended."""
    ends = given.get("source"), given.get("target")
    rows: list[tuple[str, Any]] = [
        *((f"{key} read from", file) for key, file in (given.get("input") or {}).items()),
        ("written to", given.get("output")),
        ("rows", given.get("rows")),
        ("nodes of the graph", given.get("nodes")),
        ("nodes that are no row", given.get("nodes_outside_the_table")),
        ("links", given.get("edges")),
        ("rows without a link", given.get("rows_without_edge")),
        ("column of ids", given.get("id")),
        ("columns of the links", None if None in ends else f"{ends[0]} – {ends[1]}"),
        *(given.get("settings") or {}).items(),
        ("steps taken", given.get("n_iter")),
        ("relative residual", given.get("residual")),
        ("converged", given.get("converged")),
        ("graphfill version", given.get("version")),
        *((f"{key} version", value) for key, value in (given.get("versions") or {}).items()),
    ]
    return [(shown(key), _setting(value)) for key, value in rows if value is not None]


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    return shown(value if isinstance(value, str) else json.dumps(value, default=str), 300)


def _command(command: Sequence[str] | str | None) -> str:
    if not isinstance(command, str):
        command = shlex.join(map(str, command or ()))
    return shown(command, 4000)


@cache
def _templates() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined

    names = ("template.html", "column.html", "figures.html", "pictures.html", "sentences.html",
             "tables.html")  # fmt: skip
    templates = Environment(
        loader=DictLoader({name: _read(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = (_words.alike, count, _words.explained, _words.fit, inferable_cells, listed,
             _words.method_words, named, number, _words.one_method, _words.place,
             _words.room_before, _words.ticks, unreached_kinds, _shapes.height_for, _shapes.marks,
             _shapes.reaches, _shapes.scaled, _shapes.spans, _shapes.within)  # fmt: skip
    templates.globals |= {word.__name__: word for word in words} | {"GOOD": GOOD, "SCALE": SCALE}
    templates.filters.update(thousands="{:,}".format, percent=percent)
    templates.filters.update(name=name, named=named, shown=shown)
    return templates


def _read(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
