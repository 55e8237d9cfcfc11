"""Workbooks of LibreOffice (OpenDocument), by the standard library: all other parts are kept."""

from __future__ import annotations

import copy
import datetime as dt
import io
import itertools
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree as xml

from ..errors import InputError
from ._sheet import Options
from ._spreadsheet import choose_sheet

if TYPE_CHECKING:
    from ._spreadsheet import Grid, Row

CONTENT = "content.xml"
_URN = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = {name: f"{_URN}:{name}:1.0" for name in ("office", "table", "text", "manifest")}
TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S\Z")


def _tag(space: str, name: str) -> str:
    return f"{{{SPACES[space]}}}{name}"


ROW, CELL, COVERED = (_tag("table", n) for n in ("table-row", "table-cell", "covered-table-cell"))
ROWS_REPEATED = _tag("table", "number-rows-repeated")
COLUMNS_REPEATED = _tag("table", "number-columns-repeated")
VALUE_TYPE = _tag("office", "value-type")


def _content(path: Path) -> tuple[xml.Element, list[tuple[str, str]]]:
    """The parsed content, and the prefixes it gives to names."""
    with zipfile.ZipFile(path) as parts:
        if CONTENT not in parts.namelist():
            raise InputError(f"{path} is no workbook: it has no part {CONTENT!r}.")
        data = parts.read(CONTENT)
    spaces = [event[1] for event in xml.iterparse(io.BytesIO(data), ["start-ns"])]
    return xml.fromstring(data), spaces


def _sheets(root: xml.Element) -> dict[str, xml.Element]:
    found = root.iter(_tag("table", "table"))
    return {sheet.get(_tag("table", "name"), ""): sheet for sheet in found}


def read_rows(
    path: Path, name: str | None, options: Options
) -> tuple[str, Iterable[Row], list[str]]:
    """The name of the sheet, and its rows."""
    sheets = _sheets(_content(path)[0])
    used = [
        title
        for title, sheet in sheets.items()
        if name or any(cell.get(VALUE_TYPE) for cell in sheet.iter(CELL))
    ]
    title = choose_sheet(path, name, used or list(sheets))
    rows: list[Row] = []
    number, size = 1, 0
    for element in sheets[title].iter(ROW):
        times = int(element.get(ROWS_REPEATED, 1))
        values = _row(element, path, options)
        if values:
            size += (len(values) + 1) * 8 * times
            options.check_size(path, size)
            rows += [(number + turn, values) for turn in range(times)]
        number += times
    return title, rows, []


def _row(element: xml.Element, path: Path, options: Options) -> list[Any]:
    """The values of a row, without missing ones at its end."""
    values: list[Any] = []
    gap = 0  # missing cells that nothing has followed yet
    for cell in element:
        if cell.tag not in (CELL, COVERED):
            continue
        times = int(cell.get(COLUMNS_REPEATED, 1))
        value = None if cell.tag == COVERED else _value(cell)
        if value is None:
            gap += times
            continue
        options.check_size(path, (len(values) + gap + times) * 8)
        values += [None] * gap + [value] * times
        gap = 0
    return values


def _value(cell: xml.Element) -> Any:
    kind = cell.get(VALUE_TYPE)
    if kind in ("float", "percentage", "currency"):
        number = float(cell.get(_tag("office", "value"), "nan"))
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "boolean":
        return cell.get(_tag("office", "boolean-value")) == "true"
    if kind == "date":
        moment = dt.datetime.fromisoformat(cell.get(_tag("office", "date-value"), ""))
        return moment
    if kind == "time":
        match = _DURATION.match(cell.get(_tag("office", "time-value"), ""))
        if match is None or int(match[1]) > 23:
            return "".join(cell.itertext()) or None
        fraction = int((match[4] or "0").ljust(6, "0")[:6])
        return dt.time(int(match[1]), int(match[2]), int(match[3]), fraction)
    if kind == "string":
        lines = ["".join(line.itertext()) for line in cell.findall(_tag("text", "p"))]
        return "\n".join(lines) or None
    return None


