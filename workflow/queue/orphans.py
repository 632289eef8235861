"""Print the jobs of this folder that are still in the queue without a running Snakemake: orphans.py lsf|pbs|sge.

After `kill -9`, or a failure of the login node, jobs go on, and Snakemake would submit them a second time. So remove
them from the queue, until this script prints nothing, before you type the same command again (docs/cluster.md).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # Python itself does not under PYTHONSAFEPATH
from engines import QUESTIONS, RUNNING, SILENT
from notes import exit_status, finish, unfinished
from running import snakemake_runs_in
from status import ask


def orphans(engine: str) -> "list[str]":
    """Jobs submitted from here that the queue has, or for which its answer is not understood."""
    found = []
    for job in unfinished():
        if exit_status(job) is not None:
            finish(job)
        elif ask(engine, job) in (RUNNING, SILENT):
            found.append(job)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in QUESTIONS:
        sys.exit(f"orphans.py {'|'.join(QUESTIONS)}, not: {' '.join(sys.argv[1:])}")
    running = snakemake_runs_in(Path.cwd())
    if running:
        sys.exit(
            f"Snakemake is running here (process {running}); and takes care of its jobs. Stop it with Ctrl-C, or with"
            f" `kill -INT {running}`: it takes its jobs out of the queue itself."
        )
    print(*orphans(sys.argv[1]))
