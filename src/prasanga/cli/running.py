"""The shared parts of commands: the program and its options, one run of a study at a time, its plan, exit codes."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup

from prasanga.base.errors import InputError, printable
from prasanga.base.logs import COMMAND, LINKED, said_of_failure
from prasanga.base.places import (
    PAGE,
    SUMMARY,
    count_gpus,
    installation,
    require_cache,
    require_own_folders,
    store_beside,
)

if TYPE_CHECKING:
    from prasanga.methods import Method

# Each command imports its other needs itself, so that help is quick.

STORE = "PRASANGA_STORE"
FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
GROUPS = {
    "Start": "demo measure init",
    "Run": "run plan reproduce",
    "Results": "open compare figures check",
    "Look up": "config models store",
}
_METAVARIABLES = {
    **dict.fromkeys(("directory", "store"), "FOLDER"),
    **dict.fromkeys(("cores", "gpus", "limit", "days"), "NUMBER"),
    **{"corpus": "TEXTS", "pairs": "FILE", "categories": "NAMES", "lengths": "NUMBERS"},
}
_EXIT = "0 done; 1 a job failed or results are wrong; 2 the command or the study cannot be used; 130 stopped by Ctrl-C."

_NOTES = Path(".snakemake")
_N_EFFECTS = 9
_OF_WORDS = ("effect_size", "ci_low", "ci_high", "p_association_holm")
_OF_PAIRS = ("bias_percentage", "exact_low", "exact_high", "p_binomial_holm")
_OUT_OF_MEMORY = (
    "killed, probably because memory ran out. Run fewer jobs at a time (`--cores 1`), or give them more (`mem_mb` of"
    " the rule in the profile). "
)
_OWN_NEWS = ("Using workflow specific profile", "Creating specified working directory")
_EVERY, _PATIENCE, _GRACE = 10, 30, 20  # seconds: between two lines, without a finished step, from signal to kill
_N_WRONG = 3
_STEPS = re.compile(r"^(\d+ of \d+) steps", re.MULTILINE)
_BEGUN = re.compile(r"^(?:local)?(?:rule|checkpoint) (\w+):$", re.MULTILINE)
_ENDED = re.compile(r"^(?:Finished jobid: \d+ \(Rule: |Error in rule )(\w+)", re.MULTILINE)
_REFUSAL = re.compile(r"^    message: (?!None$|Error in group|For further)(.+?)(?:For further .*)?$", re.MULTILINE)
_FAILED_OUTPUT = re.compile(r"^Error in rule \w+:\n(?:    .*\n)*?    output: (.*)$", re.MULTILINE)
_KILLED = re.compile(r"\b(?:SIGKILL|OUT_OF_MEMORY|OOM|(?i:oom[-_ ]?kill(?:ed|er)?)|exit status 137)\b")
_WRONG = re.compile(
    r"^.*\b(?:error|fatal|unable|cannot|could not|failed|refused|denied|timed out)\b.*$", re.MULTILINE | re.I
)
_JOB = re.compile(r"^    log: logs/(?:[a-z]{2,3}(?:-\w+)*/)?(\w+)/.*?^    reason: (.*?)$", re.MULTILINE | re.DOTALL)
"""Stage and reason of a job that Snakemake prints, of all languages; jobs without a log only collect."""
_SEAT = re.compile(r"associations/seat/.+(?<!-random)(?<!\.words)(?<!\.templates)\.parquet")
"""The estimates of a model, and not of its random copies."""
_CODE = re.compile(r"'[\w.]+\.py [0-9a-f]+'")
_REASONS = {
    "Params have changed": "setting changed",
    "Updated input files": "input changed",
    "Set of input files": "other input files than before",
    "Incomplete output files": "interrupted",
    "Missing output files": "missing",
    "Forced execution": "asked for",
    "Input files updated by another job": "its inputs change",
}
"""The beginning of a reason that Snakemake prints, and the plan's words; the first match is shown."""
_VARIABLES = {
    "SNAKEMAKE_PROFILE": "ignored; type `--profile FOLDER`, or `prasanga run -- --profile NAME`",
    "SNAKEMAKE_(?!PROFILE).*": "options of Snakemake",
    "PYTHON(PATH|HOME|USERBASE)": "Python imports code from there",
    "HF_(ENDPOINT|HOME|HUB_CACHE)|PIP_((EXTRA_)?INDEX_URL|CONFIG_FILE)": "models come from there",
    "AWS_ENDPOINT_URL(_S3)?": "texts in S3 come from there",
    STORE: "vectors and scores are kept there",
}
"""Variables of the environment that change a run, as patterns, with their effects."""


