"""What tables, figures and page are made from: the results that a finished study has, and those that there are."""

from prasanga.report.downloads import name_of
from prasanga.report.paper_tables import methods_of
from prasanga.report.study import missing_results, said_of_parts

BIAS = bool(SETS and SCORED)
# What is gathered from the scores of traits, and from the lists of traits besides.
OF_TRAITS = ("structures", "structure_differences", "traits")
UNFINISHED = "results/unfinished"


def twins_of_method(method):
    """The tables of estimates of a method's null controls, each with the model that it stands beside."""
    if method == "ceat":
        return {path: TWIN_OF[Path(path).parent.name] for path in ceat_tables("parquet", TWINS)}
    names = {
        "seat": TWIN_OF if config["seat"]["categories"] else {},
        "log_probability": {twin: SCORED_TWIN_OF[twin] for twin in MASKED_TWINS},
    }
    stage = "likelihoods" if method == "log_probability" else "associations"
    return {f"results/{stage}/{method}/{twin}.parquet": model for twin, model in names.get(method, {}).items()}


def finished_results():
    """The tables of a finished study by the fields of `prasanga.report.study.Results`."""
    associations, likelihoods = "results/associations", "results/likelihoods"
    ceat = {
        "ceat": f"{associations}/ceat.parquet",
        "ceat_words": f"{associations}/ceat_words.parquet",
        **{name: f"{associations}/ceat_{name}.parquet" for name in ("differences", "settling", "convergence")},
    }
    structures = {name: f"{likelihoods}/{name}.parquet" for name in OF_TRAITS}
    pairs = {name: f"{likelihoods}/{name}.parquet" for name in ("bias_percentages", "pair_differences")}
    masked_words = LOG_PROBABILITY["categories"] and MASKED
    return {
        **(ceat if MODELS else {}),
        **({"seat": f"{associations}/seat.parquet"} if MODELS and SEAT["categories"] else {}),
        **({"weat": f"{associations}/weat.parquet"} if config["static"]["vectors"] else {}),
        **({"log_probability": f"{likelihoods}/log_probability.parquet"} if masked_words else {}),
        **(structures if TRAITS and MASKED else {}),
        **(pairs if BIAS else {}),
        **({"pair_statistics": "results/pairs/statistics.parquet"} if SETS else {}),
    }


def parts_of_results():
    """What each table is gathered from, where that is a table a job: of an unfinished study some of them are there."""
    methods = {name: estimates_of_jobs(name) for name in ("ceat", "seat", "weat", "log_probability")}
    structures = expand("results/likelihoods/structures/{model}.parquet", model=MASKED if TRAITS else [])
    return {
        **methods,
        "ceat_words": methods["ceat"],
        **dict.fromkeys(OF_TRAITS, structures),
        **dict.fromkeys(("bias_percentages", "pair_differences"), pair_scores(SCORED)),
    }


def done(paths):
    """Those of the files that are there."""
    return [path for path in paths if Path(path).exists()]


def results_at_hand():
    """The tables that there are, those of an unfinished study gathered from what is done; and what is missing."""
    finished, parts = finished_results(), parts_of_results()
    if not FROM_RESULTS:
        return finished, []
    found, said = {}, {}
    for name, path in finished.items():
        wanted = parts.get(name, [])
        if Path(path).exists():
            found[name] = path
        elif done(wanted) and (name not in OF_TRAITS or len(done(TRAITS)) == len(TRAITS)):
            found[name] = f"{UNFINISHED}/{name}.parquet"
            said[name] = said_of_parts([part for part in wanted if not Path(part).exists()], len(wanted))
        else:
            said[name] = ""
    return found, missing_results(said, finished)


RESULTS, MISSING = results_at_hand()
if FROM_RESULTS and not RESULTS and not CHECKED:
    raise WorkflowError(
        "`snakemake figures` draws from results that are there, and there are none of this study: no"
        f" {' or '.join(list(finished_results().values())[:3]) or 'method in the config'}. Run `snakemake` first, or bring"
        " the folder results/ of a finished run here. With cached vectors alone write `embeddings: {source: cached}`."
    )
for sentence in MISSING:
    warn(sentence)


def shown():
    """The config without the methods that have no results to be shown."""
    without = {
        "ceat": {"categories": []},
        "seat": {"seat": {**SEAT, "categories": []}},
        "weat": {"static": {**config["static"], "vectors": {}}},
        "log_probability": {"log_probability": {**LOG_PROBABILITY, "categories": []}},
    }
    return {
        **config,
        **{key: value for name, part in without.items() if name not in RESULTS for key, value in part.items()},
    }


def csv_of(name):
    """The CSV file beside a table, of a method that has one."""
    return str(Path(RESULTS[name]).with_suffix(".csv"))


def of_texts():
    """What page and cards say of texts and words: made, or used as far as it is there."""
    if not MODELS:
        return {}
    return {
        "coverage": made_by_the_workflow("results/samples/coverage.parquet"),
        "corpus": sentence_counts(),
        "audit": audit_tables(),
        "embeddings": [found for path in embedding_lists() for found in made_or_there(path)] + model_reports(),
    }


