"""The picture on the front page: a karate club's split, filled from who spends time with whom.

    python docs/figures/front.py            # writes docs/figures/front.svg

Zachary watched 34 members of a club fall out and follow one of two leaders (W. W. Zachary, An
information flow model for conflict and fission in small groups, 1977; the graph comes with
NetworkX). Of three members on either side we are told the side; the rest is filled.
"""

from pathlib import Path

import networkx as nx
import numpy as np

import graphfill as gf

PANEL, MARGIN, TOP = 400, 34, 64  # pixels
BLUE, ORANGE, WHITE = (31, 98, 166), (226, 116, 24), (255, 255, 255)
STYLE = """
text{font-family:system-ui,sans-serif;fill:#222}
.title{font-size:17px;font-weight:600}.words{font-size:13.5px;fill:#444}
.edge{stroke:#c9c9c9;stroke-width:1.1;fill:none}
.node{stroke:#222;stroke-width:.8}.known{stroke-width:3}
.missing{fill:#fff;stroke:#888;stroke-dasharray:3 2}
.wrong{fill:none;stroke:#b3001b;stroke-width:2.4}.mark{font-size:11px;fill:#777}
"""


def main(path: Path) -> None:
    club = nx.karate_club_graph()
    side = np.array([float(club.nodes[node]["club"] == "Officer") for node in club])
    rng = np.random.default_rng(0)
    told = np.concatenate([rng.choice(np.flatnonzero(side == s), 3, replace=False) for s in (0, 1)])
    known = np.full(len(side), np.nan)
    known[told] = side[told]

    filled = gf.propagate(known, club, normalization="rw", solver="exact").X

    wrong = (filled > 0.5) != side
    n_filled = int(np.isnan(known).sum())
    n_right = n_filled - int(wrong.sum())
    before = [f"{len(told)} of {len(side)} members told us which side they took;",
              "the links are known."]  # fmt: skip
    after = [f"graphfill gives the other {n_filled} a side, the paler the less sure:",
             f"{n_right} are right, {n_filled - n_right} (ringed) is not."]  # fmt: skip
    places = layout(club)
    picture = [
        panel(0, "What is known", before, club, places, known, wrong & False),
        panel(PANEL + 2 * MARGIN, "What is filled in", after, club, places, filled, wrong, told),
    ]
    width, height = 2 * (PANEL + 2 * MARGIN), PANEL + 2 * MARGIN + TOP
    page = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{" ".join(before + after)}"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" rx="8" fill="#fdfdfb"/>{"".join(picture)}</svg>\n'
    )
    path.write_text(page)


def layout(club: nx.Graph) -> np.ndarray:
    """Where members are drawn: linked ones near each other, in whole pixels of a panel."""
    found = nx.kamada_kawai_layout(club, weight=None)
    places = np.array([found[node] for node in club])
    places -= places.min(axis=0)
    return (places / places.max(axis=0) * PANEL).round().astype(int)


def panel(left, title, words, club, places, values, wrong, told=()) -> str:
    """A drawing of the club, each member in the colour of their value."""
    x, y = places[:, 0] + left + MARGIN, places[:, 1] + MARGIN + TOP
    drawn = [f'<text class="title" x="{left + MARGIN}" y="28">{title}</text>']
    for line, text in enumerate(words):
        drawn.append(f'<text class="words" x="{left + MARGIN}" y="{48 + 17 * line}">{text}</text>')
    ends = "".join(f"M{x[a]} {y[a]}L{x[b]} {y[b]}" for a, b in club.edges)
    drawn.append(f'<path class="edge" d="{ends}"/>')
    for node, value in enumerate(values):
        at = f'cx="{x[node]}" cy="{y[node]}"'
        if np.isnan(value):
            drawn.append(f'<circle class="missing" {at} r="10"/>')
            drawn.append(mark(x[node], y[node]))
            continue
        style = "node known" if node in told or np.isnan(values).any() else "node"
        drawn.append(f'<circle class="{style}" {at} r="10" fill="{colour(value)}"/>')
        if wrong[node]:
            drawn.append(f'<circle class="wrong" {at} r="15"/>')
    return "".join(drawn)


def mark(x: int, y: int) -> str:
    return f'<text class="mark" x="{x}" y="{y + 4}" text-anchor="middle">?</text>'


def colour(value: float) -> str:
    """Blue at 0, orange at 1, and paler the nearer to neither."""
    full = np.array(BLUE if value < 0.5 else ORANGE)
    sure = 0.15 + 0.85 * abs(2 * value - 1)
    return "#" + "".join(f"{int(c):02x}" for c in (sure * full + (1 - sure) * np.array(WHITE)))


if __name__ == "__main__":
    main(Path(__file__).with_suffix(".svg"))
