"""The paper's figures, drawn from the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._table import Estimate
from . import experiments, style, tables
from .experiments import WORST
from .measured import TITLES, Measured, of_rate
from .spectral import WIDTH, Spectrum
from .style import BAND, BLUE, GREY, ORANGE, RATE_COLORS, RED, STROKES, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = ("gcn", "sage", "run-time", "homophily", "spectral", "exact")
CAPTIONS = {
    "gcn": "Accuracy against the share missing, GCN",
    "sage": "Accuracy against the share missing, GraphSAGE",
    "run-time": f"Run-time with {of_rate(WORST)} missing",
    "homophily": "Accuracy on the MixHop graphs, by homophily",
    "spectral": "Graph Fourier coefficients of Cora's features, known and filled",
    "exact": "Exact fill against the paper's 40 steps",
}
_NOWHERE = Estimate(math.nan, None, 0)


def write_figures(
    measured: Measured,
    folder: Path,
    spectrum: Spectrum | None = None,
    names: Sequence[str] = FIGURES,
) -> list[Path]:
    """Each figure there is something to draw of, as SVG and PNG."""
    draw: dict[str, Callable[[], Figure | None]] = {
        "gcn": lambda: accuracy(measured, "gcn"),
        "sage": lambda: accuracy(measured, "sage"),
        "run-time": lambda: run_time(measured),
        "homophily": lambda: homophily(measured),
        "spectral": lambda: None if spectrum is None else spectral(spectrum),
        "exact": lambda: exact(measured),
    }
    paths: list[Path] = []
    with style.drawing():
        for name in names:
            figure = draw[name]()
            if figure is not None:
                figure.suptitle(CAPTIONS[name], x=0.01, ha="left", fontsize=11, fontweight="bold")
                (folder / "figures").mkdir(parents=True, exist_ok=True)
                paths += style.save(figure, folder / "figures", name)
    return paths


def accuracy(measured: Measured, model: str) -> Figure | None:
    """Accuracy against the share missing, a panel per set, a line per method.

    Rates are evenly spaced: what happens, happens between 90 and 99 %.
    """
    rates = (0.0, *experiments.FIGURE_RATES)
    sets = [
        name
        for name in measured.sets
        if any(
            measured.runs(measured.cell(name, "fp", rate, model))
            for rate in experiments.FIGURE_RATES
        )
    ]
    if not sets:
        return None
    columns = min(3, len(sets) + 1)
    n_rows = -(-(len(sets) + 1) // columns)
    figure = blank(3.3 * columns, 2.7 * n_rows + 0.6)
    axes = figure.subplots(n_rows, columns, squeeze=False).ravel()
    lines: dict[str, Any] = {}
    for axis, name in zip(axes, sets, strict=False):
        for method in reversed(experiments.METHODS):  # the first is drawn last, on top
            values = [measured.estimate(measured.cell(name, method, r, model)) for r in rates]
            if not any(values[1:]):  # the point at 0 is that of all fills
                continue
            drawn = _line(axis, range(len(rates)), values, method, f"{method}-{name}")
            if drawn is not None:
                lines.setdefault(method, drawn)
        axis.set_xticks(range(len(rates)), [f"{100 * rate:g}" for rate in rates])
        axis.set(title=TITLES[name], ylabel="test accuracy, %")
        axis.set_xlabel("cells missing, % (not to scale)")
    for axis in axes[len(sets) :]:
        axis.set_axis_off()
    shown = [method for method in experiments.METHODS if method in lines]
    axes[len(sets)].legend(
        [lines[method] for method in shown],
        [TITLES[m] + (" (no features)" if m in experiments.FEATURELESS else "") for m in shown],
        loc="center left", handlelength=3.2,
        title=f"{_runs_a_point(measured, model)} a point\nband: ± 1 standard error",
        alignment="left",
    )  # fmt: skip
    return figure


def run_time(measured: Measured) -> Figure | None:
    """Seconds to fill and to train; every set has its own scale, from zero."""
    shown: list[tuple[str, dict[str, tuple[float, float]]]] = []
    for name in measured.sets:
        times = {m: measured.seconds(measured.cell(name, m)) for m in ("fp", *experiments.WHOLE)}
        bars = {method: seconds for method, seconds in times.items() if seconds is not None}
        if bars:
            shown.append((name, bars))
    if not shown:
        return None
    figure = blank(8.5, 0.9 * len(shown) + 1.2)
    panels = figure.subplots(len(shown), 1, squeeze=False).ravel()
    for axis, (name, bars) in zip(panels, shown, strict=True):
        for place, (method, (filling, training)) in enumerate(bars.items()):
            total = filling + training
            bar = {"y": place, "height": 0.7}
            axis.barh(width=filling, color=ORANGE, gid=f"fill-{method}-{name}", **bar)
            axis.barh(width=training, left=filling, color=BLUE, gid=f"train-{method}-{name}", **bar)
            axis.text(total, place, f" {total:.3g} s", va="center", fontsize=8)
        labels = ["FP + GCN" if method == "fp" else TITLES[method] for method in bars]
        axis.set_yticks(range(len(bars)), labels)
        axis.set_title(TITLES[name])
        axis.grid(axis="y", visible=False)
        axis.margins(x=0.1)
        axis.set_xlim(left=0)
        axis.invert_yaxis()
    panels[-1].set_xlabel("seconds on one thread, medians (each set has its own scale)")
    _swatches(figure, (("fill", ORANGE), ("training", BLUE)))
    return figure


def homophily(measured: Measured) -> Figure | None:
    """Accuracy on the synthetic graphs against their homophily."""
    names = measured.scope.among(experiments.MIXHOP)
    levels = [float(name.removeprefix("mixhop-")) for name in names]
    figure = blank(7.0, 4.2)
    axis = figure.subplots()
    ends = []
    for method, rate in (("full", 0.0), ("fp", WORST), ("zero", WORST)):
        values = [measured.estimate(measured.cell(s, method, rate, "sage")) for s in names]
        if _line(axis, levels, values, method, f"{method}-homophily") is not None:
            last = [(x, e.mean) for x, e in zip(levels, values, strict=True) if e][-1]
            missing = f", {of_rate(rate)} missing" if rate else ""
            short = "FP" if method == "fp" else TITLES[method]
            ends.append((*last, f"{short}{missing}", STROKES[method]["color"]))
    if not ends:
        return None
    _end_labels(axis, ends)
    axis.set_xlabel("homophily: share of edges within a class")
    axis.set_ylabel("test accuracy, % (GraphSAGE)")
    return figure


def exact(measured: Measured) -> Figure | None:
    """What the exact fill gains over 40 steps, run by run, with 95 % intervals."""
    table = tables.exact(measured)
    if not table.rows:
        return None
    sets = [TITLES[s] for s in measured.sets]
    colors = dict(zip(map(of_rate, experiments.EXACT_RATES), RATE_COLORS[1:], strict=True))
    figure = blank(9.0, 0.62 * len(sets) + 2.0)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, mask in zip(panels, ("uniform", "structural"), strict=True):
        axis.axvline(0, color=GREY, linewidth=1)
        for name, kind, rate, _, _, gain, _ in table.rows:
            if kind != mask:
                continue
            y = sets.index(name) + 0.22 * (list(colors).index(rate) - 1)
            axis.errorbar(
                gain.mean, y, xerr=gain.margin or 0.0, fmt="o", capsize=2,
                color=colors[rate], gid=f"{mask}-{name}-{rate}",
            )  # fmt: skip
        axis.set_title("single cells missing" if mask == "uniform" else "whole nodes missing")
        axis.set_yticks(range(len(sets)), sets)
        axis.set_xlabel("exact less 40 steps, points (95 % interval)")
        axis.grid(axis="y", visible=False)
    panels[0].set_ylim(len(sets) - 0.5, -0.5)
    _swatches(figure, [(f"{rate} missing", color) for rate, color in colors.items()])
    return figure


def spectral(spectrum: Spectrum) -> Figure:
    """Magnitudes of the graph Fourier coefficients of Cora, known and filled."""
    figure = blank(7.4, 4.4)
    axis = figure.subplots()
    middle = spectrum.lower + WIDTH / 2
    filled = [rate for rate in spectrum.magnitude if rate]
    shades = dict(zip(filled, RATE_COLORS[-len(filled) :], strict=False))
    for rate, magnitude in spectrum.magnitude.items():
        label = f"{of_rate(rate)} missing, filled" if rate else "original features"
        axis.plot(
            middle, magnitude, color=shades.get(rate, RED), label=label,
            linewidth=1.6 if rate else 2.4, gid=f"spectrum-{rate:g}",
        )  # fmt: skip
    axis.set(xlim=(0, 2), ylim=(0, None))
    axis.set_xlabel("eigenvalue of the normalised Laplacian (0 smooth, 2 rough)")
    axis.set_ylabel(f"mean |coefficient|, in bins of {WIDTH:g}")
    axis.legend()
    return figure


# -- parts --


def _runs_a_point(measured: Measured, model: str) -> str:
    """On how many runs the points of a figure of accuracies rest."""
    counts = [n for c in experiments.cells(model, measured.scope) if (n := len(measured.runs(c)))]
    low, high = min(counts), max(counts)
    return f"{low} to {high} runs" if low < high else f"{high} runs" if high > 1 else "1 run"


def _line(
    axis: Axes, x: Sequence[float], values: Sequence[Estimate | None], method: str, gid: str
) -> Any:
    """The means with a band of one standard error, joined where nothing between is missing.

    None without a point.
    """
    if not any(values):
        return None
    points = [estimate or _NOWHERE for estimate in values]
    means = [e.mean for e in points]
    (line,) = axis.plot(x, means, gid=f"line-{gid}", **STROKES[method])
    errors = [e.standard_error or 0.0 for e in points]
    low = [mean - error for mean, error in zip(means, errors, strict=True)]
    high = [mean + error for mean, error in zip(means, errors, strict=True)]
    axis.fill_between(x, low, high, color=line.get_color(), alpha=BAND, linewidth=0)
    return line


def _end_labels(axis: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Names at the lines' right ends, moved apart where they would meet."""
    bottom, top = axis.get_ylim()
    gap = 0.07 * (top - bottom)
    placed: list[float] = []
    for x, y, text, color in sorted(ends, key=lambda end: end[1]):
        at = max(y, placed[-1] + gap) if placed else y
        placed.append(at)
        axis.annotate(
            text, (x, at), xytext=(8, 0), textcoords="offset points", color=color, va="center",
            annotation_clip=False,
        )  # fmt: skip


def _swatches(figure: Figure, names: Sequence[tuple[str, str]]) -> None:
    """A legend of colours below the figure."""
    from matplotlib.patches import Patch

    handles = [Patch(color=color, label=name) for name, color in names]
    figure.legend(handles=handles, loc="outside lower left", ncols=len(names))