def of_words():
    """The word sets and their forms, where a method of the study has any."""
    if not {"ceat", "ceat_words", "seat", "weat", "log_probability"} & set(RESULTS):
        return {}
    return {
        "categories": made_or_there("results/lexicon/categories.json"),
        "forms": made_or_there("results/lexicon/forms.parquet"),
    }


def of_pairs():
    """What is known of each sentence pair."""
    paths = {
        "pair_scores": pair_scores([*SCORED, *SCORED_TWINS]) if BIAS else [],
        "pair_oddities": expand("results/pairs/{set}.oddities.parquet", set=SETS),
    }
    return {name: [found for path in of_name for found in made_or_there(path)] for name, of_name in paths.items()}


def made_or_there(path):
    """A file that this run makes or has, or, where it only draws, one that is there."""
    return [path] if not FROM_RESULTS or Path(path).exists() else []


def words_of(name):
    """The table of words beside the estimates of a method."""
    return RESULTS.get(f"{name}_words") or RESULTS[name].replace(".parquet", "_words.parquet")


def lies_beside(path):
    """Whether this run makes or has a file; beside tables that were brought alone some are not there."""
    return path.startswith(f"{UNFINISHED}/") or bool(made_or_there(path))


def models_of_traits():
    """The models that the table of traits has: all of the study, or those that are done."""
    if not RESULTS["traits"].startswith(f"{UNFINISHED}/"):
        return MASKED
    return [model for model in MASKED if Path(f"results/likelihoods/structures/{model}.parquet").exists()]


def data_of_texts():
    """What lies beside the page for judging lexicon and pairs; hidden texts are not among it."""
    hidden = config["report"]["texts"] == "hidden"
    audit = ["suffixes", "forms", "lengths", *([] if hidden else ["concordance"])]
    of_audit = [f"results/sentences/audit/{name}.tsv" for name in audit] if MODELS else []
    of_pairs = [] if hidden else expand("results/pairs/{set}.oddities.parquet", set=SETS)
    made = [found for path in of_audit for found in made_by_the_workflow(path)]
    return made + [found for path in of_pairs for found in made_or_there(path)]


def study_of_page():
    """What the page says of the config; where vectors come from, and into how many files they go, is no part of it."""
    return {
        **config,
        "embeddings": {key: config["embeddings"][key] for key in ("stored_dtype", "unknown", "audit")},
        "normalization": NORMALIZATION,
    }


def numbers_of_study():
    """What summary and cards are made from: tables and counts, and no text of the corpus."""
    texts = {name: paths for name, paths in of_texts().items() if name != "audit"}
    return {**RESULTS, **texts, **of_words(), "pair_oddities": of_pairs()["pair_oddities"]}


def records_of_study():
    """Files whose record of their making names libraries, templates, traits and pairs; nothing else of them is read."""
    paths = [
        *([SENTENCES] if MODELS and SEAT["categories"] else []),
        *[f"results/embeddings/{model}/{LENGTH_FILES[0]}/{BUCKETS[0]}.parquet" for model in MODELS],
        *expand("results/static/{name}.parquet", name=config["static"]["vectors"]),
        *[path for parts in parts_of_results().values() for path in parts],
        *expand("results/pairs/{set}.parquet", set=SETS),
    ]
    return [found for path in dict.fromkeys(paths) for found in made_or_there(path)]


def corpus_of_study():
    """Path, digest and the names of the parts of each corpus file."""
    parts = {}
    for name, shard in (*SHARDS.items(), *SUPPLEMENT.items()):
        parts.setdefault(shard.path, []).append(name)
    return [[path, CORPUS.get(path, ""), names] for path, names in parts.items()]


def in_report(path, caption, category, **labels):
    """A file that goes into Snakemake's own report, under a caption."""
    return report(path, caption=f"../workflow/report/{caption}.rst", category=category, labels=labels)


def tables_in_report(paths):
    """Tables as a rule's output; the CSV file of each goes into Snakemake's own report."""
    return [
        in_report(path, "tables", "Tables", table=name_of(Path(path).stem)) if path.endswith(".csv") else path
        for path in paths
    ]


def formats_of_figures():
    """The formats of figures as wide as a page, of which the page needs the SVG, and in print as wide as one column."""
    asked, widths = config["report"]["formats"], config["report"]["widths"]
    others = [format for format in asked if format != "svg"]
    return {
        "": ["svg", *(others if "page" in widths else [])],
        "column/": others if "column" in widths else [],
    }


def figure_files(*names):
    """The files of figures, at both widths."""
    return [
        f"results/report/figures/{width}{name}.{format}"
        for width, formats in formats_of_figures().items()
        for name in names
        for format in formats
    ]


def drawn(caption, *names):
    """The same as a rule's output; the picture as wide as a page goes into Snakemake's own report, under a caption."""
    files = figure_files(*names)
    pictures = {f"results/report/figures/{name}.svg": name for name in names}
    return [
        (in_report(path, caption, "Figures", figure=name_of(pictures[path])) if path in pictures else path)
        for path in files
    ]
