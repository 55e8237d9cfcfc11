"""What every imputer promises, whatever its formula."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from graphfill import (
    FISF,
    PCFI,
    FeaturePropagation,
    FieldImputer,
    Graph,
    InputError,
    MeanImputer,
    NeighborMeanImputer,
    RandomImputer,
    SpectralImputer,
    UnreachedWarning,
    ZeroImputer,
)

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")

NAN = float("nan")
IMPUTERS = [
    FeaturePropagation(),
    FieldImputer(),
    PCFI(),
    FISF(),
    SpectralImputer(),
    ZeroImputer(),
    RandomImputer(random_state=0),
    MeanImputer(),
    NeighborMeanImputer(),
]
VARIANTS = [
    FeaturePropagation(unreached="mean"),
    FeaturePropagation(normalization="rw", solver="exact", unreached="nan"),
    FeaturePropagation(add_indicator=True),
    FieldImputer(unreached="nan"),
    PCFI(unreached="mean", add_indicator="all"),
    SpectralImputer(unreached="nan"),
    SpectralImputer(fallback=False),
    NeighborMeanImputer(unreached="mean"),
    MeanImputer(keep_empty_features=False),
]
every_imputer = pytest.mark.parametrize("imputer", IMPUTERS, ids=lambda i: type(i).__name__)

# A ring of ten nodes with two chords, and a pair apart.
GRAPH = Graph.from_edges(
    [*range(10), 0, 2, 10], [*range(1, 10), 0, 5, 7, 11], n_nodes=12, weight=np.arange(1.0, 14.0)
)


def table(dtype=np.float64, seed=0):
    """Twelve rows, four columns, the first with nothing missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)).astype(dtype)
    X[:, 1:][rng.random((12, 3)) < 0.4] = np.nan
    return X


def on(graph, imputer, **parameters):
    return clone(imputer).set_params(graph=graph, **parameters)


# -- scikit-learn --


def is_array_api_check(check):
    return check.func.__name__.startswith("check_array_api")


