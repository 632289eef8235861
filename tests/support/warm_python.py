"""Python with Snakemake, torch and the other libraries imported already: what starts from it starts in a moment.

A study in the tests is some fifty processes, each of which would import for seconds what it needs for less than one.
So a server imports it all once, when it is first asked, and forks for every process, as multiprocessing's forkserver
does. It runs nothing else, and no line of our own package. What a process sees is its own: arguments, folder,
environment, the package's source by PYTHONPATH, standard streams, exit status.

    subprocess.run([warm_python(), "-m", "snakemake", "--cores", "2"])

Processes started there have the same command as their `sys.executable`, so Snakemake's jobs start warm as well. Three
things are not as in a fresh Python. Modules that a job does not ask for are imported already: a test that no job
imports torch asks for `warm_python(torch=False)`. A job is no child of the process that asked for it, though it is
killed with it: what Snakemake measures of its jobs is not to be tested here. And a process that comes to its end runs
what `atexit` knows and leaves without taking every module apart, which would take longer than most jobs.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

_TORCH = (
    *("torch", "transformers.modeling_utils", "transformers.models.bert.modeling_bert"),
    *("transformers.models.auto.tokenization_auto", "tokenizers.trainers", "sentencepiece"),
)
_LIBRARIES = (
    *("polars", "pyarrow.parquet", "pyarrow.csv", "pandas", "scipy.stats", "numba", "jinja2", "jsonschema", "psutil"),
    *("matplotlib.backends.backend_svg", "ftfy", "regex", "xxhash", "zstandard", "tqdm"),
    *("snakemake.cli", "snakemake.report", "nbformat", "docutils.core", "requests", "yte", "smart_open"),
)
_LENGTH = struct.Struct("<I")
_SHARED = {True: "WARM_PYTHON", False: "WARM_PYTHON_WITHOUT_TORCH"}

# The command: hands its arguments, folder, environment and streams to the server, and ends as the process there does.
_COMMAND = """#!{python} -IS
import json, os, signal, socket, struct, sys
if len(sys.argv) < 2 or (sys.argv[1].startswith("-") and sys.argv[1] != "-m"):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [struct.pack("<I", len(asked))], [0, 1, 2])
server.sendall(asked)
pid = struct.unpack("<I", server.recv(4, socket.MSG_WAITALL))[0]
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, lambda number, _: os.kill(pid, number))
answer = server.recv(4, socket.MSG_WAITALL)
if not answer:
    sys.exit("the warm Python has died")
status = struct.unpack("<i", answer)[0]
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def share_warm_python() -> None:
    """Have the processes that this one starts, as pytest-xdist does, use its servers together."""
    os.environ |= {_SHARED[torch]: warm_python(torch=torch) for torch in (True, False)}


@functools.cache
def warm_python(*, torch: bool = True, started_in: tuple[tuple[str, str], ...] = ()) -> str:
    """Return what to run in place of `sys.executable`; the server behind it starts at the first call and ends with us.

    Where the system cannot wait for a process as for a stream (it is not Linux), a fresh Python it is.

    Args:
        torch: whether torch and what goes with it are imported already; a test that does without them says no.
        started_in: what the environment has besides, of which a Python reads some at its start or while it imports.
    """
    if not hasattr(os, "pidfd_open"):
        return sys.executable
    if not started_in and _SHARED[torch] in os.environ:
        return os.environ[_SHARED[torch]]
    folder = Path(tempfile.mkdtemp(prefix="warm-python-"))
    address, command = folder / "socket", folder / "python"
    command.write_text(_COMMAND.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)
    read_once = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    read_once["HF_HUB_OFFLINE"] = "1"
    read_once["NUMBA_CACHE_LOCATOR_CLASSES"] = "compiled_once.CompiledOnce"
    server = subprocess.Popen(
        [sys.executable, __file__, address, command, *_LIBRARIES, *(_TORCH if torch else ())],
        env={**os.environ, **read_once, **dict(started_in)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n", "the warm Python did not start"
    atexit.register(_end, server, folder)
    return str(command)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.communicate()  # closes its standard input
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Serve until whoever started the server is gone; a forked process leaves the loop with what it is to run."""
    address, command, *modules = sys.argv[1:]
    arguments = _serve(address, modules)
    if arguments is None:
        return
    sys.executable = command
    status: object = None
    try:
        _run(arguments)
    except SystemExit as error:
        status = error.code
    _leave(status)


def _leave(status: object) -> None:
    """End as `sys.exit(status)` does, but leave the memory to the system. Does not return."""
    number = status or 0
    if not isinstance(number, int):
        print(status, file=sys.stderr)
        number = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does at its end
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    os._exit(number & 0xFF)


def _serve(address: str, modules: list[str]) -> list[str] | None:
    """Fork for every process that is asked for; in the fork, its arguments. None at the end."""
    imported = False
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:
                return None
            if not imported:
                _import(modules)
                imported = True
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits here for what is forked
            asking, _ = listening.accept()
            with asking:
                if not os.fork():
                    listening.close()
                    return _attend(asking)


def _import(modules: list[str]) -> None:
    """Import them, and what numba imports when a compiled function is first called."""
    for name in ("compiled_once", *modules):
        importlib.import_module(name)
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    gc.freeze()  # what was imported is never garbage; otherwise each process would go through all of it


def _attend(asking: socket.socket) -> list[str]:
    """Take the order, fork once more, and stay between the two until one of them ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(asking, _LENGTH.size, 3)
    arguments, folder, environment = json.loads(asking.recv(*_LENGTH.unpack(length), socket.MSG_WAITALL))
    process = os.fork()
    if process:
        for stream in streams:
            os.close(stream)
        _stay(asking, process)
    asking.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


def _stay(asking: socket.socket, process: int) -> None:
    """Tell the status of the process when it ends; if whoever asked is gone, kill it. Does not return."""
    with suppress(OSError):  # gone already
        asking.sendall(_LENGTH.pack(process))
    ended = os.pidfd_open(process)
    ready, _, _ = select.select([ended, asking], [], [])
    if ended not in ready:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    with suppress(OSError):
        asking.sendall(struct.pack("<i", os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _run(arguments: list[str]) -> None:
    """What `python *arguments` would do."""
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, buffering, encoding="utf-8", closefd=False)  # noqa: SIM115  (for the rest of the process)
        for number, mode, buffering in ((0, "r", -1), (1, "w", -1), (2, "w", 1))
    )
    path = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if arguments[0] == "-m":
        sys.path[0:1] = [str(Path.cwd()), *path]
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0:1] = [str(Path(arguments[0]).resolve().parent), *path]
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
