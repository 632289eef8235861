"""One job without Snakemake: `python by_hand.py JOB`, where JOB is a file that `recorded_snakemake.py` wrote.

The script of the job's rule runs in this process, with a stand-in for the object that Snakemake hands to scripts.
Nothing of Snakemake is imported.
"""

from __future__ import annotations

import pickle
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Named(list[Any]):
    """Files or parameters in order, some of them by name: `names` says of a name which item, or from where to where."""

    def __init__(self, values: list[Any], names: dict[str, tuple[int, int | None]]) -> None:
        super().__init__(values)
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(name)
        start, end = self._names[name]
        return self[start] if end is None else Named(self[start:end], {})

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else super().__getitem__(key)

    def get(self, name: str, default: Any = None) -> Any:
        """The item or items of a name."""
        return getattr(self, name, default)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names with their item or items."""
        return ((name, getattr(self, name)) for name in self._names)


def stand_in(job: dict[str, Any]) -> SimpleNamespace:
    """What a script finds under the name `snakemake`."""
    lists = {name: Named(*job[name]) for name in ("input", "output", "params", "wildcards", "resources", "log")}
    return SimpleNamespace(**lists, threads=job["threads"], rule=job["rule"])


def main() -> None:
    """Run the job that the command line names."""
    job = pickle.loads(Path(sys.argv[1]).read_bytes())
    for path in (*job["output"][0], *job["log"][0]):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    runpy.run_path(job["script"], init_globals={"snakemake": stand_in(job)}, run_name="__main__")


if __name__ == "__main__":
    main()
