"""What all rules share: the config, what the study consists of, and how results are noted and code is fingerprinted."""

import os
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.cli import get_argument_parser

from prasanga.config import complete, read_schema, require_names_apart
from prasanga.errors import InputError
from prasanga.lexicon.categories import (
    chosen_categories,
    read_categories,
    require_language,
    require_searched,
    require_words,
    stimuli_of,
)
from prasanga.lexicon.planning import plan_lexicon
from prasanga.likelihoods.planning import digest_of_set
from prasanga.models.studied import (
    kind_at_hand,
    require_encoder,
    require_places,
    require_stage,
    scored_models,
    studied_models,
    twins_of,
)
from prasanga.provenance import digest_of
from prasanga.provenance.ledger import here, note_job
from prasanga.provenance.code import fingerprint, remembered, say_edits
from prasanga.provenance.ledger import MANIFEST, synchronize
from prasanga.samples import bucket_names, parse_length, require_longest
from prasanga.sentences.manifest import update_manifest
from prasanga.sentences.shards import find_shards, require_apart


def arguments_of_snakemake():
    """What stands on Snakemake's own command line; None if it was not started from there."""
    try:
        return get_argument_parser().parse_known_args(sys.argv[1:])[0]
    except SystemExit:
        return None


def asked_for_figures():
    """Whether Snakemake was asked for figures and nothing else; the rules are read before it says so itself."""
    if not any("figures" in argument for argument in sys.argv):
        return False
    names = getattr(arguments_of_snakemake(), "targets", None)
    return bool(names) and all(name == "figures" or name.startswith("results/report/figures/") for name in names)


def asked_for_check():
    """Whether results are to be looked at and nothing is to be made; sources and vectors need not be there."""
    return "check_results" in sys.argv and set(getattr(arguments_of_snakemake(), "targets", [])) == {"check_results"}


def vectors_at_hand():
    """Whether statistics are to be made from cached vectors, and there are any."""
    return config["embeddings"]["source"] == "cached" and any(Path("results/embeddings").glob("*/*.json"))


config = readable(
    complete,
    config,
    read_schema(Path(workflow.basedir, "workflow/schemas/config.schema.yaml")),
)

# Whoever asks for the figures alone gets them from the results that are there; nothing else is looked at, or made.
CHECKED = asked_for_check()
FROM_RESULTS = CHECKED or (asked_for_figures() and not vectors_at_hand())
COMPUTED = config["embeddings"]["source"] == "computed" and not FROM_RESULTS
STUDIED = readable(studied_models, config["models"])
MODELS = sorted(STUDIED)
# Null controls: they are measured as the models are, and stand beside them in tables, never among them.
TWINS = readable(twins_of, STUDIED, config["seed"]) if config["associations"]["random_twin"] else {}
TWIN_OF = dict(zip(TWINS, STUDIED))
# The models that are asked for probabilities, and their null controls; a layer is no question there.
SCORED = readable(scored_models, config["models"])
SCORED_TWINS = readable(twins_of, SCORED, config["seed"]) if config["associations"]["random_twin"] else {}
SCORED_TWIN_OF = dict(zip(SCORED_TWINS, SCORED))
KINDS = {model: kind_at_hand(settings) for model, settings in SCORED.items()}
# Log-probability bias is asked of models with a mask; one of the hub whose kind is not written down is taken for one,
# and refused by check_model if it is none.
MASKED = [model for model in SCORED if KINDS[model] in ("encoder", "auto")]
MASKED_TWINS = [twin for twin, model in SCORED_TWIN_OF.items() if model in MASKED]
PAIRS, LOG_PROBABILITY = config["pairs"], config["log_probability"]
SETS, TRAITS = PAIRS["sets"], LOG_PROBABILITY["traits"]
OF_WORDS = [f"log_probability.{key}" for key in ("categories", "traits") if LOG_PROBABILITY[key]]
readable(require_stage, config["models"], "likelihoods", [*(["pairs.sets"] if SETS else []), *OF_WORDS])
readable(require_encoder, KINDS, OF_WORDS)
readable(require_names_apart, config["static"]["vectors"], {**STUDIED, **SCORED})
LENGTHS = [parse_length(length) for length in config["samples"]["lengths"]]
readable(require_longest, LENGTHS, config["samples"]["longest"])
LENGTH_FILES = [length.file_name for length in LENGTHS]
DRAWN = f"results/samples/{'-'.join(LENGTH_FILES)}.of{config['embeddings']['buckets']}.json"
LABELS = {length.file_name: length.label for length in LENGTHS}
BUCKETS = bucket_names(config["embeddings"]["buckets"])
TRAINED = sorted(model for model, settings in config["models"].items() if "train" in settings)
NORMALIZATION = config["normalization"][config["language"]]
# What plans need to know again and again, kept beside Snakemake's own notes; deleting it costs a second.
CACHE = ".snakemake/prasanga"


