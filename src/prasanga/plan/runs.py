"""What the rules ask about a run: what was asked for, what its jobs need, where they write, what came out of it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.logs import EVENTS
from prasanga.plan.study import Study

PAGE = Path("results/report/index.html")
_SUMMARY = Path("results/summary.json")
_WITH_VECTORS = tuple(f"results/{stage}/" for stage in ("samples", "embeddings", "likelihoods"))


def asks_only_for(target: str, arguments: Sequence[str], targets: Callable[[], Collection[str]]) -> bool:
    """Return whether a run is for a target, or files in the report's folder of that name, and for nothing else.

    Args:
        target: `figures` or `check_results`.
        arguments: on Snakemake's command line.
        targets: those among them; the parser that knows them is slow to make, and asked only if it may matter.
    """
    if not any(target in argument for argument in arguments):
        return False
    return all(name == target or name.startswith(f"results/report/{target}/") for name in targets())


def vectors_at_hand(config: Mapping[str, Any]) -> bool:
    """Return whether statistics are to be made from cached vectors, and there are any."""
    return config["embeddings"]["source"] == "cached" and any(Path("results/embeddings").glob("*/*.json"))


def name_in(names: Iterable[str]) -> str:
    """Return a pattern of these names and no other."""
    return "|".join(map(re.escape, names)) or "(?!)"


def machine_for(
    study: Study,
    models: Mapping[str, Mapping[str, Any]],
    buckets: Callable[[Any], Sequence[Any]] = lambda _: (),
) -> dict[str, Callable[..., int]]:
    """Return what jobs ask of a machine or a cluster that run one of `models`, which has the settings of each.

    A job that only puts `buckets` together asks for no card.
    """

    def cards(wildcards: Any) -> int:
        return 0 if buckets(wildcards) else int(models[wildcards.model]["cards"])

    def megabytes(wildcards: Any, attempt: int) -> int:
        return attempt * study.memory(models[wildcards.model]["family"])

    return {"gpu": cards, "cards": cards, "mem_mb": megabytes}


def cores_beside(cards: int) -> int:
    """Return the cores of a job that runs a model on so many cards; without any, several models run, on a core each."""
    return 2 if cards else 1


def keep_vectors(outputs: Iterable[str]) -> bool:
    """Return whether vectors or scores are kept of what jobs with these outputs do, or of what others do after them."""
    return any(output.startswith(_WITH_VECTORS) for output in outputs)


def require_writable(outputs: Iterable[str]) -> None:
    """Refuse to start jobs where they could not write; Snakemake, which removes old results first, would only crash.

    Raises:
        InputError: naming the folder.
    """
    paths = {parent for output in outputs for parent in [Path(output).parent]}
    for folder in sorted({next(each for each in (path, *path.parents) if each.is_dir()) for path in paths}):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(
                f"{folder}: you may not write there, and jobs write results there. Let yourself write"
                f" (`chmod u+rwx {shlex.quote(str(folder))}`), or have it made yours, and run again; no job that"
                " is done runs again."
            )


class LastWords:
    """What came out of a run, in three lines, if it made summary or page; the command says it itself."""

    def __init__(self) -> None:
        """Remember what is there before."""
        self._before = self._times()

    def say(self) -> None:
        """Print them; that it cannot be said is no failure."""
        try:
            if EVENTS in os.environ or self._times() == self._before:
                return
        except OSError:  # a folder that can no longer be read
            return
        from prasanga.report.last_words import print_last_words  # polars and the page's libraries: not while planning

        print_last_words(_SUMMARY, PAGE)

    @staticmethod
    def _times() -> list[int | None]:
        return [path.stat().st_mtime_ns if path.exists() else None for path in (_SUMMARY, PAGE)]
