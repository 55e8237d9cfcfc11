"""What every section shares: jobs, options, the ledger of measurements, tables."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import graphfill.kernels

HERE = Path(__file__).resolve().parent
PACKAGES = ("numpy", "scipy", "torch", "torch_geometric")


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    full: bool = False
    rounds: int | None = None
    seed: int = 0
    cache: Path = HERE / ".cache"
    peers: tuple[str, ...] = ()

    def n_rounds(self, default: int) -> int:
        """Rounds to take the best of: as asked, else 2 when quick, else the default."""
        return self.rounds or (min(default, 2) if self.quick else default)


@dataclass(frozen=True)
class Job:
    """One line of a section's work: ``run(record)`` measures and records.

    A job with ``skip`` is not run; the reason is printed and recorded.
    """

    label: str
    run: Callable[[Callable[..., dict]], None]
    skip: str = ""


class Ledger:
    """Measurements of one run, written to a JSON file each time one arrives.

    The file is ``{"runs": [{"started", "machine", "versions", "arguments",
    "measurements"}]}``; earlier runs are kept, and the file is replaced in one
    move so that an interrupted run leaves it whole.
    """

    def __init__(self, path: Path, options: Options, argv: list[str]):
        self.path = path
        self._book = json.loads(path.read_text()) if path.exists() else {"runs": []}
        self.measurements: list[dict] = []
        self._book["runs"].append(
            {
                "started": _now(),
                "machine": machine(),
                "versions": versions(),
                "arguments": argv,
                "seed": options.seed,
                "options": {k: str(v) for k, v in asdict(options).items() if k != "cache"},
                "measurements": self.measurements,
            }
        )

    def record(self, **fields) -> dict:
        """Append one measurement and write the file."""
        fields = {"at": _now(), "load": round(os.getloadavg()[0], 2), **fields}
        self.measurements.append(fields)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".json.part")
        part.write_text(json.dumps(self._book, indent=1, default=_plain) + "\n")
        part.replace(self.path)
        return fields


class Bystanders:
    """How much of the machine others have used since this was made, 0 to 1.

    A busy core costs torch's OpenMP loops far more than its share (they spin at every
    barrier), which flatters us: measurements are only worth quoting near 0.
    """

    def __init__(self):
        self._start = self._now()

    def share(self) -> float:
        """CPU time of other processes and of the hypervisor, over that of all cores."""
        busy, total, own = (b - a for a, b in zip(self._start, self._now(), strict=True))
        return round(max(0.0, busy - own) / total, 3) if total > 0 else 0.0

    @staticmethod
    def _now():
        ticks = [int(word) for word in Path("/proc/stat").read_text().split()[1:9]]
        own = sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
        return sum(ticks) - ticks[3] - ticks[4], sum(ticks), own


def machine() -> dict:
    """CPU model, cores, memory and load, as far as Linux says."""
    return {
        "cpu": _first_line("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _first_line("/proc/meminfo", "MemTotal"),
        "load": os.getloadavg(),
        "system": platform.platform(),
    }


def versions() -> dict:
    """Versions of Python and the packages compared; None where not installed."""
    found: dict[str, str | None] = {
        "python": platform.python_version(),
        "graphfill": graphfill.__version__,
        "kernels": graphfill.kernels.implementation,
    }
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def table(rows: list[dict], columns: dict[str, str]) -> str:
    """Rows as a Markdown table; ``columns`` maps a key to its header."""
    lines = ["| " + " | ".join(columns.values()) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(key)) for key in columns) + " |" for row in rows]
    return "\n".join(lines)


def verdict(value: float, bar: float | None) -> str:
    """PASS or FAIL against an upper bar; empty without one."""
    return "" if bar is None else ("PASS" if value <= bar else "FAIL")


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value):
    return value.item() if hasattr(value, "item") else str(value)


def _first_line(path, key):
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((s.split(":", 1)[1].strip() for s in lines if s.startswith(key)), None)


def _now():
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def write_part(page: str, text: str) -> None:
    """Replace what stands between the two marks of a page of docs/; the rest is kept."""
    path = HERE.parent / "docs" / page
    before, begin, rest = path.read_text().partition("<!-- measured -->\n")
    _, end, after = rest.partition("\n<!-- end of measured -->")
    if not (begin and end):
        raise SystemExit(f"{path} lacks the marks that say where the figures go")
    path.write_text(before + begin + "\n" + text.strip("\n") + "\n" + end + after)
