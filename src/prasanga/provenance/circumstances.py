"""The circumstances that results are made in: the config, the libraries, and the kind of host.

They are told once for a run and not in every table, so that equal tables are equal files. A job that a scheduler sends
to another host tells of that host (`note_job`), in a file beside Snakemake's notes, which the ledger reads. No host is
named: results are for others, too.

Nothing is imported to learn a version, so that this may run before every plan.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.parquet import write_text
from prasanga.provenance.files import digest_of, json_line

LIBRARIES = (
    *("ftfy", "gensim", "jinja2", "jsonschema", "matplotlib", "numba", "numpy", "polars"),
    *("psutil", "pyarrow", "pyyaml", "regex", "scipy", "snakemake", "tokenizers", "torch"),
    *("tqdm", "transformers", "xxhash", "zstandard"),
    *("accelerate", "protobuf", "sentencepiece"),  # which some models need
)
"""The distributions that the project asks for; one that is not installed has no version."""
VARIABLES = (
    *("ATEN_CPU_CAPABILITY", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA"),
    *("NUMBA_CPU_NAME", "OPENBLAS_CORETYPE", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"),
)
"""Environment variables that may change the last digits of a number: instructions, then threads."""
_INSTRUCTIONS = ("avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "asimd", "sve", "bf16")
_PLAN, _JOBS = "prasanga/circumstances.jsonl", "prasanga/jobs"
_PLANS = 20
# What reading a line raises that was cut short, or that somebody else has written.
_NOT_TOLD = (ValueError, TypeError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class Circumstances:
    """What a run was made in; all values are plain.

    Attributes:
        config: the study's config with its defaults.
        libraries: {distribution: version}, `prasanga` and `python` among them.
        host: kind of host (`host_kind`).
        settings: how the workflow was told to run there: cores, threads, executor.
    """

    config: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits."""
        return digest_of(asdict(self))

    @classmethod
    def read(cls, said: Any) -> Circumstances:
        """Those that a file tells, which anybody may have written.

        Raises:
            TypeError: a part of them is not of the kind that it has to be.
        """
        told = cls(**said)
        parts = [*vars(told).values(), told.host.get("variables", {})]
        if not all(isinstance(part, dict) for part in parts):
            raise TypeError("no circumstances: every part of them is a mapping")
        texts: list[Any] = [*told.libraries.values()]
        for name in ("gpus", "instructions"):
            listed = told.host.get(name, [])
            texts += listed if isinstance(listed, list) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("no circumstances: versions, cards and instructions are text")
        return told


def here(config: Mapping[str, Any], settings: Mapping[str, Any]) -> Circumstances:
    """The circumstances of this process, with a config and settings as JSON has them."""
    plain: list[dict[str, Any]] = json.loads(json.dumps([dict(config), dict(settings)], default=str))
    return Circumstances(config=plain[0], libraries=versions(), host=host_kind(), settings=plain[1])


def versions() -> dict[str, str]:
    """The versions of Python, of this project, and of the libraries that are installed."""
    from prasanga import __version__

    found = {"python": platform.python_version(), "prasanga": __version__}
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def host_kind(proc: Path = Path("/proc"), environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What kind of host this is, as far as it can change a number; what cannot be learnt is left out.

    Returns:
        system (operating system and C library), architecture, processor (model), instructions (vector units), cores
        (logical), usable_cores (of this process), gpus (models), gpu_driver, variables (`VARIABLES` that are set).
    """
    cpu = _read(proc / "cpuinfo")
    flags = set((_value("flags", cpu) or _value("Features", cpu)).split())
    gpus = [_value("Model", _read(path)) for path in sorted(proc.glob("driver/nvidia/gpus/*/information"))]
    driver = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", _read(proc / "driver/nvidia/version"))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {
        "system": " ".join([platform.system(), *filter(None, platform.libc_ver())]),
        "architecture": platform.machine(),
        "processor": _value("model name", cpu) or platform.processor(),
        "instructions": [name for name in _INSTRUCTIONS if name in flags],
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "gpus": gpus,
        "gpu_driver": driver[1] if driver else "",
        "variables": {name: environment[name] for name in VARIABLES if name in environment},
    }
    return {key: value for key, value in found.items() if value}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _value(key: str, text: str) -> str:
    """The first value of a key in lines `key : value`."""
    found = re.search(rf"^{key}\s*:[ \t]*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def remember_plan(notes: Path, circumstances: Circumstances) -> None:
    """Note in Snakemake's folder that a run begins in these circumstances, for the next one if this one is killed.

    A plan that is like the one before adds nothing; that it cannot be written is no reason to stop.
    """
    plans = last_planned(notes)
    if plans and plans[-1][1] == circumstances:
        return
    lines = [json_line([since, asdict(each)]) for since, each in [*plans[1 - _PLANS :], (time.time(), circumstances)]]
    with suppress(InputError, OSError):
        write_text(notes / _PLAN, "".join(lines))


def last_planned(notes: Path) -> list[tuple[float, Circumstances]]:
    """When the last plans were made (seconds since 1970), and in which circumstances; the oldest first."""
    found = []
    for line in _read(notes / _PLAN).splitlines():
        with suppress(*_NOT_TOLD):
            since, said = json.loads(line)
            found.append((float(since), Circumstances.read(said)))
    return found


def note_job(notes: Path, outputs: Iterable[str], circumstances: Circumstances) -> None:
    """Note on the host of a job what kind it is; that this cannot be written is no reason to stop."""
    said = json_line([time.time(), sorted(outputs), asdict(circumstances)])
    with suppress(InputError, OSError):
        write_text(notes / _JOBS / f"{uuid.uuid4().hex}.json", said)


def circumstances_of_jobs(notes: Path) -> dict[str, Circumstances]:
    """The circumstances of each output of a job that noted its host; of several jobs the last one counts."""
    noted: list[tuple[float, list[str], Circumstances]] = []
    for path in (notes / _JOBS).glob("*.json"):
        with suppress(*_NOT_TOLD):
            began, outputs, said = json.loads(_read(path))
            noted.append((float(began), [str(output) for output in outputs], Circumstances.read(said)))
    return {output: said for _, outputs, said in sorted(noted, key=itemgetter(0)) for output in outputs}


def forget_jobs(notes: Path) -> None:
    """Take away what jobs have noted, once the ledger has it."""
    for path in (notes / _JOBS).glob("*.json"):
        with suppress(OSError):
            path.unlink()
