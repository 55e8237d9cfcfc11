"""Do the tests notice mistakes? Mistakes made one at a time, and the tests run that call the place.

    python tests/harden/mutation.py --calls tests/solve tests/trust    # first: who calls what
    python tests/harden/mutation.py --by-hand                          # the mistakes of by_hand.py
    python tests/harden/mutation.py solve trust --sample 40 --seed 1   # drawn from these rooms

Comparisons are moved by one, min and max swapped, + and -, and and or; constants are off by one,
guards and calls for their effect left out; in C, which is compiled anew, operators are changed. A
line of JSON per mistake goes to
build/harden/mutants.jsonl; those that are there already are not made again.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
FOLDER = ROOT / "build" / "harden"
CALLS, RESULTS = FOLDER / "calls.json", FOLDER / "mutants.jsonl"
MOST_SECONDS = 15.0  # of tests, as they took without a mistake
MOST_TESTS = 300
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
            ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip
PAIRS = [("min", "max"), ("fmin", "fmax"), ("minimum", "maximum"), ("argmin", "argmax"),
         ("floor", "ceil"), ("any", "all"), ("left", "right")]  # fmt: skip
IN_C = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
        " + ": " - ", " - ": " + ", " * ": " / ", " && ": " || ", " || ": " && "}  # fmt: skip
SWAPPED = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}


@dataclass(frozen=True)
class Mistake:
    """A file of src/graphfill with one thing changed."""

    path: str
    line: int
    change: str
    function: str  # the name of the function around it, or nothing
    source: str

    @property
    def key(self) -> str:
        """Another one if the file has changed."""
        return f"{self.path}:{self.line}:{zlib.crc32(self.source.encode()):08x}"


def _changed(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What may stand in place of a part of the code."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        op = COMPARED[type(node.ops[0])]()
        yield node, ast.Compare(node.left, [op], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        if not any(isinstance(side, ast.Constant | ast.JoinedStr) and not _is_number(side)
                   for side in (node.left, node.right)):  # fmt: skip
            yield node, ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield node, node.operand
    elif _is_number(node):
        yield node, ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, ast.Constant(not node.value)
    elif isinstance(node, ast.Name) and node.id in SWAPPED:
        yield node, ast.Name(SWAPPED[node.id], ast.Load())
    elif isinstance(node, ast.Attribute) and node.attr in SWAPPED:
        yield node, ast.Attribute(node.value, SWAPPED[node.attr], ast.Load())
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "clip" and node.args:
        yield node, node.args[0]
    elif isinstance(node, ast.If) and not node.orelse:
        last = node.body[-1]
        if isinstance(last, ast.Raise | ast.Return | ast.Continue):
            yield node, ast.Pass()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield node, ast.Pass()


def _is_number(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Constant) and type(value) in (int, float)


def _in_code(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """The children of a node and their fields, but for annotations and sentences for people."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                yield child, name, number if isinstance(value, list) else None


def mistakes(path: Path) -> Iterator[Mistake]:
    """All that can be made in a file."""
    tree = ast.parse(path.read_text())
    name = str(path.relative_to(SOURCE))

    def within(node: ast.AST, around: str, function: str) -> Iterator[Mistake]:
        if isinstance(node, ast.FunctionDef):
            function = f"{around}{node.name}"
            around = f"{function}.<locals>."
        elif isinstance(node, ast.ClassDef):
            around = f"{around}{node.name}."
        for child, field, number in _in_code(node):
            for old, new in _changed(child):
                _put(node, field, number, new)
                ast.fix_missing_locations(tree)
                change = f"{_short(old)} -> {_short(new)}"
                yield Mistake(name, old.lineno, change, function, ast.unparse(tree))
                _put(node, field, number, old)
            yield from within(child, around, function)

    yield from within(tree, "", "")


def mistakes_in_c(path: Path) -> Iterator[Mistake]:
    """All that can be made in a file of C, a line of code at a time."""
    lines = path.read_text().splitlines(keepends=True)
    for number, line in enumerate(lines):
        code = re.split(r"//|/\*", line)[0]
        if code.lstrip().startswith(("#", "*")):
            continue
        for old, new in IN_C.items():
            for found in re.finditer(re.escape(old), code):
                changed = f"{line[: found.start()]}{new}{line[found.end() :]}"
                source = "".join([*lines[:number], changed, *lines[number + 1 :]])
                change = f"{line.strip()} -> {changed.strip()}"
                yield Mistake(str(path.relative_to(SOURCE)), number + 1, change, "", source)


def compiled(place: Path) -> bool:
    """The kernels compiled from a folder of sources into it; not if they are no C."""
    include = f"-I{sysconfig.get_path('include')}"
    flags = [
        "-shared",
        "-fPIC",
        "-O1",
        "-w",
        "-DGRAPHFILL_ONE_TARGET",
        "-DPy_LIMITED_API=0x030B0000",
    ]
    files = [place / "csrc" / "kernels.c", "-o", place / "_compiled.abi3.so", "-lm"]
    done = subprocess.run(["cc", *flags, include, *files], capture_output=True)
    return done.returncode == 0


def _put(node: ast.AST, field: str, number: int | None, child: ast.AST) -> None:
    if number is None:
        setattr(node, field, child)
    else:
        getattr(node, field)[number] = child


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) < 70 else f"{text[:66]} ..."


