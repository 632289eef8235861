"""What changes the results of each job: the parameters that Snakemake compares with those of the last run.

Values are plain (numbers, text, lists, dictionaries), since Snakemake passes over all others without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.documents import digest_of
from prasanga.base.errors import InputError
from prasanga.base.parquet import made_from
from prasanga.base.places import NAMED, named
from prasanga.lexicon.model import stimuli_of
from prasanga.plan.models import asked_of_model, files_of_model, kind_at_hand, training_options
from prasanga.plan.study import StudyPlan, digest_of_set
from prasanga.report.published import percentage_files, published_files
from prasanga.sentences.files import Shard

Values = dict[str, Any]

FOUND_BY = ("match", "neighbours", "before", "after")
"""Keys of `sentences` that decide which occurrences there are, and what stands around them."""


def digests_of(categories: Mapping[str, Any]) -> list[str]:
    """Return a parameter for each category, its name and a digest of its words: Snakemake prints those that differ.

    It fills in what stands in braces, and its report holds them among its scripts, so that those signs of a name become
    parentheses.
    """
    plain = str.maketrans("{<>}", "(())")
    return [f"category {name.translate(plain)} {digest_of(category)[:12]}" for name, category in categories.items()]


class Settings:
    """What changes the results of the jobs of a study; a method for each kind of job."""

    def __init__(self, study: StudyPlan) -> None:
        self._study = study
        self._config = study.config
        self._models, self._words, self._texts = study.models, study.words, study.texts

    # ---- words and texts

    def forms(self) -> Values:
        """Return what changes the table of surface forms; the lexicon is read while planning."""
        return {**self._study.words_from, "forms": self._words.lexicon.forms if self._words.lexicon else ""}

    def categories(self) -> Values:
        """Return what changes the file of categories, glosses included."""
        return {**self._study.words_from, "categories": digest_of(self._words.categories)}

    def candidates(self) -> Values:
        """Return where the candidates for new words are read from."""
        settings, spelling = self._config["lexicon"], {"normalization": self._study.normalization}
        return {"stimuli": settings["candidates"], "suffix_groups": settings["suffix_groups"], **spelling}

    def ranking(self, entries: object) -> Values:
        """Return what changes the ranking of the candidates, besides the counts; `entries` are their sets."""
        return {
            **self._of("lexicon", "candidates"),
            "normalization": self._study.normalization,
            **self._of("lexicon", "top"),
            "entries": digest_of(entries),
        }

    def shard(self, shard: Shard) -> Values:
        """Return what one job reads: a file or a part of it, with the file's size, and what it looks for there."""
        return {
            **self._extraction(),
            **self._of("corpus", "errors"),
            "shard": _numberless(shard),
        }

    def counting(self, shard: Shard) -> Values:
        """Return what counts candidates in a shard: they are looked for as stimuli are, without contexts."""
        return {**self.shard(shard), "before": 0, "after": 0}

    def sampled_forms(self) -> Values:
        """Return what changes how often forms stand in the sample that tokenizers are judged by."""
        extraction = self._extraction()
        keys = ("match", "neighbours", "normalization", "replacements")
        return {**{key: extraction[key] for key in keys}, **self._files(self._study.sampled_files())}

    def audit(self) -> Values:
        """Return what changes the tables by which a reader judges the lexicon."""
        return {**self._of("sentences", "concordance"), "seed": self._config["seed"]}

    def short_stimuli(self) -> Values:
        """Return what decides which stimuli have too few contexts."""
        return {**self._of("samples", "lengths", "pool", "minimum", "window", "longest"), "stimuli": self._stimuli()}

    def sampling(self) -> Values:
        """Return what decides which contexts are drawn."""
        return {
            **self._config["samples"],
            "seed": self._config["seed"],
            "stimuli": self._stimuli(),
            "buckets": len(self._study.buckets),
        }

    def release(self) -> Values:
        """Return what changes the data set of sampled contexts that is made for others."""
        config, corpus = self._config, self._config["corpus"]
        shards, supplement = self._texts.shards, self._texts.supplement
        return {
            "study": config["study"],
            "title": config["title"],
            "texts": [
                [text["files"], text["title"] or text["files"], text["licence"], key == "supplement"]
                for key in ("texts", "supplement")
                for text in corpus[key]
            ],
            "of_table": [
                *(shards[name].text for name in sorted(shards)),
                *(len(corpus["texts"]) + supplement[name].text for name in sorted(supplement)),
            ],
            # what of the config decides which sentences there are, and how they are written
            "settings": {
                **{key: config[key] for key in ("language", "seed", "replacements", "categories", "samples")},
                "normalization": self._study.normalization,
                "sentences": self._of("sentences", *FOUND_BY),
                "corpus": [text["files"] for key in ("texts", "supplement") for text in corpus[key]],
                "forms": self._words.lexicon.forms if self._words.lexicon else "",
            },
        }

    def templates(self) -> Values:
        """Return what decides which sentences SEAT has: the words, their classes and forms, and the templates."""
        study = self._study
        return {
            **study.words_from,
            "words": self._words.lexicon.words if self._words.lexicon else "",
            **self._of("seat", "categories"),
            "sets": digest_of(self._words.seat_chosen),
            # what the file says; a gloss in it is in no sentence
            "templates": digest_of(self._words.template_texts),
        }

    # ---- models

    def model(self, family: str) -> Values:
        """Return which model it is and how it is read. On how many cards it runs changes none of its results."""
        settings = self._config["models"][family]
        options = ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
        return {
            "model": settings.get("path", f"results/models/{family}"),
            "revision": settings["revision"],
            "options": {key: settings[key] for key in options},
        }

    def model_files(self, family: str) -> dict[str, list[int]]:
        """Return the files of a model that a user may replace by others, as they are now."""
        settings = self._config["models"][family]
        return files_of_model(settings["path"]) if "path" in settings else {}

    def training(self, family: str) -> Values:
        """Return what changes a model that the workflow trains."""
        settings = self._config["models"][family]
        extraction = self._extraction()
        return {
            **settings["train"],
            "kind": kind_at_hand(settings),
            **{key: extraction[key] for key in ("normalization", "replacements")},
            **self._whole_corpus(),
        }

    def check(self, family: str) -> Values:
        """Return what a model is checked for: what the study asks of it, and its files."""
        settings = self._config["models"][family]
        return {
            **self.model(family),
            "dtype": settings["dtype"],
            "layers": [each["layer"] for each in self._models.studied.values() if each["family"] == family],
            "language_codes": settings["language_codes"],
            "sentence_vector": settings["sentence_vector"] if self._reads_sentences(family) else None,
            **asked_of_model(settings, self._config["pairs"], self._config["log_probability"]),
            # older files in place of newer ones are other files as well
            "files": self.model_files(family),
        }

    def tokenizer(self, family: str) -> Values:
        """Return which tokenizer is audited, with what limits; none for a model that embeds nothing."""
        embeds = "embeddings" in self._config["models"][family]["stages"]
        return {**self.model(family), "limits": self._config["embeddings"]["audit"] if embeds else {}}

    def _reads_sentences(self, family: str) -> bool:
        return self._study.asks_for("seat") and "embeddings" in self._config["models"][family]["stages"]

    # ---- vectors

    def embedding(self, model: str) -> Values:
        """Return what changes the vectors of a model or twin, and where it comes from."""
        settings = self._models.embedded[model]
        return {
            **self._weights(settings),
            **{key: settings[key] for key in ("layer", "layers", "dtype", "pieces")},
            **self._of("embeddings", "stored_dtype", "unknown"),
        }

    def sentence_embedding(self, model: str) -> Values:
        """Return what changes the vectors that a model gives to sentences; each layer is a job of its own."""
        settings = self.embedding(model)
        sentence_vector = self._models.embedded[model]["sentence_vector"]
        return {**settings, "layers": [settings["layer"]], "sentence_vector": sentence_vector}

    def cached_lists(self) -> dict[str, Values]:
        """Return the lists of vectors of the study, each with what the config says of its vectors."""
        sampling = self._of("samples", "pool", "contexts_per_stimulus", "window", "longest")
        text = {**self._extraction(), "seed": self._config["seed"]}
        measured = (*self._models.names, *self._models.twins)
        of_contexts = {
            f"results/embeddings/{model}/{length}.json": {**self.embedding(model), **sampling, **text}
            for model in measured
            for length in self._study.labels
        }
        of_sentences = {}
        for model in measured if self._config["seat"]["categories"] else ():
            settings = self.sentence_embedding(model)
            if settings["sentence_vector"] == "auto":  # what it came to, the list says
                del settings["sentence_vector"]
            of_sentences[f"results/embeddings/{model}/templates.json"] = settings
        return of_contexts | of_sentences

    def dispensable_lists(self) -> dict[str, list[str]]:
        """Return the lists of vectors that a study can go without, by what to write then."""
        lists = list(self.cached_lists())
        of_twins = [path for path in lists if Path(path).parent.name in self._models.twins]
        of_sentences = [path for path in lists if Path(path).name == "templates.json"]
        what = "of twins with random weights (associations.random_twins); without them"
        return {
            f"{what}: `associations: {{random_twins: 0}}`.": of_twins,
            "of sentences for SEAT; without it: `seat: {categories: []}`.": of_sentences,
        }

    def cutting(self) -> Values:
        """Return what changes the sentences of the corpus."""
        extraction = self._extraction()
        return {
            **{key: extraction[key] for key in ("language", "normalization", "replacements")},
            **self._whole_corpus(),
        }

    def static_training(self, vectors: str) -> Values:
        """Return what changes trained static vectors, besides the corpus."""
        return training_options(self._config["static"]["vectors"][vectors]["train"])

    def static_reading(self, vectors: str) -> Values:
        """Return the settings that decide which static vectors the words get."""
        study, settings = self._study, self._config["static"]
        return {
            **study.words_from,
            "words": [self._words.lexicon.forms, self._words.lexicon.words] if self._words.lexicon else [],
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
            **self._of("associations", "sample_modes", "variance", "tau2", "draws", "repeated_words", "band"),
            "test": self._test(twin=model in self._models.twins),
            "effects_alone": model in self._models.twins,
            **self._of("samples", "pool", "window"),
            **self._of("sentences", "match", "neighbours"),
            "pieces": self._models.embedded[model]["pieces"],
            "seed": self._config["seed"],
            "categories": self._config["categories"],
            "segment_length": self._study.labels[length],
        }

    def comparison_of_ceat(self) -> Values:
        """Return what changes how effects are compared between lengths and models."""
        return {**self._of("associations", "band"), "models": self._models.names}

    def seat(self, model: str) -> Values:
        """Return what changes the SEAT of a model or twin, besides the words."""
        return {
            "n_twins": self._n_twins(model),
            **self._of("seat", "categories"),
            "test": self._test(twin=model in self._models.twins),
            **self._of("seat", "unit", "average"),
            "seed": self._config["seed"],
        }

    def weat(self, vectors: str) -> Values:
        """Return what changes the WEAT of static vectors, besides the words."""
        settings = self._config["static"]
        return {
            "categories": list(self._words.weat_chosen),
            "test": self._test(),
            **self._of("static", "forms"),
            "source": settings["vectors"][vectors].get("path", "the study's corpus"),
            "seed": self._config["seed"],
        }

    def multiverse(self) -> Values:
        """Return what of the multiverse each list of vectors is: method, model, and the choices it was made with.

        Entries of the config with the same model, such as its layers or other pieces of words, are one model there.
        """
        study, samples = self._study, self._config["samples"]
        sources: dict[str, Values] = {}
        names: dict[tuple[str, str], str] = {}
        for name, settings in self._models.studied.items():
            which = self.model(settings["family"])
            model = names.setdefault((which["model"], str(which["revision"])), settings["family"])
            common = {"layer": str(settings["layer"]), "pieces": settings["pieces"]}
            drawn = {"window": samples["window"], "pool": samples["pool"]}
            for length, label in study.labels.items():
                about = {"method": "ceat", "model": model, "choices": {**common, **drawn, "segment_length": label}}
                sources[f"results/embeddings/{name}/{length}.json"] = about
            if study.asks_for("seat"):
                about = {"method": "seat", "model": model, "choices": common}
                sources[f"results/embeddings/{name}/templates.json"] = about
        for name in self._config["static"]["vectors"]:
            sources[f"results/static/{name}.parquet"] = {"method": "weat", "model": name, "choices": {}}
        chosen = {"ceat": self._words.chosen, "seat": self._words.seat_chosen, "weat": self._words.weat_chosen}
        methods = {source["method"] for source in sources.values()}
        categories = {method: list(chosen[method]) for method in sorted(methods)}
        how = self._of("associations", "repeated_words")
        return {"sources": sources, "categories": categories, **how, "seed": self._config["seed"]}

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
            **self._of("pairs", "reduction", "pieces", "punctuation", "unknown"),
            "normalization": self._config["normalization"],
            "language_codes": self._models.scorers[model]["language_codes"],
            "name": model,
        }

    def structures(self, model: str) -> Values:
        """Return what changes the scores of traits in sentence structures."""
        return {
            "which": self._scorer(model),
            "lexicon": self._study.words_from,
            **self._of("log_probability", "traits", "structures", "pieces", "terms"),
            **self._sentences("structures"),
        }

    def log_probability(self, model: str) -> Values:
        """Return what changes the log-probability bias of categories."""
        return {
            "which": self._scorer(model),
            "lexicon": self._study.words_from,
            "test": self._test(twin=model in self._models.scored_twins),
            **self._of("log_probability", "categories", "templates", "exchanged", "pieces", "terms"),
            **self._sentences("log_probability"),
            "seed": self._config["seed"],
        }

    def scored_sentences(self, of: str, model: str) -> Values:
        """Return what changes the scores of the sentences of `structures` or `log_probability`, and nothing else."""
        settings = self.structures(model) if of == "structures" else self.log_probability(model)
        return {key: value for key, value in settings.items() if key not in ("test", "terms", "seed")}

    def cached_scores(self) -> dict[str, dict[str, Values]]:
        """Return the scores of the study by what to write to go without them, each with what the config says of it.

        Files of a model are not compared: the model need not be on this machine.
        """
        study, asked = self._study, self._config["log_probability"]
        scored, masked = (
            (*self._models.scored, *self._models.scored_twins),
            (*self._models.masked, *self._models.masked_twins),
        )
        pairs = {f"pairs/{name}/{model}": self.pair_scores(model) for name in study.sets for model in scored}
        traits = {f"structures/{model}": self.structures(model) for model in masked if asked["traits"]}
        words = {f"log_probability/{model}": self.log_probability(model) for model in masked if asked["categories"]}
        tables = {
            "`pairs: {sets: {}}`": pairs,
            "`log_probability: {traits: []}`": traits,
            "`log_probability: {categories: []}`": words,
        }
        return {
            without: {f"results/likelihoods/{name}.parquet": _without_files(each) for name, each in found.items()}
            for without, found in tables.items()
        }

    def bias(self) -> Values:
        """Return what changes bias percentages, besides the scores."""
        of_pairs = self._of("pairs", "n_runs", "share", "n_resamples", "ties", "equivalence_margin")
        return {**of_pairs, "seed": self._config["seed"]}

    def gathering_structures(self, twin_of: Iterable[str]) -> Values:
        """Return what changes the table of structures, besides the scores; `twin_of` names the models of the twins."""
        return {
            "twin_of": list(twin_of),
            "traits": self._study.traits,
            "normalization": self._study.normalization,
            **self._of("associations", "n_resamples"),
            "seed": self._config["seed"],
        }

    # ---- the page

    def paper_tables(self) -> Values:
        """Return what changes the tables in the papers' layouts, besides the estimates."""
        return {"preset": self._config["preset"], "language": self._config["language"], **self._first_draws()}

    def _first_draws(self) -> Values:
        n_samples = self._config["associations"]["n_samples"]
        return {"n_samples": n_samples} if isinstance(n_samples, list) else {}

    def comparison(self, folder: str | Path, *, pairs: bool) -> Values:
        """Return what changes the comparison with a paper: published files come with the workflow, so content counts.

        Args:
            folder: where they are, from the working directory.
            pairs: whether the study has bias percentages to compare.
        """
        paper = self._config["comparison"]["paper"]
        files = [*published_files(folder, paper), *(percentage_files(folder, paper) if pairs else [])]
        return {
            **self._config["comparison"],
            "language": self._config["language"],
            "preset": self._config["preset"],
            "folder": str(folder),
            **self._first_draws(),
            "published": {path.name: digest_of(path.read_text(encoding="utf-8")) for path in files},
        }

    def page(self) -> Values:
        """Return what the page says of the config; where vectors come from, and into how many files, is no part."""
        corpus = self._config["corpus"]
        return {
            **self._config,
            "corpus": {**corpus, "root": named(corpus["root"])},
            "embeddings": self._of("embeddings", "stored_dtype", "unknown", "audit"),
            **{
                stage: {key: value for key, value in self._config[stage].items() if key != "buckets"}
                for stage in ("pairs", "log_probability")
            },
            "normalization": self._study.normalization,
        }

    # ---- parts of the above

    def _of(self, section: str, *keys: str) -> Values:
        """Return some entries of a section of the config."""
        return {key: self._config[section][key] for key in keys}

    def _stimuli(self) -> list[str]:
        return stimuli_of(self._words.chosen)

    def _extraction(self) -> Values:
        """Return what decides which sentences are found in a text, and what stands in them."""
        replacements = self._config["replacements"].items()
        return {
            **self._of("sentences", *FOUND_BY),
            "language": self._config["language"],
            "normalization": self._study.normalization,
            "replacements": {key: text for key, text in replacements if text is not None},
        }

    def _whole_corpus(self) -> Values:
        return {**self._of("corpus", "errors"), **self._files(self._texts.whole_files())}

    def _files(self, files: Sequence[Shard]) -> Values:
        """Return whole files of the corpus, with their sizes."""
        return {"shards": [_numberless(shard) for shard in files]}

    def _weights(self, settings: Mapping[str, Any]) -> Values:
        """Return which model it is, and of twins the seeds of their random weights; their kind changes nothing then."""
        which = self.model(settings["family"])
        options = {key: value for key, value in which["options"].items() if key != "kind"}
        twins = {"twins": settings["random_weights"]} if "random_weights" in settings else {}
        return {**which, "options": options, **twins}

    def _scorer(self, model: str) -> Values:
        settings = self._models.scorers[model]
        files = self.model_files(settings["family"])
        return {**self._weights(settings), "dtype": settings["dtype"], "files": files}

    def _n_twins(self, name: str) -> int | None:
        """Return how many twins a job measures; None of a model."""
        twins = (self._models.twins | self._models.scored_twins).get(name)
        return len(twins["random_weights"]) if twins else None

    def _test(self, *, twin: bool = False) -> Values:
        """Return how effects are tested; of twins the effect is all that is shown."""
        decide = ("std", "alternative", "statistic", "n_permutations", "interval")
        shown = ("n_resamples", "resample_attributes", "n_shuffles", "equivalence_margin")
        test = self._of("associations", *decide, *shown)
        return {**test, "n_resamples": 0, "n_shuffles": 0, "n_permutations": 1} if twin else test

    def _sentences(self, name: str) -> Values:
        return {"sentences": self._words.sentences[name].digest} if self._words.sentences else {}


