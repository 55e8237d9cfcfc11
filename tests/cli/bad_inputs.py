"""What an analyst can do wrong, and the one sentence the command answers with.

Each case is a folder with people.csv and friends.csv in it, what is changed in that folder, the
command that is run there, and the last line it prints.
"""

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from graphfill import kernels

PEOPLE = b"name,age,city\nann,30,York\nbob,,York\ncat,40,\ndan,50,Bath\n"
FRIENDS = b"source,target,closeness\nann,bob,1\nbob,cat,2\ncat,dan,1\n"

REFUSED, USAGE = 1, 2


@dataclass(frozen=True)
class Bad:
    """One mistake.

    Attributes
    ----------
    name : what is wrong, for the test's id
    sentence : what is said, after "graphfill: " or, for usage, after "error: "
    arguments : of the command, as typed in the folder
    files : what they hold, by name
    make : does to the folder what bytes cannot: links, folders, pipes
    """

    name: str
    sentence: str
    arguments: str
    files: dict[str, bytes] = field(default_factory=dict)
    make: Callable[[Path], object] = lambda folder: None
    code: int = REFUSED


BAD: list[Bad] = []


def bad(
    name: str,
    sentence: str,
    options: str = "",
    *,
    people: bytes | None = None,
    friends: bytes | None = None,
    table: str = "people.csv",
    edges: str = "friends.csv",
    output: str = "filled.csv",
    make: Callable[[Path], object] = lambda folder: None,
    command: str | None = None,
    code: int = REFUSED,
) -> None:
    """Add a case: `people` and `friends` are what the files named by `table` and `edges` hold."""
    files: dict[str, bytes] = {"people.csv": PEOPLE, "friends.csv": FRIENDS}
    if people is not None:
        files[table] = people
    if friends is not None:
        files[edges] = friends
    arguments = command or f"impute {table} {edges} -o {output} {options}"
    BAD.append(Bad(name, sentence, arguments.strip(), files, make, code))


def usage(name: str, sentence: str, options: str = "", command: str | None = None) -> None:
    """Add a case that the parser of the command line refuses."""
    bad(name, sentence, options, command=command, code=USAGE)


# -- files made here --


def parquet(**columns: object) -> bytes:
    with io.BytesIO() as file:
        pa.parquet.write_table(pa.table(columns), file)
        return file.getvalue()


def feather(**columns: object) -> bytes:
    with io.BytesIO() as file:
        pa.feather.write_feather(pa.table(columns), file)
        return file.getvalue()


def archive(name: str) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr(name, PEOPLE)
        return file.getvalue()


def json_lines(*lines: object) -> bytes:
    return "".join(
        line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines
    ).encode()


PEOPLE_COLUMNS = {
    "name": ["ann", "bob", "cat", "dan"],
    "age": [30, None, 40, 50],
    "city": ["York", "York", None, "Bath"],
}
PARQUET, FEATHER = parquet(**PEOPLE_COLUMNS), feather(**PEOPLE_COLUMNS)
PACKED = gzip.compress(PEOPLE * 50, mtime=0)
LEAST = "716 bytes" if kernels.implementation == "compiled" else "1.18 kB"
NUMBERED = parquet(id=[1, 2, 3], age=[30, None, 40])


# fmt: off

# -- files that are not there, or are no files --

bad("no table", "There is no file none.csv.", table="none.csv")
bad("no edges", "There is no file none.csv.", edges="none.csv")
bad("no typed table", "There is no file none.parquet.", table="none.parquet")
bad("explained row that is not there",
    "There is no row 'eve' in column 'name' of people.csv: name one such as 'ann'.",
    command="explain people.csv friends.csv --row eve --column age")
bad("explained column that is not there",
    "There is no column 'agee' in people.csv; did you mean 'age'?",
    command="explain people.csv friends.csv --row bob --column agee")
bad("explained cell that was known",
    "Row 'ann', column 'age' was known and is as it came: name a cell that was filled.",
    command="explain people.csv friends.csv --row ann --column age --method mean")
bad("explained id", "Row 'ann', column 'name' was known and is as it came: name a cell that was "
    "filled.", command="explain people.csv friends.csv --row ann --column name")
bad("explained cell of a column left out",
    "Row 'bob', column 'age' was left alone: name a column that was filled.",
    command="explain people.csv friends.csv --row bob --column age --columns city")
bad("picture of another format",
    'The picture why.png is an SVG: give it the ending ".svg".',
    command="explain people.csv friends.csv --row bob --column age --picture why.png")
bad("picture that exists",
    "why.svg exists already: name another file, or pass --overwrite to replace it.",
    make=lambda folder: (folder / "why.svg").touch(),
    command="explain people.csv friends.csv --row bob --column age --picture why.svg")
bad("no table to check", "There is no file none.csv.", command="check none.csv friends.csv")
bad("table is a folder", "town.csv is a folder, not a file.", table="town.csv",
    make=lambda folder: (folder / "town.csv").mkdir())
bad("table is a folder without ending", "town is a folder, not a file.", table="town",
    make=lambda folder: (folder / "town").mkdir())
bad("typed table is a folder", "town.parquet is a folder, not a file.", table="town.parquet",
    make=lambda folder: (folder / "town.parquet").mkdir())
bad("edges are a folder", "town.csv is a folder, not a file.", edges="town.csv",
    make=lambda folder: (folder / "town.csv").mkdir())
bad("link to nowhere", "There is no file link.csv.", table="link.csv",
    make=lambda folder: (folder / "link.csv").symlink_to("nowhere.csv"))
bad("table from standard input",
    "The ending of - tells no format: use one of .csv .tsv .tab .txt .parquet .pq .arrow "
    '.feather .ipc .jsonl .ndjson .xlsx .ods .dta .sav (text also with ".gz").', table="-")
bad("table is a pipe",
    "pipe.csv is a device or a pipe, not a file: save what comes out of it, and name that.",
    table="pipe.csv", make=lambda folder: os.mkfifo(folder / "pipe.csv"))
bad("edges are a pipe",
    "pipe.parquet is a device or a pipe, not a file: save what comes out of it, and name that.",
    edges="pipe.parquet", make=lambda folder: os.mkfifo(folder / "pipe.parquet"))

# -- files with nothing in them --

