"""PCFI and FISF against their equations, written densely and column by column."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import adjacency

import graphfill as gf
from graphfill.solve._pcfi import FISFOptions, _Fill

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")


def distances(A, sources):
    """Hops to the nearest source, infinite where there is none."""
    s, reached = np.where(sources, 0.0, np.inf), sources
    for hop in range(1, len(A)):
        new = ((A @ reached) > 0) & ~reached
        s[new], reached = hop, reached | new
    return s


def diffused(A, x, known, g, steps):
    """One column: weights of messages by confidence, rows normalised, known cells reset."""
    W = (A + np.diag(A.diagonal() == 0)) * g
    total = W.sum(axis=1, keepdims=True)
    W = np.divide(W, total, out=np.zeros_like(W), where=total > 0)
    filled = np.where(known, x, 0.0)
    for _ in range(steps):
        filled = np.where(known, x, W @ filled)
    return filled


def spreads(X):
    """Standard deviations; 0 where rounding may have made them."""
    size = np.sqrt((X**2).mean(axis=0))
    return np.where(X.std(axis=0) > np.sqrt(np.finfo(float).eps) * size, X.std(axis=0), 0.0)


def first_step(A, X, alpha, steps):
    known = ~np.isnan(X)
    s = np.stack([distances(A, k) for k in known.T], axis=1)
    columns = [diffused(A, X[:, c], known[:, c], alpha ** s[:, c], steps) for c in range(len(X.T))]
    return np.stack(columns, axis=1), s


def pcfi(A, X, alpha=0.9, beta=1.0, steps=100):
    filled, s = first_step(A, X, alpha, steps)
    xi, sd = alpha**s, spreads(filled)
    varying = np.flatnonzero(sd)
    R = np.zeros((len(X.T), len(X.T)))
    if len(varying) > 1:
        R[np.ix_(varying, varying)] = np.corrcoef(filled[:, varying].T)
    np.fill_diagonal(R, 0.0)
    filled = filled + beta * (1 - xi) * ((xi * (filled - filled.mean(axis=0))) @ R)
    return np.where(np.isnan(X), filled, X)


def fisf(A, X, planted, alpha=0.9, beta=0.9, gamma=0.7, steps=100):
    filled, s = first_step(A, X, alpha, steps)
    digits, size = np.frexp(spreads(filled))
    least = np.argsort(np.ldexp(digits.round(6), size), kind="stable")[: int(gamma * len(X.T))]
    for c in least:
        row = planted.row[c]
        if row < 0:
            continue
        at = np.arange(len(X)) == row
        t = distances(A, at)
        t[np.isinf(t)] = 0.0
        known = ~np.isnan(X[:, c])
        x = np.where(at, planted.value[c], X[:, c])
        again = diffused(A, x, known | at, alpha ** s[:, c] * beta**t, steps)
        lost = np.isinf(s[:, c])
        filled[:, c] = np.where(at | lost, filled[:, c], again)
    return filled


@st.composite
def tables(draw):
    """A graph, perhaps weighted and in pieces, and a table with cells or whole nodes missing."""
    n, columns = draw(st.integers(2, 40)), draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    ends = rng.integers(0, n, (2, draw(st.integers(1, 3 * n))))
    weight = rng.random(ends.shape[1]) + 0.1 if draw(st.booleans()) else None
    graph = gf.Graph.from_edges(*ends, n_nodes=n, weight=weight, self_loops=draw(st.booleans()))
    X = rng.standard_normal((n, columns))
    share = draw(st.sampled_from([0.3, 0.7, 0.95]))
    X[(rng.random(n) < share) if draw(st.booleans()) else (rng.random(X.shape) < share)] = np.nan
    if draw(st.booleans()):
        X = np.where(np.isnan(X), X, X > 0)  # words
    return graph, X


@settings(deadline=None, max_examples=60)
@given(tables(), st.sampled_from([0.1, 0.5, 0.9, 0.99]), st.sampled_from([0.0, 0.5, 1.0]))
def test_pcfi_is_its_equations(table, alpha, beta):
    graph, X = table
    before = X.copy()
    result = gf.fill_pcfi(X, graph, alpha=alpha, beta=beta)
    np.testing.assert_allclose(result.X, pcfi(adjacency(graph), X, alpha, beta), rtol=0, atol=1e-6)
    known = ~np.isnan(X)
    assert result.X[known].tobytes() == X[known].tobytes()
    assert X.tobytes() == before.tobytes()


@settings(deadline=None, max_examples=60)
@given(tables(), st.sampled_from([0.5, 0.9]), st.sampled_from([0.5, 0.9]), st.integers(0, 3))
def test_fisf_is_its_equations(table, alpha, beta, seed):
    graph, X = table
    options = FISFOptions(alpha=alpha, beta=beta, seed=seed)
    fill = _Fill(X, graph, options, lambda share: None)
    fill.diffuse()
    planted = fill._drawn(np.arange(X.shape[1]), seed)
    result = gf.fill_fisf(X, graph, alpha=alpha, beta=beta, seed=seed)
    expected = fisf(adjacency(graph), X, planted, alpha, beta)
    np.testing.assert_allclose(result.X, expected, rtol=0, atol=1e-6)
    known = ~np.isnan(X)
    assert result.X[known].tobytes() == X[known].tobytes()
    # A made-up number lies between 0 and 1 and never over a known cell.
    drawn = np.flatnonzero(planted.row >= 0)
    assert np.isnan(X[planted.row[drawn], drawn]).all()
    assert ((planted.value >= 0) & (planted.value < 1)).all()
    assert not np.isin(result.X[planted.row[drawn], drawn], planted.value[drawn]).any()


FILLS = [gf.fill_pcfi, gf.fill_fisf]
both = pytest.mark.parametrize("fill", FILLS, ids=lambda fill: fill.__name__)


def wide_table(n=3000, columns=70, dtype=np.float32):
    """A graph of some communities, and a table of many tiles."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 4 * n))
    X = rng.standard_normal((n, columns)).astype(dtype)
    X[rng.random(X.shape) < 0.95] = np.nan
    return X, gf.Graph.from_edges(*ends, n_nodes=n)


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_on_any_number_of_threads_in_any_tiles(fill, dtype):
    X, graph = wide_table(dtype=dtype)
    expected = fill(X, graph, threads=1).X
    for options in ({"threads": 3}, {"memory_limit": 6 * X.nbytes}, {"threads": 2}):
        assert fill(X, graph, **options).X.tobytes() == expected.tobytes()
    assert expected.dtype == dtype


