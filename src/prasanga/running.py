"""A run of the workflow: Snakemake as a process of its own, and what it does in a few lines.

Snakemake tells of every event in a line of JSON (`workflow/logger`); `Run` makes of them how far the run is, why its
jobs run, and what went wrong.
"""

from __future__ import annotations

import ast
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError, printable
from prasanga.base.logs import EVENTS
from prasanga.base.places import installation, require_no_modules
from prasanga.config import read_config

_RULE = re.compile(r"^ *(?:rule|checkpoint|use rule \w+ as) (\w+)(?::| with:)", re.MULTILINE)
_CODE = re.compile(r"'([\w.]+\.py) [0-9a-f]{12}'")
_PROGRESS = re.compile(r"\bprasanga\.base\.progress: (.*)")
_NAMED, _KEPT_LINES, _LOG_LINES = 3, 200, 3
_NOTES = Path(".snakemake")
_RUNNING = "prasanga/running"

Event = Mapping[str, Any]


# --------------------
# Why jobs run.


_DERIVED = "what it is made from is made again"
_REASONS = (
    ("Params have changed", ""),
    ("Updated input files: ", "changed: "),
    ("Set of input files", "made from other files than before"),
    ("Incomplete output files", "was interrupted"),
    ("Missing output files", "not there yet"),
    ("Forced execution", "asked for"),
    ("Input files updated by another job", _DERIVED),
)
"""How Snakemake begins a reason, and what is said of it; of several the first of these counts."""


def why(reason: str) -> str:
    """Return why a job runs in some words, of what Snakemake says about it."""
    parts = reason.split("; ")
    for begins, said in _REASONS:
        for number, part in enumerate(parts):
            if part.startswith(begins):
                if not said:
                    return _changed("; ".join(parts[number:]))
                return said + _few(part.removeprefix(begins).split(", ")) if said.endswith(": ") else said
    return parts[0]


def _changed(text: str) -> str:
    """Return which settings are others now, of the parameters before and now."""
    before, _, now = text.partition(" before: ")[2].partition(" now: ")
    scripts = {*_CODE.findall(before)} & {*_CODE.findall(now)}
    old, new = _leaves(before), _leaves(now)
    keys = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    shown = [f"{key} {_short(old.get(key))} -> {_short(new.get(key))}" for key in keys]
    said = [*(["edited code"] if scripts else []), *([f"settings: {_few(shown)}"] if shown else [])]
    return "; ".join(said) or "other settings"


def _leaves(text: str) -> dict[str, Any]:
    """Return the settings among parameters that Snakemake has written with commas between them."""
    try:
        values = ast.literal_eval(f"({text.strip()},)")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return dict(leaf for value in values if isinstance(value, Mapping) for leaf in _flat(value))


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


# --------------------
# How far a run is.


def stages_of_rules(root: Path | None = None) -> dict[str, str]:
    """Return the stage of each rule, in the order of stages: the file that it stands in."""
    root = root or installation()
    included = re.findall(r'include: "((?:rules|construction)/\w+\.smk)"', (root / "Snakefile").read_text("utf-8"))
    return {rule: Path(path).stem for path in included for rule in _RULE.findall((root / path).read_text("utf-8"))}


@dataclass
class Stage:
    """Jobs of a stage: how many there are, are done, run now; and why they run."""

    total: int = 0
    done: int = 0
    running: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


