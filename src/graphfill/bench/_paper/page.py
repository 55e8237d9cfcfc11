"""The page about the paper: findings, tables, figures, and what they rest on.

Everything on it comes from the results file; a figure that is not there yet is left out, and
how many runs are missing is said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...io._atomic import replacing
from . import advice, claims, deviations, figures, findings, published, style, tables
from .experiments import AS_PAPER, EXPERIMENTS, LARGE, cell, wanted
from .measured import ENOUGH, Measured, Row
from .names import of_set, times
from .spectral import WIDTH, Spectrum
from .table import Table

COMMAND = "graphfill bench paper"


class Section(NamedTuple):
    """A heading, how to get it, what it says, and its table and figures by name."""

    title: str
    command: str
    sentences: Sequence[str | None]
    table: str | None = None
    drawn: Sequence[str] = ()


def write_tables(measured: Measured, folder: Path, names: Sequence[str] | None = None) -> None:
    """Each table as Markdown and CSV."""
    for name in tables.TABLES if names is None else names:
        table = tables.TABLES[name](measured)
        if table.rows:
            write(folder / "tables" / f"{name}.md", f"{table.title}\n\n{table.markdown()}\n")
            write(folder / "tables" / f"{name}.csv", table.csv())


def write_figures(
    measured: Measured,
    folder: Path,
    spectrum: Spectrum | None = None,
    names: Sequence[str] = figures.FIGURES,
) -> list[Path]:
    """Each figure there is something to draw of, as SVG and PNG."""
    draw: dict[str, Callable[[], Any]] = {
        "gcn": lambda: figures.accuracy(measured, "gcn"),
        "sage": lambda: figures.accuracy(measured, "sage"),
        "run-time": lambda: figures.run_time(measured),
        "homophily": lambda: figures.homophily(measured),
        "spectral": lambda: None if spectrum is None else figures.spectral(spectrum),
        "exact": lambda: figures.exact(measured),
    }
    written: list[Path] = []
    for name in names:
        figure = draw[name]()
        if figure is not None:
            (folder / "figures").mkdir(parents=True, exist_ok=True)
            written += style.save(figure, folder / "figures", name)
    return written


def write_page(measured: Measured, rows: Sequence[Row], folder: Path) -> Path:
    """README.md, beside the tables and figures that were written before."""
    spectrum = read_spectrum(folder)
    path = folder / "README.md"
    write(path, render(measured, rows, folder, spectrum))
    return path


def read_spectrum(folder: Path) -> Spectrum | None:
    """What was computed before; drawing it again takes no run."""
    try:
        return Spectrum.from_csv((folder / "tables" / "spectral.csv").read_text("utf-8"))
    except FileNotFoundError:
        return None


def write_spectrum(spectrum: Spectrum, folder: Path) -> None:
    """For :func:`read_spectrum`, and for whoever wants the numbers."""
    write(folder / "tables" / "spectral.csv", spectrum.csv())


def write(path: Path, text: str) -> None:
    """A text that appears whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def render(measured: Measured, rows: Sequence[Row], folder: Path, spectrum: Spectrum | None) -> str:
    """The page as Markdown."""
    first = [
        findings.headline(measured),
        findings.without_features(measured),
        _first_table(measured),
        deviations.explained(measured),
        advice.advice(measured),
    ]
    parts = ["# The Feature Propagation paper, measured again", _joined(first)]
    borne_out = claims.claims(measured, spectrum)
    if borne_out.rows:
        parts.append(borne_out.markdown())
    parts.append(
        "Accuracies are percent of the test nodes, mean ± standard error over runs (their number "
        "in brackets), each with its own split, mask and start; differences are in points, ours "
        "less the paper's. A difference is clear if 0 is outside its 95 % interval by Student's t, "
        f"from {ENOUGH} runs or more. A bar is how far from the paper's a figure may be, set "
        "before anything was run."
    )
    epochs = measured.scope.setting.max_epochs
    if epochs != AS_PAPER.max_epochs:
        parts.append(
            f"These are quick runs, of {epochs} epochs at most: they say whether it works, and not "
            "what comes of it."
        )
    for section in _sections(measured, spectrum):
        parts += _section(section, measured, folder)
    parts += _account(measured, rows)
    return "\n\n".join(parts) + "\n"


def _first_table(measured: Measured) -> str | None:
    told = findings.agreement(tables.table_1(measured), named=False)
    return told and f"In the paper's first table {told[:-1]}, {published.FP_BAR.points:g} points."


