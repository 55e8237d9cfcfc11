"""The page about the paper is written by hand: short, and what it quotes follows from the rows."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import pytest

from graphfill.bench._paper import tables
from graphfill.bench._paper.experiments import (
    FEATURELESS,
    FILLED,
    FORMS,
    METHODS,
    MIXHOP,
    SETS,
    TABLE_1_RATES,
    WHOLE,
    WORST,
)
from graphfill.bench._paper.measured import TABLE_1, TABLE_2, TITLES, Measured
from graphfill.bench._paper.spectral import Spectrum
from graphfill.bench._results import Results
from graphfill.bench._table import Difference, Published, written

FOLDER = Path(__file__).parents[2] / "docs" / "paper"
TEXT = (FOLDER / "README.md").read_text("utf-8")
LINES = [line for line in TEXT.splitlines() if line.startswith("|")]
PROSE = " ".join(" ".join(line for line in TEXT.splitlines() if line not in LINES).split())
RIVALS = (*(method for method in FILLED if method != "fp"), *WHOLE)
SIZES = {"cora": (2_485, 5_069), "citeseer": (2_120, 3_679), "pubmed": (19_717, 44_324),
         "photo": (7_487, 119_043), "computers": (13_381, 245_778)}  # nodes, edges  # fmt: skip


@pytest.fixture(scope="module")
def measured() -> Measured:
    return Measured(Results(FOLDER / "runs.parquet").rows())


def test_the_page_is_short_and_its_files_are_there():
    assert len(PROSE.split()) < 1200
    linked = re.findall(r"\]\(((?:tables|figures)/[^)]+)\)", TEXT)
    assert len(linked) > 12
    assert all((FOLDER / path).is_file() for path in linked)


def test_the_tables_are_those_of_the_rows(measured):
    for name, make in tables.TABLES.items():
        table = make(measured)
        assert (FOLDER / "tables" / f"{name}.csv").read_text("utf-8") == table.csv()
        shown = f"{table.title}\n\n{table.markdown()}\n"
        assert (FOLDER / "tables" / f"{name}.md").read_text("utf-8") == shown


def accuracy(measured: Measured, *where: object) -> float:
    return measured.estimate(measured.cell(*where)).mean


def beside(ours: float, paper: object) -> str:
    return f"{ours:.2f} ({paper.mean:.2f})" if isinstance(paper, Published) else f"{ours:.2f}"


def test_the_two_tables_on_the_page(measured):
    for name in SETS:
        cells = [
            beside(accuracy(measured, name, "fp", rate), paper)
            for rate, paper in TABLE_1[name].items()
        ]
        assert f"| {TITLES[name]} | {' | '.join(cells)} |" in LINES
    for method in METHODS:
        cells = [beside(accuracy(measured, s, method), TABLE_2[s].get(method)) for s in SETS]
        assert f"| {TITLES[method]} | {' | '.join(cells)} |" in LINES


# -- what the sentences say, each computed from the rows --


def leads(measured: Measured, rivals: tuple[str, ...]) -> dict[tuple[str, str], Difference]:
    """Of Feature Propagation over others, by set and method, from the runs both have."""
    return {
        (s, m): measured.difference(measured.cell(s, "fp"), measured.cell(s, m))
        for s in SETS
        for m in rivals
    }


def won(measured: Measured, rivals: tuple[str, ...]) -> str:
    lead = leads(measured, rivals)
    n = sum(all(lead[s, m].mean > 0 for m in rivals) for s in SETS)
    return f"{n} of {len(SETS)} sets"


def rivals_beaten(measured):
    close = [pair for pair, lead in leads(measured, RIVALS).items() if not lead.clear]
    assert close == [("computers", "neighbors")]
    return f"imputation method on {won(measured, RIVALS)}. On Computers its lead over the neighbour"


def featureless_beaten(measured):
    behind = {p: lead for p, lead in leads(measured, FEATURELESS).items() if lead.mean < 0}
    ((pair, lead),) = behind.items()
    assert pair == ("pubmed", "positional")
    assert not lead.clear
    return (
        f"ahead on {won(measured, FEATURELESS)}; on PubMed positional encodings are "
        f"{-lead.mean:.2f} points better, which is within noise"
    )


def neighbours_beat_networks(measured):
    n = sum(
        accuracy(measured, s, "neighbors") > max(accuracy(measured, s, m) for m in WHOLE)
        for s in SETS
    )
    return f"a plain mean over neighbours beats PaGNN and GCNMF holds on {n} of {len(SETS)} sets"


def within_the_bar(measured, make: Callable[[Measured], tables.Table]) -> Counter[str]:
    """How many figures of a table are within the bar, beyond and above."""
    judged = [row for row in make(measured).rows if row[4] is not None]
    return Counter((row[5] or "within").split()[0] for row in judged)


def first_table(measured):
    count = within_the_bar(measured, tables.table_1)
    beyond = Counter(row[0] for row in tables.table_1(measured).rows if row[5])
    assert beyond == {"CiteSeer": 4, "PubMed": 1}
    return (
        f"{count['within']} of {count.total()} figures are within the bar. The others are the 4 of "
        "CiteSeer and PubMed with none missing"
    )


def second_table(measured):
    count = within_the_bar(measured, tables.table_2)
    return (
        f"{count['within']} of {count.total()} are within the bar, {count['above']} (GCNMF) are "
        f"above by more, which is no miss, and {count['beyond']} are beyond it"
    )


def accuracy_kept(measured):
    full = {s: accuracy(measured, s, "full", 0.0) for s in SETS}
    kept = {
        m: 100 * mean(accuracy(measured, s, m) / full[s] for s in SETS) for m in ("fp", *RIVALS)
    }
    assert max(RIVALS, key=lambda method: kept[method]) == "neighbors"
    return (
        f"FP keeps {kept['fp']:.1f} % of the accuracy on full features; the neighbour mean, the "
        f"best of the other imputation methods, keeps {kept['neighbors']:.1f} %"
    )


def smallest_error(measured):
    rows = tables.reconstruction(measured).rows
    assert not [row for row in rows if row[3] == row[5] == 1]
    ((rank, estimate),) = [(row[3], row[4]) for row in rows if row[:2] == ["Photo", "global mean"]]
    assert rank == 2
    return f"second smallest error, and a GCN on it an accuracy of {estimate.mean:.2f} %"


def exact_fill(measured):
    rows = tables.exact(measured).rows
    sides = {(row[0], row[6]) for row in rows if row[6] != "within noise"}
    assert {name for name, verdict in sides if verdict == "exact better"} == {"Cora", "CiteSeer"}
    assert {n for n, verdict in sides if verdict == "40 steps better"} == {"Photo", "Computers"}
    count = Counter((row[1], row[6]) for row in rows)
    assert Counter(row[1] for row in rows) == {"uniform": 15, "structural": 15}
    parts = [
        f"clearly better in {count[mask, 'exact better']} and clearly worse in "
        f"{count[mask, '40 steps better']} where {what}"
        for mask, what in (("uniform", "single cells are missing"), ("structural", "whole nodes"))
    ]
    return ", and ".join(parts)


def largest_clear_difference(measured):
    clear = [row for row in tables.exact(measured).rows if row[5].clear]
    most = max(clear, key=lambda row: abs(row[5].mean))
    assert most[1] == "structural"
    return f"is {most[5].mean:+.2f} points, on {most[0]} with {most[2]} of the nodes missing"


def links_of_a_node(measured):
    links = {name: 2 * n_edges / n_nodes for name, (n_nodes, n_edges) in SIZES.items()}
    sparse, dense = max(links["cora"], links["citeseer"]), min(links["photo"], links["computers"])
    return (
        f"have up to {sparse:.1f} links a node, is in favour of the exact fill; every one on Photo "
        f"and Computers, which have {dense:.1f} or more"
    )


def time_ratios(measured) -> dict[str, str]:
    own = {s: sum(measured.seconds(measured.cell(s, "fp"))) for s in SETS}
    ratios = {m: [sum(measured.seconds(measured.cell(s, m))) / own[s] for s in SETS] for m in WHOLE}
    return {method: f"{min(r):.1f} to {max(r):.1f}" for method, r in ratios.items()}


def run_times(measured):
    ratios = time_ratios(measured)
    shares = []
    for name in SETS:
        fill, train = measured.seconds(measured.cell(name, "fp"))
        shares.append(100 * fill / (fill + train))
    return (
        f"PaGNN takes {ratios['pagnn']} times as long as FP with a GCN, GCNMF {ratios['gcnmf']} "
        "times as long; the paper says 3 times for both. The fill is "
        f"{min(shares):.0f} to {max(shares):.0f} % of the time of FP"
    )


def homophily_gaps(measured) -> list[tuple[float, float]]:
    """At no homophily and at most: how far FP is below full features, and above zero fill."""
    gaps = []
    for name in (MIXHOP[0], MIXHOP[-1]):
        full, fp, zero = (
            accuracy(measured, name, method, rate, "sage")
            for method, rate in (("full", 0.0), ("fp", WORST), ("zero", WORST))
        )
        gaps.append((full - fp, fp - zero))
    return gaps


def homophily(measured):
    (lost_low, gain_low), (lost_high, gain_high) = homophily_gaps(measured)
    return (
        f"FP is {lost_low:.1f} points below full features at homophily 0.0 and {lost_high:.1f} at "
        f"0.9. It is {gain_low:.1f} and {gain_high:.1f} points above zero fill there"
    )


def steps_and_starts(measured):
    with (FOLDER / "tables" / "convergence.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["set"] for row in rows} == {"Cora", "CiteSeer", "Photo"}

    def most(column, missing, pick=max):
        return pick(float(row[column]) for row in rows if row["missing"] == missing)

    def span(column, scale=100, digits=0):
        low, high = (most(column, "99 %", pick) * scale for pick in (min, max))
        return f"{low:.{digits}f} to {high:.{digits}f}"

    return (
        f"they are at most {100 * most('40 steps', '50 %'):.1f} % away from their limit. With 99 % "
        f"missing they are {span('40 steps')} % away, and a random start ends "
        f"{span('another start, 40 steps', 1, 1)} times their size away. The limit is then nearly "
        f"alike on all nodes: {span('not alike, limit')} % of its energy is not"
    )


def nothing_known(measured):
    found = {}
    for row in Results(FOLDER / "all-missing.parquet").rows():
        found.setdefault((row["set"], row["method"]), []).append(row["test_accuracy"])
    assert {len(runs) for runs in found.values()} == {5}
    mean_of = {key: f"{mean(runs):.2f}" for key, runs in found.items()}
    return (
        f"{mean_of['cora', 'random']} against {mean_of['cora', 'zero']} % on Cora, "
        f"{mean_of['citeseer', 'random']} against {mean_of['citeseer', 'zero']} % on CiteSeer"
    )


def relative_drops(measured):
    average = tables.drops(measured).rows[-1]
    assert average[0] == "average of 5"
    ours = [f"{-change:.2f}" for change in average[1::2]]
    paper = TABLE_1
    theirs = [
        100 * mean(1 - paper[s][rate].mean / paper[s][0.0].mean for s in SETS)
        for rate in TABLE_1_RATES
    ]
    printed = [f"{loss:.2f}" for loss in theirs]
    return (
        f"FP loses {ours[0]}, {ours[1]} and {ours[2]} %, in the paper {printed[0]}, {printed[1]} "
        f"and {printed[2]} %"
    )


def energy_shares() -> dict[float, float]:
    spectrum = Spectrum.from_csv((FOLDER / "tables" / "spectral.csv").read_text("utf-8"))
    return {rate: 100 * spectrum.low_share(rate) for rate in spectrum.energy}


def low_pass(measured):
    shares = energy_shares()
    assert list(shares.values()) == sorted(shares.values())
    first, *rest = (f"{share:.1f} %" for share in shares.values())
    return (
        f"{first} of the energy of Cora's features is in the lower half of the graph's spectrum. "
        f"Of what FP fills it is {rest[0]} with 50 % missing, {rest[1]} with 70 %, {rest[2]} with "
        f"90 % and {rest[3]} with 99 %"
    )


def controls_of(measured) -> list[list]:
    """The lines of that table that have a figure on the official code's test nodes."""
    others = [TITLES[form] for form in FORMS]
    rows = tables.controls(measured).rows
    return [row for row in rows if row[1] not in others and row[7] is not None]


