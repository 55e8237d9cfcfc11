"""The commands as their --help describes them."""

import fcntl
import gzip
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from cli.real_command import ENVIRONMENT, GRAPHFILL, graphfill

import graphfill as gf
from graphfill.cli._arguments import build_parser

COMMANDS = ["", "impute", "check", "explain", "demo", "completion"]
PEOPLE = "name,age,height,city\nann,30,1.5,York\nbob,,1.75,York\ncat,40,,\ndan,50,2.0,Bath\n"
FRIENDS = "source,target\nann,bob\nbob,cat\ncat,dan\n"
FILLED = {"age": [30, 35, 40, 50], "height": [1.5, 1.75, 1.875, 2.0]}


@pytest.fixture
def run(in_process, capsys):
    """Write two files and run a command on them; gives what it prints."""

    def run(arguments, people=PEOPLE, friends=FRIENDS):
        for name, content in (("people.csv", people), ("friends.csv", friends)):
            if content is not None:
                Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        assert in_process(shlex.split(arguments)) == 0, capsys.readouterr().err
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return run


def quickest(limit, *arguments, **options):
    """The best time of a command, and what it said; a busy machine gets some more tries."""
    best = float("inf")
    for _ in range(10):
        began = time.perf_counter()
        done = graphfill(*arguments, **options)
        best = min(best, time.perf_counter() - began)
        assert (done.returncode, done.stderr) == (0, "")
        if best < limit:
            break
    return best, done


IMPUTE = "impute people.csv friends.csv -o filled.csv "


# -- help --


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_quick_and_its_examples_parse(command):
    seconds, done = quickest(0.3, *command.split(), "--help")
    assert seconds < 0.3
    examples = re.findall(r"^  graphfill (.*)$", done.stdout, re.MULTILINE)
    assert examples
    for example in examples:
        typed = re.split(r"  +| > ", example)[0]  # without what it does, or where that goes
        assert build_parser().parse_args(shlex.split(typed)).command


def test_every_option_is_explained():
    commands = next(action for action in build_parser()._actions if action.dest == "command")
    for name, parser in commands.choices.items():
        for action in parser._actions:
            assert action.help or action.choices, (name, action.dest)


