"""CONTRIBUTING.md shows the rooms as they are."""

import re

from docs.markdown import ROOT
from test_rooms import MAY_IMPORT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
ROW = re.compile(r"^\| `(?P<room>\w+)` \| (?P<use>[^|]+) \|(?P<imports>[^|]*)\|$", re.M)


def test_the_table_of_rooms_is_the_one_that_is_tested():
    shown = {row["room"]: set(re.findall(r"\w+", row["imports"])) for row in ROW.finditer(TEXT)}
    assert shown == {room: set(others.split()) for room, others in MAY_IMPORT.items()}


def test_every_path_it_names_exists():
    paths = set(re.findall(r"\b(?:src|tests|docs|benchmarks|examples)/[\w./-]*\w", TEXT))
    assert paths >= {"tests/test_rooms.py", "benchmarks/engine.py"}
    for path in paths - {"docs/_build/html"}:  # which `make docs` makes
        assert (ROOT / path).exists(), path
    for room in MAY_IMPORT:
        package = ROOT / "src" / "graphfill" / room
        assert package.is_dir() or package.with_suffix(".py").is_file(), room
