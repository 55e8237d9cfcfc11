"""What the paper printed, by set and method, and how near to it a figure of ours should come.

Rossi et al., "On the Unreasonable Effectiveness of Feature Propagation in Learning on Graphs
with Missing Node Features". Accuracies are percent at the best validation epoch.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Published(NamedTuple):
    """A mean over ten runs and its standard error, which not every table prints."""

    mean: float
    standard_error: float | None = None


# Of Feature Propagation under a GCN, by the share of cells missing.
TABLE_1: dict[str, dict[float, Published]] = {
    name: {rate: Published(mean) for rate, mean in zip((0.0, 0.5, 0.9, 0.99), means, strict=True)}
    for name, means in {
        "cora": (80.39, 79.70, 79.77, 78.22),
        "citeseer": (67.48, 65.74, 65.57, 65.40),
        "pubmed": (77.36, 76.68, 75.85, 74.29),
        "photo": (91.73, 91.29, 89.48, 87.73),
        "computers": (85.65, 84.77, 82.71, 80.94),
        "arxiv": (72.22, 71.42, 70.47, 69.09),
        "products": (78.70, 77.16, 75.94, 74.94),
    }.items()
}

# With 99 % of the cells missing; "OOM" is the paper's word for out of memory.
TABLE_2: dict[str, dict[str, Published | Literal["OOM"]]] = {
    "cora": {
        "gcnmf": Published(34.54, 2.07),
        "pagnn": Published(58.03, 0.57),
        "labels": Published(74.68, 0.36),
        "positional": Published(76.33, 0.26),
        "fp": Published(78.22, 0.32),
    },
    "citeseer": {
        "gcnmf": Published(30.65, 1.12),
        "pagnn": Published(46.02, 0.58),
        "labels": Published(64.60, 0.40),
        "positional": Published(65.87, 0.37),
        "fp": Published(65.40, 0.54),
    },
    "pubmed": {
        "gcnmf": Published(39.80, 0.25),
        "pagnn": Published(54.25, 0.70),
        "labels": Published(73.81, 0.56),
        "positional": Published(73.70, 0.29),
        "fp": Published(74.29, 0.55),
    },
    "photo": {
        "gcnmf": Published(29.64, 2.78),
        "pagnn": Published(85.41, 0.28),
        "labels": Published(83.45, 0.94),
        "positional": Published(83.45, 0.26),
        "fp": Published(87.73, 0.27),
    },
    "computers": {
        "gcnmf": Published(30.74, 1.95),
        "pagnn": Published(77.91, 0.33),
        "labels": Published(74.48, 0.61),
        "positional": Published(75.77, 0.47),
        "fp": Published(80.94, 0.37),
    },
    "arxiv": {
        "gcnmf": "OOM",
        "pagnn": Published(53.98, 0.08),
        "labels": Published(67.56, 0.00),
        "positional": Published(65.08, 0.04),
        "fp": Published(69.09, 0.06),
    },
    "products": {
        "gcnmf": "OOM",
        "pagnn": "OOM",
        "labels": Published(74.42, 0.00),
        "positional": "OOM",
        "fp": Published(74.94, 0.07),
    },
}

# Nodes and edges, each edge counted once.
SIZES = {
    "cora": (2_485, 5_069),
    "citeseer": (2_120, 3_679),
    "pubmed": (19_717, 44_324),
    "photo": (7_487, 119_043),
    "computers": (13_381, 245_778),
}

# Seconds of the 40 propagation steps on the authors' GPU, each "about".
PROPAGATION_SECONDS = {"computers": 0.6, "arxiv": 0.8, "products": 10.5}
RUN_TIME_RATIO = 3  # PaGNN and GCNMF to Feature Propagation, by the caption of its figure
RELATIVE_DROP = 4  # percent of the accuracy on full features, "around", with 99 % missing


class Bar(NamedTuple):
    """How far ours may be from the paper's, in points; above it is no miss if `or_above`."""

    points: float
    or_above: bool = False

    def missed(self, difference: float) -> bool:
        """Whether a difference, ours less the paper's, is beyond the bar.

        >>> Bar(1.5).missed(1.6), Bar(5, or_above=True).missed(20.0)
        (True, False)
        """
        return -difference > self.points or (difference > self.points and not self.or_above)


FP_BAR = Bar(1.5)
_BARS = {
    "fp": FP_BAR,
    "labels": Bar(2.0),
    "positional": Bar(2.0),
    "positional-rest": Bar(2.0),
    "positional-raw": Bar(2.0),
    "pagnn": Bar(5.0, or_above=True),
    "gcnmf": Bar(5.0, or_above=True),  # the paper's is near chance: to be better is no fault
}
# One official split, so nothing but the method can differ.
_FORMS = {"positional-rest": "positional", "positional-raw": "positional"}  # one figure for all
_ARXIV_BARS = {"labels": Bar(0.05), **dict.fromkeys(("positional", *_FORMS), Bar(1.5))}


def bar(name: str, method: str) -> Bar:
    """The bar of one row of the second table."""
    return _ARXIV_BARS.get(method, _BARS[method]) if name == "arxiv" else _BARS[method]


def bars() -> str:
    """All of them in a sentence."""
    arxiv = _ARXIV_BARS
    return (
        f"The bar is {FP_BAR.points:g} points for Feature Propagation, {_BARS['labels'].points:g} "
        f"for label propagation and positional encodings ({arxiv['labels'].points:g} and "
        f"{arxiv['positional'].points:g} on OGBN-Arxiv), and {_BARS['pagnn'].points:g} for PaGNN "
        "and GCNMF, for which to be above is no miss."
    )


def links_of_a_node(name: str) -> float:
    """On average.

    >>> round(links_of_a_node("cora"), 1)
    4.1
    """
    n_nodes, n_edges = SIZES[name]
    return 2 * n_edges / n_nodes


def of(name: str, method: str, rate: float) -> Published | None:
    """The paper's accuracy of a method on a set; of all but its own, at 99 % missing alone."""
    if method == "fp":
        return TABLE_1[name][rate]
    found = TABLE_2[name].get(_FORMS.get(method, method))
    return found if isinstance(found, Published) else None
