"""Faults through the whole workflow: a study that is disturbed all the way, and must come out the same.

A `Chain` takes a study from nothing to its end. On the way it is disturbed so many times: jobs and runs are killed,
the disk is full, permissions are taken away. What, when and where is drawn from a
seed. After every disturbance everything that counts as made must equal the file of an undisturbed study, byte for byte;
a run that stopped must have said why in a sentence. At the end the study is finished by doing what the messages say,
and all of its results are compared.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
from faults import Around, FaultMissedError, FileFault, Surroundings, kill, small_disk, start, temporary_files, why_not
from small_study import Study
from warm_python import warm_jobs, warm_python

from prasanga.warm import WARM

STAGES = (
    *("lexicon", "sentences", "samples", "models", "embeddings", "static", "associations", "pairs", "likelihoods"),
    "report",
)
# What is not compared: it tells when and on what it was made, or which work was saved.
NOT_COMPARED = re.compile(r"results/(store/|likelihoods/kept/|corpus\.json$|config\.yaml$)")

RUN_ON = 2
"""Cores of a run."""

PATIENCE = 1800.0
"""Seconds after which a run hangs: some thirty times what one takes."""

ATTEMPTS = 12
"""So often a fault is tried that does not come about, since nothing is there yet or a run ended sooner."""


@dataclass(frozen=True)
class Disturbance:
    """One fault: what is done to the study, and how much of a run goes before it.

    Attributes:
        kind: a key of `KINDS`.
        seed: of everything that is drawn for it.
    """

    kind: str
    seed: int

    def rng(self) -> random.Random:
        return random.Random(f"{self.seed} {self.kind}")


@dataclass
class Chain:
    """A study, the undisturbed one beside it, and what was done so far."""

    study: Study
    undisturbed: Path
    jobs_between: float
    told: list[str] = field(default_factory=list)

    def disturb(self, disturbance: Disturbance) -> bool:
        """Do it, and compare what is there; AssertionError with all that was done so far.

        Returns:
            Whether the fault came about. One that does not is tried again, later in the study and with another seed.
        """
        for attempt in range(ATTEMPTS):
            drawn = replace(disturbance, seed=disturbance.seed + attempt)
            if self.is_finished():
                self.cut(drawn.rng())
            self.told.append(f"{drawn.kind} (seed {drawn.seed})")
            try:
                KINDS[drawn.kind](self, drawn)
            except FaultMissedError as missed:
                self.told[-1] += f": missed, {missed}"
                self.go_on(drawn.rng())
            else:
                self.compare()
                return True
            self.compare()
        return False

    def go_on(self, rng: random.Random) -> None:
        """Run for a while in peace, and do as told where the run stops, so that the next fault finds another study."""
        for _ in range(4):
            run = _run_for_a_while(self, rng, Around())
            if run.code == 0 or not self.do_as_told(run.printed):
                break

    def finish(self) -> None:
        """Run to the end as the messages say, and compare everything."""
        said: list[str] = []
        for _ in range(8):
            run = Run(self.study, warm=True)
            printed = run.wait()
            if run.code == 0:
                break
            self.require_sentence(printed)
            done = self.do_as_told(printed)
            assert done, self.report("a run stopped, and nothing that it said was of help", printed)
            said.extend(done)
        else:
            raise AssertionError(self.report("the study does not come to its end", "\n".join(said)))
        self.compare(all_of_it=True)
        left = [path for path in temporary_files(self.study.root / "results") if not path.startswith("store/")]
        assert not left, self.report(f"half-written files are left: {left}", "")

    def do_as_told(self, printed: str) -> list[str]:
        """Unlock, and delete what is said to be damaged; what was done."""
        done = []
        if "--unlock" in printed:
            self.study.run("--unlock")
            done.append("unlocked")
        for sentence in re.findall(r"[^\n]*[Dd]elete [^\n]*", printed):
            for named in re.findall(r"(?:results|\.snakemake)/[^\s:;,'\"`()]+", sentence):
                path = self.study.root / named.rstrip(".")
                if path.is_dir():
                    shutil.rmtree(path)
                    done.append(f"deleted the folder {path.name}")
                elif path.exists():
                    path.unlink()
                    done.append(f"deleted {path.name}")
        return done

    def is_finished(self) -> bool:
        """Whether the page is there, the last file of a study."""
        return (self.study.root / "results/report/index.html").exists()

    def cut(self, rng: random.Random) -> None:
        """Take away all that was made from some stage on, so that there is something to disturb."""
        first = rng.randrange(len(STAGES) - 1)
        for stage in STAGES[first:]:
            shutil.rmtree(self.study.root / "results" / stage, ignore_errors=True)
        (self.study.root / "results/summary.json").unlink(missing_ok=True)
        self.told.append(f"finished early: everything from {STAGES[first]} on is taken away")

    def results(self) -> list[str]:
        """Files under results that count as made: not marked as incomplete by Snakemake, not temporary."""
        root = self.study.root
        marked = set()
        for path in (root / ".snakemake/incomplete").rglob("*"):
            if path.is_file():
                parts = [part.removeprefix("@") for part in path.relative_to(root / ".snakemake/incomplete").parts]
                marked.add(urlsafe_b64decode("".join(parts)).decode())
        found = (path.relative_to(root).as_posix() for path in (root / "results").rglob("*") if path.is_file())
        return sorted(
            path
            for path in found
            if path not in marked and not NOT_COMPARED.match(path) and not Path(path).name.startswith(".")
        )

    def differing(self, paths: list[str]) -> list[str]:
        """Those of them that are not as in the undisturbed study."""
        return [path for path in paths if _bytes(self.study.root / path) != _bytes(self.undisturbed / path)]

    def compare(self, *, all_of_it: bool = False) -> None:
        """Everything that counts as made equals the undisturbed study's."""
        there = self.results()
        wrong = self.differing(there)
        assert not wrong, self.report(f"not as in the undisturbed study: {wrong}", "")
        if all_of_it:
            expected = Chain(Study(self.undisturbed), self.undisturbed, 0).results()
            assert there == expected, self.report(f"missing {set(expected) - set(there)}", "")

    def require_sentence(self, printed: str) -> None:
        """A run that stopped by itself says so in words: no traceback of ours reaches whoever typed the command."""
        assert "Traceback (most recent call last)" not in printed, self.report("a traceback", printed)

    def report(self, what: str, printed: str) -> str:
        """What went wrong, after which faults."""
        told = "\n".join(f"  {n}. {line}" for n, line in enumerate(self.told, 1))
        return f"{what}\nfaults so far, in {self.study.root}:\n{told}\n{printed[-6000:]}"


