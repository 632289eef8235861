"""A Slurm of one node on the loopback interface: controller, node daemon and munge, all in one folder.

    python tests/support/slurm_node.py start /tmp/node      # prints nothing if all runs already
    python tests/support/slurm_node.py stop /tmp/node       # cancels jobs, stops the daemons, removes the folder

It needs root and Debian's slurmctld, slurmd, slurm-client and munge (tests/apt.txt). The node claims more cores than
there may be, so that jobs run side by side, and a card that is none: a character device that Slurm counts and hands
out. There is no accounting and there are no cgroups: memory is sampled each second, and a step that has too much is
killed.

Clients look for their settings in /etc/slurm/slurm.conf, which is a link to ours while the node runs; where a file of
that name is there already, or a link of somebody else's, nothing is started.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
SETTINGS = Path("/etc/slurm/slurm.conf")
NULL_DEVICE = os.makedev(1, 3)

# One daemon after the other may start; in the other order they are stopped.
DAEMONS = ("munged", "slurmctld", "slurmd")


class NoNodeError(Exception):
    """Why no node can be started on this machine, or has not come up."""


def why_not() -> str:
    """Why no node can be started here, as a sentence for a skipped test; empty if one can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "the daemons of Slurm run as root here"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (apt-get install slurmctld slurmd slurm-client munge)"
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError as error:
        return f"the host's name has no address: {error}"
    if not address.startswith("127."):
        return f"the host's name stands for {address}, and this Slurm is to be heard by nobody else"
    if os.path.lexists(SETTINGS) and not is_ours(SETTINGS):
        return f"{SETTINGS} belongs to another Slurm; it is not touched"
    return ""


def is_ours(path: Path) -> bool:
    """Whether a settings file is the link of a node of these tests, running or left behind."""
    return path.is_symlink() and (path.parent / path.readlink()).name == "node.conf"


