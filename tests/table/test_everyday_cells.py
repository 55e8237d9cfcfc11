"""Everyday cells: read, filled and written back in the style of their column, or asked about."""

import csv
import warnings

import pandas as pd
import polars as pl
import pytest
from everyday_cells import ASKED, COLUMNS, FORMATS, IN_A_FILE, LABELS

import graphfill as gf

CASES = COLUMNS + [([a, "", b, a, b, a], [m]) for a, b, m in FORMATS + IN_A_FILE]
NAMES = [f"c{number:03}" for number in range(len(CASES))]
ANYWHERE = list(zip(NAMES, CASES, strict=True))[: -len(IN_A_FILE)]
ROWS = 6
EDGES = pd.DataFrame(
    {"a": [f"n{i}" for i in range(ROWS - 1)], "b": [f"n{i + 1}" for i in range(5)]}
)
OPTIONS = {"method": "propagation", "reliance": 1.0, "id": "id"}


def filled_cells(column, known):
    return [cell for cell, old in zip(column, known, strict=True) if cell != old]


def test_there_are_many():
    assert len(CASES) + len(ASKED) >= 130


@pytest.fixture(scope="module")
def by_file(tmp_path_factory):
    """All columns in one CSV file through the command: the cells of the output by column."""
    from graphfill.cli import main

    folder = tmp_path_factory.mktemp("everyday")
    table, edges, output = (folder / name for name in ("t.csv", "e.csv", "out.csv"))
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["id", *NAMES])
        rows.writerows([f"n{i}", *(cells[i] for cells, _ in CASES)] for i in range(ROWS))
    EDGES.to_csv(edges, index=False)
    options = ["--method", "propagation", "--reliance", "1", "--quiet"]
    assert main(["impute", str(table), str(edges), "-o", str(output), *options]) == 0
    with output.open(newline="", encoding="utf-8") as file:
        return {column[0]: list(column[1:]) for column in zip(*csv.reader(file), strict=True)}


@pytest.mark.parametrize(("name", "case"), list(zip(NAMES, CASES, strict=True)))
def test_in_a_file(by_file, name, case):
    known, expected = case
    assert filled_cells(by_file[name], known) == expected


@pytest.fixture(scope="module")
def by_frame():
    found = {}
    for library in (pd, pl):
        columns = {name: [c or None for c in cells] for name, (cells, _) in ANYWHERE}
        table = library.DataFrame({"id": [f"n{i}" for i in range(ROWS)], **columns})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[library] = gf.impute(table, EDGES, **OPTIONS)
    return found


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(("name", "case"), ANYWHERE)
def test_in_a_frame(by_frame, library, name, case):
    known, expected = case
    assert filled_cells(by_frame[library][name].to_list(), known) == expected


def impute(cells, **options):
    n = len(cells)
    table = pd.DataFrame({"id": [f"n{i}" for i in range(n)], "x": [cell or None for cell in cells]})
    edges = pd.DataFrame({"a": table["id"][:-1].tolist(), "b": table["id"][1:].tolist()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gf.impute(table, edges, return_result=True, **OPTIONS | options)


@pytest.mark.parametrize(("cells", "question"), ASKED, ids=[cells[-1] for cells, _ in ASKED])
def test_what_is_not_clear_is_asked(cells, question):
    result = impute(cells)
    assert result.columns[1].kind == "left alone"
    assert result.table["x"].isna().sum() == cells.count("")
    (note,) = [note for note in result.notes if "left alone" in note]
    assert question in note


@pytest.mark.parametrize("cells", LABELS, ids=[cells[0] for cells in LABELS])
def test_labels_are_no_numbers(cells):
    result = impute(cells)
    assert result.columns[1].kind in ("category", "left alone")
    assert set(result.table["x"].dropna()) <= set(cells)


def test_a_question_can_be_answered():
    assert impute(["1,200", "", "1,300"], types={"x": "number:."}).table["x"][1] == "1,250"
    assert impute(["1,200", "", "1,300"], types={"x": "number:,"}).table["x"][1] == "1,250"
    filled = impute(["1,200", "", "1,304"], types={"x": "number:,"}, intervals=None)
    assert filled.table["x"][1] == "1,252"
    assert filled.columns[1].kind == "number"


def test_the_rest_of_the_table_settles_the_decimal_mark():
    table = pd.DataFrame(
        {"id": ["a", "b", "c"], "x": ["1,200", None, "1,300"], "y": ["0.25 %", "0.5 %", None]}
    )
    edges = pd.DataFrame({"a": ["a", "b"], "b": ["b", "c"]})
    for y, kind in (("0.25 %", "integer"), ("0,25 %", "number")):
        table["y"] = [y, y, None]
        with pytest.warns(gf.GraphfillWarning):
            result = gf.impute(table, edges, return_result=True, **OPTIONS)
        assert result.columns[1].kind == kind


@pytest.mark.parametrize(
    ("other", "expected"),
    [("0.5", "1.25"), ("0,5", "1.250"), ("7", None)],
)
def test_the_rest_of_a_file_settles_plain_numbers(tmp_path, other, expected, capsys):
    from graphfill.cli import main

    table, edges, output = (tmp_path / name for name in ("t.csv", "e.csv", "out.csv"))
    table.write_text(f"id;x;y\na;1.200;{other}\nb;;{other}\nc;1.300;{other}\n")
    edges.write_text("a,b\na,b\nb,c\n")
    command = [
        "impute",
        str(table),
        str(edges),
        "-o",
        str(output),
        "--overwrite",
        "--reliance",
        "1",
    ]
    assert main(command) == 0
    cell = output.read_text().split("\n")[2].split(";")[1]
    said = capsys.readouterr().out
    if expected is None:
        assert cell == ""
        assert '"1.200" may be 1200 or 1.2: pass --type x=number:, or --type x=number:.' in said
        assert main([*command, "--decimal", ","]) == 0
        assert output.read_text().split("\n")[2] == f"b;1.250;{other}"
    else:
        assert cell.rstrip("0") == expected.rstrip("0")


def test_integers_with_decimals_may_be_called_integers(tmp_path):
    from graphfill.cli import main

    table, edges, output = (tmp_path / name for name in ("t.csv", "e.csv", "out.csv"))
    table.write_text("id,nroom\na,4.0\nb,\nc,6.0\nd,5\n")
    edges.write_text("a,b\na,b\nb,c\nc,d\n")
    command = ["impute", str(table), str(edges), "-o", str(output), "--type", "nroom=integer"]
    assert main([*command, "--quiet", "--reliance", "1"]) == 0
    assert output.read_text() == "id,nroom\na,4.0\nb,5\nc,6.0\nd,5\n"


def test_bounds_are_written_in_the_same_style():
    cells = [f"${1000 + 3 * i:,}.00" if i % 7 else "" for i in range(90)]
    filled = impute(cells, method="auto", effort="fast", intervals=0.9).table
    assert filled["x_low"].str.match(r"\$[1-9],\d{3}\.\d\d$").all()


def test_what_a_kept_fit_holds():
    n = 30
    edges = pd.DataFrame({"a": range(n - 1), "b": range(1, n)})
    march = pd.DataFrame({"id": range(n), "x": [f"{i} km" if i % 5 else None for i in range(n)]})
    april = pd.DataFrame({"id": range(n), "x": [f"{i} km" if i % 4 else None for i in range(n)]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imputer = gf.TableImputer(id="id").fit(march, edges)
        assert imputer.transform(april, edges)["x"].str.fullmatch(r"\d+ km").all()
