"""A logger of Snakemake that writes what happens as lines of JSON; `prasanga run` reads them (`prasanga.running`).

Snakemake finds it by its name, since the command puts this folder on the path of modules: `--logger prasanga`.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase

PIPE = "PRASANGA_EVENTS"
"""Environment variable with the number of the pipe that events are written to."""
_FIELDS = ("rule_name", "wildcards", "reason", "log", "jobid", "job_id", "jobs", "done", "total", "stats")


class LogHandler(LogHandlerBase):
    """Writes events in place of the text on the terminal."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Take the pipe."""
        self._pipe = int(os.environ[PIPE])

    def emit(self, record: LogRecord) -> None:
        """Write one event; that nobody reads any more is no failure of the run."""
        event = getattr(record, "event", None)
        said = {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        said |= {"event": str(event or ""), "level": record.levelname, "text": str(record.msg or "")}
        with suppress(OSError):
            os.write(self._pipe, (json.dumps(said, default=str) + "\n").encode())
