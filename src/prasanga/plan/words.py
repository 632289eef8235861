"""Plan the words of a study: its categories, and digests of what jobs take of lexicon and templates.

Planning reads word lists, templates and traits, so that mistakes in them are found before any job, and jobs depend on
words and sentences instead of files. Reading and inflecting takes a second or more; what a plan needs is kept in the
user's cache as long as the bytes of the files and the code are the same.
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

from prasanga.base.documents import digest_of, read_cache, sha256_of_file, write_cache
from prasanga.base.fingerprint import fingerprint
from prasanga.base.places import files_in, user_cache
from prasanga.lexicon import model as lexicon_model
from prasanga.lexicon.model import require_language, stimuli_of
from prasanga.lexicon.templates import load_templates, require_classes, texts_of

# The meaning of YAML, and the result of normalizing a word (with Python's tables of Unicode).
_LIBRARIES = ("ftfy", "PyYAML", "regex")
_EXCHANGED_BY_PAPER = ("C6", "C7", "C8", "C9")
Categories = dict[str, Any]


class LexiconPlan(NamedTuple):
    """What jobs depend on.

    Attributes:
        language: bn, hi, en.
        forms: a digest of the table of surface forms (`prasanga.lexicon.forms_table`).
        categories: in the layout of `prasanga.lexicon.categories_of`.
        words: a digest of what templates take of the lexicon, the class and the readings of every stimulus.
        classes: of every stimulus its class of word and its file and line; both may be "".
        files: of every word set of a category its file, where it has one; by category, because names of sets repeat.
    """

    language: str
    forms: str
    categories: Categories
    words: str
    classes: dict[str, list[str]]
    files: dict[str, dict[str, str]]


class SentencesPlan(NamedTuple):
    """What jobs that score sentences depend on: a digest of the sentences, "" without any, and their number."""

    digest: str = ""
    number: int = 0


@dataclass(frozen=True)
class WordsPlan:
    """The words that a study measures.

    Attributes:
        lexicon: None where the word lists are absent, and results are used as they are.
        categories: all categories of the lexicon.
        chosen: the categories that CEAT measures; likewise for each other method.
        template_texts: what SEAT's sentences take of the templates.
        sentences: of `structures` and `log_probability` a digest of their sentences, and their number.
    """

    lexicon: LexiconPlan | None = None
    categories: Categories = field(default_factory=dict)
    chosen: Categories = field(default_factory=dict)
    seat_chosen: Categories = field(default_factory=dict)
    log_probability_chosen: Categories = field(default_factory=dict)
    weat_chosen: Categories = field(default_factory=dict)
    template_texts: dict[str, Any] = field(default_factory=dict)
    sentences: dict[str, SentencesPlan] = field(default_factory=dict)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, computed: bool) -> Self:
        """Read the lexicon, choose the categories, and read the templates.

        Without word lists (cached vectors on another machine) the categories are those of the results.

        Raises:
            InputError: a mistake in word lists or templates, an unknown category, a word that no template takes.
        """
        words, seat, scored, static = words_from(config), config["seat"], config["log_probability"], config["static"]
        lexicon = None
        if computed or all(Path(path).exists() for path in word_files(words)):
            lexicon = plan_lexicon(words)
            require_language(lexicon.language, config["language"])
        categories = lexicon.categories if lexicon else lexicon_model.read_categories("results/lexicon/categories.json")
        files = lexicon.files if lexicon else {}

        def choose(key: str, names: Sequence[str], *, measured: bool = True) -> Categories:
            chosen = lexicon_model.chosen_categories(categories, names, key=key)
            if measured:
                lexicon_model.require_words(categories, chosen, key=key, files=files)
                lexicon_model.require_other_words(categories, chosen, key=key)
            return chosen

        chosen = choose("categories", config["categories"])
        if chosen:
            lexicon_model.require_searched(categories, config["categories"])
        seat_chosen = choose("seat.categories", seat["categories"])
        scored_chosen = choose("log_probability.categories", scored["categories"])
        if scored_chosen:  # a misspelled name would be ignored
            of_preset = _EXCHANGED_BY_PAPER if config["preset"] == "paper" else ()
            own = [name for name in scored["exchanged"] if name not in of_preset]
            choose("log_probability.exchanged", own, measured=False)
        asked = config["categories"] if static["categories"] is None else static["categories"]
        weat_chosen = choose("static.categories", asked, measured=bool(static["vectors"]))
        template_texts: dict[str, Any] = {}
        sentences: dict[str, SentencesPlan] = {}
        if lexicon and seat["categories"]:
            templates = load_templates(seat["templates"], normalization=words["normalization"])
            require_language(templates.language, config["language"], key="seat.templates")
            stimuli = stimuli_of(seat_chosen)
            require_classes(lexicon.classes, stimuli, templates)
            template_texts = texts_of(templates, (lexicon.classes[name][0] for name in stimuli))
        if lexicon and (scored["traits"] or scored["categories"]):
            sentences = plan_sentences(scored, words, lexicon.words, scored_chosen)
        return cls(lexicon, categories, chosen, seat_chosen, scored_chosen, weat_chosen, template_texts, sentences)

    @property
    def forms(self) -> str:
        """Return a digest of the surface forms; "" without word lists."""
        return self.lexicon.forms if self.lexicon else ""

    @property
    def in_templates(self) -> str:
        """Return a digest of what templates take of the lexicon; "" without word lists."""
        return self.lexicon.words if self.lexicon else ""

    @property
    def stimuli(self) -> list[str]:
        """Return the stimuli that CEAT measures."""
        return stimuli_of(self.chosen)


def words_from(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the words of a study are read from, and in which spelling: the arguments of `lexicon_of`."""
    asked = config["categories"]
    own = {name: defined for name, defined in asked.items() if defined} if isinstance(asked, Mapping) else {}
    found = {key: config["lexicon"][key] for key in ("stimuli", "suffix_groups")}
    return {**found, **({"own": own} if own else {}), "normalization": config["normalization"][config["language"]]}


