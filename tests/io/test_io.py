"""Files read and written: only the filled cells of the output differ from the input."""

import bz2
import codecs
import csv
import datetime
import gzip
import json
import lzma
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from generated_tables import FILE_CELLS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphfill import InputError
from graphfill.io import check_output, read_edges, read_table, replacing, write_table

PLAIN = b"id,age,height,day,code\n1,30,1.50,04.03.2021,007\n2,NA,1e5,,x\n3,,2.25,13.12.2022,NA\n"


@pytest.fixture
def file(tmp_path):
    """Write bytes under a name and give the path."""

    def write(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def copy(sheet, path, **options):
    """Write a sheet with nothing filled, cell by cell: its file is not there to be copied."""
    away = replace(sheet, path=sheet.path.with_name(f"away-{sheet.path.name}"))
    write_table(path, sheet.table, like=away, changed={}, **options)
    return path


def refusal(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


# -- CSV, read --


def test_cells_are_typed_and_their_texts_kept(file):
    sheet = read_table(file(PLAIN))
    assert sheet.table.to_pydict() == {
        "id": [1, 2, 3],
        "age": [30, None, None],
        "height": [1.5, 1e5, 2.25],
        "day": [datetime.date(2021, 3, 4), None, datetime.date(2022, 12, 13)],
        "code": ["007", "x", None],
    }
    assert sheet.texts["height"].to_pylist() == ["1.50", "1e5", "2.25"]
    assert sheet.texts["age"].to_pylist() == ["30", None, None]
    said = """"NA" counts as missing (2 cells): pass values=['NA'] if it is a value."""
    assert sheet.notes == [said]
    assert [sheet.line_of(row) for row in range(3)] == [2, 3, 4]


def test_missing_markers_can_be_named(file):
    path = file(b"a,b\n1,NA\n-,x\n3, \n")
    sheet = read_table(path, missing=["-"])
    assert sheet.table.to_pydict() == {"a": [1, None, 3], "b": [None, "x", None]}
    assert sheet.notes == [
        '"-" counts as missing (1 cell).',
        """"NA" counts as missing (1 cell): pass values=['NA'] if it is a value.""",
    ]
    sheet = read_table(path, values=["NA"])
    assert sheet.table.to_pydict() == {"a": ["1", "-", "3"], "b": ["NA", "x", None]}
    sheet = read_table(path, missing=["", "-"])
    assert sheet.table.to_pydict() == {"a": [1, None, 3], "b": ["NA", "x", None]}
    assert sheet.notes == ['"-" counts as missing (1 cell).']


def test_every_default_marker(file):
    markers = ["NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "#N/A", " NA "]
    sheet = read_table(file(("a,b\n" + "".join(f"{m},x\n" for m in markers) + "1,x\n").encode()))
    assert sheet.table["a"].to_pylist() == [None] * 10 + [1]
    assert sheet.notes[0].startswith('"NA" counts as missing (2 cells)')


def test_an_empty_text_is_known_where_columns_are_text(file):
    content = b'name,age\n"",1\n,2\nann,""\n'
    path = file(content)
    sheet = read_table(path)
    assert sheet.table.to_pydict() == {"name": ["", None, "ann"], "age": [1, 2, None]}
    assert sheet.notes == ['An empty text in column "age" counts as missing (1 cell).']
    assert copy(sheet, path.with_name("out.csv")).read_bytes() == content


def test_an_empty_text_is_missing_where_everything_is_quoted(file):
    content = b'"name","age"\n"ann","1"\n"","2"\n"bob",""\n'
    path = file(content)
    sheet = read_table(path)
    assert sheet.table.to_pydict() == {"name": ["ann", None, "bob"], "age": [1, 2, None]}
    assert copy(sheet, path.with_name("out.csv")).read_bytes() == content


@pytest.mark.parametrize(
    ("content", "name", "note"),
    [
        (b"a;b\n1,5;x\n", "p.csv", 'p.csv is separated by ";" with decimal commas.'),
        (b"a|b\n1|x\n", "p.csv", 'p.csv is separated by "|".'),
        (b"a\tb\n1\tx\n", "p.txt", "p.txt is separated by tabs."),
        (b"a\tb\n1,5\tx\n", "p.tsv", "p.tsv has decimal commas."),
        (b"1,2\n3,4\n", "p.csv", 'The first line of p.csv is read as the header, although it holds '
         'numbers alone ("1").'),
        ("a,b\n\nü,1\n".encode("cp1252"), "p.csv",
         "p.csv is read as Windows-1252, since it is no UTF-8 (line 3)."),
    ],
)  # fmt: skip
def test_guesses_are_noted(file, content, name, note):
    assert note in read_table(file(content, name)).notes


def test_nothing_to_guess_no_notes(file):
    assert read_table(file(b"a,b\n1,x\n")).notes == []
    assert read_table(file(b"a\tb\n1\tx\n", "p.tsv")).notes == []


def test_a_late_byte_that_is_no_utf8(file):
    lines = b"a,b\n" + b"1,x\n" * 600_000
    sheet = read_table(file(lines + b"2,\xfc\n"))
    assert sheet.table["b"][-1].as_py() == "ü"
    assert sheet.notes == [
        "people.csv is read as Windows-1252, since it is no UTF-8 (line 600002)."
    ]


def test_a_character_across_two_chunks(file):
    content = "a,bb\n" + "1,x\n" * 262_142 + "1,ü\n"
    assert content.encode().index("ü".encode()) % (1 << 20) == (1 << 20) - 1
    sheet = read_table(file(content.encode()))
    assert sheet.table["bb"][-1].as_py() == "ü"
    assert sheet.notes == []


def test_lines_are_counted_across_quotes_and_blank_lines(file):
    sheet = read_table(file(b'a,b\n\n1,"x\ny"\n\n2,z\n'))
    assert [sheet.line_of(row) for row in range(2)] == [3, 6]
    sheet = read_table(file(b'a,b\n1,"x\ny"\n2,z\n"\n",t'))
    assert [sheet.line_of(row) for row in range(3)] == [2, 4, 5]
    sheet = read_table(file(b"a,b\r1,2\r3,4\r"))
    assert [sheet.line_of(row) for row in range(2)] == [2, 3]


def test_a_cell_longer_than_a_block(file):
    long = b"x" * (5 << 20)
    assert len(read_table(file(b"a,b\n1," + long + b"\n")).table["b"][0].as_py()) == 5 << 20


def test_one_column_may_have_blank_lines(file):
    path = file(b"a\n1\n\n3\n")
    sheet = read_table(path)
    assert sheet.table["a"].to_pylist() == [1, None, 3]
    assert copy(sheet, path.with_name("out.csv")).read_bytes() == path.read_bytes()


def test_named_types(file):
    sheet = read_table(file(b"zip,day\n01,1/2/2020\n"), types={"zip": "number", "day": "category"})
    assert sheet.table.to_pydict() == {"zip": [1.0], "day": ["1/2/2020"]}
    assert refusal(read_table, sheet.path, types={"zap": "number"}) == (
        "There is no column 'zap' in people.csv; did you mean 'zip'?"
    )


def test_progress_is_told_in_bytes(file):
    calls = []
    path = file(PLAIN)
    read_table(path, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(PLAIN), len(PLAIN))


# -- CSV, written --

VARIANTS = {
    "plain": PLAIN,
    "no final line end": PLAIN[:-1],
    "windows": PLAIN.replace(b"\n", b"\r\n"),
    "old mac": PLAIN.replace(b"\n", b"\r"),
    "semicolons": b"a;b\n1,50;x\n;y\n",
    "tabs": b"a\tb\n1.50\tx\n\ty\n",
    "bars": b"a|b\n1.50|x\n|y,z\n",
    "excel": b"sep=;\r\na;b\r\n1,50;x\r\n;y\r\n",
    "as R writes": b'"a","b"\n"x",1\nNA,NA\n"y",3\n',
    "all quoted": b'"a","b"\n"x","1"\n"y","3"\n',
    "needed quotes": b'a,b\n"x,y",1\n"5"" pipe",2\n"two\nlines",\n',
    "utf-8": "a,b\nü,1\n漢,2\n".encode(),
    "utf-8 mark": "a,b\nü,1\n".encode("utf-8-sig"),
    "utf-16": "a,b\nü,1\n".encode("utf-16"),
    "utf-16 big": codecs.BOM_UTF16_BE + "a,b\nü,1\n".encode("utf-16-be"),
    "windows-1252": "a,b\nü,1\n€,2\n".encode("cp1252"),
    "blanks kept": b"a,b\n 1 , x\n2 ,  \n",
}


@pytest.mark.parametrize("content", VARIANTS.values(), ids=VARIANTS)
def test_nothing_filled_nothing_changed(file, content):
    path = file(content)
    out = copy(read_table(path), path.with_name("out.csv"))
    assert out.read_bytes() == content


def test_a_named_encoding(file):
    path = file("a,b\nя,1\n".encode("koi8-r"))
    sheet = read_table(path, encoding="koi8-r")
    assert sheet.table["a"].to_pylist() == ["я"]
    assert copy(sheet, path.with_name("out.csv")).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("ending", "opened"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)]
)
def test_compression_goes_by_name(file, ending, opened):
    path = file(PLAIN)
    packed = copy(read_table(path), path.with_name(f"out.csv{ending}"))
    with opened(packed) as unpacked:
        assert unpacked.read() == PLAIN
    assert read_table(packed).table.equals(read_table(path).table)
    again = copy(read_table(packed), path.with_name("again.csv"))
    assert again.read_bytes() == PLAIN


def test_filled_cells_look_like_their_column(file):
    path = file(PLAIN.replace(b"1e5", b""))
    sheet = read_table(path)
    filled = pa.table(
        {
            "id": [1, 2, 3],
            "age": [30, 31, 32],
            "height": [1.5, 1.87654, 2.25],
            "day": [None, datetime.date(2020, 1, 2), None],
            "code": ["", "", "a,b"],
            "age_filled": [False, True, False],
        }
    )
    middle, last = np.array([False, True, False]), np.array([False, False, True])
    changed = {"age": middle, "height": middle, "day": middle, "code": last}
    out = path.with_name("out.csv")
    write_table(out, filled, like=sheet, changed=changed)
    assert out.read_text().splitlines() == [
        "id,age,height,day,code,age_filled",
        "1,30,1.50,04.03.2021,007,false",
        "2,31,1.8765,02.01.2020,x,true",
        '3,,2.25,13.12.2022,"a,b",false',
    ]


def test_many_batches_of_rows(file, monkeypatch):
    monkeypatch.setattr("graphfill.io._csv.tables.BATCH_BYTES", 1000)
    content = b"a,b\n" + b"".join(b'%d,"x,%d"\n' % (i, i) for i in range(2000))
    path = file(content)
    sheet = read_table(path)
    assert copy(sheet, path.with_name("out.csv")).read_bytes() == content


@pytest.mark.parametrize(
    ("own", "other", "first"),
    [
        ("a.csv", "b.tsv", b"a\tb\n"),
        ("a.tsv", "b.csv", b"a,b\n"),
        ("a.tsv", "b.txt", b"a\tb\n"),
    ],
)
def test_another_ending_has_another_separator(file, own, other, first):
    path = file(b"a,b\n1,2\n" if own == "a.csv" else b"a\tb\n1\t2\n", own)
    out = copy(read_table(path), path.with_name(other))
    assert out.read_bytes().startswith(first)


def test_an_encoding_without_the_character(file):
    path = file("a,b\nü,1\n,2\n".encode("cp1252"))
    sheet = read_table(path)
    filled = pa.table({"a": ["ü", "漢"], "b": [1, 2]})
    out = path.with_name("out.csv")
    changed = {"a": np.array([False, True])}
    assert refusal(write_table, out, filled, like=sheet, changed=changed) == (
        f"{out} cannot hold '漢' in its encoding cp1252: save the input as UTF-8 first."
    )
    assert os.listdir(path.parent) == ["people.csv"]


# -- CSV, refused --


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty: the first line must name columns."),
        (b"\n \n", "is empty: the first line must name columns."),
        (b"a,b\n", "has a header but no rows: there is nothing to fill."),
        (b"a,b\n\n\n", "has a header but no rows: there is nothing to fill."),
        (b"a,b,a\n1,2,3\n", ", line 1 has the name 'a' twice, for columns 1 and 3: rename one."),
        (
            b"a,\n1,2\n",
            ", line 1 has no name for column 2 of 2: give it one, or remove the column.",
        ),
        (
            b"a,b\n1,2\n\n1,2,3\n",
            ", line 4 has 3 cells but the header has 2: put quotes around cells that hold a "
            "separator, or add what is missing.",
        ),
        (
            b'a,b\n"x\ny",2\n1\n',
            ", line 4 has 1 cell but the header has 2: put quotes around cells that hold a "
            "separator, or add what is missing.",
        ),
        (
            b'a,b\n1,2\n3,"x\n4,5\n',
            ", line 3 opens a quote that is never closed: close it, or double it inside a quoted "
            "cell if it is part of the text.",
        ),
        (
            b'a,b\n5" pipe,2\n3,"x\n4,5\n',
            ", line 3 opens a quote that is never closed: close it, or double it inside a quoted "
            "cell if it is part of the text.",
        ),
        (
            b"a,b\n1,\x00\n",
            " is no text, or not in the encoding assumed (a NUL byte in line 2): name its encoding "
            "with encoding=, such as utf-16-le, or export it as CSV again.",
        ),
        (
            b"a,b\n1,\x81\n",
            ", line 2 has the byte 0x81, which is no cp1252: name the file's encoding with "
            "encoding=, such as latin-1.",
        ),
        (
            b"PK\x03\x04...",
            " is no text but a spreadsheet or an archive: export it as CSV or Parquet.",
        ),
        (b"\x1f\x8b...", ' is no text but compressed: add ".gz" to its name.'),
        (b"\x80\x04\x95", " is no text but a pickle: export it as CSV or Parquet."),
    ],
)
def test_bad_text_is_refused(file, content, sentence):
    path = file(content)
    assert refusal(read_table, path).replace(str(path), "").strip() == sentence.strip()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.xls", "a.xls is a spreadsheet: save it as .xlsx or CSV."),
        ("a.pkl", "a.pkl is a pickle, which may run code: export it as CSV or Parquet."),
        ("a.zip", "a.zip is an archive: unpack it first."),
        ("a.json", 'a.json is JSON: write one object a line, and name it ".jsonl".'),
        (
            "a.foo",
            "The ending of a.foo tells no format: use one of .csv .tsv .tab .txt .parquet .pq "
            '.arrow .feather .ipc .jsonl .ndjson .xlsx .ods .dta .sav (text also with ".gz").',
        ),
        ("a.csv", "There is no file a.csv."),
        ("a.parquet", "There is no file a.parquet."),
        ("a.arrow", "There is no file a.arrow."),
        ("a.jsonl", "There is no file a.jsonl."),
        ("a.parquet.gz", "a.parquet.gz is compressed inside and out: unpack it, and read that."),
    ],
)
def test_names_that_cannot_be_read(tmp_path, monkeypatch, name, sentence):
    monkeypatch.chdir(tmp_path)
    assert refusal(read_table, name) == sentence


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_a_folder_is_refused(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    path.mkdir()
    assert refusal(read_table, path) == f"{path} is a folder, not a file."


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.jsonl.gz"])
def test_a_packed_file_that_is_cut_off(file, name):
    pack = {"gz": gzip, "bz2": bz2, "xz": lzma}[name.rpartition(".")[2]].compress
    content = b'{"a": 1}\n' if "jsonl" in name else b"a,b\n1,2\n"
    packed = pack(content * 1000)
    path = file(packed[: len(packed) // 2], name)
    assert "cannot be read, and may be cut off or broken" in refusal(read_table, path)
    assert "is not compressed as its name says" in refusal(read_table, file(b"not packed", name))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"encoding": "klingon"}, "'klingon' is no encoding that Python knows: try utf-8, cp1252 "
         "or utf-16."),
        ({"separator": ",,"}, "separator is ',,' but must be one ASCII character, such as ; or a "
         "tab."),
        ({"decimal": "x"}, "decimal is 'x' but must be one of '.', ','."),
    ],
)  # fmt: skip
def test_bad_options(file, options, sentence):
    assert refusal(read_table, file(PLAIN), **options) == sentence


