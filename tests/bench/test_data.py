"""Sets: the paper's counts, files that are refused, downloads read as they are laid out."""

import gzip
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from graphfill import Graph, InputError
from graphfill.bench import _data as data
from graphfill.bench._draws import draw_mask, draw_split, usual_split
from graphfill.bench._own import ArrayFile, Files
from graphfill.bench._problem import Dataset, Split

PARTS = ("train", "val", "test")


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes"),
    [  # the paper's table of data sets
        ("cora", 2485, 5069, 1433, 7),
        ("citeseer", 2120, 3679, 3703, 6),
        ("pubmed", 19717, 44324, 500, 3),
        ("photo", 7487, 119043, 745, 8),
        ("computers", 13381, 245778, 767, 10),
    ],
)
def test_the_papers_counts(real_graphs, name, nodes, edges, features, classes):
    found = data.load(name)
    assert (found.n_nodes, found.graph.n_edges) == (nodes, edges)
    assert (found.n_features, found.n_classes) == (features, classes)
    assert found.dense().dtype == np.float32
    assert (np.bincount(found.y) > 0).all()


def test_arxiv_has_a_graph_and_an_official_split_but_no_features(real_graphs):
    found = data.load("arxiv")
    assert (found.n_nodes, found.graph.n_edges, found.n_features) == (169_343, 1_157_799, 0)
    (split,) = found.official
    sizes = [len(part) for part in (split.train, split.val, split.test)]
    assert sizes == [90_941, 29_799, 48_603]


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes"),
    [
        ("actor", 7_600, 26_659, 932, 5),
        ("chameleon", 890, 8_854, 2_325, 5),
        ("minesweeper", 10_000, 39_402, 7, 2),
        ("electric", 2_000, 1_928, 5, 3),
        ("twitch-de", 9_498, 153_138, 3_170, 2),
    ],
)
def test_sets_beyond_the_paper(real_graphs, name, nodes, edges, features, classes):
    found = data.load(name)
    counts = found.n_nodes, found.graph.n_edges, found.n_features, found.n_classes
    assert counts == (nodes, edges, features, classes)
    first, second, again = (draw_split(found, usual_split(name), seed) for seed in (0, 1, 10))
    parts = np.concatenate([first.train, first.val, first.test])
    assert np.array_equal(np.sort(parts), np.unique(parts))
    assert not np.array_equal(first.train, second.train)
    assert np.array_equal(first.train, again.train) == (len(found.official) == 10)


def test_tags_that_are_really_missing_are_missing(real_graphs):
    found = data.load("debian")
    unknown = draw_mask(found, "uniform", 0.0, 0)
    assert unknown.shape == (63_436, 527)
    assert 0.5 < unknown.all(axis=1).mean() < 0.55
    assert unknown.any(axis=1).sum() == unknown.all(axis=1).sum()


def test_a_graph_in_one_file_of_arrays(tmp_path):
    path = tmp_path / "own.npz"
    masks = {f"{part}_masks": np.eye(4, dtype=bool)[[at]] for at, part in enumerate(PARTS)}
    arrays = {"edges": np.array([[0, 1], [1, 2], [2, 3]]), "node_labels": np.array([0, 1, 0, -1])}
    np.savez(path, node_features=np.ones((4, 2)), **arrays, **masks)
    own = ArrayFile(str(path))
    found = own.load()
    assert own.name.startswith("own.npz@")
    assert (found.graph.n_edges, found.n_features, found.y.tolist()) == (3, 2, [0, 1, 0, -1])
    assert [len(found.official), found.official[0].val.tolist()] == [1, [1]]
    for changes, sentence in (
        ({"node_labels": None}, "has no array 'y', but 'x', 'edges'"),
        ({"node_labels": np.array([0.5] * 4)}, r"'y' .* has shape \(4,\) and dtype float64"),
        ({"node_features": np.ones((3, 2))}, "There are 3 rows of features but 4 classes"),
        ({"edges": np.array([[0, 9]])}, "9"),
        ({"train_masks": np.eye(3, dtype=bool)}, "do not fit each other"),
    ):
        held = {"node_features": np.ones((4, 2)), **arrays, **masks} | changes
        np.savez(path, **{key: value for key, value in held.items() if value is not None})
        with pytest.raises(InputError, match=sentence):
            own.load()
    path.write_bytes(b"PK but no archive")
    with pytest.raises(InputError, match=r"own\.npz is no \.npz file of arrays"):
        own.load()


def test_homophily_is_what_the_name_says(real_graphs):
    for name, homophily in (("mixhop-0.0", 0.0), ("mixhop-0.9", 0.9)):
        found = data.load(name)
        source = np.repeat(np.arange(found.n_nodes), np.diff(found.graph.indptr))
        alike = np.mean(found.y[source] == found.y[found.graph.indices])
        assert abs(alike - homophily) < 0.02


def test_largest_component_keeps_rows_edges_and_the_split():
    # A path 0 - 2 - 4 and a ring 1 - 3 - 5 - 6 with a tail 7.
    graph = Graph.from_edges([0, 2, 1, 3, 5, 6, 6], [2, 4, 3, 5, 6, 1, 7])
    split = Split(np.array([0, 1]), np.array([2, 3]), np.array([5, 7]))
    X = np.arange(16, dtype=np.float32).reshape(8, 2)
    for features in (X, sparse.csr_array(X)):
        whole = Dataset("both", graph, features, np.arange(8), (split,))
        found = data.largest_component(whole)
        assert found.y.tolist() == [1, 3, 5, 6, 7]
        assert np.array_equal(found.dense(), X[found.y])
        assert found.graph.n_edges == 5
        assert found.graph.degrees().tolist() == [2, 2, 2, 3, 1]
        (official,) = found.official
        assert [part.tolist() for part in (official.train, official.val, official.test)] == [
            [0], [1], [2, 4],
        ]  # fmt: skip


