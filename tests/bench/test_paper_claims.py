"""What is said of the paper's claims follows from the runs."""

from __future__ import annotations

import numpy as np
from bench.paper_rows import every, plausible

from graphfill.bench._paper.claims import claims
from graphfill.bench._paper.experiments import EXPERIMENTS
from graphfill.bench._paper.measured import Measured
from graphfill.bench._paper.spectral import Spectrum


def told(accuracy=plausible, seconds=None, spectrum=None):
    """By the first words of each claim: ours, and whether it is borne out."""
    made = every(EXPERIMENTS, accuracy=accuracy)
    if seconds is not None:
        made = [row | {"fill_seconds": 0.0, "train_seconds": seconds(row)} for row in made]
    rows = claims(Measured(made), spectrum).rows
    return {row[0].split()[0]: (row[2], row[4]) for row in rows}


def test_nothing_measured_claims_nothing():
    assert claims(Measured([]), None).rows == []


def test_losses_and_gains_are_counted():
    def fp_loses(where, run):
        return {"full": 80.0, "fp": 40.0, "zero": 60.0}.get(where.method, 50.0)

    def fp_wins(where, run):
        return {"full": 80.0, "fp": 76.8, "neighbors": 70.0}.get(where.method, 50.0)

    assert told(fp_loses)["loses"] == ("50.0 %", "no")
    assert told(fp_wins)["loses"] == ("4.0 %", "yes")
    assert told(fp_loses)["beats"][1] == "no"
    assert told(fp_wins)["beats"] == ("on 5 of 5", "yes")
    assert told(fp_loses)["aside,"] == ("on 0 of 5", "no")
    assert told(fp_wins)["aside,"] == ("on 5 of 5", "yes")


def test_a_rival_that_is_faster_is_no_threefold():
    def seconds(row):
        return {"fp": 2.0, "pagnn": 1.0, "gcnmf": 20.0}.get(row["method"], 1.0)

    ours, verdict = told(seconds=seconds)["is"]
    assert ours == "PaGNN 0.5 to 0.5 and GCNMF 10.0 to 10.0"
    assert verdict == "in part"


def test_homophily_and_the_filter():
    def even(where, run):
        return {"full": 90.0, "fp": 80.0}.get(where.method, 50.0)

    def needed(where, run):
        level = float(where.set[-3:]) if where.set.startswith("mixhop") else 0.5
        return {"full": 90.0, "fp": 40.0 + 50.0 * level}.get(where.method, 30.0)

    assert told(even)["needs"][1] == "no"
    assert told(needed)["needs"] == ("5.0 at 0.9, 50.0 at 0.0, +10.0 from zero", "yes")
    low, high = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    bins = {"lower": np.array([0.5, 1.5]), "count": np.ones(2)}
    stronger = Spectrum(**bins, magnitude={}, energy={0.0: high, 0.99: low})
    weaker = Spectrum(**bins, magnitude={}, energy={0.0: low, 0.99: high})
    assert told(spectrum=stronger)["is"] == ("50 % to 75 %", "yes")
    assert told(spectrum=weaker)["is"] == ("75 % to 50 %", "no")