@pytest.mark.parametrize("encoding", ["utf-16", "UTF_16", "utf-32"])
def test_an_order_of_bytes_that_nothing_tells(file, encoding):
    name = encoding.lower().replace("_", "-")
    path = file("a,b\nü,1\n".encode(f"{name}-le"))
    assert refusal(read_table, path, encoding=encoding) == (
        f"{path} does not begin with a byte order mark, which {name} needs: name the order of its "
        f"bytes with encoding=, as {name}-le or {name}-be."
    )
    assert read_table(path, encoding=f"{name}-le").table.to_pydict() == {"a": ["ü"], "b": [1]}


def test_a_bomb_is_refused_at_the_limit(file):
    path = file(gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000), "bomb.csv.gz")
    assert refusal(read_table, path, memory_limit=10**6) == (
        f"{path} unfolds to more than 0.001 GB, the memory that reading may take: pass a higher "
        "memory_limit=, or a smaller file."
    )


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_columnar_bomb_is_refused(tmp_path, format):
    table = pa.table({"a": np.zeros(10**6)})
    path = tmp_path / f"a.{format}"
    if format == "parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    assert "unfolds to more than 0.001 GB" in refusal(read_table, path, memory_limit=10**6)


# -- edges --


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (b"# from SNAP\n1\t2\n2\t3\n", "e.txt", {"source": [1, 2], "target": [2, 3]}),
        (b"% bip\n1 2\n 2   3 \n\n", "e.edges", {"source": [1, 2], "target": [2, 3]}),
        (b"% x\r\n1 2\r\n2 3\r\n", "e.el", {"source": [1, 2], "target": [2, 3]}),
        (b"1 2 0.5\n2 3 1\n", "e.edgelist",
         {"source": [1, 2], "target": [2, 3], "column_3": [0.5, 1.0]}),
        (b"from,to\n1,2\n", "e.csv", {"from": [1], "to": [2]}),
        (b"x,y\n1,2\n", "e.csv", {"x": [1], "y": [2]}),
        (b"ann,bob\nbob,eve\n", "e.csv", {"source": ["ann", "bob"], "target": ["bob", "eve"]}),
        (b"# c\nsource target\na b\n", "e.txt", {"source": ["a"], "target": ["b"]}),
        (b"source\ttarget\nann lee\tbob\n", "e.tsv", {"source": ["ann lee"], "target": ["bob"]}),
    ],
)  # fmt: skip
def test_edges_in_their_many_forms(file, content, name, expected):
    assert read_edges(file(content, name)).table.to_pydict() == expected


