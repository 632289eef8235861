"""A job that starts warm is as one in a fresh Python, and ends with whoever asked for it and with whoever serves it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from small_study import Study
from waiting import until

SERVER = """
import sys
from prasanga.warm import warm_python
print(warm_python(), flush=True)
sys.stdin.read()
"""
TOLD = """
import json, os, sys
print(json.dumps([sys.argv, os.getcwd(), os.environ["WORD"], sys.path[:2], sys.stdin.read(), __name__]), flush=True)
print("ফুল", file=sys.stderr)
{last}
"""
STATE = """
import os, sys
from pathlib import Path
tasks = Path(f"/proc/{os.getppid()}/task").glob("*/comm")
threads = len({name for each in tasks if (name := each.read_text().strip()) != "jemalloc_bg_thd"})  # knows of forks
loaded = "torch" in sys.modules
import torch
print(loaded, threads, torch.get_num_threads(), torch.cuda.is_initialized(), os.environ["OMP_NUM_THREADS"])
"""
BOUND = """
from prasanga.base.logs import bound_memory
bound_memory(100)
try:
    bytearray(3_000_000_000)
except MemoryError:
    print("refused")
"""
WAITS = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n"


@pytest.fixture(scope="module")
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that has started a server, and the command that starts jobs from it."""
    with started() as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def started(code: str = SERVER, **environment: str) -> subprocess.Popen[str]:
    others = {key: value for key, value in os.environ.items() if key != "PRASANGA_WARM"}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**others, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def warm(serving: tuple[subprocess.Popen[str], str]) -> str:
    return serving[1]


def run(python: str, script: Path, text: str, **environment: str) -> str:
    script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [python, str(script)], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def told(python: str, folder: Path, *, last: str, safe: str = "") -> tuple[int, Any, str]:
    (folder / "script.py").write_text(TOLD.format(last=last), encoding="utf-8")
    done = subprocess.run(
        [python, "script.py", "--option", "word"],
        cwd=folder,
        env={**os.environ, "WORD": "গোলাপ", "PYTHONPATH": str(folder / "source"), "PYTHONSAFEPATH": safe},
        input="given",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout), done.stderr.splitlines()[-1]


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(
    "last",
    ["", "sys.exit(3)", "sys.exit('no')", "raise ValueError('no')", "os.kill(os.getpid(), 9)"],
    ids=["ends", "status", "sentence", "error", "9"],
)
def test_a_warm_process_is_as_a_fresh_one(last: str, warm: str, tmp_path: Path) -> None:
    assert told(warm, tmp_path, last=last) == told(sys.executable, tmp_path, last=last)


def test_a_warm_process_imports_nothing_from_beside_its_script_where_a_fresh_one_does_not(
    warm: str, tmp_path: Path
) -> None:
    told_warm = told(warm, tmp_path, last="", safe="1")
    assert told_warm == told(sys.executable, tmp_path, last="", safe="1")
    assert str(tmp_path) not in told_warm[1][3]
    assert str(tmp_path) in told(warm, tmp_path, last="")[1][3]


