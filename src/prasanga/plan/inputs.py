"""What a plan must know of the files that a study names: word lists, templates, traits, pairs, vectors of words."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from prasanga.base.documents import digest_of, read_cache, sha256_of_file, write_cache
from prasanga.base.errors import InputError
from prasanga.base.parquet import made_from
from prasanga.base.places import NAMED, named, user_cache
from prasanga.plan.models import require_free_names
from prasanga.provenance.code import fingerprint_of, remembered

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

    def files() -> Iterator[Path]:
        for given in word_files(words):
            yield from _files(Path(given))

    return LexiconPlan(**_known(name, _read, [words], files, [dict(words), _versions()]))


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
        read: its code counts.
        arguments: of `read`.
        files: names those that it reads, whose bytes count.
        known_by: what else decides what comes out, as plain values.
    """
    path = user_cache("plans") / f"{name}.json"
    with remembered():
        code = fingerprint_of(read).fingerprint

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


def _files(given: Path) -> list[Path]:
    """Return the files whose names or content `load_lexicon` looks at, in whatever layout the word lists are."""
    if not given.is_dir():
        return [given]
    return sorted({*given.glob("*.yaml"), *given.glob("ceat*.json*")})


def _versions() -> dict[str, str]:
    found = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {**found, "python": ".".join(map(str, sys.version_info[:3]))}


# --------------------
# What a plan must know of the sentences that log-probability bias is read from, and of results that are at hand.
#
# As the word lists, templates and traits are read while planning, so that a mistake in them is told before any job,
# and jobs depend on the sentences that come out and not on the files. What comes out is kept in a small file and
# used as long as the files, byte by byte, and the code that reads them are the same (`prasanga.plan.inputs`).


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


# --------------------
# Which static vectors a study has and where each comes from, known before any job runs. Light to import.


# Files beside `<name>.parquet`: the whole vocabulary of a training, the table of words of an association.
_TAKEN = (".vectors", ".words", ".train")

EPOCHS: Mapping[str, int] = {"word2vec": 5, "glove": 25}
"""Passes of a training that does not say how many: gensim's number; half of the least that GloVe's authors took."""


_WORTH_THREADS, _THREADS = 20, 16  # megabytes of a corpus; threads at most


class VectorsPlan(NamedTuple):
    """Static vectors by where they come from.

    Attributes:
        trained: those trained on the corpus, sorted.
        files: those read from a file that is there, with its path.
        kept: those of which, with cached vectors, only earlier results are there: their file is not on this machine.
    """

    trained: list[str]
    files: dict[str, str]
    kept: list[str]


def plan_vectors(vectors: Mapping[str, Mapping[str, Any]], *, cached: bool = False) -> VectorsPlan:
    """Sort out `static.vectors` of the config, whose entries have either `path` or `train`.

    Args:
        vectors: the entries, by name.
        cached: whether earlier results may stand for a file that is absent, if they were made from a file of that path.

    Raises:
        InputError: a file that is absent, or a name that would be that of another entry's file.
    """
    require_free_names("static.vectors", vectors, _TAKEN)
    trained, files, kept = [], {}, []
    for name, settings in sorted(vectors.items()):
        if "train" in settings:
            trained.append(name)
        elif Path(settings["path"]).is_file():
            files[name] = str(settings["path"])
        elif cached and settings["path"] in _read_from(Path(f"results/static/{name}.parquet")):
            kept.append(name)
        else:
            raise InputError(
                f"`static.vectors.{name}.path` is {settings['path']!r}, but there is no such file. Write the path of a"
                " file of vectors (word2vec, GloVe, fastText), or put the file there."
            )
    return VectorsPlan(trained, files, kept)


def training_options(train: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a training (`static.vectors.<name>.train`), sorted, with the passes that suit its method.

    Args:
        train: complete with the schema's defaults; `epochs` may be None.
    """
    epochs = EPOCHS[train["method"]] if train["epochs"] is None else train["epochs"]
    return dict(sorted({**train, "epochs": epochs}.items()))


def training_resources(input_megabytes: float) -> dict[str, int]:
    """Return what cutting the corpus and each training is given: `threads`, `mem_mb`, and `runtime` in minutes.

    Args:
        input_megabytes: size of the corpus, not compressed. A small one is not worth more than a core. A megabyte of
            Bangla has some 60 000 words, which take 2 to 6 s of a core in either method with the default options.
            Memory holds what there is of each different word, whose number grows with the power 0.58 of the text;
            twice what was measured for them is given, on the safe side (docs/scaling.md).
    """
    threads = 1 if input_megabytes < _WORTH_THREADS else _THREADS
    return {
        "threads": threads,
        "mem_mb": round(1000 + (500 if threads > 1 else 0) + 65 * input_megabytes**0.6),
        "runtime": 60 + round(input_megabytes / (60 if threads > 1 else 10)),
    }


def _read_from(table: Path) -> list[str]:
    """Return the files that a table of vectors was made from; none if there is no such table."""
    if not table.is_file():
        return []
    # here, since few plans come to it
    from prasanga.base.parquet import made_from

    return list(json.loads(made_from(table).get("inputs", "{}")))
