"""Plan a study from its config before any job runs: what is measured on what, and which files a job reads.

Mistakes that show in the config, the word lists, the templates and the names of files are refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from prasanga.base.documents import digest_of, sha256_of_file
from prasanga.base.errors import InputError
from prasanga.lexicon.model import require_language
from prasanga.lexicon.templates import template_files
from prasanga.methods import Method
from prasanga.pairs.layouts import require_layout
from prasanga.plan.models import ModelsPlan, VectorsPlan, megabytes_of, require_free_names, require_places
from prasanga.plan.words import LexiconPlan, SentencesPlan, WordsPlan, plan_lexicon, words_from
from prasanga.samples import bucket_names, buckets_for, parse_length, require_longest
from prasanga.sentences.corpus import is_remote
from prasanga.sentences.files import Shard, find_shards, require_apart

MOST_SAMPLED = 64
"""Files whose beginnings are looked at before the corpus is read: a few seconds' work, however many there are."""

_READ_TOGETHER = 64_000_000  # bytes of small files: a core reads them in some seconds
_LONGEST_NAME = 120
# What a job scores in some minutes on a GPU: some 20,000 pairs, or as many passes for sentences.
_BYTES_PER_BUCKET = 8_000_000
_SENTENCES_PER_BUCKET = 200_000


