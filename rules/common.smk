"""What the rules share: the config, names of files, and what the parameters of jobs are made of."""

import os
import re
import sys
from functools import partial
from pathlib import Path

# The code that is fingerprinted is the code that runs: that of this checkout, wherever else the package is installed.
SOURCE = Path(workflow.basedir, "src").resolve()
sys.path.insert(0, str(SOURCE))
os.environ |= {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.getenv("PYTHONPATH", "")]).rstrip(os.pathsep)}

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
    files_of_model,
    kind_at_hand,
    require_encoder,
    require_places,
    require_stage,
    scored_models,
    studied_models,
    twins_of,
)
from prasanga.provenance import digest_of
from prasanga.provenance.code import fingerprint, remembered
from prasanga.provenance.ledger import MANIFEST, synchronize
from prasanga.samples import bucket_names, counts_of, parse_length, require_longest
from prasanga.sentences.manifest import update_manifest
from prasanga.sentences.shards import find_shards, require_apart


def readable(function, *arguments):
    """Call `function`; an InputError of ours ends the run as a message, not as a traceback of Snakemake's."""
    try:
        return function(*arguments)
    except InputError as error:
        raise WorkflowError(str(error)) from None


config = readable(
    complete,
    config,
    read_schema(Path(workflow.basedir, "workflow/schemas/config.schema.yaml")),
)

COMPUTED = config["embeddings"]["source"] == "computed"
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
if COMPUTED or Path(config["lexicon"]["stimuli"]).exists():
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
CHOSEN = readable(chosen_categories, CATEGORIES, config["categories"])
readable(require_searched, CATEGORIES, config["categories"])
SEAT = config["seat"]
SENTENCES = "results/samples/templates.parquet"
SEAT_CHOSEN = readable(partial(chosen_categories, key="seat.categories"), CATEGORIES, SEAT["categories"])
LOG_PROBABILITY_CHOSEN = readable(
    partial(chosen_categories, key="log_probability.categories"), CATEGORIES, LOG_PROBABILITY["categories"]
)
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


def note_results():
    """Keep Snakemake's notes on this run beside the results; a full disk must not make a failure of a success."""
    try:
        synchronize(Path.cwd(), own_run=True)
    except InputError as error:
        print(f"The results are as they should be, but not noted: {error}", file=sys.stderr)


if workflow.is_main_process:
    readable(synchronize, Path.cwd())


onsuccess:
    note_results()


onerror:
    note_results()


def attach_fingerprints(workflow):
    """Give every rule with a script the digests of the code that it reaches, so that an edit is a change of params.

    One parameter a module: Snakemake prints those that differ, and so names the culprit.
    """
    with remembered(f"{CACHE}/code.json"):
        for each in workflow.rules:
            if each.script:
                script = Path(workflow.basedir, "workflow/scripts", Path(str(each.script)).name)
                digests = fingerprint(script, SOURCE)
                each.set_params(*(f"{name} {digest}" for name, digest in digests.items()))


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


def all_lists(wildcards):
    """The lists of embeddings of all models at one length."""
    return expand(
        "results/embeddings/{model}/{length}.json",
        model=MODELS,
        length=wildcards.length,
    )


def drawn_segments(wildcards):
    """The bucket of segments of one length, known once they are drawn."""
    drawn = checkpoints.draw_samples.get().output.segments
    wanted = f"results/samples/{wildcards.length}/{wildcards.bucket}.parquet"
    return next(path for path in drawn if path == wanted)


def drawn_short_segments(wildcards):
    """A bucket of segments of the shortest length, known once they are drawn."""
    drawn = checkpoints.draw_samples.get().output.segments
    shortest = min(LENGTHS, key=lambda length: length.words).file_name
    return next(path for path in drawn if path == f"results/samples/{shortest}/{BUCKETS[0]}.parquet")


def settings_of(model):
    """The settings of a model as it is measured, or of a twin."""
    return STUDIED.get(model) or TWINS[model]


def first_layer(wildcards):
    """The same shard of the model's first layer: its job embeds the other layers in the same pass."""
    family = settings_of(wildcards.model)["family"]
    alike = STUDIED if wildcards.model in STUDIED else TWINS
    first = next(name for name, settings in alike.items() if settings["family"] == family)
    shard = f"results/embeddings/{first}/{wildcards.length}/{wildcards.bucket}.parquet"
    return [] if first == wildcards.model else [shard]


def checked_model(wildcards):
    """What is known of a model, once it has been looked at."""
    return checkpoints.check_model.get(family=settings_of(wildcards.model)["family"]).output.report