# The lexicon is read while planning: a mistake in it is told before any job, and the jobs depend on what it comes to and
# not on the files. Without the files (cached vectors on another machine) the categories are those of the results.
if FROM_RESULTS:
    LEXICON, SET_FILES, CATEGORIES = None, {}, {}
elif COMPUTED or Path(config["lexicon"]["stimuli"]).exists():
    LEXICON = readable(
        partial(plan_lexicon, normalization=NORMALIZATION, cache=CACHE),
        config["lexicon"]["stimuli"],
        config["lexicon"]["suffix_groups"],
    )
    readable(require_language, LEXICON.language, config["language"])
    FORMS, CATEGORIES, SET_FILES = LEXICON.forms, LEXICON.categories, LEXICON.files
else:
    LEXICON, SET_FILES = None, {}
    CATEGORIES = readable(read_categories, "results/lexicon/categories.json")
SEAT = config["seat"]
SENTENCES = "results/samples/templates.parquet"
CHOSEN, SEAT_CHOSEN, LOG_PROBABILITY_CHOSEN = (
    {} if FROM_RESULTS else readable(partial(chosen_categories, key=key), CATEGORIES, names)
    for key, names in (
        ("categories", config["categories"]),
        ("seat.categories", SEAT["categories"]),
        ("log_probability.categories", LOG_PROBABILITY["categories"]),
    )
)
if CHOSEN:
    readable(require_searched, CATEGORIES, config["categories"])
if LOG_PROBABILITY_CHOSEN:  # a name with a slip in it would be passed over
    readable(partial(chosen_categories, key="log_probability.exchanged"), CATEGORIES, LOG_PROBABILITY["exchanged"])
for chosen, key in (
    (CHOSEN, "categories"),
    (SEAT_CHOSEN, "seat.categories"),
    (LOG_PROBABILITY_CHOSEN, "log_probability.categories"),
):
    readable(partial(require_words, key=key, files=SET_FILES), CATEGORIES, chosen)


# Corpus files enter as digests of their content, which the manifest remembers: their times say nothing.
SHARDS, SUPPLEMENT, CORPUS = {}, {}, {}
if COMPUTED:
    readable(require_places, config["models"], Path.cwd())
    for name, settings in SETS.items():  # else results of an earlier run would stand in for pairs that are not there
        readable(digest_of_set, name, settings["path"])
    SHARDS, SUPPLEMENT = (
        readable(
            find_shards,
            config["corpus"]["root"],
            config["corpus"][key],
            config["corpus"]["shard_megabytes"] * 10**6,
            f"corpus.{key}",
            [".", *config["outside"]],
        )
        for key in ("texts", "supplement")
    )
    readable(require_apart, SHARDS, SUPPLEMENT)
    CORPUS = readable(
        update_manifest,
        f"results/{MANIFEST}",
        [shard.path for shard in (*SHARDS.values(), *SUPPLEMENT.values())],
    )


# The same patterns stand in workflow/schemas/config.schema.yaml (names of models, lengths).
wildcard_constraints:
    shard=r"[A-Za-z0-9_.-]+",
    model=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    family="|".join(map(re.escape, config["models"])),
    length=r"\d+|over\d+",
    bucket=r"\d\d",
    set="|".join(map(re.escape, SETS)) or "(?!)",


def circumstances(study):
    """The config, the libraries and the kind of host that this process runs with."""
    told = workflow.resource_settings
    return here(study, {"cores": told.cores, "jobs": told.nodes, "threads": dict(told.overwrite_threads)})


