"""Each call that writes fails once: the output is then the old file, the new one, or none.

    python tests/harden/faults.py csv parquet report shards

The calls are counted and made to fail by a library that is loaded before the system's (`faults.c`),
so that files are written by whoever writes them. A line per fault that lost or left something.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
KINDS = {
    "write": (errno.ENOSPC, errno.EIO, errno.EINTR, 0),  # 0: half of it is written
    "fsync": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EIO, errno.ENOSPC),
    "close": (errno.EIO,),
}
RETRIED = (errno.EINTR, 0)  # no fault: the rest is written by a further call
QUICK = ["--method", "propagation", "--reliance", "1", "--overwrite", "--quiet"]
OUTPUTS = {
    "csv": ["-o", "out.csv", *QUICK],
    "parquet": ["-o", "out.parquet", *QUICK],
    "report": ["-o", "out.csv", "--report", "out.html", *QUICK],
}


def library(folder: Path) -> Path:
    """Compiled by the C compiler that there is."""
    built = folder / "faults.so"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", built, HERE / "faults.c", "-ldl"]
    subprocess.run(command, check=True)
    return built


def run(folder: Path, arguments: list[str], fault: str = "") -> tuple[int, str, bool]:
    """The exit code, what was said, and whether the fault came."""
    note = folder.parent / "came"
    note.unlink(missing_ok=True)
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    if fault:
        preloaded = {"LD_PRELOAD": str(folder.parent / "faults.so"), "FAULT_NOTE": str(note)}
        environment |= preloaded | {"FAULT": f"{fault}:{folder}"}
    command = [sys.executable, "-m", "graphfill", "impute", "people.csv", "friends.csv", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr, note.exists()


def wrong(folder: Path, before: dict[str, bytes], after: dict[str, bytes], code: int, said: str,
          retried: bool) -> str:  # fmt: skip
    """What a fault broke, or nothing."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    if set(found) - set(after):
        return f"left {sorted(set(found) - set(after))}"
    for name, content in found.items():
        if content not in (before.get(name), after[name]):
            return f"{name} is neither the old nor the new file"
    if code == 0 and found != after:
        return "said nothing, and a file is not the new one"
    if code != 0 and (retried or code != 1 or "Traceback" in said or not said.strip()):
        return f"ended with {code}: {said.strip()[-200:]!r}"
    return ""


def faults(output: str, most: int = 1000) -> Counter[str]:
    """What became of a fault at each call, by kind."""
    counted: Counter[str] = Counter()
    arguments = OUTPUTS[output]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        library(place)
        folder, inputs = place / "files", place / "inputs"
        inputs.mkdir()
        rows = "".join(f"p{i},{i if i % 3 else ''}\n" for i in range(4000))
        (inputs / "people.csv").write_text(f"id,x\n{rows}")
        links = "".join(f"p{i},p{i + 1}\n" for i in range(3999))
        (inputs / "friends.csv").write_text(f"source,target\n{links}")
        for written in {one for one in arguments if one.startswith("out.")}:
            (inputs / written).write_bytes(b"old\n")
        before = {path.name: path.read_bytes() for path in inputs.iterdir()}
        shutil.copytree(inputs, folder)
        assert run(folder, arguments)[0] == 0
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        for kind, errors in KINDS.items():
            for error in errors:
                for nth in range(1, most + 1):
                    shutil.rmtree(folder)
                    shutil.copytree(inputs, folder)
                    code, said, came = run(folder, arguments, f"{kind}:{error}:{nth}")
                    if not came:
                        break
                    broken = wrong(folder, before, after, code, said, error in RETRIED)
                    counted[broken or "kept"] += 1
                    if broken:
                        print(f"{output} {kind} {error} {nth}: {broken}", flush=True)
    return counted


if __name__ == "__main__":
    for output in sys.argv[1:]:
        print(output, dict(faults(output)), flush=True)
