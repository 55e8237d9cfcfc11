"""A fill saved by the real command, and used again on next month's table."""

import numpy as np
import pytest
from cli.real_command import graphfill


def write(path, seed, header="id,x,town"):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=80))
    lines = [header]
    for i, value in enumerate(x):
        cells = [f"{value:.3f}", "up" if value > np.median(x) else "down"]
        shown = ["" if rng.random() < 0.25 else cell for cell in cells]
        lines.append(",".join([f"n{i}", *shown]))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "march.csv", 0)
    write(tmp_path / "april.csv", 1)
    edges = "\n".join(["a,b", *(f"n{i},n{i + 1}" for i in range(79))]) + "\n"
    (tmp_path / "edges.csv").write_text(edges)
    return tmp_path


def test_saved_and_used_again(files):
    run = graphfill("impute", "march.csv", "edges.csv", "-o", "m.csv", "--save", "m.gfill",
                    "--id", "id", "--mark", cwd=files)  # fmt: skip
    assert run.returncode == 0, run.stderr
    again = graphfill("impute", "march.csv", "edges.csv", "-o", "again.csv", "--load", "m.gfill",
                      cwd=files)  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert (files / "m.csv").read_bytes() == (files / "again.csv").read_bytes()
    later = graphfill("impute", "april.csv", "edges.csv", "-o", "a.csv", "--load", "m.gfill",
                      cwd=files)  # fmt: skip
    assert later.returncode == 0, later.stderr
    before = [line.split(",") for line in (files / "april.csv").read_text().splitlines()]
    after = [line.split(",") for line in (files / "a.csv").read_text().splitlines()]
    for old, new in zip(before, after, strict=True):
        assert all(cell in ("", filled) for cell, filled in zip(old, new, strict=False))
        assert all(new)


def refused(folder, *arguments):
    run = graphfill("impute", *arguments, cwd=folder)
    assert run.returncode == 1, run.stdout
    assert run.stderr.count("\n") == 1
    return run.stderr


def test_refusals(files):
    done = graphfill("impute", "march.csv", "edges.csv", "-o", "m.csv", "--save", "m.gfill",
                     "--method", "mean", cwd=files)  # fmt: skip
    assert done.returncode == 0, done.stderr
    use = ("edges.csv", "-o", "out.csv", "--load", "m.gfill")
    assert "--method is given beside --load" in refused(
        files, "april.csv", *use, "--method", "mean"
    )
    assert "--save is given beside --load" in refused(files, "april.csv", *use, "--save", "b.gfill")
    assert "exists" in refused(files, "march.csv", "edges.csv", "-o", "o.csv", "--save", "m.gfill")
    write(files / "less.csv", 1, header="id,x,city")
    assert "There is no column 'town' in less.csv" in refused(files, "less.csv", *use)
    words = (files / "april.csv").read_text().replace("up", "1").replace("down", "2")
    (files / "other.csv").write_text(words)
    assert "'town' of other.csv is of the type int64, but was of the type text" in refused(
        files, "other.csv", *use
    )
    (files / "m.gfill").write_bytes((files / "m.gfill").read_bytes()[:-40])
    assert "m.gfill is no imputer that graphfill saved" in refused(files, "april.csv", *use)
    assert not (files / "out.csv").exists()