def test_a_header_of_edges_is_guessed_with_a_note_or_said(file):
    path = file(b"ann,bob\nbob,eve\n", "e.csv")
    assert read_edges(path).notes == [
        'The first line of e.csv ("ann, bob") is read as an edge, for want of a header.'
    ]
    assert read_edges(path, header=True).table.column_names == ["ann", "bob"]
    path = file(b"from,to\nbob,eve\n", "e.csv")
    assert read_edges(path).notes == ['The first line of e.csv ("from, to") is read as the header.']
    assert read_edges(path, header=False).table.num_rows == 2


def test_comments_are_counted(file):
    notes = read_edges(file(b"# c\n1,2\n%3,4\n", "e.csv")).notes
    assert notes == ["2 lines of e.csv with # or % in front are read as comments."]
    sheet = read_table(file(b"#id,x\n#1,2\n", "t.csv"))  # a table has none
    assert sheet.table.to_pydict() == {"#id": ["#1"], "x": [2]}


def test_lines_of_edges(file):
    sheet = read_edges(file(b"# a\n# b\n1 2\n\n2 3\n", "e.txt"))
    assert [sheet.line_of(0), sheet.line_of(1)] == [3, 5]


def test_bad_edges(file):
    path = file(b"1 2\n# c\n2 3 4\n", "e.txt")
    assert refusal(read_edges, path) == (
        f"{path}, line 3 has 3 cells but the first line has 2: put quotes around cells that hold a "
        "separator, or add what is missing."
    )
    path = file(b"# nothing\n", "e.txt")
    assert refusal(read_edges, path) == f"{path} is empty: every line must name two nodes."
    path = file(b"source,target\n", "e.csv")
    assert refusal(read_edges, path) == (
        f"{path} has a header but no edges: every line must name two nodes."
    )
    path = file(b"1\n2\n", "e.txt")
    assert refusal(read_edges, path) == (
        f"{path} has 1 column but an edge has two ends: separate them by a comma, a tab or a "
        "blank, or name the separator with separator=."
    )


