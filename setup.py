"""Builds the compiled kernels; everything else is in pyproject.toml.

They are optional: without a C compiler the install succeeds, and graphfill runs on SciPy.
GRAPHFILL_NO_EXTENSION=1 leaves them out on purpose. They use Python's stable ABI and no NumPy
headers, so one wheel per platform serves every Python from 3.11 on.
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
        "-g0",  # the folder it was built in is not part of the wheel: the same bytes anywhere
        "-O3",
        "-ffp-contract=off",  # no fused multiply-adds: the same bits on every machine
        "-fno-trapping-math",  # lets a masked write become a vector blend
        "--param=max-completely-peel-times=8",  # vectorise lane loops before unrolling them
        "-Wall",
        "-Wextra",
    ]

KERNELS = "src/graphfill/kernels/csrc"
flags += os.environ.get("GRAPHFILL_CFLAGS", "").split()
compiled = Extension(
    "graphfill.kernels._compiled",
    sources=[f"{KERNELS}/kernels.c"],
    depends=sorted(glob(f"{KERNELS}/*.h")),
    extra_compile_args=flags,
    extra_link_args=os.environ.get("GRAPHFILL_LDFLAGS", "").split(),
    py_limited_api=True,
    optional=True,
)
leave_out = bool(os.environ.get("GRAPHFILL_NO_EXTENSION"))
# Object files are not rebuilt when only the flags change: each set of flags has its own place.
variant = "plain" if leave_out else f"{zlib.crc32(' '.join(flags).encode()):x}"

setup(
    ext_modules=[] if leave_out else [compiled],
    options={
        "build": {"build_base": f"build/{variant}"},
        "bdist_wheel": {"py_limited_api": "cp311"},
    },
)
