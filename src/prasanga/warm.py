"""A Python that has imported the libraries already: a job that starts from it starts in a moment.

A study is some dozens of jobs, each of which would import for seconds what it needs for less than one. So a server
imports it all once and forks for every job, as multiprocessing's forkserver does. It runs nothing else, and no line of
this package, so an edit is in effect with the next job. What a job sees is its own: arguments, folder, umask,
environment, standard streams, exit status. Jobs that run a model are forked from a second server, which the first one
forks when they begin to come: no other job has torch in its memory.

    sys.executable = warm_python()  # in the Snakefile; from here on `script:` starts with it

What stands there is a command that hands its order to the server, and ends as the job does. Killed by a signal, it
takes the job with it, and the server takes all jobs with it and ends with the process that started it, however that
ends. Where a server is gone or refuses, the command is a Python of its own, as it is for a script with several threads
but no model: libraries read their number when they are imported. PRASANGA_WARM=no in the environment has all jobs start
so, and the name of such a command has them share its server.

A job is no child of whoever asked for it: of what Snakemake measures (`benchmark:`) the time alone is the job's.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import resource
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
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

WARM = "PRASANGA_WARM"
WITH_MODELS = (
    *("fetch_model", "check_model", "embed_segments", "embed_templates", "compare_precision"),
    *("score_pairs", "score_pair_bucket", "score_log_probability", "score_structures", "score_sentence_bucket"),
)
"""Scripts that import torch."""

_LIBRARIES = (
    *("pyarrow.parquet", "pyarrow.csv", "pyarrow.dataset", "scipy.stats", "numba", "jinja2", "jsonschema", "tqdm"),
    *("matplotlib.figure", "matplotlib.backends.backend_svg", "ftfy", "regex", "xxhash", "zstandard"),
    "snakemake.script",
)
# not polars, which starts a thread: a fork has none of its parent's, and waits for ever for what one of them holds
_MODELS = (
    *("torch", "transformers.modeling_utils", "transformers.models.bert.modeling_bert", "safetensors.torch"),
    *("transformers.models.auto.tokenization_auto", "tokenizers.trainers", "sentencepiece"),
)
_THREADS = "OMP_NUM_THREADS"
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")}
_NUMBER = struct.Struct("<i")
_LONGEST = 90
_SPARE_FILES = 8  # that a server may have open beside those of its jobs
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG

# The command: hands its arguments, folder, environment and streams to the server, and ends as the job there does.
_COMMAND = """#!{python} -IS
import json, os, signal, socket, struct, sys
arguments = sys.argv[1:]
job = arguments[0] if arguments else "-"
models = job.removesuffix(".py").rpartition(".")[2] in {models!r}
server = socket.socket(socket.AF_UNIX)
try:
    if job.startswith("-") and job != "-m" or not models and os.environ.get({threads!r}, "1") != "1":
        raise OSError
    server.connect({address!r} + (".models" if models else ""))
    pid = struct.unpack("<i", server.recv(4, socket.MSG_WAITALL))[0]
except (OSError, struct.error):
    os.execv({python!r}, [{python!r}, *arguments])
def pass_on(number, _):
    try:
        os.kill(pid, number)
    except ProcessLookupError:  # it has just ended
        pass
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, pass_on)
asked = json.dumps([arguments, os.getcwd(), os.umask(0), dict(os.environ)]).encode()
socket.send_fds(server, [struct.pack("<i", len(asked))], [0, 1, 2])
server.sendall(asked)
answer = server.recv(4, socket.MSG_WAITALL)
if not answer:
    sys.exit("the Python that this job was forked from has died")
status = struct.unpack("<i", answer)[0]
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


@functools.cache
def warm_python(also: tuple[str, ...] = (), environment: tuple[tuple[str, str], ...] = ()) -> str:
    """Return what to run in place of `sys.executable`; the server behind it ends with this process.

    Where the system cannot wait for a process as for a stream (it is not Linux), and where the environment says so
    (`PRASANGA_WARM`), it is a fresh Python.

    Args:
        also: modules that are imported before all others.
        environment: what the server has in its environment besides; libraries read some when they are imported.
    """
    given = os.environ.get(WARM, "")
    if given == "no" or not hasattr(os, "pidfd_open"):
        return sys.executable
    if not also and _is_program(given):
        return given
    try:
        folder = tempfile.mkdtemp(prefix="prasanga-")
    except OSError:
        return sys.executable
    try:
        return _started(Path(folder), also, environment)
    except OSError:  # no room there, or for a process, or programs may not run from there
        shutil.rmtree(folder, ignore_errors=True)
        return sys.executable


def _started(folder: Path, also: Sequence[str], environment: Sequence[tuple[str, str]]) -> str:
    command, address = folder / "python", os.fspath(folder / "socket")
    if " " in f"{address}{sys.executable}" or len(address) > _LONGEST:
        raise OSError("its name is none for a socket, or for the first line of a program")
    text = _COMMAND.format(python=sys.executable, address=address, models=set(WITH_MODELS), threads=_THREADS)
    command.write_text(text, encoding="utf-8")
    command.chmod(0o700)
    if not _is_program(command):
        raise PermissionError(command)
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, address, *also],
        env={**os.environ, **_ONE_THREAD, **dict(environment)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # signals of the terminal come by the command, once
    )
    assert server.stdout is not None
    server.stdout.readline()  # it listens; or it has ended, and the command goes without
    atexit.register(_end, server, folder)
    return os.fspath(command)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.communicate()  # closes its standard input
    shutil.rmtree(folder, ignore_errors=True)  # of a server that could not


