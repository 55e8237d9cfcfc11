"""A plugin of pytest that writes which functions each test calls, and how long it took.

    PYTHONPATH=src:tests python -m pytest -p harden.calls --calls-to=FILE tests/solve

adds to FILE, as JSON: by function of the package (`path:name`), tests; by test, CPU seconds.
"""

import json
import sys
import threading
import time
from pathlib import Path

SOURCE = str(Path(__file__).parents[2] / "src") + "/"
calls, seconds, failed = {}, {}, set()


def pytest_addoption(parser):
    parser.addoption("--calls-to", type=Path)


def pytest_runtest_protocol(item, nextitem):
    called = set()

    def note(frame, event, argument):
        if event == "call":
            called.add(frame.f_code)

    item.calls = called, note, time.process_time()
    sys.setprofile(note)
    threading.setprofile(note)


def pytest_runtest_logfinish(nodeid, location):
    sys.setprofile(None)
    threading.setprofile(None)


def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid)


def pytest_runtest_teardown(item, nextitem):
    called, _, began = item.calls
    if item.nodeid in failed:  # it would fail whatever is changed
        return
    seconds[item.nodeid] = round(time.process_time() - began, 3)
    for code in list(called):
        if code.co_filename.startswith(SOURCE):
            place = f"{code.co_filename.removeprefix(SOURCE)}:{code.co_qualname}"
            calls.setdefault(place, set()).add(item.nodeid)


def pytest_sessionfinish(session):
    path = session.config.getoption("--calls-to")
    before = json.loads(path.read_text()) if path.exists() else {"calls": {}, "seconds": {}}
    for place, tests in before["calls"].items():
        calls[place] = calls.get(place, set()) | set(tests)
    both = {"calls": {place: sorted(tests) for place, tests in calls.items()},
            "seconds": before["seconds"] | seconds}  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(both))
