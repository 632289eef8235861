"""What a study measures on what, worked out from its config before any job runs.

Every mistake that can be told from the config, the word lists, the templates and the names of files is told here.
"""

from __future__ import annotations

import functools
import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.documents import digest_of, read_cache, sha256_of_file, write_cache
from prasanga.base.errors import InputError
from prasanga.base.fingerprint import fingerprint
from prasanga.base.places import user_cache
from prasanga.lexicon import model as lexicon_model
from prasanga.lexicon.model import require_language, stimuli_of
from prasanga.lexicon.templates import load_templates, require_classes, template_files, texts_of
from prasanga.methods import MOST_OF_A_TWIN, Method, Unit, method_named
from prasanga.pairs.layouts import require_layout
from prasanga.plan import models
from prasanga.samples import bucket_names, buckets_for, parse_length, require_longest
from prasanga.sentences.files import MANIFEST, Shard, find_shards, require_apart
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
        sets: its sets of sentence pairs, by name.
        traits: its lists of traits for the sentence structures.
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
        self.sets: dict[str, Any] = config["pairs"]["sets"]
        self.traits: list[str] = config["log_probability"]["traits"]
        self.from_results = from_results
        self._is_job = is_job
        self.computed = config["embeddings"]["source"] == "computed" and not from_results
        self.normalization: str = config["normalization"][config["language"]]
        self._choose_models()
        self._choose_lengths()
        self._choose_words()
        self.buckets = _buckets(config["embeddings"]["buckets"], self._most_segments)
        models.require_free_names("pairs.sets", self.sets, (".oddities",), ("statistics",))
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
        self.vectors = models.VectorsPlan([], {}, [])
        self.sentences: dict[str, SentencesPlan] = {}
        if not from_results:
            self._read_templates()
            self._find_vectors()
        self._choose_buckets_of_scores()

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
        return len(self.labels) > 1 and self._most_segments * len(self.labels) <= _SMALL

    @property
    def _most_segments(self) -> int:
        """Return how many segments of a length there may be."""
        return len(stimuli_of(self.chosen)) * int(self.config["samples"]["contexts_per_stimulus"])

    def memory(self, family: str) -> int:
        """Return the megabytes of memory that a job of a model asks for."""
        return models.megabytes_of(self.config["models"][family])

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

    def plan_candidates(self) -> LexiconPlan:
        """Return what the candidates for new words come to; only where the config names some.

        Raises:
            InputError: a mistake in their files, or another language.
        """
        place = self.config["lexicon"]["candidates"]
        candidates = plan_lexicon({**self.words_from, "stimuli": place})
        require_language(candidates.language, self.config["language"])
        return candidates

    def _choose_models(self) -> None:
        config, log_probability = self.config, self.config["log_probability"]
        n_twins = config["associations"]["random_twins"]
        models.require_trainable(config["models"])
        self.studied: Models = models.studied_models(config["models"])
        self.twins: Models = models.twins_of(self.studied, config["seed"], n_twins)
        self.twin_of = {name: twins["twin_of"] for name, twins in self.twins.items()}
        self.embedded: Models = self.twins | self.studied
        self.models = sorted(self.studied)
        self.scored: Models = models.scored_models(config["models"])
        self.scored_twins: Models = models.twins_of(self.scored, config["seed"], n_twins)
        self.scored_twin_of = {name: twins["twin_of"] for name, twins in self.scored_twins.items()}
        self.scorers: Models = self.scored_twins | self.scored
        self.kinds = {model: models.kind_at_hand(settings) for model, settings in self.scored.items()}
        self.masked = [model for model in self.scored if self.kinds[model] in ("encoder", "auto")]
        self.masked_twins = [twin for twin, model in self.scored_twin_of.items() if model in self.masked]
        self.trained, self.packaged = (
            sorted(model for model, settings in config["models"].items() if key in settings)
            for key in ("train", "package")
        )
        of_words = [f"log_probability.{key}" for key in ("categories", "traits") if log_probability[key]]
        models.require_scorer(config["models"], [*(["pairs.sets"] if self.sets else []), *of_words])
        models.require_encoder(self.kinds, of_words)
        models.require_names_apart(config["static"]["vectors"], {**self.studied, **self.scored})

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
            self.categories = lexicon_model.read_categories("results/lexicon/categories.json")
        asked, log_probability = config["categories"], config["log_probability"]
        self.chosen = self._chosen("categories", asked)
        self.seat_chosen = self._chosen("seat.categories", config["seat"]["categories"])
        self.log_probability_chosen = self._chosen("log_probability.categories", log_probability["categories"])
        if self.chosen:
            lexicon_model.require_searched(self.categories, asked)
        if self.log_probability_chosen:  # a name with a slip in it would be passed over
            # but for those that the preset of the papers names, whatever the lexicon has
            of_preset = ("C6", "C7", "C8", "C9") if config["preset"] == "paper" else ()
            own = [name for name in log_probability["exchanged"] if name not in of_preset]
            self._chosen("log_probability.exchanged", own)
        self._require_words("categories", self.chosen)
        self._require_words("seat.categories", self.seat_chosen)
        self._require_words("log_probability.categories", self.log_probability_chosen)

    def _choose_buckets_of_scores(self) -> None:
        pairs, asked = self.config["pairs"]["buckets"], self.config["log_probability"]["buckets"]
        paths = {name: Path(settings["path"]) for name, settings in self.sets.items()}
        sizes = {name: path.stat().st_size if path.is_file() else 0 for name, path in paths.items()}
        self.pair_buckets = {name: _buckets(pairs, size, _BYTES_A_BUCKET) for name, size in sizes.items()}
        numbers = {of: self.sentences.get(of, SentencesPlan()).number for of in ("structures", "log_probability")}
        self.sentence_buckets = {of: _buckets(asked, n, _SENTENCES_A_BUCKET) for of, n in numbers.items()}

    def _chosen(self, key: str, names: Sequence[str]) -> Categories:
        return {} if self.from_results else lexicon_model.chosen_categories(self.categories, names, key=key)

    def _require_words(self, key: str, chosen: Categories) -> None:
        files = self.lexicon.files if self.lexicon else {}
        lexicon_model.require_words(self.categories, chosen, key=key, files=files)
        lexicon_model.require_other_words(self.categories, chosen, key=key)

    def _find_texts(self) -> None:
        """Find the corpus. Its files enter as digests of their content, which the manifest remembers."""
        config, corpus = self.config, self.config["corpus"]
        models.require_places(config["models"], Path.cwd())
        for name, settings in self.sets.items():  # else results of an earlier run would stand in for absent pairs
            digest_of_set(name, settings["path"])
        self.shards, self.supplement = (
            find_shards(
                corpus["root"],
                corpus[key],
                corpus["shard_megabytes"] * 10**6,
                f"corpus.{key}",
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
        """Find the files of static vectors, and choose WEAT's categories."""
        settings = self.config["static"]
        self.vectors = models.plan_vectors(settings["vectors"], cached=not self.computed)
        asked = self.config["categories"] if settings["categories"] is None else settings["categories"]
        self.weat_chosen = self._chosen("static.categories", asked)
        if settings["vectors"]:
            self._require_words("static.categories", self.weat_chosen)


def _buckets(asked: int | str, amount: int, *a_bucket: int) -> list[str]:
    """Return the names of as many buckets as are asked for or, if these are `auto`, as suit an amount."""
    return bucket_names(buckets_for(amount, *a_bucket) if asked == "auto" else int(asked))


# --------------------
# What a plan must know of a lexicon, without reading it every time.
#
# Whoever starts the workflow wants to know that the word lists hold no mistake, and which jobs they change. To read
# and inflect them takes a second or more; what a plan takes from them is a language, a digest and the categories.
# These are kept in a small file and used as long as the word lists, byte by byte, and the code that reads them are
# the same. A lexicon with a mistake is read, and refused, every time.


# What YAML means, and what normalization makes of a word (with Python's tables of Unicode).
_LIBRARIES = ("ftfy", "PyYAML", "regex")


class LexiconPlan(NamedTuple):
    """What jobs depend on.

    Attributes:
        language: bn, hi, en.
        forms: a digest of the table of surface forms (`prasanga.lexicon.forms_table`).
        categories: in the layout of `prasanga.lexicon.categories_of`.
        words: a digest of what templates take of the lexicon, the class and the readings of every stimulus.
        classes: of every stimulus its class of word and where it is written, file and line; both may be "".
        files: of every word set of a category its file, where it has one; by category, a set's name may return.
    """

    language: str
    forms: str
    categories: dict[str, Any]
    words: str
    classes: dict[str, list[str]]
    files: dict[str, dict[str, str]]


def plan_lexicon(words: Mapping[str, Any]) -> LexiconPlan:
    """Return what a plan must know of a lexicon; the lexicon itself is read only if it was not read like this before.

    Args:
        words: where it is read from, as for `prasanga.lexicon.loading.lexicon_of`.

    Raises:
        InputError: as `prasanga.lexicon.load_lexicon` does.
    """
    name = f"lexicon-{digest_of([words['stimuli'], words['suffix_groups']])}"
    versions = {library: importlib.metadata.version(library) for library in _LIBRARIES}
    versions["python"] = ".".join(map(str, sys.version_info[:3]))
    return LexiconPlan(**_known(name, _read, [words], lambda: _files(words), [dict(words), versions]))


def _known(
    name: str,
    read: Callable[..., dict[str, Any]],
    arguments: Sequence[Any],
    files: Callable[[], Iterable[Path]],
    known_by: list[Any],
) -> dict[str, Any]:
    """Return what `read` makes of its arguments; it is called only if it was not called like this before.

    Args:
        name: of the file in the user's cache in which that is kept.
        read: makes it; an edit of its code, or of anything that planning imports, counts.
        arguments: of `read`.
        files: names those that it reads, whose bytes count.
        known_by: what else decides what comes out, as plain values.
    """
    path = user_cache("plans") / f"{name}.json"
    code = _own_code()

    def key() -> str | None:
        try:
            return digest_of([[[str(each), sha256_of_file(each)] for each in files()], known_by, code])
        except OSError:  # the reader of that file explains why
            return None

    before = key()
    if before is not None and (known := read_cache(path, before)) is not None:
        return dict(known)
    made = read(*arguments)
    if before is not None and before == key():  # else somebody is writing the files
        write_cache(path, before, made)
    return made


@functools.cache
def _own_code() -> str:
    return fingerprint(Path(__file__))


def _read(words: Mapping[str, Any]) -> dict[str, Any]:
    # Imported here: a plan that is known needs neither the reader of word lists nor what normalizes them.
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.lexicon.model import categories_of, forms_table, words_for_templates

    lexicon = lexicon_of(words)
    forms, in_templates = digest_of(forms_table(lexicon).to_pydict()), digest_of(words_for_templates(lexicon))
    classes = {stimulus.name: [stimulus.word_class, stimulus.place] for stimulus in lexicon.stimuli}
    files = {
        name: {side.name: side.path for side in (*category.targets, *category.attributes) if side.path}
        for name, category in lexicon.categories.items()
    }
    return LexiconPlan(lexicon.language, forms, categories_of(lexicon), in_templates, classes, files)._asdict()


def words_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the words of a complete config are read from, but for their spelling: as for `plan_lexicon`."""
    asked = config["categories"]
    own = {name: defined for name, defined in asked.items() if defined} if isinstance(asked, Mapping) else {}
    found = {key: config["lexicon"][key] for key in ("stimuli", "suffix_groups")}
    return {**found, "own": own} if own else found


def word_files(words: Mapping[str, Any]) -> list[str]:
    """Return the files and folders that the words of a study are read from; `words` as for `plan_lexicon`."""
    stimuli, groups = words["stimuli"], words["suffix_groups"]
    sides = (category[side] for category in words.get("own", {}).values() for side in ("targets", "attributes"))
    sets = (given for side in sides if isinstance(side, Mapping) for given in side.values())
    own = dict.fromkeys(given for given in sets if isinstance(given, str))
    return [*([stimuli] if isinstance(stimuli, str) else stimuli), *([groups] if groups else []), *own]


def _files(words: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the files whose names or content `load_lexicon` looks at, in whatever layout the word lists are."""
    for given in map(Path, word_files(words)):
        yield from sorted({*given.glob("*.yaml"), *given.glob("ceat*.json*")}) if given.is_dir() else [given]


# --------------------
# What a plan must know of the sentences that log-probability bias is read from, and of a file of pairs.
#
# As the word lists, templates and traits are read while planning, so that a mistake in them is told before any job,
# and jobs depend on the sentences that come out and not on the files. What comes out is kept as above.


class SentencesPlan(NamedTuple):
    """What jobs depend on: a digest of the sentences, "" where there are none, and their number."""

    digest: str = ""
    number: int = 0


def plan_sentences(
    asked: Mapping[str, Any],
    lexicon: Mapping[str, Any],
    words: str,
    categories: Mapping[str, Any],
) -> dict[str, SentencesPlan]:
    """Return what a plan must know of the sentences of the structures, and of those of the categories.

    Args:
        asked: `log_probability` of the config.
        lexicon: where the words are read from, as for `plan_lexicon`.
        words: what the forms of the lexicon depend on (`LexiconPlan.words`).
        categories: those of `asked`, in the layout of `categories.json`.

    Returns:
        `structures` and `log_probability`, that of the categories.

    Raises:
        InputError: a file that cannot be read, or holds a mistake; a word without a form that a sentence asks for; a
            category without sentences.
    """
    files = [*asked["traits"], *([asked["structures"]] if asked["traits"] else [])]
    files += [asked["templates"]] if asked["categories"] else []
    known_by = [dict(asked), dict(lexicon), words, dict(categories)]
    name, arguments = f"sentences-{digest_of(files)}", [asked, lexicon, categories]
    known = _known(name, _read_sentences, arguments, lambda: map(Path, files), known_by)
    return {of: SentencesPlan(*found) for of, found in known.items()}


def _read_sentences(
    asked: Mapping[str, Any], lexicon: Mapping[str, Any], categories: Mapping[str, Any]
) -> dict[str, SentencesPlan]:
    # Imported here: a plan that is known needs none of it.
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.templates import fill_categories, load_category_templates
    from prasanga.likelihoods.traits import load_structures, load_traits, trait_sentences

    normalization = lexicon["normalization"]
    forms = lexicon_of(lexicon)
    plan = {"structures": SentencesPlan(), "log_probability": SentencesPlan()}
    if asked["traits"]:
        structures = load_structures(asked["structures"], normalization)
        lists = [load_traits(path, normalization) for path in asked["traits"]]
        rows = trait_sentences(structures, lists, forms)
        plan["structures"] = SentencesPlan(digest_of([list(row._replace(gloss="")) for row in rows]), len(rows))
    if asked["categories"]:
        templates = load_category_templates(asked["templates"], normalization)
        filled = fill_categories(categories, templates, forms, asked["exchanged"])
        digest = digest_of([[list(row) for row in rows] for _, rows in filled])
        plan["log_probability"] = SentencesPlan(digest, sum(len(rows) for _, rows in filled))
    return plan


def digest_of_set(name: str, path: str | Path) -> str:
    """Return the sha256 of a file of pairs.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    try:
        return sha256_of_file(Path(path))
    except OSError as error:
        raise InputError(
            f"`pairs.sets.{name}.path` is {str(path)!r}, which cannot be read: {error.strerror}. Write the path of a"
            " file of pairs, relative to the project (docs/pairs.md)."
        ) from error
