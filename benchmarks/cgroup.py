"""A command under a limit on memory that the operating system enforces."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
COMMAND = "import sys; from graphfill.cli import main; code = main(sys.argv[1:])"
# VmHWM, not ru_maxrss, which a child inherits from whoever starts it.
PEAK = """
import re, sys
peak = re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1]
print("peak", peak, file=sys.stderr)
sys.exit(globals().get("code", 0))
"""


@dataclass(frozen=True)
class Outcome:
    """How a command went: seconds, the peak of its own memory, and of the group's with files."""

    code: int
    seconds: float
    peak: int | None
    group_peak: int | None
    enforced_by: str
    output: str


@contextmanager
def limited(limit: int | None) -> Iterator[tuple[str, Path | None]]:
    """A control group with this limit, of version 1 or 2; its name and its folder.

    Without leave to make one, a limit on the process's data (RLIMIT_DATA) has to do.
    """
    if limit is None:
        yield "nothing", None
        return
    for parent, file in ((ROOT / "memory", "memory.limit_in_bytes"), (ROOT, "memory.max")):
        folder = parent / f"graphfill-{os.getpid()}-{time.monotonic_ns()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / file).write_text(str(limit))
        except OSError:
            folder.rmdir()
            continue
        try:
            yield f"control group, {file}", folder
        finally:
            folder.rmdir()
        return
    yield "RLIMIT_DATA", None


def run(
    python: str, arguments: list[str], limit: int | None = None, script: str = COMMAND
) -> Outcome:
    """Run a script, graphfill's command line by default, with this interpreter."""
    with limited(limit) as (enforced_by, folder):

        def enter() -> None:
            if folder is not None:
                (folder / "cgroup.procs").write_text(str(os.getpid()))
            elif limit is not None:
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

        start = time.perf_counter()
        done = subprocess.run(
            [python, "-c", script + PEAK, *arguments],
            preexec_fn=enter,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        group_peak = None
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            if folder is not None and (folder / name).exists():
                group_peak = int((folder / name).read_text())
    found = re.search(r"^peak ([0-9]+)$", done.stderr, re.MULTILINE)
    peak = None if found is None else int(found[1]) * 1024
    return Outcome(
        done.returncode, seconds, peak, group_peak, enforced_by, done.stdout + done.stderr
    )
