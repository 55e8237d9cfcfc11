"""A run that is killed at any moment leaves the old output or the new one, never a part."""

import signal
import subprocess
import time

import numpy as np
import pytest
from cli.real_command import ENVIRONMENT, GRAPHFILL

MOMENTS = 20
ROWS, EDGES = 60_000, 30_000  # rows take a while to write, which is when it matters
QUICK = ["--method", "propagation", "--reliance", "1", "--solver", "diffusion", "--steps", "1"]


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A folder with two files."""
    folder = tmp_path_factory.mktemp("town")
    rng = np.random.default_rng(0)
    x, missing = rng.normal(size=(ROWS, 2)).round(3), rng.random((ROWS, 2)) < 0.3
    rows = (
        ",".join([f"p{i}", *("" if m else f"{v}" for v, m in zip(x[i], missing[i], strict=True))])
        for i in range(ROWS)
    )
    (folder / "people.csv").write_text("\n".join(["name,x,y", *rows, ""]))
    links = rng.integers(0, ROWS, (EDGES, 2)).tolist()
    lines = (f"p{u},p{v}" for u, v in links)
    (folder / "friends.csv").write_text("\n".join(["source,target", *lines, ""]))
    return folder


def start(folder):
    return subprocess.Popen(
        [
            GRAPHFILL,
            "impute",
            "people.csv",
            "friends.csv",
            "-o",
            "filled.csv",
            "--overwrite",
            *QUICK,
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def written_at(folder):
    """Seconds until the output is there, and until the command is done; what it has written."""
    output = folder / "filled.csv"
    output.unlink(missing_ok=True)
    began = time.perf_counter()
    process = start(folder)
    appeared = None
    while process.poll() is None:
        if appeared is None and output.exists():
            appeared = time.perf_counter() - began
        time.sleep(0.005)
    done = time.perf_counter() - began
    errors = process.communicate()[1]
    assert (process.returncode, errors) == (0, b"")  # nor is there a progress bar in a pipe
    return appeared or done, done, output.read_bytes()


def killed_when_written(folder, output, old):
    """What is there if the command is killed as soon as the output has changed."""
    output.write_bytes(old)
    before = output.stat().st_ino
    process = start(folder)
    while process.poll() is None and output.stat().st_ino == before:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return output.read_bytes()


def test_killed_at_any_moment(town):
    output, old = town / "filled.csv", b"name,x,y\nold,1,2\n"
    appears, ends, new = written_at(town)
    inputs = {name: (town / name).read_bytes() for name in ("people.csv", "friends.csv")}
    # Half of the moments all over the run, half about when the output is given its name.
    rng = np.random.default_rng(1)
    moments = [
        *rng.uniform(0.05, ends, MOMENTS // 2 - 1),
        *(appears + rng.uniform(-0.15, 0.25, MOMENTS // 2)),
    ]
    seen = []
    for moment in moments:
        output.write_bytes(old)
        process = start(town)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = output.read_bytes()
        assert found in (old, new), f"killed after {moment:.3f} s"
        seen.append("old" if found == old else "new")
    seen.append("new" if killed_when_written(town, output, old) == new else "broken")
    assert set(seen) == {"old", "new"}
    assert {name: (town / name).read_bytes() for name in inputs} == inputs
    # What a killed run has left aside is hidden, named as unfinished, and in nobody's way.
    left = {path.name for path in town.iterdir()} - {"filled.csv", *inputs}
    assert all(name.startswith(".filled.csv.") and name.endswith(".part") for name in left)


def test_killed_before_anything_was_there(town):
    (town / "filled.csv").unlink(missing_ok=True)
    process = start(town)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (town / "filled.csv").exists()
