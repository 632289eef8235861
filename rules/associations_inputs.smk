"""What the rules of CEAT, SEAT and WEAT take in, and what changes what they write."""


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
    return {
        method: RESULTS["bias_percentages"] if method == "pairs" else estimates_of_jobs(method.removesuffix("_bias"))
    }


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


def estimates_beside_ceat():
    """The tables of SEAT and WEAT, where the study asks for them."""
    asked = {"seat": config["seat"]["categories"], "weat": config["static"]["vectors"]}
    return [f"results/associations/{method}.parquet" for method, wanted in asked.items() if wanted]
