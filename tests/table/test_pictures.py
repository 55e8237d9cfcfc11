"""Pictures show the cells as they are: counted in full, or a sample that is told of."""

import datetime as dt
import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest
from generated_tables import GENERATED, make, tables
from hypothesis import given, settings
from hypothesis import strategies as st
from properties.test_round_trip import frame

import graphfill as gf
from graphfill.links import find_coordinates, flat
from graphfill.report import render
from graphfill.table._pictures import MOMENTS, POINTS, Pictures

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.GraphfillWarning")


def ring(n):
    rows = np.arange(n)
    return pl.DataFrame({"a": rows, "b": (rows + 1) % n})


def towns(n=600, seed=0):
    """Towns on a map; where the height is missing, so is the rain; 5 rows have no link."""
    rng = np.random.default_rng(seed)
    height = 100 * np.sin(np.arange(n) / 40) + rng.normal(0, 5, n)
    blank = rng.random(n) < 0.3
    table = pl.DataFrame(
        {
            "town": np.arange(n),
            "Lat": rng.uniform(40, 50, n),
            "Lon": rng.uniform(0, 20, n),
            "height": [None if b else h for b, h in zip(blank, height, strict=True)],
            "rain": [None if b and j % 2 else 2 * h + 7 for j, (b, h) in
                     enumerate(zip(blank, height, strict=True))],
            "soil": [None if j % 9 == 0 else ("clay", "sand")[j // 50 % 2] for j in range(n)],
        }
    )  # fmt: skip
    return table, ring(n - 5), blank


@pytest.fixture(scope="module")
def filled():
    table, links, blank = towns()
    warnings.simplefilter("ignore")
    result = gf.impute(
        table, links, id="town", method="field", intervals=0.9, draws=3, return_result=True,
        columns=["height", "rain", "soil"],
    )  # fmt: skip
    return table, result, blank


def test_every_missing_cell_is_counted_once(filled):
    table, result, blank = filled
    given = Pictures(result).missing()
    assert set(given["columns"]) == {"height", "rain", "soil"}
    assert given["columns"][0] == "height"
    for name, total, shares in zip(given["columns"], given["total"], given["shares"], strict=True):
        assert total == pytest.approx(table[name].null_count() / 600)
        assert np.mean(shares) == pytest.approx(total, abs=1e-4)  # 600 rows in 60 spans of 10
    assert given["shares"][0][0] == pytest.approx(blank[:10].mean(), abs=1e-4)


def test_what_is_missing_together_adds_up_and_the_related_pair_is_named(filled):
    table, result, _ = filled
    given = Pictures(result).together()
    missing = {name: table[name].is_null().to_numpy() for name in given["columns"]}
    seen = given["complete"] + given["others"]
    for pattern in given["patterns"]:
        wanted = [j in pattern["columns"] for j in range(len(missing))]
        rows = np.logical_and.reduce(
            [mask == want for mask, want in zip(missing.values(), wanted, strict=True)]
        )
        assert pattern["rows"] == rows.sum()
        seen += pattern["rows"]
    assert seen == 600
    assert set(given["pair"]["columns"]) == {"height", "rain"}
    assert given["pair"]["rows"] == (missing["height"] & missing["rain"]).sum()


def test_columns_that_are_missing_by_chance_make_no_pair():
    rng = np.random.default_rng(1)
    cells = {f"c{k}": [None if b else 1.0 * j for j, b in enumerate(rng.random(500) < 0.2)]
             for k in range(4)}  # fmt: skip
    table = pl.DataFrame({"id": np.arange(500), **cells})
    result = gf.impute(table, ring(500), id="id", method="mean", return_result=True)
    assert Pictures(result).together()["pair"] is None


def test_the_map_has_each_row_in_its_place_and_its_state(filled):
    table, result, blank = filled
    given = Pictures(result).points("height")
    assert given["kind"] == "map"
    assert given["coordinates"] == ["Lat", "Lon"]
    order = np.argsort(table["Lat"].to_numpy())
    assert (np.diff(np.array(given["y"])[order]) >= 0).all()
    states = np.array(list(given["states"]["height"]))
    assert ((states != "k") == blank).all()
    cut_off = blank & (np.arange(600) >= 595)
    assert (states[cut_off] == "u").all()
    assert (states == "f").sum() > 50  # a smooth column: most are sure


def test_rows_of_a_graph_are_drawn_in_the_order_of_the_table():
    names = ["d", "a", "c", "b"]
    table = pl.DataFrame({"id": names, "x": [1.0, None, 3.0, 4.0]})
    links = pl.DataFrame({"s": ["a", "b", "c"], "t": ["b", "c", "d"]})
    result = gf.impute(table, links, id="id", method="propagation", return_result=True)
    given = Pictures(result).points()
    assert given["kind"] == "graph"
    order = result.alignment.order
    state_of = dict(zip([names[row] for row in order], given["states"]["x"], strict=True))
    assert state_of == {"a": "f", "b": "k", "c": "k", "d": "k"}
    assert len(given["links"]) == 3


def test_nodes_that_are_no_rows_are_drawn_as_ends_of_links_alone():
    table = pl.DataFrame({"id": ["a", "b", "c"], "x": [1.0, None, 3.0]})
    links = pl.DataFrame({"s": ["a", "b", "c"], "t": ["firm", "firm", "firm"]})
    result = gf.impute(table, links, id="id", method="propagation", return_result=True)
    given = Pictures(result).points()
    assert given["states"]["x"] == "kfk."
    assert len(given["x"]) == 4
    page = render(result.summary() | {"pictures": {"points": given}})
    assert "2 known, 1 filled" in page
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert result.plot.map().get_title() == "x"
    matplotlib.pyplot.close("all")


def test_a_scatter_takes_the_related_columns_and_marks_filled_rows(filled):
    _, result, blank = filled
    given = Pictures(result).scatter()
    assert set(given["columns"]) == {"height", "rain"}
    assert given["states"].count("k") == (~blank).sum()
    values = result.table[given["columns"][0]].to_list()
    assert given["x"] == pytest.approx(values)


def panel(n_places, n_times, **more):
    """Places and hours; the fourth place has the most gaps."""
    rng = np.random.default_rng(2)
    place, hour = np.divmod(np.arange(n_places * n_times), n_times)
    level = np.sin(hour / 5) + rng.normal(0, 0.05, len(hour))
    gaps = rng.random(len(hour)) < np.where(place == 3, 0.6, 0.2)
    start = dt.datetime(2024, 3, 1)
    table = pl.DataFrame(
        {
            "row": np.arange(len(hour)),
            "hour": [start + dt.timedelta(hours=int(h)) for h in hour],
            "station": [f"s{p}" for p in place],
            "level": [None if g else x for g, x in zip(gaps, level, strict=True)],
        }
    )
    rows = np.arange(len(hour)).reshape(n_places, n_times)
    links = pl.DataFrame({"a": rows[:, :-1].ravel(), "b": rows[:, 1:].ravel()})
    result = gf.impute(
        table, links, id="row", columns=["level"], method="field", return_result=True, **more
    )
    return result, gaps


def test_a_series_is_of_the_place_with_the_most_filled_cells():
    result, gaps = panel(5, 80, intervals=0.9)
    given = Pictures(result).series()
    assert (given["column"], given["time"], given["place"]) == ("level", "hour", "s3")
    rows = np.arange(3 * 80, 4 * 80)
    assert given["x"] == sorted(given["x"])
    assert given["y"] == pytest.approx(result.table["level"].to_numpy()[rows])
    assert [state != "k" for state in given["states"]] == gaps[rows].tolist()
    for end in ("low", "high"):
        bounds = result.table[f"level_{end}"].to_numpy()[rows]
        assert [b is not None for b in given[end]] == gaps[rows].tolist()
        assert [b for b in given[end] if b is not None] == pytest.approx(bounds[gaps[rows]])
    assert given["ends"] == ["2024-03-01T00:00:00", "2024-03-04T07:00:00"]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = result.plot.series("level")
    assert ax.get_title() == "s3"
    matplotlib.pyplot.close("all")


def test_a_long_series_is_cut_to_where_most_is_filled():
    result, gaps = panel(1, 600)
    given = Pictures(result).series()
    assert given["place"] is None
    assert len(given["x"]) == MOMENTS
    windows = np.convolve(gaps, np.ones(MOMENTS), "valid")
    assert len(given["states"].replace("k", "")) == windows.max()
    assert given["low"] == [None] * MOMENTS


def test_rows_of_one_moment_that_nothing_tells_apart_make_no_series():
    result, _ = panel(3, 40)
    pictures = Pictures(result)
    del pictures.kinds["station"]
    assert pictures.series() == {}
    with pytest.raises(gf.InputError, match="Column 'station' is no column of numbers"):
        result.plot.series("station")


def test_infinite_cells_of_a_column_that_was_not_asked_for_do_no_harm():
    values = [float("inf"), None, *np.linspace(0, 1, 38)]
    table = pl.DataFrame({"id": range(40), "lat": values, "lon": values, "x": [None, *range(39)]})
    result = gf.impute(table, ring(40), id="id", columns=["x"], method="mean", return_result=True)
    assert Pictures(result).summary()["points"]["kind"] == "graph"


def test_dates_and_cells_that_stay_missing():
    table = pl.DataFrame(
        {
            "id": range(40),
            "born": [None if j % 5 == 0 else j for j in range(40)],
            "note": [None if j % 4 == 0 else f"free text number {j}" for j in range(40)],
        },
        schema_overrides={"born": pl.Date},
    )
    result = gf.impute(table, ring(40), id="id", method="mean", missing=[""], return_result=True)
    pictures = Pictures(result)
    assert pictures.missing()["columns"] == ["note", "born"]
    assert set(pictures.points("note")["states"]["note"]) == {"k", "m"}
    assert sum(pictures.known_and_filled("born")["known"]) == pytest.approx(1)


@pytest.mark.parametrize("library", ["arrow", "polars", "pandas"])
@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_cells_of_every_type_can_be_drawn(library, data):
    columns, missing = data.draw(tables(library))
    n = len(columns[0][2])
    made = {"key": make(library, list(range(2 * n)), GENERATED[library]["integer"][0], "key")}
    for k, (_, dtype, values) in enumerate(columns):
        holed = [None if row in missing else value for row, value in enumerate(values * 2)]
        made[f"c{k}"] = make(library, holed, dtype, f"c{k}")
    links = pl.DataFrame({"a": range(2 * n - 1), "b": range(1, 2 * n)})
    result = gf.impute(frame(library, made), links, id="key", return_result=True)
    pictures = Pictures(result)
    summary = pictures.summary()
    gaps = {column.name: column.n_missing for column in result.columns if column.n_missing}
    assert set(summary["missing"]["columns"]) == set(gaps)
    for name, total in zip(summary["missing"]["columns"], summary["missing"]["total"], strict=True):
        assert total * 2 * n == pytest.approx(gaps[name])
        states = pictures.states(name)
        assert np.isin(states, (1, 2)).sum() == result.filled.get(name, np.zeros(1)).sum()
        assert (states == 0).sum() == 2 * n - gaps[name]
        if name in result.filled:
            assert sum(pictures.known_and_filled(name)["known"]) == pytest.approx(1)
    assert "<h2" in render(result.summary() | {"pictures": summary})


def test_a_million_rows_stay_small():
    n = 1_000_000
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    table = pl.DataFrame(
        {
            "id": np.arange(n),
            "latitude": rng.uniform(-60, 60, n),
            "longitude": x,
            "x": x,
            "y": x + 1,
        }
    )
    table = table.with_columns(pl.when(pl.col("id") % 3 > 0).then(pl.col("x", "y")))
    links = pl.DataFrame({"a": np.arange(9), "b": np.arange(1, 10)})
    result = gf.impute(table, links, id="id", method="mean", return_result=True)
    page = Pictures(result).summary()
    assert len(page["points"]["x"]) == len(page["scatter"]["x"]) == POINTS
    assert page["missing"]["rows"] == page["together"]["rows"] == n
    assert len(str(page)) < 100_000
    assert page == Pictures(result).summary()  # the same sample


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["latitude", "longitude"], ("latitude", "longitude")),
        (["LON", "LAT"], ("LAT", "LON")),
        (["decimalLatitude", "decimalLongitude"], ("decimalLatitude", "decimalLongitude")),
        (["start_lng", "end_lat", "end_lng"], ("end_lat", "end_lng")),
        (["INTPTLAT", "INTPTLONG"], ("INTPTLAT", "INTPTLONG")),
        (["platform", "belong"], None),
        (["flat", "long"], None),
    ],
)
def test_coordinates_go_by_their_names(names, found):
    assert find_coordinates(names, lambda name: np.array([-80.0, 80.0])) == found