bad("empty table", "people.csv is empty: the first line must name columns.", people=b"")
bad("header only", "people.csv has a header but no rows: there is nothing to fill.",
    people=b"name,age\n")
bad("header only without line end",
    "people.csv has a header but no rows: there is nothing to fill.", people=b"name,age")
bad("header and blank lines", "people.csv has a header but no rows: there is nothing to fill.",
    people=b"name,age\n\n\n")
bad("blank lines only", "people.csv is empty: the first line must name columns.",
    people=b"\n\n  \n")
bad("byte order mark only", "people.csv is empty: the first line must name columns.",
    people=b"\xef\xbb\xbf")
bad("empty edges", "friends.csv is empty: every line must name two nodes.", friends=b"")
bad("edges with a header only",
    "friends.csv has a header but no edges: every line must name two nodes.",
    friends=b"source,target\n")
bad("edges of comments only", "friends.txt is empty: every line must name two nodes.",
    friends=b"# nothing\n# here\n", edges="friends.txt")
bad("edges of blank lines", "friends.csv is empty: every line must name two nodes.",
    friends=b"\n\n")
bad("empty gz", "people.csv.gz is empty: the first line must name columns.",
    people=gzip.compress(b""), table="people.csv.gz")
bad("empty JSON lines", "people.jsonl is empty: there is nothing to fill.", people=b"",
    table="people.jsonl")
bad("empty JSON lines of edges", "friends.jsonl is empty: every line must name two nodes.",
    friends=b"", edges="friends.jsonl")
bad("JSON lines of empty objects", "people.jsonl is empty: there is nothing to fill.",
    people=b"{}\n{}\n", table="people.jsonl")
bad("parquet without rows", "people.parquet has a header but no rows: there is nothing to fill.",
    people=parquet(name=pa.array([], pa.string()), age=pa.array([], pa.int64())),
    table="people.parquet")
bad("parquet without columns",
    "people.parquet has no columns: export it again, with the columns it should have.",
    people=parquet(), table="people.parquet")
bad("parquet edges without rows",
    "friends.parquet has a header but no edges: every line must name two nodes.",
    friends=parquet(source=pa.array([], pa.string()), target=pa.array([], pa.string())),
    edges="friends.parquet")

# -- names of columns --

bad("--id, nearly right", "There is no column 'nmae' in people.csv; did you mean 'name'?",
    "--id nmae")
bad("--id, nothing like it",
    "There is no column 'wealth' in people.csv, which has 'name', 'age', 'city'.", "--id wealth")
bad("--columns, nearly right", "There is no column 'aeg' in people.csv; did you mean 'age'?",
    "--columns aeg,city")
bad("--columns, nothing like it",
    "There is no column 'wealth' in people.csv, which has 'name', 'age', 'city'.",
    "--columns wealth")
bad("--exclude, nearly right", "There is no column 'aeg' in people.csv; did you mean 'age'?",
    "--exclude aeg")
bad("--exclude, nothing like it",
    "There is no column 'wealth' in people.csv, which has 'name', 'age', 'city'.",
    "--exclude wealth")
bad("--source, nearly right", "There is no column 'sorce' in friends.csv; did you mean 'source'?",
    "--source sorce --target target")
bad("--source, nothing like it",
    "There is no column 'xyzzy' in friends.csv, which has 'source', 'target', 'closeness'.",
    "--source xyzzy --target target")
bad("--target, nearly right", "There is no column 'tagret' in friends.csv; did you mean 'target'?",
    "--source source --target tagret")
bad("--target, nothing like it",
    "There is no column 'xyzzy' in friends.csv, which has 'source', 'target', 'closeness'.",
    "--source source --target xyzzy")
bad("--weight, nearly right",
    "There is no column 'closenes' in friends.csv; did you mean 'closeness'?", "--weight closenes")
bad("--weight, nothing like it",
    "There is no column 'xyzzy' in friends.csv, which has 'source', 'target', 'closeness'.",
    "--weight xyzzy")
bad("--type, nearly right", "There is no column 'aeg' in people.csv; did you mean 'age'?",
    "--type aeg=number")
bad("--type, nothing like it",
    "There is no column 'wealth' in people.csv, which has 'name', 'age', 'city'.",
    "--type wealth=number")
bad("--type, nothing like it in parquet",
    "There is no column 'wealth' in people.parquet, which has 'name', 'age', 'city'.",
    "--type wealth=number", people=PARQUET, table="people.parquet")
bad("--type, nothing like it in JSON lines",
    "There is no column 'wealth' in people.jsonl, which has 'name', 'age'.", "--type wealth=number",
    people=json_lines({"name": "ann", "age": 1}), table="people.jsonl")
bad("case of a name", "There is no column 'Name' in people.csv; did you mean 'name'?", "--id Name")
bad("empty name", "There is no column '' in people.csv, which has 'name', 'age', 'city'.",
    "--columns age,,city")
bad("a table with many columns",
    "There is no column 'wealth' in people.csv, which has 'name', 'a1', 'a2', 'a3', 'a4', 'a5',"
    " 'a6', 'a7' and 2 more.", "--id wealth",
    people=b"name,a1,a2,a3,a4,a5,a6,a7,a8,a9\n" + b"ann,1,2,3,4,5,6,7,8,9\n")
bad("ids are to be filled",
    "Column 'name' holds the ids, which cannot be filled: leave it out of --columns.",
    "--columns name,age")
bad("ids are to be filled, named",
    "Column 'name' holds the ids, which cannot be filled: leave it out of --columns.",
    "--id name --columns name")
bad("one end named",
    "Of the two ends of an edge in friends.csv, --source names one: name the other with "
    "--target, or neither.", "--source source")
bad("both ends one column",
    "Column 'source' of friends.csv cannot hold both ends of an edge: name two columns with "
    "--source and --target.", "--source source --target source")
bad("weight is an end",
    "The weight in column 'target' of friends.csv, line 2 is 'bob': weights must be finite "
    "numbers, and not negative.", "--weight target")
bad("column both asked for and excluded",
    "Column 'age' is named both in --columns and in --exclude: name it in one of them.",
    "--columns age --exclude age")
bad("mark is taken",
    "The table already has a column 'age_filled', a name that --mark or --intervals gives to a "
    "new one: rename it.", "--mark",
    people=b"name,age,age_filled\nann,1,2\nbob,,3\n")

# -- CSV that is none --

