"""Print the jobs of this folder that are still in the queue while no Snakemake waits for them: orphans.py lsf|pbs|sge.

After `kill -9`, or when the login node died, jobs go on, and Snakemake would submit them a second time. So, before the
same command is typed again: `bkill $(python3 workflow/queue/orphans.py lsf)`, or `qdel` for the others.
"""

import sys

from engines import QUESTIONS, RUNNING
from notes import unfinished
from status import status

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in QUESTIONS:
        sys.exit(f"orphans.py {'|'.join(QUESTIONS)}, not: {' '.join(sys.argv[1:])}")
    print(*(job for job in unfinished() if status(sys.argv[1], job) == RUNNING))
