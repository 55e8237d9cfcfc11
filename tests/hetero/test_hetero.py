"""Several types of nodes and edges, against the equations written out densely."""

import pickle

import numpy as np
import pytest

import graphfill as gf
from graphfill.hetero import propagate_hetero

NAN = np.nan
WRITES, ABOUT, CITES = (
    ("author", "writes", "paper"),
    ("paper", "on", "topic"),
    ("paper", "c", "paper"),
)


def small(seed=0, papers=30, authors=20, topics=4, columns=3):
    """Papers with gaps, authors without, topics with no features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(papers, columns))
    X[rng.random(X.shape) < 0.6] = NAN
    X[0] = rng.normal(size=columns)
    features = {"paper": X, "author": rng.normal(size=(authors, columns)), "topic": topics}
    edges = {
        WRITES: (rng.integers(0, authors, 70), rng.integers(0, papers, 70)),
        ABOUT: (np.arange(papers), rng.integers(0, topics, papers)),
        CITES: (rng.integers(0, papers, 40), rng.integers(0, papers, 40)),
    }
    return features, edges


def dense_limit(features, edges, weights):
    """The limit of X <- P X with known cells fixed, P from A = sum_r w_r S_r, column by column."""
    sizes = {k: x if isinstance(x, int) else len(x) for k, x in features.items()}
    first = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    n, columns = sum(sizes.values()), features["paper"].shape[1]
    A = np.zeros((n, n))
    for key, (u, v) in edges.items():
        R = np.zeros((n, n))
        R[u + first[key[0]], v + first[key[2]]] = 1.0
        R = np.maximum(R, R.T)
        np.fill_diagonal(R, 0.0)
        d = np.where(R.any(axis=1), R.sum(axis=1), 1.0)
        A += weights.get(key, 1.0) * R / np.sqrt(np.outer(d, d))
    X = np.full((n, columns), NAN)
    for kind, x in features.items():
        if not isinstance(x, int):
            X[first[kind] : first[kind] + sizes[kind]] = x
    L = np.diag(A.sum(axis=1)) - A
    for c in range(columns):
        u = np.isnan(X[:, c])
        X[u, c] = np.linalg.solve(L[np.ix_(u, u)], A[np.ix_(u, ~u)] @ X[~u, c])
    return {kind: X[first[kind] : first[kind] + sizes[kind]] for kind in sizes}


@pytest.mark.parametrize("weights", [{}, {WRITES: 0.3, ABOUT: 3.0}, {CITES: 0.0, WRITES: 10.0}])
def test_the_limit_is_that_of_one_graph_of_normalised_types(weights):
    features, edges = small()
    expected = dense_limit(features, edges, weights)
    result = propagate_hetero(features, edges, weights=weights, shared=["paper", "author"])
    for kind, filled in result.features.items():
        assert np.allclose(filled, expected[kind], atol=1e-8)
    known = ~np.isnan(features["paper"])
    assert np.array_equal(result.features["paper"][known], features["paper"][known])
    assert result.weights == {key: weights.get(key, 1.0) for key in edges}
    # Means of means: nothing leaves the range of what is known.
    low, high = np.nanmin(features["paper"]), np.nanmax(features["paper"])
    both = min(low, features["author"].min()), max(high, features["author"].max())
    assert both[0] <= result.features["topic"].min() <= result.features["topic"].max() <= both[1]


def standardized(X):
    return (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


def test_standard_scores_are_what_propagates_and_turn_back_into_values():
    features, edges = small()
    features["author"] = 40.0 + 9.0 * features["author"]
    scores = {kind: standardized(features[kind]) for kind in ("paper", "author")}
    expected = dense_limit(features | scores, edges, {})
    options = {"shared": ["paper", "author"], "like": {"topic": "paper"}, "tol": 1e-12}
    found = propagate_hetero(features, edges, standardize=True, **options).features
    for kind, scale in (("paper", "paper"), ("author", "author"), ("topic", "paper")):
        mean, deviation = np.nanmean(features[scale], axis=0), np.nanstd(features[scale], axis=0)
        np.testing.assert_allclose(found[kind], expected[kind] * deviation + mean, atol=1e-8)
    known = ~np.isnan(features["paper"])
    assert np.array_equal(found["paper"][known], features["paper"][known])
    assert np.array_equal(found["author"], features["author"])


@pytest.mark.parametrize("weights", [None, "held-out"])
def test_the_units_of_one_type_say_nothing_about_another_once_standardised(weights):
    features, edges = small(papers=60, authors=40)
    options = {"shared": ["paper", "author"], "standardize": True, "tol": 1e-12, "weights": weights}
    one = propagate_hetero(features, edges, **options)
    other = propagate_hetero(features | {"author": 1e3 + 50 * features["author"]}, edges, **options)
    assert one.weights == other.weights
    for kind in ("paper", "topic"):
        np.testing.assert_allclose(one.features[kind], other.features[kind], atol=1e-7)


def test_standard_scores_change_nothing_where_one_type_has_the_columns():
    features, edges = small()
    features["author"] = len(features["author"])
    plain, scored = (
        propagate_hetero(features, edges, standardize=flag, tol=1e-12).features
        for flag in (False, True)
    )
    for kind, values in plain.items():
        np.testing.assert_allclose(scored[kind], values, atol=1e-8)


def test_a_type_without_a_scale_takes_the_common_one():
    edges = {("a", "to", "b"): ([0, 1, 2], [0, 0, 0])}
    lone = {"a": np.array([[1.0], [3.0], [8.0]]), "b": np.array([[NAN]])}
    filled = propagate_hetero(lone, edges, shared=["a", "b"], standardize=True).features
    assert filled["b"].item() == pytest.approx(4.0)
    alike = {"a": np.full((3, 1), 5.0), "b": np.array([[NAN]])}
    filled = propagate_hetero(alike, edges, shared=["a", "b"], standardize=True).features
    assert filled["b"].item() == 5.0


@pytest.mark.parametrize(("rule", "value"), [("zero", 0.0), ("mean", 4.0), ("nan", NAN)])
def test_unreached_cells_are_in_units_of_their_own(rule, value):
    features = {"a": np.array([[3.0], [5.0], [NAN], [NAN]])}
    links = {("a", "to", "a"): ([0, 2], [1, 3])}
    with pytest.warns(gf.UnreachedWarning):
        result = propagate_hetero(features, links, standardize=True, unreached=rule)
    np.testing.assert_allclose(result.features["a"].ravel(), [3, 5, value, value])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_scores_of_numbers_whose_squares_are_none(size):
    columns = {"p": np.array([[1.0], [np.nan], [3.0]]), "a": np.array([[2.0], [5.0]])}
    edges = {("a", "writes", "p"): ([0, 0, 1, 1], [0, 1, 1, 2])}
    plain, scaled = (
        propagate_hetero(
            {kind: (X * factor, ["h"]) for kind, X in columns.items()}, edges, standardize=True
        ).features["p"]
        for factor in (1.0, size)
    )
    np.testing.assert_allclose(scaled / size, plain)


def test_a_reverse_type_is_recognised_and_counts_once():
    features, edges = small()
    alone = propagate_hetero(features, edges, shared="same_width")
    source, target = edges[WRITES]
    shuffled = np.random.default_rng(1).permutation(len(source))
    more = edges | {("paper", "written by", "author"): (target[shuffled], source[shuffled])}
    both = propagate_hetero(features, more, shared="same_width", weights={"written by": 1.0})
    assert both.weights == alone.weights
    assert np.array_equal(both.features["paper"], alone.features["paper"])
    other = edges | {("paper", "edited by", "author"): (target[1:], source[1:])}
    assert len(propagate_hetero(features, other, shared="same_width").weights) == 4


def one_type(**relations):
    """Edges by the name of their relation, between nodes 0 to 2: 0, ?, 10."""
    edges = {("n", name, "n"): pairs for name, pairs in relations.items()}
    return {"n": np.array([[0.0], [NAN], [10.0]])}, edges


def test_types_with_the_same_edges_in_the_same_direction_both_count():
    features, edges = one_type(near=([0], [1]), follows=([1], [2]), likes=([1], [2]))
    result = propagate_hetero(features, edges)
    assert set(result.weights) == set(edges)
    assert result.features["n"][1, 0] == pytest.approx(20 / 3)
    weights = {"follows": 2.0, "likes": 3.0}
    assert propagate_hetero(features, edges, weights=weights).features["n"][1, 0] == pytest.approx(
        50 / 6
    )


def test_each_of_them_has_a_reverse_of_its_own():
    features, edges = one_type(
        near=([0], [1]), follows=([1], [2]), likes=([1], [2]), rev_likes=([2], [1]),
        rev_follows=([2], [1]),
    )  # fmt: skip
    weights = {"rev_follows": 2.0, "rev_likes": 3.0, "likes": 3.0}
    result = propagate_hetero(features, edges, weights=weights)
    assert [key[1] for key in result.weights] == ["near", "follows", "likes"]
    assert list(result.weights.values()) == [1.0, 2.0, 3.0]
    with pytest.raises(gf.InputError, match=r"3.0 for 'likes' and 4.0 for 'rev_likes'.*one weight"):
        propagate_hetero(features, edges, weights={"likes": 3.0, "rev_likes": 4.0})


def test_columns_that_are_not_shared_pass_through_other_types_without_being_given():
    # paper 0 - author 0 - paper 1: the author's own column is another quantity.
    features = {"paper": np.array([[5.0], [NAN]]), "author": np.array([[100.0]])}
    edges = {WRITES: ([0, 0], [0, 1])}
    result = propagate_hetero(features, edges)
    assert result.features["paper"].ravel() == pytest.approx([5.0, 5.0])
    assert result.features["author"].tolist() == [[100.0]]
    shared = propagate_hetero(features, edges, shared="same_width")
    assert shared.features["paper"].ravel() == pytest.approx([5.0, 100.0])


def test_columns_of_the_same_name_are_shared():
    features = {
        "paper": (np.array([[1.0, 7.0], [NAN, NAN]]), ["year", "pages"]),
        "author": (np.array([[9.0, 3.0]]), ["age", "year"]),
        "topic": 1,
    }
    edges = {WRITES: ([0], [1]), ABOUT: ([0, 1], [0, 0])}
    result = propagate_hetero(features, edges, weights={WRITES: 1.0, "on": 1e-9})
    # Paper 1 takes the year from its author and the pages, by way of the topic, from paper 0.
    assert result.features["paper"][1] == pytest.approx([3.0, 7.0], abs=1e-6)
    assert result.features["topic"].shape == (1, 2)
    assert result.features["author"].tolist() == [[9.0, 3.0]]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_with_ids_come_back_as_they_came(kind):
    library = pytest.importorskip(kind)
    make = library.table if kind == "pyarrow" else library.DataFrame
    paper = make({"key": ["p1", "p2", "p3"], "year": [1990.0, None, 2020.0]})
    author = make({"name": ["ann", "bob"]})
    writes = make({"who": ["ann", "ann", "bob", "bob"], "what": ["p1", "p2", "p2", "p3"]})
    ids = {"paper": "key", "author": "name"}
    result = propagate_hetero({"paper": paper, "author": author}, {WRITES: writes}, id=ids)
    assert type(result.features["paper"]) is type(paper)
    for name, key, expected in (("paper", "key", 3), ("author", "name", 2)):
        table = result.features[name]
        names = table.column_names if kind == "pyarrow" else list(table.columns)
        assert names == [key, "year"]
        assert len(table) == expected
    assert np.asarray(result.features["paper"]["year"]).tolist() == [1990.0, 2005.0, 2020.0]
    stranger = make({"who": ["ann", "eve"], "what": ["p1", "p2"]})
    with pytest.raises(gf.InputError, match=r"Edge 1 .* names 'eve' as its source"):
        propagate_hetero({"paper": paper, "author": author}, {WRITES: stranger}, id=ids)


def test_held_out_cells_tell_a_type_that_misleads_from_one_that_helps():
    rng = np.random.default_rng(5)
    topic = rng.integers(0, 12, 240)
    X = rng.normal(size=(12, 4))[topic] + 0.1 * rng.normal(size=(240, 4))
    X[rng.random(X.shape) < 0.5] = NAN
    features = {"paper": X, "topic": 12, "author": 240}
    noise = (np.arange(720) % 240, rng.integers(0, 240, 720))  # every author has papers
    edges = {ABOUT: (np.arange(240), topic), WRITES: noise}
    equal = propagate_hetero(features, edges)
    chosen = propagate_hetero(features, edges, weights="held-out", seed=1)
    assert chosen.weights[WRITES] / chosen.weights[ABOUT] <= 0.1
    assert min(chosen.scores.values()) < 0.5 * chosen.scores[1.0, 1.0]
    truth = np.array([np.nanmean(X[topic == k], axis=0) for k in range(12)])[topic]
    hidden = np.isnan(X)

    def wrong(result):
        return np.abs(result.features["paper"] - truth)[hidden].mean()

    assert wrong(chosen) < 0.5 * wrong(equal)
    again = propagate_hetero(features, edges, weights="held-out", seed=1)
    assert again.scores == chosen.scores


def test_unreached_cells_are_said_by_type():
    features = {"paper": np.array([[1.0], [NAN], [NAN]]), "author": 2}
    edges = {WRITES: ([0, 0], [0, 1])}
    with pytest.warns(gf.UnreachedWarning, match="1 of 'paper', 1 of 'author'") as caught:
        result = propagate_hetero(features, edges, unreached="mean")
    assert [warning.filename for warning in caught] == [__file__]
    assert result.unreached["paper"].ravel().tolist() == [False, False, True]
    assert result.features["paper"].ravel() == pytest.approx([1.0, 1.0, 1.0])


def test_the_public_home_is_the_module():
    features, edges = small()
    result = propagate_hetero(features, edges, like={"topic": "paper"})
    assert type(result).__module__ == propagate_hetero.__module__ == "graphfill"
    copy = pickle.loads(pickle.dumps(result))
    assert copy.weights == result.weights
    assert pickle.loads(pickle.dumps(propagate_hetero)) is propagate_hetero


def test_refusals_name_type_place_and_remedy():
    features, edges = small()
    cases = [
        ({"shared": ["paper", "venue"]}, r"shared is \['paper', 'venue'\]"),
        ({"shared": []}, r"shared is \[\]"),
        ({"weights": {"reads": 1.0}}, "no edge type goes by that"),
        ({"weights": {WRITES: -1.0}}, "is -1.0 but must be finite and not negative"),
        ({"weights": "best"}, "weights is 'best'"),
        ({"like": {"author": "paper"}}, "node types without features are: 'topic'"),
        ({"solver": "magic"}, "solver is 'magic'"),
        ({"standardize": "type"}, "standardize is 'type'"),
    ]
    for options, sentence in cases:
        with pytest.raises(gf.InputError, match=sentence):
            propagate_hetero(features, edges, **options)
    with pytest.raises(gf.InputError, match=r"Edge 1 .* names node 20 of 'author', which has 20"):
        propagate_hetero(features, {WRITES: ([0, 20], [0, 1])}, like={"topic": "paper"})
    with pytest.raises(gf.InputError, match="names the node type 'venue'"):
        propagate_hetero(features, {("paper", "in", "venue"): ([0], [0])})
    with pytest.raises(gf.InputError, match="'topic' has no features and no neighbouring type"):
        propagate_hetero(features, {WRITES: edges[WRITES]})
    linked = {ABOUT: edges[ABOUT], ("author", "knows", "topic"): ([0], [0])}
    with pytest.raises(gf.InputError, match=r"different ones \('paper', 'author'\)"):
        propagate_hetero(features, linked)
    narrow = features | {"author": features["author"][:, :2]}
    with pytest.raises(gf.InputError, match=r"'paper' with 3 column.* and 'author' with 2"):
        propagate_hetero(narrow, edges, shared=["paper", "author"])


def test_a_type_that_only_passes_information_on():
    """It joins the papers of a topic; its own 100 columns are never made."""
    features, edges = small(columns=100)
    expected = propagate_hetero(features, edges)
    for weights in (None, {"on": 1.0}):
        result = propagate_hetero(features, edges, like={"topic": None}, weights=weights)
        assert result.features["topic"] == 4
        assert result.unreached["topic"].shape == (4, 0)
        for kind in ("paper", "author"):
            np.testing.assert_array_equal(result.features[kind], expected.features[kind])
    propagate_hetero(features, edges, like={"topic": None}, weights="held-out")


def test_a_table_of_a_type_that_only_passes_information_on_stays_as_it_was():
    pd = pytest.importorskip("pandas")
    papers = pd.DataFrame({"id": ["p", "q"], "year": [1990.0, NAN]})
    venues = pd.DataFrame({"id": ["v"]})
    held = {("paper", "in", "venue"): (["p", "q"], ["v", "v"])}
    tables = {"paper": papers, "venue": venues}
    result = propagate_hetero(tables, held, id="id", like={"venue": None})
    assert result.features["venue"] is venues
    assert result.features["paper"]["year"].tolist() == [1990.0, 1990.0]
