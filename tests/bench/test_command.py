"""graphfill bench as typed: what it prints, what it refuses, how soon it answers."""

import re
import subprocess
import sys

import pytest
from bench.groups import write_groups

from graphfill import cli
from graphfill.bench import _command as command
from graphfill.bench._problem import Setting
from graphfill.bench._results import Results
from graphfill.cli import _bench_arguments as arguments
from graphfill.cli._arguments import build_parser

OWN = """
import numpy as np
def fill(X, graph, seed):
    return np.where(np.isnan(X), seed, X)
def spoil(X, graph, seed):
    return X
"""


def planned(*words):
    options = build_parser().parse_args(["bench", "run", *words])
    return command.plan(options)


def test_own_graph_and_own_fill_beside_others(tmp_path, capfd):
    pytest.importorskip("torch")
    nodes, edges = write_groups(tmp_path)
    own = tmp_path / "own.py"
    own.write_text(OWN)
    record = tmp_path / "runs.parquet"
    words = [
        *("bench", "run", "--nodes", str(nodes), "--edges", str(edges), "--label", "kind"),
        *("--methods", "fp", f"{own}:fill", f"{own}:spoil", "labels", "--rates", "0.3"),
        *("--split", "thirds", "--quick", "--runs", "1", "--jobs", "1", "--results", str(record)),
    ]
    assert cli.main(words) == 1  # since one method is broken
    said, refused = capfd.readouterr()
    lines = said.splitlines()
    assert re.fullmatch(r"\| set +\| method .* accuracy % \| reconstruction error \|", lines[0])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [line[:6] for line in cells] == [
        ["nodes.csv", "fp", "gcn", "uniform", "30 %", "1"],
        ["nodes.csv", f"{own}:fill", "gcn", "uniform", "30 %", "1"],
        ["nodes.csv", "labels", "", "uniform", "0 %", "1"],
    ]
    assert all(float(line[6]) > 50 for line in cells)  # of three classes, told by the features
    assert cells[0][7] < cells[1][7]  # zeros (the seed) are not as near as neighbours
    assert f"Method '{own}:spoil' left nan at row" in refused
    assert "1 run without a row" in refused

    rows = Results(record).rows()
    assert {row["setting"] for row in rows} == {'{"max_epochs": 100}'}
    when = {row["when"] for row in rows}
    again = [word for word in words if not word.endswith((":spoil", ":fill"))]
    assert cli.main(again) == 0
    shown = [line.split() for line in capfd.readouterr().out.splitlines()[2:]]
    assert shown == [lines[2].split(), lines[4].split()]
    assert {row["when"] for row in Results(record).rows()} == when  # nothing was run again

    assert cli.main([*again, "--against", "fp", "--latex"]) == 0
    first, second = capfd.readouterr().out.split("Accuracy in percent less that of fp")
    assert first.startswith("\\begin{tabular}{lllllrrr}")
    assert re.search(r"nodes\.csv & labels &  & uniform & 0 \\% & 1 &", second) is None  # no pair
    assert "\\toprule" in second


def test_what_is_planned():
    runs, files = planned(
        *("--sets", "cora", "mixhop-0.3", "arxiv", "--methods", "fp", "labels", "full"),
        *("--rates", "0.5", "0.9", "--masks", "uniform", "structural", "--models", "gcn", "sage"),
        *("--runs", "2"),
    )
    assert files == {}
    # fp: 2 models x 2 masks x 2 rates; labels once; full with either model.
    assert len(runs) == 2 * 3 * (8 + 1 + 2)
    assert [run.run for run in runs] == [0] * 33 + [1] * 33
    splits = {run.set: run.split for run in runs}
    assert splits == {"cora": "paper", "mixhop-0.3": "thirds", "arxiv": "official"}
    assert {run.model for run in runs if run.method == "labels"} == {None}
    large = {run.method: run.setting for run in runs if run.set == "arxiv"}
    assert (large["fp"].n_layers, large["fp"].hidden, large["fp"].jumping) == (3, 256, "max")
    assert large["labels"] == Setting()
    assert len(planned()[0]) == 10
    later, _ = planned("--first", "20", "--runs", "3")
    assert [run.run for run in later] == [20, 21, 22]
    assert {run.setting.max_epochs for run in planned("--quick")[0]} == {100}
    deep, _ = planned("--layers", "3", "--sets", "cora", "arxiv", "--methods", "pcfi", "labels")
    assert {(run.method, run.setting.n_layers) for run in deep} == {("pcfi", 3), ("labels", 2)}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sets", "coro"], "There is no set 'coro': did you mean 'cora'?"),
        (["--against", "mean"], "--against is 'mean', which is not run: add it to --methods."),
        (["--arrays", "absent.npz"], "absent.npz"),
        (["--layers", "1"], "--layers is 1 but must be a whole number of at least 2."),
        (["--methods", "fpp"], "There is no method 'fpp': did you mean 'fp'?"),
        (["--models", "gat"], "There is no model 'gat'"),
        (["--masks", "unifrom"], "There is no mask 'unifrom': did you mean 'uniform'?"),
        (["--nodes", "a.csv"], "--nodes, --edges and --label: --edges and --label is not given"),
        (["--methods", "absent.py:fill"], "Method 'absent.py:fill' cannot be loaded"),
    ],
)
def test_refusals(words, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "run", *words]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("graphfill: ")
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_rate_beyond_one_is_no_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "run", "--rates", "1.5"])
    assert ended.value.code == 2
    assert "share from 0 to 1" in capsys.readouterr().err


def test_without_torch_one_sentence_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    for task in (["run", "--sets", "cora"], ["paper", "--table", "1"]):
        assert cli.main(["bench", *task]) == 1
        assert 'pip install "graphfill[bench]"' in capsys.readouterr().err
    assert cli.main(["bench", "list"]) == 0


def test_list_names_all_there_is(capsys):
    assert cli.main(["bench", "list"]) == 0
    said = capsys.readouterr().out
    for name in ("cora", "mixhop-0.9", "gcnmf", "sage", "structural", "development"):
        assert re.search(rf"^  {name} +\w", said, re.MULTILINE)


def test_examples_of_the_help_parse():
    texts = (arguments.BENCH_EXAMPLES, arguments.RUN_EXAMPLES, arguments.PAPER_EXAMPLES)
    examples = re.findall(r"^  graphfill (.*)$", "\n".join(texts), re.MULTILINE)
    assert len(examples) == 10
    for example in examples:
        assert build_parser().parse_args(example.split()).command == "bench"


def test_help_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys, time; t = time.perf_counter()\n"
        "from graphfill.cli._arguments import build_parser; build_parser().format_help()\n"
        "heavy = {'numpy', 'torch', 'pyarrow', 'sklearn'} & set(sys.modules)\n"
        "print(time.perf_counter() - t, *heavy)"
    )
    answers = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
        for _ in range(3)
    ]
    assert all(len(answer) == 1 for answer in answers)
    assert min(float(answer[0]) for answer in answers) < 0.3