@dataclass(frozen=True)
class SlurmNode:
    """A node in a folder; what it claims to have does not have to be there."""

    folder: Path
    cpus: int = 4
    memory_mb: int = 8192
    cards: int = 1

    # --- what it is asked ------------------------------------------------------------------------------------------

    def ask(self, *command: str) -> str:
        """What a program of Slurm prints; its error as an exception."""
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise NoNodeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def jobs(self, *, folder: Path | None = None) -> list[str]:
        """Numbers of the jobs that wait or run, of one working directory or of all."""
        lines = [line.split("|") for line in self.ask("squeue", "--noheader", "--format=%i|%Z").splitlines()]
        return [number for number, directory in lines if folder is None or Path(directory) == folder]

    def state(self, number: str) -> str:
        """The state of a job, as squeue calls it; empty if Slurm has forgotten it."""
        asked = ("squeue", "--noheader", "--states=all", f"--jobs={number}", "--format=%T")
        return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60).stdout.strip()

    def asked_for(self, number: str) -> dict[str, str]:
        """What Slurm knows of a job, by its own names: JobState, NumCPUs, MinMemoryNode, TresPerJob, WorkDir, ..."""
        printed = self.ask("scontrol", "--details", "show", "job", number)
        return dict(part.split("=", 1) for part in printed.split() if "=" in part)

    def processes(self, number: str) -> dict[int, dict[str, str]]:
        """The environment of each process that a job runs here, by its pid; Slurm's own is left out."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                text = (process / "environ").read_text(encoding="utf-8", errors="replace")
                name = (process / "comm").read_text(encoding="utf-8").strip()
            except OSError:
                continue
            environment = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
            if environment.get("SLURM_JOB_ID") == number and name != "slurmstepd":
                found[int(process.name)] = environment
        return found

    def hold(self, number: str) -> None:
        """Stop the processes of a running job, so that it has not ended before a slow machine comes to cancel it."""
        for process in self.processes(number):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)

    def cancel(self, numbers: list[str]) -> None:
        """Cancel jobs, and wait until they have left the queue."""
        if numbers:
            subprocess.run(("scancel", "--quiet", *numbers), capture_output=True, check=False, timeout=60)
            self._try(lambda: not set(numbers) & set(self.jobs()), seconds=30)

    # --- starting and stopping -------------------------------------------------------------------------------------

    def start(self) -> SlurmNode:
        """Start what does not run yet, and wait until the node takes jobs.

        Raises:
            NoNodeError: it cannot run here, another Slurm is set up, or a daemon does not come up.
        """
        if reason := why_not():
            raise NoNodeError(reason)
        other = SETTINGS.readlink().parent if SETTINGS.is_symlink() else self.folder
        if other != self.folder and SlurmNode(other).is_running("slurmctld"):
            raise NoNodeError(f"another node of these tests runs, in {other}")
        self._write_settings()
        if not self.is_running("munged"):
            self._launch(
                "munged",
                f"--socket={self._munge_socket}",
                f"--key-file={self.folder / 'munge.key'}",
                f"--pid-file={self._pid_file('munged')}",
                f"--log-file={self.folder / 'munged.log'}",
                f"--seed-file={self.folder / 'munged.seed'}",
                "--num-threads=2",
                # folders of tests are closed to other users, which munged takes for a mistake
                "--force",
            )
        self._wait(lambda: self._munge_socket.is_socket(), "munged.log")
        self.start_controller()
        if not self.is_running("slurmd"):
            self._launch("slurmd", "-f", str(self._settings))
        self.resume()
        return self

    def start_controller(self) -> None:
        """Start the controller if it does not run, and wait until it answers."""
        if not self.is_running("slurmctld"):
            self._launch("slurmctld", "-f", str(self._settings))
        self._wait(self._answers, "slurmctld.log")

    def stop_controller(self, *, hard: bool = False) -> None:
        """Stop the controller alone; jobs run on. `hard` is a power cut."""
        self._stop("slurmctld", signal.SIGKILL if hard else signal.SIGTERM)

    def drain(self) -> None:
        """Take the node out of service: what runs goes on, nothing starts."""
        self.ask("scontrol", "update", f"NodeName={self._host}", "State=DRAIN", "Reason=test")

    def resume(self) -> None:
        """Put the node into service, and wait until it takes jobs."""

        def takes_jobs() -> bool:
            state = subprocess.run(
                ("sinfo", "--noheader", "--Node", "--format=%T"), capture_output=True, text=True, check=False
            ).stdout.strip()
            if state.startswith(("drain", "down")):
                subprocess.run(
                    ("scontrol", "update", f"NodeName={self._host}", "State=RESUME"), capture_output=True, check=False
                )
            return state in {"idle", "mixed", "allocated", "completing"}

        self._wait(takes_jobs, "slurmd.log")

    def stop(self) -> None:
        """Cancel all jobs, stop the daemons by their pid, take the link away and remove the folder."""
        if self.is_running("slurmctld") and self._answers():
            # those that wait go first, or they would start in the place of those that run
            for states in ("PENDING", "RUNNING,SUSPENDED"):
                subprocess.run(("scancel", "--quiet", f"--state={states}"), capture_output=True, check=False)
            self._try(lambda: not self.jobs(), seconds=15)
        self._stop("slurmd", signal.SIGTERM)
        for pid in self._left_steps():
            os.kill(pid, signal.SIGKILL)
        self._stop("slurmctld", signal.SIGTERM)
        self._stop("munged", signal.SIGTERM)
        if SETTINGS.is_symlink() and SETTINGS.readlink() == self._settings:
            SETTINGS.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def is_running(self, daemon: str) -> bool:
        """Whether the daemon that this folder's pid file names is alive; a pid may have gone to another program."""
        return self._pid(daemon) is not None

    # --- inside ----------------------------------------------------------------------------------------------------

    @property
    def _host(self) -> str:
        return socket.gethostname().split(".")[0]

    @property
    def _settings(self) -> Path:
        return self.folder / "node.conf"

    @property
    def _munge_socket(self) -> Path:
        return self.folder / "munge.socket"

    def _pid_file(self, daemon: str) -> Path:
        return self.folder / f"{daemon}.pid"

    def _pid(self, daemon: str) -> int | None:
        try:
            pid = int(self._pid_file(daemon).read_text(encoding="ascii"))
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (OSError, ValueError):
            return None
        return pid if name == daemon and state != "Z" else None

    def _answers(self) -> bool:
        return subprocess.run(("scontrol", "ping"), capture_output=True, check=False).returncode == 0

    def _launch(self, program: str, *arguments: str) -> None:
        done = subprocess.run((program, *arguments), capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise NoNodeError(f"{program} did not start: {done.stderr.strip() or done.stdout.strip()}")

    def _try(self, holds: Callable[[], bool], seconds: float = 30) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return True
            time.sleep(0.1)
        return holds()

    def _wait(self, holds: Callable[[], bool], log: str) -> None:
        if not self._try(holds):
            path = self.folder / log
            last = path.read_text(encoding="utf-8", errors="replace")[-2000:] if path.exists() else "no log"
            raise NoNodeError(f"the node does not come up; {log} ends with\n{last}")

    def _stop(self, daemon: str, how: signal.Signals) -> None:
        pid = self._pid(daemon)
        if pid is None:
            return
        os.kill(pid, how)
        if not self._try(lambda: self._pid(daemon) is None, seconds=15):
            os.kill(pid, signal.SIGKILL)
            self._try(lambda: self._pid(daemon) is None, seconds=5)

    def _left_steps(self) -> list[int]:
        """Processes of jobs that have outlived their daemon: those that have a file of this folder open."""
        left = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text(encoding="utf-8").strip() != "slurmstepd":
                    continue
                files = [str(file.readlink()) for file in (process / "fd").iterdir()]
            except OSError:
                continue
            if any(file.startswith(f"{self.folder}/") for file in files):
                left.append(int(process.name))
        return left

    def _write_settings(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        key = self.folder / "munge.key"
        if not key.exists():
            key.touch(mode=0o600)
            key.write_bytes(os.urandom(128))
        for number in range(self.cards):
            device = self.folder / f"card{number}"
            if not device.exists():
                os.mknod(device, 0o666 | stat.S_IFCHR, NULL_DEVICE)
        devices = f"card[0-{self.cards - 1}]" if self.cards > 1 else "card0"
        # slurmd looks for gres.conf beside the settings it is given
        (self.folder / "gres.conf").write_text(
            f"AutoDetect=off\nNodeName={self._host} Name=gpu File={self.folder / devices}\n" if self.cards else "",
            encoding="utf-8",
        )
        self._settings.write_text(self._as_text(), encoding="utf-8")
        SETTINGS.parent.mkdir(exist_ok=True)
        if os.path.lexists(SETTINGS):
            SETTINGS.unlink()
        SETTINGS.symlink_to(self._settings)

    def _as_text(self) -> str:
        text = Path(__file__).with_suffix(".conf").read_text(encoding="utf-8")
        cards = f" Gres=gpu:{self.cards}" if self.cards else ""
        return text.format(host=self._host, folder=self.folder, cpus=self.cpus, memory_mb=self.memory_mb, cards=cards)


def main(arguments: list[str]) -> int:
    """Start or stop a node in a folder, from the command line."""
    if len(arguments) != 2 or arguments[0] not in {"start", "stop"}:
        print(__doc__, file=sys.stderr)
        return 2
    node = SlurmNode(Path(arguments[1]).resolve())
    try:
        node.start() if arguments[0] == "start" else node.stop()
    except NoNodeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
