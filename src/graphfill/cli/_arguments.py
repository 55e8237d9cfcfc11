"""The options of the command line, what they may be, and what --help says of them.

Only what parsing takes is imported here, so that --help answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from .. import __version__
from ._bench_arguments import add_bench
from ._plan_arguments import add_plan
from ._types import (
    column_kind,
    count,
    crowd,
    level,
    name_list,
    not_negative,
    positive,
    reliance,
    seed,
    separator,
    size,
)

IMPUTE_EXAMPLES = """\
examples:
  graphfill impute people.csv friends.csv -o filled.csv
  graphfill impute people.parquet friends.parquet -o filled.parquet --id user --columns age,city
  graphfill impute survey.csv links.tsv -o filled.csv --missing unknown,-1 --mark
  graphfill impute people.csv friends.csv -o filled.csv --method auto --report report.html
  graphfill impute towns.csv roads.csv -o filled.csv --weight traffic --solver diffusion --steps 40
  graphfill impute nodes.parquet edges.parquet -o filled.parquet --memory-limit 4GB
  graphfill impute nodes.parquet edges.parquet -o filled.parquet --engine dask --shards 64
"""
CHECK_EXAMPLES = """\
examples:
  graphfill check people.csv friends.csv
  graphfill check people.csv friends.csv --report check.html
  graphfill check people.csv friends.csv --json > check.json
"""
EXAMPLES = """\
examples:
  graphfill demo                                             a small town, its blanks filled
  graphfill check people.csv friends.csv                     what is missing, what can be inferred
  graphfill impute people.csv friends.csv -o filled.csv      fill it
  graphfill plan nodes.parquet edges.parquet                 memory and time a large fill will take
  graphfill bench list                                       experiments: sets, methods, masks

