"""Which files a study has: patterns are filled in with its models, lengths, sets and words.

A file belongs to one of three stages. Texts, models and their reports are made where models run. Vectors, scores and
estimates are made unless figures alone are drawn. Tables of results are what these come to. A file that this run does
not make is used if it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.places import require_no_braces
from prasanga.methods import CEAT, FAMILY, METHODS, SEAT, TABLES, Method, method_named, names_of
from prasanga.plan.study import StudyPlan, list_word_files
from prasanga.samples import counts_of

AUDIT = ("forms", "concordance", "suffixes", "lengths")
"""Tables by which a reader judges the lexicon."""
_OF_DRAWS = ("resamples", "convergence")
LISTS = "results/embeddings/{model}/{length}.json"
SENTENCES = "results/sentences/{shard}.parquet"
SUPPLEMENT = "results/sentences/supplement/{supplement}.parquet"
SEGMENTS = "results/samples/{length}/{bucket}.parquet"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
_UNITS = {
    "embedded models": ("{model}", "{twin}"),
    "masked models": ("{masked}", "{masked_twin}"),
    "scored models": ("{scored}", "{scored_twin}"),
    "vectors": ("{vectors}", ""),
}
"""Wildcards of what the jobs of a method measure, and of its random copies."""


class Units(NamedTuple):
    """Models that jobs of their own measure, and whether the job of a model measures its random copies too.

    Attributes:
        models: names, of the random copies too where these have jobs of their own.
        twins: by model, the entry of its random copies that its job takes along.
    """

    models: list[str]
    twins: Mapping[str, str]

    @classmethod
    def plan(cls, models: Iterable[str], twin_of: Mapping[str, str], *, whole: bool) -> Units:
        """Let the job of each model take its random copies along if `whole`, and if every model has some."""
        models, twins = list(models), {model: twin for twin, model in twin_of.items()}
        if whole and twins.keys() == set(models):
            return cls(models, twins)
        return cls([*models, *twin_of], {})

    def job_of(self, model: str) -> list[str]:
        """Return what the job of a model measures: the model, and its random copies where they go together."""
        return [model, *([self.twins[model]] if model in self.twins else [])]

    def paths(self, *patterns: str) -> list[str]:
        """Return files of a job as patterns with `{model}`: those of the model, then those of its random copies."""
        copies = [pattern.replace("{model}", "{model}-random") for pattern in patterns] if self.twins else []
        return [*patterns, *copies]


class Files:
    """The files of a study, as paths from its folder.

    Attributes:
        embedded: the jobs of models whose vectors are measured.
        scored: the jobs of models that are asked for probabilities.
        results: the tables that the report is made from, by the fields of `prasanga.report.study.Results`: all that
            the study makes or, where figures are drawn from what is there, those.
        missing: a sentence for each table that is not there.
    """

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config = study, study.config
        models, texts = study.models, study.texts
        self.embedded = Units.plan(models.names, models.twin_of, whole=len(study.buckets) == 1)
        self.scored = Units.plan(models.scored, models.scored_twin_of, whole=True)
        self._names: dict[str, Iterable[str]] = {
            **{"model": models.names, "twin": models.twins, "masked": models.masked},
            **{"masked_twin": models.masked_twins, "scored": models.scored, "scored_twin": models.scored_twins},
            **{"length": study.labels, "bucket": study.buckets, "set": study.sets, "audit": AUDIT},
            **{"family": sorted(self._config["models"]), "vectors": sorted(self._config["static"]["vectors"])},
            **{"shard": sorted(texts.shards), "supplement": sorted(texts.supplement)},
        }
        finished = self.finished()
        self.results = {name: path for name, path in finished.items() if self._use([path])}
        self.missing = [_say_missing(name, path) for name, path in finished.items() if name not in self.results]

    def fill(self, *patterns: str, **given: Iterable[str]) -> list[str]:
        """Return the paths that patterns come to: every wildcard takes each of its names, the last one fastest.

        Args:
            patterns: paths with `{model}`, `{twin}`, `{scored}`, `{scored_twin}`, `{masked}`, `{masked_twin}`,
                `{length}`, `{bucket}`, `{set}`, `{family}`, `{vectors}`, `{shard}`, `{supplement}`, `{audit}`.
            given: names of a wildcard that are others than all of the study's.
        """
        names, paths = self._names | given, list[str]()
        for pattern in patterns:
            wildcards = [name for _, name, *_ in Formatter().parse(pattern) if name]
            filled = product(*(names[wildcard] for wildcard in wildcards))
            paths += [pattern.format_map(dict(zip(wildcards, values, strict=True))) for values in filled]
        return paths

    def fill_lengths(self, pattern: str) -> list[str]:
        """Return the paths of a pattern with `{length}`, for all lengths that a job of a model measures."""
        return self.embedded.paths(*(pattern.replace("{length}", label) for label in self._study.labels))

    # ---- inputs of jobs

    def word_lists(self) -> list[str]:
        """Return the word sets, categories and suffix groups that the lexicon is compiled from."""
        return list_word_files(self._study.words_from)

    def candidates(self) -> list[str]:
        """Return the files that the forms of the candidates are compiled from.

        Raises:
            InputError: the config names none.
        """
        if not self._config["lexicon"]["candidates"]:
            raise InputError(
                "lexicon.candidates is null, so there is nothing to rank. Name a folder with candidate word sets there,"
                f" such as resources/candidates/{self._config['language']} (docs/lexicon.md)."
            )
        return list_word_files(self._study.candidates_from)

    def model(self, family: str) -> list[str]:
        """Return the files of a model on this machine; none of one that comes from the hub."""
        settings = self._config["models"][family]
        if "path" not in settings:
            return [f"results/models/{family}/{name}" for name in MODEL_FILES]
        folder = Path(settings["path"])
        found = sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        return require_no_braces(found)

    def origin_of_model(self, family: str) -> list[str]:
        """Return the file that says how the workflow made a model; none for one that it did not make."""
        models = self._study.models
        name = "training.json" if family in models.trained else "package.json" if family in models.packaged else ""
        return [f"results/models/{family}/{name}"] if name else []

    def segments_read(self, bucket: str = "", **_: str) -> list[str]:
        """Return the segments of all lengths of a bucket; of the only one if none is named."""
        return self.fill(SEGMENTS, bucket=[bucket or self._study.buckets[0]])

    def first_layer(self, model: str, bucket: str = "") -> list[str]:
        """Return the same shards of the model's first layer, whose job embeds the others too; none for that one."""
        first, bucket = self._study.first_layer(model), bucket or self._study.buckets[0]
        pattern = "results/embeddings/{model}/{length}/{bucket}.parquet"
        return self.fill(pattern, model=[first], bucket=[bucket]) if first != model else []

    def pair_buckets(self, model: str) -> list[str]:
        """Return the buckets that the scores of all sets are put together from, in the job of a model."""
        units = list(product(self._study.pair_buckets.items(), self.scored.job_of(model)))
        return [
            f"results/likelihoods/pairs/{name}/{unit}/{bucket}.parquet"
            for (name, buckets), unit in units
            for bucket in buckets
            if len(buckets) > 1
        ]

    def sentence_buckets(self, of: str, model: str) -> list[str]:
        """Return the same of the sentences of `structures` or `log_probability`."""
        buckets = self._study.sentence_buckets[of]
        units = self.scored.job_of(model) if len(buckets) > 1 else []
        return [f"results/likelihoods/{of}/{unit}/{bucket}.parquet" for unit, bucket in product(units, buckets)]

    def texts_of_sentences(self, of: str) -> list[str]:
        """Return the files that the sentences of `structures` or `log_probability` are made from, the words' last."""
        settings = self._config["log_probability"]
        if of == "structures":
            return [*self._study.traits, settings["structures"]] if self._study.traits else []
        return [settings["templates"]]

    # ---- estimates

    def estimates(self, method: str, ending: str = ".parquet", *, twins: bool = False) -> list[str]:
        """Return the tables that the jobs of a method write, or of its random copies; none of one not asked for."""
        measured = method_named(method)
        unit = _UNITS[measured.unit][twins]
        if not unit or not measured.is_asked_for(self._config):
            return []
        length = "/{length}" if measured == CEAT else ""
        return self.fill(f"results/{measured.stage}/{method}/{unit}{length}{ending}")

    def gathered(self, method: Method) -> dict[str, Any]:
        """Return what the tables of a method are gathered from.

        Returns:
            `estimates`, `words`, `templates`; `twins` by model; `coverage`, and `tokenizers` by model, on the frequency
            and pieces of words; `resamples` and `convergence` of CEAT.
        """
        study, name, models = self._study, method.name, self._study.models
        twins = dict[str, list[str]]()
        for path in self.estimates(name, twins=True):
            twins.setdefault(Path(path).parts[3].removesuffix(".parquet").removesuffix("-random"), []).append(path)
        families = {model: each["family"] for model, each in models.studied.items() if method.unit == CEAT.unit}
        reports = {model: f"results/models/{family}.tokenizer.parquet" for model, family in families.items()}
        has_texts = models.names and study.labels
        return {
            "estimates": self.estimates(name),
            "words": self.estimates(name, ".words.parquet"),
            "templates": self.estimates(name, ".templates.parquet") if f"{name}_templates" in TABLES else [],
            "twins": twins,
            # without categories that are measured in text, no text is read
            "coverage": self._use_texts(["results/samples/coverage.parquet"] if has_texts else []),
            "tokenizers": {model: path for model, path in reports.items() if self._use_texts([path])},
            **({part: self.estimates(name, f".{part}.parquet") for part in _OF_DRAWS} if method == CEAT else {}),
        }

    def gathered_tables(self) -> list[str]:
        """Return the tables of all methods of word associations, but for the multiverse."""
        tables = [table for method in FAMILY if self._study.asks_for(method) for table in method.tables]
        gathered = [table for table in tables if table.name != "multiverse"]
        csv = [f"results/{table.path}.csv" for table in gathered if table.beside.endswith(".csv")]
        return [*(f"results/{table.path}.parquet" for table in gathered), *csv]

    # ---- results and the page

    def finished(self) -> dict[str, str]:
        """Return the tables of a finished study by the fields of `prasanga.report.study.Results`."""
        return {
            table.name: f"results/{table.path}.parquet"
            for method in METHODS
            for table in method.tables
            # a table that describes pairs needs no model
            if table.on_page
            and (self._study.asks_for(method) or (table.name == "pair_statistics" and self._study.sets))
        }

    def texts_measured(self) -> dict[str, list[str]]:
        """Return what the sentences of `measured_sentences` are chosen from, where models run.

        Returns:
            `segments` with the filled templates of SEAT, `lists` of their vectors, `sentences` for their sources,
            `scored` and `terms` of the models with a mask.
        """
        study = self._study
        has_templates, has_texts = study.asks_for(SEAT), bool(study.models.names and study.labels)
        filled = ["results/samples/templates.parquet"] if has_templates else []
        patterns = [*([LISTS] * has_texts), *(["results/embeddings/{model}/templates.json"] * has_templates)]
        return {
            "segments": [*(self.fill(SEGMENTS) if has_texts else []), *filled],
            "lists": self.fill(*patterns),
            "sentences": self.fill(SENTENCES, SUPPLEMENT) if has_texts else [],
            "scored": self.estimates("log_probability", ".sentences.parquet"),
            "terms": self.estimates("structures", ".terms.parquet"),
        }

    def measured_sentences(self, ending: str = "parquet") -> list[str]:
        """Return the file of sentences behind the numbers: made where models run, used elsewhere if it is there."""
        if self._config["report"]["texts"] == "hidden":
            return []
        texts = self.texts_measured()
        is_made = not self._study.computed or any(texts[name] for name in ("segments", "scored", "terms"))
        return self._use_texts([f"results/samples/measured_sentences.{ending}"] if is_made else [])

    def texts_shown(self) -> dict[str, list[str]]:
        """Return what page and cards say of texts and models."""
        study = self._study
        if not study.models.names:
            return {}
        reports = self.fill(
            *(f"results/models/{{family}}{end}" for end in (".json", ".tokenizer.json", ".tokenizer.parquet"))
        )
        reports += self.fill("results/embeddings/{model}/precision.json") if study.labels else []
        found = {"embeddings": self._use(self.fill(LISTS)) + self._use_texts(reports)}
        if study.labels:
            coverage = "results/samples/coverage.parquet"
            found["coverage"] = self._use_texts([coverage])
            found["corpus"] = self.fill("results/sentences/{shard}.json") if study.computed else counts_of(coverage)
            found["audit"] = self._use_texts(self.fill("results/sentences/audit/{audit}.parquet"))
        return found

    def shown(self) -> dict[str, Any]:
        """Return what the page shows, by the fields of `prasanga.report.study.Results`."""
        words = {"categories": "results/lexicon/categories.json", "forms": "results/lexicon/forms.parquet"}
        has_words = {"ceat_words", *names_of(FAMILY)} & self.results.keys()
        of_words = (
            f"results/{TABLES[f'{method.name}_words'].path}.parquet"
            for method in FAMILY[1:]
            if method.name in self.results
        )
        scores = self.fill(
            "results/likelihoods/pairs/{set}/{scored}.parquet", "results/likelihoods/pairs/{set}/{scored_twin}.parquet"
        )
        return {
            **self.results,
            **self.texts_shown(),
            **({name: self._use([path]) for name, path in words.items()} if has_words else {}),
            "pair_scores": self._use(scores),
            "pair_oddities": self._use(self.fill("results/pairs/{set}.oddities.parquet")),
            "words": self._use(of_words),
            "sentences": self.measured_sentences(),
        }

    def data(self) -> dict[str, str]:
        """Return the tables of earlier stages that go with the page, by their names beside it."""
        hidden = self._config["report"]["texts"] == "hidden"
        copied = {
            table.beside: f"results/{table.path}{Path(table.beside).suffix}"
            for method in METHODS
            for table in method.tables
            if table.beside and {table.name, method.name} & self.results.keys()
        }
        audit = [
            name for name in ("suffixes", "forms", "lengths", "concordance") if not (hidden and name == "concordance")
        ]
        texts = self.fill("results/sentences/audit/{audit}.tsv", audit=audit) if self._study.labels else []
        oddities = [] if hidden else self.fill("results/pairs/{set}.oddities.parquet")
        beside = [*self._use_texts(texts), *self.measured_sentences("tsv"), *self._use(oddities)]
        return {
            **{name: path for name, path in copied.items() if self._use([path])},
            **{Path(path).name: path for path in beside},
        }

    def tables_of_numbers(self) -> list[str]:
        """Return the tables that summary and cards are made from: numbers, and no text of the corpus."""
        shown = self.shown()
        texts = ("coverage", "corpus", "embeddings", "categories", "forms", "pair_oddities")
        paths = [*self.results.values(), *(path for name in texts for path in shown.get(name, []))]
        return [path for path in paths if path.endswith(".parquet")]

    def records(self) -> list[str]:
        """Return files whose record of their making names libraries, templates, traits and pairs; no more is read."""
        study, seat = self._study, self._study.asks_for(SEAT)
        first = [*(f"{label}/{study.buckets[0]}" for label in study.labels), *(["templates/00"] if seat else [])][:1]
        methods = [method.name for method in METHODS if method.name != "pairs"]
        paths = [
            *(["results/samples/templates.parquet"] if seat else []),
            *self.fill("results/embeddings/{model}/{first}.parquet", first=first),
            *self.fill("results/static/{vectors}.parquet"),
            *(path for method in methods for path in self.estimates(method)),
            *self.fill("results/likelihoods/pairs/{set}/{scored}.parquet", "results/pairs/{set}.parquet"),
        ]
        return self._use(dict.fromkeys(paths))

    def _use(self, paths: Iterable[str]) -> list[str]:
        """Return files that this run makes or has or, where it only draws, those that are there."""
        return [path for path in paths if not self._study.from_results or Path(path).exists()]

    def _use_texts(self, paths: Iterable[str]) -> list[str]:
        """Return files that are made if models run, and used as far as they are there if results come from before."""
        return [path for path in paths if self._study.computed or Path(path).exists()]


def list_paths(parts: Any) -> list[str]:
    """Return the files in nested lists and mappings of them, in their order, each once."""
    if isinstance(parts, str):
        return [parts]
    nested = parts.values() if isinstance(parts, Mapping) else parts
    return list(dict.fromkeys(path for part in nested for path in list_paths(part)))


def _say_missing(name: str, path: str) -> str:
    table = TABLES[name]
    verb, them = ("is", "it") if table.is_one else ("are", "them")
    return f"{table.holds[:1].upper()}{table.holds[1:]} {verb} not there. `snakemake {path}` makes {them}."
