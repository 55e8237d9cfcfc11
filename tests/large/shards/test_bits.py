"""The same bits for any number of shards, any engine, and in one piece."""

import urllib.error
import urllib.request

import numpy as np
import pytest

import graphfill as gf
from graphfill.large._engines import ShardedSolving, propagate_sharded
from graphfill.solve import PropagationOptions

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")
compiled_only = pytest.mark.skipif(
    gf.kernels.implementation != "compiled", reason="SciPy's kernels add known rows last"
)


def assert_same(result, expected):
    np.testing.assert_array_equal(result.X, expected.X)
    np.testing.assert_array_equal(result.unreached, expected.unreached)
    np.testing.assert_allclose(result.residuals, expected.residuals, rtol=1e-9)
    assert (result.n_iter, result.n_unreached) == (expected.n_iter, expected.n_unreached)


@pytest.mark.parametrize("engine", ["local", "dask"], indirect=True)
@pytest.mark.parametrize("n_shards", [1, 2, 4, 16])
def test_diffusion_on_every_engine(engine, n_shards, problem):
    graph, X = problem(weighted=True)
    told = []
    result = propagate_sharded(
        X, graph, n_shards=n_shards, engine=engine, n_iter=5, unreached="nan", progress=told.append
    )
    assert_same(result, gf.propagate(X, graph, n_iter=5, unreached="nan", reorder=False))
    assert sum(told) == pytest.approx(1.0)
    assert len(told) >= 5 * n_shards


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalization", ["sym", "rw"])
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("order", ["given", "locality"])
def test_diffusion_with_every_option(
    here, dtype, weighted, normalization, self_loops, order, problem
):
    graph, X = problem(dtype, weighted, columns=35)  # two tiles
    options = {"normalization": normalization, "self_loops": self_loops, "n_iter": 4}
    result = propagate_sharded(
        X, graph, n_shards=3, engine=here, order=order, unreached="mean", **options
    )
    expected = gf.propagate(X, graph, unreached="mean", reorder=False, **options)
    assert result.X.dtype == X.dtype
    known = ~np.isnan(X)
    np.testing.assert_array_equal(result.X[known], X[known])
    reached = ~expected.unreached
    np.testing.assert_array_equal(result.X[reached], expected.X[reached])
    np.testing.assert_allclose(result.X, expected.X, rtol=1e-6)  # means: to rounding


@compiled_only
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_shards", [1, 5])
def test_rows_missing_whole_are_summed_as_in_one_piece(here, weighted, n_shards, problem):
    graph, X = problem(weighted=weighted, whole_rows=True)
    X[-10:] = 1.0
    result = propagate_sharded(X, graph, n_shards=n_shards, engine=here, n_iter=6)
    assert_same(result, gf.propagate(X, graph, n_iter=6, reorder=False))


@pytest.mark.parametrize(
    ("dtype", "normalization", "shards"), [("float32", "rw", (1, 2)), ("float64", "sym", (2, 16))]
)
def test_exact(here, local, dtype, normalization, shards, problem):
    graph, X = problem(dtype, weighted=True, columns=17)
    options = {"solver": "exact", "normalization": normalization, "tol": 1e-4}
    results = [
        propagate_sharded(X, graph, n_shards=n_shards, engine=engine, **options)
        for n_shards, engine in ((4, local), *((n_shards, here) for n_shards in shards))
    ]
    expected = gf.propagate(X, graph, reorder=False, **options)
    for result in results:
        np.testing.assert_allclose(result.X, expected.X, atol=1e-6)
        assert result.converged
        assert result.residual <= 1e-4
        if gf.kernels.implementation == "compiled":
            np.testing.assert_array_equal(result.X, results[0].X)


def test_exact_that_starts_again_where_rounding_drifts(here, problem):
    graph, X = problem("float32")
    options = {"solver": "exact", "tol": 1e-7}
    result = propagate_sharded(X, graph, n_shards=3, engine=here, **options)
    expected = gf.propagate(X, graph, reorder=False, **options)
    np.testing.assert_allclose(result.X, expected.X, atol=1e-6)
    assert result.n_iter == expected.n_iter


def test_exact_in_as_many_blocks_as_the_kernels_sum_in_has_their_bits(here, problem):
    graph, X = problem("float64", n=16_500, columns=2)
    result = propagate_sharded(X, graph, n_shards=3, engine=here, solver="exact", tol=1e-4)
    expected = gf.propagate(X, graph, solver="exact", tol=1e-4, reorder=False)
    if gf.kernels.implementation == "compiled":
        np.testing.assert_array_equal(result.X, expected.X)
    np.testing.assert_allclose(result.X, expected.X, atol=1e-9)