def test_files_are_made_with_the_umask_of_whoever_asks(warm: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("open('made', 'w')")
    subprocess.run([warm, "script.py"], cwd=tmp_path, umask=0o077, check=True)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_a_module_runs_and_a_line_of_code_as_well(warm: str, tmp_path: Path) -> None:
    for arguments in (["-m", "json.tool", "--compact"], ["-c", "print(input())"]):
        runs = [
            subprocess.run([python, *arguments], cwd=tmp_path, input="[1]", capture_output=True, text=True, check=True)
            for python in (warm, sys.executable)
        ]
        assert runs[0].stdout == runs[1].stdout == "[1]\n"


def test_jobs_with_models_alone_have_torch_and_the_threads_that_they_ask_for(warm: str, tmp_path: Path) -> None:
    of_model = tmp_path / "tmp1.embed_segments.py"
    for threads in ("1", "2"):
        told = run(warm, of_model, STATE, OMP_NUM_THREADS=threads)
        assert told == f"True 1 {threads} False {threads}", "a server with threads or a card must not fork"
    assert run(warm, tmp_path / "tmp2.write_page.py", STATE, OMP_NUM_THREADS="1").startswith("False 1 ")
    fresh = run(warm, tmp_path / "tmp3.other.py", "import sys; print('numba' in sys.modules)", OMP_NUM_THREADS="2")
    assert fresh == "False", "what reads its number of threads at its start"


def test_no_import_of_the_server_asks_for_a_card(tmp_path: Path) -> None:
    """A process that has asked the driver once can be forked, but its children can compute on no card."""
    code = """
import importlib, torch
from prasanga import warm
def asked(*_): raise SystemExit("asked for a card")
for name in {"_cuda_getDeviceCount", "_cuda_init"} & {*dir(torch._C)}:
    setattr(torch._C, name, asked)
torch.cuda.is_available = torch.cuda.device_count = torch.cuda._lazy_init = asked
for name in [*warm._LIBRARIES, *warm._MODELS]:
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_memory_is_bounded_as_in_a_fresh_process(warm: str, tmp_path: Path) -> None:
    assert run(warm, tmp_path / "script.py", BOUND) == "refused"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_whoever_asked_for_it(number: int, warm: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WAITS)
    command = [warm, "script.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asked:
        assert asked.stdout is not None
        pid = int(asked.stdout.readline())
        asked.send_signal(number)
        assert asked.wait(30) != 0
    until(lambda: gone(pid), "it lives on")


@pytest.mark.parametrize("script", ["script.py", "tmp1.score_pairs.py"], ids=["other", "model"])
@pytest.mark.parametrize("killed", ["who started the server", "server"])
def test_jobs_end_with_the_server_and_later_ones_start_without(killed: str, script: str, tmp_path: Path) -> None:
    (tmp_path / script).write_text(WAITS)
    with started() as starting:
        assert starting.stdout is not None
        command = starting.stdout.readline().strip()
        with subprocess.Popen([command, script], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as asked:
            assert asked.stdout is not None
            pid = int(asked.stdout.readline())
            server = psutil.Process(pid).parent()
            assert server is not None
            (starting if killed != "server" else server).kill()
            assert asked.wait(30) != 0
        until(lambda: gone(pid) and gone(server.pid), "something lives on")
        if killed == "server":
            assert run(command, tmp_path / "tmp2.score_pairs.py", "print(1)") == "1"
        else:
            until(lambda: not Path(command).parent.exists(), "its folder is left")


@pytest.mark.parametrize(
    ("broken", "warm_after"), [("raise RuntimeError('of other versions')", "True"), ("raise SystemExit", "False")]
)
def test_a_library_that_breaks_takes_no_job_with_it(broken: str, warm_after: str, tmp_path: Path) -> None:
    """Where the server itself ends, jobs start without; its folder goes with whoever started it."""
    (tmp_path / "spoilt.py").write_text(broken)
    with started(SERVER.replace("warm_python()", "warm_python(('spoilt',))"), PYTHONPATH=str(tmp_path)) as starting:
        assert starting.stdout is not None
        command = starting.stdout.readline().strip()
        for script in ("script.py", "tmp1.embed_segments.py"):
            code = "import sys; print('numba' in sys.modules)"
            assert run(command, tmp_path / script, code, OMP_NUM_THREADS="1") == warm_after
    assert not Path(command).parent.exists()


def test_more_jobs_at_once_than_the_server_can_have_files_open(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(WAITS)
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))" + SERVER
    with started(few) as starting:
        assert starting.stdout is not None
        command = starting.stdout.readline().strip()
        jobs = [
            subprocess.Popen([command, "script.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(10)
        ]
        pids = [int(job.stdout.readline()) for job in jobs if job.stdout is not None]
        by_themselves = {job.pid for job in jobs} & set(pids)
        assert 0 < len(by_themselves) < len(jobs)
        assert not any(map(gone, pids))
        for job in jobs:
            job.kill()
            job.wait(30)


def test_a_run_of_the_workflow_starts_its_jobs_warm_and_leaves_nothing(study: Study) -> None:
    """As a user starts it, and with the switch that says no."""
    forms = "results/lexicon/forms.parquet"
    study.append("workflow/scripts/compile_forms.py", "\nimport sys; print('numba' in sys.modules, file=sys.stderr)\n")
    environment = {key: value for key, value in os.environ.items() if key != "PRASANGA_WARM"}
    for asked, expected in (({}, "True"), ({"PRASANGA_WARM": "no"}, "False")):
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "1", "--forcerun", "compile_forms", "--", forms],
            cwd=study.root,
            env={**environment, **asked, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert expected in done.stderr.splitlines()
    assert not [each for each in psutil.process_iter(["cwd"]) if each.info["cwd"] == str(study.root)]


@pytest.mark.parametrize("place", ["with a space", "l" * 100, "absent/folder"])
def test_without_a_place_for_it_a_fresh_python_it_is(place: str, tmp_path: Path) -> None:
    folder = tmp_path / place
    if "absent" not in place:
        folder.mkdir()
    code = f"import tempfile; tempfile.tempdir = {str(folder)!r}\n" + SERVER.replace("sys.stdin.read()", "")
    environment = {key: value for key, value in os.environ.items() if key != "PRASANGA_WARM"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == sys.executable
    assert not folder.exists() or not [*folder.iterdir()]