def _set(cell: xml.Element, value: Any) -> None:
    """Make a cell hold a value; how it is formatted stays."""
    for old in list(cell):
        cell.remove(old)
    for name in list(cell.keys()):
        if name.startswith(f"{{{SPACES['office']}}}") or name == _tag("table", "formula"):
            del cell.attrib[name]
    if value is None:
        return
    if isinstance(value, bool):
        held = {"value-type": "boolean", "boolean-value": str(value).lower()}
    elif isinstance(value, int | float):
        held = {"value-type": "float", "value": repr(value)}
    elif isinstance(value, dt.time):
        held = {"value-type": "time", "time-value": value.strftime("PT%HH%MM%SS")}
    elif isinstance(value, dt.date) and getattr(value, "tzinfo", None) is None:
        held = {"value-type": "date", "date-value": value.isoformat()}
    else:
        held = {"value-type": "string"}
    for name, text in held.items():
        cell.set(_tag("office", name), text)
    clean = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", str(value))
    for line in clean.split("\n"):
        xml.SubElement(cell, _tag("text", "p")).text = line


def _within(
    parent: xml.Element, tags: tuple[str, ...]
) -> Iterator[tuple[xml.Element, xml.Element]]:
    """The elements of some tags in order, each with what holds it: rows may stand in groups."""
    for child in list(parent):
        if child.tag in tags:
            yield parent, child
        else:
            yield from _within(child, tags)


def _split(
    parent: xml.Element, tags: tuple[str, ...], name: str, wanted: Iterable[int]
) -> dict[int, xml.Element]:
    """The elements at the wanted places, from 1; one that stands for many is cut into parts."""
    left = sorted(wanted, reverse=True)
    found: dict[int, xml.Element] = {}
    place = 1
    for holder, element in _within(parent, tags):
        times = int(element.get(name, 1))
        inside = []
        while left and left[-1] < place + times:
            inside.append(left.pop())
        if inside and times == 1:
            found[place] = element
        elif inside:
            at = list(holder).index(element)
            holder.remove(element)
            cuts = sorted({place, place + times, *inside, *(one + 1 for one in inside)})
            for start, end in itertools.pairwise(cuts):
                part = copy.deepcopy(element)
                del part.attrib[name]
                if end - start > 1:
                    part.set(name, str(end - start))
                holder.insert(at, part)
                at += 1
                found[start] = part
        place += times
    return found


def write_filled(
    file: IO[bytes], path: Path, grid: Grid, changes: dict[tuple[int, int], Any]
) -> None:
    """The workbook with some cells changed; every other part is as it was."""
    root, spaces = _content(path)
    for prefix, uri in spaces:
        xml.register_namespace(prefix, uri)
    by_row: dict[int, dict[int, Any]] = {}
    for (row, column), value in changes.items():
        by_row.setdefault(row, {})[column] = value
    rows = _split(_sheets(root)[grid.sheet], (ROW,), ROWS_REPEATED, by_row)
    for number, values in by_row.items():
        element = rows[number]
        width = sum(int(c.get(COLUMNS_REPEATED, 1)) for c in element if c.tag in (CELL, COVERED))
        if max(values) > width:
            xml.SubElement(element, CELL, {COLUMNS_REPEATED: str(max(values) - width)})
        cells = _split(element, (CELL, COVERED), COLUMNS_REPEATED, values)
        for column, value in values.items():
            _set(cells[column], value)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            data = old.read(part)
            if part.filename == CONTENT:
                data = xml.tostring(root, "utf-8", xml_declaration=True)
            new.writestr(part, data)


def write_new(file: IO[bytes], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A workbook of one sheet."""
    for name, uri in SPACES.items():
        xml.register_namespace(name, uri)
    root = xml.Element(_tag("office", "document-content"), {_tag("office", "version"): "1.2"})
    body = xml.SubElement(
        xml.SubElement(root, _tag("office", "body")), _tag("office", "spreadsheet")
    )
    sheet = xml.SubElement(body, _tag("table", "table"), {_tag("table", "name"): "Sheet1"})
    for values in ([name or None for name in names], *rows):
        row = xml.SubElement(sheet, ROW)
        for value in values:
            _set(xml.SubElement(row, CELL), value)
    manifest = xml.Element(_tag("manifest", "manifest"), {_tag("manifest", "version"): "1.2"})
    for path, kind in (("/", TYPE), (CONTENT, "text/xml")):
        entry = {_tag("manifest", "full-path"): path, _tag("manifest", "media-type"): kind}
        xml.SubElement(manifest, _tag("manifest", "file-entry"), entry)
    when = (1980, 1, 1, 0, 0, 0)  # so that equal contents are equal files
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr(zipfile.ZipInfo("mimetype", when), TYPE)
        for name, part in ((CONTENT, root), ("META-INF/manifest.xml", manifest)):
            data = xml.tostring(part, "utf-8", xml_declaration=True)
            parts.writestr(zipfile.ZipInfo(name, when), data, zipfile.ZIP_DEFLATED)
