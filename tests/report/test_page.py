"""The page says what the numbers say, trusts nothing it is given, and stays small."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import report.sample as sample

from graphfill.errors import InputError
from graphfill.report import _page as page
from graphfill.report import render, write_report

OPTIONAL = sorted(set(sample.town()["columns"][1]) - {"name", "n_missing"})


class Outline(HTMLParser):
    """Elements with their attributes, and the text between them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.words = [("", {})], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements[-1][0] != "style":
            self.words.append(data)

    @property
    def text(self):
        text = re.sub("[\u2068\u2069]", "", " ".join(self.words))
        return re.sub(r"\s+([.,:;])", r"\1", " ".join(text.split()))

    def all(self, *tags):
        return [attrs for tag, attrs in self.elements if tag in tags]


@pytest.fixture(scope="module")
def town():
    return Outline(render(sample.town()))


def test_it_opens_with_the_verdict_in_words(town):
    opening = town.text[: town.text.index("Columns with missing cells")]
    for sentence in (
        "5,329 of 5,489 missing cells filled",
        "people.csv has 2,000 rows and 6,412 links between them.",
        "How far to trust the result depends on the column: 1,987 of 5,329 filled cells (37%)",
        "city is well inferred.",
        "age and moved_in are fairly well inferred.",
        "income and newsletter are roughly inferred: single cells may be far off.",
        "profession is weakly inferred: use it with care.",
        "lottery_number is inferred hardly better than by the column’s mean or most frequent "
        "value: do not take what was filled into it for facts.",
        "Too little is known of height to judge what is filled in.",
        "28 missing cells cannot be reached",
        "phone was left alone with 120 missing cells: nearly every value is different.",
    ):
        assert sentence in opening


def test_a_column_says_what_was_missing_how_it_was_scored_and_where_to_look(town):
    for sentence in (
        "667 of 2,000 cells (33%) were missing; 667 were filled.",
        "14 cells could not be reached and got the column's mean.",
        "Tried on 400 known cells that were hidden on purpose, the fill (graph and other columns, "
        "learnt) explains 71% of what the column’s mean or most frequent value leaves open; the "
        "chosen method was off by 7.5 years on average, the column’s mean by 14.0 years.",
        "Linked rows hardly resemble each other in this column (agreement 0.00; 0 is chance, 1 is "
        "always the same): the links alone say next to nothing about its missing cells.",
        "promise to hold the truth in 90% of cases; on hidden cells they did in 90%.",
        "the right value in 86% of them, the most frequent value in 22%.",
        "(the largest of 9)",
        "p00012, p00481, p01733, p01950",
    ):
        assert sentence in town.text


def test_it_tells_how_to_repeat_the_run(town):
    end = town.text[town.text.index("To repeat this run") :]
    assert "graphfill impute people.csv friends.csv -o filled.csv" in end
    for word in ("tol 1e-06", "relative residual 8.13e-07", "fill 1.92", "version 0.2.0"):
        assert word in end
    assert "The column 'person' was taken for the ids" in end


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"converged": False}, "The calculation stopped before it was finished, after 87 steps"),
        ({"missing": 0, "filled": 0, "columns": []}, "Nothing was missing"),
        ({"filled": 0}, "5,489 cells missing, none filled"),
        ({"filled": 5489}, "All 5,489 missing cells filled"),
        ({"settings": {"unreached": "nan"}}, "so they stay missing"),
        ({"command": "graphfill impute a b"}, "graphfill impute a b"),
    ],
)
def test_other_outcomes_have_other_sentences(change, sentence):
    assert sentence in Outline(render(sample.town() | change)).text


@pytest.mark.parametrize(("solid", "start"), [(900, "Most of the"), (100, "Treat the result")])
def test_the_overall_verdict_follows_the_share_of_cells_in_inferable_columns(solid, start):
    columns = [
        sample.column("a", n_missing=solid, verdict="well inferred"),
        sample.column("b", n_missing=1000 - solid, verdict="weakly inferred"),
    ]
    summary = sample.town() | {"columns": columns, "missing": 1000, "filled": 1000, "unreached": 0}
    assert start in Outline(render(summary)).text


@pytest.mark.parametrize("absent", OPTIONAL)
def test_a_number_that_is_not_there_only_makes_the_page_shorter(absent):
    whole = render(sample.town())
    for there in (True, False):
        summary = sample.town()
        for column in summary["columns"]:
            column[absent] = None
            if not there:
                del column[absent]
        assert len(render(summary)) < len(whole) + 200


def test_the_least_there_can_be():
    assert "Nothing was missing" in render({})
    bare = {"missing": 2, "filled": 2, "columns": [{"name": "a", "n_missing": 2, "n_filled": 2}]}
    assert "All 2 missing cells filled" in render(bare)


