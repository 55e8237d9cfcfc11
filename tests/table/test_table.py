"""Tables of real columns: the same kind comes back, filled, with everything else as it was."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphfill as gf

PATH = {"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"]}
DAY = datetime.date(2024, 1, 1)


def people():
    return {
        "key": ["a", "b", "c", "d", "e"],
        "age": [20, None, None, 50, 50],
        "height": [1.5, None, 1.9, 1.9, None],
        "city": ["Rome", None, "Rome", "Oslo", None],
        "member": [True, None, True, False, None],
        "born": [DAY, None, DAY + datetime.timedelta(days=10), None, DAY],
        "note": ["likes tea", "plays chess", None, "has a dog", "sings"],
    }


MAKE = {"polars": pl.DataFrame, "pyarrow": pa.table}


def as_dict(table):
    return table.to_pydict() if isinstance(table, pa.Table) else table.to_dict(as_series=False)


def quiet_impute(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(*args, **options)


@pytest.mark.parametrize("kind", MAKE)
def test_every_kind_of_column(kind):
    make = MAKE[kind]
    table = make(people())
    filled = quiet_impute(table, make(PATH))
    assert type(filled) is type(table)
    assert filled.schema == table.schema
    assert as_dict(filled) == people() | {
        "age": [20, 30, 40, 50, 50],
        "height": [1.5, 1.7, 1.9, 1.9, 1.9],
        "city": ["Rome", "Rome", "Rome", "Oslo", "Oslo"],
        "member": [True, True, True, False, False],
        "born": [DAY + datetime.timedelta(days=d) for d in (0, 5, 10, 5, 0)],
    }


def test_pandas_keeps_index_dtypes_and_categories():
    frame = pd.DataFrame(people(), index=pd.Index([9, 8, 7, 6, 5], name="row"))
    frame["age"] = frame["age"].astype("Int16")
    frame["city"] = pd.Categorical(frame["city"], ["Paris", "Oslo", "Rome"], ordered=True)
    frame["seen"] = pd.to_datetime(["2024-01-01", None, "2024-01-03", None, None]).tz_localize(
        "Europe/Rome"
    )
    before = frame.copy(deep=True)
    filled = quiet_impute(frame, pd.DataFrame(PATH), id="key")
    pd.testing.assert_frame_equal(frame, before)
    assert filled.index.equals(frame.index)
    assert filled.index.name == "row"
    assert filled.dtypes.equals(frame.dtypes)
    assert filled["age"].tolist() == [20, 30, 40, 50, 50]
    assert filled["city"].tolist() == ["Rome", "Rome", "Rome", "Oslo", "Oslo"]
    assert filled["seen"].dt.day.tolist() == [1, 2, 3, 3, 3]


def test_what_was_done_is_said():
    with pytest.warns(gf.GraphfillWarning, match="Rows go by column 'key'") as caught:
        result = gf.impute(pl.DataFrame(people()), pl.DataFrame(PATH), return_result=True)
    assert "Column 'note' is left alone with 1 missing cell(s): free text" in str(caught[0].message)
    assert result.n_missing == 11
    assert result.n_filled == 10
    by_name = {column.name: column for column in result.columns}
    assert by_name["key"].kind == "id"
    assert by_name["age"].kind == "integer"
    assert by_name["note"].kind == "left alone"
    assert result.filled["age"].tolist() == [False, True, True, False, False]
    assert result.converged
    summary = result.summary()
    assert summary["edges"] == 4
    assert summary["columns"][1]["n_filled"] == 2


def test_a_result_prints_its_summary():
    result = quiet_impute(pl.DataFrame(people()), pl.DataFrame(PATH), return_result=True)
    head, _, names, *rows = repr(result).splitlines()
    assert head == "Filled 10 of 11 missing cells (5 rows, 4 edges)."
    assert names.split()[:3] == ["column", "kind", "missing"]
    assert rows[0].split()[:3] == ["age", "integer", "2"]
    assert "Rows go by column 'key' of the table" in repr(result)
    assert len(repr(result)) < 2000
    whole = quiet_impute(result.table, pl.DataFrame(PATH), exclude=["note"], return_result=True)
    assert repr(whole).startswith("Nothing is missing (5 rows, 4 edges).")
    numbered = pd.DataFrame({0: list("abc"), 1: [1.0, None, 3.0]})
    edges = pd.DataFrame({"a": list("ab"), "b": list("bc")})
    assert "  1  number" in repr(quiet_impute(numbered, edges, return_result=True))


def test_columns_exclude_and_types():
    table, edges = pl.DataFrame(people()), pl.DataFrame(PATH)
    only = quiet_impute(table, edges, columns=["age"])
    assert only["age"].null_count() == 0
    assert only.drop("age").equals(table.drop("age"))
    rest = quiet_impute(table, edges, exclude=["age"])
    assert rest["age"].equals(table["age"])
    assert rest["height"].null_count() == 0
    classes = quiet_impute(table, edges, types={"age": "category", "height": "leave"})
    assert set(classes["age"]) == {20, 50}
    assert classes["height"].equals(table["height"])


def test_a_mixed_column_is_left_alone_unless_asked_for():
    mess = pd.DataFrame(people())
    mess["mess"] = [1, "two", None, 4, 5]
    with pytest.warns(gf.GraphfillWarning, match="Column 'mess' is left alone, for it mixes"):
        filled = gf.impute(mess, pd.DataFrame(PATH))
    assert filled["mess"].tolist() == [1, "two", None, 4, 5]
    assert filled["age"].notna().all()
    with pytest.raises(gf.InputError, match=r"Column 'mess' mixes numbers \(row 0: 1\) and text"):
        quiet_impute(mess, pd.DataFrame(PATH), columns=["mess"])


def test_markers_mean_missing():
    table = pl.DataFrame({"key": list("abc"), "age": [10, -1, 30], "city": ["x", "?", "x"]})
    edges = pl.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    filled = quiet_impute(table, edges, missing=[-1, "?"])
    assert filled["age"].to_list() == [10, 20, 30]
    assert filled["city"].to_list() == ["x", "x", "x"]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["pl", "pd", "pa"])
def test_marks(make):
    table = make({"key": list("abc"), "age": [10.0, None, 30.0]})
    filled = quiet_impute(table, make({"s": ["a", "b"], "t": ["b", "c"]}), mark=True)
    names = filled.column_names if hasattr(filled, "column_names") else list(filled.columns)
    assert names == ["key", "age", "age_filled"]
    assert list(filled["age_filled"].to_numpy()) == [False, True, False]


@pytest.mark.parametrize("policy", ["mean", "nan"])
def test_cells_nothing_is_connected_to(policy):
    table = pl.DataFrame({"key": list("abcd"), "age": [10, 20, None, None],
                          "city": ["x", "x", None, None]})  # fmt: skip
    edges = pl.DataFrame({"source": ["a", "c"], "target": ["b", "d"]})
    with pytest.warns(gf.UnreachedWarning, match="4 of 4 missing cells cannot be inferred"):
        filled = gf.impute(table, edges, id="key", unreached=policy)
    expected = [10, 20, 15, 15] if policy == "mean" else [10, 20, None, None]
    assert filled["age"].to_list() == expected
    assert filled["city"].to_list()[2:] == (["x", "x"] if policy == "mean" else [None, None])


def test_methods():
    table = pl.DataFrame({"key": list("abcd"), "x": [0.0, None, None, 9.0]})
    edges = pl.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "d"]})

    def filled(**options):
        return quiet_impute(table, edges, **options)["x"].to_list()[1:3]

    assert filled() == pytest.approx([3.0, 6.0])
    assert filled(method="mean") == pytest.approx([4.5, 4.5])
    assert filled(method="neighbors") == pytest.approx([0.0, 9.0])
    # One step from the mean, 4.5: the mean of a known neighbour and that.
    assert filled(solver="diffusion", n_iter=1) == pytest.approx([2.25, 6.75])


def test_nodes_outside_the_table_pass_information_on():
    table = pl.DataFrame({"key": ["a", "b"], "x": [5.0, None]})
    edges = pl.DataFrame({"source": ["a", "z"], "target": ["z", "b"]})
    with pytest.warns(gf.GraphfillWarning, match="1 node\\(s\\) named by the edges are not in"):
        filled = gf.impute(table, edges, id="key")
    assert filled["x"].to_list() == [5.0, 5.0]


def test_nothing_missing_is_no_work():
    table = pl.DataFrame({"key": ["a", "b"], "x": [5.0, 6.0]})
    result = gf.impute(table, pl.DataFrame({"s": ["a"], "t": ["b"]}), id="key", return_result=True)
    assert result.table.equals(table)
    assert result.n_missing == 0


def test_high_cardinality_in_bounded_memory():
    n, values = 4000, 1500
    rng = np.random.default_rng(0)
    code = np.sort(rng.integers(0, values, n))
    names = np.array([f"v{c:04d}" for c in code])
    seen = np.where(rng.random(n) < 0.3, None, names)
    table = pl.DataFrame({"key": np.arange(n), "street": list(seen)})
    edges = pl.DataFrame({"a": np.arange(n - 1), "b": np.arange(1, n)})
    whole = quiet_impute(table, edges, id="key", types={"street": "category"})
    assert whole["street"].null_count() == 0
    limited = quiet_impute(table, edges, id="key", types={"street": "category"}, memory_limit="8MB")
    assert limited.equals(whole)
    known = table["street"].is_not_null()
    assert whole.filter(known)["street"].equals(table.filter(known)["street"])
    right = np.array(whole["street"]) == names
    assert right[~known.to_numpy()].mean() > 0.5


def test_same_bits_for_any_threads_and_limit():
    rng = np.random.default_rng(1)
    n = 3000
    table = pl.DataFrame({
        "key": np.arange(n),
        "x": np.where(rng.random(n) < 0.5, np.nan, rng.standard_normal(n)),
        "c": [None if rng.random() < 0.5 else str(rng.integers(5)) for _ in range(n)],
    })  # fmt: skip
    edges = pl.DataFrame({"a": rng.integers(0, n, 9000), "b": rng.integers(0, n, 9000)})
    for method in ("auto", "propagation"):
        filled = [
            quiet_impute(table, edges, id="key", method=method, threads=threads)
            for threads in (1, 2)
        ]
        assert filled[0].equals(filled[1])
    # In tiles; under so small a limit "auto" compares fewer methods, and says so.
    limited = quiet_impute(table, edges, id="key", method="propagation", memory_limit="4MB")
    assert filled[0].equals(limited)


def linked_numbers(names, n=400):
    """Rows whose neighbours agree so far in every column, half of whose cells are missing."""
    rng = np.random.default_rng(0)
    u = rng.integers(0, n, 3 * n)
    edges = pl.DataFrame({"source": u, "target": (u + rng.integers(1, 6, 3 * n)) % n})
    smooth = 10 * np.sin(np.arange(n) / 20)
    noisy = {name: smooth + 4 * rng.normal(size=n) for name in names}
    cells = {name: pl.Series(pa.array(v, mask=rng.random(n) < 0.5)) for name, v in noisy.items()}
    return pl.DataFrame({"id": np.arange(n)} | cells), edges


@pytest.mark.parametrize("options", [{}, {"scores": "random", "intervals": 0.9}])
def test_a_column_alone_is_filled_as_among_others(options):
    table, edges = linked_numbers("abc")
    options |= {"id": "id", "return_result": True}
    alone = quiet_impute(table, edges, columns=["b"], **options)
    among = quiet_impute(table.select("c", "id", "a", "b"), edges, **options)
    for name in alone.table.columns[2:]:
        if name.startswith("b"):
            np.testing.assert_allclose(alone.table[name], among.table[name], rtol=1e-9)
    told = [{c.name: c.details for c in result.columns}["b"] for result in (alone, among)]
    for key in ("scores", "rehearsal"):
        assert repr(told[0].get(key))[:200] == repr(told[1].get(key))[:200]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": ["agee"]}, "There is no column 'agee' in the table; did you mean 'age'?"),
        ({"columns": ["key"], "id": "key"},
         "Column 'key' holds the ids, which cannot be filled: leave it out of columns=."),
        ({"method": "magic"},
         "method is 'magic' but must be one of 'auto', 'field', 'propagation', 'neighbors', "
         "'mean', 'hybrid'."),
    ],
)  # fmt: skip
def test_refusals(options, sentence):
    with pytest.raises(gf.InputError) as refusal:
        quiet_impute(pl.DataFrame(people()), pl.DataFrame(PATH), **options)
    assert str(refusal.value) == sentence


def test_no_table():
    with pytest.raises(gf.InputError, match="The table is a ndarray but must be"):
        gf.impute(np.zeros((3, 2)), pl.DataFrame(PATH))
    twice = pd.DataFrame([[1, 2.0], [2, 3.0]], columns=["x", "x"])
    with pytest.raises(gf.InputError, match="column name 'x' occurs twice"):
        gf.impute(twice, pd.DataFrame(PATH))


@pytest.mark.parametrize(
    ("marker", "cells", "expected"),
    [
        (-1, [1.0, -1.0, 3.0, -1.0, 5.0], [1, 2, 3, 4, 5]),
        ("unknown", ["n", "n", "unknown", "n", "y"], ["n", "n", "n", "n", "y"]),
    ],
)
def test_one_marker_may_come_alone(marker, cells, expected):
    table = pl.DataFrame({"key": list("abcde"), "x": cells})
    assert quiet_impute(table, pl.DataFrame(PATH), missing=marker)["x"].to_list() == expected


def test_cells_that_all_get_the_usual_value_may_still_be_the_graph_s_work():
    n = 20
    pairs = [(i, j) for part in (range(10), range(10, 20)) for i in part for j in part if i < j]
    edges = pl.DataFrame({"source": [i for i, _ in pairs], "target": [j for _, j in pairs]})
    color = ["red"] * 10 + ["blue"] * 10
    table = pl.DataFrame({"id": range(n), "color": [None, None, *color[2:]]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = gf.impute(table, edges, id="id", return_result=True)
    assert result.table["color"].to_list() == color
    assert result.columns[1].verdict == "inferable"


def test_cells_that_nothing_is_connected_to_get_the_column_s_own_bounds():
    rng = np.random.default_rng(0)
    n, apart = 300, 60
    x = np.cumsum(rng.normal(size=n)) / 5
    color = np.where(x > np.median(x), "high", "low")
    hidden = rng.random(n) < 0.2
    table = pl.DataFrame({
        "id": range(n + apart),
        "x": [*np.where(hidden, np.nan, x), *[None] * apart],
        "color": [*[None if h else c for h, c in zip(hidden, color, strict=True)], *[None] * apart],
    })  # fmt: skip
    edges = pl.DataFrame({"source": range(n - 1), "target": range(1, n)})
    far = quiet_impute(table, edges, id="id", intervals=0.9)[n:]
    known = x[~hidden]
    inside = (known >= far["x_low"][0]) & (known <= far["x_high"][0])
    assert abs(inside.mean() - 0.9) < 0.02
    assert abs(far["color_probability"][0] - 0.5) < 0.1
    assert set(far["color_set"][0].split(" | ")) == {"high", "low"}
    left = quiet_impute(table, edges, id="id", intervals=0.9, unreached="nan")[n:]
    names = ["x", "color", "x_low", "x_high", "color_probability", "color_set"]
    assert left.select(names).null_count().row(0) == (apart,) * 6