def test_weights_of_any_size_and_far_apart(here):
    """The third of a path's parts hangs on the others by weak edges alone."""
    weight = np.ones(199)
    weight[[100, 198]] = 1e-7, 3e-7
    X = np.full((200, 1), np.nan, dtype=np.float32)
    X[[0, 100, 199]] = [[1.0], [0.0], [1.0]]
    ends, options = [np.arange(199), np.arange(1, 200)], {"normalization": "rw"}
    for size in (1.0, 1e-60, 1e60):
        graph = gf.Graph.from_edges(*ends, weight=weight * size)
        steps = propagate_sharded(X, graph, n_shards=2, engine=here, **options)
        assert_same(steps, gf.propagate(X, graph, reorder=False, **options))
        exact = propagate_sharded(X, graph, n_shards=2, engine=here, solver="exact", **options)
        assert exact.converged
        assert exact.X.dtype == np.float32
        assert exact.X[150, 0] == pytest.approx(0.75, abs=1e-4)
    tiny, plain = X * np.float32(1e-35), gf.Graph.from_edges(*ends)
    with pytest.raises(gf.InputError, match=r"Column 0 holds numbers of up to 1\.0e-35"):
        propagate_sharded(tiny, plain, n_shards=2, engine=here, solver="exact")
    star = gf.Graph.from_edges([1, 1, 1, 1], [0, 2, 3, 4])
    huge = np.array([[3e38], [np.nan], [3e38], [3e38], [3e38]], dtype=np.float32)
    with pytest.raises(gf.InputError, match=r"Column 0 holds numbers of up to 3\.0e\+38"):
        propagate_sharded(huge, star, n_shards=2, engine=here, **options)
    whole = np.ones((200, 1), dtype=np.float32)
    none = propagate_sharded(whole, graph, n_shards=2, engine=here, n_iter=0, tol=1e-3)
    assert none.converged
    assert none.residual == 0


def test_what_a_worker_keeps_in_memory_does_not_matter(here, problem, monkeypatch):
    graph, X = problem()
    kept = [
        propagate_sharded(X, graph, n_shards=4, engine=here, **options).X
        for options in ({"n_iter": 6}, {"solver": "exact"})
    ]
    monkeypatch.setattr("graphfill.large._shards.shard.CACHE_BYTES", 0)
    monkeypatch.setattr("graphfill.large._shards.shard.HELD", 1)
    read = [
        propagate_sharded(X, graph, n_shards=4, engine=here, **options).X
        for options in ({"n_iter": 6}, {"solver": "exact"})
    ]
    np.testing.assert_array_equal(kept, read)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_from_files(here, problem, tmp_path, monkeypatch, weighted, self_loops):
    monkeypatch.setattr("graphfill.large._shards.manifest.CHUNK", 1000)  # many chunks
    graph, X = problem(weighted=weighted)

    def mapped_copy(name, array):
        np.save(tmp_path / f"{name}.npy", array)
        return np.load(tmp_path / f"{name}.npy", mmap_mode="r")

    names = ("indptr", "indices", "weights")[: 2 + weighted]
    arrays = {name: mapped_copy(name, getattr(graph, name)) for name in names}
    stored = gf.Graph.of_sorted_rows(**arrays, n_self_loops=graph.n_self_loops)
    mapped = mapped_copy("X", X)
    for order in ("given", "locality"):
        result = propagate_sharded(
            mapped, stored, n_shards=3, engine=here, n_iter=4, self_loops=self_loops, order=order
        )
        expected = gf.propagate(X, graph, n_iter=4, self_loops=self_loops, reorder=False)
        assert_same(result, expected)


def test_in_place_of_propagate(here, problem, tmp_path):
    graph, X = problem()
    solving = ShardedSolving(here, 3, tmp_path)
    told = []
    for options in ({"n_iter": 4, "unreached": "nan"}, {"n_iter": 2, "self_loops": True}):
        chosen = PropagationOptions(memory_limit="1GB", threads=1, reorder=False, **options)
        result = solving(X, graph, chosen, progress=told.append)
        assert_same(result, gf.propagate(X, graph, reorder=False, **options))
    assert sum(told) == pytest.approx(2.0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["solve-0001", "solve-0002"]
    solving.tidy()
    assert not list(tmp_path.iterdir())
    with pytest.raises(gf.InputError, match="solver chebyshev works in one piece, not in shards"):
        solving(X, graph, PropagationOptions(solver="chebyshev"))


def test_a_script_needs_no_guard(tmp_path):
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(
        "import graphfill as gf\n"
        "from graphfill.large._engines import propagate_sharded\n"
        "path = gf.Graph.from_edges([0, 1, 2], [1, 2, 3])\n"
        "X = [1.0, None, None, 4.0]\n"
        "r = propagate_sharded(X, path, n_shards=2, workers=1, normalization='rw', n_iter=2)\n"
        "print(r.X.tolist())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "[1.0, 1.5, 2.25, 4.0]\n", done.stderr


def test_dask_listens_on_this_machine_alone(dask):
    import psutil

    here = psutil.Process()
    found = {
        connection.laddr.ip
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert found == {"127.0.0.1"}
    with (
        pytest.raises(urllib.error.HTTPError, match="404"),
        urllib.request.urlopen(dask._cluster.dashboard_link),
    ):
        pass
