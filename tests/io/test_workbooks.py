"""Workbooks, Stata and SPSS: values in, filled cells out, and all else as it was."""

import datetime as dt
import sys
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyreadstat
import pytest
from openpyxl.styles import Font

from graphfill import InputError
from graphfill.cli import main
from graphfill.io import read_table, write_table

EDGES = "a,b\nann,bob\nbob,cat\ncat,dan\n"


def make_book(path, *, title=False, sheets=("People",)):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        if title:
            sheet.append(["People of the town"])
            sheet.append([])
        sheet.append(["name", "age", "pay", "day", "city", "rate"])
        sheet.append(["ann", 30, 1200.5, dt.date(2020, 1, 2), "Rome", "16.3 %"])
        sheet.append(["bob", None, None, None, None, None])
        sheet.append(["cat", 40, "n/a", dt.date(2020, 1, 4), "Rome", "16.5 %"])
        sheet.append(["dan", 40, 1300.5, dt.date(2020, 1, 4), "Rome", "16.5 %"])
        for row in sheet.iter_rows(min_col=3, max_col=3):
            row[0].number_format = '"$"#,##0.00'
        sheet.cell(sheet.max_row, 1).font = Font(bold=True)
    book.save(path)
    return path


def run(folder, *arguments, code=0):
    (folder / "e.csv").write_text(EDGES)
    table, output, *rest = arguments
    options = ["--reliance", "1", "--quiet", "--overwrite", *rest]
    files = [str(folder / table), str(folder / "e.csv"), "-o", str(folder / output)]
    assert main(["impute", *files, *options]) == code


def rows_of(path, sheet=None):
    book = openpyxl.load_workbook(path)
    return [list(row) for row in book[sheet or book.sheetnames[0]].iter_rows(values_only=True)]


@pytest.mark.parametrize("title", [False, True])
def test_a_workbook_comes_back_with_its_blanks_filled(tmp_path, title):
    book = make_book(tmp_path / "t.xlsx", title=title)
    run(tmp_path, "t.xlsx", "out.xlsx")
    before, after = rows_of(book), rows_of(tmp_path / "out.xlsx")
    first = 3 if title else 1
    assert after[first + 1][:2] == ["bob", 35]
    assert after[first + 1][2] == pytest.approx(1225.5, abs=30)
    assert after[first + 1][3:] == [dt.datetime(2020, 1, 3), "Rome", "16.4 %"]
    assert isinstance(after[first + 2][2], float)  # where "n/a" stood
    for old, new in zip(before, after, strict=True):
        assert all(n == o for o, n in zip(old, new, strict=True) if o not in (None, "n/a"))
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet.cell(first + 2, 3).number_format == '"$"#,##0.00'
    assert sheet.cell(sheet.max_row, 1).font.bold


def test_a_sheet_is_named_or_asked_for(tmp_path, capsys):
    make_book(tmp_path / "t.xlsx", sheets=("May", "June"))
    run(tmp_path, "t.xlsx", "out.xlsx", code=1)
    assert "has the sheets 'May', 'June': name one, as in 't.xlsx#May'." in capsys.readouterr().err
    run(tmp_path, "t.xlsx#July", "out.xlsx", code=1)
    assert "has no sheet 'July': it has 'May', 'June'." in capsys.readouterr().err
    run(tmp_path, "t.xlsx#June", "out.xlsx")
    assert rows_of(tmp_path / "out.xlsx", "June")[2][1] == 35
    assert rows_of(tmp_path / "out.xlsx", "May") == rows_of(tmp_path / "t.xlsx", "May")
    run(tmp_path, "t.xlsx#June", "t.xlsx", code=1)
    assert "is the same file as the input" in capsys.readouterr().err