bad("row too long",
    "people.csv, line 3 has 3 cells but the header has 2: put quotes around cells that hold a "
    "separator, or add what is missing.", people=b"name,age\nann,30\nbob,31,Bath\n")
bad("row too short",
    "people.csv, line 4 has 2 cells but the header has 3: put quotes around cells that hold a "
    "separator, or add what is missing.", people=b"name,age,city\nann,30,York\n\nbob,31\n")
bad("row too short after a cell of two lines",
    "people.csv, line 4 has 2 cells but the header has 3: put quotes around cells that hold a "
    "separator, or add what is missing.", people=b'name,age,city\n"ann\nlee",30,York\nbob,31\n')
bad("edge too short",
    "friends.csv, line 3 has 2 cells but the header has 3: put quotes around cells that hold a "
    "separator, or add what is missing.", friends=b"source,target,closeness\nann,bob,1\nbob,cat\n")
bad("edge too long",
    "friends.txt, line 2 has 3 cells but the first line has 2: put quotes around cells that "
    "hold a separator, or add what is missing.", friends=b"ann bob\nbob cat dan\n",
    edges="friends.txt")
bad("quote not closed",
    "people.csv, line 3 opens a quote that is never closed: close it, or double it inside a "
    "quoted cell if it is part of the text.", people=b'name,age\nann,30\n"bob,31\ncat,32\n')
bad("quote in header not closed",
    "people.csv, line 1 opens a quote that is never closed: close it, or double it inside a "
    "quoted cell if it is part of the text.", people=b'name,"age\nann,30\nbob,31\n')
bad("two columns of one name",
    "people.csv, line 1 has the name 'age' twice, for columns 2 and 3: rename one.",
    people=b"name,age,age\nann,30,31\n")
bad("column without a name",
    "people.csv, line 1 has no name for column 2 of 3: give it one, or remove the column.",
    people=b"name,,age\nann,30,31\n")
bad("trailing separator in header alone",
    "people.csv, line 1 has no name for column 3 of 3: give it one, or remove the column.",
    people=b"name,age,\nann,30,1\nbob,,\n")
bad("NUL byte",
    "people.csv is no text, or not in the encoding assumed (a NUL byte in line 3): name its "
    "encoding with --encoding, such as utf-16-le, or export it as CSV again.",
    people=b"name,age\nann,30\nb\0b,\n")
bad("UTF-16 without its mark",
    "people.csv is no text, or not in the encoding assumed (a NUL byte in line 1): name its "
    "encoding with --encoding, such as utf-16-le, or export it as CSV again.",
    people=PEOPLE.decode().encode("utf-16-le"))
bad("random bytes",
    "people.csv, line 2 has the byte 0x81, which is no cp1252: name the file's encoding with "
    "--encoding, such as latin-1.", people=bytes(range(1, 256)) * 4)
