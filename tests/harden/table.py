"""Everything that `make harden` tries, as one table; also written to docs/how-tested.md.

python tests/harden/table.py --seconds 60
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "how-tested.md"
BATCH, MOST_SECONDS = 50, 600
READERS = {
    ".csv": "CSV", ".tsv": "TSV", ".csv.gz": "CSV behind gzip", ".jsonl": "JSON lines",
    ".parquet": "Parquet", ".arrow": "Arrow and Feather", ".xlsx": "Excel", ".ods": "OpenDocument",
    ".dta": "Stata", ".sav": "SPSS", ".edges": "Edges, neighbours and matrices",
    ".geojson": "GeoJSON", ".gfill": "Saved fills", ".runs.parquet": "Results of experiments",
}  # fmt: skip
SANITIZED = ROOT / "build" / "installed-sanitized"
BEGINS, ENDS = "<!-- written by make harden -->", "<!-- to here -->"
Row = tuple[str, str, str]


def python(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    given = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"} | environment
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, env=given,
                          capture_output=True, text=True, timeout=MOST_SECONDS * 3)  # fmt: skip


def fuzzed(suffix: str, seconds: float, seed: int = 100) -> Row:
    """Files of one kind with some bytes changed, given to the command, for a while."""
    counted: Counter[str] = Counter()
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        script = HERE.parent / "io" / "mutants.py"
        last = number + BATCH
        try:
            done = python(script, suffix, seed, number, last, OMP_NUM_THREADS="1")
        except subprocess.TimeoutExpired:
            counted["hung"] += 1
            number = last
            continue
        lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
        counted.update(line[1] if len(line) > 1 else "crashed" for line in lines)
        number = int(lines[-1][0]) + 1 if lines else last
        if not lines:
            counted["crashed"] += 1
    return f"{READERS[suffix]} with some bytes changed", *told(counted)


def told(counted: Counter[str]) -> tuple[str, str]:
    """How many, and of what there were how many; what must not happen is named if it did not."""
    said = [f"{counted[one]:,} {one}" for one in ("filled", "refused") if counted[one]]
    others = Counter({one: n for one, n in counted.items() if one not in ("filled", "refused")})
    said += [f"**{n:,} {one}**" for one, n in others.items()] or ["no crash, hang or traceback"]
    return f"{counted.total():,} files", ", ".join(said)


def forged(seconds: float) -> Row:
    """Folders of shards with numbers changed and checksums made to fit."""
    script = HERE / "forged.py"
    done = python(script, seconds)
    counted = Counter(json.loads(done.stdout)) if done.returncode == 0 else Counter({"crashed": 1})
    return "Forged shards and manifests", *told(counted)


def arrays(seconds: float) -> Row:
    """Graphs of arrays that are broken, given to Python's functions."""
    counted: Counter[str] = Counter()
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        done = python(HERE / "arrays.py", 100, number, number + 10 * BATCH)
        counted.update(line.split()[1] for line in done.stdout.splitlines() if " " in line.strip())
        counted.update(["crashed"] if done.returncode else [])
        number += 10 * BATCH
    many, said = told(counted)
    return "Broken arrays as a graph", many.replace("files", "graphs"), said


def tests(what: str, *arguments: object, **environment: str) -> Row:
    """Tests of the suite, counted."""
    pytest = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header"]
    done = python(*pytest, *arguments, **environment)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
    passed, failed = (
        sum(map(int, re.findall(rf"(\d+) {word}", last))) for word in ("passed", "failed")
    )
    told = "all as promised" if passed and not failed and not done.returncode else f"**{last}**"
    return what, f"{passed + failed} cases", told


def faults(output: str) -> Row:
    done = python(HERE / "faults.py", output)
    counted = Counter(json.loads(done.stdout.strip().splitlines()[-1]))
    lost = {what: n for what, n in counted.items() if what != "kept"}
    said = "; ".join(f"**{n} {what}**" for what, n in lost.items()) or "old file, new file or none"
    return f"A call that writes fails ({output})", f"{counted.total()} faults", said


def soaked(fills: int) -> Row:
    done = python(HERE / "soak.py", fills)
    said = ", ".join(done.stdout.strip().splitlines()) or f"**{done.stderr[-200:]}**"
    return (
        "Fills in a row, 8 threads at once, after fork and spawn",
        f"{fills} + 80 + 8 fills",
        said,
    )


def mistakes() -> Row:
    path = ROOT / "build" / "harden" / "mutants.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    latest = {one["key"]: one for one in found}
    killed = sum(one["outcome"] == "killed" for one in latest.values())
    return "Mistakes made in the code", f"{len(latest)} mistakes", f"{killed} noticed by tests"


def sections(seconds: float, fills: int) -> Iterator[Callable[[], Row]]:
    for suffix in READERS:
        yield lambda suffix=suffix: fuzzed(suffix, seconds)
    yield lambda: forged(seconds)
    yield lambda: arrays(seconds)
    hostile = HERE.parent / "io"
    yield lambda: tests("Bombs: small files that unfold to gigabytes", hostile / "test_hostile.py",
                        hostile / "test_durable.py", "-k", "bombs or limit")  # fmt: skip
    if SANITIZED.exists():
        preloaded = " ".join(
            subprocess.run(["gcc", f"-print-file-name=lib{one}.so"], capture_output=True, text=True)
            .stdout.strip() for one in ("asan", "ubsan")
        )  # fmt: skip
        yield lambda: tests(
            "Kernels under the address and undefined-behaviour sanitizers", "tests/kernels",
            PYTHONPATH=f"{SANITIZED}:{ROOT / 'tests'}", LD_PRELOAD=preloaded,
            ASAN_OPTIONS="detect_leaks=0",
        )  # fmt: skip
    for output in ("csv", "parquet", "report"):
        yield lambda output=output: faults(output)
    yield lambda: tests("Killed at 22 moments", "tests/cli/test_killed.py")
    yield lambda: soaked(fills)
    yield mistakes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--fills", type=int, default=300)
    options = parser.parse_args()
    rows: list[Row] = [("what was tried", "how often", "what happened"), ("---", "---", "---")]
    for section in sections(options.seconds, options.fills):
        rows.append(section())
        print(" | ".join(rows[-1]), flush=True)
    where = f"{platform.system()}, {platform.machine()}, Python {platform.python_version()}"
    command = f"make harden SECONDS={options.seconds:g} FILLS={options.fills}"
    lines = [f"`{command}` on {where}, {time.strftime('%-d %B %Y')}:", ""]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    before, _, rest = PAGE.read_text().partition(BEGINS)
    after = rest.partition(ENDS)[2]
    PAGE.write_text("\n".join([f"{before}{BEGINS}", *lines, "", f"{ENDS}{after}"]))
    if any("**" in cell for row in rows for cell in row):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
