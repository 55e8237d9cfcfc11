"""Would storing rows as bfloat16 pay? Time per step and error of 40 steps, against float32.

    python benchmarks/half_width.py            # writes benchmarks/results/half_width.json

Rows are kept in bfloat16 (8 bits of mantissa) and summed in float32; known cells are exact
again at the end. The float32 side is the package's own kernel on the same tile.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import graphfill as gf
import graphs
from graphfill import kernels
from graphfill.kernels._tiles import available, cut, share
from graphfill.solve import Operator, PropagationOptions

HERE = Path(__file__).parent
WIDTH = 32


def compiled(folder: str) -> ctypes.CDLL:
    library = Path(folder) / "half_width.so"
    flags = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, f"-DW={WIDTH}", HERE / "half_width.c", "-o", library], check=True)
    return ctypes.CDLL(str(library))


def to_half(values: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def to_float(half: np.ndarray) -> np.ndarray:
    return (half.astype(np.uint32) << 16).view(np.float32)


def measure(library: ctypes.CDLL, size: str, shuffled: bool, folder: str, rounds: int) -> dict:
    edges = graphs.cached_community_graph(size, shuffled=shuffled, folder=folder)
    n = graphs.SIZES[size][0]
    graph = gf.Graph.from_edges(edges, n_nodes=n)
    operator = Operator(graph, PropagationOptions(), np.dtype(np.float32))
    X = graphs.features(n, WIDTH, 0.99)
    z, known = kernels.pack(X, slice(0, WIDTH), None, operator.to_z, WIDTH)
    half = to_half(z)
    pieces = cut(n, 8 * available())

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def half_step(source: np.ndarray, out: np.ndarray) -> None:
        def rows(lo: int, hi: int) -> None:
            library.diffuse(
                pointer(operator.indptr), pointer(operator.indices),
                ctypes.c_int64(len(operator.indices)), pointer(operator.scale), pointer(known),
                pointer(source), pointer(out), ctypes.c_int64(lo), ctypes.c_int64(hi),
            )  # fmt: skip

        share(rows, pieces, available())

    def single_step(source: np.ndarray, out: np.ndarray) -> None:
        operator.passes.diffuse(operator.scale, known, source, out)

    answers, times = {}, {}
    for _ in range(rounds):
        for name, step, start in (("float32", single_step, z), ("bfloat16", half_step, half)):
            now, spare = start.copy(), start.copy()
            begun = time.perf_counter()
            for _ in range(40):
                step(now, spare)
                now, spare = spare, now
            elapsed = (time.perf_counter() - begun) / 40
            times[name] = min(elapsed, times.get(name, np.inf))
            answers[name] = now
    exact = operator.from_z[:, None] * answers["float32"]
    stored = operator.from_z[:, None] * to_float(answers["bfloat16"])
    missing = np.isnan(X)
    error = np.where(missing, stored - exact, 0)
    return {
        "graph": size,
        "ids": "shuffled" if shuffled else "ordered",
        "seconds_per_step": times,
        "time_ratio": times["bfloat16"] / times["float32"],
        "relative_error": float(np.linalg.norm(error) / np.linalg.norm(exact[missing])),
        "largest_error": float(np.abs(error).max()),
        "largest_value": float(np.abs(exact[missing]).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default=HERE / ".cache")
    parser.add_argument("--sizes", nargs="+", default=["arxiv", "products/10"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    results = []
    print("| graph | ids | time per step, of float32's | relative error | largest error |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        for size in options.sizes:
            for shuffled in (True, False):
                r = measure(library, size, shuffled, options.folder, options.rounds)
                results.append(r)
                print(
                    f"| {r['graph']} | {r['ids']} | {r['time_ratio']:.2f} | "
                    f"{r['relative_error']:.1e} | {r['largest_error']:.1e} "
                    f"(values up to {r['largest_value']:.2g}) |",
                    flush=True,
                )
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "half_width.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
