"""Everything that `make harden` tries, as one table; also written to docs/how-tested.md.

python tests/harden/table.py --seconds 60
"""

from __future__ import annotations

import argparse
import json
import math
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
KEPT = ROOT / "build" / "harden" / "rows.json"  # so that parts can be run one after the other
BATCH, MOST_SECONDS = 400, 600
APART = (".dta", ".sav")  # read in a process each
READERS = {
    ".csv": "CSV", ".tsv": "TSV", ".csv.gz": "CSV behind gzip", ".jsonl": "JSON lines",
    ".parquet": "Parquet", ".arrow": "Arrow and Feather", ".xlsx": "Excel", ".ods": "OpenDocument",
    ".dta": "Stata", ".sav": "SPSS", ".edges": "Edges, neighbours and matrices",
    ".geojson": "GeoJSON", ".gfill": "Saved fills", ".runs.parquet": "Results of experiments",
}  # fmt: skip
SANITIZED = ROOT / "build" / "installed-sanitized"
SURVIVORS = ROOT / "docs" / "mutants.md"
SURVIVORS_SAY = """# Mistakes that tests do not notice

Of the mistakes that `tests/harden/mutation.py` made at random in the code, no test that calls the
place noticed these. Most change no answer: how work is shared among threads or cut into pieces, a
shortcut, a hint to the processor, a tuned number moved by one. Where a mistake did change
an answer, a test was written that notices it.
"""
BEGINS, ENDS = "<!-- written by make harden -->", "<!-- to here -->"
Row = tuple[str, str, str]


def python(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    given = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"} | environment
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, env=given,
                          capture_output=True, text=True, timeout=MOST_SECONDS * 3)  # fmt: skip


def fuzzed(suffix: str, seconds: float, seed: int = 100) -> Row:
    """Files of one kind with some bytes changed, given to the command, for a while."""
    script = HERE.parent / "io" / "mutants.py"
    batch = BATCH // 20 if suffix in APART else BATCH
    return f"{READERS[suffix]} with some bytes changed", *tried(
        seconds, batch, script, suffix, seed
    )


def tried(seconds: float, batch: int, script: Path, *arguments: object) -> tuple[str, str]:
    """A script that tries numbered inputs, a line each, run for a while."""
    counted: Counter[str] = Counter()
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        last = number + batch
        try:
            done = python(script, *arguments, number, last, OMP_NUM_THREADS="1")
        except subprocess.TimeoutExpired:
            counted["hung"] += 1
            number = last
            continue
        lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
        counted.update(line[1] if len(line) > 1 and line[1] else "crashed" for line in lines)
        number = int(lines[-1][0]) + 1 if lines else last
        if not lines:
            counted["crashed"] += 1
    return told(counted)


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
    many, said = tried(seconds, 10 * BATCH, HERE / "arrays.py", 100)
    return "Broken arrays as a graph", many.replace("files", "graphs"), said


def asked(seconds: float) -> Row:
    """Requests to the server of the page."""
    many, said = tried(seconds, 10 * BATCH, HERE / "asked.py", 100)
    return "Wrong requests to the page's server", many.replace("files", "requests"), said


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


def made(what: str, target: str, right: str) -> Row:
    """A target of the Makefile, which says in its last line what it came to."""
    done = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True)
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]
    counts = re.match(r"(\d+) passed", last)
    many = f"{int(counts[1]):,} cases" if counts else "2 builds"
    return what, many, f"**{last}**" if done.returncode else right