# -- Parquet and Arrow --


def typed_table():
    return pa.table(
        {
            "i": pa.array([1, None, 3], pa.int32()),
            "x": pa.array([1.5, float("nan"), None], pa.float32()),
            "city": pa.array(["b", None, "a"]).dictionary_encode(),
            "list": pa.array([[1], [], None]),
            "when": pa.array([0, None, 1], pa.timestamp("ms", "UTC")),
        }
    ).replace_schema_metadata({"owner": "me"})


def write_typed(path, table):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2, compression="zstd")
    elif path.suffix == ".ipc":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    else:
        pyarrow.feather.write_feather(table, path, chunksize=2)


TYPED = ["a.parquet", "a.feather", "a.ipc"]


@pytest.mark.parametrize("name", TYPED)
def test_typed_files_come_back_but_for_what_was_filled(tmp_path, name):
    path = tmp_path / name
    table = typed_table()
    write_typed(path, table)
    sheet = read_table(path)
    assert sheet.table["x"].to_pylist() == [1.5, None, None]
    filled = sheet.table.set_column(0, "i", pa.array([1, 2, 3]))
    filled = filled.set_column(1, "x", pa.array([9.0, 9.0, 2.5]))
    filled = filled.set_column(2, "city", pa.array(["b", "a", "a"]))
    filled = filled.append_column("i_filled", pa.array([False, True, False]))
    changed = {
        "i": np.array([False, True, False]),
        "x": np.array([False, False, True]),
        "city": np.array([False, True, False]),
    }
    out = tmp_path / f"out{path.suffix}"
    write_table(out, filled, like=sheet, changed=changed)
    again = read_table(out)
    assert again.table.schema.field("city").type == table.schema.field("city").type
    assert again.table.schema.metadata == table.schema.metadata
    original = {name: column.to_pylist() for name, column in again.originals.items()}
    assert repr(original) == repr({"x": [1.5, float("nan"), 2.5]})
    assert again.table.drop_columns("x").to_pydict() == {
        "i": [1, 2, 3],
        "city": ["b", "a", "a"],
        "list": [[1], [], None],
        "when": table["when"].to_pylist(),
        "i_filled": [False, True, False],
    }
    assert again.table.schema.field("i").type == pa.int32()