class Run:
    """A run of Snakemake in the study's folder, watched while it goes on."""

    def __init__(self, study: Study, *arguments: str, around: Around | None = None, warm: bool = False) -> None:
        self.study = study
        self.log = study.root / "run.log"
        with self.log.open("w") as log:
            self.process = start(
                [warm_python() if warm else sys.executable, "-m", "snakemake", "--cores", str(RUN_ON), *arguments],
                around=around,
                cwd=study.root,
                env={"HF_HUB_OFFLINE": "1", **(warm_jobs() if warm else {})},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def code(self) -> int | None:
        return self.process.returncode

    def wait(self, seconds: float = PATIENCE) -> str:
        """To its end, however it ends; what was printed."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(self.process)
            raise AssertionError(f"the run hangs:\n{self.printed[-4000:]}") from None
        return self.printed

    def until(self, jobs: int, delay: float, seconds: float = PATIENCE) -> bool:
        """Until so many jobs have finished and some seconds are over; whether the run is still going on."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and self.printed.count("Finished jobid") < jobs:
            if time.monotonic() > end:
                kill(self.process)
                raise AssertionError(f"the run hangs:\n{self.printed[-4000:]}")
            time.sleep(0.05)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(delay)
        return self.process.poll() is None

    def until_moment(self, chain: Chain, rng: random.Random) -> None:
        """Until a drawn moment; FaultMissedError if the run ends before it comes."""
        if not self.until(*_moment(chain, rng)):
            chain.require_sentence(self.printed)
            raise FaultMissedError("the run had ended")

    def until_job(self) -> list[psutil.Process]:
        """Until a job runs: those that do; FaultMissedError if the run ends before that."""
        while self.process.poll() is None:
            if jobs := self.jobs():
                return sorted(jobs, key=lambda process: process.pid)
            time.sleep(0.02)
        raise FaultMissedError("no job ran any more")

    def jobs(self) -> list[psutil.Process]:
        """Processes of jobs that run now."""
        with suppress(psutil.Error):
            return [each for each in psutil.Process(self.process.pid).children(recursive=True) if _runs_script(each)]
        return []


def _runs_script(process: psutil.Process) -> bool:
    try:
        return any(".snakemake/scripts/" in argument for argument in process.cmdline())
    except psutil.Error:
        return False


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _moment(chain: Chain, rng: random.Random) -> tuple[int, float]:
    """After so many more jobs, and so many seconds: the seconds reach into the next jobs' work and their writing."""
    return rng.randrange(1, max(2, round(2 * chain.jobs_between))), rng.uniform(0, 4)


def _kill_job(chain: Chain, disturbance: Disturbance) -> None:
    """One running job dies, as when a node's memory is used up."""
    rng = disturbance.rng()
    run = Run(chain.study)
    run.until_moment(chain, rng)
    victim = rng.choice(run.until_job())
    script = _script_of(victim)
    with suppress(psutil.Error):
        victim.kill()
    chain.told[-1] += f": killed {script}"
    printed = run.wait()
    if run.code == 0:
        raise FaultMissedError(f"{script} was just ending")
    assert "Error in rule" in printed, chain.report("stopped for another reason", printed)


def _script_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.cmdline()[-1].rpartition("/")[2]
    return "a job that was just ending"


def _kill_run(chain: Chain, disturbance: Disturbance) -> None:
    """Snakemake dies, its jobs live on, if they are its own; whoever sits there unlocks at once and starts again."""
    run = Run(chain.study, around=Around(environment={WARM: "no"}))
    run.until_moment(chain, disturbance.rng())
    jobs = run.until_job()
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    living = [_script_of(job) for job in jobs if job.is_running()]
    chain.study.run("--unlock")
    if not living:
        raise FaultMissedError("all jobs were just ending")
    chain.told[-1] += f": {' and '.join(living)} lived on"
    _run_for_a_while(chain, disturbance.rng(), Around())


def _cut_power(chain: Chain, disturbance: Disturbance) -> None:
    """Snakemake and all its jobs die at one moment."""
    run = Run(chain.study)
    run.until_moment(chain, disturbance.rng())
    kill(run.process)
    run.process.wait()
    chain.study.run("--unlock")


def _interrupt(chain: Chain, disturbance: Disturbance) -> None:
    """Somebody types Ctrl-C."""
    run = Run(chain.study)
    run.until_moment(chain, disturbance.rng())
    with suppress(ProcessLookupError):
        os.killpg(run.process.pid, signal.SIGINT)
    run.wait()


def _terminate(chain: Chain, disturbance: Disturbance) -> None:
    """A queue system asks Snakemake to end, and ends it and its jobs after half a minute, as Slurm does.

    Snakemake 9.27.1 waits for itself for ever if the signal comes while it notes the end of a job.
    """
    run = Run(chain.study)
    run.until_moment(chain, disturbance.rng())
    with suppress(ProcessLookupError):
        os.kill(run.process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        run.process.wait(30)
    kill(run.process)
    run.process.wait()
    _unlock_if_locked(chain)


def _around(kind: str, choose: Callable[[Chain, random.Random], str], **sizes: int) -> Callable[..., None]:
    """A run in surroundings that are worse than they should be, ended by itself or after a while."""

    def disturb(chain: Chain, disturbance: Disturbance) -> None:
        rng = disturbance.rng()
        surroundings = Surroundings(kind, disturbance.seed, choose(chain, rng), **sizes)
        with surroundings.around(chain.study.root) as around:
            chain.told[-1] += f": {around.said}"
            if sizes:
                _run_until_it_is_full(chain, around)
            else:
                _run_for_a_while(chain, rng, around)

    return disturb


def _run_until_it_is_full(chain: Chain, around: Around) -> None:
    """A run that has too little room, to where that shows."""
    run = Run(chain.study, around=around)
    printed = run.wait()
    _unlock_if_locked(chain)
    if run.code == 0:
        raise FaultMissedError("there was room enough")
    chain.require_sentence(printed)


def _run_for_a_while(chain: Chain, rng: random.Random, around: Around) -> Run:
    run = Run(chain.study, around=around)
    run.until(*_moment(chain, rng))
    _end(chain, run)
    return run


def _found(chain: Chain, find: Callable[[], list[str]]) -> list[str]:
    """Return files that `find` finds, after as much of a run as it takes; FaultMissedError if all of it makes none."""
    for _ in range(ATTEMPTS):
        if found := find():
            return found
        run = Run(chain.study)
        while run.process.poll() is None and not find():
            time.sleep(0.2)
        stopped = run.process.poll() is not None
        _end(chain, run)
        if stopped and (run.code == 0 or not chain.do_as_told(run.printed)):
            break
    if found := find():
        return found
    raise FaultMissedError("a whole run makes nothing of that")


def _end(chain: Chain, run: Run) -> None:
    """Interrupt a run that is still going on; one that stopped by itself has said why."""
    if run.process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(run.process.pid, signal.SIGINT)
        run.wait()
    elif run.code != 0:
        chain.require_sentence(run.printed)
    _unlock_if_locked(chain)


def _unlock_if_locked(chain: Chain) -> None:
    if any((chain.study.root / ".snakemake/locks").glob("*")):
        chain.study.run("--unlock")


def _fill_disk(chain: Chain, disturbance: Disturbance) -> None:
    """The file system that holds the results has little room left."""
    rng = disturbance.rng()
    results, aside = chain.study.root / "results", chain.study.root / "results.aside"
    results.mkdir(exist_ok=True)
    needed = sum(path.stat().st_size + 4096 for path in results.rglob("*"))
    room = rng.randrange(1 << 14, 1 << 21)
    results.rename(aside)
    try:
        with small_disk(results, needed + room):
            subprocess.run(["cp", "-a", f"{aside}/.", str(results)], check=True)
            chain.told[-1] += f": {room} bytes of room"
            try:
                _run_until_it_is_full(chain, Around())
            finally:
                shutil.rmtree(aside)
                subprocess.run(["cp", "-a", f"{results}/.", str(aside)], check=True)
    finally:
        results.rmdir()
        aside.rename(results)


def _take_permission(kind: str) -> Callable[[Chain, Disturbance], None]:
    """A file may not be read, or a folder not be written to, by a user who is not root."""

    def disturb(chain: Chain, disturbance: Disturbance) -> None:
        rng = disturbance.rng()
        fault = FileFault(kind, disturbance.seed, rng.choice(_found(chain, chain.results)))
        chain.told[-1] += f": {fault.apply(chain.study.root)}"
        with Surroundings("ordinary user", disturbance.seed, "").around(chain.study.root) as around:
            try:
                _run_for_a_while(chain, rng, around)
            finally:
                fault.undo(chain.study.root)
        _unlock_if_locked(chain)

    return disturb


KINDS: dict[str, Callable[[Chain, Disturbance], None]] = {
    "job killed": _kill_job,
    "run killed, jobs live on": _kill_run,
    "power cut": _cut_power,
    "interrupted": _interrupt,
    "terminated": _terminate,
    "no file may grow": _around("small files", lambda _chain, _rng: "", at_least=200_000, at_most=2_000_000),
    "disk full": _fill_disk,
    "no network": _around("no network", lambda _chain, _rng: ""),
    "file unreadable": _take_permission("unreadable"),
    "folder read-only": _take_permission("read-only folder"),
}
# Those without which a chain would not be one of kills alone; drawn as often as they stand here.
_OFTEN = ("job killed", "power cut", "run killed, jobs live on")

_NEEDS = {
    "disk full": "small disk",
    "file unreadable": "ordinary user",
    "folder read-only": "ordinary user",
}


def why_skipped(kind: str) -> str | None:
    """Why a kind of disturbance cannot be done on this machine; None if it can."""
    return why_not(_NEEDS[kind]) if kind in _NEEDS else None


def draw(seed: int, number: int) -> Iterator[Disturbance]:
    """So many disturbances; those that this machine cannot do are drawn as well, and are for the caller to count."""
    rng = random.Random(f"faults {seed}")
    bag: list[str] = []
    for _ in range(number):
        if not bag:
            bag = [*KINDS, *_OFTEN]
            rng.shuffle(bag)
        yield Disturbance(bag.pop(), rng.randrange(1 << 30))


@contextmanager
def orphans_ended(study: Study) -> Iterator[None]:
    """After the block no process of the study is left."""
    with ExitStack() as stack:
        stack.callback(_end_orphans, study.root)
        yield


def _end_orphans(root: Path) -> None:
    for process in psutil.process_iter(["cwd"]):
        with suppress(psutil.Error):
            if process.info["cwd"] and Path(process.info["cwd"]) == root and process.pid != os.getpid():
                process.kill()
                process.wait(10)