def official_test_nodes(measured):
    rows = controls_of(measured)
    within = [row for row in rows if "beyond" not in (row[8] or "")]
    beyond = [row for row in rows if "beyond" in (row[5] or "")]
    mended = [row for row in beyond if row in within]
    ((name, what),) = [row[:2] for row in beyond if row not in within]
    assert (name, what) == ("PubMed", "Feature Propagation, none missing")
    return (
        f"{len(within)} of {len(rows)} figures are within the bar; of the {len(beyond)} that are "
        f"beyond it on random test nodes, {len(mended)} are"
    )


def varied(measured, variant: str) -> dict[str, list]:
    """The lines on which something was varied, by set."""
    rows = tables.controls(measured).rows
    return {row[0]: row for row in rows if row[9] == TITLES[variant]}


def binary_features(measured):
    row = varied(measured, "full-binary")["PubMed"]
    becomes = written(tables.Points(row[4] + row[10].mean))
    return f"becomes {becomes} if features are 0 and 1 in place of their weights"


def self_loops(measured):
    gains = [row[10] for row in varied(measured, "fp-loops").values()]
    assert not [gain for gain in gains if gain.clear and abs(gain.mean) >= 0.2]
    return f"no clear difference of 0.2 points or more on any of {len(gains)} sets"


