"""What a study measures on what, worked out from its config before any job runs.

Every mistake that can be told from the config, the word lists, the templates and the names of files is told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.base.config import require_names_apart
from prasanga.base.documents import digest_of
from prasanga.lexicon.model import (
    chosen_categories,
    read_categories,
    require_language,
    require_other_words,
    require_searched,
    require_words,
    stimuli_of,
)
from prasanga.lexicon.templates import load_templates, require_classes, template_files, texts_of
from prasanga.methods import MOST_OF_A_TWIN, Method, Unit, method_named
from prasanga.pairs.layouts import require_layout
from prasanga.plan.inputs import (
    LexiconPlan,
    SentencesPlan,
    VectorsPlan,
    digest_of_set,
    plan_lexicon,
    plan_sentences,
    plan_vectors,
    word_files,
    words_of,
)
from prasanga.plan.models import (
    kind_at_hand,
    megabytes_of,
    require_encoder,
    require_free_names,
    require_places,
    require_stage,
    require_trainable,
    scored_models,
    studied_models,
    twins_of,
)
from prasanga.provenance.ledger import MANIFEST
from prasanga.samples import bucket_names, buckets_for, parse_length, require_longest
from prasanga.sentences.audit import Candidates, read_candidates
from prasanga.sentences.files import Shard, find_shards, require_apart
from prasanga.sentences.manifest import update_manifest
from prasanga.sentences.remote import is_remote

MOST_SAMPLED = 64
"""Files whose beginnings are looked at before the corpus is read: a few seconds' work, however many there are."""

_SMALL = 16_000  # segments; multilingual-e5-small takes some ten minutes for them on a core
_LONGEST_NAME = 120
# What a job scores in some minutes on a card: some 20,000 pairs, or as many passes for sentences.
_BYTES_A_BUCKET = 8_000_000
_SENTENCES_A_BUCKET = 200_000
Models = dict[str, dict[str, Any]]
Categories = dict[str, Any]


