"""Builds the two compiled extensions; everything else is in pyproject.toml.

They are the kernels that fill tables, and the layers that graphfill bench trains networks with.
Both are optional: without a C compiler the install succeeds, graphfill runs on SciPy and bench
on torch. GRAPHFILL_NO_EXTENSION=1 leaves them out on purpose. They use Python's stable ABI
and no NumPy headers, so one wheel per platform serves every Python from 3.11 on.
"""

import os
import sys
import zlib
from glob import glob

from setuptools import Extension, setup

if sys.platform == "win32":
    flags = ["/O2", "/std:c11", "/fp:precise"]
else:
    flags = [
        "-std=gnu11",
        "-O3",
        "-ffp-contract=off",  # no fused multiply-adds: the same bits on every machine
        "-fno-trapping-math",  # lets a masked write become a vector blend
        "--param=max-completely-peel-times=8",  # vectorise lane loops before unrolling them
        "-Wall",
        "-Wextra",
    ]

KERNELS, LAYERS = "src/graphfill/kernels/csrc", "src/graphfill/bench/csrc"
flags += os.environ.get("GRAPHFILL_CFLAGS", "").split()


def extension(name: str, source: str) -> Extension:
    """An optional extension of one source file, which includes headers of either folder."""
    return Extension(
        name,
        sources=[source],
        depends=sorted(glob(f"{KERNELS}/*.h") + glob(f"{LAYERS}/*.h")),
        include_dirs=[KERNELS],
        extra_compile_args=flags,
        extra_link_args=os.environ.get("GRAPHFILL_LDFLAGS", "").split(),
        py_limited_api=True,
        optional=True,
    )


extensions = [
    extension("graphfill.kernels._compiled", f"{KERNELS}/kernels.c"),
    extension("graphfill.bench._layers", f"{LAYERS}/layers.c"),
]
leave_out = bool(os.environ.get("GRAPHFILL_NO_EXTENSION"))
# Object files are not rebuilt when only the flags change: each set of flags has its own place.
variant = "plain" if leave_out else f"{zlib.crc32(' '.join(flags).encode()):x}"

setup(
    ext_modules=[] if leave_out else extensions,
    options={
        "build": {"build_base": f"build/{variant}"},
        "bdist_wheel": {"py_limited_api": "cp311"},
    },
)