def _numberless(shard: Shard) -> Values:
    """Return a shard without the number of its entry: which entry of the config names a file changes nothing in it."""
    return {**shard._asdict(), "columns": list(shard.columns), "text": 0}


def _without_files(settings: Mapping[str, Any]) -> Values:
    return {**settings, "which": {key: value for key, value in settings["which"].items() if key != "files"}}


def require_scores(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Refuse to begin if scores are to be used from the cache and are missing, or are others than the config asks for.

    Args:
        tables: by what to write to go without them, the tables of scores, each with what the config says of it. A
            setting of which the table or the config says nothing is not compared.

    Raises:
        InputError: how many there are, the first of them, and what to do.
    """
    problems = {
        path: (what, without)
        for without, paths in tables.items()
        for path, expected in paths.items()
        if (what := _misfit(path, expected)) is not None
    }
    if not problems:
        return
    what, without = next(iter(problems.values()))
    more = f" (and {len(problems) - 1} more like this)" if len(problems) > 1 else ""
    raise InputError(
        f"embeddings.source is 'cached', but scores are missing or do not fit{more}: {what} Copy the right ones under"
        " results/likelihoods, let the models compute them (`embeddings: {source: computed}`), or leave them out:"
        f" {without}."
    )


def _misfit(path: str, expected: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a table, as a sentence."""
    if not Path(path).exists():
        return f"{path} is not there."
    recorded = json.loads(made_from(path).get("settings", "{}"))
    for key, found, wanted in _differences(recorded, expected):
        return f"{path} was made with {key} {found!r}, but the config says {wanted!r}."
    return None


def _differences(
    recorded: Mapping[str, Any], expected: Mapping[str, Any], before: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the settings that both sides name and that differ: name, recorded and expected value."""
    for key in expected.keys() & recorded.keys():
        found, wanted = recorded[key], expected[key]
        if isinstance(found, Mapping) and isinstance(wanted, Mapping):
            yield from _differences(found, wanted, f"{before}{key}.")
        elif _as_named(found) != _as_named(wanted):
            yield f"{before}{key}", found, wanted


def _as_named(value: Any) -> str:
    """Return a setting as text in which shipped files are called as the config calls them."""
    return NAMED.sub(lambda path: named(path[0]), json.dumps(value))
