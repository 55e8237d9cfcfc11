"""What the bench's tests share: the folder of real graphs, and a small graph made up."""

import os
import sys

import pytest
from bench.groups import linked_groups


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Of torch: blocks as small as most here are done before a second thread is awake."""
    torch = sys.modules.get("torch")
    before = torch and torch.get_num_threads()
    if torch:
        torch.set_num_threads(1)
    yield
    if torch:
        torch.set_num_threads(before)


@pytest.fixture(scope="session")
def real_graphs():
    """The folder of real graphs; skips where there is none."""
    folder = os.environ.get("GRAPHFILL_DATA")
    if not folder:
        pytest.skip("GRAPHFILL_DATA names no folder")
    return folder


@pytest.fixture
def made_up():
    return linked_groups()
