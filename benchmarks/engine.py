"""The engine's claims, measured: ``python benchmarks/engine.py [--quick | --full]``.

Prints one Markdown table per section and appends every measurement to
benchmarks/results/engine.json. Exit code 1 when a bar was missed or a job failed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

from tqdm import tqdm

from harness import HERE, Bystanders, Job, Ledger, Options, machine, table, versions

SECTIONS = ("step", "accuracy", "first-fill", "exact", "memory", "chebyshev", "threads")
BUSY = 0.05  # share of the machine used by others from which on a warning is printed


def main(argv: list[str]) -> int:
    """Run the sections asked for."""
    arguments = _parser().parse_args(argv)
    options = Options(
        quick=arguments.quick, full=arguments.full, rounds=arguments.rounds,
        seed=arguments.seed, cache=arguments.cache.resolve(), peers=tuple(arguments.peers or ()),
    )  # fmt: skip
    modules = {name: _module(name) for name in arguments.only or SECTIONS}
    work = {name: _chosen(module.jobs(options), arguments) for name, module in modules.items()}
    ledger = Ledger(arguments.output, options, argv)
    print(f"{machine()}\n{versions()}\n")
    with tqdm(total=sum(map(len, work.values())), unit="job", smoothing=0) as bar:
        for name, jobs in work.items():
            for job in jobs:
                bar.set_description(f"{name}: {job.label}")
                _run(name, job, ledger)
                bar.update()
            _show(name, modules[name].COLUMNS, ledger)
    return _summary(ledger)


def _run(section: str, job: Job, ledger: Ledger) -> None:
    """Run one job; a failure is printed, recorded, and does not stop the others."""
    if job.skip:
        tqdm.write(f"skipped {section}: {job.label} ({job.skip})", file=sys.stdout)
        ledger.record(section=section, kind="skipped", case=job.label, reason=job.skip)
        return
    others = Bystanders()
    try:
        job.run(lambda **fields: ledger.record(section=section, busy=others.share(), **fields))
    except (Exception, SystemExit) as error:
        tqdm.write(f"FAILED {section}: {job.label}: {error!r}", file=sys.stdout)
        ledger.record(section=section, kind="error", case=job.label, error=traceback.format_exc())


def _show(section: str, columns: dict[str, str], ledger: Ledger) -> None:
    """Print a section's table, and a warning when the machine was not ours alone."""
    rows = [m for m in ledger.measurements if m["section"] == section and "kind" not in m]
    text = f"\n## {section}\n\n{table(rows, columns | {'busy': 'others'})}\n"
    busiest = max((row["busy"] for row in rows), default=0.0)
    if busiest > BUSY:
        text += (
            f"\nBUSY: other processes took up to {busiest:.0%} of the machine. Loops that wait "
            "for all their threads (torch's) suffer most: do not quote these ratios.\n"
        )
    tqdm.write(text, file=sys.stdout)


def _summary(ledger: Ledger) -> int:
    rows = ledger.measurements
    passed = sum(m.get("verdict") == "PASS" for m in rows)
    missed = [m for m in rows if m.get("verdict") == "FAIL"]
    kinds = [m.get("kind") for m in rows]
    errors, skipped = kinds.count("error"), kinds.count("skipped")
    print(f"{passed} PASS, {len(missed)} FAIL, {errors} errors, {skipped} skipped")
    print(f"written to {ledger.path}")
    return 1 if missed or errors else 0


def _chosen(jobs: list[Job], arguments) -> list[Job]:
    return [
        job for job in jobs if not arguments.case or any(c in job.label for c in arguments.case)
    ]


def _module(name):
    return importlib.import_module("sections." + name.replace("-", "_"))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, about two minutes")
    size.add_argument("--full", action="store_true", help="add the products size (hours, 20 GB)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="sections to run")
    parser.add_argument("--case", nargs="+", help="only jobs whose label contains one of these")
    parser.add_argument("--peers", nargs="+", help="only these peers of the step section")
    parser.add_argument("--rounds", type=int, help="rounds to take the best of")
    parser.add_argument("--seed", type=int, default=0, help="seed of features and masks")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="generated graphs")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "engine.json")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
