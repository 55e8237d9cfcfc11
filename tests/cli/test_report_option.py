"""`--report` writes the page beside the output, from the real command."""

import json

import pytest

from graphfill.cli import main


@pytest.fixture
def town(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--folder", "town", "--people", "300", "--quiet"]) == 0
    return tmp_path


def test_the_demo_has_a_report(town):
    page = (town / "town" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "newsletter" in page


def test_impute_with_a_report(town, capsys):
    arguments = ["impute", "town/people.csv", "town/friends.csv", "-o", "filled.csv", "--report",
                 "report.html", "--json", "--id", "person"]  # fmt: skip
    assert main(arguments) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["report"] == "report.html"
    age = next(column for column in said["columns"] if column["name"] == "age")
    methods = [score["method"] for score in age["scores"]]
    assert methods[:3] == ["mean", "neighbors", "propagation"]
    assert {"field", "field-rank"} <= set(methods)
    assert age["interval_level"] == 0.9
    assert age["distribution"]["known"]
    assert age["least_trusted"]
    header = (town / "filled.csv").read_text().splitlines()[0]
    assert header == "person,age,income,city,profession,newsletter"  # bounds only when asked for
    assert "missing cells" in (town / "report.html").read_text()
    # Neither file is replaced unless asked for, and nothing is done before that is clear.
    (town / "filled.csv").unlink()
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        "graphfill: report.html exists already: name another file, or pass --overwrite to replace "
        "it.\n"
    )
    assert not (town / "filled.csv").exists()
    assert main([*arguments, "--overwrite", "--intervals", "0.8"]) == 0
    header = (town / "filled.csv").read_text().splitlines()[0].split(",")
    assert {"age_low", "age_high", "city_probability", "city_set"} <= set(header)


def test_check_with_a_report_fills_nothing(town, capsys):
    before = sorted(path.name for path in town.iterdir())
    arguments = ["check", "town/people.csv", "town/friends.csv", "--report", "check.html",
                 "--columns", "age"]  # fmt: skip
    assert main(arguments) == 0
    assert "Report: check.html" in capsys.readouterr().out
    assert sorted(path.name for path in town.iterdir()) == sorted([*before, "check.html"])
    assert "hybrid" in (town / "check.html").read_text()


def test_a_report_is_a_web_page(town, capsys):
    arguments = ["check", "town/people.csv", "town/friends.csv", "--report", "report.pdf"]
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        'graphfill: The report report.pdf is a web page: give it the ending ".html".\n'
    )
