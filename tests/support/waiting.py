"""Waiting for what other processes do, and giving up."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds until a test gives up; on an idle machine nothing takes a tenth of it."""


def until(holds: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until something holds, or fail with what did not come."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.1)