# ---- the program, its options, and the end of a command


class Commands(TyperGroup):
    """Commands whose help ends with the examples of their docstrings, and shows no types but our metavariables."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ready to be shown."""
        return _show_plainly(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, ready to show its help."""
        if command := super().get_command(ctx, cmd_name):
            _show_plainly(command.get_params(ctx))
            command.help, found, examples = (command.help or "").partition("\n\nExamples: ")
            vars(command)["rich_help_panel"] = next(
                (group for group, names in GROUPS.items() if cmd_name in names.split()), None
            )
            command.epilog = "Examples:\n" + examples.replace("; ", "\n") if found else command.epilog
        return command


class _Program(Commands):
    """Commands in groups, which end with a sentence on any error; the traceback of an unforeseen one goes to a file."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, group by group."""
        del ctx
        return [name for names in GROUPS.values() for name in names.split()]

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if isinstance(error, typer.Abort | BrokenPipeError) or hasattr(error, "exit_code"):  # of typer itself
                raise
            said = str(error) if isinstance(error, InputError) else said_of_failure(error, "logs/command.log")
        typer.echo(said, err=True)
        raise typer.Exit(UNUSABLE)


app = typer.Typer(
    name="prasanga",
    cls=_Program,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure social bias in language models for Bangla, Hindi and English. A study is a folder with a study.yaml.",
    epilog=f"Exit status: {_EXIT}",
)


def _show_plainly(parameters: list[Any]) -> list[Any]:  # with metavariables, and without types
    for each in parameters:
        each.metavar = each.metavar or _METAVARIABLES.get(each.name, each.name.upper())
        if isinstance(each, TyperArgument):
            shown = f"{each.metavar}..." if each.nargs != 1 else each.metavar
            usage = [shown if each.required else f"[{shown}]"]
            vars(each).update(display_type_rich=lambda **_: None, get_usage_pieces=lambda _, usage=usage: usage)
        elif each.is_flag:
            each.metavar = ""
    return parameters


def _require_cores(said: str) -> str:
    if said != "all" and not (said.isdecimal() and int(said)):
        raise typer.BadParameter(f"{said!r}. Write a number such as 4, or all.")
    return said


StudyFile = Annotated[
    Path | None,
    typer.Argument(help="A folder with study.yaml, or a config file; by default this folder."),
]
Folder = Annotated[Path | None, typer.Option("--directory", "-d", help="The study's folder, if STUDY is a file.")]
Cores = Annotated[str, typer.Option(help="CPU cores to use: a number, or all.", callback=_require_cores)]
Gpus = Annotated[int | None, typer.Option(help="GPUs to use; by default all.")]
Profile = Annotated[str | None, typer.Option(help="Where jobs run: slurm, workstation, ..., or a folder.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that Snakemake prints.")]
Store = Annotated[
    Path | None,
    typer.Option(
        envvar=STORE,
        help="Vectors and scores that studies share; by default .prasanga-store next to the study.",
    ),
]


def name_variables() -> None:
    """Name the variables of the environment that change a run, without values, which may be secret."""
    for pattern, effect in _VARIABLES.items():
        if names := ", ".join(
            name for name, value in sorted(os.environ.items()) if value and re.fullmatch(pattern, name)
        ):
            typer.echo(printable(f"From your environment: {names} ({effect})."), err=True)


def use_store(store: Path | None, study: Path) -> None:
    """Have Snakemake keep vectors and scores in a named store, or in the one next to the study."""
    name_variables()
    if kept := store or store_beside(study):
        os.environ[STORE] = str(kept.absolute())


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal, or separated by tabs if there is none."""
    typer.echo(format_table(header, rows), nl=False)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as wide as the terminal, or separated by tabs if there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        return "".join("\t".join(printable(cell).replace("\t", " ") for cell in row) + "\n" for row in [header, *rows])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name in header:
        table.add_column(name, overflow="fold")  # a path goes on in the next line
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # brackets in names are no markup
    with console.capture() as captured:
        console.print(table)
    return str(captured.get())


# ---- the command line of Snakemake


def snakemake_command(
    folder: Path,
    targets: Sequence[str] = (),
    *,
    config: Path | None = None,
    cores: str = "all",
    gpus: int | None = None,
    profile: str | None = None,
    dry_run: bool = False,
    draws_bars: bool = False,
    others: Sequence[str] = (),
) -> list[str]:
    """Return the command line of Snakemake.

    Raises:
        InputError: no such profile, no config in the file, no folder for Snakemake's cache.
    """
    from prasanga.config import read_config

    require_cache()
    asked = []
    if config is not None:
        read_config(config)  # Snakemake's own reader explains mistakes less well
        asked = ["--configfile", str(config.absolute())]
    if profile is None:
        asked += ["--cores", cores, "--resources", f"gpu={max(count_gpus() if gpus is None else gpus, 1)}"]
    asked += ["--logger", "rich"] if draws_bars else []
    # Snakemake's own choice would be a `profiles/default` of the working folder
    chosen = installation() / "profiles/default" if profile is None else find_profile(profile, folder)
    # options with one value or none come last: the others would take targets in `others` as their values
    asked += ["--workflow-profile", str(chosen), "--snakefile", str(installation() / "Snakefile")]
    asked += ["--directory", str(folder), "--nocolor", *(["--dry-run"] if dry_run else [])]
    return [sys.executable, "-P", "-m", "snakemake", *targets, *asked, *others]  # -P: no import from the working folder


def find_profile(name: str, folder: Path) -> Path:
    """Return the folder of a profile: a path, one of the study's own, or a shipped one.

    Raises:
        InputError: no such profile.
    """
    places = [Path(name).absolute(), folder / "profiles" / name, installation() / "profiles" / name]
    found = next((place for place in places if (place / "profile.yaml").is_file()), None)
    if found is None:
        shipped = sorted(path.parent.name for path in (installation() / "profiles").glob("*/profile.yaml"))
        raise InputError(f"no profile {name!r}. Name a folder with profile.yaml, or one of {', '.join(shipped)}.")
    return found


def make_environment() -> dict[str, str]:
    """Return the environment of Snakemake."""
    given = os.getenv("PYTHONPATH", "").split(os.pathsep)  # relative entries would lead into the study's folder
    width = {} if sys.stderr.isatty() else {"COLUMNS": "120"}
    inherited = {name: value for name, value in os.environ.items() if name != "SNAKEMAKE_PROFILE"}
    fixed = {"PYTHONPATH": os.pathsep.join(filter(os.path.isabs, given)), "PYTHONUTF8": "1", COMMAND: "1"}
    # from where the command was typed; Snakemake works in another folder
    store = {STORE: str(Path(os.environ[STORE]).absolute())} if STORE in os.environ else {}
    return {**width, **inherited, **store, **fixed}


# ---- a run


def work(folder: Path, targets: Sequence[str] = (), *, verbose: bool = False, **asked: Any) -> int:
    """Run the workflow, show its results, and return the exit status; end the command if the run is stopped."""
    require_own_folders(folder)
    is_free, is_new = asked.get("dry_run") or "--unlock" in asked.get("others", ()), not folder.exists()
    line = snakemake_command(folder, targets, draws_bars=not (verbose or is_free), **asked)
    with nullcontext() if is_free else only_run(folder) as held:
        watch = None if is_free else Watch(folder)
        status = follow(line, held, watch)
    if is_new and status == UNUSABLE:
        shutil.rmtree(folder, ignore_errors=True)  # of a mistyped config
    if status == INTERRUPTED:
        typer.echo("Stopped. Finished jobs are kept; the same command goes on from there.", err=True)
        raise typer.Exit(INTERRUPTED)
    if status < 0 or status == FAILED:
        said = f"Snakemake was {_OUT_OF_MEMORY}" if status < 0 else watch.find_cause() if watch else ""
        if not said and watch and not watch.running:
            return UNUSABLE  # Snakemake has printed the reason, such as a file that no rule makes
        said += "Not finished. Finished jobs are kept; fix the failure, and the same command goes on from there."
        typer.echo(said, err=True)
        return FAILED
    if status or is_free:
        return status
    if missing := _find_missing(folder, targets, asked.get("others", ())):
        typer.echo(
            f"Snakemake ended without an error, but {len(missing)} files are missing: {', '.join(missing[:3])}. Type"
            " `prasanga run --verbose` to see its messages.",
            err=True,
        )
        return FAILED
    if (folder / SUMMARY).is_file():
        show_results(folder)
    return status


def list_failed(folder: Path) -> list[str]:
    """Return the files that the failed jobs of the last run should have written."""
    log = max((folder / _NOTES / "log").glob("*.log"), key=lambda path: path.stat().st_mtime_ns, default=None)
    printed = log.read_text(encoding="utf-8", errors="replace") if log else ""
    return [path for outputs in _FAILED_OUTPUT.findall(printed) for path in outputs.split(", ")]


def _find_missing(folder: Path, targets: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the missing files of a run; options for Snakemake may ask for other files."""
    asked = [target for target in targets if "/" in target]
    if not asked and not others:
        asked = [str(SUMMARY), str(PAGE)]
        with suppress(OSError, ValueError, LookupError, TypeError):  # print_last_words reports a broken summary
            asked += [f"results/{path}" for path in json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["files"]]
    return [path for path in asked if not (folder / path).is_file()]


def follow(line: Sequence[str], held: int | None = None, watch: Watch | None = None) -> int:
    """Run a command to its end; a first signal stops it and its jobs cleanly, a second one or `_GRACE` kills them.

    Return its exit status, `INTERRUPTED`, or a negative number if it was killed, as its jobs are then. The process
    keeps the file `held` open as well (`only_run`); its note stays only if the process is killed.
    """
    process: subprocess.Popen[bytes] | None = None
    n_signals = 0

    def stop(*_: object) -> None:
        nonlocal n_signals
        n_signals += 1
        signal.alarm(_GRACE)
        if process:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL if n_signals > 1 else signal.SIGINT)

    # a signal during the start of the process is passed on as well; SIGHUP is ignored under nohup
    ending = [signal.SIGINT, signal.SIGTERM, signal.SIGALRM]
    ending += [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else []
    before = {name: signal.signal(name, stop) for name in ending}
    process = subprocess.Popen(
        line,
        env=make_environment(),
        pass_fds=[] if held is None else [held],
        start_new_session=True,  # so that each signal reaches the jobs once, from here
        stdin=subprocess.DEVNULL,
    )
    with suppress(OSError):  # it has ended, or the disk is full
        if n_signals:
            os.killpg(process.pid, signal.SIGINT)
        if held is not None:
            os.write(held, f" (to stop it: kill -INT -- -{process.pid})".encode())
    while process.returncode is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_EVERY)
        if process.returncode is None and watch:
            with suppress(OSError, ValueError):  # a closed pipe, a full disk: the run goes on
                watch.report()
    if process.returncode < 0:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # no job goes on
    elif held is not None:
        os.ftruncate(held, 0)
    signal.alarm(0)
    for name, handler in before.items():
        signal.signal(name, handler)
    return INTERRUPTED if n_signals else process.returncode


