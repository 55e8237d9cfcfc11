"""The countries that come with the package, through the command as a user runs it."""

import pyarrow.csv
import pytest
from cli.real_command import graphfill


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("countries")
    said = graphfill("demo", "--example", "countries", "--folder", made)
    assert said.returncode == 0, said.stderr
    return made, said.stdout


def test_the_files_are_a_table_with_blanks_and_two_kinds_of_links(folder):
    made, _ = folder
    table = pyarrow.csv.read_csv(made / "countries.csv")
    assert table.shape[0] == 250
    assert any(table[name].null_count for name in table.column_names)
    ids = set(table[0].to_pylist())
    for name in ("borders.csv", "nearest.csv"):
        links = pyarrow.csv.read_csv(made / name)
        assert set(links[0].to_pylist()) | set(links[1].to_pylist()) <= ids


def test_the_command_that_it_prints_fills_them(folder):
    made, said = folder
    command = next(line for line in said.splitlines() if line.startswith("  graphfill impute"))
    filled = graphfill(*command.split()[1:], "--method", "propagation", "--quiet", cwd=made)
    assert filled.returncode == 0, filled.stderr
    before = pyarrow.csv.read_csv(made / "countries.csv")
    after = pyarrow.csv.read_csv(made / "filled.csv")
    assert before.column_names == after.column_names[: before.num_columns]
    assert sum(column.null_count for column in after.columns) < 100


def test_files_that_no_demo_wrote_are_left_alone(tmp_path):
    (tmp_path / "borders.csv").write_text("mine\n")
    said = graphfill("demo", "--example", "countries", "--folder", tmp_path)
    assert said.returncode == 1
    assert "borders.csv was not written by a demo" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["borders.csv"]