Each command has its own --help. Exit codes: 0 done, 1 refused, 2 usage, 3 not converged under
--strict, 130 interrupted.
"""
FORMATS = "CSV, TSV, Parquet, Arrow/Feather or JSON lines, by its ending; .gz allowed for text"


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
    files = [*_add_impute(commands), *_add_check(commands)]
    files += add_plan(commands, _command, _add_names, _add_solver)
    for action in files:
        action.complete = complete  # type: ignore[attr-defined]
    _add_demo(commands)
    for action in add_bench(commands, _command):
        action.complete = complete  # type: ignore[attr-defined]
    completion = _command(
        commands,
        "completion",
        "print a script that completes graphfill's options in your shell",
        "example:\n  graphfill completion bash > ~/.bash_completion.d/graphfill\n",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    return parser


def _command(commands: Any, name: str, purpose: str, examples: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose,
        description=purpose[0].upper() + purpose[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def _add_impute(commands: Any) -> list[argparse.Action]:
    parser = _command(commands, "impute", "fill the missing cells of a table", IMPUTE_EXAMPLES)
    files = _add_inputs(parser)
    output = parser.add_argument_group("output")
    written = output.add_argument("-o", "--output", metavar="FILE", required=True, help=FORMATS)
    output.add_argument("--overwrite", action="store_true", help="replace an existing output")
    page = _add_report(output)
    output.add_argument(
        "--mark",
        action="store_true",
        help="add a column <name>_filled that says which cells were filled",
    )
    method = parser.add_argument_group("method")
    method.add_argument(
        "--method",
        choices=("propagation", "neighbors", "mean", "hybrid", "auto"),
        default="propagation",
        help="diffusion along the edges (default), the neighbours' mean, the column's, learners on "
        "the graph and the other columns, or column by column the best of all by held-out score",
    )
    method.add_argument(
        "--intervals", type=level, metavar="LEVEL",
        help="such as 0.9: add columns that bound each filled number, and say how probable each "
        "filled category is",
    )  # fmt: skip
    method.add_argument(
        "--scores", nargs="?", const=True, default=False, metavar="PATTERN",
        choices=("random", "rows", "high", "region"),
        help="score the method on cells held out; with random, rows, high or region, also on known "
        "cells hidden in that pattern: whole rows, high values first, or around some nodes",
    )  # fmt: skip
    method.add_argument(
        "--reliance", type=reliance, default="held-out", metavar="X",
        help="how far to go from the column's mean (0) to what the graph says (1); by default "
        "fitted on cells held out",
    )  # fmt: skip
    method.add_argument(
        "--normalization",
        choices=("rw", "sym"),
        default="rw",
        help="rw (default) averages neighbours; sym is the paper's",
    )
    _add_solver(method)
    method.add_argument("--tol", type=positive, metavar="X", help="relative residual to reach")
    method.add_argument(
        "--shrinkage", type=not_negative, default=0.0, metavar="X",
        help="pull filled values towards the column's mean (0)",
    )  # fmt: skip
    method.add_argument(
        "--unreached",
        choices=("mean", "leave"),
        default="mean",
        help="cells nothing known is connected to get the column's mean or most frequent value "
        "(default), or stay missing",
    )
    method.add_argument("--strict", action="store_true", help="exit with 3 if not converged")
    room = parser.add_argument_group("size")
    room.add_argument(
        "--memory-limit", type=size, metavar="SIZE",
        help='such as "4GB": kept, or refused at the start; Parquet that would not fit is filled '
        "from disk, a few columns at a time",
    )  # fmt: skip
    room.add_argument("--threads", type=count, metavar="N", help="cores to use (all)")
    room.add_argument(
        "--engine", choices=("local", "dask", "spark"),
        help="cut the graph into shards of rows, worked on by processes here, or by a cluster's",
    )  # fmt: skip
    room.add_argument("--shards", type=count, metavar="N", help="(4 per worker)")
    room.add_argument("--workers", type=count, metavar="N", help="processes to start here (cores)")
    room.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, or the master of Spark")
    room.add_argument(
        "--folder", metavar="DIR",
        help="for the shards, seen by every worker; the same command goes on where it was stopped",
    )  # fmt: skip
    _add_talk(parser)
    return [*files, written, page]


def _add_report(group: Any) -> argparse.Action:
    action: argparse.Action = group.add_argument(
        "--report", metavar="FILE.html", help="a page that shows how far to trust each column"
    )
    return action


def _add_check(commands: Any) -> list[argparse.Action]:
    parser = _command(
        commands,
        "check",
        "say what is missing, what the graph reaches and which columns look inferable",
        CHECK_EXAMPLES,
    )
    files = _add_inputs(parser)
    output = parser.add_argument_group("output")
    page = _add_report(output)
    output.add_argument("--overwrite", action="store_true", help="replace an existing report")
    _add_talk(parser)
    return [*files, page]


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "make a small town, blank a third of its table, fill it, compare with the truth",
        "example:\n  graphfill demo --folder town\n",
    )
    parser.add_argument("--folder", default="graphfill-demo", help="where its files go")
    parser.add_argument("--people", type=crowd, default=2000, metavar="N", help="(2000)")
    _add_talk(parser)


def _add_names(parser: argparse.ArgumentParser) -> Any:
    """Which columns are what, and which to fill."""
    names = parser.add_argument_group("columns")
    names.add_argument("--id", metavar="NAME", help="of the table, holds what edges name")
    names.add_argument("--source", metavar="NAME", help="of the edges, one end")
    names.add_argument("--target", metavar="NAME", help="of the edges, the other end")
    names.add_argument("--weight", metavar="NAME", help="of the edges; without it all count alike")
    names.add_argument("--columns", type=name_list, metavar="A,B", help="fill only these")
    names.add_argument("--exclude", type=name_list, default=[], metavar="A,B", help="leave alone")
    return names


def _add_solver(group: Any) -> None:
    group.add_argument(
        "--solver",
        choices=("exact", "diffusion", "chebyshev"),
        default="exact",
        help="the limit of diffusion (default), or --steps of it",
    )
    group.add_argument(
        "--steps", type=count, metavar="N", help="of --solver diffusion or chebyshev (40)"
    )


def _add_inputs(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    table = parser.add_argument("table", metavar="TABLE", help=f"one row per node: {FORMATS}")
    edges = parser.add_argument("edges", metavar="EDGES", help="one row per link: also plain text")
    names = _add_names(parser)
    names.add_argument(
        "--type", type=column_kind, action="append", default=[], metavar="NAME=KIND", dest="types",
        help="number, integer, boolean, category, date, date:%%d/%%m/%%Y, time or leave",
    )  # fmt: skip
    reading = parser.add_argument_group("reading")
    reading.add_argument(
        "--missing", type=name_list, metavar="A,B",
        help="what else marks a missing cell, beside an empty one and NA, NaN, null and the like; "
        "to read those as words, begin with nothing: '' or ',A,B'",
    )  # fmt: skip
    reading.add_argument(
        "--separator", type=separator, metavar="C", help="between the table's cells (seen)"
    )
    reading.add_argument("--decimal", choices=(".", ","), help="mark of the table's numbers (seen)")
    reading.add_argument("--encoding", metavar="NAME", help="of the table (seen; UTF-8)")
    reading.add_argument(
        "--no-edge-header", action="store_true", help="the first line of the edges is an edge"
    )
    reading.add_argument(
        "--edge-separator", type=separator, metavar="C", help="between the edges' ends (seen)"
    )
    reading.add_argument("--edge-encoding", metavar="NAME", help="of the edges (seen; UTF-8)")
    reading.add_argument(
        "--edge-missing", type=name_list, metavar="A,B", help="what is no node, as --missing"
    )
    return [table, edges]


def _add_talk(parser: argparse.ArgumentParser) -> None:
    talk = parser.add_argument_group("talk")
    talk.add_argument("--json", action="store_true", help="print the summary as JSON")
    talk.add_argument("--quiet", action="store_true", help="print nothing but refusals")
    talk.add_argument("--seed", type=seed, default=0, metavar="N", help="of all that is drawn (0)")


def joined(arguments: Iterable[str]) -> list[str]:
    """Arguments with what marks missing cells tied to its option, for it may begin with a minus.

    >>> joined(["--missing", "-99,-98", "--mark"])
    ['--missing=-99,-98', '--mark']
    """
    tied: list[str] = []
    for argument in arguments:
        if tied and tied[-1] == "--missing" and argument[:1] == "-" and argument[1:2].isdigit():
            tied[-1] += f"={argument}"
        else:
            tied.append(argument)
    return tied
