"""The measurements as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A line of the table; `met` is None where nothing was asked."""

    work: str
    asked: str
    measured: str
    simple: str = "-"
    ratio: str = "-"
    met: bool | None = None


def report(facts: list[str], rows: list[Row], projections: list[dict[str, Any]], part_megabytes: int) -> Iterator[str]:
    """The lines of the page: what was measured on, the measurements, the projections."""
    yield from (f"- {fact}" for fact in facts)
    yield "\n| work | asked | measured | simple way, same run | ratio | met |\n| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        met = {True: "yes", False: "**no**", None: "-"}[row.met]
        yield f"| {row.work} | {row.asked} | {row.measured} | {row.simple} | {row.ratio} | {met} |"
    yield (
        f"\nProjected, not measured: parts of {part_megabytes} MB, one job each, at the measured speed per core and"
        " start of a job, a hit in every tenth line, then one job that draws."
    )
    yield "\n| corpus | cores | jobs | searching | drawing | in all | disk must give |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for p in projections:
        times = " | ".join(_duration(seconds) for seconds in (p["search"], p["draw"], p["search"] + p["draw"]))
        yield f"| {p['gigabytes']:g} GB | {p['cores']} | {p['jobs']} | {times} | {p['reading']:,.0f} MB/s |"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
