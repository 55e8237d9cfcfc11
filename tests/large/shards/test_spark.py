"""Spark as an engine; needs pyspark and Java."""

import shutil
from contextlib import closing

import numpy as np
import pytest

import graphfill as gf
from graphfill.errors import InputError
from graphfill.large._engines import SparkEngine, propagate_sharded
from graphfill.large._shards import cut

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::graphfill.errors.UnreachedWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark")
    with closing(SparkEngine(workers=2)) as engine:
        yield engine


@pytest.mark.parametrize("options", [{"n_iter": 4}, {"solver": "exact", "tol": 1e-6}])
def test_the_same_bits(spark, here, problem, options):
    graph, X = problem(weighted=True)
    result = propagate_sharded(X, graph, n_shards=3, engine=spark, **options)
    np.testing.assert_array_equal(
        result.X, propagate_sharded(X, graph, n_shards=1, engine=here, **options).X
    )
    expected = gf.propagate(X, graph, reorder=False, **options)
    np.testing.assert_allclose(result.X, expected.X, atol=1e-6)


def test_refusals_come_back(spark, problem, tmp_path):
    from graphfill.large._engines import run

    graph, X = problem()
    cut(graph, X, 2, tmp_path)
    (tmp_path / "shard-00001.bin").unlink()
    with pytest.raises(InputError, match=r"shard-00001\.bin is missing"):
        run(tmp_path, spark)
