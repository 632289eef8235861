"""Submit a job and print only its number, as Snakemake requires: submit.py lsf|pbs|sge COMMAND OPTION..."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # Python itself does not under PYTHONSAFEPATH
from engines import JOB_NUMBER, job_number
from notes import FOLDER, begin


def submit(engine: str, command: "list[str]") -> int:
    """Run the submission; return the exit status of this script. The queue's messages to the user go to stderr."""
    asked = time.time()
    # the job may begin, and write its output there, before its number is printed
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        # the job begins elsewhere, and gets this environment by the options of the profile
        environment = {**os.environ, "PRASANGA_QUEUE_FOLDER": str(FOLDER.absolute())}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    except FileNotFoundError:
        print(
            f"{command[0]} is not on the path: type this on a node from which jobs are submitted, after whatever"
            " `module load` your cluster wants, or take the profile of the queue that is there (docs/cluster.md).",
            file=sys.stderr,
        )
        return 127
    number = job_number(engine, done.stdout) if done.returncode == 0 else None
    if number is None:
        print(f"{command[0]} took no job (exit status {done.returncode}). {done.stdout.strip()}", file=sys.stderr)
        return done.returncode or 1
    begin(number, asked)
    print(number)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in JOB_NUMBER:
        sys.exit(f"submit.py {'|'.join(JOB_NUMBER)} COMMAND OPTION..., not: {' '.join(sys.argv[1:])}")
    sys.exit(submit(sys.argv[1], sys.argv[2:]))
