"""Snakemake and its jobs in forks of a process that has imported what they need.

A study of the tests is some twenty processes, and importing Snakemake, torch and transformers is most of the work of
each. The server imports those libraries, nothing of the project, and forks a process for each program. The tests of
installations, queues, killed runs and the command start their processes as users do.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

_IMPORTED = (
    *("snakemake.cli", "snakemake.script", "snakemake_executor_plugin_slurm"),
    *("yaml", "pydantic", "polars", "pyarrow.parquet", "pyarrow.dataset", "numba", "scipy.stats", "scipy.optimize"),
    *("torch", "accelerate", "transformers.modeling_utils", "transformers.models.auto.modeling_auto"),
    *("transformers.models.auto.tokenization_auto", "matplotlib.figure", "matplotlib.backends.backend_svg"),
)
_LONGEST_MESSAGE = 1 << 20


def run_snakemake(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in a study's folder."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        program = {"module": "snakemake", "arguments": list(arguments), "folder": str(root)}
        status = _run_fork(_start_server(), program, stdout.fileno(), stderr.fileno())
        printed = []
        for file in (stdout, stderr):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess(list(arguments), status, *printed)


@functools.cache
def _start_server() -> str:
    """Start the server of this process, which ends with it; return its address."""
    address = str(Path(tempfile.mkdtemp(prefix="forks-")) / "socket")
    server = subprocess.Popen(
        [sys.executable, __file__, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return address


def _run_fork(address: str, program: dict[str, Any], *files: int, benchmark: Any = None) -> int:
    """Run a program to its end, measured if there is a record for it; return its exit status, 255 if it was killed."""
    from snakemake.benchmark import benchmarked

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address)
        message = json.dumps({**program, "environment": {**os.environ, "HF_HUB_OFFLINE": "1"}})
        socket.send_fds(connection, [message.encode()], list(files))
        process = int(connection.recv(16))
        with benchmarked(process, benchmark) if benchmark else contextlib.nullcontext():
            return (connection.recv(1) or b"\xff")[0]


def _serve(address: str) -> NoReturn:
    """Fork a process for each program until the standard input closes."""
    for name in _IMPORTED:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _run_program(connection, address)
            connection.close()
    shutil.rmtree(Path(address).parent)
    sys.exit(0)


def _run_program(connection: socket.socket, address: str) -> NoReturn:
    """Run the program that is asked for in this process, and say how it ended."""
    connection.send(str(os.getpid()).encode())
    message, files, *_ = socket.recv_fds(connection, _LONGEST_MESSAGE, 2)
    program = json.loads(message)
    with Path(os.devnull).open("rb") as nothing:
        for number, file in enumerate((nothing.fileno(), *files)):
            os.dup2(file, number)
    here = {str(Path(__file__).parent), *os.getenv("PYTHONPATH", "").split(os.pathsep)}
    os.chdir(program["folder"])
    os.environ.clear()
    os.environ.update(program["environment"])
    named = [path for path in os.getenv("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path = [program["folder"], *named, *(path for path in sys.path if path not in here)]
    status = 0
    try:
        if "module" in program:
            sys.argv = [program["module"], *program["arguments"]]
            _fork_jobs(address)
            runpy.run_module(program["module"], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [program["script"]]
            runpy.run_path(program["script"], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    connection.send(bytes([status & 255]))
    os._exit(status)


def _fork_jobs(address: str) -> None:
    """Let Snakemake, in this process, run scripts in forks of the same server."""
    from snakemake.script import PythonScript

    def execute(job: PythonScript, script: str, **_: object) -> None:
        program = {"script": script, "folder": str(Path.cwd())}
        status = _run_fork(address, program, 1, 2, benchmark=job.bench_record)
        if status:
            raise subprocess.CalledProcessError(status, script)

    PythonScript.execute_script = execute


if __name__ == "__main__":
    _serve(sys.argv[1])