def labels_without_loops(measured):
    row = varied(measured, "labels-plain")["OGBN-Arxiv"]
    return f"without them it is {row[4] + row[10].mean:.2f} points higher there"


def forms_of_eigenvectors(measured):
    rows = tables.controls(measured).rows
    rows = [row for row in rows if row[7] is not None]
    scaled, rest, raw = (
        max(abs(row[7]) for row in rows if row[1] == TITLES[form])
        for form in ("positional", *FORMS)
    )
    return (
        f"come within {scaled:.2f} points of its figures, such rows without the first eigenvector "
        f"within {rest:.2f}, and what SciPy gives within {raw:.2f}"
    )


def encodings_on_arxiv(measured):
    where = measured.cell("arxiv", "positional")
    rows = measured.runs(where).values()
    limit, patience = where.setting.max_epochs, where.setting.patience
    assert all(r["n_epochs"] == limit and limit - r["best_epoch"] < patience for r in rows)
    ours = written(Published(*measured.estimate(where)[:2]))
    paper = TABLE_2["arxiv"]["positional"].mean
    return f"reach {ours} (paper: {paper}) in {len(rows)} runs of at most {limit:,} epochs"


def encodings_without_the_first(measured):
    where = measured.cell("arxiv", "positional-rest")
    ours = measured.estimate(where)
    return (
        f"{ours.n} runs of at most {where.setting.max_epochs:,} epochs reach "
        f"{written(Published(*ours[:2]))}"
    )


