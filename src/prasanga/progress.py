"""Where a long job is: a bar on a terminal, a line every so often in the log, with the rate and the expected end.

    with progress("embedding", len(segments), "segments") as done:
        for batch in batches:
            embed(batch)
            done.advance(len(batch))

Nothing is shown of work that ends within `SHORT` seconds. From then on the log has a line that the work began, one
after 10 seconds, then one every 30 seconds and further apart the longer it lasts (some thirty in a day), and one at the
end.
On a terminal a bar stands in place of these lines, if this process is the only one that works there: bars of several
processes would overwrite each other. Lines of others, such as warnings, are written above the bar.

Nothing here changes a result, so no fingerprint of code has this module in it (`prasanga.provenance.code`).
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from types import TracebackType
from typing import Any, ClassVar, Self, TextIO, TypeVar

SHORT = 5.0
"""Seconds of work of which nothing is said; so long must a process have been alone on its terminal to draw a bar."""
BYTES = "bytes"
"""The unit that is shown as MB."""

clock: Callable[[], float] = time.time
"""Seconds since 1970; tests put another one in its place."""
watched = True
"""Whether a thread looks after lines and bars while work does not advance; tests do without."""

_FIRST, _EVERY = 10.0, 30.0
_GROWTH = 0.35  # of the time that has passed, until the next line
_LINES = 12  # at least so many lines at even distances, where the end is known
_WINDOW = 60.0  # seconds that the rate is measured over
_SAMPLED = 0.5  # seconds between the counts that are remembered for it
_LOOK = 1.0  # seconds between looks of the thread
_SHORT_WITHIN = 60.0  # as SHORT, for work that is a part of other work that is shown
_MB = 10**6
_LOG = logging.getLogger(__name__)

T = TypeVar("T")


def progress(name: str, total: float | None = None, unit: str = "steps") -> Progress:
    """A context manager that counts work and tells how far it is.

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

    _drawing: ClassVar[Progress | None] = None  # the one whose bar is shown
    _running: ClassVar[list[Progress]] = []  # all that have begun and not ended
    _watcher: ClassVar[threading.Thread | None] = None

    def __init__(
        self,
        name: str,
        total: float | None = None,
        unit: str = "steps",
        *,
        stream: TextIO | None = None,
        alone: Callable[[], bool] | None = None,
    ) -> None:
        """Prepare to count; `progress` is the usual way.

        Args:
            name: see `progress`, as for `total` and `unit`.
            total: see there.
            unit: see there.
            stream: where a bar is drawn; standard error if None.
            alone: whether no other process works on the same terminal; looks at the processes if None.
        """
        self.name, self.unit, self.total = name, unit, total
        self.done: float = 0
        self._stream, self._alone = stream or sys.stderr, alone or _is_alone
        self._clock = clock
        self._lock = threading.RLock()
        self._bar: _Bar | None = None

    def __enter__(self) -> Self:
        """Begin."""
        now = self._clock()
        self._begin = self._since = now
        self._short = _SHORT_WITHIN if Progress._running else SHORT
        self._is_begun = self._is_ended = False
        self._is_watched = watched
        self._due = now + self._short
        self._counts: deque[tuple[float, float]] = deque([(now, 0)])
        self._last: tuple[float, float] = (now, 0)
        self._terminal = _is_terminal(self._stream)
        Progress._running.append(self)
        if watched and (Progress._watcher is None or not Progress._watcher.is_alive()):
            Progress._watcher = threading.Thread(target=_watch, name="progress", daemon=True)
            Progress._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End: take the bar away and say what was done, if it took long enough."""
        with self._lock:
            self._is_ended = True
            Progress._running.remove(self)
            self._remove_bar()
            seconds = self._clock() - self._begin
            if seconds >= self._short:
                self._say(self._stopped(seconds) if kind else self._finished(seconds))

    def advance(self, n: float = 1) -> None:
        """Count `n` more. It costs a microsecond: in a hot loop, call it for a batch."""
        with self._lock:
            self.done += n
            now = self._clock()
            self._last = (now, self.done)
            if now - self._counts[-1][0] >= _SAMPLED:
                self._counts.append(self._last)
                while len(self._counts) > 1 and self._counts[1][0] <= now - _WINDOW:
                    self._counts.popleft()
            if now >= self._due:
                self._tell(now)

    def over(self, items: Iterable[T], every: int = 1) -> Iterator[T]:
        """The items; `every` so many are counted together, when the next one is asked for."""
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                self.advance(every)
        self.advance(number % every)

    def look(self) -> None:
        """Show what is due by now: the bar as it stands, and a line."""
        may_draw = self._terminal and self._may_draw()
        with self._lock:
            if self._is_ended:
                return
            now = self._clock()
            self._draw(now, may_draw)
            if now >= self._due:
                self._tell(now)

    def _tell(self, now: float) -> None:
        """The line that is due, and when the next one is."""
        passed = now - self._begin
        if self._terminal and self._bar is None:  # no line where a bar is about to come
            self._draw(now, self._may_draw())
        if not self._is_begun:
            self._is_begun = True
            self._say(self._begun())
            self._due = self._begin + max(_FIRST, self._short)
        if now >= self._due:
            self._say(self.text(now))
            gap, left = _GROWTH * passed, self._left(now)
            if left is not None:
                gap = min(gap, (passed + left) / _LINES)
            self._due = now + max(_EVERY, gap)

    def _say(self, text: str) -> None:
        _LOG.info("%s: %s", self.name, text, extra={"progress": True})

    def text(self, now: float | None = None) -> str:
        """How far it is: "12,400 of 50,000 segments (25 %), 830 a second, 45 s left, done about 14:32"."""
        now = self._clock() if now is None else now
        return ", ".join([self._count(), *self._outlook(now)])

    def _outlook(self, now: float) -> list[str]:
        """Rate, time left and expected end, as far as they are known."""
        rate, left = self._rate(now), self._left(now)
        said = [] if rate is None else [self._per_time(rate)]
        if left is not None:
            said += [f"{_duration(left)} left", f"done about {_time_of_day(now + left, now)}"]
        return said

    def _rate(self, now: float) -> float | None:
        """How much is done in a second, of late; None as long as nothing is done."""
        (first, before), (last, done) = self._counts[0], self._last
        # Work that comes in large pieces is not slow between them; but if nothing has come for long, it is.
        until = last if now - last <= last - first else now
        return (done - before) / (until - first) if done > before and until > first else None

    def _left(self, now: float) -> float | None:
        """Seconds to the end."""
        rate = self._rate(now)
        # Where all is counted, the rest is to finish: to write what came out, as a rule.
        return (
            None if self.total is None or rate is None or self.done >= self.total else (self.total - self.done) / rate
        )

    def _count(self) -> str:
        if self.total is None:
            return f"{self._amount(self.done)} {self._shown_unit}"
        done = min(self.done, self.total)
        share = int(100 * done / self.total) if self.total else 100
        return f"{self._amount(done)} of {self._amount(self.total)} {self._shown_unit} ({share} %)"

    def _begun(self) -> str:
        what = self._shown_unit if self.total is None else f"{self._amount(self.total)} {self._shown_unit}"
        return f"{what}, begun at {datetime.fromtimestamp(self._begin):%H:%M:%S}"

    def _finished(self, seconds: float) -> str:
        all_of_it = self.done if self.total is None else self.total
        what = f"{self._amount(all_of_it)} {self._shown_unit}" if self.done >= all_of_it else self._count()
        return ", ".join([f"{what} in {_duration(seconds)}", *self._overall(seconds)])

    def _stopped(self, seconds: float) -> str:
        return f"stopped after {self._count()}, {_duration(seconds)}"

    def _overall(self, seconds: float) -> list[str]:
        return [self._per_time(self.done / seconds)] if self.done else []

    @property
    def _shown_unit(self) -> str:
        return "MB" if self.unit == BYTES else self.unit

    def _amount(self, n: float) -> str:
        if self.unit == BYTES:
            return f"{n / _MB:,.0f}" if n >= 10 * _MB else f"{n / _MB:.1f}"
        return f"{n:,.0f}"

    def _per_time(self, rate: float) -> str:
        unit = ""
        if self.unit == BYTES:
            rate, unit = rate / _MB, " MB"
        for seconds, name in ((1, "a second"), (60, "a minute"), (3600, "an hour")):
            if rate * seconds >= 1 or name == "an hour":
                return f"{_rounded(rate * seconds)}{unit} {name}"
        raise AssertionError("an hour is the last")

    def _may_draw(self) -> bool:
        return _in_foreground(self._stream) and self._alone()

    def _draw(self, now: float, may_draw: bool) -> None:
        """Draw the bar, or take it away where another process has come."""
        if not may_draw:
            self._since = now
            self._remove_bar()
            return
        if self._bar is None and Progress._drawing is None and now - self._since >= self._short:
            self._bar = _Bar(self._stream)
            Progress._drawing = self
        if self._bar is not None:
            self._bar.draw(self.name, self.done, self.total, self._outlook(now) or [self._count()], self._count())

    def _remove_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            Progress._drawing = None


def _watch() -> None:
    """Look after all work that is running, every second, as long as this process lives."""
    while True:
        time.sleep(_LOOK)
        for each in [each for each in list(Progress._running) if each._is_watched]:
            with suppress(OSError, ValueError):  # a terminal that is gone is no reason to stop
                each.look()


class _Bar:
    """A bar at the bottom of the terminal; messages are written above it, and lines of progress are not."""

    def __init__(self, stream: TextIO) -> None:
        from tqdm import tqdm
        from tqdm.contrib.logging import logging_redirect_tqdm

        class Bar(tqdm):  # type: ignore[type-arg, misc, unused-ignore]
            monitor_interval = 0  # it is drawn by us, when there is something new

        self._stream = stream
        self._bar: Any = Bar(total=1, file=stream, leave=False, bar_format=" ")
        self._stack = ExitStack()
        handlers = logging.root.handlers
        if any(_is_console(handler) for handler in handlers):
            self._stack.enter_context(logging_redirect_tqdm(tqdm_class=Bar))
            for handler in logging.root.handlers:
                if handler not in handlers:
                    handler.addFilter(_is_no_progress)

    def draw(self, name: str, done: float, total: float | None, outlook: list[str], count: str) -> None:
        """Name, share and outlook; without a total, the count."""
        self._bar.ncols = width = _columns(self._stream)
        room = max(12, width // 3)
        name = name if len(name) <= room else f"…{name[1 - room :]}"
        if total:
            self._bar.total, self._bar.n = total, min(done, total)
            shown = f"{_plain(name)} {{percentage:3.0f}} % |{{bar}}| {_plain(', '.join(outlook))}"
        else:
            shown = _plain(", ".join([f"{name}: {count}", *(each for each in outlook if each != count)]))
        self._bar.bar_format = shown
        self._bar.refresh()

    def close(self) -> None:
        """Take it away, and let messages go where they went."""
        self._stack.close()
        self._bar.close()


def _plain(text: str) -> str:
    """A text that stands in a format as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _is_console(handler: logging.Handler) -> bool:
    return isinstance(handler, logging.StreamHandler) and handler.stream in (sys.stdout, sys.stderr)