def mistakes() -> Row:
    """What the runner of mistakes found; those that no test noticed are listed on a page."""
    path = ROOT / "build" / "harden" / "mutants.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    latest = {one["key"]: one for one in found}.values()
    rooms: dict[str, list[bool]] = {}
    for one in latest:
        rooms.setdefault(one["file"].split("/")[1], []).append(one["outcome"] == "killed")
    left = sorted((one["file"], one["line"], one["change"]) for one in latest
                  if one["outcome"] != "killed")  # fmt: skip
    lines = [f"- `{file}`, line {line}: `{change}`" for file, line, change in left]
    SURVIVORS.write_text("\n".join([SURVIVORS_SAY, *lines, ""]))
    killed, n = sum(map(sum, rooms.values())), sum(map(len, rooms.values()))
    each = ", ".join(f"{room} {sum(some)} of {len(some)}" for room, some in sorted(rooms.items()))
    low, high = wilson(killed, n)
    said = f"{killed} noticed by tests (of all, 0.95 interval: {low:.2f} to {high:.2f}): {each}"
    return "Mistakes made in the code, drawn at random", f"{n} mistakes", said


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share of which k of n were seen."""
    if not n:
        return 0.0, 1.0
    centre, spread = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    return (centre - spread) / (n + z * z), (centre + spread) / (n + z * z)


def sections(seconds: float, fills: int) -> Iterator[tuple[str, Callable[[], Row]]]:
    """The parts by name."""
    for suffix in READERS:
        yield f"read{suffix}", lambda suffix=suffix: fuzzed(suffix, seconds)
    yield "shards", lambda: forged(seconds)
    yield "arrays", lambda: arrays(seconds)
    yield "page", lambda: asked(seconds)
    hostile = HERE.parent / "io"
    yield "bombs", lambda: tests(
        "Bombs: small files that unfold to gigabytes", hostile / "test_hostile.py",
        hostile / "test_durable.py", "-k", "bombs or limit",
    )  # fmt: skip
    if SANITIZED.exists():
        preloaded = " ".join(
            subprocess.run(["gcc", f"-print-file-name=lib{one}.so"], capture_output=True, text=True)
            .stdout.strip() for one in ("asan", "ubsan")
        )  # fmt: skip
        yield "sanitizers", lambda: tests(
            "Kernels under the address and undefined-behaviour sanitizers", "tests/kernels",
            PYTHONPATH=f"{SANITIZED}:{ROOT / 'tests'}", LD_PRELOAD=preloaded,
            ASAN_OPTIONS="detect_leaks=0",
        )  # fmt: skip
    for output in ("csv", "parquet", "report"):
        yield f"faults.{output}", lambda output=output: faults(output)
    yield "kills", lambda: tests("Killed at 22 moments", "tests/cli/test_killed.py")
    yield "soak", lambda: soaked(fills)
    oldest = "Tests on the oldest versions of all dependencies"
    yield "oldest", lambda: made(oldest, "oldest", "all as promised")
    yield "wheel", lambda: made("The wheel built twice", "reproducible", "the same bytes")
    yield "mutants", mistakes


def write_page(rows: list[Row], command: str) -> None:
    """The table between the marks of the page."""
    where = f"{platform.system()}, {platform.machine()}, Python {platform.python_version()}"
    kinds = ("files", "graphs", "requests")
    counts = [row[1].split() for row in rows]
    total = sum(int(n.replace(",", "")) for n, kind, *_ in counts if kind in kinds)
    lines = [f"`{command}` on {where}, {time.strftime('%-d %B %Y')}; {total:,} broken inputs:", ""]
    lines += ["| what was tried | how often | what happened |", "| --- | --- | --- |"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    before, _, rest = PAGE.read_text().partition(BEGINS)
    after = rest.partition(ENDS)[2]
    PAGE.write_text("\n".join([f"{before}{BEGINS}", *lines, "", f"{ENDS}{after}"]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--fills", type=int, default=300)
    parser.add_argument("--only", nargs="*", help="names of parts, as they begin")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if options.only is not None and KEPT.exists() else {}
    parts = dict(sections(options.seconds, options.fills))
    for name, section in parts.items():
        if options.only is None or name.startswith(tuple(options.only)):
            kept[name] = section()
            print(" | ".join(kept[name]), flush=True)
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps(kept))
    rows = [kept[name] for name in parts if name in kept]
    write_page(rows, f"make harden SECONDS={options.seconds:g} FILLS={options.fills}")
    if any("**" in cell for row in rows for cell in row):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