def test_parquet_keeps_row_groups_and_compression(tmp_path):
    path = tmp_path / "a.parquet"
    write_typed(path, typed_table())
    meta = pq.read_metadata(copy(read_table(path), tmp_path / "b.parquet"))
    assert [meta.row_group(i).num_rows for i in range(meta.num_row_groups)] == [2, 1]
    assert {meta.row_group(0).column(i).compression for i in range(5)} == {"ZSTD"}


def test_unused_categories_and_their_order_are_kept(tmp_path):
    words = pa.array(["low", "mid", "high"])
    codes = pa.array([0, None, 2], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, words, ordered=True)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"level": column}), path)
    sheet = read_table(path)
    filled = pa.table({"level": ["low", "mid", "high"]})
    write_table(
        tmp_path / "b.parquet", filled, like=sheet, changed={"level": np.array([0, 1, 0], bool)}
    )
    again = pq.read_table(tmp_path / "b.parquet")["level"]
    assert again.to_pylist() == ["low", "mid", "high"]
    assert again.type == sheet.table["level"].type
    assert again.chunk(0).dictionary.to_pylist() == ["low", "mid", "high"]


def test_pandas_finds_its_index_and_types_again(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"x": [1.0, None], "c": pd.Categorical(["a", None])}, index=["u", "v"])
    frame.to_parquet(tmp_path / "a.parquet")
    copy(read_table(tmp_path / "a.parquet"), tmp_path / "b.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "b.parquet"), frame)


def test_feather_of_the_first_version(tmp_path):
    path = tmp_path / "a.feather"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pyarrow.feather.write_feather(pa.table({"a": [1, 2]}), path, version=1)
    assert refusal(read_table, path) == (
        f"{path} is a Feather file of version 1, which was given up in 2020: write it again with a "
        "newer library, or export it as Parquet."
    )


@pytest.mark.parametrize("name", TYPED)
def test_truncated_typed_files(tmp_path, name):
    path = tmp_path / name
    write_typed(path, typed_table())
    path.write_bytes(path.read_bytes()[:-20] if name != "a.ipc" else path.read_bytes()[:300])
    assert "cannot be read, and may be cut off or broken (" in refusal(read_table, path)


def test_two_columns_of_one_name(tmp_path):
    path = tmp_path / "a.arrow"
    table = pa.table([[1], [2]], names=["a", "a"])
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    assert refusal(read_table, path) == (
        f"{path} has the name 'a' twice, for columns 1 and 2: rename one."
    )


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_arrow_keeps_its_compression(tmp_path, codec):
    path = tmp_path / "a.feather"
    pyarrow.feather.write_feather(
        pa.table({"a": np.zeros(10_000)}), path, compression=codec or "uncompressed"
    )
    out = copy(read_table(path), tmp_path / "b.feather")
    assert out.stat().st_size == pytest.approx(path.stat().st_size, abs=200)
    assert read_table(out).source.compression == codec


def test_dates_that_stand_as_text_in_a_typed_file(tmp_path):
    pq.write_table(pa.table({"day": ["03/04/2021", None]}), tmp_path / "a.parquet")
    sheet = read_table(tmp_path / "a.parquet", types={"day": "date:%d/%m/%Y"})
    assert sheet.table["day"].to_pylist() == [datetime.date(2021, 4, 3), None]
    filled = pa.table({"day": [None, datetime.date(2020, 12, 24)]})
    changed = {"day": np.array([False, True])}
    write_table(tmp_path / "b.parquet", filled, like=sheet, changed=changed)
    assert pq.read_table(tmp_path / "b.parquet")["day"].to_pylist() == ["03/04/2021", "24/12/2020"]


# -- JSON lines --

LINES = b'{"id": 1, "x": 1.50, "tags": [1,  2], "day": "2021-03-04"}\n\n{"x": null, "id": 2}\n'


def test_json_lines(file):
    sheet = read_table(file(LINES, "a.jsonl"))
    assert sheet.table.to_pydict() == {
        "id": [1, 2],
        "x": [1.5, None],
        "tags": ["[1, 2]", None],
        "day": [datetime.date(2021, 3, 4), None],
    }
    assert sheet.table.schema.field("tags").metadata == {b"graphfill": b"json"}
    assert sheet.texts["day"].to_pylist() == ["2021-03-04", None]
    assert [sheet.line_of(0), sheet.line_of(1)] == [1, 3]


def test_json_lines_that_were_not_filled_are_the_lines_that_were_read(file):
    path = file(LINES, "a.jsonl")
    sheet = read_table(path)
    filled = pa.table(
        {
            "id": [1, 2],
            "x": [9.0, 2.5],
            "tags": ["", ""],
            "day": [None, datetime.date(2020, 1, 2)],
        }
    )
    second = np.array([False, True])
    out = path.with_name("out.jsonl")
    write_table(out, filled, like=sheet, changed={"x": second, "day": second})
    assert out.read_text() == (
        '{"id": 1, "x": 1.50, "tags": [1,  2], "day": "2021-03-04"}\n'
        '{"x": 2.5, "id": 2, "day": "2020-01-02"}\n'
    )


def test_compact_json_stays_compact(file):
    path = file(b'{"a":1,"b":2}\r\n{"a":null,"b":2}\r\n', "a.ndjson")
    out = path.with_name("b.ndjson.gz")
    filled = pa.table({"a": [1, 3], "b": [2, 2]})
    write_table(out, filled, like=read_table(path), changed={"a": np.array([False, True])})
    assert gzip.decompress(out.read_bytes()) == b'{"a":1,"b":2}\r\n{"a":3,"b":2}\r\n'


def test_nan_in_json_is_missing(file):
    assert read_table(file(b'{"a": NaN}\n{"a": 1}\n', "a.jsonl")).table["a"].null_count == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", " is empty: there is nothing to fill."),
        (b"{}\n", " is empty: there is nothing to fill."),
        (b"[1]\n", ", line 1 is no object: every line must be one JSON object."),
        (
            b'{"a": 1}\n{"a"\n',
            ", line 2 is no JSON (column 5: Expecting ':' delimiter): every line must be one JSON "
            "object.",
        ),
        (b'{"a": 1, "a": 2}\n', ", line 1 has the key 'a' twice: keep one of them."),
        (
            b'{"a": 100000000000000000000}\n',
            ", line 1 has an integer beyond 64 bits in column 'a': write it as text.",
        ),
        (
            b'{"a": "\\ud800"}\n',
            ", line 1 has half a character (\\ud800): every line must be one JSON object.",
        ),
        (
            b"[" * 100_000,
            ", line 1 is no JSON that can be read: every line must be one JSON object.",
        ),
    ],
)
def test_bad_json_is_refused(file, content, sentence):
    path = file(content, "a.jsonl")
    assert refusal(read_table, path) == f"{path}{sentence}"


