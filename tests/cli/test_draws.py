"""impute --draws: completions as files beside the output."""

import csv
import gzip
import os
from pathlib import Path

import pytest

PEOPLE = "name;age;city\nann;30;York\nbob;;\ncat;40;\ndan;50;Bath\neve;20;York\n"
FRIENDS = "source,target\nann,bob\nbob,cat\ncat,dan\ndan,eve\n"


@pytest.fixture
def run(in_process):
    """Write two files, and run a command on them; gives its exit code."""
    Path("people.csv").write_text(PEOPLE)
    Path("friends.csv").write_text(FRIENDS)
    return lambda words: in_process(["impute", "people.csv", "friends.csv", *words.split()])


def rows(path):
    return list(csv.reader(path.read_text().splitlines(), delimiter=";"))


def test_files_beside_the_output(run):
    assert run("-o plain.csv") == 0
    assert run("-o filled.csv --draws 12") == 0
    assert Path("filled.csv").read_text() == Path("plain.csv").read_text()
    files = [Path(f"filled.{number}.csv") for number in range(1, 13)]
    assert sorted(os.listdir()) == sorted(
        ["people.csv", "friends.csv", "plain.csv", "filled.csv", *map(str, files)]
    )
    known = rows(Path("people.csv"))
    ages = set()
    for file in files:
        table = rows(file)
        ages.add(table[2][1])
        for before, after in zip(known, table, strict=True):
            assert all(cell in ("", other) for cell, other in zip(before, after, strict=True))
        assert all(cell for row in table for cell in row)
    assert len(ages) > 1
    assert run("-o again.csv --draws 2") == 0
    assert Path("again.2.csv").read_text() == files[1].read_text()


def test_compressed_and_typed_files(run):
    assert run("-o filled.CSV.gz --draws 1") == 0
    with gzip.open("filled.1.CSV.gz", "rt") as file:
        assert file.readline() == "name;age;city\n"
    assert run("-o filled.parquet --draws 1") == 0
    assert Path("filled.1.parquet").exists()


def test_nothing_is_replaced_unasked(run, capsys):
    Path("filled.2.csv").write_text("mine")
    assert run("-o filled.csv --draws 2") == 1
    assert "filled.2.csv exists already" in capsys.readouterr().err
    assert not Path("filled.csv").exists()
    assert not Path("filled.1.csv").exists()
    assert run("-o filled.csv --draws 2 --overwrite") == 0
    assert Path("filled.2.csv").read_text() != "mine"