def checked_scorer(wildcards):
    """What is known of a model that is asked for probabilities, once it has been looked at."""
    return checkpoints.check_model.get(family=scored_settings(wildcards.model)["family"]).output.report


def scored_settings(model):
    """The settings of a model that is asked for probabilities, or of its twin."""
    return SCORED.get(model) or SCORED_TWINS[model]


def cards_of_scorer(wildcards):
    """The cards that it is spread over."""
    return scored_settings(wildcards.model)["cards"]


def cards_of(wildcards):
    """The cards that a model is spread over."""
    return settings_of(wildcards.model)["cards"]


def model_files(wildcards):
    """The files of a model that lies on this machine; none for one that comes from the hub."""
    settings = config["models"][wildcards.family]
    if "train" in settings:
        names = (
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
        )
        return [f"results/models/{wildcards.family}/{name}" for name in names]
    folder = Path(settings["path"])
    return sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def model_settings(family):
    """Which model it is and how it is to be read. How many cards it is spread over changes nothing in its vectors."""
    settings = config["models"][family]
    return {
        "model": settings.get("path", f"results/models/{family}"),
        "revision": settings["revision"],
        "options": {
            key: settings[key] for key in ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
        },
    }


def replaceable_files(family):
    """The files of a model that a user may replace by others, as they are now."""
    settings = config["models"][family]
    return files_of_model(settings["path"]) if "path" in settings else {}


def embedding_settings(model):
    """What changes the vectors of a model, and where it comes from."""
    settings = settings_of(model)
    which = model_settings(settings["family"])
    chosen = {key: value for key, value in which["options"].items() if key != "kind"}
    return {
        **which,
        "options": chosen | {key: settings[key] for key in ("random_weights",) if key in settings},
        **{key: settings[key] for key in ("layer", "layers", "dtype", "pieces")},
        **{key: config["embeddings"][key] for key in ("stored_dtype", "unknown")},
    }


def extraction_settings():
    """What decides which sentences are found in a text, and what stands in them."""
    chosen = {key: config["sentences"][key] for key in ("match", "before", "after")}
    asked = {key: text for key, text in config["replacements"].items() if text is not None}
    return {
        **chosen,
        "language": config["language"],
        "normalization": NORMALIZATION,
        "replacements": asked,
    }


def shard_settings(shard):
    """What one job reads: a file or a part of it, known by its content."""
    return {
        **extraction_settings(),
        "errors": config["corpus"]["errors"],
        # which entry of the config names a file changes nothing in it
        "shard": {**shard._asdict(), "columns": list(shard.columns), "text": 0},
        "digest": CORPUS[shard.path],
        "manifest": f"results/{MANIFEST}",
    }


def whole_files():
    """The files of the corpus, not in parts."""
    files = {shard.path: shard._replace(start=0, end=None) for shard in SHARDS.values()}
    return [files[path] for path in sorted(files)]


def made_by_the_workflow(path):
    """A file of an earlier stage: made if vectors are computed, used if it is there when they come from the cache."""
    return [path] if COMPUTED or Path(path).exists() else []


def cached_lists():
    """The lists of embeddings of the study, each with what the config says of its vectors."""
    sampling = {key: config["samples"][key] for key in ("pool", "contexts_per_stimulus", "window", "longest")}
    text = {**extraction_settings(), "seed": config["seed"]}
    measured = (*MODELS, *TWINS)
    of_contexts = {
        f"results/embeddings/{model}/{length}.json": {**embedding_settings(model), **sampling, **text}
        for model in measured
        for length in LENGTH_FILES
    }
    # the list of sentences says which vector `auto` came to
    of_sentences = {
        f"results/embeddings/{model}/templates.json": {
            key: value for key, value in sentence_settings(model).items() if (key, value) != ("sentence_vector", "auto")
        }
        for model in (measured if SEAT["categories"] else ())
    }
    return of_contexts | of_sentences


def dispensable_lists():
    """The lists of embeddings that a study can go without, by what to write then."""
    lists = list(cached_lists())
    twins = (
        "of twins with random weights (associations.random_twin); without them: `associations: {random_twin: false}`."
    )
    return {
        twins: [path for path in lists if Path(path).parent.name in TWINS],
        "of sentences for SEAT; without it: `seat: {categories: []}`.": [
            path for path in lists if Path(path).name == "templates.json"
        ],
    }


def ceat_tables(ending, models=MODELS):
    """The tables with this ending of all models (or twins) at all lengths; none if no model is asked for vectors."""
    return expand(
        "results/associations/ceat/{model}/{length}.{ending}",
        model=models,
        length=LENGTH_FILES,
        ending=ending,
    )


