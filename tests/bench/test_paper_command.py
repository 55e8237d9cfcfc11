"""The command: real runs, few and short, from the grid to the page."""

from __future__ import annotations

import argparse
import os

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from bench.paper_rows import every

from graphfill.bench._paper import command
from graphfill.bench._paper.experiments import EXPERIMENTS
from graphfill.bench._results import Results
from graphfill.cli._arguments import build_parser
from graphfill.errors import InputError

needs_data = pytest.mark.skipif(
    not os.environ.get("GRAPHFILL_DATA"), reason="set GRAPHFILL_DATA to the folder of real graphs"
)


def options(*arguments: object) -> argparse.Namespace:
    return build_parser().parse_args(["bench", "paper", *map(str, arguments)])


def run(*arguments: object) -> int:
    return command.run(options(*arguments))


@needs_data
def test_a_quick_table_from_real_runs_is_printed_written_and_resumed(tmp_path, capsys):
    results = tmp_path / "runs.parquet"
    asked = ["--table", 1, "--quick", "--sets", "cora", "--runs", 1, "--jobs", 1, "--quiet",
             "--results", results]  # fmt: skip
    assert run(*asked) == 0
    printed = capsys.readouterr().out
    found = {row["rate"]: row for row in Results(results).rows()}
    assert found.keys() == {0.0, 0.5, 0.9, 0.99}
    for row in found.values():
        assert 60 < row["test_accuracy"] < 90  # a class of seven by chance: 14
        assert f"{row['test_accuracy']:.2f} (1)" in printed
    folder = tmp_path / "graphfill-paper"
    assert (folder / "tables" / "table-1.csv").exists()
    assert not (folder / "tables" / "table-2.csv").exists()
    before = results.read_bytes()
    assert run(*asked) == 0
    assert results.read_bytes() == before
    assert capsys.readouterr().out == printed


def test_the_page_is_made_from_the_results_alone(tmp_path, capsys):
    results = tmp_path / "runs.parquet"
    made = [row for row in every(EXPERIMENTS) if row["set"][:4] in ("cora", "mixh")]
    Results(results).add(made)
    (tmp_path / "README.md").write_text("of the folder's owner")
    assert run("--page", "--results", results) == 0
    assert f"of {len(made)} runs" in capsys.readouterr().out
    assert (tmp_path / "README.md").read_text() == "of the folder's owner"
    folder = tmp_path / "graphfill-paper"
    text = (folder / "README.md").read_text("utf-8")
    assert "| table-1 | 40 | 200 |" in text
    for name in ("gcn", "sage", "run-time", "homophily", "exact"):
        assert f"](figures/{name}.svg)" in text
        assert (folder / "figures" / f"{name}.svg").exists()
    assert "spectral" not in text  # never computed, so not shown
    # Fewer rows: what has no row is not on the page.
    Results(tmp_path / "less.parquet").add(made[:7])
    assert run("--page", "--results", tmp_path / "less.parquet", "--out", tmp_path / "less") == 0
    text = (tmp_path / "less" / "README.md").read_text("utf-8")
    assert "| table-1 | 7 | 200 |" in text
    assert "MixHop" not in text


def test_the_page_written_by_hand_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "docs" / "paper" / "README.md"
    page.parent.mkdir(parents=True)
    page.write_text("by hand")
    Results(page.with_name("runs.parquet")).add(every(["run-time"]))
    assert run("--page") == 0
    assert page.read_text() == "by hand"
    assert (page.parent / "tables" / "run-time.md").exists()


def test_files_go_where_the_options_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, folder = command.places(options())
    assert str(path) == "graphfill-paper/runs.parquet"
    (tmp_path / "docs" / "paper").mkdir(parents=True)
    path, folder = command.places(options())
    assert (str(path), str(folder)) == ("docs/paper/runs.parquet", "docs/paper")
    quick, _ = command.places(options("--quick"))
    assert quick != path


def test_a_set_the_paper_does_not_have_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no set 'corra': did you mean 'cora'"):
        run("--table", 1, "--sets", "corra", "--results", tmp_path / "r.parquet")