class Run:
    """What is known of a run, event by event.

    Attributes:
        stages: by name, in the order of the workflow; those that have jobs.
        done, total: jobs of the run, also those that only collect.
        doing: what a job has told of its progress last.
        failures: a paragraph for each job that failed, and each error of the workflow.
        notes: sentences that Snakemake has told, such as that there is nothing to do.
        began: whether jobs have been started.
        costs: what the plan has told of them (`prasanga.plan.runs.tell_costs`).
    """

    def __init__(self, folder: Path, stages: Mapping[str, str], clock: Callable[[], float] = time.time) -> None:
        self._folder, self._stage_of, self._clock = folder, stages, clock
        self.stages: dict[str, Stage] = {}
        self.done, self.total, self.began, self.doing = 0, 0, False, ""
        self.failures: list[str] = []
        self.notes: list[str] = []
        self.costs: Event = {}
        self._jobs: dict[str, str] = {}
        self._started: set[str] = set()
        self._wildcards: dict[str, str] = {}
        self._since: float | None = None

    def tell(self, event: Event) -> str:
        """Take in an event; return a sentence that a person wants to see at once, if it has one."""
        match event.get("event"):
            case "run_info":
                self._count(event.get("stats") or {})
            case "job_info":
                self._plan(event)
            case "job_started":
                self._start([str(job) for job in event.get("jobs") or ()])
            case "job_finished":
                self._finish(str(event.get("job_id")))
            case "progress":
                self.done, self.total = int(event["done"]), int(event["total"])
            case "costs":
                self.costs = event
            case "job_error":
                return self._fail(self._said_of_job(event))
            case "group_error" | "error":
                return self._fail(_without_head(str(event.get("text"))))
            case _ if event.get("level") in ("ERROR", "CRITICAL"):
                return self._fail(_without_head(str(event.get("text"))))
            case _ if text := str(event.get("text") or "").strip():
                self.notes.append(text)
        return ""

    def hear(self, line: str) -> str:
        """Take in a line that a job or the plan has printed; return it if a person is to see it."""
        if found := _PROGRESS.search(line):
            self.doing = printable(found[1].strip())
        return printable(line.strip()) if line.startswith("Warning: ") else ""

    def expected_end(self) -> datetime | None:
        """Return when the run ends if the other jobs take as long as those before; None before any is done."""
        if self._since is None or not self.done or self.done >= self.total:
            return None
        now = self._clock()
        return datetime.fromtimestamp(now) + timedelta(seconds=(now - self._since) * (self.total / self.done - 1))

    def line(self) -> str:
        """Return how far the run is, in one line."""
        running = [f"{name} {stage.done}/{stage.total}" for name, stage in self.stages.items() if stage.running]
        end = self.expected_end()
        known = (", ".join(running), f"about {end:%H:%M} at the end" if end else "", self.doing)
        return "; ".join(filter(None, (f"{self.done} of {self.total} jobs", *known)))

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to do."""
        return any(note.startswith("Nothing to be done") for note in self.notes)

    def _count(self, stats: Mapping[str, Any]) -> None:
        totals: Counter[str] = Counter()
        for rule in stats.keys() & self._stage_of.keys():
            totals[self._stage_of[rule]] += int(stats[rule])
        for name in dict.fromkeys(self._stage_of.values()):
            if totals[name] or name in self.stages:
                stage = self.stages.pop(name, Stage())  # in the order of the workflow
                stage.total = max(stage.total, totals[name])
                self.stages[name] = stage
        self.total = max(self.total, int(stats.get("total") or 0))

    def _plan(self, event: Event) -> None:
        name = self._stage_of.get(str(event["rule_name"]))
        self._wildcards[str(event["jobid"])] = ", ".join(map(str, dict(event.get("wildcards") or {}).values()))
        if name is not None:
            self._jobs[str(event["jobid"])] = name
            self.stages.setdefault(name, Stage()).reasons[why(str(event.get("reason") or ""))] += 1
            self._count_running()

    def _start(self, jobs: Iterable[str]) -> None:
        self.began = True
        self._since = self._since or self._clock()
        self._started.update(jobs)  # Snakemake says what they are before, or after
        self._count_running()

    def _finish(self, job: str) -> None:
        self._started.discard(job)
        if job in self._jobs:
            stage = self.stages[self._jobs.pop(job)]
            stage.done += 1
            self._count_running()
            stage.total = max(stage.total, stage.done + stage.running)
            self.doing = ""

    def _count_running(self) -> None:
        running = Counter(self._jobs[job] for job in self._started if job in self._jobs)
        for name, stage in self.stages.items():
            stage.running = running[name]

    def _fail(self, text: str) -> str:
        if not text or text in self.failures:
            return ""
        self.failures.append(text)
        return text

    def _said_of_job(self, event: Event) -> str:
        wildcards = self._wildcards.get(str(event.get("jobid")), "")
        logs = [str(path) for path in event.get("log") or ()]
        job = f"{event.get('rule_name')}{f' ({wildcards})' if wildcards else ''}"
        said = "\n".join(line for path in logs for line in _end_of_log(self._folder / path))
        return printable(f"{job} failed{f': {said}' if said else '.'}" + (f"\n(all of it: {logs[0]})" if logs else ""))


def _end_of_log(path: Path) -> list[str]:
    """Return what a job has said at its end: errors, if it has told any, else its last lines."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return []
    errors = [n for n, line in enumerate(lines) if re.match(r"[\d:]{8} (ERROR|CRITICAL) ", line)]
    if errors:
        first, *others = lines[errors[-1] :]
        return [first.partition(": ")[2], *others]
    return lines[-_LOG_LINES:]


