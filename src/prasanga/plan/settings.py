"""Find what changes the results of each job: the parameters that Snakemake compares with the last run.

Values are plain (numbers, text, lists, dictionaries), since Snakemake passes over all others without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.io import digest_of, sha256_of_file
from prasanga.base.places import NAMED, named
from prasanga.base.results import read_record
from prasanga.embeddings.shards import shard_paths
from prasanga.plan.models import find_kind, list_model_files, list_questions
from prasanga.plan.study import StudyPlan
from prasanga.sentences.files import Shard

Values = dict[str, Any]

_FOUND_BY = "sentences: match neighbours before after"
"""Keys that decide which occurrences there are, and their contexts."""
_SAMPLED_BY = "samples: pool contexts_per_stimulus window longest"
_MODEL_OPTIONS = ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
_CEAT = (
    "associations: sample_modes variance tau2 draws repeated_words band; samples: pool window;"
    " sentences: match neighbours; seed categories"
)
_TESTED_BY = (
    "associations: std alternative statistic n_permutations n_resamples resample_attributes n_shuffles"
    " equivalence_margin"
)
_SENTENCES = {
    "structures": "log_probability: traits structures pieces terms",
    "log_probability": "log_probability: categories templates exchanged pieces terms",
}
_OF_A_TWIN = {"n_resamples": 0, "n_shuffles": 0, "n_permutations": 1}
"""Of random copies the effect is all that is shown."""


class Settings:
    """What changes the results of jobs; a method for each kind of job that depends on more than keys of the config."""

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config, self._words = study, study.config, study.words
        replacements = self._config["replacements"].items()
        # decides which sentences are found in a text, and how they are written
        self._extraction = {
            **self.select(f"{_FOUND_BY}; language"),
            "normalization": study.normalization,
            "replacements": {key: text for key, text in replacements if text is not None},
        }

    def select(self, keys: str) -> Values:
        """Return entries of the config; `keys` are of sections or of the top level: `samples: pool window; seed`."""
        parts = [part.rpartition(": ") for part in keys.split("; ")]
        sections = [(self._config[section] if section else self._config, names) for section, _, names in parts]
        return {name: section[name] for section, names in sections for name in names.split()}

    # ---- words and texts

    def shard(self, shards: Sequence[Shard]) -> Values:
        """Return what one job reads, files or a part of one, with their sizes, and how it searches them."""
        first, *more = map(_numberless, shards)
        read = {"shard": first, **({"more": more} if more else {})}
        return {**self._extraction, **self.select("corpus: errors"), **read}

    def sampled_forms(self) -> Values:
        """Return what changes how often forms occur in the sample that tokenizers are judged by."""
        sampled = self._study.texts.sampled_files() if self._study.labels else []
        keys = ("match", "neighbours", "normalization", "replacements")
        return {**{key: self._extraction[key] for key in keys}, "shards": list(map(_numberless, sampled))}

    def whole_corpus(self, *keys: str) -> Values:
        """Return what changes the reading of the whole corpus; `keys` such as `language` or `normalization`."""
        read = {**self.select("corpus: errors"), "shards": list(map(_numberless, self._study.texts.whole_files()))}
        return {**{key: self._extraction[key] for key in keys}, **read}

    def sampling(self) -> Values:
        """Return what decides which contexts are drawn."""
        drawn = {"stimuli": self._words.stimuli, "buckets": len(self._study.buckets)}
        return {**self._config["samples"], **self.select("seed"), **drawn}

    def release(self) -> Values:
        """Return what changes the data set of sampled contexts that is made for others."""
        corpus, texts = self._config["corpus"], self._study.texts
        entries = [(text, key == "supplement") for key in ("texts", "supplement") for text in corpus[key]]
        described = [[text["files"], text["title"] or text["files"], text["licence"], late] for text, late in entries]
        first, late = ([shards[name][0].text for name in sorted(shards)] for shards in (texts.shards, texts.supplement))
        return {
            **self.select("study title"),
            "texts": described,
            "of_table": [*first, *(len(corpus["texts"]) + number for number in late)],
            # decides which sentences there are, and how they are written
            "settings": {
                **self.select("language seed replacements categories samples"),
                "normalization": self._study.normalization,
                "sentences": self.select(_FOUND_BY),
                "corpus": [text["files"] for text, _ in entries],
                "forms": self._words.lexicon.forms,
            },
        }

    def templates(self) -> Values:
        """Return what decides which sentences SEAT has: the words, their classes and forms, and the templates."""
        return {
            **self._words.source,
            "words": self._words.lexicon.words,
            **self.select("seat: categories"),
            # not which words are pairs or clusters: no sentence depends on it
            "sets": digest_of(
                [
                    [side["name"], side["stimuli"]]
                    for category in self._words.chosen["seat"].values()
                    for side in (*category["targets"], *category["attributes"])
                ]
            ),
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
        return list_model_files(settings["path"]) if "path" in settings else {}

    def training(self, family: str) -> Values:
        """Return what changes a model that the workflow trains."""
        settings = self._config["models"][family]
        corpus = self.whole_corpus("normalization", "replacements")
        return {**settings["train"], "kind": find_kind(settings), **corpus}

    def check(self, family: str) -> Values:
        """Return what a model is checked for: what the study asks of it, and its files."""
        settings = self._config["models"][family]
        reads_sentences = bool(self._config["seat"]["categories"]) and "embeddings" in settings["stages"]
        return {
            **self.model(family),
            "dtype": settings["dtype"],
            "layers": [each["layer"] for each in self._study.embedded.models.values() if each["family"] == family],
            "language_codes": settings["language_codes"],
            "sentence_vector": settings["sentence_vector"] if reads_sentences else None,
            **list_questions(settings, self._config),
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
        settings = self._study.embedded.every[model]
        own = {key: settings[key] for key in ("layer", "layers", "dtype", "pieces")}
        return {**self._weights(settings), **own, **self.select("embeddings: stored_dtype unknown")}

    def sentence_embedding(self, model: str) -> Values:
        """Return what changes the vectors that a model gives to sentences; each layer is a job of its own."""
        settings = self._study.embedded.every[model]
        own = {"layers": [settings["layer"]], "sentence_vector": settings["sentence_vector"]}
        return {**self.embedding(model), **own}

    def static_reading(self, vectors: str) -> Values:
        """Return the settings that decide which static vectors the words get."""
        settings, lexicon = self._config["static"], self._words.lexicon
        return {
            **self._words.source,
            "words": [lexicon.forms, lexicon.words],
            "pooling": settings["forms"],
            "format": settings["vectors"][vectors]["format"],
        }

    # ---- associations

    def ceat(self, model: str) -> Values:
        """Return what changes the CEAT of a model or its twins; all of these draw as often as the model."""
        n_twins, asked = self._n_twins(model), self._config["associations"]["n_samples"]
        most = max(asked) if isinstance(asked, list) else asked
        return {
            "n_twins": n_twins,
            "n_samples": -(-most // n_twins) if n_twins else asked,
            "test": self._test(model),
            "effects_alone": bool(n_twins),
            "pieces": self._study.embedded.every[model]["pieces"],
            **self.select(_CEAT),
        }

    def seat(self, model: str) -> Values:
        """Return what changes the SEAT of a model or twin, besides the words."""
        settings = self.select("seat: categories unit average; seed")
        return {"n_twins": self._n_twins(model), "test": self._test(model), **settings}

    def weat(self, vectors: str) -> Values:
        """Return what changes the WEAT of static vectors, besides the words."""
        source = self._config["static"]["vectors"][vectors].get("path", "the study's corpus")
        categories, settings = list(self._words.chosen["weat"]), self.select("static: forms; seed")
        return {"categories": categories, "test": self._test(), "source": source, **settings}

    def strength(self) -> Values:
        """Return what changes the strength of bias that could have been found, besides words and vectors."""
        n_twins = {model: self._n_twins(twins) for twins, model in self._study.embedded.twin_of.items()}
        keys = "calibration: repetitions shifts; associations: repeated_words; seat: average; seed"
        return {"n_twins": n_twins, "test": self._test(), **self.select(keys)}

    def multiverse(self) -> Values:
        """Return what of the multiverse each list of vectors is: method, model, and the choices it was made with.

        Entries of the config with the same model, such as its layers or other pieces of words, are one model there.
        """
        drawn = self.select("samples: window pool")
        sources, names = dict[str, Values](), dict[str, str]()
        for name, settings in self._study.embedded.models.items():
            which = self.model(settings["family"])
            model = names.setdefault(f"{which['model']} {which['revision']}", settings["family"])
            own = {"layer": str(settings["layer"]), "pieces": settings["pieces"]}
            lists = {
                length: {"method": "ceat", "model": model, "choices": {**own, **drawn, "segment_length": label}}
                for length, label in self._study.labels.items()
            }
            if self._config["seat"]["categories"]:
                lists["templates"] = {"method": "seat", "model": model, "choices": own}
            sources |= {f"results/embeddings/{name}/{each}.json": about for each, about in lists.items()}
        for name in self._config["static"]["vectors"]:
            sources[f"results/static/{name}.parquet"] = {"method": "weat", "model": name, "choices": {}}
        methods = sorted({source["method"] for source in sources.values()})
        categories = {method: list(self._words.chosen[method]) for method in methods}
        return {"sources": sources, "categories": categories, **self.select("associations: repeated_words; seed")}

    # ---- pairs and probabilities

    def pair_set(self, name: str) -> Values:
        """Return what decides which pairs are in a set, the content of its file among it.

        Raises:
            InputError: the file cannot be read.
        """
        settings = self._study.sets[name]
        asked = {"layout": settings["layout"], "languages": settings["languages"], "spoken": self._config["language"]}
        return {**asked, "digest": sha256_of_file(settings["path"])}

    def pair_scores(self, model: str) -> Values:
        """Return what changes the scores of pairs: of the measures only those that a model of its kind has."""
        pairs, settings = self._config["pairs"], self._study.scored.every[model]
        measures = {"encoder": pairs["encoder"], "encoder-decoder": pairs["encoder_decoder"]}
        return {
            "which": self._scorer(settings),
            "measures": {key: measure for key, measure in measures.items() if find_kind(settings) in (key, "auto")},
            **self.select("pairs: reduction pieces punctuation unknown; normalization"),
            "language_codes": settings["language_codes"],
            "name": model,
        }

    def sentence_scores(self, of: str, model: str) -> Values:
        """Return what changes the results of the sentences of `structures` or `log_probability`, besides tests."""
        which, sentences = self._scorer(self._study.scored.every[model]), self._words.sentences
        digest = {"sentences": sentences[of].digest} if sentences else {}
        return {"which": which, "lexicon": self._words.source, **self.select(_SENTENCES[of]), **digest}

    def log_probability(self, model: str) -> Values:
        """Return what changes the log-probability bias of categories."""
        scores = self.sentence_scores("log_probability", model)
        return {**scores, "test": self._test(model), **self.select("seed")}

    def scored_sentences(self, of: str, model: str) -> Values:
        """Return what changes the scores of the sentences of `structures` or `log_probability`, and nothing else."""
        return {key: value for key, value in self.sentence_scores(of, model).items() if key != "terms"}

    def cached(self) -> dict[str, Values]:
        """Return the lists of vectors and the tables of scores of the study, each with what the config says of it.

        Files of a model are not compared: the model need not be on this machine.
        """
        drawn = {**self.select(_SAMPLED_BY), **self._extraction, **self.select("seed")}
        lists, tables = dict[str, Values](), dict[str, Values]()
        for model in self._study.embedded.every:
            contexts = {**self.embedding(model), **drawn}
            lists |= {f"results/embeddings/{model}/{length}.json": contexts for length in self._study.labels}
            if self._config["seat"]["categories"]:
                lists[f"results/embeddings/{model}/templates.json"] = self.sentence_embedding(model)
        asked, masked = self._config["log_probability"], self._study.scored.masked.every
        for model in self._study.scored.every:
            tables |= {f"pairs/{name}/{model}": self.pair_scores(model) for name in self._study.sets}
            if model in masked and asked["traits"]:
                tables[f"structures/{model}"] = self.sentence_scores("structures", model)
            if model in masked and asked["categories"]:
                tables[f"log_probability/{model}"] = self.log_probability(model)
        for settings in tables.values():
            settings["which"] = {key: said for key, said in settings["which"].items() if key != "files"}
        return lists | {f"results/likelihoods/{name}.parquet": settings for name, settings in tables.items()}

    # ---- the page

    def page(self) -> Values:
        """Return what the page says of the config, without where vectors come from and into how many files."""
        config = self._config
        stages = ("pairs", "log_probability")
        return {
            **config,
            **{each: {key: value for key, value in config[each].items() if key != "buckets"} for each in stages},
            "corpus": {**config["corpus"], "root": named(config["corpus"]["root"])},
            "embeddings": self.select("embeddings: stored_dtype unknown audit"),
            "normalization": self._study.normalization,
        }

    # ---- parts of the above

    def _weights(self, settings: Mapping[str, Any]) -> Values:
        """Return which model it is, and of twins the seeds of their random weights; their kind changes nothing then."""
        which = self.model(settings["family"])
        del which["options"]["kind"]
        return {**which, **({"twins": settings["random_weights"]} if "random_weights" in settings else {})}

    def _scorer(self, settings: Mapping[str, Any]) -> Values:
        files = self.model_files(settings["family"])
        return {**self._weights(settings), "dtype": settings["dtype"], "files": files}

    def _n_twins(self, name: str) -> int | None:
        """Return how many twins a job measures; None of a model."""
        twins = {**self._study.embedded.twins, **self._study.scored.twins}.get(name)
        return len(twins["random_weights"]) if twins else None

    def _test(self, name: str = "") -> Values:
        """Return how the effects of a model, its twins or of vectors are tested."""
        return {**self.select(_TESTED_BY), **(_OF_A_TWIN if self._n_twins(name) else {})}


def _numberless(shard: Shard) -> Values:
    """Return a shard without the number of its entry: which entry of the config names a file changes nothing in it."""
    return {**shard._asdict(), "columns": list(shard.columns), "text": 0}


def require_cached(files: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to begin if cached vectors or scores are missing, or are others than the config asks for.

    Args:
        files: lists of vectors and tables of scores, each with what the config says of it. A setting of which the file
            or the config says nothing, and `auto`, are not compared.

    Raises:
        InputError: the first of them, how many there are, and what to do.
    """
    problems = list(filter(None, starmap(_find_misfit, files.items())))
    if problems:
        more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
        raise InputError(
            f"embeddings.source is 'cached', but vectors or scores are missing or do not fit: {problems[0]}{more} Copy"
            " the right ones under results/embeddings and results/likelihoods, or let the models compute them: write"
            " `embeddings: {source: computed}`."
        )


def _find_misfit(path: str, asked: Mapping[str, Any]) -> str:
    """Return the problem with a cached file as a sentence; empty if it fits."""
    try:
        if path.endswith(".json"):
            shard_paths(path)
        record = read_record(Path(path))
    except InputError as error:
        return str(error)
    recorded = dict(_list_leaves({**record.get("settings", {}), **json.loads(record.get("sampling", "{}"))}))
    for key, said in _list_leaves(asked):
        if said not in (recorded.get(key, said), '"auto"'):
            return f"{path} was made with {key} {recorded[key]}, but the config says {said}."
    return ""


def _list_leaves(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings below others as text by their paths, such as `which.dtype`.

    Shipped files are called as the config calls them.
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _list_leaves(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", NAMED.sub(lambda path: named(path[0]), json.dumps(value, ensure_ascii=False))
