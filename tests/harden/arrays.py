"""Graphs of broken arrays, given to every way that takes them: read or refused, never a crash.

    python tests/harden/arrays.py SEED FIRST LAST

Row pointers, columns and weights are changed, given other types, cut off, made read-only, strided
or mapped from files, and put into SciPy's matrices without its checks. A line per graph.
"""

import sys
import traceback
import warnings

import numpy as np
from scipy import sparse

import graphfill as gf

N = 70  # beyond what is solved by elimination
NUMBERS = (0, -1, 1, N, N - 1, 2**31 - 1, -(2**31), 2**31, 2**62, -(2**63), 2**63 - 1)
WEIGHTS = (np.nan, np.inf, -1.0, 0.0, 5e-324, 1e308)
TYPES = ("i1", "u1", "i2", "u4", "i8", "u8", "f4", "f8", "?", ">i4", "c8", "O", "M8[s]")


def changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One array with something wrong with it, or nothing."""
    array = array.copy()
    what = rng.integers(0, 8)
    if what <= 2 and len(array):
        values = WEIGHTS if array.dtype.kind == "f" else NUMBERS
        value = values[rng.integers(0, len(values))]
        if array.dtype.kind == "i" and abs(value) >= 2**31:
            array = array.astype("i8")
        array[rng.integers(0, len(array))] = np.array(value).astype(array.dtype)
    elif what == 3:
        with np.errstate(all="ignore"):
            array = array.astype(TYPES[rng.integers(0, len(TYPES))])
    elif what == 4:
        array = array[: rng.integers(0, len(array) + 1)]
    elif what == 5:
        array = np.repeat(array, 2)[::2]
    elif what == 6:
        array.flags.writeable = False
    return array


def matrix(rng: np.random.Generator) -> object:
    """A graph in one of SciPy's forms, whose arrays were changed behind its back."""
    ends, weight = rng.integers(0, N, (2, 200)), rng.random(200) + 0.1
    A = sparse.coo_matrix((weight, ends), (N, N))
    A = getattr(A + A.T, f"to{('csr', 'csc', 'coo')[rng.integers(0, 3)]}")()
    names = ("data", "row", "col") if A.format == "coo" else ("data", "indices", "indptr")
    for name in names:
        if rng.random() < 0.5:
            try:
                setattr(A, name, changed(getattr(A, name), rng))
            except (AttributeError, ValueError):
                A.coords = tuple(changed(part, rng) for part in A.coords)
    return A


def outcome(rng: np.random.Generator) -> str:
    X = rng.normal(size=(N, 3))
    X[rng.random(X.shape) < 0.5] = np.nan
    try:
        if rng.random() < 0.5:
            ends = [changed(part, rng) for part in rng.integers(0, N, (2, 200))]
            graph = gf.Graph.from_edges(*ends, n_nodes=N, weight=changed(rng.random(200), rng))
        else:
            graph = matrix(rng)
        gf.propagate(X, graph, solver=("diffusion", "exact")[rng.integers(0, 2)])
    except gf.errors.InputError as error:
        return "refused" if len(str(error)) < 1000 else "said too much"
    except MemoryError:
        return "refused"
    except Exception:
        return f"raised {traceback.format_exc()!r}"
    return "filled"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    seed, first, last = map(int, sys.argv[1:])
    for number in range(first, last):
        print(number, end=" ", flush=True)
        print(outcome(np.random.default_rng([seed, number])), flush=True)
