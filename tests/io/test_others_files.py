"""Names that others have planted, permissions, what killed runs leave, files that change."""

import os
import subprocess
import sys
import threading

import pytest
from cli.real_command import ENVIRONMENT

from graphfill import InputError
from graphfill.io import read_table, replacing, write_table
from graphfill.io._tables import _MACHINE


def mode(path):
    return path.stat().st_mode & 0o777


def test_a_planted_link_is_not_followed(tmp_path):
    target, output = tmp_path / "precious", tmp_path / "o.csv"
    target.write_text("precious")
    (tmp_path / f".o.csv.{os.getpid()}.part").symlink_to(target)
    with replacing(output) as file:
        file.write(b"new")
        assert file.fileno() != -1
        names = [name for name in os.listdir(tmp_path) if name.endswith(".part")]
        assert len(names) == 2
    assert (target.read_text(), output.read_bytes()) == ("precious", b"new")
    with replacing(output), replacing(tmp_path / "p.csv"):  # each has a name of its own
        pass


@pytest.mark.parametrize(("inputs", "expected"), [((), 0o644), ((0o600,), 0o600),
                                                  ((0o644, 0o640), 0o640)])  # fmt: skip
def test_an_output_is_as_private_as_what_it_is_made_of(tmp_path, inputs, expected):
    sources = []
    for number, allowed in enumerate(inputs):
        sources.append(tmp_path / f"{number}.csv")
        sources[-1].touch(allowed)
        sources[-1].chmod(allowed)
    before = os.umask(0o022)
    try:
        with replacing(tmp_path / "o.csv", *sources) as file:
            partial = next(tmp_path.glob("*.part"))
            assert mode(partial) & ~expected == 0  # also while it is being written
            file.write(b"a")
    finally:
        os.umask(before)
    assert mode(tmp_path / "o.csv") == expected


def test_an_existing_output_keeps_its_permissions(tmp_path):
    (tmp_path / "i.csv").touch(0o600)
    (tmp_path / "o.csv").touch(0o644)
    with replacing(tmp_path / "o.csv", tmp_path / "i.csv"):
        pass
    assert mode(tmp_path / "o.csv") == 0o644


def test_a_table_and_its_report_are_as_private_as_the_input(tmp_path):
    (tmp_path / "people.csv").write_text("id,age\nann,1\nbob,\n")
    (tmp_path / "friends.csv").write_text("source,target\nann,bob\n")
    (tmp_path / "people.csv").chmod(0o600)
    command = "impute people.csv friends.csv -o o.csv --report r.html --save s.gfill --quiet"
    subprocess.run([sys.executable, "-m", "graphfill.cli", *command.split()], cwd=tmp_path,
                   env=ENVIRONMENT, check=True)  # fmt: skip
    assert [mode(tmp_path / name) for name in ("o.csv", "r.html", "s.gfill")] == [0o600] * 3


def test_what_a_killed_run_has_left_is_removed_by_the_next(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    start = f".o.csv.{_MACHINE}-"
    left = tmp_path / f"{start}{dead.pid}-0123456789abcdef.part"
    others = [
        tmp_path / f"{start}{os.getppid()}-0123456789abcdef.part",  # alive
        tmp_path / f".o.csv.00000000-{dead.pid}-0123456789abcdef.part",  # of another machine
        tmp_path / f".p.csv.{_MACHINE}-{dead.pid}-0123456789abcdef.part",  # of another output
        tmp_path / f"{start}{dead.pid}-notes.txt",
    ]
    for path in (left, *others):
        path.write_text("half")
    with replacing(tmp_path / "o.csv") as file:
        file.write(b"new")
    assert not left.exists()
    assert all(path.read_text() == "half" for path in others)


KILLED = """
import os, signal, sys
from graphfill.io import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer(tmp_path):
    output = tmp_path / "o.csv"
    done = subprocess.run([sys.executable, "-c", KILLED, output], env=ENVIRONMENT)
    assert done.returncode == -9
    assert len(list(tmp_path.glob(".o.csv.*.part"))) == 1
    with replacing(output) as file:
        file.write(b"whole")
    assert os.listdir(tmp_path) == ["o.csv"]


# -- files that change --


def version(number, rows=3000):
    """A table whose header and rows say which version it is."""
    lines = "".join(f"{row},{number}\n" for row in range(rows))
    return f"id,v{number}\n{lines}".encode()


@pytest.mark.parametrize("in_place", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, in_place):
    path, new = tmp_path / "a.csv", tmp_path / "new.csv"
    path.write_bytes(version(1, rows=1_000_000))

    def change(done, total):
        if in_place:
            with open(path, "ab") as file:
                file.write(b"7,2\n")
        else:
            new.write_bytes(version(2))
            os.replace(new, path)

    with pytest.raises(InputError) as caught:
        read_table(path, progress=change)
    assert str(caught.value) == (
        f"{path} was replaced or changed while it was read: wait until it is complete, and run "
        "this again."
    )


def test_no_header_comes_with_the_rows_of_another_version(tmp_path):
    path, new = tmp_path / "a.csv", tmp_path / "new.csv"
    path.write_bytes(version(0))
    stop, errors = threading.Event(), set()

    def keep_replacing():
        number = 0
        while not stop.is_set():
            number = 1 - number
            new.write_bytes(version(number))
            os.replace(new, path)

    writer = threading.Thread(target=keep_replacing)
    writer.start()
    try:
        for _ in range(60):
            try:
                table = read_table(path).table
            except InputError as error:
                errors.add(str(error).replace(str(path), "it"))
                continue
            name = table.column_names[1]
            assert set(table[name].to_pylist()) == {int(name[1:])}
    finally:
        stop.set()
        writer.join()
    assert all(error.startswith("it was replaced or changed") for error in errors)


def test_a_copy_is_of_what_was_read(tmp_path):
    path, output = tmp_path / "a.csv", tmp_path / "o.csv"
    path.write_bytes(version(1))
    sheet = read_table(path)
    (tmp_path / "new.csv").write_bytes(version(2))
    os.replace(tmp_path / "new.csv", path)
    write_table(output, sheet.table, like=sheet, changed={})
    assert output.read_bytes() == version(1)