def number_of_runs(measured):
    rows = Results(FOLDER / "runs.parquet").rows()
    when = sorted(row["when"][:10] for row in rows)
    (versions,) = {row["versions"] for row in rows}
    torch, geometric, numpy = (
        f"{name} {json.loads(versions)[name]}" for name in ("torch", "torch_geometric", "numpy")
    )
    return (
        f"{len(rows):,} runs, from {when[0]} to {when[-1]}, with {torch}, {geometric} and {numpy}"
    )


@pytest.mark.parametrize(
    "computed",
    [
        rivals_beaten,
        featureless_beaten,
        neighbours_beat_networks,
        first_table,
        second_table,
        accuracy_kept,
        smallest_error,
        exact_fill,
        largest_clear_difference,
        links_of_a_node,
        run_times,
        homophily,
        low_pass,
        steps_and_starts,
        nothing_known,
        relative_drops,
        official_test_nodes,
        binary_features,
        self_loops,
        labels_without_loops,
        forms_of_eigenvectors,
        encodings_on_arxiv,
        encodings_without_the_first,
        number_of_runs,
    ],
)
def test_what_the_page_says_follows_from_the_rows(computed, measured):
    assert computed(measured) in PROSE


def test_the_claims_on_the_page(measured):
    ours = 100 * (1 - mean(accuracy(measured, s, "fp") / accuracy(measured, s, "full", 0.0)
                           for s in SETS))  # fmt: skip
    paper = 100 * (1 - mean(TABLE_1[s][WORST].mean / TABLE_1[s][0.0].mean for s in SETS))
    ratios, shares = time_ratios(measured), list(energy_shares().values())
    (low, _), (high, _) = homophily_gaps(measured)

    def fewest(names, *cells):
        return min(len(measured.runs(measured.cell(s, *where))) for s in names for where in cells)

    synthetic = [("fp", WORST, "sage"), ("zero", WORST, "sage"), ("full", 0.0, "sage")]
    runs = {
        "loss": fewest(SETS, ("fp",), ("full", 0.0)),
        "rivals": fewest(SETS, *((m,) for m in ("fp", *RIVALS))),
        "featureless": fewest(SETS, *((m,) for m in ("fp", *FEATURELESS))),
        "time": fewest(SETS, *((m,) for m in ("fp", *WHOLE))),
        "homophily": fewest(MIXHOP, *synthetic),
    }
    for words in (
        f"with 99 % missing | {paper:.1f} % | {ours:.1f} % | {runs['loss']} | yes",
        f"imputation method | 5 of 5 sets | {won(measured, RIVALS)} | {runs['rivals']} | yes",
        f"no features | 4 of 5 sets | {won(measured, FEATURELESS)} | {runs['featureless']} | yes",
        f"| {ratios['pagnn']} and {ratios['gcnmf']} times | {runs['time']} | in part",
        f"| {high:.1f} at 0.9, {low:.1f} at 0.0 | {runs['homophily']} | yes",
        f"| {shares[0]:.0f} % to {shares[-1]:.0f} % | 1 | yes",
    ):
        assert words in "\n".join(LINES)