@both
def test_single_precision_is_close_and_columns_go_alone(fill):
    X, graph = wide_table(300, 40)
    single, double = fill(X, graph).X, fill(X.astype(float), graph).X
    np.testing.assert_allclose(single, double, atol=1e-3)
    if fill is gf.fill_pcfi:
        alone = [fill(X[:, c], graph).X for c in range(5)]
        np.testing.assert_array_equal(np.stack(alone, 1), fill(X, graph, beta=0).X[:, :5])


def test_a_column_may_be_correlated_in_blocks(monkeypatch):
    X, graph = wide_table(200, 30, np.float64)
    whole = gf.fill_pcfi(X, graph).X
    monkeypatch.setattr("graphfill.solve._correlation.ROOMY_COLUMNS", 1)
    monkeypatch.setattr("graphfill.solve._correlation.ROWS", 64)
    monkeypatch.setattr("graphfill.solve._correlation.block_columns", lambda *sizes: 7)
    np.testing.assert_allclose(gf.fill_pcfi(X, graph).X, whole, atol=1e-12)


@both
def test_progress_adds_up_to_one_and_the_answer_says_how_it_went(fill):
    X, graph = wide_table(200, 40)
    shares = []
    result = fill(X, graph, progress=shares.append)
    assert sum(shares) == pytest.approx(1.0)
    assert result.n_iter == 100
    assert 0 < result.residual < 0.1
    assert result.converged is None


def test_confidence_far_away_is_computed_with_or_refused():
    n = 3000
    path = gf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    x = np.full(n, np.nan)
    x[0] = 1.0
    far = gf.fill_pcfi(x.astype(np.float32), path, alpha=0.2, n_iter=300).X
    near = gf.fill_pcfi(x[:400], gf.Graph.from_edges(np.arange(399), np.arange(1, 400)),
                        alpha=0.2, n_iter=300).X  # fmt: skip
    np.testing.assert_allclose(far[:301], near[:301], rtol=1e-5)
    assert far[300] > 0  # a value gets one hop further with each step
    assert not far[301:].any()
    with pytest.raises(gf.InputError, match="pass an alpha nearer to 1"):
        gf.fill_pcfi(x, path, alpha=0.01, n_iter=300)
    assert np.isfinite(gf.fill_fisf(x, path, gamma=1).X).all()


@pytest.mark.parametrize("unreached", ["zero", "mean", "nan"])
def test_cells_out_of_reach(unreached):
    # Two pairs: the second column is known in the first pair alone.
    X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, np.nan], [2.0, np.nan], [1.0, 1.0], [3.0, 4.0]])
    graph = gf.Graph.from_edges([0, 2, 4], [1, 3, 5])
    plain = gf.fill_pcfi(X, graph).X
    start = {"zero": 0.0, "mean": np.nanmean(X[:, 1]), "nan": np.nan}[unreached]
    with pytest.warns(gf.UnreachedWarning, match="2 of 3 missing cells") as caught:
        result = gf.fill_pcfi(X, graph, unreached=unreached)
    assert ("other columns add" in str(caught[0].message)) == (unreached != "nan")
    assert result.n_unreached == 2
    assert (
        result.unreached.tolist()
        == [[False, False]] * 2 + [[False, True]] * 2 + [[False, False]] * 2
    )
    np.testing.assert_allclose(result.X[2:4, 1], plain[2:4, 1] + start)
    assert (plain[2:4, 1] != 0).all()  # from the first column alone
    imputer = gf.PCFI(graph, unreached=unreached)
    np.testing.assert_array_equal(imputer.fit_transform(X), result.X)
    np.testing.assert_allclose(gf.fill_fisf(X, graph, unreached=unreached).X[2:4, 1], start)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": 1.0}, "alpha is 1.0 but must lie between 0 and 1"),
        ({"beta": -1}, "beta is -1 but must be a number of at least 0"),
        ({"n_iter": 0}, "n_iter is 0"),
        ({"unreached": "none"}, "unreached is 'none' but must be one of"),
        ({"memory_limit": 1000}, "memory_limit is 1 kB but"),
        ({"gamma": 2}, "gamma is 2 but must be a share of columns"),
    ],
)
def test_refusals(options, sentence):
    X, graph = wide_table(50, 3)
    fill = gf.fill_fisf if "gamma" in options else gf.fill_pcfi
    with pytest.raises(gf.InputError, match=sentence):
        fill(X, graph, **options)
