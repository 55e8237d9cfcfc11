"""Pictures of the whole table hold the numbers they are given, in words and in their shapes."""

import re

import pytest
from report.test_figures import boxes, figures, letters, parsed, words
from report.test_page import Outline

from graphfill.report import _page as page
from graphfill.report import render
from report import sample

pictures = page._templates().get_template("pictures.html").module
NAMES = ["age", "income", "city", "profession"]
GIVEN = sample.pictures(NAMES)
SVG = "{http://www.w3.org/2000/svg}"


def marks(drawn, state):
    """How many marks of a state there are, without the legend's."""
    paths = [p.get("d") for p in parsed(drawn).iter(f"{SVG}path") if p.get("class") == state]
    return len(re.findall("M", " ".join(paths))) - 1


@pytest.mark.parametrize(
    "drawn",
    [
        pictures.points("k", GIVEN["points"], "age"),
        pictures.points("k", GIVEN["points"] | {"kind": "graph", "links": [[0, 1], [1, 2]]}, "age"),
        pictures.scatter("k", GIVEN["scatter"]),
    ],
)
def test_every_row_is_a_mark_of_its_state(drawn):
    counted = {w: int(n) for n, w in re.findall(r"(\d+) (\w+)", words(drawn))}
    assert sum(counted.values()) == 60
    for letter, state in pictures.STATES.items():
        if state in counted:
            assert marks(drawn, f"mark-{letter}") == counted[state]
            assert state in letters(drawn)
        else:
            assert marks(drawn, f"mark-{letter}") == -1


def test_a_strip_is_as_dark_as_its_share_is_large():
    given = {"rows": 4, "columns": ["a"], "total": [0.5], "shares": [[0.0, 0.1, 1.0, 1.0]]}
    drawn = pictures.missing("k", given | {"left_out": 0})
    (frame,) = boxes(drawn, "known")
    (light,), (dark,) = boxes(drawn, "shade s1"), boxes(drawn, "shade s5")
    assert light[2] == pytest.approx(frame[2] / 4, abs=0.1)
    assert dark[2] == pytest.approx(frame[2] / 2, abs=0.1)
    assert light[0] + light[2] == pytest.approx(dark[0], abs=0.1)
    assert words(drawn) == "a: 50% missing."


def test_combinations_have_bars_as_tall_as_their_rows_and_a_dot_per_column():
    drawn = pictures.together("k", GIVEN["together"])
    first, second, third = boxes(drawn, "filled")
    assert first[3] == pytest.approx(2.5 * second[3], abs=0.2)
    assert third[3] < 3
    assert marks(drawn, "present") + 1 == 1 + 2 + 4
    assert marks(drawn, "absent") + 1 == 3 * 4 - 7
    assert "age and income: 120 rows (6%)" in words(drawn)


def test_a_map_is_not_distorted():
    given = {"kind": "map", "x": [0.0, 1.0], "y": [0.25, 0.75], "links": [], "states": {"a": "ff"}}
    drawn = pictures.points("k", given, "a")
    path = next(
        p.get("d") for p in list(parsed(drawn).iter(f"{SVG}path"))[1:] if p.get("class") == "mark-f"
    )
    (x, y), (right, top) = (map(float, at) for at in re.findall(r"M([\d.]+) ([\d.]+)", path))
    assert right - x == pytest.approx(2 * (y - top), rel=0.1)


@pytest.mark.parametrize("name", [sample.EVIL, *sample.HOSTILE_NAMES])
def test_any_name_is_text_inside_the_frame(name):
    given = sample.pictures([name, "b"])
    for drawn in (
        pictures.missing("k", given["missing"]),
        pictures.together("k", given["together"]),
        pictures.points("k", given["points"], name),
        pictures.scatter("k", given["scatter"]),
    ):
        clean = page._NO_TEXT.sub("?", str(drawn))
        tree = parsed(clean)
        assert not list(tree.iter(f"{SVG}script"))
        for text in tree.iter(f"{SVG}text"):
            assert 0 <= float(text.get("x")) <= figures.WIDTH


@pytest.mark.parametrize("value", [0.0, 1e300, -1e-300])
def test_one_value_alone_is_drawn(value):
    given = {"columns": ["a", "b"], "rows": 2, "x": [value] * 2, "y": [value] * 2, "states": "kf"}
    drawn = pictures.scatter("k", given)
    assert "nan" not in drawn
    assert marks(drawn, "mark-f") == 1


def test_the_page_says_what_pictures_show():
    text = Outline(render(sample.town())).text
    for sentence in (
        "Each strip is a column; the darker, the more of these rows is missing. 1 column that "
        "misses less is not shown.",
        "In 700 of 2,000 rows (35%) none of them is missing; 873 rows miss other combinations. age "
        "and income are missing together in 120 rows; if one had nothing to do with the other, it "
        "would be about 66.7.",
        "Each row is at its latitude and longitude; shown are 60 of 2,000 rows, drawn at random.",
        "Filled rows should lie among known ones.",
        "A thin line shows how far the shares of 3 draws lie apart.",
    ):
        assert sentence in text
    order = [text.index(words) for words in ("In short", "Pictures", "Columns with missing cells")]
    assert order == sorted(order)


def test_a_fill_without_pictures_has_no_such_section():
    bare = {"missing": 2, "filled": 2, "columns": [{"name": "a", "n_missing": 2, "n_filled": 2}]}
    assert "Pictures" not in Outline(render(bare)).text


def test_sentence_table_and_bars_state_one_score_alike():
    column = sample.town()["columns"][1]
    text = Outline(render(sample.town() | {"columns": [column]})).text
    said = re.search(r"off by ([\d.,]+) years on average, the column’s mean by ([\d.,]+) ", text)
    table = text[text.index("Scores on hidden cells") :]
    assert re.search(rf"learnt chosen {said[1]} ", table)
    assert re.search(rf"column's mean {said[2]} ", table)
    bars = table[table.index("Mean error of each method") :]
    assert f"column's mean {said[2]};" in bars
    assert f"learnt {said[1]} (chosen)" in bars