def _is_no_progress(record: logging.LogRecord) -> bool:
    return not getattr(record, "progress", False)


def _is_terminal(stream: TextIO) -> bool:
    """Whether bars can be drawn there."""
    try:
        return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):  # nothing, or closed
        return False


def _in_foreground(stream: TextIO) -> bool:
    """Whether the terminal is ours, and not the shell's, as it is where a run was sent to the background."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _is_alone() -> bool:
    """Whether no other process works in the process group: of Snakemake's jobs, this is the only one that runs.

    The group has Snakemake and all its jobs in it. Those that this process descends from and those that it has started
    do not count, nor do those that have ended.
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


def _rounded(number: float) -> str:
    """Two or three digits of a number: 8.3, 830, 83,400."""
    if number < 10:
        return f"{number:.1f}"
    size = 10 ** max(0, len(str(int(number))) - 3)
    return f"{round(number / size) * size:,}"


def _duration(seconds: float) -> str:
    """45 s, 12 min, 3 h 20 min, 2 d 4 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours} h"


def _time_of_day(moment: float, now: float) -> str:
    """Hour and minute, with the date if that is not today's."""
    then = datetime.fromtimestamp(moment + 30)  # to the nearest minute
    today = then.date() == datetime.fromtimestamp(now).date()
    return f"{then:%H:%M}" if today else f"{then:%Y-%m-%d %H:%M}"
