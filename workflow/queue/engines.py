"""The language of LSF, PBS and SGE: the number of a job in the answer to a submission, and later answers about it.

The scripts of this folder run on a login node with the first Python on the path, so they use only the standard library.
The profiles have the options of a submission.
"""

import re

RUNNING, SUCCESS, FAILED = "running", "success", "failed"
UNKNOWN, SILENT = "unknown", "silent"
"""Not words of Snakemake: the queue does not know the job; the queue's answer is not understood."""

JOB_NUMBER = {
    "lsf": re.compile(r"Job <(\d+)> is submitted"),
    "pbs": re.compile(r"^(\d+(?:\.[\w.-]+)?)\s*$", re.MULTILINE),
    "sge": re.compile(r"^(\d+)\s*$", re.MULTILINE),
}
QUESTIONS = {
    # LSF forgets a job an hour after its end (CLEAN_PERIOD).
    "lsf": [["bjobs", "-noheader", "-o", "stat"]],
    # PBS remembers ended jobs only if its history is on; otherwise -x is an error.
    "pbs": [["qstat", "-f"], ["qstat", "-x", "-f"]],
    # SGE forgets ended jobs; after a few seconds the accounting has them, if users may read it.
    "sge": [["qstat", "-j"], ["qacct", "-j"]],
}
"""Commands, completed by the number of the job: first about waiting and running jobs, then about ended ones."""

_LSF_WORDS = {
    "DONE": SUCCESS,
    "EXIT": FAILED,
    "ZOMBI": FAILED,  # killed while its host could not be reached
    **dict.fromkeys(("PEND", "PROV", "PSUSP", "RUN", "SSUSP", "USUSP", "WAIT", "UNKWN"), RUNNING),
}
_NO_SUCH_JOB = re.compile(
    r"is not found|Unknown Job|unknown job|Job has finished, use -x|[Jj]obs do not exist|job id \d+ not found"
)


def job_number(engine: str, answer: str) -> "str | None":
    """The number of the submitted job, or None if the answer lacks it.

    Args:
        engine: `lsf`, `pbs` or `sge`.
        answer: the command's output, which may begin with lines of the site.
    """
    found = JOB_NUMBER[engine].findall(answer)
    return found[-1] if found else None


def read_answer(engine: str, command: str, answer: str) -> str:
    """The state of a job: a word for Snakemake, `UNKNOWN` or `SILENT`.

    The exit status of these commands is not looked at: for a job that is not there it differs between versions.

    Args:
        engine: `lsf`, `pbs` or `sge`.
        command: `bjobs`, `qstat` or `qacct`.
        answer: its output.
    """
    if _NO_SUCH_JOB.search(answer):
        return UNKNOWN
    read = {"lsf": _read_bjobs, "pbs": _read_full_qstat, "sge": _read_qacct if command == "qacct" else _read_qstat}
    return read[engine](answer)


def _read_bjobs(answer: str) -> str:
    words = [_LSF_WORDS[word] for word in answer.split() if word in _LSF_WORDS]
    return words[-1] if words else SILENT


def _read_full_qstat(answer: str) -> str:
    state = re.search(r"^\s*job_state = (\w)", answer, re.MULTILINE)
    if state is None:
        return SILENT
    if state[1] != "F":
        return RUNNING
    ended = re.search(r"^\s*Exit_status = (-?\d+)", answer, re.MULTILINE)  # none: deleted before it began
    return SUCCESS if ended is not None and int(ended[1]) == 0 else FAILED


def _read_qstat(answer: str) -> str:
    if re.search(r"^error reason", answer, re.MULTILINE):  # Eqw: it could not start, and never will by itself
        return FAILED
    return RUNNING if re.search(r"^job_number:", answer, re.MULTILINE) else SILENT


def _read_qacct(answer: str) -> str:
    failed = re.findall(r"^failed +(\d+)", answer, re.MULTILINE)
    status = re.findall(r"^exit_status +(\d+)", answer, re.MULTILINE)
    if not failed or not status:
        return SILENT
    # Numbers start again at a million, so older jobs may have this number; the last one is ours.
    return SUCCESS if int(failed[-1]) == 0 and int(status[-1]) == 0 else FAILED