class Watch:
    """The progress of a run, from Snakemake's log: a line every few seconds without a terminal for bars."""

    def __init__(self, folder: Path) -> None:
        """Begin to watch: existing logs are of other runs."""
        self._folder = folder / _NOTES / "log"
        self.began = self.advanced = time.monotonic()
        self._earlier, self._log = set(self._folder.glob("*.log")), Path()
        self._n_read, self._done, self.running, self._wrong = 0, "", Counter[str](), list[str]()
        self._printed = ""

    def report(self) -> None:
        """Print finished steps and running jobs, and errors in the log if no step has ended for a while."""
        self._read()
        now = time.monotonic()
        if "Exiting because" in self._printed:
            return
        if now - self.advanced >= _PATIENCE:
            for text in self._wrong:
                waited = f"No step has ended for {now - self.advanced:.0f} s."
                typer.echo(printable(f"{waited} {self._log} says: {text.strip()}"), err=True)
            self._wrong = []
        if not sys.stderr.isatty():
            counts = +self.running  # without the rules of which no job runs
            names = [f"{rule} ({number})" if number > 1 else rule for rule, number in counts.items()]
            what = f"; running or in a queue: {', '.join(names)}" if names else ""
            typer.echo(f"{now - self.began:.0f} s: {self._done or 'no'} steps done{what}", err=True)

    def find_cause(self) -> str:
        """Return why jobs failed, if the log has a kill or the message of a queue; else an empty text."""
        self._read()
        if _KILLED.search(self._printed):
            return f"A job was {_OUT_OF_MEMORY}"
        refused = [text.strip(" .") for text in _REFUSAL.findall(self._printed)][-1:]
        return printable(f"{self._log} says: {refused[0]}. ") if refused else ""

    def _read(self) -> None:
        """Note steps, jobs, errors and kills in the new whole lines of this run's log."""
        self._log = max(set(self._folder.glob("*.log")) - self._earlier, default=self._log)
        if not self._log.is_file():
            return
        with self._log.open("rb") as file:
            file.seek(self._n_read)
            lines = file.read().rpartition(b"\n")[0]
        self._n_read += len(lines)
        printed = lines.decode(errors="replace")
        self._printed += printed
        if steps := _STEPS.findall(printed):
            self._done, self.advanced = steps[-1], time.monotonic()
        self.running.update(_BEGUN.findall(printed))
        self.running.subtract(_ENDED.findall(printed))
        fails = "Error in rule " in self._printed  # Snakemake shows what is wrong with it
        self._wrong = [] if fails else [*self._wrong, *_WRONG.findall(printed)][-_N_WRONG:]


