"""What the command line and the files of shards promise, as the installed code has them.

Options, exit codes, keys of what `--json` prints, and names in a folder of shards.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

CALL = "from graphfill.cli import main; raise SystemExit(main())"
# Interrupts the command at the moment when it opens the table.
INTERRUPTED = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)
sent = []

def opened(event, arguments):
    if event == "open" and str(arguments[0]).endswith("people.csv") and not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(opened)
from graphfill.cli import main
raise SystemExit(main())
"""
IMPUTE = ("impute", "people.csv", "friends.csv", "-o", "filled.csv")
N = 300


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands, from whichever module makes it."""
    for name in ("graphfill.cli", "graphfill.cli._arguments", "graphfill.arguments"):
        try:
            module = import_module(name)
        except ModuleNotFoundError:
            continue
        if hasattr(module, "build_parser"):
            return module.build_parser()
    raise LookupError("no module of graphfill has build_parser")


def options() -> dict[str, Any]:
    """Every option of every command, by the command."""
    return _options(build_parser(), "graphfill")


def exit_codes() -> dict[str, Any]:
    """Exit codes of small real runs."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _write_csv(place)
        never = ("--overwrite", "--tol", "1e-25")
        return {
            "done": _run(place, *IMPUTE).returncode,
            "refused": _run(place, "impute", "none.csv", "friends.csv", "-o", "x.csv").returncode,
            "usage": _run(place, "impute", "people.csv").returncode,
            "not converged": _run(place, *IMPUTE, *never).returncode,
            "not converged, strict": _run(place, *IMPUTE, *never, "--strict").returncode,
            "interrupted": _run(place, *IMPUTE, "--overwrite", call=INTERRUPTED).returncode,
        }


def json_keys() -> dict[str, Any]:
    """The keys of what commands print as JSON, nested ones after a dot, in lists after []."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _write_csv(place)
        _write_parquet(place)
        trust = ("--overwrite", "--method", "auto", "--intervals", "0.8", "--scores", "rows")
        explain = ("explain", "people.csv", "friends.csv", "--row", "p007", "--column", "city")
        plan = ("plan", "people.parquet", "friends.parquet", "--memory-limit", "4GB")
        disk = ("impute", "people.parquet", "friends.parquet", "-o", "filled.parquet")
        ran = {
            "impute": _run(place, *IMPUTE, "--json"),
            "impute, trusted": _run(place, *IMPUTE, *trust, "--report", "page.html", "--json"),
            "impute, from disk": _run(place, *disk, "--memory-limit", "230MB", "--json"),
            "check": _run(place, "check", "people.csv", "friends.csv", "--json"),
            "explain": _run(place, *explain, "--json"),
            "plan": _run(place, *plan, "--workers", "2", "--json"),
            "demo": _run(place, "demo", "--people", "100", "--json"),
        }
    for command, done in ran.items():
        if done.returncode:
            raise RuntimeError(f"graphfill {command} failed: {done.stderr}")
    return {command: keys_of(json.loads(done.stdout)) for command, done in ran.items()}


def shard_files() -> dict[str, Any]:
    """Names, format and keys of what a folder of shards holds, by solver."""
    import graphfill as gf

    edges = np.stack([np.arange(N - 1), np.arange(1, N)])
    X = np.where(np.arange(N) % 7 == 0, 1.0 * np.arange(N), np.nan)[:, None]
    found: dict[str, Any] = {}
    for solver in ("diffusion", "exact"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "shards"
            gf.propagate_sharded(
                X, edges, n_shards=2, workers=1, folder=folder, solver=solver, n_iter=5
            )
            manifest = json.loads((folder / "manifest.json").read_text())
            barrier = json.loads(sorted((folder / "barriers").iterdir())[-1].read_text())
            paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        # Which step was the last may differ by rounding, and with it the numbers of versions.
        names = {re.sub(r"\d{6}(?=[-.])", "<step>", path) for path in paths}
        found[solver] = {
            "names": sorted(names),
            "manifest format": manifest["format"],
            "manifest keys": keys_of(manifest),
            "barrier format": barrier["format"],
            "barrier keys": keys_of(barrier),
        }
    return found


def keys_of(value: Any, prefix: str = "") -> list[str]:
    """The paths of all keys of nested dicts and lists."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, entry in value.items():
            path = f"{prefix}.{key}" if prefix else str(key)
            found |= {path, *keys_of(entry, path)}
    elif isinstance(value, list):
        for entry in value:
            found |= set(keys_of(entry, f"{prefix}[]"))
    return sorted(found)


def _options(parser: argparse.ArgumentParser, command: str) -> dict[str, Any]:
    found: dict[str, Any] = {command: {}}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found |= _options(inner, f"{command} {name}")
        elif not isinstance(action, argparse._HelpAction):
            name = ", ".join(action.option_strings) or f"{action.metavar or action.dest}"
            found[command][name] = {
                "default": repr(action.default),
                "choices": list(action.choices) if action.choices else None,
                "metavar": action.metavar,
                "nargs": action.nargs,
                "required": action.required,
                "kind": type(action).__name__.strip("_").removesuffix("Action").lower(),
            }
    return found


def _run(place: Path, *arguments: str, call: str = CALL) -> subprocess.CompletedProcess[str]:
    hidden = ("PYTHONWARNINGS", "GRAPHFILL_TRACEBACK")
    return subprocess.run(
        [sys.executable, "-c", call, *arguments],
        cwd=place,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        capture_output=True,
        text=True,
        timeout=120,
    )


def _columns() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """A chain of people, most of whose ages and cities are known."""
    ages = [None if i % 4 == 1 else i for i in range(N)]
    cities = [None if i % 5 == 2 else ("Bath", "York")[i // 150] for i in range(N)]
    people = {"name": [f"p{i:03d}" for i in range(N)], "age": ages, "city": cities}
    ends = people["name"]
    return people, {"source": ends[:-1], "target": ends[1:]}


def _write_csv(place: Path) -> None:
    for name, columns in zip(("people.csv", "friends.csv"), _columns(), strict=True):
        rows = zip(*columns.values(), strict=True)
        lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
        (place / name).write_text("\n".join([",".join(columns), *lines]) + "\n")


def _write_parquet(place: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    for name, columns in zip(("people", "friends"), _columns(), strict=True):
        pa.parquet.write_table(pa.table(columns), place / f"{name}.parquet")
