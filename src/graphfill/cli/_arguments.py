"""The options of the command line, what they may be, and what --help says of them.

Only what parsing takes is imported here, so that --help answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from .. import __version__
from . import _types as types
from ._bench_arguments import add_bench
from ._link_arguments import add_links
from ._plan_arguments import add_plan

IMPUTE_EXAMPLES = """\
examples:
  graphfill impute people.csv friends.csv -o filled.csv
  graphfill impute people.parquet friends.parquet -o filled.parquet --id user --columns age,city
  graphfill impute survey.csv links.tsv -o filled.csv --missing unknown,-1 --mark
  graphfill impute people.csv friends.csv -o filled.csv --method auto --report report.html
  graphfill impute people.csv friends.csv -o filled.csv --draws 20
  graphfill impute march.csv friends.csv -o filled.csv --save people.gfill
  graphfill impute april.csv friends.csv -o filled-april.csv --load people.gfill
  graphfill impute stations.csv -o filled.csv --near latitude,longitude --time hour
  graphfill impute people.csv -o filled.csv --same household,firm --keep-links links.csv
  graphfill impute towns.csv roads.csv -o filled.csv --weight traffic --solver diffusion --steps 40
  graphfill impute nodes.parquet edges.parquet -o filled.parquet --memory-limit 4GB
  graphfill impute nodes.parquet edges.parquet -o filled.parquet --engine dask --shards 64
"""
CHECK_EXAMPLES = """\
examples:
  graphfill check people.csv friends.csv
  graphfill check people.csv friends.csv --report check.html
  graphfill check shops.csv --near latitude,longitude
  graphfill check people.csv friends.csv --json > check.json
"""
EXPLAIN_EXAMPLES = """\
examples:
  graphfill explain people.csv friends.csv --row bob --column age
  graphfill explain people.csv friends.csv --row bob --column age --picture why.svg
  graphfill explain people.csv friends.csv --row bob --column age --json > why.json
"""
COMPLETION_EXAMPLE = """\
example:
  graphfill completion bash > ~/.bash_completion.d/graphfill
"""
EXAMPLES = """\
examples:
  graphfill demo                                             a small town, its blanks filled
  graphfill check people.csv friends.csv                     what is missing, what can be inferred
  graphfill impute people.csv friends.csv -o filled.csv      fill it
  graphfill explain people.csv friends.csv --row bob --column age      which cells speak for one
  graphfill plan nodes.parquet edges.parquet                 memory and time a large fill will take
  graphfill app                                              the same in a page of your browser
  graphfill bench list                                       experiments: sets, methods, masks

