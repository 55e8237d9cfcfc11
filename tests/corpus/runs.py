"""Every run of the corpus by name, and a command that writes them down or compares them.

    python tests/corpus/runs.py --write FILE
    python tests/corpus/runs.py --compare FILE
    python tests/corpus/runs.py --list

With names after FILE, only those runs. To run another checkout of the code, put its ``src`` first
in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

MODULES = ("arrays", "imputers", "tables", "files", "reports", "refusals", "ecosystem", "shards")
FAILED = "failed"
PLAIN = "graphfill was installed without its compiled kernels"  # of the install, not of a run
SAID = ("GraphfillWarning", "RuntimeWarning")  # and what is derived from them


def all_runs() -> dict[str, Callable[[], dict]]:
    """The runs of all modules, by name."""
    runs: dict[str, Callable[[], dict]] = {}
    for module in MODULES:
        for name, run in import_module(f"corpus.{module}").RUNS.items():
            full = f"{module}: {name}"
            assert full not in runs, full
            runs[full] = run
    return runs


def fresh(run: Callable[[], dict]) -> dict:
    """The parts of a run, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parts = dict(run())
    said = [
        f"{warning.category.__name__}: {warning.message}"
        for warning in caught
        if any(kind.__name__ in SAID for kind in warning.category.__mro__)
        and not str(warning.message).startswith(PLAIN)
    ]
    return parts | ({"warnings": "\n".join(said)} if said else {})


def fresh_by_name(name: str) -> dict:
    """The parts of the run of this name, or what it failed with."""
    try:
        return fresh(all_runs()[name])
    except Exception as error:
        return {FAILED: f"{type(error).__name__}: {error}"}


def each(names: Iterable[str], jobs: int) -> Iterator[tuple[str, dict]]:
    """Names and parts of runs, by so many processes."""
    names = list(names)
    run = import_module("corpus.runs").fresh_by_name  # by a name that processes know, too
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from zip(names, pool.map(run, names), strict=True)


def write(path: Path, names: list[str], jobs: int) -> int:
    """Write down all runs, or those named beside the others that the file has."""
    from corpus import record

    runs = all_runs()
    kept = record.load(path) if names else {}
    for name, parts in each(names or runs, jobs):
        if FAILED in parts:
            raise SystemExit(f"{name} failed: {parts[FAILED]}")
        kept[name] = {key: record.entry(part) for key, part in parts.items()}
    record.save(path, {name: kept[name] for name in runs})
    return 0


def compare(path: Path, names: list[str], jobs: int) -> int:
    """Say of each run whether it has the bits that were written down; 1 if one is different."""
    from corpus import record

    runs, kept = all_runs(), record.load(path)
    counts = dict.fromkeys((record.SAME, record.CLOSE, record.DIFFERENT), 0)
    asked = names or list(dict.fromkeys([*kept, *runs]))
    for name in asked:
        if name not in runs or name not in kept:
            counts[record.DIFFERENT] += 1
            print(f"{record.DIFFERENT}  {name}: only {'recorded' if name in kept else 'run now'}")
    for name, parts in each([name for name in asked if name in runs and name in kept], jobs):
        if FAILED in parts:
            counts[record.DIFFERENT] += 1
            print(f"{record.DIFFERENT}  {name}: {parts[FAILED]}")
            continue
        verdicts = record.compare_run(kept[name], parts)
        kinds = [verdict.kind for verdict in verdicts.values()]
        worst = max(kinds, key=list(counts).index)
        counts[worst] += 1
        largest = max(verdict.largest for verdict in verdicts.values())
        print(f"{worst}  {name}" + (f" ({largest:.1e})" if worst == record.CLOSE else ""))
        for key, verdict in verdicts.items():
            if verdict.kind == record.DIFFERENT:
                print(f"    {key}: {verdict.sentence}")
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return 1 if counts[record.DIFFERENT] else 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--write", type=Path, metavar="FILE")
    task.add_argument("--compare", type=Path, metavar="FILE")
    task.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("names", nargs="*", metavar="RUN")
    options = parser.parse_args()
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    if options.list:
        print("\n".join(all_runs()))
        return 0
    began = time.perf_counter()
    work, path = (write, options.write) if options.write else (compare, options.compare)
    done = work(path, options.names, options.jobs)
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    return done


if __name__ == "__main__":
    sys.exit(main())
