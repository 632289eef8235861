"""The files of a study's jobs, and their parameters, which Snakemake compares with the last run.

Values of parameters are plain (numbers, text, lists, dictionaries), because Snakemake silently ignores all others.

A file belongs to one of three stages. Texts, models and their reports are made where models run. Vectors, scores and
estimates are made unless only figures are drawn, and give the tables of results. Other files are used if present.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

from prasanga.base.io import digest_of, sha256_of_file
from prasanga.base.places import named, require_no_braces
from prasanga.methods import CEAT, FAMILY, METHODS, SEAT, TABLES, Method, Table, method_named, names_of
from prasanga.plan import StudyPlan
from prasanga.plan.models import find_kind, list_model_files, list_questions
from prasanga.samples import counts_of
from prasanga.sentences.corpus import Shard

Values = dict[str, Any]

AUDIT = ("forms", "concordance", "suffixes", "lengths")
"""Tables by which a reader judges the lexicon."""
LISTS = "{results}/embeddings/{model}/{length}.json"
SENTENCES = "{results}/sentences/{shard}.parquet"
SUPPLEMENT = "{results}/sentences/supplement/{supplement}.parquet"
SEGMENTS = "{results}/samples/{length}/{bucket}.parquet"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
_COVERAGE, _TEMPLATES = "{results}/samples/coverage.parquet", "{results}/samples/templates.parquet"
_PAIR_SCORES = "{results}/likelihoods/pairs/{set}/{scored}.parquet"
_ODDITIES = "{results}/pairs/{set}.oddities.parquet"
_TERM_STRENGTH = "log_probability_strength"


class Files:
    """The files of a study, as paths from its folder.

    Attributes:
        results: tables for the report, by their names in `prasanga.report.study.Results`, new or existing.
        missing: a sentence for each missing table that this run does not make.
        terms: the scores for the strength of log-probability bias; empty for raw logits, or if some are missing.
    """

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config, self._results = study, study.config, study.results
        embedded, scored, texts = study.embedded, study.scored, study.texts
        self._names: dict[str, Iterable[str]] = {
            "results": [study.results],
            "shard": sorted(texts.shards),
            "supplement": sorted(texts.supplement),
            "audit": AUDIT,
            "length": study.labels,
            "bucket": study.buckets,
            "family": sorted(self._config["models"]),
            "model": sorted(embedded.models),
            "twin": embedded.twins,
            "vectors": sorted(self._config["static"]["vectors"]),
            "set": study.sets,
            "scored": scored.models,
            "scored_twin": scored.twins,
        }
        self._has_texts, self._has_templates = bool(embedded.models and study.labels), study.asks_for(SEAT)
        self.terms = self.vectors("log_probability")
        is_cached = not study.computed and not study.from_results
        absent = [path for path in list_paths(self.terms) if is_cached and not Path(path).exists()]
        if absent or self._config["log_probability"]["aggregation"] == "raw_logits":  # no shift is defined for logits
            self.terms = {}
        finished = self.finished()
        self.results = {name: path for name, path in finished.items() if self._use([path])}
        others = [path for name, path in finished.items() if name not in self.results]
        self.missing = [f"{path} is missing. `snakemake {path}` makes it." for path in others]
        if absent and study.asks_for(method_named("log_probability")) and self._config["calibration"]["repetitions"]:
            said = f"{absent[0]} is missing, so the strength of log-probability bias is left out"
            self.missing.append(f"{said}. Copy the file here, or write `embeddings: {{source: computed}}` once.")

    def fill(self, *patterns: str, **given: Iterable[str]) -> list[str]:
        """Return the paths of patterns: every wildcard takes each of its names, the last one fastest.

        Args:
            patterns: paths with `{model}`, `{twin}`, `{scored}`, `{scored_twin}`, `{length}`, `{bucket}`, `{set}`,
                `{family}`, `{vectors}`, `{shard}`, `{supplement}`, `{audit}`.
            given: names of a wildcard in place of all names in the study.
        """
        names, paths = self._names | given, list[str]()
        for pattern in patterns:
            wildcards = [name for _, name, *_ in Formatter().parse(pattern) if name]
            filled = product(*(names[wildcard] for wildcard in wildcards))
            paths += [pattern.format_map(dict(zip(wildcards, values, strict=True))) for values in filled]
        return paths

    def fill_lengths(self, pattern: str) -> list[str]:
        """Return the paths of a pattern with `{length}`, for all lengths that a job of a model measures."""
        return self._study.embedded.paths(*self.fill(pattern, model=["{model}"], bucket=["{bucket}"]))

    def _asks_for(self, table: Table) -> bool:
        """Return whether the config asks for a table, and its inputs exist."""
        return table.is_asked_for(self._config) and bool(self.terms or table.name != _TERM_STRENGTH)

    # ---- inputs of jobs

    def model(self, family: str) -> list[str]:
        """Return the files of a model on this machine; empty for a model of the hub."""
        settings, folder = self._config["models"][family], self._study.find_model(family)
        if "path" not in settings:
            # the last file says whether the others are unchanged
            origin = "training.json" if "train" in settings else "package.json"
            return [f"{folder}/{name}" for name in (*MODEL_FILES, origin)]
        return require_no_braces(sorted(str(path) for path in Path(settings["path"]).glob("*") if path.is_file()))

    def segments_read(self, bucket: str = "", **_: str) -> list[str]:
        """Return the segments of all lengths of a bucket; of the only one if none is named."""
        return self.fill(SEGMENTS, bucket=[bucket or self._study.buckets[0]])

    def first_layer(self, model: str, bucket: str = "") -> list[str]:
        """Return the first layer's files of the same shards, as one job embeds all layers; empty for that layer."""
        embedded = self._study.embedded
        alike = embedded.twins if model in embedded.twins else embedded.models
        first = next(name for name, each in alike.items() if each["family"] == alike[model]["family"])
        pattern, bucket = "{results}/embeddings/{model}/{length}/{bucket}.parquet", bucket or self._study.buckets[0]
        return self.fill(pattern, model=[first], bucket=[bucket]) if first != model else []

    # ---- estimates

    def estimates(self, method: str, ending: str = ".parquet", *, twins: bool = False) -> list[str]:
        """Return the tables of a method's jobs, or of its random copies; empty if the study does not ask for it."""
        measured = method_named(method)
        if not measured.is_asked_for(self._config):
            return []
        models, copies = self._study.find_measured(measured)
        return [f"{self._results}/{measured.stage}/{method}/{name}{ending}" for name in (copies if twins else models)]

    def gathered(self, method: Method) -> dict[str, Any]:
        """Return the inputs of a method's tables.

        Returns:
            `estimates`, `words`, `templates`; `twins` by model; `coverage`, and `tokenizers` by model, on the frequency
            and pieces of words; `resamples` and `convergence` of CEAT.
        """
        study, name = self._study, method.name
        twin_of = study.embedded.twin_of | study.scored.twin_of
        twins = {twin_of[Path(path).stem]: [path] for path in self.estimates(name, twins=True)}
        models = study.embedded.models if method.unit == CEAT.unit else {}
        reports = {
            model: f"{self._results}/models/{each['family']}.tokenizer.parquet" for model, each in models.items()
        }
        parts = ("estimates", "words", "templates", *(("resamples", "convergence") if method == CEAT else ()))
        endings = {part: ".parquet" if part == "estimates" else f".{part}.parquet" for part in parts}
        found = {part: self.estimates(name, ending) for part, ending in endings.items()}
        return {
            **found,
            "templates": found["templates"] if f"{name}_templates" in TABLES else [],
            "twins": twins,
            # without categories that are measured in text, no text is read
            "coverage": self._use_texts(self.fill(*[_COVERAGE] * self._has_texts)),
            "tokenizers": {model: path for model, path in reports.items() if self._use_texts([path])},
        }

    def gathered_tables(self) -> list[str]:
        """Return the tables of all methods of word associations, but for the multiverse."""
        tables = [table for method in FAMILY if self._study.asks_for(method) for table in method.tables]
        gathered = [table for table in tables if table.name != "multiverse" and not table.key]
        csv = [f"{self._results}/{table.path}.csv" for table in gathered if table.beside.endswith(".csv")]
        return [*(f"{self._results}/{table.path}.parquet" for table in gathered), *csv]

    def vectors(self, method: str) -> dict[str, list[list[str]]]:
        """Return the vectors or scores that a method measures, by model: files of the model, and of its random copies.

        CEAT has a file per length of primary estimates: the fixed lengths, or all if none is fixed.
        """
        labels = self._study.labels
        twin_of = (self._study.scored if method == "log_probability" else self._study.embedded).twin_of
        fixed = [length for length, label in labels.items() if not label.startswith(">")]
        lists = {"ceat": self.fill(LISTS, model=["{model}"], length=fixed or [*labels])}
        lists |= {"seat": ["{results}/embeddings/{model}/templates.json"], "weat": ["{results}/static/{model}.parquet"]}
        lists["log_probability"] = ["{results}/likelihoods/log_probability/{model}.terms.parquet"]
        return {
            model: [
                self.fill(*lists[method], model=[name])
                for name in (model, *(twins for twins, of in twin_of.items() if of == model))
            ]
            for model in self._study.find_measured(method_named(method))[0]
        }

    # ---- results and the page

    def finished(self) -> dict[str, str]:
        """Return the tables of a finished study, by their names in `prasanga.report.study.Results`."""
        return {
            table.name: f"{self._results}/{table.path}.parquet"
            for method in METHODS
            for table in method.tables
            # a table that describes pairs needs no model
            if table.on_page
            and self._asks_for(table)
            and (self._study.asks_for(method) or (table.name == "pair_statistics" and self._study.sets))
        }

    def texts_measured(self) -> dict[str, list[str]]:
        """Return the inputs of `measured_sentences`, where models run.

        Returns:
            `segments` with the filled templates of SEAT, `lists` of their vectors, `sentences` for their sources,
            `scored` and `terms` of the models with a mask.
        """
        texts, templates = self._has_texts, self._has_templates
        patterns = [*([LISTS] * texts), *(["{results}/embeddings/{model}/templates.json"] * templates)]
        return {
            "segments": self.fill(*[SEGMENTS] * texts, *[_TEMPLATES] * templates),
            "lists": self.fill(*patterns),
            "sentences": self.fill(SENTENCES, SUPPLEMENT) if texts else [],
            "scored": self.estimates("log_probability", ".sentences.parquet"),
            "terms": self.estimates("structures", ".terms.parquet"),
        }

    def measured_sentences(self, ending: str = "parquet") -> list[str]:
        """Return the file of measured sentences: made where models run, used elsewhere if it exists."""
        texts = self.texts_measured()
        is_made = not self._study.computed or any(texts[name] for name in ("segments", "scored", "terms"))
        is_shown = self._config["report"]["texts"] == "shown"
        return self._use_texts([f"{self._results}/samples/measured_sentences.{ending}"] if is_made and is_shown else [])

    def texts_shown(self) -> dict[str, list[str]]:
        """Return the files about texts and models for page and cards."""
        study, endings = self._study, (".json", ".tokenizer.json", ".tokenizer.parquet")
        reports = self.fill(*(f"{self._results}/models/{{family}}{end}" for end in endings))
        reports += self.fill("{results}/embeddings/{model}/precision.json") if study.labels else []
        coverage = self.fill(_COVERAGE)
        texts = {
            "coverage": self._use_texts(coverage),
            "corpus": self.fill("{results}/sentences/{shard}.json") if study.computed else counts_of(*coverage),
            "audit": self._use_texts(self.fill("{results}/sentences/audit/{audit}.parquet")),
        }
        found = {
            "embeddings": self._use(self.fill(LISTS)) + self._use_texts(reports),
            **(texts if study.labels else {}),
        }
        return found if study.embedded.models else {}

    def shown(self) -> dict[str, Any]:
        """Return the files for the page, by name in `prasanga.report.study.Results`."""
        words = {"categories": "{results}/lexicon/categories.json", "forms": "{results}/lexicon/forms.parquet"}
        has_words = {"ceat_words", *names_of(FAMILY)} & self.results.keys()
        measured = [f"{method.name}_words" for method in FAMILY[1:] if method.name in self.results]
        return {
            **self.results,
            **self.texts_shown(),
            **({name: self._use(self.fill(path)) for name, path in words.items()} if has_words else {}),
            "pair_scores": self._use(self.fill(_PAIR_SCORES, _PAIR_SCORES.replace("{scored}", "{scored_twin}"))),
            "pair_oddities": self._use(self.fill(_ODDITIES)),
            "words": self._use(f"{self._results}/{TABLES[name].path}.parquet" for name in measured),
            "sentences": self.measured_sentences(),
        }

    def data(self) -> dict[str, str]:
        """Return the tables of earlier stages that the page links, by their names in its folder."""
        is_hidden = self._config["report"]["texts"] == "hidden"
        copied = {
            table.beside: f"{self._results}/{table.path}{Path(table.beside).suffix}"
            for method in METHODS
            for table in method.tables
            if table.beside and {table.name, method.name} & self.results.keys() and self._asks_for(table)
            if not (is_hidden and table.name == "drawn_sentences")
        }
        audit = ("suffixes", "forms", "lengths", *(() if is_hidden else ("concordance",)))
        texts = self.fill("{results}/sentences/audit/{audit}.tsv", audit=audit) if self._study.labels else []
        oddities = [] if is_hidden else self._use(self.fill(_ODDITIES))
        others = [*self._use_texts(texts), *self.measured_sentences("tsv"), *oddities]
        return {
            **{name: path for name, path in copied.items() if self._use([path])},
            **{Path(path).name: path for path in others},
        }

    def tables_of_numbers(self) -> list[str]:
        """Return the tables for summary and cards: numbers, without text of the corpus."""
        shown = self.shown()
        texts = ("coverage", "corpus", "embeddings", "categories", "forms", "pair_oddities")
        paths = [*self.results.values(), *(path for name in texts for path in shown.get(name, []))]
        return [path for path in paths if path.endswith(".parquet")]

    def records(self) -> list[str]:
        """Return files whose metadata names libraries, templates, traits and pairs; only metadata is read."""
        lengths = [f"{label}/{self._study.buckets[0]}" for label in self._study.labels]
        first = [*lengths, *(["templates/00"] * self._has_templates)][:1]
        paths = [
            *self.fill(*[_TEMPLATES] * self._has_templates),
            *self.fill("{results}/embeddings/{model}/{first}.parquet", first=first),
            *self.fill("{results}/static/{vectors}.parquet"),
            *(path for method in METHODS if method.name != "pairs" for path in self.estimates(method.name)),
            *self.fill(_PAIR_SCORES, "{results}/pairs/{set}.parquet"),
        ]
        return self._use(dict.fromkeys(paths))

    def _use(self, paths: Iterable[str]) -> list[str]:
        """Return the files that this run makes or, if it only draws, that exist."""
        return [path for path in paths if not self._study.from_results or Path(path).exists()]

    def _use_texts(self, paths: Iterable[str]) -> list[str]:
        """Return files that are made if models run; otherwise the existing ones."""
        return [path for path in paths if self._study.computed or Path(path).exists()]


