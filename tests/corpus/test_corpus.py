"""Every run of the corpus gives what was written down in recorded.json."""

from pathlib import Path

import pytest
from corpus import record
from corpus.changed import CHANGED
from corpus.runs import all_runs, fresh

RECORDED = record.load(Path(__file__).with_name("recorded.json"))
RUNS = all_runs()
NEEDS = {"ecosystem: pyg": "torch_geometric", "arrays: containers": "torch"}


def test_every_run_is_written_down():
    assert list(RECORDED) == list(RUNS)
    assert set(CHANGED) <= set(RUNS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", RUNS)
def test_same_as_recorded(name):
    for begins, module in NEEDS.items():
        if name.startswith(begins):
            pytest.importorskip(module)
    verdicts = record.compare_run(RECORDED[name], fresh(RUNS[name]))
    different = [
        f"{part}: {verdict.sentence}"
        for part, verdict in verdicts.items()
        if verdict.kind == record.DIFFERENT
    ]
    assert not different, "\n".join(different)
