"""Kinds of fault, drawn from a seed: what a test does to files, to a process, and to what surrounds it.

Three kinds of thing can go wrong, and each is a frozen dataclass with `kind`, `seed` and `target`. Equal values do the
same. Applying one returns a line that says what was done; a test prints it when it fails, so that it can be done again.

    FileFault("flipped", 3, "results/lexicon/forms.parquet").apply(study.root)      # a file that lies there
    Kill("at size", 5, "results/store/**/.*.tmp").apply(process, study.root)        # a process that runs
    with Surroundings("small disk", 7, "results").around(study.root) as around:     # what a process finds
        process = start([sys.executable, ...], around=around, cwd=study.root)

Files keep their times: a disk that loses a byte and a machine that falls down do not say when. Processes are started by
`start` in a session of their own, and die with all their children. `why_not(kind)` says why a kind of fault cannot be
done on this machine.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

FILE_KINDS = ("truncated", "flipped", "emptied", "deleted", "folder", "unreadable", "read-only folder")
KILL_KINDS = ("at time", "at file", "at size")
SURROUNDINGS = ("small files", "small disk", "ordinary user", "no network", "full log")

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_CAPBSET_DROP = 24
_LAST_CAPABILITY = 40
_CAPABILITY_VERSION_3 = 0x20080522
_CLONE_NEWNET = 0x40000000
_NOBODY_LISTENS = "http://127.0.0.1:9"


class FaultMissedError(AssertionError):
    """What the fault waited for did not come: the process ended by itself, or the time was up."""


@dataclass(frozen=True)
class _Seeded:
    kind: str
    seed: int
    target: str

    def _rng(self) -> random.Random:
        return random.Random(f"{self.seed} {self.kind} {self.target}")


@dataclass(frozen=True)
class FileFault(_Seeded):
    """Something happens to a file that lies there.

    Attributes:
        kind: `truncated` to a drawn length, `flipped` (one byte is another), `emptied`, `deleted`, `folder` (one is
            where the file should be), `unreadable` (mode 000), `read-only folder` (its folder cannot be written to).
        seed: of length, place and byte.
        target: the file, relative to the folder of `apply`.
    """

    def apply(self, folder: Path) -> str:
        """Do it; a line that says what was done. `restore_modes` gives permissions back."""
        path = folder / self.target
        rng = self._rng()
        did = self.kind
        if self.kind in ("truncated", "flipped", "emptied"):
            before, data = path.stat(), path.read_bytes()
            if self.kind == "flipped":
                place, change = rng.randrange(len(data)), rng.randrange(1, 256)
                was = data[place]
                data = data[:place] + bytes([was ^ change]) + data[place + 1 :]
                did = f"byte {place} of {len(data)} is {was ^ change}, not {was}"
            else:
                length = rng.randrange(1, len(data)) if self.kind == "truncated" else 0
                did = f"cut to {length} of {len(data)} bytes"
                data = data[:length]
            path.write_bytes(data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif self.kind == "deleted":
            path.unlink()
        elif self.kind == "folder":
            path.unlink(missing_ok=True)
            path.mkdir(parents=True)
        elif self.kind == "unreadable":
            path.chmod(0o000)
        elif self.kind == "read-only folder":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.parent.chmod(0o500)
        else:
            raise ValueError(f"no kind of fault {self.kind!r}; {', '.join(FILE_KINDS)}")
        return f"{self.target}: {did} ({self!r})"

    def undo(self, folder: Path) -> None:
        """Give permissions back and take the folder away; data that were lost stay lost."""
        path = folder / self.target
        if self.kind == "unreadable" and path.exists():
            path.chmod(0o644)
        elif self.kind == "read-only folder" and path.parent.exists():  # Snakemake removes folders that are empty
            path.parent.chmod(0o755)
        elif self.kind == "folder" and path.is_dir():
            path.rmdir()


@dataclass(frozen=True)
class Kill(_Seeded):
    """A process and all its children are killed by SIGKILL.

    Attributes:
        kind: `at time` (a drawn moment in the first `target` seconds), `at file` (as soon as a file fits the pattern
            `target`), `at size` (as soon as such a file has a drawn number of bytes, up to `at_most`).
        seed: of moment and size.
        target: seconds, or a pattern of `Path.glob`, relative to the folder of `apply`.
        at_most: for `at size`.
    """

    at_most: int = 4096

    def apply(self, process: subprocess.Popen[Any], folder: Path, *, patience: float = 120.0) -> str:
        """Wait for the moment and kill the process's session; a line that says when.

        Raises:
            FaultMissedError: the process ended before; a test may draw again or count it as undisturbed.
        """
        rng = self._rng()
        start = time.monotonic()
        if self.kind == "at time":
            moment = rng.uniform(0, float(self.target))
            while time.monotonic() - start < moment and process.poll() is None:
                time.sleep(0.002)
            did = f"killed after {moment:.3f} s"
        else:
            size = rng.randrange(1, self.at_most) if self.kind == "at size" else 0
            did = self._wait_for_file(process, folder, size, start + patience)
        if process.poll() is not None:
            raise FaultMissedError(f"the process ended by itself with {process.returncode} before {self!r}")
        kill(process)
        return f"{did} ({self!r})"

    def _wait_for_file(self, process: subprocess.Popen[Any], folder: Path, size: int, deadline: float) -> str:
        while process.poll() is None:
            for path in folder.glob(self.target):
                with suppress(OSError):
                    if path.stat().st_size >= size:
                        return f"killed when {path.relative_to(folder)} had {size} bytes"
            if time.monotonic() > deadline:
                kill(process)
                raise FaultMissedError(f"no file fitted in time: {self!r}")
            time.sleep(0.001)
        return "not killed"


@dataclass(frozen=True)
class Around:
    """What `start` gives to a process: variables (None: taken away), and what it does before it becomes the program."""

    environment: Mapping[str, str | None] = field(default_factory=dict)
    before: tuple[Callable[[], None], ...] = ()
    said: str = ""

    def __and__(self, other: Around) -> Around:
        said = "; ".join(filter(None, [self.said, other.said]))
        return Around({**self.environment, **other.environment}, (*self.before, *other.before), said)


@dataclass(frozen=True)
class Surroundings(_Seeded):
    """What a process finds is worse than it should be.

    Attributes:
        kind: `small files` (no file may grow beyond a drawn size, EFBIG: for a program the same as a full disk),
            `small disk` (a file system of a drawn size at the folder `target`, ENOSPC), `ordinary user` (without the
            rights of root: modes of files count), `no network` (not even the loopback interface where that can be had),
            `full log` (the file `target` is /dev/full).
        seed: of the size.
        target: the folder or the file, relative to the folder of `around`; for `small files`, nothing.
        at_least: smallest size, in bytes.
        at_most: largest size, in bytes.
    """

    at_least: int = 512
    at_most: int = 1 << 16

    @contextmanager
    def around(self, folder: Path) -> Iterator[Around]:
        """What to start the process with, while the block lasts.

        A small disk lies empty over the folder; after the block the folder shows again what it held before.
        """
        size = self._rng().randrange(self.at_least, self.at_most + 1)
        if self.kind == "small files":
            yield Around(before=(partial(_limit_files, size),), said=f"no file above {size} bytes ({self!r})")
        elif self.kind == "small disk":
            with small_disk(folder / self.target, size):
                yield Around(said=f"{self.target} has {size} bytes of room, in pages ({self!r})")
        elif self.kind == "ordinary user":
            yield Around(before=(_without_rights,), said=f"an ordinary user ({self!r})")
        elif self.kind == "no network":
            yield Around(
                {
                    "HF_HUB_OFFLINE": None,
                    "TRANSFORMERS_OFFLINE": None,
                    "HF_ENDPOINT": _NOBODY_LISTENS,
                    **{f"{name}_PROXY": _NOBODY_LISTENS for name in ("HTTP", "HTTPS", "ALL")},
                    **{f"{name}_proxy": _NOBODY_LISTENS for name in ("http", "https", "all")},
                    "NO_PROXY": None,
                    "no_proxy": None,
                },
                (_without_network,) if _can(_without_network) else (),
                f"no network ({self!r})",
            )
        elif self.kind == "full log":
            path = folder / self.target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to("/dev/full")
            try:
                yield Around(said=f"{self.target} is /dev/full ({self!r})")
            finally:
                path.unlink(missing_ok=True)
        else:
            raise ValueError(f"no kind of surroundings {self.kind!r}; {', '.join(SURROUNDINGS)}")


def start(
    command: Sequence[str], *, around: Around | None = None, cwd: Path | None = None, **keywords: Any
) -> subprocess.Popen[str]:
    """Start a process in a session of its own, in what surrounds it; its output is text, kept unless told otherwise."""
    around = around or Around()
    environment = {**os.environ, **(keywords.pop("env", None) or {})}
    for name, value in around.environment.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value

    def before() -> None:
        for each in around.before:
            each()

    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        start_new_session=True,
        preexec_fn=before if around.before else None,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **keywords},
    )


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process that `start` started, and its children; waits until it is gone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def temporary_files(folder: Path) -> list[str]:
    """What writers have left half-written under a folder, relative to it."""
    endings = (".tmp", ".staged", ".new", ".old", ".part")
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob(".*")
        if path.name.endswith(endings) and ".snakemake" not in path.parts
    )


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """A file system in memory at `folder` with room for `size` bytes, in whole pages; needs the rights of root."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", str(folder)], check=True, capture_output=True
    )
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def why_not(kind: str) -> str | None:
    """Why a kind of fault cannot be done on this machine; None if it can."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if kind == "small disk" and not _can_mount():
        return "no right to mount a file system"
    if kind in ("ordinary user", "unreadable", "read-only folder") and not _can(_without_rights):
        return "root cannot give up its rights here"
    if kind == "full log" and not Path("/dev/full").exists():
        return "no /dev/full"
    return None


@cache
def _can(step: Callable[[], None]) -> bool:
    """Whether a process may do a step before it becomes a program."""
    try:
        return subprocess.run(["true"], preexec_fn=step, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


@cache
def _can_mount() -> bool:
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"mount.{socket.gethostname()}.{os.getpid()}"
    try:
        with small_disk(folder, 4096):
            pass
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        with suppress(OSError):
            folder.rmdir()
    return True


def _limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _without_rights() -> None:
    """Give up what sets root apart: it is still the owner of the tree, but modes of files count for it."""
    if os.geteuid() != 0:
        return
    for capability in range(_LAST_CAPABILITY + 1):
        if _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) and capability <= 2:
            raise PermissionError("may not give up the rights of root")
    # what is dropped from the bounding set is gone with the next program, what is set here at once
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if _LIBC.capset(header, none):
        raise PermissionError("may not give up the rights of root")


def _without_network() -> None:
    """A network namespace in which there is no interface that is up."""
    if _LIBC.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "may not leave the network")