def list_paths(parts: Any) -> list[str]:
    """Return the files in nested lists and mappings, in order, each once."""
    if isinstance(parts, str):
        return [parts]
    nested = parts.values() if isinstance(parts, Mapping) else parts
    return list(dict.fromkeys(path for part in nested for path in list_paths(part)))


# --------------------
# The parameters of jobs.

_FOUND_BY = "sentences: match neighbours before after"
"""Keys that select occurrences and their contexts."""
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
    "structures": "log_probability: traits structures pieces aggregation prior_mask",
    "log_probability": "log_probability: categories templates exchanged pieces aggregation",
}
_OF_A_TWIN = {"n_resamples": 0, "n_shuffles": 0, "n_permutations": 1}
"""Only the effects of random copies are shown."""


class Settings:
    """The parameters of jobs, with a method for each kind of job that depends on more than keys of the config."""

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config, self._words, self._results = study, study.config, study.words, study.results
        replacements = self._config["replacements"].items()
        # decides the sentences found in a text, and their spelling
        self._extraction = {
            **self.select(f"{_FOUND_BY}; language"),
            "normalization": study.normalization,
            "replacements": {key: text for key, text in replacements if text is not None},
        }

    def select(self, keys: str) -> Values:
        """Return entries of the config; `keys` name sections, or the top level: `samples: pool window; seed`."""
        parts = [part.rpartition(": ") for part in keys.split("; ")]
        sections = [(self._config[section] if section else self._config, names) for section, _, names in parts]
        return {name: section[name] for section, names in sections for name in names.split()}

    # ---- words and texts

    def shard(self, shards: Sequence[Shard]) -> Values:
        """Return the input of one job, files or a part of one, with their sizes, and how it searches them."""
        first, *more = map(_numberless, shards)
        return {**self._extraction, **self.select("corpus: errors"), "shard": first, **({"more": more} if more else {})}

    def sampled_forms(self) -> Values:
        """Return the parameters of the frequency of forms in the sample for the audit of tokenizers."""
        sampled = self._study.texts.sampled_files() if self._study.labels else []
        return self._read(sampled, "match", "neighbours", "normalization", "replacements")

    def whole_corpus(self, *keys: str) -> Values:
        """Return the parameters of reading the whole corpus; `keys` such as `language` or `normalization`."""
        return {**self._read(self._study.texts.whole_files(), *keys), **self.select("corpus: errors")}

    def sampling(self) -> Values:
        """Return the parameters of drawing contexts."""
        drawn = {"stimuli": self._words.stimuli, "buckets": len(self._study.buckets)}
        return {**self._config["samples"], **self.select("seed"), **drawn}

    def release(self) -> Values:
        """Return the parameters of the released data set of sampled contexts."""
        corpus, texts = self._config["corpus"], self._study.texts
        entries = [(text, key == "supplement") for key in ("texts", "supplement") for text in corpus[key]]
        described = [[text["files"], text["title"] or text["files"], text["licence"], late] for text, late in entries]
        first, late = ([shards[name][0].text for name in sorted(shards)] for shards in (texts.shards, texts.supplement))
        return {
            **self.select("study title"),
            "texts": described,
            "of_table": [*first, *(len(corpus["texts"]) + number for number in late)],
            # decides the sentences and their spelling
            "settings": {
                **self.select("language seed replacements categories samples"),
                "normalization": self._study.normalization,
                "sentences": self.select(_FOUND_BY),
                "corpus": [text["files"] for text, _ in entries],
                "forms": self._words.lexicon.forms,
            },
        }

    def templates(self) -> Values:
        """Return the parameters of SEAT's sentences: the words, their classes and forms, and the templates."""
        categories = self._words.chosen["seat"].values()
        sides = [side for category in categories for side in (*category["targets"], *category["attributes"])]
        return {
            **self._words.source,
            "words": self._words.lexicon.words,
            **self.select("seat: categories"),
            # without pairs and clusters of words, which change no sentence
            "sets": digest_of([[side["name"], side["stimuli"]] for side in sides]),
            # without glosses, which change no sentence
            "templates": digest_of(self._words.template_texts),
        }

    # ---- models

    def model(self, family: str) -> Values:
        """Return a model and how it is read. The number of GPUs does not change results."""
        settings = self._config["models"][family]
        options = {key: settings[key] for key in _MODEL_OPTIONS}
        return {"model": self._study.find_model(family), "revision": settings["revision"], "options": options}

    def model_files(self, family: str) -> dict[str, list[int]]:
        """Return the current state of a model's files, which a user may replace."""
        settings = self._config["models"][family]
        return list_model_files(settings["path"]) if "path" in settings else {}

    def training(self, family: str) -> Values:
        """Return the parameters of a model that the workflow trains."""
        settings = self._config["models"][family]
        kind, corpus = find_kind(settings), self.whole_corpus("normalization", "replacements")
        return {**settings["train"], "kind": kind, **corpus}

    def check(self, family: str) -> Values:
        """Return the parameters of a model's check: the study's demands, and its files."""
        settings = self._config["models"][family]
        reads_sentences = bool(self._config["seat"]["categories"]) and "embeddings" in settings["stages"]
        return {
            **self.model(family),
            "dtype": settings["dtype"],
            "layers": [each["layer"] for each in self._study.embedded.models.values() if each["family"] == family],
            "language_codes": settings["language_codes"],
            "sentence_vector": settings["sentence_vector"] if reads_sentences else None,
            **list_questions(settings, self._config),
            # notices older files in place of newer ones
            "files": self.model_files(family),
        }

    def tokenizer(self, family: str) -> Values:
        """Return the audited tokenizer and its limits, which are empty for a model that embeds nothing."""
        embeds = "embeddings" in self._config["models"][family]["stages"]
        return {**self.model(family), "limits": self._config["embeddings"]["audit"] if embeds else {}}

    # ---- vectors

    def embedding(self, model: str) -> Values:
        """Return the parameters of the vectors that a model or its twins give to words in contexts."""
        most = {"contexts_per_twin": self._config["associations"]["contexts_per_twin"]}
        return self._vectors(model) | (most if model in self._study.embedded.twins else {})

    def _vectors(self, model: str) -> Values:
        """Return the parameters of all vectors of a model or twin."""
        settings = self._study.embedded.every[model]
        own = {key: settings[key] for key in ("layer", "layers", "dtype", "pieces")}
        return {**self._weights(settings), **own, **self.select("embeddings: stored_dtype unknown")}

    def sentence_embedding(self, model: str) -> Values:
        """Return the parameters of a model's sentence vectors, with a job per layer."""
        settings = self._study.embedded.every[model]
        own = {"layers": [settings["layer"]], "sentence_vector": settings["sentence_vector"]}
        return self._vectors(model) | own

    def static_reading(self, vectors: str) -> Values:
        """Return the parameters of the lookup of static vectors."""
        settings, lexicon = self._config["static"], self._words.lexicon
        how = {"pooling": settings["forms"], "format": settings["vectors"][vectors]["format"]}
        return {**self._words.source, "words": [lexicon.forms, lexicon.words], **how}

    # ---- associations

    def ceat(self, model: str) -> Values:
        """Return the parameters of CEAT of a model or its twins, which together draw as often as the model."""
        n_twins, asked = self._n_twins(model), self._config["associations"]["n_samples"]
        most = max(asked) if isinstance(asked, list) else asked
        return {
            "n_twins": n_twins,
            "n_samples": -(-most // n_twins) if n_twins else asked,
            "test": self._test(model),
            "effects_only": bool(n_twins),
            "pieces": self._study.embedded.every[model]["pieces"],
            **self.select(_CEAT),
        }

    def seat(self, model: str) -> Values:
        """Return the parameters of SEAT of a model or twin, without the words."""
        settings = self.select("seat: categories unit average; seed")
        return {"n_twins": self._n_twins(model), "test": self._test(model), **settings}

    def weat(self, vectors: str) -> Values:
        """Return the parameters of WEAT of static vectors, without the words."""
        source = self._config["static"]["vectors"][vectors].get("path", "the study's corpus")
        categories, settings = list(self._words.chosen["weat"]), self.select("static: forms; seed")
        return {"categories": categories, "test": self._test(), "source": source, **settings}

    def strength(self) -> Values:
        """Return the parameters of the strength of bias, without words and vectors."""
        n_twins = {model: self._n_twins(twins) for twins, model in self._study.embedded.twin_of.items()}
        keys = "calibration: repetitions shifts; associations: repeated_words; seat: average; seed"
        return {"n_twins": n_twins, "test": self._test(), **self.select(keys)}

    def term_strength(self) -> Values:
        """Return the parameters of the strength of log-probability bias, without words and scores."""
        keys = "calibration: repetitions shifts; log_probability: exchanged aggregation; seed"
        return {"test": self._test(), **self.select(keys)}

    def multiverse(self) -> Values:
        """Return the place of each list of vectors in the multiverse: method, model and choices.

        Entries of the config with the same model, such as layers or other pieces of words, are one model there.
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
            sources |= {f"{self._results}/embeddings/{name}/{each}.json": about for each, about in lists.items()}
        for name in self._config["static"]["vectors"]:
            sources[f"{self._results}/static/{name}.parquet"] = {"method": "weat", "model": name, "choices": {}}
        methods = sorted({source["method"] for source in sources.values()})
        categories = {method: list(self._words.chosen[method]) for method in methods}
        return {"sources": sources, "categories": categories, **self.select("associations: repeated_words; seed")}

    # ---- pairs and probabilities

    def pair_set(self, name: str) -> Values:
        """Return the parameters of a set of pairs, including the digest of its file.

        Raises:
            InputError: the file cannot be read.
        """
        settings = self._study.sets[name]
        asked = {"layout": settings["layout"], "languages": settings["languages"], "spoken": self._config["language"]}
        return {**asked, "digest": sha256_of_file(settings["path"])}

    def pair_scores(self, model: str) -> Values:
        """Return the parameters of the scores of pairs, with the measures of the model's kind."""
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
        """Return the parameters of the sentences of `structures` or `log_probability`, without tests."""
        which, sentences = self._scorer(self._study.scored.every[model]), self._words.sentences
        asked = self.select(_SENTENCES[of]) | ({"sentences": sentences[of]} if sentences else {})
        if of == "structures" and asked["aggregation"] == "raw_logits":  # only categories have it
            asked["aggregation"] = "log-sum-exp"
        return {"which": which, "lexicon": self._words.source, **asked}

    def drawing(self) -> Values:
        """Return the parameters of drawing sentences of the corpus for S5."""
        entries = self._config["corpus"]["texts"]
        texts = [entries[shard.text] for shard in self._study.texts.whole_files()]
        return {
            **self.whole_corpus("language", "normalization", "replacements"),
            **self.select("log_probability: traits structures; seed"),
            "texts": [[text["title"] or text["files"], text["licence"]] for text in texts],
            "lexicon": self._words.source,
            "sentences": self._words.sentences["structures"],
        }

    def log_probability(self, model: str) -> Values:
        """Return the parameters of the log-probability bias of categories."""
        scores = self.sentence_scores("log_probability", model)
        return {**scores, "test": self._test(model), **self.select("seed")}

    def cached(self) -> dict[str, Values]:
        """Return the study's lists of vectors and tables of scores, each with its settings in the config.

        Files of a model are not compared, because the model need not be on this machine.
        """
        drawn = {**self.select(f"{_SAMPLED_BY}; seed"), **self._extraction}
        lists, tables = dict[str, Values](), dict[str, Values]()
        for model in self._study.embedded.every:
            contexts = {**self.embedding(model), **drawn}
            lists |= {f"{self._results}/embeddings/{model}/{length}.json": contexts for length in self._study.labels}
            if self._config["seat"]["categories"]:
                lists[f"{self._results}/embeddings/{model}/templates.json"] = self.sentence_embedding(model)
        asked, masked = self._config["log_probability"], self._study.scored.masked.every
        for model in self._study.scored.every:
            tables |= {f"pairs/{name}/{model}": self.pair_scores(model) for name in self._study.sets}
            if model in masked and asked["traits"]:
                tables[f"structures/{model}"] = self.sentence_scores("structures", model)
            if model in masked and asked["categories"]:
                tables[f"log_probability/{model}"] = self.log_probability(model)
        for settings in tables.values():
            settings["which"] = {key: said for key, said in settings["which"].items() if key != "files"}
        return lists | {f"{self._results}/likelihoods/{name}.parquet": settings for name, settings in tables.items()}

    # ---- the page

    def page(self) -> Values:
        """Return the config for the page, without the source of vectors and the number of their files."""
        corpus = self._config["corpus"]
        return {
            **self._config,
            "corpus": {**corpus, "root": named(corpus["root"])},
            "embeddings": self.select("embeddings: stored_dtype unknown audit"),
            "normalization": self._study.normalization,
            "is_part": self._results != "results",
        }

    # ---- parts of the above

    def _read(self, shards: Sequence[Shard], *keys: str) -> Values:
        """Return the shards of a corpus, and entries of the config for the search."""
        return {**{key: self._extraction[key] for key in keys}, "shards": list(map(_numberless, shards))}

    def _weights(self, settings: Mapping[str, Any]) -> Values:
        """Return the model, and the seeds of twins' random weights; without `kind`, which changes nothing."""
        which = self.model(settings["family"])
        del which["options"]["kind"]
        return {**which, **({"twins": settings["random_weights"]} if "random_weights" in settings else {})}

    def _scorer(self, settings: Mapping[str, Any]) -> Values:
        files = self.model_files(settings["family"])
        return {**self._weights(settings), "dtype": settings["dtype"], "files": files}

    def _n_twins(self, name: str) -> int | None:
        """Return the number of twins in a job; None for a model."""
        twins = {**self._study.embedded.twins, **self._study.scored.twins}.get(name)
        return len(twins["random_weights"]) if twins else None

    def _test(self, name: str = "") -> Values:
        """Return the test settings for a model, its twins or vectors."""
        return {**self.select(_TESTED_BY), **(_OF_A_TWIN if self._n_twins(name) else {})}


def _numberless(shard: Shard) -> Values:
    """Return a shard without the number of its entry in the config, which changes nothing in it."""
    return {**shard._asdict(), "columns": list(shard.columns), "text": 0}