def word_files(words: Mapping[str, Any]) -> list[str]:
    """Return the files and folders that the words of a study are read from; `words` as of `words_from`."""
    stimuli, groups = words["stimuli"], words["suffix_groups"]
    sides = (category[side] for category in words.get("own", {}).values() for side in ("targets", "attributes"))
    sets = (given for side in sides if isinstance(side, Mapping) for given in side.values())
    own = dict.fromkeys(given for given in sets if isinstance(given, str))
    return [*([stimuli] if isinstance(stimuli, str) else stimuli), *([groups] if groups else []), *own]


def list_word_files(words: Mapping[str, Any]) -> list[str]:
    """Return the files that a lexicon is compiled from; `words` as of `words_from`."""
    endings = (".yaml", ".json", ".jsonl")
    listed = (
        [*files_in(given, endings)] if Path(given).is_dir() else [str(Path(given))] for given in word_files(words)
    )
    return [path for paths in listed for path in paths]


def plan_lexicon(words: Mapping[str, Any]) -> LexiconPlan:
    """Return what a plan must know of a lexicon; it is read only if it was not read like this before.

    Args:
        words: as of `words_from`.

    Raises:
        InputError: as `prasanga.lexicon.load_lexicon` does.
    """
    name = f"lexicon-{digest_of([words['stimuli'], words['suffix_groups']])}"
    return LexiconPlan(**_recall(name, _read_lexicon, [words], map(Path, list_word_files(words)), dict(words)))


def plan_sentences(
    asked: Mapping[str, Any], lexicon: Mapping[str, Any], words: str, categories: Mapping[str, Any]
) -> dict[str, SentencesPlan]:
    """Return what a plan must know of the sentences of `structures` and of `log_probability`.

    Args:
        asked: `log_probability` of the config.
        lexicon: as of `words_from`.
        words: what the forms of the lexicon depend on (`LexiconPlan.words`).
        categories: those of `asked`, in the layout of `categories.json`.

    Raises:
        InputError: a mistake in a file, a word without a form that a sentence asks for, a category without sentences.
    """
    files = [*asked["traits"], *([asked["structures"]] if asked["traits"] else [])]
    files += [asked["templates"]] if asked["categories"] else []
    known_by = [dict(asked), dict(lexicon), words, dict(categories)]
    arguments = [asked, lexicon, categories]
    known = _recall(f"sentences-{digest_of(files)}", _read_sentences, arguments, map(Path, files), known_by)
    return {of: SentencesPlan(*found) for of, found in known.items()}


def _recall(
    name: str, read: Callable[..., dict[str, Any]], arguments: Sequence[Any], files: Iterable[Path], known_by: Any
) -> dict[str, Any]:
    """Return what `read` makes of its arguments; it is called only if it was not called like this before.

    Args:
        name: of the file in the user's cache.
        read: makes it; an edit of any code that planning words imports counts.
        arguments: of `read`.
        files: those that it reads, whose bytes count.
        known_by: plain values that count.
    """
    path = user_cache("plans") / f"{name}.json"
    versions = [sys.version, *map(importlib.metadata.version, _LIBRARIES)]
    try:
        key = digest_of([[[str(each), sha256_of_file(each)] for each in files], known_by, versions, _own_code()])
    except OSError:  # the reader of that file explains why
        return read(*arguments)
    if (known := read_cache(path, key)) is not None:
        return dict(known)
    made = read(*arguments)
    write_cache(path, key, made)
    return made


@cache
def _own_code() -> str:
    return fingerprint(Path(__file__))


def _read_lexicon(words: Mapping[str, Any]) -> dict[str, Any]:
    # Imported here: a plan that is known needs neither the reader of word lists nor the normalization.
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


def _read_sentences(
    asked: Mapping[str, Any], lexicon: Mapping[str, Any], categories: Mapping[str, Any]
) -> dict[str, SentencesPlan]:
    # Imported here: a plan that is known needs none of it.
    from prasanga.lexicon.loading import lexicon_of
    from prasanga.likelihoods.templates import read_category_sentences, read_trait_sentences

    forms = lexicon_of(lexicon)
    plan = {"structures": SentencesPlan(), "log_probability": SentencesPlan()}
    if asked["traits"]:
        rows = read_trait_sentences(asked, forms).with_columns(gloss=pl.lit(""))
        plan["structures"] = SentencesPlan(digest_of(rows.rows()), len(rows))
    if asked["categories"]:
        rows = read_category_sentences(asked, categories, forms)
        digest = digest_of([part.rows() for part in rows.partition_by("category", include_key=False)])
        plan["log_probability"] = SentencesPlan(digest, len(rows))
    return plan