class Study:
    """What is measured: models and their null controls, lengths, words, texts, pairs.

    Attributes:
        config: complete, as `prasanga.base.config.complete` returns it.
        from_results: whether figures are drawn from the results that are there, and nothing else is looked at.
        computed: whether models run; else their vectors and scores are taken as they are.
        normalization: how texts of the study's language are normalized.
        studied: the models whose vectors are measured, a layer each, with their settings.
        twins: their null controls, in the same order; an entry `<model>-random` for all twins of a model.
        twin_of: the model of each of these.
        embedded: both together.
        scored: the models that are asked for probabilities; a layer is no question there.
        scored_twins: their null controls.
        scored_twin_of: the model of each of these.
        scorers: both together.
        kinds: of each scored model its kind, as far as it is at hand.
        masked: the scored models that have a mask. A model of the hub of unknown kind is taken for one, and refused by
            `check_model` if it has none.
        masked_twins: their null controls.
        models: names of `studied`, sorted.
        trained: names of the models that the workflow trains.
        packaged: names of those that it takes from packages.
        labels: the lengths, as tables name them, by their names in paths; none where no category is measured in text.
        shortest: the shortest length, as paths name it.
        buckets: names of the files into which the vectors of a length go.
        pair_buckets: of each set of pairs, names of the files into which a model's scores go; a single one is not made.
        sentence_buckets: the same of the sentences of structures and of categories (`log_probability`).
        lexicon: what the word lists come to; None where they are not there, and results are used as they are.
        categories: all categories of the lexicon.
        chosen, seat_chosen, log_probability_chosen, weat_chosen: the categories of each method, reduced to what its
            estimates depend on.
        shards, supplement: the parts of the corpus, and of the texts that are read for rare stimuli only.
        corpus: a digest of each of their files.
        template_texts: what SEAT's sentences depend on, of the templates.
        warnings: a sentence for each thing to be told that is no reason to stop.
        vectors: where static vectors come from.
        vector_digests: a digest of each file of them.
        sentences: of structures and of categories a digest of their sentences, and their number (`plan_sentences`).
    """

    def __init__(self, config: Mapping[str, Any], *, from_results: bool = False, is_job: bool = False) -> None:
        """Work out a study; paths are those from the working directory.

        Args:
            config: complete.
            from_results: whether only results that are there are used.
            is_job: whether this is a job of a run, which asks no server again which files a URL names.

        Raises:
            InputError: a mistake in the config, or in a file that it names.
        """
        self.config = config
        self.from_results = from_results
        self._is_job = is_job
        self.computed = config["embeddings"]["source"] == "computed" and not from_results
        self.normalization: str = config["normalization"][config["language"]]
        self._choose_models()
        self._choose_lengths()
        self._choose_words()
        self._choose_buckets()
        require_free_names("pairs.sets", self.sets, (".oddities",), ("statistics",))
        for name, settings in self.sets.items():
            require_layout(settings["layout"], f"pairs.sets.{name}.layout")
        self.warnings: list[str] = []
        self.shards: dict[str, Shard] = {}
        self.supplement: dict[str, Shard] = {}
        self.corpus: dict[str, str] = {}
        if self.computed:
            self._find_texts()
        self.template_texts: dict[str, Any] = {}
        self.weat_chosen: Categories = {}
        self.vectors = VectorsPlan([], {}, [])
        self.vector_digests: dict[str, str] = {}
        self.sentences: dict[str, SentencesPlan] = {}
        if not from_results:
            self._read_templates()
            self._find_vectors()
        self._choose_buckets_of_scores()

    @property
    def sets(self) -> dict[str, Any]:
        """Return the sets of sentence pairs by name, as the config has them."""
        sets: dict[str, Any] = self.config["pairs"]["sets"]
        return sets

    @property
    def traits(self) -> list[str]:
        """Return the lists of traits for the sentence structures."""
        traits: list[str] = self.config["log_probability"]["traits"]
        return traits

    @property
    def drawn(self) -> str:
        """Return the first output of `draw_samples`: another one for other lengths or another number of buckets."""
        lengths = "-".join(self.labels)
        if len(lengths) > _LONGEST_NAME:  # a file's name has at most 255 bytes
            lengths = f"{len(self.labels)}-lengths-{digest_of(list(self.labels))}"
        return f"results/samples/{lengths}.of{len(self.buckets)}.json"

    def asks_for(self, method: str) -> bool:
        """Return whether the study asks for estimates of a method."""
        measured = method_named(method)
        return bool(self.units(measured)) and measured.is_asked_for(self.config)

    def units(self, method: Method) -> list[str]:
        """Return the models or static vectors that the jobs of a method measure, if it is asked for."""
        of_unit: dict[Unit, Iterable[str]] = {
            "embedded models": self.models,
            "masked models": self.masked,
            "scored models": self.scored,
            "vectors": sorted(self.config["static"]["vectors"]),
        }
        return list(of_unit[method.unit])

    def twins_measured(self, method: Method) -> dict[str, str]:
        """Return the twins with random weights that the jobs of a method measure, each with its model."""
        if not method.has_twins:
            return {}
        if method.unit == "masked models":
            return {twin: self.scored_twin_of[twin] for twin in self.masked_twins}
        return dict(self.twin_of if method.unit == "embedded models" else self.scored_twin_of)

    def said_of_twins(self) -> list[str]:
        """Return what the study spends on twins with random weights, a sentence for each model that has some."""
        most, lengths = self.config["samples"]["contexts_per_stimulus"], len(self.labels)
        words = len(stimuli_of(self.chosen)) * lengths
        said = []
        for name, twins in {**self.scored_twins, **self.twins}.items():
            n = len(twins["random_weights"])
            together = f"by its {n} {'twins' if n > 1 else 'twin'} with random weights{' together' * (n > 1)}"
            sentences = f"as many sentences and pairs {together} as by the model"
            if name in self.twins and words:
                of_twins = words * min(most, n * MOST_OF_A_TWIN)
                few = f" ({most} of them, as a word has {most} contexts at most)" if most < n else ""
                sentences = f"{words * most:,} segments at most by the model, {of_twins:,} {together}{few}; {sentences}"
            said.append(f"{twins['twin_of']}: {sentences}.")
        return said

    def first_layer(self, model: str) -> str:
        """Return the first studied layer of a model (or twin); its job embeds the other layers in the same pass."""
        alike = self.studied if model in self.studied else self.twins
        return next(name for name, each in alike.items() if each["family"] == alike[model]["family"])

    @property
    def is_small(self) -> bool:
        """Whether starting a job and loading a model takes longer than embedding all segments that there may be."""
        most = len(stimuli_of(self.chosen)) * self.config["samples"]["contexts_per_stimulus"] * len(self.labels)
        return len(self.labels) > 1 and most <= _SMALL

    def memory(self, family: str) -> int:
        """Return the megabytes of memory that a job of a model asks for."""
        return megabytes_of(self.config["models"][family])

    def whole_files(self) -> list[Shard]:
        """Return the files of the corpus, not in parts."""
        files = {shard.path: shard.whole() for shard in self.shards.values()}
        return [files[path] for path in sorted(files)]

    def corpus_megabytes(self) -> float:
        """Return the size of the corpus on the disk."""
        return sum(shard.bytes_on_disk for shard in self.shards.values()) / 1e6

    @staticmethod
    def local_paths(shards: Iterable[Shard]) -> list[str]:
        """Return the files of these that lie on this machine: what Snakemake may look at."""
        return [shard.path for shard in shards if not is_remote(shard.path)]

    def sampled_files(self) -> list[Shard]:
        """Return up to `MOST_SAMPLED` files of a corpus that is searched, evenly spread, for a quick look."""
        files = self.whole_files() if self.labels else []
        return files[:: -(-len(files) // MOST_SAMPLED) or 1]

    def read_candidates(self) -> tuple[LexiconPlan, list[Candidates]]:
        """Return what the candidates for new words come to, and their sets; only where the config names some.

        Raises:
            InputError: a mistake in their files, or another language.
        """
        settings = self.config["lexicon"]
        candidates = plan_lexicon({**self.words_from, "stimuli": settings["candidates"]})
        require_language(candidates.language, self.config["language"])
        return candidates, read_candidates(settings["candidates"], self.normalization)

    def _choose_models(self) -> None:
        config, log_probability = self.config, self.config["log_probability"]
        n_twins = config["associations"]["random_twins"]
        require_trainable(config["models"])
        self.studied: Models = studied_models(config["models"])
        self.twins: Models = twins_of(self.studied, config["seed"], n_twins)
        self.twin_of = {name: twins["twin_of"] for name, twins in self.twins.items()}
        self.embedded: Models = self.twins | self.studied
        self.models = sorted(self.studied)
        self.scored: Models = scored_models(config["models"])
        self.scored_twins: Models = twins_of(self.scored, config["seed"], n_twins)
        self.scored_twin_of = {name: twins["twin_of"] for name, twins in self.scored_twins.items()}
        self.scorers: Models = self.scored_twins | self.scored
        self.kinds = {model: kind_at_hand(settings) for model, settings in self.scored.items()}
        self.masked = [model for model in self.scored if self.kinds[model] in ("encoder", "auto")]
        self.masked_twins = [twin for twin, model in self.scored_twin_of.items() if model in self.masked]
        self.trained, self.packaged = (
            sorted(model for model, settings in config["models"].items() if key in settings)
            for key in ("train", "package")
        )
        of_words = [f"log_probability.{key}" for key in ("categories", "traits") if log_probability[key]]
        require_stage(config["models"], "likelihoods", [*(["pairs.sets"] if self.sets else []), *of_words])
        require_encoder(self.kinds, of_words)
        require_names_apart(config["static"]["vectors"], {**self.studied, **self.scored})

    def _choose_lengths(self) -> None:
        lengths = [parse_length(length) for length in self.config["samples"]["lengths"]]
        require_longest(lengths, self.config["samples"]["longest"])
        self.labels = {length.file_name: length.label for length in lengths} if self.config["categories"] else {}
        self.shortest = min(lengths, key=lambda length: length.words).file_name

    def _choose_words(self) -> None:
        """Read the lexicon and choose the categories.

        A mistake in the word lists is told before any job, and jobs depend on what the lists come to and not on the
        files. Without the files (cached vectors on another machine) the categories are those of the results.
        """
        config = self.config
        self.lexicon: LexiconPlan | None = None
        self.categories: Categories = {}
        there = all(Path(path).exists() for path in word_files(self.words_from))
        if self.computed or (there and not self.from_results):
            self.lexicon = plan_lexicon(self.words_from)
            require_language(self.lexicon.language, config["language"])
            self.categories = self.lexicon.categories
        elif not self.from_results:
            self.categories = read_categories("results/lexicon/categories.json")
        asked, log_probability = config["categories"], config["log_probability"]
        self.chosen = self._chosen("categories", asked)
        self.seat_chosen = self._chosen("seat.categories", config["seat"]["categories"])
        self.log_probability_chosen = self._chosen("log_probability.categories", log_probability["categories"])
        if self.chosen:
            require_searched(self.categories, asked)
        if self.log_probability_chosen:  # a name with a slip in it would be passed over
            # but for those that the preset of the papers names, whatever the lexicon has
            of_preset = ("C6", "C7", "C8", "C9") if config["preset"] == "paper" else ()
            own = [name for name in log_probability["exchanged"] if name not in of_preset]
            self._chosen("log_probability.exchanged", own)
        self._require_words("categories", self.chosen)
        self._require_words("seat.categories", self.seat_chosen)
        self._require_words("log_probability.categories", self.log_probability_chosen)

    def _choose_buckets(self) -> None:
        buckets = self.config["embeddings"]["buckets"]
        if buckets == "auto":
            segments = len(stimuli_of(self.chosen)) * self.config["samples"]["contexts_per_stimulus"]
            buckets = buckets_for(segments)
        self.buckets = bucket_names(buckets)

    def _choose_buckets_of_scores(self) -> None:
        def chosen(asked: int | str, amount: int, a_bucket: int) -> list[str]:
            return bucket_names(buckets_for(amount, a_bucket) if asked == "auto" else int(asked))

        pairs, asked = self.config["pairs"]["buckets"], self.config["log_probability"]["buckets"]
        sizes = {name: Path(settings["path"]) for name, settings in self.sets.items()}
        self.pair_buckets = {
            name: chosen(pairs, path.stat().st_size if path.is_file() else 0, _BYTES_A_BUCKET)
            for name, path in sizes.items()
        }
        self.sentence_buckets = {
            of: chosen(asked, self.sentences[of].number if self.sentences else 0, _SENTENCES_A_BUCKET)
            for of in ("structures", "log_probability")
        }

    def _chosen(self, key: str, names: Sequence[str]) -> Categories:
        return {} if self.from_results else chosen_categories(self.categories, names, key=key)

    def _require_words(self, key: str, chosen: Categories) -> None:
        files = self.lexicon.files if self.lexicon else {}
        require_words(self.categories, chosen, key=key, files=files)
        require_other_words(self.categories, chosen, key=key)

    def _find_texts(self) -> None:
        """Find the corpus. Its files enter as digests of their content, which the manifest remembers."""
        config, corpus = self.config, self.config["corpus"]
        require_places(config["models"], Path.cwd())
        for name, settings in self.sets.items():  # else results of an earlier run would stand in for absent pairs
            digest_of_set(name, settings["path"])
        self.shards, self.supplement = (
            find_shards(
                corpus["root"],
                corpus[key],
                corpus["shard_megabytes"] * 10**6,
                f"corpus.{key}",
                config["outside"],
                self.warnings.append,
                f"results/{MANIFEST}",
                look=not self._is_job,
            )
            for key in ("texts", "supplement")
        )
        require_apart(self.shards, self.supplement)
        files = [shard.path for shard in (*self.shards.values(), *self.supplement.values())]
        self.corpus = update_manifest(f"results/{MANIFEST}", files)

    def _read_templates(self) -> None:
        """Read the templates of SEAT and of log-probability bias: a word that no template takes is told here."""
        if self.lexicon is None:
            return
        config, settings = self.config, self.config["seat"]
        if settings["categories"]:
            templates = load_templates(settings["templates"], normalization=self.normalization)
            require_language(templates.language, config["language"], key="seat.templates")
            stimuli = stimuli_of(self.seat_chosen)
            require_classes(self.lexicon.classes, stimuli, templates)
            classes = (self.lexicon.classes[name][0] for name in stimuli)
            self.template_texts = texts_of(templates, classes)
        if self.traits or config["log_probability"]["categories"]:
            self.sentences = plan_sentences(
                config["log_probability"],
                self.words_from,
                self.lexicon.words,
                self.log_probability_chosen,
            )

    @property
    def template_files(self) -> list[str]:
        """Return the files with the templates of SEAT; one that is not there is told when it is read."""
        path = self.config["seat"]["templates"]
        return [str(file) for file in template_files(path)] if Path(path).is_dir() else [path]

    @property
    def words_from(self) -> dict[str, Any]:
        """Return where the words of the study are read from, and in which spelling."""
        return {**words_of(self.config), "normalization": self.normalization}

    def _find_vectors(self) -> None:
        """Find the files of static vectors, which are known by their content as well, and choose WEAT's categories."""
        settings = self.config["static"]
        self.vectors = plan_vectors(settings["vectors"], cached=not self.computed)
        asked = self.config["categories"] if settings["categories"] is None else settings["categories"]
        self.weat_chosen = self._chosen("static.categories", asked)
        if settings["vectors"]:
            self._require_words("static.categories", self.weat_chosen)
        if self.vectors.files:
            self.vector_digests = update_manifest(f"results/{MANIFEST}", self.vectors.files.values())
