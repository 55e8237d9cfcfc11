"""The command in this process, for what need not be a process of its own."""

import signal

import pytest

from graphfill.cli import main


@pytest.fixture
def in_process(monkeypatch, tmp_path):
    """Run the command in a folder of its own, and leave the process as it was."""
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    handlers = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.chdir(tmp_path)
    yield main
    for number, handler in handlers.items():
        signal.signal(number, handler)