def test_version():
    done = graphfill("--version")
    assert (done.returncode, done.stdout) == (0, f"graphfill {gf.__version__}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_scripts_parse(shell, tmp_path):
    done = graphfill("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("impute", "--overwrite", "--unreached"):
        assert word in done.stdout
    script = tmp_path / "script"
    script.write_text(done.stdout)
    parsed = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert (parsed.returncode, parsed.stderr) == (0, "")


def test_bash_completes_options_and_files(tmp_path):
    (tmp_path / "people.csv").touch()
    script = graphfill("completion", "bash").stdout
    asks = "\nCOMP_WORDS=(graphfill impute --ov); COMP_CWORD=2; COMPREPLY=()\n_shtab_graphfill\n"
    asked = subprocess.run(
        ["bash", "-c", script + asks + "echo ${COMPREPLY[@]}"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert asked.stdout.strip() == "--overwrite"


# -- what is said --

SAID = {
    "rows", "nodes", "edges", "nodes_outside_the_table", "rows_without_edge", "id", "source",
    "target", "missing", "filled", "unreached", "columns", "notes", "settings", "n_iter",
    "residual", "converged", "seconds",
}  # fmt: skip
SAID_OF_A_COLUMN = {
    "name", "kind", "n_missing", "n_filled", "n_unreached", "agreement", "agreement_spread",
    "verdict", "reliance", "explained", "note",
}  # fmt: skip


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("command", [IMPUTE, "check people.csv friends.csv "])
def test_json_is_one_object_without_nan(run, command):
    out = run(command + "--json")
    assert out.count("\n") == 1
    said = json.loads(out, parse_constant=no_constant)
    assert set(said) >= SAID | ({"output"} if command == IMPUTE else set())
    assert [column["name"] for column in said["columns"]] == ["name", "age", "height", "city"]
    for column in said["columns"]:
        assert set(column) >= SAID_OF_A_COLUMN
    assert (said["rows"], said["edges"], said["missing"]) == (4, 3, 3)
    assert said["filled"] == (3 if command == IMPUTE else 0)
    assert (said["id"], said["source"], said["target"]) == ("name", "source", "target")


def test_quiet_prints_nothing(run):
    assert run(IMPUTE + "--quiet") == ""
    assert run("check people.csv friends.csv --quiet") == ""
    assert Path("filled.csv").exists()


@pytest.mark.parametrize("command", [IMPUTE, "check people.csv friends.csv "])
def test_guesses_are_in_the_summary(run, command):
    people = PEOPLE.replace(",", ";").replace("York", "NA")
    said = run(command, people, "first\tsecond\tthird\nann\tbob\t1\neve\tann\t1\n").split("\n")
    assert said[said.index("Notes:") + 1 :][:6] == [
        '  - people.csv is separated by ";".',
        '  - "NA" counts as missing (2 cells): pass --value NA if it is a value.',
        "  - friends.csv is separated by tabs.",
        '  - The first line of friends.csv ("first, second, third") is read as the header.',
        "  - Edges run from 'first' to 'second', the first two of the 3 columns of friends.csv "
        "(name them with --source and --target, and weights with --weight).",
        "  - Rows go by column 'name' of people.csv, whose values are the ends of edges (name "
        "another with --id).",
    ]


def test_names_that_the_terminal_cannot_show(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE.replace("age", "年"), encoding="utf-8")
    (tmp_path / "friends.csv").write_text(FRIENDS)
    done = graphfill(
        *shlex.split(IMPUTE), cwd=tmp_path, env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u5e74" in done.stdout


# -- what is filled --


def cells(name):
    return [line.split(",") for line in Path(name).read_text().splitlines()]


def test_known_cells_stay_and_others_are_filled(run):
    run(IMPUTE)
    assert Path("filled.csv").read_text() == (
        "name,age,height,city\nann,30,1.5,York\nbob,35,1.75,York\ncat,40,1.875,York\n"
        "dan,50,2.0,Bath\n"
    )  # cat lies between York and Bath, and York is the more frequent


def test_mark(run):
    run(IMPUTE + "--mark")
    assert cells("filled.csv")[0][4:] == ["age_filled", "height_filled", "city_filled"]
    assert [row[4:] for row in cells("filled.csv")[1:]] == [
        ["false"] * 3, ["true", "false", "false"], ["false", "true", "true"], ["false"] * 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "blank"),
    [
        ("--columns age", {"height", "city"}),
        ("--columns age,city", {"height"}),
        ('--columns "age, city"', {"height"}),
        ("--exclude age", {"age"}),
        ("--exclude age,city", {"age", "city"}),
        ("--type city=leave", {"city"}),
        ("--columns age,height --type age=leave", {"age", "city"}),
    ],
)
def test_which_columns(run, options, blank):
    run(IMPUTE + options)
    header, *rows = cells("filled.csv")
    assert {name for row in rows for name, cell in zip(header, row, strict=True) if not cell} == (
        blank
    )


def test_a_name_with_a_comma(run):
    run(IMPUTE + """--columns '"height, m",age'""", PEOPLE.replace("height", '"height, m"'))
    assert Path("filled.csv").read_text().splitlines()[3] == "cat,40,1.875,"


def test_types(run):
    people = (
        "name,zip,code,flag,day\nann,007,1,0,01/02/2020\nbob,,,,\ncat,009,3,0,03/02/2020\n"
        "dan,9,3,1,03/02/2020\n"
    )
    run(
        IMPUTE + "--type zip=number --type code=category --type flag=boolean "
        "--type day=date:%d/%m/%Y --reliance 1",
        people,
    )
    assert cells("filled.csv")[2] == ["bob", "8", "3", "0", "02/02/2020"]


@pytest.mark.parametrize("words", [("true", "false"), ("Yes", "No"), ("T", "F")])
def test_booleans_by_other_words(run, words):
    people = "name,flag\n" + "".join(f"{n},{w}\n" for n, w in zip("abc", [words[0], "", words[0]],
                                                                strict=True))  # fmt: skip
    run(IMPUTE + "--type flag=boolean", people + f"d,{words[1]}\n", "u,v\na,b\nb,c\nc,d\n")
    assert cells("filled.csv")[2] == ["b", words[0]]


@pytest.mark.parametrize(
    "typed", ["--missing -99", "--missing -99,-98", "--missing=-99,?", "--missing ?,-99"]
)
def test_markers_of_missing_cells(run, typed):
    people = PEOPLE.replace("bob,,", "bob,-99,")
    assert "counts as missing (1 cell)" in run(IMPUTE + typed, people)
    assert cells("filled.csv")[2][1] == "35"


def test_markers_that_are_named_come_on_top(run):
    people = PEOPLE.replace("bob,,", "bob,?,").replace("cat,40", "cat,NA")
    assert people.count("?") == people.count("NA") == 1
    said = run(IMPUTE + "--missing ?", people)
    assert '"NA" counts as missing (1 cell)' in said
    assert '"?" counts as missing (1 cell)' in said
    assert all(row[1].isdigit() for row in cells("filled.csv")[1:])


@pytest.mark.parametrize("share", [3, 7])
@pytest.mark.parametrize(
    ("words", "asked"), [(["?"], "?"), (["-"], "-"), (["pending"], "pending"), (["?", "-"], "?,-")]
)
def test_words_among_numbers_are_not_filled_in(run, words, asked, share):
    """A third, or a seventh, of the ages is a word, and as many are blank."""
    ages = [
        words[i % len(words)] if i % share == 0 else "" if i % share == 1 else str(20 + i // 5)
        for i in range(60)
    ]
    people = "id,age\n" + "".join(f"{i},{age}\n" for i, age in enumerate(ages))
    friends = "a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(59))
    said = run(IMPUTE, people, friends)
    if words == ["pending"]:
        assert Path("filled.csv").read_text() == people
        assert "Column 'age' is left alone, for its cells are numbers but for" in said
        assert "the first in people.csv, line 2): pass --missing pending if that means" in said
        assert "--missing pending" in run("check people.csv friends.csv", people, friends)
    else:
        assert all(row[1].isdigit() for row in cells("filled.csv")[1:])
        for word in words:
            assert f"\"{word}\" counts as missing in column 'age' (" in said
            assert "--value" in said
    said = run(f"{IMPUTE} --overwrite --missing {asked}", people, friends)
    assert all(row[1].isdigit() for row in cells("filled.csv")[1:])
    said = run(f"{IMPUTE} --overwrite --type age=category --value {asked}", people, friends)
    assert "is left alone" not in said


def test_words_that_are_values_are_filled_in(run):
    people = "id,rooms\n" + "".join(f"{i},{['1', '2', '3+', ''][i // 5 % 4]}\n" for i in range(60))
    run(IMPUTE, people, "a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(59)))
    assert {row[1] for row in cells("filled.csv")[1:]} == {"1", "2", "3+"}


def test_without_markers_na_is_a_word(run):
    run(IMPUTE + "--missing ''", PEOPLE.replace("Bath", "NA"))
    assert cells("filled.csv")[4][3] == "NA"


@pytest.mark.parametrize("asked", ["--intervals 0.9", "--scores"])
def test_too_few_known_cells_to_be_judged_by(run, asked):
    said = run(IMPUTE + asked, PEOPLE)
    assert "Column 'age' has 3 known cell(s), fewer than the 20 that scores and intervals" in said
    if asked == "--intervals 0.9":
        head, *rows = cells("filled.csv")
        assert head[4:] == [
            "age_low", "age_high", "height_low", "height_high", "city_probability", "city_set",
        ]  # fmt: skip
        assert rows[0][4:] == ["30", "30", "1.5", "1.5", "1.0", "York"]
        assert rows[1][4:6] == ["", ""]
        assert rows[2][8:] == ["", ""]


@pytest.mark.parametrize(
    ("people", "line"),
    [
        (",id,age\n0,7,30\n1,9,\n2,8,40\n", "1,9,35"),
        ('"","id","age"\n"1",7,30\n"2",9,NA\n"3",8,40\n', '"2",9,35'),
    ],
    ids=["pandas", "R"],
)
@pytest.mark.parametrize("head", ["source,target", ",a,b", '"","from","to"'])
def test_row_names_of_pandas_and_r(run, people, line, head):
    friends = ["7,9", "9,8"] if head[0] == "s" else ["0,7,9", "1,9,8"]
    said = run(IMPUTE, people, "\n".join([head, *friends, ""]))
    assert "The first column of people.csv has no name and is left alone (pass --id '' if" in said
    assert "Rows go by column 'id' of people.csv" in said
    lines = people.splitlines()
    assert Path("filled.csv").read_text().splitlines() == [*lines[:2], line, lines[3]]


def test_row_names_may_be_the_ids(run):
    people = ",age\nann,30\nbob,\ncat,40\n"
    run(IMPUTE + "--id ''", people, "source,target\nann,bob\nbob,cat\n")
    assert Path("filled.csv").read_text() == people.replace("bob,", "bob,35")


def test_unreached_cells(run):
    people, alone = PEOPLE + "eve,,,\n", "eve,40,1.75,York"
    said = run(IMPUTE, people)
    assert Path("filled.csv").read_text().splitlines()[-1] == alone
    told = "3 of them are connected to nothing known of their column and "
    assert told + "got their column's mean or most frequent value." in said
    said = run(IMPUTE + "--unreached leave --overwrite", people)
    assert Path("filled.csv").read_text().splitlines()[-1] == "eve,,,"
    assert told + "stay missing." in said


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(run):
    rng = np.random.default_rng(0)
    people = "name,x,kind\n" + "".join(
        f"{i},{'' if rng.random() < 0.3 else rng.normal()},{rng.choice(['a', 'b', 'c', ''])}\n"
        for i in range(3000)
    )
    friends = "u,v\n" + "".join(f"{u},{v}\n" for u, v in rng.integers(0, 3000, (9000, 2)))
    written = []
    for options in ("--seed 5", "--seed 5", "--seed 5 --threads 1", "--seed 5 --threads 2"):
        run(IMPUTE + f"--overwrite {options}", people, friends)
        written.append(Path("filled.csv").read_bytes())
    assert len(set(written)) == 1


# -- formats --

TYPED = {
    "name": ["ann", "bob", "cat", "dan"],
    "age": [30, None, 40, 50],
    "height": [1.5, 1.75, None, 2.0],
}
ENDINGS = ["csv", "tsv", "csv.gz", "parquet", "feather", "jsonl"]


def write(name, table):
    rows = table.to_pylist()
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, name)
    elif name.endswith(".feather"):
        pa.feather.write_feather(table, name)
    elif name.endswith(".jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        cut = "\t" if ".tsv" in name else ","
        lines = [cut.join("" if cell is None else str(cell) for cell in row.values())
                 for row in rows]  # fmt: skip
        text = "\n".join([cut.join(table.column_names), *lines, ""]).encode()
        Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def columns(name):
    if name.endswith(".parquet"):
        return pa.parquet.read_table(name).to_pydict()
    if name.endswith(".feather"):
        return pa.feather.read_table(name).to_pydict()
    if name.endswith(".jsonl"):
        rows = [json.loads(line) for line in Path(name).read_text().splitlines()]
        return {key: [row[key] for row in rows] for key in rows[0]}
    text = Path(name).read_bytes()
    text = (gzip.decompress(text) if name.endswith(".gz") else text).decode()
    header, *rows = (line.split("\t" if ".tsv" in name else ",") for line in text.splitlines())
    types = {"name": str, "age": int, "height": float}
    return {key: [types[key](row[j]) for row in rows] for j, key in enumerate(header)}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_in_and_out_with_the_same_values(run, ending):
    write(f"people.{ending}", pa.table(TYPED))
    write(f"friends.{ending}", pa.table({"u": TYPED["name"][:3], "v": TYPED["name"][1:]}))
    for other in ENDINGS:
        output = f"filled.{other}"
        run(f"impute people.{ending} friends.{ending} -o {output} --quiet", None, None)
        assert columns(output) == {"name": TYPED["name"], **FILLED}


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
def test_files_from_a_spreadsheet(run, encoding):
    people = "name;größe;stadt\r\nann;1,50;Köln\r\nbob;;Köln\r\ncat;1,80;\r\n"
    said = run(IMPUTE, people.encode(encoding), "von;nach\r\nann;bob\r\nbob;cat\r\n")
    assert "people.csv is separated by " in said
    assert Path("filled.csv").read_bytes().decode(encoding).replace("\ufeff", "") == (
        "name;größe;stadt\r\nann;1,50;Köln\r\nbob;1,65;Köln\r\ncat;1,80;Köln\r\n"
    )
    if encoding == "cp1252":
        assert "people.csv is read as Windows-1252, since it is no UTF-8 (line 1)." in said


@pytest.mark.parametrize("name", ["friends.txt", "friends.edges", "friends.el"])
@pytest.mark.parametrize("text", ["# a comment\n% another\nann bob\nbob  cat\n\ncat\tdan\n",
                                  "ann\tbob 1\nbob cat 2\ncat dan 1\n"])  # fmt: skip
def test_plain_lists_of_edges(run, name, text):
    Path(name).write_text(text)
    said = json.loads(run(f"impute people.csv {name} -o filled.csv --json"))
    assert said["edges"] == 3
    assert cells("filled.csv")[2][1] == "35"
    comments = f"2 lines of {name} with # or % in front are read as comments."
    assert (comments in said["notes"]) == ("#" in text)


def test_how_edges_are_read_can_be_said(run):
    friends = "ann:bob\nbob:cat\ncat:dän\n".encode("cp1250")
    said = run(
        IMPUTE + "--json --no-edge-header --edge-separator : --edge-encoding cp1250",
        PEOPLE.replace("dan", "dän"), friends,
    )  # fmt: skip
    assert json.loads(said)["edges"] == 3
    assert json.loads(said)["nodes_outside_the_table"] == 0


def test_blanks_around_ids_are_left_out(run):
    said = run(IMPUTE, PEOPLE.replace("ann,", " ann ,"), FRIENDS.replace(",", ", "))
    assert "Blanks around the ids in people.csv are left out." in said
    assert "Blanks around the ids in friends.csv are left out." in said
    assert Path("filled.csv").read_text().splitlines()[1:3] == [
        " ann ,30,1.5,York", "bob,35,1.75,York",
    ]  # fmt: skip


def test_ids_with_a_point(run):
    said = run(IMPUTE + "--json", "id,x\n1.0,1\n2.0,\n3.0,3\n", "a,b\n1,2\n2,3\n")
    assert json.loads(said)["id"] == "id"
    assert Path("filled.csv").read_text() == "id,x\n1.0,1\n2.0,2\n3.0,3\n"


def test_a_node_whose_name_looks_missing(run):
    people = "land,x\nNA,1\nZA,\nBW,3\n"
    run(IMPUTE + "--missing '' --edge-missing ''", people, "u,v\nNA,ZA\nZA,BW\n")
    assert Path("filled.csv").read_text() == "land,x\nNA,1\nZA,2\nBW,3\n"


@pytest.mark.parametrize("typed", ["'\\t'", "tab", "$'\\t'"])
def test_a_tab_can_be_typed(run, typed):
    typed = typed.replace("$'\\t'", "'\t'")
    run(IMPUTE + f"--separator {typed}", PEOPLE.replace(",", "\t"))
    assert Path("filled.csv").read_text().splitlines()[2] == "bob\t35\t1.75\tYork"


# -- demo --


def test_demo(tmp_path):
    seconds, done = quickest(5, "demo", "--folder", "town", cwd=tmp_path)
    assert seconds < 8
    written = {"filled.csv", "friends.csv", "people.csv", "truth.csv"}
    assert written <= set(os.listdir(tmp_path / "town"))
    better = re.findall(r"^  (\w+) .* (\d+)% less$", done.stdout, re.MULTILINE)
    assert [name for name, _ in better] == ["age", "income", "city", "profession", "newsletter"]
    assert all(int(share) > 0 for _, share in better)
    again = graphfill("demo", "--folder", "town", "--people", 100, "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["rows"] == 100  # its own files it may replace


def test_demos_of_any_seed(run):
    for seed in range(12):
        run(f"demo --people 50 --seed {seed}")


# -- progress --


def on_terminal(arguments, folder):
    """What a command shows on a terminal, and how long it took."""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))  # 24 lines of 100
        os.chdir(folder)
        os.execve(GRAPHFILL, ["graphfill", *arguments], ENVIRONMENT)
    began, shown = time.perf_counter(), b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        shown += chunk
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown
    os.close(terminal)
    return shown.decode(), time.perf_counter() - began


def test_progress_is_shown_on_a_terminal_for_long_work_alone(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.random((20_000, 12)).round(3)
    values[rng.random(values.shape) < 0.9] = np.nan
    names = [f"x{j}" for j in range(12)]
    table = pa.table({"name": np.arange(20_000)} | dict(zip(names, values.T, strict=True)))
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    links = rng.integers(0, 20_000, (60_000, 2))
    (tmp_path / "friends.csv").write_text("u,v\n" + "".join(f"{u},{v}\n" for u, v in links))
    arguments = shlex.split(
        "impute people.parquet friends.csv -o filled.parquet --overwrite --solver diffusion "
        "--reliance 1 --steps"
    )
    long = [*arguments, "10000"]
    shown, _ = on_terminal(long, tmp_path)
    assert re.search(r"filling +\d+% \|.*\| 00:0\d so far, ", shown)
    assert "Written to filled.parquet" in shown
    shown, _ = on_terminal([*arguments, "10"], tmp_path)
    assert "so far" not in shown
    assert "so far" not in on_terminal([*long, "--quiet"], tmp_path)[0]


def test_progress_moves_under_the_default_method(tmp_path):
    rng = np.random.default_rng(0)
    n = 8000
    base = rng.random((n, 1))
    values = base + 0.2 * rng.random((n, 8))
    values[rng.random(values.shape) < 0.3] = np.nan
    table = pa.table({"name": np.arange(n)} | {f"x{j}": values[:, j] for j in range(8)})
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    links = rng.integers(0, n, (3 * n, 2))
    (tmp_path / "friends.csv").write_text("u,v\n" + "".join(f"{u},{v}\n" for u, v in links))
    shown, _ = on_terminal(
        ["impute", "people.parquet", "friends.csv", "-o", "filled.parquet"], tmp_path
    )
    shares = {int(share) for share in re.findall(r"filling +(\d+)% \|", shown)}
    assert len(shares) >= 5
    assert max(shares) <= 100
    assert "By known cells that were hidden, columns are: " in shown
