"""The command `prasanga`: studies are folders, and Snakemake does the work in a process of its own.

Exit status: 0 done; 1 a job failed, or results are not what they should be; 2 the command, a config or a folder cannot
be used, and nothing was started; 130 stopped from the keyboard.
"""

from __future__ import annotations

import os
import sys

import typer

from prasanga.cli import studies
from prasanga.cli.running import INTERRUPTED, app

__all__ = ["app", "main", "studies"]


def main() -> None:
    """Run the command; a Ctrl-C ends it with a sentence and no traceback."""
    os.environ["PYTHONSAFEPATH"] = "1"  # no Python that is started imports from the working folder
    arguments, others = sys.argv[1:], list[str]()
    if "--" in arguments:  # typer would take the first of what follows for the study
        there = arguments.index("--")
        arguments, others = arguments[:there], arguments[there + 1 :]
    try:
        app(arguments, obj=others)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
