"""Snakemake, which writes down what it hands to each script: `python recorded_snakemake.py FOLDER ARGUMENTS`.

FOLDER gets a file for each job, 0000.pickle and so on in the order in which they start, of plain values.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

from snakemake import script
from snakemake.cli import main

_LISTS = {"input_": "input", "output": "output", "params": "params", "wildcards": "wildcards", "log": "log"}


def record(folder: Path) -> None:
    """From now on, write down every job whose script is about to run."""
    began, numbers, lock = script.ScriptBase.__init__, itertools.count(), threading.Lock()
    signature = inspect.signature(began)

    @functools.wraps(began)
    def recorded(self: Any, *arguments: Any, **named: Any) -> None:
        began(self, *arguments, **named)
        given = signature.bind(self, *arguments, **named).arguments
        job = {name: parts(given[key]) for key, name in (*_LISTS.items(), ("resources", "resources"))}
        where = str(Path("workflow/scripts", Path(str(self.path.get_path_or_uri(secret_free=True))).name))
        job |= {"rule": given["rulename"], "threads": given["threads"], "script": where}
        with lock:
            Path(folder, f"{next(numbers):04d}.pickle").write_bytes(pickle.dumps(job))

    script.ScriptBase.__init__ = recorded


def parts(values: Any) -> tuple[list[Any], dict[str, Any]]:
    """The items of one of Snakemake's lists as plain values, and where its names stand."""
    return [plain(value) for value in values], {name: tuple(place) for name, place in values._get_names()}


def plain(value: Any) -> Any:
    """A value without any type of Snakemake's, so that it can be read without it."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else list(map(plain, value))
    return value


if __name__ == "__main__":
    record(Path(sys.argv[1]))
    sys.argv = ["snakemake", *sys.argv[2:]]
    main()