def test_mixed_types_in_json_are_refused_with_both_lines(file):
    path = file(b'{"a": 1}\n\n{"a": "x"}\n', "a.jsonl")
    assert refusal(read_table, path) == (
        f"Column 'a' of {path} has a number in line 1 but a text in line 3: write all of its "
        "values alike."
    )


# -- one format to another --


@pytest.mark.parametrize("source", ["a.csv", "a.parquet", "a.feather", "a.jsonl"])
@pytest.mark.parametrize("target", ["b.csv", "b.tsv.gz", "b.parquet", "b.arrow", "b.ndjson"])
def test_every_format_into_every_other(tmp_path, source, target):
    table = pa.table(
        {
            "i": [1, 2, None],
            "x": [1.0, None, 3.0],
            "s": ["a,b", None, "ü"],
            "d": [datetime.date(2021, 3, 4), None, datetime.date(2022, 1, 1)],
        }
    )
    write_typed(tmp_path / "first.parquet", table)
    copy(read_table(tmp_path / "first.parquet"), tmp_path / source)
    sheet = read_table(tmp_path / source)
    assert read_table(copy(sheet, tmp_path / target)).table.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.parquet", "b.arrow", "b.jsonl"])
@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(rows=st.lists(st.tuples(*FILE_CELLS.values()), min_size=1, max_size=8))
def test_any_table_comes_back_equal(tmp_path, name, rows):
    columns = dict(zip(FILE_CELLS, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "a.parquet")
    out = copy(read_table(tmp_path / "a.parquet"), tmp_path / name, overwrite=True)
    again = read_table(out).table
    assert again.to_pydict() == columns
    assert again.schema.types == table.schema.types
    last = tmp_path / f"c{out.suffix}"
    assert copy(read_table(out), last, overwrite=True).read_bytes() == out.read_bytes()


letters = st.text(st.sampled_from('ab1.,;|" \t\n-ü'), max_size=6)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    rows=st.lists(st.tuples(letters, letters, letters), min_size=1, max_size=6),
    separator=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
)
def test_the_csv_module_reads_the_same_before_and_after(
    tmp_path, quoting, rows, separator, line_end, encoding
):
    path, out = tmp_path / "a.csv", tmp_path / "b.csv"
    with open(path, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=separator, lineterminator=line_end, quoting=quoting)
        writer.writerows([("first", "second", "third"), *rows])
    sheet = read_table(path, separator=separator)
    for number, texts in enumerate(sheet.texts.values()):
        known = [(text, row[number]) for text, row in zip(texts.to_pylist(), rows, strict=True)]
        assert all(text == cell if text is not None else not cell.strip() for text, cell in known)
    copy(sheet, out, overwrite=True)
    read = []
    for name in (path, out):
        with open(name, newline="", encoding=encoding) as file:
            read.append(list(csv.reader(file, delimiter=separator)))
    assert read[0] == read[1]


