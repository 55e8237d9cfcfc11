"""Whole numbers that are labels are filled with one of them; quantities stay numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_tables import links, table
from reference import data_folder, data_set

import graphfill as gf
from graphfill.table._codes import names_code


def kinds(people, edges, **options):
    """The kind of each column, and the notes on codes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gf.impute(people, edges, method="mean", return_result=True, **options)
    notes = [note for note in result.notes if "looks like" in note]
    return {column.name: column.kind for column in result.columns}, notes, result


def ring(n):
    return pd.DataFrame({"a": np.arange(n), "b": (np.arange(n) + 1) % n})


def on_ring(cells, name):
    """A table with one column, of which every seventh cell is missing."""
    cells = np.array(cells, dtype=float)
    cells[::7] = np.nan
    return pd.DataFrame({"node": np.arange(len(cells)), name: cells})


def counties():
    folder = data_folder() / "county_social_capital"
    people = pd.read_csv(folder / "nodes.csv", dtype={"fips": str})
    edges = pd.read_csv(folder / "edges.csv", dtype=str)
    return people, edges


def test_zones_read_as_numbers_are_filled_with_zones():
    people, edges = counties()
    truth = people["cz"].copy()
    hidden = truth.notna() & (np.random.default_rng(0).random(len(people)) < 0.2)
    people["cz"] = truth.mask(hidden)
    options = {"id": "fips", "columns": ["cz", "pop2018"], "return_result": True}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = gf.impute(people, edges, method="propagation", **options)
    told = " ".join(str(one.message) for one in warned)
    assert "'cz' looks like a code, by its name" in told
    assert "pass types={'cz': 'number'}" in told
    assert [c.kind for c in result.columns if c.name in options["columns"]] == [
        "category",
        "integer",
    ]
    assert result.table["cz"].dtype == np.float64
    filled = result.table["cz"][hidden]
    assert filled.isin(truth).all()
    assert (filled == truth[hidden]).mean() > 0.5


def test_zones_are_recognised_by_their_links_whatever_their_name():
    people, edges = counties()
    people = people.rename(columns={"cz": "q7"})
    found, notes, _ = kinds(people, edges, id="fips")
    assert {name for name, kind in found.items() if kind == "category"} == {"q7", "state"}
    assert any("'q7' looks like a code, for linked rows" in note for note in notes)
    shuffled = edges.assign(target=edges["target"].sample(frac=1, random_state=0).to_numpy())
    assert kinds(people, shuffled, id="fips")[0]["q7"] == "integer"  # the links say nothing


def test_codes_of_counties_as_integers():
    data = data_set("us_counties")
    columns = {"fips": data["fips"], "income": data["x"][:, 0].astype(float)}
    coded = [key for key in data if key.startswith("cat_")]
    columns |= {key: pd.array(data[key], dtype="Int64") for key in coded}
    found, notes, _ = kinds(table(columns), links(data["fips"], data["edge_index"]), id="fips")
    assert [found[key] for key in coded] == ["category", "category"]
    assert found["income"] == "number"
    assert len(notes) == len(coded) == 2


@pytest.mark.parametrize("kind", ["number", "integer", "category"])
def test_the_users_type_wins(kind):
    people = on_ring(np.arange(60) // 6, "zone")
    assert kinds(people, ring(60), id="node")[0]["zone"] == "category"
    found, notes, _ = kinds(people, ring(60), id="node", types={"zone": kind})
    assert found["zone"] == kind
    assert not notes


def test_ids_that_do_not_repeat_are_left_alone():
    people = on_ring(7919 * np.arange(60) % 1009, "order_id")
    found, notes, result = kinds(people, ring(60), id="node")
    assert found["order_id"] == "left alone"
    assert notes == [
        "Column 'order_id' is left alone, for it looks like an id, by its name: pass "
        "types={'order_id': 'number'} to average it."
    ]
    pd.testing.assert_frame_equal(result.table, people)


@pytest.mark.parametrize(
    ("name", "is_code"),
    [
        ("zip", True), ("zipcode", True), ("ZipCode", True), ("zone_id", True), ("zoneId", True),
        ("area_code", True), ("stfips", True), ("id_region", True), ("Continuum Code_2013", True),
        ("cat_typology", True), ("state", True), ("soil type", True), ("Pclass", True),
        ("lines_of_code", False), ("n_codes", False), ("code_count", False), ("paid", False),
        ("age_group", False), ("time_zone", False), ("class_size", False), ("income_state", False),
        ("pop_county", False), ("year", False), ("rating", False), ("covid", False), ("", False),
    ],
)  # fmt: skip
def test_names(name, is_code):
    assert names_code(name, repeats=True) is is_code


def test_names_of_classes_need_repeated_values():
    assert names_code("zip", repeats=False)
    assert not names_code("type", repeats=False)


# -- quantities --


def smooth(rng, n):
    """Values of a ring whose neighbours are alike: 0 on average, about 1 apart."""
    return np.convolve(rng.normal(size=n + 20), np.ones(21) / np.sqrt(21), mode="valid")


QUANTITIES = {
    "counts": lambda z, rng: rng.poisson(np.exp(1.5 + z)),
    "large counts": lambda z, rng: rng.poisson(np.exp(8 + 2 * z)),
    "ages": lambda z, rng: np.clip(45 + 20 * z, 0, 100),
    "years": lambda z, rng: 1960 + 25 * z,
    "ratings": lambda z, rng: np.clip(3 + z, 1, 5),
    "incomes in hundreds": lambda z, rng: 100 * np.rint(300 * np.exp(z)),
    "two digits": lambda z, rng: [float(f"{x:.1e}") for x in np.exp(9 + 2 * z)],
    "heaped": lambda z, rng: np.where(rng.random(len(z)) < 0.6, 1000, 1) * np.rint(40 * np.exp(z)),
    "coarse": lambda z, rng: 2500 * np.rint(2 * z + 20),
}


@settings(max_examples=60, deadline=None)
@given(
    what=st.sampled_from(sorted(QUANTITIES)),
    share=st.sampled_from([1, 2, 5]),
    seed=st.integers(0, 10**6),
)
def test_quantities_never_become_codes(what, share, seed):
    """Smooth along the links or not, and, but for those with gaps, equal within groups."""
    rng = np.random.default_rng(seed)
    z = smooth(rng, 600) if seed % 2 else rng.normal(size=600)
    if what in ("counts", "ages", "years", "ratings"):
        z = np.repeat(z, share)[:600]
    cells = np.rint(QUANTITIES[what](z, rng))
    found, notes, _ = kinds(on_ring(cells, "x"), ring(600), id="node")
    assert found["x"] in ("number", "integer")
    assert not notes
