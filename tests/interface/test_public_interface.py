"""The public interface is the one that is written down in public.json."""

import pytest
from interface.record import SECTIONS, describe, differences, load


@pytest.mark.parametrize("section", SECTIONS)
def test_as_written_down(section):
    if section in ("names", "signatures", "members", "attributes"):
        pytest.importorskip("torch_geometric")
    found = differences(load()[section], describe(section))
    assert not found, "\n".join(["The public interface has changed:", *found])


def test_differences_are_told_apart():
    old = {"a": [1, 2], "b": {"x": 1, "y": 2}, "c": 3}
    new = {"a": [2, 3], "b": {"x": 5, "z": 2}, "c": 3}
    assert differences(old, new) == [
        "removed: a: 1",
        "added: a: 3",
        "changed: b / x: from 1 to 5",
        "removed: b / y",
        "added: b / z = 2",
    ]
