"""List the files of a study: patterns are filled in with its models, lengths, sets and words.

A file belongs to one of three stages. Texts, models and their reports are made where models run. Vectors, scores and
estimates are made unless figures alone are drawn. Tables of results are what these come to. A file that this run does
not make is used if it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any

from prasanga.base.places import require_no_braces
from prasanga.methods import CEAT, FAMILY, METHODS, SEAT, TABLES, Method, method_named, names_of
from prasanga.plan.study import StudyPlan
from prasanga.samples import counts_of

AUDIT = ("forms", "concordance", "suffixes", "lengths")
"""Tables by which a reader judges the lexicon."""
LISTS = "results/embeddings/{model}/{length}.json"
SENTENCES = "results/sentences/{shard}.parquet"
SUPPLEMENT = "results/sentences/supplement/{supplement}.parquet"
SEGMENTS = "results/samples/{length}/{bucket}.parquet"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
_COVERAGE, _TEMPLATES = "results/samples/coverage.parquet", "results/samples/templates.parquet"
_PAIR_SCORES = "results/likelihoods/pairs/{set}/{scored}.parquet"
_ODDITIES = "results/pairs/{set}.oddities.parquet"


class Files:
    """The files of a study, as paths from its folder.

    Attributes:
        results: the tables that the report is made from, by the fields of `prasanga.report.study.Results`: all that
            the study makes or, where figures are drawn from what is there, those.
        missing: a sentence for each table that this run does not make and that is not there.
    """

    def __init__(self, study: StudyPlan) -> None:
        self._study, self._config = study, study.config
        embedded, scored, texts = study.embedded, study.scored, study.texts
        self._names: dict[str, Iterable[str]] = {
            **{"model": sorted(embedded.models), "twin": embedded.twins, "bucket": study.buckets, "set": study.sets},
            **{"scored": scored.models, "scored_twin": scored.twins, "length": study.labels, "audit": AUDIT},
            **{"family": sorted(self._config["models"]), "vectors": sorted(self._config["static"]["vectors"])},
            **{"shard": sorted(texts.shards), "supplement": sorted(texts.supplement)},
        }
        self._has_texts, self._has_templates = bool(embedded.models and study.labels), study.asks_for(SEAT)
        finished = self.finished()
        self.results = {name: path for name, path in finished.items() if self._use([path])}
        absent = [path for name, path in finished.items() if name not in self.results]
        self.missing = [f"{path} is missing. `snakemake {path}` makes it." for path in absent]

    def fill(self, *patterns: str, **given: Iterable[str]) -> list[str]:
        """Return the paths that patterns come to: every wildcard takes each of its names, the last one fastest.

        Args:
            patterns: paths with `{model}`, `{twin}`, `{scored}`, `{scored_twin}`, `{length}`, `{bucket}`, `{set}`,
                `{family}`, `{vectors}`, `{shard}`, `{supplement}`, `{audit}`.
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
        return self._study.embedded.paths(*(pattern.replace("{length}", label) for label in self._study.labels))

    # ---- inputs of jobs

    def model(self, family: str) -> list[str]:
        """Return the files of a model on this machine; none of one that comes from the hub."""
        settings = self._config["models"][family]
        if "path" not in settings:
            # the last file says whether the others are as they were written
            origin = "training.json" if "train" in settings else "package.json"
            return [f"results/models/{family}/{name}" for name in (*MODEL_FILES, origin)]
        return require_no_braces(sorted(str(path) for path in Path(settings["path"]).glob("*") if path.is_file()))

    def segments_read(self, bucket: str = "", **_: str) -> list[str]:
        """Return the segments of all lengths of a bucket; of the only one if none is named."""
        return self.fill(SEGMENTS, bucket=[bucket or self._study.buckets[0]])

    def first_layer(self, model: str, bucket: str = "") -> list[str]:
        """Return the same shards of the model's first layer, whose job embeds the others too; none for that one."""
        embedded = self._study.embedded
        alike = embedded.twins if model in embedded.twins else embedded.models
        first = next(name for name, each in alike.items() if each["family"] == alike[model]["family"])
        pattern, bucket = "results/embeddings/{model}/{length}/{bucket}.parquet", bucket or self._study.buckets[0]
        return self.fill(pattern, model=[first], bucket=[bucket]) if first != model else []

    def pair_buckets(self, model: str) -> list[str]:
        """Return the buckets that the scores of all sets are put together from, in the job of a model."""
        units = product(self._study.pair_buckets.items(), self._study.scored.job_of(model))
        return [
            f"results/likelihoods/pairs/{name}/{unit}/{bucket}.parquet"
            for (name, buckets), unit in units
            for bucket in buckets
            if len(buckets) > 1
        ]

    def sentence_buckets(self, of: str, model: str) -> list[str]:
        """Return the same of the sentences of `structures` or `log_probability`."""
        buckets = self._study.sentence_buckets[of]
        units = product(self._study.scored.job_of(model), buckets) if len(buckets) > 1 else ()
        return [f"results/likelihoods/{of}/{unit}/{bucket}.parquet" for unit, bucket in units]

    def texts_of_sentences(self, of: str) -> list[str]:
        """Return the files that the sentences of `structures` or `log_probability` are made from."""
        settings = self._config["log_probability"]
        if of == "log_probability":
            return [settings["templates"]]
        return [*settings["traits"], settings["structures"]] if settings["traits"] else []

    # ---- estimates

    def estimates(self, method: str, ending: str = ".parquet", *, twins: bool = False) -> list[str]:
        """Return the tables that the jobs of a method write, or of its random copies; none of one not asked for."""
        measured = method_named(method)
        names = self._study.find_measured(measured)[twins] if measured.is_asked_for(self._config) else []
        return [f"results/{measured.stage}/{method}/{name}{ending}" for name in names]

    def gathered(self, method: Method) -> dict[str, Any]:
        """Return what the tables of a method are gathered from.

        Returns:
            `estimates`, `words`, `templates`; `twins` by model; `coverage`, and `tokenizers` by model, on the frequency
            and pieces of words; `resamples` and `convergence` of CEAT.
        """
        study, name = self._study, method.name
        twins = dict[str, list[str]]()
        for path in self.estimates(name, twins=True):
            twins.setdefault(Path(path).parts[3].removesuffix(".parquet").removesuffix("-random"), []).append(path)
        models = study.embedded.models if method.unit == CEAT.unit else {}
        reports = {model: f"results/models/{each['family']}.tokenizer.parquet" for model, each in models.items()}
        parts = ("estimates", "words", "templates", *(("resamples", "convergence") if method == CEAT else ()))
        endings = {part: ".parquet" if part == "estimates" else f".{part}.parquet" for part in parts}
        found = {part: self.estimates(name, ending) for part, ending in endings.items()}
        return {
            **found,
            "templates": found["templates"] if f"{name}_templates" in TABLES else [],
            "twins": twins,
            # without categories that are measured in text, no text is read
            "coverage": self._use_texts([_COVERAGE] if self._has_texts else []),
            "tokenizers": {model: path for model, path in reports.items() if self._use_texts([path])},
        }

    def gathered_tables(self) -> list[str]:
        """Return the tables of all methods of word associations, but for the multiverse."""
        tables = [table for method in FAMILY if self._study.asks_for(method) for table in method.tables]
        gathered = [table for table in tables if table.name != "multiverse" and not table.key]
        csv = [f"results/{table.path}.csv" for table in gathered if table.beside.endswith(".csv")]
        return [*(f"results/{table.path}.parquet" for table in gathered), *csv]

    def vectors(self, method: str) -> dict[str, list[list[str]]]:
        """Return the vectors that a method measures, by model: the files of the model, and of its random copies if any.

        CEAT has a file per length that primary estimates are over: the fixed lengths, or all if none is fixed.
        """
        labels, twin_of = self._study.labels, self._study.embedded.twin_of
        fixed = [length for length, label in labels.items() if not label.startswith(">")]
        lists = {"ceat": self.fill(LISTS, model=["{model}"], length=fixed or [*labels])}
        lists |= {"seat": ["results/embeddings/{model}/templates.json"], "weat": ["results/static/{model}.parquet"]}
        return {
            model: [
                [path.replace("{model}", name) for path in lists[method]]
                for name in (model, *(twins for twins, of in twin_of.items() if of == model))
            ]
            for model in self._study.find_measured(method_named(method))[0]
        }

    # ---- results and the page

    def finished(self) -> dict[str, str]:
        """Return the tables of a finished study by the fields of `prasanga.report.study.Results`."""
        return {
            table.name: f"results/{table.path}.parquet"
            for method in METHODS
            for table in method.tables
            # a table that describes pairs needs no model
            if table.on_page
            and table.is_asked_for(self._config)
            and (self._study.asks_for(method) or (table.name == "pair_statistics" and self._study.sets))
        }

    def texts_measured(self) -> dict[str, list[str]]:
        """Return what the sentences of `measured_sentences` are chosen from, where models run.

        Returns:
            `segments` with the filled templates of SEAT, `lists` of their vectors, `sentences` for their sources,
            `scored` and `terms` of the models with a mask.
        """
        texts, templates = self._has_texts, self._has_templates
        patterns = [*([LISTS] * texts), *(["results/embeddings/{model}/templates.json"] * templates)]
        return {
            "segments": [*(self.fill(SEGMENTS) if texts else []), *([_TEMPLATES] * templates)],
            "lists": self.fill(*patterns),
            "sentences": self.fill(SENTENCES, SUPPLEMENT) if texts else [],
            "scored": self.estimates("log_probability", ".sentences.parquet"),
            "terms": self.estimates("structures", ".terms.parquet"),
        }

    def measured_sentences(self, ending: str = "parquet") -> list[str]:
        """Return the file of sentences behind the numbers: made where models run, used elsewhere if it is there."""
        texts = self.texts_measured()
        is_made = not self._study.computed or any(texts[name] for name in ("segments", "scored", "terms"))
        is_shown = self._config["report"]["texts"] == "shown"
        return self._use_texts([f"results/samples/measured_sentences.{ending}"] if is_made and is_shown else [])

    def texts_shown(self) -> dict[str, list[str]]:
        """Return what page and cards say of texts and models."""
        study, endings = self._study, (".json", ".tokenizer.json", ".tokenizer.parquet")
        reports = self.fill(*(f"results/models/{{family}}{end}" for end in endings))
        reports += self.fill("results/embeddings/{model}/precision.json") if study.labels else []
        texts = {
            "coverage": self._use_texts([_COVERAGE]),
            "corpus": self.fill("results/sentences/{shard}.json") if study.computed else counts_of(_COVERAGE),
            "audit": self._use_texts(self.fill("results/sentences/audit/{audit}.parquet")),
        }
        found = {
            "embeddings": self._use(self.fill(LISTS)) + self._use_texts(reports),
            **(texts if study.labels else {}),
        }
        return found if study.embedded.models else {}

    def shown(self) -> dict[str, Any]:
        """Return what the page shows, by the fields of `prasanga.report.study.Results`."""
        words = {"categories": "results/lexicon/categories.json", "forms": "results/lexicon/forms.parquet"}
        has_words = {"ceat_words", *names_of(FAMILY)} & self.results.keys()
        measured = [f"{method.name}_words" for method in FAMILY[1:] if method.name in self.results]
        return {
            **self.results,
            **self.texts_shown(),
            **({name: self._use([path]) for name, path in words.items()} if has_words else {}),
            "pair_scores": self._use(self.fill(_PAIR_SCORES, _PAIR_SCORES.replace("{scored}", "{scored_twin}"))),
            "pair_oddities": self._use(self.fill(_ODDITIES)),
            "words": self._use(f"results/{TABLES[name].path}.parquet" for name in measured),
            "sentences": self.measured_sentences(),
        }

    def data(self) -> dict[str, str]:
        """Return the tables of earlier stages that go with the page, by their names in its folder."""
        is_hidden = self._config["report"]["texts"] == "hidden"
        copied = {
            table.beside: f"results/{table.path}{Path(table.beside).suffix}"
            for method in METHODS
            for table in method.tables
            if table.beside and {table.name, method.name} & self.results.keys() and table.is_asked_for(self._config)
        }
        audit = ("suffixes", "forms", "lengths", *(() if is_hidden else ("concordance",)))
        texts = self.fill("results/sentences/audit/{audit}.tsv", audit=audit) if self._study.labels else []
        oddities = [] if is_hidden else self._use(self.fill(_ODDITIES))
        beside = [*self._use_texts(texts), *self.measured_sentences("tsv"), *oddities]
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
        lengths = [f"{label}/{self._study.buckets[0]}" for label in self._study.labels]
        first = [*lengths, *(["templates/00"] * self._has_templates)][:1]
        paths = [
            *([_TEMPLATES] * self._has_templates),
            *self.fill("results/embeddings/{model}/{first}.parquet", first=first),
            *self.fill("results/static/{vectors}.parquet"),
            *(path for method in METHODS if method.name != "pairs" for path in self.estimates(method.name)),
            *self.fill(_PAIR_SCORES, "results/pairs/{set}.parquet"),
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
