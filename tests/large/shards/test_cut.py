"""Cutting and joining: what a shard holds, and that nothing is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfill as gf
from graphfill.errors import InputError
from graphfill.large._engines import propagate_sharded, run
from graphfill.large._shards import cut, join
from graphfill.large._shards.cutting import block_rows, cut_rows
from graphfill.large._shards.shard import Shard
from graphfill.solve import PropagationOptions

pytestmark = pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning")


def test_a_shard_names_its_neighbours_in_the_order_of_the_whole_graph(problem, tmp_path):
    graph, X = problem(weighted=True)
    manifest = cut(graph, X, 4, tmp_path / "cut", order="locality")
    order = np.concatenate([Shard(manifest, s).nodes for s in range(4)])
    assert sorted(order) == list(range(graph.n_nodes))
    for s in range(4):
        shard = Shard(manifest, s)
        halo = shard._halo + np.repeat(manifest.bounds[:-1], np.diff(_halo_starts(shard)))
        place = np.concatenate([np.arange(*manifest.bounds[s : s + 2]), halo])
        for row in range(0, shard.n_rows, 17):
            node = shard.nodes[row]
            mine = slice(*shard.passes.indptr[row : row + 2])
            whole = slice(*graph.indptr[node : node + 2])
            np.testing.assert_array_equal(
                order[place[shard.passes.indices[mine]]], graph.indices[whole]
            )
            np.testing.assert_array_equal(shard.passes.weights[mine], graph.weights[whole])
        np.testing.assert_array_equal(shard.X, X[shard.nodes])


def _halo_starts(shard):
    starts = np.zeros(shard.manifest.n_shards + 1, dtype=int)
    for owner, start, stop in shard._owners:
        starts[owner + 1 :] = stop
        assert starts[owner] == start
    return starts


def test_locality_makes_halos_smaller(tmp_path):
    rng = np.random.default_rng(0)
    side = 60
    number = rng.permutation(side * side).reshape(side, side)
    grid = gf.Graph.from_edges(
        np.concatenate([number[1:].ravel(), number[:, 1:].ravel()]),
        np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()]),
        n_nodes=side * side,
    )
    X = rng.standard_normal((side * side, 1))
    shares = {
        order: sum(cut(grid, X, 4, tmp_path / order, order=order).halo) / side**2
        for order in ("given", "locality")
    }
    assert shares["given"] > 1.5
    assert shares["locality"] < 0.5


def test_rows_are_shared_by_work_and_cut_between_blocks():
    work = np.ones(100_000, dtype=int)
    work[:1000] = 1000
    bounds = cut_rows(work, 4)
    assert all(b % block_rows(100_000) == 0 for b in bounds[:-1])
    parts = np.add.reduceat(work, bounds[:-1])
    assert parts.max() < 1.6 * parts.min()
    assert cut_rows(np.r_[np.ones(9, dtype=int), 1000], 10) == list(range(11))
    with pytest.raises(InputError, match="n_shards is 11 but 10 row"):
        cut_rows(np.ones(10, dtype=int), 11)


@st.composite
def cases(draw):
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=25))
    weighted = draw(st.booleans())
    weight = [draw(st.floats(0.1, 9.0)) for _ in edges] if weighted and edges else None
    ends = np.array(edges, dtype=int).reshape(-1, 2).T
    graph = gf.Graph.from_edges(ends[0], ends[1], weight=weight, n_nodes=n, self_loops=True)
    # Columns of tiny numbers alone are refused over shards.
    number = st.floats(-1e6, 1e6, width=32).map(lambda x: x if abs(x) > 1e-20 else 0.0)
    cell = st.one_of(st.just(np.nan), number)
    columns = draw(st.integers(1, 3))
    X = np.array([[draw(cell) for _ in range(columns)] for _ in range(n)])
    if draw(st.booleans()):
        X[np.isnan(X).any(axis=1)] = np.nan
    return graph, X.astype(draw(st.sampled_from(["float32", "float64"])))


@settings(max_examples=25, deadline=None)
@given(
    case=cases(),
    shards=st.floats(0, 1),
    n_iter=st.integers(0, 3),
    normalization=st.sampled_from(["sym", "rw"]),
    order=st.sampled_from(["given", "locality"]),
    unreached=st.sampled_from(["zero", "nan"]),
    self_loops=st.booleans(),
)
def test_any_cut_of_any_graph(case, shards, n_iter, order, **options):
    class Here:
        def map(self, function, jobs, tick=None):
            return [function(job) for job in jobs]

    graph, X = case
    n_shards = 1 + int(shards * (graph.n_nodes - 1))
    before = X.copy()
    result = propagate_sharded(
        X, graph, n_shards=n_shards, engine=Here(), order=order, n_iter=n_iter, **options
    )
    expected = gf.propagate(X, graph, reorder=False, n_iter=n_iter, **options)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(result.unreached, expected.unreached)
    if gf.kernels.implementation == "compiled":
        np.testing.assert_array_equal(result.X, expected.X)
    else:
        np.testing.assert_allclose(result.X, expected.X, rtol=1e-5)


def test_join_waits_for_the_end(here, problem, tmp_path):
    graph, X = problem()
    cut(graph, X, 3, tmp_path / "cut", PropagationOptions(n_iter=2), order="locality")
    with pytest.raises(InputError, match="has come to step 0 of 2 and not to its end"):
        join(tmp_path / "cut")
    run(tmp_path / "cut", here)
    expected = gf.propagate(X, graph, n_iter=2, reorder=False).X
    np.testing.assert_array_equal(join(tmp_path / "cut").X, expected)


def test_the_last_two_barriers_are_kept(here, problem, tmp_path):
    graph, X = problem()
    cut(graph, X, 2, tmp_path, PropagationOptions(n_iter=5))
    run(tmp_path, here)
    assert sorted(p.name for p in (tmp_path / "barriers").iterdir()) == [
        "000004.json",
        "000005.json",
    ]
    assert {p.name[:8] for p in (tmp_path / "state").iterdir()} == {"z-000004", "z-000005"}