_HEAD = re.compile(r"(WorkflowError|LockException)\b.*:$|\s*File \".*\", line \d+, in ")
_ABOUT_JOBS = (
    *("Exiting because a job execution failed", "Shutting down", "Error in rule", "At least one job did not"),
    "RuleException:\nCalledProcessError",
)


def _without_head(text: str) -> str:
    """Return an error without Snakemake's words around it; nothing if it only repeats what was told of a job."""
    lines = (line.strip() for line in text.splitlines() if not _HEAD.match(line))
    said = "\n".join(line for line in lines if line)
    return "" if said.startswith(_ABOUT_JOBS) else printable(said)


# --------------------
# Snakemake as a process.


def command(
    folder: Path,
    targets: Sequence[str] = (),
    *,
    config: Path | None = None,
    cores: str = "all",
    gpus: int | None = None,
    profile: str | None = None,
    dry_run: bool = False,
    others: Sequence[str] = (),
) -> list[str]:
    """Return the command line of Snakemake.

    Args:
        folder: of the study.
        targets: what is asked for; all if nothing is.
        config: the file of the study, if it is none that the folder has under its usual name.
        cores: a number, or `all`; where a profile sends jobs elsewhere, the profile says how many.
        gpus: graphics cards of this machine; those that are found, if None. Without any, jobs that run a model come one
            after the other.
        profile: name of one that is shipped, or a folder; the shipped `default` if None.
        dry_run: only plan.
        others: options that belong to Snakemake.

    Raises:
        InputError: there is no such profile, or no config in the file, or Snakemake would import from the folder.
    """
    asked = []
    if config is not None:
        read_config(config)  # Snakemake's own reader, which comes before ours, says less of what is wrong
        asked = ["--configfile", str(config.absolute())]
    for place in (folder, Path.cwd()):  # Snakemake imports from both before it reads the Snakefile
        require_no_modules(place)
    if profile is None:
        asked += ["--cores", cores, "--resources", f"gpu={max(graphics_cards() if gpus is None else gpus, 1)}"]
    # Snakemake's own choice would be a `profiles/default` of the working folder
    chosen = installation() / "profiles/default" if profile is None else profile_named(profile, folder)
    asked += ["--workflow-profile", str(chosen)]
    # last what takes one value, or none: options before it would take targets among `others` for values of theirs
    asked += ["--snakefile", str(installation() / "Snakefile"), "--directory", str(folder), "--nocolor"]
    python = [sys.executable, "-P"]  # or the working folder would come first among the folders of modules
    return [*python, "-m", "snakemake", *targets, *asked, *(["--dry-run"] if dry_run else []), *others]


def profile_named(name: str, folder: Path) -> Path:
    """Return the folder of a profile: a path, one of the study's own, or one that is shipped.

    Raises:
        InputError: there is none.
    """
    places = [Path(name).absolute(), folder / "profiles" / name, installation() / "profiles" / name]
    found = next((place for place in places if (place / "profile.yaml").is_file()), None)
    if found is None:
        shipped = sorted(path.parent.name for path in (installation() / "profiles").glob("*/profile.yaml"))
        raise InputError(f"no profile {name!r}. Name a folder with profile.yaml, or one of {', '.join(shipped)}.")
    return found


