"""Markers of missing in every format, JSON lines kept as they stand, and ids that read NA."""

import datetime as dt
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

EDGES = "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(7))
AGES = [10, 20, -1, 40, 50, -1, 70, 80]
DAYS = [f"2020-01-{i + 1:02}" for i in range(8)]


@pytest.fixture
def run(in_process, capsys):
    Path("edges.csv").write_text(EDGES)

    def run(table, *options, code=0):
        output = f"out{Path(table).suffix}"
        command = ["impute", table, "edges.csv", "-o", output, "--id", "id", "--overwrite"]
        assert in_process([*command, *options]) == code
        said = capsys.readouterr()
        return Path(output), said.err if code else said.out

    return run


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(*objects):
    Path("t.jsonl").write_text("".join(f"{one}\n" for one in objects))
    return "t.jsonl"


def test_a_marker_holds_beside_a_column_of_dates(run):
    pairs = enumerate(zip(AGES, DAYS, strict=True))
    rows = [{"id": f"n{i}", "age": a, "born": d} for i, (a, d) in pairs]
    filled, _ = run(write_lines(*map(json.dumps, rows)), "--missing", "-1")
    assert [row["age"] for row in lines(filled)] == [10, 20, 30, 40, 50, 60, 70, 80]
    written = [f"{d[8:]}/{d[5:7]}/{d[:4]}" for d in DAYS]
    pq.write_table(
        pa.table({"id": [r["id"] for r in rows], "age": AGES, "born": written}), "t.parquet"
    )
    filled, _ = run("t.parquet", "--missing", "-1", "--type", "born=date:%d/%m/%Y")
    assert pq.read_table(filled)["age"].to_pylist() == [10, 20, 30, 40, 50, 60, 70, 80]


def test_a_marker_among_texts_that_are_numbers(run):
    ages = ["10", "20", "?", "40", "50", "?", "70", "80"]
    pq.write_table(pa.table({"id": [f"n{i}" for i in range(8)], "age": ages}), "t.parquet")
    filled, _ = run("t.parquet", "--missing", "?", "--type", "age=number")
    assert pq.read_table(filled)["age"].to_pylist()[2:6:3] == ["30", "60"]


@pytest.mark.parametrize("marker", ["-99", "-99.0", "-99.00"])
def test_a_number_is_a_marker_however_it_is_written(marker, run):
    cells = ["1.5", "2.5", "-99.0", "4.5", "5.5", "-99", "7.5", "8.5"]
    Path("t.csv").write_text("id,x\n" + "".join(f"n{i},{c}\n" for i, c in enumerate(cells)))
    filled, said = run("t.csv", f"--missing={marker}")
    assert [row.split(",")[1] for row in filled.read_text().split()[1:]] == [
        "1.5", "2.5", "3.5", "4.5", "5.5", "6.5", "7.5", "8.5",
    ]  # fmt: skip
    assert "counts as missing" in said


def test_nested_values_are_left_alone(run):
    rows = [
        {"id": f"n{i}", "tags": ["a", "b"] if i % 2 else None, "x": i or None} for i in range(8)
    ]
    filled, said = run(write_lines(*map(json.dumps, rows)))
    assert [row["tags"] for row in lines(filled)] == [row["tags"] for row in rows]
    assert "Column 'tags' is left alone with 4 missing cell(s): nested." in said


def test_a_line_keeps_all_but_its_blanks(run):
    known = r'{"id":"n0", "age": 10,"price": 2.00e0, "e":"caf\u00e9", "s":"  "}'
    blank = r'{ "id" : "n1","age":null , "price": 0.12345678901234567890123, "e":"\u00fc", "s":"" }'
    last = r'{"id":"n2","age":30,"price":3,"s":null}'
    filled, _ = run(write_lines(known, blank, last))
    texts = filled.read_text().split("\n")
    assert texts[0] == known
    assert texts[1] == blank.replace('"age":null', '"age":20')
    filled, _ = run("t.jsonl", "--mark")
    texts = filled.read_text().split("\n")
    assert texts[0].startswith(known[:-1])
    assert json.loads(texts[0])["age_filled"] is False
    assert json.loads(texts[1])["age_filled"] is True
    assert texts[1].startswith(blank.replace('"age":null', '"age":20')[:-2])


def test_durations_are_written_back(run):
    hours = [None if i in (2, 5) else dt.timedelta(hours=i) for i in range(8)]
    table = pa.table({"id": [f"n{i}" for i in range(8)], "d": pa.array(hours, pa.duration("ms"))})
    pq.write_table(table, "t.parquet")
    filled, _ = run("t.parquet")
    assert pq.read_table(filled)["d"].to_pylist() == [dt.timedelta(hours=i) for i in range(8)]


def test_an_id_that_reads_na_is_named_with_the_way_out(run):
    Path("t.csv").write_text("id,x\nNA,1\nDE,\nFR,5\n")
    Path("edges.csv").write_text("source,target\nNA,DE\nDE,FR\n")
    assert (
        "The source in edges.csv, line 2 is 'NA', which counts as missing: pass --edge-missing"
        in run("t.csv", code=1)[1]
    )
    assert (
        "line 2 is 'NA', which counts as missing: pass --missing ''"
        in run("t.csv", "--edge-missing", "", code=1)[1]
    )
    filled, _ = run("t.csv", "--edge-missing", "", "--missing", "")
    assert filled.read_text().split() == ["id,x", "NA,1", "DE,3", "FR,5"]
