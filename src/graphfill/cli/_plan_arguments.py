"""The options of ``graphfill plan``. Light to import, so that --help answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ._link_arguments import add_links
from ._types import count, reliance, size

PLAN_EXAMPLES = """\
examples:
  graphfill plan nodes.parquet edges.parquet
  graphfill plan nodes.parquet edges.parquet --memory-limit 4GB --solver diffusion --steps 40
  graphfill plan nodes.parquet edges.parquet --workers 16 --worker-memory 32GB --json
"""
Adder = Callable[[Any, str, str, str], argparse.ArgumentParser]


def add_plan(
    commands: Any,
    command: Adder,
    add_names: Callable[[argparse.ArgumentParser], Any],
    add_solver: Callable[[Any], None],
) -> list[argparse.Action]:
    """Add the command; returns the options that name files.

    `add_names` and `add_solver` add the options that it shares with ``impute``.
    """
    parser = command(commands, "plan", "say what a fill will take: memory, disk and time, in "
                     "memory, from disk and in shards", PLAN_EXAMPLES)  # fmt: skip
    table = parser.add_argument("table", metavar="TABLE", help="one row per node: Parquet")
    edges = parser.add_argument(
        "edges", metavar="EDGES", nargs="?",
        help="one row per link: Parquet; not needed where rows are linked as below",
    )  # fmt: skip
    add_names(parser)
    add_links(parser, keep=False)
    method = parser.add_argument_group("method")
    add_solver(method)
    method.add_argument(
        "--reliance", type=reliance, default="held-out", metavar="X",
        help="held-out (default) solves everything twice, a number from 0 to 1 once",
    )  # fmt: skip
    room = parser.add_argument_group("size")
    room.add_argument(
        "--memory-limit", type=size, metavar="SIZE",
        help="such as 4GB; three quarters of this machine's memory by default",
    )  # fmt: skip
    room.add_argument("--shards", type=count, metavar="N", help="(4 per worker)")
    room.add_argument("--workers", type=count, metavar="N", help="processes, on all machines")
    room.add_argument("--worker-memory", type=size, metavar="SIZE", help="of each worker")
    talk = parser.add_argument_group("talk")
    talk.add_argument("--json", action="store_true", help="print the plan as JSON")
    parser.set_defaults(quiet=False)
    return [table, edges]
