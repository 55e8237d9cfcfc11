"""Names that a terminal would obey, long names, limits on memory, and closed streams."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.real_command import ENVIRONMENT, graphfill

from graphfill import InputError
from graphfill.errors import LONGEST

ESCAPE = "\x1b]0;PWNED\x07\x1b[31mage\x1b[2J"
PEOPLE = "id,{}\n" + "".join(f"p{i},{i if i % 2 else ''}\n" for i in range(14))
LINKS = "source,target\n" + "".join(f"p{i},p{(i + 1) % 14}\n" for i in range(14))


@pytest.fixture
def town(tmp_path):
    """A folder with a table and its links."""
    (tmp_path / "people.csv").write_text(PEOPLE.format("age"))
    (tmp_path / "friends.csv").write_text(LINKS)
    return tmp_path


def run(folder, *arguments, **options):
    return graphfill(*arguments, cwd=folder, **options)


@pytest.mark.parametrize("command", ["check", "impute", "refused"])
def test_names_do_not_command_the_terminal(town, command):
    table = f"{ESCAPE}.csv"
    (town / table).write_text(PEOPLE.format(ESCAPE))
    arguments = {
        "check": ["check", table, "friends.csv"],
        "impute": ["impute", table, "friends.csv", "-o", f"filled {ESCAPE}.csv"],
        "refused": ["check", table, "friends.csv", "--columns", ESCAPE[:-1]],
    }[command]
    done = run(town, *arguments)
    assert done.returncode == (command == "refused")
    said = done.stdout + done.stderr
    assert "\\x1b[31mage" in said
    assert said.replace("\n", "").isprintable()


@pytest.mark.parametrize("kind", ["people.csv", "people.jsonl", "column"])
def test_refusals_are_short(town, kind):
    long = "x" * 10_000_000
    if kind == "people.csv":
        (town / kind).write_text(f"id,{long},{long}\np0,1,2\n")
    elif kind == "people.jsonl":
        (town / kind).write_text(f'{{"id":1,"{long}":1,"{long}":2}}\n')
    else:
        kind = "people.csv"
        (town / kind).write_text(PEOPLE.format(long))
    done = run(town, "check", kind, "friends.csv", "--id", "wealth")
    assert done.returncode == 1
    assert 40 < len(done.stderr) < LONGEST + 100
    assert done.stderr.endswith(".\n")


def test_a_long_sentence_keeps_both_its_ends():
    error = InputError("a" + "b" * 10_000 + "c.")
    assert len(str(error)) < LONGEST
    assert str(error).startswith("ab")
    assert str(error).endswith("bc.")


@pytest.mark.parametrize("command", ["impute", "check", "explain"])
def test_the_limit_on_memory_reaches_the_readers(town, command):
    (town / "people.csv").write_text("id,age\n" + "p0,1\n" * 4_000_000)
    arguments = {"impute": ["-o", "o.csv"], "explain": ["--row", "p0", "--column", "age"]}
    more = arguments.get(command, [])
    done = run(town, command, "people.csv", "friends.csv", "--memory-limit", "80MB", *more)
    assert done.returncode == 1
    assert done.stderr == (
        "graphfill: people.csv unfolds to more than 0.08 GB, the memory that reading may take: "
        "pass a higher --memory-limit, or a smaller file.\n"
    )


def closed(town, redirections, *arguments):
    """Run the command with some of its streams closed."""
    program = shutil.which("graphfill", path=Path(sys.executable).parent)
    line = 'exec "$0" "$@" ' + redirections
    return subprocess.run(["sh", "-c", line, program, *arguments], cwd=town, env=ENVIRONMENT,
                          capture_output=True, text=True)  # fmt: skip


@pytest.mark.parametrize("streams", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_stop_nothing(town, streams):
    done = closed(town, streams, "impute", "people.csv", "friends.csv", "-o", "o.csv")
    assert done.returncode == 0
    assert (town / "o.csv").read_text().count(",\n") == 0
    assert (town / "o.csv").read_text().count("\n") == 15  # nothing else was printed to it
    done = closed(town, streams, "impute", "none.csv", "friends.csv", "-o", "p.csv")
    assert done.returncode == 1
    if "2>" not in streams:
        assert done.stderr == "graphfill: There is no file none.csv.\n"
    assert sorted(os.listdir(town)) == ["friends.csv", "o.csv", "people.csv"]


def test_a_report_that_fails_does_not_deny_the_table(town):
    limit = 2000, 2000  # bytes of a file, of which the page takes more
    done = run(town, "impute", "people.csv", "friends.csv", "-o", "o.csv", "--report", "r.html",
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        "graphfill: o.csv is written, but what comes after is not: There is no room left to write "
        "r.html (disk full, or a limit on the size of files): nothing of it was written; free some "
        "space, or name a file elsewhere.\n"
    )
    assert sorted(os.listdir(town)) == ["friends.csv", "o.csv", "people.csv"]
