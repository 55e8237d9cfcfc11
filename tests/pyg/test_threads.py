"""How many threads the kernels take: as many as torch is set to, unless told."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch.utils.data import DataLoader  # noqa: E402

from graphfill.kernels import _threads  # noqa: E402
from graphfill.solve import PropagationOptions  # noqa: E402


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.setattr(_threads, "available", lambda: 16)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(16)
    yield
    torch.set_num_threads(before)


def threads(item=None, **options):
    return PropagationOptions(**options).n_threads


def test_torch_and_openmp_say_how_many(monkeypatch):
    assert threads() == 16
    torch.set_num_threads(3)
    assert threads() == 3
    assert threads(threads=5) == 5
    for given, expected in (("2", 2), (" 2,1", 2), ("8", 3), ("many", 3), ("", 3), ("0", 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert threads() == expected


class Counts(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, item):
        return threads(), threads(threads=7)


def test_a_worker_of_a_loader_takes_one_unless_told():
    assert [tuple(map(int, pair)) for pair in DataLoader(Counts())] == [(16, 7)] * 2
    loader = DataLoader(Counts(), num_workers=1, multiprocessing_context="fork")
    assert [tuple(map(int, pair)) for pair in loader] == [(1, 7)] * 2
