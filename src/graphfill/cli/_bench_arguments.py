"""The options of ``graphfill bench``. Light to import, so that --help answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ._types import count, hidden_share

BENCH_EXAMPLES = """\
examples:
  graphfill bench list
  graphfill bench run --sets cora citeseer --methods fp mean --rates 0.9 0.99 --quick
  graphfill bench paper --table 1
"""
RUN_EXAMPLES = """\
examples:
  graphfill bench run --sets cora --methods fp zero mean --rates 0.5 0.99 --runs 10
  graphfill bench run --sets photo --methods fp pagnn labels --masks structural --jobs 2
  graphfill bench run --sets cora --methods fp examples/own_method.py:fill --quick
  graphfill bench run --nodes people.csv --edges friends.csv --label city --split thirds
"""
PAPER_EXAMPLES = """\
examples:
  graphfill bench paper --table 1 --quick
  graphfill bench paper --figure homophily --runs 3
  graphfill bench paper --all --jobs 2
"""
FIGURES = ("gcn", "sage", "run-time", "homophily", "spectral", "exact")
Adder = Callable[[Any, str, str, str], argparse.ArgumentParser]


def add_bench(commands: Any, command: Adder) -> list[argparse.Action]:
    """Add the command and its own commands; returns the options that name files."""
    bench = command(commands, "bench", "compare methods on graphs whose truth is known; the "
                    "paper's tables and figures", BENCH_EXAMPLES)  # fmt: skip
    tasks = bench.add_subparsers(dest="task", metavar="task", required=True)
    command(tasks, "list", "name the sets, methods, models, masks and splits there are", "")
    return [*_add_run(tasks, command), *_add_paper(tasks, command)]


def _add_run(tasks: Any, command: Adder) -> list[argparse.Action]:
    run = command(tasks, "run", "run methods on sets with cells hidden, and print how well they "
                  "did", RUN_EXAMPLES)  # fmt: skip
    what = run.add_argument_group("what to run")
    what.add_argument("--sets", nargs="+", metavar="SET", help="see graphfill bench list")
    what.add_argument(
        "--methods", nargs="+", default=["fp"], metavar="METHOD",
        help="see the list, or your own fill as path/to/file.py:function (fp)",
    )  # fmt: skip
    what.add_argument("--models", nargs="+", default=["gcn"], metavar="MODEL", help="gcn, sage")
    what.add_argument(
        "--rates", nargs="+", type=hidden_share, default=[0.99], metavar="SHARE",
        help="of cells to hide (0.99)",
    )  # fmt: skip
    what.add_argument(
        "--masks", nargs="+", default=["uniform"], metavar="MASK", help="how cells are hidden"
    )
    what.add_argument("--split", default=None, help="who is trained on (paper; thirds for mixhop)")
    what.add_argument("--runs", type=count, default=None, metavar="N", help="of each (10)")
    what.add_argument(
        "--first", type=int, default=0, metavar="N",
        help="number of the first run, which is its seed (0)",
    )  # fmt: skip
    what.add_argument("--layers", type=count, default=None, metavar="N", help="of the network (2)")
    what.add_argument("--quick", action="store_true", help="2 runs of at most 100 epochs")
    own = run.add_argument_group("your own graph")
    nodes = own.add_argument("--nodes", metavar="FILE", help="a table, one row per node")
    edges = own.add_argument("--edges", metavar="FILE", help="one row per link")
    own.add_argument("--label", metavar="NAME", help="the column of the table to predict")
    own.add_argument("--id", metavar="NAME", help="the column that edges name (guessed)")
    arrays = own.add_argument(
        "--arrays", nargs="+", metavar="FILE.npz",
        help="edge_index, x and y in one file, and train_masks, ... if there are",
    )  # fmt: skip
    shown = run.add_argument_group("what is printed")
    shown.add_argument(
        "--against", metavar="METHOD", help="also differences from this method, run by run"
    )
    shown.add_argument("--latex", action="store_true", help="tables in LaTeX")
    results = _add_work(run, "runs.parquet", "one row per run; rows that are there are kept")
    return [nodes, edges, arrays, results]


def _add_paper(tasks: Any, command: Adder) -> list[argparse.Action]:
    paper = command(tasks, "paper", "reproduce the Feature Propagation paper's tables and figures",
                    PAPER_EXAMPLES)  # fmt: skip
    which = paper.add_argument_group("what to reproduce")
    which.add_argument("--table", choices=("1", "2", "convergence"), action="append", default=[])
    which.add_argument("--figure", choices=FIGURES, action="append", default=[])
    which.add_argument("--all", action="store_true", help="all tables and figures")
    which.add_argument("--page", action="store_true", help="of the rows there are; run nothing")
    which.add_argument("--sets", nargs="+", metavar="SET", help="only on these")
    which.add_argument("--runs", type=count, default=None, metavar="N", help="of each (10)")
    which.add_argument("--quick", action="store_true", help="2 sets, 2 runs, 100 epochs at most")
    results = _add_work(paper, None, "one row per run; rows that are there are kept")
    out = paper.add_argument("--out", metavar="FOLDER", help="where tables and figures go")
    return [results, out]


def _add_work(parser: argparse.ArgumentParser, results: str | None, help: str) -> argparse.Action:
    work = parser.add_argument_group("work")
    work.add_argument("--jobs", type=count, default=None, metavar="N", help="processes (all cores)")
    action = work.add_argument(
        "--results", default=results, metavar="FILE.parquet",
        help=help + (f" ({results})" if results else ""),
    )  # fmt: skip
    work.add_argument("--quiet", action="store_true", help="no progress bar")
    return action