def _is_program(path: str | Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - of an empty name as well


# --------------------
# The server, a process of its own.


def main() -> None:
    """Serve until whoever started the server is gone; a forked job leaves the loop and does what it is asked for."""
    address, *also = sys.argv[1:]
    server = os.getpid()
    asking = _serve(address, [*also, *_LIBRARIES])
    if asking is None:
        if os.getpid() == server:  # not where it fails: jobs start by the command that lies there, with it or without
            shutil.rmtree(Path(address).parent, ignore_errors=True)
        return
    status: object = None
    try:
        _run(_take_order(asking))
    except SystemExit as error:
        status = error.code
    _leave(status)


def _serve(address: str, modules: Sequence[str]) -> socket.socket | None:
    """Fork for every job that is asked for; in the fork, return who asked. None at the end."""
    events = select.poll()
    events.register(0, select.POLLIN)  # ends with whoever started us
    any_job, with_model = (socket.socket(socket.AF_UNIX) for _ in range(2))
    for listening, name in ((any_job, address), (with_model, f"{address}.models")):
        listening.bind(name)
        listening.listen(512)
        events.register(listening, select.POLLIN)
    print("ready", flush=True)
    events.poll()
    _import(modules)
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES
    jobs: dict[int, tuple[int, int, socket.socket]] = {}  # by the file that tells of an end
    while True:
        file, _ = events.poll()[0]
        if file == 0:
            for process, *_ in jobs.values():
                os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):  # so that the time of all counts as that of the run
                while True:
                    os.wait()
            return None
        if file in jobs:
            process, ended, asking = jobs[file]
            events.unregister(file)
            del jobs[file]
            if file == ended:
                if jobs.pop(asking.fileno(), None):
                    events.unregister(asking)
                _tell_end(process, asking)
                os.close(ended)
            else:  # whoever asked is gone
                os.kill(process, signal.SIGKILL)
        elif file == with_model.fileno() and any_job.fileno() >= 0:  # the first job with a model
            server = _fork()
            if server is None:
                with_model.accept()[0].close()
                continue
            mine, others = (any_job, with_model) if server else (with_model, any_job)
            events.unregister(others)
            others.close()
            if mine is with_model:
                for each in jobs:
                    events.unregister(each)
                _close(jobs)
                _import(_MODELS)
        else:
            asking, _ = (any_job if file == any_job.fileno() else with_model).accept()
            job = _fork() if asking.fileno() < most_files else None
            if job is None:
                asking.close()
                continue
            if not job:
                any_job.close()
                with_model.close()
                _close(jobs)
                return asking
            ended = os.pidfd_open(job)
            jobs |= dict.fromkeys((ended, asking.fileno()), (job, ended, asking))
            events.register(ended, select.POLLIN)
            events.register(asking, select.POLLRDHUP)
            with suppress(OSError):  # gone already
                asking.sendall(_NUMBER.pack(job))


def _fork() -> int | None:
    """Fork; None where there is no room for another process: whoever asked then starts one by itself."""
    try:
        # of threads, from 3.12 on: an allocator has one that knows of forks
        with warnings.catch_warnings(action="ignore"):
            return os.fork()
    except OSError:
        return None


def _import(modules: Sequence[str]) -> None:
    """Import them, and what numba imports when a compiled function is first called."""
    for name in modules:
        with suppress(Exception):  # whoever needs it will say so
            importlib.import_module(name)
    if "numba" in sys.modules:
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    gc.freeze()  # what was imported is never garbage; otherwise each job would go through all of it


def _close(jobs: dict[int, tuple[int, int, socket.socket]]) -> None:
    """Forget jobs of the process that this one was forked from."""
    for _, ended, asking in {job[0]: job for job in jobs.values()}.values():
        os.close(ended)
        asking.close()
    jobs.clear()


def _tell_end(process: int, asking: socket.socket) -> None:
    _, status = os.waitpid(process, 0)
    with asking, suppress(OSError):
        asking.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _take_order(asking: socket.socket) -> list[str]:
    """Make this process the one that was asked for, which dies with the server; return its arguments."""
    server = os.getppid()
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    length, streams, _, _ = socket.recv_fds(asking, _NUMBER.size, 3)
    if len(length) < _NUMBER.size:
        os._exit(1)
    order = asking.recv(_NUMBER.unpack(length)[0], socket.MSG_WAITALL)
    arguments, folder, umask, environment = json.loads(order)
    asking.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.umask(umask)
    ours = _folders_of_modules()
    os.environ.clear()
    os.environ.update(environment)
    if _is_program(os.environ.get(WARM, "")):
        sys.executable = os.environ[WARM]
    first = [str(Path.cwd() if arguments[0] == "-m" else Path(arguments[0]).resolve().parent)]
    if os.environ.get("PYTHONSAFEPATH"):
        first = []
    sys.path[:] = [*first, *_folders_of_modules(), *(entry for entry in sys.path if entry not in ours)]
    return list(arguments)


def _folders_of_modules() -> list[str]:
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _run(arguments: Sequence[str]) -> None:
    """What `python *arguments` would do."""
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, buffering, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115  (to the end)
        for number, mode, buffering, errors in ((0, "r", -1, None), (1, "w", -1, None), (2, "w", 1, "backslashreplace"))
    )
    threads = os.environ.get(_THREADS, "")
    if "torch" in sys.modules and threads.isdecimal():  # it read the number when it was imported
        sys.modules["torch"].set_num_threads(int(threads))
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")


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


if __name__ == "__main__":
    main()
