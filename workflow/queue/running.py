"""Find out whether a Snakemake of this machine works in a folder, and so takes care of its jobs."""

import os
from pathlib import Path


def snakemake_runs_in(folder: Path) -> str:
    """The process number of a Snakemake of this machine that works in the folder; may be empty."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().split(b"\0")
            at = os.path.realpath(process / "cwd")
        except OSError:
            continue
        # `snakemake`, or `python -m snakemake`
        names = [Path(os.fsdecode(argument)).name for argument in arguments[:4]]
        called = any(name == "snakemake" or name.endswith("snakemake.py") for name in names)
        # not the Snakemake of a job, which gets target jobs and may run on this machine
        in_a_job = any(argument.startswith(b"--target-jobs") for argument in arguments)
        if called and not in_a_job and at == os.path.realpath(folder):
            return process.name
    return ""
