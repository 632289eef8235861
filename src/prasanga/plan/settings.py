"""What changes the results of each job: the parameters that Snakemake compares with those of the last run.

Values are plain (numbers, text, lists, dictionaries), since Snakemake passes over all others without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product, starmap
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.io import digest_of, made_from
from prasanga.base.places import NAMED, named
from prasanga.plan.models import asked_of_model, files_of_model, kind_at_hand
from prasanga.plan.study import StudyPlan, digest_of_set
from prasanga.sentences.files import Shard

Values = dict[str, Any]

_FOUND_BY = "sentences.match sentences.neighbours sentences.before sentences.after"
"""Keys that decide which occurrences there are, and what stands around them."""
_SAMPLED_BY = "samples.pool samples.contexts_per_stimulus samples.window samples.longest"
_MODEL_OPTIONS = ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
_CEAT = (
    "associations.sample_modes associations.variance associations.tau2 associations.draws associations.repeated_words"
    " associations.band samples.pool samples.window sentences.match sentences.neighbours seed categories"
)
_TESTED_BY = (
    "associations.std associations.alternative associations.statistic associations.n_permutations associations.interval"
    " associations.n_resamples associations.resample_attributes associations.n_shuffles associations.equivalence_margin"
)
_OF_A_TWIN = {"n_resamples": 0, "n_shuffles": 0, "n_permutations": 1}
"""Of random copies the effect is all that is shown."""


def digests_of(categories: Mapping[str, Any]) -> list[str]:
    """Return a parameter for each category, its name and a digest of its words: Snakemake prints those that differ.

    It fills in what stands in braces, and its report holds them among its scripts, so that those signs of a name become
    parentheses.
    """
    plain = str.maketrans("{<>}", "(())")
    return [f"category {name.translate(plain)} {digest_of(category)[:12]}" for name, category in categories.items()]


class Settings:
    """What changes the results of jobs; a method for each kind of job that depends on more than keys of the config."""

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config = study, study.config
        self._models, self._words = study.models, study.words

    def select(self, keys: str) -> Values:
        """Return entries of the config by their last names; `keys` are paths such as `samples.pool`, with blanks."""
        found: Values = {}
        for path in keys.split():
            section, _, key = path.rpartition(".")
            found[key] = self._config[section][key] if section else self._config[key]
        return found

    # ---- words and texts

    def shard(self, shards: Sequence[Shard]) -> Values:
        """Return what one job reads: files or a part of one, with their sizes, and what it looks for there."""
        first, *more = map(_numberless, shards)
        read = {"shard": first, **({"more": more} if more else {})}
        return {**self._extraction(), **self.select("corpus.errors"), **read}

    def sampled_forms(self) -> Values:
        """Return what changes how often forms stand in the sample that tokenizers are judged by."""
        keys = ("match", "neighbours", "normalization", "replacements")
        found, sampled = self._extraction(), self._study.sampled_files()
        return {**{key: found[key] for key in keys}, "shards": list(map(_numberless, sampled))}

    def whole_corpus(self, *keys: str) -> Values:
        """Return what changes what is read of the whole corpus, with `language`, `normalization`, `replacements`."""
        found, files = self._extraction(), self._study.texts.whole_files()
        read = {**self.select("corpus.errors"), "shards": list(map(_numberless, files))}
        return {**{key: found[key] for key in keys}, **read}

    def sampling(self) -> Values:
        """Return what decides which contexts are drawn."""
        buckets = len(self._study.buckets)
        return {**self._config["samples"], **self.select("seed"), "stimuli": self._words.stimuli, "buckets": buckets}

    def release(self) -> Values:
        """Return what changes the data set of sampled contexts that is made for others."""
        corpus, texts, named_by = self._config["corpus"], self._study.texts, ("texts", "supplement")
        entries = [(text, key == "supplement") for key in named_by for text in corpus[key]]
        described = [[text["files"], text["title"] or text["files"], text["licence"], late] for text, late in entries]
        first, late = ([shards[name][0].text for name in sorted(shards)] for shards in (texts.shards, texts.supplement))
        return {
            **self.select("study title"),
            "texts": described,
            "of_table": [*first, *(len(corpus["texts"]) + number for number in late)],
            # what of the config decides which sentences there are, and how they are written
            "settings": {
                **self.select("language seed replacements categories samples"),
                "normalization": self._study.normalization,
                "sentences": self.select(_FOUND_BY),
                "corpus": [text["files"] for text, _ in entries],
                "forms": self._words.forms,
            },
        }

    def templates(self) -> Values:
        """Return what decides which sentences SEAT has: the words, their classes and forms, and the templates."""
        return {
            **self._study.words_from,
            "words": self._words.in_templates,
            **self.select("seat.categories"),
            "sets": digest_of(self._words.seat_chosen),
            # what the file says; a gloss in it is in no sentence
            "templates": digest_of(self._words.template_texts),
        }

    # ---- models

    def model(self, family: str) -> Values:
        """Return which model it is and how it is read. On how many GPUs it runs changes none of its results."""
        settings = self._config["models"][family]
        options = {key: settings[key] for key in _MODEL_OPTIONS}
        path = settings.get("path", f"results/models/{family}")
        return {"model": path, "revision": settings["revision"], "options": options}

    def model_files(self, family: str) -> dict[str, list[int]]:
        """Return the files of a model that a user may replace by others, as they are now."""
        settings = self._config["models"][family]
        return files_of_model(settings["path"]) if "path" in settings else {}

    def training(self, family: str) -> Values:
        """Return what changes a model that the workflow trains."""
        settings = self._config["models"][family]
        return {
            **settings["train"],
            "kind": kind_at_hand(settings),
            **self.whole_corpus("normalization", "replacements"),
        }

    def check(self, family: str) -> Values:
        """Return what a model is checked for: what the study asks of it, and its files."""
        settings = self._config["models"][family]
        reads_sentences = bool(self._config["seat"]["categories"]) and "embeddings" in settings["stages"]
        return {
            **self.model(family),
            "dtype": settings["dtype"],
            "layers": [each["layer"] for each in self._models.studied.values() if each["family"] == family],
            "language_codes": settings["language_codes"],
            "sentence_vector": settings["sentence_vector"] if reads_sentences else None,
            **asked_of_model(settings, self._config["pairs"], self._config["log_probability"]),
            # older files in place of newer ones are other files as well
            "files": self.model_files(family),
        }

    def tokenizer(self, family: str) -> Values:
        """Return which tokenizer is audited, with what limits; none for a model that embeds nothing."""
        embeds = "embeddings" in self._config["models"][family]["stages"]
        return {**self.model(family), "limits": self._config["embeddings"]["audit"] if embeds else {}}

    # ---- vectors

    def embedding(self, model: str) -> Values:
        """Return what changes the vectors of a model or twin, and where it comes from."""
        settings = self._models.embedded[model]
        own = {key: settings[key] for key in ("layer", "layers", "dtype", "pieces")}
        return {**self._weights(settings), **own, **self.select("embeddings.stored_dtype embeddings.unknown")}

    def sentence_embedding(self, model: str) -> Values:
        """Return what changes the vectors that a model gives to sentences; each layer is a job of its own."""
        settings = self._models.embedded[model]
        own = {"layers": [settings["layer"]], "sentence_vector": settings["sentence_vector"]}
        return {**self.embedding(model), **own}

    def cached_lists(self) -> dict[str, Values]:
        """Return the lists of vectors of the study, each with what the config says of its vectors."""
        drawn = {**self.select(_SAMPLED_BY), **self._extraction(), **self.select("seed")}
        measured = (*self._models.names, *self._models.twins)
        lists = {
            f"results/embeddings/{model}/{length}.json": {**self.embedding(model), **drawn}
            for model, length in product(measured, self._study.labels)
        }
        if self._config["seat"]["categories"]:
            lists |= {
                f"results/embeddings/{model}/templates.json": self.sentence_embedding(model) for model in measured
            }
        return lists

    def static_reading(self, vectors: str) -> Values:
        """Return the settings that decide which static vectors the words get."""
        settings = self._config["static"]
        return {
            **self._study.words_from,
            "words": [self._words.forms, self._words.in_templates],
            "pooling": settings["forms"],
            "format": settings["vectors"][vectors].get("format", "auto"),
        }

    # ---- associations

    def ceat(self, model: str, length: str) -> Values:
        """Return what changes the CEAT of a model or its twins at a length; all of these draw as often as the model."""
        n_twins, asked = self._n_twins(model), self._config["associations"]["n_samples"]
        of_twin = -(-(max(asked) if isinstance(asked, list) else asked) // (n_twins or 1))
        return {
            "n_twins": n_twins,
            "n_samples": of_twin if n_twins else asked,
            "test": self._test(model),
            "effects_alone": bool(n_twins),
            "pieces": self._models.embedded[model]["pieces"],
            "segment_length": self._study.labels[length],
            **self.select(_CEAT),
        }

    def seat(self, model: str) -> Values:
        """Return what changes the SEAT of a model or twin, besides the words."""
        settings = self.select("seat.categories seat.unit seat.average seed")
        return {"n_twins": self._n_twins(model), "test": self._test(model), **settings}

    def weat(self, vectors: str) -> Values:
        """Return what changes the WEAT of static vectors, besides the words."""
        source = self._config["static"]["vectors"][vectors].get("path", "the study's corpus")
        categories, settings = list(self._words.weat_chosen), self.select("static.forms seed")
        return {"categories": categories, "test": self._test(), "source": source, **settings}

    def multiverse(self) -> Values:
        """Return what of the multiverse each list of vectors is: method, model, and the choices it was made with.

        Entries of the config with the same model, such as its layers or other pieces of words, are one model there.
        """
        study, drawn = self._study, self.select("samples.window samples.pool")
        sources, names = dict[str, Values](), dict[str, str]()
        for name, settings in self._models.studied.items():
            which = self.model(settings["family"])
            model = names.setdefault(f"{which['model']} {which['revision']}", settings["family"])
            own = {"layer": str(settings["layer"]), "pieces": settings["pieces"]}
            lists = {
                length: {"method": "ceat", "model": model, "choices": {**own, **drawn, "segment_length": label}}
                for length, label in study.labels.items()
            }
            if self._config["seat"]["categories"]:
                lists["templates"] = {"method": "seat", "model": model, "choices": own}
            sources |= {f"results/embeddings/{name}/{each}.json": about for each, about in lists.items()}
        for name in self._config["static"]["vectors"]:
            sources[f"results/static/{name}.parquet"] = {"method": "weat", "model": name, "choices": {}}
        methods = sorted({source["method"] for source in sources.values()})
        words = self._words
        chosen = {"ceat": words.chosen, "seat": words.seat_chosen, "weat": words.weat_chosen}
        categories = {method: list(chosen[method]) for method in methods}
        return {"sources": sources, "categories": categories, **self.select("associations.repeated_words seed")}

    # ---- pairs and probabilities

    def set_of_pairs(self, name: str) -> Values:
        """Return what decides which pairs are in a set, the content of its file among it.

        Raises:
            InputError: the file cannot be read.
        """
        settings, spoken = self._study.sets[name], self._config["language"]
        asked = {key: settings[key] for key in ("layout", "languages")}
        return {**asked, "spoken": spoken, "digest": digest_of_set(name, settings["path"])}

    def pair_scores(self, model: str) -> Values:
        """Return what changes the scores of pairs: of the measures only those that a model of its kind has."""
        pairs, kind = self._config["pairs"], self._models.kinds[self._models.scored_twin_of.get(model, model)]
        measures = {"encoder": pairs["encoder"], "encoder-decoder": pairs["encoder_decoder"]}
        return {
            "which": self._scorer(model),
            "measures": {key: measure for key, measure in measures.items() if kind in (key, "auto")},
            **self.select("pairs.reduction pairs.pieces pairs.punctuation pairs.unknown normalization"),
            "language_codes": self._models.scorers[model]["language_codes"],
            "name": model,
        }

    def structures(self, model: str) -> Values:
        """Return what changes the scores of traits in sentence structures."""
        keys = "log_probability.traits log_probability.structures log_probability.pieces log_probability.terms"
        return {**self._scoring(model), **self.select(keys), **self._sentences("structures")}

    def log_probability(self, model: str) -> Values:
        """Return what changes the log-probability bias of categories."""
        keys = (
            "log_probability.categories log_probability.templates log_probability.exchanged log_probability.pieces"
            " log_probability.terms"
        )
        how = {"test": self._test(model), **self.select(keys), **self._sentences("log_probability")}
        return {**self._scoring(model), **how, **self.select("seed")}

    def scored_sentences(self, of: str, model: str) -> Values:
        """Return what changes the scores of the sentences of `structures` or `log_probability`, and nothing else."""
        settings = self.structures(model) if of == "structures" else self.log_probability(model)
        return {key: value for key, value in settings.items() if key not in ("test", "terms", "seed")}

    def cached_scores(self) -> dict[str, Values]:
        """Return the tables of scores of the study, each with what the config says of it.

        Files of a model are not compared: the model need not be on this machine.
        """
        study, models, asked = self._study, self._models, self._config["log_probability"]
        masked = (*models.masked, *models.masked_twins)
        tables = {
            **{f"pairs/{name}/{model}": self.pair_scores(model) for name, model in product(study.sets, models.scorers)},
            **{f"structures/{model}": self.structures(model) for model in masked if asked["traits"]},
            **{f"log_probability/{model}": self.log_probability(model) for model in masked if asked["categories"]},
        }
        for settings in tables.values():
            del settings["which"]["files"]
        return {f"results/likelihoods/{name}.parquet": settings for name, settings in tables.items()}

    # ---- the page

    def page(self) -> Values:
        """Return what the page says of the config; where vectors come from, and into how many files, is no part."""
        config = self._config
        scored = {
            stage: {key: value for key, value in config[stage].items() if key != "buckets"}
            for stage in ("pairs", "log_probability")
        }
        corpus = {**config["corpus"], "root": named(config["corpus"]["root"])}
        embeddings = self.select("embeddings.stored_dtype embeddings.unknown embeddings.audit")
        own = {"corpus": corpus, "embeddings": embeddings, "normalization": self._study.normalization}
        return {**config, **scored, **own}

    # ---- parts of the above

    def _extraction(self) -> Values:
        """Return what decides which sentences are found in a text, and what stands in them."""
        replacements = self._config["replacements"].items()
        return {
            **self.select(f"{_FOUND_BY} language"),
            "normalization": self._study.normalization,
            "replacements": {key: text for key, text in replacements if text is not None},
        }

    def _weights(self, settings: Mapping[str, Any]) -> Values:
        """Return which model it is, and of twins the seeds of their random weights; their kind changes nothing then."""
        which = self.model(settings["family"])
        del which["options"]["kind"]
        return {**which, **({"twins": settings["random_weights"]} if "random_weights" in settings else {})}

    def _scorer(self, model: str) -> Values:
        settings = self._models.scorers[model]
        files = self.model_files(settings["family"])
        return {**self._weights(settings), "dtype": settings["dtype"], "files": files}

    def _scoring(self, model: str) -> Values:
        return {"which": self._scorer(model), "lexicon": self._study.words_from}

    def _sentences(self, of: str) -> Values:
        return {"sentences": self._words.sentences[of].digest} if self._words.sentences else {}

    def _n_twins(self, name: str) -> int | None:
        """Return how many twins a job measures; None of a model."""
        twins = {**self._models.twins, **self._models.scored_twins}.get(name)
        return len(twins["random_weights"]) if twins else None

    def _test(self, name: str = "") -> Values:
        """Return how the effects of a model, its twins or of vectors are tested."""
        return {**self.select(_TESTED_BY), **(_OF_A_TWIN if self._n_twins(name) else {})}


def _numberless(shard: Shard) -> Values:
    """Return a shard without the number of its entry: which entry of the config names a file changes nothing in it."""
    return {**shard._asdict(), "columns": list(shard.columns), "text": 0}


def require_scores(tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to begin if scores are to be used from the cache and are missing, or are others than the config asks for.

    Args:
        tables: the tables of scores, each with what the config says of it. A setting of which the table or the config
            says nothing is not compared.

    Raises:
        InputError: how many there are, the first of them, and what to do.
    """
    if problems := list(filter(None, starmap(_misfit, tables.items()))):
        more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
        raise InputError(
            f"embeddings.source is 'cached', but scores are missing or do not fit{more}: {problems[0]} Copy the"
            " right ones under results/likelihoods, or let the models compute them: write `embeddings: {source:"
            " computed}`."
        )


def _misfit(path: str, asked: Mapping[str, Any]) -> str:
    """Return what is wrong with a table of scores as a sentence; empty if nothing is."""
    if not Path(path).exists():
        return f"{path} is not there."
    recorded, wanted = dict(_leaves(json.loads(made_from(path).get("settings", "{}")))), dict(_leaves(asked))
    for key in wanted.keys() & recorded.keys():
        if _as_named(recorded[key]) != _as_named(wanted[key]):
            return f"{path} was made with {key} {recorded[key]!r}, but the config says {wanted[key]!r}."
    return ""


def _leaves(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings below others by their paths, such as `which.dtype`."""
    for key, value in settings.items():
        yield from _leaves(value, f"{before}{key}.") if isinstance(value, Mapping) else [(f"{before}{key}", value)]


def _as_named(value: Any) -> str:
    """Return a setting as text in which shipped files are called as the config calls them."""
    return NAMED.sub(lambda path: named(path[0]), json.dumps(value))
