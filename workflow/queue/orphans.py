"""Print the jobs of this folder that the queue still has while no Snakemake waits for them: orphans.py lsf|pbs|sge.

After `kill -9`, or when the login node died, jobs go on, and Snakemake would submit them a second time. So, before the
same command is typed again, they are taken out of the queue, until nothing is printed any more (docs/cluster.md).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # Python itself does not under PYTHONSAFEPATH
from engines import QUESTIONS, RUNNING, SILENT
from notes import exit_status, finish, unfinished
from running import snakemake_runs_in
from status import ask


def orphans(engine: str) -> "list[str]":
    """Jobs submitted from here that the queue has, or of which it says nothing that is understood."""
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
            f"Snakemake is running here (process {running}); its jobs are no orphans. Stop it with Ctrl-C, or with"
            f" `kill -INT {running}`: it takes its jobs out of the queue itself."
        )
    print(*orphans(sys.argv[1]))
