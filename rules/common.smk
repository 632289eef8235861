"""What all rules share: the config and what is planned from it, and how a change of code is noticed."""

import logging
import os
import sys
from functools import cache, partial
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.exceptions import IncompleteCheckpointException

# What is shipped lies beside the Snakefile, whoever includes that; the study is the working directory.
INSTALLATION = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent

# The code that is fingerprinted is the code that runs: that of this checkout, wherever else the package is installed. A
# wheel has the packages beside the folder of the workflow.
IS_CHECKOUT = (INSTALLATION / "src").is_dir()
FOLDERS = (
    [INSTALLATION / name for name in ("src", "construction", "calibration")] if IS_CHECKOUT else [INSTALLATION.parent]
)
PACKAGES = [str(folder.resolve()) for folder in FOLDERS]
sys.path[:0] = PACKAGES
os.environ |= {
    "PYTHONPATH": os.pathsep.join(filter(None, [*PACKAGES, *os.getenv("PYTHONPATH", "").split(os.pathsep)])),
    # No job imports from the study's folder: neither from the folder it starts in nor from .snakemake/scripts.
    "PYTHONSAFEPATH": "1",
}


# Jobs that are sent elsewhere set it as well, also where a queue passes no environment on.
envvars:
    "PYTHONSAFEPATH",


from prasanga.config import complete, config_of, read_config
from prasanga.base.places import link_installation, link_store, place, require_no_modules, require_store
from prasanga.embeddings.settings import VECTORS_VERSION
from prasanga.embeddings.shards import require_shards
from prasanga.likelihoods.stage import SCORES_VERSION
from prasanga.base.errors import InputError
from prasanga.base.fingerprint import fingerprints, module_file
from prasanga.base.origin import name_old_stores
from prasanga.plan.settings import require_scores
from prasanga.base.logs import collect_seldom, said_of_failure
from prasanga.methods import FAMILY, names_of
from prasanga.models.options import CHECKS_VERSION
from prasanga.pairs.layouts import PAIRS_VERSION
from prasanga.plan import Files, Settings, StudyPlan, digests_of
from prasanga.plan import begin_config, finish_config, require_config_of_results, require_results, unnoticed_changes
from prasanga.plan.runs import PAGE, LastWords, asks_only_for, cores_beside, keep_vectors, machine_for, name_in
from prasanga.plan.runs import count_texts, require_writable, vectors_at_hand
from prasanga.report.figures import drawing_settings, shown_in
from prasanga.sentences.files import SENTENCES_VERSION
from prasanga.static import STATIC_VERSION

collect_seldom()  # nearly all that a plan makes stays
logging.raiseExceptions = False  # progress bars look for the logs of jobs that were stopped before they began one


def readable(function, *arguments):
    """Call `function`; any error ends the run with a sentence, before a job runs with exit status 2."""
    try:
        return function(*arguments)
    except Exception as error:
        sentence = str(error) if isinstance(error, InputError) else said_of_failure(error, "logs/planning.log")
        if not workflow.is_main_process:
            raise WorkflowError(sentence) from None
    print(sentence, file=sys.stderr)
    sys.exit(2)


# A study is one file, complete by its own keys and the defaults of the schema: that of the folder or, with --configfile,
# another one. Whoever includes the workflow as a module may give the keys themselves.
CONFIGS = workflow.overwrite_configfiles
if not CONFIGS and not workflow.modifier.skip_configfile:
    CONFIGS = [str(readable(config_of, "."))]
    if workflow.is_main_process:
        readable(read_config, CONFIGS[0])  # Snakemake's own reader says less of what is wrong

    configfile: CONFIGS[0]


# Its files are looked at before anything is made of them.
if workflow.is_main_process:
    for file in CONFIGS:
        readable(read_config, file)
    readable(require_no_modules, Path.cwd())
    readable(link_installation, INSTALLATION)
    readable(link_store, os.getenv("PRASANGA_STORE", ""))


@cache
def arguments_of_snakemake():
    """Return what stands on Snakemake's own command line; None if it was not started from there."""
    try:
        return get_argument_parser().parse_known_args(sys.argv[1:])[0]
    except SystemExit:
        return None


def asked_for():
    """Return what Snakemake is asked for; the rules are read before it says so itself."""
    return getattr(arguments_of_snakemake(), "targets", None) or ["all"]


def warn(sentence):
    """Say something at the start of a run, once, that is no reason to stop."""
    if sentence and workflow.is_main_process:
        print(f"Warning: {sentence}", file=sys.stderr)


# As it is written, with all defaults: what results keep, and what figures are drawn with.
WRITTEN = readable(partial(complete, source=CONFIGS[-1] if CONFIGS else None), config)
config = readable(partial(complete, placed=True), WRITTEN)