def estimates_of_jobs(method):
    """The tables of estimates that the jobs of a method write; none of a method that the study does not ask for."""
    if method == "ceat":
        return ceat_tables("parquet")
    names = {
        "seat": MODELS if config["seat"]["categories"] else [],
        "weat": sorted(config["static"]["vectors"]),
        "log_probability": MASKED if LOG_PROBABILITY["categories"] else [],
    }
    stage = "likelihoods" if method == "log_probability" else "associations"
    return expand(f"results/{stage}/{method}/{{name}}.parquet", name=names[method])


def tables_of_method(wildcards):
    """The tables of one method, by its name."""
    method = wildcards.method
    return {method: BIAS if method == "pairs" else estimates_of_jobs(Path(table_of(method)).stem)}


def other_tests(method):
    """The estimates of the study's other methods, whose tests count where p is corrected."""
    methods = ("ceat", "seat", "weat", "log_probability")
    return [path for other in methods if other != method for path in estimates_of_jobs(other)]


def test_settings():
    """How effects are tested, in WEAT, SEAT and CEAT alike."""
    names = ("std", "alternative", "n_permutations", "interval", "n_resamples", "resample_attributes", "n_shuffles")
    return {name: config["associations"][name] for name in names}


def control_settings():
    """The same for twins, of which the effect and its p are all that is shown."""
    return {**test_settings(), "n_resamples": 0, "n_shuffles": 0}


def ceat_settings(model):
    """What changes the CEAT of a model."""
    return {
        **{
            key: config["associations"][key]
            for key in ("n_samples", "sample_modes", "variance", "tau2", "draws", "band")
        },
        "test": control_settings() if model in TWINS else test_settings(),
        **{key: config["samples"][key] for key in ("pool", "window")},
        "match": config["sentences"]["match"],
        "pieces": settings_of(model)["pieces"],
        "seed": config["seed"],
    }


def template_settings():
    """What decides which sentences there are: the words, their classes and forms, and the templates."""
    return {
        **lexicon_settings(),
        "words": LEXICON.words,
        "categories": SEAT["categories"],
        "sets": digest_of(SEAT_CHOSEN),
        # what the file says; a gloss in it is in no sentence
        "templates": digest_of(TEMPLATE_TEXTS),
    }


def sentence_settings(model):
    """What changes the vectors that a model gives to sentences; each layer is a job of its own."""
    settings = embedding_settings(model)
    return {
        **settings,
        "layers": [settings["layer"]],
        "sentence_vector": settings_of(model)["sentence_vector"],
    }


def seat_settings(model):
    """What changes the SEAT of a model, besides the words."""
    return {
        "categories": SEAT["categories"],
        "test": control_settings() if model in TWINS else test_settings(),
        "unit": SEAT["unit"],
        "average": SEAT["average"],
        "seed": config["seed"],
    }


def set_settings(name):
    """What decides which pairs are in a set, the content of its file among it."""
    settings = SETS[name]
    digest = readable(digest_of_set, name, settings["path"])
    return {**{key: settings[key] for key in ("layout", "languages")}, "digest": digest}


def scorer_settings(model):
    """Which model it is, how it is read, and its random weights if it is a twin."""
    settings = scored_settings(model)
    which = model_settings(settings["family"])
    chosen = {key: value for key, value in which["options"].items() if key != "kind"}
    return {
        **which,
        "options": chosen | {key: settings[key] for key in ("random_weights",) if key in settings},
        "dtype": settings["dtype"],
        "files": replaceable_files(settings["family"]),
    }


def pair_settings(model):
    """What changes the scores that a model gives to pairs: of the measures only those that a model of its kind has."""
    settings = scored_settings(model)
    measures = {"encoder": PAIRS["encoder"], "encoder-decoder": PAIRS["encoder_decoder"]}
    kind = KINDS[SCORED_TWIN_OF.get(model, model)]
    return {
        "which": scorer_settings(model),
        "measures": {key: measure for key, measure in measures.items() if kind in (key, "auto")},
        **{key: PAIRS[key] for key in ("reduction", "pieces", "punctuation", "unknown")},
        "normalization": config["normalization"],
        "language_codes": settings["language_codes"],
        "name": model,
    }


def structure_settings(model):
    """What changes the scores of traits in sentence structures."""
    return {
        "which": scorer_settings(model),
        "lexicon": lexicon_settings(),
        **{key: LOG_PROBABILITY[key] for key in ("traits", "structures", "pieces", "terms")},
        **({"sentences": SENTENCES_OF["structures"]} if SENTENCES_OF else {}),
    }