def test_formulas_are_kept_and_their_values_read(tmp_path, capsys):
    book = openpyxl.load_workbook(make_book(tmp_path / "t.xlsx"))
    book.active["G1"] = "twice"
    book.active["G2"] = "=2*B2"
    book.save(tmp_path / "t.xlsx")
    run(tmp_path, "t.xlsx", "out.xlsx", code=1)  # no program has computed it yet
    assert "row 2, column 7 has the formula '=2*B2' without its value" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_workbooks_from_and_to_other_formats(tmp_path, ending):
    make_book(tmp_path / "t.xlsx")
    sheet = read_table(tmp_path / "t.xlsx")
    assert [str(kind) for kind in sheet.table.schema.types] == [
        "string", "int64", "double", "date32[day]", "string", "string",
    ]  # fmt: skip
    marks = {name: np.zeros(4, bool) for name in sheet.table.column_names}
    marks["age"][1] = True
    filled = sheet.table.set_column(1, "age", pa.array([30, 35, 40, 40]))
    write_table(tmp_path / f"a.{ending}", filled, like=read_table_as_csv(tmp_path), changed=marks)
    again = read_table(tmp_path / f"a.{ending}").table
    assert again["age"].to_pylist() == [30, 35, 40, 40]
    assert again["day"].to_pylist()[0] == dt.date(2020, 1, 2)
    run(tmp_path, f"a.{ending}", "b.csv")
    assert (tmp_path / "b.csv").read_text().startswith("name,age,pay,day,city,rate\nann,30,1200.5,")


def read_table_as_csv(folder):
    """The same table from a text file."""
    text = "name,age,pay,day,city,rate\nann,30,1200.5,2020-01-02,Rome,16.3 %\nbob,,,,,\n"
    text += "cat,40,,2020-01-04,Rome,16.5 %\ndan,40,1300.5,2020-01-04,Rome,16.5 %\n"
    (folder / "t.csv").write_text(text)
    return read_table(folder / "t.csv")


def test_an_ods_file_keeps_all_its_other_parts(tmp_path):
    csv = read_table_as_csv(tmp_path)
    write_table(tmp_path / "t.ods", csv.table, like=csv, changed={})
    with zipfile.ZipFile(tmp_path / "t.ods", "a") as parts:
        parts.writestr("Pictures/a.png", b"not looked at")
        content = parts.read("content.xml").decode()
    # As LibreOffice writes them: empty cells and rows that stand for many.
    blank = '<table:table-cell table:number-columns-repeated="5" />'
    content = content.replace("<table:table-cell />" * 5, blank)
    end = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
    end += 'table:number-columns-repeated="16384" /></table:table-row></table:table>'
    content = content.replace("</table:table>", end)
    rewrite(tmp_path / "t.ods", "content.xml", content)
    assert blank in content
    run(tmp_path, "t.ods", "out.ods", "--mark")
    table = read_table(tmp_path / "out.ods").table
    assert table["age"].to_pylist() == [30, 35, 40, 40]
    assert table["rate"].to_pylist()[:2] == ["16.3 %", "16.4 %"]
    assert table["age_filled"].to_pylist() == [False, True, False, False]
    with zipfile.ZipFile(tmp_path / "out.ods") as parts:
        assert parts.read("Pictures/a.png") == b"not looked at"
        assert parts.namelist()[0] == "mimetype"


def rewrite(path, name, text):
    with zipfile.ZipFile(path) as parts:
        held = {part: parts.read(part) for part in dict.fromkeys(parts.namelist())}
    with zipfile.ZipFile(path, "w") as parts:
        for part, data in (held | {name: text.encode()}).items():
            parts.writestr(part, data)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda path: path.write_bytes(b"PK\3\4 cut"), "is no workbook, or one with a password"),
        (lambda path: path.write_text("name,age\n"), "is no workbook, or one with a password"),
        (lambda path: rewrite(path, "xl/workbook.xml", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'),
         "declares entities, which no spreadsheet program writes"),
        (lambda path: rewrite(path, "xl/worksheets/sheet1.xml", "<worksheet><c></worksheet>"),
         "cannot be read, and may be cut off or broken"),
    ],
)  # fmt: skip
def test_hostile_workbooks_are_refused(tmp_path, change, why):
    change(make_book(tmp_path / "t.xlsx"))
    with pytest.raises(InputError, match=why):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods"])
