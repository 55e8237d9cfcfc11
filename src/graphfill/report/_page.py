"""The page: numbers, sentences and figures put into the templates, within a limit of bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from . import _sentences as sentences
from ._sections import column_view
from ._words import listed, name, number, percent, shown

if TYPE_CHECKING:
    from jinja2 import Environment

Said = dict[str, Any]
SECTION_BYTES = 2_300_000  # for all columns' sections; the whole page stays below 3 MB
LEAST_BYTES = 500  # with less room nothing need be tried
OVERVIEW_ROWS = 500
NOTES = 100
# Characters that are no text: a browser would refuse them, or an encoder.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DEFAULTS: Said = {
    "name": "",
    "n_missing": 0,
    "kind": "",
    "n_filled": 0,
    "n_unreached": 0,
    "agreement": None,
    "verdict": "",
    "explained": None,
    "note": "",
}


def render(said: Said) -> str:
    """The page as HTML, complete in itself.

    Parameters
    ----------
    said : what `TableResult.summary` returns; whatever else the columns hold is shown if known

    Examples
    --------
    >>> page = render({"rows": 3, "missing": 0})
    >>> "Nothing was missing" in page, "://" in page
    (True, False)
    """
    said = _finite(said)
    said["columns"] = [_whole_column(column) for column in said.get("columns") or []]
    style = _read("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    notes = [note for note in said.get("notes") or [] if note]
    parts, limits = _sections(said)
    columns = sentences.with_gaps(said)
    whole = [column for column in said["columns"] if not column["n_missing"]]
    page = (
        _templates()
        .get_template("template.html")
        .render(
            style=style,
            style_hash=digest,
            subject=sentences.subject(said),
            headline=sentences.headline(said),
            in_short=sentences.in_short(said),
            warnings=sentences.warnings(said),
            tiles=_tiles(said),
            overview=[
                _overview_row(column, f"c{position}" if parts[position - 1] else "")
                for position, column in enumerate(columns[:OVERVIEW_ROWS], 1)
            ],
            sections=[part for part in parts if part],
            limits=limits,
            whole=_whole(whole),
            settings=_settings(said),
            timings=_timings(said),
            command=_command(said.get("command")),
            notes=[shown(note, 400) for note in notes[:NOTES]],
            more_notes=max(len(notes) - NOTES, 0),
            version=shown(said.get("version") or ""),
        )
    )
    return _NO_TEXT.sub("\ufffd", page)


def _finite(value: Any) -> Any:
    """The same with None for what is no number, and with Python's own numbers for NumPy's."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if hasattr(value, "dtype"):
        value = value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _whole_column(column: Said) -> Said:
    """A column with something for all that every column has."""
    return _DEFAULTS | {key: value for key, value in column.items() if value is not None}


def _sections(said: Said) -> tuple[list[str], list[str]]:
    """Each column's section, "" where there was no room, and what had to be left out.

    Words and tables of all columns come before figures of any, and columns in which more was
    filled before others.
    """
    columns = sentences.with_gaps(said)
    template = _templates().get_template("column.html")
    order = sorted(range(len(columns)), key=lambda j: -columns[j]["n_filled"])
    parts = [""] * len(columns)
    room = SECTION_BYTES
    for draw in (False, True):
        left_out = 0
        for j in order:
            if room < LEAST_BYTES:
                left_out += 1
                continue
            view = column_view(said, columns[j], f"c{j + 1}", draw=draw)
            part = template.render(column=view, opened=len(columns) <= 2)
            grown = _bytes(part) - _bytes(parts[j])
            if grown > room or (draw and not parts[j]):
                left_out += 1
            else:
                room -= grown
                parts[j] = part
        if not draw:
            n_absent = left_out
    limits = []
    total = f"{len(columns):,} columns"
    if n_absent:
        limits.append(f"{n_absent:,} of {total} have no section of their own")
    if left_out > n_absent:
        limits.append(f"{left_out - n_absent:,} of {total} are shown without figures")
    if len(columns) > OVERVIEW_ROWS:
        limits.append(f"the overview ends after {OVERVIEW_ROWS:,} of {total}")
    return parts, limits


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _tiles(said: Said) -> list[tuple[str, str]]:
    """The numbers at a glance."""
    columns = sentences.with_gaps(said)
    inferable = sum(column["verdict"] == "inferable" for column in columns)
    tiles = [("cells filled", f"{said.get('filled', 0):,}")]
    if said.get("missing"):
        tiles.append(("cells missing before", f"{said['missing']:,}"))
        tiles.append(("not reached", f"{said.get('unreached', 0):,}"))
    if columns:
        tiles.append(("columns clearly inferable", f"{inferable:,} of {len(columns):,}"))
    return tiles


def _overview_row(column: Said, key: str) -> Said:
    symbol, verdict = sentences.MARKS.get(column["verdict"], ("?", name(column["verdict"])))
    return {
        "key": key,
        "name": name(column["name"]),
        "kind": shown(column["kind"]),
        "missing": f"{column['n_missing']:,}",
        "filled": f"{column['n_filled']:,}",
        "unreached": f"{column['n_unreached']:,}",
        "explained": percent(column["explained"]),
        "symbol": symbol,
        "verdict": verdict,
    }


def _whole(columns: Sequence[Said]) -> str:
    """The columns that nothing was done to."""
    names = [
        sentences.named(column["name"]) + (" (the ids)" if column["kind"] == "id" else "")
        for column in columns
    ]
    return listed(names, most=60)


def _settings(said: Said) -> list[tuple[str, str]]:
    """What it takes to repeat the run, and how it ended."""
    files: Mapping[str, Any] = said.get("input") or {}
    rows: list[tuple[str, Any]] = [
        *((f"{key} read from", files[key]) for key in files),
        ("written to", said.get("output")),
        ("rows", said.get("rows")),
        ("nodes of the graph", said.get("nodes")),
        ("nodes that are no row", said.get("nodes_outside_the_table")),
        ("links", said.get("edges")),
        ("rows without a link", said.get("rows_without_edge")),
        ("column of ids", said.get("id")),
        ("columns of the links", _pair(said.get("source"), said.get("target"))),
        *(said.get("settings") or {}).items(),
        ("steps taken", said.get("n_iter")),
        ("relative residual", said.get("residual")),
        ("converged", said.get("converged")),
        ("graphfill version", said.get("version")),
        *((f"{key} version", value) for key, value in (said.get("versions") or {}).items()),
    ]
    return [(shown(key), _plain(value)) for key, value in rows if value is not None]


def _pair(source: Any, target: Any) -> str | None:
    return None if source is None or target is None else f"{source} – {target}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    return shown(value if isinstance(value, str) else json.dumps(value, default=str), 300)


def _timings(said: Said) -> list[tuple[str, str]]:
    return [(shown(key), f"{took:,.2f}") for key, took in (said.get("seconds") or {}).items()]


def _command(command: Sequence[str] | str | None) -> str:
    if not command:
        return ""
    return shown(command if isinstance(command, str) else shlex.join(map(str, command)), 4000)


@cache
def _templates() -> Environment:
    from jinja2 import DictLoader, Environment, StrictUndefined

    names = ("template.html", "column.html", "tables.html")
    return Environment(
        loader=DictLoader({name: _read(name) for name in names}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _read(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
