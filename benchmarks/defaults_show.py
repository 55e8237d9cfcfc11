"""Tables of the benchmark of defaults, from its lines."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from defaults_fill import is_peer
from harness import table

FLOOR = -0.5  # of an R2 in averages
NEAR = {"r2": 0.02, "r2_rank": 0.02, "accuracy": 0.01}  # as good as the best peer

# By method, seed and column: the scores of the hidden cells.
Scores = dict[str, dict[int, dict[str, dict]]]


def show(rows: list[dict], ours: str, columns_of: str | None) -> str:
    """A summary and a table per set, or one of every column of a set."""
    by_set: dict[str, Scores] = defaultdict(lambda: defaultdict(dict))
    cpu, errors = defaultdict(list), defaultdict(list)
    for row in rows:
        where = row["set"], row["method"]
        if "error" in row:
            errors[where].append(row["error"])
        else:
            by_set[row["set"]][row["method"]][row["seed"]] = row["columns"]
            cpu[where].append(row["cpu"])
    if columns_of is not None:
        return table(*columns_table(by_set[columns_of]))
    parts = [table(*summary(by_set, ours))]
    for name, scores in by_set.items():
        seconds = {m: float(np.mean(cpu[name, m])) for m in scores}
        failed = {m: words for (where, m), words in errors.items() if where == name}
        parts.append(f"### {name}\n\n" + table(*methods_table(scores, seconds, failed)))
    return "\n\n".join(parts)


def value(score: dict, scale: str) -> float:
    """The accuracy of a category, the R2 of numbers (not below the floor)."""
    return score["accuracy"] if "accuracy" in score else max(score[scale], FLOOR)


def mean_of(by_seed: dict[int, dict[str, dict]], kind: str, scale: str) -> float | None:
    """The mean over columns and seeds; `kind` is a key that the columns meant have."""
    values = [
        value(s, scale) for columns in by_seed.values() for s in columns.values() if kind in s
    ]
    return float(np.mean(values)) if values else None


def methods_table(scores: Scores, cpu: dict[str, float], failed: dict[str, list[str]]):
    """Per method: mean scores and CPU seconds, the best first; then what failed."""
    heads = {"method": "method", "seeds": "seeds", "mean": "mean score", "r2": "R2",
             "r2_rank": "R2 of ranks", "accuracy": "accuracy", "cpu": "CPU s",
             "failed": "failed"}  # fmt: skip
    rows = []
    for method in {**scores, **failed}:
        by_seed = scores.get(method, {})
        row = {"method": method, "seeds": len(by_seed), "cpu": cpu.get(method)}
        row["mean"] = mean_of(by_seed, "n", "r2")
        row["r2"], row["r2_rank"] = (mean_of(by_seed, "r2", scale) for scale in ("r2", "r2_rank"))
        row["accuracy"] = mean_of(by_seed, "accuracy", "r2")
        if method in failed:
            row["failed"] = f"{len(failed[method])}: {failed[method][0]}"
        rows.append(row)
    return sorted(rows, key=lambda row: -(row["mean"] or FLOOR)), heads


def gaps(scores: Scores, ours: str, peer: str, scale: str) -> dict[str, float]:
    """Per column, our score minus the peer's, on the mean of the seeds that both have."""
    both = scores[ours].keys() & scores[peer].keys()
    found = defaultdict(list)
    for seed in both:
        for name, score in scores[ours][seed].items():
            theirs = value(scores[peer][seed][name], scale)
            found[name].append(value(score, scale) - theirs)
    return {name: float(np.mean(values)) for name, values in found.items()}


def near_best(
    scores: Scores, ours: str, peers: list[str], kinds: dict[str, str | None], scale: str
) -> list[bool]:
    """By column, whether a method is as good as the best of some others, on common seeds."""
    by_peer = [
        gaps(scores, ours, p, scale) for p in peers if scores[p].keys() & scores[ours].keys()
    ]
    return [
        min(gap[name] for gap in by_peer) >= -NEAR[kind or scale] for name, kind in kinds.items()
    ]


def shares(n: int, *counts: int) -> dict[str, str]:
    names = ("near", "near_rank", "their_near")
    return {name: f"{count / n:.0%}" for name, count in zip(names, counts, strict=True)}


def summary(by_set: dict[str, Scores], ours: str):
    """Per set: on how many columns we are as good as the best peer, and the best single peer.

    The best of many peers on a few dozen cells is partly luck, so the best single peer is counted
    in the same way: against the other peers and ours. The last row is of all columns.
    """
    heads = {"set": "set", "columns": "columns", "seeds": "seeds",
             "near": "as good as the best peer", "near_rank": "the same by ranks",
             "ours": f"{ours}: mean score", "best": "best single peer", "theirs": "its mean score",
             "above": "above it", "their_near": "as good as all others"}  # fmt: skip
    rows, counts = [], []
    for where, scores in by_set.items():
        peers = [
            m
            for m in scores
            if is_peer(m) and ours in scores and scores[m].keys() & scores[ours].keys()
        ]
        if not peers:
            continue
        kinds = {name: "accuracy" if "accuracy" in score else None
                 for one in scores[ours].values() for name, score in one.items()}  # fmt: skip
        row = {"set": where, "columns": len(kinds), "seeds": len(scores[ours])}
        mean_gap = {p: float(np.mean(list(gaps(scores, ours, p, "r2").values()))) for p in peers}
        best = min(mean_gap, key=lambda peer: mean_gap[peer])
        others = [ours, *(peer for peer in peers if peer != best)]
        near = [
            near_best(scores, ours, peers, kinds, "r2"),
            near_best(scores, ours, peers, kinds, "r2_rank"),
            near_best(scores, best, others, kinds, "r2"),
        ]
        both = scores[ours].keys() & scores[best].keys()
        row["ours"] = mean_of({seed: scores[ours][seed] for seed in both}, "n", "r2")
        row["theirs"] = mean_of({seed: scores[best][seed] for seed in both}, "n", "r2")
        row |= {"best": best, "above": "yes" if row["ours"] > row["theirs"] else "no"}
        counts.append([len(kinds), row["ours"] > row["theirs"], *map(sum, near)])
        rows.append(row | shares(len(kinds), *map(sum, near)))
    if len(rows) > 1:
        n, above, *near = np.sum(counts, axis=0).tolist()
        rows.append({"set": "all", "columns": n, "above": f"{above} of {len(rows)}"}
                    | shares(n, *near))  # fmt: skip
    return rows, heads


def columns_table(scores: Scores):
    """Per column: the mean score of every method over its seeds."""
    heads = {"column": "column", "kind": "score", "most_frequent": "most frequent"}
    heads |= {method: method for method in scores}
    rows: dict[str, dict] = {}
    for method, by_seed in scores.items():
        for name in {name: None for columns in by_seed.values() for name in columns}:
            seeds = [columns[name] for columns in by_seed.values()]
            kind = "accuracy" if "accuracy" in seeds[0] else "R2"
            row = rows.setdefault(name, {"column": name, "kind": kind})
            row[method] = float(np.mean([value(score, "r2") for score in seeds]))
            if kind == "accuracy":
                row["most_frequent"] = float(np.mean([score["most_frequent"] for score in seeds]))
    return list(rows.values()), heads