def test_coordinates_out_of_range_are_none():
    assert find_coordinates(["lat", "lon"], lambda name: np.array([0.0, 91.0])) is None
    assert find_coordinates(["lat", "lon"], lambda name: np.array([np.nan, 91.0])) is None


def test_a_map_keeps_shapes_at_any_latitude():
    x, y = flat(np.array([59.5, 60.5]), np.array([10.0, 12.0]))
    assert np.ptp(x) == pytest.approx(np.ptp(y))  # a degree of longitude is half as long there


# -- by matplotlib --


def test_plots_show_what_the_page_shows(filled):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    _, result, blank = filled
    plot = result.plot
    assert len(plot.missing().get_yticks()) == 3
    bars = plot.together().patches
    patterns = Pictures(result).together()["patterns"]
    assert [bar.get_width() for bar in bars] == [pattern["rows"] for pattern in patterns]
    shares = Pictures(result).known_and_filled("height")
    ax = plot.known_and_filled("height")
    assert [p.get_height() for p in ax.patches] == pytest.approx(shares["known"] + shares["filled"])
    assert len(shares["drawn"]) == 3
    assert "draws" in ax.get_legend_handles_labels()[1]
    for ax in (plot.map("height"), plot.scatter("rain", "height")):
        known = next(c for c in ax.collections if c.get_label() == "known")
        assert len(known.get_offsets()) == (~blank).sum()
    _, given = matplotlib.pyplot.subplots()
    assert plot.known_and_filled("soil", ax=given) is given
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda plot: plot.map("hight"), "There is no column 'hight' in the table; did you mean"),
        (lambda plot: plot.known_and_filled("Lat"), "Column 'Lat' has no filled cells"),
        (lambda plot: plot.scatter("soil", "rain"), "Column 'soil' is no column of numbers"),
        (lambda plot: plot.series(), "There is no series to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(filled, call, sentence):
    with pytest.raises(gf.InputError, match=sentence):
        call(filled[1].plot)


def test_no_map_without_places():
    table = pl.DataFrame({"id": range(400), "x": [None, *range(399)]})
    result = gf.impute(table, ring(400), id="id", method="mean", return_result=True)
    with pytest.raises(gf.InputError, match="There is nothing to draw a map of"):
        result.plot.map()
    with pytest.raises(gf.InputError, match="Fewer than two columns have missing cells"):
        result.plot.together()


def test_without_matplotlib_one_sentence_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "import polars as pl, graphfill as gf\n"
        "t = pl.DataFrame({'id': [1, 2, 3], 'x': [1.0, None, 3.0]})\n"
        "r = gf.impute(t, pl.DataFrame({'a': [1, 2], 'b': [2, 3]}), id='id', return_result=True)\n"
        "try: r.plot.missing()\n"
        "except gf.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == (
        'Pictures of a result need the package matplotlib: pip install "graphfill[plot]".'
    ), done.stderr
    assert importlib.util.find_spec("graphfill")