def _sections(measured: Measured, spectrum: Spectrum | None) -> list[Section]:
    bars = f"The bar is {published.FP_BAR.points:g} points."
    smooth = f"Magnitudes are means over eigenvalues in bins of {WIDTH:g} and over columns."
    lowpass = None if spectrum is None else f"{spectrum.finding()}."
    one, two = tables.table_1(measured), tables.table_2(measured)
    return [
        Section("Accuracy by share missing", "--table 1",
                [findings.agreement(one), bars], "table-1"),
        Section("All methods with 99 % missing", "--table 2",
                [findings.agreement(two), deviations.explained(measured, second=True),
                 published.bars()], "table-2"),
        Section("Error of the fill and accuracy", "--table 2 --figure exact",
                [findings.ranks(measured)], "reconstruction"),
        Section("Accuracy against the share missing, GCN", "--figure gcn",
                _accuracies(measured, "gcn"), None, ["gcn"]),
        Section("Accuracy against the share missing, GraphSAGE", "--figure sage",
                _accuracies(measured, "sage"), None, ["sage"]),
        Section("Exact fill or 40 steps", "--figure exact",
                [advice.recommendation(measured)], "exact", ["exact"]),
        Section("Run-time", "--figure run-time",
                [findings.run_times(measured), _propagation(measured)], "run-time", ["run-time"]),
        Section("Homophily", "--figure homophily",
                [findings.homophily(measured)], "homophily", ["homophily"]),
        Section("A low-pass filter", "--figure spectral", [lowpass, smooth], None, ["spectral"]),
        Section("Where the official code differs from the text", "--all",
                [deviations.controls(measured)], "controls"),
    ]  # fmt: skip


def _section(section: Section, measured: Measured, folder: Path) -> list[str]:
    """Its parts; nothing where there is neither a table nor a figure."""
    body = []
    if section.table is not None:
        table = tables.TABLES[section.table](measured)
        if table.rows:
            body += [table.markdown(), f"[CSV](tables/{table.name}.csv)"]
    for name in section.drawn:
        if (folder / "figures" / f"{name}.svg").exists():
            body.append(f"![{section.title}](figures/{name}.svg)")
    if not body:
        return []
    text = _joined(section.sentences)
    return [f"## {section.title}", f"`{COMMAND} {section.command}`", *([text] if text else []),
            *body]  # fmt: skip


def _propagation(measured: Measured) -> str:
    """Our seconds of the fill beside the paper's, where both are known."""
    told = []
    for name, seconds in published.PROPAGATION_SECONDS.items():
        ours = measured.median(cell(name, "fp", scope=measured.scope), "fill_seconds")
        if ours is not None:
            told.append(f"{of_set(name)} {ours:.2f} s (paper, on a GPU: about {seconds:g} s)")
    alone = f" Filling alone: {'; '.join(told)}." if told else ""
    return (
        "Seconds are by the clock, of one thread on a machine that other work kept busy, more at "
        "some hours than at others: the same work took several times as long in one run as in "
        f"another, so medians are compared, and only large ratios say something.{alone}"
    )


def _account(measured: Measured, rows: Sequence[Row]) -> list[str]:
    """What was measured, what was not and why, with what."""
    counted = []
    for experiment in EXPERIMENTS:
        asked = wanted([experiment], measured.scope)
        done = sum(min(n, len(measured.runs(c))) for c, n in asked.items())
        counted.append([experiment, done, sum(asked.values())])
    columns = ["experiment", "runs so far", "runs wanted"]
    parts = [
        "## What was measured, and what was not",
        Table("runs", "Runs", columns, counted).markdown(),
        "`" + COMMAND + " --all` does the rest, the most important first, and may be stopped and "
        "started again; `" + COMMAND + " --page` writes this page from the runs there are.",
    ]
    without = [
        of_set(name) for name in LARGE if not measured.runs(cell(name, "fp", scope=measured.scope))
    ]
    if without:
        parts.append(
            f"No method that needs features was run on {' and '.join(without)}: their features "
            "come with OGB's download alone. With a network, `" + COMMAND + " --table 1 --sets "
            "arxiv products` runs them; the paper's figures for them are listed without ours."
        )
    on_arxiv = deviations.on_arxiv(measured)
    parts += [on_arxiv] if on_arxiv else []
    versions = sorted({v for row in rows if (v := row.get("versions"))})
    when = sorted(w for row in rows if (w := row.get("when")))
    if when:
        parts.append(f"{times(len(rows), 'run')}, from {when[0][:10]} to {when[-1][:10]}.")
    for text in versions:
        named = ", ".join(f"{name} {number}" for name, number in json.loads(text).items())
        parts.append(f"Versions: {named}.")
    parts.append(
        "Run k draws its split and its mask and starts its network with seed k, whatever the "
        "method: two methods are compared on the same splits and masks. Rows: `runs.parquet`."
    )
    return parts


def _joined(sentences: Sequence[str | None]) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _accuracies(measured: Measured, model: str) -> list[str | None]:
    """What a figure of accuracies says, and on how many runs it rests."""
    kept, points = findings.kept(measured, model), findings.points(measured, model)
    told = [None if kept is None else f"{kept}."]
    if points is not None:
        few = "" if kept else ", too few to compare methods by"
        told.append(f"Its points are means of {points}{few}.")
    return told
