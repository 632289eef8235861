"""Shared by all rules: the config, the plan that follows from it, and how a change of code is noticed."""

import logging
import os
import sys
from functools import partial
from pathlib import Path

from snakemake.cli import get_argument_parser
from snakemake.exceptions import IncompleteCheckpointException
from snakemake.logging import logger

# Shipped files are in the folder of the Snakefile, wherever it is included; the study is the working directory.
INSTALLATION = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent

# The fingerprint covers the code that runs: this checkout, wherever else the package is installed. In a wheel the packages
# are in the parent of the workflow's folder.
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
    "PYTHONUTF8": "1",  # in any locale
}


# Jobs that are sent elsewhere set it as well, also where a queue passes no environment on.
envvars:
    "PYTHONSAFEPATH",


from prasanga.base.io import digest_of
from prasanga.base.logs import COMMAND, LINKED, collect_seldom
from prasanga.base.places import PAGE, link_installation, link_store, place, require_own_folders, require_store
from prasanga.base.places import count_gpus, require_utf8
from prasanga.cli.running import EarlyEffects, show_results
from prasanga.config import complete, config_of, read_config, split_languages
from prasanga.embeddings.settings import VECTORS_VERSION
from prasanga.lexicon.templates import template_files
from prasanga.likelihoods.stage import SCORES_VERSION
from prasanga.methods import FAMILY, SEAT, TABLES, method_named, names_of
from prasanga.models.packaged import CHECKS_VERSION, PACKAGED
from prasanga.pairs.reading import PAIRS_VERSION
from prasanga.plan import StudyPlan, files_of_sentences, list_word_files, local_paths, plan_candidates
from prasanga.plan.jobs import AUDIT, LISTS, MODEL_FILES, SEGMENTS, SENTENCES, SUPPLEMENT, Files, Settings, list_paths
from prasanga.plan.runs import Checkpoints, asks_only_for, attach_fingerprints, begin_config, call_readably, count_texts
from prasanga.plan.runs import finish_config, keep_vectors, list_unnoticed_changes, machine_for, name_in
from prasanga.plan.runs import name_unreachable, read_arguments, require_cached, require_config_of_results
from prasanga.plan.runs import require_inputs, require_results, tabulate_shifts, vectors_at_hand
from prasanga.sentences.files import SENTENCES_VERSION
from prasanga.static import STATIC_VERSION
from prasanga_construction.planning import is_asked_for

collect_seldom()  # nearly all that a plan makes stays
logging.raiseExceptions = False  # progress bars look for the logs of jobs that were stopped before they began one
PART = workflow.pathvars.items.get("part", "")  # a language of several
readable = partial(call_readably, WorkflowError, workflow.is_main_process, PART)
ARGUMENTS = partial(read_arguments, get_argument_parser)

# A study is one file, completed with defaults: the one in the folder or, with --configfile, another one. A workflow that
# includes this one as a module may give the keys themselves.
CONFIGS = workflow.overwrite_configfiles
if not CONFIGS and not workflow.modifier.skip_configfile:
    CONFIGS = [str(readable(config_of, "."))]
    if workflow.is_main_process:
        readable(read_config, CONFIGS[0])  # Snakemake's own reader says less about mistakes

    configfile: CONFIGS[0]


# Its files are looked at before anything is made of them.
if workflow.is_main_process:
    for file in CONFIGS:
        readable(read_config, file)
    readable(require_utf8)
    if os.getenv(COMMAND) != LINKED:  # the command has looked at the folder that its links lead to
        readable(require_own_folders, Path.cwd())
    readable(link_installation, INSTALLATION)
    for sentence in readable(link_store, os.getenv("PRASANGA_STORE", "")):
        print(f"Warning: {sentence}", file=sys.stderr)

# As it is written, with all defaults: what results keep, and what figures are drawn with.
WRITTEN = readable(partial(complete, source=CONFIGS[-1] if CONFIGS else None), config)
config = readable(partial(complete, placed=True), WRITTEN)

# A study of several languages is a study of each, in a folder of its own below results/, and tables and a page over them.
RESULTS = workflow.pathvars.apply("<results>")
STUDIES = split_languages(WRITTEN)
PLACES = {language: f"{RESULTS}/{language}" if len(STUDIES) > 1 else RESULTS for language in STUDIES}

# Whoever asks for the figures alone gets them from the results that are there; nothing else is looked at, or made.
ONLY_FIGURES = asks_only_for("figures", sys.argv, lambda: ARGUMENTS().targets or ["all"])
FROM_RESULTS = ONLY_FIGURES and not any(vectors_at_hand(own, PLACES[language]) for language, own in STUDIES.items())
TO_WRITE: set[str] = set()
WARNINGS = []
if not PART and FROM_RESULTS:
    readable(require_config_of_results, WRITTEN)
elif not PART:
    WARNINGS += readable(list, list_unnoticed_changes(WRITTEN))


onstart:
    TO_WRITE.update(str(output) for job in workflow.dag.needrun_jobs() for output in job.output)
    if keep_vectors(TO_WRITE):
        readable(require_store)
    if not FROM_RESULTS:
        readable(begin_config, WRITTEN)
    logger.addHandler(EarlyEffects(logger, PLACES, TO_WRITE))


onsuccess:
    if not FROM_RESULTS and str(PAGE) in {str(output) for job in workflow.dag.jobs for output in job.output}:
        readable(finish_config)  # the page rests on all tables, and none is older than it should be
    # the command does it itself
    if workflow.is_main_process and COMMAND not in os.environ and str(PAGE) in TO_WRITE:
        show_results(Path())
