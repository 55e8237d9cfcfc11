"""Imputers where scikit-learn's users put them: pipelines, column transformers, searches."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from graphfill import FeaturePropagation, Graph, InputError, MeanImputer, NeighborMeanImputer

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")

SIDE = 12


def grid_town(seed=0):
    """A grid of streets with ids: x and z vary smoothly over it and half of their cells are lost;
    y follows from x, of which neighbours know what a row has lost."""
    rng = np.random.default_rng(seed)
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    ids = np.array([f"house {i}" for i in range(SIDE * SIDE)])
    right, down = np.flatnonzero(column < SIDE - 1), np.flatnonzero(row < SIDE - 1)
    graph = Graph.from_edges(
        ids[np.concatenate([right, down])], ids[np.concatenate([right + 1, down + SIDE])], nodes=ids
    )
    truth = np.stack([np.sin(row / 3) + np.cos(column / 4), row - column], axis=1)
    X = pd.DataFrame(truth, columns=["x", "z"], index=ids)
    lost = X.mask(rng.random(X.shape) < 0.5)
    y = pd.Series(3 * X["x"] + rng.normal(0, 0.1, len(X)), index=ids)
    order = rng.permutation(len(X))  # tables of real life are in no order
    return lost.iloc[order], y.iloc[order], graph


def propagation(graph, **parameters):
    return FeaturePropagation(graph, normalization="rw", solver="exact", **parameters)


def test_cross_validated_score_beats_the_mean_because_rows_find_their_neighbours():
    X, y, graph = grid_town()
    splits = KFold(4, shuffle=True, random_state=0)
    scores = {
        type(imputer).__name__: cross_validate(
            make_pipeline(imputer, StandardScaler(), Ridge()), X, y, cv=splits, error_score="raise"
        )["test_score"].mean()
        for imputer in (propagation(graph), MeanImputer(graph))
    }
    assert scores["FeaturePropagation"] > 0.9
    assert scores["FeaturePropagation"] > scores["MeanImputer"] + 0.2


def test_a_fold_is_filled_from_the_rows_that_were_fitted():
    """The pipeline's prediction is that of the steps by hand, fold by fold."""
    X, y, graph = grid_town()
    splits = KFold(3)
    model = make_pipeline(propagation(graph), Ridge())
    expected = np.empty(len(X))
    for train, test in splits.split(X):
        imputer = propagation(graph).fit(X.iloc[train])
        ridge = Ridge().fit(imputer.transform(X.iloc[train]), y.iloc[train])
        expected[test] = ridge.predict(imputer.transform(X.iloc[test]))
    np.testing.assert_allclose(cross_val_predict(model, X, y, cv=splits), expected)


def test_grid_search_over_settings_and_over_imputers():
    X, y, graph = grid_town()
    model = make_pipeline(propagation(graph), Ridge())
    name = "featurepropagation"
    search = GridSearchCV(
        model,
        [
            {f"{name}__normalization": ["rw", "sym"], f"{name}__shrinkage": [0.0, 1.0]},
            {name: [MeanImputer(graph), NeighborMeanImputer(graph, unreached="mean")]},
        ],
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_ == {f"{name}__normalization": "rw", f"{name}__shrinkage": 0.0}
    assert search.best_estimator_[0].graph is graph
    assert search.predict(X.iloc[:5]).shape == (5,)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_column_transformer(output):
    X, y, graph = grid_town()
    X["trade"] = np.where(y > 0, "shop", "home")
    floats = make_column_selector(dtype_include=float)
    columns = ColumnTransformer(
        [
            ("numbers", propagation(graph, add_indicator=True), floats),
            ("words", OneHotEncoder(sparse_output=False), ["trade"]),
        ]
    ).set_output(transform=output)
    model = make_pipeline(columns, LogisticRegression())
    out = columns.fit_transform(X)
    names = ["numbers__x", "numbers__z", "numbers__missingindicator_x",
             "numbers__missingindicator_z", "words__trade_home", "words__trade_shop"]  # fmt: skip
    assert list(columns.get_feature_names_out()) == names
    if output != "default":
        assert isinstance(out, pd.DataFrame if output == "pandas" else pl.DataFrame)
        assert list(out.columns) == names
    filled = np.asarray(out)[:, :2].astype(float)
    np.testing.assert_array_equal(filled, propagation(graph).fit_transform(X[["x", "z"]]))
    if output != "polars":  # scikit-learn splits pandas rows and keeps their labels
        assert cross_validate(model, X, y > 0, cv=3, error_score="raise")["test_score"].min() > 0.9


def test_after_another_step_rows_keep_their_labels_with_pandas_output():
    X, y, graph = grid_town()
    model = make_pipeline(StandardScaler(), propagation(graph), Ridge())
    with pytest.raises(InputError, match=r"96 row\(s\) but the graph has 144 node\(s\)"):
        cross_validate(model, X, y, cv=3, error_score="raise")  # the scaler gives a plain array
    model.set_output(transform="pandas")
    scores = cross_validate(model, X, y, cv=3, error_score="raise")["test_score"]
    assert scores.mean() > 0.9
    out = model[:-1].fit_transform(X)
    assert list(out.index) == list(X.index)


def test_a_fitted_pipeline_predicts_for_rows_it_has_not_seen():
    X, y, graph = grid_town()
    model = make_pipeline(propagation(graph), Ridge()).fit(X.iloc[:100], y.iloc[:100])
    rest = X.iloc[100:]
    blank = rest.assign(x=np.nan, z=np.nan)  # nothing but the neighbours to go by
    assert model.score(rest, y.iloc[100:]) > 0.9
    assert model.score(blank, y.iloc[100:]) > 0.8


def test_polars_rows_go_by_position():
    X, y, graph = grid_town()
    in_order = X.loc[graph.ids]
    table = pl.from_pandas(in_order)
    model = make_pipeline(propagation(graph).set_output(transform="polars"), Ridge())
    model.fit(table, y.loc[graph.ids])
    expected = make_pipeline(propagation(graph), Ridge()).fit(X, y).predict(in_order)
    np.testing.assert_allclose(model.predict(table), expected)
    with pytest.raises(InputError, match="give the graph ids and X a pandas index"):
        model.predict(table[:10])
