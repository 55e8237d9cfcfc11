"""Tables of odd columns: filled or refused in a sentence, never a traceback, known cells kept."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graphfill as gf
from graphfill.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.GraphfillWarning")

QUICK = 60  # of the tables below; `make test-slow` fills all
TABLES = 300
KINDS = ("number", "nothing", "one", "constant", "collinear", "one class", "many classes", "huge",
         "tiny", "boolean", "integer", "class", "skewed", "date", "rare")  # fmt: skip
OPTIONS = (
    {},
    {"method": "field"},
    {"effort": "fast", "scores": True},
    {"effort": "fast", "intervals": 0.9},
    {"effort": "thorough", "columns": "first"},
)


def cells_of(kind, base, rng):
    """A column of this kind, None where missing."""
    n = len(base)
    lost = rng.random(n) < rng.choice([0.0, 0.05, 0.3, 0.9])
    if kind == "nothing":
        lost[:] = True
    elif kind == "one":
        lost[:] = True
        lost[rng.integers(n)] = False
    values = {
        "constant": np.full(n, 7.0),
        "collinear": 2 * base + 1,
        "one class": np.full(n, "x", dtype=object),
        "many classes": np.array([f"v{k}" for k in rng.integers(0, max(2, n // 2), n)], object),
        "huge": rng.standard_normal(n) * 1e300,
        "tiny": rng.standard_normal(n) * 1e-300,
        "boolean": rng.random(n) < 0.5,
        "integer": rng.integers(-5, 5, n),
        "class": np.array(list("abcd"), object)[rng.integers(0, 4, n)],
        "skewed": np.exp(4 * rng.standard_normal(n)),
        "rare": (rng.random(n) < 0.01).astype(float),
        "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
    }.get(kind, base + rng.standard_normal(n))
    if kind == "boolean":
        return pd.Series(values, dtype="boolean").mask(lost)
    if kind == "integer":
        return pd.Series(values, dtype="Int64").mask(lost)
    return pd.Series(values).mask(lost)


def odd_table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 8, 25, 60, 100]))
    base = rng.standard_normal(n)
    table = {"key": [f"n{i}" for i in range(n)]}
    for number in range(int(rng.integers(1, 7))):
        table[f"c{number}"] = cells_of(str(rng.choice(KINDS)), base, rng)
    m = int(rng.choice([1, n // 2 + 1, 3 * n]))  # some lead to nodes that the table lacks
    ends = rng.integers(0, n, m), rng.integers(0, n + 2, m)
    if rng.random() < 0.15:
        ends = np.empty(0, int), np.empty(0, int)
    edges = {name: [f"n{i}" for i in end] for name, end in zip("st", ends, strict=True)}
    return pd.DataFrame(table), pd.DataFrame(edges, dtype=object)


def check_filled(table, filled, names):
    for name in table:
        known = table[name].notna()
        assert filled[name].dtype == table[name].dtype, name
        assert (filled[name][known] == table[name][known]).all(), name
        if name in names and known.any():
            assert filled[name].notna().all(), name
            if filled[name].dtype.kind == "f":
                assert np.isfinite(filled[name]).all(), name


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.slow] if s >= QUICK else []) for s in range(TABLES)]
)
def test_a_table_of_odd_columns(seed, tmp_path):
    table, edges = odd_table(seed)
    options = dict(OPTIONS[seed % len(OPTIONS)])
    if options.get("columns") == "first":
        options["columns"] = ["c0"]
    before = table.copy()
    try:
        result = gf.impute(table, edges, id="key", return_result=True, **options)
    except gf.InputError:
        return
    finally:
        pd.testing.assert_frame_equal(table, before)
    left_alone = {column.name for column in result.columns if column.note}
    check_filled(table, result.table, set(options.get("columns", table)) - left_alone)
    assert len(result.summary()["columns"]) >= 1
    if seed % 10 == 3:
        result.report(tmp_path / "report.html")
        assert (tmp_path / "report.html").stat().st_size > 1000


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.slow] if s >= 5 else []) for s in range(30)]
)
def test_the_command_on_a_table_of_odd_columns(seed, tmp_path, capsys):
    table, edges = odd_table(1000 + seed)
    table.to_csv(tmp_path / "table.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    more = (["--report", str(tmp_path / "report.html")], ["--method", "field"], ["--json"])
    files = [str(tmp_path / "table.csv"), str(tmp_path / "edges.csv"), "--id", "key"]
    out = tmp_path / "filled.csv"
    code = main(["impute", *files, "-o", str(out), *more[seed % 3]])
    text = capsys.readouterr().err
    assert code in (0, 1)
    assert "Traceback" not in text
    if code == 0:
        filled = pd.read_csv(out, dtype=str)
        given = pd.read_csv(tmp_path / "table.csv", dtype=str)
        for name in given:
            known = given[name].notna()
            assert (filled[name][known] == given[name][known]).all(), name


def test_an_infinite_number_is_refused():
    table = pd.DataFrame({"key": ["a", "b", "c"], "x": [1.0, np.inf, np.nan]})
    edges = pd.DataFrame({"s": ["a", "b"], "t": ["b", "c"]})
    with pytest.raises(gf.InputError, match="infinite"):
        gf.impute(table, edges, id="key")


@pytest.mark.slow
def test_very_many_classes():
    n, classes = 200_000, 100_000
    rng = np.random.default_rng(0)
    code = np.minimum(np.arange(n) // 2, classes - 1)
    cells = pd.Series(code).astype(str).mask(rng.random(n) < 0.2)
    table = pd.DataFrame({"key": np.arange(n), "family": cells, "x": rng.standard_normal(n)})
    table.loc[rng.random(n) < 0.1, "x"] = np.nan
    edges = pd.DataFrame({"s": np.arange(0, n, 2), "t": np.arange(1, n, 2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gf.impute(table, edges, id="key", return_result=True)
    check_filled(table, result.table, {"x"})