def checks():
    for estimator in IMPUTERS + VARIANTS:
        for instance, check in estimator_checks_generator(estimator):
            if not is_array_api_check(check):  # which needs a process of its own, below
                yield pytest.param(instance, check, id=f"{estimator!r}-{check.func.__name__}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_scikit_learn_array_api_checks():
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        "from graphfill.imputers import *\n"
        "for imputer in (FeaturePropagation(), FieldImputer(), PCFI(), FISF(), SpectralImputer(),\n"
        "                ZeroImputer(), RandomImputer(), MeanImputer(), NeighborMeanImputer()):\n"
        "    for estimator, check in estimator_checks_generator(imputer):\n"
        "        if check.func.__name__.startswith('check_array_api'):\n"
        "            check(estimator)\n"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@every_imputer
def test_clone_shares_the_graph(imputer):
    assert clone(on(GRAPH, imputer)).graph is GRAPH


@every_imputer
def test_pickled_imputer_gives_the_same_answer(imputer):
    imputer = on(GRAPH, imputer).fit(table())
    copy = pickle.loads(pickle.dumps(imputer))
    np.testing.assert_array_equal(copy.transform(table()), imputer.transform(table()))


@every_imputer
def test_the_public_home_is_the_module(imputer):
    assert type(imputer).__module__ == "graphfill"
    assert b"graphfill.imputers" not in pickle.dumps(imputer)


@every_imputer
def test_in_a_pipeline(imputer):
    model = make_pipeline(on(GRAPH, imputer), LinearRegression())
    y = np.arange(12.0)
    assert model.fit(table(), y).predict(table()).shape == y.shape


@every_imputer
def test_indicator_columns_are_those_of_scikit_learn(imputer):
    X = pd.DataFrame(table(), columns=list("abcd"))
    reference = SimpleImputer(add_indicator=True).set_output(transform="pandas").fit_transform(X)
    imputer = on(GRAPH, imputer, add_indicator=True)
    out = imputer.fit_transform(X)
    assert list(out.columns) == list(reference.columns) == list(imputer.get_feature_names_out())
    pd.testing.assert_frame_equal(out.iloc[:, 4:], reference.iloc[:, 4:])
    np.testing.assert_array_equal(imputer.fit_transform(X.to_numpy()), out)


@pytest.mark.parametrize("wanted", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("given", [np.asarray, pd.DataFrame, pl.DataFrame, torch.tensor])
@every_imputer
def test_set_output_decides_on_the_kind(imputer, given, wanted):
    X = given(table())
    imputer = on(GRAPH, imputer, add_indicator=True)
    plain = imputer.fit_transform(X)
    kind = wanted.__module__.split(".")[0]
    with config_context(transform_output=kind):
        everywhere = imputer.fit_transform(X)
    out = imputer.set_output(transform=kind).fit_transform(X)
    assert isinstance(out, wanted)
    assert isinstance(everywhere, wanted)
    assert list(out.columns) == list(imputer.get_feature_names_out())
    np.testing.assert_array_equal(out.to_numpy(), np.asarray(plain))
    assert isinstance(imputer.set_output(transform="default").fit_transform(X), type(X))


# -- cells --


@every_imputer
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**16), dtype=st.sampled_from([np.float32, np.float64]))
def test_known_cells_keep_their_bits_and_none_is_left_missing(imputer, seed, dtype):
    X = table(dtype, seed)
    before = X.copy()
    out = on(GRAPH, imputer).fit_transform(X)
    assert out.dtype == dtype
    assert X.tobytes() == before.tobytes()
    known = ~np.isnan(X)
    assert out[known].tobytes() == X[known].tobytes()
    assert np.isfinite(out).all()


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        pd.DataFrame,
        lambda X: pd.DataFrame(X, columns=list("abcd")).astype("Float32"),
        lambda X: pl.DataFrame(X, schema=list("abcd"), nan_to_null=True),
        lambda X: pa.table(dict(zip("abcd", X.T, strict=True))),
        torch.tensor,
    ],
    ids=["numpy", "pandas", "nullable", "polars", "pyarrow", "torch"],
)
@every_imputer
def test_the_kind_that_comes_in_goes_out(imputer, make):
    X = make(table(np.float32))
    imputer = on(GRAPH, imputer).fit(X)
    expected = on(GRAPH, imputer).fit_transform(table(np.float32))
    for out in (imputer.transform(X), on(GRAPH, imputer).fit_transform(X)):
        assert type(out) is type(X)
        assert getattr(out, "schema", None) == getattr(X, "schema", None)
        assert str(getattr(out, "dtypes", None)) == str(getattr(X, "dtypes", None))
        assert getattr(out, "dtype", None) == getattr(X, "dtype", None)
        np.testing.assert_array_equal(np.asarray(out, dtype=np.float32), expected)


@every_imputer
def test_lists_come_back_as_arrays(imputer):
    X = [[None if np.isnan(cell) else cell for cell in row] for row in table().tolist()]
    out = on(GRAPH, imputer).fit_transform(X)
    np.testing.assert_array_equal(out, on(GRAPH, imputer).fit_transform(table()))


@every_imputer
def test_fit_then_transform_is_fit_transform(imputer):
    fitted = on(GRAPH, imputer).fit(table())
    np.testing.assert_array_equal(
        fitted.transform(table()), on(GRAPH, imputer).fit_transform(table())
    )
    np.testing.assert_array_equal(fitted.transform(table()), fitted.transform(table()))


@every_imputer
def test_statistics_are_the_means_of_known_cells(imputer):
    X = table()
    X[:, 3] = np.nan
    fitted = on(GRAPH, imputer).fit(X)
    np.testing.assert_allclose(fitted.statistics_[:3], np.nanmean(X[:, :3], axis=0))
    assert np.isnan(fitted.statistics_[3])


