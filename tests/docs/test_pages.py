"""The pages are true: their code runs, their commands run, their outputs come out."""

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import signal
import tomllib

import pytest
from docs.markdown import ROOT, Block, blocks, pages, paragraphs

import graphfill as gf
from graphfill.cli import main
from graphfill.cli._arguments import build_parser

PAGES = pages()
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?![\w])")


def called(page):
    return page.stem


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to run a page in; the command's signal handlers are put back."""
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    handlers = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    yield tmp_path
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_page_runs(page, folder):
    """Every block in order, in one namespace; what is shown is what comes out."""
    shown = blocks(page)
    code = "".join(block.text for block in shown if block.kind == "python")
    if "torch" in code:
        pytest.importorskip("torch_geometric")
    if "GRAPHFILL_DATA" in code and not os.environ.get("GRAPHFILL_DATA"):
        pytest.skip("set GRAPHFILL_DATA to the folder with the published graphs to run this page")
    namespace = {"__name__": page.stem}
    for block in shown:
        if block.kind == "python":
            run_python(block, page, namespace)
        elif block.kind == "console":
            run_console(block, page)
        elif block.kind == "sh":
            check_long(block, page)


class Checker(doctest.OutputChecker):
    """Errors go by their public name."""

    def check_output(self, want, got, optionflags):
        got = got.replace("graphfill.errors.", "graphfill.")
        return super().check_output(want, got, optionflags)


def run_python(block: Block, page, namespace):
    """A block with prompts is a doctest; one without is a script."""
    if ">>> " not in block.text:
        # Lines are counted from the top of the page, for the traceback.
        exec(compile("\n" * block.line + block.text, str(page), "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(
        block.text, namespace, page.name, str(page), block.line
    )
    said = io.StringIO()
    runner = doctest.DocTestRunner(Checker(), optionflags=OPTIONS, verbose=False)
    runner.run(test, out=said.write, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.summarize(verbose=False).failed, said.getvalue()


def run_console(block: Block, page):
    """Commands after a ``$``; what is shown below one is compared with what it prints."""
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        part = part.replace("\\\n", " ")
        command, _, expected = part.partition("\n")
        words = shlex.split(command, comments=True)
        if words[0] != "graphfill":
            check_command(words, page)
            continue
        printed = run_command(words[1:])
        if expected.strip():
            told = f"{page.name}: $ {command}\nshown:\n{expected}\nprinted:\n{printed}"
            assert is_shown(expected, printed), told


def is_shown(expected: str, printed: str) -> bool:
    """Whether the words are the same, and the numbers nearly: processors round differently."""
    check = doctest.OutputChecker().check_output
    if check(expected, printed, OPTIONS):
        return True
    words = [NUMBER.sub("#", text) for text in (expected, printed)]
    if not check(*words, OPTIONS):
        return False
    lines = {shape(line): line for line in printed.splitlines()}
    for line in expected.splitlines():
        if "..." not in line and shape(line) in lines:
            pair = (numbers_of(line), numbers_of(lines[shape(line)]))
            if pair[0] != pytest.approx(pair[1], rel=0.2, abs=0.1):
                return False
    return True


def shape(line: str) -> str:
    """A line without its numbers."""
    return " ".join(NUMBER.sub("#", line).split())


def numbers_of(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(line)]


def check_long(block: Block, page):
    """Commands that are not run with the page have options that there are."""
    for words in commands(block):
        if words[0] == "graphfill":
            build_parser().parse_args(words[1:])
        else:
            check_command(words, page)


def commands(block: Block):
    lines = block.text.replace("\\\n", " ").strip().splitlines()
    return [shlex.split(line, comments=True) for line in lines]


def test_first_commands_of_the_readme_run(folder):
    """Those on the files that ``make demo`` leaves."""
    run_command(["demo", "--folder", "demo-output", "--people", "120"])
    shown = [words for block in blocks(PAGES[0]) if block.kind == "sh" for words in commands(block)]
    first = [words[1:] for words in shown if "demo-output/people.csv" in words]
    assert len(first) >= 4
    for words in first:
        run_command(words)


def run_command(arguments):
    """What the command prints, refusals included; only a refusal may follow a false start."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse, after --help
            code = stop.code
    refused = said.getvalue().startswith("graphfill: ") and code == 1
    assert code in (0, None) or refused, said.getvalue()
    return said.getvalue()


def check_command(words, page):
    """Commands that other tests or targets run have at least to be there."""
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
        assert set(words[1:]) <= set(targets), (page.name, words)
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), (page.name, words)
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        for extra in re.findall(r"\[(.*?)\]", " ".join(words)):
            assert set(extra.split(",")) <= set(extras["optional-dependencies"]), (page.name, words)
    else:
        pytest.fail(f"{page.name} shows a command that nothing checks: {' '.join(words)}")


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_blocks_say_what_they_are(page):
    """There is no kind of block that no test looks at."""
    for block in blocks(page):
        known = block.kind.startswith("{") or block.kind in ("python", "console", "sh")
        assert known, (page.name, block.line, block.kind)


CLAIM = re.compile(r"\d\s*(%|×|x\b|times\b|-fold\b|percent)")
SOURCE = re.compile(r"\]\(|`(graphfill|python|make) ")


@pytest.mark.parametrize("page", PAGES[1:], ids=called)
def test_measured_claims_name_their_command(page):
    """A share or a ratio in words stands beside a link or the command that prints it."""
    for paragraph in paragraphs(page):
        if CLAIM.search(paragraph):
            assert SOURCE.search(paragraph), f"{page.name}: {paragraph}"


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_commands_in_the_text_are_there(page):
    """Scripts that a sentence names exist, and options of the command parse."""
    text = " ".join(paragraphs(page))
    for script in re.findall(r"`python (\S+\.py)[^`]*`", text):
        assert (ROOT / script).is_file(), (page.name, script)
    for arguments in re.findall(r"`graphfill (bench [^`]+)`", text):
        build_parser().parse_args(arguments.split())


def test_a_claim_is_seen():
    assert CLAIM.search("It is 3 times faster.")
    assert CLAIM.search("Of all cells 90 % are missing.")
    assert not CLAIM.search("After 40 steps, in 2024.")


def test_every_public_name_is_in_the_reference():
    listed = (ROOT / "docs" / "reference.md").read_text()
    for name in set(gf.__all__) - {"__version__"}:
        assert re.search(rf"^   (\w+\.)?{name}$", listed, re.M), name


def test_front_picture_is_what_the_library_draws(tmp_path):
    drawing = runpy.run_path(str(ROOT / "docs" / "figures" / "front.py"))
    drawing["main"](tmp_path / "front.svg")
    drawn = (tmp_path / "front.svg").read_text()
    assert drawn == (ROOT / "docs" / "figures" / "front.svg").read_text()


def test_every_example_is_linked():
    linked = "".join(page.read_text() for page in PAGES)
    for script in (ROOT / "examples").glob("*.py"):
        assert f"examples/{script.name}" in linked, script.name


def test_numbers_may_differ_a_little_and_words_not():
    shown = "age  10.57  2.583  76% less\ncity  0.75\n..."
    assert is_shown(shown, "age 10.57 2.6 75% less\ncity 0.75\nmore")
    assert not is_shown(shown, "age 10.57 4.6 75% less\ncity 0.75\nmore")
    assert not is_shown(shown, "age 10.57 2.6 75% more\ncity 0.75\nmore")
