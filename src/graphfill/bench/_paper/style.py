"""How the figures look, and how they become files: the same numbers give the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...io import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

# Okabe and Ito's colours, which colour-blind people can distinguish; shape and dash help in grey.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, GREY, BLACK = "#56B4E9", "#CC79A7", "#8A8A8A", "#222222"
GRID = "#DDDDDD"
PIXELS_PER_INCH = 110
BAND = 0.15  # how much of its line's colour a band has
SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.28, BAND, 0.07)  # 0.28: one band on another


Stroke = dict[str, Any]  # keywords of a line


def _stroke(color: str, marker: str = "o", linestyle: Any = "-", linewidth: float = 1.4) -> Stroke:
    return {"color": color, "marker": marker, "linestyle": linestyle, "linewidth": linewidth}


STROKES = {  # of each method's line
    "fp": _stroke(BLUE, "o", "-", 2.8),
    "neighbors": _stroke(ORANGE, "s"),
    "mean": _stroke(GREEN, "^"),
    "zero": _stroke(GREY, "v"),
    "random": _stroke(GREY, "x", (0, (2, 1.5))),
    "mgcnn": _stroke(PINK, "D"),
    "pagnn": _stroke(RED, "P"),
    "gcnmf": _stroke(SKY, "X"),
    "labels": _stroke(BLACK, "", (0, (5, 2))),
    "positional": _stroke(BLACK, "", (0, (1, 1.5))),
    "full": _stroke(BLACK, "o"),
}
RATE_COLORS = ("#A6CEE8", SKY, BLUE, "#003B5C")  # the darker, the more is missing


def drawing() -> Any:
    """A context: figures made and saved in it look alike, and nobody else's change."""
    import matplotlib

    return matplotlib.rc_context(fname=Path(__file__).with_name("figures.mplstyle"))


def blank(width: float, height: float) -> Figure:
    """A figure of so many inches, without pyplot and its windows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As SVG and PNG; each file appears whole or not at all."""
    from PIL import Image

    drawn, pixels = folder / f"{name}.svg", folder / f"{name}.png"
    with replacing(drawn) as file:
        figure.savefig(file, format="svg", metadata={"Date": None})
    figure.set_layout_engine("none")  # all is in its place by now
    raster = io.BytesIO()
    figure.savefig(raster, format="png", dpi=PIXELS_PER_INCH)
    with replacing(pixels) as file:
        _with_palette(Image.open(raster)).save(file, format="png", optimize=True)
    return [drawn, pixels]


def _with_palette(picture: Image) -> Image:
    """The picture in the colours it was drawn with, and those on their way to white.

    A third of the bytes. A palette found from the pixels would lose the colour of a small mark
    among many large ones.
    """
    from matplotlib.colors import to_rgb
    from PIL import Image

    colors = dict.fromkeys([*(stroke["color"] for stroke in STROKES.values()), *RATE_COLORS])
    shades = [("#FFFFFF", 1.0), (GRID, 1.0), *((c, share) for c in colors for share in SHARES)]
    palette = np.array([255 * (1 - share * (1 - np.array(to_rgb(c)))) for c, share in shades])
    pixels = np.asarray(picture.convert("RGB")).astype(np.int32)
    packed, place = np.unique(pixels @ [65536, 256, 1], return_inverse=True)
    seen = np.stack([packed // 65536, packed // 256 % 256, packed % 256], axis=1)
    nearest = np.square(seen[:, None] - palette).sum(axis=2).argmin(axis=1)
    named = Image.fromarray(nearest[place].astype(np.uint8).reshape(pixels.shape[:2]))
    named.putpalette(palette.round().astype(np.uint8).ravel().tolist())
    return named
