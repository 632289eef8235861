"""Snakemake that asks Slurm for its jobs every second.

The plugin waits ten seconds longer after each question that finds nothing done, and no setting says otherwise; in a
study of seconds most of the time would be such waiting. Nothing else is changed.

    python tests/support/quick_snakemake.py --workflow-profile profiles/slurm
"""

from __future__ import annotations

import sys

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

LONGEST = 1.0
"""Seconds between two questions."""


def hurry() -> None:
    """Cut what an executor sets as its next waiting time."""
    asked = RemoteExecutor.next_seconds_between_status_checks

    def wait(executor: RemoteExecutor, seconds: float | None) -> None:
        asked.fset(executor, seconds if seconds is None else min(seconds, LONGEST))

    RemoteExecutor.next_seconds_between_status_checks = property(asked.fget, wait)


if __name__ == "__main__":
    hurry()
    sys.exit(main())
