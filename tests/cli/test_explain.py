"""``graphfill explain``: one cell, in words, as JSON and as a picture."""

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

PEOPLE = "id,age,city\n007,30,York\n008,,York\n009,40,\n010,50,Bath\n"
FRIENDS = "source,target\n007,008\n008,009\n009,010\n"


@pytest.fixture
def run(in_process, capsys):
    """Run ``graphfill explain`` on two files; gives what it prints."""
    Path("people.csv").write_text(PEOPLE)
    Path("friends.csv").write_text(FRIENDS)

    def run(options):
        arguments = f"explain people.csv friends.csv --id id {options}"
        assert in_process(shlex.split(arguments)) == 0, capsys.readouterr().err
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return run


def test_a_number_in_words(run):
    assert run("--row 008 --column age") == (
        "Row 008, column age: 35.\n"
        "It comes 100% from 2 known cells through the graph.\n"
        "Weights: 007 (30) 50% and 009 (40) 50%.\n"
    )


def test_a_category_in_words(run):
    assert run("--row 009 --column city --method neighbors") == (
        "Row 009, column city: York.\n"
        "It comes 100% from 2 known cells through the graph.\n"
        "Weights: 008 (York) 50% and 010 (Bath) 50%.\n"
        "Probabilities: York 50% and Bath 50%.\n"
    )


def test_ids_that_are_numbers(run):
    Path("people.csv").write_text(PEOPLE.replace("\n0", "\n").replace("\n0", "\n"))
    Path("friends.csv").write_text("source,target\n7,8\n8,9\n9,10\n")
    summary = json.loads(run("--row 8 --column age --json"))
    assert (summary["row"], summary["value"]) == (8, 35)


def test_reliance_and_method_count(run):
    assert "50% from the mean of the column's 3 known cells" in run(
        "--row 008 --column age --reliance 0.5"
    )
    assert "The graph has no part in it" in run("--row 008 --column age --method mean")
    assert run("--row 008 --column age --quiet") == ""


def test_json_and_picture(run):
    summary = json.loads(run("--row 008 --column age --json --picture why.svg"))
    assert summary["value"] == 35
    assert [cell["id"] for cell in summary["weights"]] == ["007", "009"]
    assert sum(cell["weight"] for cell in summary["weights"]) == pytest.approx(1)
    assert summary["share_graph"] == pytest.approx(1)
    assert summary["picture"] == "why.svg"
    assert summary["probabilities"] is None
    assert ElementTree.parse("why.svg").getroot().tag.endswith("svg")


def test_the_cell_is_filled_as_impute_fills_it(in_process, capsys):
    assert in_process(["demo", "--folder", "town", "--people", "200"]) == 0
    truth = Path("town/people.csv").read_text().splitlines()
    filled = Path("town/filled.csv").read_text().splitlines()
    capsys.readouterr()
    for line, whole in list(zip(truth, filled, strict=True))[1:60:9]:
        before, after = line.split(","), whole.split(",")
        for at, name in enumerate(truth[0].split(",")):
            if before[at] == "":
                files = ["town/people.csv", "town/friends.csv"]
                cell = ["--row", before[0], "--column", name]
                assert in_process(["explain", *files, "--id", "person", *cell, "--json"]) == 0
                value = json.loads(capsys.readouterr().out)["value"]
                assert str(value) == after[at] or float(value) == pytest.approx(float(after[at]))
