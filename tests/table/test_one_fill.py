"""One way to fill: what else is asked for, and the order of rows and columns, change no cell."""

import json
import threading
import warnings

import numpy as np
import polars as pl
import pytest

import graphfill as gf
from graphfill import errors
from graphfill.cli import main
from graphfill.cli._town import make_town


def table_of(seed, n=None):
    """A table with columns of every kind, and links between its rows."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(70, 160))
    near = np.sort(rng.random(n))
    kinds = np.array(["red", "green", "blue", "grey"])
    columns = {
        "size": near * 10 + rng.normal(0, 0.5, n),
        "count": np.floor(near * 40 + rng.normal(0, 3, n)).astype(int),
        "colour": kinds[np.clip((near * 4 + rng.normal(0, 0.5, n)).astype(int), 0, 3)],
        "member": rng.random(n) < near,
    }
    ids = np.array([f"row {k:04d}" for k in range(n)])
    table = {"key": ids.tolist()}
    for name, cells in columns.items():
        lost = rng.random(n) < 0.2
        table[name] = [None if gone else v for v, gone in zip(cells.tolist(), lost, strict=True)]
    step = rng.integers(1, 4, 3 * n)
    ends = np.stack([rng.integers(0, n, 3 * n), np.zeros(3 * n, dtype=int)])
    ends[1] = np.minimum(ends[0] + step, n - 1 - 5)  # the last rows are out of reach
    ends[0] = np.minimum(ends[0], n - 1 - 5)
    edges = pl.DataFrame({"a": ids[ends[0]], "b": ids[ends[1]]})
    return pl.DataFrame(table), edges


def impute(table, edges, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(table, edges, id="key", **options)


METHODS = ("propagation", "neighbors", "mean", "hybrid", "auto")


def same_with_anything_asked_for(seed, method, tmp_path, **options):
    table, edges = table_of(seed)
    options |= {"method": method}
    plain = impute(table, edges, **options)
    scored = impute(table, edges, scores=True, mark=True, **options)
    bounded = impute(table, edges, intervals=0.9, return_result=True, **options)
    bounded.report(tmp_path / f"report-{method}-{seed}.html")
    assert plain.equals(scored.select(plain.columns))
    assert plain.equals(bounded.table.select(plain.columns))


@pytest.mark.parametrize("method", METHODS)
def test_scores_intervals_marks_and_reports_change_no_cell(method, tmp_path):
    if method in ("hybrid", "auto"):  # whose learners take seconds
        same_with_anything_asked_for(0, method, tmp_path, columns=["size", "colour"])
    else:
        for seed in range(METHODS.index(method), 30, 3):
            same_with_anything_asked_for(seed, method, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_scores_intervals_marks_and_reports_change_no_cell_of_100_tables(method, tmp_path):
    for seed in range(100):
        same_with_anything_asked_for(seed, method, tmp_path)


def test_a_pattern_of_hiding_changes_no_cell():
    table, edges = table_of(3)
    plain = impute(table, edges)
    assert plain.equals(impute(table, edges, scores="rows"))


@pytest.fixture(scope="module")
def town():
    made = make_town(600, seed=0)
    hidden = made.hide(0.3, seed=0)
    people = pl.DataFrame({
        name: [None if gone else value for value, gone in
               zip(cells.tolist(), hidden.get(name, np.zeros(600, dtype=bool)), strict=True)]
        for name, cells in made.people.items()
    }).rename({"person": "key"})  # fmt: skip
    ends = made.people["person"][made.friends]
    return people, pl.DataFrame({"a": ends[:, 0], "b": ends[:, 1]})


def test_the_town_gets_one_newsletter_with_and_without_scores(town):
    people, friends = town
    plain = impute(people, friends, return_result=True)
    scored = impute(people, friends, scores=True, return_result=True)
    assert plain.table["newsletter"].equals(scored.table["newsletter"])
    reliance = {column.name: column.reliance for column in plain.columns}
    assert {column.name: column.reliance for column in scored.columns} == reliance


@pytest.mark.parametrize("method", ["propagation", "neighbors", "mean", "auto"])
def test_rows_and_columns_in_any_order_get_the_same_cells(method):
    table, edges = table_of(5, n=90 if method == "auto" else 400)
    if method == "auto":  # whose learners take seconds
        table = table.select("key", "size", "colour")
    plain = impute(table, edges, method=method)
    rng = np.random.default_rng(0)
    for draw in range(1 if method == "auto" else 5):
        order = rng.permutation(len(table))
        names = ["key", *rng.permutation(table.columns[1:]).tolist()]
        mixed = impute(table[order.tolist()].select(names), edges, method=method,
                       scores=bool(draw % 2))  # fmt: skip
        assert mixed["key"].to_list() == table["key"].gather(order).to_list()
        assert plain.equals(mixed.sort("key").select(plain.columns))


def test_bounds_and_summaries_do_not_depend_on_the_order_of_rows():
    table, edges = table_of(6)
    plain = impute(table, edges, intervals=0.9, mark=True, return_result=True)
    order = np.random.default_rng(1).permutation(len(table))
    mixed = impute(table[order.tolist()], edges, intervals=0.9, mark=True, return_result=True)
    assert plain.table.equals(mixed.table.sort("key"))
    before, after = ({k: v for k, v in r.summary().items() if k != "seconds"}
                     for r in (plain, mixed))  # fmt: skip
    assert json.dumps(before) == json.dumps(after)
    for name, cells in plain.unreached.items():
        assert (mixed.unreached[name] == cells[order]).all()
        assert (mixed.filled[name] == plain.filled[name][order]).all()


@pytest.fixture
def files(town, tmp_path, monkeypatch):
    people, friends = town
    people.write_csv(tmp_path / "people.csv")
    friends.write_csv(tmp_path / "friends.csv")
    monkeypatch.chdir(tmp_path)
    return ["impute", "people.csv", "friends.csv", "-o", "out.csv", "--id", "key", "--overwrite"]


ASKED = [[], ["--scores"], ["--intervals", "0.9"], ["--report", "r.html"]]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(asked) or "nothing")
def test_strictness_holds_on_every_route(files, asked, capsys):
    options = ["--strict", "--solver", "diffusion", "--steps", "2", "--tol", "1e-12", "--json"]
    assert main([*files, *options, *asked]) == 3
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_iter"] == 2
    assert summary["residual"] > 1e-12
    assert summary["converged"] is False


@pytest.mark.parametrize("asked", [*ASKED, ["--method", "auto"], ["--method", "hybrid"]],
                         ids=lambda asked: " ".join(asked) or "nothing")  # fmt: skip
def test_a_memory_limit_holds_on_every_route(files, asked, capsys):
    assert main([*files, "--memory-limit", "20KB", *asked]) == 1
    assert "--memory-limit leaves" in capsys.readouterr().err


def test_cells_out_of_reach_that_learners_fill_are_not_said_to_get_the_mean():
    table, edges = table_of(7)
    last = {f"row {k:04d}" for k in range(len(table) - 5, len(table))}
    gone = pl.col("key").is_in(last)
    table = table.with_columns(pl.when(~gone).then("size").alias("size"))
    with pytest.warns(gf.GraphfillWarning) as caught:
        result = gf.impute(table, edges, id="key", method="hybrid", return_result=True)
    said = [str(w.message) for w in caught if w.category is gf.UnreachedWarning]
    assert "filled from their row's other columns" in said[0]
    (column,) = (one for one in result.columns if one.name == "size")
    assert column.n_unreached >= 5
    assert column.unreached_got == "columns"
    assert "filled from their row's other columns" in repr(result)
    assert result.table.filter(gone)["size"].n_unique() > 1


def test_wording_of_one_thread_does_not_reach_another():
    inside, go_on = threading.Event(), threading.Event()

    def on_the_command_line():
        with errors.command_line(), errors.places("line {}".format):
            inside.set()
            go_on.wait(10)

    thread = threading.Thread(target=on_the_command_line)
    thread.start()
    assert inside.wait(10)
    try:
        assert errors.option("id") == "id="
        assert errors.place(3) == "row 3"
    finally:
        go_on.set()
        thread.join()
    assert errors.option("id") == "id="
