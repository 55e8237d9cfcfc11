"""Places, keys and moments as people write them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import graphfill as gf
from graphfill.links._degrees import degrees

TOWNS = pd.DataFrame(
    {"lat": [48.5, 48.1, 50.0, -33.875], "lon": [11.0, 11.5, 8.25, -70.5], "rain": [3, 4, None, 1]}
)


def filled(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GraphfillWarning)
        return gf.impute(table, return_result=True, **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("48°30'36\"N", 48.51),
        ("48° 30′ 36″ N", 48.51),
        ("48 30 36 s", -48.51),
        ("N48°30.6'", 48.51),
        ("48:30:36", 48.51),
        ("53°05'60.0\"N", 53.1),
        ("-70,5°", -70.5),
        ("70.5W", -70.5),
        ("70.5 E", 70.5),
        ("48d30m36s", 48.51),
        ("400°", None),
        ("48°75'", None),
        ("N48S", None),
        ("Hill 7", None),
        ("", None),
    ],
)
def test_degrees(text, expected):
    assert degrees(text) == (None if expected is None else pytest.approx(expected))


def test_coordinates_as_text_link_as_numbers_do():
    texts = TOWNS.assign(
        lat=["48°30'N", "48°6'0\"N", "50° N", "33°52'30\"S"],
        lon=["11 E", "11°30'E", "8°15'E", "70°30'W"],
    )
    expected = gf.links.near(TOWNS, "lat", "lon", k=2).table()
    assert gf.links.near(texts, "lat", "lon", k=2).table().equals(expected)
    texts.loc[1, "lat"] = "forty"
    with pytest.raises(gf.InputError, match="holds 'forty' in row 1, which is no coordinate"):
        gf.links.near(texts, "lat", "lon")


def test_names_say_which_is_the_latitude():
    expected = gf.links.near(TOWNS, "lat", "lon", k=2).table()
    assert gf.links.near(TOWNS, "lon", "lat", k=2).table().equals(expected)
    wrong = TOWNS.assign(lat=[48.5, -9999, -9999, -9999])  # many, and yet no plane
    with pytest.raises(gf.InputError, match="holds -9999 in row 1, which is no latitude"):
        gf.links.near(wrong, "lat", "lon")


def test_blanks_around_a_key_are_left_out():
    people = pd.DataFrame({"firm": ["Ash", " Ash ", "Elm", "elm", " "], "pay": [5, None, 7, 9, 1]})
    links = gf.links.same(people, "firm")
    assert set(links.table()["target"].to_pylist()) == {"firm=Ash", "firm=Elm", "firm=elm"}
    assert "1 key(s) of column 'firm' are others but for case ('Elm' and 'elm')" in links.notes[0]
    assert filled(people, same="firm", method="propagation").table["pay"][1] == 5


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("%d.%m.%Y %H:%M", "01.03.2024 00:00"),
        ("%m/%d/%Y %I:%M %p", "03/01/2024 12:00 AM"),
        ("%m/%d/%Y %I:%M:%S%p", "03/01/2024 12:00:00AM"),
        ("%Y/%m/%d, %H:%M", "2024/03/01, 00:00"),
    ],
)
def test_moments_of_other_forms_in_a_file(tmp_path, pattern, first):
    from graphfill.cli import main

    hours = pd.date_range("2024-03-01", periods=480, freq="h")
    table = pd.DataFrame({"when": hours.strftime(pattern), "level": np.sin(np.arange(480) / 9)})
    table.loc[3::7, "level"] = None
    assert table["when"][0] == first
    table.to_csv(tmp_path / "levels.csv", index=False)
    files = [str(tmp_path / "levels.csv"), "-o", str(tmp_path / "filled.csv")]
    assert main(["impute", *files, "--time", "when", "--method", "propagation", "--quiet"]) == 0
    after = pd.read_csv(tmp_path / "filled.csv")
    assert after["when"].tolist() == table["when"].tolist()
    assert np.abs(after["level"] - np.sin(np.arange(480) / 9)).max() < 0.2


def test_moments_that_could_be_two_days(tmp_path, capsys):
    from graphfill.cli import main

    rows = [f"0{day}/05/2024 0{day}:00 AM,{day % 9 or ''}\n" for day in range(1, 10)]
    (tmp_path / "a.csv").write_text("when,x\n" + "".join(rows))
    files = [str(tmp_path / "a.csv"), "-o", str(tmp_path / "b.csv")]
    assert main(["impute", *files, "--time", "when"]) == 1
    said = capsys.readouterr().err
    assert "holds text such as '01/05/2024 01:00 AM', not moments" in said
    assert main(["impute", *files, "--time", "when", "--quiet",
                 "--type", "when=date:%m/%d/%Y %I:%M %p"]) == 0  # fmt: skip


def test_a_filled_moment_is_written_in_its_form(tmp_path):
    from graphfill.cli import main

    table, edges, output = (tmp_path / name for name in ("t.csv", "e.csv", "out.csv"))
    table.write_text("id,seen\na,13.05.2024 08:00\nb,\nc,13.05.2024 10:00\n")
    edges.write_text("a,b\na,b\nb,c\n")
    command = ["impute", str(table), str(edges), "-o", str(output), "--reliance", "1", "--quiet"]
    assert main(command) == 0
    assert output.read_text().split("\n")[2] == "b,13.05.2024 09:00"
