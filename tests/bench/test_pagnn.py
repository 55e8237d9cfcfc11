"""PaGNN's first layer."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from classified_graph import classified_graph  # noqa: E402

from graphfill.bench.models import gcn, pagnn  # noqa: E402


@pytest.mark.parametrize("missing", [0.5, 0.97])  # one dense, one sparse on the way
def test_it_is_the_formula(missing):
    problem = classified_graph(missing=missing, dtype=np.float64)
    X = problem.incomplete().astype(np.float64)
    S = gcn.operator(problem.dataset.graph, np.float64).toarray()
    M = (~np.isnan(X)).astype(float)
    above, below = S.sum(1)[:, None] * (S @ np.nan_to_num(X)), S @ M
    expected = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    found = pagnn.partial_aggregate(X, gcn.operator(problem.dataset.graph, np.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (expected == 0).any()  # some cell has no neighbour that knows it


def test_with_nothing_missing_it_is_a_graph_convolution():
    problem = classified_graph()
    S = gcn.operator(problem.dataset.graph)
    np.testing.assert_array_equal(
        pagnn.partial_aggregate(problem.dataset.X, S), S @ problem.dataset.X
    )
