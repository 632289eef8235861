"""What the rules of pairs and probabilities take in, and what changes what they write."""


def scored_settings(model):
    """The settings of a model that is asked for probabilities, or of its twin."""
    return SCORED.get(model) or SCORED_TWINS[model]


def checked_scorer(wildcards):
    """What is known of a model that is asked for probabilities, once it has been looked at."""
    return checkpoints.check_model.get(family=scored_settings(wildcards.model)["family"]).output.report


def cards_of_scorer(wildcards):
    """The cards that it is spread over; 0 if it runs on the processor."""
    return scored_settings(wildcards.model)["cards"]


def threads_of_scorer(wildcards):
    """Cores of its jobs."""
    return cores_beside(cards_of_scorer(wildcards))


def scorer_on_card(wildcards):
    """1 for a job with cards, as `on_card`."""
    return min(cards_of_scorer(wildcards), 1)


def memory_of_scorer(wildcards, attempt):
    """MB of memory for a job of this model, as `memory_of`."""
    return attempt * megabytes_of(config["models"][scored_settings(wildcards.model)["family"]])


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


def bias_settings():
    """What changes bias percentages, besides the scores."""
    return {**{key: PAIRS[key] for key in ("n_runs", "share", "n_resamples", "ties")}, "seed": config["seed"]}


def gathering_settings(twin_of):
    """What changes the table of structures, besides the scores; `twin_of` names the models of the twins."""
    return {
        "twin_of": twin_of,
        "traits": TRAITS,
        "normalization": NORMALIZATION,
        "n_resamples": config["associations"]["n_resamples"],
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
