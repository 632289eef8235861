"""Log how far a long job is: a line every so often with the rate and the expected end.

    with progress("embedding", len(segments), "segments") as done:
        for batch in batches:
            embed(batch)
            done.advance(len(batch))

Work that ends within `SHORT` seconds logs nothing. Longer work logs a line when it advances: every 30 seconds, and less
often the longer it lasts; and one at the end. Bars for whole jobs are Snakemake's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Self, TypeVar

SHORT = 5.0
"""Seconds of work without a line."""
BYTES = "bytes"
"""The unit that is shown as MB."""

clock: Callable[[], float] = time.time
"""Seconds since 1970; tests put another one in its place."""

_SHORT_WITHIN = 60.0  # the same for work within other work
_EVERY, _GROWTH = 30.0, 0.35  # seconds between lines at least, and as a share of the time that has passed
_LOG = logging.getLogger(__name__)
_running: list[Progress] = []

T = TypeVar("T")


class Progress:
    """A context manager that counts work and logs how far it is; `advance` may be called from any thread."""

    def __init__(self, name: str, total: float | None = None, unit: str = "steps") -> None:
        """Name the work.

        Args:
            name: the work, at the beginning of every line.
            total: the amount of work; None where it is not known.
            unit: of the amount, in the plural; `bytes` are shown as MB.
        """
        self.name, self.total, self.unit = name, total, "MB" if unit == BYTES else unit
        self._scale = 1e-6 if unit == BYTES else 1.0
        self._done: float = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Begin."""
        self._begin = clock()
        self._short = _SHORT_WITHIN if _running else SHORT
        self._due = self._begin + self._short
        _running.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End, and say what was done if it took long enough."""
        _running.remove(self)
        seconds = clock() - self._begin
        if seconds >= self._short:
            end = "stopped after " if kind else ""
            rate = f", {self._pace(self._done / seconds)}" if self._done and not kind else ""
            _LOG.info("%s: %s%s in %s%s", self.name, end, self._count(), _duration(seconds), rate)

    def advance(self, n: float = 1) -> None:
        """Count `n` more. It costs a microsecond: in a hot loop, call it for a batch."""
        with self._lock:
            self._done += n
            now = clock()
            if now < self._due:
                return
            passed = now - self._begin
            self._due = now + max(_EVERY, _GROWTH * passed)
        said = [self._count()]
        if rate := self._done / passed:
            said.append(self._pace(rate))
            if self.total and self._done < self.total:
                left = (self.total - self._done) / rate
                said += [f"{_duration(left)} left", f"done about {datetime.fromtimestamp(now + left):%Y-%m-%d %H:%M}"]
        _LOG.info("%s: %s", self.name, ", ".join(said))

    def over(self, items: Iterable[T], every: int = 1) -> Iterator[T]:
        """Yield the items; `every` so many are counted together, when the next one is asked for."""
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                self.advance(every)
        self.advance(number % every)

    def _count(self) -> str:
        """Return the amount that is done: "12,400 of 50,000 segments (25%)"."""
        done = self._done * self._scale
        digits = 1 if self._scale < 1 and done < 10 else 0
        if not self.total or self._done >= self.total:
            return f"{done:,.{digits}f} {self.unit}"
        share = int(100 * self._done / self.total)
        return f"{done:,.{digits}f} of {self.total * self._scale:,.{digits}f} {self.unit} ({share}%)"

    def _pace(self, rate: float) -> str:
        """Return a rate per unit of time in which something happens: 830 per second, 15 per minute."""
        rate *= self._scale
        units = {"second": 1, "minute": 60, "hour": 3600}
        name = next((name for name, seconds in units.items() if rate * seconds >= 1), "hour")
        number, unit = rate * units[name], "MB " if self._scale < 1 else ""
        return f"{number:,.{int(number < 10)}f} {unit}per {name}"


def _duration(seconds: float) -> str:
    """Return 45 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


progress = Progress