def graphics_cards(proc: Path = Path("/proc")) -> int:
    """Return how many cards of NVIDIA this machine has; of those, what CUDA_VISIBLE_DEVICES leaves."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() and name.strip() != "-1"])
    return len(list(proc.glob("driver/nvidia/gpus/*/information")))


def follow(
    asked: Sequence[str],
    run: Run,
    *,
    show: Callable[[str], object],
    look: Callable[[], object] = lambda: None,
    held: Sequence[int] = (),
) -> int:
    """Run Snakemake to its end, and keep `run` up to date.

    Args:
        asked: its command line.
        run: what is known of it.
        show: is called with every sentence that a person wants to see at once.
        look: is called after each event.
        held: open files that it is to hold as well (`only_run`).

    Returns:
        Snakemake's exit status; -2 if it was interrupted from the keyboard.
    """
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if name == signal.SIGINT or signal.getsignal(name) != signal.SIG_IGN:  # as under nohup
            signal.signal(name, signal.default_int_handler)  # before the process starts, which would inherit to ignore
    reading, writing = os.pipe()
    given = os.getenv("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(filter(None, [str(installation() / "workflow/logger"), *given]))  # "" is the working folder
    process = subprocess.Popen(
        [*asked, "--logger", "prasanga"],
        env={**os.environ, "PYTHONPATH": path, EVENTS: str(writing)},
        pass_fds=(writing, *held),
        start_new_session=True,  # signals come from here, once
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    os.close(writing)
    printed: deque[str] = deque(maxlen=_KEPT_LINES)
    assert process.stdout is not None
    listening = threading.Thread(target=_listen, args=(process.stdout, run, printed, show), daemon=True)
    listening.start()
    interrupted = False
    with os.fdopen(reading, encoding="utf-8", errors="replace") as events:
        while True:
            try:
                for line in events:
                    with suppress(ValueError, KeyError, TypeError):
                        said = run.tell(json.loads(line))
                        if said and not interrupted:  # what was stopped has not failed
                            show(said)
                    look()
                status = process.wait()
                break
            except KeyboardInterrupt:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL if interrupted else signal.SIGINT)
                interrupted = True
    listening.join(timeout=5)
    if status and not run.failures and not interrupted:
        run.failures += [_last_words(printed)]
        show(run.failures[-1])
    return -signal.SIGINT if interrupted else status


def _listen(stream: Iterable[str], run: Run, printed: deque[str], show: Callable[[str], object]) -> None:
    for line in stream:
        printed.append(line.rstrip("\n"))
        if said := run.hear(line):
            show(said)


def _last_words(printed: Iterable[str]) -> str:
    """Return what a process that ended without a word of the workflow has printed at its end, traceback left out."""
    lines = [line for line in printed if line.strip()]
    errors = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception)\b", line) or "error:" in line]
    return printable(errors[-1] if errors else "\n".join(lines[-_LOG_LINES:]) or "Snakemake ended without a word.")


@contextmanager
def only_run(folder: Path) -> Iterator[int]:
    """Hold a study's folder for one run, by the file that is yielded; locks that a killed run has left are taken away.

    Raises:
        InputError: another run holds it, or the folder cannot be written.
    """
    place = folder / _NOTES / _RUNNING
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(
            f"{folder}: nothing can be written in the study's folder ({error.strerror}). Let yourself write, make room,"
            " or take another folder: `--directory`."
        ) from None
    try:
        _hold(file, folder)
    except BaseException:  # what another run has written there stays
        os.close(file)
        raise
    try:
        yield file
    finally:
        with suppress(OSError):
            os.ftruncate(file, 0)
        os.close(file)


def _hold(file: int, folder: Path) -> None:
    locks = sorted((folder / _NOTES / "locks").glob("*"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(file, 200, 0).decode(errors="replace").strip() or "another process"
        raise InputError(
            f"{folder}: this study is being run already, by {holder}. Wait until it has ended, or stop it; another"
            " study can run at the same time in a folder of its own."
        ) from None
    except OSError:  # a file system without such locks, as of some clusters: Snakemake has a lock of its own
        pass
    before = os.pread(file, 200, 0).decode(errors="replace").strip()
    if locks and before:  # the process that is named there held the file, and is gone
        for lock in locks:
            lock.unlink(missing_ok=True)
    elif locks:
        raise InputError(
            f"{folder}: Snakemake has locked this folder: it is at work there, or was killed. If it is not running any"
            " more, type `prasanga run -- --unlock`, and then the same command again."
        )
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()} on {os.uname().nodename} since {datetime.now():%Y-%m-%d %H:%M}".encode(), 0)
