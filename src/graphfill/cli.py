"""The command line: graphfill impute | check | demo | completion.

Only what parsing takes is imported here, so that --help answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from . import __version__

REFUSED, USAGE, NOT_CONVERGED, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143

IMPUTE_EXAMPLES = """\
examples:
  graphfill impute people.csv friends.csv -o filled.csv
  graphfill impute people.parquet friends.parquet -o filled.parquet --id user --columns age,city
  graphfill impute survey.csv links.tsv -o filled.csv --missing NA,-1,unknown --mark
  graphfill impute towns.csv roads.csv -o filled.csv --weight traffic --solver diffusion --steps 40
"""
CHECK_EXAMPLES = """\
examples:
  graphfill check people.csv friends.csv
  graphfill check people.csv friends.csv --json > check.json
"""
EXAMPLES = """\
examples:
  graphfill demo                                             a small town, its blanks filled
  graphfill check people.csv friends.csv                     what is missing, what can be inferred
  graphfill impute people.csv friends.csv -o filled.csv      fill it

Each command has its own --help. Exit codes: 0 done, 1 refused, 2 usage, 3 not converged under
--strict, 130 interrupted.
"""
FORMATS = "CSV, TSV, Parquet, Arrow/Feather or JSON lines, by its ending; .gz allowed for text"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: one sentence on stderr where it is not 0."""
    options = build_parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from . import commands

        return int(commands.run(options))
    except KeyboardInterrupt:
        return _say("interrupted; no output was written", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except Exception as error:
        if os.environ.get("GRAPHFILL_TRACEBACK"):
            raise
        return _say(_sentence(error), REFUSED)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)  # cleans up on the way out


def _say(sentence: str, code: int) -> int:
    print(f"graphfill: {sentence}", file=sys.stderr)
    return code


def _sentence(error: Exception) -> str:
    from .validate import InputError

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return (
            "There is not enough memory: fill fewer columns at a time with --columns, or set "
            "--memory-limit."
        )
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}."
    return (
        f"This should not have happened ({type(error).__name__}: {error}): please report it, with "
        "what GRAPHFILL_TRACEBACK=1 adds."
    )


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
    for action in files:
        action.complete = complete  # type: ignore[attr-defined]
    _add_demo(commands)
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
    output.add_argument(
        "--mark",
        action="store_true",
        help="add a column <name>_filled that says which cells were filled",
    )
    method = parser.add_argument_group("method")
    method.add_argument(
        "--method",
        choices=("propagation", "neighbors", "mean"),
        default="propagation",
        help="diffusion along the edges (default), the neighbours' mean, or the column's",
    )
    method.add_argument(
        "--reliance", type=_share, default="held-out", metavar="X",
        help="how far to go from the column's mean (0) to what the graph says (1); by default "
        "fitted on cells held out",
    )  # fmt: skip
    method.add_argument(
        "--normalization",
        choices=("rw", "sym"),
        default="rw",
        help="rw (default) averages neighbours; sym is the paper's",
    )
    method.add_argument(
        "--solver",
        choices=("exact", "diffusion", "chebyshev"),
        default="exact",
        help="the limit of diffusion (default), or --steps of it",
    )
    method.add_argument("--steps", type=_count, default=40, metavar="N", help="of diffusion (40)")
    method.add_argument("--tol", type=_positive, metavar="X", help="relative residual to reach")
    method.add_argument(
        "--shrinkage", type=_not_negative, default=0.0, metavar="X",
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
    method.add_argument("--memory-limit", type=_size, metavar="SIZE", help='such as "4GB"')
    method.add_argument("--threads", type=_count, metavar="N", help="cores to use (all)")
    _add_talk(parser)
    return [*files, written]


def _add_check(commands: Any) -> list[argparse.Action]:
    parser = _command(
        commands,
        "check",
        "say what is missing, what the graph reaches and which columns look inferable",
        CHECK_EXAMPLES,
    )
    files = _add_inputs(parser)
    _add_talk(parser)
    return files


def _add_demo(commands: Any) -> None:
    parser = _command(
        commands,
        "demo",
        "make a small town, blank a third of its table, fill it, compare with the truth",
        "example:\n  graphfill demo --folder town\n",
    )
    parser.add_argument("--folder", default="graphfill-demo", help="where its files go")
    parser.add_argument("--people", type=_count, default=2000, metavar="N", help="(2000)")
    _add_talk(parser)


def _add_inputs(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    table = parser.add_argument("table", metavar="TABLE", help=f"one row per node: {FORMATS}")
    edges = parser.add_argument("edges", metavar="EDGES", help="one row per link: also plain text")
    names = parser.add_argument_group("columns")
    names.add_argument("--id", metavar="NAME", help="of the table, holds what edges name")
    names.add_argument("--source", metavar="NAME", help="of the edges, one end")
    names.add_argument("--target", metavar="NAME", help="of the edges, the other end")
    names.add_argument("--weight", metavar="NAME", help="of the edges; without it all count alike")
    names.add_argument("--columns", type=_names, metavar="A,B", help="fill only these")
    names.add_argument("--exclude", type=_names, default=[], metavar="A,B", help="leave alone")
    names.add_argument(
        "--type", type=_kind, action="append", default=[], metavar="NAME=KIND", dest="types",
        help="number, integer, boolean, category, date, date:%%d/%%m/%%Y, time or leave",
    )  # fmt: skip
    reading = parser.add_argument_group("reading")
    reading.add_argument(
        "--missing", type=_names, metavar="A,B",
        help="what marks a missing cell, beside an empty one (NA, NaN, null and the like)",
    )  # fmt: skip
    reading.add_argument("--separator", metavar="C", help="between the table's cells (seen)")
    reading.add_argument("--decimal", choices=(".", ","), help="mark of the table's numbers (seen)")
    reading.add_argument("--encoding", metavar="NAME", help="of the table (seen; UTF-8)")
    reading.add_argument(
        "--no-edge-header", action="store_true", help="the first line of the edges is an edge"
    )
    return [table, edges]


def _add_talk(parser: argparse.ArgumentParser) -> None:
    talk = parser.add_argument_group("talk")
    talk.add_argument("--json", action="store_true", help="print the summary as JSON")
    talk.add_argument("--quiet", action="store_true", help="print nothing but refusals")
    talk.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is drawn (0)")


# -- values of options --


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _kind(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    kinds = ("number", "integer", "boolean", "category", "date", "time", "duration", "leave")
    if not equals or kind.partition(":")[0] not in kinds:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be NAME=KIND with KIND one of {', '.join(kinds)}"
        )
    return name, kind


def _number(text: str, low: float, what: str, convert: type = float) -> Any:
    try:
        value = convert(text)
    except ValueError:
        value = None
    if value is None or not low <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} must be {what}")
    return value


def _count(text: str) -> Any:
    return _number(text, 1, "a whole number of at least 1", int)


def _positive(text: str) -> Any:
    return _number(text, 1e-300, "a positive number")


def _not_negative(text: str) -> Any:
    return _number(text, 0, "a number of at least 0")


def _share(text: str) -> Any:
    if text == "held-out":
        return text
    value = _number(text, 0, "held-out, or a number from 0 to 1")
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be held-out, or a number from 0 to 1")
    return value


def _size(text: str) -> str:
    from .memory import parse_bytes
    from .validate import InputError

    try:
        parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f'{text!r} is no size; write for example "4GB"') from error
    return text


if __name__ == "__main__":
    sys.exit(main())