def category_settings(model):
    """What changes the log-probability bias of categories."""
    return {
        "which": scorer_settings(model),
        "lexicon": lexicon_settings(),
        "test": control_settings() if model in SCORED_TWINS else test_settings(),
        **{key: LOG_PROBABILITY[key] for key in ("categories", "templates", "exchanged", "pieces", "terms")},
        **({"sentences": SENTENCES_OF["categories"]} if SENTENCES_OF else {}),
        "seed": config["seed"],
    }


def pair_scores(models):
    """The scores of all sets of pairs by these models."""
    return expand("results/likelihoods/pairs/{set}/{model}.parquet", set=SETS, model=models)


def likelihood_tables():
    """The tables of pairs, structures and categories, where the study asks for them."""
    asked = {
        "bias_percentages": SETS and SCORED,
        "structures": TRAITS and MASKED,
        "log_probability": LOG_PROBABILITY["categories"] and MASKED,
    }
    tables = [f"results/likelihoods/{name}.parquet" for name, wanted in asked.items() if wanted]
    return tables + (["results/pairs/statistics.parquet"] if SETS else [])


def measured():
    """The config without the methods that no model of the study is there for."""
    vectors = {} if MODELS else {"categories": [], "seat": {**SEAT, "categories": []}}
    masked = {} if MASKED else {"log_probability": {**LOG_PROBABILITY, "categories": []}}
    return {**config, **vectors, **masked}


def pictures_of_likelihoods():
    """The figures and tables for papers of a study that asks no model for vectors."""
    return [*PAIR_FIGURES, *PAIR_TABLES, *STRUCTURE_FIGURES, *LAYOUTS, *COMPARED]


def cached_scores():
    """The scores of the study by what to write to go without them, each with what the config says of it.

    Files of a model are not compared: the model need not be on this machine.
    """

    def without_files(settings):
        which = {key: value for key, value in settings["which"].items() if key != "files"}
        return {**settings, "which": which}

    masked = [*MASKED, *MASKED_TWINS]
    return {
        "`pairs: {sets: {}}`": {
            path: without_files(pair_settings(Path(path).stem)) for path in pair_scores([*SCORED, *SCORED_TWINS])
        },
        "`log_probability: {traits: []}`": {
            f"results/likelihoods/structures/{model}.parquet": without_files(structure_settings(model))
            for model in (masked if TRAITS else [])
        },
        "`log_probability: {categories: []}`": {
            f"results/likelihoods/log_probability/{model}.parquet": without_files(category_settings(model))
            for model in (masked if LOG_PROBABILITY["categories"] else [])
        },
    }


def estimates_beside_ceat():
    """The tables of SEAT and WEAT, where the study asks for them."""
    asked = {"seat": config["seat"]["categories"], "weat": config["static"]["vectors"]}
    return [f"results/associations/{method}.parquet" for method, wanted in asked.items() if wanted]


def stored_files():
    """The files of all stores as they are now: what is asked about them is asked anew when they change."""
    return sorted(str(path) for path in Path("results/store").rglob("*.parquet"))


def embedding_lists():
    """The lists of embeddings of all models at all lengths."""
    return expand(
        "results/embeddings/{model}/{length}.json",
        model=MODELS,
        length=LENGTH_FILES,
    )


def model_reports():
    """What is known of the models, of their tokenizers and of the precision of their vectors."""
    of_family = ("{family}.json", "{family}.tokenizer.json", "{family}.tokenizer.parquet")
    paths = [
        *expand([f"results/models/{name}" for name in of_family], family=sorted(config["models"])),
        *expand("results/embeddings/{model}/precision.json", model=MODELS),
    ]
    return [found for path in paths for found in made_by_the_workflow(path)]


def audit_tables():
    """The tables by which a reader judges the lexicon, made or used as those of an earlier stage are."""
    names = ("forms", "concordance", "suffixes", "lengths")
    paths = [f"results/sentences/audit/{name}.parquet" for name in names]
    return [found for path in paths for found in made_by_the_workflow(path)]


def sentence_counts():
    """What was read of each corpus file: made if vectors are computed, else that of the files that were sampled."""
    if COMPUTED:
        return [f"results/sentences/{shard}.json" for shard in sorted(SHARDS)]
    return readable(counts_of, "results/samples/coverage.parquet")


def candidate_files(wildcards):
    """The candidate sets and suffix groups that the candidates' forms are compiled from."""
    return files_of(CANDIDATES["stimuli"]) + [CANDIDATES["suffix_groups"]]


def nothing_to_rank(wildcards):
    """Tell who asks for a ranking without candidates what to write."""
    raise WorkflowError(
        "lexicon.candidates is null, so there is nothing to rank. Name a folder with candidate word sets there, such as"
        f" resources/candidates/{config['language']} (docs/candidates.md)."
    )