bad("bytes of a picture",
    "people.csv is no text, or not in the encoding assumed (a NUL byte in line 3): name its "
    "encoding with --encoding, such as utf-16-le, or export it as CSV again.",
    people=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
bad("a web page", "people.csv is a web page or XML, not a table: export it as CSV or Parquet.",
    people=b"<!DOCTYPE html>\n<html><body>404, not found</body></html>\n")
bad("not in the encoding said",
    "people.csv, line 3 has the byte 0xeb, which is no utf-8: name the file's encoding with "
    "--encoding, such as latin-1.", "--encoding utf-8",
    people="name,age\nann,30\nzoë,\n".encode("latin-1"))
bad("not in ASCII",
    "people.csv, line 3 has the byte 0xc3, which is no ascii: name the file's encoding with "
    "--encoding, such as latin-1.", "--encoding ascii", people="name,age\nann,30\nzoë,\n".encode())
bad("marked as UTF-8 but not",
    "people.csv, line 3 has the byte 0xeb, which is no utf-8: name the file's encoding with "
    "--encoding, such as latin-1.", people=b"\xef\xbb\xbfname,age\nann,30\nzo\xeb,\n")
bad("NUL byte in edges",
    "friends.csv is no text, or not in the encoding assumed (a NUL byte in line 3): name its "
    "encoding with --edge-encoding, such as utf-16-le, or export it as CSV again.",
    friends=b"source,target\nann,bob\nb\0b,ann\n")
bad("edges not in the encoding said",
    "friends.csv, line 2 has the byte 0xc3, which is no ascii: name the file's encoding with "
    "--edge-encoding, such as latin-1.", "--edge-encoding ascii",
    friends="source,target\nann,zoë\n".encode())
bad("long separator of edges",
    "--edge-separator is '::' but must be one ASCII character, such as ; or a tab.",
    "--edge-separator ::")
bad("edges not UTF-8 nor Windows-1252",
    "friends.csv, line 3 has the byte 0x81, which is no cp1252: name the file's encoding with "
    "--edge-encoding, such as latin-1.", friends=b"source,target\nann,bob\nb\x81b,ann\n")
bad("unknown encoding", "'klingon' is no encoding that Python knows: try utf-8, cp1252 or utf-16.",
    "--encoding klingon")
bad("encoding of bytes", "'base64' is no encoding that Python knows: try utf-8, cp1252 or utf-16.",
    "--encoding base64")
bad("long separator", "--separator is '::' but must be one ASCII character, such as ; or a tab.",
    "--separator ::")
bad("empty separator", "--separator is '' but must be one ASCII character, such as ; or a tab.",
    "--separator ''")
bad("quote as separator",
    "--separator is '\"' but must be one ASCII character, such as ; or a tab.",
    """--separator '"'""")
bad("wrong separator",
    "No column of people.csv (such as 'ann,30,York' in column 'name,age,city') holds the ids in "
    "friends.csv (such as 'ann'): name it with --id, or check that both sides spell "
    "ids alike.", "--separator ';'")

# -- formats --

bad("unknown ending",
    "The ending of people.doc tells no format: use one of .csv .tsv .tab .txt .parquet .pq "
    '.arrow .feather .ipc .jsonl .ndjson .xlsx .ods .dta .sav (text also with ".gz").',
    people=PEOPLE, table="people.doc")
bad("no ending",
    "The ending of people tells no format: use one of .csv .tsv .tab .txt .parquet .pq .arrow "
    '.feather .ipc .jsonl .ndjson .xlsx .ods .dta .sav (text also with ".gz").',
    people=PEOPLE, table="people")
bad("unknown ending of edges",
    "The ending of friends.graphml tells no format: use one of .csv .tsv .tab .txt .parquet .pq"
    ' .arrow .feather .ipc .jsonl .ndjson .xlsx .ods .dta .sav .edges .edgelist .el (text also '
    'with ".gz").',
    friends=FRIENDS, edges="friends.graphml")
bad("spreadsheet by name", "people.xls is a spreadsheet: save it as .xlsx or CSV.",
    people=archive("sheet.xml"), table="people.xls")
bad("pickle by name", "people.pkl is a pickle, which may run code: export it as CSV or Parquet.",
    people=pickle.dumps([1]), table="people.pkl")
bad("archive by name", "people.zip is an archive: unpack it first.", people=archive("people.csv"),
    table="people.zip")
bad("archived CSV by name", "people.csv.zip is an archive: unpack it first.",
    people=archive("people.csv"), table="people.csv.zip")
bad("JSON by name", 'people.json is JSON: write one object a line, and name it ".jsonl".',
    people=b'[{"name": "ann"}]', table="people.json")
bad("zstd by name", "people.csv.zst is compressed in another way than .gz: unpack it.",
    people=b"\x28\xb5\x2f\xfd", table="people.csv.zst")
bad("spreadsheet named CSV",
    "people.csv is no text but a spreadsheet or an archive: export it as CSV or Parquet.",
    people=archive("sheet.xml"))
bad("old spreadsheet named CSV",
    "people.csv is no text but a spreadsheet: export it as CSV or Parquet.",
    people=b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
bad("pickle named CSV", "people.csv is no text but a pickle: export it as CSV or Parquet.",
    people=pickle.dumps({"a": 1}))
bad("old pickle named CSV", "people.csv is no text but a pickle: export it as CSV or Parquet.",
    people=pickle.dumps({"a": 1}, protocol=2))
bad("gz named CSV", 'people.csv is no text but compressed: add ".gz" to its name.', people=PACKED)
bad("zstd named CSV", "people.csv is no text but compressed by zstd: unpack it.",
    people=b"\x28\xb5\x2f\xfd\x04\x58")
bad("parquet named CSV", 'people.csv is no text but a Parquet file: give it the ending ".parquet".',
    people=PARQUET)
bad("feather named CSV", 'people.csv is no text but an Arrow file: give it the ending ".arrow".',
    people=FEATHER)
bad("parquet named JSON lines",
    'people.jsonl is no text but a Parquet file: give it the ending ".parquet".', people=PARQUET,
    table="people.jsonl")
bad("edges of parquet named CSV",
    'friends.csv is no text but a Parquet file: give it the ending ".parquet".',
    friends=parquet(source=["ann"], target=["bob"]))
bad("CSV named parquet",
    "people.parquet is not a Parquet file: if it is text, give it the ending of its format, "
    'such as ".csv".', people=PEOPLE, table="people.parquet")
bad("CSV named feather",
    "people.feather is not an Arrow file: if it is text, give it the ending of its format, such"
    ' as ".csv".', people=PEOPLE, table="people.feather")
bad("feather named parquet",
    'people.parquet is not a Parquet file but an Arrow file: give it the ending ".arrow".',
    people=FEATHER, table="people.parquet")
bad("parquet named feather",
    'people.feather is not an Arrow file but a Parquet file: give it the ending ".parquet".',
    people=PARQUET, table="people.feather")
bad("CSV named JSON lines",
    "people.jsonl, line 1 is no JSON (column 1: Expecting value): every line must be one JSON "
    "object.", people=PEOPLE, table="people.jsonl")
bad("JSON lines named CSV",
    'people.csv looks like JSON: write one object a line, and give it the ending ".jsonl".',
    people=json_lines({"name": "ann", "age": 3}, {"name": "bob", "age": None}))
bad("CSV named gz",
    'people.csv.gz is not compressed as its name says: take ".gz" off its name, or copy or '
    "export it again.", people=PEOPLE, table="people.csv.gz")
bad("gz cut off",
    "people.csv.gz cannot be read, and may be cut off or broken (Compressed file ended before "
    "the end-of-stream marker was reached): copy or export it again.", people=PACKED[:60],
    table="people.csv.gz")
bad("gz with a broken byte",
    "people.csv.gz cannot be read, and may be cut off or broken (CRC check failed 0x4a00fc84 !="
    " 0x4a80fc84): copy or export it again.", people=PACKED[:-6] + b"\0" + PACKED[-5:],
    table="people.csv.gz")
bad("parquet cut off",
    "people.parquet cannot be read, and may be cut off or broken (Parquet magic bytes not found"
    " in footer. Either the file is corrupted or this is not a parquet file): copy or export it"
    " again.", people=PARQUET[:-40], table="people.parquet")
bad("parquet with a broken middle",
    "people.parquet cannot be read, and may be cut off or broken (Couldn't deserialize thrift: "
    "TProtocolException: Invalid data Deserializing page header failed): copy or export it "
    "again.", people=PARQUET[:4] + bytes(200) + PARQUET[204:], table="people.parquet")
bad("empty parquet", "people.parquet is empty, hence not a Parquet file: export it again.",
    people=b"", table="people.parquet")
bad("feather cut off",
    "people.feather cannot be read, and may be cut off or broken (Not an Arrow file): copy or "
    "export it again.",
    people=FEATHER[: len(FEATHER) // 2], table="people.feather")
bad("packed parquet", "people.parquet.gz is compressed inside and out: unpack it, and read that.",
    people=gzip.compress(PARQUET), table="people.parquet.gz")

# -- JSON lines --

bad("JSON line is no object",
    "people.jsonl, line 2 is no object: every line must be one JSON object.",
    people=json_lines({"name": "ann"}, ["bob", 30]), table="people.jsonl")
bad("JSON line is broken",
    "people.jsonl, line 2 is no JSON (column 24: Expecting value): every line must be one JSON "
    "object.", people=json_lines({"name": "ann"}, '{"name": "bob", "age": }\n'),
    table="people.jsonl")
bad("JSON of several lines",
    "people.jsonl, line 1 is no JSON (column 2: Expecting value): every line must be one JSON "
    "object.", people=b'[\n  {"name": "ann"},\n  {"name": "bob"}\n]\n', table="people.jsonl")
bad("key twice", "people.jsonl, line 2 has the key 'age' twice: keep one of them.",
    people=json_lines({"name": "ann"}, '{"name": "bob", "age": 1, "age": 2}\n'),
    table="people.jsonl")
bad("empty key", "people.jsonl has no name for column 1 of 2: give it one, or remove the column.",
    people=json_lines({"": 1, "name": "ann"}, {"name": "bob"}), table="people.jsonl")
bad("number and text",
    "Column 'age' of people.jsonl has a number in line 1 but a text in line 2: write all of its"
    " values alike.", people=json_lines({"name": "ann", "age": 3}, {"name": "bob", "age": "old"}),
    table="people.jsonl")
bad("number and boolean",
    "Column 'age' of people.jsonl has a number in line 1 but a boolean in line 2: write all of "
    "its values alike.", people=json_lines({"name": "ann", "age": 3}, {"name": "bob", "age": True}),
    table="people.jsonl")
bad("integer of 70 bits",
    "people.jsonl, line 1 has an integer beyond 64 bits in column 'age': write it as text.",
    people=json_lines({"name": "ann", "age": 2**70}, {"name": "bob", "age": None}),
    table="people.jsonl")
bad("half a character",
    "people.jsonl, line 1 has half a character (\\ud800): every line must be one JSON object.",
    people=b'{"name": "ann", "city": "\\ud800"}\n{"name": "bob", "city": null}\n',
    table="people.jsonl")
bad("JSON nested too deep",
    "people.jsonl, line 1 is no JSON that can be read: every line must be one JSON object.",
    people=b'{"name": ' + b"[" * 100_000 + b"\n", table="people.jsonl")
bad("JSON edges without an end",
    "There is no target in friends.jsonl, line 2: name the node or drop the edge.",
    friends=json_lines({"a": "ann", "b": "bob"}, {"a": "bob"}), edges="friends.jsonl")
bad("infinite JSON",
    "The cell at people.jsonl, line 1, column 'age' is infinite (inf): name it as missing, or "
    "give it a finite number.",
    people=b'{"name": "ann", "age": Infinity}\n{"name": "bob", "age": null}\n',
    table="people.jsonl")

# -- ids --

bad("id twice",
    "The id 'ann' occurs twice in column 'name' of people.csv (guessed to hold the ids), in line 2 "
    "and in line 4: keep one row per id, or name another column with --id.",
    people=b"name,age\nann,30\nbob,\nann,31\n")
bad("id twice, named",
    "The id 'bob' occurs twice in column 'name' of people.csv, in line 3 and in line 6: keep "
    "one row per id, or name another column with --id.", "--id name",
    people=b"name,age\nann,30\nbob,\n\ncat,3\nbob,31\n")
bad("id twice in parquet",
    "The id 'ann' occurs twice in column 'name' of people.parquet, in row 1 and in row 3: keep "
    "one row per id, or name another column with --id.", "--id name",
    people=parquet(name=["ann", "bob", "ann"], age=[1, None, 2]), table="people.parquet")
bad("id missing", "There is no id in column 'name' of people.csv, line 4: every row needs one.",
    people=b"name,age\nann,30\nbob,\n,31\n", options="--id name")
bad("id missing, guessed",
    "There is no id in column 'name' of people.csv (guessed to hold the ids), line 4: every row "
    "needs one, or name another column with --id.",
    people=b"name,age\nann,30\nbob,\n,31\n")
bad("id NA",
    "The id in column 'name' of people.csv, line 4 is 'NA', which counts as missing: pass "
    "--missing '' if it is an id.",
    people=b"name,age\nann,30\nbob,\nNA,31\n", options="--id name")
bad("source missing", "There is no source in friends.csv, line 4: name the node or drop the edge.",
    friends=b"source,target\nann,bob\n\n,cat\n")
bad("target missing", "There is no target in friends.csv, line 3: name the node or drop the edge.",
    friends=b"source,target\nann,bob\nbob,\n")
bad("target missing in parquet",
    "There is no target in friends.parquet, row 2: name the node or drop the edge.",
    friends=parquet(source=["ann", "bob"], target=["bob", None]), edges="friends.parquet")
bad("no id is named by an edge",
    "No column of people.csv (such as 'ann' in column 'name') holds the ids in friends.csv "
    "(such as 'x1'): name it with --id, or check that both sides spell ids alike.",
    friends=b"source,target\nx1,x2\n")
bad("ids that lost their zeros, and a chance match",
    "No column of people.csv (such as '01000' in column 'county') holds the ids in friends.csv "
    "(such as 1000), column 'pop' coming nearest with 1 of 4 rows: name it with --id, or "
    "check that both sides spell ids alike.",
    people=b"county,pop,age\n01000,1001,30\n01001,52,\n01002,77,31\n01003,87,35\n",
    friends=b"source,target\n1000,1001\n1001,1002\n1002,1003\n")
bad("no id is named by an edge, named",
    "No id in column 'name' of people.csv (such as 'ann') is named in friends.csv (such as "
    "'x1'): name the right columns with --id, --source and --target.", "--id name",
    friends=b"source,target\nx1,x2\n")
bad("ids differ in case",
    "No id in column 'name' of people.csv is named in friends.csv as it stands, but some are in "
    "other letters or with other blanks ('ann' and 'ANN'): write them alike.", "--id name",
    friends=b"source,target\nANN,BOB\n")
bad("numbers against text",
    "The ids in column 'id' of people.parquet are whole numbers (such as 1) but the ends in "
    "friends.parquet are text (such as '1'), so that none match: make both the same type.",
    "--id id", people=NUMBERED, table="people.parquet", friends=parquet(source=["1"], target=["2"]),
    edges="friends.parquet")
bad("numbers against text, guessed",
    "No column of people.parquet (such as 1 in column 'id') holds the ids in friends.parquet "
    "(such as '1'): name it with --id, or check that both sides spell ids alike.",
    people=NUMBERED, table="people.parquet", friends=parquet(source=["1"], target=["2"]),
    edges="friends.parquet")
bad("dates against numbers",
    "The ids in column 'day' of people.parquet are date32[day] (such as 1970-01-02) but the "
    "ends in friends.parquet are whole numbers (such as 1), so that none match: make both the "
    "same type.", "--id day", people=parquet(day=pa.array([1, 2], pa.date32()), x=[1, None]),
    table="people.parquet", friends=parquet(source=[1], target=[2]), edges="friends.parquet")
bad("lists as ends",
    "Column 'source' of friends.parquet holds lists or structs, which cannot be ids: name "
    "another column.", friends=parquet(source=[[1]], target=[[2]]), edges="friends.parquet")
bad("lists as ids",
    "Column 'id' of people.parquet holds lists or structs, which cannot be ids: name another "
    "column.", "--id id", people=parquet(id=[[1], [2]], x=[1, None]), table="people.parquet")
bad("edges of one column",
    "friends.csv has 1 column but an edge has two ends: separate them by a comma, a tab or a "
    "blank, or name the separator with --edge-separator.", friends=b"friend\nann\nbob\n")
bad("edges of one column in parquet",
    "There is one column in friends.parquet ('friend') but an edge has two ends: add the column"
    " with the other end.", friends=parquet(friend=["ann"]), edges="friends.parquet")
bad("edges of one column in JSON lines",
    "There is one column in friends.jsonl ('friend') but an edge has two ends: add the column "
    "with the other end.", friends=json_lines({"friend": "ann"}), edges="friends.jsonl")

# -- cells --

bad("infinite number",
    "The cell at people.csv, line 4, column 'age' is infinite (inf): name it as missing, or "
    "give it a finite number.", people=b"name,age\nann,30\nbob,\ncat,inf\n")
bad("infinite number in parquet",
    "The cell at people.parquet, row 3, column 'age' is infinite (inf): name it as missing, or "
    "give it a finite number.",
    people=parquet(name=["ann", "bob", "cat"], age=[1.0, None, float("inf")]),
    table="people.parquet")
bad("number beyond a float",
    "The cell at people.csv, line 4, column 'age' is infinite (inf): name it as missing, or "
    "give it a finite number.", people=b"name,age\nann,30\nbob,\ncat,1e999\n")
bad("everything missing",
    "Every cell of people.csv in columns 'age', 'city' is missing: there is nothing to infer from.",
    people=b"name,age,city\nann,,\nbob,,\ncat,,NA\n")
bad("column asked for is all missing",
    "Every cell of people.csv in column 'age' is missing: there is nothing to infer from.",
    "--columns age", people=b"name,age,city\nann,,York\nbob,,Bath\n")
bad("text as number",
    "people.csv, line 2 has 'York' in column 'city', which is no number: correct it, or pass "
    "--missing York if it means missing.", "--type city=number")
bad("text as integer",
    "people.csv, line 2 has 'York' in column 'city', which is no integer: correct it, or pass "
    "--missing York if it means missing.", "--type city=integer")
bad("fraction as integer",
    "people.csv, line 4 has '1.5' in column 'age', which is no integer: correct it, or pass "
    "--missing 1.5 if it means missing.", "--type age=integer",
    people=b"name,age\nann,30\nbob,\ncat,1.5\n")
bad("time without its form",
    "Column 'at' of people.csv cannot be read as times, since not every cell is a time of one "
    "form (line 4 has 'late'): write all of them like 17:30, or pass --type at=leave.",
    "--type at=time", people=b"name,at\nann,17:30\nbob,\ncat,late\n")
bad("text as duration",
    "Column 'city' cannot be taken as 'duration', for it is text: leave its kind to graphfill, "
    "or convert the column first.", "--type city=duration")
bad("form of a date without a year",
    "The form '%d/%m' of the dates in column 'born' must have a day, a month and a year, such "
    "as --type born=date:%d/%m/%Y.", "--type born=date:%d/%m",
    people=b"name,born\nann,01/02\nbob,\n")
bad("text as boolean",
    "Column 'city' cannot be taken as 'boolean', for it is text: leave its kind to graphfill, "
    "or convert the column first.", "--type city=boolean")
bad("number as boolean",
    "Column 'age' cannot be taken as boolean, for people.csv, line 2 holds 30, which is neither"
    " 0 nor 1: take it as a category or a number.", "--type age=boolean")
bad("text as date",
    "Column 'city' of people.csv cannot be read as dates, since not every cell is a date of one"
    " form (line 2 has 'York'): name its form, such as --type city=date:%d/%m/%Y.",
    "--type city=date")
bad("number as date",
    "Column 'age' of people.csv cannot be read as dates, since not every cell is a date of one "
    "form (line 2 has '30'): name its form, such as --type age=date:%d/%m/%Y.", "--type age=date")
bad("number as time",
    "Column 'age' of people.csv cannot be read as times, since not every cell is a time of one "
    "form (line 2 has '30'): write all of them like 17:30, or pass --type age=leave.",
    "--type age=time")
bad("date of another form",
    "people.csv, line 4 has '2020-03-04' in column 'born', which is no date %d/%m/%Y: correct "
    "it, or pass --missing 2020-03-04 if it means missing.", "--type born=date:%d/%m/%Y",
    people=b"name,born\nann,01/02/2020\nbob,\ncat,2020-03-04\n")
bad("day and month alike",
    "Column 'born' of people.csv cannot be read as dates, since day and month cannot be told "
    "apart (line 2 has '01/02/2020'): name its form, such as --type born=date:%d/%m/%Y.",
    "--type born=date", people=b"name,born\nann,01/02/2020\nbob,\ncat,03/04/2021\n")
bad("form of a date that is none",
    "The form '%Q' of the dates in column 'born' must have a day, a month and a year, such as "
    "--type born=date:%d/%m/%Y.", "--type born=date:%Q",
    people=b"name,born\nann,01/02/2020\nbob,\n")
bad("typed date as boolean",
    "Column 'born' cannot be taken as 'boolean', for it is a column of kind 'date': leave its "
    "kind to graphfill, or convert the column first.", "--type born=boolean",
    people=parquet(name=["ann", "bob"], born=pa.array([1, None], pa.date32())),
    table="people.parquet")
bad("typed date as number",
    "Column 'born' cannot be taken as 'number', for it is a column of kind 'date': leave its "
    "kind to graphfill, or convert the column first.", "--type born=number",
    people=parquet(name=["ann", "bob"], born=pa.array([1, None], pa.date32())),
    table="people.parquet")
bad("typed number as date",
    "Column 'age' cannot be taken as 'date', for it is a column of kind 'integer': leave its "
    "kind to graphfill, or convert the column first.", "--type age=date", people=PARQUET,
    table="people.parquet")
bad("typed text as number",
    "people.parquet, row 1 has 'York' in column 'city', which is no number: correct it, or pass"
    " --missing York if it means missing.", "--type city=number", people=PARQUET,
    table="people.parquet")
bad("list as category",
    "Column 'tags' cannot be taken as 'category', for it is nested (List(Int64)): leave its "
    "kind to graphfill, or convert the column first.", "--type tags=category",
    people=parquet(name=["ann", "bob"], tags=[[1], None]), table="people.parquet")

# -- weights --

bad("negative weight",
    "The weight in column 'w' of friends.csv, line 3 is -2: weights must be finite numbers, and"
    " not negative.", "--weight w", friends=b"source,target,w\nann,bob,1\nbob,cat,-2\n")
bad("NaN weight",
    "There is no weight in column 'w' of friends.csv, line 3: give the edge one, or drop it.",
    "--weight w", friends=b"source,target,w\nann,bob,1\nbob,cat,nan\n")
bad("missing weight",
    "There is no weight in column 'w' of friends.csv, line 3: give the edge one, or drop it.",
    "--weight w", friends=b"source,target,w\nann,bob,1\nbob,cat,\n")
bad("infinite weight",
    "The weight in column 'w' of friends.csv, line 3 is inf: weights must be finite numbers, "
    "and not negative.", "--weight w", friends=b"source,target,w\nann,bob,1\nbob,cat,inf\n")
bad("text as weight",
    "The weight in column 'w' of friends.csv, line 3 is 'near': weights must be finite numbers,"
    " and not negative.", "--weight w", friends=b"source,target,w\nann,bob,1\nbob,cat,near\n")
bad("dates as weights",
    "The weight in column 'w' of friends.csv, line 2 is 2020-01-01: weights must be finite "
    "numbers, and not negative.", "--weight w",
    friends=b"source,target,w\nann,bob,2020-01-01\nbob,cat,2020-01-02\n")
bad("missing weight in parquet",
    "There is no weight in column 'w' of friends.parquet, row 2: give the edge one, or drop it.",
    "--weight w", friends=parquet(source=["ann", "bob"], target=["bob", "cat"], w=[1.0, None]),
    edges="friends.parquet")
bad("negative weight in parquet",
    "The weight in column 'w' of friends.parquet, row 2 is -1: weights must be finite numbers, "
    "and not negative.", "--weight w",
    friends=parquet(source=["ann", "bob"], target=["bob", "cat"], w=[1, -1]),
    edges="friends.parquet")
bad("text as weight in JSON lines",
    "The weight in column 'w' of friends.jsonl, line 1 is 'x': weights must be finite numbers, "
    "and not negative.", "--weight w",
    friends=json_lines({"source": "ann", "target": "bob", "w": "x"}), edges="friends.jsonl")
bad("weights beyond a float",
    "The weights add up to more than a float can hold: divide all of them by the largest.",
    "--weight w", friends=b"source,target,w\nann,bob,1e308\nbob,cat,1e308\n")

# -- outputs --

bad("output exists",
    "filled.csv exists already: name another file, or pass --overwrite to replace it.",
    make=lambda folder: (folder / "filled.csv").touch())
bad("output is the table",
    "The output people.csv is the same file as the input people.csv: name another file.",
    "--overwrite", output="people.csv")
bad("output is the table by another path",
    "The output ../$FOLDER/people.csv is the same file as the input people.csv: name another "
    "file.", "--overwrite", output="./../$FOLDER/people.csv")
bad("output is the table by a symbolic link",
    "The output link.csv is the same file as the input people.csv: name another file.",
    "--overwrite", output="link.csv",
    make=lambda folder: (folder / "link.csv").symlink_to("people.csv"))
bad("output is the table by a hard link",
    "The output link.csv is the same file as the input people.csv: name another file.",
    "--overwrite", output="link.csv",
    make=lambda folder: os.link(folder / "people.csv", folder / "link.csv"))
bad("output is the edges",
    "The output friends.csv is the same file as the input friends.csv: name another file.",
    "--overwrite", output="friends.csv")
bad("output is the edges by a symbolic link",
    "The output link.csv is the same file as the input friends.csv: name another file.",
    "--overwrite", output="link.csv",
    make=lambda folder: (folder / "link.csv").symlink_to("friends.csv"))
bad("output's folder is missing",
    "There is no folder results to write results/filled.csv to: make it first.",
    output="results/filled.csv")
bad("output's folder is a file",
    "people.csv is not a folder: people.csv/filled.csv cannot be written to it.",
    output="people.csv/filled.csv")
bad("output is a folder", "results.csv is a folder: name a file in it.", output="results.csv",
    make=lambda folder: (folder / "results.csv").mkdir())
bad("output is a folder without ending", "results is a folder: name a file in it.",
    output="results", make=lambda folder: (folder / "results").mkdir())
bad("output is this folder", ". is a folder: name a file in it.", output=".")
bad("output is a pipe", "pipe.csv is a device or a pipe, not a file: name a file.", "--overwrite",
    output="pipe.csv", make=lambda folder: os.mkfifo(folder / "pipe.csv"))
bad("output's ending is unknown",
    "The ending of filled.doc tells no format: use one of .csv .tsv .tab .txt .parquet .pq "
    '.arrow .feather .ipc .jsonl .ndjson .xlsx .ods (text also with ".gz").', output="filled.doc")
bad("output without ending",
    "The ending of filled tells no format: use one of .csv .tsv .tab .txt .parquet .pq .arrow "
    '.feather .ipc .jsonl .ndjson .xlsx .ods (text also with ".gz").', output="filled")
bad("output is a spreadsheet",
    'filled.xls is a spreadsheet: give the output the ending ".csv", ".parquet" or ".jsonl".',
    output="filled.xls")
bad("output is a file of Stata",
    'filled.dta is a file of Stata, which is read alone: give the output the ending ".csv", '
    '".parquet" or ".jsonl".', output="filled.dta")
bad("output is a pickle",
    'filled.pkl is a pickle, which may run code: give the output the ending ".csv", ".parquet" '
    'or ".jsonl".', output="filled.pkl")
bad("output is JSON",
    'filled.json is JSON: give the output the ending ".csv", ".parquet" or ".jsonl".',
    output="filled.json")
bad("output is packed parquet",
    "filled.parquet.gz is compressed inside and out: leave the last ending off.",
    output="filled.parquet.gz")
bad("output's name is too long",
    "x" * 300 + ".csv cannot be written (File name too long): name a file elsewhere.",
    output="x" * 300 + ".csv")
bad("output is a link in a circle", "link.csv is a link that leads in a circle: name a file.",
    output="link.csv", make=lambda folder: (folder / "link.csv").symlink_to("link.csv"))

# -- options --

bad("memory limit too small",
    f"--memory-limit leaves 68 bytes but filling 4 x 1 cells takes at least {LEAST} (32 bytes of "
    "it for the result): raise the limit or fill fewer columns at a time.",
    "--memory-limit 100 --threads 2")
bad("memory limit that the table fills",
    f"--memory-limit leaves nothing but filling 4 x 1 cells takes at least {LEAST} (32 bytes of "
    "it for the result): raise the limit or fill fewer columns at a time.",
    "--memory-limit 10 --threads 2")
usage("memory limit is no size",
    "argument --memory-limit: 'lots' is no size; write for example \"4GB\"", "--memory-limit lots")
usage("memory limit with two points",
    "argument --memory-limit: '1.2.3GB' is no size; write for example \"4GB\"",
    "--memory-limit 1.2.3GB")
usage("memory limit of nothing",
    "argument --memory-limit: '0' is no size; write for example \"4GB\"", "--memory-limit 0")
usage("negative memory limit",
    "argument --memory-limit: '-1GB' is no size; write for example \"4GB\"", "--memory-limit=-1GB")
usage("no threads", "argument --threads: '0' must be a whole number of at least 1", "--threads 0")
usage("half a thread", "argument --threads: '1.5' must be a whole number of at least 1",
    "--threads 1.5")
bad("steps of what takes as many as it needs",
    "--steps 10 is given but --solver exact takes as many as it needs: add --solver diffusion to "
    "stop after so many, or leave --steps out.", "--steps 10")
usage("negative steps", "argument --steps: '-1' must be a whole number of at least 1", "--steps -1")
usage("no steps", "argument --steps: '0' must be a whole number of at least 1", "--steps 0")
usage("reliance beyond 1", "argument --reliance: '2' must be held-out, or a number from 0 to 1",
    "--reliance 2")
usage("reliance in words", "argument --reliance: 'much' must be held-out, or a number from 0 to 1",
    "--reliance much")
usage("unknown method",
    "argument --method: invalid choice: 'magic' (choose from 'auto', 'field', 'propagation', "
    "'neighbors', 'mean', 'hybrid')", "--method magic")
usage("unknown solver",
    "argument --solver: invalid choice: 'guess' (choose from 'exact', 'diffusion', 'chebyshev')",
    "--solver guess")
usage("unknown policy",
    "argument --unreached: invalid choice: 'zero' (choose from 'mean', 'leave')",
    "--unreached zero")
usage("zero tolerance", "argument --tol: '0' must be a positive number", "--tol 0")
usage("tolerance is NaN", "argument --tol: 'nan' must be a positive number", "--tol nan")
usage("negative shrinkage", "argument --shrinkage: '-1' must be a number of at least 0",
    "--shrinkage -1")
usage("infinite shrinkage", "argument --shrinkage: 'inf' must be a number of at least 0",
    "--shrinkage inf")
usage("seed in words", "argument --seed: 'lucky' must be a whole number of at least 0",
    "--seed lucky")
usage("negative seed", "argument --seed: '-1' must be a whole number of at least 0", "--seed -1")
usage("type without a kind",
    "argument --type: 'age' must be NAME=KIND with KIND one of number, integer, boolean, "
    "category, date, time, duration, leave or date:FORMAT", "--type age")
usage("type of an unknown kind",
    "argument --type: 'age=colour' must be NAME=KIND with KIND one of number, integer, boolean,"
    " category, date, time, duration, leave or date:FORMAT", "--type age=colour")
usage("type without a name",
    "argument --type: '=number' must be NAME=KIND with KIND one of number, integer, boolean, "
    "category, date, time, duration, leave or date:FORMAT", "--type =number")
usage("form for what is no date",
    "argument --type: 'age=number:%d' must be NAME=KIND with KIND one of number, integer, "
    "boolean, category, date, time, duration, leave or date:FORMAT", "--type age=number:%d")
usage("date without its form",
    "argument --type: 'age=date:' must be NAME=KIND with KIND one of number, integer, boolean, "
    "category, date, time, duration, leave or date:FORMAT", "--type age=date:")
usage("decimal mark of two", "argument --decimal: invalid choice: ';' (choose from '.', ',')",
    "--decimal ;")
usage("unknown option", "unrecognized arguments: --fill", "--fill")
usage("shortened option", "unrecognized arguments: --over", "--over")
usage("option without its value", "argument --columns: expected one argument", "--columns")
usage("a file too many", "unrecognized arguments: more.csv", "more.csv")
usage("no command", "the following arguments are required: command", command=" ")
usage("unknown command",
    "argument command: invalid choice: 'fill' (choose from 'impute', 'check', 'explain', 'plan', "
    "'app', 'demo', 'bench', 'completion')", command="fill people.csv friends.csv")
usage("no output", "the following arguments are required: -o/--output",
    command="impute people.csv friends.csv")
usage("no files named", "the following arguments are required: TABLE", command="check")
usage("output of check", "unrecognized arguments: -o filled.csv",
    command="check people.csv friends.csv -o filled.csv")
usage("no cell to explain", "the following arguments are required: --row, --column",
    command="explain people.csv friends.csv")
usage("no shell", "the following arguments are required: shell", command="completion")
usage("unknown shell", "argument shell: invalid choice: 'csh' (choose from 'bash', 'zsh', 'tcsh')",
    command="completion csh")
usage("town of nobody", "argument --people: '0' must be a whole number of at least 50",
    command="demo --people 0")
usage("town of five", "argument --people: '5' must be a whole number of at least 50",
    command="demo --people 5")
bad("another's files in the town",
    "people.csv was not written by a demo, which would replace it: name another folder with "
    "--folder.", command="demo --folder .")
bad("town in a file",
    "The folder people.csv cannot be made (File exists): name another with --folder.",
    command="demo --folder people.csv")
bad("town below a file",
    "The folder people.csv/town cannot be made (Not a directory): name another with --folder.",
    command="demo --folder people.csv/town")
