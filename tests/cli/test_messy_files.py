"""Files as people have them, through the real command: filled, and all else byte for byte."""

import pytest

from graphfill.cli import main

EDGES = "a,b\nann,bob\nbob,cat\ncat,dan\n"
BODY = "ann,30,Rome\nbob,,Rome\ncat,40,\ndan,44,Rome\n"
FILLED = "ann,30,Rome\nbob,35,Rome\ncat,40,Rome\ndan,44,Rome\n"
HEAD = "name,age,city\n"

# What it is, the file, what comes out in its place ({} where it is the same), and a part of what
# is said.
MESSY = {
    "a title": ("Our people\n{}", "is read as a title"),
    "a title of several lines": (
        "Table 3. Our people\nby name\n\n{}",
        'What stands above line 4 of t.csv ("Table 3. Our people by name") is read as a title',
    ),
    "a title as Excel writes it": ("Our people,,\n,,\n{}", "is read as a title"),
    "a title with commas": ("Our people, of the town\n\n{}", "is read as a title"),
    "comments above": ("# made by hand\n# 2024\n{}", "is read as a title"),
    "a source below": ("{}\nSource: us and them\n", '("Source: us and them") is read as a footer'),
    "notes below": (
        "{}Note: without children\n* estimated\nSource: us, 2024\n",
        'What stands below line 5 of t.csv ("Note: without children") is read as a footer',
    ),
    "notes below as Excel writes them": ("{},,\nSource: our own count,,\n", "read as a footer"),
    "a total": ("{}Total,149,\n", 'line 5 of t.csv ("Total") is read as a footer'),
    "a total and a source": ("{}Total,149,\n\n(c) us, 2024\n", "below line 5 of t.csv"),
    "a title, a total and a source": (
        "Our people\n\n{}Total,149,\nSource: us and them\n", "is read as a title",
    ),
}  # fmt: skip


def run(folder, content, *options, encoding="utf-8", code=0, name="t.csv"):
    (folder / name).write_bytes(content.encode(encoding))
    (folder / "e.csv").write_text(EDGES)
    files = [str(folder / name), str(folder / "e.csv"), "-o", str(folder / f"out-{name}")]
    command = ["impute", *files, "--reliance", "1", "--overwrite", *options]
    assert main(["check", *files[:2]]) == code
    assert main(command) == code
    return None if code else (folder / f"out-{name}").read_bytes().decode(encoding)


@pytest.mark.parametrize("kind", MESSY)
def test_what_stands_around_the_table(tmp_path, capsys, kind):
    around, said = MESSY[kind]
    assert run(tmp_path, around.format(HEAD + BODY)) == around.format(HEAD + FILLED)
    assert said in capsys.readouterr().out
    marked = run(tmp_path, around.format(HEAD + BODY), "--mark").split("\n")
    assert "name,age,city,age_filled,city_filled" in marked
    assert "bob,35,Rome,true,false" in marked


def with_column(text, *cells):
    return "".join(f"{line}{cell}\n" for line, cell in zip(text.split("\n"), cells, strict=False))


@pytest.mark.parametrize(
    ("change", "header"),
    [
        (lambda text: text.replace("\n", ",\n"), "name,age,city,,age_filled,city_filled"),
        (lambda text: text.replace("\n", ",,\n"), "name,age,city,,,age_filled,city_filled"),
        (lambda text: text.replace("name,age", "name,,age").replace("n,", "n,,")
         .replace("b,", "b,,").replace("t,", "t,,"), "name,,age,city,age_filled,city_filled"),
        (lambda text: HEAD + text.removeprefix(HEAD).replace("\n", ",\n"),
         "name,age,city,,age_filled,city_filled"),
        (lambda text: text.replace("city\n", "city,\n"), "name,age,city,age_filled,city_filled"),
    ],
    ids=["a separator at the end", "two of them", "an empty column", "not in the header",
         "in the header alone"],
)  # fmt: skip
def test_separators_too_many(tmp_path, change, header):
    assert run(tmp_path, change(HEAD + BODY)) == change(HEAD + FILLED)
    marked = run(tmp_path, change(HEAD + BODY), "--mark").split("\n")
    assert marked[0].rstrip(",") == header
    assert len({line.count(",") for line in marked[1:-1]}) == 1


def test_semicolons_decimal_commas_a_mark_and_windows(tmp_path):
    table = "\ufeffLeute der Stadt\r\n\r\nName;Größe;Lohn\r\nann;1,70;1.200,00 €\r\nbob;;\r\n"
    table += "cat;1,80;1.400,00 €\r\ndan;1,75;900,00 €\r\nQuelle: eigene Zählung\r\n"
    filled = run(tmp_path, table)
    assert filled == table.replace("bob;;", "bob;1,75;1.300,00 €")


def test_quoted_line_ends_and_two_encodings(tmp_path):
    table = 'name,age,note\nann,30,"two\nlines"\nbob,,"a ""word"""\ncat,40,x\ndan,44,x\n'
    assert run(tmp_path, table) == table.replace("bob,,", "bob,35,")
    mixed = b"name,age,city\nann,30,M\xfcnchen\nbob,,K\xc3\xb6ln\ncat,40,K\xc3\xb6ln\n"
    (tmp_path / "t.csv").write_bytes(mixed)
    output = tmp_path / "out.csv"
    files = [str(tmp_path / name) for name in ("t.csv", "e.csv")]
    assert main(["impute", *files, "-o", str(output), "--reliance", "1"]) == 0
    assert output.read_bytes() == mixed.replace(b"bob,,", b"bob,35,")


def test_thousands_in_some_cells(tmp_path):
    table = 'name,pay,share\nann,"1,200",5%\nbob,,\ncat,"1,400",7%\ndan,950,n/a\n'
    filled = run(tmp_path, table)
    assert filled.split("\n")[2] == 'bob,"1,300",6%'
    assert filled.split("\n")[4].startswith("dan,950,")


def test_two_columns_of_one_name_are_refused(tmp_path, capsys):
    run(tmp_path, "name,age,age\nann,30,1\n", code=1)
    assert "has the name 'age' twice, for columns 2 and 3: rename one." in capsys.readouterr().err


@pytest.mark.parametrize(
    "table",
    [
        HEAD + BODY + "Total,,\n",  # a row of that name
        HEAD + BODY + "Total,12,Rome\n",  # which is no sum
        HEAD + BODY + "Source,,\n",
        "ann,age,city\n" + BODY,
        "a,b\nann,bob\nbob,\n",
    ],
)
def test_rows_are_no_footers(tmp_path, table, capsys):
    run(tmp_path, table)
    said = capsys.readouterr().out
    assert "as a footer" not in said
    assert "as a title" not in said


def test_a_line_that_is_too_short_in_the_middle_is_refused(tmp_path, capsys):
    run(tmp_path, HEAD + "ann,30\n" + BODY + "Source: us\n", code=1)
    assert "line 2 has 2 cells but the header has 3" in capsys.readouterr().err
