"""Snakemake, which says at its end how many KiB it had resident at most: `python snakemake_with_peak.py ARGUMENTS`."""

from __future__ import annotations

import atexit
import resource
import sys

from snakemake.cli import main

atexit.register(lambda: print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}", file=sys.stderr))
sys.argv[0] = "snakemake"
main()