@dataclass(frozen=True)
class TextsPlan:
    """The corpus of a study.

    Attributes:
        shards, supplement: what each job reads of the corpus, and of the texts that are read for rare stimuli only, by
            the name of its results: small files, a large one, or a part of it.
        warnings: sentences for the user that are no reason to stop.
    """

    shards: dict[str, list[Shard]] = field(default_factory=dict)
    supplement: dict[str, list[Shard]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def from_config(cls, corpus: Mapping[str, Any], *, look: bool) -> Self:
        """Find the files of the corpus by their names and sizes.

        Args:
            corpus: of the config.
            look: whether to ask servers again which files a URL names.

        Raises:
            InputError: as `find_shards` and `require_apart`.
        """
        root, size, warnings = corpus["root"], corpus["shard_megabytes"] * 10**6, list[str]()
        shards, supplement = (
            find_shards(root, corpus[key], size, f"corpus.{key}", warnings.append, "results/corpus.json", look=look)
            for key in ("texts", "supplement")
        )
        require_apart(shards, supplement)
        return cls(_group_files(shards), _group_files(supplement), warnings)

    def whole_files(self) -> list[Shard]:
        """Return the files of the corpus, not in parts."""
        files = {shard.path: shard.whole() for shards in self.shards.values() for shard in shards}
        return [files[path] for path in sorted(files)]

    def corpus_megabytes(self) -> float:
        """Return the size of the corpus on the disk."""
        return sum(shard.bytes_on_disk for shards in self.shards.values() for shard in shards) / 1e6


@dataclass(frozen=True)
class StudyPlan:
    """What is measured.

    Attributes:
        config: complete, as `prasanga.config.complete` returns it.
        from_results: whether figures are drawn from the results that are there, and nothing else is looked at.
        models: the models and their null controls.
        labels: the lengths, as tables name them, by their names in paths; none where no category is measured in text.
        words: the words and templates.
        texts: the corpus.
        vectors: the static vectors.
    """

    config: Mapping[str, Any]
    from_results: bool
    models: ModelsPlan
    labels: dict[str, str]
    words: WordsPlan
    texts: TextsPlan
    vectors: VectorsPlan

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, from_results: bool = False, is_job: bool = False) -> Self:
        """Plan a study; paths are relative to the working directory.

        Args:
            config: complete.
            from_results: whether only results that are there are used.
            is_job: whether this is a job of a run, which asks no server again which files a URL names.

        Raises:
            InputError: a mistake in the config, or in a file that it names.
        """
        computed, sets = config["embeddings"]["source"] == "computed" and not from_results, config["pairs"]["sets"]
        models = ModelsPlan.from_config(config)
        lengths = [parse_length(length) for length in config["samples"]["lengths"]]
        require_longest(lengths, config["samples"]["longest"])
        labels = {length.file_name: length.label for length in lengths} if config["categories"] else {}
        words = WordsPlan() if from_results else WordsPlan.from_config(config, computed=computed)
        require_free_names("pairs.sets", sets, (".oddities",), ("statistics",))
        for name, settings in sets.items():
            require_layout(settings["layout"], f"pairs.sets.{name}.layout")
        if computed:
            require_places(config["models"], Path.cwd())
            for name, settings in sets.items():  # else results of an earlier run would stand in for absent pairs
                digest_of_set(name, settings["path"])
        texts = TextsPlan.from_config(config["corpus"], look=not is_job) if computed else TextsPlan()
        vectors = VectorsPlan() if from_results else VectorsPlan.from_config(config["static"], cached=not computed)
        return cls(config, from_results, models, labels, words, texts, vectors)

    @property
    def computed(self) -> bool:
        """Return whether models run; else their vectors and scores are taken as they are."""
        return self.config["embeddings"]["source"] == "computed" and not self.from_results

    @property
    def sets(self) -> dict[str, Any]:
        """Return the sets of sentence pairs, by name."""
        found: dict[str, Any] = self.config["pairs"]["sets"]
        return found

    @property
    def traits(self) -> list[str]:
        """Return the lists of traits for the sentence structures."""
        found: list[str] = self.config["log_probability"]["traits"]
        return found

    @property
    def normalization(self) -> str:
        """Return how texts of the study's language are normalized."""
        return str(self.config["normalization"][self.config["language"]])

    @property
    def words_from(self) -> dict[str, Any]:
        """Return where the words of the study are read from, and in which spelling."""
        return words_from(self.config)

    @property
    def candidates_from(self) -> dict[str, Any]:
        """Return where the candidates for new words are read from, and in which spelling."""
        settings = self.config["lexicon"]
        places = {"stimuli": settings["candidates"], "suffix_groups": settings["suffix_groups"]}
        return {**places, "normalization": self.normalization}

    @property
    def template_files(self) -> list[str]:
        """Return the files with the templates of SEAT."""
        path = self.config["seat"]["templates"]
        return [str(file) for file in template_files(path)] if Path(path).is_dir() else [path]

    @property
    def shortest(self) -> str:
        """Return the shortest length, as paths name it."""
        return min(map(parse_length, self.config["samples"]["lengths"]), key=lambda length: length.words).file_name

    @cached_property
    def buckets(self) -> list[str]:
        """Return the names of the buckets of words; a job embeds the segments of one bucket at all lengths."""
        embeddings, most = self.config["embeddings"], int(self.config["samples"]["contexts_per_stimulus"])
        total = len(self.words.stimuli) * most * len(self.labels)
        return _name_buckets(embeddings["buckets"], total, embeddings["shard_size"])

    @cached_property
    def pair_buckets(self) -> dict[str, list[str]]:
        """Return, for each set of pairs, the names of the files that a model's scores go into."""
        paths = {name: Path(settings["path"]) for name, settings in self.sets.items()}
        sizes = {name: path.stat().st_size if path.is_file() else 0 for name, path in paths.items()}
        asked = self.config["pairs"]["buckets"]
        return {name: _name_buckets(asked, size, _BYTES_PER_BUCKET) for name, size in sizes.items()}

    @cached_property
    def sentence_buckets(self) -> dict[str, list[str]]:
        """Return the same for the sentences of `structures` and `log_probability`."""
        asked, none = self.config["log_probability"]["buckets"], SentencesPlan()
        return {
            of: _name_buckets(asked, self.words.sentences.get(of, none).number, _SENTENCES_PER_BUCKET)
            for of in ("structures", "log_probability")
        }

    @property
    def drawn(self) -> str:
        """Return the first output of `draw_samples`: another one for other lengths or another number of buckets."""
        lengths = "-".join(self.labels)
        if len(lengths) > _LONGEST_NAME:  # a file's name has at most 255 bytes
            lengths = f"{len(self.labels)}-lengths-{digest_of(list(self.labels))}"
        return f"results/samples/{lengths}.of{len(self.buckets)}.json"

    def asks_for(self, method: Method) -> bool:
        """Return whether the study asks for estimates of a method, and has a model or vectors to measure."""
        models = self.models
        units = {"embedded models": models.names, "masked models": models.masked, "scored models": models.scored}
        return bool(units.get(method.unit, self.config["static"]["vectors"])) and method.is_asked_for(self.config)

    def first_layer(self, model: str) -> str:
        """Return the first studied layer of a model (or twin); its job embeds the other layers in the same pass."""
        alike = self.models.studied if model in self.models.studied else self.models.twins
        return next(name for name, each in alike.items() if each["family"] == alike[model]["family"])

    def memory(self, family: str) -> int:
        """Return the megabytes of memory that a job of a model asks for."""
        return megabytes_of(self.config["models"][family])

    @staticmethod
    def local_paths(shards: Iterable[Shard]) -> list[str]:
        """Return the files of these that lie on this machine: what Snakemake may look at."""
        return [shard.path for shard in shards if not is_remote(shard.path)]

    def sampled_files(self) -> list[Shard]:
        """Return up to `MOST_SAMPLED` files of a corpus that is searched, evenly spread, for a quick look."""
        files = self.texts.whole_files() if self.labels else []
        return files[:: -(-len(files) // MOST_SAMPLED) or 1]

    def plan_candidates(self) -> LexiconPlan:
        """Return what the candidates for new words come to; only where the config names some.

        Raises:
            InputError: a mistake in their files, or another language.
        """
        candidates = plan_lexicon(self.candidates_from)
        require_language(candidates.language, self.config["language"])
        return candidates


def _group_files(shards: Mapping[str, Shard]) -> dict[str, list[Shard]]:
    """Put small local files that follow each other in an entry of the config together, by the name of the first."""
    groups: dict[str, list[Shard]] = {}
    for name, shard in shards.items():
        last = list(groups.values())[-1] if groups else []
        together = [*last, shard]
        small = all(each.is_whole and each.text == shard.text and not is_remote(each.path) for each in together)
        if last and small and sum(each.bytes_on_disk for each in together) <= _READ_TOGETHER:
            last.append(shard)
        else:
            groups[name] = [shard]
    return groups


def _name_buckets(asked: int | str, amount: int, per_bucket: int) -> list[str]:
    """Return the names of as many buckets as are asked for or, with `auto`, as suit an amount."""
    return bucket_names(buckets_for(amount, per_bucket) if asked == "auto" else int(asked))


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
