"""Summaries to draw: a town much like the demo's, and one that means harm."""

import math

NUMBER_METHODS = ("mean", "neighbors", "propagation", "diffusion", "columns", "hybrid")
EVIL = "<script>alert(1)</script>"
HOSTILE_NAMES = (
    EVIL,
    "\"'><img src=x onerror=alert(1)>",
    "",
    "עמודה של מספרים 12",
    "👩‍👩‍👧‍👦 family 🏠",
    "x" * 500,
    "a\u202eb\u0000c\ud800d",
    "{{ 7 * 7 }} {% raw %}",
    "</style></title></desc></svg><b>",
    "列" * 90,
)


def column(name, kind="number", n_missing=0, **more):
    """What every column has, and more."""
    return {
        "name": name,
        "kind": kind,
        "n_missing": n_missing,
        "n_filled": n_missing if kind not in ("id", "left alone") else 0,
        "n_unreached": 0,
        "agreement": None,
        "agreement_spread": None,
        "links": "",
        "verdict": "",
        "reliance": None,
        "explained": None,
        "note": "",
    } | more


def number_scores(mean, best):
    """Errors that fall from the mean's to the hybrid's."""
    steps = [1.0, 0.62, 0.41, 0.44, 0.55, 0.0]
    return [
        {
            "method": method,
            "rmse": best + (mean - best) * step,
            "mae": 0.78 * (best + (mean - best) * step),
            "r2": 1 - ((best + (mean - best) * step) / mean) ** 2,
        }
        for method, step in zip(NUMBER_METHODS, steps, strict=True)
    ]


def class_scores(mean, best):
    steps = [0.0, 0.7, 0.9, 0.85, 0.3, 1.0]
    return [
        {
            "method": method,
            "accuracy": mean + (best - mean) * step,
            "f1": 0.1 + 0.8 * (mean + (best - mean) * step) * step,
            "log_loss": 1.9 - 1.2 * step,
        }
        for method, step in zip(NUMBER_METHODS, steps, strict=True)
    ]


def bell(n, centre, width):
    heights = [math.exp(-(((j - centre) / width) ** 2)) for j in range(n)]
    return [height / sum(heights) for height in heights]


