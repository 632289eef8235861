"""Plan a study from its config before any job runs: its models, words and texts.

Mistakes in the config, the word lists, the templates and the names of files are refused here. The rules use a
`StudyPlan` and the objects that are built from it: `prasanga.plan.jobs.Settings`, the parameters of each job, and
`prasanga.plan.jobs.Files`.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.io import digest_of, read_cache, read_document, sha256_of_file, write_cache
from prasanga.base.places import files_in, installation, user_cache
from prasanga.base.results import fingerprints
from prasanga.config.values import has_words
from prasanga.lexicon.model import categories_of, chosen_categories, require_language, require_measurable, stimuli_of
from prasanga.lexicon.notebook import NOTEBOOK, take_words
from prasanga.lexicon.templates import load_templates, require_classes, texts_of
from prasanga.methods import Method
from prasanga.pairs.reading import require_layout
from prasanga.plan.models import MeasuredModels, find_vectors, plan_embedded, plan_scored, require_file, require_folder
from prasanga.samples import bucket_names, buckets_for, parse_length, require_longest
from prasanga.sentences.corpus import Shard, is_remote
from prasanga.sentences.files import find_shards, require_apart

MOST_SAMPLED = 64
"""Files whose beginnings are checked before the corpus is read, which takes a few seconds for any corpus."""

_READ_TOGETHER = 64_000_000  # bytes of small files: a core reads them in a few seconds
_LONGEST_NAME = 120


@dataclass(frozen=True)
class TextsPlan:
    """The corpus of a study.

    Attributes:
        shards, supplement: the files of each job, small ones, a large one or a part of it, by the name of its results;
            the supplement is read only for rare stimuli.
        warnings: sentences for the user, which do not stop a run.
    """

    shards: dict[str, list[Shard]] = field(default_factory=dict)
    supplement: dict[str, list[Shard]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def from_config(cls, corpus: Mapping[str, Any], results: str, *, look: bool) -> Self:
        """Find the files of the corpus by their names and sizes.

        Args:
            corpus: of the config.
            results: the folder for answers of servers.
            look: whether to ask servers again for the files of a URL.

        Raises:
            InputError: as `find_shards` and `require_apart`.
        """
        root, size, warnings = corpus["root"], corpus["shard_megabytes"] * 10**6, list[str]()
        shards, supplement = (
            find_shards(root, corpus[key], size, f"corpus.{key}", warnings.append, f"{results}/corpus.json", look=look)
            for key in ("texts", "supplement")
        )
        require_apart(shards, supplement)
        return cls(_group_files(shards), _group_files(supplement), warnings)

    def whole_files(self) -> list[Shard]:
        """Return the files of the corpus, not in parts."""
        files = {shard.path: shard.whole() for shards in self.shards.values() for shard in shards}
        return [files[path] for path in sorted(files)]

    def sampled_files(self) -> list[Shard]:
        """Return up to `MOST_SAMPLED` files of the corpus, evenly spread, for a quick check."""
        files = self.whole_files()
        return files[:: -(-len(files) // MOST_SAMPLED) or 1]

    def corpus_megabytes(self) -> float:
        """Return the size of the corpus on the disk."""
        return sum(shard.bytes_on_disk for shards in self.shards.values() for shard in shards) / 1e6


def local_paths(shards: Iterable[Shard]) -> list[str]:
    """Return the files of shards on this machine, which Snakemake may check."""
    return [shard.path for shard in shards if not is_remote(shard.path)]


def _group_files(shards: Mapping[str, Shard]) -> dict[str, list[Shard]]:
    """Group small local files that follow each other in an entry of the config, by the name of the first."""
    groups: dict[str, list[Shard]] = {}
    entry, n_bytes = None, 0  # of the last group; no entry of a large or remote file
    for name, shard in shards.items():
        own = shard.text if shard.is_whole and not is_remote(shard.path) else None
        if own is not None and own == entry and n_bytes + shard.bytes_on_disk <= _READ_TOGETHER:
            groups[next(reversed(groups))].append(shard)
            n_bytes += shard.bytes_on_disk
        else:
            groups[name], entry, n_bytes = [shard], own, shard.bytes_on_disk
    return groups


@dataclass(frozen=True)
class StudyPlan:
    """The measurements of a study.

    Attributes:
        config: complete, as `prasanga.config.complete` returns it.
        from_results: whether figures are drawn from existing results, without anything else.
        computed: whether models run; otherwise existing vectors and scores are used.
        embedded: the models with vectors, and their random copies.
        scored: the models with probabilities, and their random copies.
        labels: the lengths, as tables name them, by their names in paths; empty if no category is measured in text.
        shortest: the shortest length, as paths name it.
        results: the folder of all results; of a language, where the study has several.
        words: the words and templates.
        texts: the corpus.
        vectors: the files of static vectors, by name.
        buckets: names of the buckets of words; a job embeds the segments of one bucket at all lengths.
    """

    config: Mapping[str, Any]
    from_results: bool
    computed: bool
    embedded: MeasuredModels
    scored: MeasuredModels
    labels: dict[str, str]
    shortest: str
    results: str
    words: WordsPlan
    texts: TextsPlan
    vectors: dict[str, str]
    buckets: list[str]

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], results: str = "results", *, from_results: bool = False, is_job: bool = False
    ) -> Self:
        """Plan a study of one language; paths are relative to the working directory.

        Args:
            config: complete.
            results: the folder of its results.
            from_results: whether only existing results are used.
            is_job: whether this is a job of a run, which does not ask servers again for the files of a URL.

        Raises:
            InputError: a mistake in the config, or in a file that it names.
        """
        sets, static, samples = config["pairs"]["sets"], config["static"]["vectors"], config["samples"]
        computed = config["embeddings"]["source"] == "computed" and not from_results
        for name, settings in sets.items():
            require_layout(settings["layout"], f"pairs.sets.{name}.layout")
            if computed:  # otherwise results of an earlier run would replace absent pairs
                require_file(f"pairs.sets.{name}", settings["path"], "a file of pairs (docs/pairs.md)")
        if computed:
            for name, settings in config["models"].items():
                require_folder(name, settings.get("path", name))
        lengths = [parse_length(length) for length in samples["lengths"]]
        require_longest(lengths, samples["longest"])
        labels = {length.file_name: length.label for length in lengths} if config["categories"] else {}
        words = WordsPlan() if from_results else WordsPlan.from_config(config, results, computed=computed)
        n_segments = len(words.stimuli) * int(samples["contexts_per_stimulus"]) * len(labels)
        asked = config["embeddings"]["buckets"]
        size = config["embeddings"]["shard_size"]
        buckets = bucket_names(buckets_for(n_segments, size) if asked == "auto" else int(asked))
        measured = config if has_words(config["language"], config["lexicon"]) else {**config, "models": {}}
        embedded, scored = plan_embedded(measured, are_joined=len(buckets) == 1), plan_scored(config)
        if shared := static.keys() & {**embedded.models, **scored.models}.keys():
            raise InputError(f"`static.vectors.{min(shared)}` has the name of a model. Rename one of them.")
        return cls(
            config=config,
            from_results=from_results,
            computed=computed,
            embedded=embedded,
            scored=scored,
            labels=labels,
            shortest=min(lengths, key=lambda length: length.words).file_name,
            results=results,
            words=words,
            texts=TextsPlan.from_config(config["corpus"], results, look=not is_job) if computed else TextsPlan(),
            vectors={} if from_results else find_vectors(static, results, cached=not computed),
            buckets=buckets,
        )

    @property
    def sets(self) -> dict[str, Any]:
        """Return the sets of sentence pairs, by name."""
        return dict(self.config["pairs"]["sets"])

    def find_model(self, family: str) -> str:
        """Return the path of a model; all languages of a study share the folder of a package."""
        settings = self.config["models"][family]
        if "package" in settings:
            return f"{self.results.partition('/')[0]}/models/{settings['package']}"
        return str(settings.get("path", f"{self.results}/models/{family}"))

    @property
    def normalization(self) -> str:
        """Return how texts of the study's language are normalized."""
        return str(self.config["normalization"][self.config["language"]])

    @property
    def drawn(self) -> str:
        """Return the first output of `draw_samples`, which depends on the lengths and the number of buckets."""
        lengths = "-".join(self.labels)
        if len(lengths) > _LONGEST_NAME:  # a file's name has at most 255 bytes
            lengths = f"{len(self.labels)}-lengths-{digest_of(list(self.labels))}"
        return f"{self.results}/samples/{lengths}.of{len(self.buckets)}.json"

    def find_measured(self, method: Method) -> tuple[Iterable[str], Iterable[str]]:
        """Return the names of a method's models or static vectors, and of their random copies."""
        if method.unit == "vectors":
            return sorted(self.config["static"]["vectors"]), ()
        if method.unit == "embedded models":
            return sorted(self.embedded.models), self.embedded.twins
        measured = self.scored.masked if method.unit == "masked models" else self.scored
        return measured.models, measured.twins

    def asks_for(self, method: Method) -> bool:
        """Return whether the study asks for a method, and has a model or vectors for it."""
        return method.is_asked_for(self.config) and any(self.find_measured(method)[0])


