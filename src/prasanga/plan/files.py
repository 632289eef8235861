"""Which files a study makes, stage by stage, and which of them stand in tables, figures and the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.places import files_in, require_no_braces
from prasanga.methods import CEAT, FAMILY, METHODS, PAIRS, STRUCTURES, TABLES, Method, Table, method_named, names_of
from prasanga.plan.study import StudyPlan
from prasanga.plan.words import word_files, words_from
from prasanga.report.paper_tables import ENDINGS, layouts_of, methods_of
from prasanga.report.published import percentage_files, why_nothing_to_compare
from prasanga.report.study import missing_results, said_of_parts
from prasanga.samples import counts_of

UNFINISHED = "results/unfinished"
"""Where tables are gathered of an unfinished study, for its page; never among its results."""


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


_OF_TRAITS = tuple(table.name for table in STRUCTURES.tables)
_OF_PAIRS = tuple(table.name for table in PAIRS.tables if table.name != "pair_statistics")


class Files:
    """The files of a study, as paths from its folder.

    Attributes:
        embedded: the jobs of models whose vectors are measured.
        scored: the jobs of models that are asked for probabilities.
        results: the tables that the report is made from, by the fields of `prasanga.report.study.Results`: all that
            the study makes or, where figures are drawn from what is there, those.
        missing: a sentence for each table that is not there, or in part.
    """

    def __init__(self, study: StudyPlan) -> None:
        self._study = study
        self._config = study.config
        self.embedded = Units.plan(study.models.names, study.models.twin_of, whole=len(study.buckets) == 1)
        self.scored = Units.plan(list(study.models.scored), study.models.scored_twin_of, whole=True)
        self.results, self.missing = self._results_at_hand() if study.from_results else (self.finished(), [])

    # ---- words, texts, models

    def word_lists(self) -> list[str]:
        """Return the word sets, categories and suffix groups that the lexicon is compiled from."""
        return word_lists(words_from(self._config))

    def candidates(self) -> list[str]:
        """Return the files that the forms of the candidates are compiled from.

        Raises:
            InputError: the config names none.
        """
        settings = self._config["lexicon"]
        if not settings["candidates"]:
            raise InputError(
                "lexicon.candidates is null, so there is nothing to rank. Name a folder with candidate word sets there,"
                f" such as resources/candidates/{self._config['language']} (docs/lexicon.md)."
            )
        return [*_files_of(settings["candidates"]), settings["suffix_groups"]]

    def sentences(self) -> list[str]:
        """Return the tables of sentences of the corpus."""
        return [f"results/sentences/{shard}.parquet" for shard in sorted(self._study.texts.shards)]

    def supplement(self) -> list[str]:
        """Return the tables of sentences of the texts that are read for rare stimuli only."""
        return [f"results/sentences/supplement/{shard}.parquet" for shard in sorted(self._study.texts.supplement)]

    def segments(self) -> list[str]:
        """Return the segments of all lengths, bucket by bucket."""
        buckets = product(self._study.labels, self._study.buckets)
        return [f"results/samples/{length}/{bucket}.parquet" for length, bucket in buckets]

    def model(self, family: str) -> list[str]:
        """Return the files of a model that lies on this machine; none for one that comes from the hub."""
        settings = self._config["models"][family]
        if "path" not in settings:
            names = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
            return [f"results/models/{family}/{name}" for name in names]
        folder = Path(settings["path"])
        found = sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        return require_no_braces(found)

    def origin_of_model(self, family: str) -> list[str]:
        """Return the file that says how the workflow made a model; none for one that it did not make."""
        models = self._study.models
        name = "training.json" if family in models.trained else "package.json" if family in models.packaged else ""
        return [f"results/models/{family}/{name}"] if name else []

    def of_lengths(self, pattern: str) -> list[str]:
        """Return a pattern with `{length}` for all lengths, for each that a job of a model measures."""
        return self.embedded.paths(*(pattern.replace("{length}", label) for label in self._study.labels))

    def segments_read(self, bucket: str = "", **_: str) -> list[str]:
        """Return the segments of all lengths of a bucket; of the only one if none is named."""
        bucket = bucket or self._study.buckets[0]
        return [f"results/samples/{length}/{bucket}.parquet" for length in self._study.labels]

    def first_layer(self, model: str, bucket: str = "") -> list[str]:
        """Return the same shards of the model's first layer, whose job embeds the others too; none for that one."""
        first, bucket = self._study.first_layer(model), bucket or self._study.buckets[0]
        paths = [f"results/embeddings/{first}/{length}/{bucket}.parquet" for length in self._study.labels]
        return paths if first != model else []

    def shards(self, model: str, length: str, ending: str = "parquet") -> list[str]:
        """Return the vectors of a model at one length, or what was left out; SEAT's sentences are one shard."""
        buckets = ["00"] if length == "templates" else self._study.buckets
        return [f"results/embeddings/{model}/{length}/{bucket}.{ending}" for bucket in buckets]

    def lists(self, length: str | None = None, *, twins: bool = False) -> list[str]:
        """Return the lists of vectors of all models at all lengths, or at one, or those of their twins."""
        models = self._study.models.twins if twins else self._study.models.names
        lengths = [length] if length else self._study.labels
        return [f"results/embeddings/{model}/{each}.json" for model, each in product(models, lengths)]

    def model_reports(self) -> list[str]:
        """Return what is known of the models, of their tokenizers and of the precision of their vectors."""
        endings = (".json", ".tokenizer.json", ".tokenizer.parquet")
        paths = [
            *(f"results/models/{family}{ending}" for ending in endings for family in sorted(self._config["models"])),
            *(f"results/embeddings/{model}/precision.json" for model in self._study.models.names if self._study.labels),
        ]
        return self._of_earlier_stages(paths)

    # ---- estimates

    def ceat(self, ending: str) -> list[str]:
        """Return the tables with this ending of all models at all lengths."""
        lengths = product(self._study.models.names, self._study.labels)
        return [f"results/associations/ceat/{model}/{length}.{ending}" for model, length in lengths]

    def estimates(self, method: str) -> list[str]:
        """Return the tables that the jobs of a method write; none of a method that the study does not ask for."""
        measured = method_named(method)
        if measured == CEAT:
            return self.ceat("parquet")
        names = self._study.units(measured) if measured.is_asked_for(self._config) else []
        return [f"results/{measured.stage}/{method}/{name}.parquet" for name in names]

    def twins(self, method: str) -> dict[str, str]:
        """Return the tables of a method's null controls, each with the model that it stands beside."""
        study, measured = self._study, method_named(method)
        twins = study.twins_measured(measured) if measured.is_asked_for(self._config) else {}
        folder = f"results/{measured.stage}/{method}"
        if measured == CEAT:
            lengths = product(twins.items(), study.labels)
            return {f"{folder}/{twin}/{length}.parquet": model for (twin, model), length in lengths}
        return {f"{folder}/{twin}.parquet": model for twin, model in twins.items()}

    def gathered(self, method: str) -> dict[str, list[str]]:
        """Return what the table of a method is gathered from: of an unfinished study, as far as it is there.

        Returns:
            `estimates`, `twins`, `words`; `coverage` and `tokenizers`, what is known of the words' frequency and
            pieces.
        """
        estimates = self._made(self.estimates(method))
        # without categories that are measured in text, no text is read
        drawn = ["results/samples/coverage.parquet"] if self._study.models.names and self._study.labels else []
        return {
            "estimates": estimates,
            "twins": self._made(self.twins(method)),
            "words": self._made(str(Path(path).with_suffix(".words.parquet")) for path in estimates),
            "coverage": self._of_earlier_stages(drawn),
            "tokenizers": sorted(set(self.tokenizers(method).values())),
        }

    def measured_effects(self) -> list[str]:
        """Return all files that the tables of effects are gathered from."""
        parts = [paths for method in names_of(FAMILY) for paths in self.gathered(method).values()]
        return list(dict.fromkeys(path for paths in parts for path in paths))

    def effects(self) -> dict[str, str]:
        """Return the tables of effects that this run gathers, without ending, by method."""
        if self._study.from_results:
            paths = {method: self.results.get(method, "") for method in names_of(FAMILY)}
            there = {method: path for method, path in paths.items() if path.startswith(f"{UNFINISHED}/")}
            return {method: path.removesuffix(".parquet") for method, path in there.items()}
        asked = [method for method in FAMILY if self._study.asks_for(method.name)]
        return {method.name: f"results/{method.tables[0].path}" for method in asked}

    def by_template(self, method: str) -> list[str]:
        """Return the effects by template of all models, of a method whose words stand in templates, as `gathered`."""
        return self._made(str(Path(path).with_suffix(".templates.parquet")) for path in self.estimates(method))

    def tokenizers(self, method: str) -> dict[str, str]:
        """Return what the tokenizer of each model makes of words, of a method that measures vectors of models."""
        if method_named(method).unit != CEAT.unit:
            return {}
        studied = self._study.models.studied.items()
        paths = {model: f"results/models/{settings['family']}.tokenizer.parquet" for model, settings in studied}
        there = set(self._of_earlier_stages(paths.values()))
        return {model: path for model, path in paths.items() if path in there}

    def models_of_twins(self, method: str) -> list[str]:
        """Return the model of each of the twins of `gathered`, or of `gathered_structures`."""
        twins = self.twins(method)
        return [twins[path] for path in self._made(twins)]

    def associations(self) -> list[str]:
        """Return the tables of all estimates of associations."""
        asked = [each for each in FAMILY if each.stage == CEAT.stage and self._study.asks_for(each.name)]
        tables = [table for each in asked for table in (each.tables[0], *([TABLES["differences"]] * (each == CEAT)))]
        return [f"results/{table.path}.parquet" for table in tables]

    def pair_scores(self, models: Iterable[str]) -> list[str]:
        """Return the scores of all sets of pairs by some models or twins."""
        sets = product(self._study.sets, models)
        return [f"results/likelihoods/pairs/{name}/{model}.parquet" for name, model in sets]

    def pair_buckets(self, model: str) -> list[str]:
        """Return the buckets that the scores of all sets are put together from, in the job of a model."""
        sets = product(self._study.pair_buckets.items(), self.scored.job_of(model))
        return [
            f"results/likelihoods/pairs/{name}/{unit}/{bucket}.parquet"
            for (name, buckets), unit in sets
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

    def gathered_pairs(self) -> dict[str, list[str]]:
        """Return the scores that bias percentages are made from: of an unfinished study, as far as they are there."""
        models, twins = self.pair_scores(self._study.models.scored), self.pair_scores(self._study.models.scored_twins)
        return {"scores": self._made(models), "twins": self._made(twins)}

    def gathered_structures(self) -> dict[str, list[str]]:
        """Return what the table of structures is gathered from: of an unfinished study, as far as it is there."""
        return {"traits": self._made(self.estimates("structures")), "twins": self._made(self.twins("structures"))}

    def models_of_traits(self) -> list[str]:
        """Return the models that the table of traits has: all of the study, or those that are done."""
        if not self.results["traits"].startswith(f"{UNFINISHED}/"):
            return self._study.models.masked
        return [Path(path).stem for path in _there(self.estimates("structures"))]

    def likelihoods(self) -> list[str]:
        """Return the tables of pairs, structures and categories, where the study asks for them."""
        asked = [each for each in METHODS if each.stage == PAIRS.stage and self._study.asks_for(each.name)]
        tables = [f"results/{each.tables[0].path}.parquet" for each in asked]
        return tables + (["results/pairs/statistics.parquet"] if self._study.sets else [])

    # ---- results

    def finished(self) -> dict[str, str]:
        """Return the tables of a finished study by the fields of `prasanga.report.study.Results`."""
        return {
            table.name: f"results/{table.path}.parquet"
            for method in METHODS
            for table in method.tables
            if table.on_page and self._is_made(table, method)
        }

    def config_shown(self) -> dict[str, Any]:
        """Return the config without the methods that have no results to be shown."""
        without = [method for method in FAMILY if method.name not in self.results]
        return reduce(lambda config, method: method.without(config), without, dict(self._config))

    def paper_tables(self) -> list[str]:
        """Return the tables in the papers' layouts."""
        return [
            f"results/report/tables/{name}.{ending}" for name in layouts_of(self.config_shown()) for ending in ENDINGS
        ]

    def pair_table(self) -> list[str]:
        """Return the table of bias percentages in a paper's layout, where there are any."""
        return _tables("sahoo_table2") if self.has_percentages else []

    @property
    def has_percentages(self) -> bool:
        """Return whether there are bias percentages of sentence pairs."""
        return "bias_percentages" in self.results

    def estimates_shown(self) -> dict[str, str]:
        """Return the tables of estimates by method, as the papers' tables and the comparison call them."""
        return {method: self.results[method.removesuffix("_bias")] for method in methods_of(self.config_shown())}

    def methods_compared(self) -> dict[str, str]:
        """Return the tables of estimates by method, where there are several to compare; else none."""
        found = {name: self.results[name] for name in names_of(FAMILY) if name in self.results}
        return found if len(found) > 1 else {}

    def first_draws(self) -> dict[str, str]:
        """Return the table of effects as draws are added, where estimates of fewer draws stand beside the others."""
        is_list = isinstance(self._config["associations"]["n_samples"], list)
        return {"first_draws": self.results["convergence"]} if is_list and "convergence" in self.results else {}

    def compared(self) -> dict[str, list[str]]:
        """Return the tables that stand beside those of a paper, by method."""
        pairs = {"pairs": [self.results["bias_percentages"]]} if self.has_percentages else {}
        return {**{method: [path] for method, path in self.estimates_shown().items()}, **pairs}

    def compared_alone(self, method: str) -> list[str]:
        """Return the tables of one method by itself, before p is corrected over all."""
        return self.compared()["pairs"] if method == "pairs" else self.estimates(method.removesuffix("_bias"))

    def nothing_to_compare(self, published: str | Path) -> str:
        """Return why nothing will stand beside a paper's numbers, as far as the config tells; empty if something may.

        Raises:
            InputError: the config names a model that the study or the paper does not have.
        """
        comparison, models = self._config["comparison"], self._study.models
        return why_nothing_to_compare(
            published,
            **comparison,
            language=self._config["language"],
            studied=list(dict.fromkeys([*models.names, *models.scored, *self._config["static"]["vectors"]])),
            pairs=self.has_percentages and bool(percentage_files(published, comparison["paper"])),
        )

    # ---- the page

    def of_texts(self) -> dict[str, list[str]]:
        """Return what page and cards say of texts and words: made, or used as far as it is there."""
        if not self._study.models.names:
            return {}
        models = self._made(self.lists()) + self.model_reports()
        if not self._study.labels:
            return {"embeddings": models}
        audit = [f"results/sentences/audit/{name}.parquet" for name in ("forms", "concordance", "suffixes", "lengths")]
        return {
            "coverage": self._of_earlier_stages(["results/samples/coverage.parquet"]),
            "corpus": self._counts(),
            "audit": self._of_earlier_stages(audit),
            "embeddings": models,
        }

    def of_words(self) -> dict[str, list[str]]:
        """Return the word sets and their forms, where a method of the study has any."""
        if not {"ceat_words", *names_of(FAMILY)} & set(self.results):
            return {}
        return {
            "categories": self._made(["results/lexicon/categories.json"]),
            "forms": self._made(["results/lexicon/forms.parquet"]),
        }

    def of_pairs(self) -> dict[str, list[str]]:
        """Return what is known of each sentence pair."""
        return {
            "pair_scores": self._made(self.pair_scores([*self._study.models.scored, *self._study.models.scored_twins])),
            "pair_oddities": self._made(self._oddities()),
        }

    def texts_measured(self) -> dict[str, list[str]]:
        """Return what the sentences of `measured_sentences` are chosen from, where models run.

        Returns:
            `segments` with the filled templates of SEAT, `lists` of their vectors, `sentences` for their sources,
            `scored` and `terms` of the models with a mask.
        """
        study, masked = self._study, self._study.models.masked
        templates = study.models.names if study.asks_for("seat") else []
        scored, with_traits = masked if study.asks_for("log_probability") else [], masked if study.traits else []
        likelihoods = "results/likelihoods"
        filled = ["results/samples/templates.parquet"] if templates else []
        # without a model that reads them no text is searched
        labels = study.labels if study.models.names else []
        texts = [*(self.segments() if labels else []), *filled]
        of_templates = [f"results/embeddings/{model}/templates.json" for model in templates]
        return {
            "segments": texts,
            "lists": [*self.lists(), *of_templates] if texts else [],
            "sentences": [*self.sentences(), *self.supplement()] if labels else [],
            "scored": [f"{likelihoods}/log_probability/{model}.sentences.parquet" for model in scored],
            "terms": [f"{likelihoods}/structures/{model}.terms.parquet" for model in with_traits],
        }

    def measured_sentences(self, ending: str = "parquet") -> list[str]:
        """Return the file of sentences behind the numbers: made where models run, used elsewhere if it is there."""
        if self._config["report"]["texts"] == "hidden":
            return []
        path, texts = f"results/samples/measured_sentences.{ending}", self.texts_measured()
        measured = any(texts[name] for name in ("segments", "scored", "terms"))
        return self._of_earlier_stages([path] if measured or not self._study.computed else [])

    def of_numbers(self) -> dict[str, list[str]]:
        """Return what stands behind the numbers of the page: words of methods besides CEAT, and sentences."""
        tables = [(TABLES[f"{method.name}_words"], method) for method in FAMILY[1:]]
        paths = [str(Path(path).with_suffix(".parquet")) for each in tables if (path := self._copied(*each))]
        return {"words": [path for path in paths if self._is_there(path)], "sentences": self.measured_sentences()}

    def data(self) -> dict[str, str]:
        """Return the tables of earlier stages that go with the page, by their names beside it."""
        tables = [(table, method) for method in METHODS for table in method.tables if table.beside]
        copied = {table.beside: path for table, method in tables if (path := self._copied(table, method))}
        copied |= {Path(path).name: path for path in self._data_of_texts()}
        return {name: path for name, path in copied.items() if self._is_there(path)}

    def products(self, layouts: Mapping[str, Any], comparison: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return the files beside the page, by their writer (`prasanga.report.writing.WRITERS`), with its arguments."""
        results, draws = self.results, self.first_draws()
        found: dict[str, list[Any]] = {}
        if "ceat" in results:
            found["ceat_table"] = [results["ceat"], _tables("ceat")]
        if tables := self.paper_tables():
            found["layouts"] = [{**self.estimates_shown(), **draws}, layouts, tables]
        if tables := self.pair_table():
            found["pair_layouts"] = [{"pairs": results["bias_percentages"]}, {"preset": layouts["preset"]}, tables]
        if methods := self.methods_compared():
            found["agreement"] = [methods, [f"results/report/tables/{name}.csv" for name in ("methods", "agreement")]]
        if comparison:
            paths = ["results/report/comparison.csv", "results/report/comparison.md"]
            found["comparison"] = [{**self.compared(), **draws}, comparison, paths]
        if data := self.data():
            found["data"] = [{f"results/report/data/{name}": path for name, path in data.items()}]
        return found

    @staticmethod
    def written(products: Mapping[str, Sequence[Any]]) -> list[str]:
        """Return the files that `products` writes."""
        return [path for arguments in products.values() for path in arguments[-1]]  # of a mapping, its keys

    @staticmethod
    def read_by(products: Mapping[str, Sequence[Any]]) -> list[str]:
        """Return the files that `products` reads."""
        data = products.get("data", [{}])[0].values()
        first = [arguments[0] for name, arguments in products.items() if name != "data"]
        sources = [each for read in first for each in ([read] if isinstance(read, str) else read.values())]
        flat = [path for each in sources for path in ([each] if isinstance(each, str) else each)]
        return list(dict.fromkeys([*flat, *data]))

    def shown(self) -> dict[str, Any]:
        """Return what the page shows, by the fields of `prasanga.report.study.Results`."""
        parts = (self.results, self.of_texts(), self.of_words(), self.of_pairs(), self.of_numbers())
        return {name: paths for part in parts for name, paths in part.items()}

    def tables_of_numbers(self) -> list[str]:
        """Return the tables that summary and cards are made from: numbers, and no text of the corpus."""
        texts = [paths for name, paths in self.of_texts().items() if name != "audit"]
        lists = [*texts, *self.of_words().values(), self.of_pairs()["pair_oddities"]]
        paths = [*self.results.values(), *(path for each in lists for path in each)]
        return [path for path in paths if path.endswith(".parquet")]

    def records(self) -> list[str]:
        """Return files whose record of their making names libraries, templates, traits and pairs; no more is read."""
        study = self._study
        templates = ["templates/00"] if study.asks_for("seat") else []
        embedded = [*(f"{label}/{study.buckets[0]}" for label in study.labels), *templates][:1]
        paths = [
            *(["results/samples/templates.parquet"] if templates else []),
            *(f"results/embeddings/{model}/{first}.parquet" for model, first in product(study.models.names, embedded)),
            *(f"results/static/{name}.parquet" for name in self._config["static"]["vectors"]),
            *(path for parts in self._parts().values() for path in parts),
            *(f"results/pairs/{name}.parquet" for name in study.sets),
        ]
        return self._made(dict.fromkeys(paths))

    def tables(self) -> list[str]:
        """Return the tables that figures are drawn from: the finished ones and, of unfinished ones, their parts."""
        return [*self.finished().values(), *(path for parts in self._parts().values() for path in parts)]

    # ---- parts of the above

    def _is_made(self, table: Table, method: Method) -> bool:
        """Return whether a study makes a table: one that describes pairs needs no model."""
        return self._study.asks_for(method.name) or (table.name == "pair_statistics" and bool(self._study.sets))

    def _copied(self, table: Table, method: Method) -> str:
        """Return the file whose copy lies beside the page, "" where there is none.

        Of estimates there are those of their words and templates.
        """
        path = self.results.get(table.name, "")
        if table.name in (f"{method.name}_words", f"{method.name}_templates"):
            estimates = self.results.get(method.name, "")
            rest = table.name.removeprefix(method.name)
            path = estimates and (path or estimates.replace(".parquet", f"{rest}.parquet"))
        return str(Path(path).with_suffix(Path(table.beside).suffix)) if path else ""

    def _is_there(self, path: str) -> bool:
        """Return whether a table can be shown: it is gathered for the page, made by this run, or there."""
        return path.startswith(f"{UNFINISHED}/") or bool(self._made([path]))

    def _made(self, paths: Iterable[str]) -> list[str]:
        """Return files that this run makes or has or, where it only draws, those that are there."""
        return _there(paths) if self._study.from_results else list(paths)

    def _of_earlier_stages(self, paths: Iterable[str]) -> list[str]:
        """Return files that are made if models run, and used as far as they are there if results come from before."""
        return list(paths) if self._study.computed else _there(paths)

    def _counts(self) -> list[str]:
        """Return what was read of each corpus file: of those that were sampled, if results come from before."""
        if self._study.computed:
            return [f"results/sentences/{shard}.json" for shard in sorted(self._study.texts.shards)]
        return counts_of("results/samples/coverage.parquet")

    def _oddities(self) -> list[str]:
        return [f"results/pairs/{name}.oddities.parquet" for name in self._study.sets]

    def _data_of_texts(self) -> list[str]:
        """Return what lies beside the page for judging lexicon and pairs; hidden texts are not among it."""
        hidden = self._config["report"]["texts"] == "hidden"
        names = ["suffixes", "forms", "lengths", *([] if hidden else ["concordance"])]
        audit = [f"results/sentences/audit/{name}.tsv" for name in names] if self._study.labels else []
        oddities = self._made([] if hidden else self._oddities())
        return self._of_earlier_stages(audit) + self.measured_sentences("tsv") + oddities

    def _parts(self) -> dict[str, list[str]]:
        """Return what each table is gathered from, where that is a table a job: some of them may be there already."""
        return {
            **{method: self.estimates(method) for method in names_of(FAMILY)},
            "ceat_words": self.estimates("ceat"),
            **dict.fromkeys(_OF_TRAITS, self.estimates("structures")),
            **dict.fromkeys(_OF_PAIRS, self.pair_scores(self._study.models.scored)),
        }

    def _results_at_hand(self) -> tuple[dict[str, str], list[str]]:
        """Return the tables that are there, of an unfinished study gathered from what is done; and what is missing."""
        finished, parts = self.finished(), self._parts()
        found, said = {}, {}
        for name, path in finished.items():
            wanted = parts.get(name, [])
            there = _there(wanted)
            if Path(path).exists():
                found[name] = path
            elif there and (name not in _OF_TRAITS or len(_there(self._study.traits)) == len(self._study.traits)):
                found[name] = f"{UNFINISHED}/{name}.parquet"
                said[name] = said_of_parts([part for part in wanted if part not in there], len(wanted))
            else:
                said[name] = ""
        return found, missing_results(said, finished)


def word_lists(words: Mapping[str, Any]) -> list[str]:
    """Return the files that a lexicon is compiled from; `words` as of `prasanga.plan.words.words_from`."""
    return [path for given in word_files(words) for path in _files_of(given)]


def _tables(*names: str) -> list[str]:
    return [f"results/report/tables/{name}.{ending}" for name in names for ending in ENDINGS]


def _there(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if Path(path).exists()]


def _files_of(folder_or_file: str) -> list[str]:
    """Return a file itself, or the YAML and JSON files of a folder: what a lexicon is read from."""
    path, endings = Path(folder_or_file), (".yaml", ".json", ".jsonl")
    return files_in(folder_or_file, endings) if path.is_dir() else [str(path)]
