"""The default method through the command line, on tables where it finds little to go by."""

import csv
import random

import pytest

from graphfill.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")


def cells(path, name):
    with open(path) as file:
        return [row[name] for row in csv.DictReader(file)]


def test_one_column_of_the_town(tmp_path, capsys):
    town = tmp_path / "town"
    assert main(["demo", "--folder", str(town), "--people", "300"]) == 0
    filled = []
    for number, more in enumerate(([], ["--method", "auto"])):
        out = tmp_path / f"{number}.csv"
        files = [str(town / "people.csv"), str(town / "friends.csv"), "-o", str(out)]
        assert main(["impute", *files, "--columns", "newsletter", *more]) == 0
        filled.append(out.read_text())
        assert set(cells(out, "newsletter")) == {"yes", "no"}
        assert cells(out, "age") == cells(town / "people.csv", "age")  # not asked for
    assert filled[0] == filled[1]
    assert "Traceback" not in capsys.readouterr().err


def test_links_that_say_nothing_about_the_only_column(tmp_path, capsys):
    draw = random.Random(0)
    table, edges = tmp_path / "table.csv", tmp_path / "edges.csv"
    rows = [f"n{i},{'' if i % 4 == 0 else round(draw.gauss(0, 1), 3)}" for i in range(120)]
    table.write_text("\n".join(["id,x", *rows, ""]))
    pairs = [f"n{draw.randrange(120)},n{draw.randrange(120)}" for _ in range(200)]
    edges.write_text("\n".join(["a,b", *pairs, ""]))
    report = tmp_path / "check.html"
    assert main(["check", str(table), str(edges), "--report", str(report)]) == 0
    shown = capsys.readouterr().out
    assert "Neighbours agree beyond chance in 0 of 1 column" in shown
    assert "hardly better than the mean" in shown
    assert "hardly better than the mean" in report.read_text()
    out = tmp_path / "filled.csv"
    more = ["--report", str(tmp_path / "filled.html")]
    assert main(["impute", str(table), str(edges), "-o", str(out), *more]) == 0
    known = [float(cell) for cell in cells(table, "x") if cell]
    filled = [float(cell) for cell in cells(out, "x")]
    mean = sum(known) / len(known)
    spread = (sum((value - mean) ** 2 for value in known) / len(known)) ** 0.5
    assert all(abs(filled[i] - mean) < spread for i in range(0, 120, 4))
