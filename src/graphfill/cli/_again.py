"""A fill saved by the command (--save), and used again on another table (--load)."""

from __future__ import annotations

import argparse
from dataclasses import replace

from .. import io
from ..errors import InputError, parameter
from ..table import TableResult
from ..table._keeping import Keeping, as_parts, of_parts
from ..table._options import TableOptions
from . import _large as outsized
from ._options import STEPS, table_options

# Of a run, and not of the fill that was saved.
FREE: tuple[str, ...] = (
    "table",
    "edges",
    "output",
    "overwrite",
    "mark",
    "formula_safe",
    "strict",
    "threads",
    "memory_limit",
    "load",
)
FREE += (
    "source",
    "target",
    "weight",
    "weight_means",
    "json",
    "quiet",
    "separator",
    "decimal",
    "encoding",
)
FREE += ("keep_links",)
FREE += ("no_edge_header", "edge_separator", "edge_encoding", "edge_missing", "command")
OWN = ("source", "target", "weight")  # of the table's options, those that a run may name anew


def options_and_keeping(options: argparse.Namespace) -> tuple[TableOptions, Keeping | None]:
    """How to fill: as typed, or as was saved, which then also says how the table is read."""
    if options.load is None:
        if options.save is not None:
            _check_in_memory(options, "save")
            if table_options(options).links:
                raise InputError(
                    "--save keeps how a table with edges is filled, not how links are made: write "
                    "the links with --keep-links, and save the fill of a run that reads them."
                )
        return table_options(options), None if options.save is None else Keeping()
    _check_in_memory(options, "load")
    _check_nothing_else(options)
    chosen, keeping = of_parts(*io.read_parts(options.load), options.load)
    options.types, options.missing = list(chosen.types.items()), list(chosen.missing) or None
    options.value = list(chosen.values)
    own = {name: getattr(options, name) or getattr(chosen, name) for name in OWN}
    typed = table_options(options).fill.propagation
    propagation = replace(
        chosen.fill.propagation, memory_limit=typed.memory_limit, threads=typed.threads
    )
    fill = replace(chosen.fill, propagation=propagation)
    return replace(chosen, **own, mark=options.mark or chosen.mark, fill=fill), keeping


def save(
    options: argparse.Namespace, chosen: TableOptions, keeping: Keeping, result: TableResult
) -> None:
    """Write what was learnt."""
    if chosen.id is None:
        chosen = replace(chosen, id=result.alignment.id)
    io.write_parts(options.save, *as_parts(chosen, keeping), options.table)


def _check_in_memory(options: argparse.Namespace, name: str) -> None:
    if options.engine is not None or outsized.from_disk(options):
        raise InputError(
            f"{parameter(name)} is for tables that are filled in memory: leave it out, or fill "
            "this one without an engine and within the limit on memory."
        )


def _check_nothing_else(options: argparse.Namespace) -> None:
    """Refuse what the saved fill has decided already."""
    from ._arguments import build_parser

    usual = vars(build_parser().parse_args(["impute", "table", "edges", "-o", "output"]))
    usual["steps"] = STEPS
    for name, value in vars(options).items():
        if name not in FREE and value != usual.get(name):
            raise InputError(
                f"{parameter(name)} is given beside {parameter('load')}, but a saved fill has "
                "decided that, or cannot say it: leave it out."
            )