def test_a_workbook_that_unfolds_beyond_memory_is_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("content.xml", b" " * (64 << 20))
    with pytest.raises(InputError, match="unfolds to more than"):
        read_table(tmp_path / name)
    rows = '<table:table-row table:number-rows-repeated="900000000"><table:table-cell '
    rows += 'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
    csv = read_table_as_csv(tmp_path)
    write_table(tmp_path / "bomb.ods", csv.table, like=csv, changed={})
    with zipfile.ZipFile(tmp_path / "bomb.ods") as parts:
        content = parts.read("content.xml").decode()
    rewrite(
        tmp_path / "bomb.ods",
        "content.xml",
        content.replace("</table:table>", rows + "</table:table>"),
    )
    with pytest.raises(InputError, match="unfolds to more than"):
        read_table(tmp_path / "bomb.ods")


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.xlsx", "openpyxl", "excel"), ("t.dta", "pyreadstat", "stata")],
)
def test_a_missing_extra_is_named(tmp_path, monkeypatch, name, package, extra):
    make_book(tmp_path / "t.xlsx")
    (tmp_path / "t.dta").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"package {package}: install graphfill\[{extra}\]"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_stata_and_spss_keep_their_labels(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "name": ["ann", "bob", "cat", "dan"],
            "sex": [1.0, None, 1.0, 2.0],
            "mood": [1.0, None, 4.0, 5.0],
            "age": [30.0, None, 40.0, 40.0],
        }
    )
    write = pyreadstat.write_dta if ending == "dta" else pyreadstat.write_sav
    labels = {"sex": {1: "female", 2: "male"}, "mood": {1: "bad", 5: "good"}}
    write(frame, str(tmp_path / f"t.{ending}"), column_labels={"age": "Age in years"},
          variable_value_labels=labels)  # fmt: skip
    sheet = read_table(tmp_path / f"t.{ending}")
    assert sheet.table["sex"].to_pylist() == ["female", None, "female", "male"]
    assert sheet.table["mood"].to_pylist() == [1, None, 4, 5]
    assert sheet.table.schema.field("age").metadata == {b"label": b"Age in years"}
    assert "labels for some of its numbers alone, which stay numbers: 1 (bad), 5 (good)" in (
        " ".join(sheet.notes)
    )
    run(tmp_path, f"t.{ending}", "out.csv")
    assert "bob,female,2,35" in (tmp_path / "out.csv").read_text()
    run(tmp_path, f"t.{ending}", "out.dta", code=1)
    (tmp_path / f"t.{ending}").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read, and may be cut off or broken"):
        read_table(tmp_path / f"t.{ending}")


def test_a_row_that_claims_any_number_is_refused(tmp_path):
    path = make_book(tmp_path / "t.xlsx")
    part = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as parts:
        sheet = parts.read(part).decode()
    rewrite(path, part, sheet.replace('<row r="4"', '<row r="999999999999"'))
    with pytest.raises(InputError, match="has rows beyond 1,048,576"):
        read_table(path)


def test_entities_behind_a_long_comment_are_refused(tmp_path):
    path = make_book(tmp_path / "t.xlsx")
    part = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path) as parts:
        sheet = parts.read(part).decode()
    declared = f'<!--{" " * 5000}--><!DOCTYPE a [<!ENTITY b "c">]>'
    rewrite(path, part, declared + sheet.partition("?>")[2])
    with pytest.raises(InputError, match="declares entities"):
        read_table(path)


def test_a_filled_cell_is_formatted_as_the_known_ones_of_its_column(tmp_path):
    path = make_book(tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    book.active["C3"].number_format = "General"
    book.save(path)
    run(tmp_path, "t.xlsx", "out.xlsx", "--mark")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet["C3"].number_format == '"$"#,##0.00'
    assert sheet["G3"].number_format == "General"  # of a new column