LEVELS = [
    {"nominal": q, "actual": q + 0.06 * q * (1 - q)} for q in (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
]
SURE = [
    {"confidence": 0.25, "accuracy": 0.21, "n": 40},
    {"confidence": 0.45, "accuracy": 0.47, "n": 120},
    {"confidence": 0.65, "accuracy": 0.61, "n": 210},
    {"confidence": 0.85, "accuracy": 0.88, "n": 340},
    {"confidence": 0.97, "accuracy": 0.95, "n": 90},
]
NEAR = [
    {"distance": 1, "cells": 541},
    {"distance": 2, "cells": 98},
    {"distance": 3, "cells": 14},
    {"distance": None, "cells": 14},
]
GROUPS = [
    {"rows": 4, "cells": 4, "examples": ["p00012", "p00481", "p01733", "p01950"]},
    {"rows": 3, "cells": 3, "examples": ["p00077", "p00912", "p01004"]},
    {"rows": 1, "cells": 1, "examples": ["p01501"]},
]


def pictures(names):
    """Pictures of a map, in which every state occurs, of the columns of these names."""
    n = 60
    places = [0.5 + 0.4 * math.cos(j) * j / n for j in range(n)]
    return {
        "missing": {
            "rows": 2000,
            "columns": names,
            "total": [0.33] * len(names),
            "shares": [[abs(math.sin(j + k)) for j in range(60)] for k in range(len(names))],
            "left_out": 1,
        },
        "together": {
            "rows": 2000,
            "columns": names,
            "complete": 700,
            "patterns": [
                {"columns": [0], "rows": 300},
                {"columns": [0, 1], "rows": 120},
                {"columns": list(range(len(names))), "rows": 7},
            ],
            "others": 873,
            "left_out": 1,
            "pair": {"columns": names[:2], "rows": 120, "chance": 66.7},
        },
        "points": {
            "kind": "map",
            "rows": 2000,
            "coordinates": ["latitude", "longitude"],
            "x": places,
            "y": [1 - place * place for place in places],
            "links": [],
            "states": dict.fromkeys(names, "kkfufm" * (n // 6)),
        },
        "scatter": {
            "columns": names[:2],
            "rows": 2000,
            "x": [1e3 * place for place in places],
            "y": [-place for place in places],
            "states": "kkkffu" * (n // 6),
        },
    }


def town():
    """A summary with all there can be, and columns of every fate."""
    age = column(
        "age",
        "integer",
        667,
        n_known=1333,
        n_unreached=14,
        agreement=0.624,
        agreement_spread=0.011,
        links="inferable",
        verdict="fairly well inferred",
        reliance=0.97,
        explained=0.7107,
        scores=number_scores(17.912, 9.6341),
        chosen="hybrid",
        why="hybrid had the smallest error on hidden cells, by 11% over propagation.",
        n_held_out=400,
        unit="years",
        interval_level=0.9,
        coverage=0.9013,
        median_width=24.31,
        constant_width=57.2,
        calibration=LEVELS,
        distribution={
            "edges": [6 * j for j in range(17)],
            "known": bell(16, 6.5, 5.0),
            "filled": bell(16, 6.5, 3.4),
            "drawn": [bell(16, 6.5, width) for width in (3.0, 4.0, 5.0)],
        },
        distance=NEAR,
        unreached_groups=GROUPS,
        n_unreached_groups=9,
        least_trusted=[
            {"id": f"p{137 * j:05d}", "value": str(41 - j), "low": str(12 - j), "high": "78"}
            for j in range(1, 11)
        ],
    )
    income = age | column(
        "income",
        "number",
        667,
        links="weakly",
        verdict="roughly inferred",
        agreement=0.131,
        explained=0.2228,
        n_known=1333,
        scores=number_scores(21450.5, 18911.0),
        unit="",
        median_width=61204.0,
        constant_width=70911.0,
        distribution={
            "edges": [8000 + 11500 * j for j in range(13)],
            "known": bell(12, 3, 3.0),
            "filled": bell(12, 3.4, 1.5),
        },
        least_trusted=[{"id": "p00019", "value": "48,211", "low": "9,120", "high": "131,400"}],
        why="hybrid had the smallest error on hidden cells.",
    )
    city = column(
        "city",
        "category",
        667,
        n_known=1333,
        agreement=0.81,
        links="inferable",
        verdict="well inferred",
        explained=0.8205,
        scores=class_scores(0.22, 0.86),
        chosen="hybrid",
        why="hybrid was right most often on hidden cells.",
        n_held_out=400,
        interval_level=0.9,
        coverage=0.912,
        calibration=SURE,
        distribution={
            "values": ["Oslo", "Rome", "Lima", "Reykjavík", "San Salvador de Jujuy", "(other)"],
            "known": [0.22, 0.2, 0.18, 0.16, 0.14, 0.1],
            "filled": [0.25, 0.21, 0.18, 0.16, 0.13, 0.07],
        },
        distance=NEAR[:2],
        least_trusted=[
            {
                "id": f"p{97 * j:05d}",
                "value": "Rome",
                "probability": 0.2 + j / 40,
                "set": ["Rome", "Oslo"],
            }
            for j in range(1, 8)
        ],
    )
    values = ["nurse", "teacher", "carpenter", "clerk", "software developer", "(other)"]
    profession = city | {"name": "profession", "links": "weakly", "agreement": 0.09}
    profession |= {"verdict": "weakly inferred", "scores": class_scores(0.22, 0.298)}
    profession |= {"distribution": city["distribution"] | {"values": values}, "explained": 0.1}
    newsletter = city | {"name": "newsletter", "kind": "boolean", "scores": class_scores(0.6, 0.78)}
    newsletter |= {"verdict": "roughly inferred", "explained": 0.45}
    newsletter |= {
        "distribution": {"values": ["yes", "no"], "known": [0.4, 0.6], "filled": [0.31, 0.69]},
    }
    moved_in = age | {"name": "moved_in", "kind": "date", "unit": "days", "n_unreached": 0}
    moved_in |= {
        "scores": number_scores(3120.0, 1702.0),
        "explained": 0.7024,
        "median_width": 4012.0,
        "constant_width": 9004.0,
        "unreached_groups": [],
        "n_unreached_groups": 0,
        "distance": NEAR[:3],
        "distribution": {
            "edges": [f"{1980 + 4 * j}-01-01" for j in range(12)],
            "known": bell(11, 7, 4),
            "filled": bell(11, 7, 2),
        },
        "least_trusted": [
            {"id": "p00007", "value": "2004-05-01", "low": "1988-01-09", "high": "2019-11-30"}
        ],
    }
    lottery = age | {
        "name": "lottery_number",
        "links": "not from this graph",
        "verdict": "hardly better than the mean",
        "agreement": 0.004,
        "explained": 0.0,
        "reliance": 0.0,
        "chosen": "mean",
        "why": "No method did better than the mean on hidden cells.",
        "scores": number_scores(28.9, 28.7),
    }
    return {
        "rows": 2000,
        "nodes": 2013,
        "edges": 6412,
        "nodes_outside_the_table": 13,
        "rows_without_edge": 21,
        "id": "person",
        "source": "person",
        "target": "friend",
        "missing": 5489,
        "filled": 5329,
        "unreached": 28,
        "columns": [
            column("person", "id"),
            age,
            income,
            city,
            profession,
            newsletter,
            moved_in,
            lottery,
            column("phone", "left alone", 120, note="nearly every value is different"),
            column("height", "number", 660, links="unknown", verdict="unknown"),
            column("street", "category"),
        ],
        "notes": [
            "The column 'person' was taken for the ids, since every edge names one of them.",
            "13 node(s) named by friends.csv are not in people.csv: they pass information on but "
            "are not added.",
        ],
        "settings": {
            "method": "auto",
            "reliance": "held-out",
            "normalization": "rw",
            "solver": "exact",
            "unreached": "mean",
            "seed": 0,
            "tol": 1e-6,
        },
        "n_iter": 87,
        "residual": 8.13e-7,
        "converged": True,
        "seconds": {"read": 0.05, "link": 0.11, "survey": 0.41, "fill": 1.92, "total": 2.61},
        "output": "filled.csv",
        "input": {"table": "people.csv", "edges": "friends.csv"},
        "version": "0.2.0",
        "command": ["graphfill", "impute", "people.csv", "friends.csv", "-o", "filled.csv"],
        "pictures": pictures(["age", "income", "city", "profession"]),
    }


def hostile():
    """Names and values that would break a page that trusts them."""
    summary = town()
    full = summary["columns"][1], summary["columns"][3]
    summary["columns"] = [
        full[j % 2]
        | {
            "name": name,
            "why": name,
            "note": name,
            "unit": EVIL,
            "chosen": name,
            "unreached_groups": [{"rows": 1, "cells": 1, "examples": [name] * 3}],
            "least_trusted": [{"id": name, "value": name, "probability": 0.1, "set": [name, EVIL]}],
            "distribution": {"values": [name, EVIL], "known": [0.5, 0.5], "filled": [0.1, 0.9]},
            "scores": [
                {"method": name, "rmse": float("nan"), "mae": None, "r2": float("-inf")},
                {"method": EVIL, "rmse": 1e300, "mae": 1e-300, "r2": 0.0},
            ],
        }
        for j, name in enumerate(HOSTILE_NAMES)
    ]
    summary["pictures"] = pictures([EVIL, *HOSTILE_NAMES[1:]])
    summary["pictures"]["points"]["coordinates"] = [EVIL, EVIL]
    summary["converged"] = False
    summary["notes"] = list(HOSTILE_NAMES)
    summary["settings"] = {EVIL: EVIL, "nested": {"a": [EVIL]}, "unreached": "nan"}
    summary["seconds"] = {EVIL: 1.0}
    summary["command"] = ["graphfill", EVIL, "a b", '"']
    summary["input"] = {"table": EVIL, "edges": "x" * 400}
    summary["output"] = EVIL
    summary["version"] = EVIL
    return summary


def wide(n):
    """A summary with n columns that have all there can be."""
    summary = town()
    full = [column for column in summary["columns"] if "distance" in column]
    summary["columns"] = [full[j % len(full)] | {"name": f"column {j}"} for j in range(n)]
    return summary
