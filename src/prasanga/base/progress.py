"""Show where a long job is: a bar on a terminal, in the log a line every so often with the rate and the expected end.

    with progress("embedding", len(segments), "segments") as done:
        for batch in batches:
            embed(batch)
            done.advance(len(batch))

Nothing is shown of work that ends within `SHORT` seconds. From then on the log has a line that the work began, one
after 10 seconds, then one every 30 seconds and further apart the longer it lasts (some thirty in a day), and one at the
end. On a terminal a bar stands in place of these lines, if this process is the only one that works there: bars of
several processes would overwrite each other.

Nothing here changes a result; and
nothing here fails a job: where a bar cannot be drawn, there are lines.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar

SHORT = 5.0
"""Seconds of work of which nothing is said; so long must a process have been alone on its terminal to draw a bar."""
BYTES = "bytes"
"""The unit that is shown as MB."""

clock: Callable[[], float] = time.time
"""Seconds since 1970; tests put another one in its place."""
watched = True
"""Whether a thread looks after lines and bars while work does not advance; tests do without."""

_FIRST, _EVERY, _LOOK = 10.0, 30.0, 1.0  # seconds until the second line, between lines, between looks of the thread
_GROWTH = 0.35  # of the time that has passed, until the next line
_LINES = 12  # at least so many lines at even distances, where the end is known
_WINDOW, _SAMPLED = 60.0, 0.5  # seconds that the rate is measured over, and between the counts remembered for it
_SHORT_WITHIN = 60.0  # as SHORT, for work that is a part of other work that is shown
_MB = 10**6
_LOG = logging.getLogger(__name__)
_running: list[Progress] = []  # all that have begun and not ended

T = TypeVar("T")


def progress(name: str, total: float | None = None, unit: str = "steps") -> Progress:
    """Return a context manager that counts work and tells how far it is.

    Args:
        name: what is done, to what; it stands before every line.
        total: how much there is to do; None where nobody knows.
        unit: what is counted, in the plural; `bytes` are shown as MB.
    """
    return Progress(name, total, unit)


class Progress:
    """Work that is counted; `advance` may be called from any thread.

    Attributes:
        done: how much has been done.
    """

    def __init__(self, name: str, total: float | None, unit: str) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done: float = 0
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Begin."""
        self._begin = self._alone_since = now = clock()
        self._short = _SHORT_WITHIN if _running else SHORT
        self._due, self._is_begun = now + self._short, False
        self._counts: deque[tuple[float, float]] = deque([(now, 0)])
        self._terminal = _terminal()
        _running.append(self)
        if watched:
            with suppress(RuntimeError):  # no room for a thread: lines come when work advances
                threading.Thread(target=self._watch, name="progress", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End: take the bar away and say what was done, if it took long enough."""
        with self._lock:
            self._ended.set()
            _running.remove(self)
            self._remove_bar()
            seconds = clock() - self._begin
            if seconds < self._short:
                return
            if kind:
                self._say(f"stopped after {self._count()}, {_duration(seconds)}")
                return
            what = self._count() if self.total and self.done < self.total else self._amounts(self.total or self.done)
            self._say(f"{what} in {_duration(seconds)}" + (f", {self._pace(self.done / seconds)}" if self.done else ""))

    def advance(self, n: float = 1) -> None:
        """Count `n` more. It costs a microsecond: in a hot loop, call it for a batch."""
        with self._lock:
            now, counts = clock(), self._counts
            self.done += n
            if len(counts) > 1 and now - counts[-2][0] < _SAMPLED:
                counts.pop()
            counts.append((now, self.done))
            while counts[1][0] <= now - _WINDOW:
                counts.popleft()
        if now >= self._due:
            self.look()

    def over(self, items: Iterable[T], every: int = 1) -> Iterator[T]:
        """Yield the items; `every` so many are counted together, when the next one is asked for."""
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                self.advance(every)
        self.advance(number % every)

    def look(self) -> None:
        """Show what is due by now: the bar as it stands, and a line."""
        try:
            may_draw = self._terminal is not None and _in_foreground(self._terminal) and _is_alone()
            with self._lock:
                if not self._ended.is_set():
                    self._draw(clock(), may_draw)
        except Exception:  # such as a terminal that is gone: the work goes on, with lines
            self._terminal = None
            self._remove_bar()
        with self._lock, suppress(Exception):
            if not self._ended.is_set():
                self._tell(clock())

    def text(self, now: float | None = None) -> str:
        """Say how far it is: "12,400 of 50,000 segments (25 %), 830 a second, 45 s left, done about 14:32"."""
        return ", ".join([self._count(), *self._outlook(clock() if now is None else now)])

    def _watch(self) -> None:
        """Look every second until the work ends."""
        while not self._ended.wait(_LOOK):
            self.look()

    def _tell(self, now: float) -> None:
        """Log what is due, and set when the next line is."""
        if now >= self._due and not self._is_begun:
            self._is_begun, self._due = True, self._begin + max(_FIRST, self._short)
            what = self._unit if self.total is None else self._amounts(self.total)
            self._say(f"{what}, begun at {datetime.fromtimestamp(self._begin):%H:%M:%S}")
        if now >= self._due:
            passed, left = now - self._begin, self._left(now)
            gap = _GROWTH * passed if left is None else min(_GROWTH * passed, (passed + left) / _LINES)
            self._due = now + max(_EVERY, gap)
            self._say(self.text(now))

    def _say(self, text: str) -> None:
        _LOG.info("%s: %s", self.name, text, extra={"progress": True})

    def _draw(self, now: float, may_draw: bool) -> None:
        """Draw the bar, or take it away where another process has come."""
        if not may_draw:
            self._alone_since = now
            self._remove_bar()
            return
        if self._bar is None and (
            now - self._alone_since < self._short or any(each._bar is not None for each in _running)
        ):
            return
        assert self._terminal is not None
        width = os.get_terminal_size(self._terminal.fileno()).columns or 80
        room = max(12, width // 3)
        name = self.name if len(self.name) <= room else f"…{self.name[1 - room :]}"
        if self.total:
            outlook = ", ".join(self._outlook(now) or [self._count()])
            shown = f"{_escaped(name)} {{percentage:3.0f}} % |{{bar}}| {_escaped(outlook)}"
        else:
            shown = _escaped(f"{name}: {self.text(now)}")
        if self._bar is None:
            self._open_bar(shown, width)
        self._bar.ncols, self._bar.bar_format = width, shown
        self._bar.n = self.done if self.total is None else min(self.done, self.total)
        self._bar.refresh()

    def _open_bar(self, shown: str, width: int) -> None:
        """Draw a bar, above which the terminal's handlers of messages write from now on."""
        from tqdm import tqdm

        self._bar = tqdm(
            total=self.total, initial=self.done, file=self._terminal, leave=False, bar_format=shown, ncols=width
        )
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream in (sys.stdout, sys.stderr):
                handler.addFilter(self._make_room)

    def _make_room(self, record: logging.LogRecord) -> bool:
        """Take the bar away for a message; it is drawn again within a second. Lines of progress it stands for."""
        if getattr(record, "progress", False):
            return False
        with suppress(Exception):
            self._bar.clear()
        return True

    def _remove_bar(self) -> None:
        if self._bar is not None:
            for handler in logging.root.handlers:
                handler.removeFilter(self._make_room)
            with suppress(Exception):
                self._bar.close()
            self._bar = None

    def _rate(self, now: float) -> float | None:
        """Return how much is done in a second, of late; None as long as nothing is done."""
        (first, before), (last, done) = self._counts[0], self._counts[-1]
        # Work that comes in large pieces is not slow between them; but if nothing has come for long, it is.
        until = last if now - last <= last - first else now
        return (done - before) / (until - first) if done > before and until > first else None

    def _left(self, now: float) -> float | None:
        """Return the seconds to the end; where all is counted, the rest is to finish, and nobody knows."""
        rate = self._rate(now)
        return None if self.total is None or not rate or self.done >= self.total else (self.total - self.done) / rate

    def _outlook(self, now: float) -> list[str]:
        """Say rate, time left and expected end, as far as they are known."""
        rate, left = self._rate(now), self._left(now)
        said = [] if rate is None else [self._pace(rate)]
        return said if left is None else [*said, f"{_duration(left)} left", f"done about {_hour(now + left, now)}"]

    @property
    def _unit(self) -> str:
        return "MB" if self.unit == BYTES else self.unit

    def _count(self) -> str:
        if self.total is None:
            return self._amounts(self.done)
        share = int(100 * min(self.done, self.total) / self.total) if self.total else 100
        return f"{self._amount(min(self.done, self.total))} of {self._amounts(self.total)} ({share} %)"

    def _amounts(self, n: float) -> str:
        return f"{self._amount(n)} {self._unit}"

    def _amount(self, n: float) -> str:
        if self.unit == BYTES:
            return f"{n / _MB:,.0f}" if n >= 10 * _MB else f"{n / _MB:.1f}"
        return f"{n:,.0f}"

    def _pace(self, rate: float) -> str:
        """Say two or three digits of a rate, for the time in which something happens: 8.3 a second, 15 a minute."""
        rate, unit = (rate / _MB, " MB") if self.unit == BYTES else (rate, "")
        seconds, name = next(
            (n, name) for n, name in ((1, "second"), (60, "minute"), (3600, "hour")) if rate * n >= 1 or name == "hour"
        )
        number = rate * seconds
        size = 10 ** max(0, len(str(int(number))) - 3)
        shown = f"{number:.1f}" if number < 10 else f"{round(number / size) * size:,}"
        return f"{shown}{unit} {'an' if name == 'hour' else 'a'} {name}"


def _escaped(text: str) -> str:
    """Return a text that stands in a format as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _terminal() -> TextIO | None:
    """Return standard error if bars can be drawn there."""
    with suppress(AttributeError, ValueError):  # there is none, or it is closed
        if sys.stderr.isatty() and os.environ.get("TERM") not in (None, "", "dumb"):
            return sys.stderr
    return None


def _in_foreground(terminal: TextIO) -> bool:
    """Return whether the terminal is ours, and not the shell's, as it is where a run was sent to the background."""
    return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()


def _is_alone() -> bool:
    """Return whether no other process works in the process group, which has Snakemake and all its jobs in it.

    Those that this process descends from and those that it has started do not count, nor do those that have ended.
    """
    import psutil

    try:
        me, group = psutil.Process(), os.getpgrp()
        top, own = me, {me.pid, *(child.pid for child in me.children(recursive=True))}
        for parent in me.parents():
            if os.getpgid(parent.pid) != group:
                break
            own.add(parent.pid)
            top = parent
        others = [other for other in top.children(recursive=True) if other.pid not in own]
        return all(other.status() == psutil.STATUS_ZOMBIE for other in others)
    except (psutil.Error, OSError):  # one that ended meanwhile: look again in a second
        return False


def _duration(seconds: float) -> str:
    """Say 45 s, 12 min, 3 h 20 min, 2 d 4 h."""
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    if minutes < 100:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"


def _hour(moment: float, now: float) -> str:
    """Say hour and minute, with the date if that is not today's."""
    then = datetime.fromtimestamp(moment + 30)  # to the nearest minute
    today = then.date() == datetime.fromtimestamp(now).date()
    return f"{then:%H:%M}" if today else f"{then:%Y-%m-%d %H:%M}"
