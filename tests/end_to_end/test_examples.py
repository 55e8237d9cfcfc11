"""The example scripts run as a user would run them."""

import csv
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def read(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_town(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "town.py", tmp_path / "out"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "filled.csv" in done.stdout.splitlines()[-1]
    seen, filled = read(tmp_path / "out" / "people.csv"), read(tmp_path / "out" / "filled.csv")
    assert seen[0] == filled[0] == ["person", "age", "income", "sport_hours"]
    assert len(seen) == len(filled) == 2001
    blanks = 0
    for before, after in zip(seen[1:], filled[1:], strict=True):
        for old, new in zip(before, after, strict=True):
            blanks += old == ""
            assert new == old if old else float(new) == float(new)
    assert blanks == 2000
