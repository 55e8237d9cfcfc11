"""Figures hold the numbers they are given, in words and in their shapes."""

import re
import xml.etree.ElementTree as ET

import pytest
from report.sample import EVIL, HOSTILE_NAMES, LEVELS

from graphfill.report import _page as page

figures = page._templates().get_template("figures.html").module

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawn):
    """The figure as a tree; what is not well-formed fails."""
    return ET.fromstring(str(drawn).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def boxes(drawn, style):
    """(left, top, width, height) of every bar of a style."""
    paths = [p.get("d") for p in parsed(drawn).iter(f"{SVG}path") if p.get("class") == style]
    found = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", " ".join(paths))
    return [tuple(map(float, box)) for box in found]


def letters(drawn):
    return [text.text for text in parsed(drawn).iter(f"{SVG}text")]


def words(drawn):
    return parsed(drawn).findtext(f"{SVG}desc")


def test_scores_are_as_long_as_their_numbers_and_the_chosen_one_is_solid():
    drawn = figures.score_bars(
        "k", [("mean", 10.0), ("neighbors", 7.5), ("hybrid", 5.0)], chosen="hybrid", measure="Error"
    )
    mean, neighbors = boxes(drawn, "known")[:2]
    ((_, _, hybrid, _),) = boxes(drawn, "filled")
    assert mean[2] == pytest.approx(2 * hybrid, abs=0.2)
    assert neighbors[2] == pytest.approx(1.5 * hybrid, abs=0.2)
    assert letters(drawn) == ["mean", "10.0", "neighbors", "7.5", "hybrid", "5.0"]
    assert words(drawn) == "mean 10.0; neighbors 7.5; hybrid 5.0 (chosen)."


def test_a_method_without_a_score_has_no_bar():
    drawn = figures.score_bars("k", [("mean", None), ("b", 1.0)], chosen="b", measure="Error")
    assert boxes(drawn, "known") == []
    assert "–" in letters(drawn)


def test_histogram_pairs_bars_of_the_right_height():
    drawn = figures.histogram("k", [0, 5, 10], [0.2, 0.8], [0.4, 0.6], name="age")
    known, filled = boxes(drawn, "known")[1:], boxes(drawn, "filled")[1:]  # after the legend
    unit = known[0][3] / 0.2
    assert [box[3] / unit for box in known + filled] == pytest.approx(
        [0.2, 0.8, 0.4, 0.6], abs=0.01
    )
    assert known[0][0] < filled[0][0] < known[1][0] < filled[1][0]
    assert "0 to 5: 20% of known, 40% of filled" in words(drawn)


def test_histogram_of_dates_says_dates():
    edges = ["1980-01-01", "1990-01-01", "2000-01-01", "2010-01-01", "2020-01-01"]
    drawn = figures.histogram("k", edges, [0.25] * 4, [0.25] * 4, name="moved in")
    assert [label for label in letters(drawn) if label in edges] == [edges[0], edges[2], edges[4]]


def test_categories_keep_their_order_and_shares():
    drawn = figures.category_bars("k", ["b", "a"], [0.5, 0.25], [0.1, 0.0], name="city")
    longer, shorter = (box[2] for box in boxes(drawn, "known")[1:])
    assert longer == pytest.approx(2 * shorter, abs=0.2)
    assert words(drawn) == "b: 50% of known, 10% of filled; a: 25% of known, 0% of filled."


def test_calibration_lies_on_the_diagonal_if_promises_hold():
    points = [(level["nominal"], level["nominal"]) for level in LEVELS]
    drawn = figures.calibration("k", points, promised="Promised", held="Held")
    dots = [(float(d.get("cx")), float(d.get("cy"))) for d in parsed(drawn).iter(f"{SVG}circle")]
    assert len(dots) == len(points)
    assert len({round(x + y) for x, y in dots}) == 1
    assert words(drawn).startswith("promised 10%, held 10%; promised 25%, held 25%; ")
    high = figures.calibration("k", [(0.5, 0.9)], promised="Promised", held="Held")
    assert float(next(parsed(high).iter(f"{SVG}circle")).get("cy")) < dots[2][1]


def test_distances_add_up_and_the_far_ones_share_a_bar():
    counts = [(steps, 100 - steps) for steps in range(1, 15)] + [(None, 7)]
    drawn = figures.distance_bars("k", counts, name="age")
    sentence = words(drawn)
    numbers = [int(cells.replace(",", "")) for cells in re.findall(r": ([\d,]+) cell", sentence)]
    assert sum(numbers) == sum(cells for _, cells in counts)
    assert "9 steps or more" in sentence
    assert sentence.endswith("not reached: 7 cells.")
    assert len(boxes(drawn, "lost")) == 1


EDGE_CASES = [
    figures.score_bars("k", [], chosen=None, measure="Error"),
    figures.score_bars("k", [("mean", 0.0)], chosen="mean", measure="Error"),
    figures.score_bars("k", [("mean", -1.0), ("b", 1e300)], chosen="b", measure="Error"),
    figures.histogram("k", [1, 1], [1.0], [0.0], name=""),
    figures.histogram("k", [1e-9, 2e-9], [1.0], [0.0], name=""),
    figures.histogram("k", [-1e20, 1e20], [0.0], [0.0], name=""),
    figures.histogram(
        "k", [f"2024-01-01T0{j}:00:00" for j in range(9)], [0.1] * 8, [0] * 8, name=""
    ),
    figures.histogram("k", [f"{j} days, 10:00:00" for j in range(9)], [0.1] * 8, [0] * 8, name=""),
    figures.category_bars("k", [""], [0.0], [0.0], name=""),
    figures.category_bars("k", list(HOSTILE_NAMES[:6]), [0.1] * 6, [1.0] * 6, name=EVIL),
    figures.calibration("k", [], promised="Promised", held="Held"),
    figures.calibration("k", [(0.5, 1.2)], promised="Promised", held=EVIL),
    figures.distance_bars("k", [], name=EVIL),
    figures.distance_bars("k", [(None, 1)], name=EVIL),
    figures.distance_bars("k", [(1, 10**12), (2, 1)], name=EVIL),
]


@pytest.mark.parametrize("drawn", EDGE_CASES)
def test_extreme_numbers_and_names_stay_inside_the_frame(drawn):
    tree = parsed(drawn)
    assert tree.get("role") == "img"
    assert tree.find(f"{SVG}title").get("id") == tree.get("aria-labelledby")
    assert tree.find(f"{SVG}desc").get("id") == tree.get("aria-describedby")
    assert not list(tree.iter(f"{SVG}script"))
    assert "nan" not in drawn.lower()
    for left, _, width, _ in boxes(drawn, "known") + boxes(drawn, "filled"):
        assert 0 <= left <= left + width <= figures.WIDTH
    for text in tree.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= figures.WIDTH