# --------------------
# Plan the words of a study: its categories, and digests of the parts of lexicon and templates that jobs use.

# They decide the meaning of YAML, and the normalization of words (with Python's tables of Unicode).
_LIBRARIES = ("ftfy", "PyYAML", "regex")
_EXCHANGED_BY_PAPER = ("C6", "C7", "C8", "C9")
_KEYS = {
    **{"ceat": "categories", "seat": "seat.categories", "weat": "static.categories"},
    "log_probability": "log_probability.categories",
}
Categories = dict[str, Any]


class LexiconPlan(NamedTuple):
    """The parts of a lexicon that jobs depend on.

    Attributes:
        language: bn, hi, en.
        forms: a digest of the table of surface forms (`prasanga.lexicon.forms_table`).
        categories: in the layout of `prasanga.lexicon.categories_of`.
        words: a digest of the class and the readings of every stimulus, which templates use.
        classes: the word class, file and line of every stimulus; may be "".
        files: the file of every word set, if it has one; by category, because names of sets repeat.
        warnings: the first sentences about the files for the user.
    """

    language: str
    forms: str
    categories: Categories
    words: str
    classes: dict[str, list[str]]
    files: dict[str, dict[str, str]]
    warnings: list[str]


_NO_LEXICON = LexiconPlan("", "", {}, "", {}, {}, [])
"""If word lists are absent, and existing results are used."""