def show_results(folder: Path) -> None:
    """Show the largest effects of each language and method, and then what was left out and where the page is."""
    from prasanga.methods import FAMILY, PAIRS
    from prasanga.report.summary import print_last_words, read_summaries

    summary = folder / SUMMARY
    # the last words report a broken summary
    with suppress(InputError, OSError, ValueError, LookupError, TypeError, AttributeError):
        for part, found in read_summaries(summary).items():
            for method in (*FAMILY, PAIRS):
                if found["methods"][method.name]:
                    table = f"results/{part}/{method.tables[0].path}.parquet"
                    typer.echo(tabulate_effects(folder / table, method, part or found["language"]))
    print_last_words(summary, folder / PAGE)


def tabulate_effects(file: Path, method: Method, language: str) -> str:
    """Return the largest effects in a table of estimates, or the percentages of all pairs, as text.

    Columns of p and of findings are left out until p is corrected over all methods.
    """
    from prasanga.base.io import read_frame
    from prasanga.methods import PAIRS
    from prasanga.report import grid
    from prasanga.report.sheet import probability

    rows, is_pairs = read_frame(file), method == PAIRS
    effect, low, high, p = _OF_PAIRS if is_pairs else _OF_WORDS
    rows = (rows.filter(bias_type="all") if is_pairs else grid.select_primary(rows)).drop_nulls(effect)
    write, models = ("{:.1f}%" if is_pairs else "{:+.2f}").format, rows["model"].unique()
    head, cells = f"{method.label}, {grid.name_of_language(language)}", list[list[str]]()
    head += f", {models[0]}" if len(models) == 1 else ""
    head += f": the largest {_N_EFFECTS} of {rows.height}" if rows.height > _N_EFFECTS else ""
    is_corrected = p in rows.columns and rows[p].is_not_null().any()
    for row in rows.sort(rows[effect].abs(), descending=True).head(_N_EFFECTS).rows(named=True):
        named = row["set"] if is_pairs else "{} {}, {}".format(*grid.category_of(row))
        named += f", {row['model']}" if len(models) > 1 else ""
        tested = [probability(row[p]), "yes" if row["is_found"] else "no"] if is_corrected else []
        cells.append([named, write(row[effect]), grid.write_interval(row[low], row[high], write), *tested])
    tests = ["Holm p", "found"] if is_corrected else []
    header = [head, effect.removesuffix("_size").replace("_", " "), "95% interval", *tests]
    return format_table(header, cells) if cells else ""


