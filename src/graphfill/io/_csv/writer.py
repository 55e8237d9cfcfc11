"""Write CSV: the text of every known cell as it stood, and filled cells in their column's form.

A batch of rows is joined into one array of lines, whose buffer is the file's content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .. import _refuse_outputs
from .._sheet import Progress, Sheet
from .._text import content
from .dialect import WHITESPACE, Dialect
from .stream import compressed

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 16 << 20


def write(
    file: IO[bytes],
    path: Path,
    filled: pa.Table,
    *,
    like: Sheet,
    changed: Mapping[str, Any],
    progress: Progress | None,
) -> None:
    """Write the sheet's rows with the filled cells in place."""
    dialect = output_dialect(path, like)
    columns = [
        _cells(name, filled[name], like, changed.get(name), dialect) for name in filled.column_names
    ]
    with compressed(file, path) as packed:
        packed.write(dialect.bom)
        header = dialect.separator.join(
            _quoted(name, dialect.separator, dialect.quoted_header) for name in filled.column_names
        )
        head = dialect.preamble
        if dialect.header:
            head += header + dialect.line_end
        _write_text(packed, head.encode(), path, dialect)
        size = sum(column.nbytes for column in columns)
        step = max(1, filled.num_rows * BATCH_BYTES // max(size, 1))
        for start in range(0, filled.num_rows, step):
            stop = min(start + step, filled.num_rows)
            batch = [column[start:stop] for column in columns]
            lines = _lines(batch, dialect)
            if stop == filled.num_rows and not dialect.final_line_end:
                lines = lines[: -len(dialect.line_end)]
            _write_text(packed, lines, path, dialect)
            if progress is not None:
                progress(size * stop // filled.num_rows, size)


def output_dialect(path: Path, like: Sheet) -> Dialect:
    """The input's dialect, with the separator that the output's name speaks of if that differs."""
    dialect = like.dialect or Dialect()
    endings = [suffix.lower() for suffix in path.suffixes]
    own = [suffix.lower() for suffix in like.path.suffixes]
    if ".tsv" in endings or ".tab" in endings:
        if not (".tsv" in own or ".tab" in own):
            dialect = replace(dialect, separator="\t", preamble="")
    elif ".csv" in endings and dialect.separator in ("\t", WHITESPACE) and ".csv" not in own:
        dialect = replace(dialect, separator=";" if dialect.decimal == "," else ",")
    if dialect.separator == WHITESPACE:
        dialect = replace(dialect, separator="\t")
    return dialect


def _cells(name: str, filled: Any, like: Sheet, changed: Any, dialect: Dialect) -> pa.ChunkedArray:
    """A column as text, not yet quoted; null where an empty cell is to be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name not in like.table.column_names:
        return as_text(filled, dialect.decimal)
    if name in like.texts:
        texts = like.texts[name]
        if like.format == "csv":
            texts = like.originals.get(name, texts)
    else:
        texts = as_text(like.originals.get(name, like.table[name]), dialect.decimal)
    if changed is None or not changed.any():
        return texts
    marks = pa.array(changed)
    values = filled.filter(marks)
    form = like.text_formats.get(name)
    new = form.format(values) if form is not None else as_text(values, dialect.decimal)
    if isinstance(new, pa.ChunkedArray):
        new = new.combine_chunks()
    whole = texts.combine_chunks() if texts.nbytes < 2**31 else texts.cast(pa.large_string())
    if isinstance(whole, pa.ChunkedArray):
        whole, new = whole.combine_chunks(), new.cast(pa.large_string())
    return pa.chunked_array([pc.replace_with_mask(whole, marks, new)])


def as_text(column: pa.ChunkedArray, decimal: str = ".") -> pa.ChunkedArray:
    """Typed values as text that reads back the same: ISO dates, the shortest floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        texts = pc.if_else(pc.is_nan(column), None, pc.cast(column, pa.string()))
        # So that a column of 1.0 and 2.0 does not come back as one of integers.
        texts = pc.replace_substring_regex(texts, "^(-?[0-9]+)$", r"\1.0")
        return texts if decimal == "." else pc.replace_substring(texts, ".", decimal)
    if pa.types.is_null(column.type):
        return pc.cast(column, pa.string())
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structs, bytes
        cells = [
            None if cell is None else json.dumps(cell, default=str, ensure_ascii=False)
            for cell in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(cells, pa.string())])


def _quoted(text: str, separator: str, always: bool) -> str:
    needed = always or any(mark in text for mark in (separator, '"', "\r", "\n"))
    return '"' + text.replace('"', '""') + '"' if needed else text


def _lines(batch: list[pa.ChunkedArray], dialect: Dialect) -> bytes:
    """The rows of a batch as they stand in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = any(pa.types.is_large_string(column.type) for column in batch)
    kind = pa.large_string() if large else pa.string()
    cells = []
    for number, column in enumerate(batch):
        array = column.combine_chunks().cast(kind)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        cells.append(_quote_cells(array, dialect, number))
    scalar = [pa.scalar(text, kind) for text in (dialect.separator, "", dialect.line_end)]
    options: Any = {"null_handling": "replace", "null_replacement": ""}
    rows = pc.binary_join_element_wise(*cells, scalar[0], **options) if cells[1:] else cells[0]
    lines = pc.binary_join_element_wise(rows, scalar[1], scalar[2], **options)
    return content(lines)


def _quote_cells(cells: pa.Array, dialect: Dialect, number: int) -> pa.Array:
    """Quotes around cells that need them, and where the whole column has them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    mark, none = pa.scalar('"', kind), pa.scalar("", kind)
    if dialect.all_quoted:
        cells = pc.fill_null(cells, "")
        needed = pc.is_valid(cells)
    elif number in dialect.quoted:
        needed = pc.not_equal(cells, "NA")  # as R has it
    else:
        needed = pc.equal(cells, "")
        joined = content(cells)
        for special in (dialect.separator, '"', "\r", "\n"):
            if special.encode() in joined:  # looking through all cells at once is the faster
                needed = pc.or_(needed, pc.match_substring(cells, special))
    if not pc.any(needed).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(mark, doubled, mark, none), cells)


def _write_text(file: Any, text: bytes, path: Path, dialect: Dialect) -> None:
    if dialect.encoding != "utf-8":
        try:
            text = text.decode().encode(dialect.encoding)
        except UnicodeEncodeError as error:
            bad = error.object[error.start : error.end]
            raise _refuse_outputs.unencodable(path, bad, dialect.encoding) from None
    file.write(text)
