"""One server of the product's warm Python (`prasanga.warm`) for all studies of the tests, Snakemake imported as well.

A study in the tests is some fifty processes, Snakemake's own among them:

    subprocess.run([warm_python(), "-m", "snakemake", "--cores", "2"], env={**os.environ, **warm_jobs()})
"""

from __future__ import annotations

import os
from pathlib import Path

from prasanga import warm

_SNAKEMAKE = (
    *("snakemake.cli", "snakemake.report", "pandas", "psutil", "nbformat", "docutils.core", "requests", "yte"),
    "smart_open",
)
_SHARED = "WARM_PYTHON"


def share_warm_python() -> None:
    """Have the processes that this one starts, as pytest-xdist does, use its server together."""
    os.environ[_SHARED] = warm_python()


def warm_python(started_in: tuple[tuple[str, str], ...] = ()) -> str:
    """Return what to run in place of `sys.executable`; the server behind it starts at the first call and ends with us.

    Args:
        started_in: what the environment has besides, of which a Python reads some at its start or while it imports.
    """
    if not started_in and _SHARED in os.environ:
        return os.environ[_SHARED]
    environment = {
        "HF_HUB_OFFLINE": "1",
        "NUMBA_CACHE_LOCATOR_CLASSES": "compiled_once.CompiledOnce",
        **dict(started_in),
    }
    path = (environment.get("PYTHONPATH"), os.environ.get("PYTHONPATH"), str(Path(__file__).parent))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return warm.warm_python(("compiled_once", *_SNAKEMAKE), tuple(sorted(environment.items())))


def warm_jobs(started_in: tuple[tuple[str, str], ...] = ()) -> dict[str, str]:
    """Return what has the jobs of a study start warm as well, with no server of the study's own."""
    return {warm.WARM: warm_python(started_in)}