def by_hand() -> Iterator[Mistake]:
    """The mistakes that are written down."""
    from by_hand import MISTAKES

    for file, old, new in MISTAKES:
        source = (SOURCE / "graphfill" / file).read_text()
        if source.count(old) != 1:
            raise SystemExit(f"{file} has {old!r} {source.count(old)} times, not once")
        line = source[: source.index(old)].count("\n") + 1
        path = SOURCE / "graphfill" / file
        function = max(mistakes(path), key=lambda one: (one.line <= line, one.line)).function
        change = f"{' '.join(old.split())} -> {' '.join(new.split())}"
        yield Mistake(f"graphfill/{file}", line, change, function, source.replace(old, new))


def tests_of(mistake: Mistake, known: dict[str, dict]) -> list[str]:
    """Those that call the function, or any of the file; the quickest first."""
    exact = f"{mistake.path}:{mistake.function}"
    tests = set(known["calls"].get(exact, ()))
    if not mistake.function:
        tests = {one for place, some in known["calls"].items()
                 if place.startswith(f"{mistake.path}:") for one in some}  # fmt: skip
    chosen, left = [], MOST_SECONDS
    for test in sorted(tests, key=known["seconds"].get)[:MOST_TESTS]:
        left -= known["seconds"][test]
        if left > 0 or not chosen:
            chosen.append(test)
    return chosen


def outcome(mistake: Mistake, known: dict[str, dict]) -> dict:
    """Whether a test, or an example in a docstring, fails because of a mistake."""
    in_c = mistake.path.endswith((".c", ".h"))
    tests, began = ["tests/kernels"] if in_c else tests_of(mistake, known), time.time()
    place = FOLDER / "mutated" / "graphfill"
    shutil.copytree(SOURCE / "graphfill", place, dirs_exist_ok=True)
    (place.parent / mistake.path).write_text(mistake.source)
    if in_c and not compiled(place / "kernels"):
        raise SystemExit(f"{mistake.key} is no C: {mistake.change}")
    environment = os.environ | {"PYTHONPATH": str(place.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    module = mistake.path.removesuffix(".py").replace("/", ".")
    examples = f"import doctest, {module} as m; raise SystemExit(doctest.testmod(m).failed > 0)"
    pytest = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0"]
    commands = [["-c", examples], [*pytest, "--hypothesis-seed=0", *tests]]
    # Of processor time: other work on the machine must not pass for a mistake that was noticed.
    seconds = 60 + int(4 * sum(known["seconds"].get(test, 0) for test in tests))
    found = "survived" if tests else "untested"
    for arguments in commands[in_c : 2 if tests else 1]:
        limited = ["sh", "-c", f'ulimit -t {seconds}; exec "$0" "$@"', sys.executable, *arguments]
        done = subprocess.run(limited, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1, 2) and done.returncode > 0:
            raise SystemExit(f"{mistake.key}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        if done.returncode:
            found = "killed"
            break
    (place.parent / mistake.path).write_text((SOURCE / mistake.path).read_text())
    return {
        "key": mistake.key, "file": mistake.path, "line": mistake.line, "change": mistake.change,
        "outcome": found, "tests": len(tests), "seconds": round(time.time() - began, 1),
    }  # fmt: skip


def drawn(rooms: list[str], size: int, seed: int) -> list[Mistake]:
    """Some mistakes of rooms or files, the same for the same seed."""
    files: list[Path] = []
    for room in rooms:
        path = SOURCE / "graphfill" / room
        files += sorted(path.rglob("*.py")) + sorted(path.rglob("*.[ch]")) or [path]
    every = [one for file in files
             for one in (mistakes if file.suffix == ".py" else mistakes_in_c)(file)]  # fmt: skip
    return random.Random(seed).sample(every, min(size, len(every)))


def note_calls(tests: list[str]) -> None:
    environment = os.environ | {"PYTHONPATH": f"{SOURCE}:{ROOT / 'tests'}"}
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow",
        "-p",
        "harden.calls",
        "-n",
        "0",
    ]
    subprocess.run([*pytest, f"--calls-to={CALLS}", *tests], cwd=ROOT, env=environment)


def summary(results: list[dict]) -> str:
    """How many tests noticed, and what they did not."""
    killed = sum(one["outcome"] == "killed" for one in results)
    lines = [f"{killed} of {len(results)} mistakes were noticed"]
    lines += [f"{one['outcome']} {one['tests']} tests: {one['file']}:{one['line']}: {one['change']}"
              for one in results if one["outcome"] != "killed"]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rooms", nargs="*")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--by-hand", action="store_true")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.calls:
        note_calls(options.rooms)
        return
    made = (
        list(by_hand()) if options.by_hand else drawn(options.rooms, options.sample, options.seed)
    )
    known = json.loads(CALLS.read_text())
    results = {}
    if RESULTS.exists():
        results = {one["key"]: one for one in map(json.loads, RESULTS.read_text().splitlines())}
    for mistake in made:
        if mistake.key not in results:
            results[mistake.key] = outcome(mistake, known)
            with open(RESULTS, "a") as file:
                file.write(f"{json.dumps(results[mistake.key])}\n")
    print(summary([results[mistake.key] for mistake in made]))


if __name__ == "__main__":
    main()
