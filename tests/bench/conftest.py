"""What the bench's tests share: the folder of real graphs, and a small graph made up."""

import os

import pytest
from bench.groups import linked_groups


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
