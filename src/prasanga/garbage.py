"""How a job, which is a process of seconds, deals with garbage.

Importing torch and transformers makes half a million objects, none of which is garbage. Python's collector goes through
them again and again while they are made, and once more when the process ends: a third of the processor time of a job
that runs a small model.
"""

from __future__ import annotations

import atexit
import gc

_SELDOM = 7_000
"""Objects that are made, less those that are gone, between two collections of the youngest; Python's own is 700."""


def collect_seldom() -> None:
    """Collect a tenth as often, and not at the end of the process, which gives all of its memory back anyway."""
    _, *older = gc.get_threshold()
    gc.set_threshold(_SELDOM, *older)
    atexit.register(gc.freeze)