def test_a_changed_file_is_refused(real_graphs, tmp_path, monkeypatch):
    copy = tmp_path / "cora.npz"
    shutil.copy(Path(real_graphs, "cora.npz"), copy)
    copy.chmod(0o644)
    monkeypatch.setenv("GRAPHFILL_DATA", str(tmp_path))
    assert data.load("cora").n_nodes == 2485
    content = bytearray(copy.read_bytes())
    content[1000] ^= 1
    copy.write_bytes(content)
    with pytest.raises(InputError, match=r"cora\.npz is not the file .* SHA-256"):
        data.load("cora")


def test_neither_folder_nor_network_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHFILL_DATA", str(tmp_path))
    monkeypatch.setenv("GRAPHFILL_CACHE", str(tmp_path / "cache"))

    def no_network(*rest, **more):
        raise OSError("no network")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    with pytest.raises(InputError, match=r"ogbn_arxiv_graph\.npz .*GRAPHFILL_DATA.*no network"):
        data.load("arxiv")
    with pytest.raises(InputError, match=r"'products' .* cannot be downloaded \(no network; "):
        data.load("products")
    with pytest.raises(InputError, match="There is no set 'coro': did you mean 'cora'"):
        data.load("coro")


def test_an_archive_of_ogb_is_read(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHFILL_DATA", raising=False)
    monkeypatch.setenv("GRAPHFILL_CACHE", str(tmp_path))
    files = {
        "raw/edge.csv.gz": "0,1\n1,2\n3,1\n",
        "raw/node-feat.csv.gz": "0.5,1\n-2,0.25\n0,0\n1e-3,7\n",
        "raw/node-label.csv.gz": "0\n1\n1\n0\n",
        "split/time/train.csv.gz": "3\n0\n",
        "split/time/valid.csv.gz": "1\n",
        "split/time/test.csv.gz": "2\n",
    }
    path = tmp_path / "ogb" / "arxiv.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"arxiv/{name}", gzip.compress(text.encode()))
    found = data.load("arxiv")
    assert found.graph.n_edges == 3
    assert found.X.dtype == np.float32
    assert np.allclose(found.X, [[0.5, 1], [-2, 0.25], [0, 0], [1e-3, 7]])
    assert found.official[0].train.tolist() == [0, 3]
    assert found.y.tolist() == [0, 1, 1, 0]
    path.write_bytes(b"not an archive")
    with pytest.raises(InputError, match=r"arxiv\.zip cannot be read"):
        data.load("arxiv")


def test_a_download_cut_short_leaves_nothing(tmp_path, monkeypatch):
    class Answer:
        headers = {"Content-Length": "10"}  # noqa: RUF012
        pieces = iter([b"12345", b""])

        def __enter__(self):
            return self

        def __exit__(self, *rest):
            return None

        def read(self, size):
            return next(self.pieces)

    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: Answer())
    with pytest.raises(InputError, match=r"ended after 5 of 10 bytes.*try again"):
        data._download("http://example.org/a.zip", tmp_path / "a.zip")
    assert not list(tmp_path.iterdir())


def test_a_graph_from_files(tmp_path):
    nodes, edges = tmp_path / "people.csv", tmp_path / "friends.csv"
    nodes.write_text("who,age,city,job\na,30,x,cook\nb,,y,cook\nc,50,,pilot\nd,40,x,\n")
    edges.write_text("one,other\na,b\nb,c\nc,d\nd,z\n")
    found = Files(nodes, edges, "job", id="who").load()
    assert found.n_nodes == 5  # z is in no row, but part of the graph
    assert found.n_features == 3  # age, and city as x and y
    assert found.y.tolist() == [0, 0, 1, -1, -1]
    gaps = np.isnan(found.X)
    assert gaps[1].tolist() == [True, False, False]
    assert gaps[2].tolist() == [False, True, True]
    assert gaps[4].all()
    assert np.isclose(np.nanmean(found.X[:, 0]), 0)
    with pytest.raises(InputError, match=r"no column 'jobs' in people\.csv; did you mean 'job'"):
        Files(nodes, edges, "jobs").load()


def test_the_name_of_own_files_changes_with_them(tmp_path):
    nodes, edges = tmp_path / "n.csv", tmp_path / "e.csv"
    nodes.write_text("id,x,y\na,1,0\nb,2,1\n")
    edges.write_text("u,v\na,b\n")
    files = Files(str(nodes), str(edges), "y")
    before = files.name
    assert before.startswith("n.csv@")
    assert files.name == before
    nodes.write_text("id,x,y\na,1,0\nb,3,1\n")
    assert files.name != before


def test_cells_of_a_table_are_counted_not_their_indicators():
    graph = Graph.from_edges([0], [1])
    missing = np.array([[True, False, False], [False, True, True]])
    X, y = np.zeros((2, 3), np.float32), np.array([0, 1])
    assert Dataset("plain", graph, X, y).count_cells(missing) == 3
    assert Dataset("table", graph, X, y, cells=np.array([0, 1, 1])).count_cells(missing) == 2


def test_archives_come_over_a_checked_line():
    assert all(url.startswith("https://") for url, _ in data.OGB.values())