@dataclass(frozen=True)
class WordsPlan:
    """The words of a study.

    Attributes:
        source: the files and the spelling: the arguments of `lexicon_of`.
        lexicon: as far as jobs depend on it.
        chosen: the categories of each method of word associations, by its name.
        template_texts: the texts of SEAT's templates.
        sentences: digests of the sentences of `structures` and `log_probability`; "" without such sentences.
    """

    source: dict[str, Any] = field(default_factory=dict)
    lexicon: LexiconPlan = _NO_LEXICON
    chosen: dict[str, Categories] = field(default_factory=lambda: {key: {} for key in _KEYS})
    template_texts: dict[str, Any] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], results: str, *, computed: bool) -> Self:
        """Read the lexicon, choose the categories, and read the templates.

        Without word lists (cached vectors on another machine) the categories come from the results.

        Raises:
            InputError: a mistake in word lists or templates, an unknown category, a word that no template takes.
        """
        source, seat, scored, static = words_from(config), config["seat"], config["log_probability"], config["static"]
        lexicon = _NO_LEXICON
        if not has_words(config["language"], config["lexicon"]):
            said = f"There are no words in language {config['language']}: no folder {config['lexicon']['stimuli']}."
            said += " Only pairs are measured (docs/my_language.md)."
            none = {"structures": "", "log_probability": ""}
            return cls(source, _NO_LEXICON._replace(warnings=[said]), sentences=none)
        if computed or all(Path(path).exists() for path in _name_word_files(source)):
            lexicon = plan_lexicon(source)
            require_language(lexicon.language, config["language"])
        categories = lexicon.categories if lexicon.forms else read_document(f"{results}/lexicon/categories.json")
        asked = {"ceat": config["categories"], "seat": seat["categories"], "log_probability": scored["categories"]}
        asked["weat"] = asked["ceat"] if static["categories"] is None else static["categories"]
        chosen = {method: chosen_categories(categories, asked[method], key=key) for method, key in _KEYS.items()}
        if lexicon.forms and scored["categories"] and scored["templates"].endswith(NOTEBOOK):
            notebook = Path(scored["templates"]), scored["exchanged"], source["normalization"]
            chosen["log_probability"] = take_words(chosen["log_probability"], *notebook)
        for method, key in _KEYS.items():
            if method != "weat" or static["vectors"]:
                in_texts = method == "ceat"
                known = {"files": lexicon.files, "preset": config["preset"]}
                require_measurable(categories, chosen[method], key=key, in_texts=in_texts, **known)
        if scored["categories"]:  # a misspelled name would be ignored
            preset = _EXCHANGED_BY_PAPER if config["preset"] == "paper" else ()
            own = [name for name in scored["exchanged"] if name not in preset]
            chosen_categories(categories, own, key="log_probability.exchanged")
        if not lexicon.forms:
            return cls(source, chosen=chosen)
        template_texts: dict[str, Any] = {}
        if seat["categories"]:
            templates = load_templates(seat["templates"], normalization=source["normalization"])
            require_language(templates.language, config["language"], key="seat.templates")
            stimuli = stimuli_of(chosen["seat"])
            require_classes(lexicon.classes, stimuli, templates)
            template_texts = texts_of(templates, (lexicon.classes[name][0] for name in stimuli))
        files = [path for method in ("structures", "log_probability") for path in files_of_sentences(scored, method)]
        arguments = [dict(scored), dict(source), chosen["log_probability"]]
        known = recall(_read_sentences, arguments, [*files, *list_word_files(source)]) if files else {}
        sentences = {method: known.get(method, "") for method in ("structures", "log_probability")}
        return cls(source, lexicon, chosen, template_texts, sentences)

    @property
    def stimuli(self) -> list[str]:
        """Return the stimuli that CEAT measures."""
        return stimuli_of(self.chosen["ceat"])


