"""What is said of long work, and when: values by a clock that the tests set."""

from __future__ import annotations

import fcntl
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import fake_clock
import pytest
from fake_clock import FakeClock, progress_lines

from prasanga.base import progress as module
from prasanga.base.progress import Progress, progress

SOURCE = Path(module.__file__).parents[1]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> FakeClock:
    """Time that stands still; it is noon."""
    found = FakeClock()
    monkeypatch.setattr(module, "clock", found)
    monkeypatch.setattr(module, "watched", False)
    caplog.set_level(logging.INFO, logger=module.__name__)
    return found


def work(clock: FakeClock, done: Progress, seconds: float, rate: float = 1.0, every: float = 1.0) -> None:
    """So many seconds pass in which `rate` a second is done, some at a time."""
    for _ in range(round(seconds / every)):
        clock.now += every
        done.advance(rate * every)


def test_lines_of_a_minute(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("embedding", 50_000, "segments") as done:
        work(clock, done, 60, rate=830)
        clock.now += 0.241
        done.advance(200)
    assert progress_lines(caplog, "embedding") == [
        "embedding: 50,000 segments, begun at 12:00:00",
        "embedding: 8,300 of 50,000 segments (16 %), 830 a second, 50 s left, done about 12:01",
        "embedding: 33,200 of 50,000 segments (66 %), 830 a second, 20 s left, done about 12:01",
        "embedding: 50,000 segments in 60 s, 830 a second",
    ]


def test_nothing_is_said_of_short_work(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("short", 40, "steps") as done:
        work(clock, done, 4.9, every=0.1)
    assert caplog.records == []
    with progress("longer", 5, "steps") as done:
        work(clock, done, 5)
    assert progress_lines(caplog, "longer") == [
        "longer: 5 steps, begun at 12:00:04",
        "longer: 5 steps in 5 s, 1.0 a second",
    ]


def test_without_a_total_there_are_count_and_rate(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("reading", None, "lines") as done:
        work(clock, done, 12, rate=1000)
        assert done.text() == "12,000 lines, 1,000 a second"
    assert progress_lines(caplog, "reading") == [
        "reading: lines, begun at 12:00:00",
        "reading: 10,000 lines, 1,000 a second",
        "reading: 12,000 lines in 12 s, 1,000 a second",
    ]


def test_bytes_are_megabytes(clock: FakeClock) -> None:
    with progress("reading", 2_500_000_000, "bytes") as done:
        work(clock, done, 10, rate=8_300_000)
        assert done.text() == "83 of 2,500 MB (3 %), 8.3 MB a second, 5 min left, done about 12:05"
    with progress("reading", 4_000_000, "bytes") as done:
        work(clock, done, 10, rate=50_000)
        assert done.text() == "0.5 of 4.0 MB (12 %), 3.0 MB a minute, 70 s left, done about 12:02"


@pytest.mark.parametrize(
    ("rate", "said"),
    [(83_412, "83,400 a second"), (1.25, "1.2 a second"), (0.25, "15 a minute"), (0.01, "36 an hour")],
)
def test_a_rate_is_given_for_the_time_in_which_something_happens(clock: FakeClock, rate: float, said: str) -> None:
    with progress("work", None) as done:
        work(clock, done, 1000, rate=rate, every=10)
        assert done.text().endswith(said)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (45, "45 s left, done about 12:01"),
        (1000, "17 min left, done about 12:17"),
        (12_000, "3 h 20 min left, done about 15:20"),
        (50_000, "13 h 53 min left, done about 2026-11-23 01:54"),
        (190_000, "2 d 5 h left, done about 2026-11-24 16:47"),
    ],
)
def test_time_left_and_expected_end(clock: FakeClock, seconds: int, said: str) -> None:
    with progress("work", 10 + seconds) as done:
        work(clock, done, 10)
        assert done.text().endswith(said)


def test_the_rate_is_that_of_the_last_minute(clock: FakeClock) -> None:
    with progress("work", 100_000) as done:
        work(clock, done, 600, rate=100)
        assert "100 a second, 7 min left" in done.text()
        work(clock, done, 90, rate=10)
        assert "60,900 of 100,000 steps (60 %), 10 a second, 65 min left" in done.text()  # since the start it is 88


def test_work_in_large_pieces_has_a_steady_rate_and_a_standstill_shows(clock: FakeClock) -> None:
    with progress("work", 1000) as done:
        work(clock, done, 200, rate=1, every=50)
        clock.now += 40  # of the next piece
        assert "1.0 a second, 13 min left" in done.text()
        clock.now += 960
        assert re.search(r", [\d.]+ a minute, ", done.text())  # for a quarter of an hour, nothing has come


def test_nothing_done_has_no_rate(clock: FakeClock) -> None:
    with progress("work", 10) as done:
        clock.now += 100
        assert done.text() == "0 of 10 steps (0 %)"
    with progress("work", 0) as done:
        assert done.text() == "0 of 0 steps (100 %)"


@pytest.mark.parametrize(("hours", "most"), [(0.02, 5), (1, 24), (24, 34), (24 * 7, 42)])
def test_lines_are_few_however_long_it_lasts(
    clock: FakeClock, caplog: pytest.LogCaptureFixture, hours: float, most: int
) -> None:
    seconds = round(hours * 3600)
    times: list[float] = []
    known = 0
    with progress("work", seconds) as done:
        for _ in range(0, seconds, 5):
            work(clock, done, 5, every=5)
            if len(caplog.records) > known:
                known = len(caplog.records)
                times.append(clock.now)
    gaps = [after - before for before, after in pairwise(times[1:])]
    assert len(caplog.records) <= most
    assert gaps[0] == 30
    assert max(gaps, default=0) <= max(30, seconds / 8)  # and never is the log silent for most of the time


def test_work_that_is_stopped_says_how_far_it_came(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    def stop() -> None:
        raise ValueError("stopped")

    def stopped() -> None:
        with progress("work", 100) as done:
            work(clock, done, 7)
            stop()

    with pytest.raises(ValueError, match="stopped"):
        stopped()
    assert progress_lines(caplog, "work")[-1] == "work: stopped after 7 of 100 steps (7 %), 7 s"


def test_items_are_counted_in_batches() -> None:
    counts = []
    with progress("work", 10) as done:
        for item in done.over(range(10), every=4):
            counts.append((item, done.done))
    assert counts[3:6] == [(3, 0), (4, 4), (5, 4)]
    assert done.done == 10


def test_more_than_the_total_is_all_of_it(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("reading", 20_000_000, "bytes") as done:  # a part of a file: the last piece reaches beyond it
        work(clock, done, 11, rate=2_000_000)
        assert done.text() == "20 of 20 MB (100 %), 2.0 MB a second"
    assert progress_lines(caplog, "reading")[-1] == "reading: 20 MB in 11 s, 2.0 MB a second"


def test_work_within_other_work_is_silent_for_a_minute(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("outer", 3) as outer:
        for _ in outer.over(range(2)):
            with progress("inner", 30) as inner:
                work(clock, inner, 30)
        with progress("inner", 100) as inner:
            work(clock, inner, 100)
        outer.advance()
    assert len(progress_lines(caplog, "outer")) >= 3
    assert [line.split(", ")[0] for line in progress_lines(caplog, "inner")] == [
        "inner: 100 steps",
        "inner: 60 of 100 steps (60 %)",
        "inner: 90 of 100 steps (90 %)",
        "inner: 100 steps in 100 s",
    ]


def test_threads_count_together() -> None:
    with progress("work", 40_000) as done:
        threads = [threading.Thread(target=lambda: [done.advance() for _ in range(10_000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert done.done == 40_000


def test_without_an_advance_a_thread_looks_after_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger=module.__name__)
    monkeypatch.setattr(module, "clock", FakeClock(step=20))
    with progress("standing", 10):
        time.sleep(1.5)
    assert progress_lines(caplog, "standing")[0] == "standing: 10 steps, begun at 12:00:20"


def test_what_cannot_be_said_fails_no_work(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("work", 1e15) as done:  # in a hundred million years
        work(clock, done, 100, rate=0.1)
    assert progress_lines(caplog, "work")[-1] == "work: 10 of 1,000,000,000,000,000 steps (0 %) in 100 s, 6.0 a minute"


# On a terminal, in a process of its own

BEGIN = """
import fcntl, logging, os, signal, sys, termios, time
fcntl.ioctl(2, termios.TIOCSCTTY, 0) if os.getpid() == os.getsid(0) else None
from prasanga.base import progress as module
from prasanga.base.progress import progress
from fake_clock import FakeClock

clock = module.clock = FakeClock()
module.watched = False
logging.basicConfig(format="%(message)s", level=logging.INFO)
logging.root.addHandler(logging.FileHandler("log"))

def work(done, seconds):
    for _ in range(seconds):
        clock.now += 1
        done.advance()
"""


@pytest.fixture
def on_a_terminal(tmp_path: Path) -> Callable[..., list[str]]:
    """Run a program on a terminal of 80 columns; what it wrote there, in the pieces that begin at a line's front."""

    def run(program: str, command: str | None = None, **environment: str) -> list[str]:
        (tmp_path / "program.py").write_text(BEGIN + textwrap.dedent(program), encoding="utf-8")
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        job = f"{sys.executable} program.py"
        path = os.pathsep.join([str(SOURCE), str(Path(fake_clock.__file__).parent)])
        process = subprocess.Popen(
            ["bash", "-c", command.format(job=job)] if command else job.split(),
            **{"stdin": follower, "stdout": follower, "stderr": follower, "cwd": tmp_path, "start_new_session": True},
            env={**os.environ, "PYTHONPATH": path, "TERM": "xterm", "PYTHONUTF8": "1", **environment},
        )
        os.close(follower)
        written = bytearray()
        with suppress(OSError), os.fdopen(leader, "rb", buffering=0) as stream:  # an error, when nobody writes any more
            while piece := stream.read(1 << 16):
                written += piece
        assert process.wait(60) == 0, written.decode()
        return re.split(r"[\r\n]+", written.decode())

    return run


BAR = r"embedding  30 % \|[#█]+.? +\| 1.0 a second, 70 s left, done about 12:02 *"


def test_a_bar_stands_in_place_of_lines(on_a_terminal: Callable[..., list[str]], tmp_path: Path) -> None:
    shown = on_a_terminal("""
        with progress("embedding", 100, "segments") as done:
            work(done, 4)
            done.look()
            work(done, 26)
            done.look()
            logging.getLogger("prasanga.other").warning("something odd")
            work(done, 70)
    """)
    drawn = [piece for piece in shown if "|" in piece]
    assert drawn[0].startswith("embedding   5 % |")  # nothing before
    assert any(re.fullmatch(BAR, piece) for piece in drawn), drawn
    assert "something odd" in shown  # on a line of its own
    assert shown[-2:] == ["embedding: 100 segments in 100 s, 1.0 a second", ""]
    assert shown[-3].strip() == ""  # the bar is gone
    assert not any("of 100 segments" in piece for piece in shown)
    log = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert "embedding: 40 of 100 segments (40 %), 1.0 a second, 60 s left, done about 12:02" in log


@pytest.mark.parametrize(("total", "shown"), [("1000", "outer   0 % |"), ("None", "outer: 0 steps")])
def test_of_two_there_is_one_bar(on_a_terminal: Callable[..., list[str]], total: str, shown: str) -> None:
    pieces = on_a_terminal(f"""
        with progress("outer", {total}) as outer, progress("inner", 1000) as inner:
            for _ in range(80):
                work(inner, 1)
                outer.look()
                inner.look()
            clock.now += 1
            outer.look()
    """)
    assert any(piece.startswith(shown) for piece in pieces)
    assert sum(piece.startswith("outer: 0 steps") for piece in pieces) > 50 or total != "None"  # to the end
    assert not any(piece.startswith("inner") and "|" in piece for piece in pieces)


def test_names_with_braces_and_long_ones_are_shown(on_a_terminal: Callable[..., list[str]]) -> None:
    shown = on_a_terminal("""
        with progress("embedding {segments} of a folder with a very long name/00.parquet", 1000) as done:
            work(done, 6)
        with progress("{0} {x}", None) as done:
            work(done, 6)
            done.look()
    """)
    assert any(piece.startswith("…very long name/00.parquet   0 % |") for piece in shown), shown
    assert "{0} {x}: 6 steps, 1.0 a second" in [piece.strip() for piece in shown]


def test_a_terminal_that_goes_away_fails_no_work(on_a_terminal: Callable[..., list[str]], tmp_path: Path) -> None:
    on_a_terminal("""
        with progress("work", 100) as done:
            work(done, 20)
            os.close(2)
            work(done, 50)
    """)
    assert "work: 40 of 100 steps (40 %)" in (tmp_path / "log").read_text(encoding="utf-8")


def test_a_bar_goes_when_another_process_comes_and_comes_when_it_goes(on_a_terminal: Callable[..., list[str]]) -> None:
    """The shell starts a process in the group at one signal and ends it at another."""
    shown = on_a_terminal(
        """
        import psutil

        shell = psutil.Process().parent()

        def ask(number, others):
            os.kill(shell.pid, number)
            while len([c for c in shell.children() if c.status() != psutil.STATUS_ZOMBIE]) != others + 1:
                time.sleep(0.01)

        with progress("work", 1000) as done:
            work(done, 6)
            done.look()
            ask(signal.SIGUSR1, 1)
            done.look()
            print("another", file=sys.stderr)
            work(done, 40)
            done.look()
            print("none", file=sys.stderr)
            ask(signal.SIGUSR2, 0)
            done.look()
            print("soon", file=sys.stderr)
            work(done, 5)
            done.look()
        """,
        "trap 'sleep 60 & other=$!' USR1; trap 'kill $other; wait $other' USR2;"
        " {job} & job=$!; while kill -0 $job 2>/dev/null; do wait $job; found=$?; done; exit $found",
    )
    another, none, soon = (shown.index(said) for said in ("another", "none", "soon"))
    assert any("0 % |" in piece for piece in shown[:another])
    assert not any("|" in piece for piece in shown[another:soon])
    assert any(piece.startswith("work: 40 of 1,000 steps (4 %), 1.0 a second") for piece in shown[another:none])
    assert any("5 % |" in piece for piece in shown[soon:])


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": ""}, {"background": "yes"}])
def test_a_dumb_terminal_and_the_background_have_lines(
    on_a_terminal: Callable[..., list[str]], environment: dict[str, str]
) -> None:
    shown = on_a_terminal(
        """
        if os.environ.get("background"):
            os.setpgid(0, 0)
        with progress("work", 100) as done:
            work(done, 12)
            done.look()
        """,
        "{job}; true",
        **environment,
    )
    assert not any("|" in piece for piece in shown)
    assert any(piece.startswith("work: 10 of 100 steps (10 %)") for piece in shown)


def test_progress_is_light_to_import() -> None:
    code = (
        "import sys, prasanga.base.progress; "
        "print([m for m in ('tqdm', 'numpy', 'polars', 'psutil') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