class EarlyEffects(logging.Handler):
    """Logs the effects of SEAT once a job has written them, long before p is corrected and the run ends."""

    def __init__(self, logger: logging.Logger, places: Mapping[str, str], outputs: Iterable[str]) -> None:
        """Wait for tables; each message of Snakemake is an occasion to look.

        Args:
            logger: of Snakemake, which this handler is added to.
            places: the folder of results of each language.
            outputs: the files that this run writes.
        """
        super().__init__()
        self._logger = logger
        self._waiting = {
            Path(path): (language, _time_of(Path(path)))
            for path in outputs
            for language, place in places.items()
            if _SEAT.fullmatch(path.removeprefix(f"{place}/"))
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Show the tables that are new."""
        from prasanga.methods import SEAT

        times = {path: _time_of(path) for path in self._waiting}
        new = [path for path, (_, before) in self._waiting.items() if times[path] not in (0, before)]
        # what is shown is a message itself: nothing may wait any more when it comes here
        languages = {path: self._waiting.pop(path)[0] for path in new}
        try:
            for path, language in languages.items():
                said = tabulate_effects(path, SEAT, language)
                self._logger.info(f"First results; p, corrected for all tests, comes with the last ones.\n{said}")
        except Exception:  # no run ends because of a table that cannot be shown
            self.handleError(record)


def _time_of(path: Path) -> int:
    """Return when a file was written; 0 if it is not there."""
    return path.stat().st_mtime_ns if path.is_file() else 0


@contextmanager
def only_run(folder: Path) -> Iterator[int]:
    """Reserve a study's folder for one run, by the yielded open file; remove the locks of a killed run.

    The file has a note on the run, which `follow` removes unless Snakemake is killed.

    Raises:
        InputError: another run holds it, or the folder cannot be written.
    """
    place = folder / _NOTES / "prasanga/running"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file = place.open("a+", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{place}: cannot be written ({error.strerror or 'a pipe'}). Check its kind, your permissions and the space"
            " on the disk, or take another folder: `--directory`."
        ) from None
    with file:
        file.seek(0)
        before = file.read(200).strip()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{folder}: this study is running already, by {before or 'another process'}. Wait for its end, or stop"
                " it; another study can run at the same time in another folder."
            ) from None
        except OSError:  # a file system without such locks, as on some clusters: Snakemake has its own lock
            pass
        for lock in (folder / _NOTES / "locks").glob("*") if before else ():  # a run of ours was killed
            lock.unlink(missing_ok=True)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {os.uname().nodename} since {datetime.now():%Y-%m-%d %H:%M}")
        file.flush()
        yield file.fileno()


# ---- a plan


def show_plan(folder: Path, **asked: Any) -> None:
    """Show what a run would do: the jobs of each stage with a reason, and the most that each model reads."""
    require_own_folders(folder)
    is_new, environment = not folder.exists(), make_environment()
    with TemporaryDirectory() as links:
        place = folder
        if not is_new and not os.access(folder, os.W_OK):
            place = _link_study(folder, Path(links))
            environment |= {COMMAND: LINKED, STORE: ""}
        line = snakemake_command(place, dry_run=True, **asked)
        ask = partial(subprocess.run, capture_output=True, text=True, errors="replace", check=False)
        done = ask(line, env=environment)
    if is_new:
        shutil.rmtree(folder, ignore_errors=True)
    last = done.stdout.strip().splitlines()[-1:] if done.returncode else []
    said = [printable(text) for text in [*done.stderr.splitlines(), *last] if not text.startswith(_OWN_NEWS)]
    if done.returncode:
        typer.echo("\n".join(said), err=True)
        raise typer.Exit(UNUSABLE)
    counts = [text for text in said if text.startswith("Model ")]
    for text in said:
        if text not in counts:
            typer.echo(text, err=True)
    rows = count_jobs(done.stdout)
    if not rows:
        typer.echo("Nothing to do: all results are up to date.")
        return
    write_table(["stage", "jobs", "why"], [[stage, str(number), why] for stage, number, why in rows])
    typer.echo(f"{sum(number for _, number, _ in rows)} jobs in all.")
    stages = {stage for stage, _, _ in rows}
    if "samples" in stages and "involves checkpoint jobs" in done.stdout:
        typer.echo("The sample decides what is embedded, so the number of later jobs may change.")
    if {"embeddings", "likelihoods"} & stages:
        typer.echo("\n".join(counts))


def _link_study(folder: Path, links: Path) -> Path:
    """Return a folder of links to the files of a read-only study, in which Snakemake can keep notes."""
    for path in folder.iterdir():
        if path.name != _NOTES.name:
            (links / path.name).symlink_to(path)
    (links / _NOTES).mkdir()
    if (metadata := folder / _NOTES / "metadata").is_dir():
        (links / _NOTES / "metadata").symlink_to(metadata)
    return links


def count_jobs(printed: str) -> list[tuple[str, int, str]]:
    """Return each stage with its number of jobs and why they run."""
    stages: dict[str, list[str]] = {}
    for stage, reason in _JOB.findall(printed):
        stages.setdefault(stage, []).append(reason)
    return [(stage, len(reasons), explain(reasons)) for stage, reasons in stages.items()]


def explain(reasons: Sequence[str]) -> str:
    """Return why the jobs of a stage run, in a few words, from Snakemake's reasons."""
    parts = [part for reason in reasons for part in reason.split("; ")]
    for begin, why in _REASONS.items():
        if found := [part for part in parts if part.startswith(begin)]:
            return "code changed" if why == "setting changed" and all(map(_is_edited, found)) else why
    return parts[0]


def _is_edited(change: str) -> bool:
    """Return whether parameters differ only by the fingerprint of a script."""
    _, _, values = change.partition(" before: ")
    return len(_CODE.findall(values)) == 2 and not re.search(r"\w", _CODE.sub("", values).replace(" now: ", ""))
