"""The example scripts run as a user would run them, and find what their page says they find."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
SECONDS = 150  # on a busy machine; the slowest takes a tenth of it on an idle one
TORCH = ("citation_graph", "own_method")


def numbers(pattern, text):
    """Every number the pattern's one group matches."""
    return [float(found.replace(",", "")) for found in re.findall(pattern, text)]


def filled_beats_zeros(said):
    zeros, filled = numbers(r": ([\d.]+)%", said)
    assert filled > zeros + 5


def intervals_hold(said):
    own, mean = numbers(r"(?:error:|mean) ([\d,]+)", said)
    assert own < 0.7 * mean
    assert 85 < numbers(r"hold ([\d.]+)%", said)[0] < 95


def tags_beat_chance(said):
    right, chance = numbers(r"(\d+)% right", said)[0], numbers(r"chance would have (\d+)%", said)[0]
    assert right > 3 * chance


def two_kinds_beat_one(said):
    authors, subjects, both = numbers(r"([\d.]+)% right", said)
    assert both > max(authors, subjects)


def the_limit_is_nearer(said):
    forty, limit = numbers(r"within ([\d,]+) km", said)
    assert 20 * limit < forty


FINDINGS = {
    "citation_graph": filled_beats_zeros,
    "counties": intervals_hold,
    "packages": tags_beat_chance,
    "heterogeneous": two_kinds_beat_one,
    "roads": the_limit_is_nearer,
}


def run(script, folder, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", script],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=SECONDS,
        # One thread each: two workers' scripts would wait for each other's.
        env={
            name: value
            for name, value in (os.environ | {"OMP_NUM_THREADS": "1"} | environment).items()
            if value
        },
    )


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    if script.stem in TORCH:
        pytest.importorskip("torch_geometric")
    if script.stem == "pool_a_regression":
        pytest.importorskip("statsmodels")
    if script.stem != "fill_a_table" and not os.environ.get("GRAPHFILL_DATA"):
        pytest.skip("set GRAPHFILL_DATA to the folder with the published graphs")
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if script.stem in FINDINGS:
        FINDINGS[script.stem](done.stdout)


@pytest.mark.parametrize("folder", ["", "empty"], ids=["unset", "without the file"])
@pytest.mark.parametrize("name", sorted([*FINDINGS, "pipeline", "pool_a_regression"]))
def test_without_data_it_says_so(name, folder, tmp_path):
    script = next(path for path in EXAMPLES if path.stem == name)
    done = run(script, tmp_path, GRAPHFILL_DATA=folder)
    assert done.returncode == 1
    assert not done.stdout
    assert re.fullmatch(r"Set GRAPHFILL_DATA to the folder with \w+\.npz to .+\.\n", done.stderr)
