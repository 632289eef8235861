"""After Snakemake was killed: end its remaining Slurm jobs, so that it can start again.

    python profiles/slurm/cancel_orphans.py              # in the study's folder

Snakemake ends its jobs when it is interrupted (Ctrl-C). When it is killed itself (kill -9, a failing login node), they
run on, and a new run would start each of them a second time. This script cancels the jobs with the profile's
prefix and this working directory, waits until they have left the queue, and removes Snakemake's lock. It ignores jobs
of other folders, and your other jobs. Finished work is kept, and so are the vectors of an unfinished job, in
results/store.

It needs Python, Slurm's commands and a folder of this checkout, but no environment.
"""

from __future__ import annotations

import argparse
import getpass
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow/queue"))
from running import snakemake_runs_in

PROFILE = Path(__file__).with_name("profile.yaml")


def prefix_of(profile: Path) -> str:
    """The prefix of job names in a profile."""
    found = re.search(r"^slurm-jobname-prefix:\s*['\"]?([\w-]+)", profile.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{profile} lacks the line `slurm-jobname-prefix: ...` with the prefix of job names. Add it.")
    return found[1]


def jobs_of(folder: Path, prefix: str) -> list[str]:
    """Numbers of this user's jobs, waiting or running, with such a name and this working directory."""
    asked = ("squeue", "--noheader", f"--user={getpass.getuser()}", "--format=%i|%j|%Z")
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    except FileNotFoundError:
        raise SystemExit("squeue is not installed here: run this where you type Slurm's commands.") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"squeue does not answer, nothing was cancelled: {error.stderr or error}") from None
    rows = [line.split("|", 2) for line in done.stdout.splitlines() if line.count("|") >= 2]
    return [
        number
        for number, name, directory in rows
        if name.startswith(f"{prefix}_") and os.path.realpath(directory) == os.path.realpath(folder)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Cancel, wait, unlock; 0 when the folder is ready for a new start."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--wait", type=float, default=120, help="seconds to wait for the jobs to end (120)")
    asked = parser.parse_args(arguments)
    folder, prefix = Path.cwd(), prefix_of(PROFILE)
    if not (folder / ".snakemake").is_dir():
        raise SystemExit(f"{folder} has no folder .snakemake, so nothing ran in it. Go to the study's folder first.")
    if running := snakemake_runs_in(folder):
        raise SystemExit(
            f"Snakemake is running here (process {running}) and takes care of its jobs. Stop it with Ctrl-C, or with"
            f" `kill -INT {running}`: it cancels its jobs itself."
        )
    left = jobs_of(folder, prefix)
    if left:
        print(f"Cancelling {len(left)} jobs of {folder}: {' '.join(left)}")
        try:
            subprocess.run(("scancel", *left), check=False, timeout=60)
        except subprocess.TimeoutExpired:
            raise SystemExit("scancel does not answer, and nothing was unlocked. Run this again in a while.") from None
    end = time.monotonic() + asked.wait
    while left := jobs_of(folder, prefix):
        if time.monotonic() > end:
            print(f"Still in the queue: {' '.join(left)}. Run this again in a while.", file=sys.stderr)
            return 1
        time.sleep(1)
    locks = sorted((folder / ".snakemake" / "locks").glob("*.lock"))
    for lock in locks:
        lock.unlink(missing_ok=True)
    print(f"No job of this folder is left{', and its lock is gone' if locks else ''}. Start Snakemake again as before.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
