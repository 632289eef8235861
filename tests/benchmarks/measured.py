"""What a benchmark measured, as a file that others compute with: on which machine, when, by which command."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_LIBRARIES = ("numpy", "polars", "pyarrow", "snakemake", "torch", "transformers")


def write_measured(path: Path, results: Mapping[str, Any], *, constants: Mapping[str, float]) -> None:
    """Write what was measured as JSON.

    Args:
        path: the file.
        results: the measurements, as plain values.
        constants: the numbers to keep, by name.
    """
    content = {
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join(["python", f"tests/benchmarks/{Path(sys.argv[0]).name}", *_of_no_place(sys.argv[1:])]),
        "versions": {"python": platform.python_version(), **_versions()},
        "constants": dict(constants),
        "results": dict(results),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """The kind of processor and the number of cores that may be used; no name of a host."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{processor()}, {number} core(s)"


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _of_no_place(arguments: Sequence[str]) -> list[str]:
    """The arguments without the folders and files of this machine, which change nothing that is measured."""
    places = ("--file", "--folder", "--json", "--shared", "--profile")
    before = ("", *arguments)
    return [each for last, each in zip(before, arguments, strict=False) if last not in places and each not in places]


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