def words_from(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the files and the spelling of a study's words: the arguments of `lexicon_of`."""
    asked = config["categories"]
    own = {name: defined for name, defined in asked.items() if defined} if isinstance(asked, Mapping) else {}
    found: dict[str, Any] = {key: config["lexicon"][key] for key in ("stimuli", "suffix_groups")}
    if own or isinstance(found["stimuli"], list):
        lists = (asked, *(config[section]["categories"] or () for section in ("seat", "static", "log_probability")))
        found |= {"own": own, "used": sorted({name for names in lists for name in names} - own.keys())}
    return {**found, "normalization": config["normalization"][config["language"]]}


def _name_word_files(words: Mapping[str, Any]) -> list[str]:
    """Return the files and folders of a study's words; `words` as from `words_from`."""
    stimuli, groups = words["stimuli"], words["suffix_groups"]
    sides = (category[side] for category in words.get("own", {}).values() for side in ("targets", "attributes"))
    sets = (given for side in sides if isinstance(side, Mapping) for given in side.values())
    own = dict.fromkeys(given for given in sets if isinstance(given, str))
    return [*([stimuli] if isinstance(stimuli, str) else stimuli), *([groups] if groups else []), *own]


def list_word_files(words: Mapping[str, Any]) -> list[str]:
    """Return the files of a lexicon; `words` as from `words_from`."""
    endings = (".yaml", ".json", ".jsonl", ".parquet")
    listed = (files_in(name, endings) if Path(name).is_dir() else [str(Path(name))] for name in _name_word_files(words))
    return [path for paths in listed for path in paths]


def files_of_sentences(asked: Mapping[str, Any], method: str) -> list[str]:
    """Return the files of a method's sentences, if the study asks for it.

    Args:
        asked: `log_probability` of the config.
        method: `structures` or `log_probability`.
    """
    if method == "structures":
        return [*asked["traits"], asked["structures"]] if asked["traits"] else []
    return [asked["templates"]] if asked["categories"] else []


def plan_candidates(config: Mapping[str, Any]) -> tuple[dict[str, Any], LexiconPlan]:
    """Return the files of the candidates for new words, as `words_from`, and their lexicon.

    Raises:
        InputError: a mistake in their files, or another language.
    """
    words = {**words_from({**config, "categories": []}), "stimuli": config["lexicon"]["candidates"], "used": None}
    candidates = plan_lexicon(words)
    require_language(candidates.language, config["language"])
    return words, candidates


def require_categories(names: Sequence[str], language: str) -> None:
    """Refuse names of categories that the shipped words of a language lack, before a study is written.

    Raises:
        InputError: an unknown name. The config checks a language without words.
    """
    from prasanga.lexicon import load_lexicon

    root = installation() / "resources"
    if names and (root / "stimuli" / language).is_dir():
        lexicon = load_lexicon(root / "stimuli" / language, root / f"suffix_groups/{language}.yaml")
        stimuli_of(categories_of(lexicon), names, key="--categories")


def plan_lexicon(words: Mapping[str, Any]) -> LexiconPlan:
    """Return the parts of a lexicon that a plan needs.

    Args:
        words: as from `words_from`.

    Raises:
        InputError: as `prasanga.lexicon.load_lexicon` does.
    """
    return LexiconPlan(**recall(_read_lexicon, [dict(words)], list_word_files(words)))


def recall(read: Callable[..., dict[str, Any]], arguments: Sequence[Any], files: Iterable[str]) -> dict[str, Any]:
    """Return the result of `read` for plain values and files, from a cache if possible.

    An edit of any code that this module imports makes a new call.
    """
    files, name = list(files), read.__name__.removeprefix("_read_")
    path = user_cache("plans") / f"{name}-{digest_of([files, arguments])}.json"
    versions = [sys.version, *map(importlib.metadata.version, _LIBRARIES)]
    try:
        key = digest_of([[sha256_of_file(each) for each in files], versions, _own_code()])
    except InputError:  # the reader of that file explains why
        return read(*arguments)
    known = read_cache(path, key)
    if known is None:
        write_cache(path, key, known := read(*arguments))
    return dict(known)


@cache
def _own_code() -> str:
    return fingerprints([Path(__file__)])[Path(__file__)]


def _read_lexicon(words: Mapping[str, Any]) -> dict[str, Any]:
    # Imported here: a cached plan needs neither the reader of word lists nor the normalization.
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.lexicon.model import forms_table, words_for_templates

    lexicon = lexicon_of(words)
    forms, in_templates = digest_of(forms_table(lexicon).to_pydict()), digest_of(words_for_templates(lexicon))
    classes = {stimulus.name: [stimulus.word_class, stimulus.place] for stimulus in lexicon.stimuli}
    files = {
        name: {side.name: side.path for side in (*category.targets, *category.attributes) if side.path}
        for name, category in lexicon.categories.items()
    }
    warnings, categories = list(lexicon.warnings[:3]), categories_of(lexicon)
    return LexiconPlan(lexicon.language, forms, categories, in_templates, classes, files, warnings)._asdict()


def _read_sentences(
    asked: Mapping[str, Any], words: Mapping[str, Any], categories: Mapping[str, Any]
) -> dict[str, str]:
    # Imported here: a cached plan does not need it.
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.categories import read_category_sentences
    from prasanga.likelihoods.structures import read_trait_sentences

    lexicon, digests = lexicon_of(words), dict[str, str]()
    if asked["traits"]:
        rows = read_trait_sentences(asked, lexicon).with_columns(gloss=pl.lit(""))
        digests["structures"] = digest_of(rows.rows())
    if asked["categories"]:
        rows = read_category_sentences(asked, categories, lexicon)
        by_category = rows.partition_by("category", include_key=False)
        digests["log_probability"] = digest_of([part.rows() for part in by_category])
    return digests
