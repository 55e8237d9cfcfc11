"""Every mistake gets its sentence and its exit code, and leaves the folder as it was."""

import os
import resource
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cli.bad_inputs import BAD, FRIENDS, PEOPLE, USAGE
from cli.real_command import ENVIRONMENT, contents, graphfill

SAMPLE = [case for case in BAD if case.code != USAGE][::9]  # through the command itself


def prepare(case, folder):
    """Make the case's files in a folder; return the arguments and what the folder holds."""
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    case.make(folder)
    return shlex.split(filled_in(case.arguments, folder)), contents(folder)


def filled_in(text, folder):
    return text.replace("$FOLDER", folder.name)


def check(case, folder, before, code, stdout, stderr):
    assert code == case.code, stderr
    said = stderr.rstrip("\n").split("\n")
    sentence = filled_in(case.sentence, folder)
    if code == USAGE:
        assert said[0].startswith("usage: graphfill")
        assert said[-1].split("error: ", 1)[-1] == sentence
    else:
        assert said == [f"graphfill: {sentence}"]
        assert sentence.endswith((".", "?"))
    assert stdout == ""
    assert "Traceback" not in stderr
    assert contents(folder) == before


def test_there_are_many_and_no_two_alike():
    assert len(BAD) >= 190
    assert len({case.name for case in BAD}) == len(BAD)
    assert len(SAMPLE) >= 20


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_refused(case, in_process, tmp_path, capfd):
    arguments, before = prepare(case, tmp_path)
    try:
        code = in_process(arguments)
    except SystemExit as end:  # of the parser
        code = end.code
    check(case, tmp_path, before, code, *capfd.readouterr())


def test_refused_by_the_command_itself(tmp_path):
    def run(case):
        folder = tmp_path / case.name.replace(" ", "_")
        folder.mkdir()
        arguments, before = prepare(case, folder)
        done = graphfill(*arguments, cwd=folder)
        check(case, folder, before, done.returncode, done.stdout, done.stderr)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, SAMPLE))


# -- no mistake at all --


@pytest.mark.parametrize("output", ["filled.csv", "filled.parquet", "filled.jsonl"])
def test_nothing_missing_is_fine(output, in_process, tmp_path, capsys):
    table = b'name,age,city\r\nann,30,York\r\nbob,031,"Bath"\r\n'
    Path("people.csv").write_bytes(table)
    Path("friends.csv").write_bytes(FRIENDS)
    assert in_process(["impute", "people.csv", "friends.csv", "-o", output]) == 0
    first = f"Nothing is missing: the table is written as it came to {output}.\n"
    assert capsys.readouterr().out.startswith(first)
    if output.endswith(".csv"):
        assert Path(output).read_bytes() == table


def test_not_converged_is_said_and_under_strict_exits_with_3(in_process, tmp_path, capsys):
    people = "name,x\n" + "".join(f"{i},{i if i % 50 == 0 else ''}\n" for i in range(500))
    friends = "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(499))
    Path("people.csv").write_text(people)
    Path("friends.csv").write_text(friends)
    arguments = shlex.split("impute people.csv friends.csv -o filled.csv --overwrite --tol 1e-25")
    for more, code in (([], 0), (["--strict"], 3)):
        assert in_process([*arguments, *more]) == code
        said = capsys.readouterr().out
        assert "\nNot converged: relative residual " in said
        assert Path("filled.csv").read_text().count(",\n") == 0  # filled as well as it went
    assert in_process([*arguments[:-1], "1e-3", "--strict"]) == 0
    assert "Not converged" not in capsys.readouterr().out


# -- no room --

FULL = (
    "graphfill: There is no room left to write {} (disk full, or a limit on the size of files): "
    "nothing of it was written; free some space, or name a file elsewhere.\n"
)


def big_people(folder, rows=20_000):
    numbers = np.random.default_rng(0).random(rows)
    (folder / "people.csv").write_text(
        "name,x\n" + "".join(f"{i},{x if i % 3 else ''}\n" for i, x in enumerate(numbers))
    )
    (folder / "friends.csv").write_text(
        "source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(rows - 1))
    )


@pytest.mark.parametrize("name", ["filled.csv", "filled.parquet"])
def test_a_limit_on_the_size_of_files(name, tmp_path):
    big_people(tmp_path)
    (tmp_path / name).write_bytes(b"old")
    before = contents(tmp_path)
    limit = (50_000, 50_000)
    done = graphfill(
        "impute", "people.csv", "friends.csv", "-o", name, "--overwrite", cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (1, "", FULL.format(name))
    assert contents(tmp_path) == before


def test_a_full_disk(tmp_path):
    """A file system of 64 kB where one may be mounted, and a limit on files elsewhere."""
    big_people(tmp_path)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    limit = resource.RLIM_INFINITY if mounted else 65_536
    try:
        done = graphfill(
            "impute", "people.csv", "friends.csv", "-o", "disk/filled.csv", cwd=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == FULL.format("disk/filled.csv")
        assert os.listdir(disk) == []
    finally:
        if mounted:
            subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_summary_that_cannot_be_printed(more, tmp_path):
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "friends.csv").write_bytes(FRIENDS)
    arguments = ("impute", "people.csv", "friends.csv", "-o", "filled.csv", *more)
    with open("/dev/full", "w") as full:
        done = graphfill(*arguments, cwd=tmp_path, capture_output=False, stdout=full,
                         stderr=subprocess.PIPE)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        "graphfill: The summary cannot be printed (No space left on device), but filled.csv is "
        "written.\n"
    )
    assert (tmp_path / "filled.csv").exists()


def test_nobody_reads_the_summary(tmp_path):
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    (tmp_path / "friends.csv").write_bytes(FRIENDS)
    read, write = os.pipe()
    os.close(read)
    done = graphfill("check", "people.csv", "friends.csv", cwd=tmp_path, capture_output=False,
                     stdout=write, stderr=subprocess.PIPE)  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


# -- interrupted --

# Runs the command, and sends it a signal as soon as a stage has begun to move.
INTERRUPTED = """
import contextlib, os, signal, sys
from graphfill import cli
from graphfill.cli import _commands as commands, _progress as printing

stage, number = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
if number == signal.SIGHUP:
    signal.signal(number, signal.SIG_DFL)  # nohup has it ignored, and so would the command

@contextlib.contextmanager
def bar(options, name, original=commands.bar_of):
    with original(options, name) as tick:
        def wrapped(share):
            tick(share)
            if name.startswith(stage):
                os.kill(os.getpid(), number)
        yield wrapped

commands.bar_of = printing.bar_of = bar
sys.exit(cli.main())
"""
SIGNALS = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "terminated"),
    signal.SIGHUP: (129, "terminated"),
}


@pytest.mark.parametrize("stage", ["reading people", "reading friends", "filling", "writing"])
def test_interrupted(stage, tmp_path):
    def run(number):
        folder = tmp_path / number.name
        folder.mkdir()
        big_people(folder, rows=2000)
        (folder / "filled.csv").write_bytes(b"old")
        before = contents(folder)
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, stage, str(int(number)),
             "impute", "people.csv", "friends.csv", "-o", "filled.csv", "--overwrite"],
            cwd=folder, capture_output=True, text=True, env=ENVIRONMENT,
        )  # fmt: skip
        code, word = SIGNALS[number]
        assert done.stderr == f"graphfill: {word}; no output was written\n"
        assert (done.returncode, done.stdout) == (code, "")
        assert contents(folder) == before

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, SIGNALS))