def test_lists_and_booleans_as_csv(tmp_path):
    write_typed(tmp_path / "a.parquet", pa.table({"l": [[1, 2], None], "b": [True, None]}))
    out = copy(read_table(tmp_path / "a.parquet"), tmp_path / "b.csv")
    assert out.read_text() == 'l,b\n"[1, 2]",true\n,\n'


# -- outputs --


def test_outputs_that_are_refused_before_any_work(file, tmp_path):
    path = file(PLAIN)
    link, hard = tmp_path / "link.csv", tmp_path / "hard.csv"
    link.symlink_to(path)
    os.link(path, hard)
    for same in (path, link, hard, tmp_path / "." / "people.csv"):
        assert refusal(check_output, same, inputs=[path], overwrite=True) == (
            f"The output {same} is the same file as the input {path}: name another file."
        )
    other = file(b"", "out.csv")
    assert refusal(check_output, other, inputs=[path], overwrite=False) == (
        f"{other} exists already: name another file, or pass overwrite=True to replace it."
    )
    check_output(other, inputs=[path], overwrite=True)
    assert "tells no format" in refusal(check_output, tmp_path / "out", inputs=[path])
    nowhere = tmp_path / "no" / "out.csv"
    assert refusal(check_output, nowhere, inputs=[path]) == (
        f"There is no folder {nowhere.parent} to write {nowhere} to: make it first."
    )
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert refusal(check_output, folder, inputs=[]) == f"{folder} is a folder: name a file in it."
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a device or a pipe" in refusal(
        check_output, tmp_path / "pipe.csv", inputs=[], overwrite=True
    )