def note_host(workflow):
    """In a job that was sent to another host: note what kind of host makes its files. No job fails for it."""
    asked = getattr(arguments_of_snakemake(), "target_jobs", None) or []
    try:
        jobs = [(workflow.get_rule(job.rulename), job.wildcards_dict) for job in asked]
        outputs = [str(path) for rule_of_job, wildcards in jobs for path in rule_of_job.expand_output(wildcards)[0]]
    except (WorkflowError, AttributeError):
        return
    note_job(Path(".snakemake"), outputs, circumstances({}))


def note_results():
    """Keep Snakemake's notes on this run beside the results; a full disk must not make a failure of a success."""
    try:
        synchronize(Path.cwd(), own_run=True, circumstances=circumstances(config), code=CODE)
    except (InputError, OSError) as error:
        print(f"The results are as they should be, but not noted: {error}", file=sys.stderr)


# Of each script, what the newest of its results was made with, and what it is now.
MADE_WITH, CODE = {}, {}
if workflow.is_main_process:
    MADE_WITH = readable(partial(synchronize, circumstances=circumstances(config)), Path.cwd()).code


SUMMARY, PAGE = Path("results/summary.json"), Path("results/report/index.html")


def times_of_end():
    """When summary and page were last written; None for what is not there."""
    return [path.stat().st_mtime_ns if path.exists() else None for path in (SUMMARY, PAGE)]


ENDED_BEFORE = times_of_end()


def say_last_words():
    """Say in three lines what came out, where this run made summary or page; that it cannot be said is no failure."""
    try:
        if not workflow.is_main_process or times_of_end() == ENDED_BEFORE:
            return
    except OSError:  # a folder that can no longer be read
        return
    from prasanga.report.last_words import print_last_words  # polars and the page's libraries: not while planning

    print_last_words(SUMMARY, PAGE)


def require_writable_results():
    """Refuse to start jobs where they could not write; Snakemake, which removes old results first, would only crash."""
    outputs = (Path(str(output)) for job in workflow.dag.needrun_jobs() for output in job.output)
    for folder in sorted({nearest_folder(output) for output in outputs}):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise WorkflowError(
                f"{folder}: you may not write there, and jobs write results there. Let yourself write"
                f" (`chmod u+rwx {folder}`), or have it made yours, and run again: what is done is not done twice."
            )


def nearest_folder(path):
    """The folder that a file is to be in or, before that is made, the one that it is to be made in."""
    return next(folder for folder in path.parents if os.path.isdir(folder))


onstart:
    require_writable_results()


onsuccess:
    note_results()
    say_last_words()


onerror:
    note_results()


def attach_fingerprints(workflow):
    """Give every rule the fingerprint of the code that its script reaches, so that an edit is a change of params."""
    with remembered(f"{CACHE}/code.json"):
        for each in workflow.rules:
            if each.script:
                script = Path(workflow.basedir, "workflow/scripts", Path(str(each.script)).name)
                CODE[script.name] = fingerprint(script)
                each.set_params(f"{script.name} {CODE[script.name].fingerprint}")
    warn(say_edits(MADE_WITH, CODE))


def warn(sentence):
    """Say something at the start of a run, once, that is no reason to stop."""
    if sentence and workflow.is_main_process:
        print(f"Warning: {sentence}", file=sys.stderr)


def digests_of(categories):
    """A parameter for each category, its name and a digest of its words: Snakemake prints those that differ, and no more."""
    return [f"category {name} {digest_of(category)[:12]}" for name, category in categories.items()]


def files_of(folder_or_file):
    """A file itself, or the YAML and JSON files of a folder: what the lexicon is read from."""
    path = Path(folder_or_file)
    if path.is_dir():
        return sorted(str(p) for p in path.iterdir() if p.suffix in {".yaml", ".json", ".jsonl"})
    return [str(path)]


def lexicon_files(wildcards):
    """The word sets, categories and suffix groups that the lexicon is compiled from."""
    settings = config["lexicon"]
    groups = settings["suffix_groups"]
    return files_of(settings["stimuli"]) + ([groups] if groups else [])


def lexicon_settings():
    """Where the words of the study are read from, and in which spelling."""
    return {
        **{key: config["lexicon"][key] for key in ("stimuli", "suffix_groups")},
        "normalization": NORMALIZATION,
    }


def made_by_the_workflow(path):
    """A file of an earlier stage: made if vectors are computed, used if it is there when they come from the cache."""
    return [path] if COMPUTED or Path(path).exists() else []
