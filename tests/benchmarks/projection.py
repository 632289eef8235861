"""How long a large corpus would take, from measured parts. This is a calculation and not a measurement."""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(frozen=True)
class Parts:
    """What was measured.

    Attributes:
        speed: MB/s of one process that has the machine to itself.
        shared_speed: MB/s of each of several processes that run at the same time.
        start: seconds from the start of a job to its first line, and from its last line to its end.
        rows: occurrences in a MB of text.
        picks: seconds of drawing the samples, by the number of occurrences, for two numbers of them.
        cut: seconds of cutting a segment.
        segments: drawn from a MB of text, as long as no stimulus has all its contexts.
        most_segments: of a study in which every stimulus has them at every length.
    """

    speed: float
    shared_speed: float
    start: float
    rows: float
    picks: tuple[tuple[int, float], tuple[int, float]]
    cut: float
    segments: float
    most_segments: int


@dataclass(frozen=True)
class Projection:
    """A corpus on so many cores: number of jobs, seconds, and the MB/s that the disk has to give."""

    gigabytes: float
    cores: int
    jobs: int
    search: float
    draw: float
    reading: float


def project(gigabytes: float, cores: int, parts: Parts, *, part_megabytes: int) -> Projection:
    """One job per part of the corpus, each on one core; then the draw, on one core."""
    megabytes = gigabytes * 1_000
    whole, rest = divmod(megabytes, part_megabytes)
    sizes = [float(part_megabytes)] * int(whole) + ([rest] if rest else [])
    speed = parts.speed if min(cores, len(sizes)) == 1 else parts.shared_speed
    search = makespan([parts.start + size / speed for size in sizes], cores)
    segments = min(megabytes * parts.segments, parts.most_segments)
    draw = parts.start + on_line(parts.picks, megabytes * parts.rows) + segments * parts.cut
    return Projection(gigabytes, cores, len(sizes), search, draw, megabytes / search)


def on_line(points: tuple[tuple[int, float], tuple[int, float]], x: float) -> float:
    """The straight line through two points, at `x`; where it would fall, level with the higher one."""
    (x1, y1), (x2, y2) = sorted(points)
    slope = max(0.0, (y2 - y1) / (x2 - x1))
    return max(y1, y2) + slope * (x - x2)


def makespan(seconds: list[float], cores: int) -> float:
    """When the last job ends, if each core takes the next job as soon as it is free."""
    free = [0.0] * cores
    for job in seconds:
        heapq.heapreplace(free, free[0] + job)
    return max(free)