# Whoever asks for the figures alone gets them from the results that are there; nothing else is looked at, or made.
FROM_RESULTS = asks_only_for("figures", sys.argv, asked_for) and not vectors_at_hand(config)
STUDY = readable(partial(StudyPlan.from_config, from_results=FROM_RESULTS, is_job=not workflow.is_main_process), config)
SETTINGS = Settings(STUDY)
FILES = readable(Files, STUDY)
if workflow.is_main_process and STUDY.computed and getattr(arguments_of_snakemake(), "dryrun", False):
    print(*count_texts(STUDY), sep="\n", file=sys.stderr)
if FROM_RESULTS:
    readable(require_results, FILES)
    readable(require_config_of_results, WRITTEN)
if not (STUDY.computed or FROM_RESULTS):
    readable(require_shards, SETTINGS.cached_lists(), SETTINGS.dispensable_lists())
    readable(require_scores, SETTINGS.cached_scores())
for sentence in [*STUDY.texts.warnings, *FILES.missing, *name_old_stores(), *unnoticed_changes(WRITTEN)]:
    warn(sentence)


machine_for = partial(machine_for, STUDY)


# The same patterns are in prasanga.config.values (names of models, lengths).
wildcard_constraints:
    shard=r"[A-Za-z0-9_.-]+",
    model=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    family=name_in(config["models"]),
    length=r"\d+|over\d+",
    bucket=r"\d\d",
    method=name_in(names_of(FAMILY)),
    set=name_in(STUDY.sets),
    vectors=name_in(config["static"]["vectors"]),


@cache
def undrawn(known):
    """Return what Snakemake raises while samples are not drawn; None once they are.

    Snakemake looks through all lengths and buckets for it. The answer depends on the outputs of checkpoints that are
    known by then, of which there are only ever more: `known` is their number.
    """
    try:
        checkpoints.draw_samples.get()
    except IncompleteCheckpointException as error:
        return error


def once_drawn(path):
    """Return a path once samples are drawn; until then, tell Snakemake to come back."""
    if error := undrawn(len(checkpoints.created_output)):
        raise error.with_traceback(None)
    return path


def check_of(models):
    """Return what asks for the check of the model that a job runs: one of `models`, which has the settings of each."""
    return lambda wildcards: checkpoints.check_model.get(family=models[wildcards.model]["family"]).output[0]


def audited(wildcards):
    """Wait for the audit of all tokenizers; an audit that runs again embeds nothing again."""
    return checkpoints.audit_tokenizers.get().output.counts


def in_report(path, caption, category, **labels):
    """Return a file that goes into Snakemake's own report, under a caption."""
    return report(path, caption=f"../workflow/report/{caption}.rst", category=category, labels=labels)


def captioned(paths):
    """Return files of the report as a rule's output; CSV tables and SVG figures go into Snakemake's own report."""
    kinds = {".csv": ("tables", "Tables", "table"), ".svg": ("figure", "Figures", "figure")}
    found = {path: kinds.get(Path(path).suffix) for path in paths}
    return [
        in_report(path, *kind[:2], **{kind[2]: shown_in(Path(path).stem)}) if kind else path
        for path, kind in found.items()
    ]


def describe_drawings(names):
    """Return what the job that draws figures of these names is given, with the code of the functions that draw."""
    return [
        {
            **drawing_settings(name, DRAWINGS[name], config["report"]),
            "code": DRAWING_CODE[DRAWN_BY[name]],
        }
        for name in names
    ]


LAST_WORDS = LastWords()


onstart:
    outputs = [str(output) for job in workflow.dag.needrun_jobs() for output in job.output]
    readable(require_writable, outputs)
    if keep_vectors(outputs):
        readable(require_store)
    if not FROM_RESULTS:
        readable(begin_config, WRITTEN)


onsuccess:
    if not FROM_RESULTS and str(PAGE) in {str(output) for job in workflow.dag.jobs for output in job.output}:
        readable(finish_config)  # the page rests on all tables, and none is older than it should be
    if workflow.is_main_process:
        LAST_WORDS.say()


def attach_fingerprints(workflow):
    """Give each rule the fingerprint of its script's code as a parameter, unless it has a version constant instead."""
    scripts = {}
    for each in workflow.rules:
        script = Path(each.basedir.get_path_or_uri(secret_free=True), str(each.script)) if each.script else None
        # scripts of whoever includes us are theirs
        if script and script.is_relative_to(INSTALLATION) and "version" not in each.params.keys():
            scripts[each] = script.resolve()
    found = fingerprints(scripts.values())
    for each, script in scripts.items():
        each.set_params(f"{script.name} {found[script]}")
