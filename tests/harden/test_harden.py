"""A small fixed part of what `make harden` tries."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from harden import faults, soak

HERE = Path(__file__).parent


@pytest.mark.parametrize(("script", "count"), [("arrays.py", 1500), ("asked.py", 400)])
def test_broken_arrays_and_requests_are_read_or_refused(script, count):
    command = [sys.executable, HERE / script, "0", "0", str(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-200:]
    outcomes = [line.partition(" ")[2] for line in done.stdout.splitlines()]
    assert len(outcomes) == count
    assert set(outcomes) == {"filled", "refused"}


@pytest.mark.skipif(sys.platform != "linux", reason="faults are made by the loader of Linux")
def test_a_call_that_writes_fails():
    kinds = {"write": (errno.EIO, 0), "rename": (errno.ENOSPC,)}
    assert faults.faults("csv", 1, kinds) == {"kept": 3}


def test_threads_at_once_give_the_right_answers():
    assert soak.at_once(16) == 0
