"""Dry runs of Snakemake in processes that have imported it already.

Tests make a hundred plans, and importing Snakemake and what it needs is half the work of each. A server that has
imported them, and nothing of the project, forks a process for each plan.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["snakemake.cli", "snakemake_executor_plugin_slurm", "polars", "pydantic", "yaml"])


def plan_study(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a study's folder; what it prints, also to standard error, is the standard output."""
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as printed:
        process: ForkServerProcess = _SERVER.Process(target=_run_snakemake, args=(root, arguments, printed.name))
        process.start()
        process.join()
        assert process.exitcode is not None
        return subprocess.CompletedProcess(list(arguments), process.exitcode, stdout=printed.read(), stderr="")


def _run_snakemake(root: Path, arguments: Sequence[str], printed: str) -> None:
    os.chdir(root)
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path = [path for path in sys.path if "tests" not in Path(path).parts]
    sys.argv = ["snakemake", *arguments]
    with Path(printed).open("wb") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    from snakemake.cli import main

    main()