def test_numbers_of_numpy_and_no_numbers_are_shown_alike():
    summary = sample.town()
    summary["columns"][1] |= {"explained": np.float32(0.71), "agreement": float("nan")}
    summary["residual"], summary["n_iter"] = np.float64("inf"), np.int64(87)
    text = Outline(render(summary)).text
    assert "nan" not in text
    assert "71%" in text


def test_the_summary_may_have_been_json():
    summary = sample.town()
    assert render(json.loads(json.dumps(summary))) == render(summary) == render(sample.town())


# -- nothing it is given can harm --


@pytest.fixture(scope="module")
def hostile():
    return render(sample.hostile())


@pytest.mark.parametrize("made", [sample.town, sample.hostile])
def test_it_loads_nothing_runs_nothing_and_says_so(made):
    html = render(made())
    outline = Outline(html)
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "nav"),
        *("section", "h1", "h2", "h3", "h4", "p", "ul", "li", "dl", "dt", "dd", "div", "span"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "b", "pre", "code"),
        *("details", "summary", "figure", "figcaption"),
        *("svg", "desc", "path", "text", "circle", "g"),
    }
    assert {tag for tag, _ in outline.elements[1:]} <= allowed
    for _, attributes in outline.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    policy = next(a for a in outline.all("meta") if a.get("http-equiv"))["content"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "url(" not in html
    assert "@import" not in html


def test_names_come_out_as_text(hostile):
    text = Outline(hostile).text
    assert "<script" not in hostile
    assert sample.EVIL in text
    assert "(no name)" in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in hostile
    assert "\x00" not in hostile
    hostile.encode("utf-8")
    assert "x" * 500 in text  # the full name, once
    assert text.count("x" * 500) == 1


@pytest.mark.parametrize("made", [sample.town, sample.hostile, lambda: sample.wide(40)])
def test_ids_are_unique_and_all_that_refers_to_them_finds_them(made):
    outline = Outline(render(made()))
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.elements:
        for name in ("aria-labelledby", "aria-describedby", "href"):
            for key in attributes.get(name, "").split():
                assert key.removeprefix("#") in ids


# -- size --


def test_five_hundred_columns_fit_into_three_megabytes_and_what_is_left_out_is_said():
    html = render(sample.wide(500))
    assert len(html.encode()) < 3_000_000
    left_out = re.search(
        r"To keep this page small, (\d+) of 500 columns are shown without figures", html
    )
    assert left_out
    assert html.count("<details") == 500
    assert 0 < int(left_out[1]) < 500
    assert "To keep this page small" not in render(sample.wide(100))


def test_names_of_any_length_and_any_number_of_columns_fit_too():
    summary = sample.wide(1500)
    for j, column in enumerate(summary["columns"]):
        column["name"] = f'{j}"' + '"<😀' * 170
        column["why"] = column["note"] = column["name"]
    summary["notes"] = [column["name"] * 3 for column in summary["columns"]]
    summary["columns"] += [sample.column('"' * 500 + str(j)) for j in range(1500)]
    html = render(summary)
    assert len(html.encode()) < 3_000_000
    assert "the overview ends after 500 of 1,500 columns" in html
    assert "1,500 columns have no section of their own" in html
    assert "1,400 more notes are left out" in html


# -- colours --


def contrast(one, other):
    """The ratio of WCAG 2."""

    def luminance(colour):
        parts = [int(colour[j : j + 2], 16) / 255 for j in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_colours_have_contrast_and_differ_in_grey(scheme):
    blocks = re.findall(r":root \{(.*?)\}", page._read("style.css"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w{6})", blocks[scheme]))
    for paper in ("paper", "surface"):
        for ink in ("ink", "quiet", "accent"):
            assert contrast(colours[ink], colours[paper]) >= 4.5
    for line in ("outline", "accent"):
        assert contrast(colours[line], colours["paper"]) >= 3
    assert contrast(colours["accent"], colours["known"]) >= 3


# -- files --


def test_the_file_is_whole_and_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "report.html"
    write_report(sample.town(), path)
    assert path.read_bytes().decode("utf-8") == render(sample.town())
    with pytest.raises(InputError, match="exists already"):
        write_report(sample.town(), path)
    write_report(sample.hostile(), path, overwrite=True)
    assert path.read_bytes().decode("utf-8") == render(sample.hostile())
    with pytest.raises(InputError, match="same file as the input"):
        write_report(sample.town(), path, overwrite=True, inputs=[path])
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_it_knows_no_path_but_those_it_was_given():
    assert str(Path.home()) not in render(sample.town())
    assert str(Path(page.__file__).parent) not in render(sample.town())


def test_the_template_engine_is_loaded_only_when_a_page_is_made():
    code = "import sys, graphfill.report; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True)
    assert done.stdout.strip() == b"False"