def test_a_folder_that_may_not_be_written_to(monkeypatch, tmp_path):
    # Root may write anywhere, so the operating system's word is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert refusal(check_output, tmp_path / "a.csv", inputs=[]) == (
        f"The folder {tmp_path} may not be written to: name a file elsewhere."
    )


def test_another_table_is_refused(file):
    sheet = read_table(file(b"a,b\n1,2\n"))
    out = sheet.path.with_name("out.csv")
    assert refusal(write_table, out, pa.table({"a": [1]}), like=sheet, changed={}) == (
        "The filled table has 1 row(s) of the columns ['a'] but the input has 1 row(s) of "
        "['a', 'b']: pass the input's rows and columns in order."
    )


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_is_interrupted_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(error), replacing(path) as file:  # noqa: PT012
        file.write(b"half")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_links_are_written_through_and_permissions_kept(tmp_path):
    path, link = tmp_path / "a.csv", tmp_path / "link.csv"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["b.csv", "b.csv.gz", "b.parquet", "b.arrow", "b.jsonl"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path, name):
    code = (
        "import resource, sys, numpy as np, pyarrow as pa\n"
        "from graphfill.io import read_table, write_table\n"
        "from graphfill import InputError\n"
        "sheet = read_table(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "try:\n"
        "    write_table(sys.argv[2], sheet.table, like=sheet, changed={})\n"
        "except InputError as error:\n"
        "    print(error)\n"
    )
    path = tmp_path / "a.csv"
    numbers = np.random.default_rng(0).random(20_000)
    path.write_text("x,y\n" + "".join(f"{number},1\n" for number in numbers))
    out = tmp_path / name
    done = subprocess.run(
        [sys.executable, "-c", code, path, out], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == (
        f"There is no room left to write {out} (disk full, or a limit on the size of files): "
        "nothing of it was written; free some space, or name a file elsewhere."
    ), done.stderr
    assert done.stderr == ""
    assert os.listdir(tmp_path) == ["a.csv"]


def test_reading_needs_neither_pandas_nor_polars(file):
    code = (  # pyarrow imports pandas by itself where it is installed
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name in ('pandas', 'polars'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from graphfill.io import read_table\n"
        "assert 'pyarrow' not in sys.modules\n"
        "read_table(sys.argv[1])\n"
    )
    subprocess.run([sys.executable, "-c", code, file(PLAIN)], check=True)


def test_json_is_written_with_its_own_letters(file):
    path = file('{"a": "ü"}\n{"b": 1}\n'.encode(), "a.jsonl")
    out = copy(read_table(path), Path(path.parent, "b.jsonl"))
    assert [json.loads(line) for line in out.read_text().splitlines()] == [{"a": "ü"}, {"b": 1}]


def test_an_empty_column_without_a_name_is_kept(file, tmp_path):
    path = file(b"a,,b\n1,,2\n3,,\n")
    sheet = read_table(path)
    assert sheet.table.column_names == ["a", "column 2", "b"]
    write_table(tmp_path / "b.csv", sheet.table, like=sheet, changed={})
    assert (tmp_path / "b.csv").read_bytes() == path.read_bytes()