Each command has its own --help. Exit codes: 0 done, 1 refused, 2 usage, 3 not converged under
--strict, 130 interrupted.
"""
WRITTEN = "CSV, TSV, Parquet, Arrow/Feather, JSON lines, xlsx or ods"
FORMATS = f"{WRITTEN}, by its ending; .gz allowed for text"


def build_parser(complete: Any = None) -> argparse.ArgumentParser:
    """The parser of all commands; `complete` is how a shell completes the name of a file."""
    parser = argparse.ArgumentParser(
        prog="graphfill",
        description="Fill the blanks in a table from the links between its rows.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"graphfill {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    files = [*_add_impute(commands), *_add_check(commands), *_add_explain(commands)]
    files += add_plan(commands, _command, _add_names, _add_solver)
    _add_app(commands)
    _add_demo(commands)
    files += add_bench(commands, _command)
    for action in files:
        action.complete = complete  # type: ignore[attr-defined]
    purpose = "print a script that completes graphfill's options in your shell"
    completion = _command(commands, "completion", purpose, COMPLETION_EXAMPLE)
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    return parser


def _command(commands: Any, name: str, purpose: str, examples: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose,
        description=purpose[0].upper() + purpose[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def _add_impute(commands: Any) -> list[argparse.Action]:
    parser = _command(commands, "impute", "fill the missing cells of a table", IMPUTE_EXAMPLES)
    files = _add_inputs(parser)
    output = parser.add_argument_group("output")
    add = output.add_argument
    files.append(add("-o", "--output", metavar="FILE", required=True, help=FORMATS))
    add("--overwrite", action="store_true", help="replace an existing output")
    add(
        "--link", type=types.key, action="append", default=[], metavar="FILE:COLUMN",
        help="fill another table too, whose column names rows of TABLE (or FILE:COLUMN=FILE: of a "
        "third one); -o then names a folder",
    )  # fmt: skip
    files.append(_add_report(output))
    saved: dict[str, Any] = {"metavar": "FILE.gfill"}
    files.append(add("--save", **saved, help="keep what was decided and learnt, to use it again"))
    files.append(add("--load", **saved, help="fill as another table was filled, which saved it"))
    add(
        "--mark", action="store_true",
        help="add a column <name>_filled that says which cells were filled",
    )  # fmt: skip
    add(
        "--formula-safe", action="store_true",
        help="in CSV, put ' before cells that a spreadsheet would compute, such as =A1",
    )  # fmt: skip
    method = parser.add_argument_group("method")
    _add_method(method)
    _add_trust(method.add_argument)
    _add_size(parser.add_argument_group("size").add_argument)
    _add_talk(parser)
    return files


def _add_method(group: Any) -> None:
    add = group.add_argument
    add(
        "--method", choices=("auto", "field", "propagation", "neighbors", "mean", "hybrid"),
        help="column by column the best of all by held-out score (default), one model of graph and "
        "columns, diffusion along the edges (default where its own options are given), the "
        "neighbours' mean, the column's, or learners on the graph and the other columns",
    )  # fmt: skip
    add(
        "--effort", choices=("fast", "balanced", "thorough"), default="balanced",
        help="of auto: no trees, trees on the columns they help most (default), or on all",
    )  # fmt: skip
    add(
        "--reliance", type=types.reliance, default="held-out", metavar="X",
        help="how far to go from the column's mean (0) to what the graph says (1); by default "
        "fitted on cells held out",
    )  # fmt: skip
    add(
        "--normalization", choices=("rw", "sym"), default="rw",
        help="rw (default) averages neighbours; sym is the paper's",
    )  # fmt: skip
    _add_solver(group)
    add("--tol", type=types.positive, metavar="X", help="relative residual to reach")
    add(
        "--shrinkage", type=types.not_negative, default=0.0, metavar="X",
        help="pull filled values towards the column's mean (0)",
    )  # fmt: skip
    add(
        "--unreached", choices=("mean", "leave"), default="mean",
        help="cells nothing known is connected to get the column's mean or most frequent value "
        "(default; hybrid and auto may predict them from the row's other columns), or stay missing",
    )  # fmt: skip


def _add_trust(add: Any) -> None:
    add(
        "--intervals", type=types.level, metavar="LEVEL",
        help="such as 0.9: add columns that bound each filled number, and say how probable each "
        "filled category is",
    )  # fmt: skip
    add(
        "--scores", nargs="?", const=True, default=False, metavar="PATTERN",
        choices=("random", "rows", "high", "region"),
        help="score the method on cells held out; with random, rows, high or region, also on known "
        "cells hidden in that pattern: whole rows, high values first, or around some nodes",
    )  # fmt: skip
    add(
        "--draws", type=types.count, metavar="N",
        help="also write N completions, whose filled cells differ as the truth may: beside "
        "filled.csv, filled.1.csv, filled.2.csv, ...",
    )  # fmt: skip
    add("--strict", action="store_true", help="exit with 3 if not converged")


def _add_size(add: Any) -> None:
    _add_memory(add, "; Parquet that would not fit is filled from disk, a few columns at a time")
    add("--threads", type=types.count, metavar="N", help="cores to use (all)")
    add(
        "--engine", choices=("local", "dask", "spark"),
        help="cut the graph into shards of rows, worked on by processes here, or by a cluster's",
    )  # fmt: skip
    add("--shards", type=types.count, metavar="N", help="(4 per worker)")
    add("--workers", type=types.count, metavar="N", help="processes to start here (cores)")
    add("--scheduler", metavar="ADDRESS", help="of Dask, or the master of Spark")
    add(
        "--folder", metavar="DIR",
        help="for the shards, seen by every worker; the same command goes on where it was stopped",
    )  # fmt: skip


def _add_memory(add: Any, more: str = "") -> None:
    kept = 'such as "4GB": kept, or refused at the start'
    add("--memory-limit", type=types.size, metavar="SIZE", help=f"{kept}{more}")


def _add_report(group: Any) -> argparse.Action:
    action: argparse.Action = group.add_argument(
        "--report", metavar="FILE.html", help="a page that shows how far to trust each column"
    )
    return action


def _add_check(commands: Any) -> list[argparse.Action]:
    purpose = "say what is missing, what the graph reaches and which columns look inferable"
    parser = _command(commands, "check", purpose, CHECK_EXAMPLES)
    files = _add_inputs(parser)
    output = parser.add_argument_group("output")
    files.append(_add_report(output))
    output.add_argument("--overwrite", action="store_true", help="replace an existing report")
    _add_memory(parser.add_argument_group("size").add_argument)
    _add_talk(parser)
    return files


def _add_explain(commands: Any) -> list[argparse.Action]:
    purpose = "say which known cells a filled one is made of, and with what weight"
    parser = _command(commands, "explain", purpose, EXPLAIN_EXAMPLES)
    files = _add_inputs(parser)
    cell = parser.add_argument_group("cell").add_argument
    cell("--row", metavar="ID", required=True, help="id of the row, as in the table")
    cell("--column", metavar="NAME", required=True, help="of the cell")
    _add_method(parser.add_argument_group("method"))
    output = parser.add_argument_group("output").add_argument
    files.append(output("--picture", metavar="FILE.svg", help="draw the weights"))
    output("--overwrite", action="store_true", help="replace an existing picture")
    _add_memory(parser.add_argument_group("size").add_argument)
    _add_talk(parser)
    return files


def _add_app(commands: Any) -> None:
    purpose = "open a page in the browser to fill a table with; no file leaves this machine"
    add = _command(commands, "app", purpose, "example:\n  graphfill app\n").add_argument
    add("--port", type=types.port, metavar="N", help="of the page (any free one)")
    add("--no-browser", action="store_true", help="print the address, open nothing")


def _add_demo(commands: Any) -> None:
    purpose = "make a small town, blank a third of its table, fill it, compare with the truth"
    examples = "graphfill demo --folder town\n  graphfill demo --example countries"
    parser = _command(commands, "demo", purpose, f"examples:\n  {examples}\n")
    parser.add_argument(
        "--example", choices=("town", "countries"), default="town",
        help="the town (default), or write a real table of 250 countries and their links",
    )  # fmt: skip
    parser.add_argument("--folder", default="graphfill-demo", help="where its files go")
    parser.add_argument("--people", type=types.crowd, default=2000, metavar="N", help="(2000)")
    _add_talk(parser)


def _add_names(parser: argparse.ArgumentParser) -> Any:
    """Which columns are what, and which to fill."""
    names = parser.add_argument_group("columns")
    names.add_argument("--id", metavar="NAME", help="of the table, holds what edges name")
    names.add_argument("--source", metavar="NAME", help="of the edges, one end")
    names.add_argument("--target", metavar="NAME", help="of the edges, the other end")
    names.add_argument("--weight", metavar="NAME", help="of the edges; without it all count alike")
    names.add_argument(
        "--weight-means", choices=("weight", "distance"),
        help="whether larger weights count more, or less as distances do",
    )  # fmt: skip
    listed: dict[str, Any] = {"type": types.name_list, "metavar": "A,B"}
    names.add_argument("--columns", **listed, help="fill only these")
    names.add_argument("--exclude", **listed, default=[], help="leave alone")
    return names


def _add_solver(group: Any) -> None:
    add = group.add_argument
    add(
        "--solver", choices=("exact", "diffusion", "chebyshev"), default="exact",
        help="the limit of diffusion (default), or --steps of it",
    )  # fmt: skip
    add("--steps", type=types.count, metavar="N", help="of --solver diffusion or chebyshev (40)")


def _add_inputs(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    table = parser.add_argument(
        "table", metavar="TABLE", help=f"one row per node: {FORMATS}; also Stata, SPSS"
    )
    edges = parser.add_argument(
        "edges", metavar="EDGES", nargs="?",
        help="one row per link: also plain text; not needed where rows are linked as below",
    )  # fmt: skip
    names = _add_names(parser)
    links = add_links(parser)
    names.add_argument(
        "--type", type=types.column_kind, action="append", default=[], dest="types",
        metavar="NAME=KIND",
        help="number, integer, boolean, category, date, date:%%d/%%m/%%Y, time or leave",
    )  # fmt: skip
    add = parser.add_argument_group("reading").add_argument
    add(
        "--missing", type=types.name_list, metavar="A,B",
        help="what else marks a missing cell, beside an empty one and NA, NaN, null and the like; "
        "to read those as words, begin with nothing: '' or ',A,B'",
    )  # fmt: skip
    add(
        "--value", type=types.name_list, metavar="A,B", default=[],
        help="what is a value, although it often marks a missing cell: none, unknown, -, NA",
    )  # fmt: skip
    add("--separator", type=types.separator, metavar="C", help="between the table's cells (seen)")
    add("--decimal", choices=(".", ","), help="mark of the table's numbers (seen)")
    add("--encoding", metavar="NAME", help="of the table (seen; UTF-8)")
    add("--no-edge-header", action="store_true", help="the first line of the edges is an edge")
    add(
        "--edge-separator", type=types.separator, metavar="C", help="between the edges' ends (seen)"
    )
    add("--edge-encoding", metavar="NAME", help="of the edges (seen; UTF-8)")
    add("--edge-missing", type=types.name_list, metavar="A,B", help="what is no node, as --missing")
    return [table, edges, *links]


def _add_talk(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("talk").add_argument
    add("--json", action="store_true", help="print the summary as JSON")
    add("--quiet", action="store_true", help="print nothing but refusals")
    add("--seed", type=types.seed, default=0, metavar="N", help="of all that is drawn (0)")


def joined(arguments: Iterable[str]) -> list[str]:
    """Arguments with the value of --missing or --value tied to it, as it may begin with a minus.

    >>> joined(["--missing", "-99,-98", "--mark"])
    ['--missing=-99,-98', '--mark']
    """
    tied: list[str] = []
    for argument in arguments:
        dashed = argument[:1] == "-" and (argument[1:2].isdigit() or set(argument) <= set("-,"))
        if tied and tied[-1] in ("--missing", "--value") and dashed and argument != "--":
            tied[-1] += f"={argument}"
        else:
            tied.append(argument)
    return tied
