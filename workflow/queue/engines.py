"""How LSF, PBS and SGE speak: the number of a job in the answer to a submission, and what the queue says of it later.

The scripts of this folder run on a login node with whatever Python stands first on the path, so they use the standard
library alone. Which options a submission has stands in the profiles.
"""

import re

RUNNING, SUCCESS, FAILED = "running", "success", "failed"
UNKNOWN, SILENT = "unknown", "silent"
"""No words of Snakemake's: the queue says that there is no such job; the queue says nothing that is understood."""

JOB_NUMBER = {
    "lsf": re.compile(r"Job <(\d+)> is submitted"),
    "pbs": re.compile(r"^(\d+(?:\.[\w.-]+)?)\s*$", re.MULTILINE),
    "sge": re.compile(r"^(\d+)\s*$", re.MULTILINE),
}
QUESTIONS = {
    # LSF forgets a job an hour after its end (CLEAN_PERIOD).
    "lsf": [["bjobs", "-noheader", "-o", "stat"]],
    # PBS remembers jobs that have ended only where its history is switched on; elsewhere -x is an error.
    "pbs": [["qstat", "-f"], ["qstat", "-x", "-f"]],
    # SGE forgets a job with its end; then the accounting has it, after some seconds, where users may read it.
    "sge": [["qstat", "-j"], ["qacct", "-j"]],
}
"""Commands to which the number of the job is added: what waits and runs is asked first, then what has ended."""

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
    """The number of the job that was submitted, or None where the answer has none.

    Args:
        engine: `lsf`, `pbs` or `sge`.
        answer: what the command printed, which some sites begin with lines of their own.
    """
    found = JOB_NUMBER[engine].findall(answer)
    return found[-1] if found else None


def read_answer(engine: str, command: str, answer: str) -> str:
    """What the queue says of a job: a word for Snakemake, `UNKNOWN` or `SILENT`.

    The exit status of these commands is not looked at: for a job that is not there it differs between versions.

    Args:
        engine: `lsf`, `pbs` or `sge`.
        command: `bjobs`, `qstat` or `qacct`.
        answer: all that it printed.
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
    if re.search(r"^error reason", answer, re.MULTILINE):  # Eqw: it could not be started and never will be by itself
        return FAILED
    return RUNNING if re.search(r"^job_number:", answer, re.MULTILINE) else SILENT


def _read_qacct(answer: str) -> str:
    failed = re.findall(r"^failed +(\d+)", answer, re.MULTILINE)
    status = re.findall(r"^exit_status +(\d+)", answer, re.MULTILINE)
    if not failed or not status:
        return SILENT
    # Numbers of jobs begin anew at a million, so there may be older jobs of this number; the last one is ours.
    return SUCCESS if int(failed[-1]) == 0 and int(status[-1]) == 0 else FAILED