@pytest.mark.parametrize(
    "imputer",
    # Not those that draw numbers row by row.
    [one for one in IMPUTERS if not isinstance(one, (FieldImputer, FISF, RandomImputer))],
    ids=lambda i: type(i).__name__,
)
def test_permuting_the_nodes_permutes_the_answer(imputer):
    order = np.random.default_rng(1).permutation(12)
    A = dense(GRAPH)[np.ix_(order, order)]
    permuted = Graph.of(A)
    expected = on(GRAPH, imputer).fit_transform(table())[order]
    np.testing.assert_allclose(on(permuted, imputer).fit_transform(table()[order]), expected)


def dense(graph):
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    A[rows, graph.indices] = 1.0 if graph.weights is None else graph.weights
    return A


# -- columns without a known cell --


@every_imputer
def test_an_all_missing_column_is_kept_and_named(imputer):
    X = pd.DataFrame(table(), columns=["a", "b", "c", "d"])
    X["c"] = NAN
    imputer = on(GRAPH, imputer)
    with pytest.warns(UnreachedWarning, match="columns without any known cell: 'c'") as caught:
        out = imputer.fit_transform(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert list(out.columns) == list("abcd")
    assert imputer.unreached_[:, 2].all()
    if isinstance(imputer, RandomImputer):
        assert out["c"].nunique() == 12
    else:
        assert (out["c"] == 0).all()
    with pytest.warns(UnreachedWarning, match="columns without any known cell: 2"):
        imputer.fit_transform(X.to_numpy())


@every_imputer
def test_an_all_missing_column_may_be_dropped(imputer):
    X = pd.DataFrame(table(), columns=["a", "b", "c", "d"])
    X["c"] = NAN
    imputer = on(GRAPH, imputer, keep_empty_features=False, add_indicator=True)
    with pytest.warns(UnreachedWarning, match="dropped: 'c'"):
        imputer.fit(X)
    out = imputer.transform(X)
    names = ["a", "b", "d", "missingindicator_b", "missingindicator_c", "missingindicator_d"]
    assert list(out.columns) == list(imputer.get_feature_names_out()) == names
    assert imputer.fit_transform(X.to_numpy()).shape == (12, 6)
    with pytest.raises(InputError, match="would drop every column"):
        imputer.fit(X[["c"]])


@every_imputer
def test_an_all_missing_column_may_stay_missing(imputer):
    X = table()
    X[:, 2] = np.nan
    out = on(GRAPH, imputer, unreached="nan").fit_transform(X)
    assert np.isnan(out[:, 2]).all()


# -- no graph --


@pytest.mark.parametrize(
    ("unreached", "expected"), [("zero", [0, 0]), ("mean", [2, 5]), ("nan", [NAN, NAN])]
)
@pytest.mark.parametrize("kind", [FeaturePropagation, NeighborMeanImputer])
def test_without_a_graph_the_policy_decides(kind, unreached, expected):
    X = np.array([[1.0, 5.0], [3.0, NAN], [NAN, NAN]])
    imputer = kind(unreached=unreached)
    with pytest.warns(UnreachedWarning, match="3 of 3 missing cells"):
        imputer.fit(X)
    assert imputer.graph_ is None
    np.testing.assert_array_equal(imputer.transform(X)[2], expected)
    np.testing.assert_array_equal(imputer.transform([[NAN, NAN]])[0], expected)
    np.testing.assert_array_equal(imputer.unreached_, np.isnan(X))


# -- rows and ids --

NAMES = np.array([f"n{i}" for i in range(12)])
NAMED = Graph.from_scipy(scipy.sparse.csr_array(dense(GRAPH)), ids=NAMES)


def named_table():
    return pd.DataFrame(table(), index=NAMES, columns=list("abcd"))


@every_imputer
def test_rows_go_by_id_in_any_order(imputer):
    X = named_table()
    expected = on(NAMED, imputer).fit_transform(X)
    np.testing.assert_array_equal(expected, on(GRAPH, imputer).fit_transform(table()))
    shuffled = X.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(
        on(NAMED, imputer).fit_transform(shuffled), expected.loc[shuffled.index]
    )
    pd.testing.assert_frame_equal(
        on(NAMED, imputer).fit(X).transform(shuffled), expected.loc[shuffled.index]
    )


@every_imputer
def test_train_and_test_rows(imputer):
    X = named_table()
    train, test = X.iloc[[8, 1, 3, 5, 10, 0]], X.iloc[[2, 11, 4]]
    fitted = on(NAMED, imputer).fit(train)
    on_train = on(NAMED, imputer).fit_transform(train)
    pd.testing.assert_frame_equal(fitted.transform(train), on_train)
    assert fitted.unreached_.shape == train.shape

    # The test rows replace their own, the train rows stay, and all others are unknown.
    both = pd.concat([train, test]).reindex(X.index)
    expected = on(NAMED, imputer).fit(train).transform(both)
    pd.testing.assert_frame_equal(fitted.transform(test), expected.loc[test.index])


@every_imputer
def test_row_numbers_are_ids_too(imputer):
    X = pd.DataFrame(table(), columns=list("abcd"))
    expected = on(GRAPH, imputer).fit(X).transform(X)
    part = X.iloc[[7, 2]]
    pd.testing.assert_frame_equal(on(GRAPH, imputer).fit(X).transform(part), expected.loc[[7, 2]])
    with pytest.raises(InputError, match="could go by label or by position"):
        on(GRAPH, imputer).fit(X[::-1])
    # Labels that are no row numbers leave only the position.
    elsewhere = on(GRAPH, imputer).fit_transform(X[::-1].set_axis(range(100, 112)))
    np.testing.assert_array_equal(elsewhere, on(GRAPH, imputer).fit_transform(table()[::-1]))


@every_imputer
def test_cross_validation_splits_rows_by_id(imputer):
    model = make_pipeline(on(NAMED, imputer), LinearRegression())
    y = np.arange(12.0)
    predicted = cross_val_predict(model, named_table(), y, cv=3)
    assert np.isfinite(predicted).all()


@every_imputer
def test_sources_do_not_follow_the_callers_memory(imputer):
    X = named_table()
    fitted = on(NAMED, imputer).fit(X)
    part = X.iloc[:3].copy()
    expected = fitted.transform(part)
    X.iloc[:, :] = 1e6
    pd.testing.assert_frame_equal(fitted.transform(part), expected)


@every_imputer
def test_rows_refused(imputer):
    X = named_table()
    imputer = on(NAMED, imputer)
    with pytest.raises(InputError, match="Row label 'nobody' is no node of the graph"):
        imputer.fit(X.rename({"n3": "nobody"}))
    with pytest.raises(InputError, match="Row label 'n3' occurs more than once"):
        imputer.fit(X.rename({"n4": "n3"}))
    with pytest.raises(InputError, match=r"X has 11 row\(s\) but the graph has 12 node\(s\)"):
        imputer.fit(X.to_numpy()[:11])
    with pytest.raises(InputError, match=r"X has 3 row\(s\) but the graph has 12 node\(s\)"):
        imputer.fit(X).transform(pl.from_pandas(X.iloc[:3]))


# -- parameters --


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("unreached", "median"), ("add_indicator", 1), ("keep_empty_features", "yes")],
)
@every_imputer
def test_parameters_are_refused_in_fit(imputer, parameter, value):
    with pytest.raises(InputError, match=f"{parameter} is {value!r} but must be"):
        on(GRAPH, imputer, **{parameter: value}).fit(table())


@every_imputer
def test_a_single_column_is_refused(imputer):
    for X in (np.ones(12), pd.Series(np.ones(12)), pl.Series(np.ones(12)), torch.ones(12)):
        with pytest.raises(InputError, match="Reshape your data"):
            on(GRAPH, imputer).fit(X)


@every_imputer
def test_a_graph_may_come_in_any_form(imputer):
    X = table()
    expected = on(GRAPH, imputer).fit_transform(X)
    matrix = dense(GRAPH)
    fitted = on(matrix, imputer).fit(X)
    assert isinstance(fitted.graph_, Graph)
    np.testing.assert_array_equal(fitted.transform(X), expected)
    edges = np.array([[0, 1], [1, 2], [2, 3]]).T
    assert on(edges, imputer).fit(X).graph_.n_nodes == 12
