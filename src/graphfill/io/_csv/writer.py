"""Write CSV: the text of every known cell as it stood, and filled cells in their column's form.

A batch of rows is joined into one array of lines, whose buffer is the file's content.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from ...errors import InputError
from .._columns import put
from .._sheet import Output
from .._text import content
from .dialect import WHITESPACE, Dialect
from .stream import compressed

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 16 << 20


def write(file: IO[bytes], output: Output) -> None:
    """Write the rows with the filled cells in place."""
    dialect = output_dialect(output)
    names, n_rows = output.table.column_names, output.table.num_rows
    columns = [_cells(name, output, dialect.decimal) for name in names]
    size = sum(column.nbytes for column in columns)
    step = max(1, n_rows * BATCH_BYTES // max(size, 1))
    head = dialect.preamble
    if dialect.header:
        head += dialect.separator.join(_quoted(name, dialect) for name in names) + dialect.line_end
    with compressed(file, output.path) as packed:
        packed.write(dialect.bom + _encoded(head.encode(), output, dialect))
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            lines = _lines([column[start:stop] for column in columns], dialect)
            if stop == n_rows and not dialect.final_line_end:
                lines = lines[: -len(dialect.line_end)]
            packed.write(_encoded(lines, output, dialect))
            output.report(size * stop // n_rows, size)


def output_dialect(output: Output) -> Dialect:
    """The input's dialect, with the separator that the output's ending asks for if that differs."""
    dialect = output.like.dialect or Dialect()
    endings, input_endings = (
        {".tsv" if suffix.lower() == ".tab" else suffix.lower() for suffix in path.suffixes}
        for path in (output.path, output.like.path)
    )
    if ".tsv" in endings:
        if ".tsv" not in input_endings:
            dialect = replace(dialect, separator="\t", preamble="")
    elif ".csv" in endings - input_endings and dialect.separator in ("\t", WHITESPACE):
        dialect = replace(dialect, separator=";" if dialect.decimal == "," else ",")
    if dialect.separator == WHITESPACE:
        dialect = replace(dialect, separator="\t")
    return dialect


def _cells(name: str, output: Output, decimal: str) -> pa.ChunkedArray:
    """A column as text, not yet quoted; null where a cell stays empty."""
    filled, like, changed = output.table[name], output.like, output.changed.get(name)
    if name not in like.table.column_names:
        return as_text(filled, decimal)
    texts = like.texts.get(name)
    if texts is None:
        texts = as_text(like.originals.get(name, like.table[name]), decimal)
    elif like.format == "csv":
        texts = like.originals.get(name, texts)
    if changed is None or not changed.any():
        return texts
    values, text_format = filled.filter(changed), like.text_formats.get(name)
    new = as_text(values, decimal) if text_format is None else text_format.format(values)
    return put(texts.cast("large_string") if texts.nbytes >= 2**31 else texts, changed, new)


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
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists, structs, bytes
        cells = [
            None if cell is None else json.dumps(cell, default=str, ensure_ascii=False)
            for cell in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(cells, pa.string())])


def _quoted(name: str, dialect: Dialect) -> str:
    """The name of a column, in quotes if it needs them."""
    specials = (dialect.separator, '"', "\r", "\n")
    needed = dialect.quoted_header or any(special in name for special in specials)
    return '"' + name.replace('"', '""') + '"' if needed else name


def _lines(batch: list[pa.ChunkedArray], dialect: Dialect) -> bytes:
    """The rows of a batch as they stand in the file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = any(pa.types.is_large_string(column.type) for column in batch)
    kind = pa.large_string() if large else pa.string()
    cells = [
        _quote_cells(column.combine_chunks().cast(kind), dialect, number)
        for number, column in enumerate(batch)
    ]
    separator, none, end = (
        pa.scalar(text, kind) for text in (dialect.separator, "", dialect.line_end)
    )
    options: Any = {"null_handling": "replace", "null_replacement": ""}
    rows = pc.binary_join_element_wise(*cells, separator, **options) if cells[1:] else cells[0]
    return content(pc.binary_join_element_wise(rows, none, end, **options))


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
        needed = pc.not_equal(cells, "NA")  # as R writes it
    else:
        needed = pc.equal(cells, "")
        joined = content(cells)
        for special in (dialect.separator, '"', "\r", "\n"):
            if special.encode() in joined:  # looking through all cells at once is faster
                needed = pc.or_(needed, pc.match_substring(cells, special))
    if not pc.any(needed).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(mark, doubled, mark, none), cells)


def _encoded(text: bytes, output: Output, dialect: Dialect) -> bytes:
    """UTF-8 in the encoding of the file."""
    if dialect.encoding == "utf-8":
        return text
    try:
        return text.decode().encode(dialect.encoding)
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InputError(
            f"{output.path} cannot hold {bad!r} in its encoding {dialect.encoding}: save the input "
            "as UTF-8 first."
        ) from None
